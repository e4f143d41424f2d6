"""The probability that the memories answer a question: the score of the best hit, on one scale for every question. Pure.

Fitted on questions asked of their own memories and of those of another set in the same language, as many of each
(`python -m bench.scores`). So it says how likely an answer is if every second question can be answered.
"""

from collections.abc import Iterable, Mapping, Set as AbstractSet
from math import exp, log, log1p

import msgspec

from omoide.compiled_patterns import load_pattern
from omoide.embeddings.language import is_dense
from omoide.retrieval import constants, lexical, query_parts
from omoide.retrieval.lexical import TermPostings
from omoide.retrieval.query_parts import QueryParts

_hiragana = load_pattern("[ぁ-ゖ]+")


def term_evidence(
    asked: Mapping[str, float],
    weights: Mapping[str, float],
    frequencies: Mapping[str, int],
    parts: QueryParts,
    entries: int,
    *,
    words_only: bool,
) -> Mapping[str, float]:
    """Return what each term of a question counts for as evidence; `weights` itself where that is the same.

    `asked`: the terms of the question, and how much each says. `weights`: what each is worth in this store. `frequencies`:
    how many memories contain each term, of `entries`. `parts`: which terms belong together. `words_only`: False where
    vectors add candidates.

    In a small store every word is rare, so its terms are weighed as in one of `SMALL_STORE` memories. If the store contains
    none of the Japanese words, as where all notes are in English, only names in the question can match: then the Japanese
    words count together as one term, and no more than the strongest name that some memory contains.
    """
    evidence = weights
    if entries < constants.SMALL_STORE:
        raised = lexical.term_weights(asked, frequencies, constants.SMALL_STORE)
        evidence = query_parts.weigh(raised, parts, words_only=words_only) if parts.compounds else raised
    compound = [term for terms in parts.compounds for term in terms if term in evidence]
    if not compound or any(frequencies.get(term) and not _hiragana.fullmatch(term) for term in compound):
        return evidence
    return _as_one_term(evidence, {*compound}, frequencies)


def _as_one_term(
    evidence: Mapping[str, float], compound: AbstractSet[str], frequencies: Mapping[str, int]
) -> dict[str, float]:
    """Return the evidence with the strongest term of a compound instead of all, no stronger than the strongest name."""
    strongest = max(compound, key=evidence.__getitem__)
    names = [evidence[term] for term in evidence.keys() - compound if frequencies.get(term) and not term.isdecimal()]
    weight = min(evidence[strongest], max(names, default=evidence[strongest]))
    return {term: its for term, its in evidence.items() if term not in compound} | {strongest: weight}


def covered_shares(
    evidence: Mapping[str, float], postings: Mapping[str, TermPostings], numbers: Iterable[int]
) -> dict[int, float]:
    """Return the share of the evidence that each of the memories with these numbers contains.

    `evidence`: what `term_evidence` returns. `postings`: which of these memories contain each term.
    """
    covered = dict.fromkeys(numbers, 0.0)
    for term, its in postings.items():
        weight = evidence.get(term, 0.0)
        for number in its.numbers:
            covered[number] += weight
    whole = sum(evidence.values()) or 1.0
    return {number: weight / whole for number, weight in covered.items()}


class MatchEvidence(msgspec.Struct, frozen=True):
    """The evidence that the memories of a scope answer a question."""

    fit: float
    """The largest share of the question that a memory contains; with vectors, the largest sum of that and its cosine."""
    terms: int
    """The terms of the question."""
    entries: int
    """The memories of the scope: the more there are, the better the best of them fits by chance."""
    semantic: bool


def evidence_by_words(covered: Mapping[int, float], terms: int, entries: int) -> MatchEvidence:
    """Return the evidence of a search by words, from the share of the question that each candidate contains (`covered`).

    `terms`: how many terms the question has. `entries`: how many memories the scope has.
    """
    return MatchEvidence(max(covered.values(), default=0.0), terms, entries, semantic=False)


def evidence_by_vectors(
    covered: Mapping[int, float], cosines: Mapping[int, float], found: Iterable[int], terms: int, entries: int
) -> MatchEvidence:
    """Return the evidence of a search by vectors, from the share and the cosine of the memories that were found.

    `covered`: the share of the question that each candidate contains. `found`: the numbers of the memories that were found.
    `terms`, `entries`: as in `evidence_by_words`.
    """
    fit = max((covered[number] + max(cosines.get(number, 0.0), 0.0) for number in found), default=0.0)
    return MatchEvidence(fit, terms, entries, semantic=True)


def probability(evidence: MatchEvidence) -> float:
    """Return the probability that the memories answer the question, from 0 to 1."""
    size = log(max(evidence.entries, 1))
    if evidence.semantic:
        return _logistic(constants.HYBRID_BASE + constants.HYBRID_FIT * evidence.fit + constants.HYBRID_SIZE * size)
    terms = constants.WORDS_TERMS * log1p(evidence.terms)
    return _logistic(constants.WORDS_BASE + constants.WORDS_FIT * evidence.fit + terms + constants.WORDS_SIZE * size)


def across_languages(question: str, texts: Mapping[int, str], cosines: Mapping[int, float]) -> float:
    """Return the probability that a hit in another script than the question answers it, by the nearest; 0 without such hits.

    They share no words with the question, so only their cosines count. `texts`: the contents of the hits, by number.
    """
    dense = is_dense(question)
    others = [cosines[number] for number, text in texts.items() if number in cosines and is_dense(text) != dense]
    return _logistic(constants.ACROSS_BASE + constants.ACROSS_FIT * max(others)) if others else 0.0


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-value))
