"""Store protocols for the calls of agents' hooks, what they injected, and the inbox that is learnt from."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from omoide.model import HookRecord, InboxItem, Injection, JudgedUse, TranscriptPosition


class HookReader(Protocol):
    """Read calls of hooks, injections and the inbox."""

    def hook_calls(self, limit: int) -> list[HookRecord]:
        """Return the last calls, newest first."""

    def last_hook_calls(self) -> list[HookRecord]:
        """Return the last call of each client, newest first; repeated ones do not count."""

    def has_hook_call(self, digest: str, since: datetime) -> bool:
        """Return whether there was a call with this digest at this moment or later."""

    def injected_versions(self, session: str) -> dict[int, int]:
        """Return the memories that are in a session, by number, with the version of each: those that were injected since
        the last call that clears."""

    def injections(self, session: str | None, since: datetime) -> list[Injection]:
        """Return what was injected into a session, or into all, at this moment or later, oldest first."""

    def use_counts(self) -> dict[int, tuple[int, int]]:
        """Return how often agents clearly used and clearly contradicted each injected memory, by its number."""

    def inbox(self) -> list[InboxItem]:
        """Return what waits to be learnt from, oldest first."""

    def has_inbox(self, at: datetime, before: datetime) -> bool:
        """Return whether something of before this moment waits to be learnt from and is not leased at `at`."""

    def work_tree_before(self, number: int, root: str) -> str:
        """Return the state of the work tree at `root` in the last item before the one with this number.

        Items that were learnt from count. Empty if none of the newest ones has it.
        """

    def transcript_position(self, path: str) -> TranscriptPosition:
        """Return how far a transcript was read."""


class HookWriter(Protocol):
    """Record calls of hooks, injections and the inbox."""

    def add_hook_call(self, record: HookRecord) -> int:
        """Store a call under a new number, and return the number. Very old calls are deleted, with their injections."""

    def end_hook_call(self, record: HookRecord, injections: Sequence[Injection] = ()) -> None:
        """Replace the call with this number, and store what it injected."""

    def record_uses(self, uses: Iterable[JudgedUse]) -> None:
        """Store how injections were judged. One that is not there, as after a purge, is passed over."""

    def put_in_inbox(self, item: InboxItem) -> None:
        """Store an item under a new number. Items that were learnt from long ago are deleted."""

    def lease_inbox(self, at: datetime, until: datetime, before: datetime) -> list[InboxItem]:
        """Lease all items of the session whose item waits longest, and return them, oldest first.

        Only items of before the moment `before` that nobody has leased at `at` count. Nobody else gets them up to `until`.
        """

    def extend_lease(self, numbers: Sequence[int], until: datetime) -> None:
        """Move the end of the lease of these items."""

    def record_position(self, path: str, position: TranscriptPosition, at: datetime) -> None:
        """Record how far a transcript was read.

        `at`: when it was read. A position is dropped once it is as old as the items that `put_in_inbox` deletes.
        """

    def finish_inbox(self, numbers: Sequence[int], at: datetime) -> None:
        """Record that these items were learnt from."""
