"""Learn from conversations: keep what is certain, propose the rest, and let a person decide on the proposals."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from omoide.errors import InvalidInput, ModelUnavailable, SecretFound
from omoide.guard import permissions, validation
from omoide.model import Draft, Memory, Query, Scope, State
from omoide.retrieval import near_duplicates
from omoide.service import versioning
from omoide.service.core import Core, Ref
from omoide.service.versioning import with_fields
from omoide.service.write_path import MemoryTransaction
from omoide.storage.base import IndexEntry, Reader

if TYPE_CHECKING:  # its patterns take 40 ms that only a process that learns should pay for
    from omoide.learning.candidates import Candidate, Rejection
    from omoide.learning.noise import Wording
    from omoide.learning.transcript import Turn

LEARNING = "learning"
"""The type of what was learnt, and its source."""
KINDS = ("request", "decision", "convention", "environment", "repair", "correction")
"""What a learning can be: each is stored as its first tag."""
CONFIDENT = 0.8
"""From this confidence on a learning is active at once; below, it waits for somebody to confirm it."""
NEVER_KEY = "never-learn"
"""The key of the memory whose tags are the kinds that a person does not want to be proposed in its project."""
_MODEL_CONFIDENCE = 0.7
"""Of what a model draws from a conversation: it is proposed, never active by itself."""
_MOST_COMPARED = 200
"""Proposals, and dropped ones, of a scope that a candidate is compared with: the newest."""
_SAME = 0.8
"""Share of its wording from which on a candidate says what one of these says."""
_MOST_SHOWN = 40_000
"""Characters of a conversation that a model is shown: the end of it."""
_INSTRUCTIONS = (
    "You read a conversation between a person and a coding agent. List what a later conversation in the same project should"
    " know: requests to remember something, decisions with their reason, error and fix pairs, preferences and conventions of"
    " the person, facts about the environment. Leave out progress of the task, temporary errors, intermediate results,"
    " secrets, and everything that stands only in the output of a tool. Each text is one self-contained sentence in the"
    " language of the conversation. An empty list is a good answer."
)


class LearningReport(msgspec.Struct, frozen=True):
    """What became of a conversation."""

    kept: list[Memory] = []
    """New and active."""
    proposed: list[Memory] = []
    """New and inactive, until somebody confirms them with `review`, or the same is learnt again."""
    confirmed: list[Memory] = []
    """Known already; their count of references grew, and a proposal became active."""
    rejected: "list[Rejection]" = []
    trouble: str = ""
    """Why the language model could not help, where one is configured."""


class _Learnt(msgspec.Struct, frozen=True):
    text: str
    kind: str


class _Answer(msgspec.Struct, frozen=True):
    learnings: list[_Learnt]


class Learning(Core):
    """Operations that learn from conversations."""

    def learn(
        self, turns: "Iterable[Turn]", *, scope: Scope, run: str | None = None, known: Sequence[str] = (), ask: bool = True
    ) -> LearningReport:
        """Draw what is worth keeping from a conversation, and store it as `learning`.

        What a person asked for or decided is active at once; what is less certain is inactive until it is confirmed.
        `turns` is the conversation (`omoide.read_turns`). `run`: the run that it is of; by default that of the settings.
        `known`: the texts that were injected into it or recalled in it; what repeats them is left out. `ask`: whether the
        language model is asked too, where one is configured.

        Secrets, `<private>` parts, progress, and instructions from the output of tools are never kept.
        """
        permissions.require(self._actor, "learn")
        from omoide.learning.candidates import draw_candidates, select_candidates  # lazy: see the top

        turns = list(turns)
        candidates = draw_candidates(turns)
        trouble = ""
        if ask and self._llm.enabled and turns:
            try:
                candidates += self._ask_model(turns)
            except ModelUnavailable as error:  # fallback: what the rules find
                trouble = str(error)
        selection = select_candidates(candidates, turns, known=known)
        return self._store_candidates(selection.candidates, list(selection.rejections), scope, run, trouble)

    def _ask_model(self, turns: "Sequence[Turn]") -> "list[Candidate]":
        from omoide.learning.candidates import Candidate  # lazy: see the top
        from omoide.learning.transcript import Speaker  # lazy: see the top
        from omoide.llm.answers import fence  # lazy: only a process with a language model needs it

        spoken = [turn for turn in turns if turn.speaker in (Speaker.PERSON, Speaker.AGENT)]
        text = "\n\n".join(f"{turn.speaker.value}: {turn.text}" for turn in spoken)[-_MOST_SHOWN:]
        answer = self._llm.ask("learn", _INSTRUCTIONS, fence(text, "conversation"), _Answer)
        last = turns[-1].line
        return [
            Candidate(learnt.text.strip(), learnt.kind if learnt.kind in KINDS else "convention", _MODEL_CONFIDENCE, last)
            for learnt in answer.learnings
            if learnt.text.strip()
        ]

    def _store_candidates(
        self, candidates: "Sequence[Candidate]", rejected: "list[Rejection]", scope: Scope, run: str | None, trouble: str
    ) -> LearningReport:
        from omoide.learning.candidates import Rejection  # lazy: see the top

        kept, proposed, confirmed = list[Memory](), list[Memory](), list[Memory]()
        with self._read(scope) as tx:
            unwanted = self._unwanted_kinds(tx, scope)
            dropped = self._learnt_before(tx, scope, State.FORGOTTEN)
            waiting = self._learnt_before(tx, scope, State.INACTIVE)
        for candidate in candidates:
            reason = ""
            if candidate.kind in unwanted:
                reason = f"learnings of the kind {candidate.kind} are not wanted in {scope}"
            elif _find_same(candidate, dropped) is not None:
                reason = "it was dropped before"
            else:
                try:
                    draft = self._writes.check(_draft(candidate, scope, run))
                except SecretFound:
                    reason = "it contains a secret"
                except InvalidInput as error:
                    reason = str(error)
            if reason:
                rejected.append(Rejection(candidate.text, reason))
                continue
            memory, is_new = self._store_one(draft, _find_same(candidate, waiting))
            group = confirmed if not is_new else kept if memory.state is State.ACTIVE else proposed
            group.append(memory)
        return LearningReport(kept, proposed, confirmed, rejected, trouble)

    def _store_one(self, draft: Draft, proposal: int | None) -> tuple[Memory, bool]:
        """Store a learning, or confirm the memory that says the same, perhaps a proposal. Returns it, and whether it is
        new."""
        new, entry = self._writes.new_memory(draft, self._clock()), versioning.build_index_entry(draft)
        with self._store.read() as tx:
            similar = near_duplicates.find(tx, new, entry)[:1]
        if proposal is not None:
            similar.append(proposal)
        with self._writes.transaction() as write:
            same = self._writes.find_same(write.tx, draft, write.at)
            for memory in (same, *write.tx.memories(similar)):
                if memory is not None and memory.state in (State.ACTIVE, State.INACTIVE):
                    return self._confirm(write, memory, draft), False
            return _add(write, new, entry), True

    def _confirm(self, write: MemoryTransaction, memory: Memory, draft: Draft) -> Memory:
        """Count a reference. A proposal that another run, or a person, states again is active from then on, unless a worker
        learns it: it would approve its own."""
        write.tx.count_reference(memory.number)
        write.log("confirmed", memory)
        write.changed.append(memory.number)
        is_certain = (draft.confidence or 0) >= CONFIDENT or draft.source_run_id != memory.source_run_id
        if is_proposal(memory) and is_certain and permissions.allows(self._actor, "approve"):
            return write.change(memory, with_fields(memory, {"state": State.ACTIVE}), "restored")
        return memory

    def _unwanted_kinds(self, tx: Reader, scope: Scope) -> frozenset[str]:
        memory = tx.by_key(Scope(scope.path), NEVER_KEY)
        return frozenset(memory.tags) if memory is not None else frozenset()

    def _learnt_before(self, tx: Reader, scope: Scope, state: State) -> "dict[int, Wording]":
        """The wording of the newest learnings of a scope in this state, by their numbers."""
        from omoide.learning.noise import wording  # lazy: see the top

        query = Query(scope, types=(LEARNING,), states=(state,), layers=(scope.layer,))
        newest = islice(tx.browse(query, self._clock()), _MOST_COMPARED)
        return {memory.number: wording(memory.content) for memory in newest}

    def proposals(self, *, scope: Scope, limit: int | None = None) -> list[Memory]:
        """Return the learnings of a scope that wait for somebody to confirm them, oldest first."""
        permissions.require(self._actor, "proposals")
        limit = validation.check_limit(limit, self._settings)
        query = permissions.narrow_or_refuse(
            self._actor, Query(scope, types=(LEARNING,), states=(State.INACTIVE,), limit=limit)
        )
        with self._read(scope) as tx:
            found = [memory for memory in tx.browse(query, self._clock()) if is_proposal(memory)]
        return sorted(found, key=lambda memory: memory.number)[:limit]

    def approve(self, ref: Ref, *, scope: Scope, content: str | None = None) -> Memory:
        """Confirm a proposal: it is active from then on, with another text if one is given.

        Raises NotAllowed for a worker, NotFound, and InvalidInput for a memory that is no proposal.
        """
        permissions.require(self._actor, "approve", "confirm proposals")
        changes: dict[str, object] = {"state": State.ACTIVE, "confidence": 1.0}
        if content is not None:
            changes |= validation.check_fields({"content": content}, self._settings, ("content",))
        with self._writes.transaction() as write:
            memory = self._require_proposal(write, ref, scope)
            return write.change(memory, with_fields(memory, changes), "approved", self._actor)

    def reject(self, ref: Ref, *, scope: Scope, never: bool = False) -> Memory:
        """Drop a proposal: it is forgotten, and not proposed again. `never`: nothing of its kind is, in its project.

        Raises NotAllowed for a worker, NotFound, and InvalidInput for a memory that is no proposal.
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


def is_proposal(memory: Memory) -> bool:
    """Return whether a memory was learnt and waits for somebody to confirm it."""
    return memory.state is State.INACTIVE and memory.type == LEARNING and memory.source == LEARNING


def _find_same(candidate: "Candidate", texts: "Mapping[int, Wording]") -> int | None:
    """The number of the learning that a candidate repeats, or None."""
    from omoide.learning.noise import share_of  # lazy: see the top

    return next((number for number, text in texts.items() if share_of(candidate.text, text) >= _SAME), None)


def _draft(candidate: "Candidate", scope: Scope, run: str | None) -> Draft:
    return Draft(
        candidate.text,
        scope=scope,
        type=LEARNING,
        tags=(candidate.kind,),
        source=LEARNING,
        confidence=candidate.confidence,
        source_run_id=run,
    )


def _add(write: MemoryTransaction, memory: Memory, entry: IndexEntry) -> Memory:
    if memory.confidence >= CONFIDENT:
        return write.add(memory, "remembered", entry)
    return write.add(msgspec.structs.replace(memory, state=State.INACTIVE), "proposed", entry)
