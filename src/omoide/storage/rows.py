"""Memories as rows of a table, and queries as SQL conditions, shared by the SQL backends."""

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from operator import attrgetter
from typing import Any

import msgspec

from omoide.errors import StoreDamaged
from omoide.model import Actor, Memory, Query, Role, Scope, State, fields

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_EXACT = 4 * 10**15  # up to the year 2096, a float tells microseconds apart

STATES = (State.ACTIVE, State.INACTIVE, State.ARCHIVED, State.FORGOTTEN)
STATE_NUMBER = {state: number for number, state in enumerate(STATES)}
ACTIVE = STATE_NUMBER[State.ACTIVE]
FORGOTTEN = STATE_NUMBER[State.FORGOTTEN]

_COLUMN = {"scope": "m.session", "last_accessed_at": "a.last_accessed_at", "author": "w.name"}
"""The column of each field that is not called as the field. Of a scope and an author, more columns stand at the end."""
COLUMNS = ", ".join(
    [
        "m.number",
        *(_COLUMN.get(name, f"m.{name}") for name in Memory.__struct_fields__),
        *("coalesce(p.path, '')", "w.role", "w.via"),
    ]
)
"""What `memory_from_row` reads: the number, by which rows are paged, then the fields in the order of `Memory`."""
PLAIN = fields.names(
    lambda field: field.name != "number" and field.kind in ("count", "key", "type", "line", "run", "text", "share", "flag")
)
"""The fields that lie in a column of their own as they are."""
plain_values: Callable[[Memory], tuple[Any, ...]] = attrgetter(*PLAIN)
TABLES = "memories m LEFT JOIN projects p ON p.number = m.project LEFT JOIN accesses a ON a.memory = m.number"
TABLES += " LEFT JOIN actors w ON w.number = coalesce(m.author, m.actor)"

_strings = msgspec.json.Decoder(tuple[str, ...])
_encode = msgspec.json.Encoder().encode
_body = msgspec.json.Decoder(dict[str, Any])


def micros(moment: datetime) -> int:
    """Return a moment as microseconds since 1970."""
    return (moment - EPOCH) // _MICROSECOND


