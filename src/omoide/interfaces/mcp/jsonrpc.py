"""JSON-RPC 2.0 as MCP uses it: parse and check one message, encode one answer."""

from typing import Any

import msgspec

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002  # versions of 2025 only; 2026-07-28 uses INVALID_PARAMS
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

Id = int | str


class RpcError(Exception):
    """A protocol error: the request itself is wrong. A tool that fails is not a protocol error."""

    def __init__(self, code: int, message: str, data: Any = None, id: Id | None = None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.id = id
        """The id of a message that is no valid request, if it could be read."""


class RpcRequest(msgspec.Struct, frozen=True):
    """A request, or a notification when it has no id."""

    method: str
    params: dict[str, Any]
    id: Id | None = None

    @property
    def meta(self) -> dict[str, Any]:
        """`params._meta`, empty if there is none."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()


def read(data: bytes | bytearray) -> RpcRequest | None:
    """Parse a request or notification. Return None for a response: this server sends no requests.

    Raise RpcError for anything else.
    """
    raw = _decode(data)
    if not isinstance(raw, dict):
        raise RpcError(INVALID_REQUEST, "a message must be one JSON object: MCP has no batches")
    id = raw.get("id")
    has_id = isinstance(id, (int, str)) and not isinstance(id, bool)
    request_id = id if has_id else None
    method, params = raw.get("method"), raw.get("params", {})
    if raw.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'a message must have "jsonrpc": "2.0"', id=request_id)
    if method is None and ("result" in raw or "error" in raw):
        return None
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "a message must have a method, a string", id=request_id)
    if "id" in raw and not has_id:
        raise RpcError(INVALID_REQUEST, "id must be a string or an integer")
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS if has_id else INVALID_REQUEST, "params must be an object", id=request_id)
    return RpcRequest(method, params, request_id)


def _decode(data: bytes | bytearray) -> Any:
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if b"\\ud" in data.lower():  # fallback: JavaScript may cut a surrogate pair (an emoji) in half
            repaired = _repair_surrogates(data)
            if repaired is not None:
                return repaired
        raise RpcError(PARSE_ERROR, f"not JSON: {error}") from error


def _repair_surrogates(data: bytes | bytearray) -> Any:
    """Parse the message with a ? for every lone surrogate. Return None if it is not JSON even then."""
    import json  # lazy: start-up: only for a message that msgspec cannot read

    try:
        return _decoder.decode(json.dumps(json.loads(data), ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError):  # fallback: the caller reports the first error
        return None


def result(id: Id | None, value: object) -> bytes:
    """Encode the result of a request."""
    return _encoder.encode({"jsonrpc": "2.0", "id": id, "result": value})


def failure(id: Id | None, error: RpcError) -> bytes:
    """Encode an error as the answer to a request."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return _encoder.encode({"jsonrpc": "2.0", "id": id, "error": body})


def notification(method: str, params: object) -> bytes:
    """Encode a notification."""
    return _encoder.encode({"jsonrpc": "2.0", "method": method, "params": params})
