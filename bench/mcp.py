"""Measure the MCP server against a minimal echo server on the official SDK: start, memory, round trips over pipes.

A server caches the posting list of a word when it is first asked for. So the first hundred questions of a server are
reported apart from those of a server in use: new questions as well, but after five hundred others. Five servers are
measured one after the other, because other load on the machine disturbs a few seconds at a time.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import omoide
from bench.corpus import corpus
from bench.table import Row, limit, percentile, print_table, ratio

SIZE = 10_000
STARTS = 15
ROUNDS = 5
FIRST = 100
USED = 500
ASKED = 300
RECALL = 1.5
"""A recall takes about as long as the echo: 0.75 to 1.2 times, depending on the machine."""
SCOPE = omoide.Scope.project("bench")

ECHO = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("echo")
@server.tool()
def echo(text: str) -> str:
    return text
server.run("stdio")
"""


class Client:
    """A server process and its client: one line out, one line in."""

    def __init__(self, command: list[str]):
        self.started = time.perf_counter()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.id = 0
        self.duration = 0.0
        """Milliseconds from the last request to its answer."""

    def ask(self, method: str, **params: Any) -> Any:
        self.id += 1
        request = {"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}
        assert self.process.stdin
        assert self.process.stdout
        line = json.dumps(request).encode() + b"\n"
        started = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        self.duration = (time.perf_counter() - started) * 1000
        answer = json.loads(line)
        assert "error" not in answer, answer
        return answer["result"]

    def open(self) -> None:
        """Do what every client does first: initialize and list the tools."""
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "b", "version": "1"})
        assert self.process.stdin
        self.process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        assert self.ask("tools/list")["tools"]

    def call(self, name: str, **arguments: Any) -> float:
        """Call a tool. Return the milliseconds until its answer, without decoding."""
        answer = self.ask("tools/call", name=name, arguments=arguments)
        assert not answer.get("isError"), answer
        return self.duration

    def cpu(self) -> float:
        """Return the milliseconds of processor time so far, user and system."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def resident(self) -> float:
        """Return the resident memory in megabytes."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        raise AssertionError("no VmRSS")

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def measure_start(command: list[str]) -> tuple[float, float, float]:
    """Return processor and wall milliseconds until the answer of tools/list, and the megabytes then."""
    client = Client(command)
    client.open()
    wall = (time.perf_counter() - client.started) * 1000
    taken = client.cpu(), wall, client.resident()
    client.end()
    return taken


class Measurements:
    """Servers in use: milliseconds by language, processor time and megabytes of ours and of theirs."""

    def __init__(self) -> None:
        self.first: dict[str, list[float]] = defaultdict(list)
        self.recalls: dict[str, list[float]] = defaultdict(list)
        self.echoes: dict[str, list[float]] = defaultdict(list)
        self.cpu = [0.0, 0.0]
        self.resident: tuple[list[float], list[float]] = ([], [])

    def ask(self, ours: list[str], theirs: list[str], questions: dict[str, list[str]]) -> None:
        pair = a, b = Client(ours), Client(theirs)
        for client in pair:
            client.open()
        for question in ("opens what opens at the first call", "最初の質問"):
            a.call("recall", query=question)
            b.call("echo", text=question)
        for language, asked in questions.items():
            self.first[language] += [a.call("recall", query=question) for question in asked[:FIRST]]
        for asked in questions.values():
            for question in asked[FIRST:USED]:
                a.call("recall", query=question)
        before = [client.cpu() for client in pair]
        for language, asked in questions.items():
            for question in asked[USED:]:  # alternating here too
                self.recalls[language].append(a.call("recall", query=question))
                self.echoes[language].append(b.call("echo", text=question))
        for place, client in enumerate(pair):
            self.cpu[place] += client.cpu() - before[place]
            self.resident[place].append(client.resident())
        for client in pair:
            client.end()


def time_remember(command: list[str], notes: list[str]) -> list[float]:
    client = Client(command)
    client.open()
    client.call("recall", query="opens what opens at the first call")
    times = [client.call("remember", content=note) for note in notes]
    client.end()
    return times


def rows() -> list[Row]:
    ours = [str(Path(sys.executable).with_name("omoide")), "mcp"]
    theirs = [sys.executable, "-c", ECHO]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "memory.db"
        os.environ.update(
            OMOIDE_STORE=str(file), OMOIDE_CONFIG=str(Path(directory) / "config.toml"), OMOIDE_PROJECT="bench",
            OMOIDE_MAX_ENTRIES="0",
        )  # a table: several entries per line  # fmt: skip
        corpora = [corpus(language, SIZE // 2, USED + ASKED) for language in ("en", "ja")]
        with omoide.open(file) as memory:
            memory.remember_many(omoide.Draft(note, SCOPE) for part in corpora for note in part.notes)
        questions = {"English": corpora[0].questions, "Japanese": corpora[1].questions}
        starts: dict[str, list[tuple[float, float, float]]] = {"ours": [], "theirs": []}
        for _ in range(STARTS):  # alternating, so that both see the same load
            starts["ours"].append(measure_start(ours))
            starts["theirs"].append(measure_start(theirs))
        measured = Measurements()
        for _ in range(ROUNDS):
            measured.ask(ours, theirs, questions)
        remembers = time_remember(ours, [f"{question} (kept)" for question in questions["English"][:FIRST]])
    echoes = measured.echoes
    cost = [part / (ROUNDS * len(questions) * ASKED) for part in measured.cpu]
    resident = [percentile(part, 0.5) for part in measured.resident]

    def at_percentile(times: list[float], share: int) -> float:
        return percentile(times, share / 100)

    def median_of(side: str, place: int) -> float:
        return percentile([start[place] for start in starts[side]], 0.5)

    return [
        ratio(
            "process start to the answer of tools/list, CPU",
            median_of("ours", 0),
            median_of("theirs", 0),
            0.2,
            "ms",
            digits=0,
        ),
        ratio(
            "process start to the answer of tools/list, wall time",
            median_of("ours", 1),
            median_of("theirs", 1),
            0.2,
            "ms",
            digits=0,
        ),
        ratio("memory after tools/list", median_of("ours", 2), median_of("theirs", 2), 0.5, "MB", digits=1),
        ratio(f"memory after {2 * (USED + ASKED):,} calls", *resident, 0.6, "MB", digits=1),
        *(
            ratio(
                f"recall of 10 at {SIZE:,} memories, {language}, p{share}",
                at_percentile(times, share),
                at_percentile(echoes[language], share),
                RECALL,
                "ms",
            )
            for language, times in measured.recalls.items()
            for share in (50, 95)
        ),
        *(
            ratio(
                f"first {FIRST} questions of a server, {language}, p50",
                at_percentile(times, 50),
                at_percentile(echoes[language], 50),
                2.5,
                "ms",
            )
            for language, times in measured.first.items()
        ),
        ratio("recall, CPU of the server per call", *cost, RECALL, "ms"),
        limit("durable remember, p50", percentile(remembers, 0.5), 50, "ms"),
        limit("durable remember, p95", percentile(remembers, 0.95), 50, "ms"),
    ]


if __name__ == "__main__":
    sys.exit(0 if print_table("MCP over pipes (baseline: an echo server on the official SDK)", rows()) else 1)
