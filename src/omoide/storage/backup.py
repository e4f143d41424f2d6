"""A copy in one file, plain or compressed, that appears whole or not at all."""

import gzip
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from omoide.errors import StoreError

_PIECE = 1 << 20
_EFFORT = 6  # of 9: the last steps take twice the time for a few percent


def write_backup(target: Path, copied: Callable[[Path], None]) -> None:
    """Has a copy made and gives it its name at the end; compressed if that name ends with .gz."""
    if target.exists():
        raise StoreError(f"{target} exists already: choose another name, or move it away")
    partial = target.with_name(f"{target.name}.{os.getpid()}.part")
    packed = partial.with_name(f"{partial.name}.gz.part")
    leavings = [partial, packed, *(partial.with_name(f"{partial.name}-{what}") for what in ("wal", "shm", "journal"))]
    for left in leavings:
        left.unlink(missing_ok=True)  # of a process that was killed long ago
    try:
        copied(partial)
        whole = partial
        if target.suffix == ".gz":
            _compress(partial, packed)
            whole = packed
        _sync(whole)
        os.link(whole, target)  # unlike a rename, this never replaces a file that appeared meanwhile
        _sync(target.parent)
    except OSError as error:
        raise StoreError(f"{target} cannot be written ({error.strerror}): choose another place") from error
    finally:
        for left in leavings:
            with suppress(OSError):  # plan B: it stays, and says what it is by its name
                left.unlink()


def _compress(plain: Path, packed: Path) -> None:
    descriptor = os.open(packed, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with (
        plain.open("rb") as source,
        os.fdopen(descriptor, "wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=_EFFORT, mtime=0) as sink,
    ):
        shutil.copyfileobj(source, sink, _PIECE)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
