"""Store what an entry of a file says, through the write path of the service, as the author of files."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

import msgspec

from omoide.errors import InvalidInput
from omoide.guard import secrets, validation
from omoide.markdown.format import Entry
from omoide.model import Actor, Draft, FileSource, Memory, Mirror, Scope, State, SyncConflict, fields
from omoide.service import versioning
from omoide.service.write_path import MemoryTransaction, WritePath
from omoide.storage.base import Reader, SyncUpdate
from omoide.sync.deletions import Deletions, is_deletion
from omoide.sync.three_way import FileChange, is_new_text
from omoide.sync.version_texts import VersionTexts


class ImportResult(NamedTuple):
    """The outcome of one change of a file."""

    memory: Memory | None
    """As it is now; None when it was refused, or changed in the meantime."""
    refused: str = ""
    """Why, and what to do."""
    left: bool = False
    """Whether nothing was done, because the memory is archived or forgotten and the entry says nothing new."""


class _UndoImport(Exception):
    pass


class EntryStore:
    """Stores the changes of files."""

    def __init__(self, writes: WritePath, deletions: Deletions):
        """`writes`: the write path whose actor is the author of files. `deletions` records what is to be reported."""
        self._writes = writes
        self._settings = writes.settings
        self._deletions = deletions

    def import_changes(
        self, mirror: Mirror, changes: Sequence[FileChange], present: Iterable[int], unread: Collection[str]
    ) -> list[ImportResult]:
        """Store what a file says, in one transaction, and return the outcome of each change, in their order.

        A change that is refused, or whose memory changed meanwhile, leaves the others in place. `present` are the memories
        that stand in the files under their own ids or keys, so that no other entry can be them; the same holds for
        memories that were last seen in one of the `unread` files.
        """
        # What stands in a file would come in again after a power cut; only a text that loses its place there would not.
        with self._writes.transaction(durable=any(change.lost for change in changes)) as write:
            return self._import_each(write, mirror, changes, _PresentMemories(present, unread))

    def refusals(
        self, mirror: Mirror, changes: Sequence[FileChange], present: Iterable[int], unread: Collection[str]
    ) -> list[str]:
        """Return why `import_changes` would refuse changes, and store nothing."""
        results: list[ImportResult] = []
        # Raised within, so that nothing is stored.
        with suppress(_UndoImport), self._writes.transaction(patient=False, durable=False) as write:
            results = self._import_each(write, mirror, changes, _PresentMemories(present, unread))
            raise _UndoImport
        return [result.refused for result in results if result.refused]

    def _import_each(
        self, write: MemoryTransaction, mirror: Mirror, changes: Sequence[FileChange], in_files: "_PresentMemories"
    ) -> list[ImportResult]:
        results: list[ImportResult] = []
        texts = VersionTexts(write.tx, write.at, frozenset(in_files.numbers))
        for change in changes:
            result = self._import_change(write, mirror, change, in_files, texts)
            results.append(result)
            if result.memory is not None:
                in_files.numbers.add(result.memory.number)
                if is_deletion(change.detail):
                    self._deletions.record(write)
        return results

    def _import_change(
        self,
        write: MemoryTransaction,
        mirror: Mirror,
        change: FileChange,
        in_files: "_PresentMemories",
        texts: VersionTexts,
    ) -> ImportResult:
        if validation.secret_in(change.place):
            place = secrets.redact(change.place)
            return ImportResult(None, f"{place}: the name of the file seems to hold a secret: rename it")
        write.source = FileSource(_file_of(change.place))
        try:
            if change.number:
                return ImportResult(self._revise_from_file(write, mirror, change))
            return self._add_from_file(write, mirror, change, in_files, texts)
        except InvalidInput as error:  # fallback: the other changes; this one is reported to its author
            return ImportResult(None, f"{change.place}: {error}")

    def _revise_from_file(self, write: MemoryTransaction, mirror: Mirror, change: FileChange) -> Memory | None:
        """Change a known memory; None: it is not as it was when the change was found."""
        old = write.tx.memory(change.number)
        if old is None or old.version != change.version:
            return None
        values, lost = self._check_fields(change.fields), self._check_fields(change.lost)
        _require_free_key(write.tx, old, {**values, **lost})
        new = _change(write, old, versioning.with_fields(old, {**values, **lost}), detail=change.detail)
        file_version, database_version = (new.version if change.entry else 0), old.version
        if lost:
            new = _restore_lost(write, old, new, lost, values)
            database_version = new.version
        if change.stands is not None:
            conflict = SyncConflict(mirror.number, old.number, write.at, file_version, database_version, change.stands)
            write.tx.record_sync(mirror.number, SyncUpdate(conflicts=[conflict]))
        return new

    def _check_fields(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return validation.check_fields(values, self._settings, fields.FROM_FILES)

    def _add_from_file(
        self,
        write: MemoryTransaction,
        mirror: Mirror,
        change: FileChange,
        in_files: "_PresentMemories",
        texts: VersionTexts,
    ) -> ImportResult:
        """Store an entry that no known memory has."""
        entry = change.entry
        assert entry is not None  # noqa: S101 - only a known memory can be gone
        draft = self._writes.check(make_draft(entry, mirror.scope, write.at))
        is_taken = partial(in_files.has, write.tx, mirror)
        # An entry with an id that is unknown here is a memory of its own, whatever it says; only a key must be unique.
        if entry.id is None or draft.key is not None:
            retired = self._find_retired(write.tx, draft, texts if entry.id is None else None)
            if retired is not None and is_taken(retired):
                raise InvalidInput(_describe_retired(retired))
            if retired is not None:
                return ImportResult(retired, left=True)
            same = self._writes.find_same(write.tx, draft, write.at, is_taken)
            if same is not None:
                return ImportResult(write.update(same, draft).memory)
            stated = texts.find_present(draft) if draft.key is None else None
            if stated is not None:
                raise InvalidInput(_describe_stated(stated))
        if change.source:
            confidence = self._settings.file_confidence
            draft = msgspec.structs.replace(draft, source=draft.source or change.source, confidence=confidence)
        memory = self._writes.new_memory(draft, write.at)
        if entry.archived:
            memory = msgspec.structs.replace(memory, state=State.ARCHIVED)
        if entry.id is None:
            return ImportResult(write.add(memory, "remembered"))
        # It came from another store, by git perhaps, and is the same memory there and here.
        updated = min(max(entry.updated_at or memory.created_at, memory.created_at), write.at)
        return ImportResult(write.add(msgspec.structs.replace(memory, id=entry.id, updated_at=updated), "imported"))

    def _find_retired(self, tx: Reader, draft: Draft, texts: VersionTexts | None) -> Memory | None:
        """Return a memory that is archived or forgotten and had the text of an entry already.

        `texts`: of all retired memories; None for an entry with an id, which only a memory with its key can be.
        """
        scope = validation.scope_of(draft)
        if draft.key is not None:
            keyed = tx.by_key(scope, draft.key)
            alike = [one for one in (keyed or tx.by_key(scope, draft.key, forgotten=True),) if one is not None]
            if keyed is not None:
                texts = None
        else:
            fingerprint = self._writes.fingerprint(draft)
            living = tx.by_fingerprint(fingerprint, scope)
            if any(memory.state is State.ACTIVE for memory in living):
                return None
            alike = [*living, *tx.by_fingerprint(fingerprint, scope, forgotten=True)]
        for memory in alike:
            if memory.state is not State.ACTIVE:
                versions = [version.memory for version in tx.versions(memory.number)]
                if not is_new_text(draft.content, versions):
                    return memory
        return None if texts is None else texts.find_retired(draft)


def _describe_retired(memory: Memory) -> str:
    number = memory.number
    return (
        f"it says what #{number} says or said, which is {memory.state}: `omoide restore {number}` makes that active again;"
        " else delete this entry, or change its words"
    )


def _describe_stated(memory: Memory) -> str:
    return (
        f"it says what #{memory.number} says or said, which is in the file as well:"
        " delete one of the two, or change the words of this one"
    )


def _file_of(place: str) -> str:
    """The file of a place such as `/notes/memories.md, line 3`."""
    file, found, line = place.rpartition(", line ")
    return file if found and line.isdecimal() else place


def make_draft(entry: Entry, scope: Scope, at: datetime) -> Draft:
    """Return the draft of the memory that an entry of a file in a scope would become."""
    session = entry.session or scope.name
    # A file gives a day without a time: what was learnt today was learnt now.
    is_today = entry.created_at is not None and entry.created_at.date() == at.date()
    return Draft(
        scope=Scope.session(scope.path, session) if session else scope,
        created_at=at if is_today else entry.created_at,
        **{name: getattr(entry, name) for name in fields.ENTRY},
    )


def _restore_lost(
    write: MemoryTransaction, old: Memory, new: Memory, lost: Collection[str], values: Mapping[str, Any]
) -> Memory:
    """Give the lost fields back to the database: the file's text was a version for a moment, and is in the history now."""
    before = {name: getattr(old, name) for name in lost if name != "topic"}
    if "topic" in lost:
        before["topic"] = old.topic if old.topic_given else None
    # Where nothing of the file stands, the author stays as well.
    return _change(write, new, versioning.with_fields(new, {**before, **values}), None if values else old.author)


def _change(
    write: MemoryTransaction,
    old: Memory,
    new: Memory,
    author: Actor | None = None,
    detail: Mapping[str, object] | None = None,
) -> Memory:
    if new == old:
        return old
    action = "revised"
    if new.state is not old.state:
        action = "archived" if new.state is State.ARCHIVED else "restored"
    return write.change(old, new, action, author, detail)


def _require_free_key(tx: Reader, old: Memory, values: Mapping[str, Any]) -> None:
    scope, key = values.get("scope", old.scope), values.get("key", old.key)
    other = None if key is None else tx.by_key(scope, key)
    if other is not None and other.number != old.number:
        raise InvalidInput(f"key {key!r} is taken by #{other.number}: choose another")


class _PresentMemories:
    """The memories that the files show already."""

    def __init__(self, numbers: Iterable[int], unread: Collection[str]):
        self.numbers = set(numbers)
        self._unread = unread

    def has(self, tx: Reader, mirror: Mirror, memory: Memory) -> bool:
        if memory.number in self.numbers:
            return True
        states = tx.sync_states(mirror.number, memories=[memory.number])
        return any(state.is_in_file and state.file in self._unread for state in states)
