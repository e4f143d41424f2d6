"""Further tools on memories, for agents that maintain them: offered with `--tools all`."""

from collections.abc import Callable
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from omoide.interfaces import serialize
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.request import RequestContext
from omoide.interfaces.mcp.schemas import (
    ChangeResult,
    CountResult,
    Limit,
    ListedMemoryResult,
    RecallResult,
    Ref,
    RowsResult,
    ScopedInput,
    change_result,
    given_fields,
    headline,
    listed_memory_result,
    recall_result,
    render_memories,
    set_or_none,
)
from omoide.interfaces.mcp.tools.registry import Tool, ToolAnswer
from omoide.interfaces.time_input import parse_time
from omoide.markdown.fence import one_line
from omoide.model import Draft, Event, Layer, LinkKind, Memory, Scope, State, fields
from omoide.service import Service
from omoide.service.memories import remember_in_batches

Share = Annotated[float, Meta(ge=0, le=1)]


class BrowseInput(ScopedInput, kw_only=True):
    type: str | UnsetType = UNSET
    tags: tuple[str, ...] = ()
    state: State = State.ACTIVE
    scope: Layer | UnsetType = UNSET
    limit: Limit = 50
    offset: Annotated[int, Meta(ge=0, le=1_000_000)] = 0


class IdInput(ScopedInput, kw_only=True):
    id: Ref


class AmendInput(ScopedInput, kw_only=True):
    id: Ref
    active: bool | UnsetType = UNSET
    expires_at: Annotated[str, Meta(description="A date, a span such as 90d, or never")] | UnsetType = UNSET
    confidence: Share | UnsetType = UNSET
    relevance: Share | UnsetType = UNSET
    examples: tuple[str, ...] | UnsetType = UNSET
    source: str | UnsetType = UNSET
    source_run_id: str | int | UnsetType = UNSET
    original_prompt: str | UnsetType = UNSET
    if_version: Annotated[int, Meta(ge=1)] | None = None


class HistoryInput(ScopedInput, kw_only=True):
    id: Ref | UnsetType = UNSET
    source: Annotated[str, Meta(description="slack, slack:C123, github:owner/name#12, cli, agent, file")] | UnsetType = UNSET
    limit: Limit = 50


class SimilarInput(ScopedInput, kw_only=True):
    id: Ref
    limit: Limit = 10


class LinkInput(ScopedInput, kw_only=True):
    id: Ref
    kind: LinkKind
    other: Ref


class NoteInput(Struct, kw_only=True, forbid_unknown_fields=True):
    content: str
    topic: str | UnsetType = UNSET
    type: str | UnsetType = UNSET
    tags: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    key: str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    source_run_id: str | int | UnsetType = UNSET
    pin: bool | UnsetType = UNSET
    confidence: Share | UnsetType = UNSET
    relevance: Share | UnsetType = UNSET
    expires_at: Annotated[str, Meta(description="A date, or a span such as 90d")] | UnsetType = UNSET
    original_prompt: str | UnsetType = UNSET


class RememberManyInput(ScopedInput, kw_only=True):
    memories: Annotated[list[NoteInput], Meta(min_length=1, max_length=10_000)]
    scope: Layer | UnsetType = UNSET


class PurgeInput(ScopedInput, kw_only=True):
    ids: Annotated[list[str], Meta(min_length=1, max_length=1_000)]
    everywhere: Annotated[
        bool, Meta(description="Also remove them from the backups, archives and mirrored files that omoide made.")
    ] = False


class PurgeResult(Struct, frozen=True):
    count: int
    copies: list[dict[str, str]]
    """Copies that hold the memories, or from which they were removed: path, kind, state and reason."""
    unreachable: list[str]
    """Places that omoide cannot change, and what to do."""


class ListResult(Struct, frozen=True):
    memories: list[ListedMemoryResult]
    total_count: int


class ShowResult(Struct, frozen=True):
    memory: dict[str, Any]
    links: list[dict[str, Any]]


def _service_and_scope(context: CallContext, arguments: ScopedInput, *, writing: bool = False) -> tuple[Service, Scope]:
    return context.acting_as(arguments.caller_agent_id), context.scope(arguments.project, arguments.session, writing=writing)


