"""What else can be done with memories, for agents that look after them: offered with `--tools all`."""

from collections.abc import Callable
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from omoide.errors import InvalidInput
from omoide.formats.fence import one_line
from omoide.interfaces import wire
from omoide.interfaces.mcp.call import Call
from omoide.interfaces.mcp.desk import Desk
from omoide.interfaces.mcp.shapes import (
    Changed,
    Counted,
    Limit,
    Placed,
    Recalled,
    Ref,
    Rows,
    ToldState,
    changed,
    given,
    headline,
    passages,
    recalled,
    told_state,
)
from omoide.interfaces.mcp.tool import Answer, Tool
from omoide.interfaces.moments import moment
from omoide.model import Draft, Layer, LinkKind, Memory, Scope, State
from omoide.service import Service

_CHUNK = 100

Share = Annotated[float, Meta(ge=0, le=1)]


class Browse(Placed, kw_only=True):
    type: str | UnsetType = UNSET
    tags: tuple[str, ...] = ()
    state: State = State.ACTIVE
    scope: Layer | UnsetType = UNSET
    limit: Limit = 50
    offset: Annotated[int, Meta(ge=0, le=1_000_000)] = 0


class Name(Placed, kw_only=True):
    id: Ref


class Amend(Placed, kw_only=True):
    id: Ref
    active: bool | UnsetType = UNSET
    expires_at: Annotated[str, Meta(description="A date, a span such as 90d, or never")] | UnsetType = UNSET
    confidence: Share | UnsetType = UNSET
    relevance: Share | UnsetType = UNSET
    examples: tuple[str, ...] | UnsetType = UNSET
    source: str | UnsetType = UNSET
    source_run_id: str | int | UnsetType = UNSET
    if_version: Annotated[int, Meta(ge=1)] | None = None


class Past(Placed, kw_only=True):
    id: Ref | UnsetType = UNSET
    limit: Limit = 50


class Like(Placed, kw_only=True):
    id: Ref
    limit: Limit = 10


class Tie(Placed, kw_only=True):
    id: Ref
    kind: LinkKind
    other: Ref


class Note(Struct, kw_only=True, forbid_unknown_fields=True):
    content: str
    topic: str | UnsetType = UNSET
    type: str | UnsetType = UNSET
    tags: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    key: str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    source_run_id: str | int | UnsetType = UNSET


class Batch(Placed, kw_only=True):
    memories: Annotated[list[Note], Meta(min_length=1, max_length=10_000)]
    scope: Layer | UnsetType = UNSET


class Purge(Placed, kw_only=True):
    ids: Annotated[list[str], Meta(min_length=1, max_length=1_000)]


class Listed(Struct, frozen=True):
    memories: list[ToldState]
    total_count: int


class Shown(Struct, frozen=True):
    memory: dict[str, Any]
    links: list[dict[str, Any]]


def _acting(desk: Desk, asked: Placed, *, writing: bool = False) -> tuple[Service, Scope]:
    return desk.acting(asked.caller_agent_id), desk.scope(asked.project, asked.session, writing=writing)


def _list(desk: Desk, asked: Browse, _: Call) -> Answer:
    memory, scope = _acting(desk, asked)
    page = memory.list(
        scope=scope,
        type=given(asked.type),
        tags=asked.tags,
        layers=() if asked.scope is UNSET else (asked.scope,),
        states=(asked.state,),
        limit=asked.limit,
        offset=asked.offset,
    )
    lines = [f"{len(page.memories)} of {page.total} memories, last changed first.", *map(headline, page.memories)]
    return Answer(Listed([told_state(one) for one in page.memories], page.total), "\n".join(lines))


def _show(desk: Desk, asked: Name, _: Call) -> Answer:
    memory, scope = _acting(desk, asked)
    one = memory.show(asked.id, scope=scope)
    links = memory.links(asked.id, scope=scope)
    return Answer(Shown(wire.memory(one), [wire.link(link) for link in links]), passages([one], f"{wire.state(one)}."))


def _amend(desk: Desk, asked: Amend, _: Call) -> Answer:
    memory, scope = _acting(desk, asked)
    fields = {
        name: value
        for name in ("active", "confidence", "relevance", "examples", "source")
        if (value := getattr(asked, name)) is not UNSET
    }
    if asked.source_run_id is not UNSET:
        fields["source_run_id"] = str(asked.source_run_id) or None
    if asked.expires_at is not UNSET:
        never = asked.expires_at.strip().lower() == "never"
        fields["expires_at"] = None if never else moment(asked.expires_at, "expires_at", future=True)
    done = memory.revise(asked.id, scope=scope, if_version=asked.if_version, **fields)
    return Answer(changed(done), f"Amended: {headline(done)}, now at version {done.version}.")


def _history(desk: Desk, asked: Name, _: Call) -> Answer:
    memory, scope = _acting(desk, asked)
    versions = memory.history(asked.id, scope=scope)
    lines = [
        f"version {each.memory.version}, {wire.moment(each.memory.updated_at)}: {headline(each.memory)}" for each in versions
    ]
    return Answer(Rows([wire.version(each) for each in versions]), "\n".join(lines))


