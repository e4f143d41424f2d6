"""Compare words in katakana with the words of other languages that they come from, by their consonants. Pure.

    ガーミン  gmn        garmin  grmn gmn
    ランタン  rntn       lantern rntrn rntn

Katakana adds vowels, has no l, v or th, and drops an r before a consonant: so consonants are compared, with and without it.
"""

from collections.abc import Iterable
from functools import lru_cache

from omoide.compiled_patterns import load_pattern

_LEAST = 3
"""Consonants of the shortest key: words with fewer have too many in common."""
_ROWS = {
    **dict.fromkeys("カキクケコ", "k"),
    **dict.fromkeys("ガギグゲゴ", "g"),
    **dict.fromkeys("サシスセソ", "s"),
    **dict.fromkeys("ザジズゼゾヂヅ", "j"),
    **dict.fromkeys("タチテト", "t"),
    "ツ": "ts",
    **dict.fromkeys("ダデド", "d"),
    **dict.fromkeys("ナニヌネノン", "n"),
    "フ": "f",
    **dict.fromkeys("バビブベボヴ", "b"),
    **dict.fromkeys("パピプペポ", "p"),
    **dict.fromkeys("マミムメモ", "m"),
    **dict.fromkeys("ラリルレロ", "r"),
}
_LATIN = (
    ("gh", ""),
    ("ph", "f"),
    ("th", "s"),
    ("sh", "s"),
    ("tch", "t"),
    ("ch", "t"),
    ("ck", "k"),
    ("qu", "k"),
    ("x", "ks"),
    ("q", "k"),
    ("l", "r"),
    ("v", "b"),
    ("z", "j"),
    ("mp", "np"),
    ("mb", "nb"),
)
_SOFT_C = load_pattern("c(?=[eiy])")
_SILENT_R = load_pattern("(?<=[aeiou])r(?=[^aeiouy]|$)")
_NO_CONSONANT = load_pattern("[^bdfgjkmnprst]+")
_REPEATED = load_pattern(r"(.)\1+")
_VOWEL = load_pattern("[aeiou]|[アイウエオァィゥェォ]")


def sound_keys(word: str) -> frozenset[str]:
    """Return the consonants of a word in katakana or Latin letters, in each reading; nothing for a short word."""
    return _katakana_keys(word) if word and "ァ" <= word[0] <= "ー" else _latin_keys(word.lower())


def same_sound(word: str, others: Iterable[str]) -> list[str]:
    """Return those of some words in Latin letters that a word in katakana may be written for."""
    keys = sound_keys(word)
    return [other for other in others if not keys.isdisjoint(sound_keys(other))] if keys else []


@lru_cache(4_096)
def _katakana_keys(word: str) -> frozenset[str]:
    return _keys(word, ["".join(_ROWS.get(letter, "") for letter in word)])


@lru_cache(4_096)
def _latin_keys(word: str) -> frozenset[str]:
    readings = []
    for spelling in (word, _SILENT_R.sub("", word)):
        text = _SOFT_C.sub("s", spelling)
        for old, new in _LATIN:
            text = text.replace(old, new)
        readings.append(_NO_CONSONANT.sub("", text.replace("c", "k")))
    return _keys(word, readings)


def _keys(word: str, readings: Iterable[str]) -> frozenset[str]:
    beginning = "a" if _VOWEL.match(word) else ""
    short = (_REPEATED.sub(r"\1", reading) for reading in readings)
    return frozenset(f"{beginning}{key}" for key in short if len(key) >= _LEAST)
