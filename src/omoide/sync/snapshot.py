"""The files of a mirror as they look now: which have changed since they were last read, found by listing directories."""

import hashlib
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from omoide.errors import Changed, Unreadable
from omoide.files.atomic import Stat
from omoide.files.directory import Directory
from omoide.files.git import follow_link
from omoide.files.late_saves import ReplacedFile, hold_file, is_quiet
from omoide.markdown.conflict_markers import check_conflict_markers, find_conflict_marker
from omoide.markdown.escape import is_utf8
from omoide.markdown.format import Format, LocatedEntry
from omoide.model import FileState, Mirror
from omoide.service.mirrors import SEVERAL

_CLOCK_RESOLUTION_NS = 100_000_000
"""The coarsest resolution of file times: a younger file may change without a change of its time."""
_STILL_WRITTEN_NS = 2_000_000_000
"""A program may still be writing to a file that changed within this time."""
_CLOCK_AHEAD_NS = 2_000_000_000
_DAY_NS = 86_400_000_000_000
"""A clock may be a little ahead, but a file dated later than this from now has a wrong date."""
_LARGEST_INTEGER = (1 << 63) - 1
_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)


class FileText(NamedTuple):
    """A file that was read."""

    text: str
    stat: Stat
    placed: list[LocatedEntry]

    @property
    def saved_at(self) -> datetime:
        return _moment(self.stat.mtime_ns)


class Listing(NamedTuple):
    """The files of a mirror as its directories list them."""

    files: Mapping[str, Stat]
    troubles: tuple[str, ...] = ()
    """What is wrong with files that are left alone, and with dates."""
    closed: frozenset[str] = frozenset()
    """Directories that cannot be listed: nothing is known of their files, so none of them counts as deleted."""


class FileScan(NamedTuple):
    """The files as they look now, compared with what was recorded of them."""

    listing: Mapping[str, Stat]
    changed: list[str]
    gone: list[str]
    settled: list[FileState]
    """Files that look as recorded and, read once more, have the same text: they need not be read again."""
    unsettled: bool
    """Whether a file is so young that it has to be read again."""
    troubles: tuple[str, ...] = ()
    closed: frozenset[str] = frozenset()
    """As in the listing."""

    def is_closed(self, file: str) -> bool:
        """Whether a file is in a directory that cannot be listed."""
        return bool(self.closed) and file.rpartition("/")[0] in self.closed


