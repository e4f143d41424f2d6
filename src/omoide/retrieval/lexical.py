"""The score of a memory by the terms that it shares with a query: BM25 with weighted fields and coverage. Pure."""

from collections.abc import Collection, Mapping
from itertools import chain
from math import log, log1p
from typing import NamedTuple

import msgspec

from omoide.retrieval import constants
from omoide.storage.search_index import Counts

_FULL_USE = log1p(constants.NUDGE_FULL_USE)


class TermPostings(NamedTuple):
    """The postings of a term among some memories."""

    numbers: Collection[int]
    """The memories that contain it."""
    counts: Mapping[int, Counts]
    """How often, for memories that contain it otherwise than once in the content."""


class LexicalScores(msgspec.Struct, frozen=True):
    """How well memories match a query by its terms."""

    scores: dict[int, float]
    """From 0 up to the weight of all terms together."""
    covered: dict[int, float]
    """The share of that weight whose terms a memory contains, however often and in however long a text."""


class QueryTerm(msgspec.Struct, frozen=True):
    """A term of a query, how much it says, and how many memories contain it."""

    text: str
    weight: float
    df: int


def idf(df: int, n: int) -> float:
    """Return the inverse document frequency of a term that `df` of `n` memories contain; never negative."""
    return log(1 + ((n - df if n > df else 0) + 0.5) / (df + 0.5))


def select_terms(asked: Mapping[str, float], df: Mapping[str, int], n: int, *, words_only: bool = True) -> list[QueryTerm]:
    """Select the terms to search a large store by: few, contained in some memory, and together cheap to read.

    `asked`: the terms of the query, and how much each says. `df`: how many memories contain each term, of `n`. `words_only`:
    False where vectors add candidates: then less is read.

    Returns the most telling terms first. A term in a large share of the memories is left out, unless nothing else remains:
    then the rarest is selected.
    """
    known = [QueryTerm(text, weight, df[text]) for text, weight in asked.items() if df.get(text, 0) > 0]
    known.sort(key=lambda term: (-term.weight * idf(term.df, n), term.text))
    selected: list[QueryTerm] = []
    budget = constants.MIN_POSTINGS + min(n / 4, constants.EXTRA_POSTINGS) + n * constants.POSTINGS_SHARE
    left = budget if words_only else budget * constants.SEMANTIC_POSTINGS
    for term in known:
        if len(selected) == constants.MAX_SEARCH_TERMS:
            break
        if term.df <= left:
            selected.append(term)
            left -= term.df
    return selected or sorted(known, key=lambda term: term.df)[:1]


def term_weights(asked: Mapping[str, float], df: Mapping[str, int], n: int) -> dict[str, float]:
    """Return the weight of each term of a query: how much it says, times its inverse document frequency.

    `asked`: the terms of the query, and how much each says. `df`: how many memories contain each term, of `n`.
    """
    return {text: weight * idf(df.get(text, 0), n) for text, weight in asked.items()}


def rough_scores(weights: Mapping[str, float], postings: Mapping[str, Collection[int]]) -> dict[int, float]:
    """Return the sum of the weights of the terms that each memory contains, by number.

    `postings`: the numbers of the memories that contain each term.
    """
    scores = dict.fromkeys(chain.from_iterable(postings.values()), 0.0)
    for term, numbers in postings.items():
        weight = weights[term]
        for number in numbers:
            scores[number] += weight
    return scores


def lexical_scores(
    weights: Mapping[str, float], postings: Mapping[str, TermPostings], lengths: Mapping[int, int], average: float
) -> LexicalScores:
    """Score memories exactly: BM25's saturation, each field with its weight, times how much of the query is covered.

    `weights`: of all terms of the query, also of those that no memory contains. `postings`: which of the memories contain
    each term, and how often. `lengths`: the memories to score, with their lengths in terms. `average`: the average length of
    all memories, in terms.
    """
    whole = sum(weights.values()) or 1.0
    # The damping of a text: a constant, and a part for each of its terms.
    constant = constants.SATURATION * (1 - constants.LENGTH_NORMALIZATION)
    per_term = constants.SATURATION * constants.LENGTH_NORMALIZATION / (average or 1.0)
    topic_weight, tags_weight, power = constants.TOPIC_WEIGHT, constants.TAGS_WEIGHT, constants.COVERAGE_POWER
    covered = dict.fromkeys(lengths, 0.0)
    repeated = dict[int, float]()  # what occurrences beyond one in the content add: for few terms of few memories
    for term, (numbers, counts) in postings.items():
        weight = weights[term]
        for number in numbers:
            covered[number] += weight
        for number in filter(counts.__contains__, numbers) if counts else ():
            topic, tags, content = counts[number]
            count, damping = content + topic_weight * topic + tags_weight * tags, constant + per_term * lengths[number]
            more = count / (count + damping) - 1 / (1 + damping)
            repeated[number] = repeated.get(number, 0.0) + weight * more
    shares = {number: weight / whole for number, weight in covered.items()}
    scores = {
        number: weight / (1 + constant + per_term * lengths[number]) * shares[number] ** power
        for number, weight in covered.items()
    }
    for number, more in repeated.items():
        scores[number] += more * shares[number] ** power
    return LexicalScores(scores, shares)


def nudge(confidence: float, relevance: float, reference_count: int, days: float) -> float:
    """Return a factor for the score of a memory, from `NUDGE_BASE` to `MAX_NUDGE`, by its own fields.

    `days`: how long ago it was changed.
    """
    used = min(log1p(reference_count) / _FULL_USE, 1.0) if reference_count else 0.0
    fresh: float = 0.5 ** (days / constants.NUDGE_HALF_LIFE) if days > 0 else 1.0
    fields = constants.NUDGE_CONFIDENCE * (confidence + relevance)
    return constants.NUDGE_BASE + fields + constants.NUDGE_USE * used + constants.NUDGE_FRESH * fresh
