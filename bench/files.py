"""Mirrored files: the glance before every reading, against a bare look at the directory; a directory that is taken in."""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import omoide
from bench.corpus import corpus
from bench.table import Row, claim, limit, percentile, printed
from omoide import app
from omoide.service import Service
from omoide.sync.engine import SyncEngine

SCOPE = omoide.Scope.project("bench")
GLANCED = 1_000
SIZES = (1_000, 10_000)
SINGLE = 50


def entries(place: Path, size: int) -> None:
    """A directory as people and other tools make them: front matter, and no ids of ours."""
    place.mkdir()
    for n, note in enumerate(corpus("en", size).notes):
        text = f"---\nkey: note-{n}\ntags: [bench, t{n % 10}]\ncreated_at: 2026-01-26T10:00:00Z\n---\n\n{note}\n"
        (place / f"note-{n}.md").write_text(text, encoding="utf-8")


def opened(directory: str) -> Service:
    return omoide.open(Path(directory) / "memory.db", max_entries=0, retire="manual")


def spent(deed: Callable[[], object]) -> float:
    """Milliseconds of processor time: the disk of the floor is the same one."""
    started = time.process_time()
    deed()
    return (time.process_time() - started) * 1000


def glances() -> list[Row]:
    """Turn by turn, so that all meet the same machine."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "notes"
        entries(place, GLANCED)
        time.sleep(0.2)  # files that are younger are read twice, to be sure
        with opened(directory) as memory:
            mirror = memory.mirror(place, "entries", scope=SCOPE)
            memory.list(scope=SCOPE)
            mirroring = app.sync_engine(memory)

            def bare() -> None:
                with os.scandir(place) as found:
                    for each in found:
                        each.stat()

            def first() -> None:
                SyncEngine(mirroring._meetings, mirroring._settings, print, set()).import_edits([mirror], SCOPE)  # noqa: SLF001 - as a new process

            taken: dict[str, list[float]] = {"bare": [], "again": [], "first": []}
            for _ in range(30):
                taken["bare"].append(spent(bare))
                taken["again"].append(spent(lambda: mirroring.import_edits([mirror], SCOPE)))
                taken["first"].append(spent(first))
    floor = percentile(taken["bare"], 0.5)
    return [
        claim(f"a glance at {GLANCED:,} entry files, nothing changed", percentile(taken["again"], 0.5), floor, 3, "ms"),
        claim(f"the first glance of a process at {GLANCED:,}", percentile(taken["first"], 0.5), floor, 4, "ms"),
    ]


def imported(size: int) -> float:
    """Seconds of processor time to take in a directory of entries: nothing waits for the disk but the reading."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "notes"
        entries(place, size)
        with opened(directory) as memory:
            mirror = memory.mirror(place, "entries", scope=SCOPE)
            started = time.process_time()
            report = app.sync_engine(memory).sync(mirror)
            seconds = time.process_time() - started
            assert (report.imported, report.troubles) == (size, ())
    return seconds


def writes(format: str, size: int) -> float:
    """Milliseconds of one durable remember that is in the file as well."""
    with tempfile.TemporaryDirectory() as directory, opened(directory) as memory:
        memory.remember_many(omoide.Draft(note, SCOPE) for note in corpus("en", size).notes)
        if format:
            place = Path(directory) / "files"
            place.mkdir()
            memory.mirror(place / "memories.md" if format == "memories" else place, format, scope=SCOPE)
        memory.list(scope=SCOPE)
        taken = []
        for n in range(SINGLE):
            started = time.perf_counter()
            memory.remember(f"note {n} to be found in the file", scope=SCOPE)
            taken.append((time.perf_counter() - started) * 1000)
    return percentile(taken, 0.5)


def rows() -> list[Row]:
    small, large = map(imported, SIZES)
    plain = writes("", 100)
    return [
        *glances(),
        limit(f"take in {SIZES[0]:,} entry files", small, 3, "s"),
        limit(f"take in {SIZES[1]:,} entry files", large, 30, "s"),
        claim("growth, for each file", large / SIZES[1] * 1e3, small / SIZES[0] * 1e3, 1.5, "ms"),
        claim("one durable remember, in a list of 100 (floor: no mirror)", writes("memories", 100), plain, 12, "ms"),
        claim("one durable remember, in a file of its own of 100", writes("entries", 100), plain, 12, "ms"),
    ]


if __name__ == "__main__":
    sys.exit(0 if printed("Mirrored files (floor of a glance: os.scandir and stat)", rows()) else 1)
