"""A memory as a record: the one JSON shape that every interface shows and every export carries.

`transfer.row` reads it back.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

import msgspec

from omoide.compiled_patterns import load_pattern
from omoide.markdown.fence import one_line
from omoide.model import Actor, Link, Memory, Role, Scope, fields

_LONGEST_NAME = 60
_PLAIN_NAME = load_pattern(r"[\w.@:/+#-]+(?: [\w.@:/+#-]+)*")


def format_time(at: datetime | None) -> str | None:
    """Return a moment as ISO 8601 in UTC, as short as it can be without losing anything; None for None."""
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def scope(value: Scope) -> dict[str, Any]:
    """Return the record of a scope; None stands for a project or session that it does not have."""
    return {"layer": value.layer.value, "project": value.path or None, "session": value.name or None}


def author(value: Memory) -> str:
    """Return who wrote a memory as a text such as `agent-7, worker`; a name that could pass for more is quoted."""
    return "nobody yet" if value.author is None else actor(value.author)


def by_worker(author: Actor | None) -> str:
    """Return `by agent-7, worker` if a worker wrote something, for texts that name no other authors; else an empty text."""
    return f"by {actor(author)}" if author is not None and author.role is Role.WORKER else ""


def actor(value: Actor) -> str:
    """Return who acted as a text such as `agent-7, worker`; a name that could pass for more is quoted."""
    name = value.name
    return f"{plain_name(name) if len(name) <= _LONGEST_NAME else _quote(name[:_LONGEST_NAME])}, {value.role}"


def plain_name(text: str) -> str:
    """Return a name as it is, or quoted if it could pass for more than a name."""
    return text if _PLAIN_NAME.fullmatch(text) else _quote(text)


def _quote(name: str) -> str:
    return msgspec.json.encode(one_line(name)).decode()


_CONVERTERS: dict[fields.Kind, tuple[Callable[[Any], Any], ...]] = {
    "scope": (scope,),
    "state": (lambda state: state.value,),
    "moment": (format_time,),
    "actor": (
        lambda actor: None if actor is None else actor.name,
        lambda actor: None if actor is None else actor.role.value,
    ),
}
"""From the value of a field to that of each of its keys; of other kinds both are the same."""
_SHOWN = [(key, field.name) for field in fields.FIELDS if field.shown for key in field.record_keys]
_KEYS = [key for key, _ in _SHOWN]
_values = attrgetter(*(name for _, name in _SHOWN))
_CONVERTED = [
    (key, convert)
    for field in fields.FIELDS
    if field.shown and field.kind in _CONVERTERS
    for key, convert in zip(field.record_keys, _CONVERTERS[field.kind], strict=True)
]
_EXPORTED = [field.name for field in fields.FIELDS if not field.shown]


def memory(value: Memory) -> dict[str, Any]:
    """Return the record of a memory that every interface shows."""
    record = dict(zip(_KEYS, _values(value), strict=True))
    for key, convert in _CONVERTED:
        record[key] = convert(record[key])
    return record


def full_memory(value: Memory, links: Sequence[Link]) -> dict[str, Any]:
    """Return the record of an export: also whether the topic was given, and the links that start from the memory."""
    ordered = sorted(links, key=lambda link: (link.created_at, link.kind, link.target))
    return {
        **memory(value),
        **{name: getattr(value, name) for name in _EXPORTED},
        "links": [
            {"kind": link.kind.value, "target": link.target, "created_at": format_time(link.created_at)} for link in ordered
        ],
    }
