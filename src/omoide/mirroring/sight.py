"""How the files of a mirror look: which have changed since they were last read, told by one glance at their directory."""

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from omoide.errors import Changed, Unreadable
from omoide.formats.disk import Place, Stat
from omoide.formats.entry import Format, Placed
from omoide.mirroring.quiet import is_quiet
from omoide.model import Mirror, Sighting
from omoide.service.mirrors import SEVERAL

_YOUNG = 100_000_000
"""Nanoseconds: the times of files are that coarse at the worst, so that a younger one may change unseen."""
_BUSY = 2_000_000_000
"""Nanoseconds: somebody may still be writing to a file that changed so recently."""
_AHEAD = 2_000_000_000
_SIGNED = (1 << 63) - 1


class Text(NamedTuple):
    """A file that was read."""

    text: str
    stat: Stat
    placed: list[Placed]

    @property
    def saved_at(self) -> datetime:
        return datetime.fromtimestamp(self.stat.mtime_ns / 1e9, UTC)


class Glance(NamedTuple):
    """The files as they look now."""

    listing: Mapping[str, Stat]
    changed: list[str]
    gone: list[str]
    settled: list[Sighting]
    """Files that look as they did and, read once more, say what they said: the next glance will do."""
    unsettled: bool
    """Whether a file is so young that it has to be read again."""


class Sight:
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
            self.place, self.name = Place.of(place / mirror.file, backups, private=private)
        else:
            self.place, self.name = Place(place.resolve(), backups, private=private), ""
        self.main = ""
        """The page of a tree that tells about its project."""
        if mirror.format == "tree":
            self.main = f"{mirror.scope.path}/MEMORY.md".removeprefix("/")
        self.calm: Mapping[str, Stat] | None = None
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
    def alone(self) -> bool:
        """Whether a file is one entry, so that deleting the file deletes the entry."""
        return self.mirror.format == "entries"

    def listing(self) -> dict[str, Stat]:
        if self.single:
            stat = self.place.stat(self.name)
            return {} if stat is None else {self.name: stat}
        return dict(self.place.names(self._directories))

    def directories(self) -> list[Path]:
        return [self.place.root] if self.single else [self.place.root / directory for directory in self._directories]

    def glance(self, known: Iterable[Sighting]) -> Glance:
        listing = self.listing()
        sightings = {one.name: one for one in known}
        changed: list[str] = []
        settled: list[Sighting] = []
        unsettled = False
        for name, stat in listing.items():
            sighting = sightings.get(name)
            if sighting is None or not _looks(sighting, stat):
                if self.belongs(name):
                    changed.append(name)
            elif not sighting.settled:
                again = self._again(sighting)
                if again is None:
                    changed.append(name)
                elif again.settled:
                    settled.append(again)
                else:
                    unsettled = True
        return Glance(listing, changed, [name for name in sightings if name not in listing], settled, unsettled)

    def calmed(self, known: Sequence[Sighting]) -> bool:
        """Whether all files look as they did, and none of them is too young to tell."""
        listing = self.listing()
        count = 0
        for one in known:
            stat = listing.get(one.name)
            if stat is None or not one.settled or not _looks(one, stat):
                return False
            count += 1
        if count < len(listing):  # there are more: perhaps they are none of ours
            names = {one.name for one in known}
            if any(name not in names and self.belongs(name) for name in listing):
                return False
        self.calm = listing
        return True

    def belongs(self, name: str) -> bool:
        return self.single or self.format.belongs(name)

    def _again(self, sighting: Sighting) -> Sighting | None:
        """The same sighting, of now; None if the file says something else."""
        try:
            found = self.place.read(sighting.name)
        except Unreadable:  # plan B: whoever reads it next will say so
            return None
        if found is None or not _looks(sighting, found[1]) or told(found[0]) != sighting.digest:
            return None
        return sighted(sighting.name, found[0], found[1])

    def read(self, name: str) -> Text | None:
        """A file and its entries; None if it is gone. Unreadable if it cannot be understood."""
        found = self.place.read(name)
        if found is not None and _age(found[1]) < _BUSY:
            if not is_quiet(self.place.root / name):
                raise Changed(f"{self.place.root / name} is being written: read it again")
            found = self.place.read(name)
        if found is None:
            return None
        text, stat = found
        return Text(text, stat, self.format.parsed(name, text))


def sighted(name: str, text: str, stat: Stat) -> Sighting:
    young = -_AHEAD < _age(stat) < _YOUNG
    return Sighting(name, stat.mtime_ns, stat.size, stat.inode & _SIGNED, told(text), settled=not young)


def _age(stat: Stat) -> int:
    return time.time_ns() - stat.mtime_ns


def told(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _looks(sighting: Sighting, stat: Stat) -> bool:
    mtime_ns, size, inode = stat
    return sighting.mtime_ns == mtime_ns and sighting.size == size and sighting.inode == inode & _SIGNED
