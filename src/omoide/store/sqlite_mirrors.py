"""Mirrors on SQLite: which files follow which scope, and when each memory last met its entry."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import apsw

from omoide.errors import Conflict
from omoide.model import Choice, Dispute, Meeting, Mirror, Scope, Side, Sighting
from omoide.store.sql import micros, moment, strings
from omoide.store.sqlite_transaction import Transaction

_MIRRORS = (
    "SELECT r.number, coalesce(p.path, ''), r.session, r.place, r.file, r.format, r.choice, r.created_at, r.seen"
    " FROM mirrors r LEFT JOIN projects p ON p.number = r.project ORDER BY r.number"
)
_MEETINGS = "SELECT memory, file, entry, version, digest FROM meetings WHERE mirror = ?1"
# The memory may have been purged meanwhile by another process.
_MEET = "INSERT OR REPLACE INTO meetings SELECT ?1, number, ?3, ?4, ?5, ?6 FROM memories WHERE number = ?2"


class MirrorReading:
    """The part of `SqliteReading` that is about mirrors."""

    _tx: Transaction

    def happened(self, since: int) -> tuple[int, list[int]]:
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

    def erased(self, ids: Sequence[str]) -> set[str]:
        rows = self._tx.rows("SELECT detail ->> 'id' FROM events WHERE deed = 'purged'")
        return {id for (id,) in rows} & set(ids)

    def mirrors(self) -> list[Mirror]:
        return [
            Mirror(number, Scope(path, session), place, file, format, Choice(choice), moment(at), seen)
            for number, path, session, place, file, format, choice, at, seen in self._tx.rows(_MIRRORS)
        ]

    def meetings(
        self, mirror: int, *, files: Sequence[str] | None = None, memories: Sequence[int] | None = None
    ) -> list[Meeting]:
        rows = self._tx.rows
        if files is None and memories is None:
            return [Meeting(*row) for row in rows(_MEETINGS, (mirror,))]
        found = {}
        if files:
            wanted = f"{_MEETINGS} AND file IN (SELECT value FROM json_each(?2))"
            found = {row[0]: Meeting(*row) for row in rows(wanted, (mirror, strings(files)))}
        if memories:
            wanted = f"{_MEETINGS} AND memory IN (SELECT value FROM json_each(?2))"
            found |= {row[0]: Meeting(*row) for row in rows(wanted, (mirror, str(list(memories))))}
        return list(found.values())

    def sightings(self, mirror: int) -> list[Sighting]:
        rows = self._tx.rows(
            "SELECT name, mtime_ns, size, inode, digest, settled FROM sightings WHERE mirror = ?", (mirror,)
        )
        return [
            Sighting(name, mtime, size, inode, digest, bool(settled)) for name, mtime, size, inode, digest, settled in rows
        ]

    def disputes(self) -> list[Dispute]:
        rows = self._tx.rows(
            "SELECT mirror, memory, at, file_version, database_version, stands FROM disputes ORDER BY at, memory"
        )
        return [Dispute(row[0], row[1], moment(row[2]), row[3], row[4], Side(row[5])) for row in rows]


class MirrorWriting(MirrorReading):
    """The part of `SqliteWriting` that is about mirrors."""

    def _made_project(self, path: str, at: datetime) -> int:
        raise NotImplementedError

    def put_mirror(self, mirror: Mirror) -> Mirror:
        project = self._made_project(mirror.scope.path, mirror.created_at)
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
            ("meetings", "mirror"),
            ("sightings", "mirror"),
            ("disputes", "mirror"),
        ):
            self._tx.run(f"DELETE FROM {table} WHERE {column} = ?", (number,))

    def choose(self, mirror: int, choice: Choice) -> None:
        self._tx.run("UPDATE mirrors SET choice = ? WHERE number = ?", (choice.value, mirror))

    def note_seen(self, mirror: int, event: int) -> None:
        self._tx.run("UPDATE mirrors SET seen = ? WHERE number = ?", (event, mirror))

    def put_meetings(self, mirror: int, meetings: Iterable[Meeting]) -> None:
        self._tx.run_many(_MEET, [(mirror, one.memory, one.file, one.entry, one.version, one.digest) for one in meetings])

    def drop_meetings(self, mirror: int, memories: Iterable[int]) -> None:
        self._tx.run_many("DELETE FROM meetings WHERE mirror = ? AND memory = ?", [(mirror, number) for number in memories])

    def put_sightings(self, mirror: int, sightings: Iterable[Sighting]) -> None:
        self._tx.run_many(
            "INSERT OR REPLACE INTO sightings VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(mirror, one.name, one.mtime_ns, one.size, one.inode, one.digest, one.settled) for one in sightings],
        )

    def drop_sightings(self, mirror: int, names: Iterable[str]) -> None:
        self._tx.run_many("DELETE FROM sightings WHERE mirror = ? AND name = ?", [(mirror, name) for name in names])

    def put_dispute(self, dispute: Dispute) -> None:
        self._tx.run(
            "INSERT OR REPLACE INTO disputes VALUES (?, ?, ?, ?, ?, ?)",
            (
                dispute.mirror, dispute.memory, micros(dispute.at), dispute.file_version, dispute.database_version,
                dispute.stands.value,
            ),
        )  # fmt: skip

    def drop_dispute(self, mirror: int, memory: int) -> bool:
        self._tx.run("DELETE FROM disputes WHERE mirror = ? AND memory = ?", (mirror, memory))
        return bool(self._tx.changed())
