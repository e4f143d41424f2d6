"""A block of memories in a file of somebody else's: written whenever they change, and never read back."""

from omoide.errors import Changed, InvalidInput, Unreadable, Unwritable
from omoide.formats.block import Block
from omoide.formats.disk import Stat
from omoide.mirroring.desk import TRIES, Report
from omoide.mirroring.sight import Listing, Sight, sighted
from omoide.mirroring.trouble import explain
from omoide.model import Side
from omoide.service.meetings import Meetings
from omoide.service.mirrors import holds


class BlockDesk:
    """The work on one such mirror."""

    def __init__(self, sight: Sight, meetings: Meetings, prefer: Side | None = None, *, whole: bool = False):
        if prefer is Side.FILE:
            raise InvalidInput("a block is only written, never read: rebuild it from the database")
        self._sight = sight
        self._meetings = meetings
        self._whole = whole or prefer is not None
        self._block = Block(sight.name)

    def sync(self) -> Report:
        number = self._sight.mirror.number
        try:
            with self._sight.place.locked():
                for _ in range(TRIES):
                    try:
                        return Report(number, written=self._once())
                    except Changed:  # plan B: somebody saved the file at this moment, so look again
                        continue
        except (Unreadable, Unwritable) as error:  # plan B: the file is left alone, and its person is told
            return Report(number, troubles=(self._told(error),))
        return Report(number)

    def plan(self) -> Report:
        """What a sync would do; nothing is changed."""
        number = self._sight.mirror.number
        try:
            text, new, *_ = self._look()
        except Unreadable as error:
            return Report(number, troubles=(self._told(error),))
        return Report(number, written=int(new != text))

    def _look(self) -> tuple[str | None, str, Stat | None, int]:
        """The file as it is, as it should be, how it looks, and the event up to which that is so."""
        sight = self._sight
        mirror = sight.mirror
        found = sight.place.read(sight.name)
        standing = self._meetings.standing(mirror.number, files=(), ids=(), keys=(), taken=(), whole=True)
        memories = [
            memory
            for memory in standing.memories.values()
            if self._meetings.is_current(memory) and holds(mirror, memory.scope)
        ]
        text, stat = found or (None, None)
        return text, self._block.rendered(text, memories), stat, standing.event

    def _once(self) -> int:
        sight = self._sight
        text, new, stat, event = self._look()
        if text is None and not self._whole and sight.event == event:
            # A file that is gone is made anew with the next memory, not by a reader.
            self._meetings.meet(sight.mirror.number, vanished=[sight.name])
            sight.calm = Listing({})
            return 0
        if new != text or stat is None:
            stat = sight.place.write(sight.name, new, stat)
        sighting = sighted(sight.name, new, stat)
        self._meetings.meet(sight.mirror.number, sightings=[sighting], seen=event)
        sight.event, sight.calm = event, Listing({sight.name: stat}) if sighting.settled else None
        return int(new != text)

    def _told(self, error: Exception) -> str:
        return explain(self._sight.place.root / self._sight.name, error)
