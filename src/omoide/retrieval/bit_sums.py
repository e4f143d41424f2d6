"""Sums of term weights over all memories at once, with posting sets as integers of one bit for each memory.

Python adds, joins and compares numbers of ten thousand bits in less time than it takes for one step of a loop over ten
thousand memories. So the weights of the terms of every memory are added digit by digit: the first integer has the ones of
all the sums, the next the twos, the next the fours.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from operator import and_, itemgetter

FINE = 31
"""The weight of the most telling term in whole numbers. Tuned on all sets: 127 find nothing more and take a third longer."""


def members(bits: int, most: int) -> list[int]:
    """Return the positions of the bits that are set, highest first, at most `most`."""
    found: list[int] = []
    for _ in range(most):
        if not bits:
            break
        highest = bits.bit_length() - 1
        found.append(highest)
        bits ^= 1 << highest
    return found


def member_filter(numbers: Sequence[int]) -> Callable[[int], list[int]]:
    """Return a function that selects, by the bits of a term, those of `numbers` that contain it: for many terms, faster."""
    size, bits = max(numbers) // 8 + 1, [1 << (number & 7) for number in numbers]
    their_bytes = itemgetter(*(number >> 3 for number in numbers), 0, 0)  # of two or more, it makes a tuple

    def holders(held: int) -> list[int]:
        data = held.to_bytes(max(size, held.bit_length() // 8 + 1), "little")
        return list(compress(numbers, map(and_, bits, their_bytes(data))))

    return holders


class BitSums:
    """The sum of the weights of each memory's terms. A memory is returned once."""

    def __init__(self, most: float):
        """Start with no terms; `most` is the highest weight of a term."""
        self._unit = most / FINE
        self._digits: list[int] = []
        self._left = 0

    def __len__(self) -> int:
        return self._left.bit_count()

    def add(self, worth: float, holders: int) -> None:
        """Add `worth` to the sum of every entry whose bit is set in `holders`."""
        self._left |= holders
        value = max(1, round(worth / self._unit))
        self._digits += [0] * (value.bit_length() - len(self._digits))
        for place in range(value.bit_length()):
            if value >> place & 1:
                self._carry(place, holders)

    def _carry(self, place: int, bits: int) -> None:
        while bits:
            if place == len(self._digits):
                self._digits.append(0)
            digit = self._digits[place]
            self._digits[place] = digit ^ bits
            bits &= digit
            place += 1

    def best(self, enough: int, tied: int) -> Iterator[list[int]]:
        """Yield the best `enough` entries, and up to `tied` more with the sum of the last, newest first; then the next best,
        twice as many each time, for a caller whose filter drops some."""
        while self._left:
            yield self._next(enough, enough + tied)
            enough *= 2

    def _next(self, enough: int, most: int) -> list[int]:
        above, tied, count = 0, self._left, 0
        for digit in reversed(self._digits):
            more = tied & digit
            many = more.bit_count()  # the slowest of these steps
            if count + many > enough:
                tied = more
            else:
                above |= more
                count += many
                tied ^= more
        taken = members(above, count)
        self._left ^= above
        if tied and count < enough:
            equal = members(tied, most - count)
            self._left &= ~(tied >> equal[-1] << equal[-1])
            taken += equal
        return taken
