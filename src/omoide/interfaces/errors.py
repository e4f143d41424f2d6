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
    rest_status: int
    """Of REST."""
    retry_after: int = 0
    """Seconds after which REST tells a client to try again; 0: that is no remedy."""


def _invalid(rest_status: int = 422) -> ErrorCodes:
    return ErrorCodes(2, 400, _INVALID_PARAMS, _INVALID_PARAMS, rest_status)


def _conflict(rest_status: int = 409) -> ErrorCodes:
    return ErrorCodes(1, 400, _INVALID_PARAMS, _INVALID_PARAMS, rest_status)


def _failure(rest_status: int = 500) -> ErrorCodes:
    return ErrorCodes(1, 200, _INTERNAL_ERROR, _INTERNAL_ERROR, rest_status)


ERROR_CODES: dict[type[OmoideError], ErrorCodes] = {
    errors.OmoideError: _failure(),
    errors.InvalidInput: _invalid(),
    errors.SecretFound: _invalid(),
    errors.Unreadable: _invalid(),
    errors.NotFound: ErrorCodes(1, 400, _INVALID_PARAMS, _RESOURCE_NOT_FOUND, 404),
    errors.Conflict: _conflict(),
    errors.Changed: _conflict(412),
    errors.AlreadyDone: _conflict(),
    errors.NotAllowed: _invalid(403),
    errors.Unwritable: _failure(),
    errors.EmbedderUnavailable: _failure(503),
    errors.ModelUnavailable: _failure(503),
    errors.BudgetSpent: _failure(503),
    errors.StoreError: _failure(503),
    errors.StoreBusy: _failure(503)._replace(retry_after=1),
    errors.StoreDamaged: _failure(503),
    errors.StoreFull: _failure(507),
    errors.StoreReadOnly: _failure(503),
    errors.StoreReplaced: _failure(503),
    errors.StoreTooNew: _failure(503),
}


def codes_for(error: OmoideError) -> ErrorCodes:
    """Return the codes of the error's class, or of the nearest base class that has a row."""
    return next(ERROR_CODES[base] for base in type(error).__mro__ if base in ERROR_CODES)
