"""The order of what was found: words a query and a memory share, weighed by how rare they are, the same on every store.

Finding takes two looks, because common words cost most and tell least:

1. `telling` names the few rare terms to search by; `rough` adds up what each memory that holds some of them is worth.
2. In the best `CANDIDATES` of these all terms of the query are counted, common ones too, and `met` gives the order.

On the development sets the two looks do as well as reading every posting of every term, to a tenth of a point, and
read a fifteenth of the postings. The first look alone loses up to nine points of recall.
"""

from collections.abc import Collection, Mapping
from itertools import chain
from math import log, log1p
from typing import NamedTuple

import msgspec

# Tuned on half of LoCoMo, LongMemEval, JSQuAD, JaQuAD, Japanese captions, NL2Bash, CoSQA and tldr pages at once: one
# setting for all, in the middle of a flat top: a fifth more or less moves no set by more than two points.
SATURATION = 1.6  # how soon more of the same word stops adding: at this count a word gives half of what it can
LENGTH = 0.75  # how much a long text pays for its length: 0 nothing, 1 in full
COVERAGE = 0.5  # how much it matters that all of the query is met: 0 not at all; 1 hurts searching code
TOPIC = 3.0  # a word in the topic counts as three in the content. Not tuned: the sets have no topics and no tags
TAGS = 2.0

TELLING = 10  # terms to search by; 8 lose three points on short Japanese notes, 16 gain nothing
FEWEST = 300  # postings to read in any store: a tiny one is searched by every term
READS = 1_500  # so many more in a small one, up to a quarter of its memories; without them code loses a point
SHARE = 0.01  # and this share of the memories more in a large one
HALF = 0.5  # of these, beside meaning: all of them gain nothing
CANDIDATES = 30  # memories that get the second look; 25 lose a point on code, 50 gain nothing
OF_PAIRS = 50  # where pairs of characters are asked for; 30 lose three points on short Japanese notes, 100 gain half of one
SUMMED = 16  # the same, where the first look was at all terms of all memories; 12 lose a point on short Japanese notes
TIED = 30  # so many more then, if they are worth the same; 20 lose a point where a tool is named in the other language
BESIDE = 20  # and beside meaning, which brings in others and tells them apart: there more gain nothing,
TIED_BESIDE = 10  # nor do more that are worth the same
MOST = 1.1  # the largest nudge
COMMON = 0.15  # a term in a larger share of the memories than this, and in more than SEEN, is only seen there, not counted
SEEN = 400
PLAIN = 0.1  # beside meaning, a word in a larger share of them, and in more than SEEN, is not looked for at all
PAIRED = 0.05  # a pair of characters in a larger share, and in more than SEEN, is not looked for, alone or not

_OFTEN = log1p(100)

Counts = tuple[int, int, int]
"""How often a memory holds a term in its topic, its tags and its content."""


class TermPostings(NamedTuple):
    """A term in some memories."""

    numbers: Collection[int]
    """Who holds it."""
    counts: Mapping[int, Counts]
    """How often, of those that hold it otherwise than once in their content."""


class LexicalScores(NamedTuple):
    """How well memories meet a query."""

    scores: dict[int, float]
    """From 0 up to the worth of all terms together."""
    covered: dict[int, float]
    """The share of that worth whose terms a memory holds, however often and in however long a text."""


class QueryTerm(msgspec.Struct, frozen=True):
    """A term of a query and the number of documents that hold it."""

    text: str
    weight: float
    df: int


def idf(df: int, n: int) -> float:
    """How much a term says that is in `df` of `n` documents; never negative."""
    return log(1 + ((n - df if n > df else 0) + 0.5) / (df + 0.5))


def select_terms(asked: Mapping[str, float], df: Mapping[str, int], n: int, *, alone: bool = True) -> list[QueryTerm]:
    """The terms to search by, the most telling first: few, known to the store, and together cheap to read; cheaper still
    where words do not find alone.

    What is in a large share of the documents is left out, unless nothing else remains: then the rarest is in.
    """
    known = [QueryTerm(text, weight, df[text]) for text, weight in asked.items() if df.get(text, 0) > 0]
    known.sort(key=lambda term: (-term.weight * idf(term.df, n), term.text))
    chosen: list[QueryTerm] = []
    left = (FEWEST + min(n / 4, READS) + n * SHARE) * (1.0 if alone else HALF)
    for term in known:
        if len(chosen) == TELLING:
            break
        if term.df <= left:
            chosen.append(term)
            left -= term.df
    return chosen or sorted(known, key=lambda term: term.df)[:1]


def term_weights(asked: Mapping[str, float], df: Mapping[str, int], n: int) -> dict[str, float]:
    """What each term of a query is worth to a document that holds it; also those that none holds."""
    return {text: weight * idf(df.get(text, 0), n) for text, weight in asked.items()}


def rough_scores(worth: Mapping[str, float], holders: Mapping[str, Collection[int]]) -> dict[int, float]:
    """What the terms of each memory are worth together: the first look."""
    met = dict.fromkeys(chain.from_iterable(holders.values()), 0.0)
    for text, numbers in holders.items():
        value = worth[text]
        for number in numbers:
            met[number] += value
    return met


def lexical_scores(
    worth: Mapping[str, float], held: Mapping[str, TermPostings], lengths: Mapping[int, int], average: float
) -> LexicalScores:
    """How well each memory meets the query, by who holds its terms: the second look.

    BM25's saturation, each field with its weight, times how much of the query is met.
    """
    whole = sum(worth.values()) or 1.0
    # What damps a text: always, and for each of its terms.
    short, long = SATURATION * (1 - LENGTH), SATURATION * LENGTH / (average or 1.0)
    covered = dict.fromkeys(lengths, 0.0)
    beyond = dict[int, float]()  # what more than once in the content adds: few of the terms of few memories
    for term, (numbers, counts) in held.items():
        value = worth[term]
        for number in numbers:
            covered[number] += value
        for number in filter(counts.__contains__, numbers) if counts else ():
            topic, tags, content = counts[number]
            count, damping = content + TOPIC * topic + TAGS * tags, short + long * lengths[number]
            more = count / (count + damping) - 1 / (1 + damping)
            beyond[number] = beyond.get(number, 0.0) + value * more
    shares = {number: its / whole for number, its in covered.items()}
    scores = {
        number: its / (1 + short + long * lengths[number]) * shares[number] ** COVERAGE for number, its in covered.items()
    }
    for number, more in beyond.items():
        scores[number] += more * shares[number] ** COVERAGE
    return LexicalScores(scores, shares)


def nudge(confidence: float, relevance: float, reference_count: int, days: float) -> float:
    """A factor from 0.92 to MOST for what is sure, useful, used and fresh: it settles ties and never drowns the words."""
    used = min(log1p(reference_count) / _OFTEN, 1.0) if reference_count else 0.0
    fresh: float = 0.5 ** (days / 90) if days > 0 else 1.0
    return 0.92 + 0.06 * (confidence + relevance) + 0.02 * used + 0.04 * fresh
