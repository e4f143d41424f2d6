"""A server as a real process, and a client that sends exactly what a test gives it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

PROGRAM = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()"]
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class StdioClient:
    """A client of `omoide mcp` over its pipes."""

    def __init__(self, *flags: str, **environment: str):
        self.process = subprocess.Popen(
            [*PROGRAM, "mcp", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
        )
        self._last = 0

    def send(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read() if self.process.stderr else ""
        return json.loads(line)

    def post(self, method: str, **params: Any) -> int:
        """Send a request without waiting for the answer, and return its id."""
        self._last += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}).encode())
        return self._last

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        id = self.post(method, **params)
        answer = self.read()
        assert answer["id"] == id
        return answer

    def notify(self, method: str, **params: Any) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its result, successful or not."""
        return self.request("tools/call", name=name, arguments=arguments)["result"]

    def result(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool that succeeds, and return its structured result."""
        result = self.call(name, **arguments)
        assert not result["isError"], result["content"]
        return result["structuredContent"]

    def refusal(self, name: str, /, **arguments: Any) -> str:
        """Call a tool that fails, and return its message."""
        result = self.call(name, **arguments)
        assert result["isError"], result
        return result["content"][0]["text"]

    def end(self) -> tuple[int, bytes, bytes]:
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@pytest.fixture
def talk(place: Path) -> Iterator[Callable[..., StdioClient]]:
    clients: list[StdioClient] = []

    def talk(*flags: str, **environment: str) -> StdioClient:
        clients.append(StdioClient(*flags, **environment))
        return clients[-1]

    yield talk
    for each in clients:
        each.process.kill()
        each.process.wait()
        for pipe in (each.process.stdin, each.process.stdout, each.process.stderr):
            with suppress(BrokenPipeError):
                pipe.close()
