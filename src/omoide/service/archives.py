"""Where copies of the database stand, and which archives of a reindex stay.

A reindex writes its archive under a pending name, and gives it its own name when the reindex has taken effect. So one that
is killed leaves no archive; what is left of it goes when the store is opened again.
"""

import os
import re
from datetime import datetime
from pathlib import Path

KEPT = 5
"""Archives that stay: the newest ones."""
DIRECTORY = "archive"
"""Where the archives are, beside the store."""
_PENDING = ".pending.gz"


def backup_path(store: Path, at: datetime) -> Path:
    """Return the path of a copy beside the store, named by the local time."""
    return store.with_name(f"{store.stem}-{at.astimezone():%Y%m%d-%H%M%S}{store.suffix}")


def backups(store: Path) -> list[Path]:
    """Return the copies beside the store that have the name which `backup_path` gives, also compressed ones."""
    named = re.compile(rf"{re.escape(store.stem)}-\d{{8}}-\d{{6}}{re.escape(store.suffix)}(?:\.gz)?")
    return sorted(file for file in _files(store.parent) if named.fullmatch(file.name))


def list_archives(store: Path) -> list[Path]:
    """Return the archives of reindexes, also of one that was killed."""
    return [*(file for *_, file in sorted(_archives(store))), *sorted(pending_files(store))]


def _files(directory: Path) -> list[Path]:
    return list(directory.iterdir()) if directory.is_dir() else []


def pending_path(store: Path, at: datetime) -> Path:
    """Return the path of the archive of a reindex that began at this time, as long as it has not taken effect."""
    return store.parent / DIRECTORY / f"{_pending_prefix(store)}{_token(at)}{_PENDING}"


def publish_archive(store: Path, pending: Path, at: datetime) -> Path:
    """Give an archive its own name: that of the store, and the local day. Return its path.

    All but the newest archives of the store are deleted.
    """
    day = f"{at.astimezone():%Y%m%d}"
    # Not the first free one: those before the newest may have been deleted.
    number = max((number for made, number, _ in _archives(store) if made == day), default=0)
    while True:
        number += 1
        target = pending.with_name(f"{store.stem}_{day}{f'_{number}' if number > 1 else ''}{store.suffix}.gz")
        try:
            os.link(pending, target)  # unlike a rename, this never replaces another archive
            break
        except FileExistsError:  # fallback: the next number
            continue
    pending.unlink(missing_ok=True)
    _prune(store)
    return target


def pending_files(store: Path) -> list[Path]:
    """Return the files of a reindex that is at work, or was killed."""
    directory, prefix = store.parent / DIRECTORY, _pending_prefix(store)
    return [file for file in directory.iterdir() if file.name.startswith(prefix)] if directory.is_dir() else []


def settle_pending(store: Path, last_run: datetime | None) -> None:
    """Deal with what a killed reindex left: publish its archive if it took effect at the `last_run`, else delete it.

    Only for whoever holds the lock of the reindex: nothing here belongs to one that is at work.
    """
    for file in pending_files(store):
        if last_run is not None and file == pending_path(store, last_run):
            publish_archive(store, file, last_run)
        else:
            file.unlink(missing_ok=True)


def _pending_prefix(store: Path) -> str:
    return f".{store.name}."


def _token(at: datetime) -> str:
    return str(round(at.timestamp() * 1_000_000))


def _prune(store: Path) -> None:
    for *_, file in sorted(_archives(store))[:-KEPT]:
        file.unlink(missing_ok=True)


def _archives(store: Path) -> list[tuple[str, int, Path]]:
    """The archives of a store: the day of each, which of that day it is, and the file."""
    named = re.compile(rf"{re.escape(store.stem)}_(\d{{8}})(?:_(\d{{1,5}}))?{re.escape(store.suffix)}\.gz")
    return [
        (match[1], int(match[2] or 1), file)
        for file in _files(store.parent / DIRECTORY)
        if (match := named.fullmatch(file.name))
    ]
