"""A killed server, and many servers at once: no acknowledged memory is lost."""

import http.client
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import omoide

SHOP = omoide.Scope.project("shop")
MAIN = "from omoide.interfaces.cli import main; main()"
TOKEN = "a-token-of-the-test-only"
DEAD = (OSError, http.client.HTTPException, ValueError)  # what a client sees of a server that dies


def write_until_it_dies(port: int, who: str, acknowledged: list[str]) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "Accept": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection, suppress(*DEAD):
        for number in range(100_000):
            content = f"note {number} of {who}"
            asked = {
                "jsonrpc": "2.0", "id": number, "method": "tools/call",
                "params": {"name": "remember", "arguments": {"content": content}},
            }  # several entries per line  # fmt: skip
            connection.request("POST", "/mcp", json.dumps(asked), headers)
            with connection.getresponse() as response:
                answer = json.loads(response.read())
            assert answer["result"]["structuredContent"]["action"] == "created"
            acknowledged.append(content)


def test_acknowledged_memories_of_four_clients_survive_a_killed_server(place: Path, long: bool) -> None:
    chance = random.Random(3)
    acknowledged: list[str] = []
    for round in range(10 if long else 3):
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, "mcp", "--http", "127.0.0.1:0"],
            stderr=subprocess.PIPE, text=True, env={**os.environ, "OMOIDE_MCP_TOKEN": TOKEN},
        )  # several entries per line  # fmt: skip
        assert process.stderr
        port = int(re.search(r":(\d+)/mcp", process.stderr.readline())[1])
        before = len(acknowledged)
        clients = [
            threading.Thread(target=write_until_it_dies, args=(port, f"client {who} in round {round}", acknowledged))
            for who in range(4)
        ]
        for client in clients:
            client.start()
        wanted = before + chance.randint(10, 60)
        while len(acknowledged) < wanted:
            time.sleep(0.001)
        process.kill()
        process.wait()
        process.stderr.close()
        for client in clients:
            client.join()
        with omoide.open(place / "memory.db") as memory:
            assert memory.check() == []
            kept = {each.content for each in memory.list(scope=SHOP, limit=100_000).memories}
        assert set(acknowledged) <= kept
        assert len(kept) <= len(acknowledged) + 4 * (round + 1)  # at most one of each client was stored and not acknowledged


def test_eight_servers_share_one_database(talk: Callable[..., Any], place: Path) -> None:
    servers = [talk() for _ in range(8)]

    def write(server: Any, who: int) -> None:
        for number in range(15):
            server.result("remember", content=f"note {number} of server {who}")
            assert server.result("recall", query=f"note {number} server {who}", limit=100)["total_count"]

    threads = [threading.Thread(target=write, args=(server, who)) for who, server in enumerate(servers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for server in servers:
        assert server.result("recall", query="note", limit=1000)["total_count"] == 8 * 15
    with omoide.open(place / "memory.db") as memory:
        assert memory.check() == []


def test_the_next_server_opens_the_database_of_a_killed_one(talk: Callable[..., Any]) -> None:
    first = talk()
    kept = first.result("remember", content="kept before the fall")
    first.process.kill()
    first.process.wait()
    assert talk().result("recall", query="fall")["memories"][0]["id"] == kept["memory_id"]


def test_a_server_reports_a_replaced_database_and_the_next_one_serves_the_new_file(
    talk: Callable[..., Any], place: Path
) -> None:
    first = talk()
    first.result("remember", content="kept in the copy")
    with omoide.open(place / "memory.db") as memory:
        memory.backup(place / "copy.db")
    first.result("remember", content="kept after the copy")
    (place / "copy.db").rename(place / "memory.db")
    before = (place / "memory.db").read_bytes()
    for tool, asked in (("recall", {"query": "kept"}), ("remember", {"content": "lost"})):
        for _ in range(2):
            refusal = first.refusal(tool, **asked)
            assert "memory.db was replaced by another file while it was open" in refusal
            assert "Restart every omoide that has it open" in refusal
    assert (place / "memory.db").read_bytes() == before
    first.process.stdin.close()
    assert first.process.wait(timeout=30) == 0
    second = talk()
    assert [each["content"] for each in second.result("recall", query="kept")["memories"]] == ["kept in the copy"]
    second.result("remember", content="kept in the new file")
    (place / "memory.db").unlink()
    assert "memory.db was removed while it was open" in second.refusal("remember", content="lost")
    assert not (place / "memory.db").exists()
