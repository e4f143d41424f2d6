"""Measure composing a prompt from 10,000 memories with 500 globs, and recording it with its receipt."""

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import msgspec
import pathspec

import omoide
from bench.corpus import corpus
from bench.table import Row, percentile, print_table, ratio
from omoide.prompt.globs import compile_glob

SCOPE = omoide.Scope.project("bench")
SIZE = 10_000
GLOBS = 500
ROUNDS = 7
RECORDED = 200
PATHS = ("src/part17/core/loop.ts", "src/part250/api", "docs/part3/index.md")
_QUERY = """
SELECT number, id, version, type, content, tags, relevance FROM memories
WHERE project = (SELECT number FROM projects WHERE path = 'bench') AND state = 0 AND expires_at IS NULL"""


def fill(memory: omoide.Service) -> None:
    """Store notes, of which every other one has a glob among its tags."""
    chance = random.Random(7)
    globs = [f"src/part{number}/**" if number % 2 else f"part{number}/*.ts" for number in range(GLOBS)]
    memory.remember_many(
        omoide.Draft(
            note,
            SCOPE,
            tags=("testing", globs[n // 2 % GLOBS]) if n % 2 else ("testing",),
            relevance=chance.choice((0.5, 0.5, 0.5, round(chance.random(), 2))),
        )
        for n, note in enumerate(corpus("en", SIZE).notes)
    )


def bare(connection: apsw.Connection) -> int:
    """Read the project's active memories and match their tags with pathspec: the least that any selection does."""
    decode = msgspec.json.Decoder(tuple[str, ...]).decode
    compiled: dict[str, pathspec.GitIgnoreSpec] = {}
    matched = 0
    for *_, tags, _relevance in connection.execute(_QUERY).fetchall():
        for tag in decode(tags):
            if "/" in tag or "*" in tag:
                spec = compiled.get(tag)
                if spec is None:
                    spec = compiled[tag] = pathspec.GitIgnoreSpec.from_lines([tag])
                    matched += any(map(spec.match_file, PATHS))
    return matched


def fastest(action: Callable[[], object]) -> float:
    """Return the milliseconds of an action; every glob is compiled again."""
    compile_glob.cache_clear()
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1000


def rows() -> list[Row]:
    task = omoide.Task(title="Fix the loop", write_scope=PATHS)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "memory.db"
        with omoide.open(file, max_entries=0, embedder="off") as memory:
            fill(memory)
            connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
            ours, baseline = [], []
            for _ in range(ROUNDS):
                ours.append(fastest(lambda: memory.compose(task, scope=SCOPE)))
                baseline.append(fastest(lambda: bare(connection)))
            connection.close()
    return [ratio(f"compose from {SIZE:,} memories with {GLOBS} globs", min(ours), min(baseline), 2, "ms"), _receipts()]


def _receipts() -> Row:
    """Recording a prompt of ten memories with its receipt, against a durable remember."""
    notes = corpus("en", max(100, RECORDED + 20)).notes
    task = omoide.Task(title="Fix the loop", write_scope=PATHS)
    with tempfile.TemporaryDirectory() as directory, omoide.open(Path(directory) / "m.db", embedder="off") as memory:
        memory.remember_many(omoide.Draft(note, SCOPE) for note in notes[:20])
        alone, recorded, remembered = [], [], []
        for note in notes[20 : 20 + RECORDED]:
            remembered.append(fastest(lambda note=note: memory.remember(note, scope=SCOPE)))
            alone.append(fastest(lambda: memory.compose(task, scope=SCOPE)))
            recorded.append(fastest(lambda: memory.compose(task, scope=SCOPE, record=True)))
    write = percentile(recorded, 0.5) - percentile(alone, 0.5)
    return ratio("write a receipt (baseline: a durable remember), p50", write, percentile(remembered, 0.5), 2, "ms")


if __name__ == "__main__":
    sys.exit(0 if print_table("Prompts (baseline: a bare SQL query, and pathspec on the tags)", rows()) else 1)
