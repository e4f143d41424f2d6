"""The pipeline around a task: route, session, prompt and run before it; outcome, learnings, records and summary after it."""

import re
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec.structs import replace

from omoide.conversation.record import HeardTurns, activity_line, session_entry
from omoide.errors import AlreadyDone, Conflict, InvalidInput, NotAllowed, OmoideError, SecretFound
from omoide.guard import validation
from omoide.model import ComposedPrompt, Layer, Layout, Memory, Route, Run, RunResult, Scope, Session, Task, new_id, now
from omoide.prompt.project_block import inject_project_block
from omoide.service import Service
from omoide.service.candidate_store import LearningReport
from omoide.service.runs import check_measures, check_result
from omoide.service.summaries import SummaryResult
from omoide.settings import Settings

if TYPE_CHECKING:  # its patterns take 40 ms that only learning should pay for
    from omoide.learning.transcript import Turn
    from omoide.sync.repo_list import RepoList

Done = TypeVar("Done")
_MARK = re.compile(r"<!--[ \t]*omoide:([0-9a-fA-F-]{36})[ \t]*-->")
"""What stands beside an entry in a file of a project's tree: the id of its memory."""


class PreparedPrompt(msgspec.Struct, frozen=True):
    """What an agent gets for a message, and where it belongs."""

    text: str
    """The whole prompt, with what memory adds to it."""
    scope: Scope
    """The project, and the session if there is one. For a message of no project it is that of the directory, whose memories
    are not in the prompt; without one, the global layer."""
    route: Route | None = None
    """How the project was found; None: it was given."""
    session: Session | None = None
    """The session, if it was started now."""
    run: Run | None = None
    """The run under which the prompt is recorded, with its receipt; None: nothing is recorded."""
    pinned: tuple[Memory, ...] = ()
    """What the message asked to remember."""
    corrections: LearningReport | None = None
    """What was learnt from a person's changes to the work of the last run, and from what the message says of it; None:
    nothing was looked for."""
    problems: tuple[str, ...] = ()
    """What went wrong without preventing the prompt, in words."""


class AgentResult(msgspec.Struct, frozen=True):
    """The outcome of a task."""

    turns: "Iterable[Turn]" = ()
    """The conversation, if there is a transcript: `omoide.read_turns` reads it. It is read once, turn by turn."""
    output: str = ""
    """What the agent printed. Without turns, it is read as the conversation."""
    result: RunResult | str | None = None
    """By default success, or failure where the exit code is not 0."""
    exit_code: int | None = None
    duration: float | None = None
    """In seconds; by default the time since the prompt was composed."""
    note: str = ""


class ConversationReport(msgspec.Struct, frozen=True):
    """What was stored after a task."""

    run: Run
    """With its outcome."""
    learnt: LearningReport | None = None
    entry: Memory | None = None
    """The new entry of the session, if the run belongs to one."""
    activity: Memory | None = None
    """The new line in the recent activity of the project."""
    summary: SummaryResult | None = None
    """The summary of the project's memory, where one was due."""
    problems: tuple[str, ...] = ()
    """What could not be kept, in words."""


