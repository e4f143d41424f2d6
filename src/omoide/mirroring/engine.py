"""The mirrors of one store, as one process keeps them: a glance before reading, a sync where something differs."""

import threading
from collections.abc import Callable, Sequence

from omoide.config import Settings
from omoide.errors import NotFound, OmoideError, Unreadable
from omoide.mirroring.blocks import BlockDesk
from omoide.mirroring.desk import Desk, Report
from omoide.mirroring.kinds import directories, format_of
from omoide.mirroring.sight import Sight
from omoide.model import Mirror, Scope, Side
from omoide.service.meetings import Meetings

LARGE = 10 * 1024 * 1024
"""Bytes of a list that people should thin out."""


class Mirroring:
    def __init__(self, meetings: Meetings, settings: Settings, tell: Callable[[str], None]):
        self._meetings = meetings
        self._settings = settings
        self._tell = tell
        self._sights: dict[int, Sight] = {}
        self._told: set[str] = set()
        self._lock = threading.RLock()

    def look(self, mirrors: Sequence[Mirror], scope: Scope | None) -> None:
        """Before something is read: what people changed in the files comes in."""
        wanted = [mirror for mirror in mirrors if scope is None or scope.sees(mirror.scope)]
        if not wanted:
            return
        with self._lock:
            event = self._meetings.last_event()
            for mirror in wanted:
                try:
                    self._glance(mirror, event)
                except NotFound:  # plan B: it was removed a moment ago, so there is nothing to do
                    continue
                except OmoideError as error:  # plan B: the database's side works on
                    self.tell(str(error))

    def glance(self, mirror: Mirror) -> Report | None:
        """A sync, if something differs."""
        with self._lock:
            return self._glance(mirror, self._meetings.last_event())

    def _glance(self, mirror: Mirror, event: int) -> Report | None:
        sight = self.sight(mirror)
        if sight.event != event:
            event, concerned = self._meetings.concerned(mirror, sight.event)
            if concerned:
                return self.sync(mirror)
            sight.event = event
        if self._meetings.has_expired(mirror):
            return self.sync(mirror)
        if sight.calm is None:
            return None if sight.calmed(self._meetings.sightings(mirror.number)) else self.sync(mirror)
        return None if sight.listing() == sight.calm else self.sync(mirror)

    def follow(self, mirrors: Sequence[Mirror]) -> None:
        """After something was written: it goes out to the files that it concerns."""
        with self._lock:
            for mirror in mirrors:
                try:
                    sight = self.sight(mirror)
                    event, concerned = self._meetings.concerned(mirror, sight.event)
                    if concerned:
                        self.sync(mirror)
                    else:
                        sight.event = event
                except NotFound:  # plan B: the same
                    continue
                except OmoideError as error:  # plan B: what was written is kept; the next sync brings it to the files
                    self.tell(str(error))

    def sync(self, mirror: Mirror, prefer: Side | None = None, *, whole: bool = False) -> Report:
        """Brings both sides of a mirror together now; whole: every memory and every file is looked at."""
        with self._lock:
            sight = self.sight(mirror)
            report = self._desk(sight, prefer, whole=whole).sync()
            if not report.troubles:
                self._told -= sight.told  # should it come up again, it is told again
                sight.told.clear()
            for trouble in report.troubles:
                sight.told.add(trouble)
                self.tell(trouble)
            if report.written or report.taken_in:
                self._weigh(sight)
            return report

    def plan(self, mirror: Mirror) -> Report:
        """What a sync would do; nothing is changed."""
        with self._lock:
            return self._desk(self.sight(mirror)).plan()

    def _desk(self, sight: Sight, prefer: Side | None = None, *, whole: bool = False) -> Desk | BlockDesk:
        made = BlockDesk if sight.mirror.format == "block" else Desk
        return made(sight, self._meetings, prefer, whole=whole)

    def numbers(self, mirror: Mirror) -> dict[str, int]:
        """The numbers of the memories in the files, by the ids that stand there."""
        return self._meetings.entries(mirror.number)

    def sight(self, mirror: Mirror) -> Sight:
        sight = self._sights.get(mirror.number)
        if sight is None:
            format = format_of(mirror, self._settings.known_types)
            try:
                sight = Sight(mirror, format, directories(format), self._settings.max_backups)
            except (OSError, RuntimeError) as error:  # the second is what pathlib says of links in a circle
                raise Unreadable(
                    f"{mirror.place} cannot be reached ({error}): mend it, or `omoide mirror remove`"
                ) from error
            self._sights[mirror.number] = sight
            sight.event = mirror.seen
        elif sight.mirror.choice is not mirror.choice:
            sight.calm, sight.event = None, -1
        sight.mirror = mirror
        return sight

    def tell(self, message: str) -> None:
        """Each thing once: a file that nobody mends would otherwise be told of at every reading."""
        if message not in self._told:
            self._told.add(message)
            self._tell(message)

    def _weigh(self, sight: Sight) -> None:
        stat = sight.place.stat(sight.name) if sight.mirror.format == "memories" else None
        if stat is not None and stat.size > LARGE:
            self.tell(large(str(sight.place.root / sight.name), stat.size))


def large(path: str, size: int) -> str:
    return (
        f"{path} has {size / 2**20:.1f} MB, more than 10: archive what is old (`omoide memories delete`,"
        " `omoide retire`), or keep a file for each memory (`omoide mirror add --format entries`)"
    )
