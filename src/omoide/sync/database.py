"""The database's side of a sync: what the files should show, what came in from them, and how far both are in sync.

Not part of `Service`, so that no interface offers it: an edit of a file is an edit by the owner, whoever read it in. It goes
through the write path of the service, as that actor. See docs/decisions/0009-mirror-sync.md.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from omoide.errors import NotFound
from omoide.guard import validation
from omoide.markdown.format import Entry, ProjectFrame
from omoide.model import (
    Choice,
    FileState,
    FileVersions,
    Layer,
    Memory,
    Mirror,
    Query,
    Scope,
    State,
    SyncState,
    expiry,
)
from omoide.service.mirrors import holds
from omoide.service.write_path import WritePath
from omoide.storage.base import Reader, Store, SyncUpdate
from omoide.sync.deletions import Deletions
from omoide.sync.entry_store import EntryStore, ImportResult, make_draft
from omoide.sync.three_way import FileChange
from omoide.sync.version_texts import VersionTexts

_PURGED = (
    "the memory with this id was purged: `omoide purge --everywhere --yes` removes the entry;"
    " or take the id out to make it a new one"
)
_FOREIGN = "the memory with this id is none of this mirror's: take the id out to make it a new one, or delete the entry"


class DatabaseSide(NamedTuple):
    """The database's side of a mirror, of one moment."""

    mirror: Mirror
    event: int
    """The number of the last event."""
    memories: dict[int, Memory]
    """By number: those that changed since the last sync, that the files name, and that the files showed."""
    sync_states: dict[int, SyncState]
    """By the number of the memory."""
    numbers: dict[str, int]
    """The memories of the ids and keys that the files name."""
    misplaced: dict[str, str]
    """The ids among them that no entry of these files can have, why, and what to do."""


