"""Who holds a term, on SQLite: kept between transactions, a bit for each memory, and brought up to date by what happened.

Looking a term up takes as long as its list is, and the same few hundred come with most questions. Kept, each is one number
that `search/bits.py` can add up; and after a write, only the memories that it was about are looked up anew.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from omoide.model import Query
from omoide.store.base import Counts, Holding, Mark

WIDEST = 1 << 15
"""The highest number of a memory up to which this pays: beyond, long lists are better looked at in part."""
_AREA_BITS = 32
NUMBERS = (1 << _AREA_BITS) - 1
"""In a row id of the index, the bits of the memory's number."""
ONCE = 1 << 26
"""What `counts` answers for a term that stands once in the content."""
RENEWED = """
INSERT INTO upkeep VALUES ('index', CAST(unixepoch('subsec') * 1000000 AS INTEGER))
ON CONFLICT (task) DO UPDATE SET at = max(at + 1, excluded.at)"""
"""Says that the whole index was made anew: whoever keeps something of the old one forgets it."""

_KEPT = 4 << 20  # bytes
_AROUND = 200  # bytes that Python needs for a term beside its bits, and about as many for each count
_CHANGES = 10_000  # from which everything is looked up anew
_AFRESH = 50  # changes from which a term is looked up as a whole
_FEW = 1_000  # holders whose counts, kept, are cheaper than those of some of them with every question
_DRIFT = 20  # a count that only says how common a term is holds until its area has grown or shrunk by this part
_DENSE = 150
_DIGITS = b"01" + bytes(254)
_FROM = " FROM words WHERE words MATCH ?1 AND rowid BETWEEN ?2 AND ?3"
# Whether there are more than so many: asked like this in two thirds of the time of counting them.
_MORE = f"SELECT 1{_FROM} LIMIT 1 OFFSET ?4"
# The + keeps SQLite from searching once for each memory.
_AMONG = " AND +rowid IN (SELECT value FROM json_each(?4))"
# One text for them all: half the time of a row each.
_NUMBERS = f"SELECT json_group_array(rowid & {NUMBERS})"
_COUNTS = f"SELECT rowid & {NUMBERS}, counts(words)"
INSTANCES = "CREATE VIRTUAL TABLE temp.instances USING fts5vocab('main', 'words', 'instance')"
"""Each place of each term, which SQLite counts in a third of the time that `counts` takes."""
_SUMMED = f"""
SELECT doc & {NUMBERS}, sum(col = 'topic'), sum(col = 'tags'), sum(col = 'content') FROM temp.instances
WHERE term = ?1 AND doc BETWEEN ?2 AND ?3 GROUP BY doc HAVING count(*) > 1 OR min(col) <> 'content'"""
_MARK = """
SELECT coalesce((SELECT max(number) FROM events), 0), coalesce((SELECT at FROM upkeep WHERE task = 'index'), 0)"""
_MARK_AND_HIGHEST = f"{_MARK}, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memories'), 0)"
_numbers = msgspec.json.Decoder(list[int])

Execute = Callable[..., Any]


def document(area: int, number: int) -> int:
    return area << _AREA_BITS | number


def phrase(term: str) -> str:
    """A term as FTS5 reads it: always a quoted string, never syntax."""
    return '"' + term.replace('"', '""') + '"'


def unpacked(packed: int) -> Counts:
    """What `counts` packed."""
    return packed & 0x3FF, packed >> 10 & 0xFFFF, packed >> 26


