"""Servers over HTTP as real processes: the small one of `omoide mcp --http`, and `omoide serve`."""

import http.client
import importlib.util
import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

MAIN = "from omoide.interfaces.cli import main; main()"
OWNER, ADMIN, WORKER = "the-owner-of-this-test", "an-admin-of-this-test", "a-worker-of-this-test"
COMMANDS = {
    "mcp": ("mcp", "--http", "0"),
    "serve": ("serve", "--port", "0", "--no-access-log"),
    "serve with log": ("serve", "--port", "0"),
}
NUMBERS = count(1)
"""For names that no other test has."""
needs_server = pytest.mark.skipif(
    importlib.util.find_spec("litestar") is None or importlib.util.find_spec("uvicorn") is None,
    reason="needs the extra `server`",
)


class Reply(NamedTuple):
    status: int
    headers: Any
    text: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.text) if self.text else None


class Server(NamedTuple):
    kind: str
    process: subprocess.Popen[str]
    port: int

    def request(self, verb: str, path: str, body: Any = None, token: str = OWNER, **headers: str) -> Reply:
        """Send one request; a header that is empty is left out."""
        sent = {"Authorization": f"Bearer {token}"}
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(verb, path, data, {name: value for name, value in sent.items() if value})
        answer = connection.getresponse()
        reply = Reply(answer.status, answer.headers, answer.read())
        connection.close()
        return reply

    def raw(self, text: bytes) -> bytes:
        """Send bytes and the end of the input, and return all that is answered."""
        with self.connect() as peer:
            peer.sendall(text)
            peer.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: peer.recv(65_536), b""))

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)


@contextmanager
def servers(place: Path, patch: pytest.MonkeyPatch) -> Iterator[Callable[..., Server]]:
    """Starts servers on a store of their own, and ends them."""
    for name, value in (("STORE", place / "memory.db"), ("CONFIG", place / "config.toml"), ("EMBEDDER", "off")):
        patch.setenv(f"OMOIDE_{name}", str(value))
    patch.setenv("OMOIDE_ACTOR", "tester")
    tokens = place / "memory.db.mcp.tokens"
    tokens.touch(mode=0o600)
    tokens.write_text(f"{OWNER} owner\n{ADMIN} admin\n{WORKER} worker robot\n")
    processes: list[subprocess.Popen[str]] = []

    def start(kind: str, *flags: str, before: str = "") -> Server:
        command = [sys.executable, "-c", f"{before}\n{MAIN}", *COMMANDS[kind], *flags]
        processes.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=place))
        line = processes[-1].stderr.readline()
        return Server(kind, processes[-1], int(re.search(r":(\d+)[/,]", line)[1]))

    yield start
    for process in processes:
        process.terminate()
        assert process.wait(timeout=60) == 0
        process.stderr.close()


@pytest.fixture
def start(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Server]]:
    with servers(place, monkeypatch) as start:
        yield start


@pytest.fixture(scope="module")
def place_of_server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rest")


@pytest.fixture(scope="module")
def server(place_of_server: Path) -> Iterator[Any]:
    """One `omoide serve` for all tests of a module: each makes projects of its own."""
    with pytest.MonkeyPatch.context() as patch, servers(place_of_server, patch) as start:
        yield start("serve")


@pytest.fixture
def project(server: Any) -> str:
    """The path of a new project's memories."""
    made = server.request("POST", "/api/projects", {"path": f"group/shop-{next(NUMBERS)}"})
    assert made.status == 201
    return f"{made.headers['Location']}/memories"
