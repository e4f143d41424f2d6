"""Memories of a project: list, create, show, change, forget."""

from collections.abc import Mapping
from typing import Any

from omoide.interfaces.rest import cursors, values
from omoide.interfaces.rest.problems import InvalidRequest
from omoide.interfaces.rest.routing import Answer, Call, NoQuery, route
from omoide.model import Draft, Layer, Scope, State, fields

MEMORY = {
    "id": 1,
    "projectId": 1,
    "type": "pattern",
    "content": "このプロジェクトではpnpm + Turborepoを使用",
    "source": "human",
    "tags": ["build", "package-manager"],
    "relevanceScore": 1.0,
    "active": True,
    "createdAt": "2026-02-05T10:00:00Z",
    "updatedAt": "2026-02-05T10:00:00Z",
    "version": 1,
    "state": "active",
    "uuid": "019c2d3e-7a00-7000-8000-000000000001",
    "session": None,
    "key": None,
    "topic": "このプロジェクトではpnpm + Turborepoを使用",
    "examples": [],
    "sourceRunId": None,
    "confidence": 1.0,
    "pinned": False,
    "expiresAt": None,
    "referenceCount": 0,
    "author": "owner",
    "authorRole": "owner",
    "originalPrompt": None,
}
LIST = "/api/projects/{projectId}/memories"
ONE = "/api/projects/{projectId}/memories/{memoryId}"
_LAYERS = {"global": Layer.EVERYWHERE, "sessions": Layer.SESSION}


@route(
    "GET",
    LIST,
    "listMemories",
    query=values.MemoryFilter,
    answer=values.MemoryList,
    example={"memories": [MEMORY], "nextCursor": None},
)
def list_memories(call: Call[values.MemoryFilter, None]) -> Answer:
    """List the memories of a project, last changed first.

    Only those of the project itself; `include` adds the global layer and the project's sessions. Project 0 is the global
    layer. Where there are more, `nextCursor` and the header Link lead to the next page."""
    asked = call.query
    return list_page(call, (State.ACTIVE,) if asked.active else (State.INACTIVE,), {"active": str(asked.active).lower()})


def list_page(call: Call[Any, None], states: tuple[State, ...], more: Mapping[str, str]) -> Answer:
    """Return a page of memories in these states; `more` are parameters of the link to the next page."""
    asked: values.ArchiveFilter = call.query
    page = call.service.list(
        scope=call.session_scope(asked.session),
        type=asked.type,
        tags=split_list(asked.tags),
        layers=_layers(call.scope, asked),
        states=states,
        limit=asked.limit + 1,
        before=None if asked.cursor is None else cursors.decode(asked.cursor),
        total=False,
    ).memories
    shown = page[: asked.limit]
    cursor = cursors.encode(shown[-1]) if len(page) > len(shown) else None
    answer = values.MemoryList(memories=[values.memory(each, call.project_id) for each in shown], next_cursor=cursor)
    if cursor is None:
        return Answer(answer)
    given = {"type": asked.type, "tags": asked.tags, "include": asked.include, "session": asked.session}
    return Answer(answer, headers=cursors.link(call.request_path, {**given, **more, "limit": str(asked.limit)}, cursor))


def _layers(project: Scope, asked: values.ArchiveFilter) -> tuple[Layer, ...]:
    """Return the layers to list."""
    if asked.session is not None:
        return (Layer.SESSION,)
    layers = [project.layer]
    for name in split_list(asked.include):
        if name not in _LAYERS:
            raise InvalidRequest(f"include: there is no layer {name!r}: use global, sessions", {"parameter": "include"})
        layers.append(_LAYERS[name])
    return tuple(dict.fromkeys(layers))


def split_list(text: str | None) -> list[str]:
    """Return the parts of a comma-separated list, without the empty ones."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


@route(
    "POST",
    LIST,
    "createMemory",
    body=values.NewMemory,
    answer=values.MemoryAnswer,
    status=201,
    statuses=(409,),
    example=MEMORY,
    body_example={
        "type": "warning",
        "content": "src/core/配下の変更は全テスト実行が必須",
        "tags": ["src/core/**", "testing"],
        "relevanceScore": 0.9,
    },
    idempotent=True,
)
def create_memory(call: Call[NoQuery, values.NewMemory]) -> Answer:
    """Store a memory in a project.

    Answers 201 for a new memory; 200 where the project had it already (by key, by topic and type, or by content) and it was
    updated."""
    new = call.body
    given = values.given_fields(new, fields.DRAFT)
    given["source"] = new.source or ("human" if new.source_run_id is None else "run")
    draft = Draft(**given, scope=call.session_scope(new.session))
    done = call.once(call.scope, lambda service: service.remember(draft))
    location = f"/api/projects/{call.project_id}/memories/{done.memory.number}"
    return call.memory(done.memory, 201 if done.action == "created" else 200, {"Location": location})


@route("GET", ONE, "getMemory", answer=values.MemoryAnswer, example=MEMORY)
def get_memory(call: Call[NoQuery, None]) -> Answer:
    """Return a memory, in whatever state it is.

    The header ETag names its version, for If-Match and If-None-Match."""
    return call.memory(call.service.show(call.memory_ref, scope=call.scope))


@route(
    "PATCH",
    ONE,
    "updateMemory",
    body=values.MemoryPatch,
    answer=values.MemoryAnswer,
    statuses=(409, 412),
    example=MEMORY,
    body_example={"tags": ["build"], "active": False},
    if_match=True,
)
def update_memory(call: Call[NoQuery, values.MemoryPatch]) -> Answer:
    """Change some fields of a memory.

    With If-Match, only if nobody has changed it since: otherwise 412."""
    given = values.given_fields(call.body, (*fields.REVISABLE, "active"))
    return call.memory(call.service.revise(call.memory_ref, scope=call.scope, if_version=call.if_version(), **given))


@route("DELETE", ONE, "deleteMemory", status=204, statuses=(409, 412), if_match=True)
def delete_memory(call: Call[NoQuery, None]) -> Answer:
    """Forget a memory.

    No search and no list has it any more. `POST …/restore` brings it back."""
    call.service.forget(call.memory_ref, scope=call.scope, if_version=call.if_version())
    return Answer()
