"""How sure an answer is, by what speaks for it."""

import pytest

from omoide.retrieval import confidence, lexical
from omoide.retrieval.confidence import MatchEvidence
from omoide.retrieval.query_parts import NO_PARTS, QueryParts


@pytest.mark.parametrize("semantic", [False, True])
def test_more_of_the_question_is_more_sure_and_more_memories_are_less(semantic):
    values = [confidence.probability(MatchEvidence(fit, 4, 1_000, semantic=semantic)) for fit in (0.0, 0.3, 0.6, 1.0)]
    assert values == sorted(values)
    assert values[0] < 0.01
    assert values[-1] > 0.9
    few, many = (confidence.probability(MatchEvidence(0.5, 4, entries, semantic=semantic)) for entries in (10, 100_000))
    assert few > many


def test_no_evidence_and_no_memories_are_no_error():
    assert confidence.probability(confidence.evidence_by_words({}, 0, 0)) < 0.01
    assert confidence.probability(confidence.evidence_by_vectors({}, {}, (), 0, 0)) < 0.01


def test_in_a_large_store_the_evidence_of_terms_is_their_weight():
    asked, frequencies = {"pnpm": 1.0, "manag": 1.0}, {"pnpm": 2}
    weights = lexical.term_weights(asked, frequencies, 5_000)
    assert confidence.term_evidence(asked, weights, frequencies, NO_PARTS, 5_000, words_only=True) is weights


def test_in_a_small_store_a_known_word_counts_almost_as_much_as_an_unknown_one():
    asked, frequencies = {"pnpm": 1.0, "manag": 1.0}, {"pnpm": 1}
    weights = lexical.term_weights(asked, frequencies, 1)
    evidence = confidence.term_evidence(asked, weights, frequencies, NO_PARTS, 1, words_only=True)
    assert weights["pnpm"] / sum(weights.values()) < 0.2
    assert 0.4 < evidence["pnpm"] / sum(evidence.values()) < 0.5


def test_japanese_words_count_as_one_term_where_no_memory_has_any_of_them():
    asked = {"ffmpeg": 1.0, "動画": 1.0, "画変": 1.0, "変換": 1.0, "する": 0.5}
    parts = QueryParts([["動画", "画変", "変換"], ["する"]], {"ffmpeg"})
    weights = lexical.term_weights(asked, {"ffmpeg": 3}, 2_000)
    evidence = confidence.term_evidence(asked, weights, {"ffmpeg": 3}, parts, 2_000, words_only=True)
    assert len(evidence) == 2
    assert evidence["ffmpeg"] == weights["ffmpeg"]
    known = {"ffmpeg": 3, "変換": 1}
    assert confidence.term_evidence(asked, weights, known, parts, 2_000, words_only=True) is weights


def test_a_text_in_another_script_is_judged_by_its_cosine_alone():
    texts = {1: "請求書は毎月一日に送る", 2: "Invoices are sent on the first"}
    assert confidence.across_languages("when are invoices sent", texts, {1: 0.5, 2: 0.9}) > 0.9
    assert confidence.across_languages("when are invoices sent", texts, {1: 0.25, 2: 0.9}) < 0.01
    assert confidence.across_languages("when are invoices sent", {2: texts[2]}, {2: 0.9}) == 0.0
    assert confidence.across_languages("請求書はいつ送る", texts, {2: 0.5}) > 0.9