class Snapshot:
    """The files of one mirror, as this process last saw them."""

    def __init__(self, mirror: Mirror, format: Format | None, directories: Iterable[str], backups: int):
        self.mirror = mirror
        self._format = format
        self._directories = tuple(directories)
        place = Path(mirror.place)
        private = not any((directory / ".git").exists() for directory in (place, *place.parents))
        self.single = mirror.format not in SEVERAL
        if self.single:
            # The file may be a link, as that of a worktree is to the main one's: then the file that it leads to is synced.
            file = follow_link(place / mirror.file)
            self.place, self.name = Directory.containing(file, backups, private=private, keep_replaced=True)
        else:
            self.place, self.name = Directory(place.resolve(), backups, private=private, keep_replaced=True), ""
        self.main = ""
        """The page of a tree that describes its project."""
        if mirror.format == "tree":
            self.main = f"{mirror.scope.path}/MEMORY.md".removeprefix("/")
        self.in_sync_listing: Listing | None = None
        """How all files looked when they were last in sync; None: compare them with what was recorded."""
        self.event = -1
        """The last event that was compared with the files."""
        self.reported: set[str] = set()
        """The problems that were reported."""
        self._returned: list[tuple[str, str, Stat]] = []
        """Late texts that were put into their files, and how the replaced files looked that still have them."""

    @property
    def format(self) -> Format:
        if self._format is None:
            raise TypeError(f"{self.mirror.format} has no entries")
        return self._format

    @property
    def is_file_per_entry(self) -> bool:
        """Whether a file is one entry, so that deleting the file deletes the entry."""
        return self.mirror.format == "entries"

    def directories(self) -> list[Path]:
        return [self.place.root] if self.single else [self.place.root / directory for directory in self._directories]

    def owns(self, name: str) -> bool:
        """Whether a file is one of this mirror's."""
        return name == self.name if self.single else self.format.owns(name)

    # Listing

    def listing(self) -> Listing:
        """List the directories. A file whose name is not UTF-8 cannot be stored, so that it is left alone."""
        if self.single:
            stat = self.place.stat(self.name)
            files = {} if stat is None else {self.name: stat}
            return Listing(files, () if self.mirror.format == "block" else self._future_files(files))
        files, closed = self._list_directories()
        unnamed = [name for name in files if not name.isascii() and not is_utf8(name)]
        for name in unnamed:
            del files[name]
        troubles = [
            f"{self.place.root / name}: its name is not UTF-8, so that it is not synced and was left alone: rename it"
            for name in sorted(unnamed)
            if self.owns(name)
        ]
        return Listing(files, (*closed.values(), *troubles, *self._future_files(files)), frozenset(closed))

    def _list_directories(self) -> tuple[dict[str, Stat], dict[str, str]]:
        """All Markdown files, and why directories could not be listed. Raises Unreadable if the first could not."""
        files: dict[str, Stat] = {}
        closed: dict[str, str] = {}
        for directory in self._directories:
            try:
                files.update(self.place.names([directory]))
            except Unreadable as error:  # fallback: the other directories
                if directory == self._directories[0]:
                    raise
                closed[directory] = str(error)
        return files, closed

    def _future_files(self, files: Mapping[str, Stat]) -> tuple[str, ...]:
        latest = time.time_ns() + _DAY_NS
        wrong = [(name, stat.mtime_ns) for name, stat in files.items() if stat.mtime_ns > latest]
        return tuple(
            f"{self.place.root / name}: it is dated {_moment(mtime_ns):%Y-%m-%d}, in the future, so that its text counts as"
            " the newer one where both sides changed: `touch` it"
            for name, mtime_ns in sorted(wrong)
            if self.owns(name)
        )

    def scan(self, known: Iterable[FileState]) -> FileScan:
        """Compare the files with what was recorded of them."""
        listing = self.listing()
        states = {state.name: state for state in known}
        changed: list[str] = []
        settled: list[FileState] = []
        is_unsettled = False
        for name, stat in listing.files.items():
            state = states.get(name)
            if state is None or not is_recorded(state, stat):
                changed += [name] if self.owns(name) else []
            elif not state.settled:
                refreshed = self._refresh(state)
                if refreshed is None:
                    changed.append(name)
                elif refreshed.settled:
                    settled.append(refreshed)
                else:
                    is_unsettled = True
        scan = FileScan(listing.files, changed, [], settled, is_unsettled, listing.troubles, listing.closed)
        gone = [name for name in states if name not in listing.files and not scan.is_closed(name)]
        return scan._replace(gone=gone)

    def is_settled(self, known: Sequence[FileState]) -> bool:
        """Whether all files look as recorded, and none of them is too young to rule out another change."""
        listing = self.listing()
        count = 0
        for state in known:
            stat = listing.files.get(state.name)
            if stat is None or not state.settled or not is_recorded(state, stat):
                return False
            count += 1
        if count < len(listing.files):  # there are more: perhaps they are none of this mirror's
            names = {state.name for state in known}
            if any(name not in names and self.owns(name) for name in listing.files):
                return False
        self.in_sync_listing = listing
        return True

    def mark_in_sync(
        self,
        scan: FileScan,
        written: Mapping[str, tuple[str, Stat]],
        removed: Collection[str],
        file_states: Iterable[FileState],
    ) -> None:
        """Remember how the files look after a sync, so that the next scan sees at once that nothing has changed."""
        listing = {**scan.listing, **{name: stat for name, (_, stat) in written.items()}}
        for name in removed:
            listing.pop(name, None)
        is_settled = all(state.settled for state in file_states) and not scan.unsettled
        self.in_sync_listing = Listing(listing, scan.troubles, scan.closed) if is_settled else None

    def _refresh(self, state: FileState) -> FileState | None:
        """Read a file again and return its state; None if its text is another one."""
        try:
            found = self.place.read(state.name)
        except Unreadable:  # fallback: the next read of it reports why
            return None
        if found is None or not is_recorded(state, found[1]) or digest_of(found[0]) != state.digest:
            return None
        return file_state(state.name, found[0], found[1])

    # Reading and writing

    def read(self, name: str) -> tuple[str, Stat] | None:
        """The text of a file, and how it looks; None if it is gone. Raises Changed while somebody writes it."""
        found = self.place.read(name)
        if found is not None and _age(found[1]) < _STILL_WRITTEN_NS:
            if not is_quiet(self.place.root / name):
                raise Changed(f"{self.place.root / name} is being written: read it again")
            found = self.place.read(name)
        return found

    def parse(self, name: str, text: str, stat: Stat, known: Callable[[str], str]) -> FileText:
        """A file with its entries. Raises Unreadable if it cannot be parsed.

        `known`: the texts that were last in sync with a file. Lines like conflict markers may be part of them.
        """
        if self.is_file_per_entry and find_conflict_marker(text):
            check_conflict_markers(text, known(name))
        return FileText(text, stat, self.format.parse(name, text))

    def write(self, name: str, text: str, seen: Stat | None) -> Stat:
        """Write a file in place of what was seen there (None: nothing). Raises Changed if somebody else saves it."""
        if seen is None:
            return self.place.write(name, text, None)
        with hold_file(self.place.root / name) as hold:
            stat = self.place.write(name, text, seen)
            late = hold.late_text()
        if hold.is_disturbed:
            self.place.replaced.look_soon()
        if late is None:
            return stat
        # Somebody had begun to save the old file: their text goes into the new one. If that has been saved again
        # meanwhile, or is before it is read, the old one is imported with the other late saves.
        try:
            text = late.decode()
        except UnicodeDecodeError:  # fallback: it is a late save, which cannot be imported and is kept and reported
            return stat
        self.place.write(name, text, stat)
        self._returned.append((name, text, seen))
        raise Changed(f"{self.place.root / name} was saved by somebody else at this moment: read it again")

    def forget_returned(self, name: str, text: str) -> None:
        """Delete the replaced file whose late text was put into a file, if that file was synced with this text.

        It may have been synced with another: somebody who read the file before the late text was in it has saved it since.
        Then the late text is in the replaced file alone, which is a late save.
        """
        for _, late, seen in (one for one in self._returned if one[:2] == (name, text)):
            self.place.replaced.forget(seen, late.encode())
        self._returned = [one for one in self._returned if one[0] != name]

    def late_saves(self) -> list[ReplacedFile]:
        """Replaced files of this mirror that somebody has written to since, and is no longer writing to."""
        return [file for file in self.place.replaced.late_saves() if self.owns(file.name) and is_quiet(file.path)]


