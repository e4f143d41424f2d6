"""A memory as a record: the one JSON shape that every way in shows and every file carries. `row` is the way back."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from omoide.model import Link, Memory, Scope


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
        "source_run_id": value.source_run_id,
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


def whole(value: Memory, links: Sequence[Link]) -> dict[str, Any]:
    """The same, and what only a file needs: whether the topic was given, and the links that start here."""
    ordered = sorted(links, key=lambda link: (link.created_at, link.kind, link.target))
    return {
        **memory(value),
        "topic_given": value.topic_given,
        "links": [
            {"kind": link.kind.value, "target": link.target, "created_at": moment(link.created_at)} for link in ordered
        ],
    }
