"""What a store keeps of vectors, and tells of them."""

from typing import NamedTuple


class SignBits(NamedTuple):
    """The signs of a vector: what it is searched by."""

    seq: int
    """Rises with every change: what a process has not seen has a higher one than what it has."""
    number: int
    bits: bytes


class StoredVector(NamedTuple):
    """What a piece of a version of a memory means."""

    number: int
    version: int
    bits: bytes
    parts: bytes


class VectorCounts(NamedTuple):
    """How far the vectors of a model are."""

    embedded: int
    pending: int


class EmbeddingModel(NamedTuple):
    number: int
    dimensions: int
