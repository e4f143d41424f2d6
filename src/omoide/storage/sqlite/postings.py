"""The postings of terms in SQLite's full-text index, and their cache.

Reading the postings of a term takes as long as its list is, and the same few hundred terms come with most queries. Cached,
each is one integer with a bit for each memory, which `retrieval/bit_sums.py` can add up; after a write, only the memories
that it was about are read again.
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

AREA_BITS = 32
"""In a row id of the index, the bits below those of the area."""
NUMBERS = (1 << AREA_BITS) - 1
"""In a row id of the index, the bits of the memory's number."""
ONCE = 1 << 26
"""What `count_function` returns for a term that occurs once in the content."""
RENEWED = """
INSERT INTO upkeep VALUES ('index', CAST(unixepoch('subsec') * 1000000 AS INTEGER))
ON CONFLICT (task) DO UPDATE SET at = max(at + 1, excluded.at)"""
"""Record that the whole index was rebuilt: every process drops what it cached of the old one."""

_MAX_BYTES = 6 << 20  # of the cache
_BYTES_OF_TERM = 200  # that Python needs for a term beside its bits,
_BYTES_OF_COUNT = 100  # and for each count
CHANGES = 10_000
"""Changed memories from which the whole cache is dropped."""
_MAX_PATCHED = 50  # changed memories up to which the postings of a term are patched instead of read again
_DRIFT = 20  # a frequency that only says that a term is too common stands until its area has grown or shrunk by this part
_FROM = " FROM words WHERE words MATCH ?1 AND rowid BETWEEN ?2 AND ?3"
# Whether there are more than ?4: takes two thirds of the time of counting them.
_MORE = f"SELECT 1{_FROM} LIMIT 1 OFFSET ?4"
# The + keeps SQLite from searching once for each memory.
_AMONG = " AND +rowid IN (SELECT value FROM json_each(?4))"
# One JSON text for all rows: half the time of a row each.
_NUMBERS = f"SELECT json_group_array(rowid & {NUMBERS})"
_COUNTS = f"SELECT rowid & {NUMBERS}, counts(words)"
INSTANCES = "CREATE VIRTUAL TABLE temp.instances USING fts5vocab('main', 'words', 'instance')"
"""Every occurrence of every term in all areas, which SQLite counts in a fifth of the time that `counts` takes."""
_OF_TERM = "FROM temp.instances WHERE term = lower(?1) AND doc BETWEEN ?2 AND ?3"
_INSTANCES = f"SELECT json_group_array(doc & {NUMBERS}), sum(col <> 'content') {_OF_TERM}"
_BESIDE_CONTENT = (
    f"SELECT doc & {NUMBERS}, sum(col = 'topic'), sum(col = 'tags') {_OF_TERM} AND col <> 'content' GROUP BY doc"
)
_numbers = msgspec.json.Decoder(list[int])


def document_id(area: int, number: int) -> int:
    """Return the row id of a memory in the full-text index."""
    return area << AREA_BITS | number


def phrase(term: str) -> str:
    """Return a term as FTS5 reads it: always a quoted string, never syntax."""
    return '"' + term.replace('"', '""') + '"'


def count_function(api: apsw.FTS5ExtensionApi, *_: object) -> int:
    """Return how often the query's first term occurs in topic, tags and content of a row, packed into one integer.

    An auxiliary function for FTS5, because its own bm25() reads the whole posting list of a term before it answers.
    """
    # Topics and tags are short, so their counts fit into 10 and 16 bits; the content has all the rest.
    topic, tags, content = api.phrase_locations(0)
    return len(content) << 26 | len(tags) << 10 | len(topic)


def unpack_counts(packed: int) -> Counts:
    """Return what `count_function` packed."""
    return packed & 0x3FF, packed >> 10 & 0xFFFF, packed >> 26


class _CachedPostings(NamedTuple):
    postings: PostingSet
    stamp: int
    """How many of the changes are in it; of a term that is too common to be cached, how many memories its area had."""


class Area(msgspec.Struct, frozen=True):
    """An area of the index to read."""

    number: int
    entries: int
    is_small: bool
    """Whether most memories are in other areas: then reading all occurrences of a term would take longest."""


