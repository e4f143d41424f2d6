"""MCP on the port of REST: the requests and answers of `omoide mcp --http`."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from litestar import HttpMethod, Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.response import Stream

from omoide.interfaces.http.messages import HttpError, RequestHead, render_event
from omoide.interfaces.http.tokens import Bearer
from omoide.interfaces.mcp.transports.endpoint import Endpoint, McpResponse, check_head, refusal_body
from omoide.interfaces.rest.app import read_body
from omoide.interfaces.rest.gate import BEARER, MCP_PATH

_THREADS = 16
_METHODS: Sequence[HttpMethod] = (HttpMethod.POST, HttpMethod.GET, HttpMethod.DELETE)


def make_handler(endpoint: Endpoint) -> HTTPRouteHandler:
    """Return the handler of MCP requests; other methods than POST get MCP's own refusal."""
    pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="mcp")

    async def answer_mcp(request: Request[Any, Any, Any]) -> Response[Any]:
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.scope["headers"]]
        head = RequestHead(
            request.method, MCP_PATH, request.scope["query_string"].decode("latin-1"), headers, persistent=True
        )
        try:
            check_head(head)
        except HttpError as error:
            body = refusal_body(error)
            return Response(body, status_code=error.status, headers=error.headers, media_type="application/json")
        body_sent = await read_body(request)
        bearer: Any = request.scope.get(BEARER)
        if body_sent is None:
            return Response(b"", status_code=400)  # nobody reads it
        return await _McpExchange(endpoint, head, body_sent, bearer, request).answer(pool)

    return HTTPRouteHandler(MCP_PATH, http_method=_METHODS, status_code=200, include_in_schema=False)(answer_mcp)


class _McpExchange:
    """One request: it runs in a thread, whose notifications become a stream of events."""

    def __init__(self, endpoint: Endpoint, head: RequestHead, body: bytes, bearer: Bearer, request: Request[Any, Any, Any]):
        self._endpoint = endpoint
        self._head = head
        self._body = body
        self._bearer = bearer
        self._request = request
        self._loop = asyncio.get_running_loop()
        self._notifications: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._is_gone = False

    async def answer(self, pool: ThreadPoolExecutor) -> Response[Any]:
        """Return the answer: JSON, or a stream where there are notifications before it."""
        work = self._loop.run_in_executor(pool, self._respond)
        watch = asyncio.create_task(self._wait_for_disconnect())
        first = await self._notifications.get()
        watch.cancel()  # a stream watches by itself
        if first is not None:
            return Stream(self._stream(first, work), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
        response = await work
        if response is None:
            return Response(b"", status_code=400)  # cancelled: nobody reads it
        media_type = "application/json" if response.body else "text/plain"
        return Response(response.body, status_code=response.status, headers=dict(response.headers), media_type=media_type)

    async def _wait_for_disconnect(self) -> None:
        while (await self._request.receive())["type"] != "http.disconnect":
            pass
        self._is_gone = True

    async def _stream(self, first: bytes, work: "asyncio.Future[McpResponse | None]") -> AsyncIterator[bytes]:
        notification: bytes | None = first
        try:
            while notification is not None:
                yield render_event(notification)
                notification = await self._notifications.get()
            response = await work
            if response is not None:
                yield render_event(response.body)
        finally:
            self._is_gone = True  # also where the client hung up: then this is closed before its end

    def _respond(self) -> McpResponse | None:
        """Answer in a thread; None: the request was cancelled."""
        try:
            return self._endpoint.respond(self._head, self._body, self._bearer, self._notify, lambda: self._is_gone)
        except ConnectionAbortedError:  # the client is gone, so it needs no answer
            return None
        finally:
            self._loop.call_soon_threadsafe(self._notifications.put_nowait, None)

    def _notify(self, notification: bytes) -> None:
        self._loop.call_soon_threadsafe(self._notifications.put_nowait, notification)
