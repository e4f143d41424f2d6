"""The words of a message that could tell projects apart, with the words of the other language for them. Pure."""

import unicodedata
from collections.abc import Collection, Iterable, Iterator

from omoide.compiled_patterns import load_pattern
from omoide.retrieval import analyzer
from omoide.retrieval.project_search import MessageWord, WordForm
from omoide.routing.everyday_words import everyday_words
from omoide.routing.glossary import translations
from omoide.routing.loanwords import same_sound

EVERYDAY = 0.35
"""The weight of a word of everyday talk, relative to another word."""
ENDING = 0.3
"""The same for a Japanese character with a part of its ending, as る前 or 取っ: mostly a verb of any topic."""
TRANSLATED = 0.7
"""The weight of a word that a project has in the other language, relative to the word itself."""
HALF = 0.5
"""The same for one half of a long word in katakana, which mostly is a compound."""
_READ = 4_000
"""Characters of a message in which Japanese words are looked up."""
_MOST_WORDS = 96
_KATAKANA = load_pattern("[ァ-ヺー]{2,}")
_LATIN = load_pattern("[A-Za-z]{4,}")
_HAS_KATAKANA = load_pattern("[ァ-ヺー]")
_JAPANESE = load_pattern("[ぁ-ゖァ-ヺー一-鿿々]+")
_HAN = load_pattern("[一-鿿々]")
_ENDING = load_pattern("[^ぁ-ゖ][ぁ-ゖ]|[ぁ-ゖ][^ぁ-ゖ]")
_LONGEST_ENTRY = 8
"""Characters of the longest Japanese word of the glossary."""
_COMPOUND = 6
"""Characters from which on a word in katakana is taken for a compound."""


def message_words(text: str, descriptions: Iterable[str] = ()) -> dict[str, MessageWord]:
    """Return the words of a message that could tell what it is about, by how they are shown.

    descriptions: the names and descriptions of projects, whose Latin words may be written in katakana

    A word in katakana is one word, not pairs of characters: ファイル and モバイル have nothing in common.
    """
    plain = unicodedata.normalize("NFKC", text[:_READ])
    found = {
        term: MessageWord(_weigh(term, weight), ((1.0, (term,)),))
        for term, weight in analyzer.telling_terms(text).items()
        if not _HAS_KATAKANA.search(term)
    }
    katakana = dict.fromkeys(match[0] for match in _KATAKANA.finditer(plain))
    known_words = _latin_words(descriptions) if katakana else ()
    for word in katakana:
        found[word] = MessageWord(_weigh(word, 1.0), tuple(_katakana_forms(word, known_words)))
    entries = translations()
    for word in (*_glossary_words(plain), *found):
        others = tuple((TRANSLATED, pairs) for other in entries.get(word, ()) if (pairs := _index_terms(other)))
        if others:
            known = found.get(word, MessageWord(_weigh(word, 1.0), ()))
            found[word] = known._replace(forms=tuple(dict.fromkeys((*known.forms, *others))))
    return dict(list(found.items())[:_MOST_WORDS])


def _weigh(word: str, weight: float) -> float:
    if word in everyday_words():
        return weight * EVERYDAY
    return weight * ENDING if _ENDING.fullmatch(word) else weight


def _latin_words(texts: Iterable[str]) -> Collection[str]:
    return {word.lower() for text in texts for word in _LATIN.findall(text)}


def _katakana_forms(word: str, known: Iterable[str]) -> Iterator[WordForm]:
    yield 1.0, _index_terms(word)
    for other in same_sound(word, known):
        yield TRANSLATED, (analyzer.stem(other),)
    if len(word) > len("カート") and word.endswith("ー"):
        yield 1.0, _index_terms(word[:-1])  # サーバー is also written サーバ
    if len(word) >= _COMPOUND:
        half = (len(word) + 1) // 2
        yield HALF, _index_terms(word[:half])
        yield HALF, _index_terms(word[-half:])


def _index_terms(word: str) -> tuple[str, ...]:
    """The terms of a word in the index; none for a single Japanese character, which is a part of many words."""
    if word.isascii():
        return (word,)
    return tuple(term for term in analyzer.terms(word) if len(term) > 1)


def _glossary_words(text: str) -> Iterator[str]:
    """The Japanese words of the glossary in a text, the longest at each place."""
    entries = translations()
    for run in _JAPANESE.findall(text):
        place = 0
        while place < len(run):
            for end in range(min(len(run), place + _LONGEST_ENTRY), place, -1):
                word = run[place:end]
                if word in entries and _stands_alone(run, place, end):
                    yield word
                    place = end
                    break
            else:
                place += 1


def _stands_alone(run: str, start: int, end: int) -> bool:
    """Whether a stretch of characters can be a word there: no part of a longer word of the same script."""
    before, after = run[start - 1 : start], run[end : end + 1]
    if _HAS_KATAKANA.match(run[start:]):
        joined = bool(_HAS_KATAKANA.match(before)) + bool(_HAS_KATAKANA.match(after))
        return joined == 0 or (joined == 1 and end - start > len("ログ"))
    return end - start > 1 or not (_HAN.match(before) or _HAN.match(after))
