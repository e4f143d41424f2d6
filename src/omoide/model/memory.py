"""A memory, the draft of one, and how its id and topic are made."""

import functools
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum

import msgspec

from omoide.compiled_patterns import load_pattern
from omoide.model.scope import Actor, Scope


class State(StrEnum):
    """The state of a memory. Only active ones are recalled unless others are asked for."""

    ACTIVE = "active"
    INACTIVE = "inactive"  # switched off by a person: stored and listed, never put into a prompt
    ARCHIVED = "archived"  # by retention or a person: searchable on request, restored at any time
    FORGOTTEN = "forgotten"  # out of the index; reversible until it is purged


TYPES = (
    *("note", "tech", "project-tech", "domain", "pattern", "warning", "learning", "context"),
    *("architecture", "solution", "decision", "preference", "activity"),
)
"""The built-in types, of which the first is the default; settings add more."""

ACTIVITY = "activity"
"""The type of a line in a project's log: never the same as an earlier one, even with the same text."""

TOPIC_LENGTH = 50

CONTROL = load_pattern(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""C0 and C1 controls and characters that change the direction of text: refused in single lines."""


class Draft(msgspec.Struct, frozen=True, gc=False):
    """What a caller wants to store. Only `content` and `scope` are needed.

    A field that is left out gets a default in a new memory, and stays as it was in one that is updated.
    """

    content: str
    scope: Scope | None = None
    topic: str | None = None
    """None: one is derived from the content, and the draft matches no memory by its topic."""
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
    """When it was learnt, for imports; None: now."""
    source_run_id: str | int | None = None
    """The id of a run, or its number."""
    original_prompt: str | None = None
    """What its user said that made it a memory, for one that was pinned at the user's word."""


class Memory(msgspec.Struct, frozen=True, gc=False):
    """A stored memory. A change makes a new version; the old one stays in the history."""

    id: str
    """UUIDv7: unique across stores."""
    number: int
    """Small, unique in its store, never reused: what people call it."""
    scope: Scope
    key: str | None
    """Unique in its scope among memories that are not forgotten."""
    type: str
    topic: str
    topic_given: bool
    """False when the topic was derived from the content: then it identifies nothing."""
    content: str
    tags: tuple[str, ...]
    examples: tuple[str, ...]
    source: str
    confidence: float
    """0 to 1: how certain its author was."""
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
    """The run of an agent that it comes from, by the id that the program which runs agents gives it."""
    author: Actor | None = None
    """Who last changed what it says, set by the service; None: it is not stored yet."""
    original_prompt: str | None = None
    """What its user said that made it a memory, byte for byte; None: it is not known."""


class Remembered(msgspec.Struct, frozen=True, gc=False):
    """The result of storing a memory."""

    memory: Memory
    action: str
    """created, updated, or unchanged (the same again: only its reference count grew)."""
    similar_count: int = 0
    """How many other memories of the scope are near-duplicates of it; counted up to 50."""
    similar: tuple[int, ...] = ()
    """The numbers of up to five near-duplicates, the closest first."""
    suggested_tags: tuple[str, ...] = ()
    """Tags that fit it, where the settings ask for suggestions."""


class Usage(msgspec.Struct, frozen=True, gc=False):
    """What retention needs of an active memory, without its text."""

    number: int
    version: int
    scope: Scope
    topic: str
    pinned: bool
    used_at: datetime
    """The last time it was recalled, shown, stored, remembered again, changed, imported or restored."""
    expires_at: datetime | None = None


def derive_topic(content: str) -> str:
    """Return the first 50 characters of the content on one line, without control characters, and `...` for the rest."""
    opening = content[: TOPIC_LENGTH + 1]
    if len(opening) > TOPIC_LENGTH and opening.isprintable() and "  " not in opening and opening[0] != " ":
        return opening[:TOPIC_LENGTH] + "..."
    # Only the opening is read: a content of 1 MB must not be split into words for its title.
    opening = CONTROL.sub("", " ".join(content[: TOPIC_LENGTH * 8].split()))
    if len(opening) <= TOPIC_LENGTH and len(content) <= TOPIC_LENGTH * 8:
        return opening
    return opening[:TOPIC_LENGTH] + "..."


def new_id(at: datetime, random: str = "") -> str:
    """Return a new UUIDv7: 48 bits of the milliseconds of `at`, then 74 random bits.

    `random`: 20 random hex digits to use instead of drawing them here, for a caller that makes many ids at once.
    """
    random = random or os.urandom(10).hex()
    return f"{_time_of_id(at)}-7{random[:3]}-{_VARIANT[random[3]]}{random[4:7]}-{random[8:]}"


@functools.lru_cache(maxsize=4)
def _time_of_id(at: datetime) -> str:
    time = f"{max(0, int(at.timestamp() * 1000)) & 0xFFFF_FFFF_FFFF:012x}"
    return f"{time[:8]}-{time[8:]}"


_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}


def now() -> datetime:
    """Return the present moment, in UTC."""
    return datetime.fromtimestamp(time.time(), UTC)
