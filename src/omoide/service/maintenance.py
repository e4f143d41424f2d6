"""Maintain the store: purge, check, repair, reindex, back up, count."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from datetime import datetime
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from omoide.errors import Conflict, EmbedderUnavailable
from omoide.guard import permissions
from omoide.model import Actor, Event, Layer, Link, LinkKind, Memory, Query, Scope, State
from omoide.model.expiry import is_current
from omoide.service import archives, versioning
from omoide.service.core import Core, Ref
from omoide.service.write_path import MemoryTransaction
from omoide.storage.base import IndexEntry, MemoryChange, Problem, Reader, StoredVector, Writer

if TYPE_CHECKING:  # many patterns and words: 20 ms that only a reindex pays for
    from omoide.lifecycle.deduplication import Merge, MergePlan, ReindexResult


Watch = Callable[[str, int, int], None]
"""Hears which step it is at, how many more are done, and of how many."""

Changes = list[MemoryChange]
"""A merge, as far as it can be made before anybody has to wait for it: each memory as it is and as it will be, with twin
and words. The first is the one that stays."""


class Maintenance(Core):
    def purge(self, refs: Sequence[Ref], *, scope: Scope) -> int:
        """Destroys forgotten memories and their history; afterwards no byte of them is in the database."""
        permissions.require(self._actor, "purge")
        with self._writes.transaction() as write:
            for ref in refs:
                write.erase(self._find_forgotten(write.tx, ref, scope))
        self._store.scrub()
        return len(refs)

    def purge_candidates(self, refs: Sequence[Ref] = (), *, scope: Scope) -> list[Memory]:
        """Return what `purge` would destroy: the named memories, each once, or all forgotten ones of `scope` itself.

        Without names, a project comes with its sessions, but never with the global layer. Raises Conflict if a named memory
        is not forgotten.
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
        """What is wrong with the store, and what would mend it; nothing when all is well."""
        permissions.require(self._actor, "check")
        return self._store.check(_entry)

    def repair(self) -> int:
        """Makes index and fingerprints anew from the memories, which stay as they are; answers how many are indexed."""
        permissions.require(self._actor, "repair")
        return self._store.rebuild(lambda tx: versioning.entries(tx.everything()))

    def backup(self, target: Path | None = None) -> Path:
        """Copy the whole database into one file while others read and write, and return the path.

        `target` must not exist; a name that ends with .gz is compressed. None: beside the store, named by the time.
        """
        permissions.require(self._actor, "backup")
        target = archives.backup_path(Path(self._store.location), self._clock()) if target is None else target
        self._store.backup(target)
        return target

    def tally(self) -> Sequence[tuple[Scope, str, str, int]]:
        """Memories of the whole store counted by scope, type and listing."""
        permissions.require(self._actor, "tally")
        with self._read(None) as tx:
            return tx.counts(self._clock())

    def everything(self) -> Generator[tuple[Memory, Sequence[Link]], None, None]:
        """Every memory of every scope and state by number, with the links that start from it; all of one moment."""
        permissions.require(self._actor, "everything")
        return self._everything()

    def _everything(self) -> Generator[tuple[Memory, Sequence[Link]], None, None]:
        self._hooks.before_read(None)
        with self._store.snapshot() as tx:
            for memory in tx.everything():
                yield memory, [link for link in tx.links(memory.number) if link.source == memory.id]

    def latest(self) -> Event | None:
        """The last thing that happened, in any scope."""
        permissions.require(self._actor, "latest")
        with self._store.read() as tx:
            return next(iter(tx.events(None, None, None, 1)), None)

    @property
    def place(self) -> str:
        return self._store.location

    def reindex(
        self, *, dry_run: bool = False, archive: Path | bool | None = None, watch: Watch = lambda *_: None
    ) -> "ReindexResult":
        """Merges near twins, drops what is forgotten, and makes index and vectors anew; a dry run only tells.

        The whole database as it was goes to `archive` first. True: beside the store, where the newest five archives stay.
        Others read and write all the while: the new index and new vectors are made beside the old ones, and take their place
        in one transaction, together with every merge. Killed at any moment, all is as before or all is as after; vectors
        made by then are not made again.
        """
        permissions.require(self._actor, "reindex")
        from omoide.lifecycle.deduplication import ReindexResult  # noqa: PLC0415 - see the top

        if dry_run:
            with self._store.read() as tx:
                plan, forgotten, _ = self._plan_merges(tx)
            return ReindexResult(plan, 0, len(forgotten), 0, 0)
        with self._store.task_lock("reindex"):
            archived = self._archive(archive, watch)
            embedded, trouble = self._embed_missing(watch)
            watch("comparing", 0, 1)
            with self._store.read() as tx:
                plan, forgotten, total = self._plan_merges(tx)
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

            indexed = self._store.rebuild_online(
                versioning.build_index_entry, settle, lambda more: watch("indexing", more, total)
            )
        self._hooks.after_commit(changed)
        if archive is True:
            archives.prune_archives(Path(self._store.location))
        return ReindexResult(plan, merged, dropped, indexed, embedded, trouble, archived)

    def _archive(self, archive: Path | bool | None, watch: Watch) -> str | None:
        """Copy the database as it is; return where to."""
        if archive is None or archive is False:
            return None
        target = archives.archive_path(Path(self._store.location), self._clock()) if archive is True else archive
        watch("archiving", 0, 1)
        self._store.backup(target)
        watch("archiving", 1, 1)
        return str(target)

    def _embed_missing(self, watch: Watch) -> tuple[int, str]:
        """Makes the vectors that are missing, beside those of other models: how many, and why not all of them."""
        done = 0
        try:
            self._embeddings.refit()
            pending = self._embeddings.coverage().pending
            for more in self._embeddings.fill():
                done += more
                watch("embedding", more, pending)
        except EmbedderUnavailable as error:  # plan B: words find twins, and all vectors stay as they are
            return done, str(error)
        return done, ""

    def _vectors(self, merges: Iterable[Changes]) -> list[StoredVector]:
        """Of what the merges will say anew."""
        anew = [
            new for changes in merges for old, new, *_ in changes if old.content != new.content or old.topic != new.topic
        ]
        try:
            return self._embeddings.make_vectors(anew)
        except EmbedderUnavailable:  # plan B: they are made when it is there again
            return []

    def _plan_merges(self, tx: Reader) -> "tuple[MergePlan, list[Memory], int]":
        """What is to be merged, what is to be dropped, and of how many memories."""
        every, at = list(tx.everything()), self._clock()
        twins = self._find_duplicates(tx, {memory.number: memory for memory in every if is_current(memory, at)})
        return twins, [memory for memory in every if memory.state is State.FORGOTTEN], len(every)

    def _find_duplicates(self, tx: Reader, memories: Mapping[int, Memory]) -> "MergePlan":
        from omoide.lifecycle import deduplication  # noqa: PLC0415 - see the top

        pairs = [*deduplication.candidate_pairs(memories.values()), *self._embeddings.pairs(tx, memories)]
        best: dict[tuple[int, int], float] = {}
        for one, other, likeness in pairs:
            best[one, other] = max(likeness, best.get((one, other), 0.0))
        linked = {
            (link.source, link.target)
            for one in {one for one, _ in best}
            for link in tx.links(one)
            if link.kind is not LinkKind.DERIVED_FROM  # a twin that was merged, told again, and is to be merged again
        }
        return deduplication.plan(
            memories,
            [
                (one, other, likeness)
                for (one, other), likeness in best.items()
                # What somebody has linked is settled: how the two stand to each other is known.
                if linked.isdisjoint([(memories[one].id, memories[other].id), (memories[other].id, memories[one].id)])
            ],
        )


