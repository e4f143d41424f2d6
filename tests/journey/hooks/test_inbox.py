"""What was said is learnt from later: by the next hook, command or idle server, each line once, by one process."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
from msgspec.structs import replace

from omoide import Scope, State

DECISION = "We decided to use SQLite instead of Postgres because nobody wants to run a server."
WISH = "覚えておいて: リリースは必ず火曜日に行う"
COMMAND = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()"]


def write_transcript(path, *turns, mode="wb"):
    """Append turns to a transcript of Claude Code, each a role and a text or a list of blocks."""
    with Path(path).open(mode) as file:
        for role, content in turns:
            file.write(json.dumps({"type": role, "message": {"role": role, "content": content}}).encode() + b"\n")


def learnings(memory, scope):
    with memory() as service:
        states = (State.ACTIVE, State.INACTIVE)
        return sorted(one.content for one in service.list(scope=scope, type="learning", states=states, limit=100).memories)


def references(memory, scope):
    with memory() as service:
        states = (State.ACTIVE, State.INACTIVE)
        return [one.reference_count for one in service.list(scope=scope, type="learning", states=states).memories]


def test_the_next_session_starts_with_what_the_last_one_decided(hook, shop, started, stopped):
    write_transcript(stopped["transcript_path"], ("user", WISH), ("assistant", "分かりました。"))
    assert hook(stopped).out == b""
    context = hook({**started, "session_id": "next"}).context
    assert "リリースは必ず火曜日に行う" in context


def test_a_prompt_is_answered_first_and_then_learns_from_the_conversation_before_it(hook, shop, asked, stopped, memory):
    write_transcript(stopped["transcript_path"], ("user", DECISION))
    hook(stopped)
    assert "pnpm" in hook({**asked, "session_id": "second"}).context
    assert learnings(memory, shop) == [DECISION]


def test_a_transcript_that_is_no_ordinary_file_keeps_nobody_waiting(hook, shop, started, stopped, memory):
    os.mkfifo(stopped["transcript_path"])
    hook({**stopped, "last_assistant_message": DECISION})
    hook({**started, "session_id": "next"})
    assert learnings(memory, shop) == [DECISION]


def test_a_prompt_leaves_a_long_conversation_to_a_process_with_more_time(hook, shop, asked, started, stopped, memory):
    long = [("assistant", f"Step {number} is done. " + "x" * 1_000) for number in range(100)]
    write_transcript(stopped["transcript_path"], *long, ("user", DECISION))
    hook(stopped)
    assert "pnpm" in hook({**asked, "session_id": "second"}).context
    assert learnings(memory, shop) == []
    hook({**started, "session_id": "third"})  # given back: nobody has to wait for the end of a lease
    assert learnings(memory, shop) == [DECISION]


def test_a_transcript_of_200_megabytes_is_left_by_a_prompt_and_read_by_a_session_start(
    hook, shop, asked, started, stopped, memory
):
    transcript = Path(stopped["transcript_path"])
    write_transcript(transcript, ("user", "hello"))
    with transcript.open("ab") as file:
        file.truncate(200_000_000)  # one line, of which no disk holds a byte
        file.seek(0, os.SEEK_END)
        file.write(b"\n")
    write_transcript(transcript, ("user", DECISION), mode="ab")
    assert hook(stopped).code == 0
    assert "pnpm" in hook({**asked, "session_id": "second"}).context
    assert learnings(memory, shop) == []
    assert "pnpm" in hook({**started, "session_id": "third"}).context
    assert learnings(memory, shop) == [DECISION]


def test_a_prompt_learns_from_two_of_five_hundred_turns(hook, shop, asked, stopped, memory):
    """However much waits: a person waits, too. Each prompt adds one turn, so that none is left in the end."""
    write_transcript(stopped["transcript_path"], *[("user", f"We decided on tool{n} for step {n}.") for n in range(500)])
    hook(stopped)
    with memory() as service, service._store.write() as tx:
        (first,) = tx.inbox()
        for number in range(499):
            tx.put_in_inbox(replace(first, session=f"s{number % 3}", transcript="", prompt=f"Decided: tool{number}."))

    def inbox_size():
        with memory() as service, service._store.read() as tx:
            return len(tx.inbox())

    for turn in range(3):
        assert "pnpm" in hook({**asked, "session_id": f"n{turn}"}).context
        assert inbox_size() == 500 - 2 * (turn + 1)


def test_each_line_of_a_transcript_is_learnt_from_once(hook, shop, started, stopped, memory):
    write_transcript(stopped["transcript_path"], ("user", DECISION))
    hook(stopped)
    hook({**started, "session_id": "second"})
    counted = references(memory, shop)
    write_transcript(stopped["transcript_path"], ("user", WISH), mode="ab")
    hook({**stopped, "last_assistant_message": "Done again."})
    hook({**started, "session_id": "third"})
    found = learnings(memory, shop)
    assert len(found) == 2
    assert any("SQLite" in text for text in found)
    assert sum(references(memory, shop)) == sum(counted)


def test_what_the_client_writes_after_the_hook_is_read_too_and_once(hook, shop, started, stopped, memory):
    """Clients write the last lines of a turn after they have called the hook."""
    write_transcript(stopped["transcript_path"], ("user", DECISION))
    hook(stopped)
    write_transcript(stopped["transcript_path"], ("user", WISH), mode="ab")
    hook({**started, "session_id": "second"})
    assert len(learnings(memory, shop)) == 2
    hook({**stopped, "last_assistant_message": "Something else."})
    hook({**started, "session_id": "third"})
    assert len(learnings(memory, shop)) == 2


def test_a_line_that_is_still_being_written_is_read_when_it_is_whole(hook, shop, started, stopped, memory):
    path = Path(stopped["transcript_path"])
    write_transcript(path, ("user", DECISION))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    hook(stopped)
    hook({**started, "session_id": "second"})
    assert learnings(memory, shop) == []
    path.write_bytes(whole)
    hook({**stopped, "last_assistant_message": "More."})
    hook({**started, "session_id": "third"})
    assert len(learnings(memory, shop)) == 1


def test_what_was_injected_is_not_learnt_as_a_statement_of_a_person(hook, shop, asked, started, stopped, memory):
    context = hook(asked).context
    assert "pnpm" in context
    write_transcript(
        stopped["transcript_path"],
        ("user", f"Which package manager?\n<hook_context>{context}</hook_context>"),
        ("assistant", "We use pnpm as the package manager, never npm."),
    )
    hook(stopped)
    hook({**started, "session_id": "second"})
    assert learnings(memory, shop) == []


def test_results_of_our_own_tools_are_not_learnt_from(hook, shop, started, stopped, memory):
    noted = "We decided to use Redis instead of memcached because it persists."
    call = {"type": "tool_use", "id": "t1", "name": "mcp__omoide__recall", "input": {"query": "cache"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": noted}]}
    write_transcript(stopped["transcript_path"], ("assistant", [call]), ("user", [result]), ("assistant", f"Noted: {noted}"))
    hook(stopped)
    hook({**started, "session_id": "second"})
    assert learnings(memory, shop) == []


def test_without_a_transcript_the_messages_of_the_client_are_learnt_from(hook, shop, started, repository, memory):
    body = {
        "session_id": "g1", "transcript_path": str(repository / "missing.json"), "cwd": str(repository),
        "hook_event_name": "AfterAgent", "timestamp": "2026-02-05T10:00:00Z", "prompt": WISH,
        "prompt_response": "承知しました。", "stop_hook_active": False,
    }  # several entries per line  # fmt: skip
    assert hook(body, GEMINI_SESSION_ID="g1").out == b""
    hook({**started, "session_id": "second"})
    assert len(learnings(memory, shop)) == 1


def test_two_sessions_that_start_at_once_learn_each_line_once(hook, shop, started, stopped, memory):
    write_transcript(stopped["transcript_path"], ("user", DECISION), ("user", WISH))
    hook(stopped)
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda name: hook({**started, "session_id": name}), ["second", "third"]))
    assert [one.code for one in done] == [0, 0]
    assert len(learnings(memory, shop)) == 2
    assert set(references(memory, shop)) == {0}


def test_any_command_learns_after_its_output(hook, shop, stopped, environment, memory):
    write_transcript(stopped["transcript_path"], ("user", DECISION))
    hook(stopped)
    done = subprocess.run([*COMMAND, "list", "--project", "shop"], env=environment, capture_output=True, check=True)
    assert b"SQLite" not in done.stdout
    assert len(learnings(memory, shop)) == 1


def test_omoide_learn_without_a_file_learns_from_the_inbox(hook, shop, stopped, environment):
    write_transcript(stopped["transcript_path"], ("user", DECISION))
    hook(stopped)
    done = subprocess.run([*COMMAND, "learn", "--json"], env=environment, capture_output=True, check=True)
    assert [one["content"] for one in json.loads(done.stdout)["kept"]] == [DECISION]


def test_secrets_in_a_last_message_are_not_stored(hook, shop, stopped, memory, environment):
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    hook({**stopped, "last_assistant_message": f"The token is {token}, keep it."})
    with memory() as service, service._store.read() as tx:
        (item,) = tx.inbox()
    assert "keep it" in item.last_message
    files = [file for file in Path(environment["OMOIDE_STORE"]).parent.iterdir() if file.is_file()]
    assert all(token.encode() not in file.read_bytes() for file in files)


def test_scan_finds_and_redacts_a_secret_that_got_into_the_inbox(hook, shop, stopped, memory, environment):
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    hook(stopped)
    with memory() as service:
        with service._store.write() as tx:
            (item,) = tx.inbox()
            tx._tx.run("UPDATE inbox SET last_message = ?", (f"token {token}",))
        assert [one.field for one in service.scan(fix=True).found] == ["inbox message"]
    assert item.last_message == "Done."
    files = [file for file in Path(environment["OMOIDE_STORE"]).parent.iterdir() if file.is_file()]
    assert all(token.encode() not in file.read_bytes() for file in files)


def test_a_purged_memory_leaves_no_byte_in_the_inbox_and_is_not_learnt_back(hook, shop, asked, started, stopped, memory):
    text = "We use pnpm as the package manager, never npm."
    assert text in hook(asked).context
    write_transcript(stopped["transcript_path"], ("user", f"We decided: {text}"))
    hook({**stopped, "last_assistant_message": f"Right. {text}"})
    with memory() as service:
        (found,) = [one for one in service.list(scope=shop).memories if one.content == text]
        service.forget(found.number, scope=shop)
        service.purge([found.number], scope=shop)
        place = Path(service._store.location).parent
    hook({**started, "session_id": "second"})
    assert learnings(memory, shop) == []
    assert all(text.encode() not in file.read_bytes() for file in place.iterdir() if file.is_file())


def test_learning_can_be_switched_off(hook, shop, stopped, started, memory):
    write_transcript(stopped["transcript_path"], ("user", DECISION))
    hook(stopped, OMOIDE_LEARN_FROM_SESSIONS="false")
    hook({**started, "session_id": "second"})
    assert learnings(memory, Scope.project("shop")) == []


def test_two_short_turns_of_a_client_that_does_not_send_the_answer_are_both_learnt(hook, shop, stopped, memory):
    silent = {**stopped, "last_assistant_message": ""}
    write_transcript(stopped["transcript_path"], ("user", DECISION))
    hook(silent)
    write_transcript(stopped["transcript_path"], ("user", WISH), mode="ab")
    hook(silent)
    hook(silent)  # the same again: another settings file names the same hook
    with memory() as service:
        states = sorted(call.state.value for call in service.hook_calls())
        assert states == ["done", "done", "repeated"]
        service.learn_from_inbox()
    assert len(learnings(memory, shop)) == 2


def test_a_command_does_not_wait_for_another_writer_to_learn(hook, shop, stopped, environment, memory):
    write_transcript(stopped["transcript_path"], ("user", DECISION))
    hook(stopped)
    blocker = apsw.Connection(environment["OMOIDE_STORE"])
    blocker.execute("BEGIN IMMEDIATE")
    # With the usual wait of 30 seconds it would not end before its limit.
    done = subprocess.run(
        [*COMMAND, "list", "--project", "shop"], env={**environment, "OMOIDE_WAIT": "3600"}, capture_output=True, timeout=120
    )
    blocker.execute("ROLLBACK")
    blocker.close()
    assert (done.returncode, done.stderr) == (0, b"")
    assert learnings(memory, shop) == []
    subprocess.run([*COMMAND, "list", "--project", "shop"], env=environment, capture_output=True, check=True)
    assert len(learnings(memory, shop)) == 1
