"""What a store keeps of vectors, and tells of them."""

from typing import NamedTuple


class Sign(NamedTuple):
    """The signs of a vector: what it is searched by."""

    seq: int
    """Rises with every change: what a process has not seen has a higher one than what it has."""
    number: int
    bits: bytes


class Vector(NamedTuple):
    """What a piece of a version of a memory means."""

    number: int
    version: int
    bits: bytes
    parts: bytes


class Coverage(NamedTuple):
    """How far the vectors of a model are."""

    embedded: int
    pending: int


class Model(NamedTuple):
    number: int
    dimensions: int
