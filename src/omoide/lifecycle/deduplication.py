"""Deduplication: which memories say the same and may be merged, and which contradict each other. Pure.

Similarity alone never merges. Vectors of "the port is 8080" and "the port is 8081" are as near as those of two spellings of
one sentence, so two memories are the same only if they are near and say the same in the same order (`normalization`). What
is near and says it in other words is proposed, for a person to decide, unless a number, a negation, a name or an opposite
differs. What is near and states another number, name or opposite, or denies the other, is reported as a possible
contradiction.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
_REWORDED = 3
"""Words that two texts must not have in common to be the same in other words."""
_SAME_START = 4
"""Characters in katakana that two names must not begin with to be names of different things."""
GROUP = 20
"""Of all memories with the same words so many are compared with the first: lists of measurements have thousands."""


class Verdict(StrEnum):
    """What a comparison of two texts found."""

    SAME = "same"
    SIMILAR = "similar"
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


# Of the negations, those that deny a whole statement.
_DENIAL = re.compile(r"\b(?:not|no|never|none|nothing|neither|nor|without|cannot)\b|n't\b")
_JAPANESE_DENIAL = re.compile("(?<!少)な(?:い|く|かっ)(?!れば)|ません|禁止|(?:ず|ぬ)(?=[、。に]|$)")
_VAGUE = frozenset(stem(word) for word in ("person", "child", "lady", "all", "each", "any", "some"))
"""Words that may name the same as a more exact one."""


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
    denials: int = 0
    """Of the negations, those that deny a whole statement."""


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
    denials = len(_DENIAL.findall(plain.lower())) + len(_JAPANESE_DENIAL.findall(plain))
    tokens = normalization.tokens(plain)
    return TextFeatures(tokens, words, numbers, turning, negations, frozenset(names), "".join(endings), denials)


def _is_hiragana(run: str) -> bool:
    return "ぁ" <= run[0] <= "ゖ"


def judge(one: TextFeatures, other: TextFeatures, similarity: float) -> Judgement:
    """Return whether two texts say the same or contradict each other, given their similarity from 0 to 1."""
    if similarity >= SAME and normalization.is_same(one.tokens, other.tokens):
        return Judgement(Verdict.SAME)
    gone, come = one.words - other.words, other.words - one.words
    apart = sum(gone.values()) + sum(come.values())
    size = max(sum(one.words.values()), sum(other.words.values()))
    conflict = _conflict(one, other, gone, come) if similarity >= NEAR and apart <= max(2, size // 4) else ""
    if conflict:
        return Judgement(Verdict.CONTRADICTS, conflict)
    if similarity >= SAME and not _says_otherwise(one, other, gone, come):
        return Judgement(Verdict.SIMILAR)
    return Judgement(Verdict.DIFFERENT)


def _conflict(one: TextFeatures, other: TextFeatures, gone: Counter[str], come: Counter[str]) -> str:
    """Return what two near texts state differently, so that perhaps not both are right; empty if nothing.

    What only one of them states is no contradiction: "the port" and "the port 8080".
    """
    if one.numbers - other.numbers and other.numbers - one.numbers:
        # With other names as well, it is about something else: another day, another file.
        return "" if one.names & gone.keys() and other.names & come.keys() else "other numbers"
    if bool(one.denials) != bool(other.denials) and sum(gone.values()) + sum(come.values()) <= 1:
        return "a negation"
    opposed = _opposite_words(gone.keys() - _VAGUE, come.keys() - _VAGUE)
    opposed = opposed or antonyms.opposite_endings(one.endings, other.endings)
    if opposed:
        return f"opposites: {opposed}"
    if one.words.total() == other.words.total() and len(gone) == len(come) == 1:
        swapped = gone.keys() | come.keys()
        if swapped <= one.names | other.names and _are_exchanged(one.tokens, other.tokens, *gone, *come):
            return "other names"
    return "" if gone or come else _other_order(one.tokens, other.tokens)


def _are_exchanged(one: Sequence[str], other: Sequence[str], name: str, its_name: str) -> bool:
    """Whether one name stands in the place of the other.

    In Japanese its place is what follows it, a particle and the next word, and neither is a part of the other or begins like
    it (スケートボード, スケートボーダー). Elsewhere all other words are the same.
    """
    if not _is_katakana(name) or not _is_katakana(its_name):
        differing = [place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a.lower() != b.lower()]
        # At the start of a text, a capital makes no name.
        return len(one) == len(other) and len(differing) == 1 and differing != [0]
    if name in its_name or its_name in name or name[:_SAME_START] == its_name[:_SAME_START]:
        return False
    (particle, word), (its_particle, its_word) = _following(one, name), _following(other, its_name)
    return particle[:1] == its_particle[:1] and word == its_word


def _following(tokens: Sequence[str], name: str) -> tuple[str, str]:
    """Return the two tokens after a name; empty if there are none."""
    places = (place for place, token in enumerate(tokens) if token.rstrip("ー") == name.rstrip("ー"))
    start = next(places, len(tokens)) + 1
    return (tokens[start] if start < len(tokens) else "", tokens[start + 1] if start + 1 < len(tokens) else "")


def _is_katakana(word: str) -> bool:
    return "ァ" <= word[0] <= "ヺ"


def _other_order(one: Sequence[str], other: Sequence[str]) -> str:
    """Return how two texts with the same words differ: in their order ("A calls B"), or in the case of one (-p and -P)."""
    lower, its_lower = [token.lower() for token in one], [token.lower() for token in other]
    if lower != its_lower:
        # In Japanese, the particle after a word says what it does, not its place: 海で男性が and 男性が海で.
        is_other = sorted(lower) == sorted(its_lower) and sorted(_with_particles(lower)) != sorted(
            _with_particles(its_lower)
        )
        return "another order" if is_other else ""
    cases = [token for token, its in zip(one, other, strict=True) if token != its]
    return f"another case: {cases[0]}" if len(cases) == 1 else ""


def _with_particles(tokens: Sequence[str]) -> list[str]:
    """Return each word in hiragana together with the one before it; other words each by itself, with its place."""
    found: list[str] = []
    for place, token in enumerate(tokens):
        if _is_hiragana(token) and found:
            found[-1] += token
        else:
            found.append(f"{place} {token}" if token.isascii() else token)
    return found


def _says_otherwise(one: TextFeatures, other: TextFeatures, gone: Counter[str], come: Counter[str]) -> bool:
    """Whether anything speaks against two similar texts saying the same in other words."""
    return (
        # One word that replaces another, and endings alone, change a fact more often than they reword it.
        gone.total() + come.total() < _REWORDED
        or one.numbers != other.numbers
        or one.negations != other.negations
        or bool(_opposite_words(gone, come) or antonyms.opposite_endings(one.endings, other.endings))
        or bool(_names(one) - other.words.keys() or _names(other) - one.words.keys())
        or _signs(one.tokens) != _signs(other.tokens)
    )


def _names(features: TextFeatures) -> frozenset[str]:
    """Return the names of a text without its first word, where a capital makes no name."""
    return features.names - {stem(token.lower()) for token in features.tokens[:1] if token.isalpha()}


def _signs(tokens: Sequence[str]) -> list[str]:
    return sorted(token for token in tokens if not any(map(str.isalnum, token)))


def _opposite_words(gone: Iterable[str], come: Iterable[str]) -> str:
    come = list(come)
    return next((f"{word}, {its}" for word in gone for its in come if antonyms.are_opposites(word, its)), "")


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
