"""Projects and their sessions on SQLite."""

from collections.abc import Iterable
from datetime import datetime

from omoide.errors import Conflict
from omoide.model import Project, ProjectPlace, Scope, Session
from omoide.storage.rows import CURRENT, STATE_NUMBER, micros, moment
from omoide.storage.sqlite.cache import NumberReader
from omoide.storage.sqlite.postings import AREA_BITS, phrase
from omoide.storage.sqlite.runs import SqliteRunWriter

# State by state, each read from the end of a range in the index: no memory is read, however many there are.
_LAST_CHANGES = "SELECT p.path, max({}) FROM projects p".format(
    ", ".join(
        f"coalesce((SELECT max(m.updated_at) FROM memories m WHERE m.project = p.number AND m.state = {state}), 0)"
        for state in STATE_NUMBER.values()
    )
)
_PROJECTS = "SELECT p.number, p.path, p.description, p.created_at FROM projects p"
_PLACES = "SELECT directory, stamp FROM places WHERE project = ? ORDER BY position, directory"
_IDENTITY = "SELECT value FROM identities WHERE project = ? AND kind = ? ORDER BY value"
_SESSIONS = f"""
SELECT p.path, s.name, s.source, s.created_at, max(s.created_at, coalesce(max(m.updated_at), 0)),
    count(CASE WHEN {CURRENT} THEN 1 END)
FROM sessions s JOIN projects p ON p.number = s.project
    LEFT JOIN memories m ON m.project = s.project AND m.session = s.name AND m.session <> ''
WHERE {{}} GROUP BY s.project, s.name ORDER BY 5 DESC, p.path, s.name"""
_AREA_FREQUENCIES = (
    f"SELECT rowid >> {AREA_BITS}, count(*) FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?) GROUP BY 1"
)
_LARGEST_NUMBER = 2**63 - 1


class SessionReader(NumberReader):
    """The part of `SqliteReader` that is about projects and sessions."""

    def projects(self) -> list[Project]:
        return self._read_projects("1", ())

    def project(self, path: str | None = None, *, root: str | None = None, number: int | None = None) -> Project | None:
        if path is not None:
            found = self._read_projects("p.number = ?", (self._project(path),))
        elif number is not None:
            found = self._read_projects("p.number = ?", (number,)) if 0 < number <= _LARGEST_NUMBER else []
        else:
            found = self._read_projects("p.number = (SELECT project FROM places WHERE directory = ?)", (root,))
        return found[0] if found else None

    def _read_projects(self, where: str, values: tuple[object, ...]) -> list[Project]:
        return [
            Project(
                path,
                description,
                tuple(ProjectPlace(*place) for place in self._tx.rows(_PLACES, (number,))),
                moment(created_at),
                self._identity(number, "commit"),
                self._identity(number, "remote"),
                number,
            )
            for number, path, description, created_at in self._tx.rows(f"{_PROJECTS} WHERE {where} ORDER BY p.path", values)
        ]

    def _identity(self, number: int, kind: str) -> tuple[str, ...]:
        return tuple(value for (value,) in self._tx.rows(_IDENTITY, (number, kind)))

    def last_changes(self) -> dict[str, datetime]:
        return {path: moment(at) for path, at in self._tx.rows(_LAST_CHANGES) if at}

    def project_frequencies(self, terms: Iterable[str], most: int) -> dict[str, dict[str, int]]:
        paths = dict(self._tx.rows("SELECT number, path FROM projects"))
        found: dict[str, dict[str, int]] = {}
        for term in terms:
            areas: list[tuple[int, int]] = self._tx.rows(_AREA_FREQUENCIES, (phrase(term), most + 1))
            if sum(count for _, count in areas) <= most:
                found[term] = {paths[area >> 1]: count for area, count in areas if area >> 1 in paths and not area & 1}
        return found

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


class SessionWriter(SessionReader, SqliteRunWriter):
    """The part of `SqliteWriter` that is about projects and sessions."""

    def put_project(self, project: Project) -> None:
        number = self._ensure_project(project.path, project.created_at or moment(0))
        self._tx.run("UPDATE projects SET description = ? WHERE number = ?", (project.description, number))
        self._tx.run("DELETE FROM places WHERE project = ?", (number,))
        for position, place in enumerate(project.places):
            self._tx.run(
                "INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?)", (place.directory, number, place.stamp, position)
            )
        self._tx.run("DELETE FROM identities WHERE project = ?", (number,))
        for kind, values in (("commit", project.root_commits), ("remote", project.remotes)):
            for value in values:
                self._tx.run("INSERT INTO identities VALUES (?, ?, ?)", (number, kind, value))

    def merge_projects(self, source: str, target: str) -> None:
        numbers = {"source": self._project(source), "target": self._project(target)}
        if self._tx.get("SELECT 1 FROM memories WHERE project = :source", numbers):
            raise Conflict(f"project {source} still has memories: move them first")
        for table in ("sessions", "identities", "work_trees"):  # what the target has already stays as it is there
            self._tx.run(f"UPDATE OR IGNORE {table} SET project = :target WHERE project = :source", numbers)
            self._tx.run(f"DELETE FROM {table} WHERE project = :source", numbers)
        self.move_runs(numbers["source"], numbers["target"])
        self._tx.run("UPDATE places SET position = position + 1000 WHERE project = :source", numbers)
        for table in ("events", "places", "mirrors"):
            self._tx.run(f"UPDATE {table} SET project = :target WHERE project = :source", numbers)
        self._tx.run("DELETE FROM projects WHERE number = :source", numbers)

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
