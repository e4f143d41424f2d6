"""Which terms of a question belong together, and what they are worth."""

import pytest

from omoide.retrieval import analyzer, constants
from omoide.retrieval.query_parts import NO_PARTS, QueryParts, key_terms, query_parts, weigh


def test_a_compound_has_its_pairs_its_characters_and_the_pair_at_its_border():
    parts = query_parts("zq7 携帯アプリはどう")
    assert [set(compound) & set(analyzer.terms("携帯アプリはどう")) for compound in parts.compounds] == [
        {"携帯", "帯ア", "アプ", "プリ", "リは", "携", "帯"},
        {"はど", "どう"},
    ]
    assert set(parts.names) == {"zq7", "zq"} & set(analyzer.terms("zq7"))


@pytest.mark.parametrize("text", ["", "the mobile app of zq7", "Ünïcode café", "…！？"])
def test_a_text_without_compounds_has_no_parts(text):
    assert query_parts(text) == NO_PARTS


def test_every_term_of_a_question_is_in_a_compound_or_a_name():
    text = "pnpmを使用する config.yaml の設定はﾃｽﾄ第12号か"
    parts = query_parts(text)
    assert set(analyzer.terms(text)) <= {*parts.names, *(term for compound in parts.compounds for term in compound)}


def test_names_are_raised_and_a_compound_is_worth_less_than_the_sum_of_its_terms():
    parts = QueryParts([["携帯", "帯ア", "アプ"]], {"zq7"})
    weights = {"携帯": 4.0, "帯ア": 2.0, "アプ": 2.0, "zq7": 5.0}
    weighed = weigh(weights, parts, words_only=True)
    assert weighed["zq7"] == 5.0 * constants.NAME_BOOST
    assert sum(weighed[term] for term in parts.compounds[0]) == pytest.approx(4.0 + constants.COMPOUND_SUM * 4.0)
    assert weighed["携帯"] == 2 * weighed["アプ"]
    assert weigh(weights, parts, words_only=False) == {**weights, "zq7": 5.0 * constants.SEMANTIC_NAME_BOOST}


def test_a_term_of_two_compounds_is_lowered_once():
    weights = {"携帯": 4.0, "帯ア": 4.0}
    once = weigh(weights, QueryParts([["携帯", "帯ア"]]), words_only=True)
    assert weigh(weights, QueryParts([["携帯", "帯ア"], ["携帯", "帯ア"]]), words_only=True) == once


def test_a_key_is_rare_and_an_identifier_or_a_name_among_japanese_words():
    asked = {"zq7": 1.0, "docker": 1.0, "config": 0.3}
    rare = dict.fromkeys(asked, 2)
    assert key_terms(asked, rare, NO_PARTS, 100) == ["zq7"]
    assert key_terms(asked, rare, QueryParts([["設定"]], {"zq7", "docker", "config"}), 100) == ["zq7", "docker"]
    assert key_terms(asked, {"zq7": 3}, NO_PARTS, 100) == []
    assert key_terms(asked, {"zq7": 3}, NO_PARTS, 2_000) == ["zq7"]
    assert key_terms(asked, {}, NO_PARTS, 100) == []
