"""Regular expressions that are lists of phrases: each phrase stands in a line of its own, in English or Japanese."""

import re
from binascii import crc32
from typing import Any, cast

from omoide.compiled_patterns import load_pattern
from omoide.learning.needed_words import NEEDED_WORDS

_COMPILED = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub")
_OTHER_CASES = ("\u0131", "\u017f")
"""Letters that match i and s where case is ignored, and have another small letter."""


class LazyPattern:
    """A regular expression that is compiled when it is first used on a text that has one of the words it needs."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags
        self._words: tuple[str, ...] | None = None

    def search(self, text: str, *place: int) -> re.Match[str] | None:
        """As of a compiled pattern, which takes the place of this method when it is needed."""
        return self._compile().search(text, *place) if self._may_match(text) else None

    def match(self, text: str, *place: int) -> re.Match[str] | None:
        """The same."""
        return self._compile().match(text, *place) if self._may_match(text) else None

    def __getattr__(self, name: str) -> Any:
        """Return what else a compiled pattern has."""
        return getattr(self._compile(), name)

    def _compile(self) -> re.Pattern[str]:
        """Compile the pattern, and keep the methods of the compiled one: the next call goes straight to them."""
        compiled = load_pattern(self.pattern, self.flags)
        for method in _COMPILED:
            self.__dict__[method] = getattr(compiled, method)
        return compiled

    def _may_match(self, text: str) -> bool:
        if self._words is None:
            words = NEEDED_WORDS.get(pattern_key(self.pattern, self.flags), "")
            self._words = tuple(words.split("|")) if words else ()
        lowered = text.lower()
        return (
            not self._words or any(word in lowered for word in self._words) or any(other in text for other in _OTHER_CASES)
        )


def pattern_key(pattern: str, flags: int) -> str:
    """Return a short text for a pattern, which no other pattern has."""
    data = pattern.encode()
    return f"{len(data)}-{flags}-{crc32(data):08x}{crc32(data[::-1]):08x}"


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when it is first used on a text that has one of the words it needs.

    Compiling all rules of learning takes 100 ms of processor time, and a message needs a few of them: a hook, for which a
    person waits, has less time than that.
    """
    return cast("re.Pattern[str]", LazyPattern(pattern, int(flags)))


def any_of(*phrases: str) -> str:
    """Return a pattern that matches any of these phrases, each itself a pattern."""
    return f"(?:{'|'.join(phrases)})"


def phrases(*alternatives: str) -> re.Pattern[str]:
    """Return a pattern that finds any of these phrases, in upper or lower case."""
    return lazy_pattern(any_of(*alternatives), re.I)


def any_in_list(text: str) -> str:
    """Return a pattern that matches any of the phrases in a text, which commas and line ends separate."""
    return any_of(*(phrase for phrase in re.split(r",\s*|\s*\n\s*", text.strip()) if phrase))


def words(text: str) -> str:
    """Return a pattern that matches any of the phrases in a text as whole words."""
    return rf"\b{any_in_list(text)}\b"
