"""The words of a message that tell projects apart, and their forms in the other language."""

import pytest

from omoide.routing.glossary import translations
from omoide.routing.loanwords import same_sound, sound_keys
from omoide.routing.message_words import EVERYDAY, TRANSLATED, message_words


def _forms(text, word, descriptions=()):
    return {terms: fit for fit, terms in message_words(text, descriptions)[word].forms}


def test_an_english_word_is_also_found_by_its_japanese_one():
    assert _forms("the patient was charged twice", "patient") == {("patient",): 1.0, ("患者",): TRANSLATED}


def test_a_japanese_word_is_also_found_by_the_stems_of_its_english_ones():
    assert _forms("予約が重なった", "予約")[("reserv",)] == TRANSLATED


def test_the_longest_word_of_the_glossary_is_looked_up():
    assert ("subscript",) in _forms("定期便の解約", "定期便")


def test_a_single_character_inside_a_compound_is_no_word():
    assert "山" not in message_words("登山道の地図")
    assert "山" in message_words("山に行った")


def test_a_word_in_katakana_is_one_word_and_not_pairs_of_characters():
    words = message_words("ファイルを開く")
    assert "イル" not in words
    assert _forms("ファイルを開く", "ファイル")[("ファ", "ァイ", "イル")] == 1.0


def test_a_long_vowel_at_the_end_of_a_word_in_katakana_may_be_left_out():
    assert _forms("サーバーが落ちた", "サーバー")[("サー", "ーバ")] == 1.0


@pytest.mark.parametrize(
    ("katakana", "latin"),
    [
        ("ガーミン", "Garmin"),
        ("ランタン", "lantern"),
        ("テラフォーム", "terraform"),
        ("ストライド", "stride"),
        ("ポストグレス", "Postgres"),
        ("クラスター", "cluster"),
    ],
)
def test_a_name_in_katakana_sounds_like_the_name_in_latin_letters(katakana, latin):
    assert same_sound(katakana, [latin, "bakery"]) == [latin]


@pytest.mark.parametrize("word", ["ログ", "go", "ア", "", "ー"])
def test_a_short_word_has_no_sound_key(word):
    assert not sound_keys(word)


def test_a_name_in_katakana_is_found_by_a_latin_word_of_a_description():
    assert ("garmin",) in _forms("ガーミンの同期", "ガーミン", ["stride: Apple Watch and Garmin sync"])


def test_a_word_of_everyday_talk_says_less():
    words = message_words("please check the yarn")
    assert words["check"].weight == pytest.approx(EVERYDAY * words["yarn"].weight)


def test_the_number_of_words_is_bounded():
    assert len(message_words(" ".join(f"サ{chr(0x30A1 + n % 80)}{chr(0x30A1 + n // 80)}" for n in range(4_000)))) <= 96


def test_every_word_of_the_glossary_has_a_translation_and_none_is_its_own():
    assert all(others and word not in others for word, others in translations().items())
