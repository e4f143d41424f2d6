"""The first step of a search: which memories may answer a query.

Up to some ten thousand memories, all of them are scored at once by all terms (`bit_sums.py`), from what the store has
cached. Beyond that, the few rarest terms select them, within limits, so that common words never make it linear: a term is
counted up to COUNTED memories, and at most SCANNED of its newest memories are read.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from omoide.model import Query
from omoide.retrieval import analyzer, lexical
from omoide.retrieval.bit_sums import BitSums
from omoide.storage.base import Posting, PostingSet, Reader

COUNTED = 20_000
SCANNED = 10_000
TIED = 100
RARE = 50

_FEW = 2


class Candidates(NamedTuple):
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
    held: Mapping[str, PostingSet]
    """The same, of all terms, as bits."""
    named: int
    """How many memories these terms name."""
    enough: int
    """So many of the best get the second look."""
    best: Iterator[list[int]]
    """Their numbers, some at a time."""


class SearchLimits(NamedTuple):
    """What both ways to look heed."""

    literal: set[str]
    most: Mapping[str, int]
    """A term that more memories hold than this is not looked for."""
    entries: int
    alone: bool


def find_candidates(tx: Reader, query: Query, asked: Mapping[str, float], entries: int, *, alone: bool) -> Candidates:
    """Alone, without meaning, words need a wider look: nothing else tells apart those that hold the same ones."""
    literal = set(filter(analyzer.is_literal, asked))
    # A word may be asked for though many hold it. A pair of characters that many hold is a part of many words: it tells
    # nothing, and to look for it would cost more than for all the others.
    most = dict.fromkeys(asked, COUNTED - 1) | dict.fromkeys(literal, int(max(lexical.PAIRED * entries, lexical.SEEN)))
    limits = SearchLimits(literal, most, entries, alone)
    found = _by_bit_sums(tx, query, asked, limits) or _by_postings(tx, query, asked, limits)
    if alone:
        return found
    often = max(lexical.PLAIN * entries, lexical.SEEN)
    return found._replace(frequencies={term: df for term, df in found.frequencies.items() if df <= often})


def _by_bit_sums(tx: Reader, query: Query, asked: Mapping[str, float], limits: SearchLimits) -> Candidates | None:
    """All memories at once, by all terms: so exact that few need a second look. None where they are too many for that."""
    literal, most, entries, alone = limits
    often = int(max(lexical.COMMON * entries, lexical.SEEN))
    held = tx.posting_sets(query, most, often) if entries else {}
    if held is None:
        return None
    frequencies = {term: holding.holders for term, holding in held.items()}
    by = _useful_terms(frequencies, most)
    if by and held[by[0]].bits is None:
        held |= tx.posting_sets(query, dict.fromkeys(by, entries), often) or {}
    worth = lexical.term_weights(asked, frequencies, entries)
    sums = BitSums(max((worth[term] for term in by), default=1.0))
    for term in by:
        sums.add(worth[term], held[term].bits or 0)
    if len(by) <= _FEW and len(sums) > TIED:
        # So few words cannot tell so many memories apart: those that have one in their topic or tags go first.
        for term, bits in tx.title_postings(query, by).items():
            sums.add(worth[term], bits)
    wide = lexical.SUMMED if literal else lexical.CANDIDATES
    enough = max(wide if alone else lexical.BESIDE, query.limit)
    best = sums.best(enough, lexical.TIED if alone else lexical.TIED_BESIDE)
    counted = {term: frequencies[term] for term in by}
    return Candidates(counted, worth, literal, by, {}, held, len(sums), enough, best)


def _useful_terms(frequencies: Mapping[str, int], most: Mapping[str, int]) -> list[str]:
    """The terms that some hold, and not too many; the rarest if there is no such term."""
    known = [term for term, df in frequencies.items() if df]
    return [term for term in known if frequencies[term] <= most[term]] or sorted(known, key=frequencies.__getitem__)[:1]


def _by_postings(tx: Reader, query: Query, asked: Mapping[str, float], limits: SearchLimits) -> Candidates:
    """Where there are very many memories: the newest of those that hold the most telling terms."""
    literal, most, entries, alone = limits
    frequencies = tx.frequencies(query, asked, COUNTED)
    worth = lexical.term_weights(asked, frequencies, entries)
    telling = lexical.select_terms(asked, frequencies, entries, alone=alone)
    # Where few memories hold a term, one look is cheaper than two.
    rare = tx.postings(query, [term.text for term in telling if term.df <= RARE])
    by = [term.text for term in telling]
    rough = _gather_scores(tx, query, by, rare, worth)
    wide = lexical.CANDIDATES if literal.isdisjoint(by) else lexical.OF_PAIRS
    enough = max(wide if alone else lexical.BESIDE, query.limit)
    best = _best(rough, enough, max(TIED, enough) if alone else enough + lexical.TIED_BESIDE)
    counted = {term: frequencies[term] for term in _useful_terms(frequencies, most)}
    return Candidates(counted, worth, literal, by, rare, {}, len(rough), enough, best)


def _gather_scores(
    tx: Reader, query: Query, terms: Sequence[str], rare: Mapping[str, list[Posting]], worth: Mapping[str, float]
) -> dict[int, float]:
    """What the telling terms of each memory are worth together."""
    holders = {term: [number for number, *_ in postings] for term, postings in rare.items()}
    holders |= tx.posting_numbers(query, [term for term in terms if term not in rare], SCANNED)
    rough = lexical.rough_scores(worth, holders)
    if len(terms) <= _FEW and len(rough) > TIED:  # as above
        for number, more in lexical.rough_scores(worth, tx.posting_numbers(query, terms, SCANNED, titled=True)).items():
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
