"""Memories as entries under a key, in a project or the global layer, with an archive: what the layers' tools do."""

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from omoide.errors import Conflict, NotFound
from omoide.interfaces import serialize
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.request import RequestContext
from omoide.interfaces.mcp.schemas import Agent, Limit, ScopeName, ToolInput, headline, render_memories
from omoide.interfaces.mcp.tools.registry import Answer, Tool
from omoide.model import Layer, Memory, Scope, State

Key = Annotated[str, Meta(description="The entry's key")]


class KeyedEntry(Struct, frozen=True, omit_defaults=True):
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


class EntryResult(Struct, frozen=True):
    entry: KeyedEntry


class SaveResult(Struct, frozen=True):
    entry: KeyedEntry
    action: str


class EntryList(Struct, frozen=True):
    entries: list[KeyedEntry]
    total_count: int


class LayerSummary(Struct, frozen=True):
    count: int
    by_type: dict[str, int]
    by_tag: dict[str, int]
    bytes: int
    oldest: str | None
    newest: str | None


class GlobalInput(ToolInput, kw_only=True):
    caller_agent_id: Agent | UnsetType = UNSET


class GlobalSave(GlobalInput, kw_only=True):
    key: Key
    content: str
    tags: tuple[str, ...] = ()


class GlobalSearch(GlobalInput, kw_only=True):
    query: str
    tags: tuple[str, ...] = ()
    limit: Limit = 10


class GlobalList(GlobalInput, kw_only=True):
    tags: tuple[str, ...] = ()
    limit: Limit = 50


class GlobalKey(GlobalInput, kw_only=True):
    key: Key


def _with_project(base: type[GlobalInput]) -> type[Struct]:
    """The same arguments, and where."""
    places: list[tuple[str, Any, Any]] = [
        ("project", ScopeName | UnsetType, UNSET),
        ("session", str | UnsetType, UNSET),
    ]
    return defstruct(base.__name__.replace("Everywhere", "InProject"), places, bases=(base,), kw_only=True)


ProjectInput = _with_project(GlobalInput)
ProjectSave = _with_project(GlobalSave)
ProjectSearch = _with_project(GlobalSearch)
ProjectList = _with_project(GlobalList)
ProjectKey = _with_project(GlobalKey)


def entry(memory: Memory) -> KeyedEntry:
    return KeyedEntry(
        memory.key or f"#{memory.number}",
        memory.content,
        memory.tags,
        serialize.format_time(memory.created_at) or "",
        serialize.format_time(memory.updated_at) or "",
        memory.scope.layer,
        serialize.state(memory),
        memory.scope.name,
        memory.author.name if memory.author else "",
        memory.author.role.value if memory.author else "",
        serialize.inactive_reason(memory),
    )


def _scope(context: CallContext, asked: Any, *, writing: bool = False) -> Scope:
    if "project" in asked.__struct_fields__:
        return context.project_scope(asked.project, asked.session, writing=writing)
    return Scope.everywhere()


def _layers(scope: Scope) -> tuple[Layer, ...]:
    """A project's tools see the project and its sessions; the global layer has tools of its own."""
    return (Layer.PROJECT, Layer.SESSION) if scope.path else (Layer.EVERYWHERE,)


def _find_entry(context: CallContext, asked: Any, scope: Scope, state: State, *, reading: bool = False) -> Memory:
    """The entry a caller names, in this layer and state, the session's rather than the project's; one of another layer is
    missing here. Whoever names a session changes nothing outside of it."""
    service = context.acting_as(asked.caller_agent_id)
    found = list(service.by_key(asked.key, scope=scope))
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
        if serialize.state(memory) == state:
            return memory
    if not found:
        raise NotFound(f"there is no entry {asked.key!s:.100} in {scope}")
    other, reason = serialize.state(found[0]), serialize.inactive_reason(found[0])
    where = "in the archive: restore it first" if other == State.ARCHIVED else f"{reason or other}, not archived"
    raise Conflict(f"entry {asked.key!s:.100} is {where}")


def save(context: CallContext, asked: Any, _: RequestContext) -> Answer:
    done = context.acting_as(asked.caller_agent_id).remember(
        asked.content, scope=_scope(context, asked, writing=True), key=asked.key, tags=asked.tags
    )
    return Answer(
        SaveResult(entry(done.memory), done.action), f"{done.action}: {headline(done.memory)} in {done.memory.scope}."
    )


