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
    ("message", "rule"),
    [
        ("You keep forgetting this: the unit is kPa.", "kPa"),
        ("How many times must I say it, no abbreviations in titles.", "abbreviations"),
        ("I'm tired of correcting that. Dates start with the year.", "year"),
        ("何度も同じことを言わせないで、と言いたいけど。前にも言いましたが、宛名は「御中」です。", "御中"),
        ("税抜で表示して。毎回直すのが面倒なので。", "税抜"),
    ],
)
def test_who_complains_of_repeating_a_rule_wants_it_kept(message, rule):
    assert rule in " ".join(request.content for request in find_requests(message))


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ("Titles in sentence case, and this will never change.", "sentence case"),
        ("Round to two decimals. Now and forever.", "two decimals"),
        ("見出しは体言止め、これはもう変えません。", "体言止め"),
        ("議事録の宛先は総務課。次の会議でもこれ前提で。", "総務課"),
        ("画像の幅は800px。未来永劫。", "800px"),
        ("原稿料は税込で計算する。みんなで決めたことだから。", "税込"),
    ],
)
def test_a_closing_that_says_that_something_holds_for_good_makes_a_rule_of_what_is_before_it(message, rule):
    assert rule in " ".join(request.content for request in find_requests(message))


@pytest.mark.parametrize(
    ("message", "is_rule"),
    [
        ("When you write letters for me, leave two lines for the signature.", True),
        ("When you have the result, send it to Kai.", False),
        ("Whenever you're ready, restart the worker.", False),
        ("Every time a customer cancels, the seat must be freed.", False),
        ("見積書を作成するときは送料も入れてください。", True),
        ("何かを削除する前には私に聞いてください。", True),
        ("ログインするたびに背景色を変えてください。", False),
        ("起動するたびに必ず更新を確認する機能を付けてください。", False),
    ],
)
def test_an_order_for_each_time_is_a_rule_unless_a_program_does_it(message, is_rule):
    assert bool(find_requests(message)) is is_rule


@pytest.mark.parametrize(
    "message",
    [
        "// TODO: remember that this is never called\nIs this still true?",
        "[INFO] policy: always retry, never drop\nWhere is this set?",
        "I was going to ask you to remember the new port, but it changed again.",
        "I've decided to have dinner first, please go on with the tests.",
        "Our competitor announced that from now on they ship for free.",
        "ユーザーが次から迷わないように、説明を付けてください。",
        "今後ミスを減らしたいので、チェックリストを作ってください。",
        "毎回手で直すのが大変なので、自動化してもらえますか?",
    ],
)
def test_code_logs_plans_and_what_others_do_ask_to_keep_nothing(message):
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
