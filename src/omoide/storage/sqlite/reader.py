"""Reading on SQLite: memories by name and by word, of one moment.

The words table is searched by row id ranges. A row id is `area << 32 | number`, where an area is a project's live or
set-aside memories: so a search in a project touches only that project's part of each posting list, however large the
rest of the database is, and an archived memory costs the daily search nothing.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from heapq import merge
from itertools import chain
from typing import Any

import msgspec

from omoide.model import (
    Actor,
    Layer,
    Link,
    LinkKind,
    Memory,
    Query,
    Scope,
    State,
    Summary,
    Usage,
    Version,
)
from omoide.storage.base import IndexSize, NearDuplicateFilter, Posting
from omoide.storage.rows import (
    ACTIVE,
    COLUMNS,
    EXPIRED,
    FORGOTTEN,
    LISTING,
    STATES,
    TABLES,
    conditions,
    memory_from_row,
    micros,
    moment,
    state_clauses,
    version_from_json,
)
from omoide.storage.sqlite.cache import CachedReader, ReaderCache
from omoide.storage.sqlite.events import SqliteEventReader, read_actor
from omoide.storage.sqlite.hooks import SqliteHookReader
from omoide.storage.sqlite.idempotency import SqliteIdempotencyReader
from omoide.storage.sqlite.llm_calls import SqliteLlmCallReader
from omoide.storage.sqlite.mirrors import MirrorReader
from omoide.storage.sqlite.names import NameReader
from omoide.storage.sqlite.postings import NUMBERS, document_id, phrase, unpack_counts
from omoide.storage.sqlite.projects import SessionReader
from omoide.storage.sqlite.prompts import SqlitePromptReader
from omoide.storage.sqlite.runs import SqliteRunReader
from omoide.storage.sqlite.transaction import Transaction
from omoide.storage.sqlite.vectors import VectorReader
from omoide.storage.sqlite.work_trees import SqliteWorkTreeReader

_ONE = f"SELECT {COLUMNS} FROM {TABLES} WHERE "
# An event counts as a use: an imported memory may have old dates, but came to this store when its event was written.
_UNUSED = f"""
SELECT m.number, m.version, coalesce(p.path, ''), m.session, m.topic, m.pinned,
    max(m.created_at, m.updated_at, coalesce(a.last_accessed_at, 0),
        coalesce((SELECT max(e.at) FROM events e WHERE e.memory = m.number), 0)),
    m.expires_at
FROM {TABLES}
WHERE m.state = {ACTIVE} AND ({EXPIRED} OR (max(m.created_at, m.updated_at) <= :since
    AND coalesce(a.last_accessed_at, 0) <= :since
    AND NOT EXISTS (SELECT 1 FROM events e WHERE e.memory = m.number AND e.at > :since)))
ORDER BY {EXPIRED} DESC, 7, m.number"""
_LAYERS = tuple(Layer)
_TAGS_SHOWN = 20
_COMMON = 100
_NEVER_EXPIRED = -(1 << 62)  # a moment before any expiry
_numbers = msgspec.json.Decoder(list[int])
_NEWEST = " ORDER BY m.updated_at DESC, m.number DESC"


@cache
def _candidates(ranges: int, most: int, *, by_key: bool) -> str:
    """The statement that reads candidates for near-duplicates by a blocking key or none, then by so many ranges of keys.

    Both parts follow the index of blocking keys and stop at the limit, so that many rows are neither read nor sorted. The +
    and the limits that are written out keep SQLite from planning the statement again for each value, which takes as long
    as the search.
    """
    excerpt = "iif(length(content) <= ?6 + ?7, content, substr(content, 1, ?6) || ' ' || substr(content, -?7))"
    columns = f"SELECT number, {excerpt}"
    filters = "number <> ?3 AND +project = ?1 AND +session = ?2"
    filters += f" AND +state <> {FORGOTTEN} AND octet_length(content) BETWEEN ?4 AND ?5"
    same = f"{columns} FROM memories WHERE blocking_key = ?8 AND {filters} ORDER BY number DESC LIMIT {most}"
    if not ranges:
        return same
    bounds = ", ".join(f"(?{place}, ?{place + 1})" for place in range(9, 9 + 2 * ranges, 2))
    others = (
        f"{columns} FROM (VALUES {bounds}) CROSS JOIN memories ON blocking_key BETWEEN column1 AND column2 WHERE {filters}"
        f" LIMIT {most}"
    )
    return f"SELECT * FROM ({same}) UNION ALL SELECT * FROM ({others}) LIMIT {most}" if by_key else others


def area(project: int, state: State) -> int | None:
    """The part of the index a memory is in; None for a forgotten one, which is in none."""
    if state is State.FORGOTTEN:
        return None
    return project * 2 + (state is not State.ACTIVE)


def _sides(state: State) -> tuple[int, ...]:
    """Which of a project's two areas hold memories of this listing: what has expired is inactive, and stays in the first."""
    if state is State.FORGOTTEN:
        return ()
    return {State.ACTIVE: (0,), State.INACTIVE: (0, 1)}.get(state, (1,))


