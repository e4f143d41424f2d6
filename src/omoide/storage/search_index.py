"""The search index of a store: which memories contain a term, and what the ranking needs to know of them.

Terms are made above the store, so that every backend gives the same answers.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from omoide.model import Query, Scope


class IndexEntry(NamedTuple):
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


class PostingSet(NamedTuple):
    """The memories that contain a term."""

    holders: int
    """How many there are; one more than asked for if there are more."""
    bits: int | None
    """The memories as one integer whose n-th bit is memory n. None: there are more than asked for."""
    counts: Mapping[int, Counts] | None
    """How often the term occurs, for memories that contain it otherwise than once in the content. None: the term is too
    common to be counted."""


SHORT = 2_000
"""Terms of the longest memory whose content is read for a ranking."""


class RankingFacts(NamedTuple):
    """The fields of a memory that the ranking uses."""

    number: int
    everywhere: bool
    """Whether it is in the global layer."""
    session: str
    confidence: float
    relevance: float
    reference_count: int
    days: float
    """Days since its last change."""


class IndexedText(NamedTuple):
    """The texts of a memory that are indexed, as they were written."""

    number: int
    topic: str
    """The topic (empty if it was derived from the content) and the key."""
    tags: str
    content: str | None
    """The content with the examples. None if it is too long to be read for a ranking."""


class IndexSize(NamedTuple):
    """How many memories are indexed, and how many terms they have in total."""

    entries: int
    terms: int


class NearDuplicateFilter(NamedTuple):
    """Which memories to compare with a new one: those of exactly this scope that are not forgotten, by size of content."""

    scope: Scope
    smallest: int
    """Bytes of the shortest content to compare with."""
    largest: int
    head: int
    """Characters of the excerpt from the beginning of a long content. A content of up to `head + tail` is read in full."""
    tail: int
    """Characters of the excerpt from its end."""


class SearchIndex(Protocol):
    """Search for memories by term. A query's scope, layers and states say where to search."""

    def sizes(self, query: Query) -> IndexSize:
        """Return how much is indexed where the query may search."""

    def posting_sets(self, query: Query, terms: Mapping[str, int], often: int) -> dict[str, PostingSet] | None:
        """Return the memories that contain each term, unless there are more than the term's limit, and how often, unless
        there are more than `often`. None where there are so many memories that `frequencies` and `posting_numbers` are
        faster."""

    def title_postings(self, query: Query, terms: Iterable[str]) -> dict[str, int]:
        """Return the memories that contain each term in their topic or tags, as bits."""

    def frequencies(self, query: Query, terms: Iterable[str], most: int) -> dict[str, int]:
        """Return how many memories contain each term, counted up to `most`."""

    def posting_numbers(
        self, query: Query, terms: Iterable[str], most: int, *, titled: bool = False
    ) -> dict[str, list[int]]:
        """Return at most `most` memories that contain each term; titled, in their topic or tags.

        Active memories come before all others, the scope's own project before the global layer, and in each the newest
        first: so a full list always contains the nearest ones.
        """

    def postings(
        self, query: Query, terms: Iterable[str], among: Sequence[int] | None = None, *, counted: bool = True
    ) -> dict[str, list[Posting]]:
        """Return which of these memories, or of all, contain each term and how often; uncounted, as if once in the
        content."""

    def lengths(self, query: Query, numbers: Sequence[int], at: datetime) -> dict[int, int]:
        """Return those of these memories that pass the query's filters, in their order, with their lengths in terms."""

    def in_sessions(self, numbers: Collection[int]) -> list[int]:
        """Return those of these memories that belong to a session."""

    def ranking_facts(self, numbers: Collection[int], at: datetime) -> list[RankingFacts]: ...

    def texts(self, numbers: Collection[int]) -> list[IndexedText]: ...

    def changed_between(self, query: Query, start: datetime, end: datetime, most: int, at: datetime) -> list[int]:
        """Return at most `most` memories that pass the query's filters and last changed in this time, the end excluded,
        last changed first."""

    def near_duplicate_candidates(
        self, wanted: NearDuplicateFilter, blocking_key: int, families: Collection[tuple[int, int]], most: int
    ) -> list[tuple[int, str]]:
        """Return numbers and excerpts of the newest memories with this blocking key, then of some whose key is in one of
        these ranges (both ends included), one range after the other."""
