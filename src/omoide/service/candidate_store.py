"""Store what was learnt: as a new memory, as a proposal, as a confirmation of what is known, or in place of it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from omoide.errors import InvalidInput, SecretFound
from omoide.guard import permissions, secrets
from omoide.model import Draft, LinkKind, Memory, Query, Role, Scope, State
from omoide.retrieval import near_duplicates
from omoide.service import versioning
from omoide.service.core import Core
from omoide.service.versioning import with_fields
from omoide.service.write_path import MemoryTransaction
from omoide.storage.base import IndexEntry, Reader

if TYPE_CHECKING:  # its patterns take 40 ms that only a process that learns should pay for
    from omoide.learning.candidates import Candidate, Rejection
    from omoide.learning.wording import Wording

LEARNING = "learning"
"""The type of what was learnt, and its source."""
KINDS = ("request", "decision", "convention", "environment", "repair", "correction")
"""What a learning can be: each is stored as its first tag."""
CONFIDENT = 0.8
"""From this confidence on a learning is active at once; below, it waits for somebody to confirm it."""
NEVER_KEY = "never-learn"
"""The key of the memory whose tags are the kinds that a person does not want to be proposed in its project."""
_MOST_COMPARED = 200
"""Learnings of a scope, of each state, that a candidate is compared with: the newest."""
_SAME = 0.8
"""Share of its wording from which on a candidate says what one of these says."""


class LearningReport(msgspec.Struct, frozen=True):
    """What was learnt from a conversation, or from a person's corrections."""

    kept: list[Memory] = []
    """New and active."""
    proposed: list[Memory] = []
    """New and inactive, until somebody confirms them with `review`, or the same is learnt again."""
    confirmed: list[Memory] = []
    """Known already; their count of references grew, and a proposal became active."""
    replaced: list[Memory] = []
    """Archived, because a new one says something else in their place: it has a link `supersedes` to each."""
    rejected: "list[Rejection]" = []
    trouble: str = ""
    """Why the language model could not help, where one is configured."""


def join_reports(reports: Sequence[LearningReport]) -> LearningReport:
    """Return several reports as one, with the first `trouble` of any."""
    lists = ("kept", "proposed", "confirmed", "replaced", "rejected")
    joined = {name: [one for report in reports for one in getattr(report, name)] for name in lists}
    trouble = next((report.trouble for report in reports if report.trouble), "")
    return LearningReport(**joined, trouble=trouble)


class _Known(msgspec.Struct, frozen=True):
    """What a scope has learnt before, of which a candidate may be a repetition or a correction."""

    unwanted: frozenset[str]
    dropped: "dict[int, Wording]"
    waiting: "dict[int, Wording]"
    texts: dict[int, str]
    """Of what is active or waiting."""


