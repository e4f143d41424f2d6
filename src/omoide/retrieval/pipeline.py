"""The search: analyse the question, find candidates in the store, read their features, score, order, explain."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from omoide.model import Hit, Memory, Query, SearchResult
from omoide.retrieval import analyzer, candidates, constants, lexical, query_parts
from omoide.retrieval.candidates import WordCandidates
from omoide.retrieval.lexical import TermPostings
from omoide.retrieval.query_parts import QueryParts
from omoide.storage.base import RankingFacts, Reader

if TYPE_CHECKING:  # they load numpy and the patterns of dates, which only a search by vectors needs
    from omoide.embeddings.vectors import QueryVector
    from omoide.retrieval.hybrid import SemanticFeatures
    from omoide.retrieval.time_expressions import Span
    from omoide.retrieval.vector_query import VectorCandidates

_FIELDS = ("topic", "tags", "content")
_ONCE = (0, 0, 1)


class Question(NamedTuple):
    """A query's text, analysed."""

    text: str
    terms: Mapping[str, float]
    """Its terms, and how much each says."""
    parts: QueryParts
    """Which of them belong together."""
    span: "Span | None"
    """The time that it asks about; only for a search by vectors."""


class Candidates(NamedTuple):
    """The memories that are scored, found by words and by vectors."""

    facts: Mapping[int, RankingFacts]
    """All of them, with the fields that the ranking uses."""
    words: WordCandidates
    vectors: "VectorCandidates | None"


class Features(NamedTuple):
    """What the candidates are scored by."""

    facts: Mapping[int, RankingFacts]
    weights: Mapping[str, float]
    """What each term of the question is worth."""
    postings: Mapping[str, TermPostings]
    """Which candidates contain each term, and how often."""
    average: float
    """The average length of a memory, in terms."""
    keys: Sequence[str]
    """The terms that name one thing."""
    semantic: "SemanticFeatures | None"


class Scores(NamedTuple):
    """The score of each candidate that has any, and why beside its words."""

    scores: Mapping[int, float]
    reasons: Callable[[int], list[str]]


def search(tx: Reader, query: Query, at: datetime, vector: "QueryVector | None" = None) -> SearchResult:
    """Find what answers the query, best first; without a text, what is newest and most used.

    at: the moment of the query, for what has expired and for "last week"
    vector: the query's text as a vector; None searches by words alone
    """
    if not query.text.strip():
        return browse(tx, query, at)
    question = analyse(query.text, at, semantic=vector is not None)
    found = find_candidates(tx, query, question, at, vector)
    features = read_features(tx, query, question, found)
    scores = score(features)
    best = order(query, features.facts, scores.scores)
    hits = explain(tx.memories(best), question, features, scores)
    total = max(found.words.matched, len(scores.scores)) if hits else 0
    return fill_by_time(tx, query, question, at, SearchResult(hits, total))


def analyse(text: str, at: datetime, *, semantic: bool) -> Question:
    """Return the terms of a query's text, and for a search by vectors the time that it asks about."""
    span = None
    if semantic:
        from omoide.retrieval import time_expressions  # lazy: its patterns, see the top

        span = time_expressions.span(text, at.astimezone()) if time_expressions.mentions_time(text) else None
    return Question(text, analyzer.query_terms(text), query_parts.query_parts(text), span)


def find_candidates(tx: Reader, query: Query, question: Question, at: datetime, vector: "QueryVector | None") -> Candidates:
    """Return the memories worth an exact score: those that share telling terms, those nearest by vector, their
    neighbours."""
    words = candidates.by_words(tx, query, question.terms, question.parts, at, alone=vector is None)
    if vector is None or not words.size.entries:
        return Candidates(words.facts, words, None)
    from omoide.retrieval import vector_query  # lazy: numpy, see the top

    vectors = vector_query.by_vector(tx, query, vector, words.facts, at)
    return Candidates(vectors.facts, words, vectors)


def read_features(tx: Reader, query: Query, question: Question, found: Candidates) -> Features:
    """Return what the candidates are scored by: their terms, and for a search by vectors cosines, sessions and times."""
    facts, words = found.facts, found.words
    semantic = None
    if found.vectors is not None:
        from omoide.retrieval import vector_query  # lazy: numpy, see the top

        semantic = vector_query.read_semantic_features(tx, question.text, question.span, found.vectors)
    postings = candidates.read_postings(tx, query, words, [*facts]) if facts else {}
    return Features(facts, words.weights, postings, words.average, words.keys, semantic)


