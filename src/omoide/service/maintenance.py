"""Maintain the store: purge, check, repair, reindex, back up, count."""

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from omoide.errors import Conflict, EmbedderUnavailable, StoreError, StoreFull
from omoide.guard import permissions, validation
from omoide.model import Actor, Event, Layer, Link, LinkKind, Memory, Query, Scope, State
from omoide.model.expiry import is_current
from omoide.service import archives, versioning
from omoide.service.copies import FoundCopies, PurgeReport, Trace, erase_from_backups
from omoide.service.core import Core, Ref
from omoide.service.write_path import MemoryTransaction
from omoide.storage.base import MemoryChange, Reader, StoredVector, Writer
from omoide.storage.capabilities import Backup, CopyErasure, Erasure, Integrity, Problem, require

if TYPE_CHECKING:  # many patterns and words: 20 ms that only a reindex pays for
    from omoide.lifecycle.deduplication import Merge, MergePlan, ReindexResult


_LEAST_SPACE = 1_000_000
"""Bytes that the disk must have left for `probe` to succeed: less than a long memory takes."""

Watch = Callable[[str, int, int], None]
"""Called with the name of the current step, how many more are done, and how many there are in all."""

Changes = list[MemoryChange]
"""A merge that is prepared before the transaction, so that nobody waits for it; the first memory is the one that stays."""


class _Archive:
    """The copy of the database that a reindex makes first."""

    def __init__(self, store: Path, archive: Path | bool | None, at: datetime):
        self.store = store
        self.at = at
        self._is_named = isinstance(archive, Path)
        self.file = archive if isinstance(archive, Path) else archives.pending_path(store, at) if archive else None

    def publish(self) -> str | None:
        """Give the copy its own name once the reindex has taken effect; return its path, or None if there is no copy."""
        if self.file is None or self._is_named:
            return None if self.file is None else str(self.file)
        self.file = archives.publish_archive(self.store, self.file, self.at)
        return str(self.file)


