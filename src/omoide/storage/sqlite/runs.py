"""Runs on SQLite."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apsw
import msgspec
from msgspec.structs import replace

from omoide.errors import Conflict
from omoide.model import Actor, LearnedRelevance, Outcome, OutcomeEvidence, Receipt, Role, Run, Scope, Task
from omoide.storage.rows import micros, moment
from omoide.storage.sqlite.cache import NumberReader, NumberWriter

_RUN = """
SELECT coalesce(p.path, ''), r.number, r.id, r.session, r.task, a.name, a.role, a.via, r.started_at, r.receipt, r.outcome,
    r.tick
FROM runs r JOIN actors a ON a.number = r.actor LEFT JOIN projects p ON p.number = r.project WHERE """
_EVIDENCE = """
SELECT coalesce(p.path, ''), r.tick, x.credit, x.weight
FROM run_memories x JOIN runs r ON r.project = x.project AND r.number = x.run LEFT JOIN projects p ON p.number = r.project
WHERE x.memory = ? AND x.credit IS NOT NULL AND r.outcome_event >= ? ORDER BY r.outcome_event"""
_LEARNED = """
SELECT l.memory, l.prior, l.value, l.since, l.fixed, l.successes, l.failures, coalesce(p.path, ''), l.tick
FROM learned_relevances l JOIN memories m ON m.number = l.memory LEFT JOIN projects p ON p.number = l.project
WHERE m.project IN (?, 0) ORDER BY l.memory"""


class SqliteRunReader(NumberReader):
    """The part of `SqliteReader` that is about runs."""

    def run(self, scope: Scope, reference: int | str) -> Run | None:
        column = "number" if isinstance(reference, int) else "id"
        row = self._tx.get(f"{_RUN} r.project = ? AND r.{column} = ?", (self._project(scope.path), reference))
        return None if row is None else _run(row)

    def runs(self, scope: Scope) -> Iterator[Run]:
        where = "r.project = ? AND r.session = ?" if scope.name else "r.project = ?"
        values = (self._project(scope.path), *([scope.name] if scope.name else []))
        return map(_run, self._tx.stream(f"{_RUN} {where} ORDER BY r.number DESC", values))

    def last_tick(self, scope: Scope) -> int:
        return int(self._tx.get("SELECT coalesce(max(tick), 0) FROM runs WHERE project = ?", (self._project(scope.path),)))

    def evidence(self, memory: int, since: int) -> list[OutcomeEvidence]:
        return [OutcomeEvidence(*row) for row in self._tx.rows(_EVIDENCE, (memory, since))]

    def learned_relevances(self, scope: Scope) -> list[LearnedRelevance]:
        return [
            LearnedRelevance(memory, prior, value, since, bool(fixed), *rest)
            for memory, prior, value, since, fixed, *rest in self._tx.rows(_LEARNED, (self._project(scope.path),))
        ]


class SqliteRunWriter(SqliteRunReader, NumberWriter):
    """The part of `SqliteWriter` that is about runs."""

    def add_run(self, run: Run) -> Run:
        project = self._ensure_project(run.scope.path, run.started_at)
        number = 1 + self._tx.get("SELECT coalesce(max(number), 0) FROM runs WHERE project = ?", (project,))
        try:
            self._tx.run(
                "INSERT INTO runs (project, number, id, session, actor, started_at, task, receipt)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(project, number, run.id, run.scope.name, self._actor_number(run.agent), micros(run.started_at)),
                    *(msgspec.json.encode(run.task).decode(), msgspec.json.encode(run.receipt).decode()),
                ),
            )
        except apsw.ConstraintError as error:
            raise Conflict(f"{run.scope} has a run {run.id!r} already: choose another id") from error
        self._tx.run_many(
            "INSERT INTO run_memories (project, run, memory) VALUES (?, ?, ?)",
            ((project, number, one.number) for one in run.receipt.memories),
        )
        return replace(run, number=number)

    def put_outcome(self, run: Run, outcome: Outcome | None, credits: Mapping[int, tuple[float, float]]) -> None:
        key = (self._project(run.scope.path), run.number)
        text = None if outcome is None else msgspec.json.encode(outcome).decode()
        event, tick = (None, 0) if outcome is None else (outcome.event, run.tick)
        self._tx.run(
            "UPDATE runs SET outcome = ?, outcome_event = ?, tick = ? WHERE project = ? AND number = ?",
            (text, event, tick, *key),
        )
        self._tx.run("UPDATE run_memories SET credit = NULL, weight = NULL WHERE project = ? AND run = ?", key)
        self._tx.run_many(
            "UPDATE run_memories SET credit = ?, weight = ? WHERE project = ? AND run = ? AND memory = ?",
            ((credit, weight, *key, memory) for memory, (credit, weight) in credits.items()),
        )

    def put_learned_relevance(self, known: LearnedRelevance) -> None:
        project = self._project(known.project)
        self._tx.run(
            "INSERT OR REPLACE INTO learned_relevances"
            " (memory, prior, value, since, fixed, successes, failures, project, tick) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(known.memory, known.prior, known.value, known.since, int(known.fixed)),
                *(known.successes, known.failures, project, known.tick),
            ),
        )

    def drop_learned(self, memories: Iterable[int]) -> None:
        self._tx.run_many("DELETE FROM learned_relevances WHERE memory = ?", ((number,) for number in memories))

    def move_runs(self, source: int | None, target: int | None) -> None:
        """Give the runs of a project to another one, under new numbers; an id that is taken there gets the old number."""
        last, tick = self._tx.get(
            "SELECT coalesce(max(number), 0), coalesce(max(tick), 0) FROM runs WHERE project = ?", (target,)
        )
        self._tx.run(
            "UPDATE runs SET id = id || '-' || number WHERE project = ?1 AND id IN (SELECT id FROM runs WHERE project = ?2)",
            (source, target),
        )
        self._tx.run(
            "UPDATE runs SET project = ?2, number = number + ?3, tick = tick + CASE tick WHEN 0 THEN 0 ELSE ?4 END"
            " WHERE project = ?1",
            (source, target, last, tick),
        )
        self._tx.run("UPDATE run_memories SET project = ?2, run = run + ?3 WHERE project = ?1", (source, target, last))
        self._tx.run(
            "UPDATE learned_relevances SET project = ?2, tick = tick + ?3 WHERE project = ?1", (source, target, tick)
        )


def _run(row: Any) -> Run:
    path, number, id, session, task, name, role, via, started_at, receipt, outcome, tick = row
    return Run(
        number,
        id,
        Scope(path, session),
        msgspec.json.decode(task, type=Task),
        Actor(name, Role(role), via),
        moment(started_at),
        msgspec.json.decode(receipt, type=Receipt),
        None if outcome is None else msgspec.json.decode(outcome, type=Outcome),
        tick,
    )
