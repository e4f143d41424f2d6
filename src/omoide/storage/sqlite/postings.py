"""Who holds a term, on SQLite: kept between transactions, a bit for each memory, and brought up to date by what happened.

Looking a term up takes as long as its list is, and the same few hundred come with most questions. Kept, each is one number
that `retrieval/bit_sums.py` can add up; and after a write, only the memories that it was about are looked up anew.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import compress
from operator import eq
from typing import NamedTuple

import apsw
import msgspec

from omoide.storage.base import Counts, PostingSet
from omoide.storage.bitset import from_numbers
from omoide.storage.sqlite.transaction import Transaction

_AREA_BITS = 32
NUMBERS = (1 << _AREA_BITS) - 1
"""In a row id of the index, the bits of the memory's number."""
ONCE = 1 << 26
"""What `counts` answers for a term that stands once in the content."""
RENEWED = """
INSERT INTO upkeep VALUES ('index', CAST(unixepoch('subsec') * 1000000 AS INTEGER))
ON CONFLICT (task) DO UPDATE SET at = max(at + 1, excluded.at)"""
"""Says that the whole index was made anew: whoever keeps something of the old one forgets it."""

_KEPT = 6 << 20  # bytes
_AROUND = 200  # bytes that Python needs for a term beside its bits,
_COUNT = 100  # and for each count
CHANGES = 10_000
"""Memories that changed, after which all is looked up anew."""
_AFRESH = 50  # changes from which a term is looked up as a whole
_DRIFT = 20  # a count that only says how common a term is holds until its area has grown or shrunk by this part
_FROM = " FROM words WHERE words MATCH ?1 AND rowid BETWEEN ?2 AND ?3"
# Whether there are more than so many: asked like this in two thirds of the time of counting them.
_MORE = f"SELECT 1{_FROM} LIMIT 1 OFFSET ?4"
# The + keeps SQLite from searching once for each memory.
_AMONG = " AND +rowid IN (SELECT value FROM json_each(?4))"
# One text for them all: half the time of a row each.
_NUMBERS = f"SELECT json_group_array(rowid & {NUMBERS})"
_COUNTS = f"SELECT rowid & {NUMBERS}, counts(words)"
INSTANCES = "CREATE VIRTUAL TABLE temp.instances USING fts5vocab('main', 'words', 'instance')"
"""Each place of each term in all areas, which SQLite counts in a fifth of the time that `counts` takes."""
_OF_TERM = "FROM temp.instances WHERE term = lower(?1) AND doc BETWEEN ?2 AND ?3"
_INSTANCES = f"SELECT json_group_array(doc & {NUMBERS}), sum(col <> 'content') {_OF_TERM}"
_TITLED = f"SELECT doc & {NUMBERS}, sum(col = 'topic'), sum(col = 'tags') {_OF_TERM} AND col <> 'content' GROUP BY doc"
_numbers = msgspec.json.Decoder(list[int])


def document_id(area: int, number: int) -> int:
    return area << _AREA_BITS | number


def phrase(term: str) -> str:
    """A term as FTS5 reads it: always a quoted string, never syntax."""
    return '"' + term.replace('"', '""') + '"'


def count_function(api: apsw.FTS5ExtensionApi, *_: object) -> int:
    """How often the query's first term stands in topic, tags and content of this row, packed into one integer.

    An auxiliary function for FTS5, because its own bm25() walks a term's whole posting list before it answers.
    """
    # Topics and tags are short, so their counts fit into 10 and 16 bits; the content has all the rest.
    topic, tags, content = api.phrase_locations(0)
    return len(content) << 26 | len(tags) << 10 | len(topic)


def unpack_counts(packed: int) -> Counts:
    """What `count_function` packed."""
    return packed & 0x3FF, packed >> 10 & 0xFFFF, packed >> 26


class _CachedPostings(NamedTuple):
    holding: PostingSet
    stamp: int
    """How many of the changes are in it; of a term too common to be kept, how many memories its area held."""


class Area(NamedTuple):
    """An area of the index, as it is looked at."""

    number: int
    entries: int
    apart: bool
    """Whether most memories are elsewhere: then a look at all who hold a term would take longest."""


