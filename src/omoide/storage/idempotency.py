"""What a store promises about requests that must not be done twice."""

from datetime import datetime
from typing import Protocol

from omoide.model import IdempotencyRecord


class IdempotencyReader(Protocol):
    """Read what requests with an idempotency key did."""

    def idempotency_record(self, project: str, key: str) -> IdempotencyRecord | None:
        """Return the record of a project with this key; None if there is none."""


class IdempotencyWriter(Protocol):
    """Write what requests with an idempotency key did, in the transaction that does it."""

    def put_idempotency_record(self, record: IdempotencyRecord, *, drop_before: datetime) -> None:
        """Store the record, and drop those that are older than `drop_before`, of every project."""
