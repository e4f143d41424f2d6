"""Documents of 1,000 and 10,000 memories, and how that grows; a second run, which finds all pages as they should be."""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import omoide
from bench.corpus import corpus
from bench.table import Row, claim, limit, printed
from omoide.model import TYPES
from omoide.transfer.pages import render_pages, write

SCOPE = omoide.Scope.project("bench")
SIZES = (1_000, 10_000)


def taken(deed: Callable[[], object]) -> float:
    started = time.perf_counter()
    deed()
    return time.perf_counter() - started


def measured(size: int) -> tuple[float, float]:
    """Seconds of a first run into an empty directory, and of one that finds nothing to do."""
    notes = corpus("en", size).notes
    with tempfile.TemporaryDirectory() as directory, omoide.open(Path(directory) / "memory.db", max_entries=0) as memory:
        memory.remember_many(omoide.Draft(note, SCOPE, type=TYPES[n % len(TYPES)]) for n, note in enumerate(notes))

        def run(name: str) -> float:
            return taken(lambda: write(render_pages(memory, SCOPE), Path(directory) / name, 5, whole=True))

        return min(run(f"docs{n}") for n in range(3)), min(run("docs0") for _ in range(3))


def rows() -> list[Row]:
    (small, small_again), (large, large_again) = map(measured, SIZES)
    return [  # a first run syncs 13 files, which on a slow disk is most of it
        limit(f"document {SIZES[0]:,} memories", small * 1000, 300, "ms"),
        limit(f"document {SIZES[1]:,} memories", large * 1000, 1_000, "ms"),
        claim("growth, for each memory", large / SIZES[1] * 1e6, small / SIZES[0] * 1e6, 2, "µs", digits=1),
        limit(f"again, {SIZES[0]:,}, nothing to write", small_again * 1000, 100, "ms"),
        limit(f"again, {SIZES[1]:,}, nothing to write", large_again * 1000, 1_000, "ms"),
    ]


if __name__ == "__main__":
    sys.exit(0 if printed("Documents", rows()) else 1)
