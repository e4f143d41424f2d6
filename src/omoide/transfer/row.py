"""A row of a file, read as a memory or as the draft of one. Apart from `record`, because only an import needs it."""

from datetime import UTC, datetime

import msgspec

from omoide.errors import InvalidInput
from omoide.model import TYPES, Actor, Draft, Layer, Link, LinkKind, Memory, Role, Scope, State, derive_topic

_NUMBERS = 999_999_999


class ScopeRecord(msgspec.Struct, forbid_unknown_fields=True):
    layer: Layer | None = None
    project: str | None = None
    session: str | None = None


class LinkRecord(msgspec.Struct, forbid_unknown_fields=True):
    kind: LinkKind
    target: str
    created_at: str | None = None


class Record(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What may stand in a file. Only `content` must; with an `id` it is a memory, without one a draft."""

    id: str | None = None
    number: int | None = None
    scope: ScopeRecord | None = None
    key: str | None = None
    type: str | None = None
    topic: str | None = None
    content: str
    tags: list[str] | None = None
    examples: list[str] | None = None
    source: str | None = None
    by: str | None = None
    by_role: Role | None = None
    source_run_id: str | int | None = None
    confidence: float | None = None
    relevance: float | None = None
    reference_count: int | None = None
    pinned: bool | None = None
    state: State | None = None
    created_at: str | None = None
    updated_at: str | None = None
    last_accessed_at: str | None = None
    expires_at: str | None = None
    version: int | None = None
    topic_given: bool | None = None
    links: list[LinkRecord] | None = None
    score: float | None = None  # what `recall --json` adds; nothing to keep
    why: str | None = None
    reason: str | None = None  # why `list --json` calls an active memory inactive: it has expired


def to_memory_or_draft(record: Record, here: Scope, at: datetime) -> Memory | Draft:
    """The memory that a record is, or the draft of one; what names no scope belongs `here`."""
    return _draft(record, here) if record.id is None else _memory(record, here, at)


def to_links(record: Record, at: datetime) -> list[Link]:
    """The links that start from this record."""
    return [
        Link(str(record.id).lower(), tie.kind, _id(tie.target, "target"), _parse_time(tie.created_at, "created_at") or at)
        for tie in record.links or ()
    ]


def _draft(record: Record, here: Scope) -> Draft:
    if record.links:
        raise InvalidInput("links need an id to start from: add an id, or take the links out")
    if record.state not in (None, State.ACTIVE) and not record.reason:
        raise InvalidInput(f"state is {record.state}, but it has no id: what is remembered anew is active")
    return Draft(
        content=record.content,
        scope=_scope(record.scope, here),
        topic=None if record.topic_given is False else record.topic,
        type=record.type,
        tags=record.tags or (),
        examples=record.examples or (),
        key=record.key,
        source=record.source,
        source_run_id=_run(record),
        confidence=record.confidence,
        relevance=record.relevance,
        pinned=record.pinned,
        expires_at=_parse_time(record.expires_at, "expires_at"),
        created_at=_parse_time(record.created_at, "created_at"),
    )


def _memory(record: Record, here: Scope, at: datetime) -> Memory:
    created = _parse_time(record.created_at, "created_at") or at
    derived = derive_topic(record.content)
    topic = derived if record.topic is None else record.topic
    return Memory(
        id=_id(str(record.id), "id"),
        number=_count(record.number, "number", 0, 1),
        scope=_scope(record.scope, here),
        key=record.key,
        type=record.type or TYPES[0],
        topic=topic,
        topic_given=topic != derived if record.topic_given is None else record.topic_given,
        content=record.content,
        tags=tuple(record.tags or ()),
        examples=tuple(record.examples or ()),
        source=record.source or "import",
        source_run_id=_run(record),
        confidence=1.0 if record.confidence is None else record.confidence,
        relevance=0.5 if record.relevance is None else record.relevance,
        reference_count=_count(record.reference_count, "reference_count", 0, 0),
        pinned=bool(record.pinned),
        state=State.ACTIVE if record.reason else record.state or State.ACTIVE,
        created_at=created,
        updated_at=_parse_time(record.updated_at, "updated_at") or created,
        last_accessed_at=_parse_time(record.last_accessed_at, "last_accessed_at"),
        expires_at=_parse_time(record.expires_at, "expires_at"),
        version=_count(record.version, "version", 1, 1),
        author=None if not record.by or record.by_role is None else Actor(record.by, record.by_role, "import"),
    )


def _run(record: Record) -> str | None:
    """Other programs number their runs."""
    return None if record.source_run_id is None else str(record.source_run_id)


def _scope(where: ScopeRecord | None, here: Scope) -> Scope:
    if where is None or where == ScopeRecord():
        return here
    if where.session and not where.project:
        raise InvalidInput(f"scope: session {where.session!r} has no project: name it")
    if where.project is None:
        made = Scope.everywhere()
    else:
        made = Scope.session(where.project, where.session) if where.session else Scope.project(where.project)
    if where.layer not in (None, made.layer):
        raise InvalidInput(f"scope: the layer is {where.layer}, but its project and session say {made.layer}")
    return made


def _id(text: str, what: str) -> str:
    digits = text.lower().replace("-", "")
    if len(text) != 36 or len(digits) != 32 or digits.strip("0123456789abcdef") or text[8::5][:4] != "----":
        raise InvalidInput(f"{what} is {text!r}: a UUID, please, or leave it out")
    return text.lower()


def _count(value: int | None, what: str, missing: int, least: int) -> int:
    if value is None:
        return missing
    if not least <= value <= _NUMBERS:
        raise InvalidInput(f"{what} is {value}: a whole number from {least} to {_NUMBERS:,}, please")
    return value


def _parse_time(text: str | None, what: str) -> datetime | None:
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{what} is {text!r}: write it like 2026-02-05T10:00:00Z") from None
    if at.tzinfo is None:
        raise InvalidInput(f"{what} is {text!r}, without a time zone: write it like 2026-02-05T10:00:00Z")
    return at.astimezone(UTC)
