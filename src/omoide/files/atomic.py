"""Operations on one file by the descriptor of its directory, and messages for their errors."""

import errno
import functools
import hashlib
import os
import stat as modes
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from omoide.errors import InvalidInput, Unreadable, Unwritable

LARGEST = 100_000_000
"""Bytes of the largest file that is read."""
UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM, errno.EMLINK}
"""Errors of a file system that cannot exchange two names, or give a file a second one."""
_TRIES = 5


class Stat(NamedTuple):
    """The values by which a change of a file is detected."""

    mtime_ns: int
    size: int
    inode: int


def path_parts(name: str) -> list[str]:
    """The parts of a relative name. Raises InvalidInput if it leads out of its directory."""
    parts = name.split("/") if name else []
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise InvalidInput(f"{name!r} leads out of its directory: use a plain relative name")
    return parts


def split_name(name: str) -> tuple[list[str], str]:
    """The directories of a relative name, and its last part."""
    if not name:
        raise InvalidInput("the name of a file is empty: give it one")
    *above, last = path_parts(name)
    return above, last


def stat(name: str, directory: int | None = None) -> Stat | None:
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return Stat(found.st_mtime_ns, found.st_size, found.st_ino)


def read(directory: int, last: str, path: Path) -> tuple[bytes, Stat]:
    """Read an ordinary file. Raises Unreadable if it changes again and again while it is read."""
    for _ in range(_TRIES):
        # Without blocking, because a named pipe would wait for a writer.
        descriptor = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
        with os.fdopen(descriptor, "rb") as file:
            before = os.fstat(descriptor)
            if not modes.S_ISREG(before.st_mode):
                raise Unreadable(f"{path} is not an ordinary file: replace or remove it")
            if before.st_size > LARGEST:
                raise Unreadable(f"{path} has {before.st_size:,} bytes, at most {LARGEST:,}: split it")
            data = file.read()
            after = os.fstat(descriptor)
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size) and len(data) == after.st_size:
            return data, Stat(after.st_mtime_ns, after.st_size, after.st_ino)
    raise Unreadable(f"{path} changes again and again while it is read: try again")


def text(data: bytes, path: Path) -> str:
    """Decode a file. Raises Unreadable, with the line, if it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        found = "UTF-16" if wide else f"not UTF-8 (line {line}, byte {error.start})"
        raise Unreadable(f"{path} is {found}: save it as UTF-8") from error


def digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def move_aside(directory: int, name: str, there: int) -> str:
    """Move a file to another directory and return its name there."""
    os.rename(name, name, src_dir_fd=directory, dst_dir_fd=there)
    return name


def swap(directory: int, one: str, other: str) -> None:
    """Exchange the files of two names in one step. Raises NotImplementedError where that is impossible."""
    exchange = _load_exchange()
    if exchange is None:
        raise NotImplementedError
    code = exchange(directory, os.fsencode(one), os.fsencode(other))
    if code in UNSUPPORTED:
        raise NotImplementedError
    if code:
        raise OSError(code, os.strerror(code))


@functools.cache
def _load_exchange() -> Callable[[int, bytes, bytes], int] | None:
    """The system call, which Python does not have: it returns the number of an error, or 0."""
    import ctypes  # lazy: 2 ms that only a changed file needs

    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "renameat2", None) or getattr(library, "renameatx_np", None)  # Linux, macOS
    if call is None:
        return None
    return lambda directory, one, other: ctypes.get_errno() if call(directory, one, directory, other, 2) else 0


_AT_ONCE_NS = 1_000_000_000
_CURRENT_DIRECTORY, _STATX_BTIME = -100, 0x800  # of the call statx of Linux


def is_new_file(path: Path) -> bool:
    """Whether a file was created with its text, as git does, and not saved in place later. True where that is not known."""
    try:
        created = _created_ns(path)
        return created is None or abs(path.stat().st_mtime_ns - created) < _AT_ONCE_NS
    except OSError:  # fallback: somebody replaces it at this moment
        return True


def _created_ns(path: Path) -> int | None:
    """When a file was created; None where that is not known."""
    seconds = getattr(path.stat(), "st_birthtime", None)  # not on Linux
    if seconds is not None:
        return int(seconds * 1e9)
    import ctypes  # lazy: 2 ms that only a missing entry needs

    call = getattr(ctypes.CDLL(None), "statx", None)
    found = ctypes.create_string_buffer(256)
    if call is None or call(_CURRENT_DIRECTORY, os.fsencode(path), 0, _STATX_BTIME, found) != 0:
        return None
    has_time, seconds, nanoseconds = struct.unpack_from("=I76xqI", found.raw)
    return seconds * 1_000_000_000 + nanoseconds if has_time & _STATX_BTIME else None


@contextmanager
def read_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unreadable(_describe_error(path, error, "read")) from error


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unwritable(_describe_error(path, error, "written")) from error


def _describe_error(path: Path, error: OSError, what: str) -> str:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return f"{path} cannot be {what}: there is a symbolic link, or a file in place of a directory: remove it"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"{path} cannot be {what}: the disk is full, make room and try again"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{path} cannot be {what}: permission denied, check the permissions of the file and its directory"
    if error.errno == errno.ENOENT:
        return f"{path} cannot be {what}: {path.parent} is gone, create it or choose another place"
    return f"{path} cannot be {what} ({(error.strerror or str(error)).lower()}): repair or remove it"
