"""The inbox as a service sees it: leases that end, a language model that goes first, time that runs out, odd transcripts."""

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

import omoide
from omoide import HookCall, HookEvent, Scope, State
from omoide.files.transcript_lines import CHUNK, LONGEST_LINE, MOST_SKIPPED, read_part, transcript_size

DECISION = "We decided to use SQLite instead of Postgres because nobody wants to run a server."


def line(text):
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}).encode() + b"\n"


@pytest.fixture
def memory(tmp_path, clock):
    with omoide.open(tmp_path / "memory.db", clock=clock, project="shop") as service:
        yield service


@pytest.fixture
def turn(memory, tmp_path):
    """Leaves the end of a turn in the inbox, of a session with a transcript of these lines."""

    def turn(*lines, session="s1", **fields):
        transcript = tmp_path / f"{session}.jsonl"
        transcript.write_bytes(b"".join(lines))
        given = {"last_message": "Done.", **fields}
        memory.hook(
            HookCall("codex", HookEvent.STOP, "Stop", session, directory=str(tmp_path), transcript=str(transcript), **given)
        )
        return transcript

    return turn


def learnings(memory):
    states = (State.ACTIVE, State.INACTIVE)
    return [
        one.content for one in memory.list(scope=Scope.project("shop"), type="learning", states=states, limit=100).memories
    ]


def test_what_a_process_leased_that_died_is_learnt_when_its_lease_has_ended(memory, turn, clock):
    turn(line(DECISION))
    with memory._store.write() as tx:
        assert tx.lease_inbox(clock(), clock() + timedelta(minutes=5), clock() + timedelta(seconds=1))
    assert not memory.has_inbox()
    memory.learn_from_inbox()
    assert learnings(memory) == []
    clock.step(301)
    assert [one.content for one in memory.learn_from_inbox().kept] == [DECISION]
    assert not memory.has_inbox()


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(("ask", "seconds"), [(False, 30), (True, 300)])
def test_a_process_that_is_ended_keeps_others_waiting_for_seconds_if_it_asks_no_model(
    memory, turn, clock, ask, seconds, monkeypatch
):
    turn(line(DECISION))
    with monkeypatch.context() as patch:
        patch.setattr(type(memory), "learn", interrupt)
        with pytest.raises(KeyboardInterrupt):
            memory.learn_from_inbox(ask=ask)
    clock.step(seconds - 1)
    assert not memory.has_inbox()
    clock.step(2)
    memory.learn_from_inbox()
    assert learnings(memory) == [DECISION]


def test_items_wait_an_hour_for_a_process_that_may_ask_the_language_model(tmp_path, turn, clock):
    turn(line(DECISION))
    with omoide.open(tmp_path / "memory.db", clock=clock, llm="http://127.0.0.1:9/v1#none") as other:
        clock.step(3_000)
        assert other.learn_from_inbox(ask=False) == omoide.LearningReport()
        assert other.has_inbox()
        clock.step(700)
        assert [one.content for one in other.learn_from_inbox(ask=False).kept] == [DECISION]


def test_a_language_model_that_does_not_answer_leaves_what_the_rules_find(tmp_path, turn, clock):
    turn(line(DECISION))
    with omoide.open(tmp_path / "memory.db", clock=clock, llm="http://127.0.0.1:9/v1#none") as other:
        report = other.learn_from_inbox()
    assert [one.content for one in report.kept] == [DECISION]
    assert report.trouble