class Conversation:
    """The memory around tasks: `before` an agent starts, and `after` it has ended. `omoide.open_conversation` returns it."""

    def __init__(
        self,
        memory: Service,
        settings: Settings,
        *,
        scope: Scope | None = None,
        directory: Path | None = None,
        layout: Layout | None = None,
        repo_list: "RepoList | None" = None,
    ):
        """Work on a memory, with the settings of the repository. `app.open_conversation` describes the parameters."""
        self._memory = memory
        self._settings = settings
        self._scope = scope
        self._directory = directory
        self._layout: Layout = layout or settings.prompt_layout
        self._list = repo_list
        self._run: Run | None = None

    def before(
        self,
        message: str,
        session: str | None = None,
        *,
        task: Task | None = None,
        context: str = "",
        run: str | None = None,
        inject: bool = False,
    ) -> PreparedPrompt:
        """Return the prompt for a message, with the memories that fit it, and record it as a run.

        `message`: what the agent is to do; it is routed to its project, unless one was given. `session`: the name of a
        session of that project, which is started if it is new. `task`: more about the task than the message, for the
        sections of the prompt. `context`: the text of the channel that the message came from. `run`: the id of the run; by
        default one is made. `inject`: add memories also where the setting `memories_inject` is manual.

        What the message asks to remember is stored and pinned. What a person changed since the last run in the same work
        tree, or corrects in the message, is learnt first. If the setting `memories_enabled` is false, the prompt is the
        message, and nothing is stored.

        Raises InvalidInput for a message that is empty, and for a session where there is no project, Conflict for a run
        whose id is taken, NotFound and NotAllowed.
        """
        if not message.strip():
            raise InvalidInput("the message is empty: say what the agent is to do")
        if not self._settings.memories_enabled:
            return PreparedPrompt(inject_project_block(message, context, ""), self._scope or Scope.everywhere())
        problems: list[str] = []
        route = None if self._scope is not None else self._memory.route(message, directory=self._directory)
        scope = self._resolve(route)
        started = self._start_session(scope, session)
        if session is not None:
            scope = Scope.session(scope.path, session)
        id = new_id(now()) if run is None else run
        corrections = self._attempt(problems, lambda: self._learn_corrections(scope, message, id))
        prepared = PreparedPrompt("", scope, route, started, corrections=corrections)
        wanted = self._settings.memories_inject == "auto" or (inject and self._settings.memories_inject == "manual")
        if inject and not wanted:
            problems.append("the setting `memories_inject` is none: no memories are added")
        task = _with_message(task or Task(), message)
        try:
            prepared = self._compose(prepared, _Request(message, task, context, route, id), wanted=wanted)
        except SecretFound as error:  # fallback: the agent gets the message, and nothing of it is stored
            problems.append(f"{error}: the prompt is not recorded, and contains no memories")
            prepared = replace(prepared, text=inject_project_block(message, context, ""))
        self._run = prepared.run
        # After the prompt was composed: what the message says need not be in it twice.
        pinned = self._attempt(problems, lambda: self._pin_requests(message, prepared)) or ()
        return replace(prepared, pinned=pinned, problems=(*problems, *prepared.problems))

    def after(self, result: AgentResult, run: str | int | None = None) -> ConversationReport:
        """Store the results of a task: learnings, an entry of its session, a line of activity, and its outcome.

        `result`: how the task ended. `run`: the run, by its number or its id; by default that of the last `before`. The
        project's memory is summarised if it is due. What cannot be kept is among the problems of the report; only the
        outcome must succeed.

        It can be called again after it was interrupted: what is done already is not done twice. Raises NotFound, Conflict
        for a run that has an outcome already, InvalidInput and NotAllowed.
        """
        found = self._require_run(run)
        outcome = _result_of(result)
        check_measures(result.duration, result.exit_code)  # before anything is kept
        note = validation.check_note(result.note, self._settings)
        problems: list[str] = []
        turns = self._attempt(problems, lambda: _begin(result.turns)) or _turns_of_output(found.task, result.output)
        heard = HeardTurns(turns)
        learnt = self._attempt(problems, lambda: self._memory.learn(heard, scope=Scope(found.scope.path), run=found.id))
        self._attempt(problems, lambda: self._record_work_tree(found))
        entry, activity = self._attempt(problems, lambda: self._append_records(found, outcome, heard)) or (None, None)
        done = self._memory.outcome(
            found.id,
            outcome,
            scope=found.scope,
            duration=result.duration,
            exit_code=result.exit_code,
            note=note,
        )
        summary = self._attempt(problems, lambda: self._summarize(found.scope))
        return ConversationReport(done, learnt, entry, activity, summary, tuple(problems))

    # the steps of `before`

    def _resolve(self, route: Route | None) -> Scope:
        """The scope of a message: the project that was given, that of its route, or the global layer.

        A message of no project is still a part of the conversation in the current one.
        """
        if self._scope is not None:
            return Scope(self._scope.path)
        project = None if route is None else route.primary or route.current
        return Scope.everywhere() if project is None else Scope(project.path)

    def _start_session(self, scope: Scope, name: str | None) -> Session | None:
        """Start the session of this name; None if it exists, or if none is named."""
        if name is None:
            return None
        if not scope.path:
            raise InvalidInput(
                f"session {name!r} needs a project, and the message belongs to none: create one with"
                " `omoide project create`, or name one with --project"
            )
        try:
            return self._memory.start_session(scope=Scope.session(scope.path, name))
        except Conflict:  # fallback: the session exists, and is continued
            return None

    def _learn_corrections(self, scope: Scope, message: str, run: str) -> LearningReport | None:
        if self._directory is None or not scope.path:
            return None
        # Of the project, as all that is learnt: the next session is to know it too.
        return self._memory.learn_corrections(self._directory, scope=Scope(scope.path), message=message, run=run)

    def _pin_requests(self, message: str, prepared: PreparedPrompt) -> tuple[Memory, ...]:
        """Store what the message asks to remember, as learning does, and pin it."""
        requested = _request_text(message) if prepared.route is None else prepared.route.pinned_content
        if not requested:
            return ()
        from omoide.learning.transcript import Speaker, Turn  # lazy: see the top

        scope = Scope(prepared.scope.path)
        run = None if prepared.run is None else prepared.run.id
        learnt = self._memory.learn([Turn(Speaker.PERSON, message, 1)], scope=scope, run=run, ask=False)
        return tuple(self._pin(memory, message, scope) for memory in learnt.kept)

    def _pin(self, memory: Memory, message: str, scope: Scope) -> Memory:
        from omoide.learning.injected_text import strip_injected  # lazy: see the top

        self._memory.revise(memory.id, scope=scope, original_prompt=strip_injected(message).strip())
        return self._memory.pin(memory.id, scope=scope)

    def _compose(self, prepared: PreparedPrompt, request: "_Request", *, wanted: bool) -> PreparedPrompt:
        """Render the prompt in its layout, and record the run."""
        is_of_project = request.route is None or request.route.primary is not None
        if self._layout == "sections":
            composed = self._compose_sections(prepared.scope, request, wanted=wanted, is_of_project=is_of_project)
            return replace(prepared, text=composed.text, run=composed.run, problems=composed.problems)
        wanted = wanted and is_of_project
        if self._layout == "list":
            text, refs = self._with_list(request) if wanted else (_plain(request), [])
        else:
            text, refs = self._with_block(request, prepared.scope) if wanted else (_plain(request), [])
        recorded = self._memory.record_prompt(
            text, request.task, refs, scope=prepared.scope, layout=self._layout, run=request.run
        )
        return replace(prepared, text=text, run=recorded.run)

    def _compose_sections(self, scope: Scope, request: "_Request", *, wanted: bool, is_of_project: bool) -> ComposedPrompt:
        """Compose the sections, and record the run. A message of no project gets only what is global."""
        compose = partial(self._memory.compose, _with_context(request), scope=scope, run=request.run, record=True)
        if not wanted:
            return compose(limit=0)
        if is_of_project:
            return compose()
        try:
            return compose(layers=(Layer.EVERYWHERE,))
        except NotAllowed:  # fallback: an actor that may not read the global layer gets no memories
            return compose(limit=0)

    def _with_list(self, request: "_Request") -> tuple[str, list[str]]:
        """The message with the list of its repository before it, and the ids of the memories in that."""
        if self._list is None:
            return _plain(request), []
        ids = [item.id for item in self._list.list() if item.id]
        text = self._list.injection(manual=True)
        return (f"{text}\n{_plain(request)}" if text else _plain(request)), ids

    def _with_block(self, request: "_Request", scope: Scope) -> tuple[str, list[str]]:
        """The message with the block of its project after it, and the ids of the memories in that."""
        secondary = () if request.route is None else [project.path for project in request.route.secondary]
        block = self._memory.project_block(scope=scope, secondary=secondary) if scope.path else ""
        files = self._memory.project_files(scope.path) if block else None
        texts = [] if files is None else [files.memory.text, files.pinned.text, *(each.text for each in files.sessions)]
        ids = [match[1] for text in texts for match in _MARK.finditer(text)]
        return inject_project_block(request.message, request.context, block), list(dict.fromkeys(ids))

    # the steps of `after`

    def _require_run(self, ref: str | int | None) -> Run:
        if ref is not None:
            run = self._memory.run(ref, scope=self._scope or self._locate())
        elif self._run is not None:
            run = self._memory.run(self._run.id, scope=self._run.scope)
        else:
            raise InvalidInput("there is no run: call `before` first, or name one")
        if run.outcome is not None:
            raise Conflict(f"run {run.number} has the outcome {run.outcome.result} already: it was recorded before")
        return run

    def _locate(self) -> Scope:
        route = None if self._directory is None else self._memory.route("", directory=self._directory, ask=False)
        return self._resolve(route)

    def _record_work_tree(self, run: Run) -> None:
        if self._directory is not None and run.scope.path:
            self._memory.record_work_tree(run.id, self._directory, scope=run.scope)

    def _append_records(self, run: Run, result: RunResult, heard: HeardTurns) -> tuple[Memory | None, Memory | None]:
        if not run.scope.path:
            return None, None
        entry = None
        if run.scope.name:
            entry = self._append_once(run, "entry", session_entry(run.task, result, heard.last_words()), run.scope)
        return entry, self._append_once(run, "activity", activity_line(run.task, result), Scope(run.scope.path))

    def _append_once(self, run: Run, step: str, text: str, scope: Scope) -> Memory:
        """Append a text, or return the one that was appended when `after` was interrupted."""
        once = self._memory.with_idempotency_key(f"{run.id}:{step}", b"", scope=scope)  # whatever its result is now
        try:
            return once.append_activity(text, scope=scope, source=f"run:{run.id}")
        except AlreadyDone as done:
            if isinstance(done.result, Memory):
                return done.result
            raise

    def _summarize(self, scope: Scope) -> SummaryResult | None:
        project = Scope(scope.path)
        if not scope.path or not self._memory.summary_due(scope=project):
            return None
        try:
            return self._memory.summarize(scope=project)
        except NotAllowed:  # fallback: an actor that may summarise does it, after another task
            return None

    def _attempt(self, problems: list[str], step: Callable[[], Done]) -> Done | None:
        """Do a step that may fail without the others failing with it: its error is among the problems."""
        try:
            return step()
        except OmoideError as error:
            problems.append(str(error))
            return None


