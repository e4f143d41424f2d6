"""A score is a probability on one scale, and what is not relevant is not shown."""

import pytest

from omoide import Draft, Query, Scope
from omoide.errors import InvalidInput

SHOP = Scope.project("shop")
NOTES = (
    "The staging database is refreshed every night at two",
    "Use pnpm to install packages, never npm",
    "認証には JWT を採用する。有効期限は一時間",
    "請求書は毎月一日に発行して送る",
    "The cat sleeps on the warm window sill",
    "Deploy on Fridays only if somebody is on call",
)
FOREIGN = ("zzzqqq", "boiling point of helium at low pressure", "恐竜の絶滅と隕石の衝突", "who won the chess tournament")
OWN = (
    ("when is the staging database refreshed", NOTES[0]),
    ("pnpm", NOTES[1]),
    ("認証の有効期限", NOTES[2]),
    ("請求書はいつ送りますか", NOTES[3]),
)


@pytest.fixture(params=["off", "bundled"])
def memory(request, tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", embedder=request.param)
    memory.remember_many([Draft(note, SHOP) for note in NOTES])
    memory.embed_pending()
    return memory


@pytest.mark.parametrize("question", FOREIGN)
def test_a_question_that_nothing_answers_brings_nothing(memory, question):
    found = memory.recall(question, scope=SHOP)
    assert found.hits == []
    assert found.total == 0


@pytest.mark.parametrize(("question", "answer"), OWN)
def test_an_answer_scores_between_a_half_and_one_whatever_the_question(memory, question, answer):
    hits = memory.recall(question, scope=SHOP, min_score=0).hits
    assert hits[0].memory.content == answer
    scores = [hit.score for hit in hits]
    assert 0.5 < scores[0] <= 1
    assert scores == sorted(scores, reverse=True)
    assert memory.recall(question, scope=SHOP, min_score=memory.settings.inject_min_score).hits


def test_a_longer_question_does_not_score_more(memory):
    short, long = (
        memory.recall(text, scope=SHOP).hits[0].score
        for text in ("pnpm packages", "pnpm packages " + "and who pays for lunch on tuesdays in winter " * 20)
    )
    assert 0 < long < short <= 1


def test_the_score_does_not_depend_on_how_many_hits_are_asked_for(memory):
    one, many = (memory.recall("staging database install", scope=SHOP, limit=limit).hits for limit in (1, 6))
    assert one[0].score == many[0].score


def test_all_hits_are_left_out_or_none(memory):
    question = "database install lunch"
    everything = memory.recall(question, scope=SHOP, min_score=0).hits
    best, last = everything[0].score, everything[-1].score
    assert len(everything) > 1
    assert len(memory.recall(question, scope=SHOP, min_score=(best + last) / 2).hits) == len(everything)
    cut = memory.recall(question, scope=SHOP, min_score=best + 0.01)
    assert (cut.hits, cut.total, cut.best_below) == ([], 0, best)


def test_browsing_is_never_cut(memory):
    assert len(memory.recall("", scope=SHOP, min_score=1).hits) == len(NOTES)
    assert len(memory.recall(Query(SHOP, min_score=1.0)).hits) == len(NOTES)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "0.5", True])
def test_a_min_score_outside_of_0_to_1_is_refused(memory, value):
    with pytest.raises(InvalidInput, match="min_score must be a number from 0 to 1"):
        memory.recall("pnpm", scope=SHOP, min_score=value)


def test_one_memory_is_found_by_one_word_of_several(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db")
    memory.remember("Use pnpm to install packages", scope=SHOP)
    assert memory.recall("which package manager should be taken here", scope=SHOP).hits


def test_a_japanese_question_that_names_a_tool_finds_a_store_in_english(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db")
    memory.remember_many([Draft(f"{name}: use {name} --all", SHOP) for name in ("docker", "rsync", "ffmpeg", "kubectl")])
    hits = memory.recall("ffmpeg で動画から音声だけを取り出す方法を教えてください", scope=SHOP).hits
    assert hits[0].memory.content.startswith("ffmpeg")


def test_the_setting_min_score_cuts_recall_and_never_a_list_or_a_look_up_by_key(run, monkeypatch):
    run("remember", "Use pnpm to install packages and libraries", "--key", "packages")
    run("remember", "The cat sleeps on the window sill")
    question = ("boiling", "point", "of", "helium", "in", "the", "library")
    monkeypatch.setenv("OMOIDE_MIN_SCORE", "1")
    assert "nothing relevant in project shop" in run("recall", *question).err
    assert run("recall", "--json").data["total_count"] == run("list", "--json").data["total_count"] == 2
    assert run("show", "packages").code == 0
    monkeypatch.setenv("OMOIDE_MIN_SCORE", "0")
    assert "pnpm" in run("recall", *question).out


def test_the_command_line_reports_that_nothing_is_relevant(run):
    run("remember", "Use pnpm to install packages and libraries")
    run("remember", "The cat sleeps on the window sill")
    question = ("boiling", "point", "of", "helium", "in", "the", "library")
    done = run("recall", "--min-score", "0.5", *question)
    assert done.out == ""
    assert "nothing relevant in project shop" in done.err
    assert "--min-score 0 shows it" in done.err
    assert "pnpm" in run("recall", "--min-score", "0", *question).out
    assert "nothing found" in run("recall", "zzzqqq").err
    assert run("recall", "--min-score", "2", "pnpm").code != 0
