"""Measure recall against a plain FTS5 query for the same words on the same file."""

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

import omoide
from bench.corpus import corpus
from bench.plot import draw
from bench.table import Row, percentile, print_table, ratio
from omoide.retrieval import analyzer
from omoide.service import Service

CLAIMS = {1_000: 2.0, 10_000: 1.0, 100_000: 0.25, 1_000_000: 0.1}
LANGUAGES = {"en": "English", "ja": "Japanese"}
SCOPE = omoide.Scope.project("bench")
_BATCH = 20_000


def plain_search(connection: apsw.Connection, question: str) -> list[int]:
    """Search as a plain FTS5 application does: any of the words, best bm25() first."""
    terms = dict.fromkeys(analyzer.terms(question))
    match = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
    rows = connection.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT 10", (match,))
    return [row for (row,) in rows]


def time_each(runs: Sequence[Callable[[str], object]], questions: list[str]) -> list[list[float]]:
    """Return the milliseconds of each run for each question. The runs alternate, so that both see the same load."""
    times: list[list[float]] = [[] for _ in runs]
    for question in questions:
        for run, taken in zip(runs, times, strict=True):
            started = time.perf_counter()
            run(question)
            taken.append((time.perf_counter() - started) * 1000)
    return times


@contextmanager
def fill(language: str, size: int) -> Iterator[tuple[Service, apsw.Connection, list[str]]]:
    generated = corpus(language, size)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "memory.db"
        with omoide.open(file) as memory:
            for start in range(0, size, _BATCH):
                memory.remember_many(omoide.Draft(note, SCOPE) for note in generated.notes[start : start + _BATCH])
            connection = apsw.Connection(str(file))
            generated.notes.clear()
            gc.collect()
            gc.freeze()  # so that the garbage collector does not walk the benchmark's own objects
            yield memory, connection, generated.questions
            connection.close()


class Timing(NamedTuple):
    size: int
    language: str
    ours: list[float]
    baseline: list[float]


def timings(sizes: list[int]) -> Iterator[Timing]:
    for size in sizes:
        for language, name in LANGUAGES.items():
            with fill(language, size) as (memory, connection, questions):
                runs = (lambda q: memory.recall(q, scope=SCOPE, limit=10), lambda q: plain_search(connection, q))
                time_each(runs, questions)  # warm the caches of both
                yield Timing(size, name, *time_each(runs, questions))


def rows(sizes: list[int], plot: Path | None = None) -> list[Row]:
    taken = list(timings(sizes))
    if plot is not None:
        lines = {
            f"{name_of_run}, {name}": [
                (t.size, percentile(times, 0.5)) for t in taken if t.language == name for times in [t[place]]
            ]
            for name_of_run, place in (("omoide", 2), ("plain FTS5", 3))
            for name in LANGUAGES.values()
        }
        draw(plot, "Time of one recall, by number of memories", "memories", "median in milliseconds", lines)
    return [
        ratio(
            f"recall, {t.size:,} memories, {t.language}, {label}",
            percentile(t.ours, share),
            percentile(t.baseline, share),
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
    parser.add_argument("--million", action="store_true", help="also measure 1,000,000 memories; takes about half an hour")
    parser.add_argument("--plot", type=Path, help="write a chart of the medians to this SVG file")
    options = parser.parse_args()
    sizes = [*options.sizes, *([1_000_000] if options.million else [])]
    sys.exit(0 if print_table("Recall", rows(sizes, options.plot)) else 1)
