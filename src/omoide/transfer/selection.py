"""Which memories an export writes or an import reads."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from omoide.model import Draft, Memory, Scope, State, expiry


class TransferSelection(NamedTuple):
    """Filters that a memory must all pass; one that is left empty lets everything through."""

    type: str | None = None
    tags: Sequence[str] = ()
    scope: Scope | None = None
    """Exactly this layer; a project includes its sessions."""
    since: datetime | None = None
    states: Sequence[State] = ()
    """Listings: see `expiry.listing`."""

    def takes(self, memory: Memory | Draft, at: datetime) -> bool:
        """Return whether a memory, or the draft of one, passes every filter at this moment."""
        if isinstance(memory, Memory):
            changed, state = memory.updated_at, expiry.listing(memory, at)
        else:
            changed, state = memory.created_at or at, State.ACTIVE
        return (
            self.type in (None, memory.type)
            and _fold(self.tags) <= _fold(memory.tags)
            and self._covers(memory.scope)
            and (self.since is None or changed >= self.since)
            and (not self.states or state in self.states)
        )

    def _covers(self, scope: Scope | None) -> bool:
        wanted = self.scope
        return wanted is None or (scope is not None and scope.path == wanted.path and wanted.name in ("", scope.name))


def _fold(tags: Sequence[str]) -> set[str]:
    return {tag.casefold() for tag in tags}
