"""Copies of memories that omoide made itself: which still contain a purged one, and how it is removed from them."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from omoide.errors import StoreError
from omoide.model import Memory
from omoide.service import archives
from omoide.storage.base import Writer
from omoide.storage.capabilities import CopyErasure

HOLDS, REMOVED, UNREADABLE = "holds it", "removed", "unreadable"
_BACKUPS = "backups"
"""The directory of the backups of projects, beside the store."""


class Trace(NamedTuple):
    """What a purged memory can be recognised by."""

    id: str
    texts: tuple[str, ...] = ()
    """The contents of its versions; none where it was purged before."""


class Copy(msgspec.Struct, frozen=True):
    """A file that omoide made and that contains, or contained, a purged memory."""

    path: str
    kind: str
    """backup, archive, project backup, mirror or mirror backup."""
    state: str
    """`holds it`, `removed`, or `unreadable`: then it may hold it."""
    reason: str = ""
    """Why it could not be read or changed."""


class PurgeReport(msgspec.Struct, frozen=True):
    """What a purge erased, and where else the memories are or were."""

    purged: int
    copies: tuple[Copy, ...] = ()
    """Copies that hold them, or from which they were removed."""
    unreachable: tuple[str, ...] = ()
    """Places that omoide cannot change: what they are, and what to do."""


class FoundCopies(NamedTuple):
    """What a search for copies found: files, and places that omoide cannot change."""

    copies: list[Copy]
    unreachable: list[str]


def erase_from_backups(
    store: CopyErasure,
    place: Path,
    recorded: Iterable[str],
    traces: Sequence[Trace],
    erase: Callable[[Writer, Memory], None] | None,
) -> list[Copy]:
    """Return the backups and archives of a store that hold purged memories; with `erase`, erase the memories from them.

    `place`: the file of the database. `recorded`: files that the store knows to be copies of it. `traces`: the purged
    memories. `erase`: called for each memory that a backup holds, in a transaction on the backup; None: only look. A file
    that cannot be read or changed is returned as unreadable.
    """
    ids = [trace.id for trace in traces]
    found: list[Copy] = []
    for kind, file in _backups(place, recorded):
        try:
            if file.suffix == ".jsonl":
                has_one = _erase_lines(file, ids, remove=erase is not None)
            else:
                has_one = store.erase_from_copy(file, ids, erase)
        except (StoreError, OSError, ValueError) as error:  # fallback: it is named, and left as it is
            found.append(Copy(str(file), kind, UNREADABLE, str(error)))
            continue
        if has_one:
            found.append(Copy(str(file), kind, HOLDS if erase is None else REMOVED))
    return found


def _backups(place: Path, recorded: Iterable[str]) -> list[tuple[str, Path]]:
    """The backups, archives and backups of projects of a store, each once."""
    found = [("backup", file) for file in archives.backups(place)]
    found += [("archive", file) for file in archives.list_archives(place)]
    directory = place.parent / _BACKUPS
    found += [("project backup", file) for file in sorted(directory.rglob("*.jsonl"))] if directory.is_dir() else []
    found += [("project backup" if name.endswith(".jsonl") else "backup", Path(name)) for name in recorded]
    return list({file: (kind, file) for kind, file in reversed(found) if file.is_file()}.values())[::-1]


def _erase_lines(file: Path, ids: Sequence[str], *, remove: bool) -> bool:
    """Remove records from the backup of a project; return whether it had one of them."""
    wanted = re.compile("|".join(map(re.escape, ids)).encode())
    lines = file.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if not wanted.search(line) or msgspec.json.decode(line, type=_Record).id not in ids]
    if len(kept) == len(lines):
        return False
    if remove:
        partial = file.with_name(f".{file.name}.{os.getpid()}.part")
        try:
            with os.fdopen(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as target:
                target.writelines(kept)
                target.flush()
                os.fsync(target.fileno())
            partial.replace(file)
        finally:
            partial.unlink(missing_ok=True)
    return True


class _Record(msgspec.Struct):
    id: str
