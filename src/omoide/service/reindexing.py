"""Reindexing: near twins become one, what is forgotten goes, index and vectors are made anew, and the old is kept."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from omoide.guard import access
from omoide.model import LinkKind, Memory, State
from omoide.service import shape
from omoide.service.base import Verbs
from omoide.store.base import Reading, Writing

if TYPE_CHECKING:  # many patterns and words: 20 ms that only a reindex pays for
    from omoide.lifecycle.dedupe import Merge, Plan, Reindexed

_AT_ONCE = 200
"""Merges, and forgotten memories, in one transaction: others write in between."""


Watch = Callable[[str, int, int], None]
"""Hears which step it is at, how many more are done, and of how many."""


class Reindexing(Verbs):
    def reindex(self, *, dry_run: bool = False, archive: Path | None = None, watch: Watch = lambda *_: None) -> "Reindexed":
        """Merges near twins, drops what is forgotten, and makes index and vectors anew; a dry run only tells.

        The whole database as it was goes to `archive` first. Others read and write all the while. Each merge is one
        transaction with its versions, links and events, and the new index takes the place of the old one in one step:
        killed at any moment, every memory is as before or as after, and the next reindex goes on.
        """
        access.require(self._actor, "reindex")
        from omoide.lifecycle.dedupe import Reindexed  # noqa: PLC0415 - see the top

        if dry_run:
            with self._store.read() as tx:
                plan, forgotten = self._twins(tx), _forgotten(tx)
            return Reindexed(plan, 0, len(forgotten), 0, 0)
        with self._store.alone("reindex"):
            if archive is not None:
                self._store.backup(archive)
            pending = self._meaning.coverage().pending
            embedded = 0
            for more in self._meaning.filled():
                embedded += more
                watch("embedding", more, pending)
            with self._store.read() as tx:
                plan, forgotten = self._twins(tx), _forgotten(tx)
            at = self._clock()
            merged = self._merged(plan.merges, at, watch)
            dropped = self._dropped(forgotten, at, watch)
            with self._store.read() as tx:
                total = sum(count for *_, count in tx.tally())
            indexed = self._store.renew(shape.words, lambda more: watch("indexing", more, total))
            for more in self._meaning.filled():  # of what was merged just now
                embedded += more
        return Reindexed(plan, merged, dropped, indexed, embedded)

    def _twins(self, tx: Reading) -> "Plan":
        from omoide.lifecycle import dedupe  # noqa: PLC0415 - see the top

        memories = {memory.number: memory for memory in tx.everything() if memory.state is State.ACTIVE}
        pairs = [*dedupe.by_words(memories.values()), *self._meaning.pairs(tx, memories)]
        best: dict[tuple[int, int], float] = {}
        for one, other, likeness in pairs:
            best[one, other] = max(likeness, best.get((one, other), 0.0))
        return dedupe.plan(memories, [(one, other, likeness) for (one, other), likeness in best.items()])

    def _merged(self, merges: "Sequence[Merge]", at: datetime, watch: Watch) -> int:
        done = 0
        for start in range(0, len(merges), _AT_ONCE):
            some = merges[start : start + _AT_ONCE]
            with self._writing() as tx:
                for merge in some:
                    done += self._merge(tx, merge, at)
            watch("merging", len(some), len(merges))  # not inside: nobody waits for whoever listens
        return done

    def _merge(self, tx: Writing, merge: "Merge", at: datetime) -> bool:
        """Makes them one, if all of them are still as they were when it was planned."""
        planned = [merge.into, *merge.others]
        if [one.version for one in tx.memories([one.number for one in planned])] != [one.version for one in planned]:
            return False
        into = tx.memory(merge.into.number)
        if into is None:
            return False
        self._change(tx, into, shape.changed(merge.merged, {}), "merged", at)
        for other in merge.others:
            # To the archive, not away: its history, and a link that tells where the fact came from.
            self._change(tx, other, msgspec.structs.replace(other, state=State.ARCHIVED), "merged", at)
            tx.link(into.number, LinkKind.DERIVED_FROM, other.number, at)
        return True

    def _dropped(self, forgotten: Sequence[Memory], at: datetime, watch: Watch) -> int:
        done = 0
        for start in range(0, len(forgotten), _AT_ONCE):
            some = forgotten[start : start + _AT_ONCE]
            with self._writing() as tx:
                for planned in some:
                    memory = tx.memory(planned.number)
                    if memory is not None and memory.version == planned.version:
                        tx.erase(memory.number)
                        tx.log("purged", self._actor, at, memory, {"id": memory.id})
                        done += 1
            watch("dropping", len(some), len(forgotten))
        return done


def _forgotten(tx: Reading) -> list[Memory]:
    return [memory for memory in tx.everything() if memory.state is State.FORGOTTEN]