class PostingCache:
    """The postings of terms by area of the index, of limited size."""

    def __init__(self) -> None:
        self._recent: dict[tuple[int, str], _CachedPostings] = {}
        self._older: dict[tuple[int, str], _CachedPostings] = {}
        """What was cached before half of the room was used up; what is asked for again moves to `_recent`."""
        self._size = 0
        self._changes: list[int] = []

    def invalidate(self, numbers: Iterable[int]) -> None:
        """Note that something happened to these memories."""
        self._changes += numbers
        if len(self._changes) > CHANGES:
            self._recent, self._older, self._size, self._changes = {}, {}, 0, []

    def posting_sets(self, tx: Transaction, area: Area, terms: Mapping[str, int], counted: int) -> dict[str, PostingSet]:
        """Return the memories of an area that contain each term, unless there are more than the term's limit; and how often,
        unless there are more than `counted`."""
        found = {}
        for term, most in terms.items():
            key = (area.number, term)
            cached = self._recent.get(key)
            if cached is None:
                cached = self._older.get(key)
                if cached is not None:
                    self._store(key, cached)
            if cached is None or not self._is_valid(cached, area.entries, most, counted):
                cached = self._store(key, self._load(tx, area, term, cached, most, counted))
            found[term] = cached.postings
        return found

    def _is_valid(self, cached: _CachedPostings, entries: int, most: int, counted: int) -> bool:
        """Whether what is cached is still true; that a term is too common, approximately."""
        postings, stamp = cached
        if postings.bits is None:
            return postings.frequency > most and abs(entries - stamp) * _DRIFT <= stamp
        return stamp == len(self._changes) and _is_counted(postings, counted)

    def _load(
        self, tx: Transaction, area: Area, term: str, cached: _CachedPostings | None, most: int, counted: int
    ) -> _CachedPostings:
        if cached is not None and cached.postings.bits is not None and _is_counted(cached.postings, counted):
            changed = sorted(set(self._changes[cached.stamp :]))
            if len(changed) <= _MAX_PATCHED:
                return _CachedPostings(_patch(tx, area.number, term, cached.postings, changed), len(self._changes))
        postings = _read_postings(tx, area, term, most, counted)
        return _CachedPostings(postings, area.entries if postings.bits is None else len(self._changes))

    def _store(self, key: tuple[int, str], cached: _CachedPostings) -> _CachedPostings:
        if key not in self._recent:
            size = _size(cached.postings)
            self._size += size
            if self._size > _MAX_BYTES / 2:
                self._recent, self._older, self._size = {}, self._recent, size
        self._recent[key] = cached
        return cached


def _is_counted(postings: PostingSet, counted: int) -> bool:
    """Whether occurrences are known, or need not be."""
    return postings.counts is not None or postings.frequency > counted


def _size(postings: PostingSet) -> int:
    bits = (postings.bits or 0).bit_length() // 8
    return _BYTES_OF_TERM + _BYTES_OF_COUNT * len(postings.counts or ()) + bits


def _read_postings(tx: Transaction, area: Area, term: str, most: int, counted: int) -> PostingSet:
    span = document_id(area.number, 0), document_id(area.number, NUMBERS)
    match = phrase(term)
    least = min(most, counted)
    if area.entries > least and tx.get(_MORE, (match, *span, least)) is not None:
        if area.entries > most and (least == most or tx.get(_MORE, (match, *span, most)) is not None):
            return PostingSet(most + 1, None, None)
        numbers: list[int] = _numbers.decode(tx.get(_NUMBERS + _FROM, (match, *span)))
        return PostingSet(len(numbers), from_numbers(numbers), None)
    if area.is_small:
        rows = tx.rows(_COUNTS + _FROM, (match, *span))
        return PostingSet(len(rows), from_numbers([number for number, _ in rows]), _decode_counts(rows))
    return _read_instances(tx, term, span)


def _read_instances(tx: Transaction, term: str, span: tuple[int, int]) -> PostingSet:
    found, beside_content = tx.get(_INSTANCES, (term, *span))
    instances: list[int] = _numbers.decode(found)
    again = list(compress(instances, map(eq, instances, instances[1:])))  # occurrences in one memory follow each other
    counts = {number: _in_content(1 + times) for number, times in Counter(again).items()} if again else {}
    if beside_content:
        for number, topic, tags in tx.rows(_BESIDE_CONTENT, (term, *span)):
            times = counts.get(number, _in_content(1))[2]
            counts[number] = (topic, tags, times - topic - tags)
    return PostingSet(len(instances) - len(again), from_numbers(instances), counts)


@cache
def _in_content(count: int) -> Counts:
    return 0, 0, count  # one object for all: there are thousands


def _patch(tx: Transaction, area: int, term: str, postings: PostingSet, changed: list[int]) -> PostingSet:
    """Return the postings with those of the changed memories read again."""
    if not changed:
        return postings
    documents = [document_id(area, number) for number in changed]
    rows = tx.rows(_COUNTS + _FROM + _AMONG, (phrase(term), documents[0], documents[-1], str(documents)))
    bits = (postings.bits or 0) & ~from_numbers(changed) | from_numbers([number for number, _ in rows])
    counts = postings.counts
    if counts is not None:
        counts = {number: times for number, times in counts.items() if number not in changed} | _decode_counts(rows)
    return PostingSet(bits.bit_count(), bits, counts)


def _decode_counts(rows: Iterable[tuple[int, int]]) -> dict[int, Counts]:
    return {number: unpack_counts(packed) for number, packed in rows if packed != ONCE}


def union(parts: Iterable[PostingSet]) -> PostingSet:
    """Join the postings of several areas. A memory is in one of them only."""
    whole = PostingSet(0, 0, {})
    for part in parts:
        bits = None if whole.bits is None or part.bits is None else whole.bits | part.bits
        counts = None if whole.counts is None or part.counts is None else _merge_counts(whole.counts, part.counts)
        whole = PostingSet(whole.frequency + part.frequency, bits, counts)
    return whole


def _merge_counts(counts: Mapping[int, Counts], others: Mapping[int, Counts]) -> Mapping[int, Counts]:
    return {**counts, **others} if counts and others else counts or others
