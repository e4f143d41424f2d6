"""What comes first, and why."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given, strategies as st

from omoide.retrieval import lexical


def met(worth: dict[str, float], postings: dict[str, list[Any]], *rest: Any) -> lexical.LexicalScores:
    """Given as postings: a memory, and how often it holds the term in its topic, its tags and its content."""
    return lexical.lexical_scores(worth, {term: held(its) for term, its in postings.items()}, *rest)


def held(postings: list[Any]) -> lexical.TermPostings:
    return lexical.TermPostings([its[0] for its in postings], {its[0]: its[1:] for its in postings if its[1:] != (0, 0, 1)})


def scored(*asked: Any) -> dict[int, float]:
    return met(*asked).scores


def ordered(scores: dict[int, float]) -> list[int]:
    return sorted(scores, key=lambda number: -scores[number])


def test_a_rare_term_says_more_than_a_common_one_and_none_says_less_than_nothing() -> None:
    assert lexical.idf(1, 1000) > lexical.idf(100, 1000) > lexical.idf(1000, 1000) > 0
    assert lexical.idf(1001, 1000) > 0  # counts may run ahead of each other while others write


def test_the_rarest_terms_are_searched_by_first_and_unknown_ones_not_at_all() -> None:
    terms = lexical.select_terms(
        {"common": 1.0, "rare": 1.0, "weak": 0.1, "unknown": 1.0}, {"common": 50, "rare": 2, "weak": 2}, 100
    )
    assert [term.text for term in terms] == ["rare", "common", "weak"]


def test_terms_in_a_large_share_of_a_large_store_are_not_searched_by() -> None:
    terms = lexical.select_terms({"the": 1.0, "pnpm": 1.0}, {"the": 90_000, "pnpm": 40}, 100_000)
    assert [term.text for term in terms] == ["pnpm"]


def test_a_small_store_is_searched_by_every_term() -> None:
    assert len(lexical.select_terms({"a": 1.0, "b": 1.0}, {"a": 199, "b": 150}, 199)) == 2


def test_beside_meaning_fewer_postings_are_read() -> None:
    frequencies = {"pnpm": 900, "build": 1_000}
    asked = dict.fromkeys(frequencies, 1.0)
    assert len(lexical.select_terms(asked, frequencies, 10_000)) == 2
    assert [term.text for term in lexical.select_terms(asked, frequencies, 10_000, alone=False)] == ["pnpm"]


def test_if_every_term_is_common_the_rarest_is_searched_by() -> None:
    terms = lexical.select_terms({"the": 1.0, "of": 0.1}, {"the": 90_000, "of": 80_000}, 100_000)
    assert [term.text for term in terms] == ["of"]


def test_however_long_the_query_few_terms_are_searched_by() -> None:
    many = {f"t{i:03}": 1.0 for i in range(300)}
    assert len(lexical.select_terms(many, dict.fromkeys(many, 1), 1000)) == lexical.TELLING


def test_a_word_in_the_topic_weighs_more_than_in_the_tags_and_there_more_than_in_the_content() -> None:
    postings = {"a": [(1, 0, 0, 1), (2, 0, 1, 0), (3, 1, 0, 0)]}
    assert ordered(scored({"a": 1.0}, postings, {1: 50, 2: 50, 3: 50}, 50.0)) == [3, 2, 1]


def test_repeating_a_word_helps_less_and_less() -> None:
    counts = (1, 2, 100, 101)
    score = scored({"a": 1.0}, {"a": [(count, 0, 0, count) for count in counts]}, dict.fromkeys(counts, 50), 50.0)
    assert score[2] - score[1] > score[101] - score[100] > 0
    assert score[101] < 1


def test_the_same_word_counts_for_more_in_a_short_text() -> None:
    assert ordered(scored({"a": 1.0}, {"a": [(1, 0, 0, 1), (2, 0, 0, 1)]}, {1: 500, 2: 10}, 50.0)) == [2, 1]


def test_a_text_that_meets_the_whole_query_beats_one_that_repeats_a_part_of_it() -> None:
    scores = scored(
        {"pnpm": 2.0, "lockfile": 2.0},
        {"pnpm": [(1, 0, 0, 1), (2, 0, 0, 9)], "lockfile": [(1, 0, 0, 1)]},
        {1: 20, 2: 20},
        20.0,
    )
    assert ordered(scores) == [1, 2]


def test_what_is_covered_depends_on_neither_count_nor_length() -> None:
    found = met({"a": 3.0, "b": 1.0}, {"a": [(1, 0, 0, 1), (2, 0, 0, 9)], "b": [(2, 0, 0, 1)]}, {1: 500, 2: 5, 3: 5}, 50.0)
    assert found.covered == {1: 0.75, 2: 1.0, 3: 0.0}


def test_a_term_that_no_text_holds_lowers_every_score_and_leaves_the_order() -> None:
    postings, lengths = {"a": [(1, 0, 0, 1), (2, 0, 0, 3)]}, {1: 20, 2: 20}
    without = scored({"a": 2.0}, postings, lengths, 20.0)
    beside = scored({"a": 2.0, "nowhere": 6.0}, postings, lengths, 20.0)
    assert ordered(without) == ordered(beside)
    assert all(beside[number] < without[number] for number in without)


def test_the_first_look_adds_up_what_the_terms_are_worth() -> None:
    assert lexical.rough_scores({"rare": 5.0, "known": 2.0}, {"rare": [7], "known": [8, 7]}) == {7: 7.0, 8: 2.0}


def test_nothing_asked_and_nothing_found_is_no_error() -> None:
    assert lexical.select_terms({}, {}, 0) == []
    assert lexical.term_weights({}, {}, 0) == {}
    assert lexical.rough_scores({}, {}) == {}
    assert scored({}, {}, {}, 0.0) == {}


def test_what_is_sure_useful_used_and_fresh_comes_first_among_equals() -> None:
    plain = lexical.nudge(0.5, 0.5, 0, 90)
    assert lexical.nudge(0.9, 0.5, 0, 90) > plain
    assert lexical.nudge(0.5, 0.9, 0, 90) > plain
    assert lexical.nudge(0.5, 0.5, 5, 90) > plain
    assert lexical.nudge(0.5, 0.5, 0, 1) > plain > lexical.nudge(0.5, 0.5, 0, 1000)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 10**9), st.floats(-10, 1e6))
def test_a_nudge_stays_a_nudge(confidence: float, relevance: float, references: int, days: float) -> None:
    nudges = lexical.nudge(confidence, relevance, references, days), lexical.nudge(0.5, 0.5, 0, 90)
    assert 0.9 <= min(nudges) <= max(nudges) <= lexical.MOST <= 1.1


@pytest.mark.parametrize(("n", "df"), [*product((0, 1, 10**6), repeat=2)])
def test_any_counts_give_a_worth(n: int, df: int) -> None:
    assert lexical.term_weights({"a": 1.0}, {"a": df}, n)["a"] > 0
