"""Projects and sessions as such, for agents that keep several apart: offered with `--tools all`."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from omoide.errors import NotFound
from omoide.formats.fence import one_line
from omoide.interfaces import wire
from omoide.interfaces.mcp.call import Call
from omoide.interfaces.mcp.desk import Desk
from omoide.interfaces.mcp.shapes import Agent, Limit, Rows, Takes, Told, Where, given, headline, told
from omoide.interfaces.mcp.tool import Answer, Tool
from omoide.model import Project, Scope


class Anywhere(Takes, kw_only=True):
    caller_agent_id: Agent | UnsetType = UNSET


class Within(Anywhere, kw_only=True):
    project: Where | UnsetType = UNSET


class Look(Within, kw_only=True):
    limit: Limit = 20


class Create(Anywhere, kw_only=True):
    path: str
    description: str = ""


class Describe(Within, kw_only=True):
    description: str


class Start(Within, kw_only=True):
    name: str
    source: str | UnsetType = UNSET


class Portrayed(Struct, frozen=True):
    project: dict[str, Any]
    sessions: list[dict[str, Any]]
    count: int
    by_type: dict[str, int]
    pinned: list[Told]
    recent: list[Told]


class Made(Struct, frozen=True):
    project: dict[str, Any]


class Started(Struct, frozen=True):
    session: dict[str, Any]


def _projects(desk: Desk, asked: Anywhere, _: Call) -> Answer:
    found = desk.acting(asked.caller_agent_id).catalogue()
    rows = [
        {
            **wire.project(one.project),
            "updated_at": wire.moment(one.updated_at),
            "sessions": [session.scope.name for session in one.sessions],
        }
        for one in found
    ]
    lines = [_line(one.project) for one in found]
    return Answer(Rows(rows), "\n".join(lines) or "There are no projects yet.")


def _line(project: Project) -> str:
    """A project in a line that begins with our word: its name could look like the headline of a memory."""
    return one_line(f"project {project.path} {project.description}".rstrip())


def _project(desk: Desk, asked: Look, _: Call) -> Answer:
    path = desk.project(asked.project).path
    found = desk.acting(asked.caller_agent_id).project(path, limit=asked.limit)
    if found is None:
        raise NotFound(f"there is no project {path}: the first memory of it makes it, or create_project")
    project, _updated, sessions = found.overview
    lines = [
        _line(project),
        f"{found.summary.count} memories, sessions: {one_line(', '.join(one.scope.name for one in sessions)) or 'none'}.",
        *(f"pinned: {headline(one)}" for one in found.pinned),
        *(f"recent: {headline(one)}" for one in found.recent),
    ]
    value = Portrayed(
        wire.project(project),
        [wire.session(one) for one in sessions],
        found.summary.count,
        dict(found.summary.by_type),
        [told(one) for one in found.pinned],
        [told(one) for one in found.recent],
    )
    return Answer(value, "\n".join(lines))


def _create(desk: Desk, asked: Create, _: Call) -> Answer:
    made = desk.acting(asked.caller_agent_id).create_project(asked.path, description=asked.description)
    return Answer(Made(wire.project(made)), f"Created: project {made.path}.")


def _describe(desk: Desk, asked: Describe, _: Call) -> Answer:
    path = desk.project(asked.project).path
    done = desk.acting(asked.caller_agent_id).describe_project(path, asked.description)
    return Answer(Made(wire.project(done)), f"Described: project {done.path} {done.description}".rstrip())


def _sessions(desk: Desk, asked: Within, _: Call) -> Answer:
    scope = Scope(desk.project(asked.project).path)
    found = desk.acting(asked.caller_agent_id).sessions(scope=scope)
    lines = [one_line(f"session {one.scope.name}, {wire.moment(one.updated_at)}, {one.memories} memories") for one in found]
    return Answer(Rows([wire.session(one) for one in found]), "\n".join(lines) or f"There are no sessions in {scope}.")


def _start(desk: Desk, asked: Start, _: Call) -> Answer:
    scope = Scope.session(desk.project(asked.project, writing=True).path, asked.name)
    started = desk.acting(asked.caller_agent_id).start_session(scope=scope, source=given(asked.source))
    return Answer(Started(wire.session(started)), f"Started: {scope}.")


TOOLS = (
    Tool(
        "projects", "Projects", "All projects and their sessions, last changed first.", Anywhere, Rows, _projects, reads=True
    ),
    Tool(
        "project",
        "Project",
        "One project: what it is about, its sessions, what is pinned and what is new.",
        Look,
        Portrayed,
        _project,
        reads=True,
    ),
    Tool("create_project", "Create project", "Make a project before anything is kept in it.", Create, Made, _create),
    Tool(
        "describe_project",
        "Describe project",
        "Say in a line what a project is about.",
        Describe,
        Made,
        _describe,
        repeatable=True,
    ),
    Tool("sessions", "Sessions", "The sessions of a project, last changed first.", Within, Rows, _sessions, reads=True),
    Tool("start_session", "Start session", "Start a session of a project, by a new name.", Start, Started, _start),
)