class Maintenance(Core):
    """Operations that maintain the database: purge, reindex, check, repair and backup."""

    def purge(self, refs: Sequence[Ref], *, scope: Scope, everywhere: bool = False) -> PurgeReport:
        """Erase forgotten memories and their history: afterwards no byte of them is in the database.

        `refs`: the memories. `everywhere`: also erase them from every copy that omoide made: backups, archives of reindexes,
        mirrored files and their backups; without `refs`, erase all memories that were purged before from the copies.

        Returns how many were erased, which copies contain or contained them, and which places omoide cannot change. Raises
        NotFound, and Conflict for a memory that is not forgotten: then nothing is erased. Raises StoreBusy if another
        process uses the file, so that traces stay in it: purge again later.
        """
        permissions.require(self._actor, "purge")
        memories, traces = self._erase(refs, scope) if refs else ([], [])
        require(self._store, Erasure).scrub()
        if everywhere and not refs:
            with self._store.read() as tx:
                traces = [Trace(id) for id in sorted(tx.purged_ids())]
        found = self._find_copies(traces, remove=everywhere) if traces else FoundCopies([], [])
        return PurgeReport(len(memories), tuple(found.copies), tuple(found.unreachable))

    def _erase(self, refs: Sequence[Ref], scope: Scope) -> tuple[list[Memory], list[Trace]]:
        """Erase forgotten memories, and return them with what they can be recognised by."""
        with self._writes.transaction() as write:
            memories = [self._find_forgotten(write.tx, ref, scope) for ref in refs]
            traces = [Trace(one.id, _contents(write.tx, one)) for one in memories]
            for memory in memories:
                write.erase(memory)
        return memories, traces

    def _find_copies(self, traces: Sequence[Trace], *, remove: bool) -> FoundCopies:
        """Find the copies of purged memories, and remove them there if that is asked for."""
        copies = self._hooks.find_copies(traces, remove=remove)
        if isinstance(self._store, CopyErasure):
            with self._store.read() as tx:
                recorded = tx.copies()

            def erase(tx: Writer, memory: Memory) -> None:
                self._writes.within(tx, self._clock()).erase(memory)

            place = Path(self._store.location)
            copies.copies[:0] = erase_from_backups(self._store, place, recorded, traces, erase if remove else None)
        return copies

    def record_copy(self, target: Path) -> None:
        """Record that the file `target` is a copy of the store, or of a part of it, so that `purge` finds it.

        Does nothing if the path contains a secret, or the store cannot be written to.
        """
        permissions.require(self._actor, "record_copy", "backup")
        path = str(target.absolute())
        if validation.secret_in(path):
            return  # nothing is recorded that looks like a secret
        try:
            with self._writes.transaction() as write:
                write.log("backed_up", Scope.everywhere(), {"file": path})
        except StoreError:  # fallback: a store that cannot be written to can be backed up all the same
            return

    def purge_candidates(self, refs: Sequence[Ref] = (), *, scope: Scope) -> list[Memory]:
        """Return what `purge` would erase.

        `refs`: the memories, each of which is returned once; none: all forgotten memories of `scope` itself, of a project
        with its sessions, but without the global layer. Raises NotFound, and Conflict for a memory that is not forgotten.
        """
        permissions.require(self._actor, "purge_candidates", "purge")
        with self._read(scope) as tx:
            if refs:
                named = [self._find_forgotten(tx, ref, scope) for ref in refs]
                return list({memory.number: memory for memory in named}.values())
            query = Query(scope, layers=_own_layers(scope), states=(State.FORGOTTEN,))
            return list(tx.browse(permissions.narrow_or_refuse(self._actor, query), self._clock()))

    def _find_forgotten(self, tx: Reader, ref: Ref, scope: Scope) -> Memory:
        memory = self._find(tx, ref, scope)
        if memory.state is not State.FORGOTTEN:
            raise Conflict(f"#{memory.number} is {memory.state}: forget it first, then purge it")
        return memory

    def check(self) -> Sequence[Problem]:
        """Check the store, and return what is wrong and how to repair it. Nothing is changed."""
        permissions.require(self._actor, "check")
        return require(self._store, Integrity).check(versioning.expected_entry)

    def probe(self) -> None:
        """Check that the store can be written to, by a write that changes no memory. Waits for other writers.

        Raises StoreFull if the disk has less than 1 MB left, and StoreReadOnly or another StoreError if the write fails.
        """
        permissions.require(self._actor, "probe")
        from shutil import disk_usage  # lazy: start-up: 5 ms that only a server needs

        with self._store.write(durable=False) as tx:
            tx.record_run("probe", self._clock())
        free = disk_usage(Path(self._store.location).parent).free
        if free < _LEAST_SPACE:
            raise StoreFull(f"the disk of {self._store.location} has {free:,} bytes left: make room")

    def repair(self) -> int:
        """Rebuild the index and all fingerprints from the memories, which stay as they are. Returns how many are indexed."""
        permissions.require(self._actor, "repair")
        return require(self._store, Integrity).rebuild(versioning.expected_entry)

    def backup(self, target: Path | None = None) -> Path:
        """Copy the whole database to one file while others read and write, and return its path.

        `target`: the path of the file; a name that ends with .gz is compressed. None: beside the database, named by the
        time. Raises StoreError if the file exists or cannot be written.
        """
        permissions.require(self._actor, "backup")
        target = archives.backup_path(Path(self._store.location), self._clock()) if target is None else target
        require(self._store, Backup).backup(target)
        self.record_copy(target)
        return target

    def tally(self) -> Sequence[tuple[Scope, str, str, int]]:
        """Count the memories of the whole store: return scope, type, state and number for each combination that occurs."""
        permissions.require(self._actor, "tally")
        with self._read(None) as tx:
            return tx.counts(self._clock())

    def everything(self) -> Generator[tuple[Memory, Sequence[Link]], None, None]:
        """Yield every memory of every scope and state by number, with the links that start from it, all of one moment."""
        permissions.require(self._actor, "everything")
        return self._everything()

    def _everything(self) -> Generator[tuple[Memory, Sequence[Link]], None, None]:
        self._hooks.before_read(None)
        with self._store.snapshot() as tx:
            for memory in tx.everything():
                yield memory, [link for link in tx.links(memory.number) if link.source == memory.id]

    def latest_event(self) -> Event | None:
        """Return the last event of any scope; None where nothing has happened yet."""
        permissions.require(self._actor, "latest_event")
        with self._store.read() as tx:
            return next(iter(tx.events(None, None, None, 1)), None)

    @property
    def location(self) -> str:
        """The path of the database."""
        return self._store.location

    def reindex(
        self,
        *,
        dry_run: bool = False,
        similar: bool = False,
        approved: Collection[tuple[int, int]] = (),
        archive: Path | bool | None = None,
        watch: Watch = lambda *_: None,
    ) -> "ReindexResult":
        """Merge near-duplicates, erase forgotten memories, and rebuild index and vectors.

        `dry_run`: only plan and count. `similar`: also merge what says the same in other words, which is otherwise only
        proposed. `approved`: proposed pairs to merge although `similar` is False, as numbers of two memories, the lower one
        first. `archive`: the file to which the whole database is copied first; True: a file in `archive/` beside the
        database, where the newest five archives stay; None or False: no copy. `watch`: called with the name of the step, how
        many more are done, and how many there are in all.

        Others read and write meanwhile: the new index and vectors are built beside the old ones and replace them in one
        transaction, together with every merge. If it is killed, everything is as before or as after; vectors that were made
        by then are kept. Returns the plan and what was done. Raises StoreBusy if another reindex is running.
        """
        permissions.require(self._actor, "reindex")
        from omoide.lifecycle.deduplication import ReindexResult  # lazy: see the top

        if dry_run:
            with self._store.read() as tx:
                plan, forgotten, _ = self._plan_merges(tx, similar=similar, approved=approved)
            return ReindexResult(plan, 0, len(forgotten), 0, 0)
        with self._store.task_lock("reindex"):
            with self._archive_first(archive, watch) as copy:
                embedded, trouble = self._embed_missing(watch)
                watch("comparing", 0, 1)
                with self._store.read() as tx:
                    plan, forgotten, total = self._plan_merges(tx, similar=similar, approved=approved)
                watch("comparing", 1, 1)
                at = self._clock()
                merges = [_changes(merge, at) for merge in plan.merges]
                vectors = [] if trouble else self._vectors(merges)
                merged = dropped = 0
                changed: list[int] = []

                def settle(tx: Writer) -> None:
                    nonlocal merged, dropped, embedded
                    write = self._writes.within(tx, at)
                    merged, dropped = _apply_merges(write, merges), _drop_forgotten(write, forgotten)
                    changed.extend(write.changed)
                    if not trouble:
                        embedded += self._embeddings.store_vectors(tx, vectors)
                    tx.record_run("reindex", copy.at)

                indexed = require(self._store, Integrity).rebuild(
                    versioning.expected_entry, settle, lambda more: watch("indexing", more, total)
                )
            archived = copy.publish()
        self._hooks.after_commit(changed)
        return ReindexResult(plan, merged, dropped, indexed, embedded, trouble, archived)

    @contextmanager
    def _archive_first(self, archive: Path | bool | None, watch: Watch) -> Iterator["_Archive"]:
        """Copy the database as it is; where the block raises, nothing has changed, and the copy is deleted."""
        with self._store.read() as tx:
            last_run = tx.last_run("reindex")
        copy = _Archive(Path(self._store.location), archive, self._clock())
        archives.settle_pending(copy.store, last_run)
        if copy.file is not None:
            watch("archiving", 0, 1)
            require(self._store, Backup).backup(copy.file)
            watch("archiving", 1, 1)
        try:
            yield copy
        except BaseException:
            if copy.file is not None:
                copy.file.unlink(missing_ok=True)
            raise

    def _embed_missing(self, watch: Watch) -> tuple[int, str]:
        """Make the missing vectors, beside those of other models; return how many, and why not all of them."""
        done = 0
        try:
            self._embeddings.refit()
            pending = self._embeddings.coverage().pending
            for more in self._embeddings.fill():
                done += more
                watch("embedding", more, pending)
        except EmbedderUnavailable as error:  # fallback: words find near-duplicates, and all vectors stay as they are
            return done, str(error)
        return done, ""

    def _vectors(self, merges: Iterable[Changes]) -> list[StoredVector]:
        """Make the vectors of the texts that the merges change."""
        changed = [
            new for changes in merges for old, new, *_ in changes if old.content != new.content or old.topic != new.topic
        ]
        try:
            return self._embeddings.make_vectors(changed)
        except EmbedderUnavailable:  # fallback: they are made when it is available again
            return []

    def _plan_merges(
        self, tx: Reader, *, similar: bool, approved: Collection[tuple[int, int]]
    ) -> "tuple[MergePlan, list[Memory], int]":
        """Return what to merge, what to erase, and how many memories there are."""
        every, at = list(tx.everything()), self._clock()
        current = {memory.number: memory for memory in every if is_current(memory, at)}
        plan = self._find_duplicates(tx, current, similar=similar, approved=approved)
        return plan, [memory for memory in every if memory.state is State.FORGOTTEN], len(every)

    def _find_duplicates(
        self, tx: Reader, memories: Mapping[int, Memory], *, similar: bool, approved: Collection[tuple[int, int]]
    ) -> "MergePlan":
        from omoide.lifecycle import deduplication  # lazy: see the top

        pairs = [*deduplication.candidate_pairs(memories.values()), *self._embeddings.pairs(tx, memories)]
        best: dict[tuple[int, int], float] = {}
        for first, second, similarity in pairs:
            best[first, second] = max(similarity, best.get((first, second), 0.0))
        linked = {
            (link.source, link.target)
            for first in {first for first, _ in best}
            for link in tx.links(first)
            if link.kind is not LinkKind.DERIVED_FROM  # merged before, and remembered again: to be merged again
        }
        return deduplication.plan(
            memories,
            [
                (first, second, similarity)
                for (first, second), similarity in best.items()
                # How two memories relate that somebody has linked is known: they are not merged.
                if linked.isdisjoint([(memories[first].id, memories[second].id), (memories[second].id, memories[first].id)])
            ],
            similar=similar,
            approved=approved,
        )


