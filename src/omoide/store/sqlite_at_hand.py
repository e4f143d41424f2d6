"""What a process knows of a store between transactions, on SQLite: so a question reads little more than its answer.

Every write logs an event. At the next question, whatever is known of the memories that events are about is looked up anew,
whoever wrote.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from omoide.model import Query, State
from omoide.store.base import Holding, Mark, Outline
from omoide.store.bits import joined
from omoide.store.sql import ACTIVE, micros
from omoide.store.sqlite_holders import CHANGES, Area, Holders, numbers, phrase, together
from omoide.store.sqlite_outlines import Outlines
from omoide.store.sqlite_transaction import Transaction, Written

WIDEST = 1 << 15
"""The highest number of a memory up to which this pays: beyond, long lists are better looked at in part."""
_MARK_AND_HIGHEST = """
SELECT coalesce((SELECT max(number) FROM events), 0), coalesce((SELECT at FROM upkeep WHERE task = 'index'), 0),
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memories'), 0)"""
_NOWHERE = Mark(-1, -1)
_AREA = "SELECT entries, terms FROM areas WHERE area = ? AND entries > 0"
_LENGTHS = "SELECT m.number, m.length FROM json_each(:numbers) n CROSS JOIN memories m ON m.number = n.value WHERE "
_SPOKEN = "SELECT m.number FROM json_each(?) n CROSS JOIN memories m ON m.number = n.value WHERE m.session <> ''"
_OUTLINES = """
SELECT m.number, m.project = 0, m.session, m.confidence, m.relevance, m.reference_count,
    (?2 - m.updated_at) / 86400000000.0
FROM json_each(?1) n CROSS JOIN memories m ON m.number = n.value"""
_PART = 4  # an area that holds less than such a part of all memories is looked at by itself


class AtHand:
    """Who holds which term, what the ranking needs of memories, and how many there are."""

    def __init__(self) -> None:
        self.holders = Holders()
        self.outlines = Outlines()
        self.sizes: dict[int, tuple[int, int] | None] = {}
        """How much each area holds."""
        self.highest = 0
        self.version: Written | None = None
        self.mark = _NOWHERE

    def catch_up(self, mark: Mark, highest: int, happened: Callable[[int], tuple[int, list[int]]]) -> None:
        """Learns what happened since: up to the last event, and whether the whole index was made anew."""
        self.highest = highest
        if mark == self.mark:
            return
        self.sizes.clear()
        if mark.renewal == self.mark.renewal and 0 < mark.event - self.mark.event <= CHANGES:
            changed = happened(self.mark.event)[1]
            self.holders.changed(changed)
            self.outlines.forget(changed)
        else:
            self.holders, self.outlines = Holders(), Outlines()
        self.mark = mark


class AtHandReading:
    _tx: Transaction
    _at_hand: AtHand
    _caught: bool
    _areas: Callable[[Query], dict[int, tuple[int, int]]]
    _where: Callable[[Query, datetime], tuple[list[str], dict[str, Any]]]
    happened: Callable[[int], tuple[int, list[int]]]

    def mark(self) -> Mark:
        return self._caught_up().mark

    def _caught_up(self) -> AtHand:
        if not self._caught:
            version = self._tx.written()
            if version != self._at_hand.version:
                event, index, highest = self._tx.get(_MARK_AND_HIGHEST)
                self._at_hand.catch_up(Mark(event, index), highest, self.happened)
                self._at_hand.version = version
            self._caught = True
        return self._at_hand

    def _size(self, area: int) -> tuple[int, int] | None:
        """Entries and terms; None of an area that is empty."""
        sizes = self._caught_up().sizes
        if area not in sizes:
            sizes[area] = self._tx.get(_AREA, (area,))
        return sizes[area]

    def held(self, query: Query, terms: Mapping[str, int], often: int) -> dict[str, Holding] | None:
        at_hand = self._caught_up()
        if at_hand.highest >= WIDEST:
            return None
        parts = [
            at_hand.holders.look(self._tx, Area(area, entries, entries * _PART < at_hand.highest), terms, often)
            for area, (entries, _) in self._areas(query).items()
        ]
        return parts[0] if len(parts) == 1 else {term: together([part[term] for part in parts]) for term in terms}

    def titled(self, query: Query, terms: Iterable[str]) -> dict[str, int]:
        found = dict.fromkeys(terms, 0)
        for area in self._areas(query):
            for term in found:
                found[term] |= joined(numbers(self._tx, area, "{topic tags} : " + phrase(term)))
        return found

    def lengths(self, query: Query, numbers: Sequence[int], at: datetime) -> dict[int, int]:
        at_hand, state = self._caught_up(), query.states[0] if len(query.states) == 1 else None
        filtered = query.types or query.tags or query.since is not None or query.pinned or query.layers or query.roles
        if filtered or state is not State.ACTIVE or at_hand.highest >= WIDEST:
            clauses, values = self._where(query, at)
            values["numbers"] = str(list(numbers))
            return dict(self._tx.rows(_LENGTHS + " AND ".join(clauses), values))
        # What is active in a project is an area of its own.
        projects = [area >> 1 for area in self._areas(query)]
        return at_hand.outlines.lengths(self._tx, numbers, projects, ACTIVE, micros(at))

    def spoken(self, numbers: Collection[int]) -> list[int]:
        at_hand = self._caught_up()
        if at_hand.highest >= WIDEST:
            return [number for (number,) in self._tx.rows(_SPOKEN, (str(list(numbers)),))]
        return at_hand.outlines.spoken(self._tx, numbers)

    def outlines(self, numbers: Collection[int], at: datetime) -> list[Outline]:
        at_hand = self._caught_up()
        if at_hand.highest >= WIDEST:
            return list(map(Outline._make, self._tx.rows(_OUTLINES, (str(list(numbers)), micros(at)))))
        return at_hand.outlines.outlines(self._tx, numbers, micros(at))
