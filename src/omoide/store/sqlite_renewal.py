"""A new index beside the old one, swapped in one step: others read and write all the while."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

import apsw

from omoide.model import Memory
from omoide.store import sql
from omoide.store.base import Words, Writing
from omoide.store.sqlite_care import COUNTED
from omoide.store.sqlite_holders import RENEWED, document
from omoide.store.sqlite_reading import area
from omoide.store.sqlite_writing import SqliteWriting

_BATCH = 500
_BESIDE = "words_beside"
_INDEX = f"INSERT INTO {_BESIDE} (rowid, topic, tags, content) VALUES (?, ?, ?, ?)"

Write = Callable[[], AbstractContextManager[SqliteWriting]]


def renewed(
    write: Write,
    connection: apsw.Connection,
    words: Callable[[Memory], Words],
    settle: Callable[[Writing], None],
    watch: Callable[[int], None],
) -> int:
    """Indexes every memory anew and answers how many. Killed at any moment, all is as before or all as after."""
    with write():
        # What a killed process left is of no use: who knows what was written since.
        connection.execute(f"DROP TABLE IF EXISTS {_BESIDE}")
        made = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'words'").get
        connection.execute(made.replace("words", _BESIDE, 1))
        for name, value in (("hashsize", 4194304), ("crisismerge", 8)):  # as in the first migration
            connection.execute(f"INSERT INTO {_BESIDE} ({_BESIDE}, rank) VALUES (?, ?)", (name, value))
        mark = _last_event(connection)
    places: dict[int, int] = {}
    after = 0
    while True:
        with write():
            memories = _memories(connection, "m.number > ? ORDER BY m.number LIMIT ?", (after, _BATCH))
            _indexed(connection, memories, words, places)
        if not memories:
            break
        after = memories[-1].number
        watch(len(memories))
    with write() as tx:
        changed = {
            number for (number,) in connection.execute("SELECT DISTINCT memory FROM events WHERE number > ?", (mark,))
        }
        for number in sorted(changed & places.keys()):
            connection.execute(f"DELETE FROM {_BESIDE} WHERE rowid = ?", (places.pop(number),))
        for number in sorted(changed):
            _indexed(connection, _memories(connection, "m.number = ?", (number,)), words, places)
        connection.execute("DROP TABLE words")
        connection.execute(f"ALTER TABLE {_BESIDE} RENAME TO words")
        connection.execute("DELETE FROM areas")
        connection.execute(f"INSERT INTO areas {COUNTED}")
        connection.execute(RENEWED)
        settle(tx)
    return len(places)


def _memories(connection: apsw.Connection, where: str, values: tuple[Any, ...]) -> list[Memory]:
    return [sql.memory(row) for row in connection.execute(f"SELECT {sql.COLUMNS} FROM {sql.TABLES} WHERE {where}", values)]


def _indexed(
    connection: apsw.Connection, memories: Iterable[Memory], words: Callable[[Memory], Words], places: dict[int, int]
) -> None:
    numbers = {path: number for number, path in connection.execute("SELECT number, path FROM projects")} | {"": 0}
    for memory in memories:
        its = words(memory)
        connection.execute(
            "UPDATE memories SET length = ?, kin = ? WHERE number = ? AND (length <> ?1 OR kin <> ?2)",
            (its.length, its.kin, memory.number),
        )
        where = area(numbers[memory.scope.path], memory.state)
        if where is not None:
            places[memory.number] = document(where, memory.number)
            connection.execute(_INDEX, (places[memory.number], its.topic, its.tags, its.content))


def _last_event(connection: apsw.Connection) -> int:
    last: int | None = connection.execute("SELECT max(number) FROM events").get
    return last or 0
