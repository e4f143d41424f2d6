"""A Markdown page as lines: headings, code fences, texts of several lines, and changes of single lines."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from omoide.markdown.fence import indent_separated, unindent_separated
from omoide.markdown.section import Section

HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*))?$", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$", re.DOTALL)
# In Markdown, what ends a paragraph above it, and what does not begin behind other words on its line.
_BREAKS = re.compile(r"[ \t]*(?:#{1,6}(?:\s|$)|[-*+](?:\s|$)|\d{1,9}[.)]\s|>|<!--|-{3,}|`{3}|~{3}|<{7}|={7})")
_OWN_LINE = re.compile(r"`{3}|~{3}|#|>|\||[-*+]\s|\d{1,9}[.)]\s")


class MarkdownPage:
    """The lines of a file, and the changes to be made to them."""

    def __init__(self, text: str) -> None:
        *ended, last = text.split("\n")
        self._raw = [line + "\n" for line in ended] + ([last] if last else [])
        self.lines = [_strip_newline(line) for line in self._raw]
        """Without line ends and BOM."""
        if self.lines:
            self.lines[0] = self.lines[0].removeprefix("\ufeff")
        self._end = "\r\n" if self._raw and self._raw[0].endswith("\r\n") else "\n"
        self.gaps: Sequence[int] = ()
        """Lines above which an entry can be inserted, because nothing changes there."""
        self.entries: Sequence[Section] = ()
        """The entries as they were read, before any change."""
        self._gone: set[int] = set()
        self._new: dict[int, list[str]] = {}

    def __len__(self) -> int:
        return len(self.lines)

    def take(self, lines: Iterable[int]) -> None:
        """Remove lines."""
        self._gone.update(lines)

    def insert(self, before: int, lines: Iterable[str]) -> None:
        """Insert lines above a line."""
        self._new.setdefault(before, []).extend(lines)

    def insert_first(self, before: int, lines: Iterable[str]) -> None:
        """Insert lines above a line and above what is already inserted there."""
        self._new.setdefault(before, [])[:0] = lines

    def text(self) -> str:
        """The page after all changes. What was not changed is the same, byte for byte."""
        if not self._gone and not any(self._new.values()):
            return "".join(self._raw)
        kept: list[str] = []
        made = 0
        for index in range(len(self._raw) + 1):
            if index == len(self._raw) and index - 1 in self._gone:
                # The end of the page was removed, and with it the empty lines above.
                while len(kept) > made and is_blank(_strip_newline(kept[-1])):
                    kept.pop()
            for line in self._new.get(index, ()):
                self._add(kept, line)
                made = len(kept)
            if index < len(self._raw) and index not in self._gone:
                kept.append(self._raw[index])
        if self._raw and self._raw[0].startswith("\ufeff"):
            return "\ufeff" + "".join(kept).removeprefix("\ufeff")
        # A line that begins with the same character must not become the BOM of the file.
        return (self._end if kept and kept[0].startswith("\ufeff") else "") + "".join(kept)

    def _add(self, kept: list[str], line: str) -> None:
        if kept and not kept[-1].endswith("\n"):
            kept[-1] = kept[-1].removesuffix("\r") + self._end
        kept.append(line + ("\r\n" if line.endswith("\r") else self._end))

    def append(self, lines: Sequence[str]) -> None:
        """Add lines at the end, below an empty line."""
        place = len(self)
        above = self._new.get(place) or [line for index, line in enumerate(self.lines) if index not in self._gone][-1:]
        # After lines were removed from the end, no empty line is left there.
        spaced = not above or (is_blank(above[-1]) and place - 1 not in self._gone)
        self.insert(place, [*([] if spaced else [""]), *lines])


def is_blank(line: str) -> bool:
    """Whether a line is empty. One of two spaces is not: it is the end of a text that ends with a line end."""
    return not line.strip() and not line.startswith(("  ", "\t"))


def _strip_newline(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def has_fence(text: str) -> bool:
    """Whether a line of a text may open or close a code fence."""
    return ("```" in text or "~~~" in text) and any(_FENCE.match(line.lstrip()) for line in text.split("\n"))


class Fences:
    """The ends of the code fences of a page.

    A fence that is not closed, or not above the next entry that omoide has written, does not count: else one stray mark
    would hide everything below it.
    """

    def __init__(self, lines: Sequence[str], written: Callable[[str], bool]) -> None:
        self._lines = lines
        self._openings: dict[int, tuple[str, str, int]] = {}
        """Line → the mark, the text behind it, and the length of the longest mark that could close it."""
        longest = {"`": 0, "~": 0}
        for index in range(len(lines) - 1, -1, -1):
            line = lines[index]
            fence = _FENCE.match(line) if "```" in line or "~~~" in line else None
            if fence:
                mark, rest = fence[1], fence[2].strip()
                self._openings[index] = (mark, rest, longest[mark[0]])
                if not rest:
                    longest[mark[0]] = max(longest[mark[0]], len(mark))
            elif (longest["`"] or longest["~"]) and written(line):
                longest = {"`": 0, "~": 0}

    def end(self, index: int) -> int | None:
        """The line that closes the fence which opens here; None if none does."""
        if index not in self._openings:
            return None
        mark, rest, longest = self._openings[index]
        if len(mark) > longest or (mark.startswith("`") and "`" in rest):
            return None
        # It exists, and callers go on below it: no line is visited twice.
        for later in range(index + 1, len(self._lines)):
            closing, behind, _ = self._openings.get(later, ("", "", 0))
            if closing.startswith(mark) and not behind:
                return later
        return None


class Heading(NamedTuple):
    line: int
    level: int
    text: str


def headings(lines: Sequence[str], written: Callable[[str], bool] = lambda _: False) -> Iterator[Heading]:
    """The headings of a page, except those in code fences."""
    fences = Fences(lines, written)
    index = 0
    while index < len(lines):
        found = HEADING.match(lines[index]) if lines[index].startswith("#") else None
        if found:
            yield Heading(index, len(found[1]), (found[2] or "").strip())
        index = (fences.end(index) or index) + 1


def read_long_text(lines: Sequence[str], start: int, column: int, fences: Fences) -> tuple[int, str]:
    """Read a text that begins at this column and goes on below; return the line after it, and the text."""
    first = lines[start][column:].lstrip()
    texts = [first] if first else []
    end = index = start + 1
    while index < len(lines):
        line = lines[index]
        below = line[2:] if line.startswith("  ") else line[1:] if line.startswith("\t") else None
        if below is not None:
            # Empty lines belong to the text only between its lines; right below a bare label they are spacing.
            texts += [""] * (index - end) if texts else []
            texts.append(below)
            end = index = index + 1
        elif not line.strip():
            index += 1
        elif index > end:
            break
        elif (closing := fences.end(index)) is not None:
            texts += lines[index : closing + 1]
            end = index = closing + 1
        elif _BREAKS.match(line):
            break
        else:
            texts.append(line.lstrip())
            end = index = index + 1
    return end, unindent_separated("\n".join(texts))


def render_labelled(label: str, text: str) -> list[str]:
    """The lines of a text with its label: the inverse of `read_long_text`."""
    first, *others = map(indent_separated, text.split("\n"))
    if first and not first[0].isspace() and not (others and _OWN_LINE.match(first)):
        return [f"- {label}: {first}", *_indent(others, 0)]
    texts = [first, *others]
    leading = next((index for index, one in enumerate(texts) if one), 0)
    return [f"- {label}:", *_indent(texts, leading)]


def _indent(texts: Sequence[str], leading: int) -> Iterator[str]:
    """Indent lines. Empty ones stay empty, except at the ends of a text: two spaces show that they belong to it."""
    last = max((index for index, text in enumerate(texts) if text), default=-1)
    for index, text in enumerate(texts):
        yield f"  {text}" if text or index > last or index < leading else ""
