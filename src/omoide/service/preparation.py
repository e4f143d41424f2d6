"""What is done when a store is opened, before the first operation: finish what earlier processes left."""

from pathlib import Path

from omoide.errors import StoreError
from omoide.service import archives, versioning
from omoide.storage.base import Store
from omoide.storage.capabilities import Integrity


def update_index(store: Store) -> None:
    """Rebuild the index once if an older omoide made it, so that near-duplicates of older memories are found."""
    try:
        if isinstance(store, Integrity) and store.is_index_outdated():
            store.rebuild(versioning.expected_entry, patient=False)
    except StoreError:  # fallback: the old index, which finds all but some near-duplicates; `doctor` reports it
        pass


def settle_archives(store: Store) -> None:
    """Remove what a killed reindex left, or give its archive its name if it had taken effect."""
    path = Path(store.location)
    try:
        if (path.parent / archives.DIRECTORY).is_dir() and archives.pending_files(path):
            with store.task_lock("reindex"), store.read() as tx:
                archives.settle_pending(path, tx.last_run("reindex"))
    except (StoreError, OSError):  # fallback: a reindex is at work, or nothing can be written; the next one settles it
        pass
