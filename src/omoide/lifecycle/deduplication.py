"""Deduplication: which memories are merged, which are proposed for it, and which contradict each other. Pure.

`comparison` compares two texts: what says the same is merged, what is similar is proposed for a person to decide, and a
possible contradiction is reported.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from omoide.lifecycle.comparison import Judgement, TextFeatures, Verdict, extract_features, judge
from omoide.model import ACTIVITY, Memory, fields

GROUP = 20
"""Of all memories with the same words so many are compared with the first: lists of measurements have thousands."""


class Merge(msgspec.Struct, frozen=True):
    """Memories that become one: `into` keeps its number, the others are archived with a link to it."""

    into: Memory
    others: tuple[Memory, ...]
    merged: Memory
    similarity: float


class Proposal(msgspec.Struct, frozen=True):
    """Two memories that perhaps say the same in other words."""

    one: Memory
    other: Memory
    similarity: float


class Contradiction(msgspec.Struct, frozen=True):
    """Two memories that are near and perhaps cannot both be right."""

    one: Memory
    other: Memory
    why: str
    similarity: float


class MergePlan(msgspec.Struct, frozen=True):
    """What a reindex would merge, and what it reports."""

    merges: list[Merge]
    contradictions: list[Contradiction]
    proposals: list[Proposal] = []
    """What is merged only if somebody says so, the most similar first."""


class ReindexResult(msgspec.Struct, frozen=True):
    """What a reindex did, or would do."""

    plan: MergePlan
    merged: int
    """Merges done: one that changed meanwhile is left for the next time."""
    dropped: int
    indexed: int
    embedded: int
    trouble: str = ""
    """Why the vectors that were missing could not all be made."""
    archive: str | None = None
    """The file with the database as it was before."""


Pair = tuple[int, int]
"""The numbers of two memories, the lower one first."""


def plan(
    memories: Mapping[int, Memory],
    pairs: Iterable[tuple[int, int, float]],
    *,
    similar: bool = False,
    approved: Collection[Pair] = (),
) -> MergePlan:
    """Plan which of the similar memories to merge, the most similar first.

    memories: by number
    pairs: two numbers each, and their similarity from 0 to 1
    similar: also merge what says the same in other words, which is only proposed otherwise; `approved` are single such pairs

    A memory is merged at most once in one plan, only with memories of its own scope, type and state, and never when both
    have a key.
    """
    planner = _MergePlanner(memories)
    for one, other, similarity in sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1])):
        is_approved = similar or (min(one, other), max(one, other)) in approved
        planner.compare(memories[one], memories[other], similarity, is_approved=is_approved)
    return planner.plan()


class _MergePlanner:
    """The merges and contradictions found so far."""

    def __init__(self, memories: Mapping[int, Memory]):
        self._memories = memories
        self._features: dict[int, TextFeatures] = {}
        self._groups: dict[int, list[tuple[int, float]]] = {}
        """By the number of the memory that stays: those that are merged into it, and how similar they are."""
        self._heads: dict[int, int] = {}
        """By the number of each memory in a group: the one that stays."""
        self._contradictions: list[Contradiction] = []
        self._proposals: list[Proposal] = []
        self._combined: set[int] = set()
        """The heads whose texts are joined, because they say it in other words."""

    def compare(self, one: Memory, other: Memory, similarity: float, *, is_approved: bool) -> None:
        """Merge two memories if they say the same, propose it, or note that they contradict each other."""
        if (one.scope, one.type, one.state) != (other.scope, other.type, other.state) or one.type == ACTIVITY:
            return
        judgement = self._judge(one, other, similarity)
        if judgement.verdict is Verdict.CONTRADICTS:
            self._contradictions.append(Contradiction(one, other, judgement.why, similarity))
            return
        if judgement.verdict is Verdict.DIFFERENT or (one.key and other.key):
            return
        if judgement.verdict is Verdict.SIMILAR and not is_approved:
            self._proposals.append(Proposal(one, other, similarity))
            return
        self._group(one, other, similarity, judgement)

    def _group(self, one: Memory, other: Memory, similarity: float, judgement: Judgement) -> None:
        """Put two memories that say the same into one group."""
        enough = (Verdict.SAME,) if judgement.verdict is Verdict.SAME else (Verdict.SAME, Verdict.SIMILAR)
        head = self._memories[self._head(one, other)]
        for memory in (one, other):
            # A memory with a key stays: its key must go on naming what is in use. Each is compared with the head itself:
            # a chain of similar memories may lead anywhere.
            is_free = memory.number not in self._heads and not memory.key
            is_pair = head in (one, other) and judgement.verdict is Verdict.SIMILAR
            if is_free and (is_pair or self._judge(head, memory, similarity).verdict in enough):
                self._heads[memory.number] = head.number
                self._groups[head.number].append((memory.number, similarity))
                if judgement.verdict is Verdict.SIMILAR:
                    self._combined.add(head.number)

    def _head(self, one: Memory, other: Memory) -> int:
        """Return the head of the group that one of the two is in; of a new group if none is."""
        head = self._heads.get(one.number, self._heads.get(other.number))
        if head is None:
            head = _survivor(one, other).number
            self._groups[head], self._heads[head] = [], head
        return head

    def _judge(self, one: Memory, other: Memory, similarity: float) -> Judgement:
        return judge(self._features_of(one), self._features_of(other), similarity)

    def _features_of(self, memory: Memory) -> TextFeatures:
        if memory.number not in self._features:
            topic = f"{memory.topic}\n" if memory.topic_given else ""
            self._features[memory.number] = extract_features(topic + memory.content)
        return self._features[memory.number]

    def plan(self) -> MergePlan:
        """Return the merges, and the contradictions between memories that are not merged into one."""
        merges = []
        for head, group in self._groups.items():
            if group:
                into, others = self._memories[head], [self._memories[number] for number, _ in group]
                merged = merge(into, others, join=head in self._combined)
                merges.append(Merge(into, tuple(others), merged, min(similarity for _, similarity in group)))
        contradictions = [found for found in self._contradictions if not self._are_merged(found)]
        return MergePlan(merges, contradictions, [found for found in self._proposals if not self._are_merged(found)])

    def _are_merged(self, found: Contradiction | Proposal) -> bool:
        head = self._heads.get(found.one.number)
        return head is not None and head == self._heads.get(found.other.number)


def candidate_pairs(memories: Iterable[Memory]) -> Iterator[tuple[int, int, float]]:
    """Return pairs of memories with the same tokens, and some with the same words, stated or denied: they need no vectors
    to be near."""
    by_tokens: dict[object, int] = {}
    groups: dict[object, list[int]] = {}
    for memory in memories:
        features = extract_features(memory.content)
        place = (memory.scope, memory.type, memory.state)
        first = by_tokens.setdefault((place, features.tokens), memory.number)
        if first != memory.number:
            yield first, memory.number, 1.0
        elif len(features.words) > 1:  # a single word in common is no similarity
            groups.setdefault((place, features.subject), []).append(memory.number)
    for first, *others in groups.values():
        yield from ((first, other, 1.0) for other in others[:GROUP])


def _survivor(one: Memory, other: Memory) -> Memory:
    """Return the one that stays: with a key, pinned, referred to more often, older."""
    return min(
        one, other, key=lambda memory: (memory.key is None, not memory.pinned, -memory.reference_count, memory.number)
    )


def merge(into: Memory, others: Sequence[Memory], *, join: bool = False) -> Memory:
    """Return one memory with the facts of them all; how the values of a field merge is in the table of fields.

    join: keep every text, one below the other, because they are not the same word for word
    """
    # The lowest number first: of two contents of one length, the older one stands.
    ordered = sorted([into, *others], key=lambda memory: memory.number)
    merged: dict[str, Any] = {}
    for field in fields.FIELDS:
        if field.merge != "own":
            memories = ordered if field.merge == "longest" else [into, *others]
            merged[field.name] = _MERGERS[field.merge]([getattr(memory, field.name) for memory in memories])
    if join:
        merged["content"] = "\n".join(dict.fromkeys(memory.content for memory in (into, *others)))
    return msgspec.structs.replace(into, **merged)


def _latest(moments: Sequence[datetime | None]) -> datetime | None:
    known = [moment for moment in moments if moment is not None]
    return max(known) if len(known) == len(moments) else None


_MERGERS: dict[fields.Merge, Callable[[Sequence[Any]], Any]] = {
    "longest": lambda texts: max(texts, key=len),
    "union": lambda lists: tuple(dict.fromkeys(value for values in lists for value in values)),
    "mean": lambda numbers: round(sum(numbers) / len(numbers), 4),
    "sum": sum,
    "highest": max,
    "lowest": min,
    "any": any,
    "latest": _latest,
}
