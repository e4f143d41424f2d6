"""The candidates of a query by its vector, and what is read of them from the store. Importing this module loads numpy."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from omoide.embeddings import chunking
from omoide.embeddings.quantized import NearestVectors
from omoide.embeddings.vectors import QueryVector
from omoide.model import Query
from omoide.retrieval import constants, hybrid
from omoide.retrieval.hybrid import SemanticFeatures, TurnText
from omoide.retrieval.time_expressions import Span
from omoide.storage.base import RankingFacts, Reader, SessionNeighbour


class VectorMatches(NamedTuple):
    """The memories most like a query."""

    cosines: dict[int, float]
    """The most alike first."""
    nearest: NearestVectors
    """Those nearest by sign bits, and how alike all memories of the scope are."""


class VectorCandidates(NamedTuple):
    """The candidates by words together with those by vectors and by sessions."""

    facts: dict[int, RankingFacts]
    matches: VectorMatches
    neighbours: Sequence[SessionNeighbour]
    """Memories close to the best candidates in their sessions."""
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
    """Add to the candidates by words those nearest by vector, and the neighbours of the best in their sessions."""
    facts = dict(by_words)
    compared = [*facts][: constants.COMPARED]
    matches = nearest_memories(tx, query, vector, compared)
    unembedded = [number for number in compared if number not in matches.cosines]
    near = [number for number in islice(matches.cosines, constants.NEAREST_CANDIDATES) if number not in facts]
    facts |= tx.ranking_facts(query, near, at)
    neighbours: Sequence[SessionNeighbour] = ()
    if any(memory.session for memory in facts.values()):
        seeds = {*islice(facts, constants.SESSION_SEEDS), *islice(matches.cosines, constants.SESSION_SEEDS)}
        neighbours = tx.session_neighbours(sorted(seeds & facts.keys()), 2 * constants.SESSION_REACH)
        close = [number for number in hybrid.close_turns(neighbours, seeds) if number not in facts]
        facts |= tx.ranking_facts(query, close, at)
    return VectorCandidates(facts, matches, neighbours, unembedded)


def read_semantic_features(tx: Reader, text: str, span: Span | None, found: VectorCandidates) -> SemanticFeatures:
    """Return what candidates are scored by beside their words: cosines, neighbours in sessions, speakers and times."""
    facts, (cosines, nearest) = found.facts, found.matches
    turns = {number for number, memory in facts.items() if memory.session and memory.length <= constants.TURN_LENGTH}
    texts: dict[int, TurnText] = {}
    if turns or span is not None:
        for number, ends in tx.text_ends([*facts]).items():
            asks = ends.last.rstrip().endswith(("?", "？"))
            texts[number] = TurnText(ends.created_at, chunking.strip_timestamps(ends.first), asks)
    deviations = hybrid.deviations(cosines, nearest.mean, nearest.deviation, nearest.total)
    neighbours = [neighbour for neighbour in found.neighbours if neighbour.number in facts]
    return SemanticFeatures(text, span, cosines, deviations, neighbours, turns, texts, found.unembedded)
