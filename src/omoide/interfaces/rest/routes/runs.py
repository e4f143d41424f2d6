"""Prompts and runs: compose, receipts, outcomes, replay."""

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from omoide.interfaces.rest import values
from omoide.interfaces.rest.routing import Answer, Call, NoQuery, route
from omoide.model import Outcome, PromptMemory, Receipt, Run, Task

_PROJECT = "/api/projects/{projectId}"
_RUN = f"{_PROJECT}/runs/{{runId}}"
_RECEIPT = {
    "sha256": "9f2c1a0d5e6b7c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f",
    "bytes": 210,
    "tokens": 70,
    "format": 1,
    "holdout": False,
    "memories": [
        {
            "memoryId": 2,
            "uuid": "019c2d3e-7a00-7000-8000-000000000002",
            "version": 1,
            "rule": "scope",
            "reason": "a glob tag matches src/core/api.py, relevance 0.90",
            "relevance": 0.9,
        }
    ],
    "leftOut": [],
    "leftOutCount": 0,
}
_TASK = {"id": "12", "title": "Fix the login", "writeScope": ["src/core/api.py"]}
_EXAMPLE = {
    "id": 1,
    "runId": "ci-77",
    "projectId": 1,
    "session": None,
    "agent": "owner",
    "startedAt": "2026-02-05T10:00:00Z",
    "task": _TASK,
    "receipt": _RECEIPT,
    "outcome": {
        "result": "success",
        "at": "2026-02-05T10:10:00Z",
        "by": "owner",
        "duration": 600.0,
        "exitCode": 0,
        "note": "",
        "helped": [2],
        "harmed": [],
    },
}
_PROMPT = "## Task\n12: Fix the login\n\n## Memories\n- [warning] src/core/配下の変更は全テスト実行が必須\n"
Count = Annotated[int, Meta(ge=0, le=100_000_000)]
MemoryIds = Annotated[list[Annotated[int, Meta(ge=1)]], Meta(max_length=1_000)]


class TaskBody(values.Input, frozen=True, omit_defaults=True):
    """What an agent is to do. Every field may be left out."""

    id: str = ""
    title: str = ""
    description: str = ""
    role: str = ""
    """The text of the section Role."""
    profile: str = ""
    """The name of a template in the setting `profiles`, instead of `role`."""
    workspace: str = ""
    read_first: tuple[str, ...] = ()
    write_scope: tuple[str, ...] = ()
    """Paths and globs that the agent may write: memories with a glob tag that matches one come first."""
    constraints: tuple[str, ...] = ()
    digest: str = ""
    """What happened so far, where the task is tried again or continued."""
    output_format: str = ""


class ComposeBody(values.Input, frozen=True):
    """A task for which to compose a prompt."""

    task: TaskBody
    limit: Count | None = None
    """How many memories at most."""
    budget_bytes: Count | None = None
    budget_tokens: Count | None = None
    run: values.Name | None = None
    """Record a run under this id, which must be new in the project."""
    record: bool = False
    """Record a run under an id that is made."""
    session: values.Name | None = None


class PromptMemoryAnswer(values.Output, frozen=True):
    """A memory that was considered for a prompt."""

    memory_id: int
    uuid: str
    version: int
    rule: str
    reason: str
    relevance: float


class ReceiptAnswer(values.Output, frozen=True):
    """What a prompt was made of."""

    sha256: str
    bytes: int
    tokens: int
    format: int
    holdout: bool
    memories: list[PromptMemoryAnswer]
    left_out: list[PromptMemoryAnswer]
    left_out_count: int


class OutcomeAnswer(values.Output, frozen=True):
    """The outcome of a run."""

    result: str
    at: values.Time
    by: str
    duration: float | None
    exit_code: int | None
    note: str
    helped: tuple[int, ...]
    harmed: tuple[int, ...]


class RunAnswer(values.Output, frozen=True):
    """A task for which a prompt was composed."""

    id: int
    """Counted in each project."""
    run_id: str
    """The id that the program which runs agents gives it."""
    project_id: int
    session: str | None
    agent: str
    started_at: values.Time
    task: TaskBody
    receipt: ReceiptAnswer
    outcome: OutcomeAnswer | None


class RunList(values.Output, frozen=True):
    """Runs, newest first."""

    runs: list[RunAnswer]


class ComposedAnswer(values.Output, frozen=True):
    """A prompt with its receipt."""

    prompt: str
    receipt: ReceiptAnswer
    problems: tuple[str, ...]
    run: RunAnswer | None


class PromptAnswer(values.Output, frozen=True):
    """The prompt of a run."""

    prompt: str


class RunFilter(values.Input, frozen=True):
    """Which runs to list."""

    result: Literal["success", "failure", "partial"] | None = None
    pending: bool = False
    """Only runs without an outcome."""
    agent: str | None = None
    memory_id: Annotated[int, Meta(ge=1)] | None = None
    since: datetime | None = None
    limit: values.Limit = 50


class NewOutcome(values.Input, frozen=True):
    """The outcome of a run."""

    result: Literal["success", "failure", "partial"]
    helped: MemoryIds = msgspec.field(default_factory=list)
    """Memories in the prompt that helped."""
    harmed: MemoryIds = msgspec.field(default_factory=list)
    note: str = ""
    duration: Annotated[float, Meta(ge=0)] | None = None
    """In seconds."""
    exit_code: Annotated[int, Meta(ge=-1_000_000, le=1_000_000)] | None = None
    force: bool = False
    """Replace an outcome that was recorded before."""


