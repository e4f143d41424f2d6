"""As much of HTTP/1.1 as a local MCP server needs: a request's head, its body, an answer. Strict, and bounded."""

import re
import socket
import time
from collections.abc import Iterable
from io import RawIOBase
from typing import Any, BinaryIO, NamedTuple

_LINE = 8_192
_HEADERS = 100
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_AUTHORITY = re.compile(r"(?:([\w.-]+)|\[([\da-f.]*:[\da-f:.]*(?:%[\w.-]+)?)\])?(?::(\d{0,5}))?", re.ASCII | re.IGNORECASE)
_REASONS = {
    200: "OK", 202: "Accepted", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout", 411: "Length Required",
    413: "Content Too Large", 415: "Unsupported Media Type", 417: "Expectation Failed", 429: "Too Many Requests",
    431: "Request Header Fields Too Large", 501: "Not Implemented", 503: "Service Unavailable",
    505: "HTTP Version Not Supported",
}  # fmt: skip


class HttpError(Exception):
    """The request is answered with this status, and nothing is done."""

    def __init__(self, status: int, why: str, **headers: str):
        super().__init__(why)
        self.status = status
        self.why = why
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def parse_authority(text: str) -> tuple[str, int | None] | None:
    """The host in small letters and the port of HOST:PORT, of which either may be left out; None for anything else."""
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    port = int(found[3]) if found[3] else None
    return None if port is not None and port > 65_535 else ((found[1] or found[2] or "").lower(), port)


class BoundedReader(RawIOBase):
    """What a client sends. However it drips, what is read must be there at a certain moment."""

    def __init__(self, peer: socket.socket):
        self._peer = peer
        self._until = 0.0

    def set_deadline(self, seconds: float) -> None:
        """From now on: later than that, reading raises TimeoutError."""
        self._until = time.monotonic() + seconds

    def within_at_most(self, seconds: float) -> None:
        """The same, unless it must be there earlier anyway."""
        self._until = min(self._until, time.monotonic() + seconds)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._peer.settimeout(max(self._until - time.monotonic(), 0.001))
        return self._peer.recv_into(buffer)


class RequestHead(NamedTuple):
    verb: str
    path: str
    query: str
    headers: list[tuple[str, str]]
    """Names in small letters, as they came: a header may be there twice."""
    persistent: bool

    def get(self, name: str) -> str | None:
        """The value of a header; one that decides something and is there twice is refused."""
        values = [value for known, value in self.headers if known == name]
        if len(values) > 1:
            raise HttpError(400, f"header {name} is there {len(values)} times")
        return values[0] if values else None

    def has(self, name: str) -> int:
        return sum(known == name for known, _ in self.headers)


def read_head(reader: BinaryIO) -> RequestHead | None:
    """The next request up to its body; None when the client is done."""
    line = _line(reader)
    if line is None:
        return None
    parts = line.split(b" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]) or not parts[1].startswith(b"/"):
        raise HttpError(400, "this is not an HTTP request")
    if parts[2] not in (b"HTTP/1.1", b"HTTP/1.0"):
        raise HttpError(505, "HTTP/1.1, please")
    headers: list[tuple[str, str]] = []
    while line := _line(reader):
        name, colon, value = line.partition(b":")
        if not colon or not _TOKEN.fullmatch(name):
            raise HttpError(400, "a header is malformed")
        headers.append((name.decode("ascii").lower(), value.strip(b" \t").decode("latin-1")))
        if len(headers) > _HEADERS:
            raise HttpError(431, f"more than {_HEADERS} headers")
    if line is None:
        raise HttpError(400, "the request ends in its headers")
    path, _, query = parts[1].decode("latin-1").partition("?")
    found = RequestHead(parts[0].decode("ascii"), path, query, headers, persistent=True)
    connection = (found.get("connection") or "").lower()
    return found._replace(persistent=parts[2] == b"HTTP/1.1" and "close" not in connection)


def _line(reader: BinaryIO) -> bytes | None:
    line = reader.readline(_LINE + 1)
    if len(line) > _LINE:
        raise HttpError(431, f"a line of the head is longer than {_LINE} bytes")
    return line.rstrip(b"\r\n") if line.endswith(b"\n") else None


def body_length(head: RequestHead, most: int) -> int:
    """How many bytes the body has. Chunked bodies are not taken: no MCP client sends them, and limits stay simple."""
    if head.has("transfer-encoding"):
        raise HttpError(411, "send the body with a Content-Length")
    told = head.get("content-length")
    if told is None:
        if head.verb == "POST":
            raise HttpError(411, "send the body with a Content-Length")
        return 0
    if not (told.isascii() and told.isdigit()):
        raise HttpError(400, "Content-Length is not a number")
    if len(told) > 12 or int(told) > most:
        raise HttpError(413, f"the body is larger than {most:,} bytes")
    return int(told)


def accepts(head: RequestHead, kind: str) -> bool:
    """Whether the client takes this media type."""
    wanted = {part.partition(";")[0].strip().lower() for part in (head.get("accept") or "*/*").split(",")}
    return bool(wanted & {kind, f"{kind.partition('/')[0]}/*", "*/*"})


def render_response(
    status: int, body: bytes = b"", headers: Iterable[tuple[str, str]] = (), *, persistent: bool = True
) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS[status]}"]
    lines += [f"{name}: {value}" for name, value in headers]
    lines += [f"Content-Length: {len(body)}", "Cache-Control: no-store"]
    if not persistent:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


STREAM = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nX-Accel-Buffering: no\r\n"
    b"Connection: close\r\n\r\n"
)
"""The head of an answer that comes in events; it ends when the connection does."""


def render_event(data: bytes) -> bytes:
    return b"event: message\ndata: " + data + b"\n\n"