class PostingCache:
    """What a store knows of who holds which term, in which area of the index."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, str], _CachedPostings] = {}
        self._before: dict[tuple[int, str], _CachedPostings] = {}
        """What was known before half of the room was used up; whatever of it is asked for again is kept anew."""
        self._weight = 0
        self._changes: list[int] = []

    def invalidate(self, numbers: Iterable[int]) -> None:
        """Learns about which memories something happened."""
        self._changes += numbers
        if len(self._changes) > CHANGES:
            self._kept, self._before, self._weight, self._changes = {}, {}, 0, []

    def look(self, tx: Transaction, area: Area, terms: Mapping[str, int], often: int) -> dict[str, PostingSet]:
        """Who holds each term, as far as they are not more than its limit; and how often, if they are not more than that."""
        number, entries, _ = area
        now = len(self._changes)
        found = {}
        for term, most in terms.items():
            kept = self._kept.get((number, term))
            if kept is None:
                kept = self._before.get((number, term))
                if kept is not None:
                    self._keep(number, term, kept)
            if kept is None or not _is_valid(kept, entries, most, now):
                kept = self._keep(number, term, self._load(tx, area, term, kept, most, often))
            found[term] = kept.holding
        return found

    def _load(
        self, tx: Transaction, area: Area, term: str, kept: _CachedPostings | None, most: int, often: int
    ) -> _CachedPostings:
        if kept is not None and kept.holding.bits is not None:
            changed = sorted(set(self._changes[kept.stamp :]))
            if len(changed) <= _AFRESH:
                return _CachedPostings(_patch(tx, area.number, term, kept.holding, changed), len(self._changes))
        holding = _read_postings(tx, area, term, most, often)
        return _CachedPostings(holding, area.entries if holding.bits is None else len(self._changes))

    def _keep(self, area: int, term: str, kept: _CachedPostings) -> _CachedPostings:
        if (area, term) not in self._kept:
            self._weight += _weight(kept.holding)
            if self._weight > _KEPT / 2:
                self._kept, self._before, self._weight = {}, self._kept, _weight(kept.holding)
        self._kept[area, term] = kept
        return kept


def _is_valid(kept: _CachedPostings, entries: int, most: int, now: int) -> bool:
    """Whether what is kept is still so; that a term is too common, about."""
    holding, stamp = kept
    if holding.bits is None:
        return holding.holders > most and abs(entries - stamp) * _DRIFT <= stamp
    return stamp == now


def _weight(holding: PostingSet) -> int:
    return _AROUND + _COUNT * len(holding.counts or ()) + (holding.bits or 0).bit_length() // 8


def numbers(tx: Transaction, area: int, match: str) -> list[int]:
    """Of all memories of an area that match, the numbers."""
    found: list[int] = _numbers.decode(tx.get(_NUMBERS + _FROM, (match, document_id(area, 0), document_id(area, NUMBERS))))
    return found


def _read_postings(tx: Transaction, area: Area, term: str, most: int, often: int) -> PostingSet:
    match, lowest, highest = phrase(term), document_id(area.number, 0), document_id(area.number, NUMBERS)
    enough = min(most, often)
    if area.entries > enough and tx.get(_MORE, (match, lowest, highest, enough)) is not None:
        if area.entries > most and (enough == most or tx.get(_MORE, (match, lowest, highest, most)) is not None):
            return PostingSet(most + 1, None, None)
        who = numbers(tx, area.number, match)
        return PostingSet(len(who), from_numbers(who), None)
    if area.apart:
        rows = tx.rows(_COUNTS + _FROM, (match, lowest, highest))
        return PostingSet(len(rows), from_numbers([number for number, _ in rows]), _decode_counts(rows))
    found, titled = tx.get(_INSTANCES, (term, lowest, highest))
    instances = _numbers.decode(found)
    again = list(compress(instances, map(eq, instances, instances[1:])))  # the places in a memory follow each other
    counts = {number: _in_content(1 + times) for number, times in Counter(again).items()} if again else {}
    if titled:
        for number, topic, tags in tx.rows(_TITLED, (term, lowest, highest)):
            times = counts.get(number, _in_content(1))[2]
            counts[number] = (topic, tags, times - topic - tags)
    return PostingSet(len(instances) - len(again), from_numbers(instances), counts)


@cache
def _in_content(count: int) -> Counts:
    return 0, 0, count  # the same one for all: there are thousands


def _patch(tx: Transaction, area: int, term: str, holding: PostingSet, changed: list[int]) -> PostingSet:
    documents = [document_id(area, number) for number in changed]
    rows = tx.rows(_COUNTS + _FROM + _AMONG, (phrase(term), documents[0], documents[-1], str(documents)))
    bits = (holding.bits or 0) & ~from_numbers(changed) | from_numbers([number for number, _ in rows])
    counts = holding.counts
    if counts is not None:
        counts = {number: its for number, its in counts.items() if number not in changed} | _decode_counts(rows)
    return PostingSet(bits.bit_count(), bits, counts)


def _decode_counts(rows: Iterable[tuple[int, int]]) -> dict[int, Counts]:
    return {number: unpack_counts(packed) for number, packed in rows if packed != ONCE}


def union(parts: Iterable[PostingSet]) -> PostingSet:
    """What several areas hold. A memory is in one of them only."""
    whole = PostingSet(0, 0, {})
    for part in parts:
        bits = None if whole.bits is None or part.bits is None else whole.bits | part.bits
        counts = None if whole.counts is None or part.counts is None else _merge_counts(whole.counts, part.counts)
        whole = PostingSet(whole.holders + part.holders, bits, counts)
    return whole


def _merge_counts(one: Mapping[int, Counts], other: Mapping[int, Counts]) -> Mapping[int, Counts]:
    return {**one, **other} if one and other else one or other
