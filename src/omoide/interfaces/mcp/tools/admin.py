"""What else can be done with memories, for agents that look after them: offered with `--tools all`."""

from collections.abc import Callable
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from omoide.errors import InvalidInput
from omoide.interfaces import serialize
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.request import RequestContext
from omoide.interfaces.mcp.schemas import (
    ChangeResult,
    CountResult,
    Limit,
    RecallResult,
    Ref,
    RowsResult,
    ScopedInput,
    ToldState,
    change_result,
    headline,
    recall_result,
    render_memories,
    set_or_none,
    told_state,
)
from omoide.interfaces.mcp.tools.registry import Answer, Tool
from omoide.interfaces.time_input import parse_time
from omoide.markdown.fence import one_line
from omoide.model import Draft, Layer, LinkKind, Memory, Scope, State
from omoide.service import Service

_CHUNK = 100

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
    if_version: Annotated[int, Meta(ge=1)] | None = None


class HistoryInput(ScopedInput, kw_only=True):
    id: Ref | UnsetType = UNSET
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


class RememberManyInput(ScopedInput, kw_only=True):
    memories: Annotated[list[NoteInput], Meta(min_length=1, max_length=10_000)]
    scope: Layer | UnsetType = UNSET


class PurgeInput(ScopedInput, kw_only=True):
    ids: Annotated[list[str], Meta(min_length=1, max_length=1_000)]


class MemoryPage(Struct, frozen=True):
    memories: list[ToldState]
    total_count: int


class MemoryDetail(Struct, frozen=True):
    memory: dict[str, Any]
    links: list[dict[str, Any]]


def _service_and_scope(context: CallContext, asked: ScopedInput, *, writing: bool = False) -> tuple[Service, Scope]:
    return context.acting_as(asked.caller_agent_id), context.scope(asked.project, asked.session, writing=writing)


def _list(context: CallContext, asked: BrowseInput, _: RequestContext) -> Answer:
    memory, scope = _service_and_scope(context, asked)
    page = memory.list(
        scope=scope,
        type=set_or_none(asked.type),
        tags=asked.tags,
        layers=() if asked.scope is UNSET else (asked.scope,),
        states=(asked.state,),
        limit=asked.limit,
        offset=asked.offset,
    )
    lines = [f"{len(page.memories)} of {page.total} memories, last changed first.", *map(headline, page.memories)]
    return Answer(MemoryPage([told_state(one) for one in page.memories], page.total), "\n".join(lines))


def _show(context: CallContext, asked: IdInput, _: RequestContext) -> Answer:
    memory, scope = _service_and_scope(context, asked)
    one = memory.show(asked.id, scope=scope)
    links = memory.links(asked.id, scope=scope)
    return Answer(
        MemoryDetail(serialize.memory(one), [serialize.link(link) for link in links]),
        render_memories([one], f"{serialize.state(one)}."),
    )


def _amend(context: CallContext, asked: AmendInput, _: RequestContext) -> Answer:
    memory, scope = _service_and_scope(context, asked)
    fields = {
        name: value
        for name in ("active", "confidence", "relevance", "examples", "source")
        if (value := getattr(asked, name)) is not UNSET
    }
    if asked.source_run_id is not UNSET:
        fields["source_run_id"] = str(asked.source_run_id) or None
    if asked.expires_at is not UNSET:
        never = asked.expires_at.strip().lower() == "never"
        fields["expires_at"] = None if never else parse_time(asked.expires_at, "expires_at", future=True)
    done = memory.revise(asked.id, scope=scope, if_version=asked.if_version, **fields)
    return Answer(change_result(done), f"Amended: {headline(done)}, now at version {done.version}.")


def _history(context: CallContext, asked: IdInput, _: RequestContext) -> Answer:
    memory, scope = _service_and_scope(context, asked)
    versions = memory.history(asked.id, scope=scope)
    lines = [
        f"version {each.memory.version}, {serialize.format_time(each.memory.updated_at)}: {headline(each.memory)}"
        for each in versions
    ]
    return Answer(RowsResult([serialize.version(each) for each in versions]), "\n".join(lines))


def _events(context: CallContext, asked: HistoryInput, _: RequestContext) -> Answer:
    memory, scope = _service_and_scope(context, asked)
    events = memory.events(set_or_none(asked.id), scope=scope, limit=asked.limit)
    lines = [
        one_line(
            f"{serialize.format_time(each.at)} {each.actor.name} ({each.actor.role}) {each.action} #{each.memory_number}"
        )
        for each in events
    ]
    return Answer(RowsResult([serialize.event(each) for each in events]), "\n".join(lines) or "Nothing has happened yet.")


def _state_tool(word: str, verb: Callable[..., Memory]) -> Callable[[CallContext, IdInput, RequestContext], Answer]:
    def run(context: CallContext, asked: IdInput, _: RequestContext) -> Answer:
        memory, scope = _service_and_scope(context, asked)
        done = verb(memory, asked.id, scope=scope)
        return Answer(change_result(done), f"{word}: {headline(done)} in {done.scope}.")

    return run


