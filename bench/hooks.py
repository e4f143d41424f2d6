"""Measure hooks at 10,000 memories: as a process beside `omoide recall` and `python -c pass`, and as a tool of a server.

All work in one git repository, without an embedder: a hook searches by words, so `omoide recall` does here, too. Every
prompt is a new question; a server is asked after its first hundred questions. Hooks that learn have one turn of a scripted
session (`bench/meter_sessions`) to learn from, and five memories in its conversation to judge.
"""

import compileall
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec

import omoide
from bench.corpus import corpus
from bench.mcp import Client
from bench.meter import SESSIONS, Session
from bench.table import Row, limit, percentile, print_table, ratio

SIZE = 10_000
RUNS = 21
FIRST = 100
ASKED = 300
PROCESS = 1.3
"""A hook takes at most so many times the processor time of `omoide recall`, also if it learns from a turn and judges what
the agent made of the memories that were injected before."""
WALL = 2.0
"""The same of wall time, which other processes disturb."""
TASK = "Please fix the failing test in tests/test_login.py, it complains about a missing header."
"""A message from which nothing is learnt, as most are."""
SCRIPTED = ("dev.json", "test.json")
"""Sessions of `bench.meter`, half of them in Japanese: what the agents say, run and write in the turns."""
TOOL = 5.0
"""Milliseconds of a call of the tool."""


class Processes:
    """Processor and wall milliseconds of processes, by what they do."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.cpu: dict[str, list[float]] = defaultdict(list)
        self.wall: dict[str, list[float]] = defaultdict(list)

    def run(self, name: str, command: list[str], body: dict[str, Any] | None = None) -> None:
        data = json.dumps(body).encode() if body else b""
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, input=data, check=True, capture_output=True, cwd=self._directory)
        self.wall[name].append((time.perf_counter() - started) * 1000)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu[name].append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000)


def make_repository(directory: Path) -> Path:
    root = directory / "bench"
    root.mkdir()
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True)
    return root


def read_sessions() -> list[Session]:
    texts = [(SESSIONS / name).read_bytes() for name in SCRIPTED]
    return [session for text in texts for session in msgspec.json.decode(text, type=list[Session])]


def turn_lines(message: str, session: Session) -> str:
    """A turn as Claude Code writes it: what a person says, what the agent runs and writes, and its answer."""
    runs = [("Bash", {"command": command}) for command in session.commands]
    writes = [("Write", {"file_path": path, "content": text}) for path, text in session.files.items()]
    lines: list[dict[str, Any]] = [{"type": "user", "message": {"role": "user", "content": message}}]
    for place, (tool, given) in enumerate((*runs, *writes)):
        call = {"type": "tool_use", "id": f"t{place}", "name": tool, "input": given}
        lines.append({"type": "assistant", "message": {"role": "assistant", "content": [call]}})
        result = {"type": "tool_result", "tool_use_id": f"t{place}", "content": "ok"}
        lines.append({"type": "user", "message": {"role": "user", "content": [result]}})
    lines.append({"type": "assistant", "message": {"role": "assistant", "content": session.answer}})
    return "".join(json.dumps(line) + "\n" for line in lines)


def measure_processes(root: Path, questions: list[str]) -> Processes:
    command = str(Path(sys.executable).with_name("omoide"))
    sessions = read_sessions()
    taken = Processes(root)
    for run in range(RUNS):  # alternating, so that all see the same load
        shared = {"session_id": f"s{run}", "transcript_path": "", "cwd": str(root)}
        prompt = {**shared, "prompt_id": "p", "hook_event_name": "UserPromptSubmit"}
        taken.run("python -c pass", [sys.executable, "-c", "pass"])
        taken.run("omoide recall", [command, "recall", questions[run]])
        hook = [command, "hook"]
        taken.run("session start", hook, {**shared, "hook_event_name": "SessionStart", "source": "startup"})
        taken.run("prompt", hook, {**prompt, "session_id": f"p{run}", "prompt": questions[run]})
        taken.run("short prompt", hook, {**prompt, "prompt": "yes, go on"})
        taken.run("session end", hook, {**shared, "hook_event_name": "SessionEnd", "reason": "other"})
        transcript = root.parent / f"{run}.jsonl"
        session = sessions[run % len(sessions)]
        decision = f"We decided to call version {run} of the parser {questions[run][:12]}."
        transcript.write_text(turn_lines(decision, session), encoding="utf-8")
        stop = {**shared, "transcript_path": str(transcript), "hook_event_name": "Stop"}
        taken.run("stop", hook, {**stop, "last_assistant_message": session.answer})
        learning = {**shared, "session_id": f"l{run}", "hook_event_name": "SessionStart", "source": "startup"}
        taken.run("session start that learns from a turn", hook, learning)
        with transcript.open("a", encoding="utf-8") as file:
            file.write(turn_lines(TASK, session))
        taken.run("stop", hook, {**stop, "last_assistant_message": f"{session.answer} Fixed."})
        taken.run("prompt that learns from a turn", hook, {**prompt, "session_id": f"m{run}", "prompt": questions[run]})
    return taken


def check_learnt(scope: omoide.Scope) -> None:
    """Fail if the hooks that should learn left a turn unread, or the memories in its conversation without a judgement."""
    with omoide.open() as memory:
        report = memory.meter(scope=scope)
        if memory.has_inbox() or report.used + report.ignored + report.contradicted < 2 * RUNS:
            raise RuntimeError("the hooks did not learn: nothing was measured")


def measure_tool(root: Path, questions: list[str]) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Processor milliseconds of a call, and wall milliseconds from a request to its answer, by event."""
    os.chdir(root)
    client = Client([str(Path(sys.executable).with_name("omoide")), "mcp"])
    client.open()
    for question in questions[:FIRST]:
        client.call("hook", event="UserPromptSubmit", prompt=question, session=question, cwd=str(root))
    wall: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, float] = {}
    for event, name in (("SessionStart", "session start"), ("UserPromptSubmit", "prompt")):
        before = client.cpu()
        for place, question in enumerate(questions[FIRST:]):
            wall[name].append(client.call("hook", event=event, prompt=question, session=f"{event}{place}", cwd=str(root)))
        cpu[name] = (client.cpu() - before) / len(wall[name])
    client.end()
    return cpu, wall


