"""Resources: one memory by its id, the memories of a project, all memories of a type as one document."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, unquote

from omoide.errors import InvalidInput, NotFound
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.schemas import opening, render_memories
from omoide.markdown.fence import fence, one_line
from omoide.markdown.pages import render_document
from omoide.model import Memory, Scope, State

_MEMORY, _PROJECT, _DOCUMENT = "omoide://memory/", "omoide://project/", "omoide://document/"
_PAGE = 50
_MAX_MEMORIES = 1_000
"""The maximum of one document, last changed first; the document says how many are left out."""
_MIME = "text/markdown"

TEMPLATES: Sequence[dict[str, Any]] = (
    {
        "uriTemplate": _MEMORY + "{id}",
        "name": "memory",
        "title": "A memory",
        "description": "One memory in full; {id} is its id, number or key.",
        "mimeType": _MIME,
    },
    {
        "uriTemplate": _PROJECT + "{path}",
        "name": "project",
        "title": "A project",
        "description": "The memories of a project, pinned ones first; {path} such as shop or backend/python/shop.",
        "mimeType": _MIME,
    },
    {
        "uriTemplate": _DOCUMENT + "{type}",
        "name": "document",
        "title": "A document",
        "description": "All visible memories of a type, most confident first; {type} such as tech or decision.",
        "mimeType": _MIME,
    },
)


def list_page(context: CallContext, start: int) -> tuple[Sequence[dict[str, Any]], int | None]:
    """Return a page of resources: the project and its documents, then its memories and global ones, last changed first.

    The second value is the start of the next page, or None.
    """
    scope = context.scope()
    found = context.service.list(scope=scope, limit=_PAGE, offset=start)
    resources = [_resource(memory) for memory in found.memories]
    if start == 0:
        documents = [_document(type) for type in context.service.summary(scope=scope).by_type]
        resources = [*([_project(scope.path)] if scope.path else []), *documents, *resources]
    next_start = start + _PAGE
    return resources, next_start if next_start < found.total else None


def _project(path: str) -> dict[str, Any]:
    return {
        "uri": _PROJECT + quote(path),
        "name": path,
        "title": f"Project {path}",
        "description": "The memories of this project.",
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


def _resource(memory: Memory) -> dict[str, Any]:
    return {
        "uri": _MEMORY + memory.id,
        "name": memory.key or f"#{memory.number}",
        "title": memory.topic,
        "description": f"{memory.type} in {memory.scope}",
        "mimeType": _MIME,
        "annotations": {"lastModified": memory.updated_at.isoformat(), "priority": 1.0 if memory.pinned else 0.5},
    }


def read_resource(context: CallContext, uri: str) -> Sequence[dict[str, Any]]:
    """Read a resource as Markdown. Raise NotFound if there is none at this URI."""
    if uri.startswith(_MEMORY):
        text = _render_memory(context.service.show(unquote(uri.removeprefix(_MEMORY)), scope=context.scope()))
    elif uri.startswith(_PROJECT):
        text = _project_text(context, unquote(uri.removeprefix(_PROJECT)))
    elif uri.startswith(_DOCUMENT):
        text = _document_text(context, unquote(uri.removeprefix(_DOCUMENT)))
    else:
        raise NotFound(f"there is no resource {uri!s:.200}: resources/templates/list names the URIs")
    return [{"uri": uri, "mimeType": _MIME, "text": text}]


def _render_memory(memory: Memory) -> str:
    if memory.state is State.FORGOTTEN:
        raise NotFound(f"#{memory.number} is forgotten: restore it first")
    texts = [fence(memory.content), *(f"Example:\n\n{fence(example)}" for example in memory.examples)]
    return "\n\n".join([f"# {one_line(memory.topic)}", opening(memory), *texts]) + "\n"


def _project_text(context: CallContext, path: str) -> str:
    from omoide.service.projects import project_page  # lazy: the service loads with the store, at the first call

    try:
        page = project_page(context.service, path, _PAGE)
    except InvalidInput:  # fallback: no project can have such a path
        page = None
    if page is None:
        raise NotFound(f"there is no project {path!s:.200}: resources/list names the one of this server")
    return render_memories(page.memories, f"Project {path}: {len(page.memories)} of {page.total} memories.")


def _document_text(context: CallContext, type: str) -> str:
    try:
        found = context.service.list(scope=context.scope(), type=type, limit=_MAX_MEMORIES)
    except InvalidInput as error:
        raise NotFound(f"there is no type {type!s:.100}: resources/list names the documents") from error
    text = render_document(type, found.memories)
    left = found.total - len(found.memories)
    return f"{text}\n---\n\n{left:,} more are not shown: `omoide document` writes all of them.\n" if left else text


def complete(context: CallContext, uri: str, name: str, prefix: str) -> Sequence[str]:
    """List values for a parameter of a URI template that start with the prefix."""
    if uri == _PROJECT + "{path}" and name == "path":
        return projects(context, prefix)
    if uri == _DOCUMENT + "{type}" and name == "type":
        return types(context, prefix, context.scope())
    if uri == _MEMORY + "{id}" and name == "id":
        scope = context.scope()
        found = context.service.list(scope=scope, limit=_MAX_MEMORIES)
        names = [name for memory in found.memories for name in _names(memory, scope)]
        return list(dict.fromkeys(name for name in names if name.startswith(prefix)))
    return []


def _names(memory: Memory, scope: Scope) -> Sequence[str]:
    """Return what identifies a memory in this scope: its key, unless it is of another session, and its id."""
    return [memory.key, memory.id] if memory.key and memory.scope.name in ("", scope.name) else [memory.id]


def projects(context: CallContext, prefix: str) -> Sequence[str]:
    """List the paths of projects that start with the prefix."""
    return sorted(project.path for project in context.service.projects() if project.path.startswith(prefix))


def types(context: CallContext, prefix: str, scope: Scope) -> Sequence[str]:
    """List the types that start with the prefix, those in use first."""
    used = context.service.summary(scope=scope).by_type
    return sorted((type for type in context.service.types if type.startswith(prefix)), key=lambda name: name not in used)
