"""A new index beside the old one, swapped in one step: others read and write all the while."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from omoide.model import Memory
from omoide.storage.base import IndexEntry, Writer
from omoide.storage.rows import COLUMNS, TABLES, memory_from_row
from omoide.storage.sqlite.integrity import COUNTED
from omoide.storage.sqlite.postings import RENEWED, document_id
from omoide.storage.sqlite.reader import area
from omoide.storage.sqlite.transaction import Transaction
from omoide.storage.sqlite.writer import SqliteWriter

_BATCH = 500
_BESIDE = "words_beside"
_INDEX = f"INSERT INTO {_BESIDE} (rowid, topic, tags, content) VALUES (?, ?, ?, ?)"

Write = Callable[[], AbstractContextManager[SqliteWriter]]


def rebuild_online(
    write: Write,
    words: Callable[[Memory], IndexEntry],
    settle: Callable[[Writer], None],
    watch: Callable[[int], None],
) -> int:
    """Indexes every memory anew and answers how many. Killed at any moment, all is as before or all as after."""
    with write() as writing:
        tx = writing.transaction
        # What a killed process left is of no use: who knows what was written since.
        tx.run(f"DROP TABLE IF EXISTS {_BESIDE}")
        made = tx.get("SELECT sql FROM sqlite_schema WHERE name = 'words'")
        tx.run(made.replace("words", _BESIDE, 1))
        for name, value in (("hashsize", 4194304), ("crisismerge", 8)):  # as in the first migration
            tx.run(f"INSERT INTO {_BESIDE} ({_BESIDE}, rank) VALUES (?, ?)", (name, value))
        mark = _last_event(tx)
    places: dict[int, int] = {}
    after = 0
    while True:
        with write() as writing:
            tx = writing.transaction
            memories = _memories(tx, "m.number > ? ORDER BY m.number LIMIT ?", (after, _BATCH))
            _index(tx, memories, words, places)
        if not memories:
            break
        after = memories[-1].number
        watch(len(memories))
    with write() as writing:
        tx = writing.transaction
        changed = {number for (number,) in tx.rows("SELECT DISTINCT memory FROM events WHERE number > ?", (mark,))}
        for number in sorted(changed & places.keys()):
            tx.run(f"DELETE FROM {_BESIDE} WHERE rowid = ?", (places.pop(number),))
        for number in sorted(changed):
            _index(tx, _memories(tx, "m.number = ?", (number,)), words, places)
        tx.run("DROP TABLE words")
        tx.run(f"ALTER TABLE {_BESIDE} RENAME TO words")
        tx.run("DELETE FROM areas")
        tx.run(f"INSERT INTO areas {COUNTED}")
        tx.run(RENEWED)
        settle(writing)
    return len(places)


def _memories(tx: Transaction, where: str, values: tuple[Any, ...]) -> list[Memory]:
    return [memory_from_row(row) for row in tx.rows(f"SELECT {COLUMNS} FROM {TABLES} WHERE {where}", values)]


def _index(
    tx: Transaction, memories: Iterable[Memory], words: Callable[[Memory], IndexEntry], places: dict[int, int]
) -> None:
    numbers = {path: number for number, path in tx.rows("SELECT number, path FROM projects")} | {"": 0}
    for memory in memories:
        its = words(memory)
        tx.run(
            "UPDATE memories SET length = ?, blocking_key = ? WHERE number = ? AND (length <> ?1 OR blocking_key <> ?2)",
            (its.length, its.blocking_key, memory.number),
        )
        where = area(numbers[memory.scope.path], memory.state)
        if where is not None:
            places[memory.number] = document_id(where, memory.number)
            tx.run(_INDEX, (places[memory.number], its.topic, its.tags, its.content))


def _last_event(tx: Transaction) -> int:
    last: int | None = tx.get("SELECT max(number) FROM events")
    return last or 0
