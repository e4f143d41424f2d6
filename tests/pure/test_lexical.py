"""What comes first, and why."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given, strategies as st

from omoide.retrieval import constants, lexical


def lexical_scores(worth: dict[str, float], postings: dict[str, list[Any]], *rest: Any) -> lexical.LexicalScores:
    """Given as postings: a memory, and how often it holds the term in its topic, its tags and its content."""
    return lexical.lexical_scores(worth, {term: term_postings(its) for term, its in postings.items()}, *rest)


def term_postings(postings: list[Any]) -> lexical.TermPostings:
    return lexical.TermPostings([its[0] for its in postings], {its[0]: its[1:] for its in postings if its[1:] != (0, 0, 1)})


def scores_of(*asked: Any) -> dict[int, float]:
    return lexical_scores(*asked).scores


def ranking(scores: dict[int, float]) -> list[int]:
    return sorted(scores, key=lambda number: -scores[number])


def test_rare_terms_weigh_more_and_no_weight_is_negative() -> None:
    assert lexical.idf(1, 1000) > lexical.idf(100, 1000) > lexical.idf(1000, 1000) > 0
    assert lexical.idf(1001, 1000) > 0  # counts may run ahead of each other while others write


def test_rare_terms_are_searched_first_and_unknown_ones_never() -> None:
    terms = lexical.select_terms(
        {"common": 1.0, "rare": 1.0, "weak": 0.1, "unknown": 1.0}, {"common": 50, "rare": 2, "weak": 2}, 100
    )
    assert [term.text for term in terms] == ["rare", "common", "weak"]


def test_terms_common_in_a_large_store_are_not_searched() -> None:
    terms = lexical.select_terms({"the": 1.0, "pnpm": 1.0}, {"the": 90_000, "pnpm": 40}, 100_000)
    assert [term.text for term in terms] == ["pnpm"]


def test_a_small_store_is_searched_by_all_terms() -> None:
    assert len(lexical.select_terms({"a": 1.0, "b": 1.0}, {"a": 199, "b": 150}, 199)) == 2


def test_fewer_postings_are_read_beside_semantic_search() -> None:
    frequencies = {"pnpm": 900, "build": 1_000}
    asked = dict.fromkeys(frequencies, 1.0)
    assert len(lexical.select_terms(asked, frequencies, 10_000)) == 2
    assert [term.text for term in lexical.select_terms(asked, frequencies, 10_000, words_only=False)] == ["pnpm"]


def test_if_all_terms_are_common_the_rarest_is_searched() -> None:
    terms = lexical.select_terms({"the": 1.0, "of": 0.1}, {"the": 90_000, "of": 80_000}, 100_000)
    assert [term.text for term in terms] == ["of"]


def test_a_long_query_is_searched_by_few_terms() -> None:
    many = {f"t{i:03}": 1.0 for i in range(300)}
    assert len(lexical.select_terms(many, dict.fromkeys(many, 1), 1000)) == constants.MAX_SEARCH_TERMS


def test_a_word_in_the_topic_weighs_more_than_in_the_tags_and_there_more_than_in_the_content() -> None:
    postings = {"a": [(1, 0, 0, 1), (2, 0, 1, 0), (3, 1, 0, 0)]}
    assert ranking(scores_of({"a": 1.0}, postings, {1: 50, 2: 50, 3: 50}, 50.0)) == [3, 2, 1]


def test_repeated_words_have_diminishing_returns() -> None:
    counts = (1, 2, 100, 101)
    score = scores_of({"a": 1.0}, {"a": [(count, 0, 0, count) for count in counts]}, dict.fromkeys(counts, 50), 50.0)
    assert score[2] - score[1] > score[101] - score[100] > 0
    assert score[101] < 1


def test_a_word_weighs_more_in_a_short_text() -> None:
    assert ranking(scores_of({"a": 1.0}, {"a": [(1, 0, 0, 1), (2, 0, 0, 1)]}, {1: 500, 2: 10}, 50.0)) == [2, 1]


def test_matching_the_whole_query_beats_repeating_a_part_of_it() -> None:
    scores = scores_of(
        {"pnpm": 2.0, "lockfile": 2.0},
        {"pnpm": [(1, 0, 0, 1), (2, 0, 0, 9)], "lockfile": [(1, 0, 0, 1)]},
        {1: 20, 2: 20},
        20.0,
    )
    assert ranking(scores) == [1, 2]


def test_coverage_depends_on_neither_count_nor_length() -> None:
    found = lexical_scores(
        {"a": 3.0, "b": 1.0}, {"a": [(1, 0, 0, 1), (2, 0, 0, 9)], "b": [(2, 0, 0, 1)]}, {1: 500, 2: 5, 3: 5}, 50.0
    )
    assert found.covered == {1: 0.75, 2: 1.0, 3: 0.0}


def test_an_unknown_term_lowers_all_scores_and_keeps_the_order() -> None:
    postings, lengths = {"a": [(1, 0, 0, 1), (2, 0, 0, 3)]}, {1: 20, 2: 20}
    without = scores_of({"a": 2.0}, postings, lengths, 20.0)
    beside = scores_of({"a": 2.0, "nowhere": 6.0}, postings, lengths, 20.0)
    assert ranking(without) == ranking(beside)
    assert all(beside[number] < without[number] for number in without)


def test_the_first_pass_sums_the_weights_of_the_terms() -> None:
    assert lexical.rough_scores({"rare": 5.0, "known": 2.0}, {"rare": [7], "known": [8, 7]}) == {7: 7.0, 8: 2.0}


def test_an_empty_query_and_an_empty_result_are_valid() -> None:
    assert lexical.select_terms({}, {}, 0) == []
    assert lexical.term_weights({}, {}, 0) == {}
    assert lexical.rough_scores({}, {}) == {}
    assert scores_of({}, {}, {}, 0.0) == {}


def test_confidence_relevance_use_and_recency_break_ties() -> None:
    plain = lexical.nudge(0.5, 0.5, 0, 90)
    assert lexical.nudge(0.9, 0.5, 0, 90) > plain
    assert lexical.nudge(0.5, 0.9, 0, 90) > plain
    assert lexical.nudge(0.5, 0.5, 5, 90) > plain
    assert lexical.nudge(0.5, 0.5, 0, 1) > plain > lexical.nudge(0.5, 0.5, 0, 1000)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 10**9), st.floats(-10, 1e6))
def test_a_nudge_never_outweighs_the_text_score(confidence: float, relevance: float, references: int, days: float) -> None:
    nudges = lexical.nudge(confidence, relevance, references, days), lexical.nudge(0.5, 0.5, 0, 90)
    assert 0.9 <= min(nudges) <= max(nudges) <= constants.MAX_NUDGE <= 1.1


@pytest.mark.parametrize(("n", "df"), [*product((0, 1, 10**6), repeat=2)])
def test_every_combination_of_counts_has_a_score(n: int, df: int) -> None:
    assert lexical.term_weights({"a": 1.0}, {"a": df}, n)["a"] > 0
