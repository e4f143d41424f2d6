"""Near-duplicates: which of some texts say almost the same words as a new one. Bounded in work, and pure.

A candidate is first probed: a few terms of the new text are looked for in it. Only for the best by probes are all terms made
and compared, which takes ten times as long.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from omoide.search import text

HEAD = 400
"""Characters of a long text that are compared from its beginning."""
TAIL = 200
"""Characters of a long text that are compared from its end."""
_PROBES = 8
_LIKENESS = 0.6
"""Share of the terms of both texts that near-duplicates have in common."""
_COMPARED = 3  # candidates at least
_BYTES = 500  # of the texts compared beyond these: probes tell little of short texts, so that more of them are compared


class NearDuplicates(NamedTuple):
    compared: Sequence[int]
    """The numbers of those that were compared and found to be near-duplicates, the closest first."""
    probed: Sequence[int]
    """Those beyond that hold as many probes as the least of the compared: taken for near-duplicates, but only counted."""

    @property
    def total(self) -> int:
        return len(self.compared) + len(self.probed)


NONE = NearDuplicates((), ())


def sizes(content: str) -> tuple[int, int]:
    """The smallest and the largest size in bytes of a text that can be a near-duplicate."""
    size = len(content.encode())
    return size // 2, size * 2


def excerpt(content: str) -> str:
    """What is compared of a text."""
    return content if len(content) <= HEAD + TAIL else f"{content[:HEAD]} {content[-TAIL:]}"


def among(
    candidates: Sequence[tuple[int, str]], telling: Sequence[str], terms: Callable[[], Collection[str]]
) -> NearDuplicates:
    """The near-duplicates of a text among candidates.

    `candidates` are numbers and excerpts of texts, `telling` some terms of the text, and `terms` makes all terms of its
    excerpt: it is called only if there is something to compare.
    """
    ranked = _probed(candidates, _probes(telling))
    compared = _worth_comparing(ranked)
    if not compared:
        return NONE
    mine = set(terms())
    alike: list[tuple[float, int]] = []
    least = _PROBES
    for hits, number, other in compared:
        likeness = _jaccard(mine, set(text.terms(other)))
        if likeness >= _LIKENESS:
            alike.append((-likeness, -number))
            least = min(least, hits)
    others = ranked[len(compared) :] if alike else ()
    return NearDuplicates([-number for _, number in sorted(alike)], [number for hits, number, _ in others if hits >= least])


def _probes(telling: Sequence[str]) -> Sequence[str]:
    """Some of the terms, evenly spread: neighbours tell little more than one of them."""
    return telling[:: max(len(telling) // _PROBES, 1)][:_PROBES]


def _probed(candidates: Iterable[tuple[int, str]], probes: Collection[str]) -> list[tuple[int, int, str]]:
    """Hits, number and text of the candidates that hold a third of the probes, those with the most hits and newest first."""
    found = [(sum(map(other.lower().__contains__, probes)), number, other) for number, other in candidates]
    return sorted([each for each in found if each[0] * 3 >= len(probes)], reverse=True)


def _worth_comparing(ranked: Sequence[tuple[int, int, str]]) -> Sequence[tuple[int, int, str]]:
    size = 0
    for place, (_, _, other) in enumerate(ranked):
        size += len(other.encode())
        if size > _BYTES and place >= _COMPARED:
            return ranked[:place]
    return ranked


def _jaccard(one: set[str], other: set[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)
