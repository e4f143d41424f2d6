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
    """The sign bits of a vector, by which vectors are searched."""

    seq: int
    """Rises with every change: what a process has not seen has a higher one than what it has."""
    number: int
    bits: bytes


class StoredVector(msgspec.Struct, frozen=True):
    """The vector of a chunk of a version of a memory; empty where the model makes none, so that none is missing."""

    number: int
    version: int
    bits: bytes
    """Its sign bits."""
    int8: bytes
    """Its dimensions as int8."""


class VectorCounts(msgspec.Struct, frozen=True):
    """How many memories have a vector of a model or need none, and how many still lack one."""

    embedded: int
    pending: int


class VectorIndex(Protocol):
    """Search for memories by vector."""

    def model(self, name: str) -> EmbeddingModel | None:
        """Return the model with this name that was added to the store last; None if there is none."""

    def areas(self, query: Query) -> list[int]:
        """Return the numbers of the areas of the index that the query searches; each area has sign bits of its own."""

    def sign_bits(self, model: int, area: int, after: int) -> list[SignBits]:
        """Return the sign bits of the model in an area whose `seq` is above `after`, in rising order.

        A caller that keeps them may keep some of memories that have left the area since.
        """

    def vectors(self, model: int, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        """Return the number of a memory and a vector as int8 for each chunk of these memories.

        Memories without a vector of this model are left out.
        """

    def without_vector(self, model: int | None, after: int, most: int, among: Sequence[int] | None = None) -> list[Memory]:
        """Return at most `most` memories that are not forgotten and have no vector of the model, by rising number.

        `model`: the number of the model; None: all memories lack a vector. `after`: only memories with a higher number.
        `among`: only memories with one of these numbers.
        """

    def coverage(self, model: int | None) -> VectorCounts:
        """Return how many memories that are not forgotten have a vector of the model, and how many lack one.

        `model`: the number of the model; None: all memories lack a vector.
        """


class VectorIndexWriter(Protocol):
    """Store vectors. From then on they follow their memory: moved with it, erased with it, dropped when its text changes."""

    def ensure_model(self, name: str, dimensions: int) -> int:
        """Return the number of the model with this name and dimensions; add it to the store if it is new.

        The same name with other dimensions is another model, so that vectors are never mixed.
        """

    def put_vectors(self, model: int, made: Iterable[StoredVector]) -> int:
        """Store vectors in place of those that their memories had of this model; return how many memories got vectors.

        Vectors of a memory that is no longer at their version are left out.
        """

    def drop_vectors(self, keep: Collection[int]) -> None:
        """Delete the vectors of all models. `keep`: the numbers of models whose vectors stay."""