class _Request(msgspec.Struct, frozen=True):
    """What `before` was asked for."""

    message: str
    task: Task
    context: str
    route: Route | None
    run: str


def _with_message(task: Task, message: str) -> Task:
    """The task, with the message at the end of its description, unless it says that already."""
    said = f"{task.title}\n\n{task.description}"
    if message.strip() in said:
        return task
    return replace(task, description=f"{task.description}\n\n{message}" if task.description.strip() else message)


def _plain(request: _Request) -> str:
    return inject_project_block(request.message, request.context, "")


def _with_context(request: _Request) -> Task:
    """The task, with the context of its channel at the end of its description."""
    if not request.context.strip():
        return request.task
    return replace(request.task, description=_plain(request).rstrip("\n"))


def _request_text(message: str) -> str:
    """What a message asks to remember; empty: nothing."""
    from omoide.learning.injected_text import strip_injected  # lazy: see the top
    from omoide.learning.requests import find_requests  # lazy: see the top

    return "\n".join(request.content for request in find_requests(strip_injected(message)))


def _result_of(result: AgentResult) -> RunResult:
    if result.result is not None:
        return check_result(result.result)
    return RunResult.FAILURE if result.exit_code else RunResult.SUCCESS


def _begin(turns: "Iterable[Turn]") -> "Iterable[Turn] | None":
    """The same turns; None if there are none."""
    rest = iter(turns)
    first = next(rest, None)
    return None if first is None else chain([first], rest)


def _turns_of_output(task: Task, output: str) -> "list[Turn]":
    """The conversation of an agent that left no transcript: the message, and what it printed.

    A person says nothing in the output of a process: what looks like that, such as `User: …`, is out of a file or a page.
    """
    from omoide.learning.transcript import Speaker, Turn, read_turns  # lazy: see the top

    asked = f"{task.title}\n{task.description}".strip()
    printed: Iterable[Turn] = read_turns(output.encode().splitlines(keepends=True), first_line=2)
    said = (replace(turn, speaker=Speaker.OUTPUT) if turn.speaker is Speaker.PERSON else turn for turn in printed)
    return [Turn(Speaker.PERSON, asked, 1), *said]