class SyncDatabase:
    def __init__(self, store: Store, writes: WritePath, clock: Callable[[], datetime]):
        """Read the store for a sync, and import edits of files by a write path whose actor is the author of files."""
        self._store = store
        self._writes = writes
        self._settings = writes.settings
        self._clock = clock
        self.deletions = Deletions(store)
        self._entries = EntryStore(writes, self.deletions)

    def last_event(self) -> int:
        """Return the number of the last event."""
        with self._store.read() as tx:
            return tx.mark().event

    def entries(self, mirror: int) -> dict[str, int]:
        """Return the ids that the files show, each with the number of its memory."""
        with self._store.read() as tx:
            return {state.entry: state.memory for state in tx.sync_states(mirror) if state.entry and state.is_in_file}

    def knows_file(self, mirror: int, name: str) -> bool:
        """Return whether omoide has written to a file, or has imported entries of it."""
        with self._store.read() as tx:
            return bool(tx.sync_states(mirror, files=[name]) or tx.file_versions(mirror, [name]))

    def memories_in_files(self, mirror: int, file: str | None = None) -> list[Memory]:
        """Return the current memories that a file showed when it was last in sync, oldest first; None: that any showed."""
        with self._store.read() as tx:
            states = tx.sync_states(mirror) if file is None else tx.sync_states(mirror, files=[file])
            numbers = sorted(state.memory for state in states if state.shows_memory)
            return [memory for memory in tx.memories(numbers) if self.is_current(memory)]

    def entry_ids(self, mirror: int, file: str) -> list[str]:
        """Return the ids that a file had when it was last in sync."""
        with self._store.read() as tx:
            return [state.entry for state in tx.sync_states(mirror, files=[file])]

    def file_states(self, mirror: int) -> list[FileState]:
        """Return what is recorded of the files of a mirror."""
        with self._store.read() as tx:
            return tx.file_states(mirror)

    def file_versions(self, mirror: int, names: Sequence[str]) -> list[FileVersions]:
        """Return what is known of the synced versions of files."""
        with self._store.read() as tx:
            return tx.file_versions(mirror, names)

    def memories(self, numbers: Sequence[int]) -> list[Memory]:
        """Return the memories with these numbers."""
        with self._store.read() as tx:
            return tx.memories(numbers)

    def memories_by_id(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Return the memories with these ids, by id."""
        with self._store.read() as tx:
            return {memory.id: memory for memory in tx.memories(ids)}

    def purged_ids(self, ids: Sequence[str]) -> set[str]:
        """Return which of these ids belonged to memories that were purged."""
        if not ids:
            return set()
        with self._store.read() as tx:
            return tx.purged_ids(ids)

    def says_nothing_new(self, entries: Sequence[Entry], scope: Scope, present: Iterable[int]) -> list[bool]:
        """Return for each entry without an id whether a memory that is not active, or one of `present`, says or said it."""
        at = self._clock()
        with self._store.read() as tx:
            texts = VersionTexts(tx, at, present)
            drafts = [make_draft(entry, scope, at) for entry in entries]
            return [bool(texts.find_retired(draft) or texts.find_present(draft)) for draft in drafts]

    def held_states(self, mirror: int) -> list[tuple[Memory, SyncState]]:
        """Return the memories whose entries are not as the memories say, and are left so, each with its sync state."""
        with self._store.read() as tx:
            states = {state.memory: state for state in tx.sync_states(mirror) if state.held}
            return [(memory, states[memory.number]) for memory in tx.memories(list(states))]

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
        """Read what a sync of these files needs: what changed since the last sync, and what the files name.

        `ids` and `keys` are those that the files name; `taken` are memories that were imported from the files just now.
        `whole`: read everything that the mirror shows. Raises NotFound where the mirror was removed.
        """
        with self._store.read() as tx:
            mirror = next((known for known in tx.mirrors() if known.number == number), None)
            if mirror is None:
                raise NotFound(f"mirror {number} was removed")
            numbers = {memory.id: memory.number for memory in tx.memories(ids)}
            keyed = {key: memory.number for scope, key in keys if (memory := tx.by_key(scope, key)) is not None}
            named = {**keyed, **numbers}
            event = tx.mark().event
            # A last event that is lower than the recorded one: the database was restored from a backup.
            if whole or mirror.seen <= 0 or event < mirror.seen:
                changed = self._numbers_in_scope(tx, mirror) if mirror.choice is Choice.ALL else []
                states = tx.sync_states(number)
            else:
                changed = tx.memories_changed_since(mirror.seen) + self._expired_numbers(tx, mirror)
                states = tx.sync_states(number, files=files, memories=[*changed, *numbers.values(), *keyed.values()])
            sync_states = {state.memory: state for state in states}
            wanted = dict.fromkeys([*sync_states, *numbers.values(), *keyed.values(), *taken, *changed])
            memories = {
                memory.number: memory
                for memory in tx.memories(list(wanted))
                if memory.number in sync_states or holds(mirror, memory.scope)
            }
            misplaced = _misplaced_ids(tx, ids, numbers, memories)
        known = {name: memory for name, memory in named.items() if memory in memories}
        return DatabaseSide(mirror, event, memories, sync_states, known, misplaced)

    def is_concerned(self, mirror: Mirror, since: int) -> tuple[int, bool]:
        """Return the last event, and whether any event after `since` is about something that the mirror shows."""
        with self._store.read() as tx:
            event, changed = tx.mark().event, tx.memories_changed_since(since)
            # A tree shows the project and its sessions as well, whose events are about no memory.
            if (
                event < since
                or tx.sync_states(mirror.number, memories=changed)
                or (mirror.format == "tree" and mirror.scope.path in tx.projects_changed_since(since))
            ):
                return event, True
            if mirror.choice is Choice.OWN or not changed:
                return event, False
            return event, any(holds(mirror, memory.scope) for memory in tx.memories(changed))

    def mirrors_showing(self, mirrors: Sequence[Mirror], numbers: Sequence[int]) -> Sequence[Mirror]:
        """Return the mirrors that show, or should show, one of these memories; all of them where that is not known."""
        with self._store.read() as tx:
            memories = tx.memories(numbers)
            if not numbers or len(memories) < len(numbers):  # a project itself has changed, or a memory was purged
                return mirrors
            showing, scopes = tx.mirrors_of(numbers), {memory.scope for memory in memories}
        return [one for one in mirrors if one.number in showing or any(holds(one, scope) for scope in scopes)]

    def has_purged(self, since: int) -> bool:
        """Whether a memory was purged after this event: its text must not be in any copy of a file."""
        with self._store.read() as tx:
            changed = tx.memories_changed_since(since)
            return len(tx.memories(changed)) < len(changed)

    def has_expired(self, mirror: Mirror) -> bool:
        """Whether a memory in the mirror's files has expired since they were last written: that is no event."""
        with self._store.read() as tx:
            expired = self._expired_numbers(tx, mirror)
            if not expired:
                return False
            if mirror.format == "block":  # it has no sync states: it is always rewritten as a whole
                return any(holds(mirror, memory.scope) for memory in tx.memories(expired))
            return any(state.shows_memory for state in tx.sync_states(mirror.number, memories=expired))

    def _expired_numbers(self, tx: Reader, mirror: Mirror) -> list[int]:
        return tx.memories_expired_since(mirror.seen, self._clock())

    def is_current(self, memory: Memory) -> bool:
        """Whether a memory is active and has not expired."""
        return expiry.is_current(memory, self._clock())

    def _numbers_in_scope(self, tx: Reader, mirror: Mirror) -> list[int]:
        """The numbers of the memories in the scope of a mirror, oldest first."""
        layers = (Layer.PROJECT, Layer.SESSION) if mirror.format == "tree" else (mirror.scope.layer,)
        # In all these states: an expired or archived memory may be in a file, which must be rewritten without it.
        memories = tx.browse(
            Query(mirror.scope, layers=layers, states=(State.ACTIVE, State.INACTIVE, State.ARCHIVED)), self._clock()
        )
        return sorted(memory.number for memory in memories if holds(mirror, memory.scope))

    def frame(self, scope: Scope) -> ProjectFrame:
        """Return what a tree shows of the project itself."""
        with self._store.read() as tx:
            project = tx.project(scope.path) if scope.path else None
            sessions = sorted(session.scope.name for session in tx.sessions(self._clock(), scope)) if project else []
        return ProjectFrame(scope.path or "omoide", project.description if project else "", tuple(sessions))

    def describe(self, scope: Scope, text: str) -> None:
        """Store the description of a project that somebody wrote into a file."""
        description = validation.check_line(text, "description", self._settings)
        with self._writes.transaction() as write:
            project = write.tx.project(scope.path)
            if project is not None:
                write.tx.put_project(msgspec.structs.replace(project, description=description))
                write.log("described", scope, {"fields": ["description"]})

    def versions_since(self, number: int, since: int) -> list[Memory]:
        """Return the versions of a memory from this one on, oldest first."""
        with self._store.read() as tx:
            return [version.memory for version in tx.versions(number) if version.memory.version >= since]

    def import_changes(
        self, mirror: Mirror, changes: Sequence[FileChange], present: Iterable[int], unread: Collection[str]
    ) -> list[ImportResult]:
        """Store what a file says, and return the outcome of each change: see `EntryStore`."""
        return self._entries.import_changes(mirror, changes, present, unread)

    def refusals(
        self, mirror: Mirror, changes: Sequence[FileChange], present: Iterable[int], unread: Collection[str]
    ) -> list[str]:
        """Return why changes of files would be refused, and store nothing: see `EntryStore`."""
        return self._entries.refusals(mirror, changes, present, unread)

    def record_sync(
        self,
        mirror: int,
        *,
        sync_states: Iterable[SyncState] = (),
        parted: Iterable[int] = (),
        file_states: Iterable[FileState] = (),
        vanished: Iterable[str] = (),
        versions: Iterable[FileVersions] = (),
        seen: int | None = None,
    ) -> None:
        """Record what is in sync now. Not durable: after a power cut, the next sync finds both sides the same.

        `parted` are memories that the files no longer show, `vanished` files that no longer exist, `versions` is what is
        known of the versions of files, `seen` is the last event that was looked at. Nothing is recorded of a file whose
        name holds a secret: it is read again each time, until it is renamed.
        """
        sync_states = [state for state in sync_states if not validation.secret_in(state.file)]
        file_states = [state for state in file_states if not validation.secret_in(state.name)]
        versions = [one for one in versions if not validation.secret_in(one.name)]
        with self._store.write(durable=False) as tx:
            tx.record_sync(mirror, SyncUpdate(sync_states, parted, file_states, vanished, versions, last_event=seen))


def _misplaced_ids(tx: Reader, ids: Sequence[str], numbers: Mapping[str, int], memories: Collection[int]) -> dict[str, str]:
    """The ids that no entry of these files can have, why, and what to do. `numbers`: the memories of the ids that exist."""
    unknown = [id for id in ids if id not in numbers]
    misplaced = dict.fromkeys(tx.purged_ids(unknown) if unknown else (), _PURGED)
    return misplaced | {id: _FOREIGN for id, number in numbers.items() if number not in memories}