class SqliteReader(
    CachedReader,
    SqliteEventReader,
    MirrorReader,
    SessionReader,
    NameReader,
    VectorReader,
    SqliteLlmCallReader,
    SqlitePromptReader,
    SqliteIdempotencyReader,
    SqliteRunReader,
    SqliteWorkTreeReader,
    SqliteHookReader,
):
    """See `storage/base.py` for what each verb promises. Made by the store, for one transaction."""

    def __init__(self, tx: Transaction, known: ReaderCache):
        super().__init__(tx, known)
        self._cache = known.search
        self._is_current = False
        self._looked: tuple[Query | None, dict[int, tuple[int, int]]] = (None, {})

    @property
    def transaction(self) -> Transaction:
        return self._tx

    def _memory(self, where: str, values: tuple[object, ...]) -> Memory | None:
        row = self._tx.get(_ONE + where, values)
        return None if row is None else memory_from_row(row)

    def memory(self, reference: int | str) -> Memory | None:
        return self._memory("m.number = ?" if isinstance(reference, int) else "m.id = ?", (reference,))

    def memories(self, references: Sequence[int] | Sequence[str]) -> list[Memory]:
        if not references:
            return []
        column = "number" if isinstance(references[0], int) else "id"
        rows = self._tx.rows(
            f"SELECT {COLUMNS} FROM json_each(?) n CROSS JOIN {TABLES} WHERE m.{column} = n.value",
            (msgspec.json.encode(references).decode(),),
        )
        found = {getattr(memory, column): memory for memory in map(memory_from_row, rows)}
        return [found[reference] for reference in references if reference in found]

    def by_key(self, scope: Scope, key: str, *, forgotten: bool = False) -> Memory | None:
        state = f"= {FORGOTTEN} ORDER BY m.updated_at DESC, m.number DESC LIMIT 1" if forgotten else f"<> {FORGOTTEN}"
        where = f"m.project = ? AND m.session = ? AND m.key = ? AND m.key IS NOT NULL AND m.state {state}"
        project = self._project(scope.path)
        return None if project is None else self._memory(where, (project, scope.name, key))

    def by_key_in_sessions(self, scope: Scope, key: str) -> list[Memory]:
        project = self._project(scope.path)
        if project is None or not scope.path:
            return []
        where = f"m.project = ? AND m.session <> '' AND m.key = ? AND m.key IS NOT NULL AND m.state <> {FORGOTTEN}"
        rows = self._tx.rows(f"{_ONE}{where} ORDER BY m.updated_at DESC, m.number DESC", (project, key))
        return [memory_from_row(row) for row in rows]

    def by_fingerprint(self, fingerprint: int, scope: Scope, *, forgotten: bool = False) -> list[Memory]:
        project = self._project(scope.path)
        # First the bare index: almost every new memory has no fingerprint, and the joins would cost more than the answer.
        numbers = self._tx.rows("SELECT number FROM memories WHERE fingerprint = ?", (fingerprint,))
        if project is None or not numbers:
            return []
        state = f"m.state {'=' if forgotten else '<>'} {FORGOTTEN}"
        where = f"m.fingerprint = ? AND m.project = ? AND m.session = ? AND {state} ORDER BY m.number DESC"
        return [memory_from_row(row) for row in self._tx.rows(_ONE + where, (fingerprint, project, scope.name))]

    def known_fingerprints(self, fingerprints: Sequence[int]) -> set[int]:
        statement = "SELECT fingerprint FROM memories WHERE fingerprint IN (SELECT value FROM json_each(?))"
        return {fingerprint for (fingerprint,) in self._tx.rows(statement, (str(list(fingerprints)),))}

    def near_duplicate_candidates(
        self, wanted: NearDuplicateFilter, blocking_key: int | None, ranges: Collection[tuple[int, int]], most: int
    ) -> list[tuple[int, str]]:
        place = (self._project(wanted.scope.path), wanted.scope.name)
        sizes = (wanted.number, wanted.smallest, wanted.largest, wanted.head, wanted.tail)
        values = (*place, *sizes, blocking_key, *chain(*ranges))
        rows: list[Any] = self._tx.rows(_candidates(len(ranges), most, by_key=blocking_key is not None), values)
        return rows

    def browse(self, query: Query, at: datetime) -> Iterator[Memory]:
        clauses, values = self._where(query, at)
        where = " AND ".join(clauses)
        # Each project and state in the order of its index, merged here: SQLite would sort them all before the first.
        parts = [
            map(memory_from_row, self._tx.stream(f"{_ONE}{where} AND m.project = {project} AND {part}{_NEWEST}", values))
            for project in self._projects(query)
            for part in state_clauses(query.states)
        ]
        return merge(*parts, key=lambda memory: (memory.updated_at, memory.number), reverse=True)

    def memories_changed_between(self, query: Query, start: datetime, end: datetime, most: int, at: datetime) -> list[int]:
        clauses, values = self._where(query, at)
        values |= {"start": micros(start), "end": micros(end), "most": most}
        rows = self._tx.rows(
            f"SELECT m.number FROM memories m WHERE {' AND '.join(clauses)} AND m.updated_at >= :start"
            f" AND m.updated_at < :end{_NEWEST} LIMIT :most",
            values,
        )
        return [number for (number,) in rows]

    def count(self, query: Query, at: datetime) -> int:
        clauses, values = self._where(query, at)
        return int(self._tx.get("SELECT count(*) FROM memories m WHERE " + " AND ".join(clauses), values))

    def summary(self, query: Query, at: datetime) -> Summary:
        clauses, values = self._where(query, at)
        found = " WHERE " + " AND ".join(clauses)
        count, oldest, newest, weight = self._tx.get(
            "SELECT count(*), min(m.created_at), max(m.updated_at), coalesce(sum(octet_length(m.content)), 0)"
            " FROM memories m" + found,
            values,
        )
        types: list[Any] = self._tx.rows(
            f"SELECT m.type, count(*) FROM memories m{found} GROUP BY 1 ORDER BY 2 DESC, 1", values
        )
        # Counted as they are written first: folding, in Python, is then called for each spelling and not for each memory.
        tags: list[Any] = self._tx.rows(
            f"SELECT min(tag), sum(times) FROM (SELECT t.value AS tag, count(*) AS times FROM memories m,"
            f" json_each(m.tags) t{found} GROUP BY 1) GROUP BY folded(tag) ORDER BY 2 DESC, 1 LIMIT {_TAGS_SHOWN}",
            values,
        )
        bounds = [None if bound is None else moment(bound) for bound in (oldest, newest)]
        return Summary(count, dict(types), dict(tags), bounds[0], bounds[1], weight)

    def sizes(self, query: Query) -> IndexSize:
        sizes = self._areas(query).values()
        return IndexSize(sum(entries for entries, _ in sizes), sum(terms for _, terms in sizes))

    def frequencies(self, query: Query, terms: Iterable[str], most: int) -> dict[str, int]:
        found = dict.fromkeys(terms, 0)
        for where, (entries, _) in self._areas(query).items():
            lowest, highest = document_id(where, 0), document_id(where, NUMBERS)
            statement = "SELECT {} FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
            if entries <= most:
                statement = statement.format("count(*)")
            else:
                statement = f"SELECT count(*) FROM ({statement.format(1)} LIMIT {most:d})"
            tallies = self._known.tallies(where, entries, most)
            for term in found:
                count = tallies.get(term)
                if count is None:
                    count = self._tx.get(statement, (phrase(term), lowest, highest))
                    if count > _COMMON:
                        tallies[term] = count
                found[term] += count
        return {term: min(count, most) for term, count in found.items()}

    def posting_numbers(
        self, query: Query, terms: Iterable[str], most: int, *, topic_or_tags: bool = False
    ) -> dict[str, list[int]]:
        fields = "{topic tags} : " if topic_or_tags else ""
        found: dict[str, list[int]] = {term: [] for term in terms}
        # One text for them all: half the time of a row each.
        statement = (
            f"SELECT json_group_array(rowid & {NUMBERS}) FROM (SELECT rowid FROM words WHERE words MATCH ?"
            " AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?)"
        )
        for where in self._areas(query):
            lowest, highest = document_id(where, 0), document_id(where, NUMBERS)
            for term, numbers in found.items():
                asked = (fields + phrase(term), lowest, highest, most - len(numbers))
                numbers.extend(_numbers.decode(self._tx.get(statement, asked)))
        return found

    def postings(self, query: Query, terms: Iterable[str], numbers: Sequence[int]) -> dict[str, list[Posting]]:
        # The + keeps SQLite from searching once for each memory: one walk over the term's list is far cheaper.
        statement = (
            "SELECT rowid, counts(words) FROM words WHERE words MATCH ?1 AND rowid BETWEEN ?2 AND ?3"
            " AND +rowid IN (SELECT value FROM json_each(?4))"
        )
        found: dict[str, list[Posting]] = {term: [] for term in terms}
        for where in self._areas(query):
            documents = [document_id(where, number) for number in numbers]
            span = (min(documents, default=0), max(documents, default=0), str(documents))
            for term, postings in found.items():
                postings += [
                    (row & NUMBERS, *unpack_counts(packed))
                    for row, packed in self._tx.rows(statement, (phrase(term), *span))
                ]
        return found

    def versions(self, number: int) -> list[Version]:
        present = self.memory(number)
        if present is None:
            return []
        actors = "SELECT name, role, via FROM actors WHERE number = "
        rows = self._tx.rows("SELECT version, actor, body FROM versions WHERE memory = ? ORDER BY version", (number,))
        found = [
            _version(version_from_json(present, version, body), read_actor(self._tx.get(actors + "?", (by,))))
            for version, by, body in rows
        ]
        by = self._tx.get(actors + "(SELECT actor FROM memories WHERE number = ?)", (number,))
        return [*found, Version(present, read_actor(by))]

    def links(self, number: int) -> list[Link]:
        rows = self._tx.rows(
            "SELECT s.id, l.kind, t.id, l.created_at FROM links l JOIN memories s ON s.number = l.source"
            " JOIN memories t ON t.number = l.target WHERE l.source = ?1 OR l.target = ?1 ORDER BY l.created_at, l.kind",
            (number,),
        )
        return [Link(source, msgspec.convert(kind, LinkKind), target, moment(at)) for source, kind, target, at in rows]

    def everything(self) -> Iterator[Memory]:
        return map(memory_from_row, self._tx.pages(_ONE + "m.number > ? ORDER BY m.number LIMIT 500"))

    def counts(self, at: datetime | None = None) -> list[tuple[Scope, str, str, int]]:
        rows = self._tx.rows(
            f"SELECT coalesce(p.path, ''), m.session, m.type, {LISTING}, count(*) FROM memories m"
            " LEFT JOIN projects p ON p.number = m.project GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
            {"at": _NEVER_EXPIRED if at is None else micros(at)},
        )
        return [(Scope(path, session), type, STATES[state].value, n) for path, session, type, state, n in rows]

    def unused_memories(self, since: datetime, at: datetime) -> Iterator[Usage]:
        rows = self._tx.stream(_UNUSED, {"since": micros(since), "at": micros(at)})
        scopes: dict[tuple[str, str], Scope] = {}  # few, of many memories
        for number, version, path, session, topic, pinned, used_at, expires_at in rows:
            scope = scopes.setdefault((path, session), Scope(path, session))
            expiry = None if expires_at is None else moment(expires_at)
            yield Usage(number, version, scope, topic, bool(pinned), moment(used_at), expiry)

    def memories_expired_since(self, event: int, at: datetime) -> list[int]:
        rows = self._tx.rows(
            "SELECT m.number FROM memories m"
            " WHERE m.expires_at > coalesce((SELECT e.at FROM events e WHERE e.number = :event), 0)"
            f" AND {EXPIRED} ORDER BY m.number",
            {"event": event, "at": micros(at)},
        )
        return [number for (number,) in rows]

    def last_run(self, task: str) -> datetime | None:
        at = self._tx.get("SELECT at FROM upkeep WHERE task = ?", (task,))
        return None if at is None else moment(at)

    # the parts of the above

    def _where(self, query: Query, at: datetime) -> tuple[list[str], dict[str, Any]]:
        clauses, values = conditions(query, at)
        clauses.append(f"m.project IN ({', '.join(map(str, self._projects(query)))})")
        layers = query.layers
        if layers and Layer.PROJECT not in layers:
            clauses.append("(m.project = 0 OR m.session <> '')")
        if layers and Layer.SESSION not in layers:
            clauses.append("m.session = ''")
        if Layer.SESSION in layers and query.scope.name:
            # The second says nothing new, but without it SQLite does not see that its index of sessions will do.
            alone = tuple(layers) == (Layer.SESSION,)
            clauses.append("m.session = :session AND m.session <> ''" if alone else "m.session IN ('', :session)")
            values["session"] = query.scope.name
        return clauses, values

    def _areas(self, query: Query) -> dict[int, tuple[int, int]]:
        """The parts of the index that a query may look into and that are not empty, nearest first, with their sizes."""
        last, areas = self._looked
        if last is not query:
            areas = {}
            sides = sorted({side for state in query.states for side in _sides(state)})
            for where in [project * 2 + side for side in sides for project in self._projects(query)]:
                size = self._size(where)
                if size is not None:
                    areas[where] = size
            self._looked = query, areas
        return areas

    def _projects(self, query: Query) -> list[int]:
        layers = query.layers or _LAYERS
        projects: list[int] = []
        if Layer.PROJECT in layers or Layer.SESSION in layers:
            paths = dict.fromkeys(filter(None, (query.scope.path, *query.projects)))
            projects += [number for number in map(self._project, paths) if number is not None]
        if Layer.EVERYWHERE in layers:
            projects.append(0)
        return projects


def _version(memory: Memory, actor: Actor) -> Version:
    # Older ones do not say who wrote them: then who made the version.
    return Version(memory if memory.author else msgspec.structs.replace(memory, author=actor), actor)
