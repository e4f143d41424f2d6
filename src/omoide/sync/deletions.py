"""Deleted entries whose memories were archived, until this has been reported to a person.

The first that imports a deletion may be an agent's hook or a server, whose reports nobody sees. So the transaction that
archives a memory also records that this is to be reported, and a command says it.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from omoide.errors import StoreError
from omoide.model import Event, FileSource, Memory
from omoide.service.write_path import MemoryTransaction
from omoide.storage.base import Reader, Store

_TASK = "file deletions: first to report"
_NONE = datetime(1970, 1, 1, tzinfo=UTC)
"""When all of them are reported."""
_ALL = sys.maxsize
_MOST_LINES = 10
_DELETED, _AS_BEFORE = "deleted_entry", "file_as_before"
"""Details of the event of such a memory."""


class Deletion(NamedTuple):
    """A memory that is archived because its entry was deleted from a file."""

    memory: Memory
    at: datetime
    path: str
    is_previous: bool
    """Whether the file was again as before its last write."""

    @property
    def key(self) -> tuple[int, int]:
        """The number and the version of the memory: it may be restored, and deleted again."""
        return self.memory.number, self.memory.version


def event_detail(*, is_previous: bool) -> dict[str, object]:
    """The detail of the event of a deletion. `is_previous`: the file is as it was before its last write."""
    return {_DELETED: True, **({_AS_BEFORE: True} if is_previous else {})}


def is_deletion(detail: Mapping[str, object]) -> bool:
    """Return whether the event with this detail is such a deletion."""
    return bool(detail.get(_DELETED))


class Deletions:
    """The deletions of a store that no person knows of yet."""

    def __init__(self, store: Store):
        self._store = store

    def record(self, write: MemoryTransaction) -> None:
        """Record that a deletion is to be reported, in the transaction that imports it."""
        first = _first(write.tx)
        write.tx.record_run(_TASK, write.at if first is None else min(first, write.at))

    def pending_reports(self) -> list[Deletion]:
        """Return the deletions that are to be reported and were not undone since, oldest first. Cheap if there are none."""
        with self._store.read() as tx:
            return _pending_reports(tx)

    def mark_reported(self, reported: Collection[Deletion]) -> None:
        """Record that a person knows of these deletions."""
        known = {one.key for one in reported}
        try:
            with self._store.write(patient=False, durable=False) as tx:
                # Another process may have imported one since.
                rest = [one.at for one in _pending_reports(tx) if one.key not in known]
                tx.record_run(_TASK, min(rest, default=_NONE))
        except StoreError:  # fallback: they are reported again
            pass


def _first(tx: Reader) -> datetime | None:
    """When the first deletion that is to be reported was imported; None if there is none."""
    first = tx.last_run(_TASK)
    return None if first == _NONE else first


def _pending_reports(tx: Reader) -> list[Deletion]:
    since = _first(tx)
    if since is None:
        return []
    events = [event for event in reversed(tx.events(None, None, since, _ALL)) if is_deletion(event.detail)]
    memories = {memory.number: memory for memory in tx.memories([event.memory_number or 0 for event in events])}
    pairs = ((memories.get(event.memory_number or 0), event) for event in events)
    # What was restored or changed since is not to be reported.
    return [_deletion(memory, event) for memory, event in pairs if memory and memory.version == event.detail.get("version")]


def _deletion(memory: Memory, event: Event) -> Deletion:
    path = event.source.path if isinstance(event.source, FileSource) else ""
    return Deletion(memory, event.at, path, bool(event.detail.get(_AS_BEFORE)))


def describe_deletions(deletions: Sequence[Deletion]) -> list[str]:
    """Return the lines for a person: what was archived, and how to undo it. Of many, one line for all."""
    if len(deletions) <= _MOST_LINES:
        return [_describe(one) for one in deletions]
    files = ", ".join(dict.fromkeys(one.path for one in deletions))
    archived = f"{len(deletions)} entries were deleted, so their memories are archived"
    numbers = " ".join(str(one.memory.number) for one in deletions)
    return [f"{files}: {archived}: `omoide restore {numbers}` undoes it"]


def _describe(deletion: Deletion) -> str:
    number = deletion.memory.number
    # An old text in an editor and a deletion of the newest entry give the same bytes.
    doubt = " (the file is as it was before that entry: was an old text saved again?)" if deletion.is_previous else ""
    archived = f"the entry of #{number} was deleted, so it is archived"
    return f"{deletion.path}: {archived}: `omoide restore {number}` undoes it{doubt}"
