"""Whether a memory has expired, and in which listing it belongs."""

from datetime import datetime
from typing import TypeVar

from omoide.model.memory import Memory, State

Moment = TypeVar("Moment", datetime, int)


def has_expired(expires_at: Moment | None, at: Moment) -> bool:
    """Return whether `expires_at` is at or before the moment `at`. None never expires."""
    return expires_at is not None and expires_at <= at


def listing(memory: Memory, at: datetime) -> State:
    """Return the listing of a memory at a moment: its state, or `inactive` for an active one that has expired.

    Retention archives an expired memory later, unless it is pinned. A link `supersedes` does not change the listing of its
    target: the caller that adds the link archives the target.
    """
    if memory.state is State.ACTIVE and has_expired(memory.expires_at, at):
        return State.INACTIVE
    return memory.state


def is_current(memory: Memory, at: datetime) -> bool:
    """Return whether a memory is active and has not expired: what is recalled, listed, counted and written to files.

    `storage.rows.listing_clause` is the same in SQL.
    """
    return listing(memory, at) is State.ACTIVE
