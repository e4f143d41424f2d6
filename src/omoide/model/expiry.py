"""What is current: the one place that says whether a memory has expired, and in which listing it stands. Pure."""

from datetime import datetime
from typing import TypeVar

from omoide.model.memory import Memory, State

Moment = TypeVar("Moment", datetime, int)


def has_expired(expires_at: Moment | None, at: Moment) -> bool:
    """Whether an expiry is over at a moment: from the very moment on."""
    return expires_at is not None and expires_at <= at


def listing(memory: Memory, at: datetime) -> State:
    """The one listing that a memory stands in at a moment: its state, and `inactive` for an active one that has expired.

    Retirement archives an expired memory unless it is pinned; until then, and for a pinned one, this says where it is. A
    link that says it is superseded does not end it: whoever makes that link archives it.
    """
    if memory.state is State.ACTIVE and has_expired(memory.expires_at, at):
        return State.INACTIVE
    return memory.state


def is_current(memory: Memory, at: datetime) -> bool:
    """Whether a memory holds at a moment: the one predicate for all that is recalled, listed, counted or written out.

    `storage.rows.listing_clause` says the same in SQL.
    """
    return listing(memory, at) is State.ACTIVE