def _own_layers(scope: Scope) -> tuple[Layer, ...]:
    """The layers of the scope itself, without the wider ones that it sees."""
    if scope.name:
        return (Layer.SESSION,)
    return (Layer.PROJECT, Layer.SESSION) if scope.path else (Layer.EVERYWHERE,)


def _entry(memory: Memory) -> tuple[int, IndexEntry]:
    """The fingerprint of a memory, and the words by which it is found."""
    return versioning.memory_fingerprint(memory), versioning.build_index_entry(memory)


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
    """Whatever the other was linked with, the one is from now on; and with the other itself."""
    for link in tx.links(other.number):
        source, target = (into if id == other.id else tx.memory(id) for id in (link.source, link.target))
        if source is not None and target is not None and source.id != target.id:
            tx.link(source.number, link.kind, target.number, at)
    tx.link(into.number, LinkKind.DERIVED_FROM, other.number, at)


def _changes(merge: "Merge", at: datetime) -> Changes:
    """The others go to the archive, not away: each has its history, and a link tells where the fact came from. What they
    were told is counted in the one: should one of them be told again and come back, it begins anew."""
    pairs = [(merge.into, versioning.with_fields(merge.merged, {"author": _author(merge)}))]
    pairs += [(other, msgspec.structs.replace(other, state=State.ARCHIVED, reference_count=0)) for other in merge.others]
    after = [(old, versioning.next_version(old, new, at)) for old, new in pairs]
    return [(old, new, versioning.memory_fingerprint(new), versioning.build_index_entry(new)) for old, new in after]


def _author(merge: "Merge") -> Actor | None:
    """Who a merged text is by: who wrote it where nothing was added, else whoever of its authors may do least."""
    parts = (merge.into, *merge.others)
    for memory in parts:
        if memory.content == merge.merged.content:
            return memory.author
    authors = [memory.author for memory in parts if memory.author is not None]
    return (
        reduce(lambda one, other: other if permissions.outranks(one.role, other.role) else one, authors) if authors else None
    )


def _with_new_references(changes: Changes, present: dict[int, Memory]) -> Changes:
    """With the references that came since it was planned: they are counted without making a new version."""
    into = changes[0][1]
    more = sum(present[old.number].reference_count - old.reference_count for old, *_ in changes)
    told = msgspec.structs.replace(into, reference_count=into.reference_count + more)
    return [
        (present[old.number], told if new is into else new, fingerprint, words) for old, new, fingerprint, words in changes
    ]
