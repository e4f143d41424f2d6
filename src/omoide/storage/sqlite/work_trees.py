"""Work trees on SQLite."""

from datetime import datetime

import msgspec

from omoide.model import Scope, WorkTreeRecord
from omoide.storage.rows import micros
from omoide.storage.sqlite.cache import NumberReader, NumberWriter


class SqliteWorkTreeReader(NumberReader):
    """The part of `SqliteReader` that is about work trees."""

    def work_tree(self, scope: Scope, root: str) -> WorkTreeRecord | None:
        key = (self._project(scope.path), root)
        row = self._tx.get("SELECT record FROM work_trees WHERE project = ? AND root = ?", key)
        return None if row is None else msgspec.json.decode(row, type=WorkTreeRecord)


class SqliteWorkTreeWriter(SqliteWorkTreeReader, NumberWriter):
    """The part of `SqliteWriter` that is about work trees."""

    def put_work_tree(self, scope: Scope, record: WorkTreeRecord, *, drop_before: datetime) -> None:
        self._tx.run("DELETE FROM work_trees WHERE at < ?", (micros(drop_before),))
        self._tx.run(
            "INSERT OR REPLACE INTO work_trees VALUES (?, ?, ?, ?)",
            (
                *(self._ensure_project(scope.path, record.at), record.state.root, micros(record.at)),
                msgspec.json.encode(record).decode(),
            ),
        )
