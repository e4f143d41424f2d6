"""Meetings of memories and their entries in files: what stands on the database's side, and what comes in from the other.

Not part of `Service`, so that no way in has it: what a file says is a person's word and is taken in as the owner's, whoever
asked for the reading. See docs/decisions/0009-mirror-sync.md.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from omoide.errors import InvalidInput, NotFound
from omoide.guard import secrets, validation
from omoide.markdown.format import Entry, ProjectFrame
from omoide.model import (
    Actor,
    Choice,
    Draft,
    FileState,
    Layer,
    Memory,
    Mirror,
    Query,
    Scope,
    Side,
    State,
    SyncConflict,
    SyncState,
    expiry,
)
from omoide.model.fields import FROM_FILES
from omoide.service import versioning
from omoide.service.memories import Memories
from omoide.service.mirrors import holds
from omoide.storage.base import Reader, SyncUpdate, Writer


class DatabaseSide(NamedTuple):
    """The database's side of a mirror, of one moment."""

    mirror: Mirror
    event: int
    """The last one by then."""
    memories: dict[int, Memory]
    """What changed since the files last showed it, what they name, and what stood in them."""
    sync_states: dict[int, SyncState]
    numbers: dict[str, int]
    """Of the ids and keys that the files name."""
    astray: dict[str, str]
    """The ids among them that no entry of these files can have, and why."""


class FileChange(msgspec.Struct, frozen=True):
    """One thing that a file says and the database does not."""

    entry: Entry | None
    """None: the entry is gone."""
    place: str
    """Where it stands, for messages."""
    number: int = 0
    """Of the memory that it is about; 0: none is known."""
    version: int = 0
    """Of that memory, as it was when this was found out."""
    fields: dict[str, Any] = {}
    """What the memory should say."""
    stands: Side | None = None
    """Set when both sides had changed, differently."""
    lost: dict[str, Any] = {}
    """What the file says and does not stand: kept as a version."""


class ImportResult(NamedTuple):
    memory: Memory | None
    """As it is now; None when it was refused, or changed in the meantime."""
    refused: str = ""
    """Why, and what to do."""


