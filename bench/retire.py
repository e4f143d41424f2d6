"""Measure retention and summaries at 100,000 memories, relative to the time it took to store them; and resume."""

import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import omoide
from bench.corpus import corpus
from bench.table import Row, limit, print_table, ratio
from omoide import model

SIZE = 100_000
SCOPE = omoide.Scope.session("bench", "monday")


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def rows(size: int = SIZE) -> list[Row]:
    notes = corpus("en", size).notes
    elapsed = timedelta()

    def clock() -> datetime:
        return model.now() + elapsed

    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "memory.db"
        with omoide.open(file, clock=clock) as memory:
            storing = seconds(lambda: memory.remember_many(omoide.Draft(note, omoide.Scope("bench")) for note in notes))
            memory.remember_many(omoide.Draft(note, SCOPE, type="preference") for note in notes[:100])
            resume_time = min(seconds(lambda: memory.resume(scope=SCOPE)) for _ in range(5))
            summary_time = min(seconds(lambda: memory.summary(scope=SCOPE)) for _ in range(5))
            check_time = seconds(memory.retire_if_due)
            elapsed = timedelta(days=100)
            first_batch = seconds(memory.retire_if_due)
            retire_time = seconds(memory.retire)
    return [
        limit("resume a session", resume_time * 1000, 50, "ms"),
        ratio("summary of the project (baseline here and below: storing all memories)", summary_time, storing, 0.03, "s"),
        ratio("daily check, nothing to do", check_time, storing, 0.03, "s"),
        ratio("daily check, 500 archived", first_batch, storing, 0.15, "s"),
        ratio(f"retire {size - 500:,}", retire_time, storing, 5, "s"),
    ]


if __name__ == "__main__":
    sys.exit(0 if print_table(f"Retention of {SIZE:,} memories", rows()) else 1)
