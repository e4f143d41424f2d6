"""The protocol itself, in both eras: with a handshake (2025-06-18, 2025-11-25) and without (2026-07-28).

It knows methods, versions and shapes; what there is to call, read and ask for comes from an Offer.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Protocol

import msgspec

from omoide import __version__
from omoide.errors import NotFound, OmoideError
from omoide.interfaces.errors import codes_for
from omoide.interfaces.mcp import jsonrpc
from omoide.interfaces.mcp.jsonrpc import Request, RpcError
from omoide.interfaces.mcp.request import Cancelled, RequestContext

HANDSHAKE = ("2025-06-18", "2025-11-25")
STATELESS = ("2026-07-28",)

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
SERVER = "io.modelcontextprotocol/serverInfo"

_INFO = {"name": "omoide", "title": "omoide 思い出", "version": __version__}
_CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}
_STEADY_MS = 3_600_000
"""How long a client may keep what only a new server changes; what memories change is stale at once."""


class Dispatch(Protocol):
    """What a server has: tools to call, resources to read, prompts to ask for."""

    instructions: str

    def tools(self) -> Sequence[dict[str, Any]]: ...
    def call(self, name: str, arguments: dict[str, Any], call: RequestContext) -> dict[str, Any]:
        """The result of a tool, also of one that failed; RpcError when there is no such tool."""

    def is_quick(self, name: str) -> bool:
        """Whether a call of this tool is done before anybody could wish to cancel it."""

    def flush(self) -> None:
        """Called when nobody has asked for a moment."""

    def resources(self, start: int) -> tuple[Sequence[dict[str, Any]], int | None]:
        """A page of them from `start` on, and where the next page starts."""

    def templates(self) -> Sequence[dict[str, Any]]: ...
    def read(self, uri: str) -> Sequence[dict[str, Any]]:
        """NotFound when there is nothing there."""

    def prompts(self) -> Sequence[dict[str, Any]]: ...
    def prompt(self, name: str, arguments: Mapping[str, str]) -> dict[str, Any]: ...
    def complete(self, ref: Mapping[str, str], name: str, begun: str, known: Mapping[str, str]) -> Sequence[str]: ...


class _Initialize(msgspec.Struct):
    protocolVersion: str  # noqa: N815 - the protocol's spelling


class _Page(msgspec.Struct):
    cursor: str | None = None


class _CallTool(msgspec.Struct):
    name: str
    arguments: dict[str, Any] | None = None


class _Read(msgspec.Struct):
    uri: str


class _GetPrompt(msgspec.Struct):
    name: str
    arguments: dict[str, str] | None = None


class _Argument(msgspec.Struct):
    name: str
    value: str


class _Context(msgspec.Struct, frozen=True):
    arguments: dict[str, str] = {}


class _Complete(msgspec.Struct):
    ref: dict[str, str]
    argument: _Argument
    context: _Context = _Context()


def is_stateless(request: Request) -> bool:
    """Whether a message on a pipe is of the era without handshake: it says its version itself."""
    return request.method == "server/discover" or (request.method != "initialize" and VERSION in request.meta)


_STATUS = {
    jsonrpc.PARSE_ERROR: 400,
    jsonrpc.INVALID_REQUEST: 400,
    jsonrpc.INVALID_PARAMS: 400,
    jsonrpc.HEADER_MISMATCH: 400,
    jsonrpc.MISSING_CAPABILITY: 400,
    jsonrpc.UNSUPPORTED_VERSION: 400,
    jsonrpc.METHOD_NOT_FOUND: 404,
}
"""HTTP statuses of the protocol's own errors; those of omoide are in `interfaces.errors`."""


class Reply(NamedTuple):
    data: bytes
    code: int | None = None
    """Of the error, when it is one."""
    status: int = 200
    """The HTTP status in the stateless era; before, an error of the protocol is a regular response."""


def answer(dispatch: Dispatch, request: Request, call: RequestContext, *, modern: bool) -> Reply | None:
    """The answer to a request; None when the client cancelled it."""
    reply: list[Reply] = []
    with _InternalErrors(request, reply):
        try:
            value = _answer_stateless(dispatch, request, call) if modern else _result(dispatch, request, call, _LEGACY)
            call.check()
            reply.append(Reply(jsonrpc.result(request.id, value)))
        except Cancelled:
            return None
        except RpcError as error:
            reply.append(refuse(request, error))
        except OmoideError as error:
            codes = codes_for(error)
            code = codes.json_rpc if modern else codes.json_rpc_handshake
            data = {"uri": request.params.get("uri")} if isinstance(error, NotFound) else None
            failure = jsonrpc.failure(request.id, RpcError(code, str(error), data))
            reply.append(Reply(failure, code, codes.http_status))
    return reply[0]


def refuse(request: Request, error: RpcError) -> Reply:
    return Reply(jsonrpc.failure(request.id, error), error.code, _STATUS.get(error.code, 200))


