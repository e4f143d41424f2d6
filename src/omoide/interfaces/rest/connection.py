"""Connections of the ASGI server: uvicorn's, with time limits for every part of a request, and a limit on their number.

Stock uvicorn waits for the rest of a head or a body for ever, and resets the connection of a client that is refused while
it still sends.
"""

import asyncio
import logging
import socket
from collections.abc import MutableMapping
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from omoide.interfaces.http.limits import BODY_SECONDS, DRAIN_SECONDS, HEAD_SECONDS, ConnectionSlots
from omoide.interfaces.http.messages import render_response
from omoide.interfaces.rest import problems
from omoide.interfaces.rest.gate import ADMIT, Receive, Send

_ANSWER_SECONDS = 30.0
"""How long a client may leave an answer unread."""
MAX_CONNECTIONS = 256


class StrictProtocol(H11Protocol):
    """One connection."""

    slots = ConnectionSlots(MAX_CONNECTIONS)

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ):
        super().__init__(config, server_state, app_state, _loop)
        self.logger = _SILENT  # a malformed request is the client's affair, and its answer says so
        self._inner = config.loaded_app
        self.app = self._run
        self._deadline: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._awaited: object = None
        """The state of the request that the deadline is for."""
        self._has_slot = False
        self.draining = False

    async def _run(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        scope[ADMIT] = lambda: self.slots.admit(self)
        await self._inner(scope, receive, send)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        super().connection_made(_LingeringTransport(transport, self))  # type: ignore[arg-type] # it has all that is used
        # asyncio does this only for sockets that it has made: without it, each answer waits 40 ms for an acknowledgement.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._has_slot = self.slots.take(self, transport.abort)
        if not self._has_slot:
            refusal = problems.render(503, "too many connections: try again in a second")
            transport.write(render_response(503, refusal.body, [("Content-Type", problems.MEDIA_TYPE)], persistent=False))
            transport.close()
            return
        self._expect(h11.IDLE, HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._has_slot:
            self.slots.leave(self)
        for timer in (self._deadline, self._stalled):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.draining or self.transport.is_closing():
            return
        super().data_received(data)
        self._watch()

    def eof_received(self) -> bool:  # type: ignore[override] # uvicorn ends the connection, with its answer
        """Let a client that has sent its whole request, and nothing more, wait for the answer."""
        if self.draining or self.cycle is None or self.cycle.response_complete:
            return False
        self.cycle.keep_alive = False
        return self.conn.their_state is h11.DONE

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's signature
        """Refuse a request that is not HTTP, and let the client read why."""
        body = problems.render(400, "the request is not valid HTTP/1.1").body
        self.transport.write(render_response(400, body, [("Content-Type", problems.MEDIA_TYPE)], persistent=False))
        self.transport.close()

    def _watch(self) -> None:
        """Set the deadline for what the client must send next."""
        state = self.conn.their_state
        if self.draining or state is self._awaited:
            return
        if state is h11.SEND_BODY:
            self._expect(state, BODY_SECONDS)
        elif state is h11.IDLE and self.conn.trailing_data[0]:
            self._expect(state, HEAD_SECONDS)
        else:
            self._expect(None, 0)

    def _expect(self, state: object, seconds: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._awaited = state
        self._deadline = None if state is None else self.loop.call_later(seconds, self._time_out)

    def _time_out(self) -> None:
        self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(_ANSWER_SECONDS, self._time_out)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    def linger(self, transport: asyncio.Transport) -> None:
        """Close the connection once the client has stopped sending: closing on unread input would reset it."""
        if self.draining:
            return
        self.draining = True
        self._expect(None, 0)
        self._unset_keepalive_if_required()
        if transport.can_write_eof():
            transport.write_eof()
        transport.resume_reading()
        self.loop.call_later(DRAIN_SECONDS, transport.abort)


class _LingeringTransport:
    """A transport that sends the head of an answer with its body, and is closed slowly while the client still sends.

    uvicorn writes head and body one after the other: each would be a packet of its own, and wake the client.
    """

    def __init__(self, transport: asyncio.Transport, protocol: StrictProtocol):
        self._transport = transport
        self._protocol = protocol
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send bytes; the head of an answer with what follows, at the latest when the event loop is back."""
        if self._head:
            self._transport.write(self._head + data)
            self._head = b""
        elif data.startswith(b"HTTP/1.1 "):
            self._head = data
            self._protocol.loop.call_soon(self.flush)
        else:
            self._transport.write(data)

    def flush(self) -> None:
        """Send a head that nothing has followed so far."""
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)

    def is_closing(self) -> bool:
        """Whether nothing more can be sent."""
        return self._protocol.draining or self._transport.is_closing()

    def close(self) -> None:
        """Close the connection, at once where the whole request was read."""
        self.flush()
        if self._protocol.conn.their_state in (h11.SEND_BODY, h11.ERROR) and not self._transport.is_closing():
            self._protocol.linger(self._transport)
        else:
            self._transport.close()


_SILENT = logging.Logger("omoide.connection", logging.CRITICAL)
