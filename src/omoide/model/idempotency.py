"""Requests that must not be done twice: a key that the caller chooses, and what the request did."""

from datetime import datetime

import msgspec


class IdempotencyRecord(msgspec.Struct, frozen=True):
    """What a request with an idempotency key did. It holds no text of a memory, so that a purge leaves nothing here."""

    project: str
    """The path of the project that the request was about; empty: none, or the global layer."""
    key: str
    """A hash of who asked and of the key."""
    digest: str
    """A hash of the request: the same key must come with the same request."""
    result: dict[str, str | int | bool]
    """What it returned, by reference: a memory's number and version, a project's number, a session's name."""
    at: datetime
