"""The mirrors of one store, as one process keeps them: a glance before reading, a sync where something differs."""

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from omoide.config import Settings
from omoide.errors import NotFound, OmoideError, Unreadable
from omoide.formats.escape import escape
from omoide.mirroring.blocks import BlockDesk
from omoide.mirroring.desk import Desk, Report
from omoide.mirroring.kinds import directories, format_of
from omoide.mirroring.sight import Sight
from omoide.model import Mirror, Scope, Side
from omoide.service.meetings import Meetings

LARGE = 10 * 1024 * 1024
"""Bytes of a list that people should thin out."""


class Mirroring:
    def __init__(self, meetings: Meetings, settings: Settings, tell: Callable[[str], None], told: set[str]):
        """`told`: what has been reported, shared by all that report to the same person."""
        self._meetings = meetings
        self._settings = settings
        self._tell = tell
        self._sights: dict[int, Sight] = {}
        self._told = told
        self._lock = threading.RLock()

    def look(self, mirrors: Sequence[Mirror], scope: Scope | None) -> None:
        """Before something is read: what people changed in the files comes in."""
        wanted = [mirror for mirror in mirrors if scope is None or scope.sees(mirror.scope)]
        if not wanted:
            return
        with self._lock:
            event = self._meetings.last_event()
            for mirror in wanted:
                self._attempt_and_tell(mirror, partial(self._glance, mirror, event))

    def attempt(self, mirror: Mirror, work: Callable[[], Report | None]) -> Report | None:
        """Work on one mirror, and answer what fails as a trouble of the report instead of raising it.

        For whoever asked for something else and must get it: a memory that was committed is kept, whatever the files are
        like, and the next sync brings it to them.
        """
        try:
            return work()
        except NotFound:  # fallback: it was removed a moment ago, so there is nothing to do
            return None
        except OmoideError as error:
            trouble = str(error)
        except OSError as error:
            trouble = f"{_path(mirror)} cannot be synced ({error}): mend it, or `omoide mirror remove {mirror.number}`"
        except Exception as error:  # noqa: BLE001 - the only one: a bug here must not make a committed write look failed
            trouble = (
                f"{_path(mirror)} cannot be synced ({type(error).__name__}: {error}), which is a mistake of omoide's:"
                " please report it with the log; the memories are kept"
            )
            self._log(trouble)
        return Report(mirror.number, troubles=(escape(trouble),))

    def _attempt_and_tell(self, mirror: Mirror, work: Callable[[], Report | None]) -> None:
        report = self.attempt(mirror, work)
        for trouble in report.troubles if report else ():
            self.tell(trouble)

    def _log(self, trouble: str) -> None:
        if escape(trouble) not in self._told:
            import logging  # noqa: PLC0415 - 5 ms that only a bug needs

            logging.getLogger(__name__).exception("%s", escape(trouble))

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
            if not sight.calmed(self._meetings.sightings(mirror.number)):
                return self.sync(mirror)
            self._report(sight, sight.calm.troubles if sight.calm else ())
            return None
        return None if sight.listing() == sight.calm else self.sync(mirror)

    def follow(self, mirrors: Sequence[Mirror]) -> None:
        """After something was written: it goes out to the files that it concerns."""
        with self._lock:
            for mirror in mirrors:
                self._attempt_and_tell(mirror, partial(self._follow, mirror))

    def _follow(self, mirror: Mirror) -> Report | None:
        sight = self.sight(mirror)
        event, concerned = self._meetings.concerned(mirror, sight.event)
        if concerned:
            return self.sync(mirror)
        sight.event = event
        return None

    def sync(self, mirror: Mirror, prefer: Side | None = None, *, whole: bool = False) -> Report:
        """Brings both sides of a mirror together now; whole: every memory and every file is looked at."""
        with self._lock:
            sight = self.sight(mirror)
            report = _escaped(self._desk(sight, prefer, whole=whole).sync())
            self._report(sight, report.troubles)
            if report.written or report.taken_in:
                self._weigh(sight)
            return report

    def plan(self, mirror: Mirror) -> Report:
        """What a sync would do; nothing is changed."""
        with self._lock:
            return _escaped(self._desk(self.sight(mirror)).plan())

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

    def _report(self, sight: Sight, troubles: Iterable[str]) -> None:
        """Tell what is wrong with the files of a mirror. What is over is told again should it come back."""
        current = set(map(escape, troubles))
        self._told -= sight.told - current
        sight.told = current
        for trouble in troubles:
            self.tell(trouble)

    def tell(self, message: str) -> None:
        """Each thing once: a file that nobody mends would otherwise be told of at every reading."""
        message = escape(message)
        if message not in self._told:
            self._told.add(message)
            self._tell(message)

    def _weigh(self, sight: Sight) -> None:
        stat = sight.place.stat(sight.name) if sight.mirror.format == "memories" else None
        if stat is not None and stat.size > LARGE:
            self.tell(large(str(sight.place.root / sight.name), stat.size))


def _path(mirror: Mirror) -> Path:
    return Path(mirror.place) / mirror.file


def _escaped(report: Report) -> Report:
    """Names of files can hold anything: as they are reported, they can be shown."""
    return msgspec.structs.replace(report, troubles=tuple(map(escape, report.troubles)))


def large(path: str, size: int) -> str:
    return (
        f"{path} has {size / 2**20:.1f} MB, more than 10: archive what is old (`omoide memories delete`,"
        " `omoide retire`), or keep a file for each memory (`omoide mirror add --format entries`)"
    )
