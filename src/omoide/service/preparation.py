"""What is done when a store is opened, before the first operation: finish what earlier processes left."""

from pathlib import Path

from omoide.errors import StoreError
from omoide.service import archives
from omoide.storage.base import Store
from omoide.storage.capabilities import Integrity

INDEX_VERSION = 1
"""The version of `versioning.expected_entry`: one more when it returns something else for the same memory. A database that
was indexed by an older version is rebuilt when it is opened."""


def update_index(store: Store) -> None:
    """Rebuild the index if an older omoide made it, so that near-duplicates of older memories are found."""
    try:
        if isinstance(store, Integrity) and store.is_index_outdated():
            from omoide.service import versioning  # lazy: most stores have an index of this version

            store.rebuild(versioning.expected_entry, patient=False)
    except StoreError:  # fallback: the old index, which finds all but some near-duplicates; `doctor` reports it
        pass


def settle_archives(store: Store) -> None:
    """Publish or delete the archive of a reindex that was killed: see `archives.settle_pending`."""
    path = Path(store.location)
    try:
        if (path.parent / archives.DIRECTORY).is_dir() and archives.pending_files(path):
            with store.task_lock("reindex"), store.read() as tx:
                archives.settle_pending(path, tx.last_run("reindex"))
    except (StoreError, OSError):  # fallback: a reindex is at work, or nothing can be written; the next one settles it
        pass
