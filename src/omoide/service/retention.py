"""Retention: archive what has expired, is unused or exceeds the limit of its layer, on request or once a day."""

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
from omoide.storage.capabilities import Housekeeping

_TASK = "retire"
_EVERY = timedelta(days=1)
_BATCH = 2_000
"""Memories in one transaction, about 0.4 s: others wait no longer than that to write."""
_MAX_AUTOMATIC = 500
"""Memories that are retired without a request, about 0.1 s."""
_MERGE_STEPS = 2
"""Steps of the daily merge of the index, 0.2 s: the rest is merged on the days after."""

RETENTION_ACTOR = Actor("omoide", Role.OWNER, "upkeep")
"""Who retires memories without a request."""


class Retention(Core):
    """Operations that archive memories that have expired or are unused."""

    def retire(self, *, dry_run: bool = False) -> RetentionPlan:
        """Archive what has expired, is unused for `ttl_days`, or exceeds `max_entries` of its layer, in the whole store.

        `dry_run`: only return the plan, so that what should stay can be pinned. Unlike `retire_if_due`, this spares recent
        memories of a layer over its limit only where they are pinned.

        Works in several transactions, so that others can write in between; a memory that changes meanwhile stays. Returns
        what was retired, and why.
        """
        permissions.require(self._actor, "retire")
        at = self._clock()
        with self._store.write() as tx:
            # This also writes the access times that this process has deferred: the plan needs them.
            tx.record_run(_TASK, at)
        with self._store.read() as tx:
            plan = self._plan(tx, at, spared=timedelta(0))
        if dry_run:
            return plan
        done: list[Retirement] = []
        for start in range(0, len(plan.retirements), _BATCH):
            with self._writes.transaction() as write:
                done += _archive(write, plan.retirements[start : start + _BATCH])
        return RetentionPlan(done)

    def retire_if_due(self) -> RetentionPlan | None:
        """Retire what is due if the last time was a day ago, the settings allow it, and nobody writes at this moment.

        A few hundred memories at most; the rest is retired at the next calls. `close` calls it, and so should an interface
        that never closes, when it is idle. Returns what was retired; None: it was not due, or not a moment for it.
        """
        permissions.require(self._actor, "retire_if_due")
        if self._settings.retire != "auto" or not self._store.idle:
            return None
        at = self._clock()
        try:
            with self._store.read() as tx:
                last = tx.last_run(_TASK)
                # abs: a clock that once was years ahead must not stop retention for good.
                if last is not None and abs(at - last) < _EVERY:
                    return None
            with self._store.write(patient=False):
                pass  # only to write the deferred access times, as in `retire`
            with self._store.read() as tx:
                plan = self._plan(tx, at, retention.RECENT, _MAX_AUTOMATIC)
            path = WritePath(self._store, self._settings, RETENTION_ACTOR, self._clock, self._hooks)
            with path.transaction(patient=False) as write:
                done = _archive(write, plan.retirements)
                if len(plan.retirements) < _MAX_AUTOMATIC:
                    write.tx.record_run(_TASK, at)
            if isinstance(self._store, Housekeeping):
                self._store.merge_index(_MERGE_STEPS)
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
