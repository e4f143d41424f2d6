"""Vectors of memories and of queries. Importing this module loads numpy."""

from collections.abc import Sequence
from typing import NamedTuple

from omoide.embeddings import chunking, language, quantized
from omoide.embeddings.base import Embedder
from omoide.embeddings.cache import VectorCache
from omoide.embeddings.quantized import Row
from omoide.model import Memory
from omoide.storage.base import EmbeddingModel, StoredVector


class QueryVector(NamedTuple):
    """A query's text as a vector, and the vectors of the store to compare it with."""

    row: Row
    model: EmbeddingModel
    cache: VectorCache
    english: "EnglishVector | None" = None
    """The same in the space of English, where the text can be English and there is a model for it."""

    @property
    def fits(self) -> bool:
        """Whether the stored vectors have its dimensions: a server may have changed its model under the same name."""
        return len(self.row) == self.model.dimensions


class EnglishVector(NamedTuple):
    """A query's text as a vector of the model for English."""

    row: Row
    model: EmbeddingModel


def encode_query(embedder: Embedder, text: str) -> Row:
    """Return the vector of a query's text. Does not wait for a slow embedder; raises EmbedderUnavailable."""
    row: Row = embedder.vectors([text[: chunking.MAX_QUERY_CHARACTERS]], patient=False)[0]
    return row


def make_vectors(embedder: Embedder, memories: Sequence[Memory]) -> list[StoredVector]:
    """Return the vectors of memories, one for each chunk of their texts; raises EmbedderUnavailable."""
    if not memories:
        return []
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


def make_english_vectors(embedder: Embedder, memories: Sequence[Memory]) -> list[StoredVector]:
    """Return the vectors of memories in English, and an empty one for each of the others: it needs none."""
    english = [memory for memory in memories if language.is_english(memory.content)]
    others = [memory for memory in memories if not language.is_english(memory.content)]
    empty = [StoredVector(memory.number, memory.version, b"", b"") for memory in others]
    return [*make_vectors(embedder, english), *empty]
