"""One sync of one mirror: read what changed, let both sides meet, write what must be written, note it.

Everything is found from the state of both sides, so that a sync that was stopped anywhere is finished by the next one.
Nothing is noted before it is so.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from omoide.errors import Changed, Unreadable
from omoide.formats.disk import Stat
from omoide.mirroring.edits import Edits, Late
from omoide.mirroring.match import Matched, Stamp, matched, stamp
from omoide.mirroring.merge import Case, Do, Judge, Seen, decided
from omoide.mirroring.sight import Glance, Listing, Sight, Text, sighted
from omoide.mirroring.trouble import FILE_TROUBLE, explain
from omoide.model import Choice, Meeting, Memory, Scope, Side, State
from omoide.service.meetings import Meetings, Said, Standing
from omoide.service.mirrors import holds

TRIES = 8
_TRIES_BY_THE_WAY = 3
"""For a sync that nobody asked for: the next one brings what this one could not."""
_FAR_BEHIND = 500
"""Events of others after which it is worth a write to note that none of them was ours."""
_UNKNOWN = Stat(0, 0, 0)
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class Report(msgspec.Struct, frozen=True):
    """What a sync did, or would do."""

    mirror: int
    taken_in: int = 0
    """Changes that came from the files into the database."""
    written: int = 0
    """Files that were written; of a plan, memories that would be."""
    disputes: int = 0
    troubles: tuple[str, ...] = ()
    """What could not be taken in or written: where, why, and what to do."""


class Work(NamedTuple):
    """What a look at both sides found to be done."""

    say: list[tuple[Seen | None, Said]]
    put: list[tuple[Memory, Meeting | None, Seen | None]]
    out: list[tuple[Memory, Meeting | None, Seen | None]]
    meet: list[tuple[Memory, Seen]]
    matched: Matched
    unread: set[str]
    """Files that are as they were."""


class Looked(NamedTuple):
    glance: Glance
    texts: dict[str, Text]
    standing: Standing


class Desk:
    """The work on one mirror."""

    def __init__(self, sight: Sight, meetings: Meetings, prefer: Side | None = None, *, whole: bool = False):
        self._sight = sight
        self._meetings = meetings
        self._prefer = prefer
        self._whole = self._patient = whole or prefer is not None
        """Whether every memory and every file is looked at, and files that are gone are made anew."""
        self._rootless = False
        self._stamps: dict[Stamp, int] = {}
        self._heard: dict[int, tuple[int, Do]] = {}
        """What was taken in just now: the version that it is, and what is left to do about its entry."""
        self._troubles: dict[str, None] = {}
        self._closed: dict[str, str] = {}
        """Files that cannot be read, and why."""
        self._held_back: set[int] = set()
        """Memories whose entries were refused: neither side is changed."""
        self._refused: set[Stamp] = set()
        self._unfinished: set[str] = set()
        """Files that hold a refused entry: they will be read again."""
        self._taken_in = self._written = self._disputes = 0

    def sync(self) -> Report:
        if not self._sight.place.exists():
            # A disk that is not there, a branch without these files: nothing of it is deleted.
            self._rootless = True
            if not self._whole and not self._decide(self._look()).put:
                return Report(self._sight.mirror.number)
            self._whole = True
        with self._sight.place.locked():
            for _ in range(TRIES if self._patient else _TRIES_BY_THE_WAY):
                try:
                    if self._once():
                        break
                except Late as late:
                    self._rescue(late)
                except Changed:  # plan B: somebody saved a file at this moment, so look again
                    continue
            else:
                self._give_up()
        return Report(self._sight.mirror.number, self._taken_in, self._written, self._disputes, tuple(self._troubles))

    def _give_up(self) -> None:
        if self._patient:
            root = self._sight.place.root
            self._trouble(f"{root}: files change faster than they can be read: try again when that is over")

    def plan(self) -> Report:
        """What a sync would do; nothing is changed."""
        self._rootless = not self._sight.place.exists()
        looked = self._look()
        work = self._decide(looked)
        files = len(work.put) + len([one for one in work.out if one[1] and one[1].file])
        disputes = sum(said.stands is not None for _, said in work.say)
        return Report(self._sight.mirror.number, len(work.say), files, disputes, tuple(self._troubles))

    def _once(self) -> bool:
        """One look, and what follows from it; False: look again."""
        for each in (self._troubles, self._closed, self._held_back, self._refused, self._unfinished):
            each.clear()
        looked = self._look()
        self._describe(looked)
        work = self._decide(looked)
        if work.say:
            again = self._take_in(work, looked.standing)
            looked = looked._replace(standing=self._standing(looked.glance, looked.texts))
            work = self._decide(looked)
            if again:
                return False
        if not self._whole and any(self._is_lost(self._target(one[0]), looked) for one in work.put):
            # It was left alone as long as nothing had to be written to it; now it is made whole again.
            self._whole = True
            return False
        self._finish(work, looked)
        return True

    # looking

    def _look(self) -> Looked:
        glance = self._sight.glance([] if self._whole else self._meetings.sightings(self._sight.mirror.number))
        for trouble in glance.troubles:
            self._trouble(trouble)
        texts: dict[str, Text] = {}
        for name in glance.changed:
            try:
                text = self._sight.read(name)
            except FILE_TROUBLE as error:  # plan B: this file is left alone, the others are not
                self._close(name, error)
                continue
            if text is not None:
                texts[name] = text
        return Looked(glance, texts, self._standing(glance, texts))

    def _standing(self, glance: Glance, texts: Mapping[str, Text]) -> Standing:
        seen = [Seen(name, placed) for name, text in texts.items() for placed in text.placed]
        ids = [one.placed.entry.id for one in seen if one.placed.entry.id]
        scope = self._sight.mirror.scope
        keyed = [one.placed.entry for one in seen if one.placed.entry.key and stamp(one) not in self._stamps]
        return self._meetings.standing(
            self._sight.mirror.number,
            files=[*glance.changed, *glance.gone],
            ids=ids,
            keys=[(Scope(scope.path, entry.session or scope.name), entry.key or "") for entry in keyed],
            taken=list(self._heard),
            whole=self._whole,
        )

    def _close(self, name: str, error: Exception) -> None:
        self._closed[name] = explain(self._sight.place.root / name, error)
        self._trouble(self._closed[name])

    def _trouble(self, message: str) -> None:
        self._troubles[message] = None

    def _where(self, seen: Seen) -> str:
        path = self._sight.place.root / seen.file
        return str(path) if self._sight.alone else f"{path}, line {seen.placed.line}"

    # deciding

    def _decide(self, looked: Looked) -> Work:
        sight, standing = self._sight, looked.standing
        changed = set(looked.glance.changed)
        same = {name for name in looked.glance.listing if name not in changed}
        found = matched(looked.texts, same, standing, self._stamps, sight.format, alone=sight.alone)
        for refused, why in found.refused:
            self._trouble(f"{self._where(refused)}: {why}")
            self._unfinished.add(refused.file)
        work = Work([], [], [], [], found, same)
        for number, memory in standing.memories.items():
            meeting, seen = standing.meetings.get(number), found.found.get(number)
            if number in self._held_back or (meeting and self._is_closed(meeting.file, looked)):
                continue
            unread = False
            if meeting and meeting.file and seen is None:
                lost = self._is_lost(meeting.file, looked)
                if lost and self._whole:
                    meeting = Meeting(number)
                else:
                    unread = lost or meeting.file in same
            self._add(work, memory, meeting, seen, looked, unread=unread)
        if self._prefer is not Side.DATABASE:
            work.say.extend(
                (stranger, Said(stranger.placed.entry, self._where(stranger)))
                for stranger in found.strangers
                if stamp(stranger) not in self._refused
            )
        return work

    def _add(
        self, work: Work, memory: Memory, meeting: Meeting | None, seen: Seen | None, looked: Looked, *, unread: bool
    ) -> None:
        mirror = self._sight.mirror
        version, todo = self._heard.get(memory.number, (0, Do.REST))
        decision: Do | Said
        if version == memory.version:
            decision = todo
        else:
            held = holds(mirror, memory.scope)
            wanted = (
                held and self._is_living(memory) and (mirror.choice is Choice.ALL or meeting is not None or seen is not None)
            )
            saved_at = looked.texts[seen.file].saved_at if seen else _NEVER
            where = self._where(seen) if seen else str(self._sight.place.root)
            judge = Judge(
                self._sight.format.shown, self._meetings.past, where, stamped=not self._sight.alone, prefer=self._prefer
            )
            decision = decided(Case(memory, meeting, seen, unread, wanted, held, saved_at), judge)
        if isinstance(decision, Said):
            work.say.append((seen, decision))
        elif decision is Do.PUT:
            work.put.append((memory, meeting, seen))
        elif decision is Do.OUT:
            work.out.append((memory, meeting, seen))
        elif decision is Do.MEET and seen:
            work.meet.append((memory, seen))

    def _is_living(self, memory: Memory) -> bool:
        """Whether a memory stands in a file: a current one, and where there is an archive, a retired one."""
        return self._meetings.is_current(memory) or (self._sight.alone and memory.state is State.ARCHIVED)

    def _target(self, memory: Memory) -> str:
        return "" if self._sight.alone else self._sight.format.place(memory, lambda _: False)

    def _is_closed(self, file: str, looked: Looked) -> bool:
        """Whether what stands in a file is not known, because it or its directory cannot be read."""
        return file in self._closed or looked.glance.is_closed(file)

    def _is_lost(self, file: str, looked: Looked) -> bool:
        """Whether a file that holds several entries is gone, or empty: people delete entries one by one, so it is being
        saved at this moment, or stands on another branch, and nothing of it is deleted."""
        if self._rootless:
            return True
        if self._sight.alone or not file or file in self._closed:
            return False
        if file not in looked.glance.listing:
            return True
        text = looked.texts.get(file)
        return text is not None and not text.text.strip("\ufeff \t\r\n")

    # from the files into the database

    def _describe(self, looked: Looked) -> None:
        """What a person says of the project itself, on the main page of its tree."""
        main, mirror = looked.texts.get(self._sight.main), looked.standing.mirror
        if main is not None and self._prefer is not Side.DATABASE:
            from omoide.formats.tree import described  # noqa: PLC0415 - only a tree has such a page

            told, known = described(main.text), self._meetings.frame(mirror.scope).description
            if told and told != known and (mirror.seen or not known or self._prefer is Side.FILE):
                self._meetings.describe(mirror.scope, told)

    def _take_in(self, work: Work, standing: Standing) -> bool:
        """Answers whether something changed meanwhile."""
        said_all = [said for _, said in work.say]
        taken = self._meetings.take_in(standing.mirror, said_all, work.matched.found, work.unread)
        again = False
        for (seen, said), done in zip(work.say, taken, strict=True):
            if done.refused:
                self._trouble(done.refused)
                self._held_back.add(said.number)
                if seen:
                    self._refused.add(stamp(seen))
                    self._unfinished.add(seen.file)
            elif done.memory is None:
                again = True
            else:
                self._taken_in += 1
                self._disputes += said.stands is not None
                self._heard[done.memory.number] = (done.memory.version, self._left_to_do(seen, said, done.memory, standing))
                if seen and not seen.placed.entry.id:
                    self._stamps[stamp(seen)] = done.memory.number
        return again

    def _left_to_do(self, seen: Seen | None, said: Said, memory: Memory, standing: Standing) -> Do:
        if seen is None:
            if said.stands is not None or self._sight.alone:
                return Do.PUT  # it comes back, or goes into the archive
            return Do.OUT
        entry, shown = seen.placed.entry, self._sight.format.shown(memory)
        meeting = standing.meetings.get(said.number)
        ahead = meeting is not None and bool(meeting.file) and meeting.version != said.version
        stale = entry.topic is not None and shown.topic is None  # a title that follows the text
        nameless = entry.id is None and not self._sight.alone
        if not holds(standing.mirror, memory.scope) or not self._is_living(memory):
            return Do.OUT
        return Do.PUT if said.stands is Side.DATABASE or ahead or stale or nameless else Do.MEET

    def _rescue(self, late: Late) -> None:
        """What stands in a text that is in no file any more comes in; what it lacks is not deleted."""
        try:
            placed = self._sight.format.parsed(late.name, late.text)
        except Unreadable:  # plan B: it cannot have been a text of entries
            return
        now = self._sight.place.stat(late.name)
        texts = {late.name: Text(late.text, now or _UNKNOWN, placed)}
        glance = Glance({late.name: now or _UNKNOWN}, [late.name], [], [], unsettled=True)
        looked = Looked(glance, texts, self._standing(glance, texts))
        work = self._decide(looked)
        self._take_in(work._replace(say=[(seen, said) for seen, said in work.say if seen]), looked.standing)
        for each in (self._stamps, self._heard):
            each.clear()

    # from the database into the files

    def _finish(self, work: Work, looked: Looked) -> None:
        sight, glance, standing = self._sight, looked.glance, looked.standing
        edits = Edits(sight, looked.texts, glance.listing, self._meetings.past)
        for memory, meeting, seen in work.put:
            edits.put(memory, meeting, seen)
        for memory, meeting, seen in work.out:
            edits.drop(memory, meeting, seen, held=holds(standing.mirror, memory.scope))
        for file, id in work.matched.left:
            edits.take(file, id)
        if self._prefer is Side.DATABASE:
            edits.clear(work.matched.strangers)
        if sight.main and (edits or self._whole or sight.main in glance.listing):
            edits.frame(sight.main, self._meetings.frame(standing.mirror.scope))
        edits.write(set(self._closed), glance.closed, backup=self._prefer is Side.DATABASE)
        for name in edits.stats:
            self._troubles.pop(self._closed.pop(name, ""), None)  # it is made anew
        for message in edits.troubles:
            self._trouble(message)
        self._written += edits.written
        meetings = edits.meetings + [
            Meeting(memory.number, seen.file, seen.placed.entry.id or "", memory.version, seen.placed.digest)
            for memory, seen in work.meet
        ]
        self._note(looked, edits, meetings)

    def _note(self, looked: Looked, edits: Edits, meetings: list[Meeting]) -> None:
        sight, glance, standing = self._sight, looked.glance, looked.standing
        texts = {name: (text.text, text.stat) for name, text in looked.texts.items()} | edits.stats
        sightings = [
            sighted(name, *told)
            for name, told in texts.items()
            if name not in self._unfinished and (name in edits.stats or not self._is_lost(name, looked))
        ]
        sightings += [one for one in glance.settled if one.name not in texts]
        vanished = [name for name in (*glance.gone, *edits.removed) if name not in edits.stats]
        finished = not (self._closed or glance.closed or self._held_back or edits.troubles)
        behind = standing.event - standing.mirror.seen
        first = standing.mirror.seen == 0 < standing.event
        if meetings or edits.parted or sightings or vanished or first or not 0 <= behind < _FAR_BEHIND:
            self._meetings.meet(
                sight.mirror.number,
                meetings=meetings,
                parted=edits.parted,
                sightings=sightings,
                vanished=vanished,
                seen=standing.event if finished else None,
            )
        sight.event = standing.event
        listing = {**glance.listing, **{name: stat for name, (_, stat) in edits.stats.items()}}
        for name in edits.removed:
            listing.pop(name, None)
        calm = all(one.settled for one in sightings) and not glance.unsettled
        sight.calm = Listing(listing, glance.troubles, glance.closed) if calm else None
