"""Summarise the log of a project without a language model, and measure its size and what is left of its decisions.

The log has 500 generated entries of some months, half of them Japanese, in `MEMORY.md` and two sessions: see
`bench/project_log.py`. A detail of a decision (a name, a path, a number, a date) counts as kept if it stands in one line
with the other details of its decision.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import omoide
from bench.project_log import WrittenEntry, make_log
from omoide import Scope

COUNT, SEEDS = 500, 3
PROJECT = "bench"
KEPT, SIZE = 0.95, 0.5
WORDINGS = {
    "known": "known",
    "held_out": "held out at first",
    "minutes": "minutes",
    "records": "records",
    "last": "last",
}
"""Tables of sentences in `project_log.toml`: the patterns were completed with all but the last."""


class Measured(NamedTuple):
    """What became of one log."""

    kept: int
    details: int
    """Of decisions, in the entries."""
    size: float
    """Share of the size of the files that is left."""
    text: float
    """Share of the size of the texts alone that is left."""
    progress: float
    """Share of the entries that only report progress of which nothing is left."""
    seconds: float


def measure(count: int, seed: int, wordings: str) -> Measured:
    """Summarise one log in a store of its own."""
    log = make_log(count, seed=seed, wordings=wordings)
    now = log[0].at

    def clock() -> datetime:
        return now

    with (
        tempfile.TemporaryDirectory() as directory,
        omoide.open(Path(directory, "memory.db"), clock=clock, embedder="off", summarize_threshold=1) as memory,
    ):
        memory.create_project(PROJECT)
        scopes = [Scope.project(PROJECT)] * 3 + [Scope.session(PROJECT, name) for name in ("one", "two")]
        for scope in scopes[3:]:
            memory.start_session(scope=scope)
        for place, entry in enumerate(log):
            now = entry.at
            memory.append_activity(entry.text, scope=scopes[place % len(scopes)])
        now += timedelta(days=8)
        began = time.perf_counter()
        result = memory.summarize(scope=scopes[0])
        seconds = time.perf_counter() - began
    if not result.success:
        raise SystemExit(result.trouble)
    lines = [line.lower() for one in result.summaries for line in one.content.splitlines()]
    kept, details = _kept_details(log, lines)
    text = sum(len(one.content.encode()) for one in result.summaries) / sum(len(entry.text.encode()) for entry in log)
    reports = [entry for entry in log if entry.kind == "progress"]
    silent = sum(not any(entry.text.lower()[:20] in line for line in lines) for entry in reports) / max(1, len(reports))
    return Measured(kept, details, result.new_size / result.original_size, text, silent, seconds)


def _kept_details(log: Sequence[WrittenEntry], lines: Sequence[str]) -> tuple[int, int]:
    kept = details = 0
    for entry in log:
        kept += max((sum(detail.lower() in line for detail in entry.details) for line in lines), default=0)
        details += len(entry.details)
    return kept, details


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.summarize", description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    options = parser.parse_args()
    print(
        "| sentences | entries | details of decisions kept | files left | texts left | progress left out | time | claim | |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |")
    met = True
    for wordings, name in WORDINGS.items():
        found = [measure(options.count, seed, wordings) for seed in range(1, options.seeds + 1)]
        kept = sum(each.kept for each in found) / sum(each.details for each in found)
        size, text = max(each.size for each in found), max(each.text for each in found)
        progress, seconds = min(each.progress for each in found), max(each.seconds for each in found)
        is_met = kept >= KEPT and text <= SIZE and size <= SIZE
        met = met and is_met
        print(
            f"| {name} | {options.seeds} x {options.count} | {kept:.1%} | {size:.0%} | {text:.0%} | {progress:.0%} |"
            f" {seconds:.1f} s | ≥ {KEPT:.0%}, files and texts ≤ {SIZE:.0%} | {'✓' if is_met else '✗'} |"
        )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
