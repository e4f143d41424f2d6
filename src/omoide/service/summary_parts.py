"""The summaries of a layer before they are stored: made of its entries, by rules or by a language model."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime, time
from functools import reduce
from typing import NamedTuple

from omoide.errors import ModelUnavailable
from omoide.guard import permissions
from omoide.lifecycle.summarization import LogEntry, SummaryPart, is_shorter, summarize_log
from omoide.lifecycle.summary_text import parse_points
from omoide.llm.client import ModelClient
from omoide.model import Actor, Draft, Memory, Scope
from omoide.service.summary_choice import SUMMARY_TAG, SummaryGroup, is_summary
from omoide.service.summary_model import MOST_SHOWN, ask_for_points

TYPE = "context"
"""The type of a summary."""
_MOST_TAGS = 8


class PendingSummary(NamedTuple):
    """A summary that is to be stored, and the memories that it stands for."""

    scope: Scope
    sources: Sequence[Memory]
    part: SummaryPart

    @property
    def draft(self) -> Draft:
        """The draft of the memory to store."""
        tags = Counter(tag for memory in self.sources for tag in memory.tags if tag != SUMMARY_TAG)
        return Draft(
            self.part.text,
            self.scope,
            topic=self.part.topic,
            type=TYPE,
            tags=(SUMMARY_TAG, *(tag for tag, _ in tags.most_common(_MOST_TAGS))),
            source=SUMMARY_TAG,
            confidence=min(memory.confidence for memory in self.sources),
        )

    @property
    def author(self) -> Actor | None:
        """The author with the lowest role: a summary is not more trusted than any of its entries."""
        authors = [memory.author for memory in self.sources if memory.author is not None]
        if not authors:
            return None
        return reduce(lambda lowest, other: other if permissions.outranks(lowest.role, other.role) else lowest, authors)


def summarize_group(group: SummaryGroup) -> list[PendingSummary]:
    """Return the summaries of a layer, made of sentences of its entries; none if they would not be shorter."""
    return _summarize(group.scope, group.memories)


def _summarize(scope: Scope, memories: Iterable[Memory]) -> list[PendingSummary]:
    by_number = {memory.number: memory for memory in memories}
    if all(is_summary(memory) for memory in by_number.values()):
        return []
    parts = summarize_log(_log_entry(memory) for memory in by_number.values())
    return [
        PendingSummary(scope, [by_number[entry.number] for entry in part.entries], part)
        for part in parts
        if not all(is_summary(by_number[entry.number]) for entry in part.entries)
    ]


def _log_entry(memory: Memory) -> LogEntry:
    if is_summary(memory):
        points = tuple(parse_points(memory.content, memory.created_at.astimezone(UTC).date()))
        first = min((point.day for point in points), default=None)
        at = memory.created_at if first is None else datetime.combine(first, time(), UTC)
        return LogEntry(memory.number, at, memory.content, points=points)
    return LogEntry(memory.number, memory.created_at, memory.content, memory.topic if memory.topic_given else "")


def without_memories(pending: Sequence[PendingSummary], numbers: Collection[int]) -> list[PendingSummary]:
    """Return the summaries without the memories with these numbers: those that stand for one are made again, by rules."""
    kept: list[PendingSummary] = []
    for one in pending:
        left = [memory for memory in one.sources if memory.number not in numbers]
        kept += [one] if len(left) == len(one.sources) else _summarize(one.scope, left)
    return kept


def write_by_model(
    client: ModelClient, pending: Sequence[PendingSummary], is_storable: Callable[[PendingSummary], bool]
) -> tuple[list[PendingSummary], str]:
    """Let the language model write the summaries; return them, and why it did not write all of them.

    A summary by the model that is hardly shorter than the entries, or cannot be stored, is dropped for the one in `pending`.
    `is_storable`: returns whether a summary can be stored: it has no secret.
    """
    written: list[PendingSummary] = []
    trouble, is_unavailable = "", False
    for one in pending:
        shown = sum(len(entry.text) for entry in one.part.entries)
        points = None
        if shown > MOST_SHOWN:
            trouble = trouble or f"{shown:,} characters of entries are too many for the language model at once"
        elif not is_unavailable:
            try:
                points = ask_for_points(client, one.part.entries, one.part.points)
            except ModelUnavailable as error:  # fallback: the summary by rules, also for the rest: it would fail again
                trouble, is_unavailable = str(error), True
        other = one._replace(part=one.part._replace(points=points or ()))
        written.append(other if points and is_shorter([other.part]) and is_storable(other) else one)
    return written, trouble
