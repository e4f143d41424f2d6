"""What a person says in passing is found by many weak signs, and kept with the sentences that belong to it."""

import pytest

from omoide.learning.candidates import extract
from omoide.learning.message_statements import SpokenContext, find_statements
from omoide.learning.transcript import Speaker, Turn
from omoide.service.candidate_store import CONFIDENT


def texts(message, **context):
    return [one.text for one in find_statements(message, SpokenContext(**context))]


@pytest.mark.parametrize(
    "message",
    [
        "the nightly export lands in /srv/feeds/out, the warehouse picks it up from there at 04:00",
        "invoices older than ten years sit on the tape library, only Ingrid can mount those",
        "customs wants the HS code with dots, so 8471.30 and not 847130",
        "経費の承認は部長の大西さんが見てる、3万円を超えるものだけ",
        "検証用の端末はロッカーの3番に入ってる。充電器は型番違いだと焼けるので純正だけ",
        "うちの本番は ap-northeast-3 なので、リージョンを書くときは大阪で",
    ],
)
def test_how_things_are_here_is_found_without_a_phrase_that_marks_it(message):
    assert texts(message)


@pytest.mark.parametrize(
    "message",
    [
        "can you look at the export job",
        "hm, let me see",
        "the list is empty again after the last deploy",
        "great, that works now",
        "I was going to say we use Kafka here, but scratch that",
        "ちょっと休憩してくる",
        "ビルドがさっきから通らない",
        "じゃあ次はログイン画面を直して",
        "本番はRedisにしようと思ったけど、やっぱりやめ",
    ],
)
def test_tasks_reports_and_what_is_taken_back_are_left_out(message):
    assert texts(message) == []


@pytest.mark.parametrize(
    ("message", "look_alike"),
    [
        (
            "Our first version always crashed when grandma opened it.",
            "The first version must always stay installable, grandma never updates.",
        ),
        (
            "Row 14 should say 320 but it shows 32.",
            "Row 14 is always the total, the importer depends on it.",
        ),
        (
            "We are still discussing with the printer whether it should be A4 or letter.",
            "It has to be A4, the printer in Gera has no letter tray.",
        ),
        (
            "the tests passed locally, so it must be something with the cache on CI",
            "the buffer must be a multiple of 8, the DMA needs it",
        ),
        (
            "although the lake is green now, which is a political statement I don't want to make",
            "no green for the lake, I don't want political statements on the map",
        ),
        (
            "man I hate that log, it's a scanned fax",
            "I hate abbreviations in variable names, write them out",
        ),
        (
            "うちの患者さん、時間より早く来る人ばっかりなんですよ",
            "うちの患者番号は6桁で、先頭の0も残します",
        ),
        (
            "前任者のスクリプトだとここが手作業で、毎回泣きそうでした。",
            "前任者のスクリプトは毎回手作業で流すので、cronには入れない。",
        ),
        (
            "合計が1,204になるべきところ1,198になってます。",
            "合計が合わないときは経理の数字を正とする。",
        ),
        (
            "A4にするかB5にするかは印刷屋さんと話してるところです。",
            "A4固定です、印刷屋さんがB5を扱ってないので。",
        ),
        (
            "梁は本当は30本くらいあるんだけどな。",
            "梁は30本あるけど、図面に載せるのは構造の12本だけ。",
        ),
        (
            "手元では通ったので、CIのキャッシュ周りじゃないかと。",
            "CIのキャッシュはlockファイルで決まるので、手で消さないで。",
        ),
    ],
)
def test_statements_about_the_moment_are_left_out_and_similar_ones_are_kept(message, look_alike):
    assert texts(message) == []
    assert texts(look_alike) == [look_alike]


def test_a_short_reason_is_left_out_with_the_task_that_it_explains():
    assert texts("止めてください。もう結果は出てるので") == []
    (text,) = texts("うん、IDだけで。患者情報を外部サービスに出すのは契約上NGだから")
    assert "契約上NG" in text


def test_a_general_word_alone_does_not_keep_a_sentence_after_the_first_message():
    message = "それそれ、新しい端末でいつもハマるやつ。"
    assert texts(message) == []
    assert texts("日付はいつも西暦で出しています。", is_first=True)


def test_the_story_behind_a_rule_stays_with_it():
    message = "never run the vacuum on the primary. last time it locked the orders table for an hour"
    assert texts(message) == [message]
    message = "本番で VACUUM FULL は絶対に流さないこと。去年それで受注テーブルが1時間止まった。"
    assert texts(message) == ["本番で VACUUM FULL は絶対に流さないこと。 去年それで受注テーブルが1時間止まった。"]


def test_a_statement_that_points_back_keeps_the_sentence_it_points_to():
    (text,) = texts(
        "some rows in the feed have no currency. the ledger import drops those silently, so every row we send needs one"
    )
    assert "no currency" in text
    assert "ledger import" in text


def test_a_question_after_a_statement_is_cut_off():
    (text,) = texts("変更した人は docs/CHANGES.md に1行足すルールなんだけど、それは入ってる?")
    assert text == "変更した人は docs/CHANGES.md に1行足すルールなんだけど"


def test_a_credential_is_never_kept_with_what_stands_beside_it():
    found = texts("the staging host is db7.intern, port 5544. it wants the login ops / Zk9#qLw82Vt7x")
    assert found
    assert not any("Zk9" in text for text in found)


def test_an_explanation_right_after_a_failed_command_counts_for_more():
    asked = Turn(Speaker.PERSON, "Run the import please.", 1)
    ran = Turn(Speaker.COMMAND, "./import.sh", 2, "Bash", "a")
    failed = Turn(Speaker.OUTPUT, "Exit code 1\nerror: no route to host", 3, "Bash", "a", True)
    explained = Turn(Speaker.PERSON, "ah, the VPN profile of the lab is not the default one", 4)
    assert len(extract([asked, ran, failed, explained]).candidates) == 1
    assert extract([asked, explained]).candidates == []


def test_what_only_weak_signs_show_waits_to_be_confirmed():
    talk = [
        Turn(Speaker.PERSON, "Hello there.", 1),
        Turn(Speaker.PERSON, "customs wants the HS code with dots, so 8471.30 and not 847130", 2),
        Turn(Speaker.PERSON, "We never mock the database in this repo.", 3),
    ]
    confidence = [one.confidence for one in extract(talk).candidates]
    assert len(confidence) == 2
    assert confidence[0] < CONFIDENT <= confidence[1]


def test_what_explains_a_request_is_no_statement_of_its_own():
    talk = [
        Turn(Speaker.PERSON, "Hello there.", 1),
        Turn(
            Speaker.PERSON, "From now on, name the branches after the ticket. I don't want to hear about it from QA again", 2
        ),
    ]
    (found,) = extract(talk).candidates
    assert "branches" in found.text
