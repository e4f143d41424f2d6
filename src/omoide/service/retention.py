"""Retention: archive what has expired, is unused or exceeds the limit of its layer, on request or once a day."""

import sys
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from omoide.errors import StoreError
from omoide.guard import permissions
from omoide.lifecycle import retention
from omoide.lifecycle.retention import RetentionPlan, Retirement, Rules
from omoide.model import Actor, Choice, Memory, Role, Scope, State, Usage
from omoide.model.expiry import has_expired
from omoide.service.core import Core
from omoide.storage.base import MemoryChange, Reader
from omoide.storage.capabilities import Housekeeping

if TYPE_CHECKING:  # every command asks whether something is due, and most retire nothing
    from omoide.service.write_path import MemoryTransaction

_TASK = "retire"
_QUIET_TASK = "retire: quiet"
_BY_ITSELF_TASK = "retire: by itself"
_PROPOSED_TASK = "retire: proposed"
_PROPOSAL_REPORTED_TASK = "retire: proposal reported"
_REPORTED_TASK = "retire: reported"
_FIRST_TASK = "retire: first by itself"
"""The first automatic run after the last report: what it and later ones archived is reported together, and undone."""
_EVERY = timedelta(days=1)
_BATCH = 2_000
"""Memories in one transaction, about 0.4 s: others wait no longer than that to write."""
_MAX_AUTOMATIC = 500
"""Memories that are retired without a request, about 0.1 s."""
_MERGE_STEPS = 2
"""Steps of the daily merge of the index, 0.2 s: the rest is merged on the days after."""
_SHARE = 0.1
"""Of each layer, in an automatic run."""
_LISTS = ("memories", "block")
_ALL = sys.maxsize
_PROPOSAL = (
    "nothing is archived automatically after a long time without a write: `omoide retire --dry-run` shows what is out of"
    " date, `omoide retire` archives it"
)

RETENTION_ACTOR = Actor("omoide", Role.OWNER, "upkeep")
"""Who retires memories without a request."""


