"""Count what the store holds."""

from collections import Counter
from datetime import datetime
from pathlib import Path

import msgspec

from omoide.guard import permissions
from omoide.model import State, VectorCoverage
from omoide.service.embeddings import Embeddings


class StoreStats(msgspec.Struct, frozen=True):
    """The whole store in numbers."""

    count: int
    by_state: dict[str, int]
    """Every state, also those without a memory."""
    by_type: dict[str, int]
    """The most common first, as in `by_project`."""
    by_project: dict[str, int]
    """By the project's path, sessions included; the global layer counts under the empty path."""
    vectors: VectorCoverage
    newest_change: datetime | None
    """When the last event happened, in any scope."""
    location: str
    """The file of the database."""
    bytes: int
    """The size of the database and its write-ahead log."""


class Stats(Embeddings):
    """Statistics of the store."""

    def stats(self) -> StoreStats:
        """Count the memories of the whole store by state, type and project, with its vectors and its size.

        Raises NotAllowed for a role that may not see all projects.
        """
        permissions.require(self._actor, "stats", "see statistics of the whole store")
        by_state, by_type, by_project = Counter[str](), Counter[str](), Counter[str]()
        with self._read(None) as tx:
            counts = tx.counts(self._clock())
            last = next(iter(tx.events(None, None, None, 1)), None)
        for scope, type, state, count in counts:
            by_state[state] += count
            by_type[type] += count
            by_project[scope.path] += count
        location = self._store.location
        return StoreStats(
            count=by_state.total(),
            by_state={state.value: by_state[state.value] for state in State},
            by_type=dict(by_type.most_common()),
            by_project=dict(by_project.most_common()),
            vectors=self.coverage(),
            newest_change=None if last is None else last.at,
            location=location,
            bytes=sum(file.stat().st_size for file in (Path(location), Path(f"{location}-wal")) if file.exists()),
        )
