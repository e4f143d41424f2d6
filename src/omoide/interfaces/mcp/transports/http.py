"""MCP over streamable HTTP: one thread per connection, and no state between requests.

With a handshake a client gets a session id, which only serves to cancel its own requests; no request needs it.

The server is for programs on this machine. A client must send a bearer token; the Host and Origin headers are checked, so
that a page in a browser cannot reach it.
"""

import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader

from omoide.interfaces.http.address import listen, parse_address, show_host
from omoide.interfaces.http.authentication import Authenticator
from omoide.interfaces.http.limits import BODY_SECONDS, DRAIN_SECONDS, HEAD_SECONDS, ConnectionSlots, shut_down
from omoide.interfaces.http.messages import (
    STREAM,
    BoundedReader,
    HttpError,
    RequestHead,
    body_length,
    read_head,
    render_event,
    render_response,
)
from omoide.interfaces.http.tokens import Bearer
from omoide.interfaces.mcp.transports.endpoint import DispatchFor, Endpoint, check_head, refusal_body

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
_JSON = [("Content-Type", "application/json")]


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
        self.endpoint = Endpoint(dispatch_for)
        self._authenticator = Authenticator(find_bearer, names, rate)
        self._when_idle = when_idle
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

    @property
    def idle_seconds(self) -> float:
        """For how long no request has been in progress."""
        return 0.0 if self._requests else time.monotonic() - self._last_activity

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
            headers = [*_JSON, *refusal.headers.items()]
            self._peer.settimeout(_ANSWER_SECONDS)
            self._peer.sendall(render_response(refusal.status, refusal_body(refusal), headers, persistent=False))
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
        response = self._server.endpoint.respond(head, body, bearer, self._send, self._is_client_gone)
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
        check_head(head)
        return body_length(head, MAX_BODY)

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
        except ConnectionError:  # the answer of this function
            return True
