"""Events, links and past versions of memories."""

from datetime import datetime
from enum import StrEnum

import msgspec

from omoide.model.memory import Memory
from omoide.model.scope import Actor
from omoide.model.source import Source


class LinkKind(StrEnum):
    """How the source of a link relates to its target."""

    RELATES = "relates"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    DERIVED_FROM = "derived_from"


class Event(msgspec.Struct, frozen=True):
    """Something that happened, numbered in rising order. It never holds a memory's text: a purge leaves nothing here."""

    number: int
    at: datetime
    action: str
    """What was done, such as remembered, revised or purged."""
    actor: Actor
    source: Source
    """Where the action came from, such as a thread in Slack: see `model.source`."""
    memory_id: str | None = None
    """None: the event is about a project or a session itself, or its memory was purged."""
    memory_number: int | None = None
    """None: the event is about a project or a session itself."""
    detail: dict[str, object] = {}
    """More about the action, such as the names of the changed fields."""
    project: str = ""
    """The path of the project in which it happened; empty: the global layer."""


class Link(msgspec.Struct, frozen=True):
    """A directed link between two memories."""

    source: str
    """Id of the memory the link starts from."""
    kind: LinkKind
    target: str
    """Id of the memory it leads to."""
    created_at: datetime


class Linked(msgspec.Struct, frozen=True):
    """A link that was asked for, and whether it is new."""

    link: Link
    is_new: bool
    """False: the memories were linked like this already."""


class Version(msgspec.Struct, frozen=True):
    """A memory as it was from `memory.updated_at` on, and who made that version."""

    memory: Memory
    actor: Actor | None
