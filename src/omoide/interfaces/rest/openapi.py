"""The OpenAPI 3.1 document: made of the table of routes and the types that the routes parse and answer."""

import ast
import inspect
import json
import re
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from omoide import __version__
from omoide.interfaces.rest import routes, routing, values
from omoide.interfaces.rest.problems import MEDIA_TYPE
from omoide.interfaces.rest.routing import Operation
from omoide.model import LinkKind

_SCHEMAS = "#/components/schemas/"
_PROBLEM = {"$ref": f"{_SCHEMAS}Problem"}
_COMMON = {
    400: "The request is not HTTP, or its body is not JSON",
    401: "There is no valid token",
    403: "The role or the bounds of the token do not allow this",
    404: "There is no such thing, or the token may not see it",
    409: "The current state does not allow this, or a request with this Idempotency-Key is in progress",
    412: "The memory has changed since the version that If-Match names",
    413: "The body is larger than 16 MB",
    415: "The body is not JSON",
    422: "A field or a parameter is wrong",
    429: "Too many requests",
    503: "The database is busy or cannot be written",
    507: "The disk is full; nothing was changed",
}
_PATH_PARAMETERS: dict[str, dict[str, Any]] = {
    "projectId": {
        "schema": {"type": "integer", "minimum": 0},
        "description": "The number of the project; 0: the global layer",
    },
    "memoryId": {"schema": {"type": "integer", "minimum": 1}, "description": "The number of the memory"},
    "otherId": {"schema": {"type": "integer", "minimum": 1}, "description": "The number of the memory it leads to"},
    "version": {"schema": {"type": "integer", "minimum": 1}, "description": "The number of the version"},
    "runId": {"schema": {"type": "integer", "minimum": 1}, "description": "The number of the run"},
    "kind": {"schema": {"type": "string", "enum": [kind.value for kind in LinkKind]}, "description": "How they relate"},
    "session": {"schema": {"type": "string", "minLength": 1}, "description": "The name of the session"},
}
_CREATED = {
    "createProject": ("projectId", "/id"),
    "createMemory": ("memoryId", "/id"),
    "startSession": ("session", "/name"),
    "composePrompt": ("runId", "/run/id"),
}
"""What an operation creates: the parameter of other paths, and where the answer has its value."""
_HEADERS: dict[str, dict[str, Any]] = {
    "If-Match": {"schema": {"type": "string"}, "description": "An ETag: change only that version"},
    "If-None-Match": {"schema": {"type": "string"}, "description": "An ETag: answer 304 if it is still current"},
    "Idempotency-Key": {
        "schema": {"type": "string", "minLength": 1, "maxLength": 255},
        "description": "The same key and request again are answered alike and done once",
    },
}
_TAG: dict[str, Any] = {"schema": {"type": "string"}, "description": "Names the version"}


def document(types: Sequence[str]) -> dict[str, Any]:
    """Return the document; `types` are those that a memory can have."""
    _ = routes  # importing it fills the table
    components = _components(types)
    paths: dict[str, dict[str, Any]] = {}
    for route in routing.ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, components)
    used = _used_schemas(paths, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "omoide",
            "version": __version__,
            "description": "One local memory for every AI agent you run.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "tags": [{"name": name} for name in dict.fromkeys(route.tag for route in routing.ROUTES)],
        "paths": paths,
        "components": {
            "schemas": used,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "`omoide mcp token` prints a token"}
            },
        },
    }


def _components(types: Sequence[str]) -> dict[str, Any]:
    """Return the schemas of all types that routes take and answer, by their public names."""
    all_types = {values.ProblemAnswer}
    for route in routing.ROUTES:
        all_types |= {each for each in (route.query, route.body, route.answer) if each is not None}
    bodies = {route.body for route in routing.ROUTES}
    ordered = sorted(all_types, key=lambda each: each.__name__)
    _, components = msgspec.json.schema_components(ordered, ref_template=f"{_SCHEMAS}{{name}}")
    text = re.sub(r'(?<="#/components/schemas/)(\w+?)Answer(?=")', r"\1", json.dumps(components))
    schemas = {name.removesuffix("Answer"): schema for name, schema in json.loads(text).items()}
    for each in _with_bases(ordered):
        schema = schemas.get(each.__name__.removesuffix("Answer"))
        if schema is not None:
            _describe(schema, each, is_body=each in bodies)
    for name in ("NewMemory", "MemoryPatch", "MemoryFilter", "ArchiveFilter", "SearchQuery", "SearchBody"):
        if name in schemas:
            known = schemas[name]["properties"]["type"]
            known["enum"] = [*types, None] if "anyOf" in known else list(types)
    return schemas


def _with_bases(types: Iterable[type[Any]]) -> list[type[Any]]:
    """Return the types and those that their fields hold."""
    found: dict[type[Any], None] = {}
    for each in types:
        found[each] = None
        for field in msgspec.structs.fields(each):
            for part in (field.type, *getattr(field.type, "__args__", ())):
                if isinstance(part, type) and issubclass(part, msgspec.Struct):
                    found[part] = None
    return list(found)


def _describe(schema: dict[str, Any], type: type[Any], *, is_body: bool) -> None:
    """Add the docstrings of fields to a schema; a body has no defaults in it."""
    texts = {name: text for base in reversed(type.__mro__) for name, text in _field_texts(base).items()}
    for field in msgspec.structs.fields(type):
        shown = schema["properties"].get(field.encode_name)
        if shown is not None and field.name in texts:
            shown["description"] = texts[field.name]
        if shown is not None and (shown.get("default", ...) is None or is_body):
            shown.pop("default", None)  # generators take a field with a default for one that is always sent


