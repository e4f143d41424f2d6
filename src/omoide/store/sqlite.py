"""The embedded store: one SQLite file, durable at every acknowledged write, shared by any number of processes."""

import errno
import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import msgspec

from omoide.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreReadOnly, StoreTooNew
from omoide.model import Memory
from omoide.store.base import Finding, Reading, Words, Writing
from omoide.store.sql import micros
from omoide.store.sqlite_at_hand import Written, written
from omoide.store.sqlite_care import ASTRAY, findings
from omoide.store.sqlite_holders import INSTANCES, RENEWED
from omoide.store.sqlite_reading import Known, SqliteReading, counts
from omoide.store.sqlite_writing import SqliteWriting

OLDEST_SQLITE = "3.51.3"  # up to 3.51.2 a WAL reset could lose committed pages
APPLICATION = 0x6F6D6F69  # "omoi", so that `file` and we know our own
MIGRATIONS = Path(__file__).parent / "migrations"
_TOUCHES_HELD = 500  # access times that a moment of rest writes,
_TOUCHES_MOST = 2_000  # and that are written even if somebody waits
_LATER = " ON CONFLICT (memory) DO UPDATE SET last_accessed_at = max(last_accessed_at, excluded.last_accessed_at)"
_NOTE = f"INSERT INTO accesses VALUES (?1, ?2){_LATER}"
# The memory may have been purged meanwhile: then there is nothing to note. To look takes longer than all the rest.
_NOTE_IF_THERE = f"INSERT INTO accesses SELECT number, ?2 FROM memories WHERE number = ?1{_LATER}"
_BULK = 1_000
_WIDE = 16_000  # kibibytes of the file kept in memory, instead of 2,000
_PROGRESS = 2  # rows changed by a step that merged anything: its own row is one
_MERGED = 1_000  # pages of the index written in a step of a merge, about 0.1 s
_MAGIC = b"SQLite format 3\0"
_HEADER = 100


