"""A copy in one file, plain or compressed, that appears whole or not at all."""

import gzip
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from omoide.errors import StoreError

_BUFFER = 1 << 20
_LEVEL = 6  # of 9: the last levels take twice the time for a few percent


def write_backup(target: Path, copy: Callable[[Path], None]) -> None:
    """Write a copy with `copy`, and give it its name at the end; compressed if that name ends with .gz.

    Raises StoreError if the target exists or cannot be written.
    """
    if target.exists():
        raise StoreError(f"{target} exists already: choose another name, or move it away")
    partial = target.with_name(f"{target.name}.{os.getpid()}.part")
    packed = partial.with_name(f"{partial.name}.gz.part")
    temporary = [partial, packed, *(partial.with_name(f"{partial.name}-{what}") for what in ("wal", "shm", "journal"))]
    for file in temporary:
        file.unlink(missing_ok=True)  # of a process that was killed long ago
    try:
        copy(partial)
        whole = partial
        if target.suffix == ".gz":
            compress(partial, packed)
            whole = packed
        sync_to_disk(whole)
        os.link(whole, target)  # unlike a rename, this never replaces a file that appeared meanwhile
        sync_to_disk(target.parent)
    except OSError as error:
        raise StoreError(f"{target} cannot be written ({error.strerror}): choose another path") from error
    finally:
        for file in temporary:
            with suppress(OSError):  # fallback: it stays, under a name that says what it is
                file.unlink()


def compress(plain: Path, packed: Path) -> None:
    """Write a compressed copy of a file that only its owner can read."""
    descriptor = os.open(packed, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with (
        plain.open("rb") as source,
        os.fdopen(descriptor, "wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=_LEVEL, mtime=0) as sink,
    ):
        shutil.copyfileobj(source, sink, _BUFFER)


def sync_to_disk(path: Path) -> None:
    """Write a file or a directory to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
