"""Whether somebody is writing to a file at this moment, and what they wrote to it after we had replaced it.

Editors that save in place open the file, empty it, and write. What is read in between is half a text; and once we put a new
file in its place, the rest of theirs goes to the old one, which has no name any more. On Linux a lease tells both: it is
given only while nobody has the file open for writing, and shows when somebody wants to. Elsewhere, or on a file of somebody
else's, nothing is told, and only the time that passes between a glance and a write, a few milliseconds, is unwatched.
"""

import fcntl
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from omoide.errors import Changed

_PATIENCE = 0.25
_PATIENCE_FOR_LATE = 2.0
_PAUSE = 0.005


class FileHold:
    """A file that is being replaced. Its old bytes are in reach until it is certain that nobody adds to them."""

    def __init__(self, descriptor: int | None):
        self._descriptor = descriptor

    def late(self) -> bytes | None:
        """What somebody wrote into the old file while it was replaced; None: nobody did."""
        if self._descriptor is None or fcntl.fcntl(self._descriptor, fcntl.F_GETLEASE) == fcntl.F_RDLCK:
            return None
        # Somebody has opened it to write, and waits for us to let go.
        fcntl.fcntl(self._descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        _wait(self._descriptor, _PATIENCE_FOR_LATE)
        return os.pread(self._descriptor, os.fstat(self._descriptor).st_size, 0)


@contextmanager
def hold_file(path: Path) -> Iterator[FileHold]:
    """Keeps others from opening the file for writing, for the few milliseconds in which it is replaced."""
    with _open_file(path) as descriptor:
        lease = None if descriptor is None else _take_lease(descriptor)
        if lease is False:
            raise Changed(f"{path} is being written at this moment: read it again")
        yield FileHold(descriptor if lease else None)


def is_quiet(path: Path) -> bool:
    """Whether nobody is writing to it, or whoever was has come to an end in a moment."""
    with _open_file(path) as descriptor:
        return descriptor is None or _wait(descriptor, _PATIENCE)


@contextmanager
def _open_file(path: Path) -> Iterator[int | None]:
    descriptor = None
    if hasattr(fcntl, "F_SETLEASE"):
        with suppress(OSError):  # plan B: whoever reads it will say what is wrong with it
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _wait(descriptor: int, seconds: float) -> bool:
    ends = time.monotonic() + seconds
    while _take_lease(descriptor) is False:
        if time.monotonic() > ends:
            return False
        time.sleep(_PAUSE)
    return True


def _take_lease(descriptor: int) -> bool | None:
    """Takes the lease. False: somebody has the file open for writing. None: there are no leases here."""
    try:
        # Who wants to write is told to us by a signal: by one that ends no process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return False
    except OSError:  # plan B: not our file, or a file system without leases
        return None
    return True
