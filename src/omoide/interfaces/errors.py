"""One table from error to exit code, HTTP status and JSON-RPC code, for every interface."""

from typing import NamedTuple

from omoide import errors
from omoide.errors import OmoideError

_INVALID_PARAMS = -32602
_INTERNAL_ERROR = -32603
_RESOURCE_NOT_FOUND = -32002


class ErrorCodes(NamedTuple):
    """How the interfaces report one class of errors."""

    exit_code: int
    """Of the command line: 2 if the request is wrong, 1 if it is right but cannot be carried out."""
    http_status: int
    """Of MCP over HTTP since 2026-07-28: 400 if the client can correct the request. Other errors are a regular response."""
    json_rpc: int
    """Of MCP since 2026-07-28."""
    json_rpc_handshake: int
    """Of the MCP versions before, which have a code of their own for a missing resource."""


_INVALID = ErrorCodes(2, 400, _INVALID_PARAMS, _INVALID_PARAMS)
_MISSING = ErrorCodes(1, 400, _INVALID_PARAMS, _RESOURCE_NOT_FOUND)
_CONFLICT = ErrorCodes(1, 400, _INVALID_PARAMS, _INVALID_PARAMS)
_FAILED = ErrorCodes(1, 200, _INTERNAL_ERROR, _INTERNAL_ERROR)

ERROR_CODES: dict[type[OmoideError], ErrorCodes] = {
    errors.OmoideError: _FAILED,
    errors.InvalidInput: _INVALID,
    errors.SecretFound: _INVALID,
    errors.Unreadable: _INVALID,
    errors.NotFound: _MISSING,
    errors.Conflict: _CONFLICT,
    errors.Changed: _CONFLICT,
    errors.NotAllowed: _INVALID,
    errors.Unwritable: _FAILED,
    errors.EmbedderUnavailable: _FAILED,
    errors.ModelUnavailable: _FAILED,
    errors.BudgetSpent: _FAILED,
    errors.StoreError: _FAILED,
    errors.StoreBusy: _FAILED,
    errors.StoreDamaged: _FAILED,
    errors.StoreFull: _FAILED,
    errors.StoreReadOnly: _FAILED,
    errors.StoreReplaced: _FAILED,
    errors.StoreTooNew: _FAILED,
}


def codes_for(error: OmoideError) -> ErrorCodes:
    """Return the codes of the error's class, or of the nearest base class that has a row."""
    return next(ERROR_CODES[base] for base in type(error).__mro__ if base in ERROR_CODES)
