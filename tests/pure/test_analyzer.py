"""What a text is found by."""

import sys
import time
import unicodedata
from collections import Counter

import pytest
from hypothesis import example, given, strategies as st

from omoide.retrieval.analyzer import LONGEST, display_words, is_literal, normalize_texts, query_terms, spelling, terms


def matches(text: str, query: str) -> bool:
    return bool(set(terms(text)) & set(query_terms(query)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The builds were failing", ["the", "build", "were", "fail"]),
        ("pnpmを使用", ["pnpm", "を使", "使用", "使", "用"]),
        ("Dockerコンテナ", ["docker", "コン", "ンテ", "テナ"]),
        ("猫", ["猫"]),
        ("a を b", ["a", "を", "b"]),
        ("한국어", ["한국", "국어", "한", "국", "어"]),
        ("ไทย", ["ไท", "ทย"]),
        ("Привет, мир!", ["привет", "мир"]),
        ("👍🏽👍ok", ["👍", "👍", "ok"]),
        ("đâu ở Hà Nội", ["đau", "o", "ha", "noi"]),
        ("", []),
        ("?! -- ___ ...", []),
    ],
)
def test_each_script_is_tokenized_by_its_own_rules(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("getUserById", ["getuserbyid", "get", "user", "by", "id"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("user_id", ["user_id", "user", "id"]),
        ("__init__", ["__init__", "init"]),
        ("src/core/loop.ts", ["src/core/loop.ts", "src", "core", "loop.ts", "loop", "ts"]),
        ("foo.bar.baz", ["foo.bar.baz", "foo", "bar", "baz"]),
        ("--keep-going", ["keep-going", "keep", "go"]),
        ("C++", ["c++", "c"]),
        ("C#", ["c#", "c"]),
        (".env", [".env", "env"]),
        ("v1.2.3", ["v1.2.3", "1.2.3", "v1", "2", "3"]),
        ("a::b", ["a::b", "a", "b"]),
        ("python3", ["python3", "python"]),
        ("URLs", ["url"]),
        ("10k", ["10k"]),
        ("5K", ["5k"]),
        ("me@host.org", ["me@host.org", "me", "host.org", "host", "org"]),
        ("$1,200", ["1200"]),
    ],
)
def test_a_name_matches_whole_and_by_its_parts(name: str, expected: list[str]) -> None:
    assert terms(name) == expected


@pytest.mark.parametrize("around", ["see `{}`.", '("{}"),', "{}:", "'{}';", "「{}」", "<{}>", "{}を見る", "—{}—"])
@pytest.mark.parametrize("name", ["loop.ts", "user_id", "kebab-case", "C++"])
def test_punctuation_around_a_name_does_not_hide_it(around: str, name: str) -> None:
    assert name.lower() in terms(around.format(name))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ガイド", "ｶﾞｲﾄﾞ"),
        ("ガイド", unicodedata.normalize("NFD", "ガイド")),
        ("ABC 123", "\uff21\uff22\uff23\u3000\uff11\uff12\uff13"),
        ("café", "CAFE\u0301"),
        ("naive", "naïve"),
        ("日本", "日\u200b本"),
        ("葛城", "葛\U000e0100城"),
        ("cooperate", "co\xadoperate"),
        ("Straße", "STRASSE"),
        ("don't", "don\u2019t"),
        ("設定\uff08変更\uff09", "設定(変更)"),
    ],
)
def test_spelling_variants_share_their_terms(one: str, other: str) -> None:
    assert terms(one) == terms(other)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("黒い猫を飼っています", "猫"),
        ("パッケージ管理はpnpmを使用する", "pnpm"),
        ("use src/core/loop.ts", "loop.ts"),
        ("def getUserById(): ...", "user by id"),
        ("it was deployed on Friday", "deploying"),
        ("released v1.2.3", "1.2.3"),
        ("pass --dry-run first", "dry-run"),
        ("the DB is slow", "database"),
    ],
)
def test_a_note_is_found_by_what_people_type(text: str, query: str) -> None:
    assert matches(text, query)


def test_a_kana_ending_does_not_join_katakana_and_kanji_of_other_words() -> None:
    assert not set(terms("サーバー")) & set(terms("メモリ"))
    assert not set(terms("東京")) & set(terms("大阪"))


