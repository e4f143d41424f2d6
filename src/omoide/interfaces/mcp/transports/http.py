"""The server over streamable HTTP: one thread a connection, every request on its own, nothing kept between them.

In the handshake era a client gets a session, only so that it can cancel a request of its own: none is needed to ask.

For programs of this machine: who calls must bear a token, and a page in a browser cannot pass as one of them, since the
Host and the Origin of each request are checked.
"""

import base64
import binascii
import errno
import secrets
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from urllib.parse import parse_qs

from omoide.errors import InvalidInput
from omoide.interfaces.http.limits import ConnectionSlots, TokenBucket
from omoide.interfaces.http.messages import (
    STREAM,
    BoundedReader,
    HttpError,
    RequestHead,
    accepts,
    body_length,
    parse_authority,
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
LARGEST = 16 * 1024 * 1024
_PATIENCE = 30.0
_HEADER = 2.0
"""Seconds within which the head of a request must be whole: from the connection, later from its first byte."""
_IDLE = 300.0
_DRAIN_SECONDS = 2.0
_CONNECTIONS = 64
_PAUSE_SECONDS = 0.1
_QUIET = 2.0
"""Seconds without a request after which it is quiet; a busy server has such moments too."""
_EVERY = 600.0
"""Seconds from one use of a quiet moment to the next."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_JSON = [("Content-Type", "application/json")]
_SESSION = "Mcp-Session-Id"
_NO_ADDRESS = "{!r} is no address: write HOST:PORT or a PORT, like 127.0.0.1:8765"

Offers = Callable[[Bearer, str, str], Dispatch]
"""What the bearer of a token is offered in a project and a session, as the URL names them."""


class HttpServer:
    def __init__(
        self,
        offers: Offers,
        bearer: Callable[[bytes], Bearer | None],
        address: str,
        names: Iterable[str] = (),
        rate: tuple[float, float] = (200.0, 1_000.0),
        quiet: Callable[[], None] = lambda: None,
    ):
        """`bearer` tells who bears a token; `quiet` is called now and then, when nobody asks for anything."""
        host, port = _place(address)
        names = [name.lower() for name in names]
        try:
            socket.getaddrinfo(host, port)  # first: a host that is a typing error is not open to anybody
        except (OSError, UnicodeError) as error:
            raise InvalidInput(_NO_ADDRESS.format(address)) from error
        if host not in _LOOPBACK and not names:
            raise InvalidInput(f"{host} is open to other machines: say with --allow-host which name they use")
        self._offers = offers
        self._bearer = bearer
        self._hosts = {*_LOOPBACK, *names}
        self._quiet = quiet
        self._rate = rate
        self._buckets: dict[Bearer, TokenBucket] = {}
        self.running: dict[tuple[Bearer, str, int | str], RequestContext] = {}
        """What is being answered in the handshake era: by whom, in which session, and the id of the request."""
        self._strangers = TokenBucket(5, 20)
        self.slots = ConnectionSlots(_CONNECTIONS)
        self._busy = 0
        self._asked = time.monotonic()
        """When somebody last came, asked or was answered."""
        self._idle = threading.Condition()
        try:
            self._listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        except OSError as error:
            what = "a host of this machine" if error.errno == errno.EADDRNOTAVAIL else "another port"
            raise InvalidInput(f"{address} cannot be served ({error.strerror}): choose {what}") from error
        self._wake, self._waker = socket.socketpair()
        self._waker.settimeout(0)
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self._listener.getsockname()[1]}{PATH}"

    def serve(self) -> None:
        """Serves until `stop`; then what is being answered is answered."""
        used = time.monotonic()
        with self._wake, self._waker, self._listener:
            while True:
                ready, _, _ = select.select([self._listener, self._wake], [], [], max(self._until_quiet(used), 0))
                if self._wake in ready:
                    break
                if ready:
                    self._accept()
                elif self._until_quiet(used) <= 0:  # on connections that are open, somebody may have asked meanwhile
                    self._quiet()
                    used = time.monotonic()
        with self._idle:
            self._idle.wait_for(lambda: self._busy == 0, timeout=_PATIENCE)

    def _until_quiet(self, used: float) -> float:
        """Seconds until the next quiet moment that is of use, if nobody asks before."""
        now = time.monotonic()
        return max(used + _EVERY, (now if self._busy else self._asked) + _QUIET) - now

    def _accept(self) -> None:
        try:
            peer, _ = self._listener.accept()
        except OSError:  # plan B: no more files can be open, or the client is gone; who still waits is taken in a moment
            select.select([self._wake], [], [], _PAUSE_SECONDS)
            return
        self._asked = time.monotonic()
        if self.slots.take(peer):
            threading.Thread(target=self._host, args=(peer,), daemon=True).start()
        else:
            with suppress(OSError), peer:
                peer.sendall(render_response(503, b"too many connections", persistent=False))

    @property
    def waker(self) -> int:
        """A file in which any byte means stop: for signals that come just before the server waits again."""
        return self._waker.fileno()

    def stop(self) -> None:
        """Safe in a signal handler, also a second time."""
        with suppress(OSError):
            self._waker.send(b"x")

    def _host(self, peer: socket.socket) -> None:
        incoming = BoundedReader(peer)
        incoming.set_deadline(_HEADER)  # longer only for those who have shown that they may ask
        with peer:
            try:
                # A client that goes away, or sends nothing for too long, ends its connection and nothing else.
                with suppress(ConnectionError, TimeoutError), BufferedReader(incoming) as reader:
                    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    while _Exchange(self, peer, incoming, reader).handle():
                        incoming.set_deadline(_IDLE)
            finally:
                self.slots.leave(peer)

    # what an exchange asks the server

    def authenticate(self, head: RequestHead) -> Bearer:
        """Who asks; refused, if it is a page in a browser, a stranger, or somebody too eager."""
        if not self._is_own_name(head.get("host") or ""):
            raise HttpError(403, "this host name is not mine")
        origin = head.get("origin")
        if origin is not None and not self._is_own_name(origin.partition("://")[2]):
            raise HttpError(403, "this origin may not ask here")
        kind, _, given = (head.get("authorization") or "").partition(" ")
        bearer = self._bearer(given.strip().encode("latin-1") if kind.lower() == "bearer" else b"")
        if bearer is None:
            if not self._strangers.take():
                raise HttpError(429, "too many attempts", Retry_After="1")
            why = "a bearer token is needed: `omoide mcp token` prints it"
            raise HttpError(401, why, WWW_Authenticate='Bearer realm="omoide"')
        if not self._buckets.setdefault(bearer, TokenBucket(*self._rate)).take():
            raise HttpError(429, "too many requests", Retry_After="1")
        return bearer

    def _is_own_name(self, authority: str) -> bool:
        """Whether it is a name of ours, with perhaps a port; with more than that, such as a user, it is nobody's."""
        named = parse_authority(authority)
        return named is not None and named[0] in self._hosts

    def dispatch(self, bearer: Bearer, query: str) -> Dispatch:
        asked = parse_qs(query)
        return self._offers(bearer, asked.get("project", [""])[0], asked.get("session", [""])[0])

    @contextmanager
    def answering(self) -> Iterator[None]:
        """While somebody who asked waits for the answer: a server that stops gives it first."""
        with self._idle:
            self._busy += 1
        try:
            yield
        finally:
            with self._idle:
                self._busy -= 1
                self._asked = time.monotonic()
                self._idle.notify_all()


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
        self._lost = False
        """Nobody reads what we tell."""

    def handle(self) -> bool:
        """Whether the connection can go on."""
        if not self._reader.peek(1):
            return False
        self._incoming.within_at_most(_HEADER)
        try:
            taken = self._read_request()
            if taken is None:
                return False
            with self._server.answering():
                return self._answer(*taken)
        except HttpError as refusal:
            told = jsonrpc.failure(None, RpcError(jsonrpc.INVALID_REQUEST, refusal.why))
            self._peer.settimeout(_PATIENCE)
            self._peer.sendall(render_response(refusal.status, told, [*_JSON, *refusal.headers.items()], persistent=False))
            self._drain()
            return False

    def _drain(self) -> None:
        """Lets the client read why: closing on what it still sends would reset the connection, and our answer with it."""
        with suppress(OSError):  # plan B: it is gone, and a socket without anybody at its other end cannot be shut either
            self._peer.shutdown(socket.SHUT_WR)
            until = time.monotonic() + _DRAIN_SECONDS
            while (left := until - time.monotonic()) > 0:
                self._peer.settimeout(left)
                if not self._peer.recv(1 << 16):
                    break

    def _read_request(self) -> tuple[RequestHead, bytes, Bearer] | None:
        """A whole request of somebody who may ask; None when the client is gone before it was whole."""
        head = read_head(self._reader)
        if head is None:
            return None
        bearer = self._server.authenticate(head)
        self._server.slots.admit(self._peer)
        self._incoming.set_deadline(_PATIENCE)
        size = self._check_request(head)
        if (head.get("expect") or "").lower() == "100-continue":
            self._peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = self._reader.read(size)
        return (head, body, bearer) if len(body) == size else None

    def _answer(self, head: RequestHead, body: bytes, bearer: Bearer) -> bool:
        self._peer.settimeout(_PATIENCE)
        status, answer, headers = self._dispatch(head, body, bearer)
        if self._streaming:
            self._peer.sendall(render_event(answer))
            return False
        self._peer.sendall(
            render_response(status, answer, [*(_JSON if answer else ()), *headers], persistent=head.persistent)
        )
        return head.persistent

    def _check_request(self, head: RequestHead) -> int:
        if head.path != PATH:
            raise HttpError(404, f"there is only {PATH} here")
        if head.verb != "POST":
            raise HttpError(405, "POST, please: this server keeps no streams and no sessions", Allow="POST")
        if (head.get("content-type") or "").partition(";")[0].strip().lower() != "application/json":
            raise HttpError(415, "application/json, please")
        if not accepts(head, "application/json"):
            raise HttpError(406, "answers are application/json or text/event-stream")
        return body_length(head, LARGEST)

    def _dispatch(self, head: RequestHead, body: bytes, bearer: Bearer) -> tuple[int, bytes, list[tuple[str, str]]]:
        try:
            request = jsonrpc.read(body)
        except RpcError as error:
            return 400, jsonrpc.failure(error.id, error), []
        if request is None:
            return 202, b"", []
        version = head.get("mcp-protocol-version")
        modern = version in protocol.STATELESS or protocol.VERSION in request.meta
        session = head.get(_SESSION.lower())
        try:
            if not modern and version is not None:
                protocol.check_version(version, (*protocol.HANDSHAKE, *protocol.STATELESS))
            if request.id is None:
                self._handle_notification(request, bearer, session)
                return 202, b"", []
            if modern:
                protocol.check_envelope(request)
                _check_headers(head, request)
        except RpcError as error:
            return 400, jsonrpc.failure(request.id, error), []
        send = self._send if accepts(head, "text/event-stream") else None
        call = RequestContext(request.meta, send, self._client_gone if modern else lambda: False)
        dispatch = self._server.dispatch(bearer, head.query)
        with self._running(call, (bearer, session, request.id) if session and not modern else None):
            reply = protocol.answer(dispatch, request, call, modern=modern)
        if reply is None:
            raise ConnectionAbortedError
        headers = [(_SESSION, secrets.token_urlsafe(16))] if request.method == "initialize" else []
        return reply.status if modern else 200, reply.data, headers

    @contextmanager
    def _running(self, call: RequestContext, place: tuple[Bearer, str, int | str] | None) -> Iterator[None]:
        if place is not None:
            self._server.running[place] = call
        try:
            yield
        finally:
            if place is not None:
                self._server.running.pop(place, None)

    def _handle_notification(self, notification: Request, bearer: Bearer, session: str | None) -> None:
        """In the handshake era, a client cancels by saying so; its session tells whose request of that id is meant."""
        if notification.method == "notifications/cancelled" and session:
            meant = notification.params.get("requestId")
            if isinstance(meant, (int, str)) and (call := self._server.running.get((bearer, session, meant))):
                call.cancelled = True

    def _send(self, notification: bytes) -> None:
        if self._lost:
            return
        try:
            if not self._streaming:
                self._peer.sendall(STREAM)
                self._streaming = True
            self._peer.sendall(render_event(notification))
        except (ConnectionError, TimeoutError):  # plan B: nobody is told; only in the stateless era that ends the work
            self._lost = True

    def _client_gone(self) -> bool:
        """In the stateless era, a client cancels by hanging up."""
        if self._lost:
            return True
        ready, _, _ = select.select([self._peer], [], [], 0)
        try:
            return bool(ready) and self._peer.recv(1, socket.MSG_PEEK) == b""
        except ConnectionError:
            return True


def _check_headers(head: RequestHead, request: Request) -> None:
    """The headers that proxies route by say the same as the body, or the request is refused."""
    wanted = {"mcp-protocol-version": request.meta[protocol.VERSION], "mcp-method": request.method}
    name = request.params.get(_NAMED.get(request.method, ""))
    if name is not None:
        wanted["mcp-name"] = name
    for header, value in wanted.items():
        if head.has(header) != 1 or _decode_header(head.get(header) or "") != value:
            raise RpcError(jsonrpc.HEADER_MISMATCH, f"header {header} does not say what the body says")


def _decode_header(value: str) -> str | None:
    """A header's value; what is not plain ASCII comes as =?base64?…?=. None for one that is malformed."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _place(address: str) -> tuple[str, int]:
    """HOST:PORT, a HOST alone, or a PORT alone."""
    found = parse_authority(f":{address}" if address.isdigit() else address)
    if found is None:
        raise InvalidInput(_NO_ADDRESS.format(address))
    host, port = found
    return host or "127.0.0.1", 8765 if port is None else port
