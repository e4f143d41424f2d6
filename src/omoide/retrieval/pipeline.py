"""The search: analyse the question, find candidates in the store, read their features, score, order, explain."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from omoide.model import Hit, Memory, Query, SearchResult
from omoide.retrieval import analyzer, candidates, confidence, constants, lexical, query_parts
from omoide.retrieval.candidates import WordCandidates
from omoide.retrieval.lexical import LexicalScores, TermPostings
from omoide.retrieval.query_parts import QueryParts
from omoide.storage.base import RankingFacts, Reader, SessionNeighbour

# They load numpy, which only a search by vectors needs, or the patterns of dates, which only sessions need.
if TYPE_CHECKING:
    from omoide.embeddings.vectors import QueryVector
    from omoide.retrieval.hybrid import SemanticFeatures
    from omoide.retrieval.sessions import SessionFeatures
    from omoide.retrieval.time_expressions import Span
    from omoide.retrieval.vector_query import VectorCandidates

_FIELDS = ("topic", "tags", "content")
_ONCE = (0, 0, 1)


class Question(msgspec.Struct, frozen=True):
    """A query's text, analysed."""

    text: str
    terms: Mapping[str, float]
    """Its terms, and how much each says."""
    parts: QueryParts
    """Which of them belong together."""
    span: "Span | None"
    """The time that it asks about, if anything is compared with it."""


class Candidates(msgspec.Struct, frozen=True):
    """The memories that are scored, found by words and by vectors."""

    facts: Mapping[int, RankingFacts]
    """All of them, with the fields that the ranking uses."""
    words: WordCandidates
    vectors: "VectorCandidates | None"
    has_sessions: bool
    """Whether one of them belongs to a session."""
    neighbours: Sequence[SessionNeighbour]
    """Those of sessions, in the order of their sessions."""


class Features(msgspec.Struct, frozen=True):
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
    evidence: Mapping[str, float]
    """What each term counts for as evidence that the memories answer the question."""
    entries: int
    """The memories of the scope."""
    semantic: "SemanticFeatures | None"
    sessions: "SessionFeatures | None"


class Scores(msgspec.Struct, frozen=True):
    """The score of each candidate that has any, how sure an answer is, and why beside its words."""

    scores: Mapping[int, float]
    probability: float
    """That the memories answer the question, by candidates in the language of the question."""
    reasons: Callable[[int], list[str]]


def search(tx: Reader, query: Query, at: datetime, vector: "QueryVector | None" = None) -> SearchResult:
    """Find the memories that answer a query, best first; without a text, the newest and most used.

    `at`: the moment of the query: it decides what has expired, and when "last week" was. `vector`: the text of the query as
    a vector; None: search by words alone.
    """
    if not query.text.strip():
        return browse(tx, query, at)
    question = analyse(query.text, at, semantic=vector is not None)
    found = find_candidates(tx, query, question, at, vector)
    features = read_features(tx, query, question, found, at)
    scores = score(features)
    probability = scores.probability
    if features.semantic is None and scores.scores and probability < query.min_score:
        return SearchResult([], 0, round(probability, 4))
    ranked = order(query, features.facts, scores.scores)
    memories = tx.memories([*ranked])
    if features.semantic is not None:
        texts = {memory.number: memory.content for memory in memories}
        probability = max(probability, confidence.across_languages(query.text, texts, features.semantic.cosines))
        if memories and probability < query.min_score:
            return SearchResult([], 0, round(probability, 4))
    hits = explain(memories, question, features, scores, ranked, probability)
    total = max(found.words.matched, len(scores.scores)) if hits else 0
    return fill_by_time(tx, query, question, at, SearchResult(hits, total))


def analyse(text: str, at: datetime, *, semantic: bool) -> Question:
    """Return a query's text with its terms.

    `at`: the moment to which "last week" is relative. `semantic`: whether the search uses vectors: then also find the time
    that the text asks about.
    """
    span = None
    if semantic:
        from omoide.retrieval import session_query  # lazy: the patterns of dates, see the top

        span = session_query.asked_time(text, at)
    runs = None if text.isascii() else analyzer.runs(text)
    return Question(text, analyzer.query_terms(text, runs=runs), query_parts.query_parts(text, runs), span)