def rows() -> list[Row]:
    compileall.compile_dir(str(Path(omoide.__file__).parent), quiet=1)  # as pip does when it installs
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        os.environ.update(
            OMOIDE_STORE=str(directory / "memory.db"), OMOIDE_CONFIG=str(directory / "config.toml"),
            OMOIDE_MAX_ENTRIES="0", OMOIDE_EMBEDDER="off", OMOIDE_HOOK_SECONDS="60", OMOIDE_TREE_ROOT="off",
        )  # several settings per line  # fmt: skip
        root = make_repository(directory)
        corpora = [corpus(language, SIZE // 2, FIRST + ASKED) for language in ("en", "ja")]
        with omoide.open() as memory:
            scope = memory.claim(root)
            memory.remember_many(omoide.Draft(note, scope) for part in corpora for note in part.notes)
        questions = [each for pair in zip(*(part.questions for part in corpora), strict=True) for each in pair]
        processes = measure_processes(root, questions)
        check_learnt(scope)
        tool_cpu, tool_wall = measure_tool(root, questions[: FIRST + ASKED])
    recall, start = (percentile(processes.cpu[name], 0.5) for name in ("omoide recall", "python -c pass"))
    learning = [name for name in processes.cpu if "learns" in name]
    events = ("session start", "prompt", "short prompt", "stop", "session end", *learning)
    found = [ratio("`omoide recall`, CPU, beside `python -c pass`", recall, start, 15, "ms", digits=0)]
    for event in events:
        found.append(
            ratio(
                f"{event}, CPU",
                percentile(processes.cpu[event], 0.5),
                recall,
                PROCESS,
                "ms",
                digits=0,
            )
        )
    walls = processes.wall
    recall_wall = percentile(walls["omoide recall"], 0.5)
    for event in events:
        found.append(
            ratio(
                f"{event}, wall",
                percentile(walls[event], 0.5),
                recall_wall,
                WALL,
                "ms",
                digits=0,
            )
        )
    for event, cpu in tool_cpu.items():
        found.append(limit(f"tool `hook`, {event}, CPU", cpu, TOOL, "ms"))
        found.append(limit(f"tool `hook`, {event}, wall", percentile(tool_wall[event], 0.5), TOOL, "ms"))
    return found


if __name__ == "__main__":
    sys.exit(0 if print_table(f"Hooks at {SIZE:,} memories (baseline: omoide recall)", rows()) else 1)
