"""Runs: a task for which a prompt was composed, what the prompt was made of, and its outcome."""

from datetime import datetime
from enum import StrEnum

import msgspec

from omoide.model.prompt import Receipt, Task
from omoide.model.scope import Actor, Scope


class RunResult(StrEnum):
    """How a run ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    PARTIAL = "partial"


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcome of a run."""

    result: RunResult
    at: datetime
    by: str
    """Who reported it."""
    duration: float | None = None
    """In seconds."""
    exit_code: int | None = None
    note: str = ""
    helped: tuple[int, ...] = ()
    """Numbers of memories in the prompt that helped, as reported with the outcome."""
    harmed: tuple[int, ...] = ()
    event: int = 0
    """The last event of the store before it: so outcomes have an order across projects that does not depend on clocks."""


class Run(msgspec.Struct, frozen=True):
    """A task for which a prompt was composed. It holds the task's text, but of memories only numbers, ids and versions."""

    number: int
    """Counted in each project; 0 until it is stored."""
    id: str
    """Unique in its project; chosen by the caller, or made here."""
    scope: Scope
    """The project, and the session if there is one."""
    task: Task
    """With the text of its role, so that the prompt can be rendered again when the profile has changed."""
    agent: Actor
    """Who composed the prompt."""
    started_at: datetime
    receipt: Receipt
    outcome: Outcome | None = None
    tick: int = 0
    """The order in which the runs of a project got their outcomes; 0: it has none."""


class ComposedPrompt(msgspec.Struct, frozen=True):
    """A prompt that was composed for a task."""

    text: str
    receipt: Receipt
    problems: tuple[str, ...] = ()
    """What was wrong but did not prevent the prompt, such as a broken glob among the tags."""
    run: Run | None = None
    """The run under which it was recorded."""


class OutcomeEvidence(msgspec.Struct, frozen=True):
    """What one run says about a memory that was in its prompt."""

    project: str
    tick: int
    credit: float
    """From 0, it went wrong, to 1, it went well."""
    weight: float


class LearnedRelevance(msgspec.Struct, frozen=True):
    """What is known about the relevance of a memory beside its value."""

    memory: int
    """The number of the memory."""
    prior: float
    """The value that a person gave, or the default."""
    value: float
    """The value that was learned last. If the memory has another one, a person has changed it: that is the new prior."""
    since: int
    """Outcomes before this event do not count: they were about another prior."""
    fixed: bool = False
    """Whether a person has fixed the value, so that outcomes do not move it."""
    successes: float = 0.0
    failures: float = 0.0
    """The weight of the evidence, as it was at the tick."""
    project: str = ""
    """The project of the last run that counted."""
    tick: int = 0
    """The tick of that run."""
