"""JSON shapes of every value, and the one table from error to exit code: the same for all ways in."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from omoide.errors import InvalidInput, NotAllowed, OmoideError
from omoide.model import Event, Hit, Link, Memory, Remembered, Scope, Version

_encoder = msgspec.json.Encoder()


def dumped(value: object, *, indent: int = 2) -> str:
    text = _encoder.encode(value)
    return (msgspec.json.format(text, indent=indent) if indent else text).decode()


def moment(at: datetime | None) -> str | None:
    """ISO 8601 in UTC, as short as it can be without losing anything."""
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def scope(value: Scope) -> dict[str, Any]:
    return {"layer": value.layer.value, "project": value.path or None, "session": value.name or None}


def memory(value: Memory) -> dict[str, Any]:
    return {
        "id": value.id,
        "number": value.number,
        "scope": scope(value.scope),
        "key": value.key,
        "type": value.type,
        "topic": value.topic,
        "content": value.content,
        "tags": value.tags,
        "examples": value.examples,
        "source": value.source,
        "confidence": value.confidence,
        "relevance": value.relevance,
        "reference_count": value.reference_count,
        "pinned": value.pinned,
        "state": value.state.value,
        "created_at": moment(value.created_at),
        "updated_at": moment(value.updated_at),
        "last_accessed_at": moment(value.last_accessed_at),
        "expires_at": moment(value.expires_at),
        "version": value.version,
    }


def hit(value: Hit) -> dict[str, Any]:
    return {**memory(value.memory), "score": value.score, "why": value.why}


def remembered(value: Remembered) -> dict[str, Any]:
    return {
        "memory_id": value.memory.id,
        "action": value.action,
        "similar_count": value.similar_count,
        "memory": memory(value.memory),
    }


def event(value: Event) -> dict[str, Any]:
    return {
        "number": value.number,
        "at": moment(value.at),
        "deed": value.deed,
        "memory_number": value.memory_number,
        "memory_id": value.memory_id,
        "actor": {"name": value.actor.name, "role": value.actor.role.value, "via": value.actor.via},
        "detail": value.detail,
    }


def version(value: Version) -> dict[str, Any]:
    actor = value.actor
    return {**memory(value.memory), "actor": None if actor is None else {"name": actor.name, "via": actor.via}}


def link(value: Link) -> dict[str, Any]:
    return {
        "source": value.source,
        "kind": value.kind.value,
        "target": value.target,
        "created_at": moment(value.created_at),
    }


def exit_code(error: OmoideError) -> int:
    """2: the request was wrong, ask differently. 1: it was fine, but could not be done."""
    return 2 if isinstance(error, (InvalidInput, NotAllowed)) else 1
