"""Projects and sessions as such, for agents that keep several apart: offered with `--tools all`."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from omoide.errors import NotFound
from omoide.interfaces import serialize
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.request import RequestContext
from omoide.interfaces.mcp.schemas import (
    Agent,
    Limit,
    MemoryResult,
    RowsResult,
    ScopeName,
    ToolInput,
    headline,
    memory_result,
    set_or_none,
)
from omoide.interfaces.mcp.tools.registry import Answer, Tool
from omoide.markdown.fence import one_line
from omoide.model import Project, Scope


class AgentInput(ToolInput, kw_only=True):
    caller_agent_id: Agent | UnsetType = UNSET


class ProjectInput(AgentInput, kw_only=True):
    project: ScopeName | UnsetType = UNSET


class ProjectShowInput(ProjectInput, kw_only=True):
    limit: Limit = 20


class ProjectCreateInput(AgentInput, kw_only=True):
    path: str
    description: str = ""


class ProjectDescribeInput(ProjectInput, kw_only=True):
    description: str


class SessionStartInput(ProjectInput, kw_only=True):
    name: str
    source: str | UnsetType = UNSET


class ProjectDetailResult(Struct, frozen=True):
    project: dict[str, Any]
    sessions: list[dict[str, Any]]
    count: int
    by_type: dict[str, int]
    pinned: list[MemoryResult]
    recent: list[MemoryResult]


class ProjectCreated(Struct, frozen=True):
    project: dict[str, Any]


class SessionStarted(Struct, frozen=True):
    session: dict[str, Any]


def _projects(context: CallContext, asked: AgentInput, _: RequestContext) -> Answer:
    found = context.acting_as(asked.caller_agent_id).catalogue()
    rows = [
        {
            **serialize.project(one.project),
            "updated_at": serialize.format_time(one.updated_at),
            "sessions": [session.scope.name for session in one.sessions],
        }
        for one in found
    ]
    lines = [_line(one.project) for one in found]
    return Answer(RowsResult(rows), "\n".join(lines) or "There are no projects yet.")


def _line(project: Project) -> str:
    """A project in a line that begins with our word: its name could look like the headline of a memory."""
    return one_line(f"project {project.path} {project.description}".rstrip())


def _project(context: CallContext, asked: ProjectShowInput, _: RequestContext) -> Answer:
    path = context.project_scope(asked.project).path
    found = context.acting_as(asked.caller_agent_id).project(path, limit=asked.limit)
    if found is None:
        raise NotFound(f"there is no project {path}: the first memory of it makes it, or create_project")
    project, _updated, sessions = found.overview
    lines = [
        _line(project),
        f"{found.summary.count} memories, sessions: {one_line(', '.join(one.scope.name for one in sessions)) or 'none'}.",
        *(f"pinned: {headline(one)}" for one in found.pinned),
        *(f"recent: {headline(one)}" for one in found.recent),
    ]
    value = ProjectDetailResult(
        serialize.project(project),
        [serialize.session(one) for one in sessions],
        found.summary.count,
        dict(found.summary.by_type),
        [memory_result(one) for one in found.pinned],
        [memory_result(one) for one in found.recent],
    )
    return Answer(value, "\n".join(lines))


def _create(context: CallContext, asked: ProjectCreateInput, _: RequestContext) -> Answer:
    made = context.acting_as(asked.caller_agent_id).create_project(asked.path, description=asked.description)
    return Answer(ProjectCreated(serialize.project(made)), f"Created: project {made.path}.")


def _describe(context: CallContext, asked: ProjectDescribeInput, _: RequestContext) -> Answer:
    path = context.project_scope(asked.project).path
    done = context.acting_as(asked.caller_agent_id).describe_project(path, asked.description)
    return Answer(ProjectCreated(serialize.project(done)), f"Described: project {done.path} {done.description}".rstrip())


def _sessions(context: CallContext, asked: ProjectInput, _: RequestContext) -> Answer:
    scope = Scope(context.project_scope(asked.project).path)
    found = context.acting_as(asked.caller_agent_id).sessions(scope=scope)
    lines = [
        one_line(f"session {one.scope.name}, {serialize.format_time(one.updated_at)}, {one.memories} memories")
        for one in found
    ]
    return Answer(
        RowsResult([serialize.session(one) for one in found]), "\n".join(lines) or f"There are no sessions in {scope}."
    )


def _start(context: CallContext, asked: SessionStartInput, _: RequestContext) -> Answer:
    scope = Scope.session(context.project_scope(asked.project, writing=True).path, asked.name)
    started = context.acting_as(asked.caller_agent_id).start_session(scope=scope, source=set_or_none(asked.source))
    return Answer(SessionStarted(serialize.session(started)), f"Started: {scope}.")


TOOLS = (
    Tool(
        "projects",
        "Projects",
        "All projects and their sessions, last changed first.",
        AgentInput,
        RowsResult,
        _projects,
        reads=True,
    ),
    Tool(
        "project",
        "Project",
        "One project: what it is about, its sessions, what is pinned and what is new.",
        ProjectShowInput,
        ProjectDetailResult,
        _project,
        reads=True,
    ),
    Tool(
        "create_project",
        "Create project",
        "Make a project before anything is kept in it.",
        ProjectCreateInput,
        ProjectCreated,
        _create,
    ),
    Tool(
        "describe_project",
        "Describe project",
        "Say in a line what a project is about.",
        ProjectDescribeInput,
        ProjectCreated,
        _describe,
        repeatable=True,
    ),
    Tool(
        "sessions",
        "Sessions",
        "The sessions of a project, last changed first.",
        ProjectInput,
        RowsResult,
        _sessions,
        reads=True,
    ),
    Tool(
        "start_session",
        "Start session",
        "Start a session of a project, by a new name.",
        SessionStartInput,
        SessionStarted,
        _start,
    ),
)
