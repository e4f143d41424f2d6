"""Vectors of memories and of queries. Importing this module loads numpy."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from omoide.embeddings import chunking, quantized
from omoide.embeddings.base import Embedder
from omoide.embeddings.quantized import Row, SignIndex
from omoide.model import Memory
from omoide.storage.base import EmbeddingModel, Reader, StoredVector


class QueryVector(NamedTuple):
    """A query as a vector, and how it is compared with the vectors of a store."""

    row: Row
    model: EmbeddingModel
    signs: Callable[[Reader, EmbeddingModel, int], SignIndex]
    """The sign bits of one area of the store."""
    cosines: Callable[[Reader, EmbeddingModel, Row, Sequence[int]], dict[int, float]]
    """The cosine of each of these memories that has a vector."""

    @property
    def fits(self) -> bool:
        """Whether the stored vectors have its dimensions: a server may have changed its model under the same name."""
        return len(self.row) == self.model.dimensions


def encode_query(embedder: Embedder, text: str) -> Row:
    """The vector of a query. Does not wait for a slow embedder."""
    row: Row = embedder.vectors([text[: chunking.ASKED]], patient=False)[0]
    return row


def make_vectors(embedder: Embedder, memories: Sequence[Memory]) -> list[StoredVector]:
    """The vectors of memories: one for each chunk of their texts."""
    texts = [
        (memory, chunk)
        for memory in memories
        for chunk in chunking.chunks(memory.topic if memory.topic_given else "", memory.content)
    ]
    rows = embedder.vectors([chunk for _, chunk in texts])
    return [
        StoredVector(memory.number, memory.version, quantized.sign_bits(row), quantized.int8_vector(row))
        for (memory, _), row in zip(texts, rows, strict=True)
    ]