def _contents(tx: Reader, memory: Memory) -> tuple[str, ...]:
    """The contents of all versions of a memory, each once."""
    return tuple(dict.fromkeys(version.memory.content for version in tx.versions(memory.number)))


def _own_layers(scope: Scope) -> tuple[Layer, ...]:
    """The layers of the scope itself: of a session, without those of its project."""
    return (Layer.SESSION,) if scope.name else scope.own_layers


def _apply_merges(write: MemoryTransaction, merges: Sequence[Changes]) -> int:
    """Apply the merges whose memories are still as they were when it was planned; answer how many."""
    tx = write.tx
    present = {memory.number: memory for memory in tx.memories([old.number for changes in merges for old, *_ in changes])}
    done = [
        _with_new_references(changes, present)
        for changes in merges
        if all(old.number in present and old.version == present[old.number].version for old, *_ in changes)
    ]
    write.replace_many([change for changes in done for change in changes])
    for changes in done:
        for old, new, *_ in changes:
            write.log_change(old, new, "merged")
        for other, *_ in changes[1:]:
            _move_links(tx, other, changes[0][0], write.at)
    return len(done)


def _drop_forgotten(write: MemoryTransaction, forgotten: Sequence[Memory]) -> int:
    """Erase the forgotten memories that are still as they were when it was planned; answer how many."""
    planned = {memory.number: memory.version for memory in forgotten}
    dropped = [memory for memory in write.tx.memories(list(planned)) if memory.version == planned[memory.number]]
    for memory in dropped:
        write.erase(memory)
    return len(dropped)


