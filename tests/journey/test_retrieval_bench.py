"""What `python -m bench.retrieval --semantic` says of a set, and when it fails."""

import sys

import pytest

from bench import retrieval
from omoide import Scope

SHOP = Scope.project("shop")
TEXTS = (
    "The cat sleeps on the warm window sill",
    "Use pnpm to install packages",
    "Invoices go out on the first of the month",
)


@pytest.fixture
def measure(monkeypatch, tmp_path, capsys):
    """The answer and the cells of the line of a small set, two of whose three questions have no word of their text."""
    questions = [
        retrieval.Question(text, SHOP, frozenset({id}))
        for text, id in (("kitty napping", "0"), ("パッケージをインストールする", "1"), ("invoices", "2"))
    ]
    texts = [(str(number), text, SHOP, None) for number, text in enumerate(TEXTS)]
    monkeypatch.setattr(retrieval, "DATA", tmp_path)
    monkeypatch.setattr(retrieval, "tasks", lambda: iter([retrieval.Task("small", texts, questions)]))
    monkeypatch.setitem(retrieval.CLAIMS, "small", {})
    monkeypatch.setitem(retrieval.SEMANTIC, "small", {"R@1": 0.9})
    monkeypatch.setattr(sys, "argv", ["bench.retrieval", "--semantic"])

    def run():
        answer = retrieval.main()
        heads, _, line = ([cell.strip() for cell in row.split("|")[1:-1]] for row in capsys.readouterr().out.splitlines())
        return answer, heads, line

    return run


def test_semantic_and_word_results_are_shown_side_by_side(measure):
    answer, heads, line = measure()
    assert heads[:8] == ["set", "questions", "R@1", "words", "±", "R@10", "words", "±"]
    assert line[:8] == ["small", "3", "1.000", "0.333", "+0.667", "1.000", "0.333", "+0.667"]
    assert line[-1] == "✓"
    assert answer == 0


def test_a_set_where_vectors_do_worse_than_words_fails(measure, monkeypatch):
    monkeypatch.setattr(retrieval, "LOSS", -0.67)  # as if words alone had found almost everything
    answer, _, line = measure()
    assert line[-1] == "✗"
    assert answer == 1
