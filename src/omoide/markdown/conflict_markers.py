"""Find the conflict markers that git leaves in a file it could not merge. Pure."""

import re
from typing import NamedTuple

from omoide.errors import Unreadable

_MARKER = re.compile(r"^(<{7}|>{7}|={7})(?: [^\n]*)?$", re.MULTILINE)
_TITLE = re.compile(r"(?![-*+]\s|[<>#|])\S")
"""How a line begins that a line of `=======` can underline as a heading."""


class ConflictMarker(NamedTuple):
    """A conflict marker and its place in a file."""

    line: int
    """From 1."""
    mark: str
    """The seven characters."""


def find_conflict_marker(text: str, known: str = "") -> ConflictMarker | None:
    """Return the first conflict marker of a file; None if it has none.

    A marker is `<<<<<<<` or `>>>>>>>` at the start of a line, alone or with a name behind it, or `=======` where it cannot
    be the underline of a heading; so a conflict that somebody resolved by half is found too. The fourth marker, `|||||||` of
    the style diff3, always stands below `<<<<<<<`; alone it may be a row of a table. A line that `known` has as well does
    not count: it belongs to a text that was stored before, such as a memory about git.
    """
    if "<<<<<<<" not in text and ">>>>>>>" not in text and "=======" not in text:
        return None
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    stored = {found[0] for found in _MARKER.finditer(known.replace("\r\n", "\n"))}
    for found in _MARKER.finditer(plain):
        if found[0] not in stored and _is_marker(plain, found):
            return ConflictMarker(plain.count("\n", 0, found.start()) + 1, found[1])
    return None


def _is_marker(text: str, found: re.Match[str]) -> bool:
    """Whether the line is nothing else: `=======` may be the underline of a heading."""
    if found[1][0] in "<>":
        return True
    end = found.start() - 1
    above = text[text.rfind("\n", 0, end) + 1 : end] if end > 0 else ""
    return found[0] == "=======" and not _TITLE.match(above)


def check_conflict_markers(text: str, known: str = "") -> None:
    """Raise Unreadable, with the line and what to do, for a file with conflict markers: nobody wants to say both sides."""
    found = find_conflict_marker(text, known)
    if found is not None:
        raise Unreadable(
            f"line {found.line}: git left conflict markers here ({found.mark}): resolve the conflict, then save the file"
        )
