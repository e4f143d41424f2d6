"""Vectors as they are kept and searched: int8 parts, and their signs to look through first.

The signs of two vectors differ in fewer places the nearer they are. A scope's signs lie in memory, a word of 64 bits of
each memory beside the same word of the next, so that a search is a few passes over plain arrays; the best by signs are
then compared exactly. Whoever imports this module loads numpy.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import pi, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float32]
_WORD = 64
# By signs, likenesses spread a little wider than they are: measured on eight sets, 1.10 to 1.25 times.
_WIDER = 1.15
_FIRST = 1_024
_BLOCK = 512


class Likeness(NamedTuple):
    """The memories most like a question, and how alike all are, so that it can be seen what is much."""

    numbers: list[int]
    mean: float
    deviation: float


def signs(row: Row) -> bytes:
    wide = np.zeros(-(-len(row) // _WORD) * _WORD, dtype=bool)
    wide[: len(row)] = row > 0
    packed: bytes = np.packbits(wide).tobytes()
    return packed


def parts(row: Row) -> bytes:
    """In steps of the largest part: the length of the vector is lost, and was 1."""
    largest = float(np.abs(row).max()) or 1.0
    kept: bytes = np.rint(row * (127 / largest)).astype(np.int8).tobytes()
    return kept


def alike(question: Row, kept: Sequence[tuple[int, bytes]]) -> dict[int, float]:
    """The cosine of a question and each memory: of its piece that is nearest."""
    found: dict[int, float] = {}
    if kept:
        rows = matrix([parts for _, parts in kept])
        for (number, _), cosine in zip(kept, (rows @ question).tolist(), strict=True):
            found[number] = max(cosine, found.get(number, -1.0))
    return found


def matrix(kept: Sequence[bytes]) -> Row:
    """Kept vectors as rows of length 1."""
    rows = np.frombuffer(b"".join(kept), dtype=np.int8).reshape(len(kept), -1).astype(np.float32)
    unit: Row = rows / np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1e-12)[:, None]
    return unit


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


def together(kept: Sequence[tuple[int, bytes]]) -> tuple[list[int], Row]:
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


class Signs:
    """The signs of one place, in the order in which they came.

    Only added to. A memory that left is still here: whoever asks looks it up in the store, and finds it gone.
    """

    def __init__(self, dimensions: int):
        self.seen = 0
        """The last `seq` that is in here."""
        self._dimensions = dimensions
        self._count = 0
        self._words = np.zeros((-(-dimensions // _WORD), _FIRST), dtype=np.uint64)
        self._numbers = np.zeros(_FIRST, dtype=np.int64)
        self._cosines = np.array([sin(pi / 2 * (1 - 2 * apart / dimensions)) for apart in range(dimensions + 1)])

    def __len__(self) -> int:
        return self._count

    def add(self, fresh: Sequence[tuple[int, int, bytes]]) -> None:
        """Each with its `seq`, number and bits."""
        if not fresh:
            return
        grown = self._count + len(fresh)
        if grown > len(self._numbers):
            room = max(grown, 2 * len(self._numbers))
            self._words = np.pad(self._words, ((0, 0), (0, room - len(self._numbers))))
            self._numbers = np.pad(self._numbers, (0, room - len(self._numbers)))
        new = np.frombuffer(b"".join(bits for _, _, bits in fresh), dtype=np.uint64).reshape(len(fresh), -1)
        self._words[:, self._count : grown] = new.T
        self._numbers[self._count : grown] = [number for _, number, _ in fresh]
        self._count, self.seen = grown, fresh[-1][0]

    def apart(self, question: bytes) -> NDArray[np.uint16]:
        """In how many places the signs of each differ from the question's."""
        asked = np.frombuffer(question, dtype=np.uint64)
        apart = np.zeros(self._count, dtype=np.uint16)
        for word, its in zip(self._words[:, : self._count], asked, strict=True):
            apart += np.bitwise_count(word ^ its)
        return apart

    def tally(self, apart: NDArray[np.uint16]) -> NDArray[np.int64]:
        return np.bincount(apart, minlength=self._dimensions + 1)

    def within(self, apart: NDArray[np.uint16], most: int) -> list[int]:
        numbers: list[int] = self._numbers[: self._count][apart <= most].tolist()
        return numbers


def nearest(question: Row, places: Iterable[Signs], most: int) -> Likeness:
    """About so many of the memories whose signs are nearest, from all places together."""
    asked = signs(question)
    looked = [(place, place.apart(asked)) for place in places if len(place)]
    if not looked:
        return Likeness([], 0.0, 1.0)
    tally = np.sum([place.tally(apart) for place, apart in looked], axis=0)
    cosines = looked[0][0]._cosines  # noqa: SLF001 - the same in all of one model
    count = int(tally.sum())
    mean = float(tally @ cosines) / count
    deviation = float(np.sqrt(max(float(tally @ (cosines - mean) ** 2) / count, 1e-6))) / _WIDER
    bound = int(np.searchsorted(np.cumsum(tally), min(most, count)))
    numbers = [number for place, apart in looked for number in place.within(apart, bound)]
    return Likeness(numbers[: 4 * most], mean, deviation)
