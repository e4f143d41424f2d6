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
    files, found = _backups(place, recorded)
    for kind, file in files:
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


def _backups(place: Path, recorded: Iterable[str]) -> tuple[list[tuple[str, Path]], list[Copy]]:
    """The backups, archives and backups of projects of a store, each once; and the places that cannot be read."""
    closed: list[Copy] = []
    found: list[tuple[str, Path]] = []
    for kind, directory, list_copies in (
        ("backup", place.parent, archives.backups),
        ("archive", place.parent / archives.DIRECTORY, archives.list_archives),
    ):
        try:
            found += [(kind, file) for file in list_copies(place)]
        except OSError as error:  # fallback: it is named, and left as it is
            closed.append(_unreadable(directory, kind, error))
    files, others = list_files(place.parent / _BACKUPS, "project backup")
    found += [("project backup", file) for file in files if file.suffix == ".jsonl"]
    found += [("project backup" if name.endswith(".jsonl") else "backup", Path(name)) for name in recorded]
    present: dict[Path, tuple[str, Path]] = {}
    for kind, file in reversed(found):
        try:
            if file.is_file():
                present[file] = (kind, file)
        except OSError as error:  # fallback: it is named, and left as it is
            closed.append(_unreadable(file, kind, error))
    return list(present.values())[::-1], [*closed, *others]


def list_files(directory: Path, kind: str) -> tuple[list[Path], list[Copy]]:
    """Return the files below a directory of copies, and as unreadable copies the directories there that cannot be read."""
    closed: list[Copy] = []

    def note(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            closed.append(_unreadable(Path(error.filename), kind, error))

    files = [Path(at, name) for at, _, names in os.walk(directory, onerror=note) for name in names]
    return sorted(files), closed


def _unreadable(path: Path, kind: str, error: OSError) -> Copy:
    return Copy(str(path), kind, UNREADABLE, error.strerror or str(error))


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
