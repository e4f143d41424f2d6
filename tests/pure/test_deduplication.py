"""Which texts are the same, and which only look like it."""

import json
from pathlib import Path

import pytest

from omoide.lifecycle.comparison import Verdict, extract_features, judge

PAIRS = Path(__file__).resolve().parents[2] / "bench" / "contradictions.jsonl"


def verdict(one, other, similarity=0.99):
    return judge(extract_features(one), extract_features(other), similarity).verdict


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use pnpm to install packages", "use pnpm to install the packages."),
        ("The team is using pnpm", "The team uses pnpm"),
        ("Don't push to main", "Do not push to main!"),
        ("- Remove the five oldest files", "Delete 5 oldest files"),
        ("認証には JWT を採用", "認証にはJWTを採用。"),
        ("利用者はダークモードを好む", "利用者はダークモードを好みます"),
        ("ログはサーバーに残しています", "ログが、サーバに残している。"),
        ("会議には十二人が参加します", "会議には１２人が参加する"),
        ("認証を採用します", "認証を採用する"),
    ],
)
def test_texts_that_differ_only_in_form_are_the_same(one, other):
    assert verdict(one, other) is Verdict.SAME
    assert verdict(other, one) is Verdict.SAME


@pytest.mark.parametrize(
    "pair", [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()], ids=lambda pair: pair["b"][:40]
)
def test_a_contradiction_is_never_a_duplicate(pair):
    assert verdict(pair["a"], pair["b"], 1.0) is not Verdict.SAME
    assert verdict(pair["b"], pair["a"], 1.0) is not Verdict.SAME


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Сервер стоит в Москве", "Кот спит на окне"),
        ("서버는 서울에 있다", "고양이는 창가에서 잔다"),
        ("José leads the project", "Josè leads the project"),
        ("Retries must be < 5", "Retries must be > 5"),
        ("latency ≤ 100 ms", "latency ≥ 100 ms"),
        ("if x == 5 then retry", "if x != 5 then retry"),
        ("The license costs €500", "The license costs £500"),
        ("The build is 🟢", "The build is 🔴"),
        ("The timeout is 5 s", "The timeout is 5 m"),
        ("Latency budget is 5 μs", "Latency budget is 5 s"),
    ],
)
def test_single_characters_of_other_scripts_signs_and_units_count_as_facts(one, other):
    assert verdict(one, other, 1.0) is not Verdict.SAME
    assert verdict(other, one, 1.0) is not Verdict.SAME


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("The billing service calls the auth service", "The auth service calls the billing service", "another order"),
        ("東京から大阪へ移行した", "大阪から東京へ移行した", "another order"),
        ("Alice reports to Bob", "Bob reports to Alice", "another order"),
        ("Pass the port with -p", "Pass the port with -P", "another case: p"),
    ],
)
def test_reordered_words_are_reported(one, other, why):
    assert judge(extract_features(one), extract_features(other), 0.9).why == why


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API uses JWT", "JWT is used by the API"),
        ("The port is 8080", "The port is open"),
        ("A woman is playing the guitar", "A person is playing a guitar"),
        ("女性がジャガイモの皮をむく", "女性がジャガイモの皮をむいています"),
        ("He owns the repository", "She owns the repository"),
        ("担当はさくらです", "担当はすみれです"),
        ("倉庫で担当者が在庫を数える", "担当者が倉庫で在庫を数える"),
        ("The rate closed at 6.18 on Tuesday", "The rate closed at 6.32 on Monday"),
        ("Split sales.csv into parts of 100 lines", "Split orders.csv into parts of 9 lines"),
        ("窓口でスタッフが案内している", "窓口でスタッフリーダーが案内している"),
        ("会場でカメラマンが撮影している", "会場でカメラマニアが撮影している"),
        ("テーブルで話している人がいる", "ヘルメットをかぶって話している人がいる"),
        ("search for the files a.txt in the folder", "search for the file b.txt in the folder"),
        ("The girl is feeding the horse", "The woman is feeding the horse"),
    ],
)
def test_what_one_text_leaves_out_or_words_otherwise_is_no_contradiction_and_not_merged(one, other):
    assert verdict(one, other, 0.9) not in (Verdict.CONTRADICTS, Verdict.SAME)


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("男性がピアノを弾いている", "男性はバイオリンを弾いている", "other names"),
        ("サーバーはアマゾンに置く", "サーバーはグーグルに置く", "other names"),
        ("Copy file.txt to each directory", "Copy file.dat to each directory", "other names"),
        ("The index rose 7.4 points", "The index was up 25.3 points", "other numbers"),
        ("The man is feeding the horse", "The boy is feeding the horse", "opposites: man, boy"),
    ],
)
def test_what_stands_in_the_place_of_something_else_is_reported(one, other, why):
    assert judge(extract_features(one), extract_features(other), 0.9).why == why


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Customers receive an invoice by mail when the order ships", "Customers get a bill by mail when the order is sent"),
        ("大工が庭の木の柵を修理している", "大工が庭にある木製の柵を直している"),
        ("Run the tests with pytest before every commit", "Before each commit, run the tests with pytest"),
        ("The API uses JWT for authentication", "JWT is used for authentication in the API"),
        ("倉庫に在庫を数える担当者がいる", "担当者が倉庫で在庫を数えている"),
    ],
)
def test_similar_texts_in_other_words_are_proposed(one, other):
    assert verdict(one, other, 0.9) is Verdict.SIMILAR
    assert verdict(one, other, 0.84) is Verdict.DIFFERENT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("鈴木が承認し、高橋が公開する", "高橋が承認し、鈴木が公開する"),
        ("親の設定が子の設定に勝つ", "子の設定が親の設定に勝つ"),
        ("Latency budget is 5 μs", "Latency budget is 5 s"),
        ("The API was down", "The API is down"),
    ],
)
def test_an_exchange_or_a_small_change_is_not_proposed(one, other):
    assert verdict(one, other, 0.99) is not Verdict.SIMILAR


def test_texts_below_the_similarity_threshold_are_different():
    assert verdict("the dog carries a man", "the man carries a dog", 0.5) is Verdict.DIFFERENT


def test_a_replaced_word_makes_a_different_fact():
    fact = "The invoices of the shop are stored in the blue cupboard upstairs"
    assert verdict(fact, fact.replace("cupboard", "drawer")) is Verdict.DIFFERENT


def test_texts_contradict_from_the_least_likeness_on():
    pair = ("The port of the shop is 8080", "The port of the shop is 8081")
    assert verdict(*pair, 0.65) is Verdict.CONTRADICTS
    assert verdict(*pair, 0.6499) is Verdict.DIFFERENT


def test_short_texts_contradict_if_they_differ_in_two_words_at_most():
    assert verdict("the port is open", "the port is closed", 0.9) is Verdict.CONTRADICTS
    assert verdict("the port is open", "the northern port is closed", 0.9) is Verdict.DIFFERENT


def test_longer_texts_contradict_if_they_differ_in_a_quarter_of_their_words_at_most():
    words = "alfa bravo delta echo foxtrot golf hotel india juliett kilo lima mike oscar papa quebec friday"
    four = words.replace("friday", "monday").replace("alfa", "sierra")
    assert verdict(words, four, 0.9) is Verdict.CONTRADICTS
    assert verdict(words + " tango", four, 0.9) is Verdict.DIFFERENT
