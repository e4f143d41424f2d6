"""The part of HTTP/1.1 that a local server needs: the head and body of a request, a response. Strict, with limits."""

import re
import socket
import time
from collections.abc import Iterable
from io import RawIOBase
from typing import Any, BinaryIO, NamedTuple

_MAX_LINE = 8_192
_MAX_HEADERS = 100
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_AUTHORITY = re.compile(r"(?:([\w.-]+)|\[([\da-f.]*:[\da-f:.]*(?:%[\w.-]+)?)\])?(?::(\d{0,5}))?", re.ASCII | re.IGNORECASE)
_REASONS = {
    200: "OK",
    202: "Accepted",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    408: "Request Timeout",
    411: "Length Required",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    417: "Expectation Failed",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    501: "Not Implemented",
    503: "Service Unavailable",
    505: "HTTP Version Not Supported",
}


class HttpError(Exception):
    """A request that is refused, with the status of the response and the reason in its body."""

    def __init__(self, status: int, why: str, **headers: str):
        super().__init__(why)
        self.status = status
        self.why = why
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def parse_authority(text: str) -> tuple[str, int | None] | None:
    """Parse HOST:PORT, of which either part may be missing. Return the host in lower case and the port, or None."""
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        return None
    port = int(match[3]) if match[3] else None
    return None if port is not None and port > 65_535 else ((match[1] or match[2] or "").lower(), port)


class BoundedReader(RawIOBase):
    """The bytes a client sends, with a deadline for all of them, however slowly they arrive."""

    def __init__(self, peer: socket.socket):
        self._peer = peer
        self._deadline = 0.0

    def set_deadline(self, seconds: float) -> None:
        """Let reading raise TimeoutError after this many seconds from now."""
        self._deadline = time.monotonic() + seconds

    def shorten_deadline(self, seconds: float) -> None:
        """Set the deadline, unless an earlier one is set."""
        self._deadline = min(self._deadline, time.monotonic() + seconds)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what has arrived. Raise TimeoutError after the deadline."""
        self._peer.settimeout(max(self._deadline - time.monotonic(), 0.001))
        return self._peer.recv_into(buffer)


class RequestHead(NamedTuple):
    """The request line and the headers of a request."""

    verb: str
    path: str
    query: str
    headers: list[tuple[str, str]]
    """In the order they came, names in lower case: a header may be there twice."""
    persistent: bool

    def get(self, name: str) -> str | None:
        """Return the value of a header, or None. Raise HttpError if it is there more than once."""
        values = [value for header, value in self.headers if header == name]
        if len(values) > 1:
            raise HttpError(400, f"header {name} appears {len(values)} times: send it once")
        return values[0] if values else None

    def count(self, name: str) -> int:
        """Return how many times a header is there."""
        return sum(header == name for header, _ in self.headers)


def read_head(reader: BinaryIO) -> RequestHead | None:
    """Read the next request up to its body. Return None if the client sends no more. Raise HttpError if it is malformed."""
    line = _line(reader)
    if line is None:
        return None
    parts = line.split(b" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]) or not parts[1].startswith(b"/"):
        raise HttpError(400, "the request line is not HTTP")
    if parts[2] not in (b"HTTP/1.1", b"HTTP/1.0"):
        raise HttpError(505, "only HTTP/1.1 is supported")
    headers: list[tuple[str, str]] = []
    while line := _line(reader):
        name, colon, value = line.partition(b":")
        if not colon or not _TOKEN.fullmatch(name):
            raise HttpError(400, "a header is malformed: use Name: value")
        headers.append((name.decode("ascii").lower(), value.strip(b" \t").decode("latin-1")))
        if len(headers) > _MAX_HEADERS:
            raise HttpError(431, f"more than {_MAX_HEADERS} headers")
    if line is None:
        raise HttpError(400, "the request ends in its headers")
    path, _, query = parts[1].decode("latin-1").partition("?")
    head = RequestHead(parts[0].decode("ascii"), path, query, headers, persistent=True)
    connection = (head.get("connection") or "").lower()
    return head._replace(persistent=parts[2] == b"HTTP/1.1" and "close" not in connection)


def _line(reader: BinaryIO) -> bytes | None:
    line = reader.readline(_MAX_LINE + 1)
    if len(line) > _MAX_LINE:
        raise HttpError(431, f"a header line is longer than {_MAX_LINE} bytes")
    return line.rstrip(b"\r\n") if line.endswith(b"\n") else None


def body_length(head: RequestHead, limit: int) -> int:
    """Return the length of the body. Raise HttpError if it is unknown or above `limit`.

    Chunked bodies are not supported: no MCP client sends them, and the limit stays simple.
    """
    if head.count("transfer-encoding"):
        raise HttpError(411, "send the body with a Content-Length")
    length = head.get("content-length")
    if length is None:
        if head.verb == "POST":
            raise HttpError(411, "send the body with a Content-Length")
        return 0
    if not (length.isascii() and length.isdigit()):
        raise HttpError(400, f"Content-Length must be a number, got {length!r:.50}")
    if len(length) > 12 or int(length) > limit:
        raise HttpError(413, f"the body is larger than {limit:,} bytes: send less at once")
    return int(length)


def accepts(head: RequestHead, kind: str) -> bool:
    """Return True if the client accepts this media type."""
    accepted = {part.partition(";")[0].strip().lower() for part in (head.get("accept") or "*/*").split(",")}
    return bool(accepted & {kind, f"{kind.partition('/')[0]}/*", "*/*"})


def render_response(
    status: int, body: bytes = b"", headers: Iterable[tuple[str, str]] = (), *, persistent: bool = True
) -> bytes:
    """Render a response; with `persistent` the connection stays open."""
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
"""The head of a response that is a stream of events, which ends with the connection."""


def render_event(data: bytes) -> bytes:
    """Render one event of a stream."""
    return b"event: message\ndata: " + data + b"\n\n"
