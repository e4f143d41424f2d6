"""Check a SQLite store: its file, its rows, and whether index and vectors fit the rows."""

import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import apsw
import msgspec

from omoide.storage.base import IndexEntry
from omoide.storage.capabilities import Expected, Problem
from omoide.storage.rows import COLUMNS, FORGOTTEN, TABLES, memory_from_row
from omoide.storage.sqlite.postings import document_id
from omoide.storage.sqlite.reader import SqliteReader
from omoide.storage.sqlite.transaction import Transaction

# Where each memory should be in the index: see the areas in reader.py.
_EXPECTED = f"SELECT (project * 2 + (state <> 0)) << 32 | number AS document FROM memories WHERE state <> {FORGOTTEN}"
COUNTED = (
    "SELECT project * 2 + (state <> 0) AS area, count(*) AS entries, sum(length) AS terms FROM memories"
    f" WHERE state <> {FORGOTTEN} GROUP BY 1"
)
_NOTED = "SELECT area, entries, terms FROM areas WHERE entries <> 0 OR terms <> 0"
# Vectors without a memory, or in another area than their memory: triggers prevent it, so only damage does this.
DANGLING_VECTORS = f"""
SELECT s.memory FROM sign_bits s LEFT JOIN memories m ON m.number = s.memory WHERE m.number IS NULL
    OR s.area <> CASE m.state WHEN {FORGOTTEN} THEN -1 ELSE m.project * 2 + (m.state <> 0) END
    OR (s.bits <> x'' AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.memory = s.memory AND v.model = s.model))
UNION SELECT v.memory FROM vectors v WHERE NOT EXISTS
    (SELECT 1 FROM sign_bits s WHERE s.memory = v.memory AND s.model = v.model)"""
_ACTORS = (
    "SELECT actor FROM memories UNION ALL SELECT author FROM memories WHERE author IS NOT NULL"
    " UNION ALL SELECT actor FROM versions UNION ALL SELECT actor FROM events"
)
_WITH_PAST = "SELECT memory FROM versions UNION SELECT source FROM links ORDER BY 1"
_NAMED = 5
_RESTORE = "restore a backup with `omoide backup` files, or export what can be read with `omoide export`"
_REINDEX = "`omoide doctor --fix` rebuilds the index from the memories"
_PAGE = 500
_ROWS = (
    f"SELECT {COLUMNS}, m.project * 2 + (m.state <> 0), m.state = {FORGOTTEN}, m.fingerprint, m.blocking_key, m.length"
    f" FROM {TABLES} WHERE m.number > ? ORDER BY m.number LIMIT {_PAGE}"
)
_ADDED = 5  # columns after those of a memory
_TERMS = "SELECT doc, col, CAST(term AS BLOB) FROM temp.instances"
_LONGEST = 32_768  # bytes of a term that FTS5 keeps
# As the tokenizer of the table `words` reads a text: see the first migration.
_FOLDED = bytes(32 if byte <= 32 or byte == 127 else byte for byte in bytes(range(256)).lower())


def check(reader: SqliteReader, path: Path, expected: Expected | None) -> list[Problem]:
    """Return everything that is wrong: see `Integrity.check`."""
    tx = reader.transaction
    # FTS5 checks the segments it knew when it was last asked for a word: without this, those that another process has
    # merged since would be missing.
    with suppress(apsw.CorruptError, apsw.SQLError):  # what is wrong is reported below
        tx.get("SELECT count(*) FROM words WHERE words MATCH 'a'")
    found = [*_rows(tx), *_past(reader), *_index(tx)]
    if expected is not None and not found:  # otherwise much differs, and is reported already
        found += _differences(tx, expected)
    return [*found, *_vectors(tx), *_permissions(path)]


def _rows(tx: Transaction) -> Iterator[Problem]:
    for line in _integrity_messages(tx, "20") - _integrity_messages(tx, "words"):
        yield Problem(f"the database is damaged: {line}", _RESTORE, fixable=False)
    lost = tx.get("SELECT count(*) FROM memories WHERE project <> 0 AND project NOT IN (SELECT number FROM projects)")
    if lost:
        yield Problem(f"{lost} memories belong to a project that is gone", _RESTORE, fixable=False)


