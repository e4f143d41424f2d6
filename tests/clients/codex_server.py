"""Codex without its model: its app-server, asked over pipes."""

import json
import subprocess
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any


class Codex:
    def __init__(self, program: str, *, cwd: Path | None = None, environment: Mapping[str, str] | None = None):
        self._process = subprocess.Popen(
            [program, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=cwd,
            env=environment,
        )
        self._ids = count(1)
        self.ask("initialize", clientInfo={"name": "omoide-tests", "version": "0"}, capabilities={"experimentalApi": True})

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        id = next(self._ids)
        self._process.stdin.write(json.dumps({"id": id, "method": method, "params": params}) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == id:
                assert "result" in answer, answer
                return answer["result"]
        raise AssertionError(f"codex ended at {method}, with {self._process.wait()}")

    def end(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()
