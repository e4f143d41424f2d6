"""Cursors of pages: where a list goes on, as an opaque text."""

import base64
import binascii
import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from omoide.interfaces.rest.problems import InvalidRequest
from omoide.model import Memory

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 253_402_300_799_999_999
"""The last microsecond of the year 9999."""


def encode(last: Memory) -> str:
    """Return the cursor of the page after the one that ends with this memory."""
    at = (last.updated_at - _EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(struct.pack(">QQ", at, last.number)).decode().rstrip("=")


def decode(cursor: str) -> tuple[datetime, int]:
    """Return the moment and the number of the last memory of the page before. Raise InvalidRequest if it is not a cursor."""
    try:
        at, number = struct.unpack(">QQ", base64.b64decode(cursor + "==", altchars=b"-_", validate=True))
    except (binascii.Error, struct.error, ValueError):  # refused below
        at = number = _LATEST + 1
    if at > _LATEST or number > 2**62:
        raise InvalidRequest("cursor: this is not a `nextCursor` of a page", {"parameter": "cursor"})
    return _EPOCH + timedelta(microseconds=at), number


def link(path: str, parameters: Mapping[str, str | None], cursor: str) -> dict[str, str]:
    """Return the header that leads to the next page."""
    query = urlencode({**{name: value for name, value in parameters.items() if value is not None}, "cursor": cursor})
    return {"Link": f'<{path}?{query}>; rel="next"'}
