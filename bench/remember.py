"""Measure remember against plain SQLite: the same row and index entry, the same pragmas, and nothing else."""

import gc
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import apsw

import omoide
from bench.corpus import corpus
from bench.similar_notes import similar_notes
from bench.table import Row, percentile, print_table, ratio
from omoide.service import versioning
from omoide.storage.sqlite.store import MIGRATIONS

SCOPE = omoide.Scope.project("bench")
LANGUAGES = {"en": "English", "ja": "Japanese"}
MANY_CLAIMS = {"en": 3.5, "ja": 2.5}
SIMILAR_CLAIMS = {"en": 2.5, "ja": 3.0}
"""What a remember among similar notes may take, relative to the baseline."""
SINGLE = 300
MANY = 10_000

_FIELDS = 26
"""Columns that a plain row fills; those that were added to the schema later keep their defaults."""
_WORDS = "INSERT INTO words (rowid, topic, tags, content) VALUES (?, ?, ?, ?)"


class PlainSqlite:
    """The baseline: a connection with our schema and pragmas; rows and index text are prepared beforehand."""

    def __init__(self, file: Path):
        self.connection = apsw.Connection(str(file))
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            self.connection.execute("PRAGMA " + pragma)
        self.connection.create_scalar_function("folded", lambda text: str(text).casefold(), 1)  # a migration calls it
        for step in sorted(MIGRATIONS.glob("*.sql")):
            self.connection.execute(step.read_text(encoding="utf-8"))
        columns = [name for _, name, *_ in self.connection.execute("PRAGMA table_info(memories)")][:_FIELDS]
        self._row = f"INSERT INTO memories ({', '.join(columns)}) VALUES ({', '.join('?' * _FIELDS)})"
        self.area = 2 << 32

    def prepare(self, number: int, note: str) -> tuple[tuple[object, ...], tuple[object, ...]]:
        words = versioning.build_index_entry(omoide.Draft(note, SCOPE))
        at = 1_770_000_000_000_000 + number
        row = (
            number, f"01a1e142-34d6-725f-9477-{number:012x}", 1, "", 0, "note", None, hash(note) & 0xFFFFFFFF,
            words.blocking_key, 0, words.length, 0, 1.0, 0.5, 0, 1, 1, at, at, None, "python", "[]", "[]",
            note[:50] + "...", note, None,
        )  # a table: several entries per line  # fmt: skip
        return row, (self.area + number, words.topic, words.tags, words.content)

    def insert(self, ready: Sequence[tuple[tuple[object, ...], tuple[object, ...]]]) -> None:
        execute = self.connection.execute
        execute("BEGIN IMMEDIATE")
        for row, words in ready:
            execute(self._row, row)
            execute(_WORDS, words)
        execute("COMMIT")


def singles(language: str) -> Row:
    """Measure one durable write at a time. Both sides alternate, so that they see the same disk."""
    notes = corpus(language, SINGLE * 2).notes
    ours, baseline = [], []
    with tempfile.TemporaryDirectory() as directory, omoide.open(Path(directory) / "ours.db") as memory:
        plain = PlainSqlite(Path(directory) / "plain.db")
        for number in range(SINGLE):
            ready = [plain.prepare(number + 1, notes[SINGLE + number])]
            started = time.perf_counter()
            plain.insert(ready)
            between = time.perf_counter()
            memory.remember(notes[number], scope=SCOPE)
            ours.append((time.perf_counter() - between) * 1000)
            baseline.append((between - started) * 1000)
        plain.connection.close()
    name = f"one durable remember, {LANGUAGES[language]}, p50"
    return ratio(name, percentile(ours, 0.5), percentile(baseline, 0.5), 2.5, "ms")


def singles_among_similar(language: str) -> Row:
    """The same in a store of notes that share most of their words: each has more near-duplicates than are reported."""
    notes = similar_notes(language, MANY + SINGLE)
    ours, baseline = [], []
    with tempfile.TemporaryDirectory() as directory, omoide.open(Path(directory) / "ours.db") as memory:
        plain = PlainSqlite(Path(directory) / "plain.db")
        memory.remember_many([omoide.Draft(note, SCOPE) for note in notes[:MANY]])
        plain.insert([plain.prepare(number, note) for number, note in enumerate(notes[:MANY], 1)])
        for number, note in enumerate(notes[MANY:], MANY + 1):
            ready = [plain.prepare(number, note)]
            started = time.perf_counter()
            plain.insert(ready)
            between = time.perf_counter()
            memory.remember(note, scope=SCOPE)
            ours.append((time.perf_counter() - between) * 1000)
            baseline.append((between - started) * 1000)
        plain.connection.close()
    name = f"one durable remember among {MANY:,} similar notes, {LANGUAGES[language]}, p50"
    return ratio(name, percentile(ours, 0.5), percentile(baseline, 0.5), SIMILAR_CLAIMS[language], "ms")


def many(language: str) -> Row:
    notes = corpus(language, MANY).notes
    drafts = [omoide.Draft(note, SCOPE) for note in notes]
    ours, baseline = [], []
    for _ in range(10):  # alternating, in processor time: the best of each
        with tempfile.TemporaryDirectory() as directory:
            plain = PlainSqlite(Path(directory) / "plain.db")
            ready = [plain.prepare(number, note) for number, note in enumerate(notes, 1)]
            gc.collect()
            gc.freeze()  # so that the garbage collector does not walk the benchmark's own objects
            started = time.process_time()
            plain.insert(ready)
            baseline.append(time.process_time() - started)
            plain.connection.close()
            with omoide.open(Path(directory) / "ours.db") as memory:
                memory.remember("the first note creates the database", scope=SCOPE)
                started = time.process_time()
                memory.remember_many(drafts)
                ours.append(time.process_time() - started)
    name = f"remember_many, {MANY:,} notes of 300 characters, {LANGUAGES[language]}"
    return ratio(name, min(ours) * 1e6 / MANY, min(baseline) * 1e6 / MANY, MANY_CLAIMS[language], "µs", digits=0)


def rows() -> list[Row]:
    return [*map(singles, LANGUAGES), *map(singles_among_similar, LANGUAGES), *map(many, LANGUAGES)]


if __name__ == "__main__":
    sys.exit(0 if print_table("Remember", rows()) else 1)
