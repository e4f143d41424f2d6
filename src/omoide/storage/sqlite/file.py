"""The files of a SQLite database: created, checked before they are opened, and recognised while they are open."""

import errno
import os
from contextlib import closing, suppress
from pathlib import Path

import apsw

from omoide.errors import StoreDamaged, StoreError, StoreFull, StoreReadOnly, StoreReplaced

_MAGIC = b"SQLite format 3\0"
_HEADER = 100
_NEWEST_FORMAT = 2
_READ_ONLY = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY
_REOPEN = "nothing was written there. Restart every omoide that has it open"

Identity = tuple[int, int] | None
"""Device and inode of a file; None: it does not exist."""


def refuse_name(path: Path) -> None:
    """Raise StoreError if the path is not UTF-8: SQLite opens no other."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        shown = str(path).encode(errors="backslashreplace").decode()
        raise StoreError(f"{shown} is not UTF-8, so that it cannot be a database: choose another place") from error


def create(path: Path) -> None:
    """Create the file and its directories, readable by their owner alone: SQLite would create them readable by others."""
    refuse_name(path)
    try:
        # One by one: `mkdir(parents=True)` applies the mode only to the last of them.
        for directory in reversed([path.parent, *path.parent.parents]):
            directory.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFull(f"{path} cannot be created: the disk is full, make room and try again") from error
        raise StoreReadOnly(
            f"{path} cannot be created ({error.strerror}): choose another place with --store or OMOIDE_STORE"
        ) from error


def refuse_truncated(path: Path) -> None:
    """Raise StoreDamaged if a part of the file is missing: SQLite would notice it only when it needs that part."""
    # Checked twice, because another process may be moving its log into the file.
    if _missing_bytes(path) and (missing := _missing_bytes(path)):
        raise StoreDamaged(f"{path} is damaged ({missing}): restore a backup, or choose another file with --store")


def _missing_bytes(path: Path) -> str:
    """What is missing in the file, as a phrase; empty for a complete or a new one."""
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size:
        return ""  # the log may contain the missing pages
    header, size = _header(path)
    if not header:
        return ""
    if not _MAGIC.startswith(header[: len(_MAGIC)]):
        return "it does not begin like a database"
    if len(header) < _HEADER:
        return f"only {size} bytes are left of it"
    if max(header[18:20]) > _NEWEST_FORMAT:
        return "its header names an unknown format"
    page = int.from_bytes(header[16:18], "big")
    whole = (65536 if page == 1 else page) * int.from_bytes(header[28:32], "big")
    return f"it should have {whole:,} bytes and has {size:,}" if size < whole else ""


def _header(path: Path) -> tuple[bytes, int]:
    """The first bytes of the file, and its size.

    Read by SQLite, not by Python: when a process closes any descriptor of a file, it loses all its locks on that file. If
    this process had the database open already, another one could then believe that it is the last user and remove the log.
    """
    if path.is_dir():
        raise StoreReadOnly(f"{path} cannot be read (Is a directory): choose another file with --store")
    try:
        with closing(_Closable(path)) as file:
            size = path.stat().st_size  # xFileSize takes a file of one byte for an empty one
            return file.xRead(min(size, _HEADER), 0) if size else b"", size
    except apsw.CantOpenError as error:
        raise StoreReadOnly(
            f"{path} cannot be read ({error}): check its permissions, or choose another file with --store"
        ) from error


class _Closable(apsw.VFSFile):
    def __init__(self, path: Path) -> None:
        super().__init__("", str(path.resolve()), [_READ_ONLY, 0])  # SQLite opens no link

    def close(self) -> None:
        self.xClose()


def identity(path: str) -> Identity:
    try:
        found = os.stat(path)  # noqa: PTH116 - before every transaction, and a Path takes three times as long
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(
            f"{path} can no longer be reached ({error.strerror}): check the permissions of its directory"
        ) from error
    return found.st_dev, found.st_ino


class OpenFiles:
    """The files that a connection has open: the database, and its log beside it.

    They are identified by device and inode. SQLite itself does not notice that another file has got their name: it would
    continue to write to a file that has no name any more.
    """

    def __init__(self, path: str, opened: Identity, log: str):
        self._path, self._log = path, log
        self._opened = opened
        self._opened_log = identity(log)

    def require_unchanged(self) -> None:
        """Raise StoreReplaced if the database or its log was removed or replaced. Two calls of stat, a few µs."""
        # First the fast way, because this runs before every transaction.
        try:
            file, log = os.stat(self._path), os.stat(self._log)  # noqa: PTH116 - as above
        except OSError:  # reported below
            pass
        else:
            if (file.st_dev, file.st_ino) == self._opened and (log.st_dev, log.st_ino) == self._opened_log:
                return
        found = identity(self._path)
        if found != self._opened:
            if found is None:
                raise StoreReplaced(f"{self._path} was removed while it was open: {_REOPEN}, or put the file back")
            raise StoreReplaced(f"{self._path} was replaced by another file while it was open: {_REOPEN}")
        found = identity(self._log)
        if found != self._opened_log and self._opened_log is not None:
            what = "removed" if found is None else "replaced by another file"
            raise StoreReplaced(
                f"{self._log}, the log of the database, was {what} while it was open: {_REOPEN}, then run `omoide doctor`"
            )

    @property
    def log_is_left_behind(self) -> bool:
        """Whether the log is still at its path, but its database is not."""
        return identity(self._path) != self._opened and identity(self._log) == self._opened_log

    @property
    def log_is_foreign(self) -> bool:
        """Whether the log at the path belongs to another database: SQLite, when it closes, would remove it by its name."""
        try:
            return identity(self._log) not in (None, self._opened_log)
        except StoreError:  # fallback: what cannot be read is left alone
            return True
