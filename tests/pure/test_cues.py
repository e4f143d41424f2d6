"""Cues: how a message is phrased tells whether it is about a project at all."""

import pytest

from omoide.routing.cues import find_cues


@pytest.mark.parametrize(
    "message",
    [
        "yes, go ahead",
        "same error, try it with the second approach",
        "please rename the helper",
        "still failing",
        "did we decide on a metric?",
        "why is `parse_line` slow",
        "src/core/loop.ts throws a KeyError",
        "thanks, that was quick",
        "さっきの続きをお願いします",
        "差分をもう一回見せて",
        "元に戻してください",
        "テスト通った?",
        "ありがとう、助かりました",
    ],
)
def test_the_continuation_of_work_is_recognised(message):
    assert find_cues(message).is_work


@pytest.mark.parametrize(
    "message",
    [
        "how do I get red wine out of a carpet",
        "what's the difference between a mutex and a semaphore?",
        "Hi, can I freeze cooked rice?",
        "any recommendations for a documentary tonight",
        "I'm thinking of learning the cello",
        "鎌倉でおすすめの散歩道は?",
        "ジャガイモの保存方法を教えて",
        "俳句と川柳の違いを知りたい",
        "自分でも作ってみたい。何から始める?",
    ],
)
def test_a_question_of_general_knowledge_is_recognised(message):
    cues = find_cues(message)
    assert cues.asks_general
    assert not cues.is_work


@pytest.mark.parametrize(
    "message",
    ["Good evening!", "thanks a lot, see you on Monday", "I'm tired", "お疲れさまでした", "そろそろ帰ります", "ただいま〜"],
)
def test_a_greeting_is_recognised_and_its_thanks_are_no_work(message):
    cues = find_cues(message)
    assert cues.greets
    assert not cues.is_work


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("My daughter's birthday is near", ("daughter", "birthday")),
        ("my old car makes a noise", ("old car",)),
        ("the car of the train is empty", ()),
        ("娘の誕生日に何を贈ろう", ("娘", "誕生日")),
        ("母数と父兄は別の語", ()),
        ("the tests of the parser are red", ()),
    ],
)
def test_words_of_private_life_are_found_where_they_are_words_of_their_own(message, words):
    assert find_cues(message).private == words


@pytest.mark.parametrize("message", ["", "🎉", "the parser drops a token", "木曜の枠が表示されない"])
def test_a_plain_statement_has_no_cue(message):
    cues = find_cues(message)
    assert (cues.changes_topic, cues.is_work, cues.asks_general, cues.greets, cues.private) == (
        False,
        False,
        False,
        False,
        (),
    )
