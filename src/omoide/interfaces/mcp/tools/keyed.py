"""Tools on memories as entries with a key, in a project or in the global layer, with an archive: `--tools layers`."""

from collections.abc import Callable
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from omoide.interfaces import serialize
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.request import RequestContext
from omoide.interfaces.mcp.schemas import Agent, Limit, ScopeName, ToolInput, headline, render_memories
from omoide.interfaces.mcp.tools.registry import Tool, ToolAnswer
from omoide.model import Layer, Memory, Scope, State

Key = Annotated[str, Meta(description="The entry's key")]


class KeyedEntry(Struct, frozen=True, omit_defaults=True):
    key: str
    """The key of the memory, or # and its number if it has none."""
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
    """Why the memory is inactive, if it is."""


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


class GlobalSummaryInput(ToolInput, kw_only=True):
    caller_agent_id: Agent | UnsetType = UNSET


class GlobalSaveInput(GlobalSummaryInput, kw_only=True):
    key: Key
    content: str
    tags: tuple[str, ...] = ()


class GlobalSearchInput(GlobalSummaryInput, kw_only=True):
    query: str
    tags: tuple[str, ...] = ()
    limit: Limit = 10


class GlobalListInput(GlobalSummaryInput, kw_only=True):
    tags: tuple[str, ...] = ()
    limit: Limit = 50


class GlobalKeyInput(GlobalSummaryInput, kw_only=True):
    key: Key


def _with_project(base: type[GlobalSummaryInput]) -> type[Struct]:
    """Return the same arguments with a project and a session."""
    fields: list[tuple[str, Any, Any]] = [
        ("project", ScopeName | UnsetType, UNSET),
        ("session", str | UnsetType, UNSET),
    ]
    return defstruct(base.__name__.replace("Global", "Project"), fields, bases=(base,), kw_only=True)


ProjectSummaryInput = _with_project(GlobalSummaryInput)
ProjectSaveInput = _with_project(GlobalSaveInput)
ProjectSearchInput = _with_project(GlobalSearchInput)
ProjectListInput = _with_project(GlobalListInput)
ProjectKeyInput = _with_project(GlobalKeyInput)


def _entry(memory: Memory) -> KeyedEntry:
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


def _scope(context: CallContext, arguments: Any, *, writing: bool = False) -> Scope:
    if "project" in arguments.__struct_fields__:
        return context.project_scope(arguments.project, arguments.session, writing=writing)
    return Scope.everywhere()


def _find_entry(context: CallContext, arguments: Any, scope: Scope, state: State, *, reading: bool = False) -> Memory:
    """Find an entry. A call that names a session changes its entries only; with `reading`, it finds the project's too."""
    names_session = bool(getattr(arguments, "session", UNSET))
    service = context.acting_as(arguments.caller_agent_id)
    return service.entry(arguments.key, scope=scope, state=state, only_here=names_session and not reading)


def _save(context: CallContext, arguments: Any, _: RequestContext) -> ToolAnswer:
    remembered = context.acting_as(arguments.caller_agent_id).remember(
        arguments.content, scope=_scope(context, arguments, writing=True), key=arguments.key, tags=arguments.tags
    )
    memory = remembered.memory
    text = f"{remembered.action.capitalize()}: {headline(memory)} in {memory.scope}."
    return ToolAnswer(SaveResult(_entry(memory), remembered.action), text)


def _get(context: CallContext, arguments: Any, _: RequestContext) -> ToolAnswer:
    scope = _scope(context, arguments)
    memory = _find_entry(context, arguments, scope, State.ACTIVE, reading=True)
    memory = context.acting_as(arguments.caller_agent_id).show(memory.id, scope=scope)  # counts as a use
    return ToolAnswer(EntryResult(_entry(memory)), render_memories([memory], "Found."))


