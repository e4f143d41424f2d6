"""Measure the cost of semantic search: hybrid recall against recall by words, vector search, reindex, memory.

The vectors of the memories are random, those of the questions are real: the time does not depend on their values, and
embedding 100,000 notes would take minutes.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import omoide
from bench.corpus import corpus
from bench.table import Row, limit, percentile, print_table, ratio
from omoide.embeddings import quantized
from omoide.retrieval.constants import NEAREST
from omoide.service import Service
from omoide.storage.base import StoredVector

SCOPE = omoide.Scope.project("bench")
DIMENSIONS = 512
HYBRID = {1_000: 5.0, 10_000: 4.0, 100_000: 2.5}
NEW_QUESTIONS = {1_000: 7.0, 10_000: 6.0, 100_000: 3.0}
REINDEX = {1_000: 30.0, 10_000: 300.0}
MODEL = "use-multilingual-3"
MODELS = {"bundled": {MODEL: DIMENSIONS}, "bundled+english": {MODEL: DIMENSIONS, "all-MiniLM-L6-v2": 384}}
"""The dimensions of the models of each embedder."""
_BATCH = 10_000
_TURN = 20
_ROUNDS = 4


@contextmanager
def fill(
    language: str, size: int, *, embedder: str = "bundled", with_vectors: bool = True
) -> Iterator[tuple[Path, list[str]]]:
    generated = corpus(language, size)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "memory.db"
        with omoide.open(file, embedder="off", retire="manual") as memory:
            for start in range(0, size, _BATCH):
                memory.remember_many(omoide.Draft(note, SCOPE) for note in generated.notes[start : start + _BATCH])
            if with_vectors:
                for model, dimensions in MODELS[embedder].items():
                    _add_random_vectors(memory, model, dimensions)
        yield file, generated.questions


def _add_random_vectors(memory: Service, name: str, dimensions: int) -> None:
    generator = np.random.default_rng(1)
    with memory._store.write() as tx:  # noqa: SLF001 - see the top
        numbers = [one.number for one in tx.everything()]
        rows = generator.standard_normal((len(numbers), dimensions), dtype=np.float32)
        tx.put_vectors(
            tx.ensure_model(name, dimensions),
            (
                StoredVector(number, 1, quantized.sign_bits(row), quantized.int8_vector(row))
                for number, row in zip(numbers, rows, strict=True)
            ),
        )


class Times(NamedTuple):
    """The median milliseconds of CPU per question, by embedder."""

    new: dict[str, float]
    """Of questions asked for the first time."""
    repeated: dict[str, float]


def time_questions(memories: dict[str, Service], questions: list[str]) -> Times:
    """Return what questions take when they are asked first, and when their words are in the cache of the model.

    The embedders alternate after a few questions, so that both see the same load. Of a repeated question the best round
    counts, because another process that evicts the processor's caches costs the side that reads more.
    """
    new = {name: [0.0] * len(questions) for name in memories}
    repeated = {name: [float("inf")] * len(questions) for name in memories}
    for memory in memories.values():
        memory.recall("anything", scope=SCOPE, limit=10)  # it loads the model
    for number in range(_ROUNDS):
        for start in range(0, len(questions), _TURN):
            for name, memory in memories.items():
                for place in range(start, min(start + _TURN, len(questions))):
                    started = time.process_time()
                    memory.recall(questions[place], scope=SCOPE, limit=10)
                    took = (time.process_time() - started) * 1000
                    if number:
                        repeated[name][place] = min(repeated[name][place], took)
                    else:
                        new[name][place] = took
    return Times(*({name: percentile(each, 0.5) for name, each in times.items()} for times in (new, repeated)))


def recalls(sizes: list[int]) -> Iterator[Row]:
    for size in sizes:
        for language, name in (("en", "English"), ("ja", "Japanese")):
            with fill(language, size) as (file, questions), ExitStack() as opened:
                memories = {
                    embedder: opened.enter_context(omoide.open(file, embedder=embedder, retire="manual"))
                    for embedder in ("off", "bundled")
                }
                new, repeated = time_questions(memories, questions)
            what = f"hybrid recall, {size:,} memories, {name}"
            yield ratio(what, repeated["bundled"], repeated["off"], HYBRID[size], "ms of CPU")
            yield ratio(f"{what}, new question", new["bundled"], new["off"], NEW_QUESTIONS[size], "ms of CPU")


def scans(size: int) -> Iterator[Row]:
    with fill("en", size) as (file, _), omoide.open(file, embedder="bundled", retire="manual") as memory:
        generator = np.random.default_rng(2)
        plain = generator.standard_normal((size, DIMENSIONS), dtype=np.float32)
        questions = generator.standard_normal((100, DIMENSIONS), dtype=np.float32)
        store = memory._store  # noqa: SLF001 - see the top
        with store.read() as tx:
            model = tx.model(MODEL)
            assert model is not None
            (place,) = tx.areas(omoide.Query(SCOPE))
            signs = memory._embeddings.cache().sign_index(tx, model, place)  # noqa: SLF001 - see the top
            ours, theirs = [], []
            for start in range(0, len(questions), _TURN):
                turn = questions[start : start + _TURN]
                for question in turn:
                    started = time.perf_counter()
                    near = quantized.nearest(question, [signs], NEAREST)
                    rows = quantized.RowStore(DIMENSIONS)
                    rows.add(tx.vectors(model.number, near.numbers))
                    rows.cosines(question, near.numbers)
                    ours.append((time.perf_counter() - started) * 1000)
                with threadpool_limits(1):  # one thread, as ours
                    for question in turn:
                        started = time.perf_counter()
                        np.argpartition(plain @ question, -10)[-10:]
                        theirs.append((time.perf_counter() - started) * 1000)
        yield ratio(
            f"search of {size:,} vectors (baseline: float32 numpy, one thread)",
            percentile(ours, 0.5),
            percentile(theirs, 0.5),
            0.1,
            "ms",
        )


def reindexes(sizes: list[int]) -> Iterator[Row]:
    for size in sizes:
        with (
            fill("en", size, with_vectors=False) as (file, _),
            omoide.open(file, embedder="bundled", retire="manual") as memory,
        ):
            started = time.perf_counter()
            memory.reindex(archive=file.with_name("before.db"))
            yield limit(f"reindex of {size:,}, with embedding", time.perf_counter() - started, REINDEX[size], "s")


def footprint() -> Iterator[Row]:
    for embedder, most in (("off", 35.0), ("bundled", 110.0)):
        with fill("en", 1_000) as (file, _):
            script = (
                "import omoide\n"
                f"memory = omoide.open({str(file)!r}, embedder={embedder!r}, retire='manual')\n"
                "memory.recall('what was decided', scope=omoide.Scope.project('bench'))\n"
                "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])\n"
            )
            done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
            yield limit(f"memory of a process that recalls, embedder {embedder}", int(done.stdout) / 1024, most, "MB")


_SERVER = """
import random, sys, time
import omoide
from bench.corpus import corpus
from bench.meaning import SCOPE, wait_for_vectors

