"""The first look at a question: who may answer it.

Up to some ten thousand memories, all of them at once by all terms (`search/bits.py`), from what the store keeps at hand.
Beyond that, the few telling terms name them, with bounds, so that common words never make it linear: a term is counted up to
COUNTED memories, and at most SCANNED of its newest holders are gathered.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from omoide.model import Query
from omoide.search import rank, text
from omoide.search.bits import Sums
from omoide.store.base import Holding, Posting, Reading

COUNTED = 20_000
SCANNED = 10_000
TIED = 100
RARE = 50

_FEW = 2


class Look(NamedTuple):
    """The first look at a question: who may answer it."""

    frequencies: Mapping[str, int]
    """How many hold each term that the second look is to count."""
    worth: dict[str, float]
    literal: Collection[str]
    """The terms that can be counted in a text as they stand there."""
    by: Sequence[str]
    """The terms by which memories were gathered."""
    rare: Mapping[str, list[Posting]]
    """All who hold some of them."""
    held: Mapping[str, Holding]
    """The same, of all terms, as bits."""
    named: int
    """How many memories these terms name."""
    enough: int
    """So many of the best get the second look."""
    best: Iterator[list[int]]
    """Their numbers, some at a time."""


def look(tx: Reading, query: Query, asked: Mapping[str, float], entries: int, *, alone: bool) -> Look:
    """Alone, without meaning, words need a wider look: nothing else tells apart those that hold the same ones."""
    found = _summed(tx, query, asked, entries, alone=alone) or _listed(tx, query, asked, entries, alone=alone)
    if alone:
        return found
    often = max(rank.PLAIN * entries, rank.SEEN)
    telling = {term: df for term, df in found.frequencies.items() if df <= often or term in found.literal}
    return found._replace(frequencies=telling)


def _summed(tx: Reading, query: Query, asked: Mapping[str, float], entries: int, *, alone: bool) -> Look | None:
    """All memories at once, by all terms: so exact that few need a second look. None where they are too many for that."""
    often = int(max(rank.READ * entries, rank.SEEN))
    # What is common and literal tells little, is dear to look up, and cheap to read.
    literal = set(filter(text.literal, asked))
    most = {term: often if term in literal else COUNTED for term in asked}
    held = tx.held(query, most, asked.keys() - literal) if entries else {}
    if held is None:
        return None
    frequencies = {term: min(holding.holders, COUNTED) for term, holding in held.items()}
    worth = rank.worth(asked, frequencies, entries)
    known = [term for term, df in frequencies.items() if df]
    by = [term for term in known if held[term].holders <= most[term]]
    if known and not by:
        by = [min(known, key=frequencies.__getitem__)]
        held |= tx.held(query, {by[0]: entries}, ()) or {}
    sums = Sums(max((worth[term] for term in by), default=1.0))
    for term in by:
        sums.add(worth[term], held[term].bits or 0)
    if len(by) <= _FEW and len(sums) > TIED:
        # So few words cannot tell so many memories apart: those that have one in their topic or tags go first.
        for term, bits in tx.titled(query, by).items():
            sums.add(worth[term], bits)
    wide = rank.SUMMED if literal else rank.CANDIDATES
    enough = max(wide if alone else rank.BESIDE, query.limit)
    best = sums.best(enough, rank.TIED if alone else rank.TIED_BESIDE)
    return Look(frequencies, worth, literal, by, {}, held, len(sums), enough, best)


def _listed(tx: Reading, query: Query, asked: Mapping[str, float], entries: int, *, alone: bool) -> Look:
    """Where there are very many memories: the newest of those that hold the most telling terms."""
    frequencies = tx.frequencies(query, asked, COUNTED)
    worth = rank.worth(asked, frequencies, entries)
    telling = rank.telling(asked, frequencies, entries, alone=alone)
    # Where few memories hold a term, one look is cheaper than two.
    rare = tx.postings(query, [term.text for term in telling if term.df <= RARE])
    by = [term.text for term in telling]
    rough = _gathered(tx, query, by, rare, worth)
    literal = set(filter(text.literal, asked))
    wide = rank.CANDIDATES if literal.isdisjoint(by) else rank.OF_PAIRS
    enough = max(wide if alone else rank.BESIDE, query.limit)
    most = max(TIED, enough) if alone else enough + rank.TIED_BESIDE
    return Look(frequencies, worth, literal, by, rare, {}, len(rough), enough, _best(rough, enough, most))


def _gathered(
    tx: Reading, query: Query, terms: Sequence[str], rare: Mapping[str, list[Posting]], worth: Mapping[str, float]
) -> dict[int, float]:
    """What the telling terms of each memory are worth together."""
    holders = {term: [number for number, *_ in postings] for term, postings in rare.items()}
    holders |= tx.holders(query, [term for term in terms if term not in rare], SCANNED)
    rough = rank.rough(worth, holders)
    if len(terms) <= _FEW and len(rough) > TIED:  # as above
        for number, more in rank.rough(worth, tx.holders(query, terms, SCANNED, titled=True)).items():
            rough[number] = rough.get(number, 0.0) + more
    return rough


def _best(rough: Mapping[int, float], enough: int, most: int) -> Iterator[list[int]]:
    """The best, and those worth as much as the last of them, so many at the most."""
    best = sorted(rough, key=rough.__getitem__, reverse=True)
    start = 0
    while start < len(best):
        end = min(start + enough, len(best))
        least = rough[best[end - 1]]
        while end < min(start + most, len(best)) and rough[best[end]] >= least:
            end += 1
        yield best[start:end]
        start = end
