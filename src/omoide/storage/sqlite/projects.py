"""Projects and their sessions on SQLite: what there is, and when something in it last changed."""

from datetime import datetime

from omoide.errors import Conflict
from omoide.model import Project, Scope, Session
from omoide.storage.rows import CURRENT, STATE_NUMBER, micros, moment
from omoide.storage.sqlite.transaction import Transaction

# State by state, each the end of a run in the index: however many memories there are, none of them is read.
_LAST_CHANGES = "SELECT p.path, max({}) FROM projects p".format(
    ", ".join(
        f"coalesce((SELECT max(m.updated_at) FROM memories m WHERE m.project = p.number AND m.state = {state}), 0)"
        for state in STATE_NUMBER.values()
    )
)
_SESSIONS = f"""
SELECT p.path, s.name, s.source, s.created_at, max(s.created_at, coalesce(max(m.updated_at), 0)),
    count(CASE WHEN {CURRENT} THEN 1 END)
FROM sessions s JOIN projects p ON p.number = s.project
    LEFT JOIN memories m ON m.project = s.project AND m.session = s.name AND m.session <> ''
WHERE {{}} GROUP BY s.project, s.name ORDER BY 5 DESC, p.path, s.name"""


class SessionReader:
    """The part of `SqliteReading` that is about projects and sessions."""

    _tx: Transaction

    def _project(self, path: str) -> int | None:
        raise NotImplementedError

    def projects(self) -> list[Project]:
        rows = self._tx.rows("SELECT path, description, root, created_at FROM projects ORDER BY path")
        return [_project(row) for row in rows]

    def project(self, path: str | None = None, *, root: str | None = None) -> Project | None:
        column, value = ("root", root) if path is None else ("number", self._project(path))
        row = self._tx.get(f"SELECT path, description, root, created_at FROM projects WHERE {column} = ?", (value,))
        return None if row is None else _project(row)

    def last_changes(self) -> dict[str, datetime]:
        return {path: moment(at) for path, at in self._tx.rows(_LAST_CHANGES) if at}

    def sessions(self, at: datetime, scope: Scope | None = None) -> list[Session]:
        wanted: dict[str, object] = {} if scope is None else {"project": self._project(scope.path)}
        if scope is not None and scope.name:
            wanted["name"] = scope.name
        where = " AND ".join(["1", *(f"s.{column} = :{column}" for column in wanted)])
        return [
            Session(Scope(path, name), source, moment(created), moment(updated), count)
            for path, name, source, created, updated, count in self._tx.rows(
                _SESSIONS.format(where), {**wanted, "at": micros(at)}
            )
        ]


class SessionWriter(SessionReader):
    """The part of `SqliteWriting` that is about sessions."""

    def _ensure_project(self, path: str, at: datetime) -> int:
        raise NotImplementedError

    def add_session(self, scope: Scope, source: str, at: datetime) -> bool:
        project, folded = self._ensure_project(scope.path, at), scope.name.casefold()
        alike: list[str] = [
            name
            for (name,) in self._tx.rows(
                "SELECT name FROM sessions WHERE project = ? AND folded = ? ORDER BY name", (project, folded)
            )
        ]
        if scope.name in alike:
            return False
        if alike:
            raise Conflict(f"{Scope(scope.path)} has a session {alike[0]!r} that differs only in case: use that name")
        values = (project, scope.name, folded, source, micros(at))
        self._tx.run("INSERT INTO sessions VALUES (?, ?, ?, ?, ?)", values)
        return True


def _project(row: tuple[str, str, str | None, int]) -> Project:
    path, description, root, created_at = row
    return Project(path, description, root, moment(created_at))