def moment(micros: int) -> datetime:
    """Return the moment so many microseconds after 1970."""
    # Every row has two or three: so the faster way, wherever it is exact.
    if -_EXACT < micros < _EXACT:
        return datetime.fromtimestamp(micros / 1_000_000, UTC)
    return EPOCH + timedelta(0, micros // 1_000_000, micros % 1_000_000)


def strings(values: Sequence[str]) -> str:
    """Return a list of texts as JSON."""
    return _encode(values).decode() if values else "[]"


texts: Callable[[str], tuple[str, ...]] = _strings.decode
"""Return the texts of a JSON list: the inverse of `strings`."""


def memory_from_row(row: Sequence[Any]) -> Memory:
    """Return the memory of a row of COLUMNS; raise StoreDamaged if it is none."""
    try:
        return _memory(row)
    except (TypeError, ValueError, LookupError, OverflowError) as error:
        # The tables are strict: only a damaged page holds such a row.
        raise StoreDamaged(f"the row of memory {row[0]} is damaged ({error}): run `omoide doctor`") from error


def _memory(row: Sequence[Any]) -> Memory:
    # Not formatted, because the order is what matters: that of COLUMNS and that of `Memory`, whose names as keywords would
    # take ten times as long.
    (
        _, id, number, session, key, type, topic, topic_given, content, tags, examples, source, confidence, relevance,
        reference_count, pinned, state, created_at, updated_at, accessed_at, expires_at, version, run, name, original_prompt,
        path, role, via,
    ) = row  # order of COLUMNS  # fmt: skip
    created = moment(created_at)
    return Memory(
        id, number, Scope(path, session), key, type, topic, bool(topic_given), content, _strings.decode(tags),
        _strings.decode(examples), source, confidence, relevance, reference_count, bool(pinned), STATES[state], created,
        created if updated_at == created_at else moment(updated_at), None if accessed_at is None else moment(accessed_at),
        None if expires_at is None else moment(expires_at), version, run,
        None if name is None else _author(name, role, via), original_prompt,
    )  # order of COLUMNS  # fmt: skip


@lru_cache
def _author(name: str, role: str, via: str) -> Actor:
    return Actor(name, Role(role), via)


def version_json(memory: Memory) -> str:
    """Return a past version as JSON for the versions table, without the fields that are no part of a version."""
    body = msgspec.structs.asdict(memory)
    for name in fields.UNVERSIONED:
        del body[name]
    return _encode(body).decode()


def version_from_json(present: Memory, version: int, body: str) -> Memory:
    """Return the past version of `present` that `version_json` made; its access time is not known."""
    unversioned = {name: getattr(present, name) for name in fields.UNVERSIONED}
    unversioned |= {"version": version, "last_accessed_at": None}
    return msgspec.convert({**_body.decode(body), **unversioned}, Memory)


EXPIRED = f"(m.state = {ACTIVE} AND m.expires_at IS NOT NULL AND m.expires_at <= :at)"
"""The state is active, but `expiry.listing` is inactive."""
CURRENT = f"(m.state = {ACTIVE} AND (m.expires_at IS NULL OR m.expires_at > :at))"
"""`expiry.is_current`."""
LISTING = f"CASE WHEN {EXPIRED} THEN {STATE_NUMBER[State.INACTIVE]} ELSE m.state END"
"""`expiry.listing`."""


def state_clauses(states: Collection[State]) -> list[str]:
    """Return the clauses, one for each state in the table, of which a memory in one of these listings fulfils one."""
    clauses: list[str] = []
    for state in STATES:
        if state is State.ACTIVE and (State.ACTIVE in states) is not (State.INACTIVE in states):
            clauses.append(CURRENT if State.ACTIVE in states else EXPIRED)
        elif state in states:
            clauses.append(f"m.state = {STATE_NUMBER[state]}")
    return clauses


def listing_clause(states: Collection[State]) -> str:
    """Return `expiry.listing` in SQL: the clause for memories in one of these listings at the moment `:at`."""
    return f"({' OR '.join(state_clauses(states)) or '0'})"


def conditions(query: Query, at: datetime) -> tuple[list[str], dict[str, Any]]:
    """Return the filters of a query as SQL clauses and their values, without its scope: backends number their projects."""
    clauses = [CURRENT if query.states == (State.ACTIVE,) else listing_clause(query.states)]
    values: dict[str, Any] = {"at": micros(at)}
    if len(query.types) == 1:  # the most frequent by far, and an equality keeps the order of an index
        clauses.append("m.type = :type")
        values["type"] = query.types[0]
    elif query.types:
        clauses.append("m.type IN (SELECT value FROM json_each(:types))")
        values["types"] = strings(query.types)
    if query.tags:
        clauses.append(
            "NOT EXISTS (SELECT 1 FROM json_each(:tags) w WHERE NOT EXISTS"
            " (SELECT 1 FROM json_each(m.tags) t WHERE folded(t.value) = w.value))"
        )
        values["tags"] = strings([tag.casefold() for tag in query.tags])
    if query.since is not None:
        clauses.append("m.updated_at >= :since")
        values["since"] = micros(query.since)
    if query.before is not None:
        clauses.append("(m.updated_at, m.number) < (:before_at, :before_number)")
        values["before_at"], values["before_number"] = micros(query.before[0]), query.before[1]
    if query.pinned:
        clauses.append("m.pinned = 1")
    if query.roles:
        clauses.append(
            "EXISTS (SELECT 1 FROM actors r WHERE r.number = coalesce(m.author, m.actor)"
            " AND r.role IN (SELECT value FROM json_each(:roles)))"
        )
        values["roles"] = strings(query.roles)
    return clauses, values
