"""Watching: what a person saves in a mirrored file comes in at once."""

import ctypes
import os
import select
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from omoide.model import Mirror
from omoide.sync.engine import SyncEngine
from omoide.sync.run import SyncReport

_PAUSE = 0.5
"""Seconds between two looks when nothing is heard, at the database and, where there is no inotify, at the files."""
# Of Linux' inotify: somebody closed a file after writing, moved one in or out, made or deleted one.
_CHANGES = 0x8 | 0x40 | 0x80 | 0x100 | 0x200
_DIRECTORIES_ONLY = 0x01000000


def watch(mirroring: SyncEngine, mirrors: Sequence[Mirror]) -> Iterator[tuple[Mirror, SyncReport]]:
    """Each sync that did something, for ever."""
    ear = ChangeListener(directory for mirror in mirrors for directory in mirroring.snapshot(mirror).directories())
    while True:
        for mirror in mirrors:
            report = mirroring.attempt(mirror, partial(mirroring.scan, mirror))
            if report is None:
                continue
            for trouble in report.troubles:
                mirroring.report(trouble)
            if report.imported or report.written:
                yield mirror, report
        ear.wait(_PAUSE)


class ChangeListener:
    """Hears when something changes in directories; where it cannot be heard, it is looked at now and then."""

    def __init__(self, directories: Iterator[Path]):
        self._descriptor = -1
        library = ctypes.CDLL(None, use_errno=True)
        if not hasattr(library, "inotify_init1"):
            return
        self._descriptor = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        for directory in directories:
            library.inotify_add_watch(self._descriptor, os.fsencode(directory), _CHANGES | _DIRECTORIES_ONLY)

    def wait(self, seconds: float) -> None:
        """Until something changes, but no longer than this."""
        if self._descriptor < 0:
            time.sleep(seconds)
            return
        if select.select([self._descriptor], [], [], seconds)[0]:
            with suppress(BlockingIOError):
                os.read(self._descriptor, 1 << 16)
