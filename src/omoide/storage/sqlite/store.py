"""The embedded store: one SQLite file, durable at every acknowledged write, shared by any number of processes.

Every transaction first checks the connection and its files:

- A connection that is unexpectedly inside a transaction is closed and reopened, and that is logged (`omoide.store`).
- If the database file was removed or replaced while it is open, every operation raises StoreReplaced until the process is
  restarted or the file is back. The new file is not opened automatically: what this process has cached of the old one
  (numbers, vectors, sync state) may be wrong for the new one, and a write prepared for one must not go to the other.
- If there is no file yet and `create` is False, reads see an empty database; the first durable write creates the file.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from datetime import datetime
from pathlib import Path

import apsw

from omoide.errors import StoreBusy, StoreDamaged, StoreError, StoreReplaced
from omoide.model import Memory
from omoide.storage.base import Writer
from omoide.storage.capabilities import Expected, Problem
from omoide.storage.rows import micros
from omoide.storage.sqlite.absent import AbsentFiles, NewFiles, is_absent, open_empty
from omoide.storage.sqlite.cache import ReaderCache
from omoide.storage.sqlite.connection import Opened, Source, busy_handler, open_connection, require_sqlite, roll_back
from omoide.storage.sqlite.faults import ErrorTranslation
from omoide.storage.sqlite.file import create, identity, refuse_name
from omoide.storage.sqlite.reader import SqliteReader
from omoide.storage.sqlite.transaction import Transaction, WriteCounters
from omoide.storage.sqlite.writer import SqliteWriter

MIGRATIONS = Path(__file__).parent / "migrations"
_TOUCHES_HELD = 500  # access times that an idle moment writes,
_TOUCHES_MOST = 2_000  # and that are written at once
_LATER = " ON CONFLICT (memory) DO UPDATE SET last_accessed_at = max(last_accessed_at, excluded.last_accessed_at)"
_NOTE = f"INSERT INTO accesses VALUES (?1, ?2){_LATER}"
# The memory may have been purged meanwhile. Checking that takes longer than everything else.
_NOTE_IF_THERE = f"INSERT INTO accesses SELECT number, ?2 FROM memories WHERE number = ?1{_LATER}"
_BULK = 1_000
_LARGE_CACHE = 16_000  # kibibytes of the file in memory, instead of 2,000
_PROGRESS = 2  # rows changed by a step that merged anything: its own row is one
_LOCK_INTERVAL = 0.02  # seconds between two attempts to lock a file
_MERGED = 1_000  # pages of the index written in a step of a merge, about 0.1 s


class SqliteStore:
    def __init__(
        self,
        path: Path,
        wait: float = 30.0,
        migrations: Path = MIGRATIONS,
        index_version: int = 0,
        *,
        create: bool = True,
        report: Callable[[str], None] = lambda _: None,
    ):
        """`create`: whether opening creates a missing file; otherwise the first write does, and `report` gets its path."""
        require_sqlite()
        refuse_name(path)
        self.location = str(path)
        self._path = path
        self._wait = wait
        self._errors = ErrorTranslation(self.location, wait)
        self._source = Source(path, wait, migrations, index_version)
        self._lock = threading.RLock()
        self._active: Transaction | None = None
        self._touched: dict[int, int] = {}
        self._noted: WriteCounters | None = None
        """The write counters when access times were last written."""
        self._known = ReaderCache()
        self._indexed = 0
        self._closed = False
        self._has_large_cache = False
        self._unsafe = False
        """Whether commits are not synced, or may not be."""
        self._report = report
        with self._errors:
            self._is_absent = not create and is_absent(path)
            opened = open_empty(self._source) if self._is_absent else open_connection(self._source)
            self._connection, self._files, self._index_version, self._is_exclusive = opened
            with self._turn():
                pass

    # transactions

    @contextmanager
    def read(self) -> Iterator[SqliteReader]:
        with self._lock, self._errors, self._turn():
            self._require_ready()
            transaction = self._begin("BEGIN")
            try:
                yield SqliteReader(transaction, self._known)
            finally:
                self._end(transaction)

    @contextmanager
    def write(self, *, patient: bool = True, durable: bool = True) -> Iterator[SqliteWriter]:
        with self._lock, self._errors, self._turn(), self._creation(is_asked=durable):
            self._require_ready()
            with nullcontext() if durable else self._without_sync(), nullcontext() if patient else self._impatient():
                transaction = self._begin("BEGIN IMMEDIATE")
                try:
                    writing = SqliteWriter(transaction, self._known)
                    yield writing
                    writing.finish()
                    self._write_touches(transaction, _NOTE_IF_THERE)
                    self._commit(transaction)
                except BaseException:
                    self._known.invalidate()
                    raise
                finally:
                    self._end(transaction)
            self._touched.clear()
            self._indexed += writing.index_growth

    @contextmanager
    def snapshot(self) -> Iterator[SqliteReader]:
        with self._errors:
            self._require_open()
            opened = open_empty(self._source) if self._is_absent else open_connection(self._source)
            connection = opened.connection
            with closing(connection):
                transaction = Transaction(connection)
                connection.execute("BEGIN")
                try:
                    yield SqliteReader(transaction, ReaderCache())
                finally:
                    transaction.close()

    def _require_ready(self) -> None:
        """Make sure that a transaction can begin, on the file at the path."""
        if self._active is not None:
            raise StoreError(f"{self.location}: this process is still reading or writing: let that transaction end first")
        self._require_open()
        if self._is_exclusive:
            self._switch(open_connection(self._source))
        if self._connection.in_transaction or self._connection.txn_state():
            self._reopen("was unexpectedly inside a transaction")
        elif self._unsafe:
            self._reopen("could not be set to sync again")

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.location} was closed: open it again")
        if self._is_absent and not is_absent(self._path):
            self._switch(open_connection(self._source))  # another process has created it
        if self._is_exclusive:
            return  # it is closed between two transactions
        try:
            self._files.require_unchanged()
        except StoreReplaced:
            self._empty_log()
            raise

    def _empty_log(self) -> None:
        """Move the log into the file that is open, wherever that is now: otherwise the next process that opens the file at
        the path would apply the log to it, and mix the two."""
        with self._lock, suppress(apsw.Error):  # fallback: as it is, until the next transaction
            if self._files.log_is_left_behind:
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def _reopen(self, why: str) -> None:
        """Close the connection and open the same file again."""
        import logging  # lazy: rarely needed, and start-up time counts

        logger = logging.getLogger("omoide.store")
        logger.error("%s: the connection %s: it is closed, and the database is reopened", self.location, why)
        # The new connection first: if that fails, the next transaction tries again.
        self._switch(open_empty(self._source) if self._is_absent else open_connection(self._source))

    def _switch(self, opened: Opened) -> None:
        """Use another connection from now on."""
        self._connection.close(force=True)
        self._connection, self._files, self._index_version, self._is_exclusive = opened
        self._is_absent, self._unsafe = isinstance(opened.files, AbsentFiles), False
        # Nothing cached outlives the old connection, whose counters tell whether it is still valid.
        self._known, self._noted = ReaderCache(), None
        if self._has_large_cache:
            self.enlarge_cache()

    @contextmanager
    def _creation(self, *, is_asked: bool) -> Iterator[None]:
        """Create the file if there is none and this is a write that somebody asked for.

        What may be lost (`durable` is False) is lost where there is no database.
        """
        if not (self._is_absent and is_asked and is_absent(self._path)):
            yield
            return
        new = NewFiles(self._path)
        self._switch(open_connection(self._source))
        try:
            yield
        except BaseException:
            self._switch(open_empty(self._source))
            new.remove()
            raise
        self._report(f"created the database {self.location}")

    def _begin(self, statement: str) -> Transaction:
        self._connection.execute(statement)
        self._active = Transaction(self._connection)
        return self._active

    def _end(self, transaction: Transaction) -> None:
        """End its reads, and roll it back if it was not committed."""
        self._active = None
        transaction.close()
        roll_back(self._connection)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Let others use the database after the block, where the disk is full: see `open_connection`."""
        try:
            yield
        finally:
            if self._is_exclusive:
                self._connection.close(force=True)

    def _commit(self, transaction: Transaction) -> None:
        transaction.close()
        self._connection.execute("COMMIT")

    @contextmanager
    def _without_sync(self) -> Iterator[None]:
        """Do not sync commits within the block. Not OFF: a commit that moves the log into the file could lose memories."""
        self._unsafe = True  # stays True if the last statement fails: see `_require_ready`
        try:
            self._connection.execute("PRAGMA synchronous=NORMAL")
            yield
        finally:
            self._connection.execute("PRAGMA synchronous=FULL")
            self._unsafe = False

    @contextmanager
    def _impatient(self) -> Iterator[None]:
        """Do not wait for other writers within the block."""
        self._connection.set_busy_handler(None)
        try:
            yield
        finally:
            self._connection.set_busy_handler(busy_handler(self._wait))

    @property
    def idle(self) -> bool:
        return not self._closed and self._active is None

    def touch(self, numbers: Iterable[int], at: datetime) -> None:
        with self._lock:
            self._touched.update(dict.fromkeys(numbers, micros(at)))
            if len(self._touched) > _TOUCHES_MOST and self.idle:
                with self._errors:
                    self._flush_touches()

    def flush(self) -> None:
        with self._lock, suppress(StoreError), self._errors:  # fallback: the next transaction reports what is wrong
            if len(self._touched) > _TOUCHES_HELD and self.idle:
                self._flush_touches()

    def _write_touches(self, transaction: Transaction, statement: str) -> None:
        if self._touched:  # in the order of the table, which takes two thirds of the time
            transaction.run_many(statement, sorted(self._touched.items()))

    def _flush_touches(self) -> None:
        """Write access times without a sync and without waiting."""
        if not self._touched:
            return
        try:
            self._require_ready()
            with self._turn(), self._impatient(), self._without_sync():
                transaction = self._begin("BEGIN IMMEDIATE")
                try:
                    alone = transaction.write_counters() == self._noted
                    self._write_touches(transaction, _NOTE if alone else _NOTE_IF_THERE)
                    noted = transaction.write_counters()
                    self._commit(transaction)
                finally:
                    self._end(transaction)
                self._noted = noted
        except (StoreReplaced, apsw.BusyError, apsw.ReadOnlyError, apsw.FullError, apsw.IOError):
            pass  # fallback: these access times are lost, as `touch` allows
        self._touched.clear()

    def enlarge_cache(self) -> None:
        with self._lock, self._errors:
            self._has_large_cache = True
            if self._is_exclusive:
                return  # it is opened again for every transaction
            self._connection.execute(f"PRAGMA cache_size=-{_LARGE_CACHE}")

    def close(self) -> None:
        with self._lock, self._errors:
            if self._closed:
                return
            try:
                self._flush_touches()
                if self._indexed >= _BULK:
                    self.merge_index(1 + self._indexed // _BULK)
            finally:
                self._closed = True
                if self._files.log_is_foreign:
                    self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                self._connection.close()

    # capabilities

    def merge_index(self, steps: int) -> None:
        size = -_MERGED  # negative: all segments, even if there are few
        with suppress(StoreError):  # fallback: the index stays as it is
            for _ in range(steps):
                with self.write(patient=False, durable=False) as tx:
                    if tx.merge(size) < _PROGRESS:
                        return
                size = _MERGED

    def is_index_outdated(self) -> bool:
        if self._index_version < self._source.index_version:
            with self.read() as reader:  # another process may have rebuilt it meanwhile
                self._index_version = reader.transaction.get("SELECT value FROM meta WHERE name = 'index_version'") or 0
        return self._index_version < self._source.index_version

    def check(self, expected: Expected | None = None) -> list[Problem]:
        from omoide.storage.sqlite.integrity import check  # lazy: rare, and start-up time counts

        with self.snapshot() as reader:  # of one moment, whatever is written meanwhile
            return check(reader, self._path, expected)

    def rebuild(
        self,
        expected: Expected,
        settle: Callable[[Writer], None] | None = None,
        watch: Callable[[int], None] | None = None,
        *,
        patient: bool = True,
    ) -> int:
        from omoide.storage.sqlite.rebuild import rebuild  # lazy: rare, and start-up time counts

        with self._task_lock("rebuild", self._wait if patient else 0):
            indexed = rebuild(self.write, expected, self._source.index_version, settle, watch)
        self._index_version = self._source.index_version
        return indexed

    def task_lock(self, task: str) -> AbstractContextManager[None]:
        return self._task_lock(task, 0)

    @contextmanager
    def _task_lock(self, task: str, wait: float) -> Iterator[None]:
        self._require_file()
        # A lock of SQLite on a file beside the database: it ends with the process, on every platform.
        path = self._path.with_name(f".{self._path.name}.{task}")
        until = time.monotonic() + wait
        while True:
            with self._errors:  # a full disk has no room for the lock
                lock = _lock_file(path)
            if lock is not None:
                break
            if time.monotonic() >= until:
                raise StoreBusy(f"{self.location}: another {task} is running: let it finish")
            time.sleep(_LOCK_INTERVAL)
        with closing(lock):
            yield
            path.unlink()

    def scrub(self) -> None:
        with self._lock, self._errors, self._turn():
            self._require_ready()
            try:
                # Merging all segments drops deleted terms, VACUUM rewrites every page, and the log is emptied last.
                self._connection.execute("INSERT INTO words (words) VALUES ('optimize')")
                self._connection.execute("VACUUM")
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError as error:
                raise StoreBusy(
                    f"{self.location}: it is erased, but another process uses the file, and traces stay in it until the next"
                    " purge: purge again when that process has ended, even if there is nothing to purge"
                ) from error

    def erase_from_copy(self, copy: Path, ids: Sequence[str], erase: Callable[[Writer, Memory], None] | None = None) -> bool:
        from omoide.storage.sqlite.copies import erase_from_copy  # lazy: rare, and start-up time counts

        def open_store(path: Path) -> SqliteStore:
            return SqliteStore(path, self._wait, self._source.migrations, self._source.index_version)

        return erase_from_copy(copy, ids, erase, open_store)

    def _require_file(self) -> None:
        if self._is_absent and is_absent(self._path):
            raise StoreError(f"there is no database {self.location}: check --store and OMOIDE_STORE, or remember something")

    def backup(self, target: Path) -> None:
        from omoide.storage.backup import write_backup  # lazy: rare, and start-up time counts

        self._require_file()

        def copy_to(path: Path) -> None:
            create(path)
            with self._lock, self._errors, self._turn(), closing(apsw.Connection(str(path))) as copy:
                self._require_ready()
                with copy.backup("main", self._connection, "main") as step:
                    step.step()
                damage = " ".join(str(copy.pragma("quick_check", 1)).split())
                if damage != "ok":
                    raise StoreDamaged(
                        f"{self.location} is damaged ({damage}), and a copy would be, too: restore an older backup, or copy"
                        " the file itself"
                    )
                copy.execute("PRAGMA journal_mode=DELETE")

        write_backup(target, copy_to)


def _lock_file(path: Path) -> apsw.Connection | None:
    """A connection that has locked the file at the path; None if another has, or has just deleted it."""
    create(path)
    file = identity(str(path))
    lock = apsw.Connection(str(path))
    with suppress(apsw.BusyError):  # reported by the caller
        lock.execute("BEGIN EXCLUSIVE")
        if file is not None and identity(str(path)) == file:  # otherwise nobody else would see the lock
            return lock
    lock.close()
    return None
