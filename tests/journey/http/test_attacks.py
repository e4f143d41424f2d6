"""What hostile and broken clients send, to the small server of `omoide mcp --http` and to `omoide serve` alike."""

import re
import select
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from journey.http.conftest import needs_server, servers
from omoide.interfaces.http import limits

OWNER = "the-owner-of-this-test"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
PATHS = {"mcp": "/mcp", "serve": "/api/projects"}
CONNECTIONS = {"mcp": 64, "serve": 256}


BOTH = ["mcp", pytest.param("serve", marks=needs_server)]


@pytest.fixture(scope="module", params=BOTH)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One server for all tests that leave it as it was."""
    with pytest.MonkeyPatch.context() as patch, servers(tmp_path_factory.mktemp("shared"), patch) as start:
        yield start(request.param)


@pytest.fixture(params=BOTH)
def own_server(request: pytest.FixtureRequest, start: Callable[..., Any]) -> Any:
    """A server for one test alone."""
    return start(request.param)


def ask(server: Any, **headers: str) -> Any:
    """Send a request that is right except for these headers."""
    if server.kind == "mcp":
        return server.request("POST", "/mcp", PING, **headers)
    return server.request("GET", "/api/projects", **headers)


def head(server: Any, *lines: str, host: str = "Host: localhost") -> bytes:
    """The head of a POST that is right except for these lines."""
    fixed = [f"POST {PATHS[server.kind]} HTTP/1.1", host, f"Authorization: Bearer {OWNER}", "Content-Type: application/json"]
    return "\r\n".join([*filter(None, fixed), *lines, "", ""]).encode()


def statuses(answer: bytes) -> list[int]:
    """The status of each answer on a connection."""
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)]


def test_a_request_without_a_valid_token_is_refused(server: Any) -> None:
    for token in ("", "wrong", OWNER[:-1], OWNER + "x"):
        answer = ask(server, token=token)
        assert answer.status == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert ask(server, Authorization=OWNER).status == 401
    assert ask(server, Authorization=f"bearer {OWNER}").status == 200


def test_a_page_of_another_site_cannot_send_requests(server: Any) -> None:
    assert ask(server, Host="evil.example").status == 403
    for origin in ("https://evil.example", "null", "http://localhost.evil.example", "http://[", "localhost"):
        assert ask(server, Origin=origin).status == 403
    names = (
        "evil.example@localhost",
        "localhost@evil.example",
        "localhost/",
        "[localhost]",
        "localhost:99999",
        "//localhost",
    )
    for name in names:
        assert ask(server, Host=name).status in (400, 403)
        assert ask(server, Origin=f"http://{name}").status == 403
    assert ask(server, Host="[::1]:80", Origin="http://LOCALHOST").status == 200


def test_a_request_needs_one_host(server: Any) -> None:
    assert statuses(server.raw(head(server, "Content-Length: 0", host=""))) in ([400], [403])
    assert statuses(server.raw(head(server, "Host: evil.example", "Content-Length: 0"))) == [400]
    assert statuses(server.raw(head(server, "Host: localhost", "Content-Length: 0"))) == [400]
    assert ask(server).status == 200


def test_the_length_of_a_body_has_one_meaning(server: Any) -> None:
    smuggled = f"GET /health/live HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {OWNER}\r\n\r\n".encode()
    both = head(server, f"Content-Length: {5 + len(smuggled)}", "Transfer-Encoding: chunked")
    assert statuses(server.raw(both + b"0\r\n\r\n" + smuggled)) in ([400], [411])
    for lines in (
        ("Content-Length: 2", "Content-Length: 3"),
        ("Content-Length: -1",),
        ("Content-Length: +2",),
        ("Content-Length: 0x2",),
        ("Content-Length : 2",),
        ("Transfer-Encoding: chunked, identity",),
        ("Transfer-Encoding: \x0bchunked",),
        (" folded: x",),
    ):
        answered = statuses(server.raw(head(server, *lines) + b"{}" + smuggled))
        assert len(answered) == 1, lines
        assert 400 <= answered[0] < 500 or answered[0] == 501, lines
    assert ask(server).status == 200


def test_what_is_too_large_is_refused(server: Any) -> None:
    assert statuses(server.raw(head(server, "Content-Length: 99999999999"))) == [413]
    assert statuses(server.raw(head(server, "X: " + "y" * 10_000, "Content-Length: 0"))) == [431]
    assert statuses(server.raw(head(server, *["X: y"] * 200, "Content-Length: 0"))) == [431]
    assert statuses(server.raw(b"POST /" + b"x" * 200_000)) in ([], [400], [431])
    assert ask(server).status == 200


@needs_server
def test_a_body_in_chunks_has_the_same_limit_as_any_other(start: Callable[..., Any]) -> None:
    server = start("serve")
    chunked = head(server, "Transfer-Encoding: chunked")
    part = b"f4240\r\n" + b" " * 1_000_000 + b"\r\n"
    assert statuses(server.raw(chunked + b'10\r\n{"path": "shop"}\r\n0\r\n\r\n')) == [201]
    with server.connect() as peer:
        peer.sendall(chunked + part * 17 + b"0\r\n\r\n")
        assert statuses(peer.recv(1_000)) == [413]
    assert ask(server).data["projects"][0]["path"] == "shop"


def test_what_is_not_http_is_refused(server: Any) -> None:
    for nonsense in (
        b"\x16\x03\x01\x02\x00\x01",
        b"GET\r\n\r\n",
        b"GET / HTTP/3\r\n\r\n",
        b"\0\r\n\r\n",
        b"GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n",
    ):
        assert server.raw(nonsense)[:12] in (b"", b"HTTP/1.1 400", b"HTTP/1.1 403", b"HTTP/1.1 505")
    assert ask(server).status == 200


def test_a_refused_client_reads_the_reason_while_it_sends_a_large_body(server: Any) -> None:
    path = PATHS[server.kind]
    assert server.request("POST", path, b" " * 20_000_000).status == 413
    assert server.request("POST", path, b" " * 15_000_000, token="wrong").status == 401
    assert server.request("POST", path, b" " * 15_000_000, Content_Type="text/plain").status == 415


def test_every_part_of_a_request_has_a_time_limit_of_less_than_ten_seconds() -> None:
    assert limits.HEAD_SECONDS + limits.DRAIN_SECONDS < 10
    assert limits.BODY_SECONDS < 10


def test_a_silent_or_slow_connection_is_closed(server: Any) -> None:
    begun = {
        "nothing": b"",
        "half a line": b"POST /m",
        "half a head": b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: ",
        "half a body": head(server, "Content-Length: 999") + b"{",
    }
    peers = {name: server.connect() for name in begun}
    for name, peer in peers.items():
        peer.sendall(begun[name])
    for name, peer in peers.items():  # each sends a byte now and then, except the silent one
        for _ in range(600):
            if select.select([peer], [], [], 0.1)[0]:
                break
            if name != "nothing":
                peer.sendall(b"x")
        else:
            pytest.fail(f"a connection that sent {name} stays open")
        peer.close()
    assert ask(server).status == 200


def test_silent_connections_do_not_block_a_client(own_server: Any) -> None:
    silent = [own_server.connect() for _ in range(CONNECTIONS[own_server.kind] + 10)]
    assert ask(own_server).status == 200
    for peer in silent:
        peer.close()


def test_a_flood_of_wrong_tokens_is_slowed_and_does_not_lock_out_the_owner(own_server: Any) -> None:
    answers = [ask(own_server, token=f"wrong-{number}").status for number in range(100)]
    assert set(answers) == {401, 429}
    assert ask(own_server).status == 200


def test_clients_that_vanish_cause_no_traceback(own_server: Any) -> None:
    for _ in range(20):
        with own_server.connect() as peer:
            peer.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n")
    for _ in range(5):
        with own_server.connect() as peer:
            peer.sendall(head(own_server, "Content-Length: 999") + b"{")
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    assert ask(own_server).status == 200
    own_server.process.terminate()
    assert own_server.process.wait(60) == 0
    assert own_server.process.stderr.read() == ""


@pytest.mark.parametrize("kind", BOTH)
def test_a_server_out_of_file_descriptors_accepts_connections_again_later(kind: str, start: Callable[..., Any]) -> None:
    own_server = start(kind, before="import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))")
    peers = [own_server.connect() for _ in range(80)]
    for peer in peers:
        peer.close()
    assert ask(own_server).status == 200


def test_a_signal_ends_a_server_with_status_0_although_clients_are_connected(own_server: Any) -> None:
    peers = [own_server.connect() for _ in range(5)]
    peers[0].sendall(b"POST /mcp HTTP/1.1\r\nHost: loc")
    assert ask(own_server).status == 200
    own_server.process.terminate()
    assert own_server.process.wait(60) == 0
    for peer in peers:
        peer.close()
