"""Erase memories from a backup of the database: it is rewritten whole, or left as it is."""

import gzip
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from omoide.errors import StoreDamaged, StoreError
from omoide.model import Memory
from omoide.storage.backup import compress, sync_to_disk
from omoide.storage.base import Writer

if TYPE_CHECKING:  # the store calls this module
    from omoide.storage.sqlite.store import SqliteStore

_BUFFER = 1 << 20


def erase_from_copy(
    copy: Path,
    ids: Sequence[str],
    erase: Callable[[Writer, Memory], None] | None,
    open_store: "Callable[[Path], SqliteStore]",
) -> bool:
    """Erase memories from a backup, compressed or not, and return whether it had one: see `CopyErasure`."""
    try:
        with _unpack(copy) as work:
            if not _erase(work, ids, erase, open_store):
                return False
            if erase is not None:
                _replace(copy, work)
            return True
    except (OSError, apsw.Error) as error:
        raise StoreError(f"{copy} cannot be read or written ({error}): it was left as it is") from error


@contextmanager
def _unpack(copy: Path) -> Iterator[Path]:
    """A working copy in a directory of its own beside the backup, which only its owner can read."""
    directory = Path(tempfile.mkdtemp(prefix=".omoide-purge-", dir=copy.parent))
    work = directory / "copy.db"
    try:
        with os.fdopen(os.open(work, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as target:
            if copy.suffix == ".gz":
                with gzip.open(copy, "rb") as source:
                    shutil.copyfileobj(source, target, _BUFFER)
        if copy.suffix != ".gz":
            # By SQLite: a backup that somebody opened may have a log beside it.
            with (
                closing(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)) as source_db,
                closing(apsw.Connection(str(work))) as target_db,
                target_db.backup("main", source_db, "main") as step,
            ):
                step.step()
        yield work
    except (gzip.BadGzipFile, EOFError, zlib.error, apsw.NotADBError, apsw.CorruptError) as error:
        raise StoreDamaged(f"{copy} is damaged ({error}): it was left as it is") from error
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _erase(
    work: Path,
    ids: Sequence[str],
    erase: Callable[[Writer, Memory], None] | None,
    open_store: "Callable[[Path], SqliteStore]",
) -> bool:
    with closing(apsw.Connection(str(work))) as connection:
        state = connection.pragma("quick_check", 1)
        if state != "ok":
            raise apsw.CorruptError(state)
    with closing(open_store(work)) as store:
        with store.read() as tx:
            found = tx.memories(list(ids))
        if found and erase is not None:
            with store.write() as tx:
                for memory in found:
                    erase(tx, memory)
            store.scrub()
    if found and erase is not None:
        with closing(apsw.Connection(str(work))) as connection:
            connection.pragma("journal_mode", "delete")
    return bool(found)


def _replace(copy: Path, work: Path) -> None:
    """Put the working copy in the place of the backup, in one step."""
    whole = work
    if copy.suffix == ".gz":
        whole = work.with_name("copy.db.gz")
        compress(work, whole)
    sync_to_disk(whole)
    whole.replace(copy)
    for log in ("-wal", "-shm"):
        copy.with_name(copy.name + log).unlink(missing_ok=True)
    sync_to_disk(copy.parent)
