"""Events on SQLite: what happened, in order."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from omoide.model import Actor, Event, Scope, Source, actor_source, parse_source
from omoide.storage.rows import micros, moment
from omoide.storage.sqlite.cache import NumberReader

_EVENT_SOURCE = "coalesce(e.source, CASE a.via WHEN 'cli' THEN 'cli' WHEN 'file' THEN 'file' ELSE 'agent:' || a.name END)"
"""`model.source.actor_source`, where an event names no source."""


class SqliteEventReader(NumberReader):
    """The part of `SqliteReader` that is about events."""

    def events(
        self, scope: Scope | None, number: int | None, since: datetime | None, limit: int, source: Source | None = None
    ) -> list[Event]:
        clauses, values = self._event_clauses(scope)
        if number is not None:
            clauses.append("e.memory = :memory")
            values["memory"] = number
        if since is not None:
            clauses.append("e.at >= :since")
            values["since"] = micros(since)
        if source is not None:  # `model.source.is_within`
            clauses.append(
                f"({_EVENT_SOURCE} = :source OR substr({_EVENT_SOURCE}, 1, length(:source) + 1)"
                " IN (:source || ':', :source || '/', :source || '#'))"
            )
            values["source"] = str(source)
        return self._events(f"{' AND '.join(clauses)} ORDER BY e.number DESC LIMIT :limit", {**values, "limit": limit})

    def events_after(self, event: int, scope: Scope | None, limit: int) -> list[Event]:
        clauses, values = self._event_clauses(scope)
        where = " AND ".join([*clauses, "e.number > :after"])
        return self._events(f"{where} ORDER BY e.number LIMIT :limit", {**values, "after": event, "limit": limit})

    def _event_clauses(self, scope: Scope | None) -> tuple[list[str], dict[str, Any]]:
        if scope is None:
            return ["1"], {}
        return ["e.project IN (0, :project)"], {"project": self._project(scope.path) or 0}

    def _events(self, where: str, values: Mapping[str, Any]) -> list[Event]:
        rows = self._tx.rows(
            "SELECT e.number, e.at, e.action, e.memory, m.id, e.detail, a.name, a.role, a.via, e.source,"
            " coalesce(p.path, '') FROM events e JOIN actors a ON a.number = e.actor"
            " LEFT JOIN memories m ON m.number = e.memory LEFT JOIN projects p ON p.number = e.project"
            f" WHERE {where}",
            values,
        )
        return [
            Event(
                row[0],
                moment(row[1]),
                row[2],
                actor,
                _source(row[9], actor),
                row[4],
                row[3] or None,
                _detail(row[5]),
                row[10],
            )
            for row in rows
            for actor in [read_actor(row[6:9])]
        ]


def read_actor(row: Any) -> Actor:
    """Return the actor of a row of name, role and interface; raise ValidationError if there is none."""
    return msgspec.convert(dict(zip(("name", "role", "via"), row or (), strict=False)), Actor)


def _source(text: str | None, actor: Actor) -> Source:
    return (parse_source(text) if text else None) or actor_source(actor)


def _detail(text: str | None) -> dict[str, object]:
    return msgspec.json.decode(text, type=dict[str, object]) if text else {}
