"""Mirrors: files that are kept in sync with a scope, and the conflicts where both sides changed."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from omoide.errors import Conflict, InvalidInput, NotFound
from omoide.guard import permissions, validation
from omoide.markdown.escape import escape, is_utf8
from omoide.model import Choice, Memory, Mirror, Scope, Side, State, SyncConflict, SyncState, fields
from omoide.service import versioning
from omoide.service.core import Core, Ref
from omoide.storage.base import Reader, SyncUpdate, Writer

FORMATS = {
    "memories": "a list in one file",
    "entries": "a file for each",
    "tree": "MEMORY.md and its companions",
    "block": "a block in a file of yours, such as CLAUDE.md",
}
SEVERAL = ("entries", "tree")
"""Formats that have a directory to themselves; the others have one file."""
_LIST = "memories"


class ConflictDetail(NamedTuple):
    """A sync conflict with the texts of both sides."""

    conflict: SyncConflict
    memory: Memory
    """As it is now."""
    file: Memory | None
    """None: the entry was deleted."""
    database: Memory


class Mirrors(Core):
    """Operations on mirrors and their sync conflicts."""

    def mirrors(self) -> Sequence[Mirror]:
        """Return every mirror of the store."""
        permissions.require(self._actor, "mirrors")
        with self._store.read() as tx:
            return tx.mirrors()

    def mirror(
        self,
        place: Path,
        format: str = _LIST,
        *,
        scope: Scope,
        choice: Choice | str = Choice.ALL,
        retire: bool = False,
        adopt: Sequence[str] = (),
    ) -> Mirror:
        """Add a mirror, which keeps a scope and files in sync, or change the options of one.

        `place`: an absolute path: a directory for the formats entries and tree, else a file. `format`: memories (a list in
        one file), entries (a file for each memory), tree (MEMORY.md and its companions) or block (a block in a file of
        yours). `choice`: "all" memories of the scope, or only its "own", which were added through the file. `retire`:
        whether retention may archive what is in a list or a block. `adopt`: patterns of names, such as `note-*.md`, of files
        in the directory that are handed over although they have no key and no id; a directory without Markdown files is the
        mirror's alone.

        A mirror of the same scope, files and format gets the new `choice` and `retire`, and these patterns too. Returns the
        mirror. Raises InvalidInput for a path that is not absolute and for an unknown format or choice, and Conflict if the
        files have another mirror.
        """
        permissions.require(self._actor, "mirror")
        if format not in FORMATS:
            raise InvalidInput(f"there is no format {format!r}: use {', '.join(FORMATS)}")
        try:
            choice = Choice(choice)
        except ValueError:
            raise InvalidInput(f"there is no choice {choice!r}: use {' or '.join(Choice)}") from None
        return self._add_mirror(place, format, scope, choice, retire=retire, adopt=adopt)

    def ensure_list_mirror(self, place: Path, *, scope: Scope) -> Mirror:
        """Return the mirror of the file `place`; if there is none, add one that lists only what is added through the file.

        Raises InvalidInput for a path that is not absolute, and NotAllowed.
        """
        permissions.require(self._actor, "ensure_list_mirror")
        known = self._mirror_at(place)
        if known is not None:
            return known
        self._writes.require_layer(scope)
        try:
            return self._add_mirror(place, _LIST, scope, Choice.OWN)
        except Conflict:  # fallback: another process has added it at this moment
            known = self._mirror_at(place)
            if known is None:
                raise
            return known

    def unmirror(self, number: int) -> Mirror:
        """Remove a mirror: its files and memories stay, and are no longer synced.

        `number`: the number of the mirror. Returns the mirror that was removed. Raises NotFound.
        """
        permissions.require(self._actor, "unmirror")
        with self._store.write() as tx:
            mirror = _mirror(tx, number)
            tx.drop_mirror(number)
        self._hooks.after_mirror_change()
        return mirror

    def join(self, ref: Ref, number: int, *, scope: Scope) -> Memory:
        """Add a memory to the files of a mirror that shows only what was added through them.

        `number`: the number of the mirror. Returns the memory. Raises NotFound, NotAllowed, and Conflict where the memory is
        not of the mirror's scope.
        """
        permissions.require(self._actor, "join")
        with self._writes.transaction() as write:
            tx = write.tx
            memory, mirror = self._find(tx, ref, scope), _mirror(tx, number)
            self._writes.require_layer(memory.scope)
            if not holds(mirror, memory.scope):
                raise Conflict(
                    f"#{memory.number} is in {memory.scope}, and the mirror is of {mirror.scope}: promote it first"
                )
            if not any(state.is_in_file for state in tx.sync_states(number, memories=[memory.number])):
                tx.record_sync(number, SyncUpdate(states=[SyncState(memory.number)]))
                # An event, because a sync looks for events.
                write.log("joined", memory, {"mirror": number})
        return memory

    def reset_sync_state(self, number: int) -> Mirror:
        """Delete the sync state of a mirror, so that the next sync compares all its memories and files.

        `number`: the number of the mirror. Returns the mirror. Raises NotFound.
        """
        permissions.require(self._actor, "reset_sync_state")
        with self._store.write() as tx:
            mirror = _mirror(tx, number)
            update = SyncUpdate(
                states=[SyncState(state.memory) for state in tx.sync_states(number)],
                dropped_files=[state.name for state in tx.file_states(number)],
                last_event=0,
            )
            tx.record_sync(number, update)
        return mirror

    def conflicts(self, *, scope: Scope | None = None) -> Sequence[ConflictDetail]:
        """Return the sync conflicts, where both sides of a mirror changed, oldest first.

        `scope`: only conflicts of memories that it sees; None: all of them.
        """
        permissions.require(self._actor, "conflicts")
        with self._store.read() as tx:
            details = []
            for conflict in tx.sync_conflicts():
                versions = {version.memory.version: version.memory for version in tx.versions(conflict.memory)}
                memory = versions[max(versions)]
                if scope is None or scope.sees(memory.scope):
                    file, database = versions.get(conflict.file_version), versions[conflict.database_version]
                    details.append(ConflictDetail(conflict, memory, file, database))
        return details

    def resolve(self, ref: Ref, take: Side | str, *, scope: Scope) -> Memory:
        """Resolve a sync conflict: the side that is taken stands, the other stays in the history.

        `take`: "file" or "database". Returns the memory. Raises NotFound where there is no conflict, and InvalidInput for
        another side.
        """
        permissions.require(self._actor, "resolve")
        try:
            take = Side(take)
        except ValueError:
            raise InvalidInput(f"take must be {' or '.join(Side)}, got {take!r}") from None
        with self._writes.transaction() as write:
            tx = write.tx
            old = self._find(tx, ref, scope)
            conflict = next((known for known in tx.sync_conflicts() if known.memory == old.number), None)
            if conflict is None:
                raise NotFound(f"#{old.number} has no sync conflict: `omoide mirror status` shows those there are")
            new = old if take is conflict.stands else _pick(tx, old, conflict, take)
            if new != old:
                new = write.change(old, new, "resolved", new.author)
            else:
                write.log("resolved", old, {"take": take.value})
            tx.record_sync(conflict.mirror, SyncUpdate(settled_conflicts=[old.number]))
        return new

    def accept_entries(self, number: int, memories: Sequence[int]) -> None:
        """Record that the actor lets the earlier texts stand that the files of a mirror show. The next sync imports them.

        `number`: the number of the mirror. `memories`: the numbers of the memories. Raises NotFound for an unknown mirror,
        and NotAllowed for a worker: such a text can bring a memory back from the archive.
        """
        permissions.require(self._actor, "accept_entries")
        with self._writes.transaction() as write:
            _mirror(write.tx, number)
            for memory in write.tx.memories(memories):
                write.log("resolved", memory, {"mirror": number, "take": Side.FILE.value})

    def _mirror_at(self, place: Path) -> Mirror | None:
        with self._store.read() as tx:
            for mirror in tx.mirrors():
                if (mirror.place, mirror.file) == (str(place.parent), place.name):
                    return mirror
        return None

    def _add_mirror(
        self,
        place: Path,
        format: str,
        scope: Scope,
        choice: Choice,
        *,
        retire: bool = False,
        adopt: Sequence[str] = (),
    ) -> Mirror:
        _require_usable(place)
        validation.check_scope(scope)
        directory, file = directory_and_file(place, format, scope)
        patterns = tuple(validation.check_name(pattern, "pattern") for pattern in adopt)
        has_directory = format in SEVERAL
        is_found = _has_markdown(directory / file) if has_directory else _has_text(place)
        wanted = Mirror(
            0,
            scope,
            str(directory),
            file,
            format,
            choice,
            self._clock(),
            seen=-1 if is_found else 0,
            retire=retire,
            adopt=patterns if is_found and has_directory else ("*",),
        )
        with self._store.write() as tx:
            for one in tx.mirrors():
                if _differ_only_in_options(one, wanted, patterns):
                    mirror = _change_options(tx, one, wanted, patterns)
                    break
                # The files of one would be taken for entries of the other.
                if one.place == str(directory) and (not one.file or not file or one.file == file):
                    raise Conflict(f"{place} has a mirror already, number {one.number} of {one.scope}: remove that first")
            else:
                mirror = tx.put_mirror(wanted)
        self._hooks.after_mirror_change()
        return mirror


def _require_usable(place: Path) -> None:
    """Raise InvalidInput unless files can be mirrored at a path."""
    if not place.is_absolute():
        raise InvalidInput(f"{place} is not an absolute path: start it at the root")
    if not is_utf8(str(place)):
        raise InvalidInput(f"{escape(str(place))} is not UTF-8: rename it, or choose another place")
    validation.check_name(str(place), "path")


def _change_options(tx: Writer, old: Mirror, wanted: Mirror, patterns: Sequence[str]) -> Mirror:
    """Give a mirror the options that are wanted, and forget of its sync state what is no longer so."""
    seen = old.seen if old.choice is wanted.choice else 0
    if wanted.choice is Choice.OWN and old.choice is Choice.ALL:  # what is in no file was not put there by anybody
        absent = [state.memory for state in tx.sync_states(old.number) if not state.file]
        tx.record_sync(old.number, SyncUpdate(dropped_states=absent))
    adopt = tuple(dict.fromkeys([*old.adopt, *patterns]))
    if adopt != old.adopt:
        seen = 0  # files that were left alone are looked at again
        names = [state.name for state in tx.file_states(old.number)]
        tx.record_sync(old.number, SyncUpdate(dropped_files=names))
    options = {"choice": wanted.choice, "retire": wanted.retire, "seen": seen, "adopt": adopt}
    return tx.put_mirror(msgspec.structs.replace(old, **options))


def directory_and_file(place: Path, format: str, scope: Scope) -> tuple[Path, str]:
    """Return what a mirror at the path `place` records as its directory and its file.

    Of a tree, the file is the path of the project: the trees of several projects can be in one directory.
    """
    if format == "tree":
        return place, scope.path
    return (place, "") if format in SEVERAL else (place.parent, place.name)


def holds(mirror: Mirror, scope: Scope) -> bool:
    """Return whether a mirror can show memories of this scope: its own scope, and in a tree also its sessions."""
    return scope == mirror.scope or (mirror.format == "tree" and not mirror.scope.name and scope.path == mirror.scope.path)


def _has_text(file: Path) -> bool:
    try:
        return file.stat().st_size > 0
    except OSError:  # fallback: a file that cannot be reached is reported by the first sync
        return False


def _has_markdown(directory: Path) -> bool:
    try:
        return any(file.suffix == ".md" for file in directory.iterdir())
    except OSError:  # fallback: a directory that cannot be listed is reported by the first sync
        return False


def _differ_only_in_options(one: Mirror, other: Mirror, adopt: Sequence[str]) -> bool:
    same = all(getattr(one, name) == getattr(other, name) for name in ("scope", "place", "file", "format"))
    return same and (one.choice is not other.choice or one.retire is not other.retire or not set(adopt) <= set(one.adopt))


def _mirror(tx: Reader, number: int) -> Mirror:
    for mirror in tx.mirrors():
        if mirror.number == number:
            return mirror
    raise NotFound(f"there is no mirror {number}: `omoide mirror list` shows what there is")


def _pick(tx: Reader, old: Memory, conflict: SyncConflict, take: Side) -> Memory:
    """The memory with the fields of the side that is taken; a deleted entry archives it."""
    version = conflict.file_version if take is Side.FILE else conflict.database_version
    if not version:
        return versioning.with_fields(versioning.require_living(old), {"state": State.ARCHIVED})
    wanted = next(past.memory for past in tx.versions(old.number) if past.memory.version == version)
    return msgspec.structs.replace(old, **{name: getattr(wanted, name) for name in fields.RESOLVED})
