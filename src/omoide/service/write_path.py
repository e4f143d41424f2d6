"""The one write path: every way in which a memory is stored or changed ends here.

In this order: bounds, fields and secrets are checked (`WritePath.check`); one transaction applies the same-memory rule and
the rights on layers, and writes each change with its version and its event (`MemoryTransaction`); the post-commit hooks run.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property

import msgspec

from omoide import model
from omoide.errors import InvalidInput
from omoide.guard import permissions, validation
from omoide.model import ACTIVITY, Actor, Draft, Memory, Remembered, Role, Scope, State, fields, parse_source, require_source
from omoide.model.expiry import is_current
from omoide.service import idempotency, versioning
from omoide.service.hooks import Hooks
from omoide.service.idempotency import IdempotencyKey, Result
from omoide.settings import Settings
from omoide.storage.base import IndexedMemory, IndexEntry, MemoryChange, Reader, Store, Writer

_CHUNK = 1_000
"""Drafts that one statement inserts."""


class WritePath:
    """How one actor stores and changes memories in one store."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        actor: Actor,
        clock: Callable[[], datetime],
        hooks: Hooks,
        key: IdempotencyKey | None = None,
    ):
        """Write as one actor. `key`: that of a request that must not be done twice, which the next transaction does."""
        self._key = key
        self.actor = actor
        self.settings = settings
        self.source = require_source(settings.source) if settings.source else None
        self._store = store
        self._clock = clock
        self._hooks = hooks

    @property
    def has_key(self) -> bool:
        """Whether the next transaction does a request that must not be done twice."""
        return self._key is not None

    def check(self, draft: Draft) -> Draft:
        """Return the draft as it will be stored: normalised, and with secrets redacted if the settings say so.

        Raises InvalidInput for a field that cannot be stored, SecretFound for a secret that is not redacted, and NotAllowed
        for a scope beyond the actor's bounds.
        """
        draft = validation.check_draft(draft, self.settings)
        if isinstance(self.actor, permissions.BoundActor):
            permissions.require_within(self.actor, validation.scope_of(draft))
        return draft

    @contextmanager
    def transaction(self, *, patient: bool = True, durable: bool = True) -> "Iterator[MemoryTransaction]":
        """Open a transaction; after its commit, run the hooks. If the block raises, nothing is stored, and no hook runs.

        See `Store.write` for `patient` and `durable`. Raises AlreadyDone if its idempotency key was used before.
        """
        at = self._clock()
        with self._store.write(patient=patient, durable=durable) as tx:
            write = self.within(tx, at)
            if self._key is not None:
                idempotency.require_new(tx, self._key, at)
            yield write
            if self._key is not None and write.result is not None:
                idempotency.record_result(tx, self._key, write.result, at)
        self._hooks.after_commit(write.changed)

    def within(self, tx: Writer, at: datetime) -> "MemoryTransaction":
        """Return the write path within a transaction of the caller, who must run the hooks after its commit."""
        return MemoryTransaction(self, tx, at)

    def find_same(
        self, tx: Reader, draft: Draft, at: datetime, is_taken: Callable[[Memory], bool] = lambda _: False
    ) -> Memory | None:
        """Return the memory of exactly the draft's scope that a draft is about; None if it is a new one.

        It is found by its key alone if the draft has one, else by topic and type, else by content and type. A line of
        activity is always new. `is_taken`: returns whether a memory must not be returned; if such a memory has the draft's
        key, InvalidInput is raised.
        """
        scope = validation.scope_of(draft)
        if draft.key is not None:
            keyed = tx.by_key(scope, draft.key)
            if keyed is not None and is_taken(keyed):
                raise InvalidInput(f"key {draft.key!r} is taken by #{keyed.number}: choose another")
            return keyed
        type = draft.type or self.settings.type
        if type == ACTIVITY and draft.topic is None:
            return None
        same = [
            memory
            for memory in tx.by_fingerprint(self.fingerprint(draft), scope)
            if memory.type == type and _is_about(memory, draft) and not is_taken(memory)
        ]
        # Rather than one that is archived, or was merged.
        return min(same, key=lambda memory: not is_current(memory, at), default=None)

    def fingerprint(self, draft: Draft) -> int:
        """Return the fingerprint of the memory that a draft would become."""
        type = draft.type or self.settings.type
        return versioning.fingerprint(validation.scope_of(draft), type, draft.topic, draft.content)

    @cached_property
    def run(self) -> str | None:
        """The run of an agent that the settings name, for memories that name none themselves."""
        return validation.check_line(self.settings.run, "run", self.settings) if self.settings.run else None

    def new_memory(self, draft: Draft, at: datetime, random: str = "") -> Memory:
        """Return the first version of the memory of a checked draft, with the number 0. `random`: see `model.new_id`."""
        created = draft.created_at or at
        topic = draft.topic if draft.topic is not None else model.derive_topic(draft.content)
        # By position: with names it takes ten times as long, and a bulk import creates thousands.
        return Memory(
            model.new_id(created, random),
            0,  # the store numbers it
            validation.scope_of(draft),
            draft.key,
            draft.type or self.settings.type,
            topic,
            draft.topic is not None,
            draft.content,
            tuple(draft.tags),
            tuple(draft.examples),
            draft.source if draft.source is not None else self._default_source(draft),
            1.0 if draft.confidence is None else draft.confidence,
            0.5 if draft.relevance is None else draft.relevance,
            0,  # reference_count
            bool(draft.pinned),
            State.ACTIVE,
            created,  # created_at
            created,  # updated_at
            None,  # last_accessed_at
            draft.expires_at,
            1,  # version
            self.run if draft.source_run_id is None else str(draft.source_run_id),
            self.actor,
            draft.original_prompt,
        )

    def _default_source(self, draft: Draft) -> str:
        """The source of a memory for which none is given: see `Service.remember`."""
        if self.settings.source:
            return self.settings.source
        if draft.source_run_id is not None or self.run is not None:
            return "run"
        is_person = self.actor.via == "cli" and self.actor.role is not Role.WORKER
        return "human" if is_person else self.actor.via

    def require_layer(self, scope: Scope) -> None:
        """Raise NotAllowed where a worker writes to the global layer and the settings do not allow it."""
        permissions.require_layer(self.actor, scope, workers_global=self.settings.workers_global)


