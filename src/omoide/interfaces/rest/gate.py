"""What a request passes before its route: host, token, limits. Every answer gets security headers and a log line."""

import time
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from typing import Any

import msgspec

from omoide.interfaces.http.authentication import Authenticator
from omoide.interfaces.http.messages import HttpError, RequestHead, body_length
from omoide.interfaces.http.tokens import Bearer
from omoide.interfaces.mcp.transports.endpoint import refusal_body
from omoide.interfaces.rest import problems
from omoide.interfaces.rest.problems import Refusal

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MCP_PATH = "/mcp"
MAX_BODY = 16 * 1024 * 1024
BEARER = "omoide.bearer"
"""The key in the scope of a request for who sends it."""
ADMIT = "omoide.admit"
"""The key for a function that lets the connection keep its slot."""
_MAX_HEADERS = 100
_MAX_HEADER = 8_192
_SECURITY = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
]
_HSTS = (b"strict-transport-security", b"max-age=31536000")
_BODY_METHODS = ("POST", "PATCH", "PUT")
_CORS_METHODS = b"GET, POST, PATCH, DELETE"
_CORS_HEADERS = b"Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID"
_CORS_EXPOSED = b"ETag, Link, Location, Retry-After, Idempotency-Replayed"


class TooLarge(Exception):
    """A body that turned out to be over the limit while it was read."""


class Gate:
    """An ASGI application around another one."""

    def __init__(
        self,
        app: App,
        authenticator: Authenticator,
        public: Collection[str],
        *,
        origins: Iterable[str] = (),
        secure: bool = False,
        log: Callable[[bytes], None] | None = None,
    ):
        """Guard an application.

        `public` are the paths that need no token. `origins` are those of web pages that may send requests. `secure`: the
        server speaks TLS. `log` gets one line of JSON for each answer.
        """
        self._app = app
        self._authenticator = authenticator
        self._public = public
        self._origins = frozenset(origins)
        self._added = [*_SECURITY, _HSTS] if secure else _SECURITY
        self._log = log
        self._last_request = time.monotonic()

    @property
    def idle_seconds(self) -> float:
        """For how long no request has come."""
        return time.monotonic() - self._last_request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._last_request = time.monotonic()
        exchange = _GuardedExchange(scope, send, self._added, self._log)
        try:
            head = _head(scope)
            origin = head.get("origin")
            if origin is not None and origin in self._origins:
                exchange.allow_origin(origin)
                if head.verb == "OPTIONS" and head.count("access-control-request-method"):
                    await exchange.answer_preflight()
                    return
            scope[BEARER] = self._authenticate(head)
            scope[ADMIT]()
            size = _check_body(head)
        except HttpError as error:
            await exchange.refuse(error)
            return
        await self._app(scope, _Body(receive, size, exchange).receive, exchange.send)
        exchange.finish()

    def _authenticate(self, head: RequestHead) -> Bearer | None:
        if head.path in self._public:
            self._authenticator.check_origin(head, self._origins)
            return None
        return self._authenticator.authenticate(head, self._origins)


def _head(scope: Scope) -> RequestHead:
    """Return the head of a request as the small server has it. Raise HttpError if it is malformed or too large."""
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    if len(headers) > _MAX_HEADERS:
        raise HttpError(431, f"more than {_MAX_HEADERS} headers")
    if any(len(name) + len(value) > _MAX_HEADER for name, value in headers):
        raise HttpError(431, f"a header is longer than {_MAX_HEADER} bytes")
    if not scope["path"].startswith("/"):
        raise HttpError(400, "the request line must name a path")
    head = RequestHead(scope["method"], scope["path"], scope["query_string"].decode("latin-1"), headers, persistent=True)
    if head.count("transfer-encoding") and head.count("content-length"):
        raise HttpError(400, "a request has Content-Length or Transfer-Encoding, not both")
    return head


def _check_body(head: RequestHead) -> int | None:
    """Return the length of the body; None: it is not known before the end. Raise HttpError if it is not acceptable."""
    chunked = head.count("transfer-encoding") > 0
    size = None if chunked else body_length(head._replace(verb=""), MAX_BODY)
    if head.verb in _BODY_METHODS and (chunked or size):
        content_type = (head.get("content-type") or "").partition(";")[0].strip().lower()
        if content_type not in ("application/json", "application/merge-patch+json"):
            raise HttpError(415, f"Content-Type must be application/json, got {content_type!r:.100}")
    return size


class _Body:
    """The body of a request, which must not be larger than the limit nor shorter than it said."""

    def __init__(self, receive: Receive, size: int | None, exchange: "_GuardedExchange"):
        self._receive = receive
        self._size = size
        self._exchange = exchange
        self._read = 0

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._read += len(message.get("body", b""))
            if self._read > MAX_BODY:
                raise TooLarge
        return message


class _GuardedExchange:
    """One request and its answer."""

    def __init__(self, scope: Scope, send: Send, added: list[tuple[bytes, bytes]], log: Callable[[bytes], None] | None):
        self._scope = scope
        self._send = send
        self._added = added
        self._log = log
        self._began = time.perf_counter()
        self._status = 0
        self._bytes = 0

    def allow_origin(self, origin: str) -> None:
        """Let a page of this origin read the answer."""
        cors = [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin")]
        self._added = [*self._added, *cors, (b"access-control-expose-headers", _CORS_EXPOSED)]

    async def send(self, message: Message) -> None:
        """Send a part of the answer, with the headers that every answer has."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = list(message.get("headers", []))
            if not any(name.lower() == b"cache-control" for name, _ in headers):
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*headers, *self._added]}
        elif message["type"] == "http.response.body":
            self._bytes += len(message.get("body", b""))
        await self._send(message)

    async def answer_preflight(self) -> None:
        """Answer the question of a browser whether a page may send a request."""
        headers = [(b"access-control-allow-methods", _CORS_METHODS), (b"access-control-allow-headers", _CORS_HEADERS)]
        await self._answer(204, b"", [*headers, (b"access-control-max-age", b"600")])

    async def refuse(self, error: HttpError) -> None:
        """Answer a request that is refused before its body is read, and end the connection."""
        if self._scope["path"] == MCP_PATH:
            refusal, media_type = Refusal(error.status, refusal_body(error), error.headers), "application/json"
        else:
            refusal, media_type = problems.from_http(error), problems.MEDIA_TYPE
        headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in refusal.headers.items()]
        await self._answer(
            refusal.status, refusal.body, [*headers, (b"content-type", media_type.encode()), (b"connection", b"close")]
        )

    async def _answer(self, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
        length = [] if status == 204 else [(b"content-length", str(len(body)).encode())]
        await self.send({"type": "http.response.start", "status": status, "headers": [*headers, *length]})
        await self.send({"type": "http.response.body", "body": body})
        self.finish()

    def finish(self) -> None:
        """Write the line of the access log: no query, no header and no body, because they hold texts of memories."""
        if self._log is None:
            return
        bearer = self._scope.get(BEARER)
        self._log(
            msgspec.json.encode(
                {
                    "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                    "method": self._scope["method"],
                    "route": self._scope.get("path_template"),
                    "status": self._status,
                    "bytes": self._bytes,
                    "ms": round((time.perf_counter() - self._began) * 1_000, 2),
                    "actor": None if bearer is None else bearer.name or bearer.role.value,
                }
            )
        )