def file_state(name: str, text: str, stat: Stat) -> FileState:
    """What is recorded of a file that has this text."""
    is_young = -_CLOCK_AHEAD_NS < _age(stat) < _CLOCK_RESOLUTION_NS
    mtime_ns, inode = _storable_mtime(stat.mtime_ns), stat.inode & _LARGEST_INTEGER
    return FileState(name, mtime_ns, stat.size, inode, digest_of(text), settled=not is_young)


def _age(stat: Stat) -> int:
    return time.time_ns() - stat.mtime_ns


def _storable_mtime(mtime_ns: int) -> int:
    """A file's date as a number that a database can store: after the year 2262 it is too large for that."""
    return mtime_ns if -_LARGEST_INTEGER <= mtime_ns <= _LARGEST_INTEGER else mtime_ns & _LARGEST_INTEGER


def _moment(mtime_ns: int) -> datetime:
    """A file's date; for one outside the calendar, the first or the last date that there is."""
    try:
        return datetime.fromtimestamp(mtime_ns / 1e9, UTC)
    except (ValueError, OverflowError, OSError):  # fallback: the first or the last date
        return _LAST if mtime_ns > 0 else _FIRST


def digest_of(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def is_recorded(state: FileState, stat: Stat) -> bool:
    """Whether a file looks as recorded."""
    mtime_ns, size, inode = stat
    is_same_date = state.mtime_ns == mtime_ns or state.mtime_ns == _storable_mtime(mtime_ns)
    return is_same_date and state.size == size and state.inode == inode & _LARGEST_INTEGER