class Retention(Core):
    """Operations that archive memories that have expired or are unused."""

    def retire(self, *, dry_run: bool = False) -> RetentionPlan:
        """Archive what has expired, is unused for `ttl_days`, or exceeds `max_entries` of its layer, in the whole store.

        Unlike `retire_if_due`, this spares recent memories of a layer over its limit only where they are pinned. It works in
        several transactions, so that others can write in between; a memory that changes meanwhile stays.

        `dry_run`: only return the plan, so that what should stay can be pinned. Returns what was archived, and why.
        """
        permissions.require(self._actor, "retire")
        at = self._clock()
        with self._store.write(durable=False) as tx:
            # This also writes the access times that this process has deferred: the plan needs them.
            tx.record_run(_TASK, at)
        with self._store.read() as tx:
            plan = self._plan(tx, at, self._rules(timedelta(0)))
        if dry_run:
            return plan
        done: list[Retirement] = []
        for start in range(0, len(plan.retirements), _BATCH):
            with self._writes.transaction() as write:
                done += _archive(write, plan.retirements[start : start + _BATCH])
        return RetentionPlan(done)

    def retire_if_due(self) -> RetentionPlan | None:
        """Archive what is out of date, if the last such run was a day ago, the settings allow it and nobody writes.

        At most a tenth of each layer, and 500 memories, are archived. Nothing is archived while there was no event for 45
        days, in the first run after such a time, and in the first run of all: it is only reported that `retire` would
        archive something. `close` calls this, and so should an interface that never closes the service.

        Returns what was archived; None if the run was not due, only reported something, or another process was writing.
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
                if not tx.events(None, None, None, 1):  # nothing was ever stored: there may not even be a file
                    return None
            done = self._retire_by_itself(at)
            if isinstance(self._store, Housekeeping):
                self._store.merge_index(_MERGE_STEPS)
        except StoreError:  # fallback: the next idle moment; nobody asked for this, so nobody waits for an answer
            return None
        return done

    def _retire_by_itself(self, at: datetime) -> RetentionPlan | None:
        """Archive what is out of date, within the bounds of an automatic run; None if it is only reported."""
        from omoide.service.write_path import WritePath  # lazy: see the top

        with self._store.write(patient=False):
            pass  # only to write the deferred access times, as in `retire`
        with self._store.read() as tx:
            plan = self._plan(tx, at, self._rules(retention.RECENT, _SHARE), _MAX_AUTOMATIC)
            quiet, was_quiet = _is_quiet(tx, at), _was_quiet(tx, at)
        if quiet or was_quiet:
            self._propose(plan, at, quiet=quiet)
            return None
        path = WritePath(self._store, self._settings, RETENTION_ACTOR, self._clock, self._hooks)
        with path.transaction(patient=False) as write:
            done = _archive(write, plan.retirements)
            write.tx.record_run(_TASK, at)
            if done:
                _record_automatic_run(write)
        return RetentionPlan(done)

    def _propose(self, plan: RetentionPlan, at: datetime, *, quiet: bool) -> None:
        """Archive nothing, and report that there is something to archive, once after each quiet time."""
        with self._store.write(patient=False) as tx:
            proposed, newest = tx.last_run(_PROPOSED_TASK), tx.events(None, None, None, 1)
            tx.record_run(_TASK, at)
            if quiet:
                tx.record_run(_QUIET_TASK, at)
            is_new = bool(plan.retirements) and (proposed is None or proposed < newest[0].at)
            if is_new:
                tx.record_run(_PROPOSED_TASK, at)
                if self._hooks.is_seen:
                    tx.record_run(_PROPOSAL_REPORTED_TASK, at)
        if is_new:
            self._hooks.report(_PROPOSAL)

    def automatic_retirements(self) -> Sequence[Memory]:
        """Return the memories that automatic runs archived since the last call, and that have not changed since.

        A proposal to archive that nobody has seen yet is reported.
        """
        permissions.require(self._actor, "automatic_retirements")
        with self._store.read() as tx:
            done, reported = tx.last_run(_BY_ITSELF_TASK), tx.last_run(_REPORTED_TASK)
            is_new = done is not None and done != reported
            found = _find_automatic_retirements(tx) if is_new else []
            proposed = tx.last_run(_PROPOSED_TASK)
            is_proposed = proposed is not None and proposed != tx.last_run(_PROPOSAL_REPORTED_TASK)
        if not is_new and not is_proposed:
            return ()
        try:
            with self._store.write(patient=False, durable=False) as tx:
                if done is not None:
                    tx.record_run(_REPORTED_TASK, done)
                if proposed is not None:
                    tx.record_run(_PROPOSAL_REPORTED_TASK, proposed)
        except StoreError:  # fallback: it is reported again
            pass
        if is_proposed:
            self._hooks.report(_PROPOSAL)
        return [memory for memory in found if permissions.covers(self._actor, memory.scope)]

    def undo_retirement(self) -> Sequence[Memory]:
        """Restore what automatic runs archived, from those of the last `automatic_retirements` on, if it is still archived.

        What has expired stays archived. Returns the restored memories.
        """
        permissions.require(self._actor, "undo_retirement")
        with self._writes.transaction() as write:
            archived = _find_automatic_retirements(write.tx)
            restored = [
                write.change(old, msgspec.structs.replace(old, state=State.ACTIVE), "restored", old.author)
                for old in archived
                if not has_expired(old.expires_at, write.at)
            ]
        self._store.touch([memory.number for memory in restored], self._clock())
        return restored

    def _rules(self, spared: timedelta, share: float | None = None) -> Rules:
        return Rules(self._settings.ttl_days, self._settings.max_entries, spared, share)

    def _plan(self, tx: Reader, at: datetime, rules: Rules, most: int | None = None) -> RetentionPlan:
        usages = tx.unused_memories(retention.unused_since(rules, at), at)
        return retention.plan(usages, _layer_sizes(tx), rules, at, most, exemption(tx))


def _is_quiet(tx: Reader, at: datetime) -> bool:
    """Whether nothing was written for so long that nobody seems to be working here."""
    newest = tx.events(None, None, None, 1)
    return bool(newest) and at - newest[0].at >= retention.QUIET


def _was_quiet(tx: Reader, at: datetime) -> bool:
    """Whether it was so until the last run, or there was none for so long, or never."""
    last = tx.last_run(_TASK)
    # abs: after a command with a clock that was years ahead, nobody knows how long nothing was written.
    return last is None or last == tx.last_run(_QUIET_TASK) or abs(at - last) >= retention.QUIET


def _record_automatic_run(write: "MemoryTransaction") -> None:
    """Record that an automatic run archived something, to be reported by the next command."""
    if write.tx.last_run(_BY_ITSELF_TASK) == write.tx.last_run(_REPORTED_TASK):
        write.tx.record_run(_FIRST_TASK, write.at)
    write.tx.record_run(_BY_ITSELF_TASK, write.at)


def _find_automatic_retirements(tx: Reader) -> list[Memory]:
    """The memories that automatic runs archived since the report before the last, and that have not changed since."""
    last = tx.last_run(_BY_ITSELF_TASK)
    if last is None:
        return []
    # A clock may have been ahead in the first run.
    since = min(last, tx.last_run(_FIRST_TASK) or last)
    versions = {
        event.memory_number: event.detail.get("version")
        for event in tx.events(None, None, since, _ALL)
        if event.action == "retired" and event.actor == RETENTION_ACTOR and event.memory_number is not None
    }
    return [memory for memory in tx.memories(list(versions)) if memory.version == versions[memory.number]]


def exemption(tx: Reader) -> Callable[[Memory | Usage], bool]:
    """Return a function that returns whether retention spares a memory: those in the list of a repository or in a block.

    A mirror can turn that off (`Mirror.retire`).
    """
    mirrors = [mirror for mirror in tx.mirrors() if mirror.format in _LISTS and not mirror.retire]
    scopes = {mirror.scope for mirror in mirrors if mirror.choice is Choice.ALL}
    numbers = {
        state.memory
        for mirror in mirrors
        if mirror.choice is Choice.OWN
        for state in tx.sync_states(mirror.number)
        if state.file
    }
    return lambda one: one.scope in scopes or one.number in numbers


def _layer_sizes(tx: Reader) -> dict[Scope, int]:
    """How many active memories each layer has: the global one, every project, every session."""
    sizes: dict[Scope, int] = {}
    for scope, _, state, count in tx.counts():
        if state == State.ACTIVE:
            sizes[scope] = sizes.get(scope, 0) + count
    return sizes


def _archive(write: "MemoryTransaction", retirements: Sequence[Retirement]) -> list[Retirement]:
    """Archive the memories that are still as they were planned, and answer which."""
    from omoide.service import versioning  # lazy: see the top

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