def get(context: CallContext, asked: Any, _: RequestContext) -> Answer:
    scope = _scope(context, asked)
    memory = _find_entry(context, asked, scope, State.ACTIVE, reading=True)
    memory = context.acting_as(asked.caller_agent_id).show(memory.id, scope=scope)  # this counts as access
    return Answer(EntryResult(entry(memory)), render_memories([memory], "Found."))


def delete(context: CallContext, asked: Any, _: RequestContext) -> Answer:
    scope = _scope(context, asked)
    memory = _find_entry(context, asked, scope, State.ACTIVE)
    done = context.acting_as(asked.caller_agent_id).forget(memory.id, scope=scope)
    return Answer(EntryResult(entry(done)), f"Deleted: {headline(done)} of {done.scope}.")


def restore(context: CallContext, asked: Any, _: RequestContext) -> Answer:
    scope = _scope(context, asked)
    memory = _find_entry(context, asked, scope, State.ARCHIVED)
    done = context.acting_as(asked.caller_agent_id).restore(memory.id, scope=scope)
    return Answer(EntryResult(entry(done)), f"Restored: {headline(done)} of {done.scope}.")


def promote(context: CallContext, asked: Any, _: RequestContext) -> Answer:
    scope = _scope(context, asked)
    memory = _find_entry(context, asked, scope, State.ACTIVE)
    done = context.acting_as(asked.caller_agent_id).promote(memory.id, scope=scope, to=Scope.everywhere())
    return Answer(EntryResult(entry(done)), f"Promoted: {headline(done)} is now in the global layer.")


def search(state: State) -> Callable[[CallContext, Any, RequestContext], Answer]:
    def run(context: CallContext, asked: Any, _: RequestContext) -> Answer:
        scope = _scope(context, asked)
        found = context.acting_as(asked.caller_agent_id).recall(
            asked.query, scope=scope, tags=asked.tags, layers=_layers(scope), states=(state,), limit=asked.limit
        )
        memories = [hit.memory for hit in found.hits]
        text = render_memories(memories, f"{len(memories)} of {found.total} entries of {scope}, best first.")
        return Answer(EntryList([entry(memory) for memory in memories], found.total), text)

    return run


def list_entries(state: State) -> Callable[[CallContext, Any, RequestContext], Answer]:
    def run(context: CallContext, asked: Any, _: RequestContext) -> Answer:
        scope = _scope(context, asked)
        page = context.acting_as(asked.caller_agent_id).list(
            scope=scope, tags=asked.tags, layers=_layers(scope), states=(state,), limit=asked.limit
        )
        lines = [
            f"{len(page.memories)} of {page.total} entries of {scope}, last changed first.",
            *map(headline, page.memories),
        ]
        return Answer(EntryList([entry(memory) for memory in page.memories], page.total), "\n".join(lines))

    return run


def summary(state: State) -> Callable[[CallContext, Any, RequestContext], Answer]:
    def run(context: CallContext, asked: Any, _: RequestContext) -> Answer:
        scope = _scope(context, asked)
        found = context.acting_as(asked.caller_agent_id).summary(scope=scope, layers=_layers(scope), states=(state,))
        numbers = LayerSummary(
            found.count,
            found.by_type,
            found.by_tag,
            found.bytes,
            serialize.format_time(found.oldest),
            serialize.format_time(found.newest),
        )
        kinds = ", ".join(f"{type} {count}" for type, count in found.by_type.items())
        return Answer(numbers, f"{found.count} {state} entries in {scope}" + (f": {kinds}." if kinds else "."))

    return run


