"""The server over HTTP: authentication, refused requests, the daemon, and several clients at once."""

import http.client
import json
import os
import re
import select
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from omoide.interfaces.http.tokens import Bearer
from omoide.interfaces.mcp.dispatch import Dispatcher, tools_of
from omoide.interfaces.mcp.transports import http as web_server
from omoide.interfaces.mcp.transports.http import HttpServer as HttpServer
from omoide.model import Role

MAIN = "from omoide.interfaces.cli import main; main()"
OWNER, WORKER = "the-owner-of-this-test", "a-worker-of-this-test"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


class Answer(NamedTuple):
    status: int
    headers: Any
    data: Any


class Server(NamedTuple):
    process: subprocess.Popen[str]
    port: int

    def post(self, body: Any, path: str = "/mcp", verb: str = "POST", token: str = OWNER, **headers: str) -> Answer:
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {token}",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(verb, path, data, {name: value for name, value in sent.items() if value})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return Answer(answer.status, answer.headers, json.loads(text) if text else None)

    def call(self, tool: str, path: str = "/mcp", token: str = OWNER, **arguments: Any) -> Any:
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        return self.post(asked, path, token=token).data["result"]

    def raw(self, text: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as peer:
            peer.sendall(text)
            peer.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: peer.recv(65_536), b""))


@pytest.fixture
def serve(place: Path) -> Iterator[Callable[..., Server]]:
    tokens = place / "memory.db.mcp.tokens"
    tokens.touch(mode=0o600)
    tokens.write_text(f"{OWNER} owner\n{WORKER} worker robot  # in the cellar\n")
    processes = []

    def serve(*flags: str, before: str = "") -> Server:
        command = [sys.executable, "-c", f"{before}\n{MAIN}", "mcp", "--http", "0", *flags]
        processes.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        line = processes[-1].stderr.readline()
        return Server(processes[-1], int(re.search(r":(\d+)/mcp", line)[1]))

    yield serve
    for process in processes:
        process.terminate()
        assert process.wait(timeout=30) == 0
        process.stderr.close()


def test_a_request_without_a_valid_token_is_refused_before_its_body_is_read(serve: Callable[..., Server]) -> None:
    server = serve()
    for token in ("", "wrong", OWNER[:-1], OWNER + "x"):
        answer = server.post(PING, token=token)
        assert answer.status == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert server.post(PING, Authorization=OWNER).status == 401
    assert server.post(PING, Authorization=f"bearer {OWNER}").status == 200


def test_a_request_with_a_foreign_host_or_origin_is_refused(serve: Callable[..., Server]) -> None:
    server = serve()
    assert server.post(PING, Origin="https://evil.example").status == 403
    assert server.post(PING, Origin="null").status == 403
    assert server.post(PING, Origin="http://localhost.evil.example").status == 403
    assert server.post(PING, Host="evil.example").status == 403
    assert server.post(PING, Host="[").status == 403
    assert server.post(PING, Origin="http://[").status == 403
    for name in (
        "evil.example@localhost",
        "localhost@evil.example",
        "localhost/",
        "[localhost]",
        "localhost:99999",
        "//localhost",
    ):
        assert server.post(PING, Host=name).status == 403
        assert server.post(PING, Origin=f"http://{name}").status == 403
    assert server.post(PING, Origin="localhost").status == 403
    assert server.post(PING, Host="[::1]:80", Origin="http://LOCALHOST").status == 200
    assert server.post(PING, Origin="http://localhost:3000").status == 200
    assert server.post(PING, Host=f"localhost:{server.port}").status == 200
    assert serve("--allow-host", "memory.test").post(PING, Host="memory.test:99").status == 200


def test_only_post_requests_with_json_to_the_path_are_accepted(serve: Callable[..., Server]) -> None:
    server = serve()
    assert server.post(PING, "/").status == 404
    answer = server.post(b"", verb="GET")
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    assert server.post(b"", verb="DELETE").status == 405
    assert server.post(PING, Content_Type="text/plain").status == 415
    assert server.post(PING, Accept="text/html").status == 406
    assert server.post(b"{").data["error"]["code"] == -32700
    assert server.post([PING]).status == 400
    assert server.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202
    assert server.post(PING, MCP_Protocol_Version="2025-06-18").status == 200
    answer = server.post(PING, MCP_Protocol_Version="1999-01-01")
    assert (answer.status, answer.data["error"]["code"]) == (400, -32022)
    assert answer.data["error"]["data"]["supported"] == ["2025-06-18", "2025-11-25", "2026-07-28"]