def _show_memory(value: PromptMemory) -> PromptMemoryAnswer:
    return PromptMemoryAnswer(
        memory_id=value.number,
        uuid=value.id,
        version=value.version,
        rule=value.rule,
        reason=value.reason,
        relevance=value.relevance,
    )


def _show_receipt(value: Receipt) -> ReceiptAnswer:
    return ReceiptAnswer(
        sha256=value.sha256,
        bytes=value.bytes,
        tokens=value.tokens,
        format=value.format,
        holdout=value.holdout,
        memories=[_show_memory(each) for each in value.memories],
        left_out=[_show_memory(each) for each in value.left_out],
        left_out_count=value.left_out_count,
    )


def _show_outcome(value: Outcome) -> OutcomeAnswer:
    return OutcomeAnswer(
        result=value.result.value,
        at=value.at,
        by=value.by,
        duration=value.duration,
        exit_code=value.exit_code,
        note=value.note,
        helped=value.helped,
        harmed=value.harmed,
    )


def _show_run(value: Run, project_id: int) -> RunAnswer:
    return RunAnswer(
        id=value.number,
        run_id=value.id,
        project_id=project_id,
        session=value.scope.name or None,
        agent=value.agent.name,
        started_at=value.started_at,
        task=TaskBody(**msgspec.structs.asdict(value.task)),
        receipt=_show_receipt(value.receipt),
        outcome=None if value.outcome is None else _show_outcome(value.outcome),
    )


@route(
    "POST",
    f"{_PROJECT}/compose",
    "composePrompt",
    body=ComposeBody,
    answer=ComposedAnswer,
    statuses=(409,),
    example={"prompt": _PROMPT, "receipt": _RECEIPT, "problems": [], "run": None},
    body_example={"task": _TASK, "limit": 10},
    idempotent=True,
)
def compose_prompt(call: Call[NoQuery, ComposeBody]) -> Answer:
    """Compose the prompt of a task, with the memories that fit it best.

    The same memories and the same task give the same bytes, here and with `omoide compose`. With `run` or `record`, a run is
    recorded, which can be replayed and given an outcome."""
    asked = call.body
    done = call.once(
        call.scope,
        lambda service: service.compose(
            Task(**msgspec.structs.asdict(asked.task)),
            scope=call.session_scope(asked.session),
            limit=asked.limit,
            budget_bytes=asked.budget_bytes,
            budget_tokens=asked.budget_tokens,
            run=asked.run,
            record=asked.record,
        ),
    )
    run = None if done.run is None else _show_run(done.run, call.project_id)
    return Answer(ComposedAnswer(prompt=done.text, receipt=_show_receipt(done.receipt), problems=done.problems, run=run))


@route("GET", f"{_PROJECT}/runs", "listRuns", query=RunFilter, answer=RunList, example={"runs": [_EXAMPLE]})
def list_runs(call: Call[RunFilter, None]) -> Answer:
    """List the runs of a project, newest first."""
    asked = call.query
    found = call.service.runs(
        scope=call.scope,
        result=asked.result,
        agent=asked.agent,
        memory=None if asked.memory_id is None else f"#{asked.memory_id}",
        since=asked.since,
        pending=asked.pending,
        limit=asked.limit,
    )
    return Answer(RunList(runs=[_show_run(each, call.project_id) for each in found]))


@route("GET", _RUN, "getRun", answer=RunAnswer, example=_EXAMPLE)
def get_run(call: Call[NoQuery, None]) -> Answer:
    """Return a run with its receipt and its outcome."""
    return Answer(_show_run(call.service.run(call.path["runId"], scope=call.scope), call.project_id))


@route("GET", f"{_RUN}/prompt", "replayRun", answer=PromptAnswer, statuses=(409,), example={"prompt": _PROMPT})
def replay_run(call: Call[NoQuery, None]) -> Answer:
    """Return the prompt of a run: the same bytes as then, rendered from the history."""
    return Answer(PromptAnswer(prompt=call.service.replay(call.path["runId"], scope=call.scope)))


@route(
    "POST",
    f"{_RUN}/outcome",
    "recordOutcome",
    body=NewOutcome,
    answer=RunAnswer,
    statuses=(409,),
    example=_EXAMPLE,
    body_example={"result": "success", "helped": [2]},
    idempotent=True,
)
def record_outcome(call: Call[NoQuery, NewOutcome]) -> Answer:
    """Record the outcome of a run; the relevance of the memories in its prompt moves accordingly."""
    new = call.body
    done = call.once(
        call.scope,
        lambda service: service.outcome(
            call.path["runId"],
            new.result,
            scope=call.scope,
            helped=[f"#{each}" for each in new.helped],
            harmed=[f"#{each}" for each in new.harmed],
            note=new.note,
            duration=new.duration,
            exit_code=new.exit_code,
            force=new.force,
        ),
    )
    return Answer(_show_run(done, call.project_id))


@route("DELETE", f"{_RUN}/outcome", "undoOutcome", answer=RunAnswer, statuses=(409,), example={**_EXAMPLE, "outcome": None})
def undo_outcome(call: Call[NoQuery, None]) -> Answer:
    """Take back the outcome of a run, and what it moved."""
    return Answer(_show_run(call.service.undo_outcome(call.path["runId"], scope=call.scope), call.project_id))
