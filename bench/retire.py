"""Retention and summing up at 100,000 memories, against the time it took to keep them; resuming, in milliseconds."""

import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import omoide
from bench.corpus import corpus
from bench.table import Row, claim, limit, printed
from omoide import model

SIZE = 100_000
SCOPE = omoide.Scope.session("bench", "monday")


def taken(deed: Callable[[], object]) -> float:
    started = time.perf_counter()
    deed()
    return time.perf_counter() - started


def rows(size: int = SIZE) -> list[Row]:
    notes = corpus("en", size).notes
    passed = timedelta()

    def clock() -> datetime:
        return model.now() + passed

    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "memory.db"
        with omoide.open(file, clock=clock) as memory:
            keeping = taken(lambda: memory.remember_many(omoide.Draft(note, omoide.Scope("bench")) for note in notes))
            memory.remember_many(omoide.Draft(note, SCOPE, type="preference") for note in notes[:100])
            resuming = min(taken(lambda: memory.resume(scope=SCOPE)) for _ in range(5))
            summing = min(taken(lambda: memory.summary(scope=SCOPE)) for _ in range(5))
            looking = taken(memory.retire_if_due)
            passed = timedelta(days=100)
            beginning = taken(memory.retire_if_due)
            retiring = taken(memory.retire)
    return [
        limit("resume a session", resuming * 1000, 50, "ms"),
        claim("sum up the project (floor of the rest: remember them all)", summing, keeping, 0.03, "s"),
        claim("the daily look, nothing to do", looking, keeping, 0.03, "s"),
        claim("the daily look, and 500 archived", beginning, keeping, 0.15, "s"),
        claim(f"retire {size - 500:,}", retiring, keeping, 5, "s"),
    ]


if __name__ == "__main__":
    sys.exit(0 if printed(f"Retention of {SIZE:,} memories", rows()) else 1)