class SyncDatabase(Memories):
    def last_event(self) -> int:
        with self._store.read() as tx:
            return tx.mark().event

    def entries(self, mirror: int) -> dict[str, int]:
        """The ids that stand in the files, each with the number of its memory."""
        with self._store.read() as tx:
            return {one.entry: one.memory for one in tx.sync_states(mirror) if one.entry}

    def file_states(self, mirror: int) -> list[FileState]:
        with self._store.read() as tx:
            return tx.file_states(mirror)

    def database_side(
        self,
        number: int,
        *,
        files: Sequence[str],
        ids: Sequence[str],
        keys: Sequence[tuple[Scope, str]],
        taken: Sequence[int],
        whole: bool,
    ) -> DatabaseSide:
        """What these files and what happened since they were last in step are about; whole: all of the mirror.

        `taken`: memories that were taken in from the files just now.
        """
        with self._store.read() as tx:
            mirror = next((one for one in tx.mirrors() if one.number == number), None)
            if mirror is None:
                raise NotFound(f"there is no mirror {number} any more")
            event, changed = tx.mark().event, tx.changed_since(mirror.seen)
            changed += self._expired_numbers(tx, mirror)
            numbers = {memory.id: memory.number for memory in tx.memories(ids)}
            keyed = {key: memory.number for scope, key in keys if (memory := tx.by_key(scope, key)) is not None}
            # A database older than the files, brought back from a backup: nothing that was seen counts.
            if whole or mirror.seen == 0 or event < mirror.seen:
                met = tx.sync_states(number)
                changed = [memory.number for memory in self._of(tx, mirror)] if mirror.choice is Choice.ALL else []
            else:
                met = tx.sync_states(number, files=files, memories=[*changed, *numbers.values(), *keyed.values()])
            sync_states = {one.memory: one for one in met}
            wanted = dict.fromkeys([*sync_states, *numbers.values(), *keyed.values(), *taken, *changed])
            memories = {
                memory.number: memory
                for memory in tx.memories(list(wanted))
                if memory.number in sync_states or holds(mirror, memory.scope)
            }
            unknown = [id for id in ids if id not in numbers]
            erased = tx.purged(unknown) if unknown else set()
        known = {word: number for word, number in {**keyed, **numbers}.items() if number in memories}
        astray = dict.fromkeys(erased, "the memory with this id was purged")
        astray |= {
            id: "the memory with this id is none of this mirror's" for id, it in numbers.items() if it not in memories
        }
        return DatabaseSide(mirror, event, memories, sync_states, known, astray)

    def is_concerned(self, mirror: Mirror, since: int) -> tuple[int, bool]:
        """The last event, and whether any after this one is about something that the mirror holds."""
        with self._store.read() as tx:
            event, changed = tx.mark().event, tx.changed_since(since)
            # A tree tells of the project and its sessions as well, and events about those are about no memory.
            if (
                event < since
                or tx.sync_states(mirror.number, memories=changed)
                or (event > since and mirror.format == "tree")
            ):
                return event, True
            if mirror.choice is Choice.OWN or not changed:
                return event, False
            return event, any(holds(mirror, memory.scope) for memory in tx.memories(changed))

    def has_expired(self, mirror: Mirror) -> bool:
        """Whether a memory in the mirror's files has expired since they were last written: that is no event."""
        with self._store.read() as tx:
            expired = self._expired_numbers(tx, mirror)
            if not expired:
                return False
            if mirror.format == "block":  # it has no meetings: what it holds is always written anew
                return any(holds(mirror, memory.scope) for memory in tx.memories(expired))
            return any(one.file for one in tx.sync_states(mirror.number, memories=expired))

    def _expired_numbers(self, tx: Reader, mirror: Mirror) -> list[int]:
        return tx.expired_since(mirror.seen, self._clock())

    def is_current(self, memory: Memory) -> bool:
        return expiry.is_current(memory, self._clock())

    def _of(self, tx: Reader, mirror: Mirror) -> Iterator[Memory]:
        """All that a mirror of everything holds, the oldest first."""
        layers = (Layer.PROJECT, Layer.SESSION) if mirror.format == "tree" else (mirror.scope.layer,)
        # Of all listings: what has expired, or was archived, may stand in a file that has to be written without it.
        found = tx.browse(
            Query(mirror.scope, layers=layers, states=(State.ACTIVE, State.INACTIVE, State.ARCHIVED)), self._clock()
        )
        return iter(sorted((one for one in found if holds(mirror, one.scope)), key=lambda memory: memory.number))

    def frame(self, scope: Scope) -> ProjectFrame:
        """What a tree says of the project itself."""
        with self._store.read() as tx:
            project = tx.project(scope.path) if scope.path else None
            sessions = sorted(session.scope.name for session in tx.sessions(self._clock(), scope)) if project else []
        return ProjectFrame(scope.path or "omoide", project.description if project else "", tuple(sessions))

    def describe(self, scope: Scope, text: str) -> None:
        """A person wrote into a file what a project is about."""
        with self._store.write() as tx:
            project = tx.project(scope.path)
            if project is not None:
                description = validation.check_line(text, "description", self._settings)
                tx.put_project(msgspec.structs.replace(project, description=description))
                tx.add_event("described", self._actor, self._clock(), scope, {"fields": ["description"]})

    def versions_since(self, number: int, since: int) -> list[Memory]:
        """The versions of a memory from this one on, oldest first."""
        with self._store.read() as tx:
            return [one.memory for one in tx.versions(number) if one.memory.version >= since]

    def import_changes(
        self, mirror: Mirror, things: Sequence[FileChange], present: Iterable[int], unread: Collection[str]
    ) -> list[ImportResult]:
        """Makes the database say what a file says: all in one transaction, but for what is refused or changed meanwhile.

        `present`: memories that stand in the files under their own names, so that nothing else there can be they;
        and so do those that were last met in one of the `unread` files.
        """
        at = self._clock()
        there = _PresentMemories(present, unread)
        taken: list[ImportResult] = []
        # What stands in a file that is synced itself would come in again; only what loses its place there would not.
        with self._store.write(durable=any(change.lost for change in things)) as tx:
            for change in things:
                if validation.secret_in(change.place):
                    place = secrets.redact(change.place)
                    taken.append(ImportResult(None, f"{place}: the name of the file seems to hold a secret: rename it"))
                    continue
                try:
                    memory = (
                        self._revise_from_file(tx, mirror, change, at)
                        if change.number
                        else self._add_from_file(tx, mirror, change, there, at)
                    )
                except InvalidInput as error:  # plan B: the others; this one is told to its author
                    taken.append(ImportResult(None, f"{change.place}: {error}"))
                    continue
                taken.append(ImportResult(memory))
                if memory is not None:
                    there.numbers.add(memory.number)
        return taken

    def record_sync(
        self,
        mirror: int,
        *,
        sync_states: Iterable[SyncState] = (),
        parted: Iterable[int] = (),
        file_states: Iterable[FileState] = (),
        vanished: Iterable[str] = (),
        seen: int | None = None,
    ) -> None:
        """Notes what is now known to be in step. Should that be lost, both sides are found to say the same.

        Nothing is noted of a file whose name holds a secret: it is looked at again each time, until it is renamed.
        """
        sync_states = [one for one in sync_states if not validation.secret_in(one.file)]
        file_states = [one for one in file_states if not validation.secret_in(one.name)]
        with self._store.write(durable=False) as tx:
            tx.record_sync(mirror, SyncUpdate(sync_states, parted, file_states, vanished, last_event=seen))

    # the parts of the above

    def _revise_from_file(self, tx: Writer, mirror: Mirror, change: FileChange, at: datetime) -> Memory | None:
        old = tx.memory(change.number)
        if old is None or old.version != change.version:
            return None
        fields, lost = self._check_fields(change.fields), self._check_fields(change.lost)
        self._keys_are_free(tx, old, {**fields, **lost})
        new = self._next(
            tx, old, versioning.with_fields(old, {**fields, **lost}) if lost else versioning.with_fields(old, fields), at
        )
        file_version, database_version = (new.version if change.entry else 0), old.version
        if lost:
            # The file's text has been a version for a moment, and is in the history now.
            before = {name: getattr(old, name) for name in lost if name != "topic"}
            if "topic" in lost:
                before["topic"] = old.topic if old.topic_given else None
            # What the database says stands as it was, and so does who wrote it.
            new = self._next(tx, new, versioning.with_fields(new, {**before, **fields}), at, None if fields else old.author)
            database_version = new.version
        if change.stands is not None:
            conflict = SyncConflict(mirror.number, old.number, at, file_version, database_version, change.stands)
            tx.record_sync(mirror.number, SyncUpdate(conflicts=[conflict]))
        return new

    def _next(self, tx: Writer, old: Memory, new: Memory, at: datetime, author: Actor | None = None) -> Memory:
        if new == old:
            return old
        action = "revised"
        if new.state is not old.state:
            action = "archived" if new.state is State.ARCHIVED else "restored"
        return self._change(tx, old, new, action, at, author)

    def _check_fields(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return validation.check_fields(values, self._settings, FROM_FILES)

    def _keys_are_free(self, tx: Reader, old: Memory, fields: Mapping[str, Any]) -> None:
        scope, key = fields.get("scope", old.scope), fields.get("key", old.key)
        other = None if key is None else tx.by_key(scope, key)
        if other is not None and other.number != old.number:
            raise InvalidInput(f"key {key!r} is taken by #{other.number}: choose another")

    def _add_from_file(
        self, tx: Writer, mirror: Mirror, change: FileChange, present: "_PresentMemories", at: datetime
    ) -> Memory:
        entry = change.entry
        assert entry is not None  # noqa: S101 - only a known memory can be gone
        session = entry.session or mirror.scope.name
        scope = Scope.session(mirror.scope.path, session) if session else mirror.scope
        # A day is told without a time: what was learnt today was learnt now.
        created = entry.created_at
        if created is not None and created.date() == at.date():
            created = at
        draft = validation.check_draft(
            Draft(
                entry.content, scope, entry.topic, entry.type, entry.tags, entry.examples, entry.key, entry.source,
                pinned=entry.pinned, created_at=created,
            ),
            self._settings,
        )  # fmt: skip
        old = self._same_memory(tx, mirror, draft, present)
        if old is not None and (entry.id is None or draft.key is not None):
            new = versioning.merge_draft(old, draft, at)
            return old if new == old else self._change(tx, old, new, "updated", at)
        fresh = self._new_memory(draft, at)
        if entry.archived:
            fresh = msgspec.structs.replace(fresh, state=State.ARCHIVED)
        if entry.id is not None:
            # It came from somebody else's memory, by git perhaps, and is the same memory there and here.
            updated = min(max(entry.updated_at or fresh.created_at, fresh.created_at), at)
            fresh = msgspec.structs.replace(fresh, id=entry.id, updated_at=updated)
        kept = self._add(tx, fresh, versioning.build_index_entry(fresh))
        tx.add_event("remembered" if entry.id is None else "imported", self._actor, at, kept, {})
        return kept

    def _same_memory(self, tx: Reader, mirror: Mirror, draft: Draft, present: "_PresentMemories") -> Memory | None:
        """The memory that `remember` would take this for, unless it stands in the files already, as something else."""
        scope, type = validation.scope_of(draft), draft.type or self._settings.type
        if draft.key is not None:
            keyed = tx.by_key(scope, draft.key)
            if keyed is not None and present.has(tx, mirror, keyed):
                raise InvalidInput(f"key {draft.key!r} is taken by #{keyed.number}: choose another")
            return keyed
        twins = [one for one in tx.by_fingerprint(self._fingerprint(draft), scope) if one.type == type]
        twins = [one for one in twins if not present.has(tx, mirror, one)]
        if draft.topic is None:
            return next((one for one in twins if not one.topic_given and one.content == draft.content), None)
        wanted = versioning.fold_topic(draft.topic)
        return next((one for one in twins if one.topic_given and versioning.fold_topic(one.topic) == wanted), None)


class _PresentMemories:
    """Which memories stand in the files already."""

    def __init__(self, numbers: Iterable[int], unread: Collection[str]):
        self.numbers = set(numbers)
        self._unread = unread

    def has(self, tx: Reader, mirror: Mirror, memory: Memory) -> bool:
        if memory.number in self.numbers:
            return True
        return any(met.file in self._unread for met in tx.sync_states(mirror.number, memories=[memory.number]))
