# ruff: noqa: A005 - `python -m bench.http` is its command; the standard library's http is found all the same
"""Measure REST against a bare Litestar handler that calls the same operation of the service, on stock uvicorn.

Both serve a copy of the same database with 10,000 memories. Clients are processes with a connection to each server, and ask
them in short turns. The rate is that of the tenth best of a hundred turns: on a busy machine many turns measure who else got
the processor, and the best one may be luck. Percentiles of the latency are of all requests, and the CPU time that a server
spends on a request does not depend on who else runs. Ours runs as it does by default, with tokens, limits and an access log;
a bare handler has none of them. The answers have the same fields.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import random
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
SECONDS = 0.1
TURNS = 100
CLIENTS = (1, 8)
PREFIXES = ("/api/projects/1", "")
"""The paths of our server and of the bare one."""
UNDISTURBED = 0.9
"""The share of turns with a lower rate than the one that counts."""
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
config = uvicorn.Config(
    app, port=0, log_level="warning", access_log=False, http="h11", loop="asyncio", timeout_keep_alive=75
)
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
        log = store.with_suffix(".log")
        with log.open("wb") as file:
            self.process = subprocess.Popen(command, stderr=file, env={**os.environ, **settings})
        while not (found := re.search(r"serves http://127.0.0.1:(\d+)", log.read_text())):
            assert self.process.poll() is None, log.read_text()
            time.sleep(0.05)
        self.port = int(found[1])

    def resident(self) -> float:
        """Return the memory that the process uses, in MB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(text.split("VmRSS:")[1].split()[0]) / 1_000

    def cpu_time(self) -> float:
        """Return the CPU time of the process so far, in milliseconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1_000 / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


class Client:
    """A process with one connection to each server, which sends requests one after the other."""

    def __init__(self, who: int, ports: Sequence[int], questions: Sequence[str]):
        self._pipe, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=_send_requests, args=(theirs, who, ports, questions), daemon=True)
        self._process.start()

    def start(self, place: int, what: str, seconds: float) -> None:
        self._pipe.send((place, what, seconds))

    def times(self) -> list[float]:
        """Return how long each request took, in milliseconds."""
        answer: list[float] = self._pipe.recv()
        return answer

    def stop(self) -> None:
        self._pipe.send(None)
        self._process.join()


def _send_requests(pipe: Any, who: int, ports: Sequence[int], questions: Sequence[str]) -> None:
    """Do what the pipe says, until it says None."""
    connections = [http.client.HTTPConnection("127.0.0.1", port) for port in ports]
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    number = 0
    while (command := pipe.recv()) is not None:
        place, what, seconds = command
        connection, prefix = connections[place], PREFIXES[place]
        times: list[float] = []
        end = time.perf_counter() + seconds
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
        pipe.send(times)


class Comparison:
    """What one kind of request took at both servers, in turns so short that other load meets both alike."""

    def __init__(self, what: str, clients: Sequence[Client], servers: Sequence[Server]):
        self.what = what
        self._clients = clients
        self._servers = servers
        self.rates: list[list[float]] = [[], []]
        self.times: list[list[float]] = [[], []]
        self.worked = [0.0, 0.0]
        """The CPU time of each server, in milliseconds."""

    def measure(self, seconds: float, turns: int) -> None:
        """Ask both servers as often, by turns, of which either may be the first."""
        for place in (0, 1):
            self._ask(place, 1.0, count=False)
        chosen = random.Random(self.what)
        for _ in range(turns):
            for place in chosen.sample((0, 1), 2):
                self._ask(place, seconds)

    def _ask(self, place: int, seconds: float, *, count: bool = True) -> None:
        before = self._servers[place].cpu_time()
        for client in self._clients:
            client.start(place, self.what, seconds)
        times = [each for client in self._clients for each in client.times()]
        if count:
            self.worked[place] += self._servers[place].cpu_time() - before
            self.rates[place].append(len(times) / seconds)
            self.times[place] += times

    def rows(self) -> list[Row]:
        """Return how many requests each server answered, and what one cost it."""
        number = len(self._clients)
        name = f"{self.what}, {number} client{'s' if number > 1 else ''}"
        rates = [percentile(each, UNDISTURBED) for each in self.rates]
        shown = [
            f"{rate:,.0f}/s, {percentile(times, 0.5):.1f} and {percentile(times, 0.99):.1f} ms"
            for rate, times in zip(rates, self.times, strict=True)
        ]
        share = rates[0] / rates[1]
        cost = [worked / len(times) for worked, times in zip(self.worked, self.times, strict=True)]
        return [
            Row(f"{name}: requests, p50 and p99", *shown, f"{share:.2f}x", f"≥ {LEAST:g}x", share >= LEAST),
            ratio(f"{name}: CPU of the server per request", *cost, round(1 / LEAST, 2), "ms"),
        ]


def idle_streams(server: Server) -> float:
    """Return how much memory this many open streams of events take in a server that has answered little so far, in MB."""
    first = http.client.HTTPConnection("127.0.0.1", server.port)
    first.request("GET", "/api/projects/1/memories", headers={"Authorization": f"Bearer {TOKEN}"})
    assert first.getresponse().read()
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


def rows(seconds: float = SECONDS, turns: int = TURNS) -> list[Row]:
    """Measure, and return the rows of the table."""
    notes = corpus("en", SIZE)
    questions = list(notes.questions)[:100]
    with tempfile.TemporaryDirectory() as directory:
        stores = [Path(directory) / name for name in ("ours.db", "bare.db")]
        for store in stores:
            with omoide.open(store, embedder="off") as memory:
                memory.remember_many(drafts(notes.notes, SCOPE))
        serve = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()", "serve", "--port", "0"]
        streaming = Server(serve, stores[0])
        memory_of_streams = idle_streams(streaming)
        streaming.stop()
        servers = (
            Server(serve, stores[0]),
            Server([sys.executable, "-c", BARE, str(stores[1])], stores[1]),
        )
        clients = [Client(who, [server.port for server in servers], questions) for who in range(max(CLIENTS))]
        try:
            found = []
            for what in ("search", "list", "create"):
                for number in CLIENTS:
                    comparison = Comparison(what, clients[:number], servers)
                    comparison.measure(seconds, turns)
                    found += comparison.rows()
            return [*found, limit(f"{STREAMS} idle event streams", memory_of_streams, 20, "MB")]
        finally:
            for client in clients:
                client.stop()
            for server in servers:
                server.stop()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.http", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long a turn takes")
    parser.add_argument("--turns", type=int, default=TURNS, help="how many turns each server gets for each row")
    options = parser.parse_args()
    return not print_table("REST (baseline: a bare Litestar handler)", rows(options.seconds, options.turns))


if __name__ == "__main__":
    sys.exit(main())
