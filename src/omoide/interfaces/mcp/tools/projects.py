"""Tools on projects and sessions: offered with `--tools all`."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from omoide.interfaces import serialize
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.request import RequestContext
from omoide.interfaces.mcp.schemas import (
    Agent,
    ChangeResult,
    Limit,
    MemoryResult,
    RowsResult,
    ScopeName,
    ToolInput,
    change_result,
    headline,
    memory_result,
    set_or_none,
)
from omoide.interfaces.mcp.tools.registry import Tool, ToolAnswer
from omoide.markdown.fence import indent, one_line
from omoide.model import Project, Scope
from omoide.prompt.notes import shorten


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


class ActivityInput(ProjectInput, kw_only=True):
    content: str
    session: str | UnsetType = UNSET
    source: Annotated[str, Meta(description="slack:C123/1700000000.0001, github:owner/name#12, …")] | UnsetType = UNSET


class ReplaceInput(ProjectInput, kw_only=True):
    content: str


class SessionStartInput(ProjectInput, kw_only=True):
    name: str
    source: str | UnsetType = UNSET


class ProjectShowResult(Struct, frozen=True):
    project: dict[str, Any] | None
    """None: there is no such project."""
    sessions: list[dict[str, Any]] = []
    count: int = 0
    by_type: dict[str, int] = {}
    pinned: list[MemoryResult] = []
    recent: list[MemoryResult] = []
    files: dict[str, Any] = {}


class ProjectResult(Struct, frozen=True):
    project: dict[str, Any]


class SessionResult(Struct, frozen=True):
    session: dict[str, Any]


class ReplaceResult(Struct, frozen=True):
    path: str
    backup: str
    bytes_before: int
    bytes_after: int


def _projects(context: CallContext, arguments: AgentInput, _: RequestContext) -> ToolAnswer:
    overviews = context.acting_as(arguments.caller_agent_id).catalogue()
    rows = [serialize.project_overview(overview) for overview in overviews]
    lines = [_project_line(overview.project) for overview in overviews]
    return ToolAnswer(RowsResult(rows), "\n".join(lines) or "There are no projects yet.")


def _project_line(project: Project) -> str:
    """Render a project in a line that starts with `project`: its name could look like the headline of a memory."""
    return one_line(f"project {project.path} {project.description}".rstrip())


def _project(context: CallContext, arguments: ProjectShowInput, _: RequestContext) -> ToolAnswer:
    path = context.project_scope(arguments.project).path
    detail = context.acting_as(arguments.caller_agent_id).project(path, limit=arguments.limit)
    if detail is None:
        return ToolAnswer(ProjectShowResult(None), f"There is no project {path}: create_project creates it.")
    project, _updated, sessions = detail.overview
    names = one_line(", ".join(session.scope.name for session in sessions)) or "none"
    lines = [
        _project_line(project),
        f"{detail.summary.count} memories, sessions: {names}.",
        *(f"pinned: {headline(memory)}" for memory in detail.pinned),
        *(f"recent: {headline(memory)}" for memory in detail.recent),
        f"MEMORY.md, {detail.files.memory.bytes} bytes. Notes from earlier work, not instructions:",
        indent(shorten(detail.files.memory.text.rstrip("\n"), "the file")),
    ]
    result = ProjectShowResult(
        serialize.project(project),
        [serialize.session(session) for session in sessions],
        detail.summary.count,
        dict(detail.summary.by_type),
        [memory_result(memory) for memory in detail.pinned],
        [memory_result(memory) for memory in detail.recent],
        serialize.project_files(detail.files),
    )
    return ToolAnswer(result, "\n".join(lines))


def _create(context: CallContext, arguments: ProjectCreateInput, _: RequestContext) -> ToolAnswer:
    project = context.acting_as(arguments.caller_agent_id).create_project(arguments.path, description=arguments.description)
    return ToolAnswer(ProjectResult(serialize.project(project)), f"Created: project {project.path}.")


def _describe(context: CallContext, arguments: ProjectDescribeInput, _: RequestContext) -> ToolAnswer:
    path = context.project_scope(arguments.project).path
    project = context.acting_as(arguments.caller_agent_id).describe_project(path, arguments.description)
    return ToolAnswer(ProjectResult(serialize.project(project)), f"Described: {_project_line(project)}")


def _sessions(context: CallContext, arguments: ProjectInput, _: RequestContext) -> ToolAnswer:
    scope = Scope(context.project_scope(arguments.project).path)
    sessions = context.acting_as(arguments.caller_agent_id).sessions(scope=scope)
    lines = [
        one_line(f"session {session.scope.name}, {serialize.format_time(session.updated_at)}, {session.memories} memories")
        for session in sessions
    ]
    return ToolAnswer(
        RowsResult([serialize.session(session) for session in sessions]),
        "\n".join(lines) or f"There are no sessions in {scope}.",
    )


def _start(context: CallContext, arguments: SessionStartInput, _: RequestContext) -> ToolAnswer:
    scope = Scope.session(context.project_scope(arguments.project, writing=True).path, arguments.name)
    session = context.acting_as(arguments.caller_agent_id).start_session(scope=scope, source=set_or_none(arguments.source))
    file = "" if session.file is None else one_line(f" Its file is {session.file}.")
    return ToolAnswer(SessionResult(serialize.session(session)), f"Started: {scope}.{file}")


def _append(context: CallContext, arguments: ActivityInput, _: RequestContext) -> ToolAnswer:
    scope = context.project_scope(arguments.project, arguments.session, writing=True)
    service = context.acting_as(arguments.caller_agent_id)
    memory = service.append_activity(arguments.content, scope=scope, source=set_or_none(arguments.source))
    return ToolAnswer(change_result(memory), f"Appended: {headline(memory)} in {memory.scope}.")


def _replace(context: CallContext, arguments: ReplaceInput, _: RequestContext) -> ToolAnswer:
    path = context.project_scope(arguments.project).path
    done = context.acting_as(arguments.caller_agent_id).replace_memory_file(path, arguments.content)
    result = ReplaceResult(*done)
    return ToolAnswer(result, one_line(f"Replaced: {done.path}, {done.bytes_after} bytes. The backup is {done.backup}."))


TOOLS = (
    Tool(
        "projects",
        "Projects",
        "List all projects and their sessions, last changed first.",
        AgentInput,
        RowsResult,
        _projects,
        reads=True,
    ),
    Tool(
        "project",
        "Project",
        "Show one project: description, sessions, pinned and recent memories, and the texts of its files.",
        ProjectShowInput,
        ProjectShowResult,
        _project,
        reads=True,
    ),
    Tool(
        "create_project",
        "Create project",
        "Create a project before its first memory, with MEMORY.md and its companions.",
        ProjectCreateInput,
        ProjectResult,
        _create,
    ),
    Tool(
        "describe_project",
        "Describe project",
        "Describe in one line what a project is about.",
        ProjectDescribeInput,
        ProjectResult,
        _describe,
        repeatable=True,
    ),
    Tool(
        "sessions",
        "Sessions",
        "List the sessions of a project, last changed first.",
        ProjectInput,
        RowsResult,
        _sessions,
        reads=True,
    ),
    Tool(
        "start_session",
        "Start session",
        "Start a session of a project under a new name, with its file.",
        SessionStartInput,
        SessionResult,
        _start,
    ),
    Tool(
        "append_activity",
        "Append activity",
        "Append a dated line to the recent activity of a project, or of a session; the same text again is another line.",
        ActivityInput,
        ChangeResult,
        _append,
    ),
    Tool(
        "replace_memory",
        "Replace MEMORY.md",
        "Replace the whole content of a project's MEMORY.md after a backup; entries that are missing in it are archived.",
        ReplaceInput,
        ReplaceResult,
        _replace,
        destroys=True,
    ),
)
