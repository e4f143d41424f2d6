"""Insert, replace and remove single values of a JSON text, and leave every other byte of it alone."""

import json
from collections.abc import Sequence
from typing import Any

from omoide.errors import InvalidInput
from omoide.interfaces.install import json_parser
from omoide.interfaces.install.json_parser import JsonChild, JsonNode

Path = Sequence[str | int]
_TYPES: dict[type, str] = {dict: "an object", list: "a list", str: "a text"}


class JsonText:
    """A JSON text, with comments or without. Each operation returns the text with one change."""

    def __init__(self, text: str, name: str):
        """Parse `text`, an empty one as an empty object; `name` is the file for messages. Raise Unreadable if broken."""
        self.text = text if text.strip() else text + "{}"
        self._name = name
        self.root = json_parser.parse(self.text, name)

    def get(self, path: Path) -> Any:
        """Return the value at a path, or None."""
        node = json_parser.find(self.root, path)
        return None if node is None else node.value

    def has(self, path: Path) -> bool:
        """Return whether there is a value at a path."""
        return json_parser.find(self.root, path) is not None

    def is_blank(self, path: Path) -> bool:
        """Return whether there is an object or a list at a path with nothing in it, not even a comment."""
        node = json_parser.find(self.root, path)
        return node is not None and node.children == () and not self.text[node.start + 1 : node.end - 1].strip()

    def put(self, path: Path, value: Any) -> "JsonText":
        """Set a member of an object: in place if it is there, else as the last one; objects above it are added too.

        Raise InvalidInput if something above it is not an object.
        """
        found = json_parser.find(self.root, path)
        if found is not None:
            return self if _same(found.value, value) else self._replace(found, value)
        depth = self._existing(path)
        container = self._container(path[:depth], dict)
        for key in reversed(path[depth + 1 :]):
            value = {key: value}
        return self._insert(container, path[depth], value)

    def append(self, path: Path, value: Any) -> "JsonText":
        """Add an element to the end of an array, which is added if it is missing.

        Raise InvalidInput if the value at the path is not an array, or something above it not an object.
        """
        if not self.has(path):
            return self.put(path, [value])
        return self._insert(self._container(path, list), None, value)

    def remove(self, path: Path) -> "JsonText":
        """Remove a member or an element, with its comma and the white space before it. Raise KeyError if missing."""
        container = json_parser.find(self.root, path[:-1])
        found = None if container is None else json_parser.child(container, path[-1])
        if container is None or found is None:
            raise KeyError(path)
        children = container.children or ()
        index = children.index(found)
        anchor = container.start + 1 if index == 0 else (children[index - 1].comma or 0) + 1
        before = self.text[:anchor] if found.comma is not None or index == 0 else self.text[: anchor - 1]
        rest = self.text[found.node.end if found.comma is None else found.comma + 1 :]
        end = json_parser.trivia_end(self.text, anchor, found.start)
        if json_parser.ends_in_line_comment(self.text, anchor, end) and not rest.lstrip(" \t").startswith(("\r", "\n")):
            end = found.start  # with the line break that ends the comment
        kept = before + self.text[anchor:end] + rest
        changed = JsonText(kept, self._name)
        return changed._close_empty(path[:-1]) if len(children) == 1 else changed

    def _close_empty(self, path: Path) -> "JsonText":
        """Write an object or array that became empty without white space."""
        node = json_parser.find(self.root, path)
        if node is None or self.text[node.start + 1 : node.end - 1].strip():
            return self  # a comment is left in it
        return JsonText(self.text[: node.start + 1] + self.text[node.end - 1 :], self._name)

    def _existing(self, path: Path) -> int:
        """How many parts of a path lead to a value."""
        depth = 0
        while depth < len(path) and self.has(path[: depth + 1]):
            depth += 1
        return depth

    def check_type(self, path: Path, expected: type) -> None:
        """Raise InvalidInput if the value at a path is not an object (dict) or a list, as `expected` says."""
        self._container(path, expected)

    def _container(self, path: Path, expected: type) -> JsonNode:
        node = json_parser.find(self.root, path)
        if node is None or not isinstance(node.value, expected):
            where = ".".join(map(str, path)) or "the file"
            found = _TYPES.get(type(None if node is None else node.value), "something else")
            raise InvalidInput(f"{self._name}: {where} is {found}, {_TYPES[expected]} is expected: correct it first")
        return node

    def _replace(self, node: JsonNode, value: Any) -> "JsonText":
        inline = "\n" not in self.text[node.start : node.end] and bool(node.children)
        rendered = self._render(value, None if inline else self._indent_of(node.start))
        return JsonText(self.text[: node.start] + rendered + self.text[node.end :], self._name)

    def _insert(self, container: JsonNode, key: str | int | None, value: Any) -> "JsonText":
        """Add a member, or an element if the key is None, to the end of an object or array."""
        children = container.children or ()
        last = children[-1] if children else None
        anchor = _anchor(container, last)
        at = json_parser.trivia_end(self.text, anchor, container.end - 1)
        after_line_comment = "\n" in self.text[at : container.end - 1] and "//" in self.text[anchor:at]
        inline = self._is_inline(container) and not after_line_comment
        indent = self._indent_of(container.start) if last is None else self._indent_of(last.start)
        if last is None:
            indent += self._unit
        item = self._render(value, None if inline else indent)
        if key is not None:
            item = json.dumps(key, ensure_ascii=False) + self._colon + item
        before = (" " if last and self._colon == ": " else "") if inline else self._newline + indent
        rest, closing = at, ""
        if last is None and not inline and "\n" not in self.text[at : container.end - 1]:
            rest, closing = container.end - 1, self._newline + self._indent_of(container.start)
        comma_before, comma_after = ("", "") if last is None else (",", "") if last.comma is None else ("", ",")
        text = self.text[:anchor] + comma_before + self.text[anchor:at] + before + item + comma_after
        return JsonText(text + closing + self.text[rest:], self._name)

    def _is_inline(self, container: JsonNode) -> bool:
        """Whether the members of a container are written in one line."""
        shown = container if container.children else self.root
        return (
            shown.children is not None
            and bool(shown.children)
            and "\n" not in self.text[shown.start : shown.children[0].start]
        )

    def _render(self, value: Any, indent: str | None) -> str:
        """Write a value in the style of the text; `indent` is that of its first line, None: all of it in one line."""
        if indent is None or not isinstance(value, (dict, list)) or not value or _is_flat(value):
            comma = ", " if self._colon == ": " else ","
            return json.dumps(value, ensure_ascii=False, separators=(comma, self._colon))
        inner = indent + self._unit
        if isinstance(value, dict):
            lines = [f"{json.dumps(k, ensure_ascii=False)}{self._colon}{self._render(v, inner)}" for k, v in value.items()]
        else:
            lines = [self._render(one, inner) for one in value]
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        body = f",{self._newline}".join(inner + line for line in lines)
        return f"{opening}{self._newline}{body}{self._newline}{indent}{closing}"

    def _indent_of(self, at: int) -> str:
        """The white space that the line of a position begins with."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def _unit(self) -> str:
        """One level of indentation, as the first member shows it."""
        first = self.root.children[0] if self.root.children else None
        if first is None or "\n" not in self.text[self.root.start : first.start]:
            return "  "
        return self._indent_of(first.start)[len(self._indent_of(self.root.start)) :] or "  "

    @property
    def _colon(self) -> str:
        """What stands between name and value: minified files have no space there."""
        first = self.root.children[0] if self.root.children else None
        if first is None:
            return ": "
        return ":" if self.text[first.start : first.node.start].endswith(":") else ": "


def _anchor(container: JsonNode, last: JsonChild | None) -> int:
    """Where something new may follow: after the last member and its comma, or after the opening bracket."""
    if last is None:
        return container.start + 1
    return last.node.end if last.comma is None else last.comma + 1


def _is_flat(value: Any) -> bool:
    """Whether a list holds only plain values: it is written in one line."""
    return isinstance(value, list) and not any(isinstance(one, (dict, list)) for one in value)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: 1 and true are not."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
