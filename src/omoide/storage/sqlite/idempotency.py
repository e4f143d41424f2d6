"""Requests with an idempotency key on SQLite."""

from datetime import datetime

import msgspec

from omoide.model import IdempotencyRecord
from omoide.storage.rows import micros, moment
from omoide.storage.sqlite.cache import NumberReader


class SqliteIdempotencyReader(NumberReader):
    """The part of `SqliteReader` that is about idempotency keys."""

    def idempotency_record(self, project: str, key: str) -> IdempotencyRecord | None:
        number = self._project(project) if project else 0
        row = self._tx.get("SELECT digest, result, at FROM idempotency WHERE project = ? AND key = ?", (number, key))
        if row is None:
            return None
        return IdempotencyRecord(project, key, row[0], msgspec.json.decode(row[1]), moment(row[2]))


class SqliteIdempotencyWriter(SqliteIdempotencyReader):
    """The part of `SqliteWriter` that is about idempotency keys."""

    def put_idempotency_record(self, record: IdempotencyRecord, *, drop_before: datetime) -> None:
        self._tx.run("DELETE FROM idempotency WHERE at < ?", (micros(drop_before),))
        number = self._project(record.project) if record.project else 0
        result = msgspec.json.encode(record.result).decode()
        self._tx.run(
            "INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?)",
            (number, record.key, record.digest, result, micros(record.at)),
        )
