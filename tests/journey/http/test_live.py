"""Live events over server-sent events, and MCP on the port of REST."""

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

import omoide
from journey.http.conftest import NUMBERS, OWNER, WORKER, needs_server
from omoide.model import Scope

pytestmark = needs_server
BOUND = "a-token-that-is-bound-to-live"


class Events:
    """The events of a stream, one by one."""

    def __init__(self, response: http.client.HTTPResponse):
        self._response = response

    def next(self) -> tuple[int, dict[str, Any]]:
        """Return the id and the data of the next event."""
        fields: dict[str, str] = {}
        while True:
            line = self._response.readline().decode().rstrip("\n")
            assert line or fields or self._response.length is None
            if not line and "data" in fields:
                return int(fields["id"]), json.loads(fields["data"])
            name, _, value = line.partition(": ")
            if name:
                fields[name] = value


@contextmanager
def stream(server: Any, query: str = "", token: str = OWNER, **headers: str) -> Iterator[Events]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    sent = {"Authorization": f"Bearer {token}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request("GET", f"/api/events/stream{query}", headers=sent)
    response = connection.getresponse()
    assert (response.status, response.headers["Content-Type"]) == (200, "text/event-stream; charset=utf-8")
    assert response.readline() == b": connected\n"
    yield Events(response)
    connection.close()


def test_a_change_by_another_process_arrives(server: Any, project: str, place_of_server: Path) -> None:
    number = int(project.split("/")[3])
    path = server.request("GET", f"/api/projects/{number}").data["path"]
    with stream(server, f"?projectId={number}") as events, omoide.open(place_of_server / "memory.db") as memory:
        kept = memory.remember("変更はすぐに届く", scope=Scope.project(path)).memory
        first, data = events.next()
        assert (data["action"], data["memoryId"], data["project"], data["via"]) == (
            "remembered",
            kept.number,
            path,
            "python",
        )
        memory.remember("of another project", scope=Scope.project(f"other-{next(NUMBERS)}"))
        memory.archive(kept.number, scope=Scope.project(path))
        second, data = events.next()
        assert (data["action"], data["memoryId"]) == ("archived", kept.number)
        assert second > first


def test_a_stream_is_resumed_after_the_last_event_that_was_received(server: Any, project: str) -> None:
    number = int(project.split("/")[3])
    with stream(server, f"?projectId={number}") as events:
        made = [server.request("POST", project, {"content": f"note {each}"}).data["id"] for each in range(3)]
        first, data = events.next()
        assert data["memoryId"] == made[0]
    with stream(server, f"?projectId={number}", Last_Event_ID=str(first)) as events:
        assert [events.next()[1]["memoryId"] for _ in range(2)] == made[1:]
    with stream(server, f"?projectId={number}&lastEventId={first}") as events:
        assert events.next()[1]["memoryId"] == made[1]


def test_an_edit_of_a_mirrored_file_arrives(server: Any, project: str, place_of_server: Path, tmp_path: Path) -> None:
    number = int(project.split("/")[3])
    path = server.request("GET", f"/api/projects/{number}").data["path"]
    file = tmp_path / "memories.md"
    with omoide.open(place_of_server / "memory.db") as memory:
        memory.mirror(file, scope=Scope.project(path))
    with stream(server, f"?projectId={number}") as events:
        file.write_text("# Memories\n\n## A title\n- Tags: file\n- Date: 2026-02-05\n- Content: written by a person\n")
        while (data := events.next()[1])["via"] != "file":
            pass
    memory_id = data["memoryId"]
    assert server.request("GET", f"{project}/{memory_id}").data["content"] == "written by a person"


def test_a_mirrored_file_is_watched_without_requests(
    server: Any, project: str, place_of_server: Path, tmp_path: Path
) -> None:
    scope = Scope.project(server.request("GET", project.removesuffix("/memories")).data["path"])
    file = tmp_path / "memories.md"
    with omoide.open(place_of_server / "memory.db") as memory:
        memory.mirror(file, scope=scope)
    file.write_text("# Memories\n\n## A title\n- Tags: file\n- Date: 2026-02-05\n- Content: 人が書いた\n")
    reader = apsw.Connection(str(place_of_server / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
    while not list(reader.execute("SELECT number FROM memories WHERE content = '人が書いた'")):
        pass  # it arrives, or the test takes too long
    reader.close()


def test_a_bound_token_gets_only_the_events_of_its_project(server: Any, project: str, place_of_server: Path) -> None:
    number = int(project.split("/")[3])
    path = server.request("GET", f"/api/projects/{number}").data["path"]
    other = server.request("POST", "/api/projects", {"path": f"hidden-{next(NUMBERS)}"}).data["id"]
    with (place_of_server / "memory.db.mcp.tokens").open("a") as file:
        file.write(f"{BOUND} worker projects={path}\n")
    with stream(server, token=BOUND) as events:
        server.request("POST", f"/api/projects/{other}/memories", {"content": "hidden"})
        mine = server.request("POST", project, {"content": "mine"}).data["id"]
        assert events.next()[1]["memoryId"] == mine
    for query, status in ((f"?projectId={other}", 404), ("?projectId=x", 422), ("?colour=red", 422)):
        assert server.request("GET", f"/api/events/stream{query}", token=BOUND).status == status
    assert server.request("GET", "/api/events/stream", Last_Event_ID="x").status == 422


def test_a_server_with_open_streams_stops(start: Callable[..., Any]) -> None:
    server = start("serve")
    with stream(server), stream(server):
        server.process.terminate()
        assert server.process.wait(60) == 0
    assert server.process.stderr.read() == ""


# MCP


def call(server: Any, tool: str, token: str = OWNER, path: str = "/mcp", **arguments: Any) -> Any:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    return server.request("POST", path, asked, token=token, Accept="application/json, text/event-stream").data["result"]


def test_mcp_on_the_port_of_rest_works_on_the_same_memories(server: Any, project: str) -> None:
    path = server.request("GET", project.removesuffix("/memories")).data["path"]
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    greeted = server.request("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    assert greeted.data["result"]["serverInfo"]["name"] == "omoide"
    assert greeted.headers["Mcp-Session-Id"]
    assert server.request("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202
    done = call(server, "remember", path=f"/mcp?project={path}", content="認証は JWT を採用する")
    assert not done["isError"]
    (memory,) = server.request("GET", project).data["memories"]
    assert memory["content"] == "認証は JWT を採用する"
    found = call(server, "recall", path=f"/mcp?project={path}", query="認証")
    assert found["structuredContent"]["total_count"] == 1
    assert "worker" in call(server, "forget", WORKER, f"/mcp?project={path}", id=memory["uuid"])["content"][0]["text"]


def test_mcp_on_the_port_of_rest_refuses_what_the_small_server_refuses(server: Any) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert server.request("POST", "/mcp", ping).data["result"] == {}
    wrong = server.request("POST", "/mcp", ping, token="wrong")
    assert (wrong.status, wrong.headers["Content-Type"]) == (401, "application/json")
    answer = server.request("GET", "/mcp")
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    assert server.request("POST", "/mcp", ping, Content_Type="text/plain").status == 415
    assert server.request("POST", "/mcp", ping, Accept="text/html").status == 406
    assert server.request("POST", "/mcp", b"{").data["error"]["code"] == -32700
    assert server.request("POST", "/mcp", ping, MCP_Protocol_Version="1999-01-01").status == 400


def test_progress_of_an_mcp_request_is_streamed(start: Callable[..., Any]) -> None:
    server = start("serve", "--tools", "all")
    notes = [{"content": f"note {number} about thing {number % 7}"} for number in range(600)]
    params = {"name": "remember_many", "arguments": {"memories": notes, "project": "shop"}, "_meta": {"progressToken": 1}}
    asked = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    answer = server.request("POST", "/mcp", asked, Accept="application/json, text/event-stream")
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    parts = [json.loads(line[6:]) for line in answer.text.decode().splitlines() if line.startswith("data: ")]
    assert "notifications/progress" in [part.get("method") for part in parts]
    assert parts[-1]["id"] == 7
    assert not parts[-1]["result"]["isError"]
