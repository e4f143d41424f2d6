"""Distinguish what a person changed in a file from what a formatter changed."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from omoide.markdown.normal_form import END_MARKS, blocks, inline_form, is_same_text, normal_form
from omoide.model.memory import TOPIC_LENGTH

_MOST_BLOCKS = 2_000
"""Of a longer text every block is taken as it stands: comparing them takes time with the square of their number."""
_CUT = re.compile(r"\s*(?:…|\.{2,})$")
_CLOSING = re.compile(r"\s+#+\s*$")
_MARKS = re.compile(r"[*`\s]+|(?<!\S)[-+>#]+(?=\s)")
_NEARLY = TOPIC_LENGTH - 10
"""A formatter that changes the beginning of a text moves the place where its title was cut by a few characters."""


def is_same_value(value: Any, written: Any) -> bool:
    """Return whether a file says what a field has, but for its formatting."""
    if value == written:
        return True
    if isinstance(value, str) and isinstance(written, str):
        return is_same_text(value, written)
    if isinstance(value, tuple) and isinstance(written, tuple):
        return len(value) == len(written) and all(map(is_same_value, value, written))
    return False


def is_same_content(content: str, written: str, below: str = "") -> bool:
    """Return whether a file has a content, but for its formatting.

    `below`: the text that follows in the file. A program that does not indent the lines of a content moves all but the first
    of them there.
    """
    if is_same_text(content, written):
        return True
    if not below:
        return False
    whole = normal_form(content)
    return whole.startswith(normal_form(written)) and normal_form(f"{written}\n\n{below}").startswith(whole)


def whole_content(content: str, written: str, below: str) -> str:
    """Return what a file has of a content, with the rest of it where that is below the content by now."""
    if not below:
        return written
    whole, first = normal_form(content), normal_form(written)
    rest = {block.normal for block in blocks(content.split("\n")) if block.normal not in first}
    found = rest.intersection(block.normal for block in blocks(below.split("\n")))
    return f"{written}\n\n{below}" if whole.startswith(first) and 2 * len(found) >= len(rest) > 0 else written


def is_same_title(title: str, written: str) -> bool:
    """Return whether a heading is this title, perhaps reformatted or cut at its end."""
    if title == written:
        return True
    ours, theirs = _plain(title), _plain(written)
    return ours == theirs or (_CUT.search(written) is not None and bool(theirs) and ours.startswith(theirs))


def is_beginning(title: str, content: str) -> bool:
    """Return whether a heading is nothing but the beginning of a text, cut and perhaps reformatted."""
    if len(title) < _NEARLY and not _CUT.search(title):
        return False
    words = _plain(title)
    return bool(words) and _letters(content[: TOPIC_LENGTH * 8]).startswith(words)


def _plain(title: str) -> str:
    """What counts of a title: without what may be cut from its end."""
    return _letters(_CUT.sub("", _CLOSING.sub("", title))).rstrip(END_MARKS)


def _letters(text: str) -> str:
    """A text without white space and marks of Markdown."""
    return _MARKS.sub("", inline_form(text))


def keep_formatting(stored: str, written: str) -> str:
    """Return what a file says, with every block that only a formatter changed as it is stored."""
    if is_same_text(stored, written):
        return stored
    old, new = stored.split("\n"), written.split("\n")
    before, after = blocks(old), blocks(new)
    if not before or max(len(before), len(after)) > _MOST_BLOCKS:
        return written
    new = _dedent(new, _indent(new) - _indent(old)) if len(old) > 1 else new
    matcher = SequenceMatcher(None, [one.normal for one in before], [one.normal for one in after], autojunk=False)
    lines: list[str] = []
    done = 0
    for first, place, size in matcher.get_matching_blocks():
        if size:
            lines += new[done : after[place].start] + old[before[first].start : before[first + size - 1].end]
            done = after[place + size - 1].end
        elif done == after[-1].end and lines[-1:] == old[before[-1].end - 1 : before[-1].end]:
            lines += old[before[-1].end :]  # both end with the same block
        else:
            lines += new[done:]
    return "\n".join(lines)


def _indent(lines: Sequence[str]) -> int:
    """How far all lines are indented below the first, which stands behind a label."""
    return min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)


def _dedent(lines: Sequence[str], width: int) -> list[str]:
    """Take away by how much a formatter indented the lines of a text further."""
    return [line[width:] if index and width > 0 and line.strip() else line for index, line in enumerate(lines)]
