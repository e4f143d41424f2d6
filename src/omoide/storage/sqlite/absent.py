"""A database that does not exist yet: it is read as an empty one, and the first write creates it."""

from contextlib import suppress
from pathlib import Path

import apsw

from omoide.storage.sqlite.connection import Opened, Source, prepare
from omoide.storage.sqlite.file import identity


class AbsentFiles:
    """The files of a database that does not exist: nothing can have happened to them."""

    log_is_left_behind = False
    log_is_foreign = False

    def require_unchanged(self) -> None:
        """Do nothing, like `OpenFiles` where all is well."""


def open_empty(source: Source) -> Opened:
    """Open an empty database in memory, in place of the file that does not exist."""
    connection = apsw.Connection(":memory:")
    return Opened(connection, AbsentFiles(), prepare(connection, source))


def is_absent(path: Path) -> bool:
    """Return whether there is no file at the path. Raises StoreError if that cannot be seen."""
    return identity(str(path)) is None


class NewFiles:
    """The files and directories that a first write creates: taken away again if the write fails."""

    def __init__(self, path: Path):
        self._path = path
        self._directories = [directory for directory in path.absolute().parents if not directory.exists()]

    def remove(self) -> None:
        """Remove them, unless another process uses the database already. Call after closing it."""
        # The last process that closes a database removes its log.
        if Path(f"{self._path}-wal").exists():
            return
        with suppress(OSError):  # fallback: an empty database stays, which loses nothing
            self._path.unlink(missing_ok=True)
            for directory in self._directories:
                directory.rmdir()
