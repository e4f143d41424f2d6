"""One transaction on SQLite: rows and their words, always changed together.

The words table is searched by row id ranges. A row id is `area << 32 | number`, where an area is a project's live or
set-aside memories: so a search in a project touches only that project's part of each posting list, however large the
rest of the database is, and an archived memory costs the daily search nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw
import msgspec

from omoide.errors import Conflict
from omoide.model import Actor, Event, Layer, Link, LinkKind, Memory, Project, Query, Scope, State, Version
from omoide.store import sql
from omoide.store.base import Outline, Posting, Sizes, Words
from omoide.store.sql import FORGOTTEN, STATE_NUMBER, micros, moment

_AREA_BITS = 32
_NUMBER_MASK = (1 << _AREA_BITS) - 1

_ADD = """
INSERT INTO memories (number, id, project, session, state, type, key, twin, topic_given, length, pinned, confidence,
    relevance, reference_count, version, actor, created_at, updated_at, expires_at, source, tags, examples, topic, content)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_CHANGE = """
UPDATE memories SET project = ?, session = ?, state = ?, type = ?, key = ?, twin = ?, topic_given = ?, length = ?,
    pinned = ?, confidence = ?, relevance = ?, reference_count = ?, version = ?, actor = ?, created_at = ?, updated_at = ?,
    expires_at = ?, source = ?, tags = ?, examples = ?, topic = ?, content = ?
WHERE number = ?"""
_INDEX = "INSERT INTO words (rowid, topic, tags, content) VALUES (?, ?, ?, ?)"
_COUNT_AREA = """
INSERT INTO areas (area, entries, terms) VALUES (?, ?, ?)
ON CONFLICT (area) DO UPDATE SET entries = entries + excluded.entries, terms = terms + excluded.terms"""
_ONE = f"SELECT {sql.COLUMNS} FROM {sql.TABLES} WHERE "
_OUTLINE = (
    "SELECT m.number, coalesce(p.path, ''), m.session, m.length, m.confidence, m.relevance, m.reference_count,"
    " m.updated_at FROM json_each(:numbers) n CROSS JOIN memories m ON m.number = n.value"
    " LEFT JOIN projects p ON p.number = m.project WHERE "
)


def area(project: int, state: State) -> int | None:
    """The part of the index a memory is in; None for a forgotten one, which is in none."""
    if state is State.FORGOTTEN:
        return None
    return project * 2 + (state is not State.ACTIVE)


def document(area: int, number: int) -> int:
    return area << _AREA_BITS | number


def phrase(term: str) -> str:
    """A term as FTS5 reads it: always a quoted string, never syntax."""
    return '"' + term.replace('"', '""') + '"'


def counts(api: apsw.FTS5ExtensionApi, *_: object) -> int:
    """How often the query's first term stands in topic, tags and content of this row, packed into one integer.

    An auxiliary function for FTS5, because its own bm25() walks a term's whole posting list before it answers.
    """
    topic, tags, content = api.phrase_locations(0)
    return len(topic) << 40 | len(tags) << 20 | len(content)


