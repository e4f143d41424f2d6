"""The steps of a search that need no store."""

import ast
import inspect
from math import nextafter
from pathlib import Path

import pytest
from msgspec.structs import replace

from omoide.model import Query, Scope
from omoide.retrieval import confidence, constants, hybrid, lexical, pipeline, query_parts, sessions
from omoide.storage.base import RankingFacts

SHOP = Scope.project("shop")
WORST = RankingFacts(10, False, "", 0.0, 0.0, 0, 1e9)
BEST = RankingFacts(10, False, "", 1.0, 1.0, constants.NUDGE_FULL_USE, 0.0)


def test_the_tie_window_is_as_wide_as_the_largest_nudge() -> None:
    largest = lexical.nudge(BEST.confidence, BEST.relevance, BEST.reference_count, BEST.days)
    assert pytest.approx(largest) == constants.MAX_NUDGE
    least = lexical.nudge(WORST.confidence, WORST.relevance, WORST.reference_count, WORST.days)
    just_inside, just_outside = 1.0001 * least / largest, 0.9999 * least / largest
    facts = {1: WORST, 2: BEST}
    assert [*pipeline.order(Query(SHOP, "x", limit=1), facts, {1: 1.0, 2: just_inside})] == [2]
    assert [*pipeline.order(Query(SHOP, "x", limit=1), facts, {1: 1.0, 2: just_outside})] == [1]


def test_on_a_tie_the_nearest_scope_comes_first_and_then_the_newest() -> None:
    own, other = replace(WORST, session="monday"), replace(WORST, session="friday")
    facts = {1: replace(WORST, everywhere=True), 2: other, 3: WORST, 4: own, 5: WORST}
    query = Query(Scope.session("shop", "monday"), "x", limit=9)
    assert [*pipeline.order(query, facts, dict.fromkeys(facts, 1.0))] == [5, 4, 3, 2, 1]


def test_no_scores_give_no_order() -> None:
    assert [*pipeline.order(Query(SHOP, "x"), {}, {})] == []


def test_without_a_common_term_a_memory_is_found_from_the_least_cosine_and_deviation_on() -> None:
    cosine, deviation = constants.MIN_COSINE, constants.MIN_DEVIATIONS
    words = lexical.LexicalScores({1: 0.0, 2: 0.0, 3: 0.0}, {1: 0.0, 2: 0.0, 3: 0.0})
    features = hybrid.SemanticFeatures(
        {1: cosine, 2: nextafter(cosine, 0), 3: cosine},
        {1: deviation, 2: deviation, 3: nextafter(deviation, 0)},
    )
    shares = hybrid.combined_shares(words, 1.0, {}, features, 50.0)
    assert [number for number, share in shares.items() if share > 0] == [1]
    assert (cosine, deviation) == (0.25, 1.0)


def test_the_scoring_modules_read_no_store() -> None:
    """Scoring gets values: a transaction is read by the pipeline, by candidates and by vector_query alone."""
    for module in (lexical, hybrid, query_parts, sessions, confidence):
        assert "tx" not in {node.arg for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.arg)}
    source = Path(inspect.getfile(pipeline)).read_text(encoding="utf-8")
    steps = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    for step in ("analyse", "score", "order", "explain"):
        assert "tx" not in {argument.arg for argument in steps[step].args.args}
    assert all((node.end_lineno or 0) - node.lineno < 25 for node in steps.values())
