"""A memory, the draft of one, and the rules of its own parts: id, topic, types."""

import functools
import os
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum

import msgspec

from omoide.model.scope import Actor, Scope


class State(StrEnum):
    """Where a memory is in its life. Only active ones are recalled unless others are asked for."""

    ACTIVE = "active"
    INACTIVE = "inactive"  # switched off by a person: kept, listed, never put into a prompt
    ARCHIVED = "archived"  # retired: searchable on request, restored at any time
    FORGOTTEN = "forgotten"  # out of the index; reversible until it is purged


TYPES = (
    "note", "tech", "project-tech", "domain", "pattern", "warning", "learning", "context",
    "architecture", "solution", "decision", "preference",
)  # fmt: skip
"""The types everybody has; settings add more."""

TOPIC_LENGTH = 50

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""C0 and C1 controls, and the characters that change the direction of what follows: never in a single line."""


class Draft(msgspec.Struct, frozen=True, gc=False):
    """What someone wants kept. Only `content` and `scope` are needed; what is left out is filled in, or left as it was."""

    content: str
    scope: Scope | None = None
    topic: str | None = None
    """None: omoide derives one from the content, and it never matches another memory."""
    type: str | None = None
    tags: Sequence[str] = ()
    examples: Sequence[str] = ()
    key: str | None = None
    source: str | None = None
    confidence: float | None = None
    relevance: float | None = None
    pinned: bool | None = None
    expires_at: datetime | None = None
    created_at: datetime | None = None
    """When it was learnt, for what is imported; now, otherwise."""
    source_run_id: str | None = None


class Memory(msgspec.Struct, frozen=True, gc=False):
    """One thing learnt. A change makes a new version of it; the old one stays in its history."""

    id: str
    """UUIDv7: unique across stores."""
    number: int
    """Small, unique in its store, never given twice: what people and REST call it."""
    scope: Scope
    key: str | None
    """Unique among the living memories of its scope."""
    type: str
    topic: str
    topic_given: bool
    """False when omoide derived the topic: such a topic identifies nothing."""
    content: str
    tags: tuple[str, ...]
    examples: tuple[str, ...]
    source: str
    confidence: float
    """0 to 1: how sure its author was."""
    relevance: float
    """0 to 1: how useful it has proved; 0.5 is unknown."""
    reference_count: int
    """How often it was remembered again."""
    pinned: bool
    state: State
    created_at: datetime
    updated_at: datetime
    last_accessed_at: datetime | None
    expires_at: datetime | None
    version: int
    source_run_id: str | None = None
    """The run of an agent that it comes from, as whoever runs agents calls it."""
    author: Actor | None = None  # who changed what it says last, set by the server; None: it is not kept yet


class Remembered(msgspec.Struct, frozen=True, gc=False):
    """The answer of `remember`."""

    memory: Memory
    action: str
    """created, updated or unchanged (the same again: only the count grew)."""
    similar_count: int = 0
    """How many other memories of the scope say almost the same words; counted up to 50."""
    similar: tuple[int, ...] = ()
    """The numbers of up to five of them, the closest first."""
    suggested_tags: tuple[str, ...] = ()
    """What it could be tagged with, where settings ask for suggestions."""


class Usage(msgspec.Struct, frozen=True, gc=False):
    """What retention needs to know of an active memory, without its text."""

    number: int
    version: int
    scope: Scope
    topic: str
    pinned: bool
    used_at: datetime
    """The last time it was found or shown, or anything was done to it: kept, told again, changed, imported, restored."""
    expires_at: datetime | None = None


def derive_topic(content: str) -> str:
    """The first 50 characters of the content on one line, without control characters, the rest of it as three dots."""
    opening = content[: TOPIC_LENGTH + 1]
    if len(opening) > TOPIC_LENGTH and opening.isprintable() and "  " not in opening and opening[0] != " ":
        return opening[:TOPIC_LENGTH] + "..."
    # Only the opening is looked at: a 1 MB content must not be split into words for its title.
    opening = CONTROL.sub("", " ".join(content[: TOPIC_LENGTH * 8].split()))
    if len(opening) <= TOPIC_LENGTH and len(content) <= TOPIC_LENGTH * 8:
        return opening
    return opening[:TOPIC_LENGTH] + "..."


def new_id(at: datetime, random: str = "") -> str:
    """A UUIDv7: 48 bits of milliseconds, then 74 random ones; of `random`, 20 hex digits, where many are drawn at once."""
    random = random or os.urandom(10).hex()
    return f"{_time_of_id(at)}-7{random[:3]}-{_VARIANT[random[3]]}{random[4:7]}-{random[8:]}"


@functools.lru_cache(maxsize=4)
def _time_of_id(at: datetime) -> str:
    time = f"{max(0, int(at.timestamp() * 1000)) & 0xFFFF_FFFF_FFFF:012x}"
    return f"{time[:8]}-{time[8:]}"


_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}


def now() -> datetime:
    return datetime.fromtimestamp(time.time(), UTC)
