"""Memories as entries under a key, in a project or the global layer, with an archive: what the layers' tools do."""

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from omoide.errors import Conflict, NotFound
from omoide.interfaces import wire
from omoide.interfaces.mcp.call import Call
from omoide.interfaces.mcp.desk import Desk
from omoide.interfaces.mcp.shapes import Agent, Limit, Takes, Where, headline, passages
from omoide.interfaces.mcp.tool import Answer
from omoide.model import Layer, Memory, Scope, State

Key = Annotated[str, Meta(description="The entry's key")]


class Entry(Struct, frozen=True, omit_defaults=True):
    key: str
    """The memory's number where it has no key: both name it, with the session where it is in one."""
    content: str
    tags: tuple[str, ...]
    created_at: str
    updated_at: str
    layer: Layer
    state: str
    session: str = ""
    by: str = ""
    by_role: str = ""
    reason: str = ""
    """Why it is inactive, where it has expired."""


class One(Struct, frozen=True):
    entry: Entry


class Saved(Struct, frozen=True):
    entry: Entry
    action: str


class Many(Struct, frozen=True):
    entries: list[Entry]
    total_count: int


class Numbers(Struct, frozen=True):
    count: int
    by_type: dict[str, int]
    by_tag: dict[str, int]
    bytes: int
    oldest: str | None
    newest: str | None


class Everywhere(Takes, kw_only=True):
    caller_agent_id: Agent | UnsetType = UNSET


class SaveEverywhere(Everywhere, kw_only=True):
    key: Key
    content: str
    tags: tuple[str, ...] = ()


class SearchEverywhere(Everywhere, kw_only=True):
    query: str
    tags: tuple[str, ...] = ()
    limit: Limit = 10


class ListEverywhere(Everywhere, kw_only=True):
    tags: tuple[str, ...] = ()
    limit: Limit = 50


class NameEverywhere(Everywhere, kw_only=True):
    key: Key


def _in_project(base: type[Everywhere]) -> type[Struct]:
    """The same arguments, and where."""
    places: list[tuple[str, Any, Any]] = [
        ("project", Where | UnsetType, UNSET),
        ("session", str | UnsetType, UNSET),
    ]
    return defstruct(base.__name__.replace("Everywhere", "InProject"), places, bases=(base,), kw_only=True)


InProject = _in_project(Everywhere)
SaveInProject = _in_project(SaveEverywhere)
SearchInProject = _in_project(SearchEverywhere)
ListInProject = _in_project(ListEverywhere)
NameInProject = _in_project(NameEverywhere)


def entry(memory: Memory) -> Entry:
    return Entry(
        memory.key or f"#{memory.number}",
        memory.content,
        memory.tags,
        wire.moment(memory.created_at) or "",
        wire.moment(memory.updated_at) or "",
        memory.scope.layer,
        wire.state(memory),
        memory.scope.name,
        memory.author.name if memory.author else "",
        memory.author.role.value if memory.author else "",
        wire.inactive_reason(memory),
    )


def _scope(desk: Desk, asked: Any, *, writing: bool = False) -> Scope:
    if "project" in asked.__struct_fields__:
        return desk.project(asked.project, asked.session, writing=writing)
    return Scope.everywhere()


def _layers(scope: Scope) -> tuple[Layer, ...]:
    """A project's tools see the project and its sessions; the global layer has tools of its own."""
    return (Layer.PROJECT, Layer.SESSION) if scope.path else (Layer.EVERYWHERE,)


def _memory(desk: Desk, asked: Any, scope: Scope, state: State, *, reading: bool = False) -> Memory:
    """The entry a caller names, in this layer and state, the session's rather than the project's; one of another layer is
    missing here. Whoever names a session changes nothing outside of it."""
    service = desk.acting(asked.caller_agent_id)
    found = list(service.named(asked.key, scope=scope))
    if not found and asked.key[:1] == "#":  # an entry without a key goes by its number
        with suppress(NotFound):
            found = [service.show(asked.key, scope=scope)]
    named = getattr(asked, "session", UNSET)
    found = [
        memory
        for memory in found
        if memory.scope.layer in _layers(scope)
        and memory.state is not State.FORGOTTEN
        and (reading or not named or memory.scope == scope)
    ]
    for memory in found:
        if wire.state(memory) == state:
            return memory
    if not found:
        raise NotFound(f"there is no entry {asked.key!s:.100} in {scope}")
    other, reason = wire.state(found[0]), wire.inactive_reason(found[0])
    where = "in the archive: restore it first" if other == State.ARCHIVED else f"{reason or other}, not archived"
    raise Conflict(f"entry {asked.key!s:.100} is {where}")