def _is_about(memory: Memory, draft: Draft) -> bool:
    """Return whether a memory has the topic of a draft, or the content of one without a topic."""
    if draft.topic is None:
        return not memory.topic_given and memory.content == draft.content
    return memory.topic_given and versioning.fold_topic(memory.topic) == versioning.fold_topic(draft.topic)


class MemoryTransaction:
    """One transaction of a write path: what it stores, changes or erases gets its event, and its number in `changed`."""

    def __init__(self, path: WritePath, tx: Writer, at: datetime):
        self.tx = tx
        self.at = at
        self.changed: list[int] = []
        self.result: Result | None = None
        """What the operation returns, for its idempotency key."""
        self.source = path.source
        """Where the events of this transaction come from; None: from the interface of the actor."""
        self._path = path
        self._actor = path.actor

    def remember(self, draft: Draft, entry: IndexEntry | None = None) -> Remembered:
        """Store a checked draft: update the same memory if there is one (see `WritePath.find_same`), else add a new one.

        `entry`: the index entry of the draft, if the caller has built it already.
        """
        old = self._path.find_same(self.tx, draft, self.at)
        with self.from_source(draft.source):
            if old is not None:
                return self.update(old, draft)
            memory = self._path.new_memory(draft, self.at)
            return Remembered(self.add(memory, "remembered", entry or versioning.build_index_entry(draft)), "created")

    @contextmanager
    def from_source(self, text: str | None) -> Iterator[None]:
        """Log events of the block as coming from the source that the text names; as before, if it names none."""
        before, self.source = self.source, (parse_source(text) if text else None) or self.source
        try:
            yield
        finally:
            self.source = before

    def update(self, old: Memory, draft: Draft) -> Remembered:
        """Merge a checked draft into the memory that it is about; if it says nothing new, only count a reference."""
        new = versioning.merge_draft(old, draft, self.at)
        self._path.require_layer(old.scope)
        # Confirmed by somebody more trusted, it is theirs: otherwise an agent could claim a preference of its user.
        claims = old.author is not None and permissions.outranks(self._actor.role, old.author.role)
        if new == old and not claims:
            return Remembered(self.confirm(old), "unchanged")
        run = str(draft.source_run_id or "") or self._path.run or old.source_run_id
        new = msgspec.structs.replace(new, reference_count=old.reference_count + 1, source_run_id=run)
        return Remembered(self.change(old, new, "updated", self._actor if claims else None), "updated")

    def confirm(self, memory: Memory) -> Memory:
        """Count that a memory was remembered again, without a new version. Return it with its new count."""
        self.tx.count_reference(memory.number)
        self.log("confirmed", memory)
        self.changed.append(memory.number)
        return msgspec.structs.replace(memory, reference_count=memory.reference_count + 1)

    def remember_many(self, drafts: Sequence[Draft]) -> list[Remembered]:
        """Store checked drafts as `remember` does, in a third of the time; return the results in their order."""
        # One project after the other: the index takes rising row ids much faster.
        order = sorted(range(len(drafts)), key=lambda place: validation.scope_of(drafts[place]).path)
        done: dict[int, Remembered] = {}
        for start in range(0, len(order), _CHUNK):
            self._remember_chunk([(place, drafts[place]) for place in order[start : start + _CHUNK]], done)
        return [done[place] for place in range(len(drafts))]

    def _remember_chunk(self, drafts: Sequence[tuple[int, Draft]], done: dict[int, Remembered]) -> None:
        """Insert what is surely new together; the rest, which may be about a known memory, goes one by one."""
        fingerprints = [self._path.fingerprint(draft) for _, draft in drafts]
        known = self.tx.known_fingerprints(fingerprints)
        random = os.urandom(10 * len(drafts)).hex()
        sources = {place: draft.source for place, draft in drafts}
        new: list[IndexedMemory] = []
        places: list[int] = []
        others: list[tuple[int, Draft]] = []
        for (place, draft), fingerprint in zip(drafts, fingerprints, strict=True):
            if draft.key is not None or fingerprint in known:
                others.append((place, draft))
            else:
                self._path.require_layer(validation.scope_of(draft))
                start = 20 * len(new)
                memory = self._path.new_memory(draft, self.at, random[start : start + 20])
                new.append((memory, fingerprint, versioning.build_index_entry(draft)))
                places.append(place)
            known.add(fingerprint)
        added = self.tx.add(new, self._actor)
        by_source: dict[str | None, list[Memory]] = {}
        for place, memory in zip(places, added, strict=True):
            by_source.setdefault(sources[place], []).append(memory)
        for text, memories in by_source.items():
            with self.from_source(text):
                self.tx.add_event("remembered", self._actor, self.at, memories, {}, self.source)
        self.changed += [memory.number for memory in added]
        done.update([(place, Remembered(memory, "created")) for place, memory in zip(places, added, strict=True)])
        for place, draft in others:
            done[place] = self.remember(draft)

    def add(self, memory: Memory, action: str, entry: IndexEntry | None = None) -> Memory:
        """Add a checked memory as it is, with its id and dates, and return it with its number.

        `action`: that of its event. `entry`: its index entry, if the caller has built it already.
        """
        self._path.require_layer(memory.scope)
        entry = entry or versioning.build_index_entry(memory)
        (added,) = self.tx.add([(memory, versioning.memory_fingerprint(memory), entry)], self._actor)
        self.log(action, added)
        self.changed.append(added.number)
        return added

    def change(
        self,
        old: Memory,
        new: Memory,
        action: str,
        author: Actor | None = None,
        detail: Mapping[str, object] | None = None,
    ) -> Memory:
        """Store `new` as the next version of `old`, and return it.

        `action`, `detail`: those of its event. `author`: the author of the version; None: the actor if what the memory says
        changes, else the author of `old`. Raises NotAllowed if the actor may not write to one of the layers, or not let the
        memory expire earlier.
        """
        self._require_expiry_right(old, new)
        self._path.require_layer(old.scope)
        self._path.require_layer(new.scope)
        if author is None:
            author = self._actor if any(getattr(old, name) != getattr(new, name) for name in fields.AUTHORED) else old.author
        new = msgspec.structs.replace(new, author=author)
        if action == "imported":
            new = msgspec.structs.replace(new, version=max(new.version, old.version + 1))
        else:
            new = versioning.next_version(old, new, self.at)
        self.replace(old, new)
        self.log_change(old, new, action, detail)
        return new

    def change_if_new(self, old: Memory, new: Memory, action: str) -> Memory:
        """Store `new` as the next version of `old` as `change` does, if they differ; return the current version."""
        return old if new == old else self.change(old, new, action)

    def set_learned_relevance(self, old: Memory, relevance: float, detail: Mapping[str, object]) -> None:
        """Store a learned relevance as the next version of a memory; do nothing if the memory has it already.

        The time of the last change moves by a microsecond only, because what the memory says does not change. `detail`: more
        for its event.
        """
        if relevance != old.relevance:
            new = versioning.next_version(old, msgspec.structs.replace(old, relevance=relevance), old.updated_at)
            self.replace(old, new)
            self.log_change(old, new, "learned", {**detail, "before": old.relevance, "after": relevance})

    def fix_relevance(self, old: Memory, value: float) -> Memory:
        """Give a memory this relevance, and let no outcome of a run move it any more. Return the memory."""
        from omoide.lifecycle import relevance  # lazy: few writes are about what is learned from outcomes

        new = old
        if value != old.relevance:
            new = self.change(old, versioning.with_fields(old, {"relevance": value}), "revised")
        learned = relevance.unlearned(old.number, value, self.tx.mark().event)
        self.tx.put_learned_relevance(msgspec.structs.replace(learned, fixed=True))
        self.log("relevance fixed", new, {"relevance": value})
        return new

    def release_relevance(self, memory: Memory) -> None:
        """Let outcomes of runs move the relevance of a memory again, from its present value on."""
        self.tx.drop_learned([memory.number])
        self.log("relevance released", memory, {"relevance": memory.relevance})

    def _require_expiry_right(self, old: Memory, new: Memory) -> None:
        """Setting or shortening an expiry takes the memory away later: that needs the permission to archive."""
        if new.expires_at is not None and (old.expires_at is None or new.expires_at < old.expires_at):
            permissions.require(self._actor, "archive", f"archive #{old.number} or let it expire earlier")

    def replace(self, old: Memory, new: Memory) -> None:
        """Store a complete version `new` in place of `old`. The caller logs the change."""
        fingerprint, entry = versioning.memory_fingerprint(new), versioning.build_index_entry(new)
        self.tx.change([(old, new, fingerprint, entry)], self._actor)
        self.changed.append(new.number)

    def replace_many(self, changes: Sequence[MemoryChange]) -> None:
        """Store complete versions, faster than `replace` one by one. The caller logs the changes."""
        self.tx.change(changes, self._actor)
        self.changed.extend(new.number for _, new, *_ in changes)

    def erase(self, memory: Memory) -> None:
        """Erase a memory with its versions and links, and log that without its text."""
        self.tx.erase(memory.number)
        self.log("purged", memory, {"id": memory.id})
        self.changed.append(memory.number)

    def log_change(self, old: Memory, new: Memory, action: str, detail: Mapping[str, object] | None = None) -> None:
        """Log a change of a memory: which fields differ, the new version, and `detail`, if there is more to log."""
        changed = [
            name for name in Memory.__struct_fields__ if name in fields.LOGGED and getattr(old, name) != getattr(new, name)
        ]
        self.log(action, new, {"fields": changed, "version": new.version, **(detail or {})})

    def log(self, action: str, subject: Memory | Scope, detail: Mapping[str, object] | None = None) -> None:
        """Log an event about a memory, or about a project or session itself. `detail`: more about it, never a text."""
        self.tx.add_event(action, self._actor, self.at, subject, detail or {}, self.source)
