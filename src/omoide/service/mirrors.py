"""Mirrors: which files follow a scope, what is in them by name, and which text stands where both sides changed."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from omoide.errors import Conflict, InvalidInput, NotFound
from omoide.formats.escape import escape, is_utf8
from omoide.guard import access, checks
from omoide.model import Choice, Dispute, Meeting, Memory, Mirror, Scope, Side, State
from omoide.service import shape
from omoide.service.base import Ref, Verbs
from omoide.store.base import Reading

FORMATS = {"memories": "a list in one file", "entries": "a file for each", "tree": "MEMORY.md and its companions",
           "block": "a block in a file of yours, such as CLAUDE.md"}  # fmt: skip
SEVERAL = ("entries", "tree")
"""Formats that have a directory to themselves; the others have one file."""
_LIST = "memories"
_PICKED = ("content", "topic", "topic_given", "type", "tags", "examples", "key", "pinned", "state", "author")


class Disputed(NamedTuple):
    """A dispute, and both texts."""

    dispute: Dispute
    memory: Memory
    """As it is now."""
    file: Memory | None
    """None: the entry was deleted."""
    database: Memory


class Mirrors(Verbs):
    def mirrors(self) -> Sequence[Mirror]:
        access.require(self._actor, "mirrors")
        with self._store.read() as tx:
            return tx.mirrors()

    def mirror(self, place: Path, format: str = _LIST, *, scope: Scope, choice: Choice | str = Choice.ALL) -> Mirror:
        """From now on the scope and these files follow each other: a directory for formats with several, else a file.

        One that is there already, and differs only in its choice, is changed.
        """
        access.require(self._actor, "mirror")
        if format not in FORMATS:
            raise InvalidInput(f"there is no format {format!r}: use {', '.join(FORMATS)}")
        try:
            choice = Choice(choice)
        except ValueError:
            raise InvalidInput(f"there is no choice {choice!r}: use {' or '.join(Choice)}") from None
        return self._mirrored(place, format, scope, choice)

    def notebook(self, place: Path, *, scope: Scope) -> Mirror:
        """The mirror of this file, whoever made it; a new one is a list of only what comes in through it."""
        access.require(self._actor, "notebook")
        known = self._at(place)
        if known is None:
            self._require_layer(scope)
        return known if known is not None else self._mirrored(place, _LIST, scope, Choice.OWN)

    def unmirror(self, number: int) -> Mirror:
        """The files and the memories stay as they are, and no longer follow each other."""
        access.require(self._actor, "unmirror")
        with self._store.write() as tx:
            mirror = _known(tx, number)
            tx.drop_mirror(number)
        self._told()
        return mirror

    def join(self, ref: Ref, number: int, *, scope: Scope) -> Memory:
        """Puts a memory into the files of a mirror that holds only what came in through them."""
        access.require(self._actor, "join")
        with self._writing() as tx:
            memory, mirror = self._find(tx, ref, scope), _known(tx, number)
            self._require_layer(memory.scope)
            if not holds(mirror, memory.scope):
                raise Conflict(
                    f"#{memory.number} is in {memory.scope}, and the mirror is of {mirror.scope}: promote it first"
                )
            if not tx.meetings(number, memories=[memory.number]):
                tx.put_meetings(number, [Meeting(memory.number)])
                # An event, because that is what the files follow.
                tx.log("joined", self._actor, self._clock(), memory, {"mirror": number})
        return memory

    def part(self, number: int) -> Mirror:
        """Forgets when memories and entries last met, so that the next sync compares them all."""
        access.require(self._actor, "part")
        with self._store.write() as tx:
            mirror = _known(tx, number)
            tx.put_meetings(number, [Meeting(one.memory) for one in tx.meetings(number)])
            tx.drop_sightings(number, [one.name for one in tx.sightings(number)])
            tx.note_seen(number, 0)
        return mirror

    def disputes(self, *, scope: Scope | None = None) -> Sequence[Disputed]:
        """Where both sides of a mirror changed, the oldest first; of all scopes, or what this one sees."""
        access.require(self._actor, "disputes")
        with self._store.read() as tx:
            found = []
            for dispute in tx.disputes():
                versions = {one.memory.version: one.memory for one in tx.versions(dispute.memory)}
                memory = versions[max(versions)]
                if scope is None or scope.sees(memory.scope):
                    file, database = versions.get(dispute.file_version), versions[dispute.database_version]
                    found.append(Disputed(dispute, memory, file, database))
        return found

    def resolve(self, ref: Ref, take: Side | str, *, scope: Scope) -> Memory:
        """Picks the side that stands from now on. The other stays in the history."""
        access.require(self._actor, "resolve")
        try:
            take = Side(take)
        except ValueError:
            raise InvalidInput(f"take {' or '.join(Side)}, not {take!r}") from None
        at = self._clock()
        with self._writing() as tx:
            old = self._find(tx, ref, scope)
            dispute = next((one for one in tx.disputes() if one.memory == old.number), None)
            if dispute is None:
                raise NotFound(f"nothing is in dispute about #{old.number}: `omoide mirror status` shows what is")
            new = old if take is dispute.stands else _picked(tx, old, dispute, take)
            if new != old:
                new = self._change(tx, old, new, "resolved", at, new.author)
            else:
                tx.log("resolved", self._actor, at, old, {"take": take.value})
            tx.drop_dispute(dispute.mirror, old.number)
        return new

    def _at(self, place: Path) -> Mirror | None:
        with self._store.read() as tx:
            return next((one for one in tx.mirrors() if (one.place, one.file) == (str(place.parent), place.name)), None)

    def _mirrored(self, place: Path, format: str, scope: Scope, choice: Choice) -> Mirror:
        if not place.is_absolute():
            raise InvalidInput(f"{place} is no absolute path: say where it is from the root")
        if not is_utf8(str(place)):
            raise InvalidInput(f"{escape(str(place))} is not UTF-8: rename it, or choose another place")
        checks.name(str(place), "path")
        checks.scope(scope)
        directory, file = (place, "") if format in SEVERAL else (place.parent, place.name)
        wanted = Mirror(0, scope, str(directory), file, format, choice, self._clock())
        with self._store.write() as tx:
            for one in tx.mirrors():
                if _differ_only_in_choice(one, wanted):
                    tx.choose(one.number, choice)
                    tx.note_seen(one.number, 0)
                    mirror = _known(tx, one.number)
                    break
                # The files of one would be taken for entries of the other.
                if one.place == str(directory) and (not one.file or not file or one.file == file):
                    raise Conflict(f"{place} has a mirror already, number {one.number} of {one.scope}: remove that first")
            else:
                mirror = tx.put_mirror(wanted)
        self._told()
        return mirror

    def _told(self) -> None:
        if self._follower is not None:
            self._follower.mirrors_changed()


def holds(mirror: Mirror, scope: Scope) -> bool:
    """Whether memories of this scope can be in the mirror's files: its own, and in a tree the project's sessions as well."""
    return scope == mirror.scope or (mirror.format == "tree" and not mirror.scope.name and scope.path == mirror.scope.path)


def _differ_only_in_choice(one: Mirror, other: Mirror) -> bool:
    alike = all(getattr(one, name) == getattr(other, name) for name in ("scope", "place", "file", "format"))
    return alike and one.choice is not other.choice


def _known(tx: Reading, number: int) -> Mirror:
    for mirror in tx.mirrors():
        if mirror.number == number:
            return mirror
    raise NotFound(f"there is no mirror {number}: `omoide mirror list` shows what there is")


def _picked(tx: Reading, old: Memory, dispute: Dispute, take: Side) -> Memory:
    version = dispute.file_version if take is Side.FILE else dispute.database_version
    if not version:
        return shape.living(old, state=State.ARCHIVED)
    wanted = next(one.memory for one in tx.versions(old.number) if one.memory.version == version)
    return msgspec.structs.replace(old, **{name: getattr(wanted, name) for name in _PICKED})
