"""Parse JSON with comments and trailing commas into values that know their place in the text."""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from omoide.errors import Unreadable

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None}
_TRIVIA = re.compile(r"[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_DECODER = json.JSONDecoder()
_DEEPEST = 200
"""Levels of nesting that are read: no settings file has more."""


class JsonNode(NamedTuple):
    """A value of the text, from `start` to before `end`."""

    start: int
    end: int
    value: Any
    """The value as Python has it; of two members with one name the last one counts."""
    children: "tuple[JsonChild, ...] | None" = None
    """The members of an object or the elements of an array; None for other values."""


class JsonChild(NamedTuple):
    """A member of an object or an element of an array."""

    key: str | int
    start: int
    """Where it begins: a member with its name."""
    node: JsonNode
    comma: int | None
    """The position of the comma after it."""


def parse(text: str, name: str) -> JsonNode:
    """Return the value of a text. Raise Unreadable, with `name`, line and column, if it is not JSON with comments."""
    return _Parser(text, name).parse()


def find(node: JsonNode, path: Sequence[str | int]) -> JsonNode | None:
    """Return the value at a path of names and positions, or None."""
    for key in path:
        found = child(node, key)
        if found is None:
            return None
        node = found.node
    return node


def child(node: JsonNode, key: str | int) -> JsonChild | None:
    """Return the member or element with this name or position, or None; of two members with one name, the last."""
    return next((one for one in reversed(node.children or ()) if one.key == key), None)


def trivia_end(text: str, start: int, limit: int) -> int:
    """Return where the last comment between two positions ends, or `start` if there is none."""
    end = start
    for match in _trivia(text, start, limit):
        if match[0].startswith("/"):
            end = match.end()
    return end


def ends_in_line_comment(text: str, start: int, end: int) -> bool:
    """Return whether what stands between two positions, white space and comments, ends in a comment of one line."""
    found = _trivia(text, start, end)
    return bool(found) and found[-1][0].startswith("//")


def _trivia(text: str, start: int, limit: int) -> list[re.Match[str]]:
    found = []
    while start < limit and (match := _TRIVIA.match(text, start, limit)):
        found.append(match)
        start = match.end()
    return found


class _Parser:
    def __init__(self, text: str, name: str):
        self._text = text
        self._name = name

    def parse(self) -> JsonNode:
        node = self._value(self._skip(0), 0)
        end = self._skip(node.end)
        if end != len(self._text):
            raise self._error(end, "something follows the end of the value")
        return node

    def _value(self, at: int, depth: int) -> JsonNode:
        first = self._text[at : at + 1]
        if depth > _DEEPEST:
            raise self._error(at, "it is nested too deeply")
        if first == "{":
            return self._object(at, depth)
        if first == "[":
            return self._array(at, depth)
        if first == '"':
            value, end = self._string(at)
            return JsonNode(at, end, value)
        for word, constant in _WORDS.items():
            if self._text.startswith(word, at):
                return JsonNode(at, at + len(word), constant)
        number = _NUMBER.match(self._text, at)
        if number is None:
            raise self._error(at, "a value is expected")
        return JsonNode(at, number.end(), json.loads(number[0]))

    def _object(self, start: int, depth: int) -> JsonNode:
        children: list[JsonChild] = []
        at = self._skip(start + 1)
        while self._text[at : at + 1] != "}":
            self._check_separated(children, at)
            if self._text[at : at + 1] != '"':
                raise self._error(at, 'a name in " or } is expected')
            key, end = self._string(at)
            colon = self._skip(end)
            if self._text[colon : colon + 1] != ":":
                raise self._error(colon, ": is expected")
            node = self._value(self._skip(colon + 1), depth + 1)
            comma, next_at = self._comma(node.end)
            children.append(JsonChild(key, at, node, comma))
            at = next_at
        return JsonNode(start, at + 1, {one.key: one.node.value for one in children}, tuple(children))

    def _array(self, start: int, depth: int) -> JsonNode:
        children: list[JsonChild] = []
        at = self._skip(start + 1)
        while self._text[at : at + 1] != "]":
            self._check_separated(children, at)
            node = self._value(at, depth + 1)
            comma, next_at = self._comma(node.end)
            children.append(JsonChild(len(children), at, node, comma))
            at = next_at
        return JsonNode(start, at + 1, [one.node.value for one in children], tuple(children))

    def _check_separated(self, children: list[JsonChild], at: int) -> None:
        if children and children[-1].comma is None:
            raise self._error(at, "a comma or the closing bracket is expected")

    def _comma(self, at: int) -> tuple[int | None, int]:
        """The position of a comma, and where the next thing is."""
        found = self._skip(at)
        if self._text[found : found + 1] == ",":
            return found, self._skip(found + 1)
        return None, found

    def _string(self, at: int) -> tuple[str, int]:
        try:
            value, end = _DECODER.raw_decode(self._text, at)
        except json.JSONDecodeError as error:
            raise self._error(error.pos, error.msg.lower()) from error
        return str(value), end

    def _skip(self, at: int) -> int:
        found = _trivia(self._text, at, len(self._text))
        return found[-1].end() if found else at

    def _error(self, at: int, expected: str) -> Unreadable:
        line = self._text.count("\n", 0, at) + 1
        column = at - (self._text.rfind("\n", 0, at) + 1) + 1
        what = f"the text ends, {expected}" if at >= len(self._text) else expected
        return Unreadable(f"{self._name} is not valid JSON (line {line}, column {column}: {what}): repair it first")
