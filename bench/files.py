"""Measure mirrored files: the scan before every read, the import of a directory, a write that also updates a file."""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import omoide
from bench.corpus import corpus
from bench.table import Row, limit, percentile, print_table, ratio
from omoide import app
from omoide.service import Service
from omoide.sync.engine import SyncEngine

SCOPE = omoide.Scope.project("bench")
SCANNED = 1_000
SIZES = (1_000, 10_000)
SINGLE = 50


def write_entries(place: Path, size: int) -> None:
    """Create a directory as people and other tools do: front matter, and no ids of omoide."""
    place.mkdir()
    for n, note in enumerate(corpus("en", size).notes):
        text = f"---\nkey: note-{n}\ntags: [bench, t{n % 10}]\ncreated_at: 2026-01-26T10:00:00Z\n---\n\n{note}\n"
        (place / f"note-{n}.md").write_text(text, encoding="utf-8")


def open_store(directory: str) -> Service:
    return omoide.open(Path(directory) / "memory.db", max_entries=0, retire="manual")


def milliseconds(action: Callable[[], object]) -> float:
    """Return the processor time of an action: the disk is the same one for the baseline."""
    started = time.process_time()
    action()
    return (time.process_time() - started) * 1000


def scans() -> list[Row]:
    """Measure scans and their baseline alternately, so that all see the same load."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "notes"
        write_entries(place, SCANNED)
        time.sleep(0.2)  # younger files are read a second time: their mtime is too recent to trust
        with open_store(directory) as memory:
            mirror = memory.mirror(place, "entries", scope=SCOPE)
            memory.list(scope=SCOPE)
            engine = app.sync_engine(memory)

            def plain_scan() -> None:
                with os.scandir(place) as listing:
                    for file in listing:
                        file.stat()

            def first() -> None:
                SyncEngine(engine._database, engine._settings, print, set()).import_edits([mirror], SCOPE)  # noqa: SLF001 - as a new process

            processes: list[str] = []
            sys.addaudithook(lambda event, _: processes.append(event) if event == "subprocess.Popen" else None)
            taken: dict[str, list[float]] = {"plain": [], "again": [], "first": []}
            for _ in range(30):
                taken["plain"].append(milliseconds(plain_scan))
                taken["again"].append(milliseconds(lambda: engine.import_edits([mirror], SCOPE)))
                taken["first"].append(milliseconds(first))
    baseline = percentile(taken["plain"], 0.5)
    return [
        ratio(f"scan of {SCANNED:,} entry files, nothing changed", percentile(taken["again"], 0.5), baseline, 3, "ms"),
        ratio(f"first scan of a process, {SCANNED:,} entry files", percentile(taken["first"], 0.5), baseline, 4, "ms"),
        limit("processes, such as git, started by these scans", len(processes), 0, ""),
    ]


def import_directory(size: int) -> float:
    """Return the seconds of processor time to import a directory of entry files; only reading waits for the disk."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "notes"
        write_entries(place, size)
        with open_store(directory) as memory:
            mirror = memory.mirror(place, "entries", scope=SCOPE)
            started = time.process_time()
            report = app.sync_engine(memory).sync(mirror)
            seconds = time.process_time() - started
            assert (report.imported, report.troubles) == (size, ())
    return seconds


def write_times(formats: Sequence[str], size: int) -> list[float]:
    """Return the milliseconds of one durable remember that also updates the mirrored file, for each format.

    An empty format is no mirror. All are measured alternately, so that all see the same load.
    """
    with ExitStack() as stack:
        stores = [stack.enter_context(mirrored_store(format, size)) for format in formats]
        taken: list[list[float]] = [[] for _ in formats]
        for n in range(SINGLE):
            for memory, times in zip(stores, taken, strict=True):
                started = time.perf_counter()
                memory.remember(f"note {n} to be found in the file", scope=SCOPE)
                times.append((time.perf_counter() - started) * 1000)
    return [percentile(times, 0.5) for times in taken]


@contextmanager
def mirrored_store(format: str, size: int) -> Iterator[Service]:
    """A store with so many memories, mirrored in a format."""
    with tempfile.TemporaryDirectory() as directory, open_store(directory) as memory:
        memory.remember_many(omoide.Draft(note, SCOPE) for note in corpus("en", size).notes)
        if format:
            place = Path(directory) / "files"
            place.mkdir()
            memory.mirror(place / "memories.md" if format == "memories" else place, format, scope=SCOPE)
        memory.list(scope=SCOPE)
        yield memory


def rows() -> list[Row]:
    small, large = map(import_directory, SIZES)
    plain, listed, separate = write_times(("", "memories", "entries"), 100)
    return [
        *scans(),
        limit(f"import {SIZES[0]:,} entry files", small, 3, "s"),
        limit(f"import {SIZES[1]:,} entry files", large, 30, "s"),
        ratio("import, per file (10,000 against 1,000)", large / SIZES[1] * 1e3, small / SIZES[0] * 1e3, 1.5, "ms"),
        ratio("one durable remember, mirrored to a list of 100 (baseline: no mirror)", listed, plain, 12, "ms"),
        ratio("one durable remember, mirrored to one of 100 entry files", separate, plain, 12, "ms"),
    ]


if __name__ == "__main__":
    sys.exit(0 if print_table("Mirrored files (baseline of a scan: os.scandir and stat)", rows()) else 1)
