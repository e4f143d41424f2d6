"""The server on standard input and output, one message a line: what most agents start, one process each.

One thread reads, so that a cancellation is heard while another works; the other answers in the order of the questions. When
it has nothing to do, what is quick is answered by the one that reads: handing it over would take as long as half the search.
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
from omoide.interfaces.mcp.jsonrpc import Id, Request, RpcError
from omoide.interfaces.mcp.protocol import Dispatch
from omoide.interfaces.mcp.request import RequestContext

LONGEST = 64 * 1024 * 1024
"""Bytes of the longest line that is looked at; of a longer one, nothing is kept."""
_CHUNK = 1 << 16
_WAITING = 1_000
"""Requests that may wait for their turn: a client that asks on and on and reads nothing is not read either."""
_QUIET = 0.1
"""Seconds without a question after which the next one is not yet on its way."""
_FLUSH_SECONDS = 2.0
"""Seconds for what is at work when a signal ends us: the client that sent it may no longer read."""
_GONE = (BrokenPipeError, ConnectionResetError)
"""How a pipe, and how a socket in its place, tells that the client went away."""


def serve(dispatch: Dispatch) -> None:
    """Serves until standard input ends or nobody reads the answers."""
    source, sink = _own_pipes()
    _Conversation(dispatch, sink).run(source)


def _own_pipes() -> tuple[int, int]:
    """The two pipes for ourselves: what anything else prints goes to standard error, and nothing else reads our input."""
    for stream, name in ((sys.__stdin__, "input"), (sys.__stdout__, "output")):
        if stream is None:  # so Python says it; the descriptor itself may be another file by now
            raise InvalidInput(f"standard {name} is closed, and `omoide mcp` talks over it: `omoide mcp --http` needs none")
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)
    return source, sink


class _Conversation:
    def __init__(self, dispatch: Dispatch, sink: int):
        self._dispatch = dispatch
        self._sink = sink
        self._writing = threading.Lock()
        self._waiting: Queue[tuple[Request, RequestContext] | None] = Queue(_WAITING)
        self._calls: dict[Id, RequestContext] = {}
        self._deaf = False
        """Nobody reads our answers any more."""
        self._fault: OSError | None = None
        """Why they could not be written, when it was not that the client is gone."""

    def run(self, source: int) -> None:
        worker = threading.Thread(target=self._work, daemon=True)
        worker.start()
        patience: float | None = _FLUSH_SECONDS
        try:
            for line in read_lines(source, self._dispatch.flush):
                self._receive(line)
                if self._deaf:
                    break
            patience = None  # what was asked before the pipe closed is still done and answered
        finally:
            with suppress(Full):  # plan B: nobody reads, and we are told to end
                self._waiting.put(None, timeout=patience)
            worker.join(patience)
        if self._fault is not None:
            raise Unwritable(f"standard output does not take the answers ({self._fault.strerror})") from self._fault

    def _receive(self, line: bytes | None) -> None:
        if line is None:
            error = RpcError(jsonrpc.INVALID_REQUEST, f"a message is longer than {LONGEST:,} bytes")
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
            self._send(jsonrpc.result(request.id, {}))  # also while a long call is at work
        else:
            call = RequestContext(request.meta, self._send)
            if not self._calls and self._quick(request):
                self._answer(request, call)
                return
            self._calls[request.id] = call
            self._waiting.put((request, call))

    def _quick(self, request: Request) -> bool:
        name = request.params.get("name")
        return request.method == "tools/call" and isinstance(name, str) and self._dispatch.is_quick(name)

    def _handle_notification(self, notification: Request) -> None:
        if notification.method == "notifications/cancelled":
            id = notification.params.get("requestId")
            call = self._calls.get(id) if isinstance(id, (int, str)) else None
            if call is not None:
                call.cancelled = True

    def _work(self) -> None:
        while (next := self._waiting.get()) is not None:
            request, call = next
            if self._deaf:
                continue
            if not call.cancelled:
                self._answer(request, call)
            if request.id is not None and self._calls.get(request.id) is call:
                del self._calls[request.id]

    def _answer(self, request: Request, call: RequestContext) -> None:
        reply = protocol.answer(self._dispatch, request, call, modern=protocol.is_stateless(request))
        if reply is not None:
            self._send(reply.data)

    def _send(self, text: bytes) -> None:
        rest = memoryview(text + b"\n")
        with self._writing:
            try:
                while rest:
                    rest = rest[_write_some(self._sink, rest) :]
            except _GONE:  # plan B: nobody listens, so there is nobody to tell
                self._deaf = True
            except OSError as error:  # plan B: no answer can be given any more; whoever started us is told at the end
                self._deaf, self._fault = True, error


def read_lines(source: int, quiet: Callable[[], None] = lambda: None) -> Iterator[bytes | None]:
    """Line by line as they come, blank ones left out; None stands for a line that was too long. When nothing has come for a
    moment, `quiet` is called."""
    begun: list[bytes] = []
    size = 0
    while chunk := _read(source, quiet):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            size += len(part)
            if size > LONGEST:
                yield None
            else:
                begun.append(part)
                line = b"".join(begun).strip()
                if line:
                    yield line
            begun, size = [], 0
        size += len(rest)
        if size > LONGEST:
            begun = []
        elif rest:
            begun.append(rest)
    last = b"".join(begun).strip()
    if last:
        yield last


def _read(source: int, quiet: Callable[[], None]) -> bytes:
    """What has come; nothing when the client is done, or gone."""
    with suppress(OSError):  # plan B: where nobody can be waited for, there is no rest
        if not _wait([source], [], _QUIET):
            quiet()
    while True:
        try:
            return os.read(source, _CHUNK)
        except BlockingIOError:  # plan B: who started us shares the pipe, and does not want to wait on it
            _wait([source], [])
        except _GONE:
            return b""
        except OSError as error:
            raise Unreadable(f"standard input cannot be read ({error.strerror})") from error


def _write_some(sink: int, text: memoryview) -> int:
    while True:
        try:
            return os.write(sink, text)
        except BlockingIOError:  # plan B: as above
            _wait([], [sink])


def _wait(readable: list[int], writable: list[int], seconds: float | None = None) -> bool:
    """Whether one of them is ready, at the latest after so many seconds."""
    return any(select.select(readable, writable, [], seconds))
