"""The protocol itself, in both eras: with a handshake (2025-06-18, 2025-11-25) and without (2026-07-28).

It knows methods, versions and shapes; what there is to call, read and ask for comes from an Offer.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Protocol

import msgspec

from omoide import __version__
from omoide.errors import Conflict, InvalidInput, NotAllowed, NotFound, OmoideError
from omoide.interfaces.mcp import message
from omoide.interfaces.mcp.call import Call, Cancelled
from omoide.interfaces.mcp.message import Request, RpcError

HANDSHAKE = ("2025-06-18", "2025-11-25")
STATELESS = ("2026-07-28",)

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
SERVER = "io.modelcontextprotocol/serverInfo"

_INFO = {"name": "omoide", "title": "omoide 思い出", "version": __version__}
_CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}
_STEADY_MS = 3_600_000
"""How long a client may keep what only a new server changes; what memories change is stale at once."""


class Offer(Protocol):
    """What a server has: tools to call, resources to read, prompts to ask for."""

    instructions: str

    def tools(self) -> Sequence[dict[str, Any]]: ...
    def call(self, name: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        """The result of a tool, also of one that failed; RpcError when there is no such tool."""

    def quick(self, name: str) -> bool:
        """Whether a call of this tool is done before anybody could wish to cancel it."""

    def rest(self) -> None:
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


def stateless(request: Request) -> bool:
    """Whether a message on a pipe is of the era without handshake: it says its version itself."""
    return request.method == "server/discover" or (request.method != "initialize" and VERSION in request.meta)


class Reply(NamedTuple):
    data: bytes
    code: int | None = None
    """Of the error, when it is one."""


def answered(offer: Offer, request: Request, call: Call, *, modern: bool) -> Reply | None:
    """The answer to a request; None when the client cancelled it."""
    reply: list[Reply] = []
    with _Accident(request, reply):
        try:
            value = _modern(offer, request, call) if modern else _result(offer, request, call, _LEGACY)
            call.check()
            reply.append(Reply(message.result(request.id, value)))
        except Cancelled:
            return None
        except RpcError as error:
            reply.append(refused(request, error))
        except NotFound as error:
            code = message.INVALID_PARAMS if modern else message.RESOURCE_NOT_FOUND
            reply.append(refused(request, RpcError(code, str(error), {"uri": request.params.get("uri")})))
        except OmoideError as error:
            theirs = isinstance(error, (InvalidInput, Conflict, NotAllowed))
            code = message.INVALID_PARAMS if theirs else message.INTERNAL_ERROR
            reply.append(refused(request, RpcError(code, str(error))))
    return reply[0]


def refused(request: Request, error: RpcError) -> Reply:
    return Reply(message.failure(request.id, error), error.code)


class _Accident:
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
        told = RpcError(message.INTERNAL_ERROR, f"omoide failed ({type(error).__name__}): its standard error says more")
        self._reply[:] = [refused(self._request, told)]
        return True


def checked_envelope(request: Request) -> None:
    """What every request of the stateless era carries about its client."""
    meta = request.params.get("_meta")
    missing = [key for key in (VERSION, CAPABILITIES) if not isinstance(meta, dict) or key not in meta]
    if missing:
        raise RpcError(message.INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
    if not isinstance(request.meta[VERSION], str) or not isinstance(request.meta[CAPABILITIES], dict):
        raise RpcError(message.INVALID_PARAMS, f"{VERSION} is a string, {CAPABILITIES} an object")


def checked_version(version: str, spoken: Sequence[str] = STATELESS) -> None:
    if version not in spoken:
        data = {"supported": list(spoken), "requested": version}
        raise RpcError(message.UNSUPPORTED_VERSION, f"MCP {version} is not spoken here", data)


def _modern(offer: Offer, request: Request, call: Call) -> dict[str, Any]:
    checked_envelope(request)
    checked_version(request.meta[VERSION])
    value = _result(offer, request, call, _MODERN)
    value |= {"resultType": "complete", "_meta": {SERVER: _INFO}}
    kept = _KEPT.get(request.method)
    if kept is not None:
        value |= {"ttlMs": kept, "cacheScope": "private"}
    return value


Method = Callable[[Offer, dict[str, Any], Call], dict[str, Any]]


def _result(offer: Offer, request: Request, call: Call, methods: Mapping[str, Method]) -> dict[str, Any]:
    method = methods.get(request.method)
    if method is None:
        raise RpcError(message.METHOD_NOT_FOUND, f"there is no method {request.method!s:.100}")
    try:
        return method(offer, request.params, call)
    except msgspec.ValidationError as error:
        raise RpcError(message.INVALID_PARAMS, f"{request.method}: {error}") from error


def _initialize(offer: Offer, params: dict[str, Any], _: Call) -> dict[str, Any]:
    asked = msgspec.convert(params, _Initialize).protocolVersion
    return {
        "protocolVersion": asked if asked in HANDSHAKE else HANDSHAKE[-1],
        "capabilities": _CAPABILITIES,
        "serverInfo": _INFO,
        "instructions": offer.instructions,
    }


def _discover(offer: Offer, _: dict[str, Any], __: Call) -> dict[str, Any]:
    return {
        "supportedVersions": list(STATELESS),
        "capabilities": _CAPABILITIES,
        "instructions": offer.instructions,
    }


def _tools(offer: Offer, params: dict[str, Any], _: Call) -> dict[str, Any]:
    _only_page(params)
    return {"tools": offer.tools()}


def _call(offer: Offer, params: dict[str, Any], call: Call) -> dict[str, Any]:
    asked = msgspec.convert(params, _CallTool)
    return offer.call(asked.name, asked.arguments or {}, call)


def _resources(offer: Offer, params: dict[str, Any], _: Call) -> dict[str, Any]:
    cursor = msgspec.convert(params, _Page).cursor
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise RpcError(message.INVALID_PARAMS, "this cursor is not one of ours: begin without one")
    page, after = offer.resources(int(cursor or 0))
    return {"resources": page} if after is None else {"resources": page, "nextCursor": str(after)}


def _templates(offer: Offer, params: dict[str, Any], _: Call) -> dict[str, Any]:
    _only_page(params)
    return {"resourceTemplates": offer.templates()}


def _read(offer: Offer, params: dict[str, Any], _: Call) -> dict[str, Any]:
    return {"contents": offer.read(msgspec.convert(params, _Read).uri)}


def _prompts(offer: Offer, params: dict[str, Any], _: Call) -> dict[str, Any]:
    _only_page(params)
    return {"prompts": offer.prompts()}


def _prompt(offer: Offer, params: dict[str, Any], _: Call) -> dict[str, Any]:
    asked = msgspec.convert(params, _GetPrompt)
    return offer.prompt(asked.name, asked.arguments or {})


def _complete(offer: Offer, params: dict[str, Any], _: Call) -> dict[str, Any]:
    asked = msgspec.convert(params, _Complete)
    values = offer.complete(asked.ref, asked.argument.name, asked.argument.value, asked.context.arguments)
    return {"completion": {"values": values[:100], "total": len(values), "hasMore": len(values) > 100}}


def _only_page(params: dict[str, Any]) -> None:
    if msgspec.convert(params, _Page).cursor is not None:
        raise RpcError(message.INVALID_PARAMS, "there is only one page: ask without a cursor")


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

_KEPT = {
    "server/discover": _STEADY_MS,
    "tools/list": _STEADY_MS,
    "prompts/list": _STEADY_MS,
    "resources/templates/list": _STEADY_MS,
    "resources/list": 0,
    "resources/read": 0,
}
