"""Similar memories, and the vectors by which they are found."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from omoide.guard import permissions, validation
from omoide.model import Hit, Query, Scope, SearchResult, VectorCoverage
from omoide.retrieval import pipeline
from omoide.service.core import Core, Ref

if TYPE_CHECKING:  # it loads numpy
    from omoide.embeddings.vectors import QueryVector


class Embeddings(Core):
    """Operations that use vectors."""

    def similar(self, ref: Ref, *, scope: Scope, limit: int | None = None) -> SearchResult:
        """Return the memories most similar to one, best first: by their vectors, or by words if there is no embedder.

        `limit`: how many at most; by default that of the settings. Does not count as access. Raises NotFound.
        """
        permissions.require(self._actor, "similar")
        limit = validation.check_limit(limit, self._settings)
        with self._read(scope) as tx:
            memory = self._find(tx, ref, scope)
        query = Query(scope, f"{memory.topic}\n{memory.content}" if memory.topic_given else memory.content, limit=limit + 1)
        query = permissions.narrow_or_refuse(self._actor, query)
        at = self._clock()
        vector = self._embeddings.encode_query(query)
        if vector is None:
            with self._store.read() as tx:
                hits = pipeline.search(tx, query, at).hits
        else:
            hits = self._similar_by_vector(vector, query, at)
        hits = [hit for hit in hits if hit.memory.number != memory.number][:limit]
        return SearchResult(hits, len(hits))

    def _similar_by_vector(self, vector: "QueryVector", query: Query, at: datetime) -> list[Hit]:
        from omoide.retrieval.vector_query import nearest_memories  # lazy: it loads numpy

        with self._store.read() as tx:
            likeness = nearest_memories(tx, query, vector).cosines
            seen = tx.ranking_facts(query, list(likeness), at)
            best = [number for number in likeness if number in seen][: query.limit]
            return [
                Hit(memory, round(like, 4), partial("meaning: {:.2f}".format, like))
                for memory in tx.memories(best)
                for like in [likeness[memory.number]]
            ]

    def coverage(self, *, probe: bool = False) -> VectorCoverage:
        """Count the memories that have all vectors that the current embedders make of them, and those that lack one.

        `probe`: ask each embedder for one vector first; `trouble` and `english_trouble` say why it gave none.
        """
        permissions.require(self._actor, "coverage")
        if probe:
            self._embeddings.probe()
        counted = self._embeddings.coverage()
        embedders = (self._embeddings.embedder, self._embeddings.english)
        names = " + ".join(embedder.name for embedder in embedders if embedder is not None)
        return VectorCoverage(
            names or None,
            counted.embedded,
            counted.pending,
            self._embeddings.trouble,
            self._embeddings.english_trouble,
        )

    def embed_pending(self, watch: Callable[[int], None] = lambda _: None) -> int:
        """Make the missing vectors now, and return how many memories got theirs.

        They are stored batch by batch, so that others can write in between and an interruption loses little. `watch` is
        called with the number of memories of each batch. Raises EmbedderUnavailable.
        """
        permissions.require(self._actor, "embed_pending")
        made = 0
        for more in self._embeddings.fill():
            made += more
            watch(more)
        return made
