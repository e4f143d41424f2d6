"""A record of a file, read as a memory or as the draft of one. Only an import needs it; `markdown.record` writes one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import msgspec

from omoide.errors import InvalidInput, Unreadable
from omoide.model import TYPES, Actor, Draft, Layer, Link, LinkKind, Memory, Role, Scope, State, derive_topic, fields

_HIGHEST_COUNT = 999_999_999
_LOWEST_COUNT = {"number": 1, "version": 1}


class ScopeRecord(msgspec.Struct, forbid_unknown_fields=True):
    layer: Layer | None = None
    project: str | None = None
    session: str | None = None


class LinkRecord(msgspec.Struct, forbid_unknown_fields=True):
    kind: LinkKind
    target: str
    created_at: str | None = None


class Record(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What a file may give of a memory. Only `content` is needed; with an `id` it is a memory, without one a draft."""

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
    source_run_id: str | int | None = None  # other programs number their runs
    confidence: float | None = None
    relevance: float | None = None
    reference_count: int | None = None
    pinned: bool | None = None
    original_prompt: str | None = None
    state: State | None = None
    created_at: str | None = None
    updated_at: str | None = None
    last_accessed_at: str | None = None
    expires_at: str | None = None
    version: int | None = None
    topic_given: bool | None = None
    links: list[LinkRecord] | None = None
    score: float | None = None  # what `recall --json` adds; it is not stored
    why: str | None = None
    reason: str | None = None  # why `list --json` calls an active memory inactive: it has expired


def to_memory_or_draft(record: Record, here: Scope, at: datetime) -> Memory | Draft:
    """Return the memory that a record is, or the draft of one if it has no id; what names no scope belongs `here`.

    Raises InvalidInput for a value that no memory can have. Rules of the settings are checked when it is stored.
    """
    return _draft(record, here) if record.id is None else _memory(record, here, at)


def to_links(record: Record, at: datetime) -> list[Link]:
    """Return the links that start from this record; one without a date was made at this moment."""
    source = str(record.id).lower()
    return [
        Link(source, link.kind, _id("target", link.target), _moment("created_at", link.created_at) or at)
        for link in record.links or ()
    ]


def _draft(record: Record, here: Scope) -> Draft:
    if record.links:
        raise InvalidInput("links need an id to start from: add an id, or take the links out")
    if record.state not in (None, State.ACTIVE) and not record.reason:
        raise InvalidInput(f"state is {record.state}, but there is no id: a new memory is active")
    values = _values(record, here, fields.DRAFT)
    if record.topic_given is False:
        values.pop("topic", None)
    return Draft(**values)


def _memory(record: Record, here: Scope, at: datetime) -> Memory:
    values = _values(record, here, fields.NAMES)
    derived = derive_topic(record.content)
    values["type"] = record.type or TYPES[0]
    values.setdefault("topic", derived)
    values.setdefault("topic_given", values["topic"] != derived)
    values["source"] = record.source or "import"
    values.setdefault("created_at", at)
    values.setdefault("updated_at", values["created_at"])
    if record.reason:
        values["state"] = State.ACTIVE
    return Memory(**fields.DEFAULTS | values)


def _values(record: Record, here: Scope, names: tuple[str, ...]) -> dict[str, Any]:
    """The values of those fields that the record gives; the scope always."""
    values: dict[str, Any] = {"scope": _scope(record.scope, here)}
    for name in names:
        value = _author(record) if name == "author" else getattr(record, name)
        if value is not None and name != "scope":
            parse = _PARSERS.get(fields.get(name).kind)
            values[name] = value if parse is None else parse(name, value)
    return values


def _author(record: Record) -> Actor | None:
    return None if not record.by or record.by_role is None else Actor(record.by, record.by_role, "import")


def _scope(given: ScopeRecord | None, here: Scope) -> Scope:
    if given is None or given == ScopeRecord():
        return here
    if given.session and not given.project:
        raise InvalidInput(f"scope: session {given.session!r} has no project: name it")
    if given.project is None:
        scope = Scope.everywhere()
    else:
        scope = Scope.session(given.project, given.session) if given.session else Scope.project(given.project)
    if given.layer not in (None, scope.layer):
        raise InvalidInput(f"scope: the layer is {given.layer}, but its project and session are of layer {scope.layer}")
    return scope


def _id(name: str, text: str) -> str:
    digits = text.lower().replace("-", "")
    if len(text) != 36 or len(digits) != 32 or digits.strip("0123456789abcdef") or text[8::5][:4] != "----":
        raise InvalidInput(f"{name} must be a UUID, got {text!r}: correct it, or leave it out")
    return text.lower()


def _count(name: str, value: int) -> int:
    lowest = _LOWEST_COUNT.get(name, 0)
    if not lowest <= value <= _HIGHEST_COUNT:
        raise InvalidInput(f"{name} must be a whole number from {lowest} to {_HIGHEST_COUNT:,}, got {value}")
    return value


def _moment(name: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{name} is {text!r}: write it like 2026-02-05T10:00:00Z") from None
    if at.tzinfo is None:
        raise InvalidInput(f"{name} is {text!r}, without a time zone: write it like 2026-02-05T10:00:00Z")
    return at.astimezone(UTC)


_PARSERS: dict[fields.Kind, Callable[[str, Any], Any]] = {
    "id": _id,
    "count": _count,
    "line": lambda _, value: str(value),
    "run": lambda _, value: str(value),
    "tags": lambda _, value: tuple(value),
    "texts": lambda _, value: tuple(value),
    "moment": _moment,
}
"""From what a record gives to the value of a field, by its kind; of other kinds both are the same."""


@contextmanager
def json_errors() -> Iterator[None]:
    """Raise Unreadable, with the field where one is known, for what the JSON decoder does not accept."""
    try:
        yield
    except msgspec.ValidationError as error:
        problem, _, field = str(error).partition(" - at `$")
        field = field.removeprefix("[...]").removeprefix(".").removesuffix("`")
        raise Unreadable(f"{field}: {problem}" if field else problem) from error
    except msgspec.DecodeError as error:
        raise Unreadable(f"this is not complete JSON: {error}") from error
    except UnicodeDecodeError as error:
        raise not_utf8(error) from error
    except RecursionError as error:
        raise Unreadable("this JSON is nested too deeply to be a memory") from error


def not_utf8(error: UnicodeDecodeError) -> Unreadable:
    """The error for a text in another encoding."""
    return Unreadable(f"the text is not UTF-8 (byte {error.object[error.start]:#04x}): save the file as UTF-8 first")
