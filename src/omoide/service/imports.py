"""Import memories: a whole export of another store (adopt), or the drafts that another tool holds (gather)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from omoide.guard import permissions, validation
from omoide.model import Actor, Draft, Link, Memory, Query, Remembered, Scope, State
from omoide.service import versioning
from omoide.service.core import Core
from omoide.service.write_path import MemoryTransaction
from omoide.storage.base import Reader, Writer

_OUTCOMES = {"created": "added", "updated": "replaced", "unchanged": "known"}
_WHENEVER = datetime(1970, 1, 1, tzinfo=UTC)  # of a query for all states, nothing has expired


class _DryRun(Exception):
    """Ends a rehearsal: the transaction is rolled back."""


class Imports(Core):
    def adopt(
        self,
        things: Iterable[Memory | Draft | Link],
        *,
        rehearse: bool = False,
        watch: Callable[[int], None] = lambda _: None,
    ) -> Mapping[str, int]:
        """Takes in what another store kept: memories as they are, with their ids, dates and counts; drafts as
        `remember_many` would; links between memories that are there by then. All of it in one transaction, or nothing.

        Of two memories with one id the one changed last stands, the other becomes its history. Answers how many were
        added, replaced and known, and how many links were linked, relinked (known) and astray (an end is missing).
        A rehearsal finds every error and every number, and keeps nothing. `watch` hears which one comes next.
        """
        permissions.require(self._actor, "adopt")
        done = dict.fromkeys(("added", "replaced", "known", "linked", "relinked", "astray"), 0)
        read = list(things)  # before the transaction opens: nobody waits for a slow file, or is told of its errors as ours
        with suppress(_DryRun), self._writes.transaction() as write:
            for place, thing in enumerate(read):
                watch(place)
                done[self._adopt_one(write, thing)] += 1
            if rehearse:
                raise _DryRun
        return done

    def gather(
        self, drafts: Iterable[Draft], *, rehearse: bool = False, watch: Callable[[int], None] = lambda _: None
    ) -> Sequence[Remembered]:
        """Takes over what another tool keeps; all of it, or nothing.

        What a memory of the same key says, or said in an earlier version, is unchanged, whatever became of it here; for
        a draft without key, any memory of the scope. So a second time changes nothing, and what was revised, archived or
        forgotten here stays so until the other tool says something new. A rehearsal answers the same, and keeps nothing.
        `watch` hears which one comes next.
        """
        permissions.require(self._actor, "gather")
        ready: list[Draft] = []
        for place, draft in enumerate(drafts):
            watch(place)
            ready.append(self._writes.check(draft))
        done: list[Remembered] = []
        with suppress(_DryRun), self._writes.transaction() as write:
            said = KnownTexts(write.tx)
            for place, draft in enumerate(ready):
                watch(place)
                known = said.before(draft)
                done.append(Remembered(known, "unchanged") if known else write.remember(draft))
            if rehearse:
                raise _DryRun
        return done

    def _adopt_one(self, write: MemoryTransaction, thing: Memory | Draft | Link) -> str:
        if isinstance(thing, Link):
            return _add_link(write.tx, thing)
        if isinstance(thing, Draft):
            return _OUTCOMES[write.remember(self._writes.check(thing)).action]
        memory = msgspec.structs.replace(thing, author=self._importing(thing.author))
        memory = validation.check_memory(memory, self._settings)
        old = write.tx.memory(memory.id)
        if old is None:
            write.add(memory, "imported")
            return "added"
        if old.updated_at < memory.updated_at:
            memory = msgspec.structs.replace(memory, number=old.number)
            write.change(old, memory, "imported", memory.author)
            return "replaced"
        return "known"

    def _importing(self, claimed: Actor | None) -> Actor:
        """Who an imported memory is by: whoever imports it. A file's claim can only lower that, to a worker."""
        if claimed is None or not permissions.outranks(self._actor.role, claimed.role):
            return self._actor
        return Actor(validation.check_line(claimed.name, "by", self._settings), claimed.role, self._actor.via)


class KnownTexts:
    """One look at the store, for many drafts."""

    def __init__(self, tx: Reader):
        self._tx = tx
        self._texts: dict[Scope, dict[str, list[tuple[Memory, Memory]]]] = {}

    def before(self, draft: Draft) -> Memory | None:
        """The memory of exactly the draft's scope that says the same, or did in an earlier version, as it is now."""
        return next(
            (present for present, version in self._candidates(draft) if versioning.matches_draft(version, draft)), None
        )

    def _candidates(self, draft: Draft) -> Iterable[tuple[Memory, Memory]]:
        scope, key = validation.scope_of(draft), draft.key
        if key is not None:
            memory = self._tx.by_key(scope, key) or self._tx.by_key(scope, key, forgotten=True)
            return [] if memory is None else self._versions(memory)
        if scope not in self._texts:
            texts = self._texts[scope] = {}
            for memory in self._tx.browse(Query(scope, layers=(scope.layer,), states=tuple(State)), _WHENEVER):
                for present, version in self._versions(memory):
                    texts.setdefault(version.content, []).append((present, version))
        return self._texts[scope].get(draft.content, ())

    def _versions(self, memory: Memory) -> list[tuple[Memory, Memory]]:
        if memory.version == 1:
            return [(memory, memory)]
        return [(memory, version.memory) for version in self._tx.versions(memory.number)]


def _add_link(tx: Writer, link: Link) -> str:
    source, target = tx.memory(link.source), tx.memory(link.target)
    if source is None or target is None:
        return "astray"
    return "linked" if tx.link(source.number, link.kind, target.number, link.created_at) else "relinked"