def test_a_body_that_is_too_large_or_of_unknown_length_is_refused(serve: Callable[..., Server]) -> None:
    server = serve()
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {OWNER}\r\nContent-Type: application/json\r\n"

    def status(rest: str) -> bytes:
        return server.raw((head + rest).encode()).partition(b"\r\n")[0].split(b" ")[1]

    assert status("Content-Length: 99999999999\r\n\r\n") == b"413"
    assert status("\r\n") == b"411"
    assert status("Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == b"411"
    assert status("Content-Length: -1\r\n\r\n") == b"400"
    assert status("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}") == b"400"
    assert status("X: " + "y" * 10_000 + "\r\n\r\n") == b"431"
    assert status("X: y\r\n" * 200 + "\r\n") == b"431"
    assert status(" folded: x\r\n\r\n") == b"400"
    for nonsense in (
        b"\x16\x03\x01\x02\x00\x01",
        b"GET\r\n\r\n",
        b"GET http://x/ HTTP/1.1\r\n\r\n",
        b"GET / HTTP/3\r\n\r\n",
    ):
        assert server.raw(nonsense)[:12] in (b"", b"HTTP/1.1 400", b"HTTP/1.1 505")
    assert server.post(PING).status == 200


def test_a_refused_client_reads_the_reason_while_it_sends_a_large_body(serve: Callable[..., Server]) -> None:
    server = serve()
    assert server.post(b" " * 20_000_000).status == 413
    assert server.post(b" " * 15_000_000, token="wrong").status == 401
    assert server.post(b" " * 15_000_000, Content_Type="text/plain").status == 415


def test_a_refused_client_that_is_gone_causes_no_traceback(serve: Callable[..., Server]) -> None:
    server = serve()
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as peer:
            peer.sendall(
                b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
            )  # refused when the input ends here; then the client reads nothing
    assert server.post(PING).status == 200
    server.process.terminate()
    assert server.process.wait(20) == 0
    assert server.process.stderr.read() == ""


def test_in_the_stateless_version_the_headers_must_match_the_body(serve: Callable[..., Server]) -> None:
    server = serve()
    name = "recall"
    asked = {
        "jsonrpc": "2.0", "id": 5, "method": "tools/call",
        "params": {"name": name, "arguments": {"query": "x"}, "_meta": META},
    }  # several entries per line  # fmt: skip
    right = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/call", "Mcp_Name": name}
    answer = server.post(asked, **right)
    assert answer.status == 200
    assert answer.data["result"]["resultType"] == "complete"
    assert server.post(asked, **{**right, "Mcp_Name": "=?base64?cmVjYWxs?="}).status == 200
    for header, value in [
        ("Mcp_Name", "forget"),
        ("Mcp_Name", ""),
        ("Mcp_Name", "=?base64?x?="),
        ("Mcp_Method", "tools/list"),
        ("Mcp_Method", ""),
        ("MCP_Protocol_Version", "2025-11-25"),
        ("MCP_Protocol_Version", ""),
    ]:
        answer = server.post(asked, **{**right, header: value})
        assert (answer.status, answer.data["error"]["code"], answer.data["id"]) == (400, -32020, 5)


def test_a_client_has_only_the_role_of_its_token(serve: Callable[..., Server], place: Path) -> None:
    (place / "config.toml").write_text('[agents]\nboss = "admin"\n"chief_*" = "admin"\n')
    server = serve("--tools", "all")
    kept = server.call("remember", token=WORKER, content="kept by a robot", key="robot")
    assert not kept["isError"]
    for arguments in ({}, {"caller_agent_id": "boss"}, {"caller_agent_id": "chief_1"}):
        refused = server.call("archive", token=WORKER, id="robot", **arguments)
        assert refused["isError"]
        assert "worker" in refused["content"][0]["text"]
    assert not server.call("archive", id="robot", caller_agent_id="boss")["isError"]
    rows = server.call("events")["structuredContent"]["rows"]
    assert [(row["action"], row["actor"]["name"], row["actor"]["role"]) for row in rows] == [
        ("archived", "boss", "admin"),
        ("remembered", "robot", "worker"),
    ]


def test_the_role_of_a_token_does_not_depend_on_the_setting_role(
    serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMOIDE_ROLE", "worker")
    server = serve()
    id = server.call("remember", content="kept, then forgotten")["structuredContent"]["memory_id"]
    assert "worker" in server.call("forget", id=id, token=WORKER)["content"][0]["text"]
    assert not server.call("forget", id=id)["isError"]


def test_the_url_selects_project_and_session(serve: Callable[..., Server]) -> None:
    server = serve()
    server.call("remember", "/mcp?project=backend%2Fone&session=s1", content="of one")
    server.call("remember", "/mcp?project=two", content="of two")
    assert server.call("recall", "/mcp?project=two")["structuredContent"]["total_count"] == 1
    found = server.call("recall", "/mcp?project=backend/one")["structuredContent"]["memories"]
    assert [(memory["content"], memory["layer"]) for memory in found] == [("of one", "session")]


def test_many_clients_write_at_once(serve: Callable[..., Server]) -> None:
    server = serve()

    def write(who: int) -> None:
        for number in range(10):
            assert not server.call("remember", content=f"note {number} of {who}")["isError"]

    threads = [threading.Thread(target=write, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.call("recall", query="note", limit=1000)["structuredContent"]["total_count"] == 80


def test_requests_above_the_rate_limit_get_status_429(place: Path) -> None:
    server = HttpServer(lambda *_: Dispatcher(None), lambda _: Bearer(Role.OWNER, ""), "127.0.0.1:0", rate=(0.001, 3))
    thread = threading.Thread(target=server.serve)
    thread.start()
    here = Server(None, int(re.search(r":(\d+)/", server.url)[1]))
    answers = [here.post(PING) for _ in range(5)]
    server.stop()
    thread.join()
    assert [answer.status for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[-1].headers["Retry-After"] == "1"


@pytest.mark.parametrize("begun", [b"", b"POST /mcp HTTP/1.1\r\nX: ", b"body"], ids=["nothing", "head", "body"])
def test_a_request_that_arrives_slowly_is_cut_off(begun: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "_BODY_SECONDS", 0.5)
    monkeypatch.setattr(web_server, "_HEADER_SECONDS", 0.5)
    server = HttpServer(lambda *_: Dispatcher(None), lambda _: Bearer(Role.OWNER, ""), "127.0.0.1:0")
    thread = threading.Thread(target=server.serve)
    thread.start()
    if begun == b"body":
        begun = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n"
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", int(re.search(r":(\d+)/", server.url)[1])), timeout=30) as peer:
        peer.sendall(begun)
        while not select.select([peer], [], [], 0.1)[0] and time.monotonic() - began < 10:
            peer.sendall(b"x" if begun else b"")
    server.stop()
    thread.join()
    assert time.monotonic() - began < 10


@pytest.fixture
def here() -> Iterator[Callable[[], Server]]:
    """Starts a server in a thread of this process; every token is the owner's."""
    started: list[tuple[HttpServer, threading.Thread]] = []

    def start() -> Server:
        server = HttpServer(
            lambda *_: Dispatcher(None), lambda token: Bearer(Role.OWNER, "") if token else None, "127.0.0.1:0"
        )
        thread = threading.Thread(target=server.serve)
        thread.start()
        started.append((server, thread))
        return Server(None, int(re.search(r":(\d+)/", server.url)[1]))

    yield start
    for server, thread in started:
        server.stop()
        thread.join()


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=25)


def is_open(peer: socket.socket) -> bool:
    return not select.select([peer], [], [], 0)[0]


def test_the_head_of_a_request_must_arrive_within_two_seconds() -> None:
    assert web_server._HEADER_SECONDS == 2.0


@pytest.mark.parametrize("sent", [b"", b"POST /mcp HT", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"])
def test_a_connection_with_an_incomplete_head_is_closed(
    sent: bytes, here: Callable[[], Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "_HEADER_SECONDS", 0.2)
    with connect(here()) as peer:
        peer.sendall(sent)
        assert peer.recv(1) == b""  # and no TimeoutError: it does not wait for the 30 s that a body may take


def test_a_head_that_arrives_byte_by_byte_is_cut_off(here: Callable[[], Server], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "_HEADER_SECONDS", 0.5)
    with connect(here()) as peer:
        sent = 0
        while is_open(peer) and sent < 200:
            peer.sendall(b"P" if sent == 0 else b"O")
            sent += 1
            select.select([peer], [], [], 0.1)
        assert sent < 200


def test_the_time_limit_also_applies_to_the_head_of_a_later_request(
    here: Callable[[], Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", here().port, timeout=25)
    assert request(connection) == 200
    monkeypatch.setattr(web_server, "_HEADER_SECONDS", 0.2)
    connection.sock.sendall(b"POST /mcp HT")
    assert connection.sock.recv(1) == b""
    connection.close()


def request(connection: http.client.HTTPConnection) -> int:
    headers = {"Content-Type": "application/json", "Authorization": "Bearer anything"}
    connection.request("POST", "/mcp", json.dumps(PING), headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def test_the_oldest_silent_connection_is_closed_for_a_new_one(
    here: Callable[[], Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "_HEADER_SECONDS", 600.0)  # so that nothing but a newcomer ends a silent connection
    server = here()
    admitted = http.client.HTTPConnection("127.0.0.1", server.port, timeout=25)
    assert request(admitted) == 200
    silent = [connect(server) for _ in range(63)]
    assert server.post(PING).status == 200
    assert silent[0].recv(1) == b""
    assert all(map(is_open, silent[1:]))
    assert [server.post(PING).status for _ in range(100)] == [200] * 100
    assert request(admitted) == 200
    admitted.close()
    for peer in silent:
        peer.close()


def test_unauthenticated_connections_are_closed_for_new_ones_and_authenticated_ones_are_not(
    here: Callable[[], Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "_MAX_CONNECTIONS", 2)
    monkeypatch.setattr(web_server, "_HEADER_SECONDS", 600.0)
    monkeypatch.setattr(web_server, "_DRAIN_SECONDS", 600.0)
    server = here()
    first, second = (http.client.HTTPConnection("127.0.0.1", server.port, timeout=25) for _ in range(2))
    assert request(first) == 200
    with connect(server) as stranger:
        stranger.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert stranger.recv(12) == b"HTTP/1.1 401"
        assert request(second) == 200
    assert server.raw(b"").startswith(b"HTTP/1.1 503")
    for connection in (first, second):
        assert request(connection) == 200
        connection.close()


def test_sixty_four_silent_connections_do_not_block_a_client(serve: Callable[..., Server]) -> None:
    server = serve()
    silent = [connect(server) for _ in range(64)]
    assert server.post(PING).status == 200
    for peer in silent:
        peer.close()


def test_a_server_out_of_file_descriptors_accepts_connections_again_later(serve: Callable[..., Server]) -> None:
    server = serve(before="import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30))")
    peers = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(60)]
    before = cpu_seconds(server.process)
    with pytest.raises(subprocess.TimeoutExpired):
        server.process.wait(1)
    assert cpu_seconds(server.process) - before < 0.5  # seconds: it does not try without a pause
    for peer in peers:
        peer.close()
    assert server.post(PING).status == 200
    server.process.terminate()
    assert server.process.wait(20) == 0
    assert server.process.stderr.read() == ""


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    """Seconds of work of a process so far, where the system tells."""
    stat = Path(f"/proc/{process.pid}/stat")
    ticks = stat.read_text().rpartition(")")[2].split()[11:13] if stat.exists() else []
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def test_a_busy_server_calls_when_idle_between_requests_at_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "_IDLE_SECONDS", 0.2)
    monkeypatch.setattr(web_server, "_IDLE_INTERVAL_SECONDS", 1.0)
    used = threading.Semaphore(0)
    server = HttpServer(lambda *_: Dispatcher(None), lambda _: Bearer(Role.OWNER, ""), "127.0.0.1:0", when_idle=used.release)
    thread = threading.Thread(target=server.serve)
    began = time.monotonic()
    thread.start()
    here = Server(None, int(re.search(r":(\d+)/", server.url)[1]))
    count = 0
    while count < 2 and time.monotonic() - began < 120:
        if used.acquire(timeout=0.4):
            count += 1
        else:
            assert here.post(PING).status == 200
    server.stop()
    thread.join()
    assert count == 2
    assert time.monotonic() - began >= 2.0


def test_a_server_is_not_idle_while_a_request_is_in_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "_IDLE_SECONDS", 0.3)
    monkeypatch.setattr(web_server, "_IDLE_INTERVAL_SECONDS", 0.3)
    at_work, go_on, quiet = threading.Event(), threading.Event(), threading.Event()

    class Slow(Dispatcher):
        def tools(self) -> list[dict[str, Any]]:
            at_work.set()
            go_on.wait(30)
            return []

    server = HttpServer(lambda *_: Slow(None), lambda _: Bearer(Role.OWNER, ""), "127.0.0.1:0", when_idle=quiet.set)
    here = Server(None, int(re.search(r":(\d+)/", server.url)[1]))
    threads = [
        threading.Thread(target=server.serve),
        threading.Thread(target=here.post, args=({**PING, "method": "tools/list"},)),
    ]
    for thread in threads:
        thread.start()
    at_work.wait(30)
    quiet.clear()
    heard = quiet.wait(1)
    go_on.set()
    assert not heard
    assert quiet.wait(30)
    server.stop()
    for thread in threads:
        thread.join()


def test_a_signal_stops_a_server_at_any_moment(serve: Callable[..., Server]) -> None:
    for _ in range(5):
        server = serve()
        assert server.post(PING).status == 200
        server.process.terminate()  # right when it goes back to waiting
        assert server.process.wait(20) == 0


def test_a_byte_on_the_waker_stops_a_server_without_a_python_handler() -> None:
    server = HttpServer(lambda *_: Dispatcher(None), lambda _: Bearer(Role.OWNER, ""), "127.0.0.1:0")
    thread = threading.Thread(target=server.serve)
    thread.start()
    os.write(server.waker, b"\x0f")  # as the system does for a signal
    thread.join(20)
    assert not thread.is_alive()


def test_a_server_that_stops_finishes_the_answer_in_progress(serve: Callable[..., Server]) -> None:
    server = serve()
    for number in range(20):
        server.call("remember", content=f"{number} " + "word " * 60_000)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "omoide://document/note"}})
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {OWNER}\r\nContent-Type: application/json\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as peer:
        peer.sendall((head + body).encode())
        heard = peer.recv(1_000)  # of 6 MB: the rest waits until it is read
        server.process.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            server.process.wait(1)
        heard += b"".join(iter(lambda: peer.recv(1 << 20), b""))
    assert json.loads(heard.partition(b"\r\n\r\n")[2])["result"]["contents"][0]["text"].count("## ") == 20
    assert server.process.wait(20) == 0


def test_a_server_that_stops_does_not_wait_for_incomplete_requests(serve: Callable[..., Server]) -> None:
    server = serve()
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as peer:
        peer.sendall(b"POST /mcp HTTP/1.1\r\nHost: loc")
        assert server.post(PING).status == 200  # by then the other one is being read
        server.process.terminate()
        assert server.process.wait(10) == 0


def test_an_address_reachable_from_other_machines_needs_a_host_name(run: Callable[..., Any]) -> None:
    done = run("mcp", "--http", "0.0.0.0:0")
    assert done.code == 2
    assert "--allow-host" in done.err


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:{0}", "abc", "abc:{0}", "a..b:1", "127.0.0.1:{0}/mcp", "me@127.0.0.1:{0}", "99999", ":x"]
)
def test_an_invalid_address_is_refused_with_an_example(address: str, run: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:  # so that no server starts, should the address be accepted
        address = address.format(taken.getsockname()[1])
        done = run("mcp", "--http", address)
    assert done.code == 2
    assert "use HOST:PORT or PORT, such as 127.0.0.1:8765" in done.err
    assert address in done.err


def test_an_address_of_another_machine_is_refused_with_advice_about_the_host(run: Callable[..., Any]) -> None:
    assert "choose a host of this machine" in run("mcp", "--http", "192.0.2.1:9000", "--allow-host", "memory.test").err


def test_a_daemon_starts_once_reports_its_status_and_stops(omoide: Callable[..., Any], place: Path) -> None:
    assert omoide("mcp", "status").code == 1
    assert omoide("mcp", "stop").out == "no background server runs\n"
    started = omoide("mcp", "--daemon", "--http", "127.0.0.1:0")
    assert started.code == 0, started.err
    try:
        status = omoide("mcp", "status", "--json").data
        assert status["running"]
        assert status["url"] in started.out
        token = omoide("mcp", "token").out.strip()
        server = Server(None, int(re.search(r":(\d+)/mcp", status["url"])[1]))
        assert not server.call("remember", token=token, content="by the daemon")["isError"]
        assert "already" in omoide("mcp", "--daemon", "--http", "127.0.0.1:0").err
        for file in place.glob("memory.*"):
            assert file.stat().st_mode & 0o077 == 0, file
    finally:
        assert omoide("mcp", "stop").out == "stopped\n"
    assert omoide("mcp", "status").code == 1
    assert omoide("recall", "daemon", "--json").data["memories"]


def test_a_daemon_uses_the_settings_and_store_of_the_process_that_started_it(
    omoide: Callable[..., Any], place: Path
) -> None:
    (place / "own.toml").write_text('types = ["runbook"]\n')
    started = omoide("mcp", "--daemon", "--http", "127.0.0.1:0", "--global", OMOIDE_CONFIG="own.toml")
    try:
        server = Server(None, int(re.search(r":(\d+)/mcp", started.out)[1]))
        token = omoide("mcp", "token").out.strip()
        kept = server.call("remember", token=token, content="for all", type="runbook")
        assert "in the global layer" in kept["content"][0]["text"]  # although OMOIDE_PROJECT names one
    finally:
        omoide("mcp", "stop")


def test_a_killed_daemon_does_not_count_as_running(omoide: Callable[..., Any]) -> None:
    omoide("mcp", "--daemon", "--http", "127.0.0.1:0")
    os.kill(omoide("mcp", "status", "--json").data["pid"], 9)
    assert omoide("mcp", "stop").code == 0
    again = omoide("mcp", "--daemon", "--http", "127.0.0.1:0")
    assert again.code == 0, again.err
    assert omoide("mcp", "stop").out == "stopped\n"


def test_a_daemon_on_a_taken_port_fails_at_once(omoide: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = omoide("mcp", "--daemon", "--http", f"127.0.0.1:{taken.getsockname()[1]}")
    assert done.code != 0
    assert "another port" in done.err
    assert omoide("mcp", "status").code == 1


def test_stores_that_differ_only_in_their_suffix_have_separate_tokens_and_servers(
    omoide: Callable[..., Any], place: Path
) -> None:
    alpha, beta = ("--store", str(place / "team.alpha")), ("--store", str(place / "team.beta"))
    assert omoide("mcp", "token", *alpha).out != omoide("mcp", "token", *beta).out
    assert omoide("mcp", "--daemon", "--http", "127.0.0.1:0", *alpha).code == 0
    try:
        assert omoide("mcp", "status", *alpha).code == 0
        assert omoide("mcp", "status", *beta).code == 1
        assert {file.name for file in place.glob("team.*")} == {
            *(f"team.alpha.mcp.{what}" for what in ("tokens", "log", "json")), "team.beta.mcp.tokens",
        }  # several entries per line  # fmt: skip
    finally:
        omoide("mcp", "stop", *alpha)


@pytest.mark.parametrize(
    "words", [["token"], ["status"], ["stop"], ["--daemon"], ["--http", "0"], ["config", "cursor", "--http"]]
)
def test_an_unusable_store_path_is_reported_in_one_line(words: list[str], omoide: Callable[..., Any], place: Path) -> None:
    (place / "file").touch()
    done = omoide("mcp", *words, OMOIDE_STORE=str(place / "file" / "x.db"))
    assert (done.code, done.out) == (1, "")
    assert re.fullmatch(r"omoide: cannot use \S+ \(.+\): choose another database with --store or OMOIDE_STORE\n", done.err)
    assert str(place / "file" / "x.db") in done.err


def test_the_directories_of_a_new_store_are_private(omoide: Callable[..., Any], place: Path) -> None:
    assert omoide("mcp", "token", OMOIDE_STORE=str(place / "a" / "b" / "memory.db")).code == 0
    assert [(place / part).stat().st_mode & 0o077 for part in ("a", "a/b")] == [0, 0]


def test_a_token_file_that_others_can_read_is_refused(omoide: Callable[..., Any], place: Path) -> None:
    assert omoide("mcp", "token") == omoide("mcp", "token")
    assert omoide("mcp", "token").out != omoide("mcp", "token", "--role", "worker", "--name", "ci").out
    (place / "memory.db.mcp.tokens").chmod(0o644)
    assert "chmod 600" in omoide("mcp", "token").err


def test_a_new_token_starts_a_new_line(omoide: Callable[..., Any], place: Path) -> None:
    tokens = place / "memory.db.mcp.tokens"
    tokens.touch(mode=0o600)
    tokens.write_text(f"{OWNER} owner")  # as some editors leave it
    made = omoide("mcp", "token", "--role", "worker", "--name", "ci").out.strip()
    assert tokens.read_text() == f"{OWNER} owner\n{made} worker ci\n"
    assert omoide("mcp", "token").out.strip() == OWNER


def test_added_and_removed_tokens_take_effect_without_a_restart(
    serve: Callable[..., Server], omoide: Callable[..., Any], place: Path
) -> None:
    server = serve()
    token = omoide("mcp", "token", "--role", "worker", "--name", "ci").out.strip()
    assert server.post(PING, token=token).status == 200
    (place / "memory.db.mcp.tokens").write_text(f"{OWNER} owner\n")
    assert server.post(PING, token=token).status == 401
    assert server.post(PING).status == 200


BROKEN = {
    b"caf\xe9-and-more-of-a-token worker": "it is not UTF-8",
    b"a-token-without-any-role": "there is no role",
    b"a-token-of-a-queen-here queen": "there is no role",
    b"s3cr3t worker": "the token is shorter than 16 characters",
    b"a-token-of-this-test-here worker layers=moon": "there is no layer moon",
    b"a-token-of-this-test-here worker projects=": "projects= appears twice, or is empty",
    b"a-token-of-this-test-here worker projects=a projects=b": "projects= appears twice, or is empty",
    b"a-token-of-this-test-here worker projects=a/b/c/d": "has 4 segments, at most 3",
    b"a-token-of-this-test-here worker project=shop": "limits are projects= and layers=",
    b"a-token-of-this-test-here worker ci projects=shop": "limits are projects= and layers=, before the name",
    b"a-token-of-this-test-here worker projects=shop Layers=project": "before the name, which has no =",
}


@pytest.mark.parametrize(("line", "why"), BROKEN.items(), ids=BROKEN.values())
def test_a_malformed_token_line_grants_nothing_and_removed_tokens_stay_invalid(
    line: bytes, why: str, serve: Callable[..., Server], omoide: Callable[..., Any], place: Path
) -> None:
    server = serve()
    tokens = place / "memory.db.mcp.tokens"
    assert server.post(PING, token=WORKER).status == 200
    tokens.write_bytes(f"{OWNER} owner\n".encode() + line + b"\nanother-token-of-this-test worker\n")
    assert server.post(PING, token=WORKER).status == 401  # it was removed
    assert server.post(PING, token=line.split()[0].decode("latin-1")).status == 401
    assert server.post(PING).status == 200
    assert server.post(PING, token="another-token-of-this-test").status == 200
    warning = server.process.stderr.readline()
    assert f"{tokens}, line 2 grants nothing: " in warning
    assert why in warning
    assert line.split()[0].decode("latin-1") not in warning
    same = omoide("mcp", "token")
    assert same.out.strip() == OWNER
    assert "line 2 grants nothing" in same.err


def test_a_server_starts_with_the_valid_lines_of_the_token_file(place: Path, serve: Callable[..., Server]) -> None:
    (place / "memory.db.mcp.tokens").write_text(f"{OWNER} owner\n{WORKER} queen\n")
    process = subprocess.Popen([sys.executable, "-c", MAIN, "mcp", "--http", "0"], stderr=subprocess.PIPE, text=True)
    try:
        assert "line 2 grants nothing" in process.stderr.readline()
        server = Server(process, int(re.search(r":(\d+)/mcp", process.stderr.readline())[1]))
        assert [server.post(PING, token=token).status for token in (OWNER, WORKER)] == [200, 401]
    finally:
        process.terminate()
        process.wait(30)
        process.stderr.close()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644])
def test_a_token_file_that_is_missing_or_open_to_group_or_others_grants_nothing(
    mode: int, serve: Callable[..., Server], place: Path
) -> None:
    server = serve()
    tokens = place / "memory.db.mcp.tokens"
    tokens.chmod(mode)
    assert server.post(PING).status == 401
    assert "no token is valid any more" in server.process.stderr.readline()
    tokens.chmod(0o600)
    assert server.post(PING).status == 200
    tokens.unlink()
    assert server.post(PING).status == 401


@pytest.mark.parametrize("name", ["a#b", os.fsdecode(b"caf\xe9"), "a\x07b", "projects=shop", "ci project=shop"])
def test_a_token_name_that_the_file_cannot_store_is_refused(name: str, omoide: Callable[..., Any], place: Path) -> None:
    done = omoide("mcp", "token", "--name", name)
    assert (done.code, done.out) == (2, "")
    assert "cannot be the name of a token: use none of #" in done.err
    assert not (place / "memory.db.mcp.tokens").exists()


@pytest.mark.parametrize(("role", "granted"), [("worker", ["worker"]), ("admin", ["worker", "admin"])])
def test_a_process_gets_no_token_that_may_do_more_than_itself(
    role: str, granted: list[str], omoide: Callable[..., Any], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert omoide("mcp", "token").code == 0
    monkeypatch.setenv("OMOIDE_ROLE", role)
    before = (place / "memory.db.mcp.tokens").read_text()
    for wanted in {"worker", "admin", "owner"} - {*granted}:
        done = omoide("mcp", "token", "--role", wanted)
        assert (done.code, done.out) == (2, "")
        assert f"a process in the role {role} cannot grant the role {wanted}" in done.err
    assert (place / "memory.db.mcp.tokens").read_text() == before
    for wanted in granted:
        assert omoide("mcp", "token", "--role", wanted).code == 0


def test_with_a_handshake_a_client_cancels_by_a_notification_in_its_session(serve: Callable[..., Server]) -> None:
    server = serve("--tools", "all")
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    greeted = [server.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) for _ in range(2)]
    mine, other = (answer.headers["Mcp-Session-Id"] for answer in greeted)
    assert mine != other
    notes = [{"content": f"note {number} about thing {number % 7}"} for number in range(5_000)]
    params = {"name": "remember_many", "arguments": {"memories": notes}, "_meta": {"progressToken": 1}}
    asked = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    heard = []
    work = threading.Thread(target=lambda: heard.append(_read_until_close(server, asked, mine)))
    work.start()
    while server.call("list")["structuredContent"]["total_count"] == 0:
        pass
    for session, meant in ((other, 7), (mine, 99), (mine, {"a": 1}), (mine, 7)):
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": meant}}
        assert server.post(cancel, Mcp_Session_Id=session).status == 202
    work.join(30)
    assert b"notifications/progress" in heard[0]
    assert b'"result"' not in heard[0]
    assert 0 < server.call("list")["structuredContent"]["total_count"] < 5_000
    # An unknown session, as after a restart, is accepted.
    assert server.post(PING, Mcp_Session_Id="long-gone").status == 200


def _read_until_close(server: Server, asked: Any, session: str) -> bytes:
    body = json.dumps(asked).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {OWNER}\r\nContent-Type: application/json\r\n"
        f"MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as peer:
        peer.sendall(head.encode() + body)
        return b"".join(iter(lambda: peer.recv(65_536), b""))


def hung_up(server: Server, meta: dict[str, Any], *headers: str) -> None:
    """Asks for long work with progress, hears a word of it, and is gone without a farewell."""
    notes = [{"content": f"note {number} about thing {number % 7}"} for number in range(3_000)]
    params = {"name": "remember_many", "arguments": {"memories": notes}, "_meta": {**meta, "progressToken": 1}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    head = [
        "POST /mcp HTTP/1.1", "Host: localhost", f"Authorization: Bearer {OWNER}", "Content-Type: application/json",
        "Accept: application/json, text/event-stream", f"Content-Length: {len(body)}", *headers, "", body,
    ]  # several entries per line  # fmt: skip
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as peer:
        peer.sendall("\r\n".join(head).encode())
        peer.recv(100)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_with_a_handshake_a_closed_connection_does_not_cancel(serve: Callable[..., Server]) -> None:
    server = serve("--tools", "all")
    hung_up(server, {}, "MCP-Protocol-Version: 2025-11-25")
    server.process.terminate()  # which lets it finish
    assert server.process.wait(30) == 0
    assert "Traceback" not in server.process.stderr.read()
    assert serve("--tools", "all").call("list")["structuredContent"]["total_count"] == 3_000


def test_in_the_stateless_version_a_reset_connection_cancels_without_a_traceback(serve: Callable[..., Server]) -> None:
    server = serve("--tools", "all")
    hung_up(server, META, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: remember_many")
    server.process.terminate()
    assert server.process.wait(30) == 0
    assert "Traceback" not in server.process.stderr.read()
    assert serve("--tools", "all").call("list")["structuredContent"]["total_count"] < 3_000


def test_in_the_stateless_version_a_closed_connection_cancels(serve: Callable[..., Server]) -> None:
    server = serve("--tools", "all")
    notes = [{"content": f"note {number} about thing {number % 7}"} for number in range(5_000)]
    params = {"name": "remember_many", "arguments": {"memories": notes}, "_meta": {**META, "progressToken": 1}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {OWNER}\r\nContent-Type: application/json\r\n"
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: remember_many\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as peer:
        peer.sendall(head.encode() + body)
        heard = b""
        while b"notifications/progress" not in heard:
            heard += peer.recv(65_536)
        assert b"text/event-stream" in heard
    kept, before = -1, -2
    while kept != before:
        before, kept = kept, server.call("list")["structuredContent"]["total_count"]
    assert kept < 5_000


BOUND = "a-token-that-is-bound-to-shop"
REFS = ("bank", "global", "session")
SAMPLES: dict[str, Any] = {
    "content": "something new",
    "query": "secret",
    "kind": "relates",
    "memories": [{"content": "one of many"}],
    "path": "bank",
    "name": "friday",
    "description": "what it is about",
    "run": "run-1",
    "result": "success",
}


@pytest.fixture
def bound_server(serve: Callable[..., Server], place: Path) -> tuple[Server, dict[str, str]]:
    """A server with a secret in each place, and a token that may see only what is in project shop itself."""
    with (place / "memory.db.mcp.tokens").open("a") as tokens:
        tokens.write(f"{BOUND} owner projects=shop layers=project ci robot\n")
    server = serve("--tools", "all")
    places = {
        "shop": {"project": "shop"},
        "bank": {"project": "bank"},
        "global": {"scope": "global"},
        "session": {"project": "shop", "session": "monday", "scope": "session"},
    }
    ids = {}
    for name, where in places.items():
        fields = {"key": f"key-{name}", "pin": True, "type": "preference", "tags": ["preference"]}
        done = server.call("remember", content=f"the secret of {name} is {name}-marker", **fields, **where)
        ids[name] = done["structuredContent"]["memory_id"]
    return server, ids


def everything(server: Server) -> list[Any]:
    """All that the places out of bounds hold, as the owner sees it."""
    return [
        server.call("list", project="bank", limit=1000)["structuredContent"],
        server.call("list", project="shop", scope="session", limit=1000)["structuredContent"],
        [row for row in server.call("projects")["structuredContent"]["rows"] if row["path"] != "shop"],
        server.call("sessions", project="shop")["structuredContent"],
        server.call("events", project="bank", limit=1000)["structuredContent"],
    ]


def assert_reveals_nothing(answer: Any) -> str:
    """What was answered; it must not speak of what is out of bounds."""
    text = json.dumps(answer, ensure_ascii=False)
    for marker in ("bank-marker", "global-marker", "session-marker", "monday"):
        assert marker not in text, text
    return text


def arguments(tool: Any, **given: Any) -> dict[str, Any]:
    """Arguments for every required field of a tool; a new field must be added to the samples."""
    known = {**SAMPLES, **given}
    fields = {field.name: field.required for field in msgspec.structs.fields(tool.arguments)}
    return {name: known[name] for name, required in fields.items() if required or name in given}


@pytest.mark.parametrize("name", sorted(tools_of("all")))
def test_no_tool_lets_a_bound_token_leave_its_bounds(name: str, bound_server: tuple[Server, dict[str, str]]) -> None:
    server, ids = bound_server
    tool = tools_of("all")[name]
    before = everything(server)
    for place in REFS:
        for ref in (ids[place], f"key-{place}"):
            named = {"id": ref, "other": ref, "key": ref, "ids": [ref], "confidence": 0.5}
            for where in ({}, {"project": "shop"}, {"project": "bank"}, {"session": "monday"}, {"scope": "global"}):
                asked = arguments(tool, **named, **where)
                params = {"name": name, "arguments": asked}
                body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                answer = server.post(body, token=BOUND).data["result"]
                assert_reveals_nothing(answer)
                reaches_out = "path" in asked or any(
                    asked.get(field) == value for field, value in where.items() if value != "shop"
                )
                assert answer["isError"] or not reaches_out, (asked, answer)
                if answer["isError"] and reaches_out:
                    assert "bound to project shop and layer project" in answer["content"][0]["text"]
    assert everything(server) == before


def test_a_bound_token_can_do_everything_within_its_bounds(bound_server: tuple[Server, dict[str, str]]) -> None:
    server, ids = bound_server
    assert not server.call("remember", token=BOUND, content="Use pnpm for installs", key="pnpm")["isError"]
    found = server.call("recall", token=BOUND, query="secret")["structuredContent"]
    assert [hit["id"] for hit in found["memories"]] == [ids["shop"]]
    resumed = server.call("resume", token=BOUND)["structuredContent"]
    assert [one["id"] for one in resumed["pinned"]] == [ids["shop"]]
    assert [row["path"] for row in server.call("projects", token=BOUND)["structuredContent"]["rows"]] == ["shop"]
    events = server.call("events", token=BOUND)["structuredContent"]["rows"]
    assert {event["actor"]["name"] for event in events} == {"ci robot", "tester"}
    assert not server.call("forget", token=BOUND, id="pnpm")["isError"]
    asked = server.call("promote", token=BOUND, id="key-shop")
    assert "layer global is not among them" in asked["content"][0]["text"]
    assert "is bound to" in server.call("stats", token=BOUND)["content"][0]["text"]
    assert "is bound to" in server.call("recall", "/mcp?project=bank", token=BOUND, query="secret")["content"][0]["text"]


def test_an_agent_id_does_not_lift_the_bounds_of_a_token(bound_server: tuple[Server, dict[str, str]]) -> None:
    server, _ = bound_server
    for where in ({"project": "bank"}, {"scope": "global"}):
        answer = server.call("recall", token=BOUND, query="secret", caller_agent_id="agent-7", **where)
        assert "agent-7 is bound to" in assert_reveals_nothing(answer)


def test_no_resource_prompt_or_completion_lets_a_bound_token_leave_its_bounds(
    bound_server: tuple[Server, dict[str, str]],
) -> None:
    server, ids = bound_server

    def request(method: str, path: str = "/mcp", **params: Any) -> Any:
        answer = server.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, path, token=BOUND).data
        assert_reveals_nothing(answer)
        return answer

    listed = request("resources/list")["result"]["resources"]
    assert f"omoide://memory/{ids['shop']}" in [one["uri"] for one in listed]
    assert all(f"omoide://memory/{ids[place]}" not in str(listed) for place in REFS)
    assert "shop-marker" in str(request("resources/read", uri="omoide://project/shop"))
    assert "shop-marker" in str(request("resources/read", uri="omoide://document/preference"))
    for place in REFS:
        assert "error" in request("resources/read", uri=f"omoide://memory/{ids[place]}")
        assert "error" in request("resources/read", uri=f"omoide://memory/key-{place}")
    assert "is bound to" in request("resources/read", uri="omoide://project/bank")["error"]["message"]
    elsewhere = "/mcp?project=bank"
    for uri in (f"omoide://memory/{ids['bank']}", "omoide://document/preference"):
        assert "is bound to" in request("resources/read", elsewhere, uri=uri)["error"]["message"]
    assert "is bound to" in request("resources/list", elsewhere)["error"]["message"]
    for prompt in ("resume_session", "review_memories"):
        assert "shop-marker" in str(request("prompts/get", name=prompt))
        assert "is bound to" in request("prompts/get", name=prompt, arguments={"project": "bank"})["error"]["message"]
    asked = {"name": "resume_session", "arguments": {"session": "m", "project": "shop"}}
    assert "is bound to" in request("prompts/get", **asked)["error"]["message"]

    def complete(ref: dict[str, str], name: str, **known: str) -> Any:
        return request("completion/complete", ref=ref, argument={"name": name, "value": ""}, context={"arguments": known})

    template = {"type": "ref/resource", "uri": "omoide://project/{path}"}
    assert complete(template, "path")["result"]["completion"]["values"] == ["shop"]
    names = complete({"type": "ref/resource", "uri": "omoide://memory/{id}"}, "id")["result"]["completion"]["values"]
    assert set(names) == {"key-shop", ids["shop"]}
    prompt = {"type": "ref/prompt", "name": "resume_session"}
    assert complete(prompt, "project")["result"]["completion"]["values"] == ["shop"]
    assert "is bound to" in complete(prompt, "session", project="bank")["error"]["message"]
    assert "is bound to" in complete(prompt, "session")["error"]["message"]
    review = {"type": "ref/prompt", "name": "review_memories"}
    assert "is bound to" in complete(review, "type", project="bank")["error"]["message"]


def test_the_command_line_creates_a_bound_token(
    serve: Callable[..., Server], omoide: Callable[..., Any], place: Path
) -> None:
    server = serve()
    flags = (
        "--role",
        "worker",
        "--name",
        "ci",
        "--only-project",
        "my shop",
        "--only-project",
        "a/b",
        "--only-layer",
        "project",
    )
    token = omoide("mcp", "token", *flags).out.strip()
    assert omoide("mcp", "token", *flags).out.strip() == token
    assert omoide("mcp", "token", "--role", "worker", "--name", "ci").out.strip() != token
    line = f"{token} worker projects=my%20shop,a/b layers=project ci\n"
    assert line in (place / "memory.db.mcp.tokens").read_text()
    assert not server.call("remember", token=token, content="x", project="my shop")["isError"]
    assert not server.call("remember", token=token, content="x", project="a/b")["isError"]
    assert server.call("remember", token=token, content="x", project="bank")["isError"]
    assert omoide("mcp", "token", "--only-project", "a/b/c/d").code == 2
