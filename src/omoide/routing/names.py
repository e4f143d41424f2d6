"""Names of projects in a message. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern

_READ = 20_000
"""Characters of a message in which names are looked for."""
_SEPARATOR = load_pattern(r"[\s_./-]+")
_LATIN = "a-z0-9"
_LEAST = 2
"""Characters of the shortest name that is looked for."""
_COMPARED_BEFORE = load_pattern(
    r"(?:\b(?:like|unlike|as|than|from|same as|similar to|copied from|borrowed from|based on)"
    r"(?: (?:in|the one in|we (?:did|do|have) (?:it )?(?:in|for)|it is in|for|with))?(?: the| our)?)\s*[`'\"「『]?$"
)
_COMPARED_AFTER = load_pattern(
    r"^[`'\"」』]?\s*(?:と(?:同じ|同様)|みたい|のよう(?:に|な)|っぽく|を(?:参考|真似|流用)|から(?:流用|コピー)|では(?:ない|なく)|じゃなく)"
)
_ADDRESSED_BEFORE = load_pattern(r"(?:^|[.!?。！？\n]\s*)(?:\W|(?:in|for|on|at|to|re|about|project|プロジェクト)\b)*$")
_ADDRESSED_AFTER = load_pattern(
    r"^[`'\"」』)]*\s*(?:[:：,、]|の|に|で|を|は|が|も|へ|-\s|repo|project|プロジェクト|リポジトリ)"
)


class NameMention(NamedTuple):
    """A project that a message names."""

    path: str
    certain: bool
    """Whether the name can hardly be meant as an ordinary word: it has several words, or the message addresses it."""
    compared: bool
    """Whether the message only compares something with the project: "like in …"."""


def find_mentions(message: str, paths: Iterable[str]) -> list[NameMention]:
    """Return the projects that a message names, in the order of their names in it.

    A project is named by the last segment of its path, in any case, with any of space, `-`, `_`, `.` and `/` between its
    words. Where another project has the same last segment, the whole path is needed.
    """
    text = _plain(message[:_READ])
    paths = list(paths)
    names = [_words(path.rpartition("/")[2]) for path in paths]
    found: list[tuple[int, NameMention]] = []
    for path, name in zip(paths, names, strict=True):
        words = name if names.count(name) == 1 else _words(path)
        match = _find(text, words)
        if match is not None:
            found.append((match.start(), _mention(path, words, text, match)))
    return [mention for _, mention in sorted(found, key=lambda each: each[0])]


def _mention(path: str, words: Sequence[str], text: str, match: re.Match[str]) -> NameMention:
    before, after = text[max(0, match.start() - 40) : match.start()], text[match.end() : match.end() + 20]
    compared = bool(_COMPARED_BEFORE.search(before) or _COMPARED_AFTER.match(after))
    addressed = bool(_ADDRESSED_BEFORE.search(before) and _ADDRESSED_AFTER.match(after))
    return NameMention(path, (len(words) > 1 or addressed) and not compared, compared)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _words(name: str) -> list[str]:
    return [word for word in _SEPARATOR.split(_plain(name)) if word]


def _find(text: str, words: Sequence[str]) -> re.Match[str] | None:
    if len("".join(words)) < _LEAST:
        return None
    pattern = r"[\s_./-]*".join(map(re.escape, words))
    return re.search(rf"(?<![{_LATIN}]){pattern}(?![{_LATIN}])", text)