class SqliteStore:
    def __init__(self, path: Path, wait: float = 30.0, migrations: Path = MIGRATIONS):
        _require_sqlite()
        self._migrations = migrations
        self.place = str(path)
        self._path = path
        self._wait = wait
        self._lock = threading.RLock()
        self._touched: dict[int, int] = {}
        self._noted: Written | None = None
        """What had been written when access times last were."""
        self._known = Known()
        self._indexed = 0
        self._closed = False
        self._prepared = False
        _create(path)
        _refuse_truncated(path)
        with self._faults():
            self._connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise
            self._prepared = True

    # transactions

    @contextmanager
    def read(self) -> Iterator[SqliteReading]:
        with self._lock, self._faults():
            self._begin("BEGIN")
            try:
                yield SqliteReading(self._connection, self._known)
            finally:
                self._roll_back()

    @contextmanager
    def write(self, *, patient: bool = True, durable: bool = True) -> Iterator[SqliteWriting]:
        with self._lock, self._faults(), nullcontext() if durable else self._unsynced():
            self._begin("BEGIN IMMEDIATE", patient=patient)
            try:
                transaction = SqliteWriting(self._connection, self._known)
                yield transaction
                transaction.finish()
                self._write_touches(_NOTE_IF_THERE)
                self._connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                self._known.doubt()
                raise
            self._touched.clear()
            self._indexed += transaction.indexed

    @contextmanager
    def _unsynced(self) -> Iterator[None]:
        if self._connection.in_transaction:  # `_begin` says so
            yield
            return
        self._connection.execute("PRAGMA synchronous=NORMAL")
        try:
            yield
        finally:
            self._connection.execute("PRAGMA synchronous=FULL")

    def _begin(self, statement: str, *, patient: bool = True) -> None:
        if self._connection.in_transaction:
            raise StoreError(f"{self.place}: this process is still reading (everything, perhaps): let it finish first")
        if patient:
            self._connection.execute(statement)
            return
        self._connection.set_busy_handler(None)
        try:
            self._connection.execute(statement)
        finally:
            self._connection.set_busy_handler(self._patience())

    @property
    def idle(self) -> bool:
        return not self._closed and not self._connection.in_transaction

    def _roll_back(self) -> None:
        # A full or failing disk may have rolled back already.
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def touch(self, numbers: Iterable[int], at: datetime) -> None:
        with self._lock:
            self._touched.update(dict.fromkeys(numbers, micros(at)))
            if len(self._touched) > _TOUCHES_MOST:
                self._flush_touches()

    def rest(self) -> None:
        with self._lock, suppress(StoreError), self._faults():  # plan B: whoever asks next is told what is wrong
            if len(self._touched) > _TOUCHES_HELD and self.idle:
                self._flush_touches()

    def _write_touches(self, statement: str) -> None:
        if self._touched:  # in the order of the table: two thirds of the time
            self._connection.executemany(statement, sorted(self._touched.items()))

    def _flush_touches(self) -> None:
        """Writes access times without a sync and without waiting for anyone."""
        if not self._touched:
            return
        self._connection.set_busy_handler(None)
        try:
            # Not OFF: should this commit move the log into the file, memories could be lost with the access times.
            self._connection.execute("PRAGMA synchronous=NORMAL")
            with self._connection:
                alone = written(self._connection) == self._noted
                self._write_touches(_NOTE if alone else _NOTE_IF_THERE)
                self._noted = written(self._connection)
        except (apsw.BusyError, apsw.ReadOnlyError, apsw.FullError, apsw.IOError):
            pass  # plan B: these access times are lost, as promised
        finally:
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.set_busy_handler(self._patience())
        self._touched.clear()

    def widen(self) -> None:
        with self._lock, self._faults():
            self._connection.execute(f"PRAGMA cache_size=-{_WIDE}")

    def close(self) -> None:
        with self._lock, self._faults():
            try:
                self._flush_touches()
                if self._indexed >= _BULK and not self._closed:
                    self.merge(1 + self._indexed // _BULK)
            finally:
                self._closed = True
                self._connection.close()

    # keeping it well

    def merge(self, steps: int) -> None:
        size = -_MERGED  # the minus sign: all segments, also where there are few
        with suppress(StoreError):  # plan B: the index is as good as before
            for _ in range(steps):
                with self.write(patient=False, durable=False):
                    before = self._connection.total_changes()
                    self._connection.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (size,))
                    if self._connection.total_changes() - before < _PROGRESS:
                        return
                size = _MERGED

    def check(self) -> list[Finding]:
        with self.read():  # of one moment, whatever others write meanwhile
            return findings(self._connection, self._path)

    def rebuild(self, words: Callable[[Reading], Iterator[tuple[Memory, Words]]]) -> int:
        with self.write() as transaction:
            self._connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
            self._connection.execute("DELETE FROM areas")
            self._connection.execute(RENEWED)
            astray = str([number for (number,) in self._connection.execute(ASTRAY)])
            for table in ("signs", "vectors"):
                self._connection.execute(f"DELETE FROM {table} WHERE memory IN (SELECT value FROM json_each(?))", (astray,))
            return sum(transaction.index(memory, its) for memory, its in words(transaction))

    def renew(
        self, words: Callable[[Memory], Words], settle: Callable[[Writing], None], watch: Callable[[int], None]
    ) -> int:
        from omoide.store.sqlite_renewal import renewed  # noqa: PLC0415 - once in a while, not at every start

        return renewed(self.write, self._connection, words, settle, watch)

    @contextmanager
    def alone(self, task: str) -> Iterator[None]:
        # A lock of SQLite's own on a file beside: it ends with the process, however that ends, and on every platform.
        path = self._path.with_name(f".{self._path.name}.{task}")
        _create(path)
        lock = apsw.Connection(str(path))
        try:
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except apsw.BusyError as error:
                raise StoreBusy(f"{self.place}: another {task} is at work: let it finish") from error
            yield
            path.unlink()
        finally:
            lock.close()

    def scrub(self) -> None:
        with self._lock, self._faults():
            try:
                # Merging all segments drops the deleted terms from them, VACUUM rewrites every page, the log goes last.
                self._connection.execute("INSERT INTO words (words) VALUES ('optimize')")
                self._connection.execute("VACUUM")
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError as error:
                raise StoreBusy(
                    f"{self.place}: it is erased, but another process is at work, and traces stay in the file until the"
                    " next purge: purge again when that process is done, also with nothing to purge"
                ) from error

    def backup(self, target: Path) -> None:
        from omoide.store.backups import backed_up  # noqa: PLC0415 - once in a while, not at every start

        def copied(path: Path) -> None:
            _create(path)
            with self._lock, self._faults(), closing(apsw.Connection(str(path))) as copy:
                with copy.backup("main", self._connection, "main") as step:
                    step.step()
                copy.execute("PRAGMA journal_mode=DELETE")

        backed_up(target, copied)

    # opening

    def _prepare(self) -> None:
        steps = sorted(self._migrations.glob("[0-9]*.sql"))
        self._connection.set_busy_handler(self._patience())
        # Before anything else: a file that is not ours, or from a newer omoide, stays as it is. In a transaction, because
        # another process may be making the tables just now.
        self._connection.execute("BEGIN")
        try:
            self._recognise(len(steps))
        finally:
            self._roll_back()
        self._connection.register_fts5_function("counts", counts)
        self._connection.create_scalar_function("folded", _folded, 1, deterministic=True)
        self._log_ahead()
        for pragma in ("synchronous=FULL", "cell_size_check=ON"):
            self._connection.execute("PRAGMA " + pragma)
        self._migrate(steps)
        # Otherwise SQLite plans statements anew for each value, 10 µs each, though without statistics it plans the same.
        self._connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        self._connection.execute("PRAGMA temp_store=MEMORY")
        self._connection.execute(INSTANCES)

    def _log_ahead(self) -> None:
        """Switches to the write-ahead log. SQLite has no patience of its own when two do so to a new file at once."""
        patience = self._patience()
        for tries in count():
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
            except apsw.BusyError:
                if not patience(tries):
                    raise
            else:
                return

    def _migrate(self, steps: Sequence[Path]) -> None:
        connection = self._connection
        if connection.pragma("user_version") == len(steps) and connection.pragma("application_id") == APPLICATION:
            return
        for number, step in enumerate(steps, 1):
            connection.execute("BEGIN IMMEDIATE")
            try:
                if self._recognise(len(steps)) < number:
                    # To the end: a statement that answers with rows would hold up those after it.
                    connection.execute(step.read_text(encoding="utf-8")).fetchall()
                    connection.pragma("application_id", APPLICATION)
                    connection.pragma("user_version", number)
                connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    def _recognise(self, newest: int) -> int:
        """The schema the database is at; 0 for a new one."""
        application = self._connection.pragma("application_id")
        known: int = self._connection.pragma("user_version")
        tables = self._connection.execute("SELECT count(*) FROM sqlite_schema").get
        if application == APPLICATION and known > newest:
            raise StoreTooNew(f"{self.place} is at schema {known}, this omoide knows only {newest}: upgrade omoide")
        if application != APPLICATION and (application or known or tables):
            raise StoreError(f"{self.place} is a database of another program: choose another file with --store")
        return known

    def _patience(self) -> Callable[[int], bool]:
        started = 0.0

        def wait(tries: int) -> bool:
            # SQLite's own handler sleeps longer and longer, so a newcomer overtakes: short, uneven naps are fairer.
            nonlocal started
            if tries == 0:
                started = time.monotonic()
            elif time.monotonic() - started > self._wait:
                return False
            time.sleep(random.uniform(0.0005, 0.008))  # noqa: S311 - no secret here
            return True

        return wait

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """SQLite's errors in our words: what happened to which file, and what to do."""
        try:
            yield
        except apsw.BusyError as error:
            raise StoreBusy(
                f"{self.place}: another process has been writing for {self._wait:g} s: try again, or raise `wait`"
            ) from error
        except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError, msgspec.DecodeError) as error:
            # The last two: a damaged page can look whole to SQLite, and hold what we never wrote.
            raise StoreDamaged(
                f"{self.place} is damaged ({error}): run `omoide doctor`, and restore a backup if it cannot be mended"
            ) from error
        except apsw.SQLError as error:
            if not self._prepared:
                raise
            # Our statements are right for our tables: one that refuses them is a table no longer, such as the settings of
            # FTS5 lost from its page.
            raise StoreDamaged(f"{self.place} is damaged ({error}): restore a backup") from error
        except apsw.FullError as error:
            raise StoreFull(f"{self.place}: the disk is full, nothing was changed: make room and try again") from error
        except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
            raise StoreReadOnly(
                f"{self.place} cannot be opened for writing ({error}): check the permissions of the file and its"
                " directory, or choose another with --store"
            ) from error
        except apsw.IOError as error:
            raise StoreError(f"{self.place}: the disk reported an error ({error}): nothing was changed") from error


