"""Where copies of the database stand, and which archives of a reindex stay."""

import glob
import time
from datetime import datetime
from pathlib import Path

KEPT = 5
"""Archives that stay: the newest ones."""
_DAY = 86_400


def backup_path(store: Path, at: datetime) -> Path:
    """Return the path of a copy beside the store, named by the local time."""
    return store.with_name(f"{store.stem}-{at.astimezone():%Y%m%d-%H%M%S}{store.suffix}")


def archive_path(store: Path, at: datetime) -> Path:
    """Return the path of the compressed archive that a reindex writes beside the store."""
    return store.with_name(f"{store.stem}-before-{at.astimezone():%Y%m%d-%H%M%S-%f}{store.suffix}.gz")


def prune_archives(store: Path) -> None:
    """Delete all but the newest archives of the store, and partial files that a killed reindex left a day ago."""
    archives = f"{glob.escape(store.stem)}-before-*"
    for old in sorted(store.parent.glob(f"{archives}{glob.escape(store.suffix)}.gz"))[:-KEPT]:
        old.unlink(missing_ok=True)
    for partial in store.parent.glob(f"{archives}.part*"):
        if partial.stat().st_mtime < time.time() - _DAY:
            partial.unlink(missing_ok=True)