def joined(numbers: Collection[int]) -> int:
    """Memories as one number: a bit for each."""
    if len(numbers) > _DENSE:  # a digit for each, all read at once; for few, the bits of each byte
        flags = bytearray(max(numbers) + 1)
        for number in numbers:
            flags[number] = 1
        flags.reverse()
        return int(flags.translate(_DIGITS), 2)
    packed = bytearray(max(numbers, default=0) // 8 + 1)
    for number in numbers:
        packed[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(packed, "little")


class _Kept(NamedTuple):
    holding: Holding
    stamp: int
    """How many of the changes are in it; of a term too common to be kept, how many memories its area held."""


class Holders:
    """What a store knows of who holds which term, in which area of the index."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, str], _Kept] = {}
        self._changes: list[int] = []
        self._event = 0
        self._index = 0
        self._weight = 0

    def catch_up(self, event: int, index: int, happened: Callable[[int], tuple[int, list[int]]]) -> None:
        """Learns what happened since: up to the last event, and whether the whole index was made anew."""
        since = event - self._event
        if index != self._index or since < 0 or len(self._changes) + since > _CHANGES:
            self._clear()
        elif since:
            self._changes += happened(self._event)[1]
        self._event, self._index = event, index

    def _clear(self) -> None:
        self._kept.clear()
        self._changes.clear()
        self._weight = 0

    def look(self, execute: Execute, area: int, entries: int, term: str, most: int, *, counted: bool) -> Holding:
        kept = self._kept.get((area, term))
        if kept is not None:
            holding, stamp = kept
            if holding.bits is None:
                if holding.holders > most and abs(entries - stamp) * _DRIFT <= stamp:
                    return holding
            elif stamp == len(self._changes):
                return holding
            elif len(changed := sorted(set(self._changes[stamp:]))) <= _AFRESH:
                holding = _patched(execute, area, term, holding, changed)
                self._kept[area, term] = _Kept(holding, len(self._changes))
                return holding
        holding = _looked(execute, area, entries, term, most, counted=counted)
        self._weight += _AROUND * (1 + len(holding.counts or ())) + (holding.bits or 0).bit_length() // 8
        if self._weight > _KEPT:
            self._clear()
        self._kept[area, term] = _Kept(holding, entries if holding.bits is None else len(self._changes))
        return holding


def _looked(execute: Execute, area: int, entries: int, term: str, most: int, *, counted: bool) -> Holding:
    values = (phrase(term), document(area, 0), document(area, NUMBERS))
    if entries > most and execute(_MORE, (*values, most)).get is not None:
        return Holding(most + 1, None, None)
    numbers = _numbers.decode(execute(_NUMBERS + _FROM, values).get)
    counts = None
    if counted and len(numbers) <= _FEW:
        rows = execute(_SUMMED, (term, *values[1:]))
        counts = {number: (topic, tags, content) for number, topic, tags, content in rows}
    return Holding(len(numbers), joined(numbers), counts)


def _patched(execute: Execute, area: int, term: str, holding: Holding, changed: list[int]) -> Holding:
    documents = [document(area, number) for number in changed]
    rows = execute(_COUNTS + _FROM + _AMONG, (phrase(term), documents[0], documents[-1], str(documents))).fetchall()
    bits = (holding.bits or 0) & ~joined(changed) | joined([number for number, _ in rows])
    counts = holding.counts
    if counts is not None:
        counts = {number: its for number, its in counts.items() if number not in changed} | _unusual(rows)
    return Holding(bits.bit_count(), bits, counts)


def _unusual(rows: Iterable[tuple[int, int]]) -> dict[int, Counts]:
    return {number: unpacked(packed) for number, packed in rows if packed != ONCE}


class HolderReading:
    _execute: Execute
    _areas: Callable[[Query], dict[int, tuple[int, int]]]
    happened: Callable[[int], tuple[int, list[int]]]
    _holders: Holders

    def mark(self) -> Mark:
        return Mark(*self._execute(_MARK).get)

    def held(self, query: Query, terms: Mapping[str, int], counted: Collection[str]) -> dict[str, Holding] | None:
        event, index, highest = self._execute(_MARK_AND_HIGHEST).get
        if highest >= WIDEST:
            return None
        self._holders.catch_up(event, index, self.happened)
        look, execute = self._holders.look, self._execute
        parts = [
            {term: look(execute, area, entries, term, most, counted=term in counted) for term, most in terms.items()}
            for area, (entries, _) in self._areas(query).items()
        ]
        return parts[0] if len(parts) == 1 else {term: _together([part[term] for part in parts]) for term in terms}

    def titled(self, query: Query, terms: Iterable[str]) -> dict[str, int]:
        found = dict.fromkeys(terms, 0)
        for area in self._areas(query):
            for term in found:
                values = ("{topic tags} : " + phrase(term), document(area, 0), document(area, NUMBERS))
                found[term] |= joined(_numbers.decode(self._execute(_NUMBERS + _FROM, values).get))
        return found


def _together(parts: list[Holding]) -> Holding:
    """What several areas hold. A memory is in one of them only."""
    bits, counts = 0, dict[int, Counts]()
    for part in parts:
        if part.bits is None:
            return Holding(sum(part.holders for part in parts), None, None)
        bits |= part.bits
        counts |= part.counts or {}
    return Holding(bits.bit_count(), bits, None if any(part.counts is None for part in parts) else counts)
