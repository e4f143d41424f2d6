"""The edits of a mirror's files, collected file by file, and their writing."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from omoide import model
from omoide.errors import Changed, Conflict, InvalidInput, OmoideError, Unwritable
from omoide.files.atomic import Stat
from omoide.markdown.file_per_memory import ARCHIVE
from omoide.markdown.format import ProjectFrame
from omoide.model import Memory, State, SyncState, fields
from omoide.sync.snapshot import FileText, Snapshot
from omoide.sync.three_way import SeenEntry

FILE_ERRORS = (InvalidInput, Unwritable, OSError, ValueError, OverflowError)
"""What reading, parsing or writing one file can raise. The other files of its mirror are synced all the same."""


def describe_error(path: Path, error: Exception) -> str:
    """The message for an error with one file: which file it is, what is wrong with it, and what to do."""
    if not isinstance(error, OmoideError):
        return f"{path}: it cannot be synced ({error}) and was left alone: correct it, or move it away"
    message = str(error)
    return message if str(path) in message else f"{path}: {message}"


class FileEdit:
    """The changes to one file."""

    def __init__(self) -> None:
        self.put: dict[str, Memory] = {}
        """Memories to be written, by the id that they have in the file."""
        self.drop: set[str] = set()
        """Ids of entries to be removed."""
        self.mentioned: set[str] = set()
        """Ids that are in no entry, but to be removed with the item, row or line that they are in."""
        self.stamps: dict[int, Memory] = {}
        """Memories whose entries get an id, by the line of the entry."""
        self.memories: dict[int, Memory] = {}
        """The memories in the file afterwards, by number, as the database has them."""


class FileEdits:
    """The changes to the files of one mirror.

    `versions_since`: the versions of a memory by number, from one on. `is_foreign`: whether a file with this text is
    somebody else's.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        texts: Mapping[str, FileText],
        listing: Mapping[str, Stat],
        versions_since: Callable[[int, int], Sequence[Memory]],
        is_foreign: Callable[[str, str | None], bool],
    ):
        self._snapshot = snapshot
        self._texts = texts
        self._listing = listing
        self._versions_since = versions_since
        self._is_foreign = is_foreign
        self._edits: dict[str, FileEdit] = {}
        self._moves: dict[str, str] = {}
        self._frame: ProjectFrame | None = None
        self._main = ""
        self._names = {name.casefold() for name in listing}
        self.sync_states: list[SyncState] = []
        self.detached: list[int] = []
        """Numbers of memories that do not belong to the mirror any more."""
        self.written_files: dict[str, tuple[str, Stat]] = {}
        """The text of each file that was written, and how it looks."""
        self.removed_files: list[str] = []
        self.written = 0
        self.problems: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._edits)

    # Gathering

    def put(self, memory: Memory, sync_state: SyncState | None, seen: SeenEntry | None) -> None:
        """Write a memory to the file that it belongs in, and to no other."""
        current = self._current_file(sync_state, seen)
        id = self._current_id(sync_state, seen)
        target = self._target(memory, sync_state, current)
        if current and target != current:
            if self._snapshot.is_file_per_entry:
                self._moves[current] = target
            else:
                self._edit(current).drop.add(id)
                current = ""
        edit = self._edit(target)
        edit.memories[memory.number] = memory
        if current and not id and (seen or self._snapshot.is_file_per_entry):
            edit.stamps[seen.placed.line if seen else 1] = memory
        else:
            # An id that the file has for it stays, because others know it by that one.
            edit.put[id or memory.id] = msgspec.structs.replace(memory, id=id) if id else memory

    def _current_file(self, sync_state: SyncState | None, seen: SeenEntry | None) -> str:
        """The file that a memory is in now; empty: none."""
        if seen:
            return seen.file if seen.file in self._listing else ""
        return sync_state.file if sync_state and sync_state.is_in_file and sync_state.file in self._listing else ""

    def _current_id(self, sync_state: SyncState | None, seen: SeenEntry | None) -> str:
        """The id that a memory has in its file; empty: none."""
        if seen:
            return seen.placed.entry.id or ""
        return sync_state.entry if sync_state else ""

    def remove(self, memory: Memory, sync_state: SyncState | None, seen: SeenEntry | None, *, in_scope: bool) -> None:
        """Remove a memory from the files. It still belongs to the mirror if it is in its scope."""
        if in_scope:
            self.sync_states.append(SyncState(memory.number, version=memory.version))
        else:
            self.detached.append(memory.number)
        if seen and (seen.placed.entry.id or self._snapshot.is_file_per_entry):
            self.remove_entry(seen.file, seen.placed.entry.id or "")
        elif seen:
            self.remove_strangers([seen])
        elif sync_state and sync_state.is_in_file and sync_state.file in self._listing:
            self._edit(sync_state.file).drop.add(sync_state.entry or memory.id)

    def remove_entry(self, file: str, id: str) -> None:
        self._edit(file).drop.add(id)

    def remove_mention(self, file: str, id: str) -> None:
        """Remove a text that is no entry any more, but has the id of one."""
        self._edit(file).mentioned.add(id)

    def remove_strangers(self, strangers: Iterable[SeenEntry]) -> None:
        """Remove entries that are no memory's."""
        for seen in strangers:
            entry, edit = seen.placed.entry, self._edit(seen.file)
            if entry.id:
                edit.drop.add(entry.id)
            else:
                # Entries are removed by their ids: it gets one for this purpose.
                stranger = as_memory(seen)
                edit.stamps[seen.placed.line] = stranger
                edit.drop.add(stranger.id)

    def set_frame(self, main: str, frame: ProjectFrame) -> None:
        """Update what the main page says about the project itself."""
        self._frame = frame
        self._main = main
        self._edit(main)

    def _edit(self, name: str) -> FileEdit:
        return self._edits.setdefault(name, FileEdit())

    def _target(self, memory: Memory, sync_state: SyncState | None, current: str) -> str:
        """The file that a memory belongs in."""
        file_for = self._snapshot.format.file_for
        if not self._snapshot.is_file_per_entry:
            return file_for(memory, lambda _: False)
        if current and not self._is_key_changed(memory, sync_state):
            # Whatever name a person gave it stays, in the archive and out of it.
            is_archived = memory.state is State.ARCHIVED
            last = current.removeprefix(f"{ARCHIVE}/")
            same_name = f"{ARCHIVE}/{last}" if is_archived else last
            if same_name == current:
                return current
            if same_name.casefold() not in self._names:
                return self._take_name(same_name)
        return self._take_name(file_for(memory, lambda name: name != current and name.casefold() in self._names))

    def _take_name(self, name: str) -> str:
        self._names.add(name.casefold())
        return name

    def _is_key_changed(self, memory: Memory, sync_state: SyncState | None) -> bool:
        """Whether the key has changed since the last sync: then the file is named after the new one."""
        if sync_state is None or not sync_state.version or sync_state.version == memory.version:
            return False
        versions = self._versions_since(memory.number, sync_state.version)
        return bool(versions) and versions[0].key != memory.key

    # Writing

    def write(self, unreadable: Collection[str], directories: Collection[str] = (), *, backup: bool = False) -> None:
        """Write all files. Errors with one file are added to `problems`; raises Changed if somebody else saves one.

        `unreadable` files are left alone, unless a `backup` of what is replaced is made. `directories` that cannot be
        listed are not written to.
        """
        # Files that get an entry come before those that lose one: a sync that is stopped in between leaves it twice, not
        # in none.
        for name, edit in sorted(self._edits.items(), key=lambda item: not item[1].memories):
            if name.rpartition("/")[0] in directories or (name in unreadable and not backup):
                continue  # the reason is among the problems already
            try:
                self._write(name, edit, backup=backup, is_unreadable=name in unreadable)
            except Changed:
                raise
            except (Conflict, *FILE_ERRORS) as error:  # fallback: the other files
                self.problems.append(describe_error(self._snapshot.place.root / name, error))

    def _write(self, name: str, edit: FileEdit, *, backup: bool, is_unreadable: bool) -> None:
        place = self._snapshot.place
        old_name = self._move(name)
        text, stat = self._current_text(old_name, name, is_unreadable=is_unreadable)
        if stat is not None and self._is_foreign(name, text):
            if edit.memories:
                adopt = (
                    f"omoide mirror add {self._snapshot.mirror.place} --format {self._snapshot.mirror.format} --adopt {name}"
                )
                raise Unwritable(f"it was not made by omoide and is left alone: `{adopt}` hands it over")
            return
        new = self._rewrite(name, text, edit)
        # What is removed with an id that is in no entry may be more than the memory's text.
        if (backup or edit.mentioned) and stat is not None and new != text:
            place.backup(name)
        if new is None:
            if stat is not None:
                place.remove(name, stat)
                self.removed_files.append(name)
                self.written += 1
            return
        if stat is None or new != text:
            stat = self._snapshot.write(name, new, stat)
            self.written += 1
        self.written_files[name] = (new, stat)
        self._record_synced(name, new, edit)

    def _move(self, name: str) -> str:
        """Rename the file that should have this name, if there is one, and return the name that it had."""
        old_name = next((old for old, new in self._moves.items() if new == name), None)
        if old_name is None:
            return name
        self._snapshot.place.move(old_name, name, self._listing[old_name])
        self.removed_files.append(old_name)
        return old_name

    def _rewrite(self, name: str, text: str | None, edit: FileEdit) -> str | None:
        """The text of a file after an edit; None: the file is removed."""
        format = self._snapshot.format
        if self._snapshot.is_file_per_entry and not edit.memories:
            return None
        strangers = {line: memory for line, memory in edit.stamps.items() if memory.id in edit.drop}
        if strangers:
            text = format.rewrite(name, text, {}, (), strangers)
        stamps = {line: memory for line, memory in edit.stamps.items() if line not in strangers}
        new = format.rewrite(name, text, edit.put, edit.drop, stamps)
        if edit.mentioned and new is not None:
            from omoide.sync.mentions import remove_mentions  # lazy: rarely needed

            new = remove_mentions(format, name, new, edit.mentioned)
        return format.update_frame(name, new, self._frame) if self._frame and name == self._main else new

    def _current_text(self, old_name: str, name: str, *, is_unreadable: bool) -> tuple[str | None, Stat | None]:
        """The text of a file as it was compared. Raises Changed if it is no longer that."""
        known = self._texts.get(old_name)
        if known is not None and old_name == name:
            return known.text, known.stat
        stat = self._listing.get(old_name)
        if stat is None or is_unreadable:
            return None, stat
        found = self._snapshot.place.read(name)
        if found is None or found[1] != stat:
            raise Changed(f"{name} has changed since it was read: read it again")
        return found

    def _record_synced(self, name: str, text: str, edit: FileEdit) -> None:
        if self._snapshot.is_file_per_entry:
            for placed in self._snapshot.format.parse(name, text):
                for memory in edit.memories.values():
                    self._add_state(memory, name, placed.entry.id or "", placed.digest)
            return
        # The file is not parsed again for digests, which would take as long as all the rest where it is long: an entry
        # without one is compared by its fields.
        stamped = {memory.number for memory in edit.stamps.values()}
        for memory in edit.memories.values():
            if memory.number in stamped:
                self._add_state(memory, name, memory.id, "")
        for id, memory in edit.put.items():
            self._add_state(edit.memories[memory.number], name, id, "")

    def _add_state(self, memory: Memory, name: str, id: str, digest: str) -> None:
        self.sync_states.append(SyncState(memory.number, name, id, memory.version, digest))


def as_memory(seen: SeenEntry) -> Memory:
    """A memory with a new id that says what an entry says."""
    entry, at = seen.placed.entry, model.now()
    values = {name: getattr(entry, name) for name in ("content", "key", "tags", "examples")}
    values |= {"type": entry.type or "note", "topic": entry.topic or "", "topic_given": True, "source": ""}
    values |= {"id": model.new_id(at), "created_at": at, "updated_at": at, "scope": model.Scope()}
    return Memory(**fields.DEFAULTS | values)