def find_candidates(tx: Reader, query: Query, question: Question, at: datetime, vector: "QueryVector | None") -> Candidates:
    """Return the memories that are to be scored: those that share telling terms, those nearest by vector, their neighbours.

    `vector`: None: search by words alone.
    """
    words = candidates.by_words(tx, query, question.terms, question.parts, at, words_only=vector is None)
    facts, vectors = words.facts, None
    if vector is not None and words.size.entries:
        from omoide.retrieval import vector_query  # lazy: numpy, see the top

        vectors = vector_query.by_vector(tx, query, vector, facts, at)
        facts = vectors.facts
    neighbours: Sequence[SessionNeighbour] = ()
    has_sessions = any(memory.session for memory in facts.values())
    if has_sessions:
        from omoide.retrieval import session_query  # lazy: the patterns of dates, see the top

        nearest = () if vectors is None else vectors.matches.cosines
        seeds = {*islice(facts, constants.SESSION_SEEDS), *islice(nearest, constants.SESSION_SEEDS)}
        neighbours = session_query.add_neighbours(tx, query, facts, seeds, at)
    return Candidates(facts, words, vectors, has_sessions, neighbours)


def read_features(tx: Reader, query: Query, question: Question, found: Candidates, at: datetime) -> Features:
    """Read what the candidates are scored by: their terms, cosines, sessions and times."""
    facts, words = found.facts, found.words
    semantic = sessions = None
    if found.vectors is not None:
        from omoide.retrieval import vector_query  # lazy: numpy, see the top

        semantic = vector_query.semantic_features(found.vectors)
    if question.span is not None or found.has_sessions:
        from omoide.retrieval import session_query  # lazy: the patterns of dates, see the top

        span = question.span or session_query.asked_time(question.text, at)
        sessions = session_query.read_session_features(tx, question.text, span, facts, found.neighbours)
    postings = candidates.read_postings(tx, query, words, [*facts]) if facts else {}
    return Features(
        facts, words.weights, postings, words.average, words.keys, words.evidence, words.size.entries, semantic, sessions
    )


def score(features: Features) -> Scores:
    """Score the candidates by words, or by words and vectors together, and by their sessions."""
    lengths = {number: facts.length for number, facts in features.facts.items()}
    words = lexical.lexical_scores(features.weights, features.postings, lengths, features.average)
    if features.semantic is None and features.sessions is None:
        return Scores(words.scores, _probability(features, words, words.scores), lambda _: [])
    shares = _shares(features, words)
    scores = {number: share for number, share in shares.items() if share > 0}
    gains: Mapping[int, float] = {}
    if features.sessions is not None:
        from omoide.retrieval import sessions  # lazy: the patterns of dates, see the top

        scores, gains = sessions.score(shares, features.sessions)
    return Scores(scores, _probability(features, words, scores), partial(_reasons, features, shares, gains))


def _shares(features: Features, words: LexicalScores) -> dict[int, float]:
    """Return the share of the question that each candidate covers."""
    whole = sum(features.weights.values()) or 1.0
    if features.semantic is None:
        return {number: score / whole for number, score in words.scores.items()}
    from omoide.retrieval import hybrid  # lazy: a search by words needs none of it

    keyed = hybrid.key_shares([features.postings[key].numbers for key in features.keys if key in features.postings])
    return hybrid.combined_shares(words, whole, keyed, features.semantic, features.average)


def _probability(features: Features, words: LexicalScores, found: Collection[int]) -> float:
    """Return how likely it is that the memories answer the question, by the candidates that were found."""
    covered, terms = words.covered, len(features.evidence)
    if features.evidence is not features.weights:
        covered = confidence.covered_shares(features.evidence, features.postings, features.facts)
    if features.semantic is None:
        evidence = confidence.evidence_by_words(covered, terms, features.entries)
    else:
        evidence = confidence.evidence_by_vectors(covered, features.semantic.mean_cosines(), found, terms, features.entries)
    return confidence.probability(evidence)


