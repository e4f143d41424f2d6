"""Queries and their results."""

from collections.abc import Callable
from datetime import datetime

import msgspec

from omoide.model.memory import Memory, State
from omoide.model.scope import Layer, Role, Scope


class Query(msgspec.Struct, frozen=True):
    """What to search for. An empty text browses, newest and most used first."""

    scope: Scope
    text: str = ""
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """The memory must have all of them; case is ignored."""
    layers: tuple[Layer, ...] = ()
    """Narrow what the scope sees; empty means all of it. In a session, the session layer is that session alone."""
    states: tuple[State, ...] = (State.ACTIVE,)
    """The listings to search: see `expiry.listing`."""
    limit: int = 10
    offset: int = 0
    since: datetime | None = None
    """Only memories changed at or after this moment."""
    pinned: bool = False
    """Only pinned memories."""
    roles: tuple[Role, ...] = ()
    """Only memories of authors with one of these roles; empty: of any author."""
    before: tuple[datetime, int] | None = None
    """Only what a list has after the memory with this time of its last change and this number: the next page."""
    projects: tuple[str, ...] = ()
    """The paths of projects to search beside what the scope sees; those that do not exist are left out."""
    min_score: float = 0.0
    """Return nothing if the best hit of a text scores less: all hits or none."""


class Hit(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A memory that was found, and how well it matches."""

    memory: Memory
    score: float
    """Of the first hit, the probability that the memories answer the question, from 0 to 1; the others follow it in
    proportion. 0 without a question."""
    explanation: Callable[[], str]
    """Explains the match; called only when someone asks."""

    @property
    def why(self) -> str:
        """Which terms of the query were found where, as a text."""
        return self.explanation()

    def __repr__(self) -> str:
        return f"Hit(memory={self.memory!r}, score={self.score!r}, why={self.why!r})"


class SearchResult(msgspec.Struct, frozen=True):
    """The best hits of a query."""

    hits: list[Hit]
    total: int
    """How many memories matched, of which `hits` are the best."""
    best_below: float | None = None
    """The score of the best hit, where all were left out because it is below `min_score`."""


class Page(msgspec.Struct, frozen=True):
    """A part of a list."""

    memories: list[Memory]
    total: int
    """How many memories the whole list has; -1: they were not counted."""


class ResumeContext(msgspec.Struct, frozen=True):
    """What an agent needs to continue. A memory is in the first of the lists that it fits, and in no other."""

    pinned: list[Memory]
    """Pinned memories of all that the scope sees, except other sessions; last changed first, as in every list."""
    preferences: list[Memory]
    """Preferences of the project and the global layer that the user wrote, not a worker."""
    session: list[Memory]
    """Memories of the scope's session; empty if the scope is no session."""
    project: list[Memory]
    """Memories of the project without its sessions, newest and most used first; without a project, of the global layer."""
    agent_preferences: list[Memory]
    """Preferences that workers wrote: what an agent assumes that the user wants."""


class Summary(msgspec.Struct, frozen=True):
    """Counts of the memories of a scope."""

    count: int
    by_type: dict[str, int]
    """Type → count, the most common first."""
    by_tag: dict[str, int]
    """Tag → count of the 20 most common; tags that differ only in case are one."""
    oldest: datetime | None
    """When the oldest memory was created; None if there is none."""
    newest: datetime | None
    """When a memory was last changed."""
    bytes: int
    """The size of their contents in UTF-8."""


class VectorCoverage(msgspec.Struct, frozen=True):
    """How many memories have vectors for semantic search."""

    embedder: str | None
    """The model that makes the vectors, or two joined by a plus sign; None: search is by words alone."""
    embedded: int
    """Memories that have a vector of each model that is for their language."""
    pending: int
    trouble: str = ""
    """Why the last vectors could not be made; empty if they could."""
    english_trouble: str = ""
    """Why the model for English is not used; empty if it is, or if there is none."""
