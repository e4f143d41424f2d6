"""How the files of a mirror look: which have changed since they were last read, told by one glance at their directory."""

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from omoide.errors import Changed, Unreadable
from omoide.files.atomic import Stat
from omoide.files.directory import Directory
from omoide.files.leases import hold_file, is_quiet
from omoide.files.replaced import ReplacedFile
from omoide.markdown.escape import is_utf8
from omoide.markdown.format import Format, LocatedEntry
from omoide.model import FileState, Mirror
from omoide.service.mirrors import SEVERAL

_RECENT_SECONDS = 100_000_000
"""Nanoseconds: the times of files are that coarse at the worst, so that a younger one may change unseen."""
_BUSY = 2_000_000_000
"""Nanoseconds: somebody may still be writing to a file that changed so recently."""
_AHEAD = 2_000_000_000
_SIGNED = (1 << 63) - 1
_DAY = 86_400_000_000_000
"""Nanoseconds: a clock may be a little ahead, but a file dated later than so far from now has a wrong date."""
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
    """The files of a mirror as its directories show them."""

    files: Mapping[str, Stat]
    troubles: tuple[str, ...] = ()
    """What is wrong with files that are left alone, and with dates."""
    closed: frozenset[str] = frozenset()
    """Directories that cannot be listed: nothing is known of their files, so none of them counts as deleted."""


class FileScan(NamedTuple):
    """The files as they look now."""

    listing: Mapping[str, Stat]
    changed: list[str]
    gone: list[str]
    settled: list[FileState]
    """Files that look as they did and, read once more, say what they said: the next glance will do."""
    unsettled: bool
    """Whether a file is so young that it has to be read again."""
    troubles: tuple[str, ...] = ()
    closed: frozenset[str] = frozenset()
    """As in the listing."""

    def is_closed(self, file: str) -> bool:
        """Tell whether a file is in a directory that cannot be listed."""
        return bool(self.closed) and file.rpartition("/")[0] in self.closed


