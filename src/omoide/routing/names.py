"""Names of projects in a message. Pure."""

import re
import unicodedata
from collections.abc import Iterable

_SEPARATORS = re.compile(r"[\s_./-]+")
_LATIN = "a-z0-9"
_LEAST_DENSE = 2
"""Characters of a name in Japanese, which is found anywhere in a text."""
_LEAST_LATIN = 3


def find_names(message: str, paths: Iterable[str]) -> list[str]:
    """Return the paths of the projects that a message names, in the order of their names in it.

    A project is named by the last segment of its path, or by all of it, in any case, with any of space, `-`, `_`, `.` and
    `/` between its words.
    """
    text = _plain(message)
    found: list[tuple[int, str]] = []
    for path in paths:
        match = _pattern(path).search(text)
        if match:
            found.append((match.start(), path))
    return [path for _, path in sorted(found)]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _pattern(path: str) -> re.Pattern[str]:
    name = path.rpartition("/")[2]
    words = [re.escape(word) for word in _SEPARATORS.split(_plain(name)) if word]
    pattern = r"[\s_./-]*".join(words)
    least = _LEAST_LATIN if name.isascii() else _LEAST_DENSE
    if len("".join(words)) < least:
        return re.compile(r"(?!)")
    return re.compile(rf"(?<![{_LATIN}]){pattern}(?![{_LATIN}])")
