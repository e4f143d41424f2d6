"""Kin: a number for each text, by which near twins find each other without reading anything else.

It is made of the telling term that comes last by code point, and of the last among the few that follow it: letters come
after digits there, Katakana after Hiragana, and Han after both. So neither an article nor a number nor an ending nor the
order of sentences changes it, and texts that share one word, however common, are not kin for that.

Where many texts share these two terms, the lower bits tell them apart: they are a hash of the few telling terms that come
first by code point. Texts that differ in one word of twenty mostly share these bits too.
"""

from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

from omoide.model import Scope

_FOLLOWING = 3
_BETWEEN = 2  # terms more that may stand between the two in a twin
_LAST = 3  # terms that may come last in a twin: it may lack those after them
LOWER = 31
_LOW = (1 << LOWER) - 1
_CHOSEN = 4


def blocking_key(telling: Sequence[str], scope: Scope) -> int:
    """The kin of a text by its telling terms. In another scope nothing is its kin. 0: there are no terms."""
    if not telling:
        return 0
    last = max(telling)
    high = crc32(f"{last} {max(_following(telling, last, _FOLLOWING))}".encode(), _salt(scope.path, scope.name))
    # Numbers are left out: near twins often differ in them.
    chosen = sorted(set(filter(str.isalpha, telling)))[:_CHOSEN]
    return high << LOWER | crc32(" ".join(chosen).encode()) & _LOW


def family(kin: int) -> tuple[int, int]:
    """The least and the greatest kin that share the higher bits with this one."""
    return kin & ~_LOW, kin | _LOW


def candidate_keys(telling: Sequence[str], scope: Scope) -> set[tuple[int, int]]:
    """The families of kin that near twins of a text may be of."""
    salt = _salt(scope.path, scope.name)
    found = set[tuple[int, int]]()
    for last in sorted(set(telling))[-_LAST:]:
        start = crc32(f"{last} ".encode(), salt)
        for term in _following(telling, last, _FOLLOWING + _BETWEEN):
            if term <= last:
                first = crc32(term.encode(), start) << LOWER
                found.add((first, first | _LOW))
    return found


def _following(telling: Sequence[str], term: str, most: int) -> Sequence[str]:
    """So many terms after the first such; after the end comes the beginning."""
    start = telling.index(term) + 1
    found = telling[start : start + most]
    return found if len(found) == most else [*found, *telling[: most - len(found)]]


@lru_cache(1_024)
def _salt(path: str, name: str) -> int:
    return crc32(f"{path}\x1f{name}".encode())
