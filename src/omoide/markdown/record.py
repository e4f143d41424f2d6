"""A memory as a record: the one JSON shape that every way in shows and every file carries. `row` is the way back."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from omoide.markdown.fence import one_line
from omoide.model import Link, Memory, Scope

_LONGEST_NAME = 60
_PLAIN_NAME = re.compile(r"[\w.@:/+#-]+(?: [\w.@:/+#-]+)*")


def format_time(at: datetime | None) -> str | None:
    """ISO 8601 in UTC, as short as it can be without losing anything."""
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def scope(value: Scope) -> dict[str, Any]:
    return {"layer": value.layer.value, "project": value.path or None, "session": value.name or None}


def author(value: Memory) -> str:
    """Who wrote a memory, in words: `agent-7, worker`. A name that could be taken for more than a name is quoted."""
    if value.author is None:
        return "nobody yet"
    name, role = value.author.name, value.author.role
    plain = len(name) <= _LONGEST_NAME and _PLAIN_NAME.fullmatch(name)
    return f"{name if plain else _quote(name[:_LONGEST_NAME])}, {role}"


def _quote(name: str) -> str:
    return msgspec.json.encode(one_line(name)).decode()


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
        "by": None if value.author is None else value.author.name,
        "by_role": None if value.author is None else value.author.role.value,
        "source_run_id": value.source_run_id,
        "confidence": value.confidence,
        "relevance": value.relevance,
        "reference_count": value.reference_count,
        "pinned": value.pinned,
        "state": value.state.value,
        "created_at": format_time(value.created_at),
        "updated_at": format_time(value.updated_at),
        "last_accessed_at": format_time(value.last_accessed_at),
        "expires_at": format_time(value.expires_at),
        "version": value.version,
    }


def full_memory(value: Memory, links: Sequence[Link]) -> dict[str, Any]:
    """The same, and what only a file needs: whether the topic was given, and the links that start here."""
    ordered = sorted(links, key=lambda link: (link.created_at, link.kind, link.target))
    return {
        **memory(value),
        "topic_given": value.topic_given,
        "links": [
            {"kind": link.kind.value, "target": link.target, "created_at": format_time(link.created_at)} for link in ordered
        ],
    }
