"""Sensing: what is like a memory, and the vectors that tell."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from omoide.guard import access, bounds, checks
from omoide.model import Found, Hit, Query, Scope, Vectors
from omoide.service import recalling
from omoide.service.base import Ref, Verbs

if TYPE_CHECKING:  # it loads numpy
    from omoide.service.sense import Sense


class Sensing(Verbs):
    def similar(self, ref: Ref, *, scope: Scope, limit: int | None = None) -> Found:
        """What is most like a memory, best first: by meaning, or by its words where there is no embedder."""
        access.require(self._actor, "similar")
        limit = checks.limit(limit, self._settings)
        with self._reading(scope) as tx:
            memory = self._find(tx, ref, scope)
        query = Query(scope, f"{memory.topic}\n{memory.content}" if memory.topic_given else memory.content, limit=limit + 1)
        query = bounds.required(self._actor, query)
        at = self._clock()
        sense = self._meaning.sense(query, at)
        if sense is None:
            with self._store.read() as tx:
                hits = recalling.found(tx, query, at).hits
        else:
            hits = self._alike(sense, query)
        hits = [hit for hit in hits if hit.memory.number != memory.number][:limit]
        return Found(hits, len(hits))

    def _alike(self, sense: "Sense", query: Query) -> list[Hit]:
        with self._store.read() as tx:
            likeness = sense.likeness(tx, query)
            seen = tx.lengths(query, list(likeness), self._clock())
            best = [number for number in likeness if number in seen][: query.limit]
            return [
                Hit(memory, round(like, 4), partial("meaning: {:.2f}".format, like))
                for memory in tx.memories(best)
                for like in [likeness[memory.number]]
            ]

    def coverage(self, *, tried: bool = False) -> Vectors:
        """How many memories have a vector of the embedder in force, and how many wait for theirs.

        Tried, the embedder is asked for one vector first, as a question would: `trouble` says why it gave none.
        """
        access.require(self._actor, "coverage")
        if tried:
            self._meaning.try_out()
        counted = self._meaning.coverage()
        embedder = self._meaning.embedder
        return Vectors(embedder.name if embedder else None, counted.embedded, counted.pending, self._meaning.trouble)

    def embed_pending(self, watch: Callable[[int], None] = lambda _: None) -> int:
        """Makes the vectors that are missing, now; answers how many. `watch` hears how many more are done.

        Batch by batch, so that others write in between, and what was made stays when it is interrupted.
        """
        access.require(self._actor, "embed_pending")
        made = 0
        for more in self._meaning.filled():
            made += more
            watch(more)
        return made