def _past(reader: SqliteReader) -> Iterator[Problem]:
    tx = reader.transaction
    lost = tx.get(f"SELECT count(*) FROM ({_ACTORS}) WHERE actor NOT IN (SELECT number FROM actors)")
    if lost:
        yield Problem(f"{lost} memories, versions or events name an actor that is gone", _RESTORE, fixable=False)
    numbers = [number for (number,) in tx.rows(_WITH_PAST) if not _can_be_read(reader, number)]
    if numbers:
        yield Problem(f"past versions or links of {_name(numbers)} cannot be read", _RESTORE, fixable=False)


def _can_be_read(reader: SqliteReader, number: int) -> bool:
    """Whether the past versions and the links of a memory are what this program writes."""
    try:
        reader.versions(number)
        reader.links(number)
    except msgspec.DecodeError:  # fallback: reported by the caller
        return False
    return True


def _name(numbers: Sequence[int]) -> str:
    """The first of these memories, for a message."""
    return ", ".join(f"#{number}" for number in numbers[:_NAMED]) + (" …" if len(numbers) > _NAMED else "")


def _index(tx: Transaction) -> Iterator[Problem]:
    for line in _integrity_messages(tx, "words"):
        yield Problem(f"the index is damaged: {line}", _REINDEX, fixable=True)
    for what, difference in (
        ("are not in the index", f"{_EXPECTED} EXCEPT SELECT id FROM words_docsize"),
        ("are in the index but should not be", f"SELECT id FROM words_docsize EXCEPT {_EXPECTED}"),
    ):
        wrong = tx.get(f"SELECT count(*) FROM ({difference})")
        if wrong:
            yield Problem(f"{wrong} memories {what}", _REINDEX, fixable=True)
    miscounted = tx.get(
        f"WITH counted AS ({COUNTED}), noted AS ({_NOTED}) SELECT count(DISTINCT area) FROM"
        " (SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM noted)"
        " UNION SELECT * FROM (SELECT * FROM noted EXCEPT SELECT * FROM counted))"
    )
    if miscounted:
        yield Problem(f"the sizes of {miscounted} areas are wrong", _REINDEX, fixable=True)


def _differences(tx: Transaction, expected: Expected) -> Iterator[Problem]:
    numbers = list(_find_differences(tx, expected))
    if numbers:
        yield Problem(
            f"{len(numbers)} memories are not indexed as they read now ({_name(numbers)}): another program changed them in"
            " the database, or an older omoide indexed them",
            _REINDEX,
            fixable=True,
        )


def _find_differences(tx: Transaction, expected: Expected) -> Iterator[int]:
    """The numbers of the memories that are not indexed as their rows read now: another program may have changed a row."""
    indexed: dict[int, int] = {}
    for number, column, term in tx.stream(_TERMS):
        indexed[number] = indexed.get(number, 0) + hash((column, term))
    for row in tx.pages(_ROWS):
        memory = memory_from_row(row[:-_ADDED])
        area, forgotten, *columns = row[-_ADDED:]
        fingerprint, entry = expected(memory)
        terms = 0 if forgotten else _sum_of_terms(entry)
        found = indexed.get(document_id(area, memory.number), 0)
        if columns != [fingerprint, entry.blocking_key, entry.length] or terms != found:
            yield memory.number


def _sum_of_terms(entry: IndexEntry) -> int:
    """A number that is the same for the same terms in the same columns, in any order."""
    return sum(
        hash((column, term[:_LONGEST]))
        for column, text in (("topic", entry.topic), ("tags", entry.tags), ("content", entry.content))
        for term in text.encode().translate(_FOLDED).split()
    )


def _vectors(tx: Transaction) -> Iterator[Problem]:
    dangling = tx.get(f"SELECT count(*) FROM ({DANGLING_VECTORS})")
    if dangling:
        yield Problem(f"the vectors of {dangling} memories are dangling", "`omoide doctor --fix` drops them", fixable=True)


def _integrity_messages(tx: Transaction, part: str) -> set[str]:
    """The messages of SQLite's own check, of a table or of everything, up to a number of lines."""
    # Not FTS5's 'integrity-check' command: that is a write, and would wait for other writers.
    return {line for (line,) in tx.rows(f"PRAGMA integrity_check({part})")} - {"ok"}


def _permissions(path: Path) -> Iterator[Problem]:
    for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077:
            mode = stat.filemode(file.stat().st_mode)
            yield Problem(f"{file} can be read by others ({mode})", f"`chmod 600 {file}`", fixable=True)
