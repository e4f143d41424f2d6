"""What the disk can do with one file, by open directories only, and what it says when it cannot."""

import errno
import functools
import hashlib
import os
import stat as modes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from omoide.errors import InvalidInput, Unreadable, Unwritable

LARGEST = 100_000_000
"""Bytes of the largest file that is read."""
UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM, errno.EMLINK}
"""What a file system answers that cannot exchange two names, or give a file a second one."""
_TRIES = 5


class Stat(NamedTuple):
    """By what a file is seen to have changed."""

    mtime_ns: int
    size: int
    inode: int


def path_parts(name: str) -> list[str]:
    found = name.split("/") if name else []
    if any(part in ("", ".", "..") or "\0" in part for part in found):
        raise InvalidInput(f"{name!r} leads out of its directory: a plain relative name, please")
    return found


def split_name(name: str) -> tuple[list[str], str]:
    if not name:
        raise InvalidInput("a file needs a name: it is empty")
    *above, last = path_parts(name)
    return above, last


def stat(name: str, directory: int | None = None) -> Stat | None:
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return Stat(found.st_mtime_ns, found.st_size, found.st_ino)


def read(directory: int, last: str, path: Path) -> tuple[bytes, Stat]:
    """The bytes of an ordinary file, none of them written while it was read."""
    for _ in range(_TRIES):
        # Without blocking: a named pipe would wait for somebody to write into it.
        descriptor = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
        with os.fdopen(descriptor, "rb") as file:
            before = os.fstat(descriptor)
            if not modes.S_ISREG(before.st_mode):
                raise Unreadable(f"{path} is no ordinary file: put one there, or take it away")
            if before.st_size > LARGEST:
                raise Unreadable(f"{path} has {before.st_size:,} bytes, at most {LARGEST:,}: split it")
            data = file.read()
            after = os.fstat(descriptor)
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size) and len(data) == after.st_size:
            return data, Stat(after.st_mtime_ns, after.st_size, after.st_ino)
    raise Unreadable(f"{path} is being written all the time: try again")


def text(data: bytes, path: Path) -> str:
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
    os.rename(name, name, src_dir_fd=directory, dst_dir_fd=there)
    return name


def swap(directory: int, one: str, other: str) -> None:
    """Two names exchange their files in one step; NotImplementedError where they cannot."""
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
    """The system's call for it, which Python does not know: it answers the number of an error, or 0."""
    import ctypes  # noqa: PLC0415 - 2 ms that only a changed file needs

    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "renameat2", None) or getattr(library, "renameatx_np", None)  # Linux, macOS
    if call is None:
        return None
    return lambda directory, one, other: ctypes.get_errno() if call(directory, one, directory, other, 2) else 0


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
        return f"{path} cannot be {what}: a symbolic link, or a file, is where a directory or a file should be, take it away"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"{path} cannot be {what}: the disk is full, make room and try again"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{path} cannot be {what}: you have no permission, look at the rights of the file and its directory"
    if error.errno == errno.ENOENT:
        return f"{path} cannot be {what}: {path.parent} is gone, make it or choose another place"
    return f"{path} cannot be {what} ({(error.strerror or str(error)).lower()}): mend it, or take it away"
