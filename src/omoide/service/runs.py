"""Runs: list and replay them, explain and compare their prompts, and record their outcomes."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice

from msgspec.structs import replace

from omoide.errors import Conflict, InvalidInput, NotAllowed, NotFound
from omoide.guard import permissions, validation
from omoide.lifecycle import relevance
from omoide.model import Actor, Layer, LearnedRelevance, Memory, Outcome, Run, RunResult, Scope
from omoide.service import idempotency
from omoide.service.core import Core, Ref
from omoide.service.versioning import require_living
from omoide.service.write_path import MemoryTransaction
from omoide.storage.base import Reader

_LARGEST_SECONDS = 10 * 366 * 86_400


class Runs(Core):
    """Operations on runs."""

    def runs(
        self,
        *,
        scope: Scope,
        result: RunResult | str | None = None,
        agent: str | None = None,
        memory: Ref | None = None,
        since: datetime | None = None,
        pending: bool = False,
        limit: int = 50,
    ) -> Sequence[Run]:
        """Return the runs of the scope's project, or of its session, newest first.

        `result`: only runs with this result: success, failure or partial. `pending`: only runs without an outcome. `agent`:
        only runs whose prompt this agent composed. `memory`: only runs with this memory in the prompt. `since`: only runs
        that started at or after this time, which has a time zone. `limit`: how many at most. Raises InvalidInput and
        NotFound.
        """
        permissions.require(self._actor, "runs")
        limit = validation.check_limit(limit, self._settings)
        wanted = None if result is None else check_result(result)
        earliest = None if since is None else validation.check_aware(since, "since")
        with self._read(scope) as tx:
            number = None if memory is None else self._find(tx, memory, scope).number
            found = (
                run
                for run in known_runs(tx, self._actor, scope)
                if _has_outcome(run, wanted, pending=pending)
                and (agent is None or run.agent.name == agent)
                and (number is None or any(one.number == number for one in run.receipt.memories))
                and (earliest is None or run.started_at >= earliest)
            )
            return [limit_receipt(tx, self._actor, run) for run in islice(found, limit)]

    def run(self, run: Ref, *, scope: Scope) -> Run:
        """Return a run of the scope's project.

        `run`: the number or the id of the run: see `find_run`. Raises NotFound.
        """
        permissions.require(self._actor, "run")
        with self._read(scope) as tx:
            return limit_receipt(tx, self._actor, find_run(tx, self._actor, run, scope))

    def outcome(
        self,
        run: Ref,
        result: RunResult | str,
        *,
        scope: Scope,
        helped: Sequence[Ref] = (),
        harmed: Sequence[Ref] = (),
        note: str = "",
        duration: float | None = None,
        exit_code: int | None = None,
        force: bool = False,
    ) -> Run:
        """Record the outcome of a run, and move the relevance of the memories in its prompt accordingly.

        `run`: the number or the id of the run. `result`: success, failure or partial. `helped`, `harmed`: memories in the
        prompt that helped or did harm, which counts more than the result. `note`: what happened, in words. `duration`: in
        seconds; by default the time since the prompt was composed. `exit_code`: of the agent's process. `force`: replace an
        outcome that was recorded before.

        The relevance of pinned memories, and of those whose relevance a person fixed, does not move; nor that of memories
        that the actor may not change. Returns the run. Raises NotFound, InvalidInput, and Conflict for a run that has an
        outcome already.
        """
        permissions.require(self._actor, "outcome")
        wanted = check_result(result)
        text = validation.check_note(note, self._settings)
        check_measures(duration, exit_code)
        permissions.require_place(self._actor, scope)

        def complete(done: Run) -> Run:
            with self._read(scope) as tx:
                return limit_receipt(tx, self._actor, _with_note(done, text))

        with idempotency.complete_result(complete), self._writes.transaction() as write:
            found = limit_receipt(write.tx, self._actor, find_run(write.tx, self._actor, run, scope))
            if found.outcome is not None:
                if not force:
                    raise Conflict(
                        f"run {found.number} has the outcome {found.outcome.result} already: replace it with --force"
                        " (force=True), or take it back with --undo (undo_outcome)"
                    )
                found = self._take_back(write, found)
            seconds = (write.at - found.started_at).total_seconds() if duration is None else duration
            outcome = Outcome(
                wanted,
                write.at,
                self._actor.name,
                max(0.0, float(seconds)),
                exit_code,
                text,
                self._in_prompt(write.tx, found, helped),
                self._in_prompt(write.tx, found, harmed),
                write.tx.mark().event,
            )
            both = sorted(set(outcome.helped) & set(outcome.harmed))
            if both:
                raise InvalidInput(f"#{both[0]} cannot have helped and harmed: name it once")
            done = write.result = self._record(write, found, outcome)
        return done

    def undo_outcome(self, run: Ref, *, scope: Scope) -> Run:
        """Remove the outcome of a run, and move the relevance of memories back accordingly.

        `run`: the number or the id of the run. Returns the run. Raises NotFound, and Conflict if it has no outcome.
        """
        permissions.require(self._actor, "undo_outcome")
        permissions.require_place(self._actor, scope)
        with self._writes.transaction() as write:
            found = limit_receipt(write.tx, self._actor, find_run(write.tx, self._actor, run, scope))
            if found.outcome is None:
                raise Conflict(f"run {found.number} has no outcome: there is nothing to undo")
            return self._take_back(write, found)

    def fix_relevance(self, ref: Ref, *, scope: Scope, value: float | None = None, if_version: int | None = None) -> Memory:
        """Fix the relevance of a memory, so that outcomes of runs no longer move it.

        `value`: the relevance, from 0 to 1; None: the one that it has. `if_version`: raise Changed unless this is the
        current version. Returns the memory. Raises NotFound, InvalidInput, NotAllowed, and Conflict where it is forgotten.
        """
        permissions.require(self._actor, "fix_relevance")
        chosen = None if value is None else validation.check_share(value, "relevance")
        with self._writes.transaction() as write:
            old = require_living(self._find_version(write.tx, ref, scope, if_version))
            return write.fix_relevance(old, old.relevance if chosen is None else chosen)

    def release_relevance(self, ref: Ref, *, scope: Scope, if_version: int | None = None) -> Memory:
        """Let outcomes of runs move the relevance of a memory again, from its present value on.

        `if_version`: raise Changed unless this is the current version. Returns the memory. Raises NotFound and NotAllowed.
        """
        permissions.require(self._actor, "release_relevance")
        with self._writes.transaction() as write:
            memory = self._find_version(write.tx, ref, scope, if_version)
            write.release_relevance(memory)
            return memory

    def _in_prompt(self, tx: Reader, run: Run, refs: Sequence[Ref]) -> tuple[int, ...]:
        """The numbers of memories that were in the prompt of a run."""
        present = {one.number for one in run.receipt.memories}
        numbers: list[int] = []
        for ref in refs:
            text = str(ref).removeprefix("#")
            number = int(text) if text.isdigit() and int(text) in present else self._find(tx, ref, run.scope).number
            if number not in present:
                listed = ", ".join(f"#{each}" for each in sorted(present)) or "none"
                raise InvalidInput(f"#{number} was not in the prompt of run {run.number}: its memories are {listed}")
            numbers.append(number)
        return tuple(sorted(set(numbers)))

    def _record(self, write: MemoryTransaction, run: Run, outcome: Outcome) -> Run:
        run = replace(run, outcome=outcome, tick=write.tx.last_tick(run.scope) + 1)
        movable = self._movable(write, run) if self._settings.learn_relevance else {}
        credits = {memory.number: relevance.credit(outcome, memory.number) for memory in movable.values()}
        write.tx.put_outcome(run, outcome, credits)
        known = {one.memory: one for one in write.tx.learned_relevances(run.scope)}
        for number, memory in movable.items():
            before = known.get(number)
            if before is None or not relevance.is_moved(before, memory.relevance):
                before = relevance.unlearned(number, memory.relevance, outcome.event)
            self._move(write, memory, before, {"run": run.id, "result": outcome.result.value})
        write.log("outcome", run.scope, {"run": run.id, "result": outcome.result.value})
        return run

    def _take_back(self, write: MemoryTransaction, run: Run) -> Run:
        write.tx.put_outcome(run, None, {})
        movable = self._movable(write, run)
        for known in write.tx.learned_relevances(run.scope):
            memory = movable.get(known.memory)
            if memory is not None and not known.fixed and relevance.is_moved(known, memory.relevance):
                self._move(write, memory, known, {"run": run.id, "undone": True})
        write.log("outcome undone", run.scope, {"run": run.id})
        return replace(run, outcome=None, tick=0)

    def _movable(self, write: MemoryTransaction, run: Run) -> dict[int, Memory]:
        """The memories of a run's prompt whose relevance its outcome may move, by number."""
        fixed = {known.memory for known in write.tx.learned_relevances(run.scope) if known.fixed}
        ids = {one.number: one.id for one in run.receipt.memories}
        return {
            memory.number: memory
            for memory in write.tx.memories(sorted(ids))
            if memory.id == ids[memory.number]
            and not memory.pinned
            and memory.number not in fixed
            and self._may_move(memory)
        }

    def _may_move(self, memory: Memory) -> bool:
        try:
            self._writes.require_layer(memory.scope)
        except NotAllowed:  # fallback: it stays as it is, and the outcome is recorded
            return False
        return permissions.covers(self._actor, memory.scope)

    def _move(self, write: MemoryTransaction, memory: Memory, known: LearnedRelevance, detail: dict[str, object]) -> None:
        """Give a memory the relevance that follows from all evidence about it."""
        evidence = write.tx.evidence(memory.number, known.since)
        learned = relevance.learn(known, evidence)
        if evidence:
            write.tx.put_learned_relevance(learned)
        else:
            write.tx.drop_learned([memory.number])
        write.set_learned_relevance(memory, learned.value, detail)


