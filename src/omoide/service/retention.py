"""Retiring: what has expired, is unused or crowds its layer moves to the archive, by plan, on request or once a day."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from omoide.errors import StoreError
from omoide.guard import permissions
from omoide.lifecycle import retention
from omoide.lifecycle.retention import RetentionPlan, Retirement, Rules
from omoide.model import Actor, Role, Scope, State
from omoide.service import versioning
from omoide.service.core import Core
from omoide.service.write_path import MemoryTransaction, WritePath
from omoide.storage.base import MemoryChange, Reader

_TASK = "retire"
_EVERY = timedelta(days=1)
_AT_ONCE = 2_000
"""So many in a transaction, about 0.4 s, for whoever asks: others wait no longer than that to write."""
_BY_THE_WAY = 500
"""So many in all for nobody who asked: about 0.1 s."""

_MERGED = 2
"""Steps of the daily merge of the index, 0.2 s: what is left is merged on the days after."""

RETENTION_ACTOR = Actor("omoide", Role.OWNER, "upkeep")
"""Who retires when nobody asked."""


class Retention(Core):
    def retire(self, *, dry_run: bool = False) -> RetentionPlan:
        """Archives what the settings say has had its time, in the whole store; a dry run only tells, so that what should
        stay can be pinned. Unlike by itself, it spares nothing in a crowded layer but what is pinned.

        Each memory with its version and its event in one transaction, but not all memories in one: others write in
        between. One that changes meanwhile stays.
        """
        permissions.require(self._actor, "retire")
        at = self._clock()
        with self._store.write() as tx:
            # With it, what this process used a moment ago is written: until then nobody else knows.
            tx.record_run(_TASK, at)
        with self._store.read() as tx:
            plan = self._plan(tx, at, spared=timedelta(0))
        if dry_run:
            return plan
        done: list[Retirement] = []
        for start in range(0, len(plan.retirements), _AT_ONCE):
            with self._writes.transaction() as write:
                done += _archive(write, plan.retirements[start : start + _AT_ONCE])
        return RetentionPlan(done)

    def retire_if_due(self) -> RetentionPlan | None:
        """The same by itself, at a quiet moment: when the last time was a day ago, settings allow it and nobody writes.

        A few hundred memories at the most; where there are more, the rest goes at the next quiet moments. `close` calls
        it, and so should a way in that never closes. None: there was nothing to do, or it was no quiet moment.
        """
        permissions.require(self._actor, "retire_if_due")
        if self._settings.retire != "auto" or not self._store.idle:
            return None
        at = self._clock()
        try:
            with self._store.read() as tx:
                last = tx.last_run(_TASK)
                # A clock that was wrong, even by years and into the future, must not end upkeep for good.
                if last is not None and abs(at - last) < _EVERY:
                    return None
            with self._store.write(patient=False):
                pass  # only to write the access times, as above
            with self._store.read() as tx:
                plan = self._plan(tx, at, retention.RECENT, _BY_THE_WAY)
            path = WritePath(self._store, self._settings, RETENTION_ACTOR, self._clock, self._hooks)
            with path.transaction(patient=False) as write:
                done = _archive(write, plan.retirements)
                if len(plan.retirements) < _BY_THE_WAY:
                    write.tx.record_run(_TASK, at)
            self._store.merge_index(_MERGED)
        except StoreError:  # fallback: the next idle moment; nobody asked for this, so nobody waits for an answer
            return None
        return RetentionPlan(done)

    def _plan(self, tx: Reader, at: datetime, spared: timedelta, most: int | None = None) -> RetentionPlan:
        rules = Rules(self._settings.ttl_days, self._settings.max_entries, spared)
        return retention.plan(tx.unused(retention.unused_since(rules, at), at), _layer_sizes(tx), rules, at, most)


def _layer_sizes(tx: Reader) -> dict[Scope, int]:
    """How many active memories each layer has: the global one, every project, every session."""
    sizes: dict[Scope, int] = {}
    for scope, _, state, count in tx.counts():
        if state == State.ACTIVE:
            sizes[scope] = sizes.get(scope, 0) + count
    return sizes


def _archive(write: MemoryTransaction, retirements: Sequence[Retirement]) -> list[Retirement]:
    """Archive the memories that are still as they were planned, and answer which."""
    planned = {retirement.memory.number: retirement for retirement in retirements}
    present = write.tx.memories(list(planned))
    unchanged = [memory for memory in present if memory.version == planned[memory.number].memory.version]
    changes: list[MemoryChange] = []
    for old in unchanged:
        new = versioning.next_version(old, msgspec.structs.replace(old, state=State.ARCHIVED), write.at)
        changes.append((old, new, versioning.memory_fingerprint(new), versioning.build_index_entry(new)))
    write.replace_many(changes)
    for old, new, *_ in changes:
        write.log_change(old, new, "retired", {"reason": planned[new.number].reason.value})
    return [planned[memory.number] for memory in unchanged]
