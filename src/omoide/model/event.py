"""What happened to memories, and how they are linked."""

from datetime import datetime
from enum import StrEnum

import msgspec

from omoide.model.memory import Memory
from omoide.model.scope import Actor


class LinkKind(StrEnum):
    RELATES = "relates"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    DERIVED_FROM = "derived_from"


class Event(msgspec.Struct, frozen=True):
    """What happened, in order. Never holds a memory's text, so that a purge leaves nothing here."""

    number: int
    at: datetime
    action: str
    actor: Actor
    memory_id: str | None = None
    memory_number: int | None = None
    detail: dict[str, object] = {}


class Link(msgspec.Struct, frozen=True):
    source: str
    """Id of the memory the link starts from."""
    kind: LinkKind
    target: str
    created_at: datetime


class Version(msgspec.Struct, frozen=True):
    """How a memory looked from `memory.updated_at` on."""

    memory: Memory
    actor: Actor | None
