"""WordPiece as BERT's uncased models use it: a text becomes the numbers of the pieces in a list of pieces."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence

_UNKNOWN, _BEGIN, _END = "[UNK]", "[CLS]", "[SEP]"
_LONGEST_WORD = 100
"""Characters of the longest word that is split into pieces: a longer one is unknown."""
_KEPT = 4_096
"""Words whose pieces are cached."""
# Blocks of Chinese characters: each character is a word.
_HAN = (
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF), (0x2F800, 0x2FA1F),
)  # a table: several entries per line  # fmt: skip


class Tokenizer:
    """Splits texts into pieces by a vocabulary: its pieces in the order of their numbers."""

    def __init__(self, vocabulary: Sequence[str]):
        self._numbers: Mapping[str, int] = {piece: number for number, piece in enumerate(vocabulary)}
        self._unknown, self._begin, self._end = (self._numbers[piece] for piece in (_UNKNOWN, _BEGIN, _END))
        self._cached: dict[str, tuple[int, ...]] = {}

    def encode(self, text: str, most: int) -> list[int]:
        """Return the numbers of a text's pieces, at most so many with the two that begin and end it."""
        found = [self._begin]
        for word in _words(text):
            found += self._pieces(word)
            if len(found) >= most:
                break
        return [*found[: most - 1], self._end]

    def _pieces(self, word: str) -> tuple[int, ...]:
        known = self._cached.get(word)
        if known is None:
            if len(self._cached) >= _KEPT:
                self._cached.clear()
            known = self._cached[word] = tuple(self._split(word))
        return known

    def _split(self, word: str) -> list[int]:
        """Split a word into the longest pieces from left to right; it is unknown where one is missing."""
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if prefix + word[start:end] in self._numbers), None)
            if end is None:
                return [self._unknown]
            found.append(self._numbers[prefix + word[start:end]])
            start = end
        return found


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text in lower case and without accents; each sign of punctuation is a word."""
    if not text.isascii():
        text = "".join(f" {character} " if _is_han(character) else character for character in text)
        text = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    word = ""
    for character in text.lower():
        if character.isalnum():
            word += character
        elif character in " \t\n\r" or unicodedata.category(character) == "Zs":
            if word:
                yield word
            word = ""
        elif _is_punctuation(character):
            if word:
                yield word
            yield character
            word = ""
        elif not _is_dropped(character):
            word += character
    if word:
        yield word


def _is_han(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _HAN)


def _is_punctuation(character: str) -> bool:
    """Whether a character is a word by itself: among ASCII, all that is no letter, digit, space or control."""
    return "!" <= character <= "~" or unicodedata.category(character).startswith("P")


def _is_dropped(character: str) -> bool:
    return character == "\ufffd" or unicodedata.category(character).startswith("C")