class Snapshot:
    """The files of one mirror, as this process sees them."""

    def __init__(self, mirror: Mirror, format: Format | None, directories: Iterable[str], backups: int):
        self.mirror = mirror
        self._format = format
        self._directories = tuple(directories)
        place = Path(mirror.place)
        private = not any((directory / ".git").exists() for directory in (place, *place.parents))
        self.single = mirror.format not in SEVERAL
        if self.single:
            # A worktree's file may be a link to that of the main one: then it is that one that is kept.
            self.place, self.name = Directory.containing(place / mirror.file, backups, private=private, keep_replaced=True)
        else:
            self.place, self.name = Directory(place.resolve(), backups, private=private, keep_replaced=True), ""
        self.main = ""
        """The page of a tree that tells about its project."""
        if mirror.format == "tree":
            self.main = f"{mirror.scope.path}/MEMORY.md".removeprefix("/")
        self.calm: Listing | None = None
        """How all files looked when they were last in step; None: look closer."""
        self.event = -1
        """The last event that was looked at."""
        self.told: set[str] = set()
        """What is wrong, and has been said."""

    @property
    def format(self) -> Format:
        if self._format is None:
            raise TypeError(f"{self.mirror.format} has no entries")
        return self._format

    @property
    def is_file_per_entry(self) -> bool:
        """Whether a file is one entry, so that deleting the file deletes the entry."""
        return self.mirror.format == "entries"

    def listing(self) -> Listing:
        """Look at the directories. A name that is not UTF-8 cannot be stored, so that such a file is left alone."""
        if self.single:
            stat = self.place.stat(self.name)
            files = {} if stat is None else {self.name: stat}
            return Listing(files, () if self.mirror.format == "block" else self._future_files(files))
        files, closed = self._files()
        unnamed = [name for name in files if not name.isascii() and not is_utf8(name)]
        for name in unnamed:
            del files[name]
        troubles = [
            f"{self.place.root / name}: its name is not UTF-8, so that it is not synced and was left alone: rename it"
            for name in sorted(unnamed)
            if self.owns(name)
        ]
        return Listing(files, (*closed.values(), *troubles, *self._future_files(files)), frozenset(closed))

    def _files(self) -> tuple[dict[str, Stat], dict[str, str]]:
        """All Markdown files, and why directories could not be listed. Unreadable if that is so of the first."""
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
        latest = time.time_ns() + _DAY
        wrong = [(name, stat.mtime_ns) for name, stat in files.items() if stat.mtime_ns > latest]
        return tuple(
            f"{self.place.root / name}: it is dated {_moment(mtime_ns):%Y-%m-%d}, in the future, so that its text counts as"
            " the newer one where both sides changed: `touch` it"
            for name, mtime_ns in sorted(wrong)
            if self.owns(name)
        )

    def directories(self) -> list[Path]:
        return [self.place.root] if self.single else [self.place.root / directory for directory in self._directories]

    def scan(self, known: Iterable[FileState]) -> FileScan:
        listing = self.listing()
        states = {one.name: one for one in known}
        changed: list[str] = []
        settled: list[FileState] = []
        unsettled = False
        for name, stat in listing.files.items():
            state = states.get(name)
            if state is None or not _matches(state, stat):
                if self.owns(name):
                    changed.append(name)
            elif not state.settled:
                again = self._refresh(state)
                if again is None:
                    changed.append(name)
                elif again.settled:
                    settled.append(again)
                else:
                    unsettled = True
        scan = FileScan(listing.files, changed, [], settled, unsettled, listing.troubles, listing.closed)
        gone = [name for name in states if name not in listing.files and not scan.is_closed(name)]
        return scan._replace(gone=gone)

    def is_settled(self, known: Sequence[FileState]) -> bool:
        """Whether all files look as they did, and none of them is too young to tell."""
        listing = self.listing()
        count = 0
        for one in known:
            stat = listing.files.get(one.name)
            if stat is None or not one.settled or not _matches(one, stat):
                return False
            count += 1
        if count < len(listing.files):  # there are more: perhaps they are none of ours
            names = {one.name for one in known}
            if any(name not in names and self.owns(name) for name in listing.files):
                return False
        self.calm = listing
        return True

    def owns(self, name: str) -> bool:
        return name == self.name if self.single else self.format.owns(name)

    def write(self, name: str, text: str, seen: Stat | None) -> Stat:
        """Write a file in place of what was seen there (None: nothing). Raises Changed if somebody else saves it."""
        if seen is None:
            return self.place.write(name, text, None)
        with hold_file(self.place.root / name) as hold:
            stat = self.place.write(name, text, seen)
            late = hold.late()
        if late is None:
            return stat
        # Somebody had begun to save the old file: their text goes into the new one. If that has been saved again
        # meanwhile, the old one is imported with the other late saves.
        self.place.write(name, late.decode("utf-8", "replace"), stat)
        self.place.replaced.forget(seen)
        raise Changed(f"{self.place.root / name} was saved by somebody else at this moment: read it again")

    def late_saves(self) -> list[ReplacedFile]:
        """Replaced files of this mirror that somebody has written to since, and is no longer writing to."""
        return [file for file in self.place.replaced.late_saves() if self.owns(file.name) and is_quiet(file.path)]

    def _refresh(self, state: FileState) -> FileState | None:
        """The same sighting, of now; None if the file says something else."""
        try:
            found = self.place.read(state.name)
        except Unreadable:  # plan B: whoever reads it next will say so
            return None
        if found is None or not _matches(state, found[1]) or digest_of(found[0]) != state.digest:
            return None
        return file_state(state.name, found[0], found[1])

    def read(self, name: str) -> FileText | None:
        """A file and its entries; None if it is gone. Unreadable if it cannot be understood."""
        found = self.place.read(name)
        if found is not None and _age(found[1]) < _BUSY:
            if not is_quiet(self.place.root / name):
                raise Changed(f"{self.place.root / name} is being written: read it again")
            found = self.place.read(name)
        if found is None:
            return None
        text, stat = found
        return FileText(text, stat, self.format.parse(name, text))


def file_state(name: str, text: str, stat: Stat) -> FileState:
    young = -_AHEAD < _age(stat) < _RECENT_SECONDS
    return FileState(
        name, _storable_mtime(stat.mtime_ns), stat.size, stat.inode & _SIGNED, digest_of(text), settled=not young
    )


def _age(stat: Stat) -> int:
    return time.time_ns() - stat.mtime_ns


def _storable_mtime(mtime_ns: int) -> int:
    """A file's date as a number that a database can keep: after the year 2262 it is too large for that."""
    return mtime_ns if -_SIGNED <= mtime_ns <= _SIGNED else mtime_ns & _SIGNED


def _moment(mtime_ns: int) -> datetime:
    """A file's date; one that no calendar has is the first or the last that there is."""
    try:
        return datetime.fromtimestamp(mtime_ns / 1e9, UTC)
    except (ValueError, OverflowError, OSError):
        return _LAST if mtime_ns > 0 else _FIRST


def digest_of(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _matches(state: FileState, stat: Stat) -> bool:
    mtime_ns, size, inode = stat
    alike = state.mtime_ns == mtime_ns or state.mtime_ns == _storable_mtime(mtime_ns)
    return alike and state.size == size and state.inode == inode & _SIGNED
