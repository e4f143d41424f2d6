"""Find the tables and values of a TOML text: which bytes each of them takes."""

import re
import tomllib
from typing import NamedTuple

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'""")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""{1,3}(?!")|' + r"'''.*?'''{1,3}(?!')|" + r""""(?:[^"\\\n]|\\.)*"|'[^'\n]*\'""", re.DOTALL
)
_SCALAR = re.compile(r"[^,\]}#\n]*")

Path = tuple[str, ...]


class TomlItem(NamedTuple):
    """A header of a table, or a value with its key."""

    path: Path
    """The whole path. An element of an array of tables has `[]` in it: nothing that omoide looks for does."""
    start: int
    """Where the header or the key begins."""
    end: int
    """Where the header or the value ends."""
    value: int | None
    """Where the value begins; None for a header."""
    members: "tuple[TomlItem, ...]" = ()
    """The values of an inline table."""

    @property
    def is_header(self) -> bool:
        """Whether it is a header of a table."""
        return self.value is None


def scan(text: str) -> list[TomlItem]:
    """Return the headers and values of a valid TOML text, in their order."""
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str):
        self._text = text

    def scan(self) -> list[TomlItem]:
        items: list[TomlItem] = []
        table: Path = ()
        at = self._after_blank(0)
        while at < len(self._text):
            if self._text[at] == "[":
                item = self._header(at)
                table = item.path
            else:
                item = self._assignment(at, table)
            items.append(item)
            at = self._after_blank(item.end)
        return items

    def _header(self, start: int) -> TomlItem:
        brackets = 2 if self._text.startswith("[[", start) else 1
        path, end = self._key(self._after_space(start + brackets))
        end = self._after_space(end) + brackets
        return TomlItem((*path, "[]") if brackets == 2 else path, start, end, None)

    def _assignment(self, start: int, table: Path) -> TomlItem:
        key, end = self._key(start)
        value = self._after_space(self._after_space(end) + 1)  # after the sign
        path = (*table, *key)
        end, members = self._value(value, path)
        return TomlItem(path, start, end, value, members)

    def _key(self, at: int) -> tuple[Path, int]:
        parts = []
        while match := _KEY.match(self._text, at):
            part = match[0]
            parts.append(tomllib.loads(f"key = {part}")["key"] if part[0] in "\"'" else part)
            dot = self._after_space(match.end())
            if self._text[dot : dot + 1] != ".":
                return tuple(parts), match.end()
            at = self._after_space(dot + 1)
        raise ValueError(at)  # not valid TOML: the text was parsed before

    def _value(self, at: int, path: Path) -> tuple[int, tuple[TomlItem, ...]]:
        """The end of a value, and the members of an inline table."""
        first = self._text[at]
        if first in "\"'":
            match = _STRING.match(self._text, at)
            if match is None:
                raise ValueError(at)  # not valid TOML: the text was parsed before
            return match.end(), ()
        if first == "[":
            return self._array(at, path), ()
        if first == "{":
            return self._inline_table(at, path)
        scalar = _SCALAR.match(self._text, at)
        return at + len(scalar[0].rstrip() if scalar else ""), ()

    def _array(self, start: int, path: Path) -> int:
        at = self._after_blank(start + 1)
        while self._text[at] != "]":
            end, _ = self._value(at, path)
            at = self._after_blank(end)
            if self._text[at] == ",":
                at = self._after_blank(at + 1)
        return at + 1

    def _inline_table(self, start: int, path: Path) -> tuple[int, tuple[TomlItem, ...]]:
        members = []
        at = self._after_blank(start + 1)
        while self._text[at] != "}":
            member = self._assignment(at, path)
            members.append(member)
            at = self._after_blank(member.end)
            if self._text[at] == ",":
                at = self._after_blank(at + 1)
        return at + 1, tuple(members)

    def _after_blank(self, at: int) -> int:
        match = _BLANK.match(self._text, at)
        return match.end() if match else at

    def _after_space(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at
