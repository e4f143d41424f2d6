"""Read entries that a formatter, an agent or a person has written in another style: each line as the layout would have it.

An entry is known by its id, so that only lines around an id are read in this way:
- Its title is the nearest heading of any level or style above the id, or the item of a list that the id is below, or a line
  in bold, or the line right above its labels.
- Its labels may be indented, in bold, without a mark of a list or with another one.

Every line has one in the result, at the same place: so what is read there can be changed in the file.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from omoide.markdown.format import Mention

UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_COMMENT = re.compile(r"[ \t]*<!--[ \t]*omoide:([0-9a-fA-F-]{36})[ \t]*-->")
_ATX = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r"[ \t]{0,3}(?:=+|-+)[ \t]*$")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(.*)$")
_BOLD = re.compile(r"[ \t]*(\*\*|__)(.+?)\1[:：]?[ \t]*$")
_TAB = 4


class _Title(NamedTuple):
    line: int
    text: str
    end: int
    """The line after it: a heading with an underline has two."""


class LooseLines:
    """The lines of a page. `labels`: each label in lower case with its field. `level`: of the headings of entries."""

    def __init__(self, lines: Sequence[str], labels: Mapping[str, str], level: int):
        self._lines = lines
        self._heading = "#" * level + " "
        names = "|".join(sorted(map(re.escape, labels), key=len, reverse=True))
        self._fields = labels
        mark = r"[*_`]{1,3}"
        colon = r"[ \t]*[:：][ \t]*"
        self._label = re.compile(
            rf"([ \t]*)(?:(?:[-*+]|\d{{1,3}}[.)])[ \t]+)?"
            rf"(?:({mark})(?P<a>{names})\2{colon}|({mark})(?P<b>{names}){colon}\4[ \t]*|(?P<c>{names}){colon})",
            re.IGNORECASE,
        )

    def read(self, known: Collection[int]) -> tuple[list[str], set[int]]:
        """Return the lines as the layout would have them, and those above which an entry ends.

        `known` lines belong to entries that could be read as they are.
        """
        result = list(self._lines)
        ends: set[int] = set()
        titles = self._titles(known)
        for number, title in enumerate(titles):
            following = titles[number + 1].line if number + 1 < len(titles) else len(self._lines)
            end = next((line for line in range(title.end, following) if line in known), following)
            end = self._item_end(title, end)
            ends.add(end)
            self._read_entry(title, end, result)
        return result, ends

    def _item_end(self, title: _Title, end: int) -> int:
        """The line of the next item of a list, if a title is an item and its labels are items below it; else `end`."""
        depth = _depth(self._lines[title.line])
        labels = (line for line in self._lines[title.end : end] if self._label.match(line))
        if not _ITEM.match(self._lines[title.line]) or _depth(next(labels, "")) <= depth:
            return end
        items = (line for line in range(title.end, end) if _begins_item(self._lines[line], depth))
        return next((line for line in items if not self._label.match(self._lines[line])), end)

    def _titles(self, known: Collection[int]) -> list[_Title]:
        """The titles of the entries whose ids are in lines that are not known."""
        titles: list[_Title] = []
        first = 0
        for index, line in enumerate(self._lines):
            if index in known:
                first = index + 1
                continue
            if _COMMENT.search(line):
                title = self._title_at(index) or self._plain_title(index)
            elif self._has_id(line):
                title = self._title_above(index, first)
            else:
                continue
            first = index + 1
            if title is not None and (not titles or title.line >= titles[-1].end):
                titles.append(title)
        return titles

    def _has_id(self, line: str) -> bool:
        label = self._label.match(line) if "-" in line else None
        return label is not None and self._field(label) == "id" and UUID.search(line, label.end()) is not None

    def _title_above(self, index: int, first: int) -> _Title | None:
        """The title of the entry whose id is in this line."""
        depth = _depth(self._lines[index])
        for above in range(index - 1, first - 1, -1):
            line = self._lines[above]
            if not line.strip() or self._label.match(line) or _UNDERLINE.match(line):
                continue
            title = self._title_at(above)
            if title and (not _ITEM.match(line) or _depth(line) < depth):
                return title
            below = self._label.match(self._lines[above + 1])
            if below and not _ITEM.match(line) and _depth(line) == 0:
                return _Title(above, line.strip(), above + 1)
        return None

    def _title_at(self, index: int) -> _Title | None:
        """The title that a line is, if it can be one."""
        line = self._lines[index]
        heading = _ATX.match(line)
        if heading:
            return _Title(index, heading[1], index + 1)
        if index + 1 < len(self._lines) and line.strip() and _UNDERLINE.match(self._lines[index + 1]):
            return _Title(index, line.strip(), index + 2)
        item = _ITEM.match(line)
        text = item[2] if item else line
        bold = _BOLD.match(_COMMENT.sub("", text))
        if bold or item:
            mark = _COMMENT.search(text)
            title = bold[2] if bold else text.rstrip().removesuffix(":")
            return _Title(index, f"{title}{mark[0]}" if bold and mark else title, index + 1)
        return None

    def _plain_title(self, index: int) -> _Title | None:
        text = self._lines[index].strip()
        return _Title(index, text, index + 1) if _COMMENT.sub("", text) else None

    def _read_entry(self, title: _Title, end: int, result: list[str]) -> None:
        result[title.line] = self._heading + title.text.strip()
        result[title.line + 1 : title.end] = [""] * (title.end - title.line - 1)
        depth: int | None = None
        for index in range(title.end, end):
            line = self._lines[index]
            label = self._label.match(line)
            if label and (depth is None or _depth(line) <= depth):
                depth = _depth(line) if depth is None else depth
                result[index] = self._label_line(label, line)
            elif _ATX.match(line):
                return
            elif depth:
                result[index] = _dedent(line, depth)

    def _label_line(self, label: re.Match[str], line: str) -> str:
        name, value = label["a"] or label["b"] or label["c"], line[label.end() :]
        if self._field(label) == "id":
            found = UUID.search(value)
            value = found[0] if found else value
        return f"- {name}: {value}" if value else f"- {name}:"

    def _field(self, label: re.Match[str]) -> str:
        return self._fields[(label["a"] or label["b"] or label["c"]).casefold()]


def _depth(line: str) -> int:
    expanded = line.expandtabs(_TAB)
    return len(expanded) - len(expanded.lstrip(" "))


def _dedent(line: str, depth: int) -> str:
    if not line.strip():
        return line
    expanded = line.expandtabs(_TAB) if line.startswith(("\t", " \t", "  \t", "   \t")) else line
    return expanded[min(depth, _depth(line)) :]


def find_mentions(lines: Sequence[str], outside: Sequence[str]) -> dict[str, Mention]:
    """Return the ids in the lines of a file that are outside of its entries. `outside`: the lines, the others empty."""
    return {id: _mention(lines, outside, index) for id, index in ids_in(outside).items()}


def _mention(lines: Sequence[str], outside: Sequence[str], index: int) -> Mention:
    around = _lines_around(outside, index)
    text = "\n".join(outside[line] for line in around).strip("\n")
    is_alone = len({id.lower() for id in UUID.findall(text)}) == 1
    own = _own_lines(lines, outside, index, around) if is_alone else ()
    return Mention(index + 1, text, tuple(line + 1 for line in own))


def _own_lines(lines: Sequence[str], outside: Sequence[str], index: int, around: range) -> Sequence[int]:
    """The lines that can be removed with an id: its item of a list, its row of a table, or its line alone."""
    filled = [line for line in around if outside[line].strip()]
    if _ITEM.match(outside[filled[0]]):
        # Empty lines within an item are its own; what is empty because an entry is there is not.
        return [line for line in range(filled[0], filled[-1] + 1) if outside[line].strip() or not lines[line].strip()]
    is_row = outside[index].lstrip().startswith("|")
    # A paragraph of several lines may say more than the memory.
    return [index] if is_row or filled == [index] else ()


def _lines_around(lines: Sequence[str], index: int) -> range:
    """The lines that an id without an entry stands among: its item of a list, its row or its paragraph."""
    start = _start_of_text(lines, index)
    depth = _depth(lines[start])
    end = index + 1
    while end < len(lines) and not _begins_item(lines[end], depth):
        is_next = lines[end].strip() and _depth(lines[end]) <= depth and not lines[end - 1].strip()
        if is_next or _ATX.match(lines[end]) or UUID.search(lines[end]):
            break
        end += 1
    return range(start, end)


def _start_of_text(lines: Sequence[str], index: int) -> int:
    depth = _depth(lines[index])
    start = index
    while not _begins_item(lines[start], depth):
        above = start - 1
        if depth:  # a paragraph of an item: the item is above the empty lines
            while above >= 0 and not lines[above].strip():
                above -= 1
            if above < start - 1 and above >= 0 and not (_depth(lines[above]) or _ITEM.match(lines[above])):
                break
        if above < 0 or not lines[above].strip() or _ATX.match(lines[above]) or UUID.search(lines[above]):
            break
        start = above
    return start


def _begins_item(line: str, depth: int) -> bool:
    return _ITEM.match(line) is not None and _depth(line) <= depth


def ids_in(lines: Iterable[str]) -> dict[str, int]:
    """Return every id in some lines, with the index of the first line that has it."""
    found: dict[str, int] = {}
    for index, line in enumerate(lines):
        if "-" in line:
            for match in UUID.finditer(line):
                found.setdefault(match[0].lower(), index)
    return found
