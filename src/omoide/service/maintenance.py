"""Care: purge, check, mend, back up, count."""

from collections.abc import Generator, Sequence
from pathlib import Path

from omoide.errors import Conflict
from omoide.guard import permissions
from omoide.model import Event, Link, Memory, Scope, State
from omoide.service import versioning
from omoide.service.core import Core, Ref
from omoide.storage.base import IndexEntry, Problem


def _entry(memory: Memory) -> tuple[int, IndexEntry]:
    """The fingerprint of a memory, and the words by which it is found."""
    return versioning.memory_fingerprint(memory), versioning.build_index_entry(memory)


class Maintenance(Core):
    def purge(self, refs: Sequence[Ref], *, scope: Scope) -> int:
        """Destroys forgotten memories and their history; afterwards no byte of them is in the database."""
        permissions.require(self._actor, "purge")
        at = self._clock()
        with self._write() as tx:
            for ref in refs:
                memory = self._find(tx, ref, scope)
                if memory.state is not State.FORGOTTEN:
                    raise Conflict(f"#{memory.number} is {memory.state}: forget it first, then purge it")
                tx.erase(memory.number)
                tx.add_event("purged", self._actor, at, memory, {"id": memory.id})
        self._store.scrub()
        return len(refs)

    def check(self) -> Sequence[Problem]:
        """What is wrong with the store, and what would mend it; nothing when all is well."""
        permissions.require(self._actor, "check")
        return self._store.check(_entry)

    def repair(self) -> int:
        """Makes index and fingerprints anew from the memories, which stay as they are; answers how many are indexed."""
        permissions.require(self._actor, "repair")
        return self._store.rebuild(lambda tx: versioning.entries(tx.everything()))

    def backup(self, target: Path) -> None:
        """A whole copy in one file, taken while others read and write."""
        permissions.require(self._actor, "backup")
        self._store.backup(target)

    def tally(self) -> Sequence[tuple[Scope, str, str, int]]:
        """Memories of the whole store counted by scope, type and listing."""
        permissions.require(self._actor, "tally")
        with self._read(None) as tx:
            return tx.counts(self._clock())

    def everything(self) -> Generator[tuple[Memory, Sequence[Link]], None, None]:
        """Every memory of every scope and state by number, with the links that start from it; all of one moment."""
        permissions.require(self._actor, "everything")
        return self._everything()

    def _everything(self) -> Generator[tuple[Memory, Sequence[Link]], None, None]:
        if self._follower is not None:
            self._follower.before_reading(None)
        with self._store.snapshot() as tx:
            for memory in tx.everything():
                yield memory, [link for link in tx.links(memory.number) if link.source == memory.id]

    def latest(self) -> Event | None:
        """The last thing that happened, in any scope."""
        permissions.require(self._actor, "latest")
        with self._store.read() as tx:
            return next(iter(tx.events(None, None, None, 1)), None)

    @property
    def place(self) -> str:
        return self._store.location
