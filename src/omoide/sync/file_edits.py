"""What is to be written to the files of a mirror, file by file, and what is so afterwards."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from omoide import model
from omoide.errors import Changed, Conflict
from omoide.files.atomic import Stat
from omoide.markdown.file_per_memory import ARCHIVE
from omoide.markdown.format import ProjectFrame
from omoide.model import Memory, State, SyncState, fields
from omoide.sync.snapshot import FileText, Snapshot
from omoide.sync.three_way import SeenEntry
from omoide.sync.trouble import FILE_TROUBLE, explain


class FileEdit:
    """The changes to one file."""

    def __init__(self) -> None:
        self.put: dict[str, Memory] = {}
        self.drop: set[str] = set()
        self.stamps: dict[int, Memory] = {}
        self.memories: dict[int, Memory] = {}
        """Who stands in it afterwards, by number, as it is known in the database."""


class FileEdits:
    def __init__(
        self,
        snapshot: Snapshot,
        texts: Mapping[str, FileText],
        listing: Mapping[str, Stat],
        past: Callable[[int, int], Sequence[Memory]],
    ):
        self._snapshot = snapshot
        self._texts = texts
        self._listing = listing
        self._past = past
        self._edits: dict[str, FileEdit] = {}
        self._moves: dict[str, str] = {}
        self._frame: ProjectFrame | None = None
        self._framed = ""
        self._names = {name.casefold() for name in listing}
        self.sync_states: list[SyncState] = []
        self.parted: list[int] = []
        self.stats: dict[str, tuple[str, Stat]] = {}
        """The text of each file that was written, and how it looks."""
        self.removed: list[str] = []
        self.written = 0
        self.troubles: list[str] = []

    # gathering

    def put(self, memory: Memory, sync_state: SyncState | None, seen: SeenEntry | None) -> None:
        """The memory should stand in the file that it belongs in, and in no other."""
        current = seen.file if seen else sync_state.file if sync_state else ""
        if current and current not in self._listing:
            current = ""
        id = (seen.placed.entry.id if seen else sync_state.entry if sync_state else "") or ""
        target = self._target(memory, sync_state, current)
        if current and target != current and not self._snapshot.is_file_per_entry:
            self._edit(current).drop.add(id)
            current = ""
        elif current and target != current:
            self._moves[current] = target
        edit = self._edit(target)
        edit.memories[memory.number] = memory
        if current and not id and (seen or self._snapshot.is_file_per_entry):
            edit.stamps[seen.placed.line if seen else 1] = memory
        else:
            # Where the file has another id for it, that one stays: it is what others know it by.
            edit.put[id or memory.id] = msgspec.structs.replace(memory, id=id) if id else memory

    def drop(self, memory: Memory, sync_state: SyncState | None, seen: SeenEntry | None, *, held: bool) -> None:
        """The memory should stand in no file; it still belongs to the mirror while it is of its scope."""
        if held:
            self.sync_states.append(SyncState(memory.number, version=memory.version))
        else:
            self.parted.append(memory.number)
        if seen and (seen.placed.entry.id or self._snapshot.is_file_per_entry):
            self.take(seen.file, seen.placed.entry.id or "")
        elif seen:
            self.clear([seen])
        elif sync_state and sync_state.file in self._listing:
            self._edit(sync_state.file).drop.add(sync_state.entry or memory.id)

    def take(self, file: str, id: str) -> None:
        self._edit(file).drop.add(id)

    def frame(self, main: str, frame: ProjectFrame) -> None:
        """What the main page says of the project itself should be so."""
        self._frame = frame
        self._framed = main
        self._edit(main)

    def __bool__(self) -> bool:
        return bool(self._edits)

    def clear(self, strays: Iterable[SeenEntry]) -> None:
        """Takes entries away that are no memory's."""
        for seen in strays:
            entry, edit = seen.placed.entry, self._edit(seen.file)
            if not entry.id:
                # Only what has an id can be taken away: it gets one for the moment.
                at = model.now()
                shown = {name: getattr(entry, name) for name in ("content", "key", "tags", "examples")}
                stamps = {"id": model.new_id(at), "created_at": at, "updated_at": at}
                named = {"type": entry.type or "note", "topic": entry.topic or "", "topic_given": True, "source": ""}
                stray = Memory(**fields.DEFAULTS | shown | stamps | named, scope=model.Scope())
                edit.stamps[seen.placed.line] = stray
                edit.drop.add(stray.id)
            else:
                edit.drop.add(entry.id)

    def _edit(self, name: str) -> FileEdit:
        return self._edits.setdefault(name, FileEdit())

    def _target(self, memory: Memory, sync_state: SyncState | None, current: str) -> str:
        place = self._snapshot.format.file_for
        if not self._snapshot.is_file_per_entry:
            return place(memory, lambda _: False)
        archived = memory.state is State.ARCHIVED
        if current and current.startswith(f"{ARCHIVE}/") is archived and not self._is_renamed(memory, sync_state):
            return current  # whatever a person called it
        if current and not self._is_renamed(memory, sync_state):
            last = current.removeprefix(f"{ARCHIVE}/")
            beside = f"{ARCHIVE}/{last}" if archived else last
            if beside.casefold() not in self._names:
                return self._existing_name(beside)
        return self._existing_name(place(memory, lambda name: name != current and name.casefold() in self._names))

    def _existing_name(self, name: str) -> str:
        self._names.add(name.casefold())
        return name

    def _is_renamed(self, memory: Memory, sync_state: SyncState | None) -> bool:
        """Whether its key has changed since: then its file is called by the new one."""
        if sync_state is None or not sync_state.version or sync_state.version == memory.version:
            return False
        past = self._past(memory.number, sync_state.version)
        return bool(past) and past[0].key != memory.key

    # writing

    def write(self, closed: Collection[str], directories: Collection[str] = (), *, backup: bool = False) -> None:
        """`closed`: files that cannot be read. `directories`: those that cannot be listed, and so not written to either."""
        # What is put comes before what is taken away: should we be stopped in between, it stands twice and not nowhere.
        for name, edit in sorted(self._edits.items(), key=lambda item: not item[1].memories):
            if name.rpartition("/")[0] in directories or (name in closed and not backup):
                continue  # why has been told
            try:
                self._write(name, edit, backup=backup, anew=name in closed)
            except Changed:
                raise
            except (Conflict, *FILE_TROUBLE) as error:  # fallback: the other files
                self.troubles.append(explain(self._snapshot.place.root / name, error))

    def _write(self, name: str, edit: FileEdit, *, backup: bool, anew: bool) -> None:
        place = self._snapshot.place
        moved = next((old for old, new in self._moves.items() if new == name), None)
        if moved is not None:
            place.move(moved, name, self._listing[moved])
            self.removed.append(moved)
        text, stat = self._current_text(moved or name, name, anew=anew)
        new = self._rewritten(name, text, edit)
        if backup and stat is not None and new != text:
            place.backup(name)
        if new is None:
            if stat is not None:
                place.remove(name, stat)
                self.removed.append(name)
                self.written += 1
            return
        if new != text:
            stat = self._snapshot.write(name, new, stat)
            self.written += 1
        assert stat is not None  # noqa: S101 - there is a file now
        self.stats[name] = (new, stat)
        self._record_synced(name, new, edit)

    def _rewritten(self, name: str, text: str | None, edit: FileEdit) -> str | None:
        format = self._snapshot.format
        if self._snapshot.is_file_per_entry and not edit.memories:
            return None
        strays = {line: memory for line, memory in edit.stamps.items() if memory.id in edit.drop}
        if strays:
            text = format.rewrite(name, text, {}, (), strays)
        stamps = {line: memory for line, memory in edit.stamps.items() if line not in strays}
        new = format.rewrite(name, text, edit.put, edit.drop, stamps)
        return format.update_frame(name, new, self._frame) if self._frame and name == self._framed else new

    def _current_text(self, seen_as: str, name: str, *, anew: bool) -> tuple[str | None, Stat | None]:
        """The text of a file as it was when it was looked at, however long ago that was."""
        known = self._texts.get(seen_as)
        if known is not None and seen_as == name:
            return known.text, known.stat
        stat = self._listing.get(seen_as)
        if stat is None or anew:
            return None, stat
        found = self._snapshot.place.read(name)
        if found is None or found[1] != stat:
            raise Changed(f"{name} is no longer what was seen")
        return found

    def _record_synced(self, name: str, text: str, edit: FileEdit) -> None:
        if self._snapshot.is_file_per_entry:
            for placed in self._snapshot.format.parse(name, text):
                for memory in edit.memories.values():
                    self._record_one(memory, name, placed.entry.id or "", placed.digest)
            return
        # Not read again for the digests, which takes as long as all the rest where a file is long: while there is none, the
        # entry is compared by what it says.
        stamped = {memory.number for memory in edit.stamps.values()}
        for memory in edit.memories.values():
            if memory.number in stamped:
                self._record_one(memory, name, memory.id, "")
        for id, memory in edit.put.items():
            self._record_one(edit.memories[memory.number], name, id, "")

    def _record_one(self, memory: Memory, name: str, id: str, digest: str) -> None:
        self.sync_states.append(SyncState(memory.number, name, id, memory.version, digest))
