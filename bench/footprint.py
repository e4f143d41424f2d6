"""Measure start-up time, memory and disk of the real command, each in a process of its own."""

import compileall
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import omoide
from bench.corpus import corpus
from bench.table import Row, limit, percentile, print_table, ratio

SCOPE = omoide.Scope.project("bench")
RUNS = 21
SIZE = 10_000
_RECALL = """
import sys, omoide
with omoide.open(sys.argv[1]) as memory:
    assert memory.recall(sys.argv[2], scope=omoide.Scope.project("bench")).hits
for line in open("/proc/self/status"):
    if line.startswith("VmHWM"):
        print(line.split()[1])
"""


def cpu(command: list[str]) -> float:
    """Run a command. Return its milliseconds of processor time, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def rows() -> list[Row]:
    compileall.compile_dir(str(Path(omoide.__file__).parent), quiet=1)  # as pip does when it installs
    command = str(Path(sys.executable).with_name("omoide"))
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "memory.db"
        os.environ.update(OMOIDE_STORE=str(file), OMOIDE_CONFIG=str(Path(directory) / "config.toml"))
        corpora = [corpus(language, SIZE // 2) for language in ("en", "ja")]
        with omoide.open(file) as memory:
            memory.remember_many(omoide.Draft(note, SCOPE) for part in corpora for note in part.notes)
        question = corpora[0].questions[0]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "omoide --help": [command, "--help"],
            "omoide recall": [command, "recall", question, "--project", "bench"],
        }
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(RUNS):  # alternating, so that all see the same load
            for name, line in commands.items():
                taken[name].append(cpu(line))
        baseline = percentile(taken["python -c pass"], 0.5)
        peak = subprocess.run(
            [sys.executable, "-c", _RECALL, str(file), question], check=True, capture_output=True, text=True
        ).stdout
        size = file.stat().st_size / 1_000_000
    return [
        ratio("omoide --help, CPU", percentile(taken["omoide --help"], 0.5), baseline, 6, "ms", digits=0),
        ratio(
            f"omoide recall, {SIZE:,} memories, CPU", percentile(taken["omoide recall"], 0.5), baseline, 11, "ms", digits=0
        ),
        limit(f"peak memory of a process that recalled from {SIZE:,}", int(peak) / 1024, 35, "MB"),
        limit(f"database of {SIZE:,} memories of 300 characters", size, 40, "MB"),
    ]


if __name__ == "__main__":
    sys.exit(0 if print_table("Start-up, memory and disk (baseline: python -c pass)", rows()) else 1)
