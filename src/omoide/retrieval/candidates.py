"""The candidates of a query by its terms: the memories that are scored exactly.

Up to about 30,000 memories, a store answers with posting sets and all memories are ranked by all terms at once
(`bit_sums.py`). In a larger one, the few most telling terms select the candidates from posting lists, within limits, so that
common words never make a search linear.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

import msgspec

from omoide.model import Query
from omoide.retrieval import analyzer, confidence, constants, lexical, query_parts
from omoide.retrieval.bit_sums import BitSums, member_filter
from omoide.retrieval.lexical import TermPostings
from omoide.retrieval.query_parts import QueryParts
from omoide.storage.base import IndexSize, PostingSet, RankingFacts, Reader
from omoide.storage.bitset import from_numbers


class WordCandidates(msgspec.Struct, frozen=True):
    """The candidates by words, and what is known of the query's terms."""

    facts: dict[int, RankingFacts]
    """The candidates that pass the query's filters, the best first."""
    matched: int
    """How many memories match by words, about."""
    weights: dict[str, float]
    """What each term of the query is worth."""
    frequencies: Mapping[str, int]
    """The terms to score by, and how many memories contain each."""
    sets: Mapping[str, PostingSet] | None
    """The memories that contain each term. None: they are read as lists."""
    size: IndexSize
    keys: Sequence[str] = ()
    """The terms that name one thing; only where vectors add candidates."""
    evidence: Mapping[str, float] = MappingProxyType({})
    """What each term counts for as evidence that the memories answer the query."""

    @property
    def average(self) -> float:
        """The average length of a memory, in terms."""
        return self.size.terms / self.size.entries if self.size.entries else 1.0


class _Ranking(msgspec.Struct, frozen=True):
    """The memories that contain terms of a query, roughly ranked."""

    best: Iterator[list[int]]
    """Their numbers, some at a time, the best first."""
    enough: int
    """How many of them are to be scored exactly."""
    matched: int
    searched: Sequence[str]
    """The terms that ranked them."""
    weights: dict[str, float]
    frequencies: Mapping[str, int]
    sets: Mapping[str, PostingSet] | None
    evidence: Mapping[str, float]


class _Search(msgspec.Struct, frozen=True):
    """What both kinds of ranking need to know of a query."""

    query: Query
    terms: Mapping[str, float]
    parts: QueryParts
    limits: Mapping[str, int]
    """A term that more memories contain than this is not searched for."""
    has_pairs: bool
    """Whether there are pairs of characters among the terms."""
    entries: int
    words_only: bool


def by_words(
    tx: Reader, query: Query, terms: Mapping[str, float], parts: QueryParts, at: datetime, *, words_only: bool
) -> WordCandidates:
    """Return the memories that share the most telling terms with a query.

    `terms`: the terms of the query, and how much each says. `parts`: which of them belong together. `words_only`: False
    where vectors add candidates; otherwise more candidates are returned, since nothing else tells memories with the same
    terms apart.
    """
    size = tx.sizes(query)
    if not size.entries:
        return WordCandidates({}, 0, {}, {}, None, size)
    search = _search(query, terms, parts, size.entries, words_only=words_only)
    ranking = _ranking_by_sets(tx, search) or _ranking_by_lists(tx, search)
    facts = _facts_of_best(tx, query, ranking, at)
    matched = len(facts) if len(facts) < ranking.enough else ranking.matched
    frequencies = ranking.frequencies
    keys: Sequence[str] = ()
    if not words_only:
        keys = query_parts.key_terms(terms, frequencies, parts, size.entries)
        ignored = _share_limit(constants.SEMANTIC_IGNORED_SHARE, size.entries)
        frequencies = {term: df for term, df in frequencies.items() if df <= ignored}
    if not frequencies:  # every term is common: then one of those that ranked them, uncounted
        frequencies = dict.fromkeys(ranking.searched[:1], constants.MAX_COUNTED)
    return WordCandidates(facts, matched, ranking.weights, frequencies, ranking.sets, size, keys, ranking.evidence)


def _search(query: Query, terms: Mapping[str, float], parts: QueryParts, entries: int, *, words_only: bool) -> _Search:
    pairs = list(filter(analyzer.is_literal, terms))
    # A word may be asked for though many memories contain it. A pair of characters in many memories is a part of many words:
    # it does not distinguish memories, and searching for it would cost more than for all the others.
    pair_limit = int(_share_limit(constants.PAIR_IGNORED_SHARE, entries))
    limits = dict.fromkeys(terms, constants.MAX_COUNTED - 1) | dict.fromkeys(pairs, pair_limit)
    return _Search(query, terms, parts, limits, bool(pairs), entries, words_only)


def _weights(search: _Search, frequencies: Mapping[str, int]) -> dict[str, float]:
    """Return what each term of the query is worth."""
    weights = lexical.term_weights(search.terms, frequencies, search.entries)
    return query_parts.weigh(weights, search.parts, words_only=search.words_only) if search.parts.compounds else weights


def _evidence(search: _Search, weights: Mapping[str, float], frequencies: Mapping[str, int]) -> Mapping[str, float]:
    return confidence.term_evidence(
        search.terms, weights, frequencies, search.parts, search.entries, words_only=search.words_only
    )


def _share_limit(share: float, entries: int) -> float:
    return max(share * entries, constants.COMMON_COUNT)


