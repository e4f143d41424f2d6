"""Calls of language models: stored, replaced by id, and counted since a moment."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from omoide.model import CallState, LlmCall

NOON = datetime(2026, 2, 5, 12, tzinfo=UTC)


def call(id, at, tokens):
    return LlmCall(id, at, "route", "stub", CallState.RUNNING, tokens)


def test_calls_are_read_and_counted_since_a_moment_and_replaced_by_their_id(store):
    early, late = call("a", NOON - timedelta(seconds=1), 5), call("b", NOON, 10)
    with store.write() as tx:
        tx.put_llm_call(late)
        tx.put_llm_call(early)
    done = replace(late, state=CallState.ANSWERED, input_tokens=7, output_tokens=2, cost=0.25, seconds=1.5)
    with store.write() as tx:
        tx.put_llm_call(done)
    with store.read() as tx:
        assert tx.llm_calls(NOON) == [done]
        assert tx.llm_calls(early.at) == [early, done]
        assert (tx.llm_tokens(NOON), tx.llm_tokens(early.at)) == (9, 14)
        assert tx.llm_tokens(NOON + timedelta(seconds=1)) == 0
