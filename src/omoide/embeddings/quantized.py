"""Vectors as they are stored and searched: int8, with their sign bits to search first. Importing this module loads numpy.

The sign bits of two vectors differ in fewer dimensions the nearer the vectors are. The sign bits of a scope are in memory,
so that a search is a few passes over arrays; the best by sign bits are then compared exactly.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import pi, sin, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float32]
_WORD = 64
_MAX_BYTE_WORDS = 4  # words whose differing bits a byte can count
# By sign bits, cosines spread a little wider than they are: measured on five sets, 1.10 to 1.25 times.
_WIDER = 1.15
_FIRST_SIZE = 1_024
_BLOCK = 512
# The first half of the bits is compared for all, the second half for so many times as many memories as are wanted. Of the
# ten nearest of 50,000 real vectors, all bits at once find .973 and this way .971; of the nearest one, .999 and .998.
_SECOND_HALF = 15
_SECOND_HALF_SHARE = 50  # and for one in so many where there are very many
_SAMPLE = 400  # about so many show how all of them are distributed


class NearestVectors(NamedTuple):
    """The memories whose sign bits are nearest to a query's, and how the cosines of all memories are distributed."""

    numbers: list[int]
    mean: float
    deviation: float
    total: int
    """How many vectors there are."""


def sign_bits(row: Row) -> bytes:
    """Return which dimensions of a vector are positive, one bit each."""
    above = row > 0
    if len(row) % _WORD:
        above = np.pad(above, (0, -len(row) % _WORD))
    packed: bytes = np.packbits(above).tobytes()
    return packed


def int8_vector(row: Row) -> bytes:
    """Return a vector in steps of its largest dimension. Its length is lost: it was 1."""
    largest = float(np.abs(row).max()) or 1.0
    kept: bytes = np.rint(row * (127 / largest)).astype(np.int8).tobytes()
    return kept


def _nearest_chunks(numbers: Sequence[int], cosines: Sequence[float]) -> dict[int, float]:
    """Return the cosine of each memory's nearest chunk."""
    found = dict(zip(numbers, cosines, strict=True))
    if len(found) < len(numbers):
        for number, cosine in zip(numbers, cosines, strict=True):
            found[number] = max(cosine, found[number])
    return found


