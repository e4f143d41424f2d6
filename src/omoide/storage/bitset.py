"""Bitsets: memories as one integer whose n-th bit is memory n. `retrieval/bit_sums.py` adds them up."""

from collections.abc import Collection

_DENSE = 300
_ONE = ord("1")


def from_numbers(numbers: Collection[int]) -> int:
    """Return the integer with these bits set."""
    if len(numbers) > _DENSE:  # faster as a string of digits; for few, by setting bits of bytes
        digits = bytearray(b"0") * (max(numbers) + 1)
        for number in numbers:
            digits[~number] = _ONE
        return int(digits, 2)
    packed = bytearray(max(numbers, default=0) // 8 + 1)
    for number in numbers:
        packed[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(packed, "little")