def _similar(context: CallContext, asked: SimilarInput, _: RequestContext) -> Answer:
    memory, scope = _service_and_scope(context, asked)
    found = memory.similar(asked.id, scope=scope, limit=asked.limit)
    opening = "Most like it, best first." if found.hits else "Nothing is like it."
    return Answer(recall_result(found.hits, found.total), render_memories([hit.memory for hit in found.hits], opening))


def _link(context: CallContext, asked: LinkInput, _: RequestContext) -> Answer:
    memory, scope = _service_and_scope(context, asked)
    done = memory.link(asked.id, asked.kind, asked.other, scope=scope)
    return Answer(CountResult(int(done)), "Linked." if done else "They were linked already.")


def _unlink(context: CallContext, asked: LinkInput, _: RequestContext) -> Answer:
    memory, scope = _service_and_scope(context, asked)
    done = memory.unlink(asked.id, asked.kind, asked.other, scope=scope)
    return Answer(CountResult(int(done)), "Unlinked." if done else "They were not linked.")


def _remember_many(context: CallContext, asked: RememberManyInput, call: RequestContext) -> Answer:
    """A hundred at a time, so that progress can be told; a cancelled one keeps what was kept until then."""
    memory = context.acting_as(asked.caller_agent_id)
    scope = context.scope(asked.project, asked.session, asked.scope, writing=True)
    drafts = [
        Draft(
            note.content, scope, set_or_none(note.topic), set_or_none(note.type), note.tags, note.examples,
            set_or_none(note.key), set_or_none(note.source),
            source_run_id=None if note.source_run_id is UNSET else str(note.source_run_id),
        )
        for note in asked.memories
    ]  # fmt: skip
    total = len(drafts)
    for start in range(0, total, _CHUNK):
        call.progress(start, total, f"{start} of {total} kept")
        try:
            memory.remember_many(drafts[start : start + _CHUNK])
        except InvalidInput as error:
            raise type(error)(f"{start} of {total} are kept; then, counted from there, {error}") from error
    call.progress(total, total, f"{total} kept")
    return Answer(CountResult(total), f"{total} memories are kept in {scope}.")


def _purge(context: CallContext, asked: PurgeInput, _: RequestContext) -> Answer:
    memory, scope = _service_and_scope(context, asked)
    done = memory.purge(asked.ids, scope=scope)
    return Answer(CountResult(done), f"{done} memories are destroyed for good.")


TOOLS = (
    Tool("list", "List", "Page through memories, last changed first.", BrowseInput, MemoryPage, _list, reads=True),
    Tool("show", "Show", "One memory, whole: every field, and its links.", IdInput, MemoryDetail, _show, reads=True),
    Tool("similar", "Similar", "What is most like a memory, best first.", SimilarInput, RecallResult, _similar, reads=True),
    Tool(
        "amend",
        "Amend",
        "Change what revise does not: whether a memory is active, its expiry, confidence, relevance, examples, source, run.",
        AmendInput,
        ChangeResult,
        _amend,
        repeatable=True,
    ),
    Tool("history", "History", "Every version of a memory, oldest first.", IdInput, RowsResult, _history, reads=True),
    Tool(
        "events",
        "Events",
        "What happened to a memory, or to all of them, newest first.",
        HistoryInput,
        RowsResult,
        _events,
        reads=True,
    ),
    Tool(
        "archive",
        "Archive",
        "Retire a memory: out of daily searches, found on request.",
        IdInput,
        ChangeResult,
        _state_tool("Archived", Service.archive),
        destroys=True,
        repeatable=True,
    ),
    Tool(
        "restore",
        "Restore",
        "Bring a forgotten, archived or inactive memory back.",
        IdInput,
        ChangeResult,
        _state_tool("Restored", Service.restore),
        repeatable=True,
    ),
    Tool(
        "pin",
        "Pin",
        "Pin a memory: always in resume, never retired.",
        IdInput,
        ChangeResult,
        _state_tool("Pinned", Service.pin),
        repeatable=True,
    ),
    Tool(
        "unpin",
        "Unpin",
        "Take the pin off a memory.",
        IdInput,
        ChangeResult,
        _state_tool("Unpinned", Service.unpin),
        repeatable=True,
    ),
    Tool(
        "promote",
        "Promote",
        "Move a memory one layer up: session to project, project to global.",
        IdInput,
        ChangeResult,
        _state_tool("Promoted", Service.promote),
    ),
    Tool("link", "Link", "Say how one memory stands to another.", LinkInput, CountResult, _link, repeatable=True),
    Tool("unlink", "Unlink", "Take a link away.", LinkInput, CountResult, _unlink, destroys=True, repeatable=True),
    Tool(
        "remember_many",
        "Remember many",
        "Keep many memories in one call, such as when taking notes over from elsewhere.",
        RememberManyInput,
        CountResult,
        _remember_many,
    ),
    Tool(
        "purge",
        "Purge",
        "Destroy forgotten memories and their history, for good. Only when the user asks for it.",
        PurgeInput,
        CountResult,
        _purge,
        destroys=True,
    ),
)
