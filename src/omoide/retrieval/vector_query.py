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


class VectorCandidates(NamedTuple):
    """The candidates by words together with those by vectors."""

    facts: dict[int, RankingFacts]
    matches: VectorMatches
    unembedded: Sequence[int]
    """Candidates by words that have no vector yet."""


def nearest_memories(tx: Reader, query: Query, vector: QueryVector, known: Sequence[int] = ()) -> VectorMatches:
    """Return the memories of the query's scope that are most like it, compared together with those known otherwise."""
    nearest = vector.cache.nearest(tx, vector.model, vector.row, tx.areas(query), constants.NEAREST)
    compared = [*dict.fromkeys([*nearest.numbers, *known])]
    cosines = vector.cache.cosines(tx, vector.model, vector.row, compared)
    return VectorMatches(dict(sorted(cosines.items(), key=itemgetter(1), reverse=True)), nearest)


def by_vector(
    tx: Reader, query: Query, vector: QueryVector, by_words: Mapping[int, RankingFacts], at: datetime
) -> VectorCandidates:
    """Add to the candidates by words those nearest by vector."""
    facts = dict(by_words)
    compared = [*facts][: constants.COMPARED]
    matches = nearest_memories(tx, query, vector, compared)
    near = [number for number in islice(matches.cosines, constants.NEAREST_CANDIDATES) if number not in facts]
    facts |= tx.ranking_facts(query, near, at)
    return VectorCandidates(facts, matches, [number for number in compared if number not in matches.cosines])


def semantic_features(found: VectorCandidates) -> SemanticFeatures:
    """Return how near the candidates are to the question."""
    cosines, nearest = found.matches
    deviations = hybrid.deviations(cosines, nearest.mean, nearest.deviation, nearest.total)
    return SemanticFeatures(cosines, deviations, found.unembedded)
