"""Import the database of hail-mary's Memory MCP: one table `memories`, with comma-separated tags and examples as JSON."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from omoide import model
from omoide.errors import Conflict, InvalidInput
from omoide.model import Memory, Scope, State, fields
from omoide.service import Service

TABLE = "memories"
COLUMNS = (
    *("id", "type", "topic", "tags", "content", "examples", "reference_count", "confidence", "created_at", "last_accessed"),
    *("source", "deleted"),
)
DESCRIPTION = "a memory database of hail-mary"
_SOURCE = "hail-mary"
"""The source of a memory whose row names none."""


def import_rows(
    service: Service, rows: Sequence[Mapping[str, Any]], *, name: str, here: Scope, dry_run: bool
) -> Mapping[str, int]:
    """Import the rows of the table into a scope, all of them or none, and return the counts of `Service.import_memories`.

    Ids, dates, counts and deleted rows (as forgotten memories) are kept, so that a second import adds only what is new. An
    error names the file by `name` and the row.
    """
    place = 0

    def watch(index: int) -> None:
        nonlocal place
        place = index + 1

    try:
        memories = []
        for index, row in enumerate(rows):
            watch(index)
            memories.append(_memory(row, here))
        return service.import_memories(memories, dry_run=dry_run, watch=watch)
    except (InvalidInput, Conflict) as error:
        where = f"{name}, row {place}" if place else name
        raise type(error)(f"{where}: {error}") from error


def _memory(row: Mapping[str, Any], here: Scope) -> Memory:
    created = _moment(row, "created_at") or model.now()
    values = {
        "id": _id(_text(row, "id")),
        "scope": here,
        "type": _text(row, "type"),
        "topic": _text(row, "topic"),
        "topic_given": True,
        "content": _text(row, "content"),
        "tags": _tags(row["tags"]),
        "examples": _examples(row["examples"]),
        "source": row["source"] or _SOURCE,
        "confidence": 1.0 if row["confidence"] is None else row["confidence"],
        "reference_count": row["reference_count"] or 0,
        "state": State.FORGOTTEN if row["deleted"] else State.ACTIVE,
        "created_at": created,
        "updated_at": created,
        "last_accessed_at": _moment(row, "last_accessed"),
    }
    return Memory(**fields.DEFAULTS | values)


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row[name]
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text, got {value!r:.100}")
    return value


def _id(text: str) -> str:
    """The id of the row if it is a UUID, else one that the same row always gets."""
    import uuid  # lazy: only this import needs it

    try:
        return str(uuid.UUID(text)) if len(text) == 36 else str(uuid.uuid5(uuid.NAMESPACE_OID, f"hail-mary:{text}"))
    except ValueError:  # fallback: an id made of the text
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"hail-mary:{text}"))


def _tags(value: Any) -> tuple[str, ...]:
    """The tags of a row: `rust,async,tokio`."""
    return tuple(tag for part in str(value or "").split(",") if (tag := part.strip()))


def _examples(value: Any) -> tuple[str, ...]:
    """The examples of a row: a JSON list of texts."""
    if not value:
        return ()
    try:
        return tuple(msgspec.json.decode(value, type=list[str]))
    except (msgspec.DecodeError, TypeError) as error:
        raise InvalidInput(f"examples must be a JSON list of texts, got {value!r:.100}") from error


def _moment(row: Mapping[str, Any], name: str) -> datetime | None:
    """A time in seconds since 1970; None if there is none."""
    value = row[name]
    if value is None:
        return None
    try:
        return datetime.fromtimestamp(value, UTC)
    except (TypeError, ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"{name} must be a time in seconds since 1970, got {value!r:.100}") from error
