"""What a tool is: its words for the model, the types it takes and gives, and how a call of it goes."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from omoide.errors import InvalidInput, OmoideError
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.request import RequestContext

_DEEPEST = 100
"""Levels of lists and objects in arguments: no tool takes more than a few, and Python cannot follow a thousand."""


class Answer(NamedTuple):
    value: msgspec.Struct
    text: str
    """The same for a reader: a model, or a person who looks over its shoulder."""


class Tool(NamedTuple):
    name: str
    title: str
    description: str
    takes: type[msgspec.Struct]
    gives: type[msgspec.Struct]
    run: Callable[[CallContext, Any, RequestContext], Answer]
    reads: bool = False
    """Changes nothing (times of access aside)."""
    destroys: bool = False
    """May take something out of sight."""
    repeatable: bool = False
    """Again with the same arguments changes nothing more."""
    quick: bool = False
    """Done before anybody could wish to cancel it."""


def describe(tool: Tool) -> dict[str, Any]:
    """The tool as `tools/list` shows it; of the hints, those that differ from what the protocol takes for granted."""
    hints: dict[str, Any] = {"readOnlyHint": True} if tool.reads else {"destructiveHint": tool.destroys}
    if tool.repeatable:
        hints["idempotentHint"] = True
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": json_schema(tool.takes),
        "outputSchema": _brief(json_schema(tool.gives)),
        "annotations": hints,
    }


def json_schema(type: type[msgspec.Struct]) -> dict[str, Any]:
    """JSON Schema 2020-12 of a type, an object at its root, without the names of our classes."""
    (root,), parts = msgspec.json.schema_components((type,), ref_template="#/$defs/{name}")
    whole = _short_names(parts.pop(root["$ref"].rpartition("/")[2]))
    parts = {name.removesuffix("Result"): _short_names(part) for name, part in parts.items()}
    values = {f"#/$defs/{name}": part for name, part in parts.items() if "enum" in part}
    parts = {name: part for name, part in parts.items() if "enum" not in part}
    for part in (whole, *parts.values()):
        _compact_schema(part, values)
    return {**whole, "$defs": parts} if parts else whole


def _short_names(part: Any) -> Any:
    """The schema with references as a model reads them: `Memory` instead of `MemoryResult`."""
    if isinstance(part, dict):
        short = {name: _short_names(value) for name, value in part.items()}
        if "$ref" in part:
            short["$ref"] = part["$ref"].removesuffix("Result")
        return short
    return [_short_names(each) for each in part] if isinstance(part, list | tuple) else part


def _brief(output: dict[str, Any]) -> dict[str, Any]:
    """Without which fields its parts always have: nobody fills in an answer, and an agent pays for every word."""
    for part in output.get("$defs", {}).values():
        part.pop("required", None)
    return output


def _compact_schema(part: dict[str, Any], values: Mapping[str, dict[str, Any]]) -> None:
    """Shorter, and the same: an agent pays for every word of a schema.

    Titles and descriptions of a type repeat its name, a default that means "nothing" says nothing, and a list of values
    is shorter where it is used than by reference.
    """
    part.pop("title", None)
    part.pop("description", None)
    for field in part.get("properties", {}).values():
        if field.get("default", ...) in ([], (), "", None, False):
            del field["default"]
        named = values.get(field.get("$ref", ""))
        if named is not None:
            del field["$ref"]
            field["enum"] = named["enum"]
    if not part.get("required", True):
        del part["required"]


def call_tool(tool: Tool, context: CallContext, arguments: Mapping[str, Any], call: RequestContext) -> dict[str, Any]:
    """A call's result. What went wrong is told as a result too, so that the model reads it and can do better."""
    try:
        asked = msgspec.convert(_drop_nulls(arguments), tool.takes, strict=False)
        value, text = tool.run(context, asked, call)
    except msgspec.ValidationError as error:
        return error_result(f"{tool.name}: {error}")
    except OmoideError as error:
        return error_result(str(error))
    return {"content": [{"type": "text", "text": text}], "structuredContent": value, "isError": False}


def _drop_nulls(value: Any, room: int = _DEEPEST) -> Any:
    """Without what is null: models send that for what they leave out."""
    if not isinstance(value, (dict, list)):
        return value
    if not room:
        raise InvalidInput(f"the arguments are nested too deep, in more than {_DEEPEST} levels: send them flat")
    if isinstance(value, dict):
        return {name: _drop_nulls(part, room - 1) for name, part in value.items() if part is not None}
    return [_drop_nulls(part, room - 1) for part in value]


def error_result(why: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": why}], "isError": True}
