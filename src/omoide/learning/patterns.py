"""Regular expressions that are lists of phrases: each phrase stands in a line of its own, in English or Japanese."""

import re
from typing import Any, cast


class _LazyPattern:
    """A regular expression that is compiled when it is first used."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """Compile the pattern, and keep the methods of the compiled one: the next call goes straight to them."""
        compiled = re.compile(self.pattern, self._flags)
        for method in ("search", "match", "fullmatch", "finditer", "findall", "split", "sub"):
            self.__dict__[method] = getattr(compiled, method)
        return getattr(compiled, name)


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when it is first used.

    Compiling all rules of learning takes 70 ms of processor time, and a message needs a third of them: a hook, for which a
    person waits, has no more time than that.
    """
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


def any_of(*phrases: str) -> str:
    """Return a pattern that matches any of these phrases, each itself a pattern."""
    return f"(?:{'|'.join(phrases)})"


def phrases(*alternatives: str) -> re.Pattern[str]:
    """Return a pattern that finds any of these phrases, in upper or lower case."""
    return lazy_pattern(any_of(*alternatives), re.I)


def listed(text: str) -> str:
    """Return a pattern that matches any of the phrases in a text, which commas and line ends separate."""
    return any_of(*(phrase for phrase in re.split(r",\s*|\s*\n\s*", text.strip()) if phrase))


def words(text: str) -> str:
    """Return a pattern that matches any of the phrases in a text as whole words."""
    return rf"\b{listed(text)}\b"
