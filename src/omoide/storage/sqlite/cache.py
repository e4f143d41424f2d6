"""What a process knows of a store between transactions, on SQLite: so a question reads little more than its answer.

Every write logs an event. At the next question, whatever is known of the memories that events are about is looked up anew,
whoever wrote.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from omoide.model import Actor, Query, State
from omoide.storage.base import PostingSet, RankingFacts, StoreMark
from omoide.storage.bitset import from_numbers
from omoide.storage.rows import ACTIVE, micros
from omoide.storage.sqlite.postings import CHANGES, Area, PostingCache, numbers, phrase, union
from omoide.storage.sqlite.ranking_cache import RankingCache
from omoide.storage.sqlite.transaction import Transaction, WriteCounters

WIDEST = 1 << 15
"""The highest number of a memory up to which this pays: beyond, long lists are better looked at in part."""
MARK = """
SELECT coalesce((SELECT max(number) FROM events), 0), coalesce((SELECT at FROM upkeep WHERE task = 'index'), 0)"""
_MARK_AND_HIGHEST = f"{MARK}, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memories'), 0)"
_NOWHERE = StoreMark(-1, -1)
_AREA = "SELECT entries, terms FROM areas WHERE area = ? AND entries > 0"
_LENGTHS = "SELECT m.number, m.length FROM json_each(:numbers) n CROSS JOIN memories m ON m.number = n.value WHERE "
_SPOKEN = "SELECT m.number FROM json_each(?) n CROSS JOIN memories m ON m.number = n.value WHERE m.session <> ''"
_OUTLINES = """
SELECT m.number, m.project = 0, m.session, m.confidence, m.relevance, m.reference_count,
    (?2 - m.updated_at) / 86400000000.0
FROM json_each(?1) n CROSS JOIN memories m ON m.number = n.value"""
_PART = 4  # an area that holds less than such a part of all memories is looked at by itself

_DRIFT = 20
_TALLIED = 10_000


class ProcessCache:
    """Who holds which term, what the ranking needs of memories, and how many there are."""

    def __init__(self) -> None:
        self.holders = PostingCache()
        self.outlines = RankingCache()
        self.sizes: dict[int, tuple[int, int] | None] = {}
        """How much each area holds."""
        self.highest = 0
        self.version: WriteCounters | None = None
        self.mark = _NOWHERE

    def catch_up(self, mark: StoreMark, highest: int, changed_since: Callable[[int], list[int]]) -> None:
        """Learns what happened since: up to the last event, and whether the whole index was made anew."""
        self.highest = highest
        if mark == self.mark:
            return
        self.sizes.clear()
        if mark.renewal == self.mark.renewal and 0 < mark.event - self.mark.event <= CHANGES:
            changed = changed_since(self.mark.event)
            self.holders.invalidate(changed)
            self.outlines.forget(changed)
        else:
            self.holders, self.outlines = PostingCache(), RankingCache()
        self.mark = mark


class ReaderCache:
    """What a store knows between transactions, so that not every one of them looks it up again."""

    def __init__(self) -> None:
        self.projects: dict[str, int] = {"": 0}
        self.actors: dict[Actor, int] = {}
        self.at_hand = ProcessCache()
        self._tallies: dict[tuple[int, int], tuple[int, dict[str, int]]] = {}

    def invalidate(self) -> None:
        """Forgets the numbers: a transaction that was rolled back may have made some of them."""
        self.projects = {"": 0}
        self.actors = {}

    def tallies(self, area: int, entries: int, most: int) -> dict[str, int]:
        """How many memories of an area hold each common term, counted up to `most`: counting is most of a search.

        They are as old as they may be without changing an order: when the area has grown or shrunk by a twentieth, it is
        counted anew. Rare terms are not kept, because there one memory more can matter.
        """
        then, known = self._tallies.get((area, most), (0, {}))
        if abs(entries - then) * _DRIFT > then or len(known) > _TALLIED:
            then, known = self._tallies[area, most] = (entries, {})
        return known


class CachedReader:
    _tx: Transaction
    _at_hand: ProcessCache
    _caught: bool
    _areas: Callable[[Query], dict[int, tuple[int, int]]]
    _where: Callable[[Query, datetime], tuple[list[str], dict[str, Any]]]
    changed_since: Callable[[int], list[int]]

    def mark(self) -> StoreMark:
        return self._current_cache().mark

    def _current_cache(self) -> ProcessCache:
        if not self._caught:
            version = self._tx.write_counters()
            if version != self._at_hand.version:
                event, index, highest = self._tx.get(_MARK_AND_HIGHEST)
                self._at_hand.catch_up(StoreMark(event, index), highest, self.changed_since)
                self._at_hand.version = version
            self._caught = True
        return self._at_hand

    def _size(self, area: int) -> tuple[int, int] | None:
        """Entries and terms; None of an area that is empty."""
        sizes = self._current_cache().sizes
        if area not in sizes:
            sizes[area] = self._tx.get(_AREA, (area,))
        return sizes[area]

    def posting_sets(self, query: Query, terms: Mapping[str, int], often: int) -> dict[str, PostingSet] | None:
        at_hand = self._current_cache()
        if at_hand.highest >= WIDEST:
            return None
        parts = [
            at_hand.holders.look(self._tx, Area(area, entries, entries * _PART < at_hand.highest), terms, often)
            for area, (entries, _) in self._areas(query).items()
        ]
        return parts[0] if len(parts) == 1 else {term: union([part[term] for part in parts]) for term in terms}

    def title_postings(self, query: Query, terms: Iterable[str]) -> dict[str, int]:
        found = dict.fromkeys(terms, 0)
        for area in self._areas(query):
            for term in found:
                found[term] |= from_numbers(numbers(self._tx, area, "{topic tags} : " + phrase(term)))
        return found

    def lengths(self, query: Query, numbers: Sequence[int], at: datetime) -> dict[int, int]:
        at_hand, state = self._current_cache(), query.states[0] if len(query.states) == 1 else None
        filtered = query.types or query.tags or query.since is not None or query.pinned or query.layers or query.roles
        if filtered or state is not State.ACTIVE or at_hand.highest >= WIDEST:
            clauses, values = self._where(query, at)
            values["numbers"] = str(list(numbers))
            return dict(self._tx.rows(_LENGTHS + " AND ".join(clauses), values))
        # What is active in a project is an area of its own.
        projects = [area >> 1 for area in self._areas(query)]
        return at_hand.outlines.lengths(self._tx, numbers, projects, ACTIVE, micros(at))

    def in_sessions(self, numbers: Collection[int]) -> list[int]:
        at_hand = self._current_cache()
        if at_hand.highest >= WIDEST:
            return [number for (number,) in self._tx.rows(_SPOKEN, (str(list(numbers)),))]
        return at_hand.outlines.in_sessions(self._tx, numbers)

    def ranking_facts(self, numbers: Collection[int], at: datetime) -> list[RankingFacts]:
        at_hand = self._current_cache()
        if at_hand.highest >= WIDEST:
            return list(map(RankingFacts._make, self._tx.rows(_OUTLINES, (str(list(numbers)), micros(at)))))
        return at_hand.outlines.ranking_facts(self._tx, numbers, micros(at))
