"""Care: purge, check, mend, back up, count."""

from collections.abc import Generator, Sequence
from pathlib import Path

from omoide.errors import Conflict
from omoide.guard import access
from omoide.model import Event, Link, Memory, Scope, State
from omoide.service import shape
from omoide.service.base import Ref, Verbs
from omoide.store.base import Finding, Words


def _entry(memory: Memory) -> tuple[int, Words]:
    """The fingerprint of a memory, and the words by which it is found."""
    return shape.twin_of(memory), shape.words(memory)


class Care(Verbs):
    def purge(self, refs: Sequence[Ref], *, scope: Scope) -> int:
        """Destroys forgotten memories and their history; afterwards no byte of them is in the database."""
        access.require(self._actor, "purge")
        at = self._clock()
        with self._writing() as tx:
            for ref in refs:
                memory = self._find(tx, ref, scope)
                if memory.state is not State.FORGOTTEN:
                    raise Conflict(f"#{memory.number} is {memory.state}: forget it first, then purge it")
                tx.erase(memory.number)
                tx.log("purged", self._actor, at, memory, {"id": memory.id})
        self._store.scrub()
        return len(refs)

    def check(self) -> Sequence[Finding]:
        """What is wrong with the store, and what would mend it; nothing when all is well."""
        access.require(self._actor, "check")
        return self._store.check(_entry)

    def mend(self) -> int:
        """Makes index and fingerprints anew from the memories, which stay as they are; answers how many are indexed."""
        access.require(self._actor, "mend")
        return self._store.rebuild(lambda tx: shape.entries(tx.everything()))

    def backup(self, target: Path) -> None:
        """A whole copy in one file, taken while others read and write."""
        access.require(self._actor, "backup")
        self._store.backup(target)

    def tally(self) -> Sequence[tuple[Scope, str, str, int]]:
        """Memories of the whole store counted by scope, type and listing."""
        access.require(self._actor, "tally")
        with self._reading(None) as tx:
            return tx.tally(self._clock())

    def everything(self) -> Generator[tuple[Memory, Sequence[Link]], None, None]:
        """Every memory of every scope and state by number, with the links that start from it; all of one moment."""
        access.require(self._actor, "everything")
        return self._everything()

    def _everything(self) -> Generator[tuple[Memory, Sequence[Link]], None, None]:
        if self._follower is not None:
            self._follower.before_reading(None)
        with self._store.snapshot() as tx:
            for memory in tx.everything():
                yield memory, [link for link in tx.links(memory.number) if link.source == memory.id]

    def latest(self) -> Event | None:
        """The last thing that happened, in any scope."""
        access.require(self._actor, "latest")
        with self._store.read() as tx:
            return next(iter(tx.events(None, None, None, 1)), None)

    @property
    def place(self) -> str:
        return self._store.place