def _field_texts(type: type[Any]) -> dict[str, str]:
    """Return the text that stands below each field of a class."""
    if not type.__module__.startswith("omoide."):
        return {}
    (node,) = ast.parse(inspect.cleandoc("\n" + inspect.getsource(type))).body
    assert isinstance(node, ast.ClassDef)  # noqa: S101 - for the type checker
    texts: dict[str, str] = {}
    for field, after in zip(node.body, node.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match after:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    texts[field.target.id] = " ".join(text.split())
    return texts


def _operation(route: Operation, components: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.operation,
        "summary": route.summary,
        "tags": [route.tag],
        "parameters": _parameters(route, components),
        "responses": _responses(route),
    }
    if route.description:
        operation["description"] = route.description
    if route.public:
        operation["security"] = []
    if route.body is not None:
        content: dict[str, Any] = {"schema": {"$ref": _SCHEMAS + route.body.__name__}}
        if route.body_example is not None:
            content["example"] = route.body_example
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    return operation


def _parameters(route: Operation, components: dict[str, Any]) -> list[dict[str, Any]]:
    found = [
        {"name": name, "in": "path", "required": True, **_PATH_PARAMETERS[name]}
        for name in re.findall(r"{(\w+)}", route.path)
    ]
    query = components[route.query.__name__]
    for name, described in query["properties"].items():
        schema = dict(described)
        parameter = {"name": name, "in": "query", "required": name in query.get("required", ())}
        if "description" in schema:
            parameter["description"] = schema.pop("description")
        found.append({**parameter, "schema": _without_null(schema)})
    headers = [name for name, wanted in (("If-Match", route.if_match), ("Idempotency-Key", route.idempotent)) if wanted]
    if route.operation == "getMemory":
        headers.append("If-None-Match")
    return [*found, *({"name": name, "in": "header", "required": False, **_HEADERS[name]} for name in headers)]


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter, which is left out rather than null."""
    kept = {name: value for name, value in schema.items() if name not in ("anyOf", "default") or value is not None}
    if "enum" in kept:
        kept["enum"] = [value for value in kept["enum"] if value is not None]
    if "anyOf" in kept:
        options = [option for option in kept.pop("anyOf") if option != {"type": "null"}]
        kept |= options[0] if len(options) == 1 else {"anyOf": options}
    return kept


def _responses(route: Operation) -> dict[str, Any]:
    responses = {str(route.status): _success(route)}
    if route.operation in ("createMemory", "createLink"):  # it was there already
        responses["200"] = _success(route)
    if route.operation == "getMemory":
        responses["304"] = {"description": "It has not changed", "headers": {"ETag": _TAG}}
    statuses = {400, 403, 422, 429, 503, *route.statuses}
    if not route.public:
        statuses |= {401}
    if "{" in route.path:
        statuses |= {404}
    if route.method != "GET":
        statuses |= {413, 415, 507}
    if route.idempotent:
        statuses |= {409}
    for status in sorted(statuses):
        responses[str(status)] = {"description": _COMMON[status], "content": {MEDIA_TYPE: {"schema": _PROBLEM}}}
    responses["default"] = {"description": "Another error", "content": {MEDIA_TYPE: {"schema": _PROBLEM}}}
    return responses


def _success(route: Operation) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": HTTPStatus(route.status).phrase}
    headers: dict[str, Any] = {}
    if route.answer is values.MemoryAnswer:
        headers["ETag"] = _TAG
    if route.answer is values.MemoryList:
        headers["Link"] = {"schema": {"type": "string"}, "description": "Leads to the next page, if there is one"}
    if route.status == 201 and route.operation != "createLink":
        headers["Location"] = {"schema": {"type": "string"}, "description": "Where it is"}
    if route.idempotent:
        headers["Idempotency-Replayed"] = {
            "schema": {"const": "true"},
            "description": "It was done before, with the same key",
        }
    if headers:
        answer["headers"] = headers
    if route.answer is not None:
        name = route.answer.__name__.removesuffix("Answer")
        answer["content"] = {"application/json": {"schema": {"$ref": _SCHEMAS + name}, "example": route.example}}
    if route.operation in _CREATED:
        answer["links"] = _links(route)
    return answer


def _links(route: Operation) -> dict[str, Any]:
    """Return links to the operations on what a route creates: which of their parameters its answer has."""
    parameter, pointer = _CREATED.get(route.operation, ("", ""))
    known = {name: f"$request.path.{name}" for name in re.findall(r"{(\w+)}", route.path)}
    known[parameter] = f"$response.body#{pointer}"
    found = {}
    for other in routing.ROUTES:
        names = re.findall(r"{(\w+)}", other.path)
        if parameter in names and set(names) <= set(known):
            found[other.operation] = {"operationId": other.operation, "parameters": {name: known[name] for name in names}}
    return found


def _used_schemas(paths: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    """Return the schemas that the paths refer to, also through other schemas: parameters are written out."""
    used: dict[str, Any] = {}
    texts = [json.dumps(paths)]
    while texts:
        for name in re.findall(rf'"{_SCHEMAS}(\w+)"', texts.pop()):
            if name not in used:
                used[name] = components[name]
                texts.append(json.dumps(components[name]))
    return dict(sorted(used.items()))
