"""Run the statements of one SQLite transaction. No cursor leaves this module, so none can outlive its transaction.

A cursor that is freed after its transaction, by a thread that does not have the store's lock, can leave its connection
inside a read transaction. So rows are returned as lists, or as a stream that ends with the transaction.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import apsw

from omoide.errors import StoreError

WriteCounters = tuple[int, int]
"""Differs after something was written, by another connection or by this one."""


class Transaction:
    """Runs statements on a connection until it is closed; from then on every use raises StoreError."""

    def __init__(self, connection: apsw.Connection):
        self._connection = connection
        self._execute: Callable[[str, Any], apsw.Cursor] = connection.execute
        self._execute_many: Callable[[str, Iterable[Any]], apsw.Cursor] = connection.executemany
        self._streams: list[apsw.Cursor] = []
        self._data_version: int | None = None
        self._ended = False

    def rows(self, statement: str, values: Any = ()) -> list[Any]:
        """Return all rows."""
        return self._execute(statement, values).fetchall()

    def get(self, statement: str, values: Any = ()) -> Any:
        """Return the first row: None if there is none, the value itself if it has one column."""
        return self._execute(statement, values).get

    def run(self, statement: str, values: Any = ()) -> None:
        """Run a statement that returns nothing."""
        self._execute(statement, values)

    def run_many(self, statement: str, values: Iterable[Any]) -> None:
        self._execute_many(statement, values)

    def stream(self, statement: str, values: Any = ()) -> Iterator[Any]:
        """Return the rows one by one, for callers that may need only the first. Ends with the transaction."""
        cursor = self._execute(statement, values)
        self._streams.append(cursor)
        return _each(cursor)

    def pages(self, statement: str) -> Iterator[Any]:
        """Return the rows one by one, read in batches: the statement returns some of the rows after a number, which is their
        first column."""
        after = 0
        while rows := self.rows(statement, (after,)):
            for row in rows:
                if self._ended:
                    _refuse()
                yield row
            after = rows[-1][0]

    def last_number(self) -> int:
        """Return the number of the last inserted row."""
        return self._connection.last_insert_rowid()

    def changes(self) -> int:
        """Return how many rows the last statement changed."""
        return self._connection.changes()

    def total_changes(self) -> int:
        """Return how many rows this connection has changed since it was opened."""
        return self._connection.total_changes()

    def data_version(self) -> int:
        """Return a number that is another one after another connection has written; within a transaction it is the same."""
        if self._data_version is None:
            self._data_version = self.get("PRAGMA data_version")
        return self._data_version

    def write_counters(self) -> WriteCounters:
        return self.data_version(), self.total_changes()

    def close(self) -> None:
        """End all reads, before the transaction itself ends. Called by the store, which has its lock."""
        self._ended = True
        self._execute = self._execute_many = _refuse
        for cursor in self._streams:
            cursor.close(force=True)
        self._streams.clear()


def _each(cursor: apsw.Cursor) -> Iterator[Any]:
    try:
        yield from cursor
    except apsw.CursorClosedError:  # raises what says why
        _refuse()


def _refuse(*_: object) -> NoReturn:
    raise StoreError("this transaction has ended: read what is needed of it inside its `with` block")
