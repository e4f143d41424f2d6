"""MCP over streamable HTTP: one thread per connection, and no state between requests.

With a handshake a client gets a session id, which only serves to cancel its own requests; no request needs it.

The server is for programs on this machine. A client must send a bearer token; the Host and Origin headers are checked, so
that a page in a browser cannot reach it.
"""

import base64
import binascii
import secrets
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from typing import NamedTuple
from urllib.parse import parse_qs

from omoide.interfaces.http.address import listen, parse_address, show_host
from omoide.interfaces.http.authentication import Authenticator
from omoide.interfaces.http.limits import BODY_SECONDS, DRAIN_SECONDS, HEAD_SECONDS, ConnectionSlots, shut_down
from omoide.interfaces.http.messages import (
    STREAM,
    BoundedReader,
    HttpError,
    RequestHead,
    accepts,
    body_length,
    read_head,
    render_event,
    render_response,
)
from omoide.interfaces.http.tokens import Bearer
from omoide.interfaces.mcp import jsonrpc, protocol
from omoide.interfaces.mcp.jsonrpc import Request, RpcError
from omoide.interfaces.mcp.protocol import Dispatch
from omoide.interfaces.mcp.request import RequestContext

PATH = "/mcp"
MAX_BODY = 16 * 1024 * 1024
_BODY_SECONDS = BODY_SECONDS
_ANSWER_SECONDS = 30.0
"""Time limit for sending an answer, and for the last answers of a server that stops."""
_HEADER_SECONDS = HEAD_SECONDS
_KEEP_ALIVE_SECONDS = 300.0
_DRAIN_SECONDS = DRAIN_SECONDS
_MAX_CONNECTIONS = 64
_ACCEPT_RETRY_SECONDS = 0.1
_IDLE_SECONDS = 2.0
"""The server is idle after this time without a request; a busy server has such moments too."""
_IDLE_INTERVAL_SECONDS = 600.0
"""Time between two calls of `when_idle`."""
_NAME_PARAMETERS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that the header Mcp-Name repeats, by method."""
_JSON = [("Content-Type", "application/json")]
_SESSION = "Mcp-Session-Id"

DispatchFor = Callable[[Bearer, str, str], Dispatch]
"""Return what the bearer of a token is offered in the project and the session that the URL names."""


class _Response(NamedTuple):
    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


class HttpServer:
    """An HTTP server for one address.

    `find_bearer` returns who bears a token; `names` are host names of the server besides localhost; `rate` is the limit of
    each bearer, in requests per second and at once; `when_idle` is called from time to time when no request is in progress.
    """

    def __init__(
        self,
        dispatch_for: DispatchFor,
        find_bearer: Callable[[bytes], Bearer | None],
        address: str,
        names: Iterable[str] = (),
        rate: tuple[float, float] = (200.0, 1_000.0),
        when_idle: Callable[[], None] = lambda: None,
    ):
        names = list(names)
        host, port = parse_address(address)
        self._listener = listen(host, port, address, names)
        self.url = f"http://{show_host(host)}:{self._listener.getsockname()[1]}{PATH}"
        self._dispatch_for = dispatch_for
        self._authenticator = Authenticator(find_bearer, names, rate)
        self._when_idle = when_idle
        self.running: dict[tuple[Bearer, str, int | str], RequestContext] = {}
        """The requests in progress of versions with a handshake, by bearer, session and id."""
        self.slots = ConnectionSlots(_MAX_CONNECTIONS)
        self._requests = 0
        """How many requests are in progress."""
        self._last_activity = time.monotonic()
        """When the last connection, request or answer was."""
        self._request_ended = threading.Condition()
        self._wake, self._waker = socket.socketpair()
        self._waker.settimeout(0)

    def serve(self) -> None:
        """Serve until `stop`, then finish the answers in progress."""
        last_idle_call = time.monotonic()
        with self._wake, self._waker, self._listener:
            while True:
                seconds = max(self._seconds_until_idle(last_idle_call), 0)
                ready, _, _ = select.select([self._listener, self._wake], [], [], seconds)
                if self._wake in ready:
                    break
                if ready:
                    self._accept()
                elif self._seconds_until_idle(last_idle_call) <= 0:  # a request may have come on an open connection
                    self._when_idle()
                    last_idle_call = time.monotonic()
        with self._request_ended:
            self._request_ended.wait_for(lambda: self._requests == 0, timeout=_ANSWER_SECONDS)

    def _seconds_until_idle(self, last_idle_call: float) -> float:
        """Return the time until the next call of `when_idle`, if no request comes before."""
        now = time.monotonic()
        idle_at = (now if self._requests else self._last_activity) + _IDLE_SECONDS
        return max(last_idle_call + _IDLE_INTERVAL_SECONDS, idle_at) - now

    def _accept(self) -> None:
        try:
            peer, _ = self._listener.accept()
        except OSError:  # fallback: out of file descriptors, or the client is gone; accept those who wait in a moment
            select.select([self._wake], [], [], _ACCEPT_RETRY_SECONDS)
            return
        self._last_activity = time.monotonic()
        if self.slots.take(peer, lambda: shut_down(peer)):
            threading.Thread(target=self._serve_connection, args=(peer,), daemon=True).start()
        else:
            with suppress(OSError), peer:  # fallback: the client is gone, so it needs no answer
                peer.sendall(render_response(503, b"too many connections", persistent=False))

    @property
    def waker(self) -> int:
        """The descriptor of a socket that stops the server when any byte is written to it, for `signal.set_wakeup_fd`."""
        return self._waker.fileno()

    def stop(self) -> None:
        """Stop the server. May be called from a signal handler, and more than once."""
        with suppress(OSError):  # fallback: the socket is closed or full, so the server stops already
            self._waker.send(b"x")

    def _serve_connection(self, peer: socket.socket) -> None:
        incoming = BoundedReader(peer)
        incoming.set_deadline(_HEADER_SECONDS)  # longer only for an authenticated client
        with peer:
            try:
                # A client that goes away, or sends nothing for too long, ends its own connection only.
                with suppress(ConnectionError, TimeoutError), BufferedReader(incoming) as reader:
                    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    while _Exchange(self, peer, incoming, reader).handle():
                        incoming.set_deadline(_KEEP_ALIVE_SECONDS)
            finally:
                self.slots.leave(peer)

    # what an exchange needs of the server

    def authenticate(self, head: RequestHead) -> Bearer:
        """Return who sends the request. Raise HttpError if it is refused."""
        return self._authenticator.authenticate(head)

    def dispatch(self, bearer: Bearer, query: str) -> Dispatch:
        """Return what the bearer is offered in the project and session of the URL's query."""
        parameters = parse_qs(query)
        return self._dispatch_for(bearer, parameters.get("project", [""])[0], parameters.get("session", [""])[0])

    @contextmanager
    def request_in_progress(self) -> Iterator[None]:
        """Count a request as in progress: a server that stops finishes its answer first."""
        with self._request_ended:
            self._requests += 1
        try:
            yield
        finally:
            with self._request_ended:
                self._requests -= 1
                self._last_activity = time.monotonic()
                self._request_ended.notify_all()


