"""Cut the memories of a prompt to a budget in bytes and in tokens. Pure."""

from typing import NamedTuple

from omoide.errors import InvalidInput
from omoide.model.prompt import PromptMemory, Task
from omoide.prompt.render import memory_line, render
from omoide.prompt.select import Ranking
from omoide.prompt.tokens import estimate_tokens

MAX_NOTED = 30
"""How many of the memories that were left out a receipt names; the rest are counted."""


class Budget(NamedTuple):
    """How much a prompt may contain; 0 is no limit."""

    memories: int = 10
    bytes: int = 0
    tokens: int = 0


class Cut(NamedTuple):
    """What fits into a budget."""

    chosen: tuple[PromptMemory, ...]
    lines: tuple[str, ...]
    """The lines of the section Memories, one or more for each memory."""
    left_out: tuple[PromptMemory, ...]
    left_out_count: int


def fit(ranking: Ranking, task: Task, role: str, budget: Budget) -> Cut:
    """Choose the best memories that fit into the budget of a prompt beside its other sections.

    A memory that does not fit is skipped, and those that rank below it are tried. `role`: the text of the section Role.
    Raises InvalidInput if the other sections alone are over the budget.
    """
    fixed = render(task, role, ())
    require_room(fixed, budget)
    room = Room("\n".join(part for part in (fixed, "## Memories\n") if part), budget)
    chosen: list[PromptMemory] = []
    lines: list[str] = []
    left_out: list[PromptMemory] = []
    place = 0
    ranked = ranking.best
    for place, one in enumerate(ranked):  # noqa: B007 - where it stopped counts
        if len(chosen) == budget.memories:
            break
        line = memory_line(one.candidate.type, one.candidate.content)
        excess = room.excess(line)
        if excess:
            left_out.append(one.note("budget", excess))
            continue
        room.take(line)
        chosen.append(one.note())
        lines.append(line)
    else:
        place = len(ranked)
    left_out = left_out[:MAX_NOTED]
    left_out += [one.note("limit") for one in ranked[place : place + MAX_NOTED - len(left_out)]]
    return Cut(tuple(chosen), tuple(lines), tuple(left_out), ranking.total - len(chosen))


def hold_out(ranking: Ranking) -> Cut:
    """Choose no memory: for a run that is compared with runs that have some."""
    return Cut((), (), tuple(one.note("holdout") for one in ranking.best[:MAX_NOTED]), ranking.total)


def require_room(fixed: str, budget: Budget) -> None:
    """Raise InvalidInput if `fixed`, a prompt without any memory, is over the budget."""
    size, tokens = len(fixed.encode()), estimate_tokens(fixed)
    if budget.bytes and size > budget.bytes:
        raise InvalidInput(
            f"the sections without memories need {size:,} bytes, the budget is {budget.bytes:,}: shorten them or raise it"
        )
    if budget.tokens and tokens > budget.tokens:
        raise InvalidInput(
            f"the sections without memories need about {tokens:,} tokens ({size:,} bytes), the budget is"
            f" {budget.tokens:,} tokens: shorten them or raise it"
        )


class Room:
    """How much is left of a budget, in bytes and in tokens."""

    def __init__(self, used: str, budget: Budget):
        self._bytes = budget.bytes - len(used.encode()) if budget.bytes else None
        self._tokens = budget.tokens - estimate_tokens(used) if budget.tokens else None

    def excess(self, line: str) -> int:
        """Return by how many bytes (or tokens, if the bytes suffice) a line is over what is left; 0 if it fits."""
        over_bytes = 0 if self._bytes is None else len(line.encode()) - self._bytes
        over_tokens = 0 if self._tokens is None else estimate_tokens(line) - self._tokens
        return over_bytes if over_bytes > 0 else max(over_tokens, 0)

    def take(self, line: str) -> None:
        """Subtract a line from what is left."""
        if self._bytes is not None:
            self._bytes -= len(line.encode())
        if self._tokens is not None:
            self._tokens -= estimate_tokens(line)