def _move_links(tx: Writer, other: Memory, into: Memory, at: datetime) -> None:
    """Give the links of a merged memory to the one that stays, and link that to it."""
    for link in tx.links(other.number):
        source, target = (into if id == other.id else tx.memory(id) for id in (link.source, link.target))
        if source is not None and target is not None and source.id != target.id:
            tx.link(source.number, link.kind, target.number, at)
    tx.link(into.number, LinkKind.DERIVED_FROM, other.number, at)


def _changes(merge: "Merge", at: datetime) -> Changes:
    """The versions that a merge makes. The others are archived, not erased: they keep their history, and a link says where
    the text came from. Their references count for the memory that stays, so their own counts start again at 0."""
    pairs = [(merge.into, versioning.with_fields(merge.merged, {"author": _author(merge)}))]
    pairs += [(other, msgspec.structs.replace(other, state=State.ARCHIVED, reference_count=0)) for other in merge.others]
    after = [(old, versioning.next_version(old, new, at)) for old, new in pairs]
    return [(old, new, versioning.memory_fingerprint(new), versioning.build_index_entry(new)) for old, new in after]


def _author(merge: "Merge") -> Actor | None:
    """The author of a merged text: who wrote it where nothing was added, else the author with the lowest role."""
    parts = (merge.into, *merge.others)
    for memory in parts:
        if memory.content == merge.merged.content:
            return memory.author
    authors = [memory.author for memory in parts if memory.author is not None]
    if not authors:
        return None
    return reduce(lambda lowest, other: other if permissions.outranks(lowest.role, other.role) else lowest, authors)


def _with_new_references(changes: Changes, present: dict[int, Memory]) -> Changes:
    """Add the references that were counted since the merge was planned: they make no new version."""
    into = changes[0][1]
    more = sum(present[old.number].reference_count - old.reference_count for old, *_ in changes)
    counted = msgspec.structs.replace(into, reference_count=into.reference_count + more)
    return [
        (present[old.number], counted if new is into else new, fingerprint, entry)
        for old, new, fingerprint, entry in changes
    ]
