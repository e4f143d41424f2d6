"""A person's guidance is recognised between tasks, answers and thanks, in English and Japanese."""

import pytest

from bench.learning_sentences import FAULTS_AND_PLANS, GUIDANCE, OTHER
from omoide.learning.guidance import find_guidance, strip_lead
from omoide.learning.requests import find_requests


@pytest.mark.parametrize("message", GUIDANCE)
def test_guidance_is_found_and_keeps_its_words(message):
    found = [*(one.text for one in find_guidance(message)), *(one.content for one in find_requests(message))]
    assert found
    assert all(text.split()[-1] in message for text in found)


@pytest.mark.parametrize("message", [*OTHER, *FAULTS_AND_PLANS])
def test_tasks_questions_reports_and_thanks_are_no_guidance(message):
    assert find_guidance(message) == []


@pytest.mark.parametrize(
    ("message", "kind", "text"),
    [
        ("No, don't edit migrations, they ran in prod.", "correction", "don't edit migrations, they ran in prod."),
        ("That's wrong. The queue is SQS, not RabbitMQ.", "correction", "The queue is SQS, not RabbitMQ."),
        ("ok. うちはコミットメッセージは英語。", "convention", "うちはコミットメッセージは英語。"),
        ("違う、設定は config/app.toml に置くこと。", "correction", "設定は config/app.toml に置くこと。"),
        ("そうじゃなくて、日付は UTC で持つ。", "correction", "日付は UTC で持つ。"),
        ("we decided against GraphQL", "decision", "we decided against GraphQL"),
        ("the test db listens on 5544", "environment", "the test db listens on 5544"),
    ],
)
def test_the_words_at_the_beginning_tell_a_correction_and_are_left_out(message, kind, text):
    assert [(one.kind, one.text) for one in find_guidance(message)] == [(kind, text)]


def test_the_sentence_that_explains_stays_with_what_it_explains():
    (found,) = find_guidance("keep the file in Shift_JIS. otherwise their system cannot read it. rename it")
    assert found.text == "keep the file in Shift_JIS. otherwise their system cannot read it."
    (found,) = find_guidance("リトライは3回まで。それ以上は電池がもたない。ありがとう")
    assert found.text == "リトライは3回まで。 それ以上は電池がもたない。"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            "exit codes matter, people script this: 0 nothing found, 1 duplicates, 2 error. dont change those",
            "exit codes matter, people script this: 0 nothing found, 1 duplicates, 2 error. dont change those",
        ),
        ("add both, texts live in locales/*.json", "texts live in locales/*.json"),
        ("写真は長辺1600pxに縮小してから送ること。", "写真は長辺1600pxに縮小してから送ること。"),
    ],
)
def test_a_rule_has_the_words_that_it_is_about_and_no_task(message, text):
    assert [one.text for one in find_guidance(message)] == [text]


def test_what_to_use_instead_stays_with_what_is_forbidden():
    message = "docker isn't allowed on this laptop. use the shared dev postgres on pgdev.intern"
    assert [one.text for one in find_guidance(message)] == [message]


def test_an_answer_with_a_reason_decides_what_was_asked():
    answer = "staging. three marts read from it, and nobody wants the same query three times"
    assert find_guidance(answer) == []
    (found,) = find_guidance(answer, is_answer=True)
    assert (found.kind, found.text) == ("decision", answer)
    for other in ("yes please, go ahead", "ok", "sure, do both", "はい、お願いします"):
        assert find_guidance(other, is_answer=True) == []


def test_the_first_message_states_a_task_and_only_general_words_count():
    assert find_guidance("the export reads from `orders.csv` and the totals are off", is_first=True) == []
    (found,) = find_guidance("find out why. hands off the raw tables, they are append-only", is_first=True)
    assert found.text == "hands off the raw tables, they are append-only"


def test_quoted_lines_and_code_are_not_the_persons_words():
    assert find_guidance("> never use npm here\nwhat does this mean?\n```\n# always use npm\n```") == []


@pytest.mark.parametrize(
    ("sentence", "refuses", "rest"),
    [
        ("no co-author trailer please", False, "no co-author trailer please"),
        ("No, use X", True, "use X"),
        ("ok, no: use X", True, "use X"),
        ("いや、X にして", True, "X にして"),
        ("now use X", False, "now use X"),
    ],
)
def test_a_refusal_is_distinguished_from_other_words_with_no(sentence, refuses, rest):
    assert strip_lead(sentence) == (refuses, rest)