class RowStore:
    """Vectors that were compared lately, ready to be compared again."""

    def __init__(self, dimensions: int):
        self._rows = np.empty((_FIRST_SIZE, dimensions), dtype=np.int8)
        self._lengths = np.empty(_FIRST_SIZE, dtype=np.float32)
        self._count = 0
        self._places: dict[int, int] = {}
        self._chunks: dict[int, list[int]] = {}
        """The places of memories that have more than one vector."""

    def __len__(self) -> int:
        return self._count

    def forget(self, number: int) -> None:
        """Drop the vectors of a memory."""
        self._places.pop(number, None)
        self._chunks.pop(number, None)

    def missing(self, numbers: Sequence[int]) -> list[int]:
        """Return those of these memories that have no vector here."""
        return [number for number in numbers if number not in self._places]

    def add(self, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Add all vectors of memories that were missing."""
        if not vectors:
            return
        fresh = _rows([parts for _, parts in vectors])
        grown = self._count + len(fresh)
        if grown > len(self._rows):
            more = max(grown, 2 * len(self._rows)) - len(self._rows)
            self._rows = np.pad(self._rows, ((0, more), (0, 0)))
            self._lengths = np.pad(self._lengths, (0, more))
        self._rows[self._count : grown] = fresh
        self._lengths[self._count : grown] = _lengths(fresh)
        for place, (number, _) in enumerate(vectors, self._count):
            first = self._places.setdefault(number, place)
            if first != place:
                self._chunks.setdefault(number, [first]).append(place)
        self._count = grown

    def cosines(self, query: Row, numbers: Sequence[int]) -> dict[int, float]:
        """Return the cosine with a query of each of these memories that has a vector here."""
        places: list[int] = []
        known: list[int] = []
        for number in numbers:
            place = self._places.get(number)
            if place is not None:
                chunks = self._chunks.get(number, (place,))
                places.extend(chunks)
                known.extend([number] * len(chunks))
        if not places:
            return {}
        chosen = np.array(places)
        rows = self._rows.take(chosen, axis=0).astype(np.float32)
        # Not `rows @ query`: for so small a product BLAS wakes a second thread, which costs more than it helps.
        cosines = np.vecdot(rows, query) / self._lengths.take(chosen)
        return _nearest_chunks(known, cosines.tolist())


def _unit_rows(stored: Sequence[bytes]) -> Row:
    """Return stored vectors as rows of length 1."""
    rows = _rows(stored)
    unit: Row = rows / _lengths(rows)[:, None]
    return unit


def _rows(stored: Sequence[bytes]) -> Row:
    return np.frombuffer(b"".join(stored), dtype=np.int8).reshape(len(stored), -1).astype(np.float32)


def _lengths(rows: Row) -> Row:
    lengths: Row = np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1e-12)
    return lengths


def pairs(numbers: Sequence[int], rows: Row, least: float, most: int = 10) -> Iterator[tuple[int, int, float]]:
    """Return each two memories with a cosine of at least `least`, the lower number first; of each at most its `most`
    best."""
    for start in range(0, len(numbers), _BLOCK):
        block = rows[start : start + _BLOCK]
        alike = block @ rows[start:].T
        for place, likeness in enumerate(alike):
            likeness[: place + 1] = -1.0  # itself, and those before it, which are compared already
            near = np.flatnonzero(likeness >= least)
            for beside in near[np.argsort(-likeness[near], kind="stable")[:most]]:
                one, other = sorted((numbers[start + place], numbers[start + int(beside)]))
                yield one, other, min(1.0, float(likeness[beside]))


def mean_vectors(vectors: Sequence[tuple[int, bytes]]) -> tuple[list[int], Row]:
    """Return memories with one vector for all their chunks."""
    if not vectors:
        return [], np.zeros((0, 1), dtype=np.float32)
    rows = _unit_rows([parts for _, parts in vectors])
    numbers = sorted({number for number, _ in vectors})
    place = {number: row for row, number in enumerate(numbers)}
    sums = np.zeros((len(numbers), rows.shape[1]), dtype=np.float32)
    np.add.at(sums, [place[number] for number, _ in vectors], rows)
    unit: Row = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return numbers, unit


class SignIndex:
    """The sign bits of one area, in the order in which they were stored.

    Only added to. A memory that left the area is still here: the caller looks it up in the store, and finds it gone.
    """

    def __init__(self, dimensions: int):
        self.seen = 0
        """The last `seq` that is in here."""
        self._dimensions = dimensions
        self._count = 0
        words = -(-dimensions // _WORD)
        # The first half is read of all, so it is laid out word by word; the second of few, so memory by memory.
        self._first = np.zeros((-(-words // 2), _FIRST_SIZE), dtype=np.uint64)
        self._second = np.zeros((_FIRST_SIZE, words // 2), dtype=np.uint64)
        self._numbers = np.zeros(_FIRST_SIZE, dtype=np.int64)

    def __len__(self) -> int:
        return self._count

    def add(self, fresh: Sequence[tuple[int, int, bytes]]) -> None:
        """Add sign bits, each with its `seq` and the number of its memory."""
        if not fresh:
            return
        grown = self._count + len(fresh)
        if grown > len(self._numbers):
            more = max(grown, 2 * len(self._numbers)) - len(self._numbers)
            self._first = np.pad(self._first, ((0, 0), (0, more)))
            self._second = np.pad(self._second, ((0, more), (0, 0)))
            self._numbers = np.pad(self._numbers, (0, more))
        new = np.frombuffer(b"".join(bits for _, _, bits in fresh), dtype=np.uint64).reshape(len(fresh), -1)
        self._first[:, self._count : grown] = new[:, : len(self._first)].T
        self._second[self._count : grown] = new[:, len(self._first) :]
        self._numbers[self._count : grown] = [number for _, number, _ in fresh]
        self._count, self.seen = grown, fresh[-1][0]

    def nearest(self, query: bytes, most: int) -> "SignMatches":
        """Return at least `most` vectors whose sign bits differ least from the query's, and the distribution of all."""
        asked = np.frombuffer(query, dtype=np.uint64)
        first = self._first[:, : self._count]
        # A byte counts up to 255 of 256 bits. Where all differ it counts none: the exact comparison corrects that.
        differing = first[0] ^ asked[0]
        apart = np.bitwise_count(differing).astype(np.uint8 if len(first) <= _MAX_BYTE_WORDS else np.uint16, copy=False)
        for word, its in zip(first[1:], asked[1:], strict=False):
            np.bitwise_xor(word, its, out=differing)
            apart += np.bitwise_count(differing)
        some = np.arange(0, self._count, max(1, self._count // _SAMPLE))
        wanted = max(_SECOND_HALF * most, self._count // _SECOND_HALF_SHARE)
        found = np.flatnonzero(apart <= _distance_limit(apart.take(some), wanted / self._count))
        whole = self._whole(apart, np.concatenate((some, found)), asked)
        cosines, squared = _cosines(self._dimensions)
        tally = np.bincount(whole[: len(some)], minlength=len(cosines))
        mean, squares = float(tally @ cosines) / len(some), float(tally @ squared) / len(some)
        return SignMatches(self._numbers.take(found), whole[len(some) :], self._count, mean, squares)

    def _whole(
        self, apart: NDArray[np.uint8 | np.uint16], places: NDArray[np.int64], asked: NDArray[np.uint64]
    ) -> NDArray[np.uint16]:
        """Return in how many bits these differ, both halves together."""
        # Copied word by word first: with loops over a few words of each, xor takes longer than all the rest.
        words = self._second.take(places, axis=0).T.copy()
        words ^= asked[len(self._first) :, None]
        whole: NDArray[np.uint16] = np.add(apart.take(places), np.add.reduce(np.bitwise_count(words)), dtype=np.uint16)
        return whole


class SignMatches(NamedTuple):
    """The vectors of an area whose sign bits are nearest, and the distribution of all vectors of the area."""

    numbers: NDArray[np.int64]
    apart: NDArray[np.uint16]
    """In how many bits each differs."""
    total: int
    """How many vectors the area has."""
    mean: float
    """The mean of their cosines, and of the squares, estimated from the sign bits."""
    squares: float


@cache
def _cosines(dimensions: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the cosine that each number of differing bits stands for, and its square."""
    cosines = np.array([sin(pi / 2 * (1 - 2 * apart / dimensions)) for apart in range(dimensions + 1)])
    return cosines, np.square(cosines)


def _distance_limit(apart: NDArray[np.uint8 | np.uint16], share: float) -> int:
    """Return the number of differing bits up to which there is such a share of them, or a little more."""
    sums = np.cumsum(np.bincount(apart))
    return int(np.searchsorted(sums, min(share, 1.0) * len(apart)))


def nearest(query: Row, areas: Iterable[SignIndex], most: int) -> NearestVectors:
    """Return about `most` memories whose sign bits are nearest, from all areas together."""
    asked = sign_bits(query)
    matches = [area.nearest(asked, most) for area in areas if len(area)]
    count = sum(match.total for match in matches)
    if not count:
        return NearestVectors([], 0.0, 1.0, 0)
    mean = sum(match.mean * match.total for match in matches) / count
    spread = max(sum(match.squares * match.total for match in matches) / count - mean * mean, 1e-6)
    numbers, apart, *_ = matches[0]
    if len(matches) > 1:
        numbers = np.concatenate([match.numbers for match in matches])
        apart = np.concatenate([match.apart for match in matches])
    best = numbers.take(np.argsort(apart, kind="stable")[:most])
    return NearestVectors(best.tolist(), mean, sqrt(spread) / _WIDER, count)
