"""Whether somebody is writing to a file, and what they save to it while, or after, it is replaced.

Editors that save in place open the file, empty it, and write. A text that is read in between is incomplete; and once a new
file has replaced it, the rest goes to the old one, which has no name any more. Two things help:

- On Linux, a lease: it is granted only while nobody has the file open for writing, and shows when somebody wants to open it.
  Elsewhere, and for files of other users, there are none.
- A replaced file keeps a name for a while, which records how it looked. If it looks different later, somebody has written to
  it: an editor that had looked up the file before it was replaced and opened it for writing afterwards.
"""

import fcntl
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from omoide.errors import Changed, Unreadable
from omoide.files import atomic
from omoide.files.atomic import Stat

KEEP_SECONDS = 120.0
"""How long a replaced file is kept if nobody writes to it."""
_MOST_FILES = 32
_MOST_BYTES = 16_000_000
"""The bytes of unchanged files that are kept; the oldest are deleted first, but the newest few are kept at any size."""
_GRACE_SECONDS = 2
"""Within this time only the number of bytes is limited: agents may replace a file hundreds of times in a second. An editor
that has opened a file keeps it from being deleted; one that has only looked it up cannot be seen."""
_ALWAYS_KEPT = 4
_PRUNE_AFTER = 16
_LOOK_SECONDS = 1.0
"""Time between two checks of the replaced files by a process that only reads or writes memories."""
_WAIT_SECONDS = 0.25
"""How long to wait for a program that is writing to a file that is to be read."""
_WAIT_SECONDS_REPLACED = 2.0
"""How long to wait for a program that is writing to a file that was replaced."""
_PAUSE_SECONDS = 0.005


