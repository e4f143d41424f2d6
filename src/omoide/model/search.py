"""What is asked for, and what is found."""

from collections.abc import Callable
from datetime import datetime

import msgspec

from omoide.model.memory import Memory, State
from omoide.model.scope import Layer, Role, Scope


class Query(msgspec.Struct, frozen=True):
    """What someone wants to find. An empty text browses, newest and most used first."""

    scope: Scope
    text: str = ""
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """Every one of them must be on the memory; case is ignored."""
    layers: tuple[Layer, ...] = ()
    """Narrows what the scope sees; empty means all of it. In a session, the session layer is that session alone."""
    states: tuple[State, ...] = (State.ACTIVE,)  # the listings that are looked into: see `expiry`
    limit: int = 10
    offset: int = 0
    since: datetime | None = None
    """Only memories changed at or after this moment."""
    pinned: bool = False  # only pinned ones
    roles: tuple[Role, ...] = ()  # only what an author of one of these roles wrote; empty: anybody


class Hit(msgspec.Struct, frozen=True, eq=False, gc=False):
    memory: Memory
    score: float
    explanation: Callable[[], str]
    """In words, when someone asks: what of the question was found where."""

    @property
    def why(self) -> str:
        return self.explanation()

    def __repr__(self) -> str:
        return f"Hit(memory={self.memory!r}, score={self.score!r}, why={self.why!r})"


class SearchResult(msgspec.Struct, frozen=True):
    hits: list[Hit]
    total: int
    """How many memories matched, of which `hits` are the best."""


class Page(msgspec.Struct, frozen=True):
    memories: list[Memory]
    total: int


class ResumeContext(msgspec.Struct, frozen=True):
    """What an agent needs to go on where it was. No memory is in two of the lists: the first that fits has it."""

    pinned: list[Memory]
    """Of all that the scope sees, but for other sessions; last changed first, as in every list."""
    preferences: list[Memory]
    """Of type preference, of the project and the global layer: the user's own, not those that a worker wrote."""
    session: list[Memory]
    """Of the scope's session; empty where the scope is none."""
    project: list[Memory]
    """Of the project, without its sessions, newest and most used first; of the global layer where there is no project."""
    agent_preferences: list[Memory]  # those that workers wrote: what an agent says that the user wants


class Summary(msgspec.Struct, frozen=True):
    """What there is, in numbers."""

    count: int
    by_type: dict[str, int]
    """The most common first, as in `by_tag`."""
    by_tag: dict[str, int]
    """The 20 most common; tags that differ only in case are one."""
    oldest: datetime | None
    """When the first of them was created."""
    newest: datetime | None
    """When the last of them was changed."""
    bytes: int
    """Of their contents in UTF-8."""


class VectorCoverage(msgspec.Struct, frozen=True):
    """How far the vectors are."""

    embedder: str | None
    """The model that makes them; None when there is none, and words alone find."""
    embedded: int
    pending: int
    trouble: str = ""
    """Why the last ones could not be made."""
