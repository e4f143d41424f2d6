"""What a process caches of a SQLite store between transactions, so that a search reads little more than its results.

Every write appends an event. At the next read, whatever is cached of the memories that new events are about is dropped,
whichever process wrote.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from omoide.errors import Conflict
from omoide.model import Actor, Query, State
from omoide.storage.base import PostingSet, RankingFacts, StoreMark
from omoide.storage.rows import ACTIVE, micros
from omoide.storage.sqlite.postings import CHANGES, Area, PostingCache, union
from omoide.storage.sqlite.ranking_cache import RankingCache
from omoide.storage.sqlite.transaction import Transaction, WriteCounters

HIGHEST_CACHED = 1 << 15
"""The highest number of a memory up to which postings and ranking facts are cached: beyond, reading a part of the long
posting lists is faster."""
MARK = """
SELECT coalesce((SELECT max(number) FROM events), 0), coalesce((SELECT at FROM upkeep WHERE task = 'index'), 0)"""
_MARK_AND_HIGHEST = f"{MARK}, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memories'), 0)"
_NO_MARK = StoreMark(-1, -1)
_AREA = "SELECT entries, terms FROM areas WHERE area = ? AND entries > 0"
_RANKING_FACTS = """
SELECT m.number, m.length, m.project = 0, m.session, m.confidence, m.relevance, m.reference_count,
    (:now - m.updated_at) / 86400000000.0
FROM json_each(:numbers) n CROSS JOIN memories m ON m.number = n.value WHERE """
_PART = 4  # an area with less than this part of all memories is read by itself

_DRIFT = 20
_TALLIED = 10_000


class SearchCache:
    """The postings of terms, the ranking facts of memories, and the sizes of areas, up to a mark of the store."""

    def __init__(self) -> None:
        self.postings = PostingCache()
        self.ranking = RankingCache()
        self.sizes: dict[int, tuple[int, int] | None] = {}
        """Entries and terms of each area."""
        self.highest = 0
        """The highest number of a memory."""
        self.version: WriteCounters | None = None
        self.mark = _NO_MARK

    def catch_up(self, mark: StoreMark, highest: int, changed_since: Callable[[int], list[int]]) -> None:
        """Drop what changed up to this mark; everything if the index was rebuilt or very much changed."""
        self.highest = highest
        if mark == self.mark:
            return
        self.sizes.clear()
        if mark.rebuild == self.mark.rebuild and 0 < mark.event - self.mark.event <= CHANGES:
            changed = changed_since(self.mark.event)
            self.postings.invalidate(changed)
            self.ranking.invalidate(changed)
        else:
            self.postings, self.ranking = PostingCache(), RankingCache()
        self.mark = mark


class ReaderCache:
    """Everything that a store caches between transactions."""

    def __init__(self) -> None:
        self.projects: dict[str, int] = {"": 0}
        self.actors: dict[Actor, int] = {}
        self.search = SearchCache()
        self._names_version = -1
        self._tallies: dict[tuple[int, int], tuple[int, dict[str, int]]] = {}

    def invalidate(self) -> None:
        """Forget the numbers of projects and actors: a transaction that was rolled back may have made some of them."""
        self.projects = {"": 0}
        self.actors = {}

    def require_names(self, version: int) -> None:
        """Drop the numbers of projects and actors if another connection has written: it may have renamed or merged some."""
        if version != self._names_version:
            self.invalidate()
            self._names_version = version

    def tallies(self, area: int, entries: int, most: int) -> dict[str, int]:
        """Return how many memories of an area contain each common term, counted up to `most`: counting is half of a search
        in a large store.

        Counts are dropped when the area has grown or shrunk by a twentieth: until then they change no order. Rare terms are
        not cached, because there one more memory can matter.
        """
        then, known = self._tallies.get((area, most), (0, {}))
        if abs(entries - then) * _DRIFT > then or len(known) > _TALLIED:
            then, known = self._tallies[area, most] = (entries, {})
        return known


class NumberReader:
    """The numbers by which rows refer to projects and actors, cached between transactions."""

    def __init__(self, tx: Transaction, known: ReaderCache):
        self._tx = tx
        self._known = known
        self._names_checked = False

    def _names(self) -> ReaderCache:
        """Return the cache, with numbers of projects and actors that hold in this transaction."""
        if not self._names_checked:
            self._known.require_names(self._tx.data_version())
            self._names_checked = True
        return self._known

    def _project(self, path: str) -> int | None:
        """Return a project's number; None if there is no such project."""
        number = self._names().projects.get(path)
        if number is None:
            row = self._tx.get("SELECT number, path FROM projects WHERE folded = ?", (path.casefold(),))
            if row is None:
                return None
            if row[1] != path:
                raise Conflict(f"there is a project {row[1]!r} that differs only in case: use that name")
            number = self._known.projects[path] = row[0]
        return number