class FileHold:
    """A file that is being replaced. Its old bytes can be read until it is certain that nobody adds to them."""

    def __init__(self, descriptor: int | None):
        self._descriptor = descriptor
        self.is_disturbed = False
        """Whether somebody opened the old file for writing while it was replaced."""

    def late_text(self) -> bytes | None:
        """What somebody wrote to the old file while it was replaced; None: nobody did, or they are not done yet.

        What is not done is found among the replaced files later.
        """
        if self._descriptor is None or fcntl.fcntl(self._descriptor, fcntl.F_GETLEASE) == fcntl.F_RDLCK:
            return None
        # Another program wants to open it for writing, and waits until the lease is released.
        self.is_disturbed = True
        fcntl.fcntl(self._descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        if not _wait_for_lease(self._descriptor, _WAIT_SECONDS_REPLACED):
            return None
        return os.pread(self._descriptor, os.fstat(self._descriptor).st_size, 0) or None


@contextmanager
def hold_file(path: Path) -> Iterator[FileHold]:
    """Keep others from opening the file for writing, for the few milliseconds in which it is replaced.

    Raises Changed if somebody has it open for writing.
    """
    with _open_file(path) as descriptor:
        lease = None if descriptor is None else _take_lease(descriptor)
        if lease is False:
            raise Changed(f"{path} is being written at this moment: read it again")
        yield FileHold(descriptor if lease else None)


def is_quiet(path: Path) -> bool:
    """Whether no process is writing to the file, or the one that was has finished after a short wait."""
    with _open_file(path) as descriptor:
        return descriptor is None or _wait_for_lease(descriptor, _WAIT_SECONDS)


@contextmanager
def _open_file(path: Path) -> Iterator[int | None]:
    descriptor = None
    if hasattr(fcntl, "F_SETLEASE"):
        with suppress(OSError):  # fallback: the code that reads the file reports what is wrong with it
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _wait_for_lease(descriptor: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while _take_lease(descriptor) is False:
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE_SECONDS)
    return True


def _take_lease(descriptor: int) -> bool | None:
    """Take the lease. False: somebody has the file open for writing. None: there are no leases here."""
    try:
        # The kernel sends a signal when somebody wants to write: one that ends no process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:  # the answer of this function
        return False
    except OSError:  # fallback: a file of another user, or a file system without leases
        return None
    return True


class ReplacedFile(NamedTuple):
    name: str
    """The name that it had, relative to its directory."""
    path: Path
    """Where it is now."""
    replaced_at: int
    """In nanoseconds."""
    before: str
    """How it looked when it was replaced."""
    now: Stat

    @property
    def is_changed(self) -> bool:
        return self.before != _describe(self.now) and not self._is_copy

    @property
    def _is_copy(self) -> bool:
        """Whether it is another file of the same size, as `git stash --all` brings back. A save goes to the file itself."""
        *_, size, inode = ("", *self.before.split("-"))
        return size == str(self.now.size) and inode != str(self.now.inode)

    @property
    def is_old(self) -> bool:
        return self._age > KEEP_SECONDS

    @property
    def is_young(self) -> bool:
        return self._age < _GRACE_SECONDS

    @property
    def _age(self) -> float:
        """In seconds. A clock that was set back must not keep a file for ever."""
        return abs(time.time_ns() - self.replaced_at) / 1e9


class ReplacedFiles:
    """The replaced files of one directory. Where they cannot be listed, there are none."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._added = 0
        self._next_look = 0.0

    def add(self, name: str, seen: Stat, rename_to: Callable[[str], None]) -> None:
        """Keep a file that has lost its name; `rename_to` gives it the one under which it is kept."""
        quoted = name.replace("%", "%25").replace("/", "%2F")
        rename_to(f"{quoted}.{time.time_ns()}-{_describe(seen)}")
        self._added += 1
        if self._added > _PRUNE_AFTER:
            self._list_and_prune()

    def late_saves(self) -> list[ReplacedFile]:
        """The files that somebody has written to since they were replaced, the oldest first.

        Deletes old ones that nobody has written to, and the oldest of too many. An emptied file holds no text: it is about
        to be written, or is deleted when it is old.
        """
        self._next_look = time.monotonic() + _LOOK_SECONDS
        return self._list_and_prune()

    def _list_and_prune(self) -> list[ReplacedFile]:
        self._added = 0
        saved: list[ReplacedFile] = []
        unchanged: list[ReplacedFile] = []
        for file in sorted(self._files(), key=lambda file: file.replaced_at):
            if file.is_changed and file.now.size:
                saved.append(file)
            elif file.is_old:
                _delete_unused(file)
            else:
                unchanged.append(file)
        for file in unchanged[: _count_over_limits(unchanged)]:
            _delete_unused(file)
        return saved

    def is_look_due(self) -> bool:
        """Whether the last check was long enough ago for a process that only reads or writes memories."""
        return time.monotonic() >= self._next_look

    def look_soon(self) -> None:
        """Make the next check due: a program is writing to a file that was replaced."""
        self._next_look = 0.0

    def read(self, file: ReplacedFile) -> str:
        """What somebody has saved to a replaced file. Raises Unreadable if that is no text, or gone."""
        with atomic.read_errors(file.path):
            directory = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                data, _ = atomic.read(directory, file.path.name, file.path)
            except FileNotFoundError as error:
                raise Unreadable(f"{file.path} is gone: another process has moved it") from error
            finally:
                os.close(directory)
        return atomic.text(data, file.path)

    def forget(self, seen: Stat, text: bytes) -> None:
        """Delete the file that looked like this when it was replaced, if it has this text, which is in another file now."""
        for file in self._files():
            if file.before == _describe(seen):
                with suppress(OSError):  # fallback: it is imported as a late save once more, which changes nothing
                    if file.path.read_bytes() == text:
                        _delete_unused(file)

    def discard(self) -> None:
        """Delete the files that nobody has written to, whatever their age, because a text in them must not be kept."""
        for file in self._files():
            if not file.is_changed:
                _delete(file)

    def _files(self) -> Iterator[ReplacedFile]:
        with suppress(OSError), os.scandir(self._directory) as entries:  # fallback: nothing was replaced yet
            for entry in entries:
                quoted, _, record = entry.name.rpartition(".")
                replaced_at, _, before = record.partition("-")
                if not before or not replaced_at.isdecimal() or not entry.is_file(follow_symlinks=False):
                    continue
                with suppress(FileNotFoundError):  # another process has just deleted it
                    stat = entry.stat(follow_symlinks=False)
                    now = Stat(stat.st_mtime_ns, stat.st_size, stat.st_ino)
                    name = quoted.replace("%2F", "/").replace("%25", "%")
                    yield ReplacedFile(name, self._directory / entry.name, int(replaced_at), before, now)


def _describe(stat: Stat) -> str:
    return f"{stat.mtime_ns}-{stat.size}-{stat.inode}"


def _count_over_limits(files: Sequence[ReplacedFile]) -> int:
    total = 0
    for count, file in enumerate(reversed(files)):
        total += file.now.size
        too_many = count >= _MOST_FILES and not file.is_young
        if too_many or (count >= _ALWAYS_KEPT and total > _MOST_BYTES):
            return len(files) - count
    return 0


def _delete_unused(file: ReplacedFile) -> None:
    """Delete a file that looks as it was listed, unless somebody has it open for writing, however long ago."""
    with _open_file(file.path) as descriptor:
        if descriptor is not None:
            # A process that has opened it, or waits for it, prevents the lease; one that has written has changed its times.
            if _take_lease(descriptor) is False:
                return
            stat = os.fstat(descriptor)
            if Stat(stat.st_mtime_ns, stat.st_size, stat.st_ino) != file.now:
                return
        _delete(file)


def _delete(file: ReplacedFile) -> None:
    with suppress(OSError):  # fallback: another process has deleted it, or the next look does
        file.path.unlink()