class _Exchange:
    """One request and its answer."""

    def __init__(
        self,
        server: HttpServer,
        peer: socket.socket,
        incoming: BoundedReader,
        reader: "BufferedReader[BoundedReader]",
    ):
        self._server = server
        self._peer = peer
        self._incoming = incoming
        self._reader = reader
        self._streaming = False
        self._is_lost = False
        """The client does not read what is sent."""

    def handle(self) -> bool:
        """Read one request and answer it. Return True if the connection stays open."""
        if not self._reader.peek(1):
            return False
        self._incoming.shorten_deadline(_HEADER_SECONDS)
        try:
            request = self._read_request()
            if request is None:
                return False
            with self._server.request_in_progress():
                return self._answer(*request)
        except HttpError as refusal:
            body = jsonrpc.failure(None, RpcError(jsonrpc.INVALID_REQUEST, refusal.why))
            self._peer.settimeout(_ANSWER_SECONDS)
            self._peer.sendall(render_response(refusal.status, body, [*_JSON, *refusal.headers.items()], persistent=False))
            self._drain()
            return False

    def _drain(self) -> None:
        """Read on until the client has read the answer: closing on unread input would reset the connection."""
        with suppress(OSError):  # fallback: the client is gone, so it needs no answer
            self._peer.shutdown(socket.SHUT_WR)
            deadline = time.monotonic() + _DRAIN_SECONDS
            while (left := deadline - time.monotonic()) > 0:
                self._peer.settimeout(left)
                if not self._peer.recv(1 << 16):
                    break

    def _read_request(self) -> tuple[RequestHead, bytes, Bearer] | None:
        """Read a whole request of an authenticated client. Return None if the client closes the connection before."""
        head = read_head(self._reader)
        if head is None:
            return None
        bearer = self._server.authenticate(head)
        self._server.slots.admit(self._peer)
        self._incoming.set_deadline(_BODY_SECONDS)
        size = self._check_head(head)
        if (head.get("expect") or "").lower() == "100-continue":
            self._peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = self._reader.read(size)
        return (head, body, bearer) if len(body) == size else None

    def _answer(self, head: RequestHead, body: bytes, bearer: Bearer) -> bool:
        self._peer.settimeout(_ANSWER_SECONDS)
        response = self._respond(head, body, bearer)
        if self._streaming:
            self._peer.sendall(render_event(response.body))
            return False
        headers = [*(_JSON if response.body else ()), *response.headers]
        self._peer.sendall(render_response(response.status, response.body, headers, persistent=head.persistent))
        return head.persistent

    def _check_head(self, head: RequestHead) -> int:
        """Return the length of the body. Raise HttpError if this is no request for the MCP server."""
        if head.path != PATH:
            raise HttpError(404, f"there is nothing at {head.path!s:.100}: the server is at {PATH}")
        if head.verb != "POST":
            raise HttpError(
                405, f"use POST, not {head.verb!s:.20}: this server keeps no streams and no sessions", Allow="POST"
            )
        content_type = (head.get("content-type") or "").partition(";")[0].strip().lower()
        if content_type != "application/json":
            raise HttpError(415, f"Content-Type must be application/json, got {content_type!r:.100}")
        if not accepts(head, "application/json"):
            raise HttpError(406, "Accept must allow application/json: answers are that or text/event-stream")
        return body_length(head, MAX_BODY)

    def _respond(self, head: RequestHead, body: bytes, bearer: Bearer) -> _Response:
        try:
            request = jsonrpc.read(body)
        except RpcError as error:
            return _Response(400, jsonrpc.failure(error.id, error))
        if request is None:
            return _Response(202)
        stateless = head.get("mcp-protocol-version") in protocol.STATELESS or protocol.VERSION in request.meta
        session = head.get(_SESSION.lower())
        try:
            _check_protocol(head, request, stateless=stateless)
        except RpcError as error:
            return _Response(400, jsonrpc.failure(request.id, error))
        if request.id is None:
            self._handle_notification(request, bearer, session)
            return _Response(202)
        send = self._send if accepts(head, "text/event-stream") else None
        call = RequestContext(request.meta, send, self._is_client_gone if stateless else lambda: False)
        dispatch = self._server.dispatch(bearer, head.query)
        with self._cancellable(call, (bearer, session, request.id) if session and not stateless else None):
            reply = protocol.answer(dispatch, request, call, stateless=stateless)
        if reply is None:
            raise ConnectionAbortedError
        headers = ((_SESSION, secrets.token_urlsafe(16)),) if request.method == "initialize" else ()
        return _Response(reply.http_status if stateless else 200, reply.data, headers)

    @contextmanager
    def _cancellable(self, call: RequestContext, key: tuple[Bearer, str, int | str] | None) -> Iterator[None]:
        if key is not None:
            self._server.running[key] = call
        try:
            yield
        finally:
            if key is not None:
                self._server.running.pop(key, None)

    def _handle_notification(self, notification: Request, bearer: Bearer, session: str | None) -> None:
        """Cancel a request. With a handshake, a client cancels by a notification with its session and the request's id."""
        if notification.method == "notifications/cancelled" and session:
            id = notification.params.get("requestId")
            if isinstance(id, (int, str)) and (call := self._server.running.get((bearer, session, id))):
                call.cancelled = True

    def _send(self, notification: bytes) -> None:
        if self._is_lost:
            return
        try:
            if not self._streaming:
                self._peer.sendall(STREAM)
                self._streaming = True
            self._peer.sendall(render_event(notification))
        except (ConnectionError, TimeoutError):  # fallback: report no progress; only the stateless version then cancels
            self._is_lost = True

    def _is_client_gone(self) -> bool:
        """Return True once the client has closed the connection: in the stateless version, that cancels the request."""
        if self._is_lost:
            return True
        ready, _, _ = select.select([self._peer], [], [], 0)
        try:
            return bool(ready) and self._peer.recv(1, socket.MSG_PEEK) == b""
        except ConnectionError:
            return True


def _check_protocol(head: RequestHead, request: Request, *, stateless: bool) -> None:
    """Raise RpcError for an unsupported version, or a stateless request without its envelope and headers."""
    version = head.get("mcp-protocol-version")
    if not stateless and version is not None:
        protocol.check_version(version, (*protocol.HANDSHAKE, *protocol.STATELESS))
    if stateless and request.id is not None:
        protocol.check_envelope(request)
        _check_headers(head, request)


def _check_headers(head: RequestHead, request: Request) -> None:
    """Raise RpcError unless the headers that proxies route by repeat what the body says."""
    expected = {"mcp-protocol-version": request.meta[protocol.VERSION], "mcp-method": request.method}
    name = request.params.get(_NAME_PARAMETERS.get(request.method, ""))
    if name is not None:
        expected["mcp-name"] = name
    for header, value in expected.items():
        if head.count(header) != 1 or _decode_header(head.get(header) or "") != value:
            raise RpcError(jsonrpc.HEADER_MISMATCH, f"header {header} must be there once and repeat the body's value")


def _decode_header(value: str) -> str | None:
    """Decode a header's value: what is not ASCII comes as =?base64?…?=. Return None if it is malformed."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
