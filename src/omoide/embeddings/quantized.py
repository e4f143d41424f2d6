"""Vectors as they are kept and searched: int8 parts, and their signs to look through first.

The signs of two vectors differ in fewer places the nearer they are. A scope's signs lie in memory, so that a search is a few
passes over plain arrays; the best by signs are then compared exactly. Whoever imports this module loads numpy.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from math import pi, sin, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float32]
_WORD = 64
_BYTE = 4  # words whose differing signs a byte can count
# By signs, likenesses spread a little wider than they are: measured on five sets, 1.10 to 1.25 times.
_WIDER = 1.15
_FIRST = 1_024
_BLOCK = 512
# One half of the signs is looked at first, and the other half of so many times as many memories as are wanted. Of the ten
# nearest of 50,000 real vectors, all signs at once bring in .973 and this way .971; of the nearest one, .999 and .998.
_FINER = 15
_SHARE = 50  # and of one in so many where there are very many
_TALLIED = 400  # about so many tell how all of them stand


class NearestVectors(NamedTuple):
    """The memories most like a question, and how alike all are, so that it can be seen what is much."""

    numbers: list[int]
    mean: float
    deviation: float


def sign_bits(row: Row) -> bytes:
    above = row > 0
    if len(row) % _WORD:
        above = np.pad(above, (0, -len(row) % _WORD))
    packed: bytes = np.packbits(above).tobytes()
    return packed


def int8_vector(row: Row) -> bytes:
    """In steps of the largest part: the length of the vector is lost, and was 1."""
    largest = float(np.abs(row).max()) or 1.0
    kept: bytes = np.rint(row * (127 / largest)).astype(np.int8).tobytes()
    return kept


def _nearest_pieces(numbers: Sequence[int], cosines: Sequence[float]) -> dict[int, float]:
    """Of each memory, that of its piece that is nearest."""
    found = dict(zip(numbers, cosines, strict=True))
    if len(found) < len(numbers):
        for number, cosine in zip(numbers, cosines, strict=True):
            found[number] = max(cosine, found[number])
    return found


class RowStore:
    """Vectors that were compared lately, ready to be compared again."""

    def __init__(self, dimensions: int):
        self._rows = np.empty((_FIRST, dimensions), dtype=np.int8)
        self._lengths = np.empty(_FIRST, dtype=np.float32)
        self._count = 0
        self._places: dict[int, int] = {}
        self._pieces: dict[int, list[int]] = {}
        """The places of those that have more than one."""

    def __len__(self) -> int:
        return self._count

    def forget(self, number: int) -> None:
        self._places.pop(number, None)
        self._pieces.pop(number, None)

    def add(self, kept: Sequence[tuple[int, bytes]]) -> None:
        """Of whole memories that were missing."""
        if not kept:
            return
        fresh = _rows([parts for _, parts in kept])
        grown = self._count + len(fresh)
        if grown > len(self._rows):
            more = max(grown, 2 * len(self._rows)) - len(self._rows)
            self._rows = np.pad(self._rows, ((0, more), (0, 0)))
            self._lengths = np.pad(self._lengths, (0, more))
        self._rows[self._count : grown] = fresh
        self._lengths[self._count : grown] = _lengths(fresh)
        for place, (number, _) in enumerate(kept, self._count):
            first = self._places.setdefault(number, place)
            if first != place:
                self._pieces.setdefault(number, [first]).append(place)
        self._count = grown

    def alike(
        self, question: Row, numbers: Sequence[int], read: Callable[[list[int]], Sequence[tuple[int, bytes]]]
    ) -> dict[int, float]:
        """The cosines of those among these that have a vector; `read` reads those that are missing."""
        places = list(map(self._places.get, numbers))
        if None in places:
            self.add(read([number for number in numbers if number not in self._places]))
            numbers = [number for number in numbers if number in self._places]
            places = list(map(self._places.get, numbers))
        if not self._pieces.keys().isdisjoint(numbers):
            pieces = [(number, self._pieces.get(number, [self._places[number]])) for number in numbers]
            numbers = [number for number, its in pieces for _ in its]
            places = [place for _, its in pieces for place in its]
        if not places:
            return {}
        chosen = np.array(places)
        rows = self._rows.take(chosen, axis=0).astype(np.float32)
        # Not `rows @ question`: for so small a product BLAS wakes a second thread, which costs more than it helps.
        cosines = np.vecdot(rows, question) / self._lengths.take(chosen)
        return _nearest_pieces(numbers, cosines.tolist())


def matrix(kept: Sequence[bytes]) -> Row:
    """Kept vectors as rows of length 1."""
    rows = _rows(kept)
    unit: Row = rows / _lengths(rows)[:, None]
    return unit


def _rows(kept: Sequence[bytes]) -> Row:
    return np.frombuffer(b"".join(kept), dtype=np.int8).reshape(len(kept), -1).astype(np.float32)


def _lengths(rows: Row) -> Row:
    lengths: Row = np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1e-12)
    return lengths


def pairs(numbers: Sequence[int], rows: Row, least: float, most: int = 10) -> Iterator[tuple[int, int, float]]:
    """Each two that are at least so alike, the lower number first; of each memory its most alike ones."""
    for start in range(0, len(numbers), _BLOCK):
        block = rows[start : start + _BLOCK]
        alike = block @ rows[start:].T
        for place, likeness in enumerate(alike):
            likeness[: place + 1] = -1.0  # itself, and those before it, which have told already
            near = np.flatnonzero(likeness >= least)
            for beside in near[np.argsort(-likeness[near], kind="stable")[:most]]:
                one, other = sorted((numbers[start + place], numbers[start + int(beside)]))
                yield one, other, min(1.0, float(likeness[beside]))


def mean_vectors(kept: Sequence[tuple[int, bytes]]) -> tuple[list[int], Row]:
    """Memories with one vector for all their pieces."""
    if not kept:
        return [], np.zeros((0, 1), dtype=np.float32)
    rows = matrix([parts for _, parts in kept])
    numbers = sorted({number for number, _ in kept})
    place = {number: row for row, number in enumerate(numbers)}
    sums = np.zeros((len(numbers), rows.shape[1]), dtype=np.float32)
    np.add.at(sums, [place[number] for number, _ in kept], rows)
    unit: Row = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return numbers, unit


class SignIndex:
    """The signs of one place, in the order in which they came.

    Only added to. A memory that left is still here: whoever asks looks it up in the store, and finds it gone.
    """

    def __init__(self, dimensions: int):
        self.seen = 0
        """The last `seq` that is in here."""
        self._dimensions = dimensions
        self._count = 0
        words = -(-dimensions // _WORD)
        # All are asked for the first half, so it lies word by word; few for the second, so it lies memory by memory.
        self._first = np.zeros((-(-words // 2), _FIRST), dtype=np.uint64)
        self._second = np.zeros((_FIRST, words // 2), dtype=np.uint64)
        self._numbers = np.zeros(_FIRST, dtype=np.int64)

    def __len__(self) -> int:
        return self._count

    def add(self, fresh: Sequence[tuple[int, int, bytes]]) -> None:
        """Each with its `seq`, number and bits."""
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

    def look(self, question: bytes, most: int) -> "SignMatches":
        """Those whose signs differ from the question's in the fewest places, at least so many, and how all of them stand."""
        asked = np.frombuffer(question, dtype=np.uint64)
        first = self._first[:, : self._count]
        # A byte tells up to 255 signs of 256. Where all differ it says none do: whoever compares exactly knows better.
        differing = first[0] ^ asked[0]
        apart = np.bitwise_count(differing).astype(np.uint8 if len(first) <= _BYTE else np.uint16, copy=False)
        for word, its in zip(first[1:], asked[1:], strict=False):
            np.bitwise_xor(word, its, out=differing)
            apart += np.bitwise_count(differing)
        some = np.arange(0, self._count, max(1, self._count // _TALLIED))
        wanted = max(_FINER * most, self._count // _SHARE)
        found = np.flatnonzero(apart <= _distance_limit(apart.take(some), wanted / self._count))
        whole = self._whole(apart, np.concatenate((some, found)), asked)
        cosines, squared = _cosines(self._dimensions)
        tally = np.bincount(whole[: len(some)], minlength=len(cosines))
        mean, squares = float(tally @ cosines) / len(some), float(tally @ squared) / len(some)
        return SignMatches(self._numbers.take(found), whole[len(some) :], self._count, mean, squares)

    def _whole(
        self, apart: NDArray[np.uint8 | np.uint16], places: NDArray[np.int64], asked: NDArray[np.uint64]
    ) -> NDArray[np.uint16]:
        """In how many places the signs of these differ, both halves together."""
        # Word by word in memory first: with loops over a few words of each, xor takes longer than all the rest.
        words = self._second.take(places, axis=0).T.copy()
        words ^= asked[len(self._first) :, None]
        whole: NDArray[np.uint16] = np.add(apart.take(places), np.add.reduce(np.bitwise_count(words)), dtype=np.uint16)
        return whole


class SignMatches(NamedTuple):
    numbers: NDArray[np.int64]
    apart: NDArray[np.uint16]
    held: int
    """In the place, and the means of their cosines and of their squares, as the signs tell."""
    mean: float
    squares: float


@cache
def _cosines(dimensions: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The cosine that each number of differing signs stands for, and its square."""
    cosines = np.array([sin(pi / 2 * (1 - 2 * apart / dimensions)) for apart in range(dimensions + 1)])
    return cosines, np.square(cosines)


def _distance_limit(apart: NDArray[np.uint8 | np.uint16], share: float) -> int:
    """The number of differing signs up to which there is such a share of them, or a little more."""
    sums = np.cumsum(np.bincount(apart))
    return int(np.searchsorted(sums, min(share, 1.0) * len(apart)))


def nearest(question: Row, places: Iterable[SignIndex], most: int) -> NearestVectors:
    """About so many of the memories whose signs are nearest, from all places together."""
    asked = sign_bits(question)
    looks = [place.look(asked, most) for place in places if len(place)]
    count = sum(look.held for look in looks)
    if not count:
        return NearestVectors([], 0.0, 1.0)
    mean = sum(look.mean * look.held for look in looks) / count
    spread = max(sum(look.squares * look.held for look in looks) / count - mean * mean, 1e-6)
    numbers, apart, *_ = looks[0]
    if len(looks) > 1:
        numbers = np.concatenate([look.numbers for look in looks])
        apart = np.concatenate([look.apart for look in looks])
    nearest = numbers.take(np.argsort(apart, kind="stable")[:most])
    return NearestVectors(nearest.tolist(), mean, sqrt(spread) / _WIDER)
