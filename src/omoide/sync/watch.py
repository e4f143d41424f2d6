"""Watch mirrored files, so that what a person saves is imported at once."""

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

_PAUSE_SECONDS = 0.5
"""Between two scans of the database and, where there is no inotify, of the files."""
# Events of Linux' inotify: a file was closed after writing, moved in or out, created or deleted.
_CHANGES = 0x8 | 0x40 | 0x80 | 0x100 | 0x200
_DIRECTORIES_ONLY = 0x01000000


def watch(engine: SyncEngine, mirrors: Sequence[Mirror]) -> Iterator[tuple[Mirror, SyncReport]]:
    """Sync these mirrors whenever something changes, for ever, and yield each sync that did something."""
    listener = ChangeListener(directory for mirror in mirrors for directory in engine.snapshot(mirror).directories())
    while True:
        for mirror in mirrors:
            report = engine.attempt(mirror, partial(engine.scan, mirror))
            if report is None:
                continue
            for trouble in report.troubles:
                engine.report(trouble)
            if report.imported or report.written:
                yield mirror, report
        listener.wait(_PAUSE_SECONDS)


class ChangeListener:
    """Waits for changes in directories, by inotify where there is one."""

    def __init__(self, directories: Iterator[Path]):
        self._descriptor = -1
        library = ctypes.CDLL(None, use_errno=True)
        if not hasattr(library, "inotify_init1"):
            return
        self._descriptor = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        for directory in directories:
            library.inotify_add_watch(self._descriptor, os.fsencode(directory), _CHANGES | _DIRECTORIES_ONLY)

    def wait(self, seconds: float) -> None:
        """Wait until something changes, but no longer than this."""
        if self._descriptor < 0:
            time.sleep(seconds)
            return
        if select.select([self._descriptor], [], [], seconds)[0]:
            with suppress(BlockingIOError):  # fallback: another thread has read it
                os.read(self._descriptor, 1 << 16)
