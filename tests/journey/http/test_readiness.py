"""How `omoide serve` starts, says whether it works, and stops."""

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from journey.http.conftest import OWNER, needs_server

pytestmark = needs_server


def test_it_listens_at_port_8766_of_the_loopback_interface_unless_options_say_otherwise(run: Callable[..., Any]) -> None:
    from omoide.interfaces.cli.serve import serve_command

    defaults = {option.name: option.default for option in serve_command.params}
    assert (defaults["host"], defaults["port"]) == ("127.0.0.1", 8766)
    taken = socket.create_server(("127.0.0.1", 0))
    done = run("serve", "--port", str(taken.getsockname()[1]))
    taken.close()
    assert (done.code, "Traceback" in done.err) == (2, False)


def test_the_first_start_creates_a_token_of_the_owner_that_only_the_user_can_read(
    start: Callable[..., Any], place: Path, run: Callable[..., Any]
) -> None:
    file = place / "memory.db.mcp.tokens"
    file.unlink()
    server = start("serve")
    assert file.stat().st_mode & 0o777 == 0o600
    token = run("mcp", "token").out.strip()
    assert token in file.read_text()
    assert server.request("POST", "/api/projects", {"path": "shop"}, token=token).status == 201
    assert server.request("GET", "/api/stats", token=token).status == 200
    assert server.request("GET", "/api/projects", token=OWNER).status == 401


@pytest.mark.parametrize("broken", ["nothing", "another key"])
def test_a_certificate_that_cannot_be_used_is_an_error_and_no_traceback(
    broken: str, run: Callable[..., Any], place: Path
) -> None:
    (place / "cert.pem").write_text(
        "" if broken == "nothing" else "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    )
    (place / "key.pem").write_text("no key")
    done = run("serve", "--port", "0", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
    assert done.code == 2
    assert "cert.pem" in done.err


def test_it_is_not_ready_while_nothing_can_be_written_and_reads_go_on(
    start: Callable[..., Any], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMOIDE_WAIT", "0.5")
    server = start("serve")
    project = server.request("POST", "/api/projects", {"path": "shop"}).headers["Location"] + "/memories"
    server.request("POST", project, {"content": "書き込めなくても読める"})
    other = apsw.Connection(str(place / "memory.db"))
    other.execute("BEGIN IMMEDIATE")
    for refused in (server.request("GET", "/health/ready", token=""), server.request("POST", project, {"content": "x"})):
        assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
    assert server.request("GET", "/health/live", token="").status == 200
    assert [each["content"] for each in server.request("GET", project).data["memories"]] == ["書き込めなくても読める"]
    other.execute("ROLLBACK")
    other.close()
    assert server.request("GET", "/health/ready", token="").status == 200
    assert server.request("POST", project, {"content": "x"}).status == 201


def test_it_is_not_ready_where_the_database_was_replaced_by_something_else(start: Callable[..., Any], place: Path) -> None:
    server = start("serve")
    assert server.request("GET", "/health/ready").status == 200
    for name in ("memory.db", "memory.db-wal", "memory.db-shm"):
        (place / name).unlink(missing_ok=True)
    (place / "memory.db").write_bytes(os.urandom(8_192))
    assert server.request("GET", "/health/ready").status == 503
    assert server.request("GET", "/health/live").status == 200


def test_a_request_in_progress_is_answered_before_the_server_stops(start: Callable[..., Any]) -> None:
    server = start("serve")
    project = server.request("POST", "/api/projects", {"path": "shop"}).headers["Location"]
    body = b'{"content": "stored before the end"}'
    head = (
        f"POST {project}/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {OWNER}\r\nExpect: 100-continue\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with server.connect() as peer:
        peer.sendall(head.encode())
        assert peer.recv(1_000).startswith(b"HTTP/1.1 100 ")  # it is in progress
        server.process.terminate()
        refused = threading.Event()
        while not refused.is_set():  # it accepts no connection any more
            try:
                server.connect().close()
            except OSError:
                refused.set()
        peer.sendall(body)
        answer = b"".join(iter(lambda: peer.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 201 ")
    assert b"stored before the end" in answer
    assert server.process.wait(60) == 0
