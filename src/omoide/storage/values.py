"""Values that one search asks a store with, or is answered with."""

from datetime import datetime
from typing import NamedTuple

from omoide.model import Scope


class NearDuplicateFilter(NamedTuple):
    """Which memories to compare with a new one: the living ones of exactly this scope whose content has so many bytes."""

    scope: Scope
    smallest: int
    largest: int
    head: int
    """Characters in the excerpt of a long content, from its beginning, and from its end; a shorter content is read whole."""
    tail: int


class SessionNeighbour(NamedTuple):
    """A memory beside another in a session."""

    number: int
    project: int
    session: str
    length: int


class TextEnds(NamedTuple):
    """How a memory begins and ends, and when it was learnt."""

    created_at: datetime
    first: str
    last: str
