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
    """Search for memories by term.

    The query of a method says where to search: in the areas of the index that its scope, layers and states need. An area may
    also hold memories that the query excludes, such as expired ones or those of another layer; `ranking_facts` and
    `memories_changed_between` return only what passes the query's scope, states and filters.
    """

    def sizes(self, query: Query) -> IndexSize:
        """Return how many memories are indexed where the query searches, and how many terms they have."""

    def posting_sets(self, query: Query, terms: Mapping[str, int], counted: int) -> dict[str, PostingSet] | None:
        """Return the memories that contain each term; None where there are so many memories that posting lists are faster.

        `terms`: the terms, each with the number of memories up to which they are returned. `counted`: the number of memories
        up to which occurrences are counted.
        """

    def frequencies(self, query: Query, terms: Iterable[str], most: int) -> dict[str, int]:
        """Return how many memories contain each term, counted up to `most`. The count of a common term may be outdated."""

    def project_frequencies(self, terms: Iterable[str], most: int) -> dict[str, dict[str, int]]:
        """Return how many active memories of each project contain each term, by term and by the project's path.

        A term that more than `most` memories of the store contain is left out, and so are projects without it.
        """

    def posting_numbers(
        self, query: Query, terms: Iterable[str], most: int, *, topic_or_tags: bool = False
    ) -> dict[str, list[int]]:
        """Return the numbers of at most `most` memories that contain each term.

        `topic_or_tags`: only those that contain it in their topic or tags. Active memories come before all others, the
        scope's own project before the global layer, and in each the highest number first, so that a full list contains the
        nearest and newest ones.
        """

    def postings(self, query: Query, terms: Iterable[str], numbers: Sequence[int]) -> dict[str, list[Posting]]:
        """Return which of the memories with these numbers contain each term, and how often."""

    def ranking_facts(self, query: Query, numbers: Sequence[int], at: datetime) -> dict[int, RankingFacts]:
        """Return the ranking facts of those of these memories that pass the query's scope, states and filters.

        They are in the order of `numbers`. `at`: the moment at which expired memories count as inactive, and to which ages
        are counted.
        """

    def session_neighbours(self, numbers: Sequence[int], reach: int) -> list[SessionNeighbour]:
        """Return those of these memories that are in a session, and their neighbours in it, in the order of their numbers.

        `reach`: a neighbour is in the same session, and its number is at most so much lower or higher. Forgotten memories
        are left out.
        """

    def text_ends(self, numbers: Sequence[int]) -> dict[int, TextEnds]:
        """Return how the contents of these memories begin and end, and when each was created, by number."""

    def memories_changed_between(self, query: Query, start: datetime, end: datetime, most: int, at: datetime) -> list[int]:
        """Return the numbers of at most `most` memories that last changed from `start` to before `end`, last changed first.

        Only memories that pass the query's scope, states and filters at the moment `at` count.
        """

    def near_duplicate_candidates(
        self, wanted: NearDuplicateFilter, blocking_key: int | None, ranges: Collection[tuple[int, int]], most: int
    ) -> list[tuple[int, str]]:
        """Return numbers and excerpts of candidates for near-duplicates, at most `most`.

        `wanted`: which memories count, and how long the excerpts are. `blocking_key`: first the newest memories with this
        key; None: none by key. `ranges`: then memories whose key is in one of these ranges, both ends included, one range
        after the other.
        """
