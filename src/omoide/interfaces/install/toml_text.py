"""Insert, replace and remove single values of a TOML text, and leave every other byte of it alone."""

import tomllib
from collections.abc import Sequence
from typing import Any

from omoide.errors import InvalidInput, Unreadable
from omoide.interfaces.install.toml_scanner import TomlItem, scan
from omoide.interfaces.mcp.client_config import toml_lines, toml_value


class TomlText:
    """A TOML text. Each operation returns the text with one change."""

    def __init__(self, text: str, name: str):
        """Parse `text`; `name` is the file for messages. Raise Unreadable if it is broken."""
        self.text = text
        self._name = name
        try:
            self._data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise Unreadable(f"{name} is not valid TOML ({error}): repair it first") from error
        self._items = scan(text)

    @property
    def data(self) -> dict[str, Any]:
        """The values of the whole text."""
        return self._data

    def get(self, path: Sequence[str]) -> Any:
        """Return the value at a path, or None."""
        value: Any = self._data
        for key in path:
            if not isinstance(value, dict) or key not in value:
                return None
            value = value[key]
        return value

    def has(self, path: Sequence[str]) -> bool:
        """Return whether there is a value at a path."""
        return self.get(path) is not None

    def check_type(self, path: Sequence[str], expected: type) -> None:
        """Raise InvalidInput if the value at a path is not a table (dict) or an array, as `expected` says."""
        if not isinstance(self.get(path), expected):
            name = "a table" if expected is dict else "an array"
            raise InvalidInput(f"{self._name}: {'.'.join(path)} is something else, {name} is expected: correct it first")

    def is_blank(self, path: Sequence[str]) -> bool:  # noqa: ARG002 - as for JSON
        """Return False: a table that becomes empty was the user's, because omoide writes only its own."""
        return False

    def put(self, path: Sequence[str], value: Any) -> "TomlText":
        """Set a value, or all values of a table: in place if it is there, else at the end of its table or of the text."""
        if not isinstance(value, dict):
            return self._put_value(tuple(path), value)
        if not self.has(path):
            return self._put_table(tuple(path), value)
        changed = self
        for key in [key for key in self.get(path) if key not in value]:
            changed = changed.remove([*path, key])
        for key, one in value.items():
            changed = changed.put([*path, key], one)
        return changed

    def remove(self, path: Sequence[str]) -> "TomlText":
        """Remove a value or a table, with all that is below it, and the lines that it takes."""
        name = tuple(path)
        text = self.text
        for item in reversed(self._items):
            if item.path[: len(name)] == name:
                start, end = self._lines_of(item)
                text = text[:start] + text[end:]
            else:
                text = _without_members(text, item, name)
        return TomlText(text, self._name)

    def _lines_of(self, item: TomlItem) -> tuple[int, int]:
        """The whole lines of an item, with a blank line before a header."""
        start = self.text.rfind("\n", 0, item.start) + 1
        end = self.text.find("\n", item.end)
        end = len(self.text) if end < 0 else end + 1
        if item.is_header:
            for blank in ("\r\n", "\n"):
                if self.text[:start].endswith(("\n" + blank, "\r\n" + blank)):
                    return start - len(blank), end
        return start, end

    def _put_value(self, path: tuple[str, ...], value: Any) -> "TomlText":
        for item in self._all_items():
            if item.path == path and item.value is not None:
                if self.get(path) == value:
                    return self
                return TomlText(self.text[: item.value] + toml_value(value) + self.text[item.end :], self._name)
        return self._add_value(path, value)

    def _add_value(self, path: tuple[str, ...], value: Any) -> "TomlText":
        """Add a key to a table that is there: below its header, within its braces, or beside its dotted keys."""
        above, key = path[:-1], path[-1]
        for item in self._all_items():
            if item.path == above and item.value is not None:
                return self._insert_member(item, f"{key} = {toml_value(value)}")
        last = [item for item in self._items if item.path == above or item.path[:-1] == above][-1]
        dotted = "" if last.is_header else self._key_of(last).rpartition(".")[0]
        prefix = f"{dotted}." if dotted else ""
        line = f"{self._newline}{prefix}{key} = {toml_value(value)}"
        end = self.text.find("\n", last.end)
        end = len(self.text) if end < 0 else end - (1 if self.text[end - 1] == "\r" else 0)
        return TomlText(self.text[:end] + line + self.text[end:], self._name)

    def _key_of(self, item: TomlItem) -> str:
        return self.text[item.start : item.value].partition("=")[0].strip()

    def _put_table(self, path: tuple[str, ...], value: dict[str, Any]) -> "TomlText":
        for item in self._items:
            if item.path == path[:-1] and item.value is not None:
                members = ", ".join(f"{key} = {toml_value(one)}" for key, one in value.items())
                return self._insert_member(item, f"{path[-1]} = {{ {members} }}")
        newline = self._newline
        block = f"[{'.'.join(path)}]{newline}{toml_lines(value, newline)}{newline}"
        if not self.text.strip():
            return TomlText(self.text + block, self._name)
        closing = "" if self.text.endswith("\n") else newline
        return TomlText(self.text + closing + newline + block, self._name)

    def _insert_member(self, item: TomlItem, member: str) -> "TomlText":
        """Add a member to an inline table."""
        if item.members:
            at = item.members[-1].end
            return TomlText(f"{self.text[:at]}, {member}{self.text[at:]}", self._name)
        return TomlText(f"{self.text[: item.value]}{{ {member} }}{self.text[item.end :]}", self._name)

    def _all_items(self) -> list[TomlItem]:
        found: list[TomlItem] = []
        for item in self._items:
            found += [item, *_members_of(item)]
        return found

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"


def _members_of(item: TomlItem) -> list[TomlItem]:
    return [found for member in item.members for found in (member, *_members_of(member))]


def _without_members(text: str, item: TomlItem, path: tuple[str, ...]) -> str:
    """Remove the members of inline tables at a path, with their commas, from the last one to the first."""
    for index in reversed(range(len(item.members))):
        member = item.members[index]
        if member.path[: len(path)] != path:
            text = _without_members(text, member, path)
        elif index > 0:
            text = text[: item.members[index - 1].end] + text[member.end :]
        elif len(item.members) > 1:
            text = text[: member.start] + text[item.members[1].start :]
        else:
            text = f"{text[: item.value]}{{}}{text[item.end :]}"
    return text