def _delete(context: CallContext, arguments: Any, _: RequestContext) -> ToolAnswer:
    scope = _scope(context, arguments)
    memory = _find_entry(context, arguments, scope, State.ACTIVE)
    memory = context.acting_as(arguments.caller_agent_id).forget(memory.id, scope=scope)
    return ToolAnswer(EntryResult(_entry(memory)), f"Deleted: {headline(memory)} of {memory.scope}.")


def _restore(context: CallContext, arguments: Any, _: RequestContext) -> ToolAnswer:
    scope = _scope(context, arguments)
    memory = _find_entry(context, arguments, scope, State.ARCHIVED)
    memory = context.acting_as(arguments.caller_agent_id).restore(memory.id, scope=scope)
    return ToolAnswer(EntryResult(_entry(memory)), f"Restored: {headline(memory)} of {memory.scope}.")


def _promote(context: CallContext, arguments: Any, _: RequestContext) -> ToolAnswer:
    scope = _scope(context, arguments)
    memory = _find_entry(context, arguments, scope, State.ACTIVE)
    memory = context.acting_as(arguments.caller_agent_id).promote(memory.id, scope=scope, to=Scope.everywhere())
    return ToolAnswer(EntryResult(_entry(memory)), f"Promoted: {headline(memory)} is now in the global layer.")


def _search(state: State) -> Callable[[CallContext, Any, RequestContext], ToolAnswer]:
    def run(context: CallContext, arguments: Any, _: RequestContext) -> ToolAnswer:
        scope = _scope(context, arguments)
        found = context.acting_as(arguments.caller_agent_id).retrieve(
            arguments.query, scope=scope, tags=arguments.tags, states=(state,), limit=arguments.limit
        )
        memories = [hit.memory for hit in found.hits]
        text = render_memories(memories, f"{len(memories)} of {found.total} entries of {scope}, best first.")
        return ToolAnswer(EntryList([_entry(memory) for memory in memories], found.total), text)

    return run


def _list_entries(state: State) -> Callable[[CallContext, Any, RequestContext], ToolAnswer]:
    def run(context: CallContext, arguments: Any, _: RequestContext) -> ToolAnswer:
        scope = _scope(context, arguments)
        page = context.acting_as(arguments.caller_agent_id).list(
            scope=scope, tags=arguments.tags, layers=scope.own_layers, states=(state,), limit=arguments.limit
        )
        lines = [
            f"{len(page.memories)} of {page.total} entries of {scope}, last changed first.",
            *map(headline, page.memories),
        ]
        return ToolAnswer(EntryList([_entry(memory) for memory in page.memories], page.total), "\n".join(lines))

    return run


def _summary(state: State) -> Callable[[CallContext, Any, RequestContext], ToolAnswer]:
    def run(context: CallContext, arguments: Any, _: RequestContext) -> ToolAnswer:
        scope = _scope(context, arguments)
        found = context.acting_as(arguments.caller_agent_id).summary(scope=scope, layers=scope.own_layers, states=(state,))
        numbers = LayerSummary(**serialize.summary(found))
        by_type = ", ".join(f"{type} {count}" for type, count in found.by_type.items())
        return ToolAnswer(numbers, f"{found.count} {state} entries in {scope}" + (f": {by_type}." if by_type else "."))

    return run