def _has_outcome(run: Run, wanted: RunResult | None, *, pending: bool) -> bool:
    """Return whether a run has this outcome, any if None is wanted; or has none yet, where it must be pending."""
    if run.outcome is None:
        return wanted is None
    return not pending and wanted in (None, run.outcome.result)


def find_run(tx: Reader, actor: Actor, ref: Ref, scope: Scope) -> Run:
    """Return the run of the scope's project that a caller refers to; raise NotFound if the actor may know of none.

    Its receipt may name memories that the actor may not know of: see `limit_receipt`.

    `ref`: an integer is the number of the run, a text its id or its number. An id may look like a number, such as that of a
    build: the id is preferred, and `#3` is always the number.
    """
    text = str(ref).strip()
    found = tx.run(scope, text) if text and not isinstance(ref, int) else None
    number = text.removeprefix("#")
    if found is None and number.isascii() and number.isdigit() and len(number) < 10:
        found = tx.run(scope, int(number))
    if found is None or not permissions.covers(actor, found.scope):
        raise NotFound(f"there is no run {text!s:.100} in {Scope(scope.path)}: `omoide runs` lists its runs")
    return found


def known_runs(tx: Reader, actor: Actor, scope: Scope) -> Iterator[Run]:
    """Yield the runs of a scope that the actor may know of, newest first. For their receipts see `limit_receipt`."""
    return (run for run in tx.runs(scope) if permissions.covers(actor, run.scope))


