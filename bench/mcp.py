"""The MCP server beside a minimal one on the official SDK that only echoes: start, memory, round trips over pipes.

A server looks a word up once and keeps who holds it. So its first hundred questions are told apart from those that it is
asked when it is in use: new questions too, but after five hundred others. That is done with five servers one after another,
because a machine that is busy elsewhere spoils a few seconds at a time.
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
from bench.table import Row, claim, limit, percentile, printed

SIZE = 10_000
STARTS = 15
ROUNDS = 5
FIRST = 100
USED = 500
ASKED = 300
RECALL = 1.5
"""A recall takes about as long as the echo: from 0.75 to 1.2 of it, by the machine."""
SCOPE = omoide.Scope.project("bench")

ECHO = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("echo")
@server.tool()
def echo(text: str) -> str:
    return text
server.run("stdio")
"""


class Talk:
    """A server process, and its client: one line out, one line in."""

    def __init__(self, command: list[str]):
        self.began = time.perf_counter()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.id = 0
        self.taken = 0.0
        """Milliseconds from the last question to its answer."""

    def ask(self, method: str, **params: Any) -> Any:
        self.id += 1
        asked = {"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}
        assert self.process.stdin
        assert self.process.stdout
        line = json.dumps(asked).encode() + b"\n"
        began = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        self.taken = (time.perf_counter() - began) * 1000
        answer = json.loads(line)
        assert "error" not in answer, answer
        return answer["result"]

    def open(self) -> None:
        """What every client does first, up to the list of tools."""
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "b", "version": "1"})
        assert self.process.stdin
        self.process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        assert self.ask("tools/list")["tools"]

    def call(self, name: str, **arguments: Any) -> float:
        """Milliseconds until the answer is there; what the client makes of it is not counted."""
        answer = self.ask("tools/call", name=name, arguments=arguments)
        assert not answer.get("isError"), answer
        return self.taken

    def cpu(self) -> float:
        """Milliseconds of processor time so far, user and system."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def resident(self) -> float:
        """Megabytes in memory now."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        raise AssertionError("no VmRSS")

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def started(command: list[str]) -> tuple[float, float, float]:
    """Processor and wall milliseconds up to the answer of tools/list, and megabytes then."""
    talk = Talk(command)
    talk.open()
    wall = (time.perf_counter() - talk.began) * 1000
    taken = talk.cpu(), wall, talk.resident()
    talk.end()
    return taken


class Met:
    """What servers in use took: milliseconds by language, processor time and megabytes of ours and of theirs."""

    def __init__(self) -> None:
        self.first: dict[str, list[float]] = defaultdict(list)
        self.recalls: dict[str, list[float]] = defaultdict(list)
        self.echoes: dict[str, list[float]] = defaultdict(list)
        self.cpu = [0.0, 0.0]
        self.resident: tuple[list[float], list[float]] = ([], [])

    def ask(self, ours: list[str], theirs: list[str], questions: dict[str, list[str]]) -> None:
        pair = a, b = Talk(ours), Talk(theirs)
        for talk in pair:
            talk.open()
        for question in ("opens what opens at the first call", "最初の質問"):
            a.call("recall", query=question)
            b.call("echo", text=question)
        for language, some in questions.items():
            self.first[language] += [a.call("recall", query=question) for question in some[:FIRST]]
        for some in questions.values():
            for question in some[FIRST:USED]:
                a.call("recall", query=question)
        before = [talk.cpu() for talk in pair]
        for language, some in questions.items():
            for question in some[USED:]:  # by turns, here too
                self.recalls[language].append(a.call("recall", query=question))
                self.echoes[language].append(b.call("echo", text=question))
        for place, talk in enumerate(pair):
            self.cpu[place] += talk.cpu() - before[place]
            self.resident[place].append(talk.resident())
        for talk in pair:
            talk.end()


def remembered(command: list[str], notes: list[str]) -> list[float]:
    talk = Talk(command)
    talk.open()
    talk.call("recall", query="opens what opens at the first call")
    times = [talk.call("remember", content=note) for note in notes]
    talk.end()
    return times


def rows() -> list[Row]:
    ours = [str(Path(sys.executable).with_name("omoide")), "mcp"]
    theirs = [sys.executable, "-c", ECHO]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "memory.db"
        os.environ.update(
            OMOIDE_STORE=str(file), OMOIDE_CONFIG=str(Path(directory) / "config.toml"), OMOIDE_PROJECT="bench",
            OMOIDE_MAX_ENTRIES="0",
        )  # fmt: skip
        made = [corpus(language, SIZE // 2, USED + ASKED) for language in ("en", "ja")]
        with omoide.open(file) as memory:
            memory.remember_many(omoide.Draft(note, SCOPE) for half in made for note in half.notes)
        questions = {"English": made[0].questions, "Japanese": made[1].questions}
        starts: dict[str, list[tuple[float, float, float]]] = {"ours": [], "theirs": []}
        for _ in range(STARTS):  # turn by turn, so that both meet the same machine
            starts["ours"].append(started(ours))
            starts["theirs"].append(started(theirs))
        met = Met()
        for _ in range(ROUNDS):
            met.ask(ours, theirs, questions)
        remembers = remembered(ours, [f"{question} (kept)" for question in questions["English"][:FIRST]])
    echoes = met.echoes
    cost = [part / (ROUNDS * len(questions) * ASKED) for part in met.cpu]
    resident = [percentile(part, 0.5) for part in met.resident]

    def of(times: list[float], share: int) -> float:
        return percentile(times, share / 100)

    def middle(side: str, place: int) -> float:
        return percentile([each[place] for each in starts[side]], 0.5)

    return [
        claim("process start to the answer of tools/list, CPU", middle("ours", 0), middle("theirs", 0), 0.2, "ms", digits=0),
        claim("the same, wall time", middle("ours", 1), middle("theirs", 1), 0.2, "ms", digits=0),
        claim("memory after tools/list", middle("ours", 2), middle("theirs", 2), 0.5, "MB", digits=1),
        claim(f"memory after {2 * (USED + ASKED):,} calls", *resident, 0.6, "MB", digits=1),
        *(
            claim(
                f"recall of 10 at {SIZE:,} memories, {language}, p{share}",
                of(times, share),
                of(echoes[language], share),
                RECALL,
                "ms",
            )
            for language, times in met.recalls.items()
            for share in (50, 95)
        ),
        *(
            claim(
                f"the same, the first {FIRST} questions of a server, {language}, p50",
                of(times, 50),
                of(echoes[language], 50),
                2.5,
                "ms",
            )
            for language, times in met.first.items()
        ),
        claim("recall, CPU of the server for a call", *cost, RECALL, "ms"),
        limit("durable remember, p50", percentile(remembers, 0.5), 50, "ms"),
        limit("durable remember, p95", percentile(remembers, 0.95), 50, "ms"),
    ]


if __name__ == "__main__":
    sys.exit(0 if printed("MCP over pipes (floor: an echo on the official SDK)", rows()) else 1)
