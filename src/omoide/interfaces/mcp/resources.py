"""Memories as resources: each one under its id, all of a project, all of a type as one document."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, unquote

from omoide.errors import InvalidInput, NotFound
from omoide.formats import documents
from omoide.formats.fence import fenced, one_line
from omoide.interfaces.mcp.desk import Desk
from omoide.interfaces.mcp.shapes import opening, passages
from omoide.model import Layer, Memory, Scope, State

_MEMORY, _PROJECT, _DOCUMENT = "omoide://memory/", "omoide://project/", "omoide://document/"
_PAGE = 50
_WHOLE = 1_000
"""The most that one document holds, those last changed; it says how many it leaves out."""
_MIME = "text/markdown"

TEMPLATES: Sequence[dict[str, Any]] = (
    {
        "uriTemplate": _MEMORY + "{id}",
        "name": "memory",
        "title": "A memory",
        "description": "One memory, whole; {id} is its id, number or key.",
        "mimeType": _MIME,
    },
    {
        "uriTemplate": _PROJECT + "{path}",
        "name": "project",
        "title": "A project",
        "description": "What is known in a project, pinned first; {path} like shop or backend/python/shop.",
        "mimeType": _MIME,
    },
    {
        "uriTemplate": _DOCUMENT + "{type}",
        "name": "document",
        "title": "A document",
        "description": "All memories of a type that are seen from here, the surest first; {type} like tech or decision.",
        "mimeType": _MIME,
    },
)


def page(desk: Desk, start: int) -> tuple[Sequence[dict[str, Any]], int | None]:
    """The project and its documents first, then its memories and the global ones, last changed first."""
    scope = desk.scope()
    found = desk.memory.list(scope=scope, limit=_PAGE, offset=start)
    listed = [_listed(memory) for memory in found.memories]
    if start == 0:
        pages = [_document(type) for type in desk.memory.summary(scope=scope).by_type]
        listed = [*([_project(scope.path)] if scope.path else []), *pages, *listed]
    after = start + _PAGE
    return listed, after if after < found.total else None


def _project(path: str) -> dict[str, Any]:
    return {
        "uri": _PROJECT + quote(path),
        "name": path,
        "title": f"Project {path}",
        "description": "What is known in this project.",
        "mimeType": _MIME,
    }


def _document(type: str) -> dict[str, Any]:
    return {
        "uri": _DOCUMENT + quote(type),
        "name": f"{type}.md",
        "title": f"Document {type}",
        "description": f"All memories of type {type}.",
        "mimeType": _MIME,
    }


def _listed(memory: Memory) -> dict[str, Any]:
    return {
        "uri": _MEMORY + memory.id,
        "name": memory.key or f"#{memory.number}",
        "title": memory.topic,
        "description": f"{memory.type} in {memory.scope}",
        "mimeType": _MIME,
        "annotations": {"lastModified": memory.updated_at.isoformat(), "priority": 1.0 if memory.pinned else 0.5},
    }


def read(desk: Desk, uri: str) -> Sequence[dict[str, Any]]:
    if uri.startswith(_MEMORY):
        text = _whole(desk.memory.show(unquote(uri.removeprefix(_MEMORY)), scope=desk.scope()))
    elif uri.startswith(_PROJECT):
        text = _known(desk, unquote(uri.removeprefix(_PROJECT)))
    elif uri.startswith(_DOCUMENT):
        text = _written(desk, unquote(uri.removeprefix(_DOCUMENT)))
    else:
        raise NotFound(f"there is no resource {uri!s:.200}")
    return [{"uri": uri, "mimeType": _MIME, "text": text}]


def _whole(memory: Memory) -> str:
    if memory.state is State.FORGOTTEN:
        raise NotFound(f"#{memory.number} is forgotten")
    texts = [fenced(memory.content), *(f"Example:\n\n{fenced(example)}" for example in memory.examples)]
    return "\n\n".join([f"# {one_line(memory.topic)}", opening(memory), *texts]) + "\n"


def _known(desk: Desk, path: str) -> str:
    try:
        scope = Scope.project(path)
    except InvalidInput as error:
        raise NotFound(f"there is no project {path!s:.200}") from error
    portrait = desk.memory.project(path, limit=_PAGE)
    if portrait is None:
        raise NotFound(f"there is no project {path!s:.200}")
    found = desk.memory.list(scope=scope, layers=(Layer.PROJECT, Layer.SESSION), limit=_PAGE)
    # The newest are not all: what is pinned may be older than any of them.
    every = {memory.id: memory for memory in (*portrait.pinned, *found.memories)}
    memories = list(every.values())[:_PAGE]
    return passages(memories, f"Project {path}: {len(memories)} of {found.total} memories.")


def _written(desk: Desk, type: str) -> str:
    try:
        found = desk.memory.list(scope=desk.scope(), type=type, limit=_WHOLE)
    except InvalidInput as error:
        raise NotFound(f"there is no type {type!s:.100}") from error
    text = documents.document(type, found.memories)
    left = found.total - len(found.memories)
    return f"{text}\n---\n\n{left:,} more are not shown: `omoide document` writes all of them.\n" if left else text


def completions(desk: Desk, uri: str, name: str, begun: str) -> Sequence[str]:
    if uri == _PROJECT + "{path}" and name == "path":
        return projects(desk, begun)
    if uri == _DOCUMENT + "{type}" and name == "type":
        return types(desk, begun, desk.scope())
    if uri == _MEMORY + "{id}" and name == "id":
        scope = desk.scope()
        found = desk.memory.list(scope=scope, limit=_WHOLE)
        names = [name for memory in found.memories for name in _names(memory, scope)]
        return list(dict.fromkeys(name for name in names if name.startswith(begun)))
    return []


def _names(memory: Memory, scope: Scope) -> Sequence[str]:
    """What a memory can be read by from here: its key, unless it is one of another session, and its id."""
    return [memory.key, memory.id] if memory.key and memory.scope.name in ("", scope.name) else [memory.id]


def projects(desk: Desk, begun: str) -> Sequence[str]:
    return sorted(project.path for project in desk.memory.projects() if project.path.startswith(begun))


def types(desk: Desk, begun: str, scope: Scope) -> Sequence[str]:
    """All that can be asked for, those in use first."""
    used = desk.memory.summary(scope=scope).by_type
    return sorted((type for type in desk.memory.types if type.startswith(begun)), key=lambda name: name not in used)
