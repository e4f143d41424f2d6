"""The normal form of a Markdown text: what is left of it when everything that a formatter may change is set aside. Pure.

Two texts with the same normal form say the same in the same words. Set aside are: where lines break and how far they are
indented, empty lines, marks of lists and their numbers, the characters that mark emphasis, escapes, the style of headings,
rules, fences and links, the padding of tables, which character ends a line, and what prettier changes in code
(`code_form.py`).
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from omoide.markdown.fence import split_lines

_WIDE = "\u2e80-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
"""Characters of scripts without spaces between words: a line may break anywhere between them."""
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([^`]*)$")
_RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_UNDERLINE = re.compile(r"(?:=+|--+)[ \t]*$")
_HEADING = re.compile(r"(#{1,6})[ \t]*(?![#\s])")
_BULLET = re.compile(r"[-*+](?:[ \t]+|$)")
_NUMBER = re.compile(r"(\d{1,9})[.)](?:[ \t]+|$)")
_DEFINITION = re.compile(r"\[(?!\^)[^\]]+\]:[ \t]*\S+")
END_MARKS = ".,;:!。，；：！"
"""What markdownlint removes from the end of a heading."""
_DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$")
_MARKDOWN = ("md", "markdown")


class Block(NamedTuple):
    """A paragraph, an item of a list, a heading, a table or a piece of code."""

    start: int
    end: int
    """The line after it."""
    normal: str
    is_definition: bool = False
    """Whether it defines the target of links: `[name]: address`."""


def is_same_text(text: str, formatted: str) -> bool:
    """Return whether `formatted` differs from a text in nothing but what a formatter may change."""
    text, formatted = text.rstrip(), formatted.rstrip()  # also at the end of code whose fence is not closed
    if text == formatted:
        return True
    before, after = blocks(split_lines(text)), blocks(split_lines(formatted))
    if _join(before) == _join(after):
        return True
    # markdownlint removes definitions that no link uses.
    definitions = [{block.normal for block in some if block.is_definition} for some in (before, after)]
    return definitions[1] < definitions[0] and _join(before, without=definitions[0]) == _join(after, without=definitions[0])


def normal_form(text: str) -> str:
    """Return the normal form of a text."""
    return _join(blocks(split_lines(text)))


def _join(some: Iterable[Block], without: Collection[str] = ()) -> str:
    return _WIDE_GAP.sub("", " ".join(block.normal for block in some if block.normal not in without))


def blocks(lines: Sequence[str]) -> list[Block]:
    """Split a text into its blocks, each with its normal form."""
    return _Reader(lines).read()


class _Reader:
    """Reads the lines of a text from the top."""

    def __init__(self, lines: Sequence[str]):
        self._lines = lines
        self._blocks: list[Block] = []
        self._start = 0
        self._words: list[str] = []
        """The lines of the paragraph that is being read."""
        self._column = 0
        """Where the text of the current item of a list begins; 0: there is none."""
        self._in_quote = False

    def read(self) -> list[Block]:
        index = 0
        while index < len(self._lines):
            index = self._read_line(index)
        self._finish(index)
        return self._blocks

    def _read_line(self, index: int) -> int:
        """Read a line, or all lines of a fence or a table; return the next line to read."""
        line = self._lines[index].expandtabs(4).rstrip()
        text = line.lstrip()
        if not text:
            self._finish(index)
            self._in_quote = False
            return index + 1
        if self._words and _UNDERLINE.match(text):
            self._words[0] = ("#" if text[0] == "=" else "##") + self._words[0]
            self._words[-1] = self._words[-1].rstrip(END_MARKS)
            self._finish(index + 1)
            return index + 1
        column = len(line) - len(text)
        while text:
            mark, text, column = self._mark(text, column)
            if not mark:
                break
            if mark != _CONTINUED:
                self._begin(index, mark)
        fence = _FENCE.match(text)
        if fence:
            return self._read_fence(index, fence)
        if self._is_table(index, text):
            return self._read_table(index)
        if _RULE.match(text):
            self._begin(index, "---")
            self._finish(index + 1)
        elif heading := _HEADING.match(text):
            self._begin(index, heading[1] + text[heading.end() :].rstrip("#").rstrip().rstrip(END_MARKS))
            self._finish(index + 1)
        elif _DEFINITION.match(text):
            self._finish(index)
            self._blocks.append(Block(index, index + 1, inline_form(text), is_definition=True))
        elif text:
            self._start = self._start if self._words else index
            self._words.append(text.removesuffix("\\"))
        return index + 1

    def _mark(self, text: str, column: int) -> tuple[str, str, int]:
        """The mark of a quote or of a list at the start of a line, in its normal form, and what follows it."""
        if text.startswith(">"):
            rest = text[1:].lstrip()
            mark = _CONTINUED if self._in_quote else ">"
            self._in_quote = True
            return mark, rest, column + len(text) - len(rest)
        if _RULE.match(text):
            return "", text, column
        bullet, number = _BULLET.match(text), _NUMBER.match(text)
        # In Markdown a number in the middle of a paragraph begins a list only if it is 1.
        is_inside = bool(self._words) and column >= self._column
        if bullet or (number and (not is_inside or int(number[1]) == 1)):
            width = (bullet or number).end()  # type: ignore[union-attr]  # one of them is there
            self._column = column + width
            return "-" if bullet else "1.", text[width:], column + width
        if not column:
            self._column = 0
        return "", text, column

    def _begin(self, index: int, text: str) -> None:
        """Begin a block with a text that formatters leave at the start of a line."""
        if self._words and self._start < index:
            self._finish(index)
        self._start = self._start if self._words else index
        self._words.append(text)

    def _finish(self, end: int) -> None:
        if self._words:
            self._blocks.append(Block(self._start, end, inline_form(" ".join(self._words))))
            self._words = []

    def _add(self, start: int, end: int, normal: str) -> int:
        """Add a block that is whole, with the mark of the item that it begins."""
        marks = [] if self._start < start else self._words
        if not marks:
            self._finish(start)
        self._blocks.append(Block(start, end, " ".join([*marks, normal])))
        self._words = []
        return end

    def _read_fence(self, index: int, opening: re.Match[str]) -> int:
        end = index + 1
        while end < len(self._lines):
            closing = _FENCE.match(self._lines[end].strip().lstrip("> "))
            if closing and closing[1].startswith(opening[1]) and not closing[2]:
                break
            end += 1
        language = opening[2].strip()
        return self._add(index, min(end + 1, len(self._lines)), _code(language, self._lines[index + 1 : end]))

    def _is_table(self, index: int, text: str) -> bool:
        below = self._lines[index + 1].strip() if index + 1 < len(self._lines) else ""
        return "|" in text and "|" in below and _DELIMITERS.match(below) is not None

    def _read_table(self, index: int) -> int:
        end = index
        rows = []
        while end < len(self._lines) and "|" in self._lines[end]:
            cells = _BULLET.sub("", self._lines[end].strip(), count=1).strip().removeprefix("|").removesuffix("|").split("|")
            cells = [inline_form(cell) for cell in cells]
            rows.append("|".join(re.sub("-+", "-", cell) if end == index + 1 else cell for cell in cells))
            end += 1
        return self._add(index, end, "\n".join(rows))


_CONTINUED = "\0"
"""Stands for the mark of a quote that goes on."""

_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_AUTOLINK = re.compile(r"<(\w+:[^\s<>]+|[\w.+-]+@[\w.-]+)>")
_FRAGMENT = re.compile(r"\(#[^\s()]*\)")
_LINK_TITLE = re.compile(r"""(\]\([^\s()]+)\s+(?:'([^']*)'|\(([^()]*)\))\s*\)""")
_EDGE_UNDERSCORES = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
_LOOSE_MARKS = re.compile(r"\s*(\*+|`+)\s*")
_BRACKETS = re.compile(r"(?<=\[)\s+|\s+(?=\])")
_WIDE_GAP = re.compile(rf"(?<=[{_WIDE}])\s+|\s+(?=[{_WIDE}])")


def inline_form(text: str) -> str:
    """Return the normal form of a text without blocks: of the words of one, or of a title."""
    text = _AUTOLINK.sub(r"\1", _ESCAPE.sub(r"\1", text))
    text = _FRAGMENT.sub(lambda found: found[0].lower(), text)
    text = _LINK_TITLE.sub(lambda found: f'{found[1]} "{found[2] or found[3] or ""}")', text)
    text = _EDGE_UNDERSCORES.sub(lambda found: "*" * len(found[0]), text)
    text = _BRACKETS.sub("", _LOOSE_MARKS.sub(r"\1", text).replace("[X]", "[x]"))
    return _WIDE_GAP.sub("", " ".join(text.split()))


def _code(language: str, lines: Sequence[str]) -> str:
    """The normal form of a piece of code."""
    from omoide.markdown.code_form import code_form  # lazy: only texts with code need its patterns

    form = normal_form("\n".join(lines)) if language.lower() in _MARKDOWN else code_form(language, lines)
    return f"```{language}\n{form}"
