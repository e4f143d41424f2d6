"""One MCP request over streamable HTTP, whichever server has read it."""

import base64
import binascii
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import parse_qs

from omoide.interfaces.http.messages import HttpError, RequestHead, accepts
from omoide.interfaces.http.tokens import Bearer
from omoide.interfaces.mcp import jsonrpc, protocol
from omoide.interfaces.mcp.jsonrpc import RpcError, RpcRequest
from omoide.interfaces.mcp.protocol import Dispatch
from omoide.interfaces.mcp.request import RequestContext

_NAME_PARAMETERS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that the header Mcp-Name repeats, by method."""
_SESSION = "Mcp-Session-Id"

DispatchFor = Callable[[Bearer, str, str], Dispatch]
"""Return what the bearer of a token is offered in the project and the session that the URL names."""


class McpResponse(NamedTuple):
    """The answer to a request."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


def check_head(head: RequestHead) -> None:
    """Raise HttpError if this is no request for an MCP server."""
    if head.verb != "POST":
        raise HttpError(405, f"use POST, not {head.verb!s:.20}: this server keeps no streams and no sessions", Allow="POST")
    content_type = (head.get("content-type") or "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise HttpError(415, f"Content-Type must be application/json, got {content_type!r:.100}")
    if not accepts(head, "application/json"):
        raise HttpError(406, "Accept must allow application/json: answers are that or text/event-stream")


def refusal_body(error: HttpError) -> bytes:
    """Return the body of the answer to a request that is refused before it is read as JSON-RPC."""
    return jsonrpc.failure(None, RpcError(jsonrpc.INVALID_REQUEST, error.why))


class Endpoint:
    """Answers requests, and cancels those in progress."""

    def __init__(self, dispatch_for: DispatchFor):
        self._dispatch_for = dispatch_for
        self._running: dict[tuple[Bearer, str, int | str], RequestContext] = {}
        """The requests in progress of versions with a handshake, by bearer, session and id."""

    def respond(
        self,
        head: RequestHead,
        body: bytes,
        bearer: Bearer,
        send: Callable[[bytes], None],
        is_client_gone: Callable[[], bool],
    ) -> McpResponse:
        """Answer a request.

        `send` sends a notification before the answer; `is_client_gone` says whether nobody waits for it any more. Raise
        ConnectionAbortedError for a request that was cancelled.
        """
        try:
            request = jsonrpc.read(body)
        except RpcError as error:
            return McpResponse(400, jsonrpc.failure(error.id, error))
        if request is None:
            return McpResponse(202)
        stateless = head.get("mcp-protocol-version") in protocol.STATELESS or protocol.VERSION in request.meta
        session = head.get(_SESSION.lower())
        try:
            _check_protocol(head, request, stateless=stateless)
        except RpcError as error:
            return McpResponse(400, jsonrpc.failure(request.id, error))
        if request.id is None:
            self._handle_notification(request, bearer, session)
            return McpResponse(202)
        progress = send if accepts(head, "text/event-stream") else None
        call = RequestContext(request.meta, progress, is_client_gone if stateless else lambda: False)
        dispatch = self._dispatch(bearer, head.query)
        with self._cancellable(call, (bearer, session, request.id) if session and not stateless else None):
            reply = protocol.answer(dispatch, request, call, stateless=stateless)
        if reply is None:
            raise ConnectionAbortedError
        headers = ((_SESSION, secrets.token_urlsafe(16)),) if request.method == "initialize" else ()
        return McpResponse(reply.http_status if stateless else 200, reply.data, headers)

    def _dispatch(self, bearer: Bearer, query: str) -> Dispatch:
        """Return what the bearer is offered in the project and session of the URL's query."""
        parameters = parse_qs(query)
        return self._dispatch_for(bearer, parameters.get("project", [""])[0], parameters.get("session", [""])[0])

    @contextmanager
    def _cancellable(self, call: RequestContext, key: tuple[Bearer, str, int | str] | None) -> Iterator[None]:
        if key is not None:
            self._running[key] = call
        try:
            yield
        finally:
            if key is not None:
                self._running.pop(key, None)

    def _handle_notification(self, notification: RpcRequest, bearer: Bearer, session: str | None) -> None:
        """Cancel a request. With a handshake, a client cancels by a notification with its session and the request's id."""
        if notification.method == "notifications/cancelled" and session:
            id = notification.params.get("requestId")
            if isinstance(id, (int, str)) and (call := self._running.get((bearer, session, id))):
                call.cancelled = True


def _check_protocol(head: RequestHead, request: RpcRequest, *, stateless: bool) -> None:
    """Raise RpcError for an unsupported version, or a stateless request without its envelope and headers."""
    version = head.get("mcp-protocol-version")
    if not stateless and version is not None:
        protocol.check_version(version, (*protocol.HANDSHAKE, *protocol.STATELESS))
    if stateless and request.id is not None:
        protocol.check_envelope(request)
        _check_headers(head, request)


def _check_headers(head: RequestHead, request: RpcRequest) -> None:
    """Raise RpcError unless the headers that proxies route by repeat what the body says."""
    expected = {"mcp-protocol-version": request.meta[protocol.VERSION], "mcp-method": request.method}
    name = request.params.get(_NAME_PARAMETERS.get(request.method, ""))
    if name is not None:
        expected["mcp-name"] = name
    for header, value in expected.items():
        if head.count(header) != 1 or _decode_header(head.get(header) or "") != value:
            raise RpcError(jsonrpc.HEADER_MISMATCH, f"header {header} must be there once and repeat the body's value")


def _decode_header(value: str) -> str | None:
    """Decode a header's value: what is not ASCII comes as =?base64?…?=. Return None if it is malformed."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):  # the answer of this function
        return None
