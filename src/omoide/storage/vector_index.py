"""The vectors of a store: what embedding models made of memories, by which they are found by meaning."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

import msgspec

from omoide.model import Memory, Query


class EmbeddingModel(msgspec.Struct, frozen=True):
    """A model that made vectors, by its number in the store."""

    number: int
    dimensions: int


class SignBits(NamedTuple):
    """The signs of a vector's dimensions, by which vectors are searched."""

    seq: int
    """Rises with every change: what a process has not seen has a higher one than what it has."""
    number: int
    bits: bytes


class StoredVector(msgspec.Struct, frozen=True):
    """The vector of a chunk of a version of a memory; empty if the model makes none of it, so that it lacks none."""

    number: int
    version: int
    bits: bytes
    """Its sign bits."""
    parts: bytes
    """Its dimensions as int8."""


class VectorCounts(msgspec.Struct, frozen=True):
    """How many memories have a vector of a model or need none, and how many still lack one."""

    embedded: int
    pending: int


class VectorIndex(Protocol):
    """Search for memories by vector."""

    def model(self, name: str) -> EmbeddingModel | None:
        """Return the model of this name that made vectors here last."""

    def areas(self, query: Query) -> list[int]:
        """Return the parts of the store that the query may search, each with sign bits of its own."""

    def sign_bits(self, model: int, area: int, after: int) -> list[SignBits]:
        """Return the model's sign bits in this area that came after a `seq`. Some may be of memories that left it since."""

    def vectors(self, model: int, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        """Return the vectors of these memories, one for each chunk; those without one of this model are left out."""

    def without_vector(self, model: int | None, after: int, most: int, among: Sequence[int] | None = None) -> list[Memory]:
        """Return, of these memories or of all, the first living ones after this number that have no vector of the model."""

    def coverage(self, model: int | None) -> VectorCounts:
        """Return how many memories have a vector of the model, and how many lack one; without a model, all lack one."""


class VectorIndexWriter(Protocol):
    """Store vectors. From then on they follow their memory: moved with it, erased with it, dropped when its text changes."""

    def ensure_model(self, name: str, dimensions: int) -> int:
        """Return the model's number. The same name with other dimensions is another model: vectors are never mixed."""

    def put_vectors(self, model: int, made: Iterable[StoredVector]) -> int:
        """Store the vectors of memories that are still at that version, those of a memory together and instead of any it
        had of this model. Return how many memories got them."""

    def drop_vectors(self, but: Collection[int]) -> None:
        """Drop the vectors of every model but these."""
