"""Deduplication: which memories say the same and may be merged, and which contradict each other. Pure.

Similarity alone never merges. Vectors of "the port is 8080" and "the port is 8081" are as near as those of two spellings of
one sentence, so two memories are the same only if they are near and say the same in the same order (`normalization`). What
is near and differs in a number, a negation, a name, an opposite or the order of its words is reported as a possible
contradiction, for a person to decide.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from omoide.lifecycle import antonyms, normalization
from omoide.model import ACTIVITY, Memory, fields
from omoide.retrieval.analyzer import stem

SAME = 0.85
"""The similarity from which two texts can be the same. Chosen by judgement."""
NEAR = 0.65
"""The similarity from which two texts can contradict each other. Chosen by judgement."""
GROUP = 20
"""Of all memories with the same words so many are compared with the first: lists of measurements have thousands."""


class Verdict(StrEnum):
    """What a comparison of two texts found."""

    SAME = "same"
    CONTRADICTS = "contradicts"
    DIFFERENT = "different"


class Judgement(msgspec.Struct, frozen=True):
    """A verdict, and what makes one text say something else than the other."""

    verdict: Verdict
    why: str = ""


class Merge(msgspec.Struct, frozen=True):
    """Memories that become one: `into` keeps its number, the others are archived with a link to it."""

    into: Memory
    others: tuple[Memory, ...]
    merged: Memory
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


_word = re.compile(r"[^\W\d_][\w'./:@#+*$~-]*|[\d][\w.,:/%-]*|[-$~/.*@#][\w./*@~-]+", re.ASCII)
_japanese = re.compile("[一-鿿々〇]+|[ァ-ヺー]+|[ぁ-ゖ]+")
_letters = re.compile(r"[^\W\d_]+")  # of all other scripts, once these two are removed
_number = re.compile(r"\d+(?:[.,:/-]\d+)*")
_SPELT = """
    0 zero, 1 one once, 2 two twice both, 3 three, 4 four, 5 five, 6 six, 7 seven, 8 eight, 9 nine, 10 ten, 11 eleven,
    12 twelve, 13 thirteen, 14 fourteen, 15 fifteen, 16 sixteen, 20 twenty, 30 thirty, 50 fifty, 100 hundred,
    1000 thousand, 0.5 half
"""
_name = re.compile(r"[A-Z]\w*|\w*[\d_.$@#:/*~-]\w*|[A-Za-z]+[A-Z]\w*")

_EMPTY_WORDS = """
    a an the is are was were be been being has have had do does did will would it its this that these those there here they
    them their he she his her i you we our your my me us and or as so then of to in on at by for with from into very just
    also please re ve ll shall should can could may might must now currently really simply