class Transaction:
    """Reads and writes of one moment. Made by the store; see `store/base.py` for what each verb promises."""

    def __init__(self, connection: apsw.Connection):
        self._execute = connection.execute
        self._connection = connection
        self._numbers: dict[str, int] = {"": 0}
        self._actors: dict[Actor, int] = {}
        self._grown: dict[int, list[int]] = {}

    # reading

    def _memory(self, where: str, values: tuple[object, ...]) -> Memory | None:
        row = self._execute(_ONE + where, values).get
        return None if row is None else sql.memory(row)

    def memory(self, number: int) -> Memory | None:
        return self._memory("m.number = ?", (number,))

    def memories(self, numbers: Sequence[int]) -> list[Memory]:
        rows = self._execute(
            f"SELECT {sql.COLUMNS} FROM json_each(?) n CROSS JOIN {sql.TABLES} WHERE m.number = n.value",
            (str(list(numbers)),),
        )
        found = {row[0]: sql.memory(row) for row in rows}
        return [found[number] for number in numbers if number in found]

    def by_id(self, id: str) -> Memory | None:
        return self._memory("m.id = ?", (id,))

    def by_key(self, scope: Scope, key: str) -> Memory | None:
        where = f"m.project = ? AND m.session = ? AND m.key = ? AND m.key IS NOT NULL AND m.state <> {FORGOTTEN}"
        project = self._project(scope.path)
        return None if project is None else self._memory(where, (project, scope.name, key))

    def twins(self, twin: int, scope: Scope) -> list[Memory]:
        project = self._project(scope.path)
        # First the bare index: almost every new memory has no twin, and the joins would cost more than the answer.
        numbers = self._execute("SELECT number FROM memories WHERE twin = ?", (twin,)).fetchall()
        if project is None or not numbers:
            return []
        where = f"m.twin = ? AND m.project = ? AND m.session = ? AND m.state <> {FORGOTTEN} ORDER BY m.number DESC"
        return [sql.memory(row) for row in self._execute(_ONE + where, (twin, project, scope.name))]

    def browse(self, query: Query, at: datetime) -> Iterator[Memory]:
        clauses, values = self._where(query, at)
        statement = _ONE + " AND ".join(clauses) + " ORDER BY m.updated_at DESC, m.number DESC"
        for row in self._execute(statement, values):
            yield sql.memory(row)

    def count(self, query: Query, at: datetime) -> int:
        clauses, values = self._where(query, at)
        return int(self._execute("SELECT count(*) FROM memories m WHERE " + " AND ".join(clauses), values).get)

    def sizes(self, query: Query) -> Sizes:
        entries = terms = 0
        for where in self._areas(query):
            row = self._execute("SELECT entries, terms FROM areas WHERE area = ?", (where,)).get
            if row is not None:
                entries, terms = entries + row[0], terms + row[1]
        return Sizes(entries, terms)

    def frequency(self, query: Query, term: str, most: int) -> int:
        found = 0
        match = phrase(term)
        for where in self._areas(query):
            found += self._execute(
                "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?)",
                (match, document(where, 0), document(where, _NUMBER_MASK), most - found),
            ).get
            if found >= most:
                break
        return found

    def postings(self, query: Query, term: str, most: int, among: Sequence[str] = ()) -> list[Posting]:
        match = phrase(term)
        if among:
            match += " AND (" + " OR ".join(map(phrase, among)) + ")"
        found: list[Posting] = []
        for where in self._areas(query):
            rows = self._execute(
                "SELECT rowid, counts(words) FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
                " ORDER BY rowid DESC LIMIT ?",
                (match, document(where, 0), document(where, _NUMBER_MASK), most - len(found)),
            )
            found += [
                (row & _NUMBER_MASK, packed >> 40, packed >> 20 & 0xFFFFF, packed & 0xFFFFF) for row, packed in rows
            ]
        return found

    def holding(self, query: Query, groups: Sequence[Sequence[str]], most: int) -> list[int]:
        match = " OR ".join("(" + " AND ".join(map(phrase, group)) + ")" for group in groups if group)
        found: list[int] = []
        for where in self._areas(query) if match else ():
            rows = self._execute(
                "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?",
                (match, document(where, 0), document(where, _NUMBER_MASK), most - len(found)),
            )
            found += [row & _NUMBER_MASK for (row,) in rows]
        return found

    def outlines(self, query: Query, numbers: Sequence[int], at: datetime) -> list[Outline]:
        clauses, values = self._where(query, at)
        values["numbers"] = str(list(numbers))
        return [
            Outline(row[0], Scope(row[1], row[2]), row[3], row[4], row[5], row[6], moment(row[7]))
            for row in self._execute(_OUTLINE + " AND ".join(clauses), values)
        ]

    def versions(self, number: int) -> list[Version]:
        present = self.memory(number)
        if present is None:
            return []
        actors = "SELECT name, role, via FROM actors WHERE number = "
        past = self._execute("SELECT version, actor, body FROM versions WHERE memory = ? ORDER BY version", (number,))
        found = [
            Version(sql.from_body(present, version, body), _actor(self._execute(actors + "?", (by,)).get))
            for version, by, body in past.fetchall()
        ]
        by = self._execute(actors + "(SELECT actor FROM memories WHERE number = ?)", (number,)).get
        return [*found, Version(present, _actor(by))]

    def events(self, scope: Scope | None, number: int | None, since: datetime | None, limit: int) -> list[Event]:
        clauses, values = ["1"], {"limit": limit}
        if scope is not None:
            clauses.append("e.project IN (0, :project)")
            values["project"] = self._project(scope.path) or 0
        if number is not None:
            clauses.append("e.memory = :memory")
            values["memory"] = number
        if since is not None:
            clauses.append("e.at >= :since")
            values["since"] = micros(since)
        rows = self._execute(
            "SELECT e.number, e.at, e.deed, e.memory, m.id, e.detail, a.name, a.role, a.via FROM events e"
            " JOIN actors a ON a.number = e.actor LEFT JOIN memories m ON m.number = e.memory"
            f" WHERE {' AND '.join(clauses)} ORDER BY e.number DESC LIMIT :limit",
            values,
        )
        return [
            Event(row[0], moment(row[1]), row[2], _actor(row[6:9]), row[4], row[3], _detail(row[5])) for row in rows
        ]

    def links(self, number: int) -> list[Link]:
        rows = self._execute(
            "SELECT s.id, l.kind, t.id, l.created_at FROM links l JOIN memories s ON s.number = l.source"
            " JOIN memories t ON t.number = l.target WHERE l.source = ?1 OR l.target = ?1 ORDER BY l.created_at, l.kind",
            (number,),
        )
        return [Link(source, LinkKind(kind), target, moment(at)) for source, kind, target, at in rows]

    def projects(self) -> list[Project]:
        rows = self._execute("SELECT path, description, root, created_at FROM projects ORDER BY path")
        return [Project(path, description, root, moment(at)) for path, description, root, at in rows]

    def project_at(self, root: str) -> Project | None:
        row = self._execute("SELECT path, description, root, created_at FROM projects WHERE root = ?", (root,)).get
        return None if row is None else Project(row[0], row[1], row[2], moment(row[3]))

    def everything(self) -> Iterator[Memory]:
        after = 0
        while rows := self._execute(_ONE + "m.number > ? ORDER BY m.number LIMIT 500", (after,)).fetchall():
            yield from map(sql.memory, rows)
            after = rows[-1][0]

    def tally(self) -> list[tuple[Scope, str, str, int]]:
        rows = self._execute(
            "SELECT coalesce(p.path, ''), m.session, m.type, m.state, count(*) FROM memories m"
            " LEFT JOIN projects p ON p.number = m.project GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
        )
        return [(Scope(path, session), type, sql.STATES[state].value, n) for path, session, type, state, n in rows]

    # writing

    def add(self, memory: Memory, twin: int, words: Words, actor: Actor) -> Memory:
        project = self._project(memory.scope.path, memory.created_at)
        taken = memory.number and self._execute("SELECT 1 FROM memories WHERE number = ?", (memory.number,)).get
        asked = memory.number if memory.number and not taken else None
        columns = self._columns(memory, project, twin, words, actor)
        self._guarded(_ADD, (asked, memory.id, *columns), memory)
        number = asked or self._connection.last_insert_rowid()
        if memory.last_accessed_at is not None:
            self._execute(
                "INSERT OR REPLACE INTO accesses VALUES (?, ?)", (number, micros(memory.last_accessed_at))
            )
        self._index(area(project, memory.state), number, words)
        return memory if number == memory.number else msgspec.structs.replace(memory, number=number)

    def change(self, old: Memory, new: Memory, twin: int, words: Words, actor: Actor) -> None:
        number = old.number
        self._execute(
            "INSERT INTO versions (memory, version, actor, body) SELECT number, version, actor, ? FROM memories"
            " WHERE number = ?",
            (sql.body(old), number),
        )
        length = self._execute("SELECT length FROM memories WHERE number = ?", (number,)).get
        self._unindex(area(self._project(old.scope.path, old.created_at), old.state), number, length)
        project = self._project(new.scope.path, new.updated_at)
        self._guarded(_CHANGE, (*self._columns(new, project, twin, words, actor), number), new)
        self._index(area(project, new.state), number, words)

    def confirm(self, number: int) -> None:
        self._execute("UPDATE memories SET reference_count = reference_count + 1 WHERE number = ?", (number,))

    def erase(self, number: int) -> None:
        row = self._execute("SELECT project, state, length FROM memories WHERE number = ?", (number,)).get
        if row is None:
            return
        self._unindex(area(row[0], sql.STATES[row[1]]), number, row[2])
        for statement in (
            "DELETE FROM versions WHERE memory = ?",
            "DELETE FROM accesses WHERE memory = ?",
            "DELETE FROM links WHERE ?1 IN (source, target)",
            "DELETE FROM memories WHERE number = ?",
        ):
            self._execute(statement, (number,))

    def log(self, deed: str, actor: Actor, at: datetime, memory: Memory, detail: Mapping[str, object]) -> None:
        self._execute(
            "INSERT INTO events (at, deed, actor, project, memory, detail) VALUES (?, ?, ?, ?, ?, ?)",
            (
                micros(at), deed, self._by(actor), self._project(memory.scope.path), memory.number,
                msgspec.json.encode(detail).decode() if detail else None,
            ),
        )  # fmt: skip

    def link(self, source: int, kind: LinkKind, target: int, at: datetime) -> bool:
        self._execute("INSERT OR IGNORE INTO links VALUES (?, ?, ?, ?)", (source, kind.value, target, micros(at)))
        return bool(self._connection.changes())

    def unlink(self, source: int, kind: LinkKind, target: int) -> bool:
        self._execute("DELETE FROM links WHERE source = ? AND kind = ? AND target = ?", (source, kind.value, target))
        return bool(self._connection.changes())

    def put_project(self, project: Project) -> None:
        at = project.created_at or moment(0)
        number = self._project(project.path, at)
        if project.root is not None:
            self._execute("UPDATE projects SET root = NULL WHERE root = ? AND number <> ?", (project.root, number))
        self._execute(
            "UPDATE projects SET description = ?, root = ? WHERE number = ?", (project.description, project.root, number)
        )

    def index(self, memory: Memory, words: Words) -> bool:
        """Indexes a memory that is kept already; False for a forgotten one."""
        where = area(self._project(memory.scope.path), memory.state)
        self._execute("UPDATE memories SET length = ? WHERE number = ?", (words.length, memory.number))
        self._index(where, memory.number, words)
        return where is not None

    def finish(self) -> None:
        """What is cheaper once for the whole transaction than once for each memory."""
        for where, (entries, terms) in self._grown.items():
            self._execute(_COUNT_AREA, (where, entries, terms))

    # the parts of the above

    def _where(self, query: Query, at: datetime) -> tuple[list[str], dict[str, Any]]:
        clauses, values = sql.conditions(query, at)
        clauses.append(f"m.project IN ({', '.join(map(str, self._projects(query)))})")
        layers = query.layers
        if layers and Layer.PROJECT not in layers:
            clauses.append("(m.project = 0 OR m.session <> '')")
        if layers and Layer.SESSION not in layers:
            clauses.append("m.session = ''")
        if layers == (Layer.SESSION,) and query.scope.name:
            clauses.append("m.session = :session")
            values["session"] = query.scope.name
        return clauses, values

    def _areas(self, query: Query) -> list[int]:
        """The parts of the index that a query may look into, nearest first."""
        sides = sorted({side for state in query.states if (side := area(0, state)) is not None})
        return [project * 2 + side for side in sides for project in self._projects(query)]

    def _projects(self, query: Query) -> list[int]:
        layers = query.layers or tuple(Layer)
        projects = []
        if query.scope.path and (Layer.PROJECT in layers or Layer.SESSION in layers):
            number = self._project(query.scope.path)
            if number is not None:
                projects.append(number)
        if Layer.EVERYWHERE in layers:
            projects.append(0)
        return projects

    def _project(self, path: str, at: datetime | None = None) -> Any:
        """A project's number; with a moment, the project is made when it is new."""
        number = self._numbers.get(path)
        if number is None:
            folded = path.casefold()
            row = self._execute("SELECT number, path FROM projects WHERE folded = ?", (folded,)).get
            if row is not None and row[1] != path:
                raise Conflict(f"there is a project {row[1]!r} that differs only in case: use that name")
            if row is not None:
                number = row[0]
            elif at is not None:
                self._execute(
                    "INSERT INTO projects (path, folded, created_at) VALUES (?, ?, ?)", (path, folded, micros(at))
                )
                number = self._connection.last_insert_rowid()
            else:
                return None
            self._numbers[path] = number
        return number

    def _by(self, actor: Actor) -> int:
        number = self._actors.get(actor)
        if number is None:
            values = (actor.name, actor.role.value, actor.via)
            find = "SELECT number FROM actors WHERE name = ? AND role = ? AND via = ?"
            number = self._execute(find, values).get
            if number is None:
                self._execute("INSERT INTO actors (name, role, via) VALUES (?, ?, ?)", values)
                number = self._connection.last_insert_rowid()
            self._actors[actor] = number
        return number

    def _columns(self, memory: Memory, project: int, twin: int, words: Words, actor: Actor) -> tuple[Any, ...]:
        return (
            project, memory.scope.name, STATE_NUMBER[memory.state], memory.type, memory.key, twin, memory.topic_given,
            words.length, memory.pinned, memory.confidence, memory.relevance, memory.reference_count, memory.version,
            self._by(actor), micros(memory.created_at), micros(memory.updated_at),
            None if memory.expires_at is None else micros(memory.expires_at), memory.source,
            sql.strings(memory.tags), sql.strings(memory.examples), memory.topic, memory.content,
        )  # fmt: skip

    def _guarded(self, statement: str, values: tuple[Any, ...], memory: Memory) -> None:
        try:
            self._execute(statement, values)
        except apsw.ConstraintError as error:  # the only things that can clash are the id and the key
            if memory.key is not None and self.by_key(memory.scope, memory.key) is not None:
                raise Conflict(f"key {memory.key!r} is taken in {memory.scope}: choose another, or revise that one") from error
            raise Conflict(f"there is a memory {memory.id} already") from error

    def _index(self, where: int | None, number: int, words: Words) -> None:
        if where is not None:
            self._execute(_INDEX, (document(where, number), words.topic, words.tags, words.content))
            self._grow(where, 1, words.length)

    def _unindex(self, where: int | None, number: int, length: int) -> None:
        if where is not None:
            self._execute("DELETE FROM words WHERE rowid = ?", (document(where, number),))
            self._grow(where, -1, -length)

    def _grow(self, where: int, entries: int, terms: int) -> None:
        grown = self._grown.setdefault(where, [0, 0])
        grown[0] += entries
        grown[1] += terms


def _actor(row: Any) -> Actor:
    return msgspec.convert({"name": row[0], "role": row[1], "via": row[2]}, Actor)


def _detail(text: str | None) -> dict[str, object]:
    return msgspec.json.decode(text, type=dict[str, object]) if text else {}