class _InternalErrors:
    """A bug in one answer: the client is told, standard error gets the traceback, and the server serves the next."""

    def __init__(self, request: Request, reply: list[Reply]):
        self._request = request
        self._reply = reply

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> bool:
        if not isinstance(error, Exception):
            return False
        import traceback  # noqa: PLC0415 - only for a bug

        traceback.print_exception(error, file=sys.stderr)
        told = RpcError(jsonrpc.INTERNAL_ERROR, f"omoide failed ({type(error).__name__}): its standard error says more")
        self._reply[:] = [refuse(self._request, told)]
        return True


def check_envelope(request: Request) -> None:
    """What every request of the stateless era carries about its client."""
    meta = request.params.get("_meta")
    missing = [key for key in (VERSION, CAPABILITIES) if not isinstance(meta, dict) or key not in meta]
    if missing:
        raise RpcError(jsonrpc.INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
    if not isinstance(request.meta[VERSION], str) or not isinstance(request.meta[CAPABILITIES], dict):
        raise RpcError(jsonrpc.INVALID_PARAMS, f"{VERSION} is a string, {CAPABILITIES} an object")


def check_version(version: str, spoken: Sequence[str] = STATELESS) -> None:
    if version not in spoken:
        data = {"supported": list(spoken), "requested": version}
        raise RpcError(jsonrpc.UNSUPPORTED_VERSION, f"MCP {version} is not spoken here", data)


def _answer_stateless(dispatch: Dispatch, request: Request, call: RequestContext) -> dict[str, Any]:
    check_envelope(request)
    check_version(request.meta[VERSION])
    value = _result(dispatch, request, call, _MODERN)
    value |= {"resultType": "complete", "_meta": {SERVER: _INFO}}
    kept = _ERRORS_KEPT.get(request.method)
    if kept is not None:
        value |= {"ttlMs": kept, "cacheScope": "private"}
    return value


Method = Callable[[Dispatch, dict[str, Any], RequestContext], dict[str, Any]]


def _result(dispatch: Dispatch, request: Request, call: RequestContext, methods: Mapping[str, Method]) -> dict[str, Any]:
    method = methods.get(request.method)
    if method is None:
        raise RpcError(jsonrpc.METHOD_NOT_FOUND, f"there is no method {request.method!s:.100}")
    try:
        return method(dispatch, request.params, call)
    except msgspec.ValidationError as error:
        raise RpcError(jsonrpc.INVALID_PARAMS, f"{request.method}: {error}") from error


def _initialize(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    asked = msgspec.convert(params, _Initialize).protocolVersion
    return {
        "protocolVersion": asked if asked in HANDSHAKE else HANDSHAKE[-1],
        "capabilities": _CAPABILITIES,
        "serverInfo": _INFO,
        "instructions": dispatch.instructions,
    }


def _discover(dispatch: Dispatch, _: dict[str, Any], __: RequestContext) -> dict[str, Any]:
    return {
        "supportedVersions": list(STATELESS),
        "capabilities": _CAPABILITIES,
        "instructions": dispatch.instructions,
    }


def _tools(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    _only_page(params)
    return {"tools": dispatch.tools()}


def _call(dispatch: Dispatch, params: dict[str, Any], call: RequestContext) -> dict[str, Any]:
    asked = msgspec.convert(params, _CallTool)
    return dispatch.call(asked.name, asked.arguments or {}, call)


def _resources(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    cursor = msgspec.convert(params, _Page).cursor
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise RpcError(jsonrpc.INVALID_PARAMS, "this cursor is not one of ours: begin without one")
    page, after = dispatch.resources(int(cursor or 0))
    return {"resources": page} if after is None else {"resources": page, "nextCursor": str(after)}


def _templates(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    _only_page(params)
    return {"resourceTemplates": dispatch.templates()}


def _read(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    return {"contents": dispatch.read(msgspec.convert(params, _Read).uri)}


def _prompts(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    _only_page(params)
    return {"prompts": dispatch.prompts()}


def _prompt(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    asked = msgspec.convert(params, _GetPrompt)
    return dispatch.prompt(asked.name, asked.arguments or {})


def _complete(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    asked = msgspec.convert(params, _Complete)
    values = dispatch.complete(asked.ref, asked.argument.name, asked.argument.value, asked.context.arguments)
    return {"completion": {"values": values[:100], "total": len(values), "hasMore": len(values) > 100}}


def _only_page(params: dict[str, Any]) -> None:
    if msgspec.convert(params, _Page).cursor is not None:
        raise RpcError(jsonrpc.INVALID_PARAMS, "there is only one page: ask without a cursor")


_SHARED: dict[str, Method] = {
    "tools/list": _tools,
    "tools/call": _call,
    "resources/list": _resources,
    "resources/templates/list": _templates,
    "resources/read": _read,
    "prompts/list": _prompts,
    "prompts/get": _prompt,
    "completion/complete": _complete,
}
_LEGACY: dict[str, Method] = {**_SHARED, "initialize": _initialize, "ping": lambda *_: {}}
_MODERN: dict[str, Method] = {**_SHARED, "server/discover": _discover}

_ERRORS_KEPT = {
    "server/discover": _STEADY_MS,
    "tools/list": _STEADY_MS,
    "prompts/list": _STEADY_MS,
    "resources/templates/list": _STEADY_MS,
    "resources/list": 0,
    "resources/read": 0,
}