file, seed = sys.argv[1], int(sys.argv[2])
notes, questions = corpus("en", 100, 100, seed=seed)
with omoide.open(file, embedder=sys.argv[3], retire="manual") as memory:
    for note, question in zip(notes, questions):
        memory.remember(note, scope=SCOPE)
        memory.recall(question, scope=SCOPE)
    wait_for_vectors(memory)
    print("ready", flush=True)
    sys.stdin.readline()
    sizes = dict(line.split(":") for line in open("/proc/self/smaps_rollup") if line.count(":") == 1)
    print(sizes["Rss"].split()[0], sizes["Pss"].split()[0], flush=True)
    sys.stdin.readline()
"""


def wait_for_vectors(memory: Service) -> None:
    """Wait until the thread that makes vectors has made all of them."""
    while (worker := memory._embeddings._worker) is not None and worker.is_alive():  # noqa: SLF001 - see the top
        worker.join(1)


def servers(
    size: int, count: int = 4, embedder: str = "bundled", most: tuple[float, float] = (117.0, 110.0)
) -> Iterator[Row]:
    """Measure processes that share a store and the model, each after 100 memories and as many questions."""
    with fill("en", size, embedder=embedder) as (file, _), ExitStack() as stack:
        running = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", _SERVER, str(file), str(seed), embedder],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for seed in range(count)
        ]
        for process in running:
            assert process.stdout is not None
            process.stdout.readline()
        sizes = []
        for process in running:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            sizes.append([int(part) / 1024 for part in process.stdout.readline().split()])
        for process in running:
            process.communicate("\n")
    what = f"{count} processes at {size:,} memories, after 100 adds and recalls each"
    yield limit(f"{what}: memory of each (RSS)", max(rss for rss, _ in sizes), most[0], "MB")
    yield limit(f"{what}: its share (PSS)", max(pss for _, pss in sizes), most[1], "MB")


def adds(size: int, count: int = 100) -> Iterator[Row]:
    """Measure what a memory costs that gets its vector in the background, against the model alone."""
    notes = corpus("en", 2 * count, 100, seed=11).notes
    with fill("en", size) as (file, _), omoide.open(file, embedder="bundled", retire="manual") as memory:
        embedder = memory._embeddings.embedder  # noqa: SLF001 - see the top
        assert embedder is not None
        memory.recall(notes[0], scope=SCOPE)
        times = []
        for part in (notes[:count], notes[count:]):  # the first part warms up
            started = time.process_time()
            for note in part:
                memory.remember(note, scope=SCOPE)
            wait_for_vectors(memory)
            added = time.process_time()
            for note in part:
                embedder.vectors([note])
            times.append((added - started, time.process_time() - added))
        ours, model = times[-1]
        yield ratio(
            f"one of {count} memories with its vector, at {size:,} (baseline: the model alone)",
            1000 * ours / count,
            1000 * model / count,
            1.3,
            "ms of CPU",
        )


def english(size: int, count: int = 100) -> Iterator[Row]:
    """Measure what the model for English adds to the bundled one: recall, a memory with its vectors, processes."""
    for language, name, most in (("en", "English", 8.0), ("ja", "Japanese", 1.3)):
        with fill(language, size, embedder="bundled+english") as (file, questions), ExitStack() as opened:
            memories = {
                embedder: opened.enter_context(omoide.open(file, embedder=embedder, retire="manual")) for embedder in MODELS
            }
            times = time_questions(memories, questions).new
        what = f"recall with both models, {size:,} memories, {name} (baseline: the bundled one alone)"
        yield ratio(what, times["bundled+english"], times["bundled"], most, "ms of CPU")
    notes = corpus("en", 2 * count, 100, seed=11).notes
    times = {}
    for embedder in MODELS:
        with (
            fill("en", size, embedder="bundled+english") as (file, _),
            omoide.open(file, embedder=embedder, retire="manual") as memory,
        ):
            memory.recall(notes[0], scope=SCOPE)
            for part in (notes[:count], notes[count:]):  # the first part warms up
                started = time.process_time()
                for note in part:
                    memory.remember(note, scope=SCOPE)
                wait_for_vectors(memory)
                times[embedder] = 1000 * (time.process_time() - started) / count
    what = f"one of {count} memories with both vectors, at {size:,} (baseline: with that of the bundled model)"
    yield ratio(what, times["bundled+english"], times["bundled"], 15.0, "ms of CPU")
    yield from servers(size, embedder="bundled+english", most=(200.0, 140.0))


def unpacking() -> Iterator[Row]:
    """Measure the process that unpacks the weights."""
    script = (
        "from omoide.embeddings.base import make_embedder\n"
        "make_embedder('bundled').vectors(['hello'], patient=False)\n"
        "status = dict(line.split(':') for line in open('/proc/self/status') if line.count(':') == 1)\n"
        "print(status['VmRSS'].split()[0])\n"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment)
    yield limit("memory of the process that has unpacked the weights", int(done.stdout) / 1024, 145.0, "MB")


def rows(sizes: list[int]) -> list[Row]:
    return [
        *recalls(sizes),
        *scans(max(sizes)),
        *reindexes([size for size in sizes if size in REINDEX]),
        *footprint(),
        *unpacking(),
        *servers(min(10_000, max(sizes))),
        *adds(min(10_000, max(sizes))),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sizes", type=lambda value: [int(size) for size in value.split(",")], default=[1_000, 10_000, 100_000]
    )
    parser.add_argument("--english", action="store_true", help="only what the model for English adds")
    options = parser.parse_args()
    measured = list(english(min(10_000, max(options.sizes)))) if options.english else rows(options.sizes)
    sys.exit(0 if print_table("Semantic search", measured) else 1)
