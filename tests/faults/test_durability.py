"""Durability is switched off for what may be lost, and on again afterwards, however that ended."""

import random
from contextlib import closing, suppress

import apsw
import pytest

from omoide import Draft, Scope
from omoide.errors import StoreBusy, StoreError
from omoide.storage.sqlite.store import SqliteStore

SHOP = Scope.project("shop")
FULL, NORMAL = 2, 1
MANY = 2_100  # memories: so many access times are written at once


def synchronous(store):
    return store._connection.pragma("synchronous")


@pytest.fixture
def statements():
    """What was executed, in order, on every connection of the test."""
    seen = []

    def prepare(connection):
        connection.exec_trace = lambda _, statement, __: seen.append(statement) or True

    apsw.connection_hooks.append(prepare)
    yield seen
    apsw.connection_hooks.remove(prepare)


@pytest.fixture
def store(tmp_path, open_memory, statements):
    with open_memory(tmp_path / "memory.db", retire="manual") as memory:
        memory.remember_many(Draft(f"note {n}", SHOP) for n in range(MANY))
    with closing(SqliteStore(tmp_path / "memory.db", wait=0.05)) as store:
        statements.clear()
        yield store


def flush(store, clock):
    store.touch(range(1, MANY + 1), clock.step())


def flush_at_rest(store, clock):
    store.touch(range(1, 600), clock.step())
    store.flush()


def flush_beside_a_writer(store, clock):
    with closing(apsw.Connection(store.location)) as other:
        other.execute("BEGIN IMMEDIATE")
        flush(store, clock)


def merge(store, clock):
    store.merge_index(1)


def merge_beside_a_writer(store, clock):
    with closing(apsw.Connection(store.location)) as other:
        other.execute("BEGIN IMMEDIATE")
        store.merge_index(1)


def write_undurably(store, clock):
    with store.write(durable=False) as tx:
        tx.record_run("sweep", clock.step())


def write_undurably_and_fail(store, clock):
    with suppress(ZeroDivisionError), store.write(durable=False):
        raise ZeroDivisionError


def write_undurably_beside_a_writer(store, clock):
    with closing(apsw.Connection(store.location)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy), store.write(patient=False, durable=False):
            pass


def write_undurably_on_a_connection_in_a_transaction(store, clock):
    store._connection.execute("BEGIN")
    write_undurably(store, clock)


def write_undurably_with_a_statement_that_fails(store, clock):
    with pytest.raises(StoreError), store.write(durable=False) as tx:
        tx.transaction.run("INSERT INTO nowhere VALUES (1)")


@pytest.mark.parametrize(
    "path",
    [
        flush, flush_at_rest, flush_beside_a_writer, merge, merge_beside_a_writer, write_undurably,
        write_undurably_and_fail, write_undurably_beside_a_writer, write_undurably_on_a_connection_in_a_transaction,
        write_undurably_with_a_statement_that_fails,
    ],
)  # several entries per line  # fmt: skip
def test_a_non_durable_write_leaves_the_connection_durable(store, clock, statements, path):
    assert synchronous(store) == FULL
    path(store, clock)
    assert "PRAGMA synchronous=NORMAL" in statements
    assert synchronous(store) == FULL
    with store.write() as tx:
        assert synchronous(store) == FULL
        tx.record_run("sweep", clock.step())
    assert synchronous(store) == FULL


@pytest.mark.parametrize("fault", [apsw.IOError, apsw.FullError, apsw.ReadOnlyError, apsw.BusyError, apsw.CorruptError])
def test_failed_access_time_writes_leave_the_connection_durable(store, clock, fault):
    for refused in ("INSERT INTO accesses", "COMMIT", "BEGIN", "PRAGMA synchronous=NORMAL"):
        fail_at(store, refused, fault)
        with suppress(StoreError):
            flush(store, clock)
        store._connection.exec_trace = None
        assert synchronous(store) == FULL
        assert store._connection.txn_state() == apsw.SQLITE_TXN_NONE


def fail_at(store, beginning, fault):
    def trace(_, statement, __):
        if statement.startswith(beginning):
            raise fault("made by the test")
        return True

    store._connection.exec_trace = trace


def refuse_full(action, what, value, *_):
    return apsw.SQLITE_DENY if (action, what, value) == (apsw.SQLITE_PRAGMA, "synchronous", "FULL") else apsw.SQLITE_OK


@pytest.mark.parametrize("path", [flush, write_undurably])
def test_a_connection_that_cannot_be_made_durable_again_is_reopened_before_the_next_write(store, clock, caplog, path):
    store._connection.authorizer = refuse_full
    with suppress(apsw.AuthError):
        path(store, clock)
    assert synchronous(store) == NORMAL
    store._connection.authorizer = None
    with store.write() as tx:
        assert synchronous(store) == FULL
        tx.record_run("sweep", clock.step())
    (record,) = caplog.records
    assert record.name == "omoide.store"
    assert "could not be set to sync again" in record.message


def test_verbs_with_non_durable_writes_leave_the_store_durable(tmp_path, open_memory, statements, clock):
    memory = open_memory(tmp_path / "memory.db")
    memory.remember_many(Draft(f"note {n}", SHOP) for n in range(MANY))
    memory.mirror(tmp_path / "notes.md", scope=SHOP)
    for verb in (
        lambda: memory.recall("", scope=SHOP, limit=1000),
        memory.flush,
        lambda: memory.resume(scope=SHOP),
        lambda: memory.pin(1, scope=SHOP),
        lambda: memory.list(scope=SHOP),
        lambda: clock.step(90_000) and memory.retire_if_due(),
        memory.reindex,
        memory.repair,
    ):
        verb()
        assert synchronous(memory._store) == FULL
    assert statements.count("PRAGMA synchronous=NORMAL") >= 3
    memory.close()
    memory = open_memory(tmp_path / "memory.db")
    assert synchronous(memory._store) == FULL


@pytest.mark.parametrize("seed", range(6))
def test_a_remember_after_a_flushed_recall_survives_a_power_cut(tmp_path, disk, ordinary_disk, open_memory, seed):
    chance = random.Random(seed)
    with open_memory(tmp_path / "memory.db", retire="manual") as memory:
        memory.remember_many(Draft(f"note {n}", SHOP) for n in range(600))
        cuts, acknowledged = [], []
        for n in range(4):
            memory.recall("", scope=SHOP, limit=1000)
            memory.flush()
            assert not memory._store._touched  # written, without a sync
            cuts.append((disk.cut(tmp_path / f"flushed{n}", chance), list(acknowledged)))
            acknowledged.append(memory.remember(f"acknowledged {n}", scope=SHOP).memory.id)
            cuts.append((disk.cut(tmp_path / f"kept{n}", chance), list(acknowledged)))
    ordinary_disk()
    for directory, ids in cuts:
        with open_memory(directory / "memory.db") as memory:
            assert memory.check() == []
            assert [memory.show(id, scope=SHOP).id for id in ids] == ids
