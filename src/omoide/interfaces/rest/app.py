"""The Litestar application: the table of routes, and errors as problem details."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any

from litestar import HttpMethod, Litestar, Request, Response, get
from litestar.exceptions import HTTPException, MethodNotAllowedException
from litestar.handlers import HTTPRouteHandler

from omoide.errors import OmoideError
from omoide.interfaces.http.tokens import Bearer
from omoide.interfaces.rest import openapi, problems, reference, routes, routing
from omoide.interfaces.rest.gate import BEARER, TooLarge
from omoide.interfaces.rest.problems import InvalidRequest, respond
from omoide.interfaces.rest.routing import Answer, Call, Operation

if TYPE_CHECKING:  # the service loads with the store, at the first request
    from omoide.interfaces.rest.feed import EventFeed
    from omoide.service import Service

ServiceFor = Callable[[Bearer | None], "Service"]
"""Return the service for the bearer of a token; None: for a request without one, to a public path."""

_THREADS = 16
"""Requests that work on the database at the same time; the rest wait."""
_INTEGERS = ("projectId", "memoryId", "version", "otherId", "runId")
_NOTHING = "there is nothing here: /openapi.json lists what there is"
_INTERNAL = "the server failed to answer; its log says why"


PUBLIC = ("/openapi.json", "/reference")
"""The paths of the documentation, which need no token."""


def make_app(
    service_for: ServiceFor,
    types: Sequence[str],
    handlers: Sequence[HTTPRouteHandler] = (),
    feed: "EventFeed | None" = None,
) -> Litestar:
    """Return the application.

    `types` are those that a memory can have; `handlers` are those that are no routes of the table, such as MCP; `feed` is
    started and stopped with the application.
    """
    _ = routes  # importing it fills the table
    runner = _Runner(service_for)
    return Litestar(
        [
            *_options(),  # first: otherwise Litestar adds its own
            *(runner.handler(route) for route in routing.ROUTES),
            *_documentation(types),
            *handlers,
        ],
        openapi_config=None,
        exception_handlers={Exception: _answer_exception},
        on_startup=[] if feed is None else [feed.start],
        on_shutdown=[runner.close] if feed is None else [feed.stop, runner.close],
        logging_config=None,
        request_max_body_size=None,  # the gate has the limit
    )


def _options() -> list[HTTPRouteHandler]:
    """Return handlers that name all methods of a path: Litestar's own name only those of one handler."""
    methods: dict[str, list[str]] = {}
    for route in routing.ROUTES:
        methods.setdefault(route.path, []).append(route.method)

    def handler(path: str, allowed: str) -> HTTPRouteHandler:
        async def endpoint() -> Response[None]:
            return Response(None, status_code=204, headers={"Allow": allowed})

        make = HTTPRouteHandler(
            litestar_path(path), http_method=HttpMethod.OPTIONS, status_code=200, include_in_schema=False
        )
        return make(endpoint)

    return [handler(path, ", ".join([*sorted(names), "OPTIONS"])) for path, names in methods.items()]


def _documentation(types: Sequence[str]) -> list[HTTPRouteHandler]:
    @cache
    def document() -> dict[str, Any]:
        return openapi.document(types)

    @get("/openapi.json", include_in_schema=False, sync_to_thread=True)
    def get_document() -> Response[bytes]:
        return Response(routing.encode(document()), media_type="application/json")

    @get("/reference", include_in_schema=False, sync_to_thread=True)
    def get_reference() -> Response[str]:
        return Response(reference.render(document()), media_type="text/html")

    return [get_document, get_reference]


