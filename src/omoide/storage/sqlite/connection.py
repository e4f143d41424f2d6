"""Open a SQLite database: recognise it, migrate it to the newest schema, and set it up to be durable and shared."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import apsw
import msgspec

from omoide.errors import StoreDamaged, StoreError, StoreReplaced, StoreTooNew
from omoide.storage.sqlite.file import OpenFiles, create, identity, refuse_truncated
from omoide.storage.sqlite.postings import INSTANCES, count_function

OLDEST_SQLITE = "3.51.3"  # up to 3.51.2 a WAL reset could lose committed pages
APPLICATION = 0x6F6D6F69  # "omoi", by which `file` and omoide recognise the database
_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
_TRIES = 3
_FIRST_WITH_META = 12  # the first schema that has the table meta


class Source(msgspec.Struct, frozen=True):
    """What is opened, and how."""

    path: Path
    wait: float
    """Seconds that a statement waits for another writer."""
    migrations: Path
    index_version: int
    """Of the function that makes index entries: written into a new database."""


class Files(Protocol):
    """The files of a connection."""

    @property
    def log_is_left_behind(self) -> bool: ...

    @property
    def log_is_foreign(self) -> bool: ...

    def require_unchanged(self) -> None: ...


class Opened(NamedTuple):
    """A connection that is ready for use."""

    connection: apsw.Connection
    files: Files
    index_version: int
    """Of the function that made the index of this database; 0: from before versions were recorded."""
    is_exclusive: bool = False
    """Whether nobody else can use the database as long as this connection is open: the disk is full."""


def require_sqlite() -> None:
    version = apsw.sqlite_lib_version()
    if [int(part) for part in version.split(".")] < [int(part) for part in OLDEST_SQLITE.split(".")]:
        raise StoreError(f"SQLite {version} can lose data, {OLDEST_SQLITE} or newer is needed: upgrade apsw")


def open_connection(source: Source) -> Opened:
    """Open the database, or create it where there is none."""
    create(source.path)
    refuse_truncated(source.path)
    path = str(source.path.absolute())
    try:
        return _open(path, source)
    except (apsw.IOError, apsw.FullError, apsw.CantOpenError):
        # A full disk has no room for the index of the log, which all processes share. Alone, SQLite keeps it in memory.
        try:
            return _open(path, source, is_exclusive=True)
        except apsw.Error:  # fallback: the first error says what is wrong
            pass
        raise


def _open(path: str, source: Source, *, is_exclusive: bool = False) -> Opened:
    connection, opened = _connect(path)
    try:
        if is_exclusive:
            connection.pragma("locking_mode", "exclusive")
        index_version = prepare(connection, source)
        files = OpenFiles(path, opened, connection.filename_wal)
        return Opened(connection, files, index_version, is_exclusive)
    except BaseException:
        connection.close()
        raise


def busy_handler(wait: float) -> Callable[[int], bool]:
    """Return a busy handler that waits so many seconds for other writers."""
    started = 0.0

    def handle(tries: int) -> bool:
        # SQLite's own handler sleeps longer and longer, so that a later process overtakes: short, random sleeps are fairer.
        nonlocal started
        if tries == 0:
            started = time.monotonic()
        elif time.monotonic() - started > wait:
            return False
        import random  # lazy: only waiting needs it

        time.sleep(random.uniform(0.0005, 0.008))  # noqa: S311 - no secret here
        return True

    return handle


def _connect(path: str) -> tuple[apsw.Connection, tuple[int, int] | None]:
    """Return a connection, and the identity of the file that it has open."""
    # The file can be replaced between the two calls; and on some file systems the first opening for writing changes its
    # inode. So: until it is the same before and after.
    for _ in range(_TRIES):
        before = identity(path)
        connection = apsw.Connection(path, flags=_FLAGS)
        if before is not None and identity(path) == before:
            return connection, before
        connection.close()
    raise StoreReplaced(f"{path} is being replaced by other files: try again when that is done")


def prepare(connection: apsw.Connection, source: Source) -> int:
    """Bring a connection and its database to the state that every transaction expects. Return the index version."""
    steps = sorted(source.migrations.glob("[0-9]*.sql"))
    connection.set_busy_handler(busy_handler(source.wait))
    # First: a file of another program, or of a newer omoide, must stay as it is. In a transaction, because another process
    # may be creating the tables.
    connection.execute("BEGIN")
    try:
        schema = _recognise(connection, source, len(steps))
        index_version = read_index_version(connection) if schema >= _FIRST_WITH_META else 0
    finally:
        roll_back(connection)
    connection.register_fts5_function("counts", count_function)
    connection.create_scalar_function("folded", _fold_case, 1, deterministic=True)
    _enable_wal(connection, source)
    for pragma in ("synchronous=FULL", "cell_size_check=ON"):
        connection.execute("PRAGMA " + pragma)
    if _migrate(connection, source, steps):
        index_version = read_index_version(connection)
    # Otherwise SQLite plans a statement again for each value, 10 µs each; without statistics the plan is the same.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute(INSTANCES)
    return index_version


def read_index_version(connection: apsw.Connection) -> int:
    version: int | None = connection.execute("SELECT value FROM meta WHERE name = 'index_version'").get
    return version or 0


def roll_back(connection: apsw.Connection) -> None:
    # A full or failing disk may have rolled back already.
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _enable_wal(connection: apsw.Connection, source: Source) -> None:
    """Switch to the write-ahead log. SQLite does not wait by itself if two processes do so on a new file at once."""
    wait = busy_handler(source.wait)
    for tries in count():
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except apsw.BusyError:
            if not wait(tries):
                raise
        else:
            return


def _migrate(connection: apsw.Connection, source: Source, steps: Sequence[Path]) -> bool:
    """Bring the database to the newest schema. Return whether it has got one with a table `meta`."""
    if connection.pragma("user_version") == len(steps) and connection.pragma("application_id") == APPLICATION:
        return False
    trusted = False
    for number, step in enumerate(steps, 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            known = _recognise(connection, source, len(steps))
            if known < number:
                if known and not trusted:
                    _require_schema(connection, source, steps[:known])
                trusted = True
                _apply(connection, source, step)
                if number == _FIRST_WITH_META:  # nothing to rebuild where there is nothing
                    connection.execute(
                        "INSERT INTO meta SELECT 'index_version', ? WHERE NOT EXISTS (SELECT 1 FROM memories)",
                        (source.index_version,),
                    )
                connection.pragma("application_id", APPLICATION)
                connection.pragma("user_version", number)
            connection.execute("COMMIT")
        except BaseException:
            roll_back(connection)
            raise
    return len(steps) >= _FIRST_WITH_META


def _apply(connection: apsw.Connection, source: Source, step: Path) -> None:
    try:
        # All rows: a statement that returns rows would otherwise keep the next ones from running.
        connection.execute(step.read_text(encoding="utf-8")).fetchall()
    except apsw.SQLError as error:
        raise StoreError(
            f"{source.path}: migration {step.name} failed ({error}) and changed nothing:"
            " use the previous version of omoide, and report it"
        ) from error


def _require_schema(connection: apsw.Connection, source: Source, steps: Sequence[Path]) -> None:
    """Raise StoreDamaged if the tables are not those of the schema number: then the number is damaged."""
    with closing(apsw.Connection(":memory:")) as model:
        model.create_scalar_function("folded", _fold_case, 1, deterministic=True)
        for step in steps:
            model.execute(step.read_text(encoding="utf-8")).fetchall()
        expected = _columns(model)
    found = _columns(connection)
    wrong = [name for name, columns in expected.items() if found.get(name) != columns]
    if wrong:
        raise StoreDamaged(
            f"{source.path} is damaged (it says that it is at schema {len(steps)}, but its table {wrong[0]!r} is not of that"
            " schema): restore a backup"
        )


def _columns(connection: apsw.Connection) -> dict[str, list[str]]:
    """Return the names of all tables with those of their columns."""
    # Names, not the text of the CREATE statements: that also contains comments, which may change.
    columns: list[Any] = connection.execute(
        "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'"
        " ORDER BY t.name, c.cid"
    ).fetchall()
    found: dict[str, list[str]] = {}
    for table, column in columns:
        found.setdefault(table, []).append(column)
    return found


def _recognise(connection: apsw.Connection, source: Source, newest: int) -> int:
    """Return the schema number of the database; 0 for a new one."""
    application = connection.pragma("application_id")
    known: int = connection.pragma("user_version")
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    if application == APPLICATION and (known < 0 or (known == 0 and tables)):
        raise StoreDamaged(f"{source.path} is damaged (it says that it is at schema {known}): restore a backup")
    if application == APPLICATION and known > newest:
        raise StoreTooNew(f"{source.path} is at schema {known}, this omoide knows only {newest}: upgrade omoide")
    if application != APPLICATION and (application or known or tables):
        raise StoreError(f"{source.path} is a database of another program: choose another file with --store")
    return known


def _fold_case(*text: Any) -> str:
    """Casefold a text, for SQL: SQLite's own lower() knows only ASCII."""
    return str(text[0]).casefold()