def test_without_time_nothing_is_begun_and_what_was_begun_is_given_back(memory, turn):
    turn(line(DECISION))
    assert memory.learn_from_inbox(seconds=0) == omoide.LearningReport()
    assert memory.has_inbox()
    padding = [line("x" * 1_000)] * (2 * CHUNK // 1_000)
    turn(*padding, line("We decided to call the parser Ibis because it is short."), session="s2")
    memory.learn_from_inbox(seconds=1e-9)  # one part of one session, at most
    assert memory.has_inbox()
    memory.learn_from_inbox()
    assert len(learnings(memory)) == 2


def test_a_transcript_that_was_replaced_by_a_shorter_one_is_read_from_its_start(memory, turn, clock):
    turn(line("padding " * 500), line(DECISION))
    memory.learn_from_inbox()
    clock.step(60)
    turn(line("We decided to call the parser Ibis because it is short."))
    memory.learn_from_inbox()
    assert len(learnings(memory)) == 2


@pytest.mark.parametrize(
    "lines",
    [
        [b"\x00\xff\xfe\n"],
        [b"{" * 10_000 + b"\n"],
        [b'{"type": "user", "message": null}\n', b'{"type": "user"}\n', b"[]\n", b"null\n"],
        [b'{"type": "user", "message": {"content": [{"type": "text", "text": 7}, null, "x"]}}\n'],
        [b"\n" * 1_000],
    ],
    ids=["bytes", "deep", "wrong types", "odd blocks", "blank lines"],
)
def test_a_transcript_with_anything_in_it_is_read_and_finished(memory, turn, lines):
    turn(*lines, line(DECISION))
    memory.learn_from_inbox()
    assert not memory.has_inbox()
    assert learnings(memory) == [DECISION]


def test_with_a_directory_in_place_of_a_transcript_the_messages_of_the_client_count(memory, turn, tmp_path):
    transcript = turn(session="s3", prompt=DECISION)
    transcript.unlink()
    transcript.mkdir()
    memory.learn_from_inbox()
    assert learnings(memory) == [DECISION]


def test_a_conversation_in_a_directory_that_is_gone_is_not_learnt_from(tmp_path, clock):
    gone = tmp_path / "gone"
    with omoide.open(tmp_path / "memory.db", clock=clock) as memory:
        memory.hook(HookCall("codex", HookEvent.STOP, "Stop", "s1", DECISION, str(gone)))
        assert memory.has_inbox()
        assert memory.learn_from_inbox() == omoide.LearningReport()
        assert not memory.has_inbox()


def test_an_item_follows_its_project_to_another_name(memory, turn):
    memory.remember("zebra", scope=Scope.project("shop"))
    turn(line(DECISION))
    memory.rename_project("shop", "store")
    memory.learn_from_inbox()
    assert [one.content for one in memory.list(scope=Scope.project("store"), type="learning").memories] == [DECISION]


def test_a_worker_can_answer_hooks_and_learn_and_not_read_the_log(tmp_path, clock):
    with omoide.open(tmp_path / "memory.db", clock=clock, project="shop", role="worker") as worker:
        worker.hook(HookCall("codex", HookEvent.STOP, "Stop", "s1", DECISION, str(tmp_path)))
        worker.learn_from_inbox()
        assert len(learnings(worker)) == 1
        with pytest.raises(omoide.NotAllowed):
            worker.hook_calls()


def test_whole_lines_are_read_part_by_part_and_a_giant_one_is_left_out(tmp_path):
    file = tmp_path / "t.jsonl"
    giant = b"g" * (LONGEST_LINE + CHUNK) + b"\n"
    file.write_bytes(b"a\n" + giant + b"b\nlast")
    size, position, seen = file.stat().st_size, 0, []
    while True:
        lines, end = read_part(file, position, size)
        if end == position:
            break
        seen += lines
        position = end
    assert [text for text in seen if text] == [b"a", b"b"]
    assert size - position == len(b"last")


def write_giant(file, before, size, after):
    """Write a line of so many bytes between these texts. No disk is needed for it."""
    with file.open("wb") as written:
        written.write(before)
        written.truncate(len(before) + size)
        written.seek(0, os.SEEK_END)
        written.write(after)


def test_a_line_of_200_megabytes_is_skipped_in_parts(tmp_path):
    file = tmp_path / "t.jsonl"
    write_giant(file, b"a\n", 200_000_000, b"\nb\n")
    position, seen, steps = 0, [], []
    while (part := read_part(file, position, file.stat().st_size)).end != position:
        steps.append(part.end - position)
        seen += part.lines
        position = part.end
    assert [text for text in seen if text] == [b"a", b"b"]
    assert max(steps) <= LONGEST_LINE + CHUNK + MOST_SKIPPED
    assert sum(steps) == file.stat().st_size


def test_the_rest_of_a_line_that_was_skipped_while_it_was_written_is_no_line(tmp_path):
    file = tmp_path / "t.jsonl"
    write_giant(file, b"", LONGEST_LINE + 2 * CHUNK, b"")
    position = read_part(file, 0, file.stat().st_size).end
    with file.open("ab") as written:
        written.write(line(DECISION).removesuffix(b"\n") + b" and more\nnext\n")
    assert read_part(file, position, file.stat().st_size).lines == [b""]
    position = read_part(file, position, file.stat().st_size).end
    assert read_part(file, position, file.stat().st_size).lines == [b"next"]


def test_lines_after_a_giant_line_are_learnt_from_and_the_last_message_is_not(memory, turn):
    transcript = turn(line("hello"), last_message="We decided to use Redis because it is fast.")
    write_giant(transcript, line("hello"), LONGEST_LINE + MOST_SKIPPED + 2 * CHUNK, b"\n" + line(DECISION))
    memory.learn_from_inbox()
    assert learnings(memory) == [DECISION]
    assert not memory.has_inbox()


def waiting(memory):
    with memory._store.read() as tx:
        return [item.session for item in tx.inbox()]


def test_at_most_so_many_ends_of_turns_are_read_and_none_is_lost_or_read_twice(memory, turn, clock):
    spoken = [line(f"We decided to call part {number} tool{number} because it is short.") for number in range(5)]
    for number in range(3):
        turn(*spoken[: number + 1], session="s1", last_message=f"Done {number}.")
    for number in (3, 4):
        turn(spoken[number], session=f"s{number}")
    left = []
    while memory.has_inbox():  # what was not begun is given back: nobody waits for the end of a lease
        memory.learn_from_inbox(most=2)
        left.append(waiting(memory))
    assert left == [["s1", "s3", "s4"], ["s4"], []]
    assert len(learnings(memory)) == 5
    found = memory.list(scope=Scope.project("shop"), type="learning", states=(State.ACTIVE, State.INACTIVE), limit=100)
    assert {one.reference_count for one in found.memories} == {0}


def test_nothing_behind_the_end_is_read(tmp_path):
    file = Path(tmp_path / "t.jsonl")
    file.write_bytes(b"one\ntwo\nthree\n")
    assert read_part(file, 0, 8).lines == [b"one", b"two"]
    assert read_part(file, 0, 6).lines == [b"one"]
    assert read_part(file, 8, 8).lines == []


def test_what_gemini_announces_at_every_turn_is_ignored_by_every_interface(memory, tmp_path):
    call = HookCall("gemini", HookEvent.BEFORE_COMPACTION, "PreCompress", "s1", DECISION, str(tmp_path))
    assert memory.hook(call) == ""
    assert not memory.has_inbox()
    assert memory.hook_calls() == []
    memory.hook(HookCall("codex", HookEvent.BEFORE_COMPACTION, "PreCompact", "s1", DECISION, str(tmp_path)))
    assert memory.has_inbox()


@pytest.mark.parametrize("path", ["{}/talk.jsonl", "~/talk.jsonl"])
def test_the_size_of_a_transcript_is_known_by_its_path_and_from_the_home_directory(tmp_path, monkeypatch, path):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "talk.jsonl").write_bytes(b"{}\n")
    assert transcript_size(path.format(tmp_path)) == 3


@pytest.mark.parametrize("path", ["", "/nowhere/talk.jsonl", "a\0b", "~nobody-of-this-name/talk.jsonl"])
def test_a_transcript_that_cannot_be_read_has_no_size(path):
    assert transcript_size(path) == 0