def save(desk: Desk, asked: Any, _: Call) -> Answer:
    done = desk.acting(asked.caller_agent_id).remember(
        asked.content, scope=_scope(desk, asked, writing=True), key=asked.key, tags=asked.tags
    )
    return Answer(Saved(entry(done.memory), done.action), f"{done.action}: {headline(done.memory)} in {done.memory.scope}.")


def get(desk: Desk, asked: Any, _: Call) -> Answer:
    scope = _scope(desk, asked)
    memory = _memory(desk, asked, scope, State.ACTIVE, reading=True)
    memory = desk.acting(asked.caller_agent_id).show(memory.id, scope=scope)  # this counts as access
    return Answer(One(entry(memory)), passages([memory], "Found."))


def delete(desk: Desk, asked: Any, _: Call) -> Answer:
    scope = _scope(desk, asked)
    memory = _memory(desk, asked, scope, State.ACTIVE)
    done = desk.acting(asked.caller_agent_id).forget(memory.id, scope=scope)
    return Answer(One(entry(done)), f"Deleted: {headline(done)} of {done.scope}.")


def restore(desk: Desk, asked: Any, _: Call) -> Answer:
    scope = _scope(desk, asked)
    memory = _memory(desk, asked, scope, State.ARCHIVED)
    done = desk.acting(asked.caller_agent_id).restore(memory.id, scope=scope)
    return Answer(One(entry(done)), f"Restored: {headline(done)} of {done.scope}.")


def promote(desk: Desk, asked: Any, _: Call) -> Answer:
    scope = _scope(desk, asked)
    memory = _memory(desk, asked, scope, State.ACTIVE)
    done = desk.acting(asked.caller_agent_id).promote(memory.id, scope=scope, to=Scope.everywhere())
    return Answer(One(entry(done)), f"Promoted: {headline(done)} is now in the global layer.")


def search(state: State) -> Callable[[Desk, Any, Call], Answer]:
    def run(desk: Desk, asked: Any, _: Call) -> Answer:
        scope = _scope(desk, asked)
        found = desk.acting(asked.caller_agent_id).recall(
            asked.query, scope=scope, tags=asked.tags, layers=_layers(scope), states=(state,), limit=asked.limit
        )
        memories = [hit.memory for hit in found.hits]
        text = passages(memories, f"{len(memories)} of {found.total} entries of {scope}, best first.")
        return Answer(Many([entry(memory) for memory in memories], found.total), text)

    return run


def listing(state: State) -> Callable[[Desk, Any, Call], Answer]:
    def run(desk: Desk, asked: Any, _: Call) -> Answer:
        scope = _scope(desk, asked)
        page = desk.acting(asked.caller_agent_id).list(
            scope=scope, tags=asked.tags, layers=_layers(scope), states=(state,), limit=asked.limit
        )
        lines = [
            f"{len(page.memories)} of {page.total} entries of {scope}, last changed first.",
            *map(headline, page.memories),
        ]
        return Answer(Many([entry(memory) for memory in page.memories], page.total), "\n".join(lines))

    return run


def summary(state: State) -> Callable[[Desk, Any, Call], Answer]:
    def run(desk: Desk, asked: Any, _: Call) -> Answer:
        scope = _scope(desk, asked)
        found = desk.acting(asked.caller_agent_id).summary(scope=scope, layers=_layers(scope), states=(state,))
        numbers = Numbers(
            found.count, found.by_type, found.by_tag, found.bytes, wire.moment(found.oldest), wire.moment(found.newest)
        )
        kinds = ", ".join(f"{type} {count}" for type, count in found.by_type.items())
        return Answer(numbers, f"{found.count} {state} entries in {scope}" + (f": {kinds}." if kinds else "."))

    return run
