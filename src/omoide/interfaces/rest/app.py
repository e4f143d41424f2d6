"""The Litestar application: the table of routes, and errors as problem details."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from litestar import HttpMethod, Litestar, Request, Response, get
from litestar.exceptions import HTTPException, MethodNotAllowedException
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp, Receive, Scope, Send

from omoide.errors import OmoideError
from omoide.interfaces.http.tokens import Bearer
from omoide.interfaces.rest import openapi, problems, reference, routes, routing
from omoide.interfaces.rest.gate import BEARER, TooLarge
from omoide.interfaces.rest.problems import InvalidRequest, respond
from omoide.interfaces.rest.routing import Answer, Call, Operation
from omoide.interfaces.rest.threads import WorkerThreads

if TYPE_CHECKING:  # the service loads with the store, at the first request
    from omoide.interfaces.rest.feed import EventFeed
    from omoide.service import Service

ServiceFor = Callable[[Bearer | None], "Service"]
"""Return the service for the bearer of a token; None: for a request without one, to a public path."""

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
        self._threads = WorkerThreads("rest")
        self._running: set[tuple[object, ...]] = set()
        """The requests in progress that have an idempotency key. Only the event loop changes it."""

    def close(self) -> None:
        """Wait until what runs has ended."""
        self._threads.close()

    def handler(self, route: Operation) -> HTTPRouteHandler:
        """Return the handler of a route."""

        async def endpoint(request: Request[Any, Any, Any]) -> ASGIApp:
            return await self._handle(route, request)

        return HTTPRouteHandler(
            litestar_path(route.path),
            http_method=HttpMethod(route.method),
            status_code=200,  # every answer sets its own
            name=route.operation,
            include_in_schema=False,
        )(endpoint)

    async def _handle(self, route: Operation, request: Request[Any, Any, Any]) -> "_Reply":
        body = await read_body(request)
        if body is None:
            return _Reply(400)  # nobody reads it
        key = request.headers.get("idempotency-key") if route.idempotent else None
        if key is None:
            return await self._threads.run(lambda: self._run(route, request, body))
        mark = (request.scope.get(BEARER), request.path_params.get("projectId"), key)
        if mark in self._running:
            detail = "a request with this Idempotency-Key is in progress: try again in a moment"
            return _refuse(problems.render(409, detail, headers={"Retry-After": "1"}))
        self._running.add(mark)
        try:
            return await self._threads.run(lambda: self._run(route, request, body))
        finally:
            self._running.discard(mark)

    def _run(self, route: Operation, request: Request[Any, Any, Any], body: bytes) -> "_Reply":
        bearer: Any = request.scope.get(BEARER)
        try:
            return _answer(route, self._service_for(bearer), request, body)
        except OmoideError as error:
            return _refuse(problems.from_error(error))
        except InvalidRequest as error:
            return _refuse(problems.from_request(error))


class _Reply:
    """The answer of a route, as an ASGI application. One of Litestar's responses takes longer than a short query."""

    def __init__(self, status: int, body: bytes = b"", media_type: bytes = b"", headers: Mapping[str, str] | None = None):
        self._status = status
        self._body = body
        self._headers = [
            (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in (headers or {}).items()
        ]
        if media_type:
            self._headers += (b"content-type", media_type), (b"content-length", b"%d" % len(body))
        elif status not in (204, 304):
            self._headers.append((b"content-length", b"0"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Send the answer."""
        await send({"type": "http.response.start", "status": self._status, "headers": self._headers})
        await send({"type": "http.response.body", "body": self._body, "more_body": False})


def _refuse(refusal: problems.Refusal) -> _Reply:
    return _Reply(refusal.status, refusal.body, problems.MEDIA_TYPE.encode(), refusal.headers)


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


def _answer(route: Operation, service: "Service", request: Request[Any, Any, Any], body: bytes) -> _Reply:
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
    answer = route.run(call)
    headers = {**answer.headers, "Idempotency-Replayed": "true"} if call.replayed else dict(answer.headers)
    return _respond(route, answer, headers, request.headers)


def _parameters(request: Request[Any, Any, Any]) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in given:
            raise InvalidRequest(f"{name}: the parameter is given more than once: give it once", {"parameter": name})
        given[name] = value
    return given


def _respond(route: Operation, answer: Answer, headers: dict[str, str], asked: Mapping[str, str]) -> _Reply:
    if answer.value is None:
        return _Reply(route.status, headers=headers)
    body = routing.encode(answer.value)
    if answer.version is not None:
        headers["ETag"] = routing.make_tag(answer.version, body)
        known = asked.get("if-none-match") if route.method == "GET" else None
        if known is not None and (known.strip() == "*" or headers["ETag"] in known):
            return _Reply(304, headers=headers)
    return _Reply(answer.status or route.status, body, b"application/json", headers)


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
