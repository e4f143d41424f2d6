"""The mirrors of one store, as one process keeps them: a glance before reading, a sync where something differs."""

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from omoide.errors import NotFound, OmoideError, Unreadable
from omoide.markdown.escape import escape
from omoide.model import Mirror, Scope, Side
from omoide.settings import Settings
from omoide.sync.block_run import BlockRun
from omoide.sync.database import SyncDatabase
from omoide.sync.formats import directories, format_of
from omoide.sync.run import SyncReport, SyncRun
from omoide.sync.snapshot import Snapshot

LARGE = 10 * 1024 * 1024
"""Bytes of a list that people should thin out."""


class SyncEngine:
    def __init__(self, sync_states: SyncDatabase, settings: Settings, tell: Callable[[str], None], told: set[str]):
        """`told`: what has been reported, shared by all that report to the same person."""
        self._database = sync_states
        self._settings = settings
        self._tell = tell
        self._sights: dict[int, Snapshot] = {}
        self._told = told
        self._lock = threading.RLock()

    def import_edits(self, mirrors: Sequence[Mirror], scope: Scope | None) -> None:
        """Before something is read: what people changed in the files comes in."""
        wanted = [mirror for mirror in mirrors if scope is None or scope.sees(mirror.scope)]
        if not wanted:
            return
        with self._lock:
            event = self._database.last_event()
            for mirror in wanted:
                self._attempt_and_tell(mirror, partial(self._scan, mirror, event))

    def attempt(self, mirror: Mirror, work: Callable[[], SyncReport | None]) -> SyncReport | None:
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
        return SyncReport(mirror.number, troubles=(escape(trouble),))

    def _attempt_and_tell(self, mirror: Mirror, work: Callable[[], SyncReport | None]) -> None:
        report = self.attempt(mirror, work)
        for trouble in report.troubles if report else ():
            self.report(trouble)

    def _log(self, trouble: str) -> None:
        if escape(trouble) not in self._told:
            import logging  # noqa: PLC0415 - 5 ms that only a bug needs

            logging.getLogger(__name__).exception("%s", escape(trouble))

    def scan(self, mirror: Mirror) -> SyncReport | None:
        """A sync, if something differs."""
        with self._lock:
            return self._scan(mirror, self._database.last_event())

    def _scan(self, mirror: Mirror, event: int) -> SyncReport | None:
        snapshot = self.snapshot(mirror)
        if snapshot.event != event:
            event, concerned = self._database.is_concerned(mirror, snapshot.event)
            if concerned:
                return self.sync(mirror)
            snapshot.event = event
        if self._database.has_expired(mirror):
            return self.sync(mirror)
        if snapshot.place.replaced.is_look_due() and snapshot.late_saves():
            return self.sync(mirror)
        if snapshot.calm is None:
            if not snapshot.is_settled(self._database.file_states(mirror.number)):
                return self.sync(mirror)
            self._report(snapshot, snapshot.calm.troubles if snapshot.calm else ())
            return None
        return None if snapshot.listing() == snapshot.calm else self.sync(mirror)

    def export_changes(self, mirrors: Sequence[Mirror]) -> None:
        """After something was written: it goes out to the files that it concerns."""
        with self._lock:
            for mirror in mirrors:
                self._attempt_and_tell(mirror, partial(self._follow, mirror))

    def _follow(self, mirror: Mirror) -> SyncReport | None:
        snapshot = self.snapshot(mirror)
        if self._database.has_purged(snapshot.event):
            snapshot.place.replaced.discard()
        event, concerned = self._database.is_concerned(mirror, snapshot.event)
        if concerned:
            return self.sync(mirror)
        snapshot.event = event
        return None

    def sync(self, mirror: Mirror, prefer: Side | None = None, *, whole: bool = False) -> SyncReport:
        """Brings both sides of a mirror together now; whole: every memory and every file is looked at."""
        with self._lock:
            snapshot = self.snapshot(mirror)
            report = _escape_report(self._run(snapshot, prefer, whole=whole).sync())
            self._report(snapshot, report.troubles)
            if report.written or report.imported:
                self._warn_if_large(snapshot)
            return report

    def plan(self, mirror: Mirror) -> SyncReport:
        """What a sync would do; nothing is changed."""
        with self._lock:
            return _escape_report(self._run(self.snapshot(mirror)).plan())

    def _run(self, snapshot: Snapshot, prefer: Side | None = None, *, whole: bool = False) -> SyncRun | BlockRun:
        made = BlockRun if snapshot.mirror.format == "block" else SyncRun
        return made(snapshot, self._database, prefer, whole=whole)

    def numbers(self, mirror: Mirror) -> dict[str, int]:
        """The numbers of the memories in the files, by the ids that stand there."""
        return self._database.entries(mirror.number)

    def snapshot(self, mirror: Mirror) -> Snapshot:
        snapshot = self._sights.get(mirror.number)
        if snapshot is None:
            format = format_of(mirror, self._settings.all_types)
            try:
                snapshot = Snapshot(mirror, format, directories(format), self._settings.max_backups)
            except (OSError, RuntimeError) as error:  # the second is what pathlib says of links in a circle
                raise Unreadable(
                    f"{mirror.place} cannot be reached ({error}): mend it, or `omoide mirror remove`"
                ) from error
            self._sights[mirror.number] = snapshot
            snapshot.event = mirror.seen
        elif snapshot.mirror.choice is not mirror.choice:
            snapshot.calm, snapshot.event = None, -1
        snapshot.mirror = mirror
        return snapshot

    def _report(self, snapshot: Snapshot, troubles: Iterable[str]) -> None:
        """Tell what is wrong with the files of a mirror. What is over is told again should it come back."""
        current = set(map(escape, troubles))
        self._told -= snapshot.told - current
        snapshot.told = current
        for trouble in troubles:
            self.report(trouble)

    def report(self, message: str) -> None:
        """Each thing once: a file that nobody mends would otherwise be told of at every reading."""
        message = escape(message)
        if message not in self._told:
            self._told.add(message)
            self._tell(message)

    def _warn_if_large(self, snapshot: Snapshot) -> None:
        stat = snapshot.place.stat(snapshot.name) if snapshot.mirror.format == "memories" else None
        if stat is not None and stat.size > LARGE:
            self.report(size_warning(str(snapshot.place.root / snapshot.name), stat.size))


def _path(mirror: Mirror) -> Path:
    return Path(mirror.place) / mirror.file


def _escape_report(report: SyncReport) -> SyncReport:
    """Names of files can hold anything: as they are reported, they can be shown."""
    return msgspec.structs.replace(report, troubles=tuple(map(escape, report.troubles)))


def size_warning(path: str, size: int) -> str:
    return (
        f"{path} has {size / 2**20:.1f} MB, more than 10: archive what is old (`omoide memories delete`,"
        " `omoide retire`), or keep a file for each memory (`omoide mirror add --format entries`)"
    )
