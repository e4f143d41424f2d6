"""Decide on what was learnt: list the proposals, confirm or drop each."""

from omoide.errors import InvalidInput
from omoide.guard import permissions, validation
from omoide.model import Draft, Memory, Query, Scope, State
from omoide.service.candidate_store import LEARNING, NEVER_KEY, CandidateStore, is_proposal
from omoide.service.core import Ref
from omoide.service.versioning import with_fields
from omoide.service.write_path import MemoryTransaction


class Proposals(CandidateStore):
    """Operations on what was learnt and waits for somebody to confirm it."""

    def proposals(self, *, scope: Scope, limit: int | None = None) -> list[Memory]:
        """Return the learnings that the scope sees and that wait for somebody to confirm them, oldest first.

        `limit`: how many at most; by default that of the settings. Raises InvalidInput.
        """
        permissions.require(self._actor, "proposals")
        limit = validation.check_limit(limit, self._settings)
        query = permissions.narrow_or_refuse(
            self._actor, Query(scope, types=(LEARNING,), states=(State.INACTIVE,), limit=limit)
        )
        with self._read(scope) as tx:
            found = [memory for memory in tx.browse(query, self._clock()) if is_proposal(memory)]
        return sorted(found, key=lambda memory: memory.number)[:limit]

    def approve(self, ref: Ref, *, scope: Scope, content: str | None = None) -> Memory:
        """Confirm a proposal: it becomes active with a confidence of 1, and what it supersedes is archived.

        `content`: another text for it. Returns the memory. Raises NotAllowed for a worker, NotFound, SecretFound, and
        InvalidInput for a memory that is no proposal or a text that is not valid.
        """
        permissions.require(self._actor, "approve", "confirm proposals")
        changes: dict[str, object] = {"state": State.ACTIVE, "confidence": 1.0}
        if content is not None:
            changes |= validation.check_fields({"content": content}, self._settings, ("content",))
        with self._writes.transaction() as write:
            memory = self._require_proposal(write, ref, scope)
            return self._activate(write, memory, changes, "approved")

    def reject(self, ref: Ref, *, scope: Scope, never: bool = False) -> Memory:
        """Drop a proposal: it is forgotten, and not proposed again.

        `never`: do not propose anything of its kind in its project any more. Returns the memory. Raises NotAllowed for a
        worker, NotFound, and InvalidInput for a memory that is no proposal.
        """
        permissions.require(self._actor, "reject", "drop proposals")
        with self._writes.transaction() as write:
            memory = self._require_proposal(write, ref, scope)
            dropped = write.change(memory, with_fields(memory, {"state": State.FORGOTTEN}), "rejected")
            if never and memory.tags:
                self._add_unwanted(write, memory)
        return dropped

    def _add_unwanted(self, write: MemoryTransaction, memory: Memory) -> None:
        place = Scope(memory.scope.path)
        kinds = sorted({*self._unwanted_kinds(write.tx, place), memory.tags[0]})
        content = f"Learnings of these kinds are not proposed here: {', '.join(kinds)}."
        draft = Draft(
            content, scope=place, key=NEVER_KEY, type="preference", tags=kinds, topic="Learnings that are not wanted"
        )
        write.remember(self._writes.check(draft))

    def _require_proposal(self, write: MemoryTransaction, ref: Ref, scope: Scope) -> Memory:
        memory = self._find(write.tx, ref, scope)
        if not is_proposal(memory):
            raise InvalidInput(f"#{memory.number} is no proposal: `omoide review` lists them")
        return memory
