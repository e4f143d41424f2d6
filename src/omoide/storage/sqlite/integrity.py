"""What can be wrong with a SQLite store, and what would mend it."""

import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw

from omoide.storage.base import Problem
from omoide.storage.rows import FORGOTTEN
from omoide.storage.sqlite.comparison import Expected, find_differences
from omoide.storage.sqlite.transaction import Transaction

# Where each memory should stand in the index: see the areas in sqlite_reading.
_EXPECTED = f"SELECT (project * 2 + (state <> 0)) << 32 | number AS document FROM memories WHERE state <> {FORGOTTEN}"
COUNTED = (
    "SELECT project * 2 + (state <> 0) AS area, count(*) AS entries, sum(length) AS terms FROM memories"
    f" WHERE state <> {FORGOTTEN} GROUP BY 1"
)
_NOTED = "SELECT area, entries, terms FROM areas WHERE entries <> 0 OR terms <> 0"
# Vectors without a memory, or where their memory is not: triggers keep them in step, so only damage does this.
DANGLING_VECTORS = f"""
SELECT s.memory FROM signs s LEFT JOIN memories m ON m.number = s.memory WHERE m.number IS NULL
    OR s.area <> CASE m.state WHEN {FORGOTTEN} THEN -1 ELSE m.project * 2 + (m.state <> 0) END
    OR NOT EXISTS (SELECT 1 FROM vectors v WHERE v.memory = s.memory AND v.model = s.model)
UNION SELECT v.memory FROM vectors v WHERE NOT EXISTS
    (SELECT 1 FROM signs s WHERE s.memory = v.memory AND s.model = v.model)"""
_NAMED = 5
_RESTORE = "restore a backup with `omoide backup` files, or export what can be read with `omoide export`"
_REINDEX = "`omoide doctor --fix` makes the index anew from the memories"


def check(tx: Transaction, path: Path, expected: Expected | None) -> list[Problem]:
    # FTS5 checks the segments it knew when it was last asked for a word: without this, those that another process has
    # merged since would be missing.
    with suppress(apsw.CorruptError, apsw.SQLError):  # what is wrong is told below
        tx.get("SELECT count(*) FROM words WHERE words MATCH 'a'")
    found = [*_rows(tx), *_index(tx)]
    if expected is not None and not found:  # otherwise much differs, and is told already
        found += _differences(tx, expected)
    return [*found, *_vectors(tx), *_permissions(path)]


def _rows(tx: Transaction) -> Iterator[Problem]:
    for line in _integrity_messages(tx, "20") - _integrity_messages(tx, "words"):
        yield Problem(f"the database is damaged: {line}", _RESTORE, fixable=False)
    lost = tx.get("SELECT count(*) FROM memories WHERE project <> 0 AND project NOT IN (SELECT number FROM projects)")
    if lost:
        yield Problem(f"{lost} memories belong to a project that is gone", _RESTORE, fixable=False)


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
    numbers = list(find_differences(tx, expected))
    if numbers:
        named = ", ".join(f"#{number}" for number in numbers[:_NAMED]) + (" …" if len(numbers) > _NAMED else "")
        yield Problem(
            f"{len(numbers)} memories are not indexed as they read now ({named}): another program changed them in the"
            " database, or an older omoide indexed them",
            _REINDEX,
            fixable=True,
        )


def _vectors(tx: Transaction) -> Iterator[Problem]:
    astray = tx.get(f"SELECT count(*) FROM ({DANGLING_VECTORS})")
    if astray:
        yield Problem(f"the vectors of {astray} memories are astray", "`omoide doctor --fix` drops them", fixable=True)


def _integrity_messages(tx: Transaction, part: str) -> set[str]:
    """What SQLite's own check says: of a table, or of everything, up to a number of lines."""
    # Not FTS5's 'integrity-check' command: that is a write, and would wait for other writers.
    return {line for (line,) in tx.rows(f"PRAGMA integrity_check({part})")} - {"ok"}


def _permissions(path: Path) -> Iterator[Problem]:
    for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077:
            mode = stat.filemode(file.stat().st_mode)
            yield Problem(f"{file} can be read by others ({mode})", f"`chmod 600 {file}`", fixable=True)
