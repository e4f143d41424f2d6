"""How a question finds memories: a first look names those that may answer it, a second one scores the best exactly."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

from omoide.model import Hit, Memory, Query, SearchResult
from omoide.retrieval import analyzer, candidates, lexical
from omoide.retrieval.bit_sums import member_filter
from omoide.retrieval.candidates import COUNTED, Candidates
from omoide.retrieval.lexical import TermPostings
from omoide.storage.base import Posting, PostingSet, Reader

if TYPE_CHECKING:  # it loads numpy
    from omoide.embeddings.vectors import QueryVector
    from omoide.retrieval.vector_query import VectorQuery

_BROWSED = 500
_FIELDS = ("topic", "tags", "content")
_ONCE = (0, 0, 1)
_UNKNOWN = PostingSet(0, None, None)


_by_words: Callable[[int], list[str]] = lambda _: []  # noqa: E731 - nothing but words spoke for it


def search(tx: Reader, query: Query, at: datetime, vector: "QueryVector | None" = None) -> SearchResult:
    """Find what answers the query, best first; without a text, the newest and most used.

    `vector`: the query as a vector, for a store that has vectors; None searches by words alone.
    """
    if not query.text.strip():
        return _browse(tx, query, at)
    sense = None if vector is None else _vector_query(vector, query, at)
    asked = analyzer.query_terms(query.text)
    entries, length = tx.sizes(query)
    look = candidates.find_candidates(tx, query, asked, entries, alone=sense is None)
    lengths = _filter_candidates(tx, query, look, at)
    matched = len(lengths) if len(lengths) < look.enough else look.named
    sessions: list[int] = []
    if sense is not None and entries:
        lengths |= tx.lengths(query, sense.nearest(tx, query, [*lengths]), at)
        sessions = tx.in_sessions(lengths)
        if beside := sense.session_neighbours(tx, [*lengths], sessions):
            lengths |= tx.lengths(query, beside, at)
            sessions = tx.in_sessions(lengths)
    if not lengths:
        return _add_by_time(tx, query, at, sense, SearchResult([], 0))
    held = _term_postings(tx, query, look, [*lengths], entries)
    met = lexical.lexical_scores(look.worth, held, lengths, length / entries)
    scores, told = met.scores, _by_words
    if sense is not None:
        whole = sum(look.worth.values()) or 1.0
        words = lexical.LexicalScores({number: score / whole for number, score in met.scores.items()}, met.covered)
        weighed = sense.score(tx, query, lengths, sessions, words, length / entries)
        scores, told = {number: score * whole for number, score in weighed.scores.items()}, weighed.why
        if not scores:
            return _add_by_time(tx, query, at, sense, SearchResult([], 0))
    top = _order(tx, query, scores, at)
    why = _Why(query.text, asked, held, told)
    hits = [Hit(memory, round(scores[memory.number], 4), partial(why, memory.number)) for memory in tx.memories(top)]
    return _add_by_time(tx, query, at, sense, SearchResult(hits, max(matched, len(scores))))


def _vector_query(vector: "QueryVector", query: Query, at: datetime) -> "VectorQuery":
    from omoide.retrieval.vector_query import VectorQuery  # noqa: PLC0415 - it loads numpy

    return VectorQuery(vector, query.text, at)


def _add_by_time(tx: Reader, query: Query, at: datetime, sense: "VectorQuery | None", found: SearchResult) -> SearchResult:
    """Where words and meaning leave room, what is of the time that the question names: "what happened on 5 May?"."""
    if sense is None or len(found.hits) >= query.limit:
        return found
    known = {hit.memory.number for hit in found.hits}
    numbers = [number for number in sense.by_time(tx, query, at, query.limit) if number not in known]
    more = tx.memories(numbers[: query.limit - len(known)])
    hits = [Hit(memory, 0.0, partial("time: {:%Y-%m-%d}".format, memory.updated_at)) for memory in more]
    return SearchResult([*found.hits, *hits], found.total + len(hits))


def _filter_candidates(tx: Reader, query: Query, look: Candidates, at: datetime) -> dict[int, int]:
    """The best that the filters let through, and their lengths."""
    kept: dict[int, int] = {}
    for numbers in look.best:
        kept |= tx.lengths(query, numbers, at)
        if len(kept) >= look.enough:
            break
    return kept


def _term_postings(
    tx: Reader, query: Query, look: Candidates, numbers: Sequence[int], entries: int
) -> dict[str, TermPostings]:
    """The second look: every term that is not hopelessly common, in the candidates."""
    often = max(lexical.COMMON * entries, lexical.SEEN)
    others = {term: df for term, df in look.frequencies.items() if term not in look.rare}
    if not look.rare and not others:  # every word is common: then the one it was gathered by
        others = dict.fromkeys(look.by[:1], COUNTED)
    held, rest = dict[str, TermPostings](), dict[str, int]()
    holders = member_filter(numbers)
    for term, df in others.items():
        _, bits, counts = look.held.get(term, _UNKNOWN)
        if bits is not None and (counts is not None or df > often):
            held[term] = TermPostings(holders(bits), counts if counts and df <= often else {})
        else:
            rest[term] = df
    if look.rare or rest:
        held |= _listed_postings(tx, query, look, rest, numbers, often)
    return held


def _listed_postings(
    tx: Reader, query: Query, look: Candidates, rest: Mapping[str, int], numbers: Sequence[int], often: float
) -> dict[str, TermPostings]:
    """The same by lists, where bits do not tell."""
    among = set(numbers)
    found = {term: [posting for posting in postings if posting[0] in among] for term, postings in look.rare.items()}
    if pairs := [term for term in rest if term in look.literal]:
        found |= _count_literal(tx, query, pairs, numbers)
    found |= tx.postings(query, [term for term, df in rest.items() if df <= often and term not in found], numbers)
    found |= tx.postings(query, [term for term in rest if term not in found], numbers, counted=False)
    return {
        term: TermPostings([its[0] for its in postings], {its[0]: its[1:] for its in postings})
        for term, postings in found.items()
    }


def _count_literal(tx: Reader, query: Query, pairs: Sequence[str], numbers: Sequence[int]) -> dict[str, list[Posting]]:
    """Terms that stand in a text as they are, counted in it: for some twenty of them a tenth of asking the index."""
    texts = tx.texts(numbers)
    short = [each for each in texts if each.content is not None]
    who = [each.number for each in short]
    contents = analyzer.plain(each.content or "" for each in short)
    titles = [each.topic for each in short], [each.tags for each in short]
    titled = not all(map(str.isascii, chain(*titles)))
    topics, tags = (analyzer.plain(its) if titled else its for its in titles)
    found: dict[str, list[Posting]] = {}
    for term in pairs:
        counts = map(str.count, contents, repeat(term))
        if titled:
            above, beside = map(str.count, topics, repeat(term)), map(str.count, tags, repeat(term))
            found[term] = [posting for posting in zip(who, above, beside, counts, strict=True) if any(posting[1:])]
        else:
            found[term] = [(number, 0, 0, count) for number, count in zip(who, counts, strict=True) if count]
    if long := [each.number for each in texts if each.content is None]:
        for term, postings in tx.postings(query, pairs, long).items():
            found[term] += postings
    return found


def _order(tx: Reader, query: Query, scores: Mapping[int, float], at: datetime) -> list[int]:
    """The best by score and nudge, the nearest first on a tie."""
    ranked = sorted(scores, key=scores.__getitem__, reverse=True)
    best = _sort_keys(tx, query, ranked[: query.limit], scores, at)
    reached = -max(best)[0] / lexical.MOST
    best += _sort_keys(tx, query, [number for number in ranked[query.limit :] if scores[number] >= reached], scores, at)
    return [-number for _, _, number in sorted(best)[: query.limit]]


def _sort_keys(
    tx: Reader, query: Query, numbers: Sequence[int], scores: Mapping[int, float], at: datetime
) -> list[tuple[float, int, int]]:
    """What memories are ordered by: the smallest first."""
    path, name = query.scope.path, query.scope.name
    places = []
    for number, everywhere, session, confidence, relevance, reference_count, days in tx.ranking_facts(numbers, at):
        nudged = scores[number] * lexical.nudge(confidence, relevance, reference_count, days)
        distance = 3 if everywhere and path else (session != name) + bool(session)
        places.append((-nudged, distance, -number))
    return places


class _Why:
    """Which words of the question stand where in a memory, in the order of the question, and what else spoke for it."""

    def __init__(self, text: str, asked: Iterable[str], held: Mapping[str, TermPostings], told: Callable[[int], list[str]]):
        self._text, self._asked, self._held, self._told = text, asked, held, told

    def __call__(self, number: int) -> str:
        held = ((term, self._held[term]) for term in self._asked if term in self._held)
        mine = {term: counts.get(number, _ONCE) for term, (numbers, counts) in held if number in numbers}
        spelling = analyzer.spelling(self._text)
        fields = ((name, [term for term, its in mine.items() if its[place]]) for place, name in enumerate(_FIELDS))
        said = (f"{name}: {', '.join(analyzer.display_words(terms, spelling))}" for name, terms in fields if terms)
        return " · ".join([*said, *self._told(number)])


def _browse(tx: Reader, query: Query, at: datetime) -> SearchResult:
    return SearchResult([Hit(memory, 0.0, lambda: "newest first") for memory in newest(tx, query, at)], tx.count(query, at))


def newest(tx: Reader, query: Query, at: datetime) -> list[Memory]:
    """The newest and most used first: by day of the last change, then by how often it was remembered."""
    newest = list(islice(tx.browse(query, at), max(_BROWSED, query.limit)))
    newest.sort(key=lambda memory: (memory.updated_at.date(), memory.reference_count, memory.updated_at), reverse=True)
    return newest[: query.limit]
