"""JSON-RPC 2.0 as MCP uses it: one message in, checked; one message out, in bytes."""

from typing import Any

import msgspec

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002  # 2025 only; 2026 says INVALID_PARAMS
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

Id = int | str


class RpcError(Exception):
    """An answer that is an error of the protocol: the request itself was wrong. A tool that fails is not one."""

    def __init__(self, code: int, message: str, data: Any = None, id: Id | None = None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.id = id
        """Known when the message was too wrong to become a Request, but its id could be read."""


class Request(msgspec.Struct, frozen=True):
    """A request, or a notification when it has no id."""

    method: str
    params: dict[str, Any]
    id: Id | None = None

    @property
    def meta(self) -> dict[str, Any]:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()


def read(data: bytes | bytearray) -> Request | None:
    """The request or notification in these bytes; None for the answer to a question we never ask."""
    raw = _decode(data)
    if not isinstance(raw, dict):
        raise RpcError(INVALID_REQUEST, "one JSON object a message, please: batches are not part of MCP")
    id = raw.get("id")
    usable = isinstance(id, (int, str)) and not isinstance(id, bool)
    known = id if usable else None
    method, params = raw.get("method"), raw.get("params", {})
    if raw.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'a message needs "jsonrpc": "2.0"', id=known)
    if method is None and ("result" in raw or "error" in raw):
        return None
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "a message needs a method, which is a string", id=known)
    if "id" in raw and not usable:
        raise RpcError(INVALID_REQUEST, "an id is a string or a whole number")
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS if usable else INVALID_REQUEST, "params are an object", id=known)
    return Request(method, params, known)


def _decode(data: bytes | bytearray) -> Any:
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if b"\\ud" in data.lower():  # plan B: half of an emoji, as JavaScript cuts it, is no reason not to answer
            whole = _repair_surrogates(data)
            if whole is not None:
                return whole
        raise RpcError(PARSE_ERROR, f"not JSON: {error}") from error


def _repair_surrogates(data: bytes | bytearray) -> Any:
    """The message with a ? for every half of a surrogate pair; None when it is not JSON even so."""
    import json  # noqa: PLC0415 - msgspec reads all but these

    try:
        return _decoder.decode(json.dumps(json.loads(data), ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError):  # plan B has none of its own
        return None


def result(id: Id | None, value: object) -> bytes:
    return _encoder.encode({"jsonrpc": "2.0", "id": id, "result": value})


def failure(id: Id | None, error: RpcError) -> bytes:
    told: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        told["data"] = error.data
    return _encoder.encode({"jsonrpc": "2.0", "id": id, "error": told})


def notification(method: str, params: object) -> bytes:
    return _encoder.encode({"jsonrpc": "2.0", "method": method, "params": params})