def test_stop_words_are_ignored_unless_nothing_else_is_asked() -> None:
    assert "the" not in query_terms("where is the database")
    assert set(query_terms("to be or not to be")) == {"not"}
    assert set(query_terms("what are you")) == {"what", "are", "you"}


def test_question_words_and_endings_weigh_less_than_content_words() -> None:
    english = query_terms("how many playlists")
    japanese = query_terms("猫が好きでした")
    assert english["mani"] < english["playlist"]
    assert japanese["した"] < japanese["猫"] < japanese["好き"]


def test_a_long_query_is_cut_to_its_most_selective_terms() -> None:
    chosen = query_terms(" ".join(f"w{i}" for i in range(1000)) + " kubernetes kubernetes", limit=20)
    assert len(chosen) == 20
    assert "kubernet" in chosen


def test_an_overlong_term_is_cut_and_found_by_its_full_text() -> None:
    key = "k" * 1000
    assert {len(term) for term in terms(key)} == {LONGEST}
    assert matches(f"the key is {key}", key)
    digest = "0123456789abcdef" * 4
    assert terms(digest) == [digest]


@given(st.text(alphabet=st.characters(codec=None, categories=None)))
@example("x\x00y\x1fz\x7f\x85\u2028w")
@example("\ud800\udfff")
def test_a_term_has_no_separator_and_can_be_stored(text: str) -> None:
    for term in (*terms(text), *query_terms(text)):
        assert term
        assert len(term) <= LONGEST
        assert not any(char.isspace() or unicodedata.category(char) in {"Cc", "Cf", "Cs"} for char in term)
        term.encode()


def test_terms_of_every_unicode_character_can_be_stored() -> None:
    for char in map(chr, range(sys.maxunicode)):
        if unicodedata.category(char) in {"Cn", "Co", "Lo"}:  # a million letters alike
            continue
        for term in terms(f"é{char}b {char}"):
            if any(c.isspace() or unicodedata.category(c) in {"Cc", "Cf", "Cs"} for c in term):
                pytest.fail(f"U+{ord(char):04X} gives {term!r}")


@pytest.mark.parametrize(
    "unit", ["a", "a/", "/", "a.", "aB", "_", "'s", "1,", "漢", "あ", "é", "é/", "ｶﾞ", "\u200b", "👍", "::", "+"]
)
def test_analysis_time_is_linear_in_the_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        taken = []
        for _ in range(3):
            start = time.process_time()
            terms(text)
            taken.append(time.process_time() - start)
        return min(taken)

    assert seconds(200_000) < 40 * seconds(20_000) + 0.05


def test_a_query_of_100_000_words_is_analysed_quickly() -> None:
    text = " ".join(f"word{i}" for i in range(100_000))
    start = time.process_time()
    query_terms(text)
    assert time.process_time() - start < 1  # it takes 0.03 s; looking at all its words in every way takes several


@given(st.text(st.sampled_from("認証設計の々はｶﾅカナー 한국あぁ。、a1\n\u200b\ufe0f\U000e0100葛"), max_size=60))
@example("あああ認証\u200b認証")
def test_a_literal_term_occurs_in_the_text_as_often_as_among_its_terms(text: str) -> None:
    found = Counter(terms(text))
    (shown,) = normalize_texts([text])
    literals = [term for term in found if is_literal(term)]
    assert {term: shown.count(term) for term in literals} == {term: found[term] for term in literals}
    # And what the text does not hold as a term, it does not show.
    pairs = {one + other for one in "認証設計カナの" for other in "認証設計カナの" if is_literal(one + other)}
    assert {pair for pair in pairs if pair in shown} == pairs & found.keys()


def test_pairs_and_single_kanji_are_literal_terms_and_changed_ones_are_not() -> None:
    assert all(map(is_literal, ["認証", "の設", "証", "カナ", "한국"]))
    assert not any(map(is_literal, ["jwt", "あ", "ああ", "a認", "認証済", "1"]))


def test_terms_are_displayed_as_their_source_words() -> None:
    query = "Changing 非同期処理 in src/core"
    shown = display_words(query_terms(query), spelling(query))
    assert shown == ["changing", "非同期処理", "src/core"]


def test_an_alias_weighs_three_tenths_of_the_word_that_was_written() -> None:
    weights = query_terms("config")
    assert weights == {"config": 1.0, "configur": 0.3}
    assert query_terms("config configuration") == {"config": 1.0, "configur": 1.0}
