"""The mirrors of one store, as one process syncs them: a cheap scan before reads, a sync where something differs."""

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from omoide.errors import NotFound, OmoideError, Unreadable
from omoide.files.atomic import Stat
from omoide.files.git import follow_link, work_tree
from omoide.markdown.escape import escape
from omoide.markdown.format import Format, Mention
from omoide.model import Memory, Mirror, Scope, Side, SyncState
from omoide.settings import Settings
from omoide.sync.block_run import BlockRun
from omoide.sync.database import SyncDatabase
from omoide.sync.evidence import FileEvidence
from omoide.sync.run import SyncReport, SyncRun
from omoide.sync.snapshot import Snapshot

if TYPE_CHECKING:  # rarely needed
    from omoide.markdown.single_file import SingleFile
    from omoide.sync.list_entries import ShownEntry
    from omoide.sync.mentions import RetiredMention

LARGE = 10 * 1024 * 1024
"""Bytes of a list that people should make smaller."""
_FORMATS = {
    "memories": ("single_file", "SingleFile"),
    "entries": ("file_per_memory", "FilePerMemory"),
    "tree": ("project_tree", "ProjectTree"),
}
"""The module and the class of each format that is read back. Loaded by name: most stores need one of them."""


class SyncEngine:
    """Syncs the mirrors of one store."""

    def __init__(
        self,
        database: SyncDatabase,
        settings: Settings,
        report_to: Callable[[str], None],
        reported: set[str],
        *,
        is_seen: bool = True,
    ):
        """`report_to` gets what is wrong with files. `reported`: the messages it got, shared by all that report to it.

        `is_seen`: whether a person sees reports at once; otherwise what was archived is reported again where that is so.
        """
        self._database = database
        self._is_seen = is_seen
        self._reported_deletions: set[tuple[int, int]] = set()
        self._settings = settings
        self._report_to = report_to
        self._reported = reported
        self._snapshots: dict[int, Snapshot] = {}
        self._lock = threading.RLock()

    def import_edits(self, mirrors: Sequence[Mirror], scope: Scope | None) -> None:
        """Import what people changed in the files of the mirrors that this scope sees. Call before a read."""
        visible = [mirror for mirror in mirrors if scope is None or scope.sees(mirror.scope)]
        if not visible:
            return
        with self._lock:
            event = self._database.last_event()
            for mirror in visible:
                self._attempt_and_report(mirror, partial(self._scan, mirror, event))

    def export_changes(self, mirrors: Sequence[Mirror], numbers: Sequence[int]) -> None:
        """Write what changed in the database to the files that it concerns. Call after a commit.

        `numbers`: of the memories that were changed; none where something else was, such as a project.
        """
        with self._lock:
            for mirror in self._database.mirrors_showing(mirrors, numbers) if len(mirrors) > 1 else mirrors:
                self._attempt_and_report(mirror, partial(self._export, mirror))

    def attempt(self, mirror: Mirror, work: Callable[[], SyncReport | None]) -> SyncReport | None:
        """Work on one mirror, and return an error as a trouble of the report instead of raising it.

        For callers that asked for something else and must get it: a memory that was committed stays committed, whatever
        the files are like, and the next sync writes it to them.
        """
        try:
            return work()
        except NotFound:  # fallback: the mirror was removed a moment ago, so there is nothing to do
            return None
        except OmoideError as error:
            trouble = str(error)
        except OSError as error:
            path = _path(mirror)
            trouble = f"{path} cannot be synced ({error}): repair it, or `omoide mirror remove {mirror.number}`"
        except Exception as error:  # noqa: BLE001 - a bug here must not make a committed write look failed
            trouble = (
                f"{_path(mirror)} cannot be synced ({type(error).__name__}: {error}), which is a bug of omoide:"
                " please report it with the log; the memories are stored"
            )
            self._log_exception(trouble)
        return SyncReport(mirror.number, troubles=(escape(trouble),))

    def _attempt_and_report(self, mirror: Mirror, work: Callable[[], SyncReport | None]) -> None:
        report = self.attempt(mirror, work)
        for trouble in report.troubles if report else ():
            self.report(trouble)

    def _log_exception(self, trouble: str) -> None:
        if escape(trouble) not in self._reported:
            import logging  # lazy: 5 ms that only a bug needs

            logging.getLogger(__name__).exception("%s", escape(trouble))

    def scan(self, mirror: Mirror) -> SyncReport | None:
        """Sync if something differs; None if nothing does."""
        with self._lock:
            return self._scan(mirror, self._database.last_event())

    def _scan(self, mirror: Mirror, event: int) -> SyncReport | None:
        snapshot = self.snapshot(mirror)
        if snapshot.event != event:
            event, is_concerned = self._database.is_concerned(mirror, snapshot.event)
            if is_concerned:
                return self.sync(mirror)
            snapshot.event = event
        if self._database.has_expired(mirror):
            return self.sync(mirror)
        if snapshot.place.replaced.is_look_due() and snapshot.late_saves():
            return self.sync(mirror)
        if snapshot.in_sync_listing is None:
            if not snapshot.is_settled(self._database.file_states(mirror.number)):
                return self.sync(mirror)
            self._report_troubles(snapshot, snapshot.in_sync_listing.troubles if snapshot.in_sync_listing else ())
            return None
        return None if snapshot.listing() == snapshot.in_sync_listing else self.sync(mirror)

    def _export(self, mirror: Mirror) -> SyncReport | None:
        snapshot = self.snapshot(mirror)
        if self._database.has_purged(snapshot.event):
            snapshot.place.replaced.discard()
        event, is_concerned = self._database.is_concerned(mirror, snapshot.event)
        if is_concerned:
            return self.sync(mirror, unasked=True)
        snapshot.event = event
        return None

    def sync(
        self,
        mirror: Mirror,
        prefer: Side | None = None,
        *,
        whole: bool = False,
        unasked: bool = False,
        **which: Collection[int],
    ) -> SyncReport:
        """Bring both sides of a mirror together now.

        `prefer`: the side from which the other is rebuilt. `whole`: compare every memory and every file, not only those
        that changed. `unasked`, `put_back`, `take_out`, `accept`: see `SyncRun`.
        """
        with self._lock:
            snapshot = self.snapshot(mirror)
            report = _escape_report(self._run(snapshot, prefer, whole=whole, unasked=unasked, **which).sync())
            self._report_troubles(snapshot, report.troubles)
            for notice in report.notices:
                self.report(notice)
            if report.imported:
                self.report_deletions()
            if report.written or report.imported:
                self._warn_if_large(snapshot)
            return report

    def report_deletions(self) -> None:
        """Report the memories that deletions in files have archived, whichever process imported them, each once."""
        found = self._database.deletions.pending_reports()
        if not found:
            return
        from omoide.sync.deletions import describe_deletions  # lazy: rarely needed

        new = [one for one in found if one.key not in self._reported_deletions]
        self._reported_deletions |= {one.key for one in new}
        for line in describe_deletions(new):
            self._report_to(escape(line))
        if self._is_seen:
            self._database.deletions.mark_reported(found)

    def plan(self, mirror: Mirror) -> SyncReport:
        """Return what a sync that compares everything would do, and change nothing."""
        with self._lock:
            return _escape_report(self._run(self.snapshot(mirror), whole=True).plan())

    def held_states(self, mirror: Mirror) -> list[tuple[Memory, SyncState]]:
        """Return the memories whose entries are not as the memories say, and are left so, with why."""
        with self._lock:
            run = self._run(self.snapshot(mirror))
            return run.held_states() if isinstance(run, SyncRun) else []

    def unreadable(self, mirror: Mirror) -> list[str]:
        """Return why files of a mirror cannot be read: nothing is known of their entries."""
        with self._lock:
            run = self._run(self.snapshot(mirror))
            return [escape(one) for one in run.unreadable()] if isinstance(run, SyncRun) else []

    def is_of_git(self, mirror: Mirror) -> bool:
        """Return whether git has the file of a mirror, which is not there: on another branch, or in a stash."""
        with self._lock:
            run = self._run(self.snapshot(mirror))
            return isinstance(run, SyncRun) and run.is_of_git()

    def mentions(self, mirror: Mirror, states: Sequence[SyncState]) -> dict[int, Mention]:
        """Return where the ids of entries that cannot be read are, by the number of the memory."""
        from omoide.sync.mentions import find_mentions  # lazy: rarely needed

        with self._lock:
            return find_mentions(self.snapshot(mirror), states)

    def retired_mentions(self, mirror: Mirror) -> "list[RetiredMention]":
        """Return the memories that are not active and are in no entry of the files, but there with their ids and texts."""
        from omoide.sync.mentions import find_retired_mentions  # lazy: rarely needed

        if mirror.format == "block":
            return []
        with self._lock:
            snapshot = self.snapshot(mirror)
            texts = {name: found[0] for name in snapshot.listing().files if (found := _read(snapshot, name)) is not None}
            return find_retired_mentions(snapshot, self._database, texts)

    def _run(
        self,
        snapshot: Snapshot,
        prefer: Side | None = None,
        *,
        whole: bool = False,
        unasked: bool = False,
        **which: Collection[int],
    ) -> SyncRun | BlockRun:
        if snapshot.mirror.format == "block":
            return BlockRun(snapshot, self._database, prefer, whole=whole)
        return SyncRun(snapshot, self._database, prefer, whole=whole, unasked=unasked, **which)

    def memories_in_files(self, mirror: Mirror) -> list[Memory]:
        """The memories that were in the files when these were last in sync, oldest first."""
        return self._database.memories_in_files(mirror.number)

    def check_whole(self, mirror: Mirror, name: str, text: str) -> None:
        """Raise Unreadable for the text of a file that is cut off in the middle of a line, as by a full disk."""
        FileEvidence(self.snapshot(mirror), self._database).check_whole(name, text)

    def shown_entries(
        self, mirror: Mirror | None, scope: Scope, format: "SingleFile", name: str, text: str
    ) -> "list[ShownEntry]":
        """The entries of a list as it shows them: see `find_shown_entries`."""
        from omoide.sync.list_entries import find_shown_entries  # lazy: only the list of a repository needs it

        return find_shown_entries(self._database, mirror, scope, format, name, text)

    def snapshot(self, mirror: Mirror) -> Snapshot:
        """The snapshot of a mirror's files. Raises Unreadable if its place cannot be reached."""
        snapshot = self._snapshots.get(mirror.number)
        if snapshot is None:
            try:
                format = _load_format(mirror, self._settings.all_types)
                snapshot = Snapshot(mirror, format, getattr(format, "directories", ("",)), self._settings.max_backups)
            except (OSError, RuntimeError) as error:  # RuntimeError: pathlib found links in a circle
                raise Unreadable(
                    f"{mirror.place} cannot be reached ({error}): repair it, or `omoide mirror remove`"
                ) from error
            self._snapshots[mirror.number] = snapshot
            snapshot.event = mirror.seen
        elif snapshot.mirror.choice is not mirror.choice:
            snapshot.in_sync_listing, snapshot.event = None, -1
        snapshot.mirror = mirror
        return snapshot

    def _report_troubles(self, snapshot: Snapshot, troubles: Iterable[str]) -> None:
        """Report what is wrong with the files of a mirror. What is repaired is reported again if it comes back."""
        current = set(map(escape, troubles))
        self._reported -= snapshot.reported - current
        snapshot.reported = current
        for trouble in troubles:
            self.report(trouble)

    def report(self, message: str) -> None:
        """Report each message once: otherwise a broken file would be reported at every read."""
        message = escape(message)
        if message not in self._reported:
            self._reported.add(message)
            self._report_to(message)

    def _warn_if_large(self, snapshot: Snapshot) -> None:
        stat = snapshot.place.stat(snapshot.name) if snapshot.mirror.format == "memories" else None
        if stat is not None and stat.size > LARGE:
            self.report(size_warning(str(snapshot.place.root / snapshot.name), stat.size))


