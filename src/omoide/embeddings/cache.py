"""The vectors of a store that a process has in memory: sign bits to search, and vectors compared lately.

Importing this module loads numpy.
"""

from collections.abc import Iterable, Sequence

from omoide.embeddings import quantized
from omoide.embeddings.quantized import NearestVectors, Row, RowStore, SignIndex
from omoide.storage.base import EmbeddingModel, Reader, StoreMark

_MAX_ROWS = 12_000
"""Vectors kept of a model, about 8 MB."""


class VectorCache:
    """Sign bits by area, and vectors: reading eighty of them takes three times as long as comparing them.

    Every method first reads what changed in the store since.
    """

    def __init__(self) -> None:
        self._areas: dict[tuple[int, int], SignIndex] = {}
        self._rows: dict[int, tuple[StoreMark, RowStore]] = {}
        """By the number of a model: its vectors, and the state of the store when they were last read."""

    def nearest(self, tx: Reader, model: EmbeddingModel, row: Row, areas: Iterable[int], most: int) -> NearestVectors:
        """Return about `most` memories of these areas whose sign bits are nearest to a vector's."""
        return quantized.nearest(row, [self.sign_index(tx, model, area) for area in areas], most)

    def sign_index(self, tx: Reader, model: EmbeddingModel, area: int) -> SignIndex:
        """Return the sign bits of an area, with everything that was added since."""
        index = self._areas.get((model.number, area))
        if index is None:
            index = self._areas[model.number, area] = SignIndex(model.dimensions)
        index.add(tx.sign_bits(model.number, area, index.seen))
        return index

    def cosines(self, tx: Reader, model: EmbeddingModel, row: Row, numbers: Sequence[int]) -> dict[int, float]:
        """Return the cosine with a vector of each of these memories that has one."""
        rows = self._current_rows(tx, model)
        missing = rows.missing(numbers)
        if missing:
            rows.add(tx.vectors(model.number, missing))
        return rows.cosines(row, numbers)

    def _current_rows(self, tx: Reader, model: EmbeddingModel) -> RowStore:
        """Return the vectors without those of memories that changed since."""
        mark, known = tx.mark(), self._rows.get(model.number)
        if known is None or known[0].rebuild != mark.rebuild or len(known[1]) > _MAX_ROWS:
            rows = RowStore(model.dimensions)
        else:
            before, rows = known
            if before.event != mark.event:
                # A changed text has no vector until one is made. Making it appends no event, and needs none.
                for number in tx.memories_changed_since(before.event):
                    rows.forget(number)
        self._rows[model.number] = (mark, rows)
        return rows
