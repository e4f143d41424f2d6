"""Mirrors: which files follow a scope, what is in them by name, and which text stands where both sides changed."""

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
from omoide.storage.base import Reader, SyncUpdate

FORMATS = {"memories": "a list in one file", "entries": "a file for each", "tree": "MEMORY.md and its companions",
           "block": "a block in a file of yours, such as CLAUDE.md"}  # fmt: skip
SEVERAL = ("entries", "tree")
"""Formats that have a directory to themselves; the others have one file."""
_LIST = "memories"


class ConflictDetail(NamedTuple):
    """A dispute, and both texts."""

    conflict: SyncConflict
    memory: Memory
    """As it is now."""
    file: Memory | None
    """None: the entry was deleted."""
    database: Memory


class Mirrors(Core):
    def mirrors(self) -> Sequence[Mirror]:
        permissions.require(self._actor, "mirrors")
        with self._store.read() as tx:
            return tx.mirrors()

    def mirror(self, place: Path, format: str = _LIST, *, scope: Scope, choice: Choice | str = Choice.ALL) -> Mirror:
        """From now on the scope and these files follow each other: a directory for formats with several, else a file.

        One that is there already, and differs only in its choice, is changed.
        """
        permissions.require(self._actor, "mirror")
        if format not in FORMATS:
            raise InvalidInput(f"there is no format {format!r}: use {', '.join(FORMATS)}")
        try:
            choice = Choice(choice)
        except ValueError:
            raise InvalidInput(f"there is no choice {choice!r}: use {' or '.join(Choice)}") from None
        return self._add_mirror(place, format, scope, choice)

    def list_mirror(self, place: Path, *, scope: Scope) -> Mirror:
        """The mirror of this file, whoever made it; a new one is a list of only what comes in through it."""
        permissions.require(self._actor, "list_mirror")
        known = self._mirror_at(place)
        if known is None:
            self._writes.require_layer(scope)
        return known if known is not None else self._add_mirror(place, _LIST, scope, Choice.OWN)

    def unmirror(self, number: int) -> Mirror:
        """The files and the memories stay as they are, and no longer follow each other."""
        permissions.require(self._actor, "unmirror")
        with self._store.write() as tx:
            mirror = _mirror(tx, number)
            tx.drop_mirror(number)
        self._hooks.mirrors_changed()
        return mirror

    def join(self, ref: Ref, number: int, *, scope: Scope) -> Memory:
        """Puts a memory into the files of a mirror that holds only what came in through them."""
        permissions.require(self._actor, "join")
        with self._writes.transaction() as write:
            tx = write.tx
            memory, mirror = self._find(tx, ref, scope), _mirror(tx, number)
            self._writes.require_layer(memory.scope)
            if not holds(mirror, memory.scope):
                raise Conflict(
                    f"#{memory.number} is in {memory.scope}, and the mirror is of {mirror.scope}: promote it first"
                )
            if not tx.sync_states(number, memories=[memory.number]):
                tx.record_sync(number, SyncUpdate(states=[SyncState(memory.number)]))
                # An event, because that is what the files follow.
                write.log("joined", memory, {"mirror": number})
        return memory

    def reset_sync_state(self, number: int) -> Mirror:
        """Forgets when memories and entries last met, so that the next sync compares them all."""
        permissions.require(self._actor, "reset_sync_state")
        with self._store.write() as tx:
            mirror = _mirror(tx, number)
            update = SyncUpdate(
                states=[SyncState(one.memory) for one in tx.sync_states(number)],
                dropped_files=[one.name for one in tx.file_states(number)],
                last_event=0,
            )
            tx.record_sync(number, update)
        return mirror

    def conflicts(self, *, scope: Scope | None = None) -> Sequence[ConflictDetail]:
        """Where both sides of a mirror changed, the oldest first; of all scopes, or what this one sees."""
        permissions.require(self._actor, "conflicts")
        with self._store.read() as tx:
            found = []
            for conflict in tx.sync_conflicts():
                versions = {one.memory.version: one.memory for one in tx.versions(conflict.memory)}
                memory = versions[max(versions)]
                if scope is None or scope.sees(memory.scope):
                    file, database = versions.get(conflict.file_version), versions[conflict.database_version]
                    found.append(ConflictDetail(conflict, memory, file, database))
        return found

    def resolve(self, ref: Ref, take: Side | str, *, scope: Scope) -> Memory:
        """Picks the side that stands from now on. The other stays in the history."""
        permissions.require(self._actor, "resolve")
        try:
            take = Side(take)
        except ValueError:
            raise InvalidInput(f"take {' or '.join(Side)}, not {take!r}") from None
        with self._writes.transaction() as write:
            tx = write.tx
            old = self._find(tx, ref, scope)
            conflict = next((one for one in tx.sync_conflicts() if one.memory == old.number), None)
            if conflict is None:
                raise NotFound(f"nothing is in dispute about #{old.number}: `omoide mirror status` shows what is")
            new = old if take is conflict.stands else _pick(tx, old, conflict, take)
            if new != old:
                new = write.change(old, new, "resolved", new.author)
            else:
                write.log("resolved", old, {"take": take.value})
            tx.record_sync(conflict.mirror, SyncUpdate(settled_conflicts=[old.number]))
        return new

    def _mirror_at(self, place: Path) -> Mirror | None:
        with self._store.read() as tx:
            return next((one for one in tx.mirrors() if (one.place, one.file) == (str(place.parent), place.name)), None)

    def _add_mirror(self, place: Path, format: str, scope: Scope, choice: Choice) -> Mirror:
        if not place.is_absolute():
            raise InvalidInput(f"{place} is no absolute path: say where it is from the root")
        if not is_utf8(str(place)):
            raise InvalidInput(f"{escape(str(place))} is not UTF-8: rename it, or choose another place")
        validation.check_name(str(place), "path")
        validation.check_scope(scope)
        directory, file = (place, "") if format in SEVERAL else (place.parent, place.name)
        wanted = Mirror(0, scope, str(directory), file, format, choice, self._clock())
        with self._store.write() as tx:
            for one in tx.mirrors():
                if _differ_only_in_choice(one, wanted):
                    mirror = tx.put_mirror(msgspec.structs.replace(one, choice=choice, seen=0))
                    break
                # The files of one would be taken for entries of the other.
                if one.place == str(directory) and (not one.file or not file or one.file == file):
                    raise Conflict(f"{place} has a mirror already, number {one.number} of {one.scope}: remove that first")
            else:
                mirror = tx.put_mirror(wanted)
        self._hooks.mirrors_changed()
        return mirror


def holds(mirror: Mirror, scope: Scope) -> bool:
    """Whether memories of this scope can be in the mirror's files: its own, and in a tree the project's sessions as well."""
    return scope == mirror.scope or (mirror.format == "tree" and not mirror.scope.name and scope.path == mirror.scope.path)


def _differ_only_in_choice(one: Mirror, other: Mirror) -> bool:
    alike = all(getattr(one, name) == getattr(other, name) for name in ("scope", "place", "file", "format"))
    return alike and one.choice is not other.choice


def _mirror(tx: Reader, number: int) -> Mirror:
    for mirror in tx.mirrors():
        if mirror.number == number:
            return mirror
    raise NotFound(f"there is no mirror {number}: `omoide mirror list` shows what there is")


def _pick(tx: Reader, old: Memory, conflict: SyncConflict, take: Side) -> Memory:
    version = conflict.file_version if take is Side.FILE else conflict.database_version
    if not version:
        return versioning.with_fields(versioning.require_living(old), {"state": State.ARCHIVED})
    wanted = next(one.memory for one in tx.versions(old.number) if one.memory.version == version)
    return msgspec.structs.replace(old, **{name: getattr(wanted, name) for name in fields.RESOLVED})
