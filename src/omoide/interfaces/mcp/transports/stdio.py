"""MCP over standard input and output, one message per line: most agents start one such process each.

One thread reads, so that a cancellation arrives during a call; a worker thread answers requests in their order. When the
worker is idle, the reading thread answers quick requests itself: a hand-over takes half as long as a search.
"""

import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import Full, Queue

from omoide.errors import InvalidInput, Unreadable, Unwritable
from omoide.interfaces.mcp import jsonrpc, protocol
from omoide.interfaces.mcp.jsonrpc import Id, RpcError, RpcRequest
from omoide.interfaces.mcp.protocol import Dispatch
from omoide.interfaces.mcp.request import RequestContext

MAX_LINE = 64 * 1024 * 1024
"""Bytes of a message; a longer one is refused without being stored."""
_CHUNK = 1 << 16
_MAX_QUEUE = 1_000
"""Requests that may wait. Above that the server stops reading, so that a client that reads no answers is blocked."""
_IDLE_SECONDS = 0.1
"""Time without input after which deferred writes are run."""
_FLUSH_SECONDS = 2.0
"""Time for the request in progress when a signal ends the server: its client may no longer read."""
_GONE = (BrokenPipeError, ConnectionResetError)
"""How a pipe, or a socket in its place, reports that the client has closed it."""


def serve(dispatch: Dispatch) -> None:
    """Serve until standard input ends or the client no longer reads the answers.

    Raise InvalidInput, Unreadable or Unwritable if standard input or output cannot be used.
    """
    source, sink = _take_pipes()
    _Conversation(dispatch, sink).run(source)


def _take_pipes() -> tuple[int, int]:
    """Return standard input and output for this server alone: what other code prints goes to standard error."""
    for stream, name in ((sys.__stdin__, "input"), (sys.__stdout__, "output")):
        if stream is None:  # Python's word for closed; the descriptor may be another file by now
            raise InvalidInput(f"standard {name} is closed: `omoide mcp` needs it, `omoide mcp --http` does not")
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.stdout.flush()
    os.dup2(2, 1)
    return source, sink


class _Conversation:
    """The requests of one client and their answers."""

    def __init__(self, dispatch: Dispatch, sink: int):
        self._dispatch = dispatch
        self._sink = sink
        self._write_lock = threading.Lock()
        self._queue: Queue[tuple[RpcRequest, RequestContext] | None] = Queue(_MAX_QUEUE)
        self._calls: dict[Id, RequestContext] = {}
        self._is_closed = False
        """No more answers can be written."""
        self._write_error: OSError | None = None
        """Why not, unless the client has closed the pipe."""

    def run(self, source: int) -> None:
        """Answer requests until the input ends."""
        worker = threading.Thread(target=self._work, daemon=True)
        worker.start()
        timeout: float | None = _FLUSH_SECONDS
        try:
            for line in read_lines(source, self._dispatch.flush):
                self._receive(line)
                if self._is_closed:
                    break
            timeout = None  # requests that came before the input ended are still answered
        finally:
            with suppress(Full):  # fallback: the client reads nothing, and a signal ends the server
                self._queue.put(None, timeout=timeout)
            worker.join(timeout)
        if self._write_error is not None:
            raise Unwritable(f"cannot write to standard output ({self._write_error.strerror})") from self._write_error

    def _receive(self, line: bytes | None) -> None:
        if line is None:
            error = RpcError(jsonrpc.INVALID_REQUEST, f"a message is longer than {MAX_LINE:,} bytes: send less at once")
            self._send(jsonrpc.failure(None, error))
            return
        try:
            request = jsonrpc.read(line)
        except RpcError as error:
            self._send(jsonrpc.failure(error.id, error))
            return
        if request is None:
            return
        if request.id is None:
            self._handle_notification(request)
        elif request.method == "ping" and not protocol.is_stateless(request):
            self._send(jsonrpc.result(request.id, {}))  # at once, also during a long call
        else:
            call = RequestContext(request.meta, self._send)
            if not self._calls and self._is_quick(request):
                self._answer(request, call)
                return
            self._calls[request.id] = call
            self._queue.put((request, call))

    def _is_quick(self, request: RpcRequest) -> bool:
        name = request.params.get("name")
        return request.method == "tools/call" and isinstance(name, str) and self._dispatch.is_quick(name)

    def _handle_notification(self, notification: RpcRequest) -> None:
        if notification.method == "notifications/cancelled":
            id = notification.params.get("requestId")
            call = self._calls.get(id) if isinstance(id, (int, str)) else None
            if call is not None:
                call.cancelled = True

    def _work(self) -> None:
        while (entry := self._queue.get()) is not None:
            request, call = entry
            if self._is_closed:
                continue
            if not call.cancelled:
                self._answer(request, call)
            if request.id is not None and self._calls.get(request.id) is call:
                del self._calls[request.id]

    def _answer(self, request: RpcRequest, call: RequestContext) -> None:
        reply = protocol.answer(self._dispatch, request, call, stateless=protocol.is_stateless(request))
        if reply is not None:
            self._send(reply.data)

    def _send(self, text: bytes) -> None:
        rest = memoryview(text + b"\n")
        with self._write_lock:
            try:
                while rest:
                    rest = rest[_write_some(self._sink, rest) :]
            except _GONE:  # fallback: the client is gone, so it needs no answer
                self._is_closed = True
            except OSError as error:  # fallback: stop answering; `run` raises the error at the end
                self._is_closed, self._write_error = True, error


def read_lines(source: int, when_idle: Callable[[], None] = lambda: None) -> Iterator[bytes | None]:
    """Read lines, without blank ones; yield None for a line that is too long. Call `when_idle` if no input is waiting."""
    parts: list[bytes] = []
    size = 0
    while chunk := _read(source, when_idle):
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            size += len(part)
            if size > MAX_LINE:
                yield None
            else:
                parts.append(part)
                line = b"".join(parts).strip()
                if line:
                    yield line
            parts, size = [], 0
        size += len(rest)
        if size > MAX_LINE:
            parts = []
        elif rest:
            parts.append(rest)
    last = b"".join(parts).strip()
    if last:
        yield last


def _read(source: int, when_idle: Callable[[], None]) -> bytes:
    """Read what has arrived. Return nothing at the end of the input."""
    with suppress(OSError):  # fallback: a source that select() does not support is never idle
        if not _wait([source], [], _IDLE_SECONDS):
            when_idle()
    while True:
        try:
            return os.read(source, _CHUNK)
        except BlockingIOError:  # fallback: the client made the shared pipe non-blocking, so wait for it
            _wait([source], [])
        except _GONE:  # the client is gone, which is the end of the input
            return b""
        except OSError as error:
            raise Unreadable(f"cannot read standard input ({error.strerror})") from error


def _write_some(sink: int, text: memoryview) -> int:
    while True:
        try:
            return os.write(sink, text)
        except BlockingIOError:  # fallback: as above
            _wait([], [sink])


def _wait(readable: list[int], writable: list[int], seconds: float | None = None) -> bool:
    """Wait until a descriptor is ready, at most this many seconds. Return False if none is."""
    return any(select.select(readable, writable, [], seconds))
