"""Measure writing documents of 1,000 and 10,000 memories, and a second run that finds nothing to write."""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import omoide
from bench.corpus import corpus
from bench.table import Row, limit, print_table, ratio
from omoide.model import TYPES
from omoide.transfer.pages import render_pages, write

SCOPE = omoide.Scope.project("bench")
SIZES = (1_000, 10_000)


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def measure(size: int) -> tuple[float, float]:
    """Return the seconds of a run into an empty directory and of one that finds nothing to write."""
    notes = corpus("en", size).notes
    with tempfile.TemporaryDirectory() as directory, omoide.open(Path(directory) / "memory.db", max_entries=0) as memory:
        memory.remember_many(omoide.Draft(note, SCOPE, type=TYPES[n % len(TYPES)]) for n, note in enumerate(notes))

        def run(name: str) -> float:
            return seconds(lambda: write(render_pages(memory, SCOPE), Path(directory) / name, 5, whole=True))

        return min(run(f"docs{n}") for n in range(3)), min(run("docs0") for _ in range(3))


def rows() -> list[Row]:
    (small, small_again), (large, large_again) = map(measure, SIZES)
    return [  # a first run syncs 13 files to the disk, most of its time on a slow one
        limit(f"write documents of {SIZES[0]:,} memories", small * 1000, 300, "ms"),
        limit(f"write documents of {SIZES[1]:,} memories", large * 1000, 1_000, "ms"),
        ratio("cost per memory (10,000 against 1,000)", large / SIZES[1] * 1e6, small / SIZES[0] * 1e6, 2, "µs", digits=1),
        limit(f"second run, {SIZES[0]:,}, nothing to write", small_again * 1000, 100, "ms"),
        limit(f"second run, {SIZES[1]:,}, nothing to write", large_again * 1000, 1_000, "ms"),
    ]


if __name__ == "__main__":
    sys.exit(0 if print_table("Documents", rows()) else 1)
