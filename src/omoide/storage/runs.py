"""What a store promises about runs: their receipts and outcomes, and what outcomes say about memories.

A run belongs to a project (or to the global layer), and every key of it contains the project. None of it is a memory's text.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from omoide.model import LearnedRelevance, Outcome, OutcomeEvidence, Run, Scope


class RunReader(Protocol):
    """Read runs."""

    def run(self, scope: Scope, reference: int | str) -> Run | None:
        """Return the run of the scope's project with this number or id."""

    def runs(self, scope: Scope) -> Iterator[Run]:
        """Return the runs of the scope's project, newest first; of a session's scope, only those of the session. Lazy."""

    def last_tick(self, scope: Scope) -> int:
        """Return the highest tick of the runs of the scope's project; 0 if none has an outcome."""

    def evidence(self, memory: int, since: int) -> list[OutcomeEvidence]:
        """Return what outcomes at or after an event say about a memory, in the order of the outcomes, of every project."""

    def learned_relevances(self, scope: Scope) -> list[LearnedRelevance]:
        """Return what is known about the relevance of the memories of the scope's project and the global layer."""


class RunWriter(Protocol):
    """Write runs."""

    def add_run(self, run: Run) -> Run:
        """Store a new run, and return it with the next number of its project. Raises Conflict if its id is taken there."""

    def put_outcome(self, run: Run, outcome: Outcome | None, credits: Mapping[int, tuple[float, float]]) -> None:
        """Store the outcome of a run with the run's tick; None: it has none any more.

        `credits` are the credit and the weight of each memory for which the outcome counts, by number.
        """

    def put_learned_relevance(self, known: LearnedRelevance) -> None:
        """Store what is known about the relevance of a memory."""

    def drop_learned(self, memories: Iterable[int]) -> None:
        """Delete what is known about the relevance of these memories."""
