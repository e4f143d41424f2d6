"""Events and statistics."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta

from omoide.interfaces.rest import values
from omoide.interfaces.rest.routing import Answer, Call, NoQuery, route
from omoide.model import Event

EVENT = {
    "id": 12,
    "at": "2026-02-05T10:00:00Z",
    "action": "remembered",
    "project": "shop",
    "memoryId": 1,
    "actor": "owner",
    "role": "owner",
    "via": "rest",
    "source": "agent:owner",
    "detail": {},
}


class EventAnswer(values.Output, frozen=True):
    """Something that happened."""

    id: int
    """Rises with every event."""
    at: values.Time
    action: str
    project: str | None
    """The path of the project; null: the global layer."""
    memory_id: int | None
    actor: str
    role: str
    via: str
    source: str
    detail: dict[str, Any]


class EventList(values.Output, frozen=True):
    """What happened, newest first."""

    events: list[EventAnswer]


class EventFilter(values.Input, frozen=True):
    """Which events to list."""

    memory_id: Annotated[int, Meta(ge=1)] | None = None
    since: datetime | None = None
    limit: values.Limit = 50


def show_event(value: Event) -> EventAnswer:
    """Return the answer for an event."""
    return EventAnswer(
        id=value.number,
        at=value.at,
        action=value.action,
        project=value.project or None,
        memory_id=value.memory_number,
        actor=value.actor.name,
        role=value.actor.role.value,
        via=value.actor.via,
        source=str(value.source),
        detail=value.detail,
    )


class SummaryAnswer(values.Output, frozen=True):
    """The active memories of a project in numbers."""

    count: int
    by_type: dict[str, int]
    by_tag: dict[str, int]
    oldest: values.Time | None
    newest: values.Time | None
    bytes: int


class StatsAnswer(values.Output, frozen=True):
    """The whole store in numbers."""

    count: int
    by_state: dict[str, int]
    by_type: dict[str, int]
    by_project: dict[str, int]
    bytes: int
    newest_change: values.Time | None


@route(
    "GET",
    "/api/projects/{projectId}/events",
    "listEvents",
    query=EventFilter,
    answer=EventList,
    example={"events": [EVENT]},
)
def list_events(call: Call[EventFilter, None]) -> Answer:
    """List what happened to the memories that a project sees, newest first."""
    asked = call.query
    ref = None if asked.memory_id is None else f"#{asked.memory_id}"
    events = call.service.events(ref, scope=call.scope, since=asked.since, limit=asked.limit)
    return Answer(EventList(events=[show_event(each) for each in events]))


@route(
    "GET",
    "/api/projects/{projectId}/stats",
    "getProjectStats",
    answer=SummaryAnswer,
    example={
        "count": 1,
        "byType": {"pattern": 1},
        "byTag": {"build": 1},
        "oldest": "2026-02-05T10:00:00Z",
        "newest": "2026-02-05T10:00:00Z",
        "bytes": 52,
    },
)
def get_project_stats(call: Call[NoQuery, None]) -> Answer:
    """Count the active memories that a project sees, by type and tag."""
    found = call.service.summary(scope=call.scope)
    return Answer(
        SummaryAnswer(
            count=found.count,
            by_type=found.by_type,
            by_tag=found.by_tag,
            oldest=found.oldest,
            newest=found.newest,
            bytes=found.bytes,
        )
    )


@route(
    "GET",
    "/api/stats",
    "getStats",
    answer=StatsAnswer,
    example={
        "count": 1,
        "byState": {"active": 1, "inactive": 0, "archived": 0, "forgotten": 0},
        "byType": {"pattern": 1},
        "byProject": {"shop": 1},
        "bytes": 204800,
        "newestChange": "2026-02-05T10:00:00Z",
    },
)
def get_stats(call: Call[NoQuery, None]) -> Answer:
    """Count the memories of the whole store.

    Only for the owner and admins, with a token that is not restricted to projects."""
    found = call.service.stats()
    return Answer(
        StatsAnswer(
            count=found.count,
            by_state=found.by_state,
            by_type=found.by_type,
            by_project=found.by_project,
            bytes=found.bytes,
            newest_change=found.newest_change,
        )
    )
