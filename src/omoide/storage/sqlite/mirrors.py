"""Mirrors on SQLite: which files follow which scope, and the sync state of each entry."""

from collections.abc import Sequence

import apsw

from omoide.errors import Conflict
from omoide.model import Choice, FileState, FileVersions, Mirror, Scope, Side, SyncConflict, SyncState
from omoide.storage.base import SyncUpdate
from omoide.storage.rows import micros, moment, strings
from omoide.storage.sqlite.cache import NumberReader, NumberWriter

_MIRRORS = (
    "SELECT r.number, coalesce(p.path, ''), r.session, r.place, r.file, r.format, r.choice, r.created_at, r.seen,"
    " r.retire, r.adopt FROM mirrors r LEFT JOIN projects p ON p.number = r.project ORDER BY r.number"
)
_SYNC_STATES = "SELECT memory, file, entry, version, digest, held FROM sync_states WHERE mirror = ?1"
# The memory may have been purged meanwhile by another process.
_PUT_SYNC_STATE = "INSERT OR REPLACE INTO sync_states SELECT ?1, number, ?3, ?4, ?5, ?6, ?7 FROM memories WHERE number = ?2"


class MirrorReader(NumberReader):
    """The part of `SqliteReader` that is about mirrors."""

    def memories_changed_since(self, event: int) -> list[int]:
        # The + keeps SQLite from its index of memories, of which it would read everything.
        rows = self._tx.rows("SELECT memory FROM events WHERE number > ? AND +memory > 0", (event,))
        return sorted({number for (number,) in rows})

    def projects_changed_since(self, event: int) -> set[str]:
        rows = self._tx.rows(
            "SELECT DISTINCT coalesce(p.path, '') FROM events e LEFT JOIN projects p ON p.number = e.project"
            " WHERE e.number > ? AND +e.memory = 0",
            (event,),
        )
        return {path for (path,) in rows}

    def copies(self) -> list[str]:
        rows = self._tx.rows("SELECT detail ->> 'file' FROM events WHERE action = 'backed_up' ORDER BY number")
        return list(dict.fromkeys(row[0] for row in rows))

    def purged_ids(self, ids: Sequence[str] | None = None) -> set[str]:
        rows = self._tx.rows("SELECT detail ->> 'id' FROM events WHERE action = 'purged'")
        every = {id for (id,) in rows}
        return every if ids is None else every & set(ids)

    def mirrors(self) -> list[Mirror]:
        return [
            Mirror(
                number,
                Scope(path, session),
                place,
                file,
                format,
                Choice(choice),
                moment(at),
                seen,
                bool(retire),
                tuple(adopt.splitlines()),
            )
            for number, path, session, place, file, format, choice, at, seen, retire, adopt in self._tx.rows(_MIRRORS)
        ]

    def sync_states(
        self, mirror: int, *, files: Sequence[str] | None = None, memories: Sequence[int] | None = None
    ) -> list[SyncState]:
        rows = self._tx.rows
        if files is None and memories is None:
            return [SyncState(*row) for row in rows(_SYNC_STATES, (mirror,))]
        found = {}
        if files:
            wanted = f"{_SYNC_STATES} AND file IN (SELECT value FROM json_each(?2))"
            found = {row[0]: SyncState(*row) for row in rows(wanted, (mirror, strings(files)))}
        if memories:
            wanted = f"{_SYNC_STATES} AND memory IN (SELECT value FROM json_each(?2))"
            found |= {row[0]: SyncState(*row) for row in rows(wanted, (mirror, str(list(memories))))}
        return list(found.values())

    def mirrors_of(self, memories: Sequence[int]) -> set[int]:
        wanted = "SELECT DISTINCT mirror FROM sync_states WHERE memory IN (SELECT value FROM json_each(?))"
        return {mirror for (mirror,) in self._tx.rows(wanted, (str(list(memories)),))}

    def file_states(self, mirror: int) -> list[FileState]:
        rows = self._tx.rows(
            "SELECT name, mtime_ns, size, inode, digest, settled FROM file_states WHERE mirror = ?", (mirror,)
        )
        return [
            FileState(name, mtime, size, inode, digest, bool(settled)) for name, mtime, size, inode, digest, settled in rows
        ]

    def file_versions(self, mirror: int, names: Sequence[str]) -> list[FileVersions]:
        rows = self._tx.rows(
            "SELECT name, outline, digests FROM file_versions WHERE mirror = ? AND name IN (SELECT value FROM json_each(?))",
            (mirror, strings(names)),
        )
        return [_file_versions(*row) for row in rows]

    def sync_conflicts(self) -> list[SyncConflict]:
        rows = self._tx.rows(
            "SELECT mirror, memory, at, file_version, database_version, stands FROM sync_conflicts ORDER BY at, memory"
        )
        return [SyncConflict(row[0], row[1], moment(row[2]), row[3], row[4], Side(row[5])) for row in rows]