class CandidateStore(Core):
    """The part of the service that stores what was learnt."""

    def _store_candidates(
        self,
        candidates: "Sequence[Candidate]",
        rejected: "Sequence[Rejection]",
        scope: Scope,
        run: str | None,
        trouble: str = "",
    ) -> LearningReport:
        from omoide.learning.candidates import Rejection  # lazy: see the top

        report = LearningReport([], [], [], [], list(rejected), trouble)
        if not candidates:  # as of most turns: nothing has to be read
            return report
        with self._read(scope) as tx:
            known = self._read_known(tx, scope)
        for candidate in candidates:
            draft = self._check_candidate(candidate, known, scope, run)
            if isinstance(draft, str):
                report.rejected.append(Rejection(candidate.text, draft))
                continue
            self._store_one(candidate, draft, known, report)
        return report

    def _check_candidate(self, candidate: "Candidate", known: _Known, scope: Scope, run: str | None) -> Draft | str:
        """The draft of a candidate, or the reason why it is not kept."""
        if candidate.kind in known.unwanted:
            return f"learnings of the kind {candidate.kind} are not wanted in {scope}"
        if _find_same(candidate, known.dropped) is not None:
            return "it was dropped before"
        try:
            return self._writes.check(_draft(candidate, scope, run))
        except SecretFound:  # the answer of this function
            return "it contains a secret"
        except InvalidInput as error:
            return str(error)

    def _store_one(self, candidate: "Candidate", draft: Draft, known: _Known, report: LearningReport) -> None:
        """Store a learning, or confirm the memory that says the same, perhaps a proposal."""
        from omoide.learning.candidates import Rejection  # lazy: see the top

        new, entry = self._writes.new_memory(draft, self._clock()), versioning.build_index_entry(draft)
        with self._store.read() as tx:
            similar = near_duplicates.find(tx, new, entry)[:3]
        proposal = _find_same(candidate, known.waiting)
        numbers = list(dict.fromkeys([*similar, *([] if proposal is None else [proposal])]))
        with self._writes.transaction() as write:
            same = self._writes.find_same(write.tx, draft, write.at)
            found = [memory for memory in write.tx.memories(numbers) if _is_usable(memory)]
            others = [memory for memory in found if _says_other(candidate, memory)]
            agreeing = [memory for memory in (same, *found) if memory is not None and memory not in others]
            usable = next((memory for memory in agreeing if _is_usable(memory)), None)
            if usable is not None:
                report.confirmed.append(self._confirm(write, usable, draft))
                return
            if same is not None and draft.source_run_id is not None and same.source_run_id == draft.source_run_id:
                report.rejected.append(Rejection(candidate.text, "the same run stated it before, and it was retired since"))
                return
            replaced = {memory.number: memory for memory in others if _takes_place_of(candidate, memory)}
            contradicted = [number for number in _contradictions(candidate, known.texts) if number not in replaced]
            self._add(write, candidate, new, entry, [*replaced.values(), *write.tx.memories(contradicted)], report)

    def _add(
        self,
        write: MemoryTransaction,
        candidate: "Candidate",
        new: Memory,
        entry: IndexEntry,
        others: Sequence[Memory],
        report: LearningReport,
    ) -> None:
        """Add a learning. A person's word takes the place of learnings that say something else, and is active then.

        What a worker says that a person said is a proposal then: who approves it archives them.
        """
        learnings = [memory for memory in others if _is_replaceable(memory)]
        replaces = candidate.by_person and any(memory.state is State.ACTIVE for memory in learnings)
        certain = new.confidence >= CONFIDENT or replaces
        if candidate.by_person and learnings and not permissions.allows(self._actor, "archive"):
            certain = False
        if certain:
            added = write.add(new, "remembered", entry)
            report.kept.append(added)
        else:
            added = write.add(msgspec.structs.replace(new, state=State.INACTIVE), "proposed", entry)
            report.proposed.append(added)
        for memory in others:
            kind = LinkKind.SUPERSEDES if memory in learnings else LinkKind.CONTRADICTS
            write.tx.link(added.number, kind, memory.number, write.at)
        if certain and candidate.by_person:
            report.replaced.extend(_retire(write, learnings))

    def _confirm(self, write: MemoryTransaction, memory: Memory, draft: Draft) -> Memory:
        """Count a reference. A proposal that another run, or a person, states again is active from then on, unless a worker
        learns it: it would approve its own. What a page or somebody else is reported to say waits for a person."""
        from omoide.learning.noise import is_reported  # lazy: see the top

        memory = write.confirm(memory)
        is_repeated = draft.source_run_id != memory.source_run_id and not is_reported(draft.content)
        is_certain = (draft.confidence or 0) >= CONFIDENT or is_repeated
        if is_proposal(memory) and is_certain and permissions.allows(self._actor, "approve"):
            return self._activate(write, memory, {"state": State.ACTIVE}, "restored")
        return memory

    def _activate(self, write: MemoryTransaction, memory: Memory, changes: Mapping[str, object], action: str) -> Memory:
        """Make a proposal active, in place of what it supersedes."""
        author = self._actor if action == "approved" else None
        active = write.change(memory, with_fields(memory, dict(changes)), action, author)
        _retire(write, _predecessors(write.tx, memory))
        return active

    def _read_known(self, tx: Reader, scope: Scope) -> _Known:
        from omoide.learning.wording import wording  # lazy: see the top

        def texts(state: State) -> dict[int, str]:
            query = Query(scope, types=(LEARNING,), states=(state,), layers=(scope.layer,))
            newest = islice(tx.browse(query, self._clock()), _MOST_COMPARED)
            return {memory.number: memory.content for memory in newest}

        waiting = texts(State.INACTIVE)
        return _Known(
            self._unwanted_kinds(tx, scope),
            {number: wording(text) for number, text in texts(State.FORGOTTEN).items()},
            {number: wording(text) for number, text in waiting.items()},
            {**waiting, **texts(State.ACTIVE)},
        )

    def _unwanted_kinds(self, tx: Reader, scope: Scope) -> frozenset[str]:
        memory = tx.by_key(Scope(scope.path), NEVER_KEY)
        # A worker does not decide what others may propose.
        if memory is None or (memory.author is not None and memory.author.role is Role.WORKER):
            return frozenset()
        return frozenset(memory.tags)


