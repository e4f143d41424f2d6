"""The methods of MCP, for versions with a handshake (2025-06-18, 2025-11-25) and for the stateless one (2026-07-28).

This module knows methods, versions and parameters; the tools, resources and prompts come from a `Dispatch`.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from omoide import __version__
from omoide.errors import NotFound, OmoideError
from omoide.interfaces.errors import codes_for
from omoide.interfaces.mcp import jsonrpc
from omoide.interfaces.mcp.jsonrpc import RpcError, RpcRequest
from omoide.interfaces.mcp.request import Cancelled, RequestContext

HANDSHAKE = ("2025-06-18", "2025-11-25")
STATELESS = ("2026-07-28",)

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT = "io.modelcontextprotocol/clientInfo"
SERVER = "io.modelcontextprotocol/serverInfo"

_INFO = {"name": "omoide", "title": "omoide 思い出", "version": __version__}
_CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}
_STATIC_TTL_MS = 3_600_000
"""How long a client may cache what only another version of the server changes."""


class Dispatch(Protocol):
    """What a server offers: tools to call, resources to read, prompts to get."""

    instructions: str
    """What a model should know about this server before it calls anything."""
    client: str
    """How the client has introduced itself; empty as long as it has not."""

    def tools(self) -> Sequence[dict[str, Any]]:
        """List the tools with their schemas."""

    def call(self, name: str, arguments: dict[str, Any], call: RequestContext) -> dict[str, Any]:
        """Call a tool. A tool that fails returns a result too; raise RpcError if there is no such tool."""

    def is_quick(self, name: str) -> bool:
        """Return True if a call of this tool is too short to be worth cancelling."""

    def flush(self) -> None:
        """Run deferred writes. Called when no request is waiting."""

    def resources(self, start: int) -> tuple[Sequence[dict[str, Any]], int | None]:
        """List one page of resources from `start` on, with the start of the next page, or None."""

    def templates(self) -> Sequence[dict[str, Any]]:
        """List the templates of resource URIs."""

    def read(self, uri: str) -> Sequence[dict[str, Any]]:
        """Read a resource. Raise NotFound if there is none at this URI."""

    def prompts(self) -> Sequence[dict[str, Any]]:
        """List the prompts with their arguments."""

    def prompt(self, name: str, arguments: Mapping[str, str]) -> dict[str, Any]:
        """Render a prompt."""

    def complete(self, ref: Mapping[str, str], name: str, prefix: str, known: Mapping[str, str]) -> Sequence[str]:
        """List values for the argument `name` that start with `prefix`; `known` are the arguments given so far."""


class _Initialize(msgspec.Struct):
    protocolVersion: str  # noqa: N815 - the protocol's spelling
    clientInfo: dict[str, Any] = {}  # noqa: N815 - the same


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


def is_stateless(request: RpcRequest) -> bool:
    """Return True for a request of the stateless version: it carries its protocol version itself."""
    return request.method == "server/discover" or (request.method != "initialize" and VERSION in request.meta)


_HTTP_STATUS = {
    jsonrpc.PARSE_ERROR: 400,
    jsonrpc.INVALID_REQUEST: 400,
    jsonrpc.INVALID_PARAMS: 400,
    jsonrpc.HEADER_MISMATCH: 400,
    jsonrpc.MISSING_CAPABILITY: 400,
    jsonrpc.UNSUPPORTED_VERSION: 400,
    jsonrpc.METHOD_NOT_FOUND: 404,
}
"""HTTP statuses of the protocol's own errors; those of omoide's errors are in `interfaces.errors`."""


class Reply(NamedTuple):
    """The answer to a request, encoded."""

    data: bytes
    http_status: int = 200
    """The status over HTTP in the stateless version; with a handshake, every answer has status 200."""


def answer(dispatch: Dispatch, request: RpcRequest, call: RequestContext, *, stateless: bool) -> Reply | None:
    """Answer a request. Return None if the client cancelled it."""
    try:
        return _answer(dispatch, request, call, stateless=stateless)
    except Exception as error:  # noqa: BLE001 - a bug in one answer must not end the server for its other clients
        return _internal_error(request, error)


def _answer(dispatch: Dispatch, request: RpcRequest, call: RequestContext, *, stateless: bool) -> Reply | None:
    try:
        if stateless:
            value = _stateless_result(dispatch, request, call)
        else:
            value = _result(dispatch, request, call, _HANDSHAKE_METHODS)
        call.check()
        return Reply(jsonrpc.result(request.id, value))
    except Cancelled:  # the client wants no answer any more
        return None
    except RpcError as error:
        return _error_reply(request, error, _HTTP_STATUS.get(error.code, 200))
    except OmoideError as error:
        codes = codes_for(error)
        code = codes.json_rpc if stateless else codes.json_rpc_handshake
        data = {"uri": request.params.get("uri")} if isinstance(error, NotFound) else None
        return _error_reply(request, RpcError(code, str(error), data), codes.http_status)


def _error_reply(request: RpcRequest, error: RpcError, http_status: int) -> Reply:
    return Reply(jsonrpc.failure(request.id, error), http_status)


def _internal_error(request: RpcRequest, error: Exception) -> Reply:
    """Write the traceback to standard error, and tell the client that the server has a bug."""
    import traceback  # lazy: only for a bug

    traceback.print_exception(error, file=sys.stderr)
    message = f"omoide failed ({type(error).__name__}): see its standard error for the traceback"
    return _error_reply(request, RpcError(jsonrpc.INTERNAL_ERROR, message), 200)


def check_envelope(request: RpcRequest) -> None:
    """Raise RpcError unless the request carries what the stateless version requires about its client."""
    meta = request.params.get("_meta")
    missing = [key for key in (VERSION, CAPABILITIES) if not isinstance(meta, dict) or key not in meta]
    if missing:
        raise RpcError(jsonrpc.INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
    if not isinstance(request.meta[VERSION], str) or not isinstance(request.meta[CAPABILITIES], dict):
        raise RpcError(jsonrpc.INVALID_PARAMS, f"{VERSION} must be a string and {CAPABILITIES} an object")


def check_version(version: str, supported: Sequence[str] = STATELESS) -> None:
    """Raise RpcError if this version of MCP is not supported."""
    if version not in supported:
        data = {"supported": list(supported), "requested": version}
        message = f"MCP version {version!s:.100} is not supported: use {' or '.join(supported)}"
        raise RpcError(jsonrpc.UNSUPPORTED_VERSION, message, data)


def _stateless_result(dispatch: Dispatch, request: RpcRequest, call: RequestContext) -> dict[str, Any]:
    check_envelope(request)
    check_version(request.meta[VERSION])
    dispatch.client = _name_of(request.meta.get(CLIENT))
    value = _result(dispatch, request, call, _STATELESS_METHODS)
    value |= {"resultType": "complete", "_meta": {SERVER: _INFO}}
    ttl = _CACHE_TTL_MS.get(request.method)
    if ttl is not None:
        value |= {"ttlMs": ttl, "cacheScope": "private"}
    return value


Method = Callable[[Dispatch, dict[str, Any], RequestContext], dict[str, Any]]


def _result(dispatch: Dispatch, request: RpcRequest, call: RequestContext, methods: Mapping[str, Method]) -> dict[str, Any]:
    method = methods.get(request.method)
    if method is None:
        raise RpcError(jsonrpc.METHOD_NOT_FOUND, f"there is no method {request.method!s:.100}")
    try:
        return method(dispatch, request.params, call)
    except msgspec.ValidationError as error:
        raise RpcError(jsonrpc.INVALID_PARAMS, f"{request.method}: {error}") from error


def _initialize(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    initialize = msgspec.convert(params, _Initialize)
    requested = initialize.protocolVersion
    dispatch.client = _name_of(initialize.clientInfo)
    return {
        "protocolVersion": requested if requested in HANDSHAKE else HANDSHAKE[-1],
        "capabilities": _CAPABILITIES,
        "serverInfo": _INFO,
        "instructions": dispatch.instructions,
    }


def _name_of(client: Any) -> str:
    """The name in what a client says of itself; empty if it says none."""
    return str(client.get("name", "")) if isinstance(client, dict) else ""


def _discover(dispatch: Dispatch, _: dict[str, Any], __: RequestContext) -> dict[str, Any]:
    return {
        "supportedVersions": list(STATELESS),
        "capabilities": _CAPABILITIES,
        "instructions": dispatch.instructions,
    }


def _tools(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    _require_first_page(params)
    return {"tools": dispatch.tools()}


def _call(dispatch: Dispatch, params: dict[str, Any], call: RequestContext) -> dict[str, Any]:
    arguments = msgspec.convert(params, _CallTool)
    return dispatch.call(arguments.name, arguments.arguments or {}, call)


def _resources(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    cursor = msgspec.convert(params, _Page).cursor
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise RpcError(jsonrpc.INVALID_PARAMS, f"unknown cursor {cursor!s:.100}: ask for the first page, without a cursor")
    page, next_start = dispatch.resources(int(cursor or 0))
    return {"resources": page} if next_start is None else {"resources": page, "nextCursor": str(next_start)}


def _templates(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    _require_first_page(params)
    return {"resourceTemplates": dispatch.templates()}


def _read(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    return {"contents": dispatch.read(msgspec.convert(params, _Read).uri)}


def _prompts(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    _require_first_page(params)
    return {"prompts": dispatch.prompts()}


def _prompt(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    arguments = msgspec.convert(params, _GetPrompt)
    return dispatch.prompt(arguments.name, arguments.arguments or {})


def _complete(dispatch: Dispatch, params: dict[str, Any], _: RequestContext) -> dict[str, Any]:
    arguments = msgspec.convert(params, _Complete)
    argument = arguments.argument
    values = dispatch.complete(arguments.ref, argument.name, argument.value, arguments.context.arguments)
    return {"completion": {"values": values[:100], "total": len(values), "hasMore": len(values) > 100}}


def _require_first_page(params: dict[str, Any]) -> None:
    if msgspec.convert(params, _Page).cursor is not None:
        raise RpcError(jsonrpc.INVALID_PARAMS, "there is only one page: omit the cursor")


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
_HANDSHAKE_METHODS: dict[str, Method] = {**_SHARED, "initialize": _initialize, "ping": lambda *_: {}}
_STATELESS_METHODS: dict[str, Method] = {**_SHARED, "server/discover": _discover}

_CACHE_TTL_MS = {
    "server/discover": _STATIC_TTL_MS,
    "tools/list": _STATIC_TTL_MS,
    "prompts/list": _STATIC_TTL_MS,
    "resources/templates/list": _STATIC_TTL_MS,
    "resources/list": 0,
    "resources/read": 0,
}
