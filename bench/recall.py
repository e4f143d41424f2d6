"""Recall against the bare FTS5 query of the same words on the same file."""

import argparse
import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

import omoide
from bench.corpus import corpus
from bench.plot import drawn
from bench.table import Row, claim, percentile, printed
from omoide.retrieval import analyzer
from omoide.service import Service

CLAIMS = {1_000: 2.0, 10_000: 1.0, 100_000: 0.25, 1_000_000: 0.1}
LANGUAGES = {"en": "English", "ja": "Japanese"}
SCOPE = omoide.Scope.project("bench")
_BATCH = 20_000


def bare(connection: apsw.Connection, question: str) -> list[int]:
    """What a plain FTS5 search does: any of the words, best bm25() first."""
    terms = dict.fromkeys(analyzer.terms(question))
    match = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
    rows = connection.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT 10", (match,))
    return [row for (row,) in rows]


def timed(runs: Sequence[Callable[[str], object]], questions: list[str]) -> list[list[float]]:
    """Milliseconds of each run for each question, turn by turn, so that all meet the same machine."""
    times: list[list[float]] = [[] for _ in runs]
    for question in questions:
        for run, taken in zip(runs, times, strict=True):
            started = time.perf_counter()
            run(question)
            taken.append((time.perf_counter() - started) * 1000)
    return times


@contextmanager
def filled(language: str, size: int) -> Iterator[tuple[Service, apsw.Connection, list[str]]]:
    made = corpus(language, size)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "memory.db"
        with omoide.open(file) as memory:
            for start in range(0, size, _BATCH):
                memory.remember_many(omoide.Draft(note, SCOPE) for note in made.notes[start : start + _BATCH])
            connection = apsw.Connection(str(file))
            made.notes.clear()
            gc.collect()
            gc.freeze()  # so that the collector does not count what this benchmark made against whoever allocates
            yield memory, connection, made.questions
            connection.close()


class Timing(NamedTuple):
    size: int
    language: str
    ours: list[float]
    floor: list[float]


def timings(sizes: list[int]) -> Iterator[Timing]:
    for size in sizes:
        for language, name in LANGUAGES.items():
            with filled(language, size) as (memory, connection, questions):
                runs = (lambda q: memory.recall(q, scope=SCOPE, limit=10), lambda q: bare(connection, q))
                timed(runs, questions)  # once to warm the caches of both
                yield Timing(size, name, *timed(runs, questions))


def rows(sizes: list[int], plot: Path | None = None) -> list[Row]:
    taken = list(timings(sizes))
    if plot is not None:
        lines = {
            f"{who}, {name}": [(t.size, percentile(times, 0.5)) for t in taken if t.language == name for times in [t[place]]]
            for who, place in (("omoide", 2), ("bare FTS5", 3))
            for name in LANGUAGES.values()
        }
        drawn(plot, "One recall, median", "memories", "milliseconds", lines)
    return [
        claim(
            f"recall, {t.size:,} memories, {t.language}, {label}",
            percentile(t.ours, share),
            percentile(t.floor, share),
            CLAIMS[t.size],
            "ms",
        )
        for t in taken
        for share, label in ((0.5, "p50"), (0.95, "p95"))
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sizes", type=lambda value: [int(size) for size in value.split(",")], default=[1_000, 10_000, 100_000]
    )
    parser.add_argument("--million", action="store_true", help="1,000,000 memories as well: takes about half an hour")
    parser.add_argument("--plot", type=Path, help="draw the medians into this SVG file")
    options = parser.parse_args()
    printed("Recall", rows([*options.sizes, *([1_000_000] if options.million else [])], options.plot))