def is_proposal(memory: Memory) -> bool:
    """Return whether a memory is a proposal: it was learnt, and is inactive until somebody confirms it."""
    return memory.state is State.INACTIVE and memory.type == LEARNING and memory.source == LEARNING


def _is_replaceable(memory: Memory) -> bool:
    """Whether a new learning may take the place of a memory: only of what was learnt, too, and is not pinned.

    What was pinned because a message asked for it (it has that prompt) is replaced by what a later message asks for.
    """
    is_protected = memory.pinned and not memory.original_prompt
    return memory.type == LEARNING and memory.source == LEARNING and not is_protected


def _is_usable(memory: Memory) -> bool:
    return memory.state in (State.ACTIVE, State.INACTIVE)


def _says_other(candidate: "Candidate", memory: Memory) -> bool:
    """Whether a similar memory says something else: another number, another name, the opposite, or what is given up."""
    from omoide.learning.wording import substitutes  # lazy: see the top

    return substitutes(candidate.text, memory.content) or memory.number in _contradictions(
        candidate, {memory.number: memory.content}
    )


def _takes_place_of(candidate: "Candidate", memory: Memory) -> bool:
    from omoide.learning.wording import takes_place_of  # lazy: see the top

    if candidate.in_files:  # each is a change of its own, however similar the sentences are
        return False
    return candidate.kind == "correction" or takes_place_of(candidate.text, memory.content)


def _contradictions(candidate: "Candidate", texts: Mapping[int, str]) -> list[int]:
    """The learnings that a person's word gives up: "use X instead of Y"."""
    from omoide.learning.replacements import find_replaced_memories  # lazy: see the top

    if not candidate.by_person or candidate.in_files:
        return []
    return find_replaced_memories(candidate.text, texts)


def _find_same(candidate: "Candidate", texts: "Mapping[int, Wording]") -> int | None:
    """The number of the learning that a candidate repeats, or None."""
    from omoide.learning.wording import share_of  # lazy: see the top

    return next((number for number, text in texts.items() if share_of(candidate.text, text) >= _SAME), None)


def _draft(candidate: "Candidate", scope: Scope, run: str | None) -> Draft:
    return Draft(
        candidate.text,
        scope=scope,
        type=LEARNING,
        tags=(candidate.kind, *candidate.globs),
        examples=(secrets.redact(candidate.evidence),) if candidate.evidence else (),
        source=LEARNING,
        confidence=candidate.confidence,
        source_run_id=run,
    )


def _predecessors(tx: Reader, memory: Memory) -> Iterator[Memory]:
    links = tx.links(memory.number)
    yield from tx.memories([link.target for link in links if link.kind is LinkKind.SUPERSEDES and link.source == memory.id])


def _retire(write: MemoryTransaction, memories: "Sequence[Memory] | Iterator[Memory]") -> list[Memory]:
    """Archive what something else has taken the place of."""
    return [
        write.change(memory, with_fields(memory, {"state": State.ARCHIVED}), "archived")
        for memory in memories
        if _is_usable(memory)
    ]
