"""Meetings of memories and their entries in files: what stands on the database's side, and what comes in from the other.

Not part of `Service`, so that no way in has it: what a file says is a person's word and is taken in as the owner's, whoever
asked for the reading. See docs/decisions/0009-mirrors.md.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from omoide import expiry
from omoide.errors import InvalidInput, NotFound
from omoide.formats.entry import Entry, Frame
from omoide.guard import checks, secrets
from omoide.model import Actor, Choice, Dispute, Draft, Layer, Meeting, Memory, Mirror, Query, Scope, Side, Sighting, State
from omoide.service import shape
from omoide.service.keeping import Keeping
from omoide.service.mirrors import holds
from omoide.store.base import Reading, Writing


class Standing(NamedTuple):
    """The database's side of a mirror, of one moment."""

    mirror: Mirror
    event: int
    """The last one by then."""
    memories: dict[int, Memory]
    """What changed since the files last showed it, what they name, and what stood in them."""
    meetings: dict[int, Meeting]
    numbers: dict[str, int]
    """Of the ids and keys that the files name."""
    astray: dict[str, str]
    """The ids among them that no entry of these files can have, and why."""


class Said(msgspec.Struct, frozen=True):
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


class Taken(NamedTuple):
    memory: Memory | None
    """As it is now; None when it was refused, or changed in the meantime."""
    refused: str = ""
    """Why, and what to do."""


