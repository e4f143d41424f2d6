"""The blocking key: a number for each text by which its near-duplicates are found without reading any other text.

Its upper bits are a hash of the telling term that comes last by code point, and of the last among the few that follow it:
letters come after digits there, Katakana after Hiragana, and Han after both. So neither an article nor a number nor an
ending nor the order of sentences changes them, and texts that share one word, however common, do not share them.

Where many texts share these two terms, the lower bits tell them apart: a hash of the few telling terms that come first by
code point. Texts that differ in one word of twenty mostly share these bits too.
"""

from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

from omoide.model import Scope

_FOLLOWING = 3
_BETWEEN = 2  # terms more that may stand between the two in a near-duplicate
_LAST = 3  # terms that may come last in a near-duplicate: it may lack those after them
_LOWER_BITS = 31
_LOWER = (1 << _LOWER_BITS) - 1
_FIRST_TERMS = 4


def blocking_key(telling: Sequence[str], scope: Scope) -> int:
    """Return the blocking key of a text in a scope, by its telling terms in reading order; 0 if there are no such terms."""
    if not telling:
        return 0
    last = max(telling)
    upper = crc32(f"{last} {max(_following(telling, last, _FOLLOWING))}".encode(), _salt(scope.path, scope.name))
    # Numbers are left out: near-duplicates often differ in them.
    first_terms = sorted(set(filter(str.isalpha, telling)))[:_FIRST_TERMS]
    return upper << _LOWER_BITS | crc32(" ".join(first_terms).encode()) & _LOWER


def ranges_beside(key: int) -> list[tuple[int, int]]:
    """Return the ranges of the other keys that share the upper bits with a key, both ends included."""
    return [(key + 1, key | _LOWER), (key & ~_LOWER, key - 1)]


def other_ranges(key: int, telling: Sequence[str], scope: Scope) -> list[tuple[int, int]]:
    """Return the ranges of keys that a text would have if it lacked a telling term or had one more, both ends included.

    `key`: the blocking key of the text, whose own range is left out.
    """
    own = key >> _LOWER_BITS
    salt = _salt(scope.path, scope.name)
    uppers: dict[int, None] = {}
    for term in sorted(set(telling), reverse=True)[:_LAST]:
        start = crc32(f"{term} ".encode(), salt)
        for other in _following(telling, term, _FOLLOWING + _BETWEEN):
            if other <= term:
                uppers[crc32(other.encode(), start)] = None
    lowest = [upper << _LOWER_BITS for upper in uppers if upper != own]
    return [(key, key + _LOWER) for key in lowest]


def _following(telling: Sequence[str], term: str, most: int) -> Sequence[str]:
    """Return so many terms after the first such; after the end comes the beginning."""
    start = telling.index(term) + 1
    found = telling[start : start + most]
    return found if len(found) == most else [*found, *telling[: most - len(found)]]


@lru_cache(1_024)
def _salt(path: str, name: str) -> int:
    return crc32(f"{path}\x1f{name}".encode())