def _rarest(frequencies: Mapping[str, int]) -> dict[str, int]:
    return {term: frequencies[term] for term in sorted(frequencies, key=frequencies.__getitem__)[:1]}


def _searchable(frequencies: Mapping[str, int], limits: Mapping[str, int]) -> dict[str, int]:
    """Return the terms that some memories contain, and not too many; the rarest if there is no such term."""
    known = {term: df for term, df in frequencies.items() if df}
    return {term: df for term, df in known.items() if df <= limits[term]} or _rarest(known)


def _facts_of_best(tx: Reader, query: Query, ranking: _Ranking, at: datetime) -> dict[int, RankingFacts]:
    """Return the best that pass the query's filters."""
    facts: dict[int, RankingFacts] = {}
    for numbers in ranking.best:
        facts |= tx.ranking_facts(query, numbers, at)
        if len(facts) >= ranking.enough:
            break
    return facts


def _ranking_by_sets(tx: Reader, search: _Search) -> _Ranking | None:
    """Rank all memories at once by all terms: so exact that few need an exact score. None where there are too many."""
    query, entries = search.query, search.entries
    counted = int(_share_limit(constants.UNCOUNTED_SHARE, entries))
    sets = tx.posting_sets(query, search.limits, counted)
    if sets is None:
        return None
    frequencies = {term: postings.frequency for term, postings in sets.items()}
    searched = _searchable(frequencies, search.limits)
    if any(sets[term].bits is None for term in searched):  # every term is common: then the rarest, with all memories
        sets |= tx.posting_sets(query, dict.fromkeys(searched, entries), counted) or {}
    weights = _weights(search, frequencies)
    sums = BitSums(max((weights[term] for term in searched), default=1.0))
    for term in searched:
        sums.add(weights[term], sets[term].bits or 0)
    if len(searched) <= constants.FEW_TERMS and len(sums) > constants.MAX_TIED_BY_LISTS:
        for term, numbers in tx.posting_numbers(query, searched, entries, topic_or_tags=True).items():
            sums.add(weights[term], from_numbers(numbers))
    wide, tied = constants.SEMANTIC_CANDIDATES, constants.SEMANTIC_TIED_CANDIDATES
    if search.words_only:
        wide = constants.CANDIDATES_BY_SETS if search.has_pairs else constants.CANDIDATES
        tied = constants.TIED_CANDIDATES
    enough = max(wide, query.limit)
    evidence = _evidence(search, weights, frequencies)
    return _Ranking(sums.best(enough, tied), enough, len(sums), [*searched], weights, searched, sets, evidence)


def _ranking_by_lists(tx: Reader, search: _Search) -> _Ranking:
    """Rank the newest of the memories that contain the most telling terms: for a store of very many memories."""
    query, entries = search.query, search.entries
    frequencies = tx.frequencies(query, search.terms, constants.MAX_COUNTED)
    weights = _weights(search, frequencies)
    selected = [term.text for term in lexical.select_terms(search.terms, frequencies, entries, words_only=search.words_only)]
    rough = lexical.rough_scores(weights, tx.posting_numbers(query, selected, constants.MAX_LIST_READ))
    if len(selected) <= constants.FEW_TERMS and len(rough) > constants.MAX_TIED_BY_LISTS:
        in_topic_or_tags = tx.posting_numbers(query, selected, constants.MAX_LIST_READ, topic_or_tags=True)
        for number, more in lexical.rough_scores(weights, in_topic_or_tags).items():
            rough[number] = rough.get(number, 0.0) + more
    if search.words_only:
        has_pairs = any(map(analyzer.is_literal, selected))
        enough = max(constants.CANDIDATES_BY_LISTS if has_pairs else constants.CANDIDATES, query.limit)
        most = max(constants.MAX_TIED_BY_LISTS, enough)
    else:
        enough = max(constants.SEMANTIC_CANDIDATES, query.limit)
        most = enough + constants.SEMANTIC_TIED_CANDIDATES
    searched = _searchable(frequencies, search.limits)
    evidence = _evidence(search, weights, frequencies)
    return _Ranking(_batches(rough, enough, most), enough, len(rough), selected, weights, searched, None, evidence)


def _batches(scores: Mapping[int, float], enough: int, most: int) -> Iterator[list[int]]:
    """Return the best, and those that score as much as the last of them, so many at the most; then the next best."""
    best = sorted(scores, key=scores.__getitem__, reverse=True)
    start = 0
    while start < len(best):
        end = min(start + enough, len(best))
        least = scores[best[end - 1]]
        while end < min(start + most, len(best)) and scores[best[end]] >= least:
            end += 1
        yield best[start:end]
        start = end


def read_postings(tx: Reader, query: Query, words: WordCandidates, numbers: Sequence[int]) -> dict[str, TermPostings]:
    """Return the postings of each term to score by among these memories, without counts where the term is too common.

    `words`: what `by_words` returned for the query.
    """
    counted = _share_limit(constants.UNCOUNTED_SHARE, words.size.entries)
    if words.sets is not None:
        contained = member_filter(numbers)
        return {
            term: TermPostings(contained(postings.bits or 0), postings.counts or {} if df <= counted else {})
            for term, df in words.frequencies.items()
            for postings in [words.sets[term]]
        }
    found = tx.postings(query, words.frequencies, numbers)
    return {
        term: TermPostings(
            [posting[0] for posting in found[term]],
            {posting[0]: posting[1:] for posting in found[term]} if df <= counted else {},
        )
        for term, df in words.frequencies.items()
    }
