"""Unrelated words: those of a message that neither a project uses nor talk about any software."""

import pytest

from omoide.retrieval.project_search import MessageMatches, ProjectFit
from omoide.retrieval.query_parts import query_parts
from omoide.routing.message_words import message_words
from omoide.routing.unrelated_words import find_unrelated_words


def find_words(message: str, used: tuple[str, ...] = ()) -> list[str]:
    weights = {name: word.weight for name, word in message_words(message).items()}
    projects = {"shop": ProjectFit(dict.fromkeys(used, 0.1), None, 10)}
    return [*find_unrelated_words(MessageMatches(weights, query_parts(message).compounds, projects, semantic=False))]


@pytest.mark.parametrize(
    "message",
    [
        "rename the helper and squash the commits",
        "hmm, the build is red again",
        "line 40 looks wrong",
        "差分を見せて",
        "例外処理が足りない",
        "コミットメッセージを直して",
        "2番目の案でお願いします",
        "",
    ],
)
def test_talk_about_any_software_has_no_unrelated_word(message):
    assert find_words(message) == []


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("is there protein in tofu", ["tofu", "protein"]),
        ("ハワイの時差はいくつ", ["時差", "ハワイ"]),
        ("the samovar drops a token", ["samovar"]),
    ],
)
def test_other_words_are_unrelated(message, words):
    assert sorted(find_words(message)) == sorted(words)


def test_a_word_that_a_project_uses_is_not_unrelated():
    assert find_words("is there protein in tofu", used=("tofu",)) == ["protein"]
    assert find_words("ハワイの時差はいくつ", used=("ハワイ", "時差")) == []
