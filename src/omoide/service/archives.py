"""Where copies of the database are, and which archives of a reindex are kept.

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
    """Return the path for a backup beside the database `store`, named by the local time."""
    return store.with_name(f"{store.stem}-{at.astimezone():%Y%m%d-%H%M%S}{store.suffix}")


def backups(store: Path) -> list[Path]:
    """Return the backups beside the database with a name that `backup_path` gives, also compressed ones."""
    named = re.compile(rf"{re.escape(store.stem)}-\d{{8}}-\d{{6}}{re.escape(store.suffix)}(?:\.gz)?")
    return sorted(file for file in _files(store.parent) if named.fullmatch(file.name))


def list_archives(store: Path) -> list[Path]:
    """Return the archives that reindexes made of the database, oldest first, then those of reindexes that were killed."""
    return [*(file for *_, file in sorted(_archives(store))), *sorted(pending_files(store))]


def _files(directory: Path) -> list[Path]:
    return list(directory.iterdir()) if directory.is_dir() else []


def pending_path(store: Path, at: datetime) -> Path:
    """Return the path of the archive of a reindex that began at this time, before the reindex has taken effect."""
    return store.parent / DIRECTORY / f"{_pending_prefix(store)}{_token(at)}{_PENDING}"


def publish_archive(store: Path, pending: Path, at: datetime) -> Path:
    """Rename a pending archive to the name of the database and the local day, and return its new path.

    All but the newest `KEPT` archives of the database are deleted.
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
    """Return the pending archives: of a reindex that is running, or was killed."""
    directory, prefix = store.parent / DIRECTORY, _pending_prefix(store)
    return [file for file in directory.iterdir() if file.name.startswith(prefix)] if directory.is_dir() else []


def settle_pending(store: Path, last_run: datetime | None) -> None:
    """Publish or delete the archive of a killed reindex: publish it if the reindex took effect, else delete it.

    `last_run`: when the last reindex that took effect began; None: there was none. Call it only with the lock of the
    reindex, so that nothing belongs to a running one.
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