def _events(desk: Desk, asked: Past, _: Call) -> Answer:
    memory, scope = _acting(desk, asked)
    events = memory.events(given(asked.id), scope=scope, limit=asked.limit)
    lines = [
        one_line(f"{wire.moment(each.at)} {each.actor.name} ({each.actor.role}) {each.deed} #{each.memory_number}")
        for each in events
    ]
    return Answer(Rows([wire.event(each) for each in events]), "\n".join(lines) or "Nothing has happened yet.")


def _change(word: str, verb: Callable[..., Memory]) -> Callable[[Desk, Name, Call], Answer]:
    def run(desk: Desk, asked: Name, _: Call) -> Answer:
        memory, scope = _acting(desk, asked)
        done = verb(memory, asked.id, scope=scope)
        return Answer(changed(done), f"{word}: {headline(done)} in {done.scope}.")

    return run


def _similar(desk: Desk, asked: Like, _: Call) -> Answer:
    memory, scope = _acting(desk, asked)
    found = memory.similar(asked.id, scope=scope, limit=asked.limit)
    opening = "Most like it, best first." if found.hits else "Nothing is like it."
    return Answer(recalled(found.hits, found.total), passages([hit.memory for hit in found.hits], opening))


def _link(desk: Desk, asked: Tie, _: Call) -> Answer:
    memory, scope = _acting(desk, asked)
    done = memory.link(asked.id, asked.kind, asked.other, scope=scope)
    return Answer(Counted(int(done)), "Linked." if done else "They were linked already.")


def _unlink(desk: Desk, asked: Tie, _: Call) -> Answer:
    memory, scope = _acting(desk, asked)
    done = memory.unlink(asked.id, asked.kind, asked.other, scope=scope)
    return Answer(Counted(int(done)), "Unlinked." if done else "They were not linked.")


def _remember_many(desk: Desk, asked: Batch, call: Call) -> Answer:
    """A hundred at a time, so that progress can be told; a cancelled one keeps what was kept until then."""
    memory = desk.acting(asked.caller_agent_id)
    scope = desk.scope(asked.project, asked.session, asked.scope, writing=True)
    drafts = [
        Draft(
            note.content, scope, given(note.topic), given(note.type), note.tags, note.examples, given(note.key),
            given(note.source), source_run_id=None if note.source_run_id is UNSET else str(note.source_run_id),
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
    return Answer(Counted(total), f"{total} memories are kept in {scope}.")


def _purge(desk: Desk, asked: Purge, _: Call) -> Answer:
    memory, scope = _acting(desk, asked)
    done = memory.purge(asked.ids, scope=scope)
    return Answer(Counted(done), f"{done} memories are destroyed for good.")


TOOLS = (
    Tool("list", "List", "Page through memories, last changed first.", Browse, Listed, _list, reads=True),
    Tool("show", "Show", "One memory, whole: every field, and its links.", Name, Shown, _show, reads=True),
    Tool("similar", "Similar", "What is most like a memory, best first.", Like, Recalled, _similar, reads=True),
    Tool(
        "amend",
        "Amend",
        "Change what revise does not: whether a memory is active, its expiry, confidence, relevance, examples, source, run.",
        Amend,
        Changed,
        _amend,
        repeatable=True,
    ),
    Tool("history", "History", "Every version of a memory, oldest first.", Name, Rows, _history, reads=True),
    Tool("events", "Events", "What happened to a memory, or to all of them, newest first.", Past, Rows, _events, reads=True),
    Tool(
        "archive",
        "Archive",
        "Retire a memory: out of daily searches, found on request.",
        Name,
        Changed,
        _change("Archived", Service.archive),
        destroys=True,
        repeatable=True,
    ),
    Tool(
        "restore",
        "Restore",
        "Bring a forgotten, archived or inactive memory back.",
        Name,
        Changed,
        _change("Restored", Service.restore),
        repeatable=True,
    ),
    Tool(
        "pin",
        "Pin",
        "Pin a memory: always in resume, never retired.",
        Name,
        Changed,
        _change("Pinned", Service.pin),
        repeatable=True,
    ),
    Tool("unpin", "Unpin", "Take the pin off a memory.", Name, Changed, _change("Unpinned", Service.unpin), repeatable=True),
    Tool(
        "promote",
        "Promote",
        "Move a memory one layer up: session to project, project to global.",
        Name,
        Changed,
        _change("Promoted", Service.promote),
    ),
    Tool("link", "Link", "Say how one memory stands to another.", Tie, Counted, _link, repeatable=True),
    Tool("unlink", "Unlink", "Take a link away.", Tie, Counted, _unlink, destroys=True, repeatable=True),
    Tool(
        "remember_many",
        "Remember many",
        "Keep many memories in one call, such as when taking notes over from elsewhere.",
        Batch,
        Counted,
        _remember_many,
    ),
    Tool(
        "purge",
        "Purge",
        "Destroy forgotten memories and their history, for good. Only when the user asks for it.",
        Purge,
        Counted,
        _purge,
        destroys=True,
    ),
)