def _load_format(mirror: Mirror, types: Collection[str]) -> Format | None:
    """The format of a mirror; None for a block, which is never read back."""
    if mirror.format not in _FORMATS:
        return None
    module, name = _FORMATS[mirror.format]
    make: Any = getattr(import_module(f"omoide.markdown.{module}"), name)
    if mirror.format == "memories":
        file = follow_link(_path(mirror))
        made: Format = make(file.name, types, spread=work_tree(file.parent) is not None)
    else:
        made = make(mirror.scope.path) if mirror.format == "tree" else make()
    return made


def _read(snapshot: Snapshot, name: str) -> tuple[str, Stat] | None:
    """The text of a file of a mirror; None for one that is not the mirror's, or cannot be read."""
    try:
        return snapshot.place.read(name) if snapshot.owns(name) else None
    except Unreadable:  # fallback: the other files; why it cannot be read is reported by every sync
        return None


def _path(mirror: Mirror) -> Path:
    return Path(mirror.place) / mirror.file


def _escape_report(report: SyncReport) -> SyncReport:
    """The report with file names, which can contain anything, made printable."""
    troubles, notices = tuple(map(escape, report.troubles)), tuple(map(escape, report.notices))
    return msgspec.structs.replace(report, troubles=troubles, notices=notices)


def size_warning(path: str, size: int) -> str:
    return (
        f"{path} has {size / 2**20:.1f} MB, more than 10: archive what is old (`omoide memories delete`,"
        " `omoide retire`), or use one file per memory (`omoide mirror add --format entries`)"
    )
