# ruff: noqa: A005 - `python -m bench.http` is its command; the standard library's http is found all the same
"""Measure REST against a bare Litestar handler that calls the same operation of the service, on stock uvicorn.

Both serve a copy of the same database with 10,000 memories. Clients are processes with one connection each, and ask both
servers in turn; of each server the best round counts, because other load on the machine disturbs some of them. A bare
handler has no tokens, no limits, no checks and no log; its answer has the same fields.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import omoide
from bench.corpus import corpus, drafts
from bench.table import Row, limit, percentile, print_table, ratio

SIZE = 10_000
SECONDS = 1.5
ROUNDS = 6
LEAST = 0.7
STREAMS = 64
TOKEN = "the-token-of-the-benchmark"
SCOPE = omoide.Scope.project("bench")

BARE = """
import sys
from typing import Any
import uvicorn
from litestar import Litestar, Request, get, post
import omoide
from omoide.interfaces.rest import values

memory = omoide.open(sys.argv[1])
scope = omoide.Scope.project("bench")

@get("/search", sync_to_thread=True)
def search(q: str) -> dict[str, Any]:
    found = memory.recall(q, scope=scope, limit=10)
    return {"hits": [{"memory": values.memory(hit.memory, 1), "score": hit.score, "why": hit.why} for hit in found.hits]}

@get("/memories", sync_to_thread=True)
def list_memories(limit: int = 50) -> dict[str, Any]:
    page = memory.list(scope=scope, limit=limit, total=False)
    return {"memories": [values.memory(each, 1) for each in page.memories]}

@post("/memories", sync_to_thread=True)
def create(data: dict[str, str]) -> values.MemoryAnswer:
    return values.memory(memory.remember(data["content"], scope=scope).memory, 1)

app = Litestar([search, list_memories, create], openapi_config=None, logging_config=None)
config = uvicorn.Config(app, port=0, log_level="warning", access_log=False, http="h11", loop="asyncio")
import socket
listener = socket.create_server(("127.0.0.1", 0))
listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
print(f"serves http://127.0.0.1:{listener.getsockname()[1]},", file=sys.stderr, flush=True)
uvicorn.Server(config).run([listener])
"""


class Server:
    """A server process."""

    def __init__(self, command: list[str], store: Path):
        settings = {"OMOIDE_STORE": str(store), "OMOIDE_TOKEN": TOKEN, "OMOIDE_EMBEDDER": "off", "OMOIDE_CONFIG": os.devnull}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **settings})
        assert self.process.stderr
        found = re.search(r"serves http://127.0.0.1:(\d+)", self.process.stderr.readline())
        assert found
        self.port = int(found[1])

    def resident(self) -> float:
        """Return the memory that the process uses, in MB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(text.split("VmRSS:")[1].split()[0]) / 1_000

    def worked(self) -> float:
        """Return the CPU time of the process so far, in milliseconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1_000 / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def ask(port: int, prefix: str, what: str, questions: Sequence[str], seconds: float, who: int, sent: Any) -> None:
    """Send requests for some time, one after the other, and put how long each took, in milliseconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    times: list[float] = []
    end = time.perf_counter() + seconds
    number = 0
    while (began := time.perf_counter()) < end:
        question = questions[number % len(questions)]
        number += 1
        if what == "search":
            connection.request("GET", f"{prefix}/search?q={quote(question)}", headers=headers)
        elif what == "list":
            connection.request("GET", f"{prefix}/memories?limit=50", headers=headers)
        else:
            body = json.dumps({"content": f"{question} {who} {number} {began}"}).encode()
            connection.request("POST", f"{prefix}/memories", body, headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status < 300, answer.status
        times.append((time.perf_counter() - began) * 1_000)
    sent.put(times)


def measure(port: int, prefix: str, what: str, questions: Sequence[str], clients: int, seconds: float) -> list[float]:
    """Return how long each request took, with this many clients at once."""
    results: Any = multiprocessing.Queue()
    processes = [
        multiprocessing.Process(target=ask, args=(port, prefix, what, questions, seconds, who, results))
        for who in range(clients)
    ]
    for process in processes:
        process.start()
    times = [each for _ in processes for each in results.get()]
    for process in processes:
        process.join()
    return times


def row(what: str, clients: int, ours: list[float], bare: list[float], seconds: float) -> Row:
    rates = [len(times) / seconds for times in (ours, bare)]
    shown = [f"{rate:,.0f}/s, {percentile(times, 0.5):.1f} and {percentile(times, 0.99):.1f} ms" for rate, times in
             zip(rates, (ours, bare), strict=True)]  # fmt: skip
    share = rates[0] / rates[1]
    name = f"{what}, {clients} client{'s' if clients > 1 else ''}: requests, p50 and p99"
    return Row(name, shown[0], shown[1], f"{share:.2f}x", f"≥ {LEAST:g}x", share >= LEAST)


def idle_streams(server: Server) -> float:
    """Return how much memory this many open streams of events take, in MB."""
    before = server.resident()
    streams = []
    for _ in range(STREAMS):
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", "/api/events/stream", headers={"Authorization": f"Bearer {TOKEN}"})
        response = connection.getresponse()
        assert response.readline() == b": connected\n"
        streams.append((connection, response))
    time.sleep(2)
    used = server.resident() - before
    for connection, _ in streams:
        connection.close()
    return used


def rows(seconds: float = SECONDS, rounds: int = ROUNDS) -> list[Row]:
    """Measure, and return the rows of the table."""
    notes = corpus("en", SIZE)
    questions = list(notes.questions)[:100]
    with tempfile.TemporaryDirectory() as directory:
        stores = [Path(directory) / name for name in ("ours.db", "bare.db")]
        for store in stores:
            with omoide.open(store, embedder="off") as memory:
                memory.remember_many(drafts(notes.notes, SCOPE))
        serve = [
            sys.executable,
            "-c",
            "from omoide.interfaces.cli import main; main()",
            "serve",
            "--port",
            "0",
            "--no-access-log",
        ]
        ours, bare = Server(serve, stores[0]), Server([sys.executable, "-c", BARE, str(stores[1])], stores[1])
        try:
            found = []
            for what in ("search", "list", "create"):
                before, asked = [server.worked() for server in (ours, bare)], [0, 0]
                for clients in (1, 8):
                    best: list[list[float]] = [[], []]
                    for _ in range(rounds):
                        for place, (server, prefix) in enumerate(((ours, "/api/projects/1"), (bare, ""))):
                            times = measure(server.port, prefix, what, questions, clients, seconds)
                            asked[place] += len(times)
                            best[place] = max(best[place], times, key=len)
                    found.append(row(what, clients, *best, seconds))
                used = [(server.worked() - before[place]) / asked[place] for place, server in enumerate((ours, bare))]
                found.append(ratio(f"{what}, CPU of the server per request", *used, round(1 / LEAST, 2), "ms"))
            found.append(limit(f"{STREAMS} idle event streams", idle_streams(ours), 20, "MB"))
            return found
        finally:
            ours.stop()
            bare.stop()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.http", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long to ask each server in each round")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    return not print_table("REST (baseline: a bare Litestar handler)", rows(options.seconds, options.rounds))


if __name__ == "__main__":
    sys.exit(main())
