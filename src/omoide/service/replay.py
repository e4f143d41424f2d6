"""Examine past runs: render a prompt again from the history, explain it, compare two, find what put a text into it."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from omoide.errors import Conflict, InvalidInput, NotAllowed, NotFound
from omoide.guard import permissions, validation
from omoide.model import Actor, Memory, PromptMemory, Run, Scope, State
from omoide.service.core import Core, Ref
from omoide.service.runs import find_run, known_runs, limit_receipt, versions_in_prompt
from omoide.storage.base import Reader

_MAX_BLAMED = 1_000
"""Runs that `blame` looks into, newest first."""


class Explanation(NamedTuple):
    """Why a memory was in the prompt of a run, or was not."""

    number: int
    version: int | None
    """The version that the run had; None if it did not consider the memory."""
    chosen: bool
    reason: str
    memory: Memory | None
    """The memory in that version; None if it is gone."""


class RunComparison(NamedTuple):
    """How the prompts of two runs differ."""

    first: Run
    second: Run
    removed: Sequence[PromptMemory]
    """Memories that only the first prompt has."""
    added: Sequence[PromptMemory]
    revised: Sequence[tuple[PromptMemory, PromptMemory]]
    """Memories that both have, in different versions."""
    diff: Sequence[str]
    """The unified diff of the two prompts; empty if one cannot be replayed."""
    problem: str = ""
    """Why there is no diff."""


class Blame(NamedTuple):
    """A memory that put a text into a prompt."""

    run: Run
    memory: Memory
    """In the version that was in the prompt, with its author and source."""
    prompt: str
    """The whole prompt."""
    without: str
    """The prompt as it would have been without this memory."""


class Replay(Core):
    """Operations on past runs."""

    def replay(self, run: Ref, *, scope: Scope) -> str:
        """Return the prompt of a run: the same bytes as then, rendered from the history.

        It works after memories were revised, archived, forgotten, promoted or merged. `run`: the number or the id of the
        run.

        Raises NotFound if there is no such run, or, with their numbers, if memories of the prompt were purged; Conflict if
        one was redacted, if the prompt contained the text of files, or if another version of omoide composed it in another
        format; NotAllowed if the prompt contains memories of layers beyond the actor's bounds.
        """
        permissions.require(self._actor, "replay")
        with self._read(scope) as tx:
            return render_again(tx, self._actor, find_run(tx, self._actor, run, scope))

    def why(self, run: Ref, memory: Ref | None = None, *, scope: Scope) -> Sequence[Explanation]:
        """Explain which memories were in the prompt of a run, which were left out, and why.

        `run`: the number or the id of the run. `memory`: explain only this one; None: all in the prompt, and the best of
        those that were left out. Raises NotFound.
        """
        permissions.require(self._actor, "why")
        with self._read(scope) as tx:
            found = limit_receipt(tx, self._actor, find_run(tx, self._actor, run, scope))
            if memory is not None:
                return [self._explain_one(tx, found, memory, scope)]
            chosen = [
                Explanation(one.number, one.version, chosen=True, reason=one.reason, memory=version)
                for one, version in zip(found.receipt.memories, versions_in_prompt(tx, found), strict=True)
            ]
            return chosen + [self._explain(tx, one) for one in found.receipt.left_out]

    def compare_runs(self, first: Ref, second: Ref, *, scope: Scope) -> RunComparison:
        """Compare the prompts of two runs: their memories, and the lines of the texts. Raises NotFound.

        `first`, `second`: the number or the id of each run.
        """
        permissions.require(self._actor, "compare_runs")
        with self._read(scope) as tx:
            whole, other_whole = (find_run(tx, self._actor, ref, scope) for ref in (first, second))
            one, other = (limit_receipt(tx, self._actor, run) for run in (whole, other_whole))
            old = {memory.id: memory for memory in one.receipt.memories}
            new = {memory.id: memory for memory in other.receipt.memories}
            problem = ""
            try:
                diff = _diff(render_again(tx, self._actor, whole), render_again(tx, self._actor, other_whole))
            except (NotFound, Conflict, NotAllowed) as error:  # fallback: the memories alone
                problem, diff = str(error), []
        return RunComparison(
            one,
            other,
            [memory for id, memory in old.items() if id not in new],
            [memory for id, memory in new.items() if id not in old],
            [(memory, new[id]) for id, memory in old.items() if id in new and new[id].version != memory.version],
            diff,
            problem,
        )

    def blame(self, text: str, *, scope: Scope, run: Ref | None = None, limit: int = 20) -> Sequence[Blame]:
        """Find which memories put a text into prompts, newest runs first.

        `text`: some words of a prompt. `run`: search only this run, by its number or id; None: all runs of the scope's
        project. `limit`: how many memories to return at most. Runs that cannot be replayed any more, or that the actor may
        not replay, are left out. Raises NotFound, and InvalidInput for an empty text.
        """
        permissions.require(self._actor, "blame")
        if not text.strip():
            raise InvalidInput("the text is empty: give some words of a prompt")
        limit = validation.check_limit(limit, self._settings)
        found: list[Blame] = []
        with self._read(scope) as tx:
            if run is not None:
                runs = [find_run(tx, self._actor, run, scope)]
            else:
                runs = list(islice(known_runs(tx, self._actor, scope), _MAX_BLAMED))
            for each in runs:
                found += self._blame(tx, each, text)
                if len(found) >= limit:
                    break
        return found[:limit]

    def _blame(self, tx: Reader, run: Run, text: str) -> Iterator[Blame]:
        from omoide.prompt import render  # lazy: see _replay

        memories = list(versions_in_prompt(tx, run))
        if run.receipt.layout != "sections" or any(memory is None for memory in memories):
            return
        if not _is_whole(tx, self._actor, run):
            return
        lines = [(memory, render.memory_line(memory.type, memory.content)) for memory in memories if memory is not None]
        for memory, line in lines:
            if text in line or text in memory.content:
                prompt = render.render(run.task, run.task.role, [each for _, each in lines])
                rest = [each for other, each in lines if other is not memory]
                yield Blame(run, memory, prompt, render.render(run.task, run.task.role, rest))

    def _explain(self, tx: Reader, one: PromptMemory) -> Explanation:
        versions = [version.memory for version in tx.versions(one.number)]
        memory = next((memory for memory in versions if (memory.id, memory.version) == (one.id, one.version)), None)
        return Explanation(one.number, one.version, chosen=False, reason=one.reason, memory=memory)

    def _explain_one(self, tx: Reader, run: Run, ref: Ref, scope: Scope) -> Explanation:
        """Explain one memory, which may be gone, or may not have been considered at all."""
        text = str(ref).removeprefix("#")
        number = int(text) if text.isascii() and text.isdigit() else self._find(tx, ref, scope).number
        for one, memory in zip(run.receipt.memories, versions_in_prompt(tx, run), strict=True):
            if one.number == number:
                return Explanation(number, one.version, chosen=True, reason=one.reason, memory=memory)
        for one in run.receipt.left_out:
            if one.number == number:
                return self._explain(tx, one)
        current = self._find(tx, f"#{number}", scope)  # a memory that the scope does not see does not exist for it
        then = [version.memory for version in tx.versions(number) if version.memory.updated_at <= run.started_at]
        if not then:
            reason = "it did not exist yet"
        elif then[-1].state is not State.ACTIVE:
            reason = f"it was {then[-1].state}"
        else:
            reason = "others rank higher, or it had expired or was not visible"
        memory = self._hide_past_scope(then[-1], current, scope) if then else None
        return Explanation(number, None, chosen=False, reason=reason, memory=memory)


def render_again(tx: Reader, actor: Actor, run: Run) -> str:
    """Return the prompt of a run, rendered from the history. The run need not be recorded. Raises as `Replay.replay`."""
    import hashlib  # lazy: 5 ms that only looking back at runs needs

    from omoide.prompt import render  # lazy: the same

    permissions.require_whole_prompt(actor, run.number, is_whole=_is_whole(tx, actor, run))
    if run.receipt.layout != "sections":
        raise Conflict(
            f"run {run.number} cannot be replayed: its prompt had the text of files ({run.receipt.layout}), which is not"
            " stored; `omoide why` names the memories in it"
        )
    if run.receipt.format != render.FORMAT:
        raise Conflict(
            f"run {run.number} was composed in format {run.receipt.format}, this omoide renders format {render.FORMAT}:"
            " use the version that composed it"
        )
    memories = list(versions_in_prompt(tx, run))
    notes = run.receipt.memories
    gone = [f"#{one.number}" for one, memory in zip(notes, memories, strict=True) if memory is None]
    if gone:
        raise NotFound(f"run {run.number} cannot be replayed: {', '.join(gone)} in its prompt was purged")
    lines = [render.memory_line(memory.type, memory.content) for memory in memories if memory is not None]
    prompt = render.render(run.task, run.task.role, lines)
    if hashlib.sha256(prompt.encode()).hexdigest() != run.receipt.sha256:
        raise Conflict(f"run {run.number} cannot be replayed: {_describe_change(tx, run)}")
    return prompt


def _is_whole(tx: Reader, actor: Actor, run: Run) -> bool:
    """Whether the actor may know of every memory in the prompt of a run."""
    return limit_receipt(tx, actor, run).receipt.memories == run.receipt.memories


def _describe_change(tx: Reader, run: Run) -> str:
    """Describe why the history no longer gives the bytes of a run."""
    redacted = [
        f"#{one.number}"
        for one in run.receipt.memories
        if any(event.action == "redacted" for event in tx.events(None, one.number, run.started_at, 1_000))
    ]
    if redacted:
        return f"a secret in {', '.join(redacted)} was redacted since"
    return "its task was redacted since, or the database was changed by other means"


def _diff(first: str, second: str) -> list[str]:
    import difflib  # lazy: only for a comparison

    return list(difflib.unified_diff(first.splitlines(), second.splitlines(), lineterm="", n=2))[2:]
