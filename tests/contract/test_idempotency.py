"""Requests with an idempotency key: what they did is stored with them, and dropped after a time."""

from datetime import timedelta

import pytest

from omoide.model import IdempotencyRecord, Scope


@pytest.fixture
def records(samples, store):
    samples.add("a", Scope.project("shop"))

    def record(project, key, **more):
        return IdempotencyRecord(project, key, "digest", {"memory": 1, "version": 2, "done": True}, samples.now, **more)

    def put(*new, drop_before=None):
        with store.write() as tx:
            for each in new:
                tx.put_idempotency_record(each, drop_before=drop_before or samples.now)

    return record, put


def test_a_record_is_found_by_its_project_and_key_alone(records, samples, backend):
    record, put = records
    put(record("shop", "k"), record("", "k2"))
    with backend.open().read() as tx:
        assert tx.idempotency_record("shop", "k") == record("shop", "k")
        assert tx.idempotency_record("", "k2") == record("", "k2")
        for project, key in (("", "k"), ("shop", "k2"), ("unknown", "k")):
            assert tx.idempotency_record(project, key) is None


def test_records_older_than_the_limit_are_dropped_with_the_next_one(records, samples):
    record, put = records
    put(record("shop", "old"))
    samples.now += timedelta(hours=1)
    put(record("shop", "new"), drop_before=samples.now)
    assert samples.ask(lambda tx: tx.idempotency_record("shop", "old")) is None
    assert samples.ask(lambda tx: tx.idempotency_record("shop", "new")) is not None


def test_nothing_is_recorded_when_the_transaction_fails(records, samples, store):
    record, _ = records

    def fail():
        with store.write() as tx:
            tx.put_idempotency_record(record("shop", "k"), drop_before=samples.now)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert samples.ask(lambda tx: tx.idempotency_record("shop", "k")) is None
