"""Rebuild the index beside the old one and swap them in one transaction, while others read and write."""

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

from omoide.errors import StoreError
from omoide.storage.base import Writer
from omoide.storage.capabilities import Expected
from omoide.storage.rows import COLUMNS, TABLES, memory_from_row
from omoide.storage.sqlite.integrity import COUNTED, DANGLING_VECTORS
from omoide.storage.sqlite.postings import RENEWED, document_id
from omoide.storage.sqlite.reader import area
from omoide.storage.sqlite.transaction import Transaction
from omoide.storage.sqlite.writer import SqliteWriter

_BATCH = 500
_NEW = "words_beside"
_INDEX = f"INSERT INTO {_NEW} (rowid, topic, tags, content) VALUES (?, ?, ?, ?)"
_ROWS = f"SELECT {COLUMNS}, m.fingerprint, m.blocking_key, m.length FROM {TABLES} WHERE "
_ADDED = 3  # columns after those of a memory

Write = Callable[[], AbstractContextManager[SqliteWriter]]


class _NewIndex:
    """What is known of the new index while it is filled."""

    def __init__(self, expected: Expected):
        self._expected = expected
        self.documents: dict[int, int] = {}
        """The row id of each memory in the index."""
        self.updates: dict[int, tuple[int, int, int]] = {}
        """Fingerprint, blocking key and length of the memories whose rows have others. Written with the swap: until then
        the rows fit the old index."""

    def add(self, tx: Transaction, where: str, values: tuple[int, ...]) -> list[int]:
        """Index the memories of this clause, and return their numbers."""
        projects = {path: number for number, path in tx.rows("SELECT number, path FROM projects")} | {"": 0}
        rows = tx.rows(_ROWS + where, values)
        for row in rows:
            memory = memory_from_row(row[:-_ADDED])
            fingerprint, entry = self._expected(memory)
            columns = (fingerprint, entry.blocking_key, entry.length)
            if row[-_ADDED:] != columns:
                self.updates[memory.number] = columns
            place = area(projects[memory.scope.path], memory.state)
            if place is not None:
                self.documents[memory.number] = document_id(place, memory.number)
                tx.run(_INDEX, (self.documents[memory.number], entry.topic, entry.tags, entry.content))
        return [row[0] for row in rows]

    def discard(self, tx: Transaction, number: int) -> None:
        """Take a memory out again."""
        self.updates.pop(number, None)
        if number in self.documents:
            tx.run(f"DELETE FROM {_NEW} WHERE rowid = ?", (self.documents.pop(number),))


def rebuild(
    write: Write,
    expected: Expected,
    version: int,
    settle: Callable[[Writer], None] | None,
    watch: Callable[[int], None] | None,
) -> int:
    """Index every memory again and return how many. Killed at any moment, everything is as before or as after."""
    index = _NewIndex(expected)
    try:
        mark = _create_table(write)
        _fill(write, index, watch)
        with write() as writer:
            _swap(writer, index, mark, version)
            if settle is not None:
                settle(writer)
    except BaseException:
        with suppress(StoreError), write() as writer:  # fallback: the table stays, and the next rebuild drops it
            writer.transaction.run(f"DROP TABLE IF EXISTS {_NEW}")
        raise
    return len(index.documents)


def _create_table(write: Write) -> int:
    """Create the new table, and return the last event before it."""
    with write() as writer:
        tx = writer.transaction
        # What a killed process left is of no use: nobody knows what was written since.
        tx.run(f"DROP TABLE IF EXISTS {_NEW}")
        statement = tx.get("SELECT sql FROM sqlite_schema WHERE name = 'words'")
        tx.run(statement.replace("words", _NEW, 1))
        for name, value in (("hashsize", 4194304), ("crisismerge", 8)):  # as in the first migration
            tx.run(f"INSERT INTO {_NEW} ({_NEW}, rank) VALUES (?, ?)", (name, value))
        return writer.mark().event


def _fill(write: Write, index: _NewIndex, watch: Callable[[int], None] | None) -> None:
    """Fill the new table, some memories in each transaction."""
    after = 0
    while True:
        with write() as writer:
            numbers = index.add(writer.transaction, "m.number > ? ORDER BY m.number LIMIT ?", (after, _BATCH))
        if not numbers:
            return
        after = numbers[-1]
        if watch is not None:
            watch(len(numbers))


def _swap(writer: SqliteWriter, index: _NewIndex, mark: int, version: int) -> None:
    """Add what was written meanwhile, and put the new table in place of the old one."""
    tx = writer.transaction
    changed = writer.memories_changed_since(mark)
    for number in changed:
        index.discard(tx, number)
    for number in changed:
        index.add(tx, "m.number = ?", (number,))
    tx.run_many(
        "UPDATE memories SET fingerprint = ?, blocking_key = ?, length = ? WHERE number = ?",
        ((*columns, number) for number, columns in index.updates.items()),
    )
    tx.run("DROP TABLE words")
    tx.run(f"ALTER TABLE {_NEW} RENAME TO words")
    tx.run("DELETE FROM areas")
    tx.run(f"INSERT INTO areas {COUNTED}")
    dangling = str([number for (number,) in tx.rows(DANGLING_VECTORS)])
    for table in ("sign_bits", "vectors"):
        tx.run(f"DELETE FROM {table} WHERE memory IN (SELECT value FROM json_each(?))", (dangling,))
    tx.run(RENEWED)
    tx.run("INSERT OR REPLACE INTO meta VALUES ('index_version', ?)", (version,))
