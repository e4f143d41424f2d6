"""Mirrors on SQLite: which files follow which scope, and when each memory last met its entry."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import apsw

from omoide.errors import Conflict
from omoide.model import Choice, FileState, Mirror, Scope, Side, SyncConflict, SyncState
from omoide.storage.rows import micros, moment, strings
from omoide.storage.sqlite.transaction import Transaction

_MIRRORS = (
    "SELECT r.number, coalesce(p.path, ''), r.session, r.place, r.file, r.format, r.choice, r.created_at, r.seen"
    " FROM mirrors r LEFT JOIN projects p ON p.number = r.project ORDER BY r.number"
)
_MEETINGS = "SELECT memory, file, entry, version, digest FROM sync_states WHERE mirror = ?1"
# The memory may have been purged meanwhile by another process.
_MEET = "INSERT OR REPLACE INTO sync_states SELECT ?1, number, ?3, ?4, ?5, ?6 FROM memories WHERE number = ?2"


class MirrorReader:
    """The part of `SqliteReading` that is about mirrors."""

    _tx: Transaction

    def changes_since(self, since: int) -> tuple[int, list[int]]:
        last = self._tx.get("SELECT coalesce(max(number), 0) FROM events")
        if last <= since:
            return last, []
        rows = self._tx.rows("SELECT DISTINCT memory FROM events WHERE number > ? AND memory > 0 ORDER BY 1", (since,))
        return last, [number for (number,) in rows]

    def numbers(self, ids: Sequence[str]) -> dict[str, int]:
        rows = self._tx.rows(
            "SELECT m.id, m.number FROM json_each(?) i CROSS JOIN memories m ON m.id = i.value", (strings(ids),)
        )
        return {id: number for id, number in rows}  # noqa: C416 - dict() would not know that they are pairs

    def purged(self, ids: Sequence[str]) -> set[str]:
        rows = self._tx.rows("SELECT detail ->> 'id' FROM events WHERE action = 'purged'")
        return {id for (id,) in rows} & set(ids)

    def mirrors(self) -> list[Mirror]:
        return [
            Mirror(number, Scope(path, session), place, file, format, Choice(choice), moment(at), seen)
            for number, path, session, place, file, format, choice, at, seen in self._tx.rows(_MIRRORS)
        ]

    def sync_states(
        self, mirror: int, *, files: Sequence[str] | None = None, memories: Sequence[int] | None = None
    ) -> list[SyncState]:
        rows = self._tx.rows
        if files is None and memories is None:
            return [SyncState(*row) for row in rows(_MEETINGS, (mirror,))]
        found = {}
        if files:
            wanted = f"{_MEETINGS} AND file IN (SELECT value FROM json_each(?2))"
            found = {row[0]: SyncState(*row) for row in rows(wanted, (mirror, strings(files)))}
        if memories:
            wanted = f"{_MEETINGS} AND memory IN (SELECT value FROM json_each(?2))"
            found |= {row[0]: SyncState(*row) for row in rows(wanted, (mirror, str(list(memories))))}
        return list(found.values())

    def file_states(self, mirror: int) -> list[FileState]:
        rows = self._tx.rows(
            "SELECT name, mtime_ns, size, inode, digest, settled FROM file_states WHERE mirror = ?", (mirror,)
        )
        return [
            FileState(name, mtime, size, inode, digest, bool(settled)) for name, mtime, size, inode, digest, settled in rows
        ]

    def sync_conflicts(self) -> list[SyncConflict]:
        rows = self._tx.rows(
            "SELECT mirror, memory, at, file_version, database_version, stands FROM sync_conflicts ORDER BY at, memory"
        )
        return [SyncConflict(row[0], row[1], moment(row[2]), row[3], row[4], Side(row[5])) for row in rows]


class MirrorWriter(MirrorReader):
    """The part of `SqliteWriting` that is about mirrors."""

    def _ensure_project(self, path: str, at: datetime) -> int:
        raise NotImplementedError

    def put_mirror(self, mirror: Mirror) -> Mirror:
        project = self._ensure_project(mirror.scope.path, mirror.created_at)
        try:
            self._tx.run(
                "INSERT INTO mirrors (project, session, place, file, format, choice, created_at, seen)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    project, mirror.scope.name, mirror.place, mirror.file, mirror.format, mirror.choice.value,
                    micros(mirror.created_at), mirror.seen,
                ),
            )  # fmt: skip
        except apsw.ConstraintError as error:
            raise Conflict(f"{mirror.place}/{mirror.file} has a mirror already: `omoide mirror list` shows it") from error
        number = self._tx.last_number()
        return next(one for one in self.mirrors() if one.number == number)

    def drop_mirror(self, number: int) -> None:
        for table, column in (
            ("mirrors", "number"),
            ("sync_states", "mirror"),
            ("file_states", "mirror"),
            ("sync_conflicts", "mirror"),
        ):
            self._tx.run(f"DELETE FROM {table} WHERE {column} = ?", (number,))

    def set_choice(self, mirror: int, choice: Choice) -> None:
        self._tx.run("UPDATE mirrors SET choice = ? WHERE number = ?", (choice.value, mirror))

    def set_last_event(self, mirror: int, event: int) -> None:
        self._tx.run("UPDATE mirrors SET seen = ? WHERE number = ?", (event, mirror))

    def put_sync_states(self, mirror: int, sync_states: Iterable[SyncState]) -> None:
        self._tx.run_many(_MEET, [(mirror, one.memory, one.file, one.entry, one.version, one.digest) for one in sync_states])

    def drop_sync_states(self, mirror: int, memories: Iterable[int]) -> None:
        self._tx.run_many(
            "DELETE FROM sync_states WHERE mirror = ? AND memory = ?", [(mirror, number) for number in memories]
        )

    def put_file_states(self, mirror: int, file_states: Iterable[FileState]) -> None:
        self._tx.run_many(
            "INSERT OR REPLACE INTO file_states VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(mirror, one.name, one.mtime_ns, one.size, one.inode, one.digest, one.settled) for one in file_states],
        )

    def drop_file_states(self, mirror: int, names: Iterable[str]) -> None:
        self._tx.run_many("DELETE FROM file_states WHERE mirror = ? AND name = ?", [(mirror, name) for name in names])

    def put_conflict(self, conflict: SyncConflict) -> None:
        self._tx.run(
            "INSERT OR REPLACE INTO sync_conflicts VALUES (?, ?, ?, ?, ?, ?)",
            (
                conflict.mirror, conflict.memory, micros(conflict.at), conflict.file_version, conflict.database_version,
                conflict.stands.value,
            ),
        )  # fmt: skip

    def drop_conflict(self, mirror: int, memory: int) -> bool:
        self._tx.run("DELETE FROM sync_conflicts WHERE mirror = ? AND memory = ?", (mirror, memory))
        return bool(self._tx.changes())
