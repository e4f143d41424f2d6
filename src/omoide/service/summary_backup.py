"""Backups of a project before it is summarised: all its memories, in a file that `omoide import` reads."""

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

from omoide.errors import Unwritable
from omoide.markdown import record
from omoide.model import Link, Memory

_DIRECTORY = "backups"
_NAME = re.compile(r"summary-\d{8}-\d{6}-\d{6}(?:-\d+)?\.jsonl")
_PARTIAL = re.compile(r"summary-[\d-]+\.jsonl\.part")


def write_backup(store: Path, path: str, memories: Iterable[tuple[Memory, Sequence[Link]]], at: datetime, keep: int) -> Path:
    """Write the memories of a project to a new file beside the database, and return its path.

    `store`: the path of the database. `path`: the path of the project. `memories`: the memories, each with the links to
    write with it. `keep`: how many such files stay, the newest ones.

    The file appears under its name only when it is complete, readable by its owner alone. Call it only with the lock of the
    task: files that a killed process left are removed. Raises Unwritable.
    """
    directory = store.parent / _DIRECTORY / path
    encode = msgspec.json.Encoder().encode
    try:
        for each in reversed([directory, *directory.parents]):
            each.mkdir(mode=0o700, exist_ok=True)
        for left in directory.iterdir():
            if _PARTIAL.fullmatch(left.name):
                left.unlink()
        target = _free_name(directory, at)
        partial = target.with_name(f"{target.name}.part")
        try:
            with os.fdopen(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.writelines(encode(record.full_memory(memory, links)) + b"\n" for memory, links in memories)
                file.flush()
                os.fsync(file.fileno())
            partial.rename(target)
        finally:
            with suppress(FileNotFoundError):
                partial.unlink()
        for old in sorted(each for each in directory.iterdir() if _NAME.fullmatch(each.name))[:-keep]:
            old.unlink()
    except OSError as error:
        raise Unwritable(f"no backup can be written to {directory} ({error.strerror}): repair that first") from error
    return target


def _free_name(directory: Path, at: datetime) -> Path:
    """A name by the time; the clock may stand still between two summaries."""
    stamp = f"summary-{at:%Y%m%d-%H%M%S-%f}"
    target, number = directory / f"{stamp}.jsonl", 1
    while target.exists():
        number += 1
        target = directory / f"{stamp}-{number}.jsonl"
    return target