class _Runner:
    """Runs the functions of routes in threads: they work on the database, and a commit waits for the disk."""

    def __init__(self, service_for: ServiceFor):
        self._service_for = service_for
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="rest")
        self._running: set[tuple[object, ...]] = set()
        """The requests in progress that have an idempotency key. Only the event loop changes it."""

    def close(self) -> None:
        """Wait until what runs has ended."""
        self._pool.shutdown(wait=True)

    def handler(self, route: Operation) -> HTTPRouteHandler:
        """Return the handler of a route."""

        async def endpoint(request: Request[Any, Any, Any]) -> Response[bytes]:
            return await self._handle(route, request)

        return HTTPRouteHandler(
            litestar_path(route.path),
            http_method=HttpMethod(route.method),
            status_code=200,  # every answer sets its own
            name=route.operation,
            include_in_schema=False,
        )(endpoint)

    async def _handle(self, route: Operation, request: Request[Any, Any, Any]) -> Response[bytes]:
        body = await read_body(request)
        if body is None:
            return Response(b"", status_code=400)  # nobody reads it
        key = request.headers.get("idempotency-key") if route.idempotent else None
        mark = (request.scope.get(BEARER), request.path_params.get("projectId"), key)
        if key is not None and mark in self._running:
            detail = "a request with this Idempotency-Key is in progress: try again in a moment"
            return respond(problems.render(409, detail, headers={"Retry-After": "1"}))
        self._running.add(mark)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._run, route, request, body)
        finally:
            self._running.discard(mark)

    def _run(self, route: Operation, request: Request[Any, Any, Any], body: bytes) -> Response[bytes]:
        bearer: Any = request.scope.get(BEARER)
        try:
            return _answer(route, self._service_for(bearer), request, body)
        except OmoideError as error:
            return respond(problems.from_error(error))
        except InvalidRequest as error:
            return respond(problems.from_request(error))


async def read_body(request: Request[Any, Any, Any]) -> bytes | None:
    """Return the whole body; None: the client hung up before its end, so nothing must be done."""
    chunks: list[bytes] = []
    while True:
        message = await request.receive()
        if message["type"] != "http.request":
            return None
        chunks.append(message["body"])
        if not message["more_body"]:
            return b"".join(chunks)


def litestar_path(path: str) -> str:
    """Return the path of a route as Litestar writes it, with the type of each parameter."""
    for name in _INTEGERS:
        path = path.replace(f"{{{name}}}", f"{{{name}:int}}")
    return path.replace("{session}", "{session:str}").replace("{kind}", "{kind:str}")


def _answer(route: Operation, service: "Service", request: Request[Any, Any, Any], body: bytes) -> Response[bytes]:
    if route.idempotent:
        routing.check_key(request.headers.get("idempotency-key"))
    path = request.scope["path"]  # not request.url, which takes as long as a short query
    call: Call[Any, Any] = Call(
        service,
        path,
        request.path_params,
        request.headers,
        problems.parse_parameters(_parameters(request), route.query),
        None if route.body is None else problems.parse(body, route.body),
        f"{route.method} {path}\n".encode() + body,
    )
    response = _respond(route, route.run(call), request.headers)
    if call.replayed:
        response.headers["Idempotency-Replayed"] = "true"
    return response


def _parameters(request: Request[Any, Any, Any]) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in given:
            raise InvalidRequest(f"{name}: the parameter is there more than once", {"parameter": name})
        given[name] = value
    return given


def _respond(route: Operation, answer: Answer, asked: Mapping[str, str]) -> Response[bytes]:
    headers = dict(answer.headers)
    if answer.value is None:
        return Response(b"", status_code=route.status, headers=headers)
    body = routing.encode(answer.value)
    if answer.version is not None:
        headers["ETag"] = routing.make_tag(answer.version, body)
        if route.method == "GET" and headers["ETag"] in (asked.get("if-none-match") or ""):
            return Response(b"", status_code=304, headers=headers)
    return Response(body, status_code=answer.status or route.status, headers=headers, media_type="application/json")


def _answer_exception(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Answer what no route has answered: an unknown path, another method, a body over the limit, a bug."""
    if isinstance(error, TooLarge):
        return respond(problems.render(413, "the body is too large: send less at once", headers={"Connection": "close"}))
    if isinstance(error, MethodNotAllowedException):
        detail = f"{request.method} is not allowed here: see /openapi.json"
        return respond(problems.render(405, detail, headers=error.headers))
    if isinstance(error, HTTPException) and error.status_code < 500:
        return respond(problems.render(error.status_code, _NOTHING if error.status_code == 404 else error.detail))
    logging.getLogger(__name__).error("a request failed", exc_info=error)
    return respond(problems.render(500, _INTERNAL))