_PROJECT_TOOLS = (
    Tool(
        "save_to_memory",
        "Save to memory",
        "Save an entry of this project under a key; the same key updates it. For decisions with reasons, patterns, context.",
        ProjectSave,
        SaveResult,
        save,
        repeatable=True,
    ),
    Tool(
        "retrieve_from_memory",
        "Retrieve from memory",
        "Search this project's entries by words, in Japanese or English.",
        ProjectSearch,
        EntryList,
        search(State.ACTIVE),
        reads=True,
    ),
    Tool(
        "get_memory_entry",
        "Get an entry",
        "Get one entry of this project by its key.",
        ProjectKey,
        EntryResult,
        get,
        reads=True,
    ),
    Tool(
        "list_memory_entries",
        "List entries",
        "List this project's entries, last changed first.",
        ProjectList,
        EntryList,
        list_entries(State.ACTIVE),
        reads=True,
    ),
    Tool(
        "delete_memory_entry",
        "Delete an entry",
        "Delete an entry of this project, past the archive. Owner and Admin only.",
        ProjectKey,
        EntryResult,
        delete,
        destroys=True,
    ),
    Tool(
        "get_memory_summary",
        "Summary",
        "Count this project's entries by type and tag.",
        ProjectInput,
        LayerSummary,
        summary(State.ACTIVE),
        reads=True,
    ),
    Tool(
        "search_memory_archive",
        "Search the archive",
        "Search this project's archived entries: where an entry went that is no longer found.",
        ProjectSearch,
        EntryList,
        search(State.ARCHIVED),
        reads=True,
    ),
    Tool(
        "list_memory_archive",
        "List the archive",
        "List this project's archived entries.",
        ProjectList,
        EntryList,
        list_entries(State.ARCHIVED),
        reads=True,
    ),
    Tool(
        "restore_from_memory_archive",
        "Restore",
        "Bring an archived entry of this project back. Owner and Admin only.",
        ProjectKey,
        EntryResult,
        restore,
    ),
    Tool(
        "get_memory_archive_summary",
        "Archive summary",
        "Count this project's archived entries by type and tag.",
        ProjectInput,
        LayerSummary,
        summary(State.ARCHIVED),
        reads=True,
    ),
)

_GLOBAL_TOOLS = (
    Tool(
        "save_to_global_memory",
        "Save to global memory",
        "Save an entry for all projects under a key: preferences, conventions, lessons. When in doubt, use save_to_memory.",
        GlobalSave,
        SaveResult,
        save,
        repeatable=True,
    ),
    Tool(
        "retrieve_from_global_memory",
        "Retrieve from global memory",
        "Search the entries for all projects, such as the user's preferences.",
        GlobalSearch,
        EntryList,
        search(State.ACTIVE),
        reads=True,
    ),
    Tool(
        "list_global_memory_entries",
        "List global entries",
        "List the entries for all projects.",
        GlobalList,
        EntryList,
        list_entries(State.ACTIVE),
        reads=True,
    ),
    Tool(
        "get_global_memory_summary",
        "Global summary",
        "Count the entries for all projects by type and tag.",
        GlobalInput,
        LayerSummary,
        summary(State.ACTIVE),
        reads=True,
    ),
    Tool(
        "delete_global_memory_entry",
        "Delete a global entry",
        "Delete an entry for all projects, past the archive. Owner and Admin only.",
        GlobalKey,
        EntryResult,
        delete,
        destroys=True,
    ),
    Tool(
        "search_global_memory_archive",
        "Search the global archive",
        "Search the archived entries for all projects.",
        GlobalSearch,
        EntryList,
        search(State.ARCHIVED),
        reads=True,
    ),
    Tool(
        "list_global_memory_archive",
        "List the global archive",
        "List the archived entries for all projects.",
        GlobalList,
        EntryList,
        list_entries(State.ARCHIVED),
        reads=True,
    ),
    Tool(
        "restore_from_global_memory_archive",
        "Restore globally",
        "Bring an archived entry for all projects back. Owner and Admin only.",
        GlobalKey,
        EntryResult,
        restore,
    ),
    Tool(
        "get_global_memory_archive_summary",
        "Global archive summary",
        "Count the archived entries for all projects by type and tag.",
        GlobalInput,
        LayerSummary,
        summary(State.ARCHIVED),
        reads=True,
    ),
)

TOOLS = (
    *_PROJECT_TOOLS,
    *_GLOBAL_TOOLS,
    Tool(
        "promote_to_global_memory",
        "Promote",
        "Move an entry of this project to the global layer, when it is useful in every project. Owner and Admin only.",
        ProjectKey,
        EntryResult,
        promote,
    ),
)
