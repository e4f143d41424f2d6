"""The texts that record a task: an entry of its session, and a line of the project's activity. Pure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from omoide.guard import secrets
from omoide.model import RunResult, Task
from omoide.prompt import quote

if TYPE_CHECKING:
    from omoide.learning.transcript import Turn

_LONGEST_TITLE = 120
_LONGEST_ANSWER = 1_000
_CUT = "…"


def task_title(task: Task) -> str:
    """Return what a task is about, in one line: its title, or the first line of its description; without secrets."""
    return _shorten(secrets.redact(quote.one_line(task.subject)), _LONGEST_TITLE) or task.id or "task"


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


def last_words(turns: "Sequence[Turn]") -> str:
    """Return the last message of the agent; empty if it said nothing."""
    return next((turn.text for turn in reversed(turns) if turn.speaker.value == "agent" and turn.text.strip()), "")


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}{_CUT}"