def limit_receipt(tx: Reader, actor: Actor, run: Run) -> Run:
    """Return a run without the memories in its receipt and outcome that the actor may not know of.

    Of a purged memory the layer is not known any more: only an actor that may use all layers is told of it.
    """
    if permissions.readable_layers(actor) == tuple(Layer):
        return run  # all of them are of the run's project, or global
    receipt, outcome = run.receipt, run.outcome
    present = tx.memories([one.id for one in (*receipt.memories, *receipt.left_out)])
    known = {memory.id: memory.number for memory in present if permissions.covers(actor, memory.scope)}
    left_out = tuple(one for one in receipt.left_out if one.id in known)
    limited = replace(
        receipt,
        memories=tuple(one for one in receipt.memories if one.id in known),
        left_out=left_out,
        left_out_count=receipt.left_out_count - len(receipt.left_out) + len(left_out),
    )
    if outcome is not None:
        numbers = set(known.values())
        helped, harmed = (tuple(each for each in named if each in numbers) for named in (outcome.helped, outcome.harmed))
        outcome = replace(outcome, helped=helped, harmed=harmed)
    return replace(run, receipt=limited, outcome=outcome)


def _with_note(run: Run, note: str) -> Run:
    """A run as it was when its outcome was recorded with this note."""
    return run if run.outcome is None else replace(run, outcome=replace(run.outcome, note=note))


def check_result(result: RunResult | str) -> RunResult:
    """Return the result of a run as a `RunResult`; raise InvalidInput for another text."""
    try:
        return RunResult(result)
    except ValueError:
        raise InvalidInput(f"the outcome must be {', '.join(RunResult)}, got {result!r:.60}") from None


def check_measures(duration: float | None, exit_code: int | None) -> None:
    """Raise InvalidInput for a duration that is not from 0 seconds to ten years, and an exit code that is not an integer."""
    if duration is not None and not (isinstance(duration, (int, float)) and 0 <= duration <= _LARGEST_SECONDS):
        raise InvalidInput(f"duration must be a number of seconds of at least 0, got {duration!r}")
    if exit_code is not None and (isinstance(exit_code, bool) or not isinstance(exit_code, int)):
        raise InvalidInput(f"exit_code must be a whole number, got {exit_code!r}")


def versions_in_prompt(tx: Reader, run: Run) -> Iterator[Memory | None]:
    """Yield the memories of a run's prompt, in its order and in the versions that it had; None for one that was purged."""
    for one in run.receipt.memories:
        versions = tx.versions(one.number)
        found = (version.memory for version in versions if version.memory.version == one.version)
        memory = next(found, None)
        yield memory if memory is not None and memory.id == one.id else None