def _reasons(features: Features, shares: Mapping[int, float], gains: Mapping[int, float], number: int) -> list[str]:
    """What counted for a memory beside its words."""
    found = []
    if features.semantic is not None:
        from omoide.retrieval import hybrid  # lazy: see `score`

        found += hybrid.reasons(features.semantic, number)
    if features.sessions is not None:
        from omoide.retrieval import sessions  # lazy: see `score`

        found += sessions.reasons(features.sessions, shares, gains, number)
    return found


def order(query: Query, facts: Mapping[int, RankingFacts], scores: Mapping[int, float]) -> dict[int, float]:
    """Return the numbers of the best candidates, with their scores times `lexical.nudge`, best first.

    Of equal ones, that of the nearest scope comes first, then the newest. At most `query.limit` are returned.
    """

    def sort_key(number: int) -> tuple[float, int, int]:
        memory = facts[number]
        nudge = lexical.nudge(memory.confidence, memory.relevance, memory.reference_count, memory.days)
        return -scores[number] * nudge, _distance(query, memory), -number

    ranked = sorted(scores, key=scores.__getitem__, reverse=True)
    best = [sort_key(number) for number in ranked[: query.limit]]
    # Only what a nudge could lift among the best is nudged.
    least = -max(best)[0] / constants.MAX_NUDGE if best else 0.0
    best += [sort_key(number) for number in ranked[query.limit :] if scores[number] >= least]
    return {-number: -score for score, _, number in sorted(best)[: query.limit]}


def _distance(query: Query, memory: RankingFacts) -> int:
    """How far a memory's scope is from the query's: its session, its project, other sessions, the global layer."""
    if memory.everywhere and query.scope.path:
        return 3
    return (memory.session != query.scope.name) + bool(memory.session)


def explain(
    memories: list[Memory],
    question: Question,
    features: Features,
    scores: Scores,
    ranked: Mapping[int, float],
    probability: float,
) -> list[Hit]:
    """Return the hits of these memories; the text that says why each was found is made when somebody reads it.

    `ranked`: the scores of the memories, by number. `probability`: that the memories answer the question: it is the score of
    the best hit, and the others follow it in proportion.
    """
    reason = partial(_reason, question, features.postings, scores.reasons)
    scale = probability / (max(ranked.values(), default=0.0) or 1.0)
    return [Hit(memory, round(ranked[memory.number] * scale, 4), partial(reason, memory.number)) for memory in memories]


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
    """Return a result with memories added that changed at the time that the question names, up to the limit of the query.

    `found`: the result so far. "What happened on 5 May?" has few words to search for.
    """
    if question.span is None or len(found.hits) >= query.limit:
        return found
    known = {hit.memory.number for hit in found.hits}
    changed = tx.memories_changed_between(query, question.span.start, question.span.end, query.limit, at)
    numbers = [number for number in changed if number not in known]
    more = tx.memories(numbers[: query.limit - len(known)])
    hits = [Hit(memory, 0.0, partial("time: {:%Y-%m-%d}".format, memory.updated_at)) for memory in more]
    return SearchResult([*found.hits, *hits], found.total + len(hits))


def browse(tx: Reader, query: Query, at: datetime) -> SearchResult:
    """Return the newest and most used memories as a result, for a query without a text."""
    return SearchResult([Hit(memory, 0.0, lambda: "newest first") for memory in newest(tx, query, at)], tx.count(query, at))


def newest(tx: Reader, query: Query, at: datetime) -> list[Memory]:
    """Return at most `query.limit` memories: the latest days first, of a day those that were remembered most often."""
    memories = list(islice(tx.browse(query, at), max(constants.BROWSED, query.limit)))
    memories.sort(key=lambda memory: (memory.updated_at.date(), memory.reference_count, memory.updated_at), reverse=True)
    return memories[: query.limit]
