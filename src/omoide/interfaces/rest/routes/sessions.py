"""Sessions of a project."""

from urllib.parse import quote

from omoide.interfaces.rest import values
from omoide.interfaces.rest.routing import Answer, Call, NoQuery, route
from omoide.model import Scope, Session

_PATH = "/api/projects/{projectId}/sessions"
_SESSION = {
    "name": "monday",
    "projectId": 1,
    "source": "slack:C123",
    "createdAt": "2026-02-05T10:00:00Z",
    "updatedAt": "2026-02-05T10:00:00Z",
    "memoryCount": 3,
}


class SessionAnswer(values.Output, frozen=True):
    """A session of a project."""

    name: str
    project_id: int
    source: str
    created_at: values.Time
    updated_at: values.Time
    memory_count: int


class SessionList(values.Output, frozen=True):
    """The sessions of a project, last changed first."""

    sessions: list[SessionAnswer]


class NewSession(values.Input, frozen=True):
    """A session to start."""

    name: values.Name | None = None
    """By default the local time."""
    source: values.Line | None = None


def _show_session(value: Session, project_id: int) -> SessionAnswer:
    """Return the answer for a session."""
    return SessionAnswer(
        name=value.scope.name,
        project_id=project_id,
        source=value.source,
        created_at=value.created_at,
        updated_at=value.updated_at,
        memory_count=value.memories,
    )


@route("GET", _PATH, "listSessions", answer=SessionList, example={"sessions": [_SESSION]})
def list_sessions(call: Call[NoQuery, None]) -> Answer:
    """List the sessions of a project, last changed first."""
    scope = Scope.project(call.project.path)
    sessions = call.service.sessions(scope=scope)
    return Answer(SessionList(sessions=[_show_session(each, call.project_id) for each in sessions]))


@route(
    "POST",
    _PATH,
    "startSession",
    body=NewSession,
    answer=SessionAnswer,
    status=201,
    statuses=(409,),
    example=_SESSION,
    body_example={"name": "monday", "source": "slack:C123"},
    idempotent=True,
)
def start_session(call: Call[NoQuery, NewSession]) -> Answer:
    """Start a session."""
    project = Scope.project(call.project.path)
    scope = project if call.body.name is None else Scope.session(project.path, call.body.name)
    started = call.once(project, lambda service: service.start_session(scope=scope, source=call.body.source))
    location = f"/api/projects/{call.project_id}/sessions/{quote(started.scope.name, safe='')}"
    return Answer(_show_session(started, call.project_id), headers={"Location": location})


@route("GET", f"{_PATH}/{{session}}", "getSession", answer=SessionAnswer, example=_SESSION)
def get_session(call: Call[NoQuery, None]) -> Answer:
    """Return a session."""
    scope = Scope.session(call.project.path, call.path["session"])
    return Answer(_show_session(call.service.session(scope=scope), call.project_id))
