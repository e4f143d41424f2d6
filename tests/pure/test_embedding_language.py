"""Which texts and questions the model for English is for."""

import pytest

from omoide.embeddings.language import is_english, is_personal


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Use pnpm to install packages", True),
        ("find . -name '*.py' | xargs wc -l", True),
        ("José moved the café menu to the wiki, as agreed with the team", True),
        ("認証には JWT を採用する", False),
        ("データベースは毎晩更新される", False),
        ("Сервер стоит в Москве", False),
        ("", False),
        ("8080 / 443", False),
        ("the notes of the whole meeting " * 40 + "日本語" * 400, True),
        ("日本語" * 400 + "the notes of the whole meeting " * 400, False),
    ],
)
def test_a_text_is_english_by_the_letters_at_its_start(text, english):
    assert is_english(text) is english


@pytest.mark.parametrize(
    ("question", "personal"),
    [
        ("When did I buy a smoker?", True),
        ("What is my daily commute?", True),
        ("Can you recommend something near me?", True),
        ("What did we decide about retries?", True),
        ("How do I find large files?", False),
        ("how to undo my last commit", False),
        ("sort a list in python", False),
        ("Which port does the API listen on?", False),
        ("explain I/O errors in mysql", False),
    ],
)
def test_a_question_is_personal_if_it_is_in_the_first_person_and_does_not_ask_how(question, personal):
    assert is_personal(question) is personal
