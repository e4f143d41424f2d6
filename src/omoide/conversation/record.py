"""The texts that record a task: an entry of its session, and a line of the project's activity."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from omoide.guard import secrets
from omoide.model import RunResult, Task
from omoide.prompt import quote

if TYPE_CHECKING:
    from omoide.learning.transcript import Turn

_LONGEST_TITLE = 120
_LONGEST_ANSWER = 1_000
_CUT = "…"


class HeardTurns:
    """The turns of a conversation, which may be too many to hold: they are passed on once, and the last message is kept."""

    def __init__(self, turns: "Iterable[Turn]"):
        self._turns = iter(turns)
        self._words = ""

    def __iter__(self) -> "Iterator[Turn]":
        for turn in self._turns:
            if turn.speaker.value == "agent" and turn.text.strip():
                self._words = turn.text
            yield turn

    def last_words(self) -> str:
        """Return the last message of the agent, after what is left of the turns; empty if it said nothing."""
        for _ in self:
            pass
        return self._words


def task_title(task: Task) -> str:
    """Return what a task is about, in one line: its title, or the first line of its description; without secrets and
    private parts."""
    from omoide.learning.injected_text import strip_injected  # lazy: patterns that only the end of a task needs

    public = replace(task, title=strip_injected(task.title), description=strip_injected(task.description))
    return _shorten(secrets.redact(quote.one_line(public.subject)), _LONGEST_TITLE) or task.id or "task"


def session_entry(task: Task, result: RunResult, answer: str) -> str:
    """Return the entry of a session for a task: what was asked, how it ended, and the end of the agent's answer."""
    head = f"{task_title(task)} ({result.value})"
    text = secrets.redact(answer.strip())
    if len(text) > _LONGEST_ANSWER:
        text = _CUT + text[-_LONGEST_ANSWER:]
    return f"{head}\n\n{text}" if text else head


def activity_line(task: Task, result: RunResult) -> str:
    """Return the line of a project's activity for a task."""
    return f"{task_title(task)} ({result.value})"


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}{_CUT}"