class Meetings(Keeping):
    def last_event(self) -> int:
        with self._store.read() as tx:
            return tx.happened(1 << 62)[0]

    def entries(self, mirror: int) -> dict[str, int]:
        """The ids that stand in the files, each with the number of its memory."""
        with self._store.read() as tx:
            return {one.entry: one.memory for one in tx.meetings(mirror) if one.entry}

    def sightings(self, mirror: int) -> list[Sighting]:
        with self._store.read() as tx:
            return tx.sightings(mirror)

    def standing(
        self,
        number: int,
        *,
        files: Sequence[str],
        ids: Sequence[str],
        keys: Sequence[tuple[Scope, str]],
        taken: Sequence[int],
        whole: bool,
    ) -> Standing:
        """What these files and what happened since they were last in step are about; whole: all of the mirror.

        `taken`: memories that were taken in from the files just now.
        """
        with self._store.read() as tx:
            mirror = next((one for one in tx.mirrors() if one.number == number), None)
            if mirror is None:
                raise NotFound(f"there is no mirror {number} any more")
            event, changed = tx.happened(mirror.seen)
            changed += self._expired(tx, mirror)
            numbers = tx.numbers(ids) if ids else {}
            keyed = {key: memory.number for scope, key in keys if (memory := tx.by_key(scope, key)) is not None}
            # A database older than the files, brought back from a backup: nothing that was seen counts.
            if whole or mirror.seen == 0 or event < mirror.seen:
                met = tx.meetings(number)
                changed = [memory.number for memory in self._of(tx, mirror)] if mirror.choice is Choice.ALL else []
            else:
                met = tx.meetings(number, files=files, memories=[*changed, *numbers.values(), *keyed.values()])
            meetings = {one.memory: one for one in met}
            wanted = dict.fromkeys([*meetings, *numbers.values(), *keyed.values(), *taken, *changed])
            memories = {
                memory.number: memory
                for memory in tx.memories(list(wanted))
                if memory.number in meetings or holds(mirror, memory.scope)
            }
            unknown = [id for id in ids if id not in numbers]
            erased = tx.erased(unknown) if unknown else set()
        known = {word: number for word, number in {**keyed, **numbers}.items() if number in memories}
        astray = dict.fromkeys(erased, "the memory with this id was purged")
        astray |= {
            id: "the memory with this id is none of this mirror's" for id, it in numbers.items() if it not in memories
        }
        return Standing(mirror, event, memories, meetings, known, astray)

    def concerned(self, mirror: Mirror, since: int) -> tuple[int, bool]:
        """The last event, and whether any after this one is about something that the mirror holds."""
        with self._store.read() as tx:
            event, changed = tx.happened(since)
            # A tree tells of the project and its sessions as well, and events about those are about no memory.
            if event < since or tx.meetings(mirror.number, memories=changed) or (event > since and mirror.format == "tree"):
                return event, True
            if mirror.choice is Choice.OWN or not changed:
                return event, False
            return event, any(holds(mirror, memory.scope) for memory in tx.memories(changed))

    def has_expired(self, mirror: Mirror) -> bool:
        """Whether a memory in the mirror's files has expired since they were last written: that is no event."""
        with self._store.read() as tx:
            expired = self._expired(tx, mirror)
            if not expired:
                return False
            if mirror.format == "block":  # it has no meetings: what it holds is always written anew
                return any(holds(mirror, memory.scope) for memory in tx.memories(expired))
            return any(one.file for one in tx.meetings(mirror.number, memories=expired))

    def _expired(self, tx: Reading, mirror: Mirror) -> list[int]:
        return tx.expired(mirror.seen, self._clock())

    def is_current(self, memory: Memory) -> bool:
        return expiry.is_current(memory, self._clock())

    def _of(self, tx: Reading, mirror: Mirror) -> Iterator[Memory]:
        """All that a mirror of everything holds, the oldest first."""
        layers = (Layer.PROJECT, Layer.SESSION) if mirror.format == "tree" else (mirror.scope.layer,)
        # Of all listings: what has expired, or was archived, may stand in a file that has to be written without it.
        found = tx.browse(
            Query(mirror.scope, layers=layers, states=(State.ACTIVE, State.INACTIVE, State.ARCHIVED)), self._clock()
        )
        return iter(sorted((one for one in found if holds(mirror, one.scope)), key=lambda memory: memory.number))

    def frame(self, scope: Scope) -> Frame:
        """What a tree says of the project itself."""
        with self._store.read() as tx:
            project = tx.project(scope.path) if scope.path else None
            sessions = sorted(session.scope.name for session in tx.sessions(self._clock(), scope)) if project else []
        return Frame(scope.path or "omoide", project.description if project else "", tuple(sessions))

    def describe(self, scope: Scope, text: str) -> None:
        """A person wrote into a file what a project is about."""
        with self._store.write() as tx:
            project = tx.project(scope.path)
            if project is not None:
                description = checks.line(text, "description", self._settings)
                tx.put_project(msgspec.structs.replace(project, description=description))
                tx.note("described", self._actor, self._clock(), scope, {"fields": ["description"]})

    def past(self, number: int, since: int) -> list[Memory]:
        """The versions of a memory from this one on, oldest first."""
        with self._store.read() as tx:
            return [one.memory for one in tx.versions(number) if one.memory.version >= since]

    def take_in(
        self, mirror: Mirror, things: Sequence[Said], present: Iterable[int], unread: Collection[str]
    ) -> list[Taken]:
        """Makes the database say what a file says: all in one transaction, but for what is refused or changed meanwhile.

        `present`: memories that stand in the files under their own names, so that nothing else there can be they;
        and so do those that were last met in one of the `unread` files.
        """
        at = self._clock()
        there = _Present(present, unread)
        taken: list[Taken] = []
        # What stands in a file that is synced itself would come in again; only what loses its place there would not.
        with self._store.write(durable=any(said.lost for said in things)) as tx:
            for said in things:
                if checks.secret_in(said.place):
                    place = secrets.redacted(said.place)
                    taken.append(Taken(None, f"{place}: the name of the file seems to hold a secret: rename it"))
                    continue
                try:
                    memory = (
                        self._revised(tx, mirror, said, at) if said.number else self._arrived(tx, mirror, said, there, at)
                    )
                except InvalidInput as error:  # plan B: the others; this one is told to its author
                    taken.append(Taken(None, f"{said.place}: {error}"))
                    continue
                taken.append(Taken(memory))
                if memory is not None:
                    there.numbers.add(memory.number)
        return taken

    def meet(
        self,
        mirror: int,
        *,
        meetings: Iterable[Meeting] = (),
        parted: Iterable[int] = (),
        sightings: Iterable[Sighting] = (),
        vanished: Iterable[str] = (),
        seen: int | None = None,
    ) -> None:
        """Notes what is now known to be in step. Should that be lost, both sides are found to say the same.

        Nothing is noted of a file whose name holds a secret: it is looked at again each time, until it is renamed.
        """
        meetings = [one for one in meetings if not checks.secret_in(one.file)]
        sightings = [one for one in sightings if not checks.secret_in(one.name)]
        with self._store.write(durable=False) as tx:
            if all(one.number != mirror for one in tx.mirrors()):
                return  # removed meanwhile
            tx.put_meetings(mirror, meetings)
            tx.drop_meetings(mirror, parted)
            tx.put_sightings(mirror, sightings)
            tx.drop_sightings(mirror, vanished)
            if seen is not None:
                tx.note_seen(mirror, seen)

    # the parts of the above

    def _revised(self, tx: Writing, mirror: Mirror, said: Said, at: datetime) -> Memory | None:
        old = tx.memory(said.number)
        if old is None or old.version != said.version:
            return None
        fields, lost = self._checked(said.fields), self._checked(said.lost)
        self._keys_are_free(tx, old, {**fields, **lost})
        new = self._next(tx, old, shape.changed(old, {**fields, **lost}) if lost else shape.changed(old, fields), at)
        file_version, database_version = (new.version if said.entry else 0), old.version
        if lost:
            # The file's text has been a version for a moment, and is in the history now.
            before = {name: getattr(old, name) for name in lost if name != "topic"}
            if "topic" in lost:
                before["topic"] = old.topic if old.topic_given else None
            # What the database says stands as it was, and so does who wrote it.
            new = self._next(tx, new, shape.changed(new, {**before, **fields}), at, None if fields else old.author)
            database_version = new.version
        if said.stands is not None:
            tx.put_dispute(Dispute(mirror.number, old.number, at, file_version, database_version, said.stands))
        return new

    def _next(self, tx: Writing, old: Memory, new: Memory, at: datetime, author: Actor | None = None) -> Memory:
        if new == old:
            return old
        deed = "revised"
        if new.state is not old.state:
            deed = "archived" if new.state is State.ARCHIVED else "restored"
        return self._change(tx, old, new, deed, at, author)

    def _checked(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        rules = self._settings
        check: dict[str, Callable[[Any], Any]] = {
            "content": lambda text: checks.content(text, rules),
            "topic": lambda text: None if text is None else checks.line(text, "topic", rules),
            "type": lambda name: checks.type_name(name, rules),
            "tags": lambda names: checks.tags(names, rules),
            "examples": lambda texts: checks.examples(texts, rules),
            "key": checks.key,
            "source": lambda text: checks.line(text, "source", rules),
            "scope": lambda scope: checks.scope(Scope.session(scope.path, scope.name) if scope.name else scope),
        }
        return {name: check[name](value) if name in check else value for name, value in fields.items()}

    def _keys_are_free(self, tx: Reading, old: Memory, fields: Mapping[str, Any]) -> None:
        scope, key = fields.get("scope", old.scope), fields.get("key", old.key)
        other = None if key is None else tx.by_key(scope, key)
        if other is not None and other.number != old.number:
            raise InvalidInput(f"key {key!r} is taken by #{other.number}: choose another")

    def _arrived(self, tx: Writing, mirror: Mirror, said: Said, present: "_Present", at: datetime) -> Memory:
        entry = said.entry
        assert entry is not None  # noqa: S101 - only a known memory can be gone
        session = entry.session or mirror.scope.name
        scope = Scope.session(mirror.scope.path, session) if session else mirror.scope
        # A day is told without a time: what was learnt today was learnt now.
        created = entry.created_at
        if created is not None and created.date() == at.date():
            created = at
        draft = checks.checked(
            Draft(
                entry.content, scope, entry.topic, entry.type, entry.tags, entry.examples, entry.key, entry.source,
                pinned=entry.pinned, created_at=created,
            ),
            self._settings,
        )  # fmt: skip
        old = self._alike(tx, mirror, draft, present)
        if old is not None and (entry.id is None or draft.key is not None):
            new = shape.merged(old, draft, at)
            return old if new == old else self._change(tx, old, new, "updated", at)
        fresh = self._fresh(draft, at)
        if entry.archived:
            fresh = msgspec.structs.replace(fresh, state=State.ARCHIVED)
        if entry.id is not None:
            # It came from somebody else's memory, by git perhaps, and is the same memory there and here.
            updated = min(max(entry.updated_at or fresh.created_at, fresh.created_at), at)
            fresh = msgspec.structs.replace(fresh, id=entry.id, updated_at=updated)
        kept = self._add(tx, fresh, shape.words(fresh))
        tx.log("remembered" if entry.id is None else "imported", self._actor, at, kept, {})
        return kept

    def _alike(self, tx: Reading, mirror: Mirror, draft: Draft, present: "_Present") -> Memory | None:
        """The memory that `remember` would take this for, unless it stands in the files already, as something else."""
        scope, type = checks.placed(draft), draft.type or self._settings.type
        if draft.key is not None:
            keyed = tx.by_key(scope, draft.key)
            if keyed is not None and present.has(tx, mirror, keyed):
                raise InvalidInput(f"key {draft.key!r} is taken by #{keyed.number}: choose another")
            return keyed
        twins = [one for one in tx.twins(self._twin(draft), scope) if one.type == type]
        twins = [one for one in twins if not present.has(tx, mirror, one)]
        if draft.topic is None:
            return next((one for one in twins if not one.topic_given and one.content == draft.content), None)
        wanted = shape.folded(draft.topic)
        return next((one for one in twins if one.topic_given and shape.folded(one.topic) == wanted), None)


class _Present:
    """Which memories stand in the files already."""

    def __init__(self, numbers: Iterable[int], unread: Collection[str]):
        self.numbers = set(numbers)
        self._unread = unread

    def has(self, tx: Reading, mirror: Mirror, memory: Memory) -> bool:
        if memory.number in self.numbers:
            return True
        return any(met.file in self._unread for met in tx.meetings(mirror.number, memories=[memory.number]))
