"""The embedded store: one SQLite file, durable at every acknowledged write, shared by any number of processes."""

import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import apsw

from omoide.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreReadOnly, StoreTooNew
from omoide.model import Memory
from omoide.store.base import Finding, Reading, Words
from omoide.store.sql import micros
from omoide.store.sqlite_care import findings
from omoide.store.sqlite_transaction import Transaction, counts

OLDEST_SQLITE = "3.51.3"  # up to 3.51.2 a WAL reset could lose committed pages
APPLICATION = 0x6F6D6F69  # "omoi", so that `file` and we know our own
MIGRATIONS = Path(__file__).parent / "migrations"
_TOUCHES_HELD = 500


class SqliteStore:
    def __init__(self, path: Path, wait: float = 30.0, migrations: Path = MIGRATIONS):
        _require_sqlite()
        self._migrations = migrations
        self.place = str(path)
        self._path = path
        self._wait = wait
        self._lock = threading.RLock()
        self._touched: dict[int, int] = {}
        _create(path)
        _refuse_truncated(path)
        with self._faults():
            self._connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
            self._connection.set_busy_handler(self._patience())
            self._connection.register_fts5_function("counts", counts)
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "cell_size_check=ON"):
                self._connection.execute("PRAGMA " + pragma)
            self._migrate()

    # transactions

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with self._lock, self._faults():
            self._connection.execute("BEGIN")
            try:
                yield Transaction(self._connection)
            finally:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        with self._lock, self._faults():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                transaction = Transaction(self._connection)
                yield transaction
                transaction.finish()
                self._write_touches()
                self._connection.execute("COMMIT")
            except BaseException:
                # A full disk may have rolled back already.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._touched.clear()

    def touch(self, numbers: Iterable[int], at: datetime) -> None:
        with self._lock:
            self._touched.update(dict.fromkeys(numbers, micros(at)))
            if len(self._touched) > _TOUCHES_HELD:
                self._flush_touches()

    def _write_touches(self) -> None:
        if self._touched:
            # The memory may have been purged meanwhile by another process: then there is nothing to note.
            self._connection.executemany(
                "INSERT INTO accesses SELECT number, ?2 FROM memories WHERE number = ?1"
                " ON CONFLICT (memory) DO UPDATE SET last_accessed_at = max(last_accessed_at, excluded.last_accessed_at)",
                self._touched.items(),
            )

    def _flush_touches(self) -> None:
        """Writes access times without a sync and without waiting for anyone."""
        if not self._touched:
            return
        self._connection.set_busy_handler(None)
        try:
            self._connection.execute("PRAGMA synchronous=OFF")
            with self._connection:
                self._write_touches()
        except (apsw.BusyError, apsw.ReadOnlyError, apsw.FullError, apsw.IOError):
            pass  # plan B: these access times are lost, as promised
        finally:
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.set_busy_handler(self._patience())
        self._touched.clear()

    def close(self) -> None:
        with self._lock:
            self._flush_touches()
            self._connection.close()

    # keeping it well

    def check(self) -> list[Finding]:
        with self._lock, self._faults():
            return findings(self._connection, self._path)

    def rebuild(self, words: Callable[[Reading], Iterator[tuple[Memory, Words]]]) -> int:
        with self.write() as transaction:
            self._connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
            self._connection.execute("DELETE FROM areas")
            return sum(transaction.index(memory, its) for memory, its in words(transaction))

    def scrub(self) -> None:
        with self._lock, self._faults():
            # Merging all segments drops the deleted terms from them; VACUUM rewrites every page; the log is emptied last.
            self._connection.execute("INSERT INTO words (words) VALUES ('optimize')")
            self._connection.execute("VACUUM")
            deadline = time.monotonic() + self._wait
            while self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)[0] > 0:
                if time.monotonic() > deadline:
                    raise StoreBusy(f"{self.place} is being read by another process: close it and purge again")

    def backup(self, target: Path) -> None:
        if target.exists():
            raise StoreError(f"{target} exists already: choose another name, or move it away")
        partial = target.with_name(target.name + f".{os.getpid()}.part")
        _create(partial)
        with self._lock, self._faults():
            copy = apsw.Connection(str(partial))
            with copy.backup("main", self._connection, "main") as step:
                step.step()
            copy.execute("PRAGMA journal_mode=DELETE")
            copy.close()
        _sync(partial)
        os.link(partial, target)  # unlike a rename, this never replaces a file that appeared meanwhile
        partial.unlink()
        _sync(target.parent)

    # opening

    def _migrate(self) -> None:
        steps = sorted(self._migrations.glob("[0-9]*.sql"))
        connection = self._connection
        if connection.pragma("user_version") == len(steps) and connection.pragma("application_id") == APPLICATION:
            return
        for number, step in enumerate(steps, 1):
            connection.execute("BEGIN IMMEDIATE")
            try:
                known = connection.pragma("user_version")
                self._recognise(known, len(steps))
                if known < number:
                    connection.execute(step.read_text(encoding="utf-8"))
                    connection.pragma("application_id", APPLICATION)
                    connection.pragma("user_version", number)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _recognise(self, known: int, newest: int) -> None:
        if known > newest:
            raise StoreTooNew(f"{self.place} is at schema {known}, this omoide knows only {newest}: upgrade omoide")
        ours = self._connection.pragma("application_id") == APPLICATION
        foreign = self._connection.execute("SELECT count(*) FROM sqlite_schema").get
        if not ours and foreign:
            raise StoreError(f"{self.place} is a database of another program: choose another file with --store")

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
        except (apsw.CorruptError, apsw.NotADBError) as error:
            raise StoreDamaged(
                f"{self.place} is damaged ({error}): run `omoide doctor`, and restore a backup if it cannot be mended"
            ) from error
        except apsw.FullError as error:
            raise StoreFull(f"{self.place}: the disk is full, nothing was changed: make room and try again") from error
        except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
            raise StoreReadOnly(
                f"{self.place} cannot be opened for writing ({error}): check the permissions of the file and its"
                " directory, or choose another with --store"
            ) from error
        except apsw.IOError as error:
            raise StoreError(f"{self.place}: the disk reported an error ({error}): nothing was changed") from error


def _require_sqlite() -> None:
    version = apsw.sqlite_lib_version()
    if [int(part) for part in version.split(".")] < [int(part) for part in OLDEST_SQLITE.split(".")]:
        raise StoreError(f"SQLite {version} can lose data, {OLDEST_SQLITE} or newer is needed: upgrade apsw")


def _create(path: Path) -> None:
    """Makes the file and its directory readable by their owner alone, before SQLite could make them otherwise."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreReadOnly(
            f"{path} cannot be created ({error.strerror}): choose another place with --store or OMOIDE_STORE"
        ) from error


def _refuse_truncated(path: Path) -> None:
    """SQLite notices a missing page only when it needs it; we never serve the half that is left."""
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size:
        return  # the log may hold the missing pages
    with path.open("rb") as file:
        header = file.read(100)
        size = file.seek(0, os.SEEK_END)
    if not header:
        return
    if len(header) < 100:
        raise StoreDamaged(f"{path} is damaged (only {size} bytes are left of it): restore a backup")
    page = int.from_bytes(header[16:18], "big")
    page = 65536 if page == 1 else page
    pages = int.from_bytes(header[28:32], "big")
    if header[:16] == b"SQLite format 3\0" and size < page * pages:
        raise StoreDamaged(f"{path} is damaged (it should have {page * pages} bytes and has {size}): restore a backup")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

