"""Near twins: which memories say the same and may become one, which contradict each other, and what the one would be.

Likeness alone never merges. Vectors of "the port is 8080" and "the port is 8081" are as near as those of two spellings of
one sentence, so two memories are the same only if they are near and say the same in the same order (`wording`). Whatever is
near and differs in what turns a sentence round, such as a number, a negation, a name, an opposite or the order of its words,
is told as a possible contradiction, for a person to settle.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from omoide.lifecycle import antonyms, normalization
from omoide.model import Memory, fields
from omoide.retrieval.analyzer import stem

SAME = 0.85  # likeness below which nothing is the same,
NEAR = 0.65  # and below which nothing contradicts
GROUP = 20  # of all memories with the same words so many are compared with the first: lists of measurements have thousands


class Verdict(StrEnum):
    SAME = "same"
    CONTRADICTS = "contradicts"
    DIFFERENT = "different"


class Judgement(msgspec.Struct, frozen=True):
    verdict: Verdict
    why: str = ""


class Merge(msgspec.Struct, frozen=True):
    """Memories that become one: `into` is kept under its number, the others are told as its history."""

    into: Memory
    others: tuple[Memory, ...]
    merged: Memory
    likeness: float


class Contradiction(msgspec.Struct, frozen=True):
    """Two memories that are near and cannot both be right, perhaps."""

    one: Memory
    other: Memory
    why: str
    likeness: float


class MergePlan(msgspec.Struct, frozen=True):
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
_letters = re.compile(r"[^\W\d_]+")  # of all other scripts, once these two are taken out
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
# They carry no fact by themselves, but turn a sentence when they differ.
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
    """What a text says, as far as two texts are compared: its wording, and for those that differ in it, what it is about."""

    tokens: tuple[str, ...]
    words: Counter[str]
    """Those that carry facts, as stems."""
    numbers: Counter[str]
    turning: Counter[str]
    negations: int
    names: frozenset[str]
    endings: str


def extract_features(text: str) -> TextFeatures:
    plain = normalization.normalize(text)
    words, numbers, turning, names = Counter[str](), Counter[str](), Counter[str](), set()
    for raw in _word.findall(plain):
        word = raw.rstrip(".,:;-/'")
        small = word.lower()
        found = _number.findall(small)
        numbers.update(found)
        if small in _spelt:
            numbers[_spelt[small]] += 1
        elif found and small == found[0]:
            continue
        elif small in _EMPTY:
            turning.update([small] if small in _TURNING else [])
        elif small:
            words[stem(small)] += 1
            if _name.fullmatch(word):
                names.add(stem(small))
    endings = []
    for run in _japanese.findall(plain):
        if "ぁ" <= run[0] <= "ゖ":
            endings.append(run)
        else:
            words[run] += 1
            if "ァ" <= run[0] <= "ヺ":
                names.add(run)
    for run in _letters.findall(_japanese.sub(" ", _word.sub(" ", plain))):
        words[run.lower()] += 1
    negations = len(_NEGATION.findall(plain.lower())) + len(_JAPANESE_NEGATION.findall(plain))
    said = normalization.tokens(plain)
    return TextFeatures(said, words, numbers, turning, negations, frozenset(names), "".join(endings))


def judge(one: TextFeatures, other: TextFeatures, likeness: float) -> Judgement:
    """Whether two texts say the same, given how alike they are."""
    if likeness >= SAME and normalization.is_same(one.tokens, other.tokens):
        return Judgement(Verdict.SAME)
    gone, come = one.words - other.words, other.words - one.words
    apart = sum(gone.values()) + sum(come.values())
    size = max(sum(one.words.values()), sum(other.words.values()))
    turned = _difference(one, other, gone, come) if likeness >= NEAR and apart <= max(2, size // 4) else ""
    return Judgement(Verdict.CONTRADICTS, turned) if turned else Judgement(Verdict.DIFFERENT)


def _difference(one: TextFeatures, other: TextFeatures, gone: Counter[str], come: Counter[str]) -> str:
    """What makes one of two near texts say something else than the other; nothing when nothing does."""
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
    """How two texts differ that hold the same words."""
    gone, come = Counter(one) - Counter(other), Counter(other) - Counter(one)
    if sorted(map(str.lower, one)) == sorted(map(str.lower, other)):
        return f"another case: {', '.join(gone)}" if len(gone) == 1 else "another order"
    return "other words: " + ", ".join(" ".join(side) or "none" for side in (gone, come))


def _opposite_words(gone: Iterable[str], come: Iterable[str]) -> str:
    come = list(come)
    return next((f"{word}, {its}" for word in gone for its in come if antonyms.are_opposites(word, its)), "")


def plan(memories: Mapping[int, Memory], pairs: Iterable[tuple[int, int, float]]) -> MergePlan:
    """What would be merged of pairs of like memories, the most alike first. A memory is merged once at the most in one
    plan, only with those of its own scope, type and state, and never when both have a key."""
    readings: dict[int, TextFeatures] = {}
    heads: dict[int, list[tuple[int, float]]] = {}
    taken: dict[int, int] = {}
    doubts = []

    def reading(number: int) -> TextFeatures:
        if number not in readings:
            memory = memories[number]
            topic = f"{memory.topic}\n" if memory.topic_given else ""
            readings[number] = extract_features(topic + memory.content)
        return readings[number]

    for a, b, likeness in sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1])):
        one, other = memories[a], memories[b]
        if (one.scope, one.type, one.state) != (other.scope, other.type, other.state):
            continue
        found = judge(reading(a), reading(b), likeness)
        if found.verdict is Verdict.CONTRADICTS:
            doubts.append(Contradiction(one, other, found.why, likeness))
        elif found.verdict is Verdict.SAME and not (one.key and other.key):
            head = taken.get(a, taken.get(b))
            if head is None:
                head = _survivor(one, other).number
                heads[head] = []
                taken[head] = head
            for number in (a, b):
                # What has a key is merged only as the head: its key must go on naming what is in use.
                if number in taken or memories[number].key:
                    continue
                # Each with the head itself: a chain of likeness may lead anywhere.
                if judge(reading(head), reading(number), likeness).verdict is Verdict.SAME:
                    taken[number] = head
                    heads[head].append((number, likeness))
    merges = [
        Merge(
            memories[head],
            tuple(memories[number] for number, _ in others),
            merge(memories[head], [memories[number] for number, _ in others]),
            min(likeness for _, likeness in others),
        )
        for head, others in heads.items()
        if others
    ]
    return MergePlan(
        merges, [doubt for doubt in doubts if taken.get(doubt.one.number, -1) != taken.get(doubt.other.number, -2)]
    )


def candidate_pairs(memories: Iterable[Memory]) -> Iterator[tuple[int, int, float]]:
    """Pairs of memories of one wording, and some of those that hold the same words: they need no vectors to be near."""
    worded: dict[object, int] = {}
    groups: dict[object, list[int]] = {}
    for memory in memories:
        its = extract_features(memory.content)
        place = (memory.scope, memory.type, memory.state)
        first = worded.setdefault((place, its.tokens), memory.number)
        if first != memory.number:
            yield first, memory.number, 1.0
        elif len(its.words) > 1:  # a single word in common is no likeness
            groups.setdefault((place, frozenset(its.words.items())), []).append(memory.number)
    for first, *others in groups.values():
        yield from ((first, other, 1.0) for other in others[:GROUP])


def _survivor(one: Memory, other: Memory) -> Memory:
    """The one that stays: with a key, pinned, told more often, older."""
    return min(one, other, key=lambda it: (it.key is None, not it.pinned, -it.reference_count, it.number))


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