def _list(context: CallContext, arguments: BrowseInput, _: RequestContext) -> ToolAnswer:
    service, scope = _service_and_scope(context, arguments)
    page = service.list(
        scope=scope,
        type=set_or_none(arguments.type),
        tags=arguments.tags,
        layers=() if arguments.scope is UNSET else (arguments.scope,),
        states=(arguments.state,),
        limit=arguments.limit,
        offset=arguments.offset,
    )
    lines = [f"{len(page.memories)} of {page.total} memories, last changed first.", *map(headline, page.memories)]
    return ToolAnswer(ListResult([listed_memory_result(memory) for memory in page.memories], page.total), "\n".join(lines))


def _show(context: CallContext, arguments: IdInput, _: RequestContext) -> ToolAnswer:
    service, scope = _service_and_scope(context, arguments)
    memory = service.show(arguments.id, scope=scope)
    links = service.links(arguments.id, scope=scope)
    return ToolAnswer(
        ShowResult(serialize.memory(memory), [serialize.link(link) for link in links]),
        render_memories([memory], f"{serialize.state(memory)}."),
    )


def _amend(context: CallContext, arguments: AmendInput, _: RequestContext) -> ToolAnswer:
    service, scope = _service_and_scope(context, arguments)
    given = given_fields(arguments, [name for name in fields.REVISABLE if name != "expires_at"])
    given = {name: None if value == "" and fields.get(name).optional else value for name, value in given.items()}
    if arguments.expires_at is not UNSET:
        never = arguments.expires_at.strip().lower() == "never"
        given["expires_at"] = None if never else parse_time(arguments.expires_at, "expires_at", future=True)
    memory = service.revise(arguments.id, scope=scope, if_version=arguments.if_version, active=arguments.active, **given)
    return ToolAnswer(change_result(memory), f"Amended: {headline(memory)}, now at version {memory.version}.")


def _history(context: CallContext, arguments: IdInput, _: RequestContext) -> ToolAnswer:
    service, scope = _service_and_scope(context, arguments)
    versions = service.history(arguments.id, scope=scope)
    lines = [
        f"version {version.memory.version}, {serialize.format_time(version.memory.updated_at)}: {headline(version.memory)}"
        for version in versions
    ]
    return ToolAnswer(RowsResult([serialize.version(version) for version in versions]), "\n".join(lines))


def _event_line(event: Event) -> str:
    number = "" if event.memory_number is None else f" #{event.memory_number}"
    done = f"{event.action}{number} by {serialize.actor(event.actor)} from {serialize.plain_name(str(event.source))}"
    return one_line(f"{serialize.format_time(event.at)} {done}")


def _events(context: CallContext, arguments: HistoryInput, _: RequestContext) -> ToolAnswer:
    service, scope = _service_and_scope(context, arguments)
    events = service.events(
        set_or_none(arguments.id), scope=scope, source=set_or_none(arguments.source), limit=arguments.limit
    )
    lines = [_event_line(event) for event in events]
    return ToolAnswer(
        RowsResult([serialize.event(event) for event in events]), "\n".join(lines) or "There are no events yet."
    )


def _state_tool(word: str, change: Callable[..., Memory]) -> Callable[[CallContext, IdInput, RequestContext], ToolAnswer]:
    def run(context: CallContext, arguments: IdInput, _: RequestContext) -> ToolAnswer:
        service, scope = _service_and_scope(context, arguments)
        memory = change(service, arguments.id, scope=scope)
        return ToolAnswer(change_result(memory), f"{word}: {headline(memory)} in {memory.scope}.")

    return run


def _similar(context: CallContext, arguments: SimilarInput, _: RequestContext) -> ToolAnswer:
    service, scope = _service_and_scope(context, arguments)
    found = service.similar(arguments.id, scope=scope, limit=arguments.limit)
    first_line = "The most similar memories, best first." if found.hits else "There are no similar memories."
    return ToolAnswer(
        recall_result(found.hits, found.total), render_memories([hit.memory for hit in found.hits], first_line)
    )


def _link(context: CallContext, arguments: LinkInput, _: RequestContext) -> ToolAnswer:
    service, scope = _service_and_scope(context, arguments)
    is_new = service.link(arguments.id, arguments.kind, arguments.other, scope=scope).is_new
    return ToolAnswer(CountResult(int(is_new)), "Linked." if is_new else "They were already linked.")


def _unlink(context: CallContext, arguments: LinkInput, _: RequestContext) -> ToolAnswer:
    service, scope = _service_and_scope(context, arguments)
    was_linked = service.unlink(arguments.id, arguments.kind, arguments.other, scope=scope)
    return ToolAnswer(CountResult(int(was_linked)), "Unlinked." if was_linked else "They were not linked.")


