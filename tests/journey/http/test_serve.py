"""Options of `omoide serve`: TLS, origins of web pages, addresses, and what it says without its extra."""

import http.client
import shutil
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journey.http.conftest import OWNER, needs_server

PAGE = "https://app.example"


def start_with_tls(start: Callable[..., Any], place: Path) -> tuple[Any, ssl.SSLContext]:
    """A server with a certificate of its own, and what a client needs to trust it."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
    files = ["-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*made, *files], cwd=place, check=True, capture_output=True)
    server = start("serve", "--tls-cert", str(place / "cert.pem"), "--tls-key", str(place / "key.pem"))
    trusted = ssl.create_default_context(cafile=str(place / "cert.pem"))
    trusted.check_hostname = False  # the certificate is for a name, the connection to an address
    return server, trusted


@needs_server
def test_silent_and_slow_connections_are_closed_with_tls_too(start: Callable[..., Any], tmp_path: Path) -> None:
    server, trusted = start_with_tls(start, tmp_path)
    silent, garbage, slow, refused = (server.connect() for _ in range(4))
    garbage.sendall(b"GET / HTTP/1.1\r\n")
    slow = trusted.wrap_socket(slow)
    slow.sendall(b"GET / HTTP/1.1\r\nHost: loc")
    refused = trusted.wrap_socket(refused)
    refused.sendall(b"GET /api/projects HTTP/1.1\r\nHost: evil.example\r\n\r\n")
    assert refused.recv(12) == b"HTTP/1.1 403"
    for peer in (silent, garbage, slow, refused):
        peer.settimeout(40)  # far less than the minute of asyncio
        try:
            while peer.recv(65_536):
                pass
        except (ConnectionError, ssl.SSLError):  # closed, without good-bye
            pass
        peer.close()
    server.process.terminate()
    assert server.process.wait(60) == 0
    assert "Traceback" not in server.process.stderr.read()


@needs_server
def test_with_a_certificate_it_serves_https(start: Callable[..., Any], tmp_path: Path) -> None:
    server, trusted = start_with_tls(start, tmp_path)
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=60, context=trusted)
    connection.request("GET", "/api/projects", headers={"Authorization": f"Bearer {OWNER}"})
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Strict-Transport-Security"]) == (200, "max-age=31536000")
    assert answer.read() == b'{"projects":[]}'
    connection.close()
    assert not server.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 200")


@needs_server
def test_only_pages_of_an_allowed_origin_may_send_requests(start: Callable[..., Any]) -> None:
    server = start("serve", "--allow-origin", PAGE)
    asked = {"Origin": PAGE, "Access_Control_Request_Method": "POST"}
    preflight = server.request("OPTIONS", "/api/projects", token="", **asked)
    assert (preflight.status, preflight.headers["Access-Control-Allow-Origin"]) == (204, PAGE)
    assert "Idempotency-Key" in preflight.headers["Access-Control-Allow-Headers"]
    answer = server.request("GET", "/api/projects", Origin=PAGE)
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (200, PAGE)
    assert server.request("GET", "/api/projects", Origin=PAGE, token="wrong").status == 401
    assert server.request("GET", "/api/projects", Origin="https://evil.example").status == 403
    assert server.request("OPTIONS", "/api/projects", token="", **{**asked, "Origin": "https://evil.example"}).status == 403


@needs_server
def test_an_address_reachable_from_other_machines_needs_a_host_name(run: Callable[..., Any]) -> None:
    done = run("serve", "--host", "0.0.0.0", "--port", "0")
    assert (done.code, "--allow-host" in done.err) == (2, True)
    assert run("serve", "--tls-cert", "nowhere.pem").code == 2


def test_without_the_extra_it_says_what_to_install(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omoide.interfaces.cli.serve.find_spec", lambda _: None)
    done = run("serve")
    assert (done.code, done.out) == (2, "")
    assert "pip install 'omoide[server]'" in done.err


def test_other_commands_do_not_load_the_framework(omoide: Callable[..., Any]) -> None:
    code = "import sys, omoide.interfaces.cli as c; c.cli.main(['list'], standalone_mode=False);"
    code += " assert not {'litestar', 'uvicorn', 'h11', 'langgraph'} & set(sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).returncode == 0
