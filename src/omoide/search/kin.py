"""Kin: a number for each text, by which near twins find each other without reading anything else.

It is made of the telling term that comes last by code point, and of the last among the few that follow it: letters come
after digits there, Katakana after Hiragana, and Han after both. So neither an article nor a number nor an ending nor the
order of sentences changes it, and texts that share one word, however common, are not kin for that.
"""

from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

from omoide.model import Scope

_FOLLOWING = 3
_BETWEEN = 2  # terms more that may stand between the two in a twin
_LAST = 3  # terms that may come last in a twin: it may lack those after them


def kin(telling: Sequence[str], scope: Scope) -> int:
    """The kin of a text by its telling terms. In another scope nothing is its kin. 0: there are no terms."""
    if not telling:
        return 0
    last = max(telling)
    return crc32(f"{last} {max(_following(telling, last, _FOLLOWING))}".encode(), _salt(scope.path, scope.name))


def sought(telling: Sequence[str], scope: Scope) -> set[int]:
    """Which kin near twins of a text may have."""
    salt = _salt(scope.path, scope.name)
    return {
        crc32(f"{last} {term}".encode(), salt)
        for last in sorted(set(telling))[-_LAST:]
        for term in _following(telling, last, _FOLLOWING + _BETWEEN)
        if term <= last
    }


def _following(telling: Sequence[str], term: str, most: int) -> Sequence[str]:
    """So many terms after the first such; after the end comes the beginning."""
    start = telling.index(term) + 1
    found = telling[start : start + most]
    return found if len(found) == most else [*found, *telling[: most - len(found)]]


@lru_cache(1_024)
def _salt(path: str, name: str) -> int:
    return crc32(f"{path}\x1f{name}".encode())
