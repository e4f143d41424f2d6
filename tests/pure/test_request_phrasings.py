"""Several hundred ways to ask that something be remembered, and to ask for something else, in English and Japanese."""

import json
from pathlib import Path

import pytest

from omoide.learning.requests import find_requests
from omoide.retrieval import analyzer

PHRASINGS = [
    json.loads(line) for line in Path(__file__).with_name("request_phrasings.jsonl").read_text("utf-8").splitlines()
]
ASKING = [(each["message"], each["remember"]) for each in PHRASINGS if each["remember"]]
OTHER = [each["message"] for each in PHRASINGS if not each["remember"]]


@pytest.mark.parametrize(("message", "wanted"), ASKING)
def test_what_a_phrasing_asks_to_keep_is_found_with_most_of_its_words(message, wanted):
    kept = analyzer.terms(" ".join(request.content for request in find_requests(message)))

    terms = set(analyzer.query_terms(wanted))
    assert len(terms.intersection(kept)) >= len(terms) / 2


@pytest.mark.parametrize("message", OTHER)
def test_a_task_a_question_or_an_account_asks_to_keep_nothing(message):
    assert find_requests(message) == []


@pytest.mark.parametrize(
    ("message", "task"),
    [
        ("Prod is on 5433. Remember that. Now fix the login page.", "login"),
        ("Don't forget that the API is frozen, and fix chart.py please.", "chart"),
        ("I told you: amounts are in cents. Keep that in mind. Can you rerun the export?", "export"),
        ("From now on use tabs. Rename the helper in util.py.", "helper"),
        ("本番は5433です。覚えておいて。ではログイン画面を直してください。", "ログイン"),
        ("今後はタブで書いてください。それと util.py の関数名を変えて。", "util"),
        ("単位はミリです。ずっとこれで。グラフの色も直しといて。", "グラフ"),
    ],
)
def test_the_task_next_to_a_request_is_not_kept(message, task):
    kept = " ".join(request.content for request in find_requests(message))

    assert kept
    assert task not in kept


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        (
            "No emojis in release notes from now on. Marketing complained.",
            ["No emojis in release notes Marketing complained."],
        ),
        (
            "Remember these:\n- ports start at 9000\n- logs go to /var/log\n\nNow run it.",
            ["ports start at 9000 logs go to /var/log"],
        ),
        ("以下をメモしておいて。\n・締め日は20日\n・支払は翌月末\n\nでは見積もりを作って", ["締め日は20日 支払は翌月末"]),
    ],
)
def test_a_reason_and_a_list_belong_to_what_is_kept(message, kept):
    assert [request.content for request in find_requests(message)] == kept
