"""Live events as server-sent events: what any process does to the store arrives within a second."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.response import Stream

from omoide.errors import OmoideError, StoreError
from omoide.interfaces.http.tokens import Bearer
from omoide.interfaces.rest import problems, routing, values
from omoide.interfaces.rest.gate import BEARER
from omoide.interfaces.rest.routes.events import show_event
from omoide.model import Event, Scope

if TYPE_CHECKING:  # the service loads with the store, at the first request
    from omoide.service import Service

_POLL_SECONDS = 0.25
"""Between two looks at the store; each also imports edits of mirrored files."""
_PING_SECONDS = 15.0
"""A silent stream gets a comment after this time, so that proxies and clients know that it is alive."""
_BATCH = 100
T = TypeVar("T")


class StreamQuery(values.Input, frozen=True):
    """Which events to stream."""

    project_id: int | None = None
    last_event_id: int | None = None
    """The id of the last event that was received; the header Last-Event-ID does the same."""


class EventFeed:
    """Watches the store, and wakes the streams when something has happened."""

    def __init__(self, service_for: "Callable[[Bearer | None], Service]"):
        self._service_for = service_for
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="feed")
        self._last = -1
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.stopping = False
        """Set by the server when it stops: every stream ends."""

    async def start(self) -> None:
        """Begin to watch."""
        self._task = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Stop watching."""
        self.stopping = True
        if self._task is not None:
            await self._task
        self._pool.shutdown(wait=True)

    async def _watch(self) -> None:
        while not self.stopping:
            try:
                last = await self._run(lambda: self._service_for(None).last_event())
            except StoreError:  # fallback: look again in a moment; requests report what is wrong
                last = self._last
            if last != self._last:
                self._last = last
                self._wake()
            await asyncio.sleep(_POLL_SECONDS)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def handler(self) -> HTTPRouteHandler:
        """Return the handler of the stream."""

        @get("/api/events/stream", include_in_schema=False)
        async def stream_events(request: Request[Any, Any, Any]) -> Response[Any]:
            bearer: Any = request.scope.get(BEARER)
            try:
                query = problems.parse_parameters(dict(request.query_params), StreamQuery)
                service, scope, last = await self._run(
                    lambda: self._begin(bearer, query, request.headers.get("last-event-id"))
                )
            except OmoideError as error:
                return problems.respond(problems.from_error(error))
            except problems.InvalidRequest as error:
                return problems.respond(problems.from_request(error))
            return Stream(self._events(service, scope, last), media_type="text/event-stream")

        return stream_events

    def _begin(self, bearer: Bearer | None, query: StreamQuery, header: str | None) -> "tuple[Service, Scope | None, int]":
        """Return the service of the bearer, what to stream, and the last event that the client has."""
        service = self._service_for(bearer)
        scope = None if query.project_id is None else routing.project_scope(service, query.project_id)
        last = query.last_event_id
        if header is not None:
            last = problems.parse_parameters({"lastEventId": header}, StreamQuery).last_event_id
        return service, scope, service.last_event() if last is None else min(max(last, 0), 2**62)

    async def _events(self, service: "Service", scope: Scope | None, last: int) -> AsyncIterator[bytes]:
        yield b": connected\n\n"
        while not self.stopping:
            seen = self._last
            after = last
            batch = await self._run(lambda: service.events_after(after, scope=scope, limit=_BATCH))  # noqa: B023 - run at once
            for event in batch.events:
                yield _render(event)
            if batch.last == last and not await self._wait(seen):
                yield b": ping\n\n"
            last = batch.last

    async def _wait(self, seen: int) -> bool:
        """Wait until something has happened since `seen`. Return False if nothing does for some time."""
        if self._last != seen or self.stopping:
            return True
        try:
            await asyncio.wait_for(self._changed.wait(), _PING_SECONDS)
        except TimeoutError:  # the answer of this function
            return False
        return True


def _render(event: Event) -> bytes:
    data = routing.encode(show_event(event))
    return f"id: {event.number}\nevent: {event.action}\ndata: ".encode() + data + b"\n\n"
