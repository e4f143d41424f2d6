"""The candidates of a query by its vector, and what is read of them from the store. Importing this module loads numpy."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from omoide.embeddings.quantized import NearestVectors
from omoide.embeddings.vectors import QueryVector
from omoide.model import Query
from omoide.retrieval import constants, hybrid
from omoide.retrieval.hybrid import SemanticFeatures
from omoide.storage.base import RankingFacts, Reader


class VectorMatches(NamedTuple):
    """The memories most like a query."""

    cosines: dict[int, float]
    """The most alike first."""
    nearest: NearestVectors
    """Those nearest by sign bits, and how alike all memories of the scope are."""
    english: "VectorMatches | None" = None
    """The same by the model for English."""


class VectorCandidates(NamedTuple):
    """The candidates by words together with those by vectors."""

    facts: dict[int, RankingFacts]
    matches: VectorMatches
    unembedded: Sequence[int]
    """Candidates by words that have no vector yet."""


def nearest_memories(tx: Reader, query: Query, vector: QueryVector, known: Sequence[int] = ()) -> VectorMatches:
    """Return the memories of the query's scope that are nearest to it by vector.

    `known`: numbers of memories to compare as well, such as candidates by words. Where the query is a vector of the model
    for English too, the nearest of both models are compared by both.
    """
    cache, english, areas = vector.cache, vector.english, tx.areas(query)
    nearest = cache.nearest(tx, vector.model, vector.row, areas, constants.NEAREST)
    compared, by_english = dict.fromkeys([*nearest.numbers, *known]), None
    if english is not None:
        nearest_english = cache.nearest(tx, english.model, english.row, areas, constants.NEAREST)
        compared |= dict.fromkeys(nearest_english.numbers)
        cosines = cache.cosines(tx, english.model, english.row, [*compared])
        by_english = VectorMatches(_best_first(cosines), nearest_english)
    cosines = cache.cosines(tx, vector.model, vector.row, [*compared])
    return VectorMatches(_best_first(cosines), nearest, by_english)


def _best_first(cosines: Mapping[int, float]) -> dict[int, float]:
    return dict(sorted(cosines.items(), key=itemgetter(1), reverse=True))


def by_vector(
    tx: Reader, query: Query, vector: QueryVector, by_words: Mapping[int, RankingFacts], at: datetime
) -> VectorCandidates:
    """Return the candidates by words together with those nearest by vector.

    `by_words`: the candidates by words, best first.
    """
    facts = dict(by_words)
    compared = [*facts][: constants.COMPARED]
    matches = nearest_memories(tx, query, vector, compared)
    near = [number for number in islice(matches.cosines, constants.NEAREST_CANDIDATES) if number not in facts]
    if matches.english is not None:
        best = islice(matches.english.cosines, constants.NEAREST_CANDIDATES)
        near = [*dict.fromkeys([*near, *(number for number in best if number not in facts)])]
    facts |= tx.ranking_facts(query, near, at)
    return VectorCandidates(facts, matches, [number for number in compared if number not in matches.cosines])


def semantic_features(found: VectorCandidates) -> SemanticFeatures:
    """Return how near the candidates are to the question."""
    cosines, nearest, english = found.matches
    deviations = hybrid.deviations(cosines, nearest.mean, nearest.deviation, nearest.total)
    if english is None:
        return SemanticFeatures(cosines, deviations, found.unembedded)
    its = english.nearest
    others = hybrid.deviations(english.cosines, its.mean, its.deviation, its.total, hybrid.ENGLISH_PRIOR)
    return SemanticFeatures(cosines, hybrid.joined_deviations(deviations, others), found.unembedded, english.cosines)
