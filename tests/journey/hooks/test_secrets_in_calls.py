"""What a client or git names in the call of a hook is recorded without secrets, as everything else is.

No real-looking secret stands in this file: each is put together when the test runs.
"""

import subprocess
from pathlib import Path

import pytest

from omoide.model import HookCall, HookEvent

TOKEN = "ghp" + "_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0bC3dE6"
DECISION = "We decided to use SQLite instead of Postgres because nobody wants to run a server."


def check_clean(environment):
    """No file beside the database holds the token, nor the half of it that a cut might leave."""
    files = [file for file in Path(environment["OMOIDE_STORE"]).parent.rglob("*") if file.is_file()]
    assert [file.name for file in files if TOKEN[:20].encode() in file.read_bytes()] == []


def test_names_with_a_secret_in_a_call_are_not_stored(hook, shop, asked, stopped, memory, repository, environment):
    (repository / f"{TOKEN}.txt").write_text("named like a secret\n")
    (repository / "deep").mkdir()
    below = repository / "deep" / TOKEN
    below.mkdir()
    subprocess.run(["git", "-C", repository, "checkout", "-qb", TOKEN], check=True)
    named = {"session_id": f"session {TOKEN}", "cwd": str(below), "transcript_path": str(below / "t.jsonl")}
    hook({**asked, **named, "prompt": f"which package manager goes with {TOKEN}?"})
    (repository / "code.py").write_text("x = 1\n")
    hook({**stopped, **named, "last_assistant_message": DECISION})
    with memory() as service:
        with service._store.read() as tx:
            (item,) = tx.inbox()
        assert (item.directory, item.transcript) == (str(repository), "")
        assert item.session == "session [redacted: GitHub token]"
        assert "code.py" in item.work_tree
        assert service.scan().found == []
        assert [one.content for one in service.learn_from_inbox().proposed] == [DECISION]
        check_clean(environment)


@pytest.mark.parametrize("event", [HookEvent.STOP, HookEvent.PROMPT])
def test_a_call_from_a_place_that_is_named_like_a_secret_is_logged_as_a_fault(memory, tmp_path, environment, event):
    place = tmp_path / TOKEN
    place.mkdir()
    call = HookCall(TOKEN, event, session="s", directory=str(place), prompt=TOKEN, last_message=DECISION)
    with memory() as service:
        service.remember("to begin with", scope=service.claim(tmp_path))
        service.hook(call)
        with service._store.read() as tx:
            assert tx.inbox() == []
        if event is HookEvent.STOP:
            assert "the directory seems to hold a secret" in service.hook_calls()[0].fault
    check_clean(environment)


def test_a_project_of_the_settings_that_is_no_project_leaves_nothing_in_the_inbox(hook, memory, stopped, shop, environment):
    for name in (TOKEN, "a//b"):
        hook({**stopped, "session_id": name[:3]}, OMOIDE_PROJECT=name)
    hook({**stopped, "last_assistant_message": DECISION})
    with memory() as service:
        assert [one.content for one in service.learn_from_inbox().proposed] == [DECISION]
    check_clean(environment)


def test_a_secret_where_a_long_message_is_cut_is_not_stored_in_part(hook, shop, stopped, memory, environment):
    for place in (9_980, 10_100):
        message = "x " * (place // 2) + TOKEN + " y" * 20_000
        hook({**stopped, "last_assistant_message": message})
        hook({**stopped, "session_id": "backwards", "last_assistant_message": "y " * 20_000 + TOKEN + " x" * (place // 2)})
    with memory() as service, service._store.read() as tx:
        items = tx.inbox()
    assert len(items) == 4
    assert all(len(item.last_message) < 20_010 for item in items)
    check_clean(environment)
