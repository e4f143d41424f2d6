"""Import memories from the export of another store (`import_memories`), or from another tool (`import_drafts`)."""

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
_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)  # a query for all states does not depend on the time


class _DryRun(Exception):
    """Ends a dry run: the transaction is rolled back."""


class Imports(Core):
    """Operations that import memories from other stores and tools."""

    def import_memories(
        self,
        items: Iterable[Memory | Draft | Link],
        *,
        dry_run: bool = False,
        watch: Callable[[int], None] = lambda _: None,
    ) -> Mapping[str, int]:
        """Import what another store exported, in one transaction: all of it, or nothing.

        `items`: memories, which keep their ids, dates and counts; drafts, which are stored as by `remember`; and links
        between memories that exist by then. `dry_run`: find every error and count everything, but store nothing. `watch`:
        called with the position of each item, from 0, before it is stored.

        A memory whose id is stored already replaces the stored one, which becomes a past version, if it was changed later;
        otherwise it is left out. Returns how many memories and drafts were added, replaced and known (left out), and how
        many links were linked, relinked (they existed) and dangling (a memory does not exist). Raises what `remember` raises
        for the first item that cannot be stored.
        """
        permissions.require(self._actor, "import_memories")
        done = dict.fromkeys(("added", "replaced", "known", "linked", "relinked", "dangling"), 0)
        read = list(items)  # before the transaction: nobody waits for a slow file, and its errors are not the store's
        with suppress(_DryRun), self._writes.transaction() as write:  # raised at the end of a dry run, to roll it back
            for place, item in enumerate(read):
                watch(place)
                done[self._import_one(write, item)] += 1
            if dry_run:
                raise _DryRun
        return done

    def import_drafts(
        self, drafts: Iterable[Draft], *, dry_run: bool = False, watch: Callable[[int], None] = lambda _: None
    ) -> Sequence[Remembered]:
        """Import what another tool has now, in one transaction: all of it, or nothing. May be repeated at any time.

        A draft changes nothing if the memory with its key says the same, or said it in an earlier version; without a key,
        any memory of the scope counts. So a second import changes nothing, and a memory that was revised, archived or
        forgotten here stays so until the other tool has something new.

        `drafts`: all that the tool has. `dry_run`: return the same, but store nothing. `watch`: called with the position of
        each draft, from 0, before it is checked and again before it is stored. Returns the outcome of each draft, in their
        order. Raises what `remember` raises.
        """
        permissions.require(self._actor, "import_drafts")
        checked: list[Draft] = []
        for place, draft in enumerate(drafts):
            watch(place)
            checked.append(self._writes.check(draft))
        done: list[Remembered] = []
        with suppress(_DryRun), self._writes.transaction() as write:  # as above
            texts = KnownTexts(write.tx)
            for place, draft in enumerate(checked):
                watch(place)
                known = texts.find(draft)
                done.append(Remembered(known, "unchanged") if known else write.remember(draft))
            if dry_run:
                raise _DryRun
        return done

    def _import_one(self, write: MemoryTransaction, item: Memory | Draft | Link) -> str:
        if isinstance(item, Link):
            return _add_link(write.tx, item)
        if isinstance(item, Draft):
            return _OUTCOMES[write.remember(self._writes.check(item)).action]
        memory = msgspec.structs.replace(item, author=self._import_author(item.author))
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

    def _import_author(self, claimed: Actor | None) -> Actor:
        """The author of an imported memory: the actor that imports it. What the export claims can only lower the role."""
        if claimed is None or not permissions.outranks(self._actor.role, claimed.role):
            return self._actor
        return Actor(validation.check_line(claimed.name, "by", self._settings), claimed.role, self._actor.via)


class KnownTexts:
    """What memories say and said in earlier versions, read once for many drafts."""

    def __init__(self, tx: Reader):
        self._tx = tx
        self._texts: dict[Scope, dict[str, list[tuple[Memory, Memory]]]] = {}

    def find(self, draft: Draft) -> Memory | None:
        """Return the memory of exactly the draft's scope that says the same, or said it in an earlier version, or None."""
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
            for memory in self._tx.browse(Query(scope, layers=(scope.layer,), states=tuple(State)), _ANY_TIME):
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
        return "dangling"
    return "linked" if tx.link(source.number, link.kind, target.number, link.created_at) else "relinked"
