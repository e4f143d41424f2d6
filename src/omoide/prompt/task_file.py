"""Read a task from TOML or JSON: `role`, `workspace` and the other sections, and a table `task`. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from omoide.errors import InvalidInput
from omoide.model.prompt import Task

_IN_TABLE = ("id", "title", "description")
"""The fields of the table `task`."""
_LISTS = ("read_first", "write_scope", "constraints")
_OUTSIDE = tuple(name for name in Task.__struct_fields__ if name not in _IN_TABLE)


def parse_task(text: str, name: str) -> Task:
    """Return the task that a file describes, in JSON if its name or its first character says so, else in TOML.

    `name`: the name of the file, also for messages. Raises InvalidInput, with the line and the field, for what is not valid.
    """
    is_json = name.endswith(".json") or text.lstrip().startswith("{")
    table = _load_json(text, name) if is_json else _load_toml(text, name)
    return _task(table, _JsonPlaces(name, text) if is_json else _TomlPlaces(name, text))


def task_from_record(record: Mapping[str, Any]) -> Task:
    """Return the task of a decoded JSON object, such as a request's body; raise InvalidInput if a field is not valid."""
    return _task(record, _Places())


def task_record(task: Task) -> dict[str, Any]:
    """Return a task as a JSON object, the inverse of `task_from_record`. Empty fields are left out."""
    record: dict[str, Any] = msgspec.to_builtins(task)
    inside = {field: record.pop(field) for field in _IN_TABLE if field in record}
    return {"task": inside, **record} if inside else record


def _load_toml(text: str, name: str) -> dict[str, Any]:
    import tomllib  # lazy: only for a task in a file

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(f"{name} is not valid TOML: {error}") from error


def _load_json(text: str, name: str) -> dict[str, Any]:
    import json  # lazy: only for a task in JSON; msgspec does not say in which line an error is

    try:
        table = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{name} is not valid JSON: {error}") from error
    if not isinstance(table, dict):
        raise InvalidInput(f"{name} must be a JSON object, got a {type(table).__name__}")
    return table


class _Places:
    """Where the names of a record stand, for messages: nowhere, in one that comes from no file."""

    def outside(self, field: str) -> str:  # noqa: ARG002 - see below
        """Return the place of a name outside the table `task`, as the start of a message."""
        return ""

    def inside(self, field: str) -> str:  # noqa: ARG002 - see below
        """Return the place of a name in the table `task`."""
        return ""


def _task(table: Mapping[str, Any], places: _Places) -> Task:
    values: dict[str, Any] = {}
    inside = table.get("task", {})
    if not isinstance(inside, Mapping):
        raise InvalidInput(f"{places.outside('task')}task must be a table with {', '.join(_IN_TABLE)}, got {inside!r:.60}")
    for field, value in table.items():
        if field != "task":
            place = places.outside(field)
            _require_known(field, (*_OUTSIDE, "task"), place)
            values[field] = _value(field, value, place)
    for field, value in inside.items():
        place = f"{places.inside(field)}task."
        _require_known(field, _IN_TABLE, place)
        values[field] = _value(field, value, place)
    return Task(**values)


def _require_known(field: str, known: tuple[str, ...], place: str) -> None:
    if field not in known:
        raise InvalidInput(f"{place}{field} is no field of a task: use {', '.join(known)}")


def _value(field: str, value: Any, place: str) -> str | tuple[str, ...]:
    if field == "id" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if field in _LISTS:
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise InvalidInput(f"{place}{field} must be a list of texts, got {value!r:.60}")
        return tuple(texts)
    if not isinstance(value, str):
        raise InvalidInput(f"{place}{field} must be a text, got {value!r:.60}")
    return value


class _TomlPlaces(_Places):
    """The lines of the names in a TOML file, which tomllib does not tell."""

    def __init__(self, name: str, text: str):
        self._name = name
        self._lines = text.splitlines()

    def outside(self, field: str) -> str:
        name = _quote(field)
        return self._find("", [rf"\s*{name}\s*[=.]", rf"\s*\[+\s*{name}\s*[\].]"])

    def inside(self, field: str) -> str:
        name, table = _quote(field), _quote("task")
        return self._find("task", [rf"\s*{name}\s*[=.]", rf"\s*{table}\s*\.\s*{name}\s*=", rf"\s*{table}\s*="])

    def _find(self, wanted: str, patterns: Sequence[str]) -> str:
        """The first line in the wanted table, or about it, that one of the patterns matches."""
        table = ""
        for number, line in enumerate(self._lines, 1):
            header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line)
            table = header[1] if header else table
            tried = patterns[1:] if table != wanted else patterns
            if any(re.match(pattern, line) for pattern in tried):
                return f"{self._name}, line {number}: "
        return f"{self._name}: "


def _quote(name: str) -> str:
    return rf"""["']?{re.escape(name)}["']?"""


class _JsonPlaces(_Places):
    """The lines of the names in a JSON file."""

    def __init__(self, name: str, text: str):
        self._name = name
        self._text = text

    def outside(self, field: str) -> str:
        return self._find(field, 0)

    def inside(self, field: str) -> str:
        table = re.search(r'"task"\s*:', self._text)
        return self._find(field, table.end() if table else 0)

    def _find(self, field: str, start: int) -> str:
        found = re.compile(rf'"{re.escape(field)}"\s*:').search(self._text, start)
        return f"{self._name}, line {self._text.count(chr(10), 0, found.start()) + 1}: " if found else f"{self._name}: "