"""
# They state no fact by themselves, but change a sentence when they differ.
_TURNING_WORDS = "or from to into in on at by for with should can could may might must"
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nothing|neither|nor|without|cannot|avoid|stop|refuse[sd]?|fail(?:s|ed)?|un(?:able|less)|except|"
    r"instead|longer)\b|n't\b"
)
_JAPANESE_NEGATION = re.compile(
    "(?<!少)な(?:い|く|かっ|ければ|し(?!い))|ません|(?:ず|ぬ)(?=[、。にへ]|$)|まい(?=。|$)|[不無非未](?=[一-鿿])|禁止|廃止|中止|停止|除[くい外]|やめ|避け|以外|のみ|だけ|しか|"
    "[よろおこそともぼの]うとし|ようにし|つもり|予定|たい(?=[。です]|$)|かもしれ"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EMPTY, _TURNING = _words(_EMPTY_WORDS), _words(_TURNING_WORDS)
_spelt = {name: number for number, *names in (group.split() for group in _SPELT.split(",")) for name in names}


class TextFeatures(msgspec.Struct, frozen=True):
    """What two texts are compared by: their tokens, and for texts that differ in them, what they are about."""

    tokens: tuple[str, ...]
    words: Counter[str]
    """Those that carry facts, as stems."""
    numbers: Counter[str]
    turning: Counter[str]
    negations: int
    names: frozenset[str]
    endings: str


def extract_features(text: str) -> TextFeatures:
    """Return what a text is compared by."""
    plain = normalization.normalize(text)
    words, numbers, turning, names = Counter[str](), Counter[str](), Counter[str](), set[str]()
    for raw in _word.findall(plain):
        word = raw.rstrip(".,:;-/'")
        lower = word.lower()
        found = _number.findall(lower)
        numbers.update(found)
        if lower in _spelt:
            numbers[_spelt[lower]] += 1
        elif lower in _EMPTY:
            turning.update([lower] if lower in _TURNING else [])
        elif lower and not (found and lower == found[0]):
            words[stem(lower)] += 1
            names.update([stem(lower)] if _name.fullmatch(word) else [])
    runs = _japanese.findall(plain)
    endings = [run for run in runs if _is_hiragana(run)]
    words.update(run for run in runs if not _is_hiragana(run))
    names.update(run for run in runs if "ァ" <= run[0] <= "ヺ")
    words.update(run.lower() for run in _letters.findall(_japanese.sub(" ", _word.sub(" ", plain))))
    negations = len(_NEGATION.findall(plain.lower())) + len(_JAPANESE_NEGATION.findall(plain))
    tokens = normalization.tokens(plain)
    return TextFeatures(tokens, words, numbers, turning, negations, frozenset(names), "".join(endings))


def _is_hiragana(run: str) -> bool:
    return "ぁ" <= run[0] <= "ゖ"


def judge(one: TextFeatures, other: TextFeatures, similarity: float) -> Judgement:
    """Return whether two texts say the same or contradict each other, given their similarity from 0 to 1."""
    if similarity >= SAME and normalization.is_same(one.tokens, other.tokens):
        return Judgement(Verdict.SAME)
    gone, come = one.words - other.words, other.words - one.words
    apart = sum(gone.values()) + sum(come.values())
    size = max(sum(one.words.values()), sum(other.words.values()))
    difference = _difference(one, other, gone, come) if similarity >= NEAR and apart <= max(2, size // 4) else ""
    return Judgement(Verdict.CONTRADICTS, difference) if difference else Judgement(Verdict.DIFFERENT)


def _difference(one: TextFeatures, other: TextFeatures, gone: Counter[str], come: Counter[str]) -> str:
    """Return what makes one of two near texts say something else than the other; empty if nothing does."""
    if one.numbers != other.numbers:
        return "other numbers"
    if one.negations != other.negations:
        return "a negation"
    if one.turning - other.turning and other.turning - one.turning:
        return "another relation"
    opposed = _opposite_words(gone, come) or antonyms.opposite_endings(one.endings, other.endings)
    if opposed:
        return f"opposites: {opposed}"
    if gone and come and (one.names & gone.keys() or other.names & come.keys()):
        return "other names"
    return "" if gone or come else _order_difference(one.tokens, other.tokens)


def _order_difference(one: Sequence[str], other: Sequence[str]) -> str:
    """Return how two texts with the same words differ."""
    gone, come = Counter(one) - Counter(other), Counter(other) - Counter(one)
    if sorted(map(str.lower, one)) == sorted(map(str.lower, other)):
        return f"another case: {', '.join(gone)}" if len(gone) == 1 else "another order"
    return "other words: " + ", ".join(" ".join(side) or "none" for side in (gone, come))


def _opposite_words(gone: Iterable[str], come: Iterable[str]) -> str:
    come = list(come)
    return next((f"{word}, {its}" for word in gone for its in come if antonyms.are_opposites(word, its)), "")


def plan(memories: Mapping[int, Memory], pairs: Iterable[tuple[int, int, float]]) -> MergePlan:
    """Plan which of the similar memories to merge, the most similar first.

    memories: by number
    pairs: two numbers each, and their similarity from 0 to 1

    A memory is merged at most once in one plan, only with memories of its own scope, type and state, and never when both
    have a key.
    """
    planner = _Planner(memories)
    for one, other, similarity in sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1])):
        planner.compare(memories[one], memories[other], similarity)
    return planner.plan()


class _Planner:
    """The merges and contradictions found so far."""

    def __init__(self, memories: Mapping[int, Memory]):
        self._memories = memories
        self._features: dict[int, TextFeatures] = {}
        self._groups: dict[int, list[tuple[int, float]]] = {}
        """By the number of the memory that stays: those that are merged into it, and how similar they are."""
        self._heads: dict[int, int] = {}
        """By the number of each memory in a group: the one that stays."""
        self._contradictions: list[Contradiction] = []

    def compare(self, one: Memory, other: Memory, similarity: float) -> None:
        """Merge two memories if they say the same, or note that they contradict each other."""
        if (one.scope, one.type, one.state) != (other.scope, other.type, other.state) or one.type == ACTIVITY:
            return
        judgement = self._judge(one, other, similarity)
        if judgement.verdict is Verdict.CONTRADICTS:
            self._contradictions.append(Contradiction(one, other, judgement.why, similarity))
        elif judgement.verdict is Verdict.SAME and not (one.key and other.key):
            head = self._memories[self._head(one, other)]
            for memory in (one, other):
                # A memory with a key stays: its key must go on naming what is in use. Each is compared with the head itself:
                # a chain of similar memories may lead anywhere.
                is_free = memory.number not in self._heads and not memory.key
                if is_free and self._judge(head, memory, similarity).verdict is Verdict.SAME:
                    self._heads[memory.number] = head.number
                    self._groups[head.number].append((memory.number, similarity))

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
                merges.append(Merge(into, tuple(others), merge(into, others), min(similarity for _, similarity in group)))
        return MergePlan(merges, [found for found in self._contradictions if not self._are_merged(found)])

    def _are_merged(self, found: Contradiction) -> bool:
        head = self._heads.get(found.one.number)
        return head is not None and head == self._heads.get(found.other.number)


def candidate_pairs(memories: Iterable[Memory]) -> Iterator[tuple[int, int, float]]:
    """Return pairs of memories with the same tokens, and some with the same words: they need no vectors to be near."""
    by_tokens: dict[object, int] = {}
    groups: dict[object, list[int]] = {}
    for memory in memories:
        features = extract_features(memory.content)
        place = (memory.scope, memory.type, memory.state)
        first = by_tokens.setdefault((place, features.tokens), memory.number)
        if first != memory.number:
            yield first, memory.number, 1.0
        elif len(features.words) > 1:  # a single word in common is no similarity
            groups.setdefault((place, frozenset(features.words.items())), []).append(memory.number)
    for first, *others in groups.values():
        yield from ((first, other, 1.0) for other in others[:GROUP])


def _survivor(one: Memory, other: Memory) -> Memory:
    """Return the one that stays: with a key, pinned, referred to more often, older."""
    return min(
        one, other, key=lambda memory: (memory.key is None, not memory.pinned, -memory.reference_count, memory.number)
    )


def merge(into: Memory, others: Sequence[Memory]) -> Memory:
    """Return one memory with the facts of them all; how the values of a field merge is in the table of fields."""
    # The lowest number first: of two contents of one length, the older one stands.
    ordered = sorted([into, *others], key=lambda memory: memory.number)
    merged: dict[str, Any] = {}
    for field in fields.FIELDS:
        if field.merge != "own":
            memories = ordered if field.merge == "longest" else [into, *others]
            merged[field.name] = _MERGERS[field.merge]([getattr(memory, field.name) for memory in memories])
    return msgspec.structs.replace(into, **merged)


def _latest(moments: Sequence[datetime | None]) -> datetime | None:
    known = [moment for moment in moments if moment is not None]
    return max(known) if len(known) == len(moments) else None


_MERGERS: dict[fields.Merge, Callable[[Sequence[Any]], Any]] = {
    "longest": lambda texts: max(texts, key=len),
    "union": lambda lists: tuple(dict.fromkeys(value for values in lists for value in values)),
    "mean": lambda numbers: sum(numbers) / len(numbers),
    "sum": sum,
    "highest": max,
    "lowest": min,
    "any": any,
    "latest": _latest,
}