def _folded(*text: Any) -> str:
    """A text without case, for SQL: SQLite's own lower() knows only ASCII."""
    return str(text[0]).casefold()


def _require_sqlite() -> None:
    version = apsw.sqlite_lib_version()
    if [int(part) for part in version.split(".")] < [int(part) for part in OLDEST_SQLITE.split(".")]:
        raise StoreError(f"SQLite {version} can lose data, {OLDEST_SQLITE} or newer is needed: upgrade apsw")


def _create(path: Path) -> None:
    """Makes the file and its directories readable by their owner alone, before SQLite could make them otherwise."""
    try:
        # One by one: `mkdir(parents=True)` gives the mode only to the last of them.
        for directory in reversed([path.parent, *path.parent.parents]):
            directory.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFull(f"{path} cannot be created: the disk is full, make room and try again") from error
        raise StoreReadOnly(
            f"{path} cannot be created ({error.strerror}): choose another place with --store or OMOIDE_STORE"
        ) from error


def _refuse_truncated(path: Path) -> None:
    """SQLite notices a missing page only when it needs it; we never serve the half that is left."""
    # Looked at twice, because another process may be moving its log into the file just now.
    if _missing(path) and (missing := _missing(path)):
        raise StoreDamaged(f"{path} is damaged ({missing}): restore a backup, or choose another file with --store")


def _missing(path: Path) -> str:
    """What the file lacks to be a whole database, in words; nothing for a whole or a new one."""
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size:
        return ""  # the log may hold the missing pages
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
            size = file.seek(0, os.SEEK_END)
    except OSError as error:
        raise StoreReadOnly(
            f"{path} cannot be read ({error.strerror}): check its permissions, or choose another file with --store"
        ) from error
    if not header:
        return ""
    if not _MAGIC.startswith(header[: len(_MAGIC)]):
        return "it does not begin like a database"
    if len(header) < _HEADER:
        return f"only {size} bytes are left of it"
    page = int.from_bytes(header[16:18], "big")
    whole = (65536 if page == 1 else page) * int.from_bytes(header[28:32], "big")
    return f"it should have {whole:,} bytes and has {size:,}" if size < whole else ""
