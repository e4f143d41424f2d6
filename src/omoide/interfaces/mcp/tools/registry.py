"""What a tool is: name and description for the model, types of arguments and result, and how it is called."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from omoide.errors import InvalidInput, OmoideError
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.request import RequestContext

_MAX_DEPTH = 100
"""Nested lists and objects in arguments: tools take a few levels, and Python's recursion limit is near a thousand."""


class ToolAnswer(NamedTuple):
    """The result of a tool, structured and as text for a model."""

    value: msgspec.Struct
    text: str


class Tool(NamedTuple):
    """A tool: what a model reads about it, and the function that runs it."""

    name: str
    title: str
    description: str
    arguments: type[msgspec.Struct]
    result: type[msgspec.Struct]
    run: Callable[[CallContext, Any, RequestContext], ToolAnswer]
    reads: bool = False
    """It changes nothing, except when memories were last used."""
    destroys: bool = False
    """It may remove a memory from searches."""
    repeatable: bool = False
    """A second call with the same arguments changes nothing more."""
    quick: bool = False
    """It is too short to be worth cancelling."""


def describe(tool: Tool) -> dict[str, Any]:
    """Return the tool as `tools/list` shows it; only the hints that differ from the defaults of the protocol."""
    annotations: dict[str, Any] = {"readOnlyHint": True} if tool.reads else {"destructiveHint": tool.destroys}
    if tool.repeatable:
        annotations["idempotentHint"] = True
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": json_schema(tool.arguments),
        "outputSchema": _drop_required(json_schema(tool.result)),
        "annotations": annotations,
    }


def json_schema(type: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a type, with an object at its root."""
    (root,), definitions = msgspec.json.schema_components((type,), ref_template="#/$defs/{name}")
    schema = _short_names(definitions.pop(root["$ref"].rpartition("/")[2]))
    definitions = {name.removesuffix("Result"): _short_names(part) for name, part in definitions.items()}
    enums = {f"#/$defs/{name}": part for name, part in definitions.items() if "enum" in part}
    definitions = {name: part for name, part in definitions.items() if "enum" not in part}
    for part in (schema, *definitions.values()):
        _compact_schema(part, enums)
    return {**schema, "$defs": definitions} if definitions else schema


def _short_names(part: Any) -> Any:
    """Shorten the names of references for a model: `Memory` instead of `MemoryResult`."""
    if isinstance(part, dict):
        short = {name: _short_names(value) for name, value in part.items()}
        if "$ref" in part:
            short["$ref"] = part["$ref"].removesuffix("Result")
        return short
    return [_short_names(each) for each in part] if isinstance(part, list | tuple) else part


def _drop_required(output: dict[str, Any]) -> dict[str, Any]:
    """Drop the required fields from the parts of a result: a model does not fill it in, and pays for every word."""
    for part in output.get("$defs", {}).values():
        part.pop("required", None)
    return output


def _compact_schema(part: dict[str, Any], enums: Mapping[str, dict[str, Any]]) -> None:
    """Shorten a schema without changing its meaning, in place: an agent pays for every word of it.

    Drop titles and descriptions of types, which repeat their names, and empty defaults; write an enum where it is used
    instead of a reference to it.
    """
    part.pop("title", None)
    part.pop("description", None)
    for field in part.get("properties", {}).values():
        if field.get("default", ...) in ([], (), "", None, False):
            del field["default"]
        enum = enums.get(field.get("$ref", ""))
        if enum is not None:
            del field["$ref"]
            field["enum"] = enum["enum"]
    if not part.get("required", True):
        del part["required"]


def call_tool(tool: Tool, context: CallContext, arguments: Mapping[str, Any], call: RequestContext) -> dict[str, Any]:
    """Call a tool and return its result. An error is a result too, so that the model reads it and can correct the call."""
    try:
        parsed = msgspec.convert(_drop_nulls(arguments), tool.arguments, strict=False)
        value, text = tool.run(context, parsed, call)
    except msgspec.ValidationError as error:
        return error_result(f"{tool.name}: {error}")
    except OmoideError as error:
        return error_result(str(error))
    return {"content": [{"type": "text", "text": text}], "structuredContent": value, "isError": False}


def _drop_nulls(value: Any, depth_left: int = _MAX_DEPTH) -> Any:
    """Drop nulls, which models send for arguments they leave out. Raise InvalidInput if the value is nested too deeply."""
    if not isinstance(value, (dict, list)):
        return value
    if not depth_left:
        raise InvalidInput(f"the arguments are nested in more than {_MAX_DEPTH} levels: send flat ones")
    if isinstance(value, dict):
        return {name: _drop_nulls(part, depth_left - 1) for name, part in value.items() if part is not None}
    return [_drop_nulls(part, depth_left - 1) for part in value]


def error_result(message: str) -> dict[str, Any]:
    """Return the result of a tool that failed."""
    return {"content": [{"type": "text", "text": message}], "isError": True}
