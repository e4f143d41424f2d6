"""Compose prompts: select memories for a task, and render them into its sections."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from omoide import model
from omoide.errors import InvalidInput, NotFound
from omoide.files.directory_text import directory_path
from omoide.guard import permissions, validation
from omoide.model import ACTIVITY, ComposedPrompt, Layer, Layout, Memory, PromptCandidate, Query, Run, Scope, Task
from omoide.retrieval import pipeline
from omoide.service import idempotency
from omoide.service.core import Core, Ref
from omoide.service.replay import render_again
from omoide.storage.base import Reader

if TYPE_CHECKING:  # loads with the first prompt
    from omoide.prompt.budget import Budget

_RECALLED = 200
"""How many memories the task's text may recall, where the setting `select` is task."""


class Prompts(Core):
    """Operations that turn memories into prompts."""

    def compose(
        self,
        task: Task,
        *,
        scope: Scope,
        layers: Sequence[Layer] = (),
        limit: int | None = None,
        budget_bytes: int | None = None,
        budget_tokens: int | None = None,
        work_tree: Path | None = None,
        run: str | None = None,
        record: bool = False,
    ) -> ComposedPrompt:
        """Compose the prompt of a task: its sections, with the memories of `scope` that fit it best.

        Only current memories that the scope sees are chosen, no lines of activity: first those with a glob tag that matches
        the task's `write_scope`, then by relevance, highest first. The same memories and the same task give the same bytes.

        `task`: what the agent is to do. `layers`: only these layers of what the scope sees; empty: all. `limit`: how many
        memories at most; by default the setting `compose_limit`. `budget_bytes`, `budget_tokens`: how large the whole prompt
        may be; 0: no limit; by default the settings of these names. `work_tree`: the directory whose files the globs of the
        write scope stand for; by default the project's own. `run`: record a run under this id, which must be new in the
        project. `record`: record a run under an id that is made here. A recorded run can be replayed, and its outcome
        reported.

        Returns the text with its receipt, and the run if one is recorded. Every memory in it counts as accessed. Raises
        InvalidInput for a task that is not valid and for a budget that the other sections exceed, SecretFound for a secret
        in the task, Conflict for a run whose id is taken, and NotAllowed.
        """
        permissions.require(self._actor, "compose")
        from omoide.prompt import compose  # lazy: only this needs it

        # With the text of its role: the template of a profile may change, and the run is rendered again later.
        task = validation.check_task(task, self._settings)
        task = validation.check_task(msgspec.structs.replace(task, role=self._role(task)), self._settings)
        id = self._run_id(run, record=record)
        if id is not None:
            permissions.require_within(self._actor, validation.check_scope(scope))
        allowed = self._budget(limit, budget_bytes, budget_tokens)
        query = permissions.narrow_or_refuse(self._actor, Query(scope, layers=tuple(layers)))
        at = self._clock()
        recalling = msgspec.structs.replace(query, text=self._recall_text(task), limit=_RECALLED)
        vector = self._embeddings.encode_query(recalling) if recalling.text else None
        with self._read(scope) as tx:
            known = [one for one in tx.prompt_candidates(query, at) if one.type != ACTIVITY]  # a log, no knowledge
            candidates = self._with_present_relevance(tx, scope, known)
            place = (work_tree or _work_tree(tx, scope)) if compose.needs_files(task) else None
            hits = pipeline.search(tx, recalling, at, vector).hits if recalling.text else ()
        scores = {hit.memory.number: hit.score for hit in hits}
        files = None if place is None else _list_files(place)
        given = compose.Circumstances(task.role, allowed, files, scores, self._is_held_out(id))
        composed = compose.compose(task, candidates, given)
        if id is not None or self._writes.has_key:
            composed = self._record_composed(composed, scope, task, id, at)
        self._store.touch([one.number for one in composed.receipt.memories], at)
        return composed

    def _record_composed(
        self, composed: ComposedPrompt, scope: Scope, task: Task, id: str | None, at: datetime
    ) -> ComposedPrompt:
        """Record the run of a prompt if it has an id, and what was composed if the request has an idempotency key."""

        def compose_again(done: ComposedPrompt) -> ComposedPrompt:
            """The prompt of then: its receipt and the history have all that the request does not have."""
            run = done.run or Run(0, "", scope, task, self._actor, at, done.receipt)
            with self._read(scope) as tx:
                return msgspec.structs.replace(done, text=render_again(tx, self._actor, run), problems=composed.problems)

        with idempotency.complete_result(compose_again), self._writes.transaction() as write:
            if id is not None:
                run = write.tx.add_run(Run(0, id, scope, task, self._actor, at, composed.receipt))
                write.log("composed", scope, {"run": run.id})
                composed = msgspec.structs.replace(composed, run=run)
            write.result = composed
        return composed

    def record_prompt(
        self,
        prompt: str,
        task: Task,
        memories: Sequence[Ref],
        *,
        scope: Scope,
        layout: Layout,
        run: str | None = None,
    ) -> ComposedPrompt:
        """Record a run whose prompt contains the text of files: the list of a repository, or the block of a project.

        `prompt`: the whole text; only its hash is stored. `task`: what the agent is to do. `memories`: those that stand in
        the files; one whose text did not fit into the prompt is left out. `layout`: "list" or "project". `run`: the id of
        the run, which must be new in the project; by default one is made. Every memory in the prompt counts as accessed.

        Returns the prompt with its receipt and its run. Raises InvalidInput, SecretFound for a secret in the task, Conflict
        for a run whose id is taken, and NotAllowed.
        """
        permissions.require(self._actor, "record_prompt")
        from omoide.prompt import compose  # lazy: only this needs it

        task = validation.check_task(task, self._settings)
        permissions.require_within(self._actor, validation.check_scope(scope))
        id = self._run_id(run, record=True) or ""
        with self._writes.transaction() as write:
            present = [memory for memory in self._find_all(write.tx, memories, scope) if _first_line(memory) in prompt]
            composed = compose.describe(prompt, present, layout)
            stored = write.tx.add_run(Run(0, id, scope, task, self._actor, write.at, composed.receipt))
            write.log("composed", scope, {"run": stored.id})
        self._store.touch([memory.number for memory in present], write.at)
        return msgspec.structs.replace(composed, run=stored)

    def _find_all(self, tx: Reader, refs: Sequence[Ref], scope: Scope) -> list[Memory]:
        """The memories that these refer to; those that the scope does not see, or that are gone, are left out."""
        found: dict[int, Memory] = {}
        for ref in refs:
            try:
                memory = self._find(tx, ref, scope)
            except NotFound:  # fallback: a mark in a file that stands for nothing
                continue
            found[memory.number] = memory
        return list(found.values())

    def _run_id(self, run: str | None, *, record: bool) -> str | None:
        """The id of the run to record; None: none."""
        if run is None:
            return model.new_id(self._clock()) if record else None
        return validation.check_name(validation.check_line(run, "run", self._settings), "run")

    def _is_held_out(self, id: str | None) -> bool:
        """Whether a run is among those that are composed without memories: by its id alone, so that nobody chooses."""
        if id is None or not self._settings.holdout:
            return False
        import hashlib  # lazy: only for a share of runs without memories

        return int.from_bytes(hashlib.sha256(id.encode()).digest()[:8]) < self._settings.holdout * 2**64

    def _with_present_relevance(
        self, tx: Reader, scope: Scope, candidates: Sequence[PromptCandidate]
    ) -> Sequence[PromptCandidate]:
        """The candidates, those with a learned relevance with what it is by now."""
        if not self._settings.learn_relevance:
            return candidates
        known, uses = tx.learned_relevances(scope), tx.use_counts()
        if not known and not uses:
            return candidates
        from omoide.lifecycle import relevance  # lazy: only once something was learned

        values = relevance.present_values(known, scope.path, tx.last_tick(scope))
        fixed = {one.memory for one in known if one.fixed}

        def present(candidate: PromptCandidate) -> float:
            value = values.get((candidate.number, candidate.relevance), candidate.relevance)
            is_open = candidate.number in uses and candidate.number not in fixed
            return relevance.with_uses(value, *uses[candidate.number]) if is_open else value

        return [msgspec.structs.replace(candidate, relevance=present(candidate)) for candidate in candidates]

    def _recall_text(self, task: Task) -> str:
        """What to recall memories by; empty where the settings do not ask for that."""
        return f"{task.title}\n{task.description}".strip() if self._settings.select == "task" else ""

    def _budget(self, limit: int | None, size: int | None, tokens: int | None) -> "Budget":
        from omoide.prompt.budget import Budget  # lazy: see compose

        settings = self._settings
        return Budget(
            validation.check_count(settings.compose_limit if limit is None else limit, "limit"),
            validation.check_count(settings.budget_bytes if size is None else size, "budget_bytes"),
            validation.check_count(settings.budget_tokens if tokens is None else tokens, "budget_tokens"),
        )

    def _role(self, task: Task) -> str:
        """The text of the section Role: the task's own, or the template of its profile."""
        if not task.profile:
            return task.role
        if task.role:
            raise InvalidInput("the task has a role and a profile: give one of them")
        template = self._settings.profiles.get(task.profile)
        if template is None:
            known = ", ".join(sorted(self._settings.profiles)) or "none yet"
            raise InvalidInput(f"there is no profile {task.profile!r}: `profiles` in the settings has {known}")
        return template


def _first_line(memory: Memory) -> str:
    """The line by which a memory is recognised in the text of a file."""
    return next((line.strip() for line in memory.content.splitlines() if line.strip()), memory.content)


def _work_tree(tx: Reader, scope: Scope) -> Path | None:
    """The directory of the project on this machine; None if it has none."""
    project = tx.project(scope.path) if scope.path else None
    places = [] if project is None else [directory_path(place.directory) for place in project.places]
    return next((place for place in places if place.is_dir()), None)


def _list_files(place: Path) -> Sequence[str]:
    from omoide.files.work_tree import list_files  # lazy: it loads subprocess: 10 ms

    return list_files(place)
