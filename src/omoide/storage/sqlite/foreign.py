"""Read a table of a SQLite database that another program made.

It is read from a private copy: SQLite may roll back a journal or create files beside a database that it only reads, and the
files of another program are not ours to change.
"""

import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from omoide.errors import Unreadable

_MAGIC = b"SQLite format 3\0"
_COMPANIONS = ("-wal", "-journal")
"""The files beside a database that contain a part of it."""
_TRIES = 5


def read_table(path: Path, table: str, columns: Sequence[str], what: str) -> list[dict[str, Any]]:
    """Return the rows of a table by their rowid, each with these columns; the file itself is left as it is.

    `what` says what kind of database is expected. Raises Unreadable if the file cannot be read or is not such a database.
    """
    with tempfile.TemporaryDirectory(prefix="omoide-") as directory:
        copy = Path(directory, "copy.db")
        _copy(path, copy, what)
        try:
            with closing(apsw.Connection(str(copy))) as connection:
                connection.execute("PRAGMA trusted_schema=OFF")
                _require_columns(connection, path, table, columns, what)
                rows = connection.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY rowid")
                return [dict(zip(columns, row, strict=True)) for row in rows]
        except (apsw.Error, UnicodeDecodeError) as error:
            raise Unreadable(f"{path} cannot be read as {what} ({error}): repair it, or name another file") from error


def _require_columns(connection: apsw.Connection, path: Path, table: str, columns: Sequence[str], what: str) -> None:
    present = {str(row[0]) for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}
    missing = [column for column in columns if column not in present]
    if missing:
        lacks = f"has no table {table}" if not present else f"has a table {table} without {', '.join(missing)}"
        raise Unreadable(f"{path} is not {what}: it {lacks}. Name another file")


def _copy(path: Path, copy: Path, what: str) -> None:
    """Copy a database with its log or journal. Raises Unreadable if another program keeps writing to it."""
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise Unreadable(f"{path} is not {what}: it is no SQLite database. Name another file")
        for _ in range(_TRIES):
            before = _stamps(path)
            for companion in ("", *_COMPANIONS):
                if Path(f"{path}{companion}").exists():
                    shutil.copyfile(f"{path}{companion}", f"{copy}{companion}")
                else:
                    Path(f"{copy}{companion}").unlink(missing_ok=True)
            if _stamps(path) == before:
                return
    except OSError as error:
        raise Unreadable(f"{path} cannot be read ({error.strerror}): name another file") from error
    raise Unreadable(f"{path} is being written to: stop the program that uses it, and try again")


def _stamps(path: Path) -> list[tuple[int, int] | None]:
    """What changes when somebody writes to the database."""
    found: list[tuple[int, int] | None] = []
    for companion in ("", *_COMPANIONS):
        try:
            stat = os.stat(f"{path}{companion}")  # noqa: PTH116 - a name, not a path: the companions are made of it
        except FileNotFoundError:
            found.append(None)
        else:
            found.append((stat.st_mtime_ns, stat.st_size))
    return found
