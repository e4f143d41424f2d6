"""Memories as one number, whose n-th bit is memory n: see `PostingSet`. `retrieval/bit_sums.py` adds such numbers up."""

from collections.abc import Collection

_DENSE = 300
_ONE = ord("1")


def from_numbers(numbers: Collection[int]) -> int:
    """Memories as one number: a bit for each."""
    if len(numbers) > _DENSE:  # a digit for each, all read at once; for few, the bits of each byte
        digits = bytearray(b"0") * (max(numbers) + 1)
        for number in numbers:
            digits[~number] = _ONE
        return int(digits, 2)
    packed = bytearray(max(numbers, default=0) // 8 + 1)
    for number in numbers:
        packed[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(packed, "little")
