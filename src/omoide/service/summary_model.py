"""Let a language model write the points of a summary, and check them against the entries.

What the model invents is dropped, and a decision of which it loses a detail is added as it was said. So a summary by a model
never says less of the decisions than one by rules.
"""

from collections.abc import Collection, Sequence
from datetime import date

import msgspec

from omoide.learning.wording import Wording, share_of, wording
from omoide.lifecycle.details import find_details
from omoide.lifecycle.summarization import LogEntry
from omoide.lifecycle.summary_points import PointKind
from omoide.lifecycle.summary_text import Point
from omoide.llm.answers import fence
from omoide.llm.client import ModelClient

MOST_SHOWN = 60_000
"""Characters of entries that a model is shown at once."""
_INSTRUCTIONS = (
    "You summarise the log of a project for people and agents who continue the work. The fence contains its entries, each"
    " with its date. Write a short list of points. Keep every decision with its reason, rules and preferences, causes of"
    " problems with their solutions, and facts with their exact names, numbers, paths, versions and dates, unchanged. Join"
    " what belongs together. Leave out progress, greetings, repetition, and what a later entry replaced. Add nothing that is"
    " not in the entries. Each point is one or two sentences in the language of the entries; its date is that of the entry,"
    " its kind one of decision, rule, cause, fact, remark."
)
_SAME = 0.5
"""Share of the words of a decision without details that the model must repeat."""
_KINDS = {kind.value: kind for kind in PointKind if kind not in (PointKind.PROGRESS, PointKind.TALK)}


class _ModelPoint(msgspec.Struct, frozen=True):
    date: str
    kind: str
    text: str


class _ModelSummary(msgspec.Struct, frozen=True):
    points: list[_ModelPoint]


def ask_for_points(client: ModelClient, entries: Sequence[LogEntry], required: Sequence[Point]) -> list[Point]:
    """Return the points that the language model writes for these entries, without those with numbers that no entry has.

    `required`: the points that rules find; of these, a decision or rule that the model left out or changed is added. Raises
    ModelUnavailable.
    """
    log = "\n\n".join(f"[{entry.day}] {f'{entry.topic}: ' if entry.topic else ''}{entry.text}" for entry in entries)
    answer = client.ask("summarize", _INSTRUCTIONS, fence(log, "log"), _ModelSummary)
    days = sorted(point.day for point in required) or [entry.day for entry in entries]
    known = _numbers(find_details(log)) | {part for entry in entries for part in str(entry.day).split("-")}
    points = [
        Point(_day(written.date, days), _KINDS.get(written.kind, PointKind.REMARK), written.text.strip())
        for written in answer.points
        if written.text.strip() and _numbers(find_details(written.text)) <= known
    ]
    text = "\n".join(point.text for point in points)
    said, words = find_details(text), wording(text)
    return [*points, *(point for point in required if _is_lost(point, said, words))]


def _is_lost(point: Point, said: frozenset[str], words: Wording) -> bool:
    """Whether a decision or a rule is not in what the model wrote: by its details, or without any by its words."""
    if point.kind not in (PointKind.DECISION, PointKind.RULE):
        return False
    details = find_details(point.text)
    return not details <= said if details else share_of(point.text, words) < _SAME


def _numbers(details: Collection[str]) -> set[str]:
    """The runs of digits in details: a date may be written in another form, but every number must be in an entry."""
    runs: set[str] = set()
    for detail in details:
        for run in "".join(character if character.isdigit() else " " for character in detail).split():
            runs.add(run.lstrip("0") or "0")
            runs.add(run)
    return runs


def _day(text: str, days: Sequence[date]) -> date:
    """The date of a point, if it is one of the entries' time; else the last of them."""
    try:
        day = date.fromisoformat(text.strip()[:10])
    except ValueError:  # fallback: the model gave none
        return days[-1]
    return min(max(day, days[0]), days[-1])