def _draft(note: NoteInput, scope: Scope) -> Draft:
    return Draft(**given_fields(note, fields.DRAFT), scope=scope)


def _remember_many(context: CallContext, arguments: RememberManyInput, call: RequestContext) -> ToolAnswer:
    """Store in batches, to report progress; if the client cancels, what was stored so far stays."""
    service = context.acting_as(arguments.caller_agent_id)
    scope = context.scope(arguments.project, arguments.session, arguments.scope, writing=True)
    drafts = [_draft(note, scope) for note in arguments.memories]
    total = len(drafts)

    def report(stored: int) -> None:
        call.progress(stored, total, f"{stored} of {total} stored" if stored < total else f"{total} stored")

    remember_in_batches(service, drafts, report)
    return ToolAnswer(CountResult(total), f"Stored {total} memories in {scope}.")


def _purge(context: CallContext, arguments: PurgeInput, _: RequestContext) -> ToolAnswer:
    service, scope = _service_and_scope(context, arguments)
    report = service.purge(arguments.ids, scope=scope, everywhere=arguments.everywhere)
    lines = [f"Erased {report.purged} memories permanently."]
    lines += [f"{one.kind} {one.path}: {one.state}{f' ({one.reason})' if one.reason else ''}" for one in report.copies]
    lines += [f"Out of reach: {place}" for place in report.unreachable]
    copies = [serialize.copy(one) for one in report.copies]
    return ToolAnswer(PurgeResult(report.purged, copies, list(report.unreachable)), "\n".join(lines))


TOOLS = (
    Tool("list", "List", "List memories page by page, last changed first.", BrowseInput, ListResult, _list, reads=True),
    Tool("show", "Show", "Show one memory in full: every field, and its links.", IdInput, ShowResult, _show, reads=True),
    Tool(
        "similar",
        "Similar",
        "Find the memories most similar to one, best first.",
        SimilarInput,
        RecallResult,
        _similar,
        reads=True,
    ),
    Tool(
        "amend",
        "Amend",
        "Change what revise does not: active, expires_at, confidence, relevance, examples, source, source_run_id,"
        " original_prompt.",
        AmendInput,
        ChangeResult,
        _amend,
        repeatable=True,
    ),
    Tool("history", "History", "List every version of a memory, oldest first.", IdInput, RowsResult, _history, reads=True),
    Tool(
        "events",
        "Events",
        "List what happened to one memory, or to all, newest first.",
        HistoryInput,
        RowsResult,
        _events,
        reads=True,
    ),
    Tool(
        "archive",
        "Archive",
        "Archive a memory: recall finds it only with archived=true.",
        IdInput,
        ChangeResult,
        _state_tool("Archived", Service.archive),
        destroys=True,
        repeatable=True,
    ),
    Tool(
        "restore",
        "Restore",
        "Restore a forgotten, archived or inactive memory.",
        IdInput,
        ChangeResult,
        _state_tool("Restored", Service.restore),
        repeatable=True,
    ),
    Tool(
        "pin",
        "Pin",
        "Pin a memory: resume always shows it, and it is never archived automatically.",
        IdInput,
        ChangeResult,
        _state_tool("Pinned", Service.pin),
        repeatable=True,
    ),
    Tool(
        "unpin",
        "Unpin",
        "Unpin a memory.",
        IdInput,
        ChangeResult,
        _state_tool("Unpinned", Service.unpin),
        repeatable=True,
    ),
    Tool(
        "promote",
        "Promote",
        "Move a memory one layer up: from session to project, or from project to global.",
        IdInput,
        ChangeResult,
        _state_tool("Promoted", Service.promote),
    ),
    Tool(
        "link",
        "Link",
        "Link two memories: id relates to, supersedes, contradicts or is derived from other.",
        LinkInput,
        CountResult,
        _link,
        repeatable=True,
    ),
    Tool(
        "unlink",
        "Unlink",
        "Remove a link between two memories.",
        LinkInput,
        CountResult,
        _unlink,
        destroys=True,
        repeatable=True,
    ),
    Tool(
        "remember_many",
        "Remember many",
        "Store many memories in one call, such as notes imported from elsewhere.",
        RememberManyInput,
        CountResult,
        _remember_many,
    ),
    Tool(
        "purge",
        "Purge",
        "Erase forgotten memories and their history permanently. Only when the user asks for it.",
        PurgeInput,
        PurgeResult,
        _purge,
        destroys=True,
    ),
)
