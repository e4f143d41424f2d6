"""Learning from a conversation: what is certain is kept, the rest is proposed, and only a trusted person decides on it."""

import json

import pytest

import omoide
from omoide import Scope, State
from omoide.errors import InvalidInput, NotAllowed
from omoide.learning.transcript import Speaker, Turn
from omoide.model import Actor, Role

SHOP = Scope.project("shop")
TALK = """\
User: Fix the auth test. From now on always run `make check` before you finish.
Assistant: I'll look at it.
$ pytest tests/test_auth.py
ModuleNotFoundError: No module named 'freezegun'
1 failed
Assistant: The problem is that freezegun is missing from the dev extra.
$ pip install freezegun
Successfully installed
$ pytest tests/test_auth.py
3 passed
Assistant: All tests pass. The integration tests need `DATABASE_URL` to be set.
User: 認証は JWT に決めました。
"""
PROPOSED = "The integration tests need `DATABASE_URL` to be set."


@pytest.fixture
def talk(place):
    file = place / "talk.txt"
    file.write_text(TALK, encoding="utf-8")
    return str(file)


def test_a_conversation_is_learnt_from_and_what_is_uncertain_waits_for_review(run, talk):
    learnt = run("learn", talk, "--run", "run-7", "--json").data
    kept = {memory["content"]: memory for memory in learnt["kept"]}
    assert "always run `make check` before you finish." in kept
    assert "認証は JWT に決めました。" in kept
    assert any("freezegun" in content and "pip install" in content for content in kept)
    assert {(memory["type"], memory["source"], memory["source_run_id"]) for memory in kept.values()} == {
        ("learning", "learning", "run-7")
    }
    assert [memory["content"] for memory in learnt["proposed"]] == [PROPOSED]
    assert PROPOSED not in run("recall", "DATABASE_URL").out
    assert PROPOSED in run("review").out

    number = str(learnt["proposed"][0]["number"])
    assert run("review", "--keep", number).code == 0
    assert PROPOSED in run("recall", "DATABASE_URL").out
    assert "nothing to review" in run("review").err


def test_learning_the_same_conversation_again_confirms_instead_of_repeating(run, talk):
    first, second = run("learn", talk, "--json").data, run("learn", talk, "--json").data
    assert second["kept"] == second["proposed"] == []
    assert len(second["confirmed"]) == len(first["kept"]) + len(first["proposed"])
    assert len(run("list", "--json").data["memories"]) == len(first["kept"])


def test_what_was_injected_is_not_learnt_as_news(run, place, talk):
    (place / "injected.md").write_text(
        "- always run `make check` before you finish.\n- 認証は JWT に決めました。", encoding="utf-8"
    )
    learnt = run("learn", talk, "--known", "injected.md", "--json").data
    texts = [memory["content"] for memory in learnt["kept"]]
    assert len(texts) == 1
    assert "freezegun" in texts[0]
    assert len([each for each in learnt["rejected"] if "injected" in each["reason"]]) == 2


def test_secrets_and_private_parts_are_never_learnt(run, place):
    secret = "hunter2" + "Xk9!qLw7"
    (place / "talk.txt").write_text(
        f"User: Remember that the admin password is {secret}.\n"
        "User: <private>Remember that my doctor is Dr. Sato.</private> Remember that lunch is at noon.\n",
        encoding="utf-8",
    )
    learnt = run("learn", "talk.txt", "--json").data
    assert [memory["content"] for memory in learnt["kept"]] == ["lunch is at noon."]
    assert [each["reason"] for each in learnt["rejected"]] == ["it contains a secret"]
    assert secret.encode() not in (place / "memory.db").read_bytes()


def test_a_dropped_proposal_is_not_proposed_again_and_a_kind_can_be_silenced(run, place, talk):
    number = run("learn", talk, "--json").data["proposed"][0]["number"]
    assert run("review", "--drop", str(number)).code == 0
    again = run("learn", talk, "--json").data
    assert again["proposed"] == []
    assert "dropped before" in {each["reason"].removeprefix("it was ") for each in again["rejected"]}

    (place / "other.txt").write_text("Assistant: The worker listens on port 9000.\n", encoding="utf-8")
    number = run("learn", "other.txt", "--json").data["proposed"][0]["number"]
    assert run("review", "--never", str(number)).code == 0
    (place / "third.txt").write_text("Assistant: The cache runs on `redis:7` in production.\n", encoding="utf-8")
    assert run("learn", "third.txt", "--json").data["proposed"] == []
    assert run("show", "never-learn", "--json").data["tags"] == ["environment"]


def test_a_worker_learns_but_cannot_approve_its_own(tmp_path):
    talk = [Turn(Speaker.AGENT, "The worker listens on port 9000.", 1)]
    worker = Actor("agent-7", Role.WORKER, "mcp")
    with omoide.open(tmp_path / "memory.db", actor=worker) as memory:
        (proposal,) = memory.learn(talk, scope=SHOP, run="one").proposed
        with pytest.raises(NotAllowed, match="confirm proposals"):
            memory.approve(proposal.number, scope=SHOP)
        with pytest.raises(NotAllowed, match="restore"):
            memory.revise(proposal.number, scope=SHOP, active=True)
        (again,) = memory.learn(talk, scope=SHOP, run="two").confirmed
        assert again.state is State.INACTIVE
    with omoide.open(tmp_path / "memory.db", actor=Actor("me", Role.OWNER, "cli")) as memory:
        (seen_twice,) = memory.learn(talk, scope=SHOP, run="three").confirmed
        assert seen_twice.state is State.ACTIVE


def test_an_edited_proposal_is_kept_with_its_new_text_and_the_decision_is_in_its_history(tmp_path):
    with omoide.open(tmp_path / "memory.db") as memory:
        (proposal,) = memory.learn([Turn(Speaker.AGENT, "The worker listens on port 9000.", 1)], scope=SHOP).proposed
        memory.approve(proposal.number, scope=SHOP, content="The worker listens on port 9001.")
        assert memory.recall("worker port", scope=SHOP).hits[0].memory.content == "The worker listens on port 9001."
        assert [event.action for event in memory.events(scope=SHOP)] == ["approved", "proposed"]
        with pytest.raises(InvalidInput, match="no proposal"):
            memory.reject(proposal.number, scope=SHOP)


@pytest.mark.parametrize(
    "transcript", [b"", b"\x00\xff" * 5000, b'{"type": "user", "message": {"role": "user", "content": "cut of', b"[]\n" * 9]
)
def test_a_transcript_that_cannot_be_read_teaches_nothing_and_breaks_nothing(run, place, transcript):
    (place / "broken").write_bytes(transcript)
    done = run("learn", "broken", "--json")
    assert done.code == 0
    assert done.data["kept"] == done.data["proposed"] == []


def test_a_missing_transcript_is_a_clear_error(run):
    done = run("learn", "nowhere.jsonl")
    assert done.code == 2
    assert "nowhere.jsonl" in done.err


def test_a_large_transcript_is_read_line_by_line(omoide, place):
    noise = json.dumps(
        {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": "x" * 90_000}]}}
    )
    with (place / "large.jsonl").open("w") as file:
        for _ in range(300):
            file.write(noise + "\n")
        file.write(
            json.dumps({"type": "user", "message": {"role": "user", "content": "Remember that the moon is far."}}) + "\n"
        )
    done = omoide("learn", "large.jsonl", "--json")
    assert [memory["content"] for memory in done.data["kept"]] == ["the moon is far."]
