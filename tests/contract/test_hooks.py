"""Calls of hooks, what they injected, and the inbox: logged, recognised, leased by one process, erased with a memory."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from omoide.model import (
    HookEvent,
    HookRecord,
    HookState,
    InboxItem,
    Injection,
    JudgedUse,
    MemoryUse,
    Scope,
    TranscriptPosition,
)

NOON = datetime(2026, 2, 5, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LATER = NOON + timedelta(days=1)


def record(session="s", event=HookEvent.PROMPT, at=NOON, client="codex", digest="d", **fields):
    return HookRecord(0, at, client, event, session, digest, **fields)


def item(session="s", at=NOON, **fields):
    return InboxItem(0, at, "codex", session, "", "/srv/shop", fields.pop("transcript", "/t.jsonl"), 100, **fields)


def injection(call, memory, tokens=7):
    return Injection(call.number, call.at, call.client, call.event, call.session, memory.number, memory.version, tokens)


def log(store, call, *memories):
    """Log a call that has ended and injected these memories; return it."""
    with store.write() as tx:
        call = replace(call, number=tx.add_hook_call(call))
        done = replace(call, state=HookState.DONE, seconds=0.25, memories=len(memories))
        tx.end_hook_call(done, [injection(done, memory) for memory in memories])
    return done


def test_calls_are_listed_newest_first_and_the_last_of_each_client_apart(store):
    first, second = log(store, record()), log(store, record(client="gemini"))
    third = log(store, record(at=NOON + SECOND))
    with store.write() as tx:
        repeated = replace(record(digest=""), state=HookState.REPEATED)
        repeated = replace(repeated, number=tx.add_hook_call(repeated))
    with store.read() as tx:
        assert tx.hook_calls(3) == [repeated, third, second]
        assert tx.hook_calls(9)[-1] == first
        assert tx.last_hook_calls() == [third, second]


def test_a_call_is_recognised_by_its_digest_since_a_moment(store):
    log(store, record(digest="same"))
    with store.read() as tx:
        assert tx.has_hook_call("same", NOON)
        assert not tx.has_hook_call("same", NOON + SECOND)
        assert not tx.has_hook_call("other", NOON)


def test_a_repeated_call_has_no_digest_and_is_not_recognised(store):
    log(store, record(digest=""))
    with store.read() as tx:
        assert not tx.has_hook_call("", NOON)


def test_what_was_injected_since_the_session_was_cleared_is_known_with_its_version(samples, store):
    old, new = samples.add("zebra"), samples.add("okapi")
    log(store, record(), old)
    log(store, record(event=HookEvent.SESSION_START, clears=True), new)
    log(store, record("another"), old)
    with store.read() as tx:
        assert tx.injected_versions("s") == {new.number: new.version}
        assert tx.injected_versions("another") == {old.number: old.version}
        assert tx.injected_versions("unknown") == {}
    changed = samples.change(new, content="gnu")
    log(store, record(), changed, old)
    with store.read() as tx:
        assert tx.injected_versions("s") == {new.number: changed.version, old.number: old.version}


def test_injections_are_read_by_session_and_since_a_moment(samples, store):
    memory = samples.add("zebra")
    early, late = log(store, record(), memory), log(store, record("another", at=NOON + SECOND), memory)
    with store.read() as tx:
        assert tx.injections(None, NOON) == [injection(early, memory), injection(late, memory)]
        assert tx.injections("s", NOON) == [injection(early, memory)]
        assert tx.injections(None, NOON + SECOND) == [injection(late, memory)]


def test_nothing_is_recorded_of_a_memory_that_was_erased_meanwhile(samples, store):
    memory = samples.add("zebra")
    with store.write() as tx:
        tx.erase(memory.number)
    log(store, record(), memory)
    with store.read() as tx:
        assert tx.injections(None, NOON) == []


def test_the_items_of_one_session_are_leased_together_by_one_process(store):
    with store.write() as tx:
        for each in (item("a"), item("b"), item("a", NOON + SECOND)):
            tx.put_in_inbox(each)
    with store.write() as tx:
        leased = tx.lease_inbox(NOON, LATER, LATER)
    assert [(one.session, one.at) for one in leased] == [("a", NOON), ("a", NOON + SECOND)]
    with store.write() as tx:
        assert [one.session for one in tx.lease_inbox(NOON, LATER, LATER)] == ["b"]
        assert tx.lease_inbox(NOON, LATER, LATER) == []
        assert not tx.has_inbox(NOON, LATER)
    with store.write() as tx:  # the lease has ended, and nothing was finished
        assert tx.has_inbox(LATER, LATER)
        assert tx.lease_inbox(LATER, LATER + SECOND, LATER) == leased


def test_a_lease_is_extended_or_given_back(store):
    with store.write() as tx:
        tx.put_in_inbox(item("a"))
        (leased,) = tx.lease_inbox(NOON, NOON + SECOND, LATER)
        tx.extend_lease([leased.number], LATER)
        assert tx.lease_inbox(NOON + SECOND, LATER, LATER) == []
        tx.extend_lease([leased.number], NOON)
        assert tx.lease_inbox(NOON, LATER, LATER) == [leased]


def test_only_items_of_before_a_moment_are_leased(store):
    with store.write() as tx:
        tx.put_in_inbox(item("a"))
        assert not tx.has_inbox(NOON, NOON)
        assert tx.lease_inbox(NOON, LATER, NOON) == []
        assert tx.has_inbox(NOON, NOON + SECOND)


def test_what_was_learnt_from_is_no_longer_in_the_inbox(store):
    with store.write() as tx:
        tx.put_in_inbox(item("a", prompt="p", last_message="m", work_tree="{}"))
        (leased,) = tx.lease_inbox(NOON, LATER, LATER)
        assert (leased.prompt, leased.last_message, leased.work_tree) == ("p", "m", "{}")
        tx.finish_inbox([leased.number], NOON)
        assert tx.inbox() == []
        assert not tx.has_inbox(LATER + SECOND, LATER)


def test_the_last_state_of_a_work_tree_before_an_item_is_found_also_if_it_was_learnt_from(store):
    trees = ['{"root":"/a","head":"1"}', '{"root":"/a","head":"2"}', '{"root":"/b"}', "", '{"root":"/a","head":"3"}']
    with store.write() as tx:
        for tree in trees:
            tx.put_in_inbox(item("s", work_tree=tree))
        numbers = [one.number for one in tx.lease_inbox(NOON, LATER, LATER)]
        tx.finish_inbox(numbers[:2], NOON)
    with store.read() as tx:
        assert tx.work_tree_before(numbers[4], "/a") == trees[1]
        assert tx.work_tree_before(numbers[1], "/a") == trees[0]
        assert tx.work_tree_before(numbers[0], "/a") == ""
        assert tx.work_tree_before(numbers[4], "/c") == ""


def test_the_position_in_a_transcript_is_remembered(store):
    with store.write() as tx:
        assert tx.transcript_position("/t.jsonl") == TranscriptPosition()
        tx.record_position("/t.jsonl", TranscriptPosition(10, 2), NOON)
        tx.record_position("/t.jsonl", TranscriptPosition(30, 5), NOON)
    with store.read() as tx:
        assert tx.transcript_position("/t.jsonl") == TranscriptPosition(30, 5)


@pytest.mark.parametrize("way", ["injected", "quoted", "in Japanese"])
def test_an_erased_memory_leaves_no_item_that_may_repeat_it(samples, store, way):
    text = "配送は火曜日と金曜日だけです、例外はありません" if way == "in Japanese" else "The zebra crossing is new"
    memory = samples.add(text, Scope.project("shop"))
    said = "" if way == "injected" else f"As I said: {text}!"
    with store.write() as tx:
        tx.put_in_inbox(item("s", last_message=said))
        tx.put_in_inbox(item("other", transcript="/other.jsonl", last_message="nothing of it"))
    if way == "injected":
        log(store, record("s"), memory)
    with store.write() as tx:
        tx.erase(memory.number)
    with store.read() as tx:
        assert [one.session for one in tx.inbox()] == ["other"]
        assert tx.injections(None, NOON) == []
        assert tx.transcript_position("/t.jsonl").bytes == 100  # what is before that is not learnt from
        assert tx.transcript_position("/other.jsonl").bytes == 0


def test_uses_are_recorded_with_their_injection_and_counted_by_memory(samples, store):
    one, other = samples.add("zebra"), samples.add("okapi")
    first, second, third = (
        log(store, record(at=NOON + step * SECOND), *its) for step, its in enumerate(([one, other], [one], [one]))
    )
    with store.write() as tx:
        tx.record_uses(
            [
                JudgedUse(first.number, one.number, MemoryUse.USED, is_clear=True),
                JudgedUse(first.number, other.number, MemoryUse.USED, is_clear=False),
                JudgedUse(second.number, one.number, MemoryUse.CONTRADICTED, is_clear=True),
                JudgedUse(third.number, one.number, MemoryUse.USED, is_clear=True),
                JudgedUse(99, one.number, MemoryUse.USED, is_clear=True),
            ]
        )
    with store.read() as tx:
        assert [(each.memory, each.use, each.is_clear) for each in tx.injections("s", NOON)] == [
            (one.number, MemoryUse.USED, True),
            (other.number, MemoryUse.USED, False),
            (one.number, MemoryUse.CONTRADICTED, True),
            (one.number, MemoryUse.USED, True),
        ]
        assert tx.use_counts() == {one.number: (2, 1)}
