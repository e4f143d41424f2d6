"""Comparison of two texts: do they say the same, perhaps the same, or do they contradict each other? Pure.

Similarity alone decides nothing. Vectors of "the port is 8080" and "the port is 8081" are as near as those of two spellings
of one sentence, so two texts are the same only if they are near and say the same in the same order (`normalization`). What
is near and says it in other words is similar, unless a number, a negation, a name or an opposite differs. What is near and
states another number, name or opposite, or denies the other, possibly contradicts it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from omoide.compiled_patterns import load_pattern
from omoide.lifecycle import antonyms, normalization
from omoide.retrieval.analyzer import stem

SAME = 0.85
"""The similarity from which two texts can be the same. Chosen by judgement."""
NEAR = 0.65
"""The similarity from which two texts can contradict each other. Chosen by judgement."""
_REWORDED = 3
"""Words that two texts must not have in common to be the same in other words."""
_SAME_START = 4
"""Characters in katakana that two names must not begin with to be names of different things."""


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


_word = load_pattern(r"[^\W\d_][\w'./:@#+*$~-]*|[\d][\w.,:/%-]*|[-$~/.*@#][\w./*@~-]+", re.ASCII)
_japanese = load_pattern("[一-鿿々〇]+|[ァ-ヺー]+|[ぁ-ゖ]+")
_letters = load_pattern(r"[^\W\d_]+")  # of all other scripts, once these two are removed
_number = load_pattern(r"\d+(?:[.,:/-]\d+)*")
_SPELT = """
    0 zero, 1 one once, 2 two twice both, 3 three, 4 four, 5 five, 6 six, 7 seven, 8 eight, 9 nine, 10 ten, 11 eleven,
    12 twelve, 13 thirteen, 14 fourteen, 15 fifteen, 16 sixteen, 20 twenty, 30 thirty, 50 fifty, 100 hundred,
    1000 thousand, 0.5 half
"""
_name = load_pattern(r"[A-Z]\w*|\w*[\d_.$@#:/*~-]\w*|[A-Za-z]+[A-Z]\w*")

_EMPTY_WORDS = """
    a an the is are was were be been being has have had do does did will would it its this that these those there here they
    them their he she his her i you we our your my me us and or as so then of to in on at by for with from into very just
    also please re ve ll shall should can could may might must now currently really simply
"""
# They state no fact by themselves, but change a sentence when they differ.
_TURNING_WORDS = "or from to into in on at by for with should can could may might must"
_NEGATION = load_pattern(
    r"\b(?:not|no|never|none|nothing|neither|nor|without|cannot|avoid|stop|refuse[sd]?|fail(?:s|ed)?|un(?:able|less)|except|"
    r"instead|longer)\b|n't\b"
)
_JAPANESE_NEGATION = load_pattern(
    "(?<!少)な(?:い|く|かっ|ければ|し(?!い))|ません|(?:ず|ぬ)(?=[、。にへ]|$)|まい(?=。|$)|[不無非未](?=[一-鿿])|禁止|廃止|中止|停止|除[くい外]|やめ|避け|以外|のみ|だけ|しか|"
    "[よろおこそともぼの]うとし|ようにし|つもり|予定|たい(?=[。です]|$)|かもしれ"
)


# Of the negations, those that deny a whole statement.
_DENIAL = load_pattern(r"\b(?:not|no|never|none|nothing|neither|nor|without|cannot)\b|n't\b")
_JAPANESE_DENIAL = load_pattern("(?<!少)な(?:い|く|かっ)(?!れば)|ません|禁止|(?:ず|ぬ)(?=[、。に]|$)")
_DENYING = frozenset(stem(word) for word in ["not", "no", "never", "none", "nothing", "neither", "nor", "without", "cannot"])
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

    @property
    def subject(self) -> frozenset[tuple[str, int]]:
        """What the text is about, whether it states or denies it: its words without those that deny, and how often."""
        return frozenset(entry for entry in self.words.items() if entry[0] not in _DENYING)


def extract_features(text: str) -> TextFeatures:
    """Return what a text is compared by."""
    plain = normalization.normalize(text)
    words, numbers, turning, names = _scan_words(plain)
    runs = _japanese.findall(plain)
    endings = [run for run in runs if _is_hiragana(run)]
    names.update(run for run in runs if "ァ" <= run[0] <= "ヺ")
    negations = len(_NEGATION.findall(plain.lower())) + len(_JAPANESE_NEGATION.findall(plain))
    denials = len(_DENIAL.findall(plain.lower())) + len(_JAPANESE_DENIAL.findall(plain))
    tokens = normalization.tokens(plain)
    return TextFeatures(tokens, words, numbers, turning, negations, frozenset(names), "".join(endings), denials)


def _scan_words(plain: str) -> tuple[Counter[str], Counter[str], Counter[str], set[str]]:
    """The words of a normalized text that carry facts, its numbers, the words that turn its meaning, and its names."""
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
    words.update(run for run in _japanese.findall(plain) if not _is_hiragana(run))
    words.update(run.lower() for run in _letters.findall(_japanese.sub(" ", _word.sub(" ", plain))))
    return words, numbers, turning, names


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
    """Whether there is evidence against two similar texts saying the same in other words."""
    return (
        # One word that replaces another, and endings alone, change a fact more often than they reword it.
        (gone.total() + come.total() < _REWORDED and not _is_rearranged(one, other))
        or one.numbers != other.numbers
        or one.negations != other.negations
        or bool(_opposite_words(gone, come) or antonyms.opposite_endings(one.endings, other.endings))
        or bool(_names(one) - other.words.keys() or _names(other) - one.words.keys())
        or _signs(one.tokens) != _signs(other.tokens)
    )


def _is_rearranged(one: TextFeatures, other: TextFeatures) -> bool:
    """Whether two texts have their common words in another order, and not by exchanging two of them alone.

    "Test before each commit" and "before every commit, test" say the same; 親が子に勝つ and 子が親に勝つ do not.
    """
    stems, its_stems = _stems(one), _stems(other)
    order, its_order = [word for word in stems if word in its_stems], [word for word in its_stems if word in stems]
    return order != its_order and sorted(_with_particles(one.tokens)) != sorted(_with_particles(other.tokens))


def _stems(features: TextFeatures) -> list[str]:
    """Return the words of a text that carry facts, in their order."""
    stems = (stem(token.lower()) if token.isascii() else token for token in features.tokens)
    return [word for word in stems if word in features.words]


def _names(features: TextFeatures) -> frozenset[str]:
    """Return the names of a text without its first word, where a capital makes no name."""
    return features.names - {stem(token.lower()) for token in features.tokens[:1] if token.isalpha()}


def _signs(tokens: Sequence[str]) -> list[str]:
    return sorted(token for token in tokens if not any(map(str.isalnum, token)))


def _opposite_words(gone: Iterable[str], come: Iterable[str]) -> str:
    come = list(come)
    return next((f"{word}, {its}" for word in gone for its in come if antonyms.are_opposites(word, its)), "")