def score(features: Features) -> Scores:
    """Return the scores of the candidates by words, or by words and vectors together."""
    lengths = {number: facts.length for number, facts in features.facts.items()}
    words = lexical.lexical_scores(features.weights, features.postings, lengths, features.average)
    if features.semantic is None:
        return Scores(words.scores, lambda _: [])
    from omoide.retrieval import hybrid  # lazy: the patterns of dates, see the top

    whole = sum(features.weights.values()) or 1.0
    keyed = hybrid.key_shares([features.postings[key].numbers for key in features.keys if key in features.postings])
    hybrid_scores = hybrid.score(words, whole, keyed, features.semantic, features.average)
    return Scores(hybrid_scores.scores, partial(hybrid.reasons, features.semantic, hybrid_scores))


def order(query: Query, facts: Mapping[int, RankingFacts], scores: Mapping[int, float]) -> list[int]:
    """Return the best by score and nudge; on a tie the nearest scope first, then the newest."""

    def sort_key(number: int) -> tuple[float, int, int]:
        memory = facts[number]
        nudge = lexical.nudge(memory.confidence, memory.relevance, memory.reference_count, memory.days)
        return -scores[number] * nudge, _distance(query, memory), -number

    ranked = sorted(scores, key=scores.__getitem__, reverse=True)
    best = [sort_key(number) for number in ranked[: query.limit]]
    # Only what a nudge could lift among the best is nudged.
    least = -max(best)[0] / constants.MAX_NUDGE if best else 0.0
    best += [sort_key(number) for number in ranked[query.limit :] if scores[number] >= least]
    return [-number for _, _, number in sorted(best)[: query.limit]]


def _distance(query: Query, memory: RankingFacts) -> int:
    """How far a memory's scope is from the query's: its session, its project, other sessions, the global layer."""
    if memory.everywhere and query.scope.path:
        return 3
    return (memory.session != query.scope.name) + bool(memory.session)


def explain(memories: list[Memory], question: Question, features: Features, scores: Scores) -> list[Hit]:
    """Return hits that say why they were found, in words that are made when somebody reads them."""
    reason = partial(_reason, question, features.postings, scores.reasons)
    return [Hit(memory, round(scores.scores[memory.number], 4), partial(reason, memory.number)) for memory in memories]


def _reason(
    question: Question, postings: Mapping[str, TermPostings], reasons: Callable[[int], list[str]], number: int
) -> str:
    """Which terms of the question are in which field of a memory, in the order of the question, and what else counted."""
    known = ((term, postings[term]) for term in question.terms if term in postings)
    counts = {term: its.counts.get(number, _ONCE) for term, its in known if number in its.numbers}
    spelling = analyzer.spelling(question.text)
    fields = ((name, [term for term, count in counts.items() if count[place]]) for place, name in enumerate(_FIELDS))
    found = (f"{name}: {', '.join(analyzer.display_words(terms, spelling))}" for name, terms in fields if terms)
    return " · ".join([*found, *reasons(number)])


def fill_by_time(tx: Reader, query: Query, question: Question, at: datetime, found: SearchResult) -> SearchResult:
    """Add memories that changed at the time that the question names ("what happened on 5 May?"), up to the limit."""
    if question.span is None or len(found.hits) >= query.limit:
        return found
    known = {hit.memory.number for hit in found.hits}
    changed = tx.changed_between(query, question.span.start, question.span.end, query.limit, at)
    numbers = [number for number in changed if number not in known]
    more = tx.memories(numbers[: query.limit - len(known)])
    hits = [Hit(memory, 0.0, partial("time: {:%Y-%m-%d}".format, memory.updated_at)) for memory in more]
    return SearchResult([*found.hits, *hits], found.total + len(hits))


def browse(tx: Reader, query: Query, at: datetime) -> SearchResult:
    """Return what is newest and most used, for a query without a text."""
    return SearchResult([Hit(memory, 0.0, lambda: "newest first") for memory in newest(tx, query, at)], tx.count(query, at))


def newest(tx: Reader, query: Query, at: datetime) -> list[Memory]:
    """Return the newest and most used first: by day of the last change, then by how often a memory was remembered."""
    memories = list(islice(tx.browse(query, at), max(constants.BROWSED, query.limit)))
    memories.sort(key=lambda memory: (memory.updated_at.date(), memory.reference_count, memory.updated_at), reverse=True)
    return memories[: query.limit]
