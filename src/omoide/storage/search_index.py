"""The search index of a store: which memories contain a term, and what the ranking needs to know of them.

Terms are made above the store, so that every backend gives the same results.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

import msgspec

from omoide.model import Query, Scope


class IndexEntry(msgspec.Struct, frozen=True):
    """The terms by which a memory is found, by field and separated by spaces."""

    topic: str
    tags: str
    content: str
    length: int
    """How many terms there are in all three fields."""
    blocking_key: int
    """A hash of the most telling terms of the content: near-duplicates in one scope mostly share it."""
    key_terms: Sequence[str] = ()
    """The terms of the content that the blocking key was made of. Not stored."""


Counts = tuple[int, int, int]
"""How often a term occurs in the topic, the tags and the content of a memory."""
Posting = tuple[int, int, int, int]
"""The number of a memory, then its `Counts`."""


class PostingSet(msgspec.Struct, frozen=True):
    """The memories that contain a term."""

    frequency: int
    """How many there are; one more than asked for if there are more."""
    bits: int | None
    """The memories as one integer whose n-th bit is memory n. None: there are more than asked for."""
    counts: Mapping[int, Counts] | None
    """How often the term occurs, for memories that contain it otherwise than once in the content. None: the term is too
    common to be counted, in more memories than `counted`."""


class RankingFacts(msgspec.Struct, frozen=True, gc=False):
    """The fields of a memory that the ranking uses."""

    length: int
    """How many terms its index entry has."""
    everywhere: bool
    """Whether it is in the global layer."""
    session: str
    confidence: float
    relevance: float
    reference_count: int
    days: float
    """Days since its last change."""


class IndexSize(msgspec.Struct, frozen=True):
    """How many memories are indexed, and how many terms they have in total."""

    entries: int
    terms: int


class NearDuplicateFilter(msgspec.Struct, frozen=True):
    """Which memories to compare with one: the others of exactly its scope that are not forgotten, by size of content."""

    scope: Scope
    number: int
    """The memory that the others are compared with."""
    smallest: int
    """Bytes of the shortest content to compare with."""
    largest: int
    head: int
    """Characters of the excerpt from the beginning of a long content. A content of up to `head + tail` is read in full."""
    tail: int
    """Characters of the excerpt from its end."""


class SessionNeighbour(NamedTuple):
    """A memory close to another one in the same session."""

    number: int
    project: int
    session: str
    length: int


class TextEnds(msgspec.Struct, frozen=True):
    """How the content of a memory begins and ends, and when the memory was created."""

    created_at: datetime
    first: str
    """Up to 600 characters from the beginning."""
    last: str
    """The last two characters."""


class SearchIndex(Protocol):
    """Search for memories by term. A query's scope, layers and states say where to search."""

    def sizes(self, query: Query) -> IndexSize:
        """Return how much is indexed where the query may search."""

    def posting_sets(self, query: Query, terms: Mapping[str, int], counted: int) -> dict[str, PostingSet] | None:
        """Return the memories that contain each term, unless there are more than the term's limit; and how often, unless
        there are more than `counted`. None where there are so many memories that posting lists are faster."""

    def frequencies(self, query: Query, terms: Iterable[str], most: int) -> dict[str, int]:
        """Return how many memories contain each term, counted up to `most`. The count of a common term may be a little
        old."""

    def project_frequencies(self, terms: Iterable[str], most: int) -> dict[str, dict[str, int]]:
        """Return how many active memories of each project, by its path, contain each term. A term that more than `most`
        memories contain is left out, and so are projects without it."""

    def posting_numbers(
        self, query: Query, terms: Iterable[str], most: int, *, titled: bool = False
    ) -> dict[str, list[int]]:
        """Return at most `most` memories that contain each term; titled, in their topic or tags.

        Active memories come before all others, the scope's own project before the global layer, and in each the newest
        first: so a full list always contains the nearest ones.
        """

    def postings(self, query: Query, terms: Iterable[str], numbers: Sequence[int]) -> dict[str, list[Posting]]:
        """Return which of these memories contain each term, and how often."""

    def ranking_facts(self, query: Query, numbers: Sequence[int], at: datetime) -> dict[int, RankingFacts]:
        """Return those of these memories that pass the query's scope, states and filters at this moment, in their order,
        with the fields that the ranking uses."""

    def session_neighbours(self, numbers: Sequence[int], reach: int) -> list[SessionNeighbour]:
        """Return those of these memories that are of a session, and the memories of the same session among so many numbers
        before and after each, in the order of their numbers."""

    def text_ends(self, numbers: Sequence[int]) -> dict[int, TextEnds]:
        """Return how the contents of these memories begin and end."""

    def memories_changed_between(self, query: Query, start: datetime, end: datetime, most: int, at: datetime) -> list[int]:
        """Return at most `most` memories that pass the query's filters and last changed in this time, the end excluded,
        last changed first."""

    def near_duplicate_candidates(
        self, wanted: NearDuplicateFilter, blocking_key: int | None, ranges: Collection[tuple[int, int]], most: int
    ) -> list[tuple[int, str]]:
        """Return numbers and excerpts of the newest memories with this blocking key, if one is given, then of some whose key
        is in one of these ranges (both ends included), one range after the other."""
