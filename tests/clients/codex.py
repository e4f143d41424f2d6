"""Codex without its model: its app-server starts the servers of config.toml, lists their tools and calls them."""

import json
import subprocess
import sys
from itertools import count
from typing import Any

EXPECTED = {"remember", "recall", "revise", "forget", "resume"}


class Codex:
    def __init__(self, program: str):
        self._process = subprocess.Popen(
            [program, "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
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
        self._process.stdin.close()
        self._process.wait(timeout=30)


codex = Codex(sys.argv[1])
(server,) = codex.ask("mcpServerStatus/list")["data"]
assert server["name"] == "omoide"
assert set(server["tools"]) == EXPECTED, server
thread = codex.ask("thread/start")["thread"]["id"]
for tool, arguments in (("remember", {"content": "認証は JWT を採用"}), ("recall", {"query": "認証"})):
    result = codex.ask("mcpServer/tool/call", threadId=thread, server="omoide", tool=tool, arguments=arguments)
    sys.stdout.write(result["content"][0]["text"] + "\n")
    assert "JWT" in result["content"][0]["text"]
codex.end()
