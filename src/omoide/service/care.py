"""Care: purge, check, mend, back up, count."""

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

from omoide.errors import Conflict
from omoide.guard import access
from omoide.model import Event, Link, Memory, Scope, State
from omoide.service import shape
from omoide.service.base import Ref, Verbs
from omoide.store.base import Finding, Reading, Words


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
        return self._store.check()

    def mend(self) -> int:
        """Makes the whole index anew from the memories, which nothing here changes; answers how many are indexed."""
        access.require(self._actor, "mend")

        def indexed(tx: Reading) -> Iterator[tuple[Memory, Words]]:
            for memory in tx.everything():
                yield memory, shape.words(memory)

        return self._store.rebuild(indexed)

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
        with self._reading(None) as tx:
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
