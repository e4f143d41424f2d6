"""Which memories of a project a summary stands for, and which stay as they are. Pure, but for what the transaction reads.

What stays: pinned memories, decisions, everything that changed in the last seven days, and what is more than an entry of a
log: knowledge with a type of its own, with a key, examples, an expiry or a path pattern among its tags, preferences, and
what is in the list of a repository. See docs/decisions/0032-summaries.md.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from omoide.model import LinkKind, Memory, Scope, State
from omoide.storage.base import Reader

RECENT = timedelta(days=7)
"""How long everything stays word for word."""
SUMMARY_TAG = "summary"
"""The tag of a summary, and its source."""
LEAST_ENTRIES = 3
"""Entries of a layer that are worth a summary."""
_LONGEST_ABSORBED = 3_000
"""Bytes of an earlier summary to which later entries are added; a longer one stays, and another one begins."""
_PREFERENCES = frozenset(["preference", "preferences"])
_PATTERN = frozenset("*?[/")


class PreserveReason(StrEnum):
    """Why a summary leaves a memory as it is."""

    PINNED = "pinned"
    DECISION = "decision"
    RECENT = "recent"
    SUMMARY = "summary"
    KNOWLEDGE = "knowledge"
    FEW = "few"


class SummaryGroup(NamedTuple):
    """What one layer gives to a summary: the project itself, or one of its sessions."""

    scope: Scope
    entries: Sequence[Memory]
    earlier: Memory | None
    """The last summary of the layer, if later entries are added to it."""

    @property
    def memories(self) -> list[Memory]:
        """Everything that goes into the summary."""
        return [*([self.earlier] if self.earlier else []), *self.entries]


class SummaryChoice(NamedTuple):
    """What a summary of a project stands for."""

    groups: Sequence[SummaryGroup]
    preserved: Counter[PreserveReason]
    """How many memories stay as they are, by the reason."""


def choose(
    memories: Iterable[Memory], at: datetime, types: Sequence[str], is_listed: Callable[[Memory], bool]
) -> SummaryChoice:
    """Separate the memories to summarise from those that stay.

    `memories`: the current memories of a project and its sessions. `types`: the types of entries of a log. `is_listed`:
    returns whether a memory is in a list that only a person shortens.
    """
    preserved: Counter[PreserveReason] = Counter()
    entries: dict[Scope, list[Memory]] = {}
    earlier: dict[Scope, Memory] = {}
    for memory in sorted(memories, key=lambda memory: (memory.created_at, memory.number)):
        reason = _reason_to_stay(memory, at, types)
        if reason is None and is_listed(memory):
            reason = PreserveReason.KNOWLEDGE
        if reason is None:
            entries.setdefault(memory.scope, []).append(memory)
        else:
            preserved[reason] += 1
        if reason is PreserveReason.SUMMARY and len(memory.content.encode()) <= _LONGEST_ABSORBED:
            earlier[memory.scope] = memory
    groups: list[SummaryGroup] = []
    for scope, found in entries.items():
        if len(found) < LEAST_ENTRIES:
            preserved[PreserveReason.FEW] += len(found)  # they wait for more
            continue
        groups.append(SummaryGroup(scope, found, earlier.get(scope)))
        preserved[PreserveReason.SUMMARY] -= scope in earlier
    return SummaryChoice(groups, +preserved)


def _reason_to_stay(memory: Memory, at: datetime, types: Sequence[str]) -> PreserveReason | None:
    if memory.pinned:
        return PreserveReason.PINNED
    if memory.type == "decision":
        return PreserveReason.DECISION
    if at - memory.updated_at < RECENT:
        return PreserveReason.RECENT
    if is_summary(memory):
        return PreserveReason.SUMMARY
    is_more = memory.key or memory.examples or memory.expires_at or memory.original_prompt or _has_role(memory.tags)
    return PreserveReason.KNOWLEDGE if memory.type not in types or is_more else None


def _has_role(tags: Iterable[str]) -> bool:
    """Whether tags say that a memory is a preference, or for which paths it is put into a prompt."""
    return any(tag.casefold() in _PREFERENCES or not _PATTERN.isdisjoint(tag) for tag in tags)


def is_summary(memory: Memory) -> bool:
    """Return whether a memory has the source and the tag of a summary; somebody else may have given it these."""
    return memory.source == SUMMARY_TAG and SUMMARY_TAG in memory.tags


def source_ids(tx: Reader, summary: Memory) -> list[str]:
    """Return the ids of the memories that a summary stands for: those that it has `derived_from` links to."""
    links = tx.links(summary.number)
    return [link.target for link in links if link.source == summary.id and link.kind is LinkKind.DERIVED_FROM]


def originals(tx: Reader, summary: Memory) -> list[Memory]:
    """Return the memories that were archived when this summary was made, and have not changed since."""
    # All versions that one transaction makes have its time: what changed later has another one.
    return [
        memory
        for memory in tx.memories(source_ids(tx, summary))
        if memory.state is State.ARCHIVED and memory.updated_at == summary.created_at
    ]