class MirrorWriter(MirrorReader, NumberWriter):
    """The part of `SqliteWriter` that is about mirrors."""

    def put_mirror(self, mirror: Mirror) -> Mirror:
        if mirror.number:
            self._tx.run(
                "UPDATE mirrors SET place = ?, choice = ?, seen = ?, retire = ?, adopt = ? WHERE number = ?",
                (
                    mirror.place,
                    mirror.choice.value,
                    mirror.seen,
                    mirror.retire,
                    "\n".join(mirror.adopt),
                    mirror.number,
                ),
            )
            return mirror
        project = self._ensure_project(mirror.scope.path, mirror.created_at)
        try:
            self._tx.run(
                "INSERT INTO mirrors (project, session, place, file, format, choice, created_at, seen, retire, adopt)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    project,
                    mirror.scope.name,
                    mirror.place,
                    mirror.file,
                    mirror.format,
                    mirror.choice.value,
                    micros(mirror.created_at),
                    mirror.seen,
                    mirror.retire,
                    "\n".join(mirror.adopt),
                ),
            )
        except apsw.ConstraintError as error:
            raise Conflict(f"{mirror.place}/{mirror.file} has a mirror already: `omoide mirror list` shows it") from error
        number = self._tx.last_number()
        return next(one for one in self.mirrors() if one.number == number)

    def drop_mirror(self, number: int) -> None:
        for table, column in (
            ("mirrors", "number"),
            ("sync_states", "mirror"),
            ("file_states", "mirror"),
            ("file_versions", "mirror"),
            ("sync_conflicts", "mirror"),
        ):
            self._tx.run(f"DELETE FROM {table} WHERE {column} = ?", (number,))

    def record_sync(self, mirror: int, update: SyncUpdate) -> None:
        if not self._tx.get("SELECT EXISTS (SELECT 1 FROM mirrors WHERE number = ?)", (mirror,)):
            return
        run_many = self._tx.run_many
        run_many(
            _PUT_SYNC_STATE,
            ((mirror, one.memory, one.file, one.entry, one.version, one.digest, one.held) for one in update.states),
        )
        run_many(
            "INSERT OR REPLACE INTO file_states VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((mirror, one.name, one.mtime_ns, one.size, one.inode, one.digest, one.settled) for one in update.files),
        )
        run_many(
            "INSERT OR REPLACE INTO file_versions VALUES (?, ?, ?, ?)",
            ((mirror, one.name, one.outline, _digests_text(one)) for one in update.versions),
        )
        run_many(
            "INSERT OR REPLACE INTO sync_conflicts VALUES (?, ?, ?, ?, ?, ?)",
            (
                (mirror, one.memory, micros(one.at), one.file_version, one.database_version, one.stands.value)
                for one in update.conflicts
            ),
        )
        run_many("DELETE FROM sync_states WHERE mirror = ? AND memory = ?", ((mirror, one) for one in update.dropped_states))
        run_many("DELETE FROM file_states WHERE mirror = ? AND name = ?", ((mirror, name) for name in update.dropped_files))
        names = ((mirror, name) for name in update.dropped_versions)
        run_many("DELETE FROM file_versions WHERE mirror = ? AND name = ?", names)
        run_many(
            "DELETE FROM sync_conflicts WHERE mirror = ? AND memory = ?", ((mirror, one) for one in update.settled_conflicts)
        )
        if update.last_event is not None:
            self._tx.run("UPDATE mirrors SET seen = ? WHERE number = ?", (update.last_event, mirror))


def _digests_text(versions: FileVersions) -> str:
    """The digests, each with the changes of its version: `digest+id+~id:text+-id`."""
    newest = ["+".join((digest, *ids)) for digest, ids in zip(versions.digests, versions.changes, strict=False)]
    return " ".join((*newest, *versions.digests[len(newest) :]))


def _file_versions(name: str, outline: bytes, text: str) -> FileVersions:
    if "+" not in text:
        return FileVersions(name, outline, tuple(text.split()))
    parts = [version.split("+") for version in text.split()]
    changes = [tuple(ids) for _, *ids in parts]
    while not changes[-1]:
        changes.pop()
    return FileVersions(name, outline, tuple(digest for digest, *_ in parts), tuple(changes))