class NumberWriter(NumberReader):
    """The same, where a project or an actor that is new gets its number."""

    def _ensure_project(self, path: str, at: datetime) -> int:
        """Return a project's number; create the project if it is new."""
        number = self._project(path)
        if number is None:
            self._tx.run(
                "INSERT INTO projects (path, folded, created_at) VALUES (?, ?, ?)", (path, path.casefold(), micros(at))
            )
            number = self._known.projects[path] = self._tx.last_number()
        return number

    def _actor_number(self, actor: Actor) -> int:
        """Return an actor's number; store the actor if it is new."""
        number = self._names().actors.get(actor)
        if number is None:
            values = (actor.name, actor.role.value, actor.via)
            find = "SELECT number FROM actors WHERE name = ? AND role = ? AND via = ?"
            number = self._tx.get(find, values)
            if number is None:
                self._tx.run("INSERT INTO actors (name, role, via) VALUES (?, ?, ?)", values)
                number = self._tx.last_number()
            self._known.actors[actor] = number
        return number


class CachedReader(NumberReader):
    """The methods of `SearchIndex` that answer from the cache."""

    _cache: SearchCache
    _is_current: bool
    _areas: Callable[[Query], dict[int, tuple[int, int]]]
    _where: Callable[[Query, datetime], tuple[list[str], dict[str, Any]]]
    memories_changed_since: Callable[[int], list[int]]

    def mark(self) -> StoreMark:
        return self._cache.mark if self._is_current else StoreMark(*self._tx.get(MARK))

    def _current_cache(self) -> SearchCache:
        if not self._is_current:
            version = self._tx.write_counters()
            if version != self._cache.version:
                event, index, highest = self._tx.get(_MARK_AND_HIGHEST)
                self._cache.catch_up(StoreMark(event, index), highest, self.memories_changed_since)
                self._cache.version = version
            self._is_current = True
        return self._cache

    def _size(self, area: int) -> tuple[int, int] | None:
        """Return entries and terms of an area; None if it is empty."""
        sizes = self._current_cache().sizes
        if area not in sizes:
            sizes[area] = self._tx.get(_AREA, (area,))
        return sizes[area]

    def posting_sets(self, query: Query, terms: Mapping[str, int], counted: int) -> dict[str, PostingSet] | None:
        cache = self._current_cache()
        if cache.highest >= HIGHEST_CACHED:
            return None
        parts = [
            cache.postings.posting_sets(self._tx, Area(area, entries, entries * _PART < cache.highest), terms, counted)
            for area, (entries, _) in self._areas(query).items()
        ]
        return parts[0] if len(parts) == 1 else {term: union([part[term] for part in parts]) for term in terms}

    def ranking_facts(self, query: Query, numbers: Sequence[int], at: datetime) -> dict[int, RankingFacts]:
        cache = self._current_cache()
        filtered = query.types or query.tags or query.since is not None or query.pinned or query.layers or query.roles
        if not filtered and tuple(query.states) == (State.ACTIVE,) and cache.highest < HIGHEST_CACHED:
            # The active memories of a project are an area of their own.
            projects = [area >> 1 for area in self._areas(query)]
            return cache.ranking.ranking_facts(self._tx, numbers, projects, ACTIVE, micros(at))
        clauses, values = self._where(query, at)
        values |= {"numbers": str(list(numbers)), "now": micros(at)}
        rows = self._tx.rows(_RANKING_FACTS + " AND ".join(clauses), values)
        return {number: RankingFacts(*facts) for number, *facts in rows}