_PROJECT_TOOLS = (
    Tool(
        "save_to_memory",
        "Save to memory",
        "Save an entry of this project with a key; the same key updates it. For decisions with reasons, patterns, context.",
        ProjectSaveInput,
        SaveResult,
        _save,
        repeatable=True,
    ),
    Tool(
        "retrieve_from_memory",
        "Retrieve from memory",
        "Search this project's entries by words, or get those of a session or a type by its name.",
        ProjectSearchInput,
        EntryList,
        _search(State.ACTIVE),
        reads=True,
    ),
    Tool(
        "get_memory_entry",
        "Get an entry",
        "Get one entry of this project by its key.",
        ProjectKeyInput,
        EntryResult,
        _get,
        reads=True,
    ),
    Tool(
        "list_memory_entries",
        "List entries",
        "List this project's entries, last changed first.",
        ProjectListInput,
        EntryList,
        _list_entries(State.ACTIVE),
        reads=True,
    ),
    Tool(
        "delete_memory_entry",
        "Delete an entry",
        "Delete an entry of this project without archiving it. Owner and Admin only.",
        ProjectKeyInput,
        EntryResult,
        _delete,
        destroys=True,
    ),
    Tool(
        "get_memory_summary",
        "Summary",
        "Count this project's entries by type and tag.",
        ProjectSummaryInput,
        LayerSummary,
        _summary(State.ACTIVE),
        reads=True,
    ),
    Tool(
        "search_memory_archive",
        "Search the archive",
        "Search this project's archived entries, when an entry is no longer found.",
        ProjectSearchInput,
        EntryList,
        _search(State.ARCHIVED),
        reads=True,
    ),
    Tool(
        "list_memory_archive",
        "List the archive",
        "List this project's archived entries.",
        ProjectListInput,
        EntryList,
        _list_entries(State.ARCHIVED),
        reads=True,
    ),
    Tool(
        "restore_from_memory_archive",
        "Restore",
        "Restore an archived entry of this project. Owner and Admin only.",
        ProjectKeyInput,
        EntryResult,
        _restore,
    ),
    Tool(
        "get_memory_archive_summary",
        "Archive summary",
        "Count this project's archived entries by type and tag.",
        ProjectSummaryInput,
        LayerSummary,
        _summary(State.ARCHIVED),
        reads=True,
    ),
)

_GLOBAL_TOOLS = (
    Tool(
        "save_to_global_memory",
        "Save to global memory",
        "Save an entry for all projects with a key: preferences, conventions, lessons. When in doubt, use save_to_memory.",
        GlobalSaveInput,
        SaveResult,
        _save,
        repeatable=True,
    ),
    Tool(
        "retrieve_from_global_memory",
        "Retrieve from global memory",
        "Search the entries for all projects by words or type: `preferences` gives the user's preferences.",
        GlobalSearchInput,
        EntryList,
        _search(State.ACTIVE),
        reads=True,
    ),
    Tool(
        "list_global_memory_entries",
        "List global entries",
        "List the entries for all projects.",
        GlobalListInput,
        EntryList,
        _list_entries(State.ACTIVE),
        reads=True,
    ),
    Tool(
        "get_global_memory_summary",
        "Global summary",
        "Count the entries for all projects by type and tag.",
        GlobalSummaryInput,
        LayerSummary,
        _summary(State.ACTIVE),
        reads=True,
    ),
    Tool(
        "delete_global_memory_entry",
        "Delete a global entry",
        "Delete an entry for all projects without archiving it. Owner and Admin only.",
        GlobalKeyInput,
        EntryResult,
        _delete,
        destroys=True,
    ),
    Tool(
        "search_global_memory_archive",
        "Search the global archive",
        "Search the archived entries for all projects.",
        GlobalSearchInput,
        EntryList,
        _search(State.ARCHIVED),
        reads=True,
    ),
    Tool(
        "list_global_memory_archive",
        "List the global archive",
        "List the archived entries for all projects.",
        GlobalListInput,
        EntryList,
        _list_entries(State.ARCHIVED),
        reads=True,
    ),
    Tool(
        "restore_from_global_memory_archive",
        "Restore globally",
        "Restore an archived entry for all projects. Owner and Admin only.",
        GlobalKeyInput,
        EntryResult,
        _restore,
    ),
    Tool(
        "get_global_memory_archive_summary",
        "Global archive summary",
        "Count the archived entries for all projects by type and tag.",
        GlobalSummaryInput,
        LayerSummary,
        _summary(State.ARCHIVED),
        reads=True,
    ),
)

TOOLS = (
    *_PROJECT_TOOLS,
    *_GLOBAL_TOOLS,
    Tool(
        "promote_to_global_memory",
        "Promote",
        "Move an entry of this project to the global layer, if it is useful in every project. Owner and Admin only.",
        ProjectKeyInput,
        EntryResult,
        _promote,
    ),
)
