"""A damaged index is found and rebuilt; erased memories leave no row and no byte."""

import apsw
import pytest
from msgspec.structs import replace

from omoide.errors import StoreDamaged
from omoide.model import (
    Choice,
    FileState,
    LinkKind,
    Mirror,
    Project,
    Query,
    Scope,
    Side,
    State,
    SyncConflict,
    SyncState,
)
from omoide.storage.base import IndexSize, StoredVector, SyncUpdate
from omoide.storage.capabilities import StoredText
from omoide.storage.sqlite import names

SHOP = Scope.project("shop")


@pytest.fixture
def run(backend):
    """Runs a statement behind the store's back."""

    def run(statement, *values):
        connection = apsw.Connection(str(backend.path))
        try:
            return connection.execute(statement, values).fetchall()
        finally:
            connection.close()

    return run


def test_a_check_finds_an_unindexed_memory_and_a_rebuild_repairs_it(samples, store, run):
    lost, other = samples.add("zebra", SHOP), samples.add("okapi")
    samples.add("gnu", state=State.FORGOTTEN)
    run("DELETE FROM words WHERE rowid & 0xffffffff = ?", lost.number)
    findings = store.check()
    assert findings
    assert all(finding.fixable and finding.remedy for finding in findings)
    assert store.rebuild(samples.index_input) == 2
    assert samples.problems() == []
    query = Query(SHOP)
    assert samples.ask(lambda tx: tx.postings(query, ["zebra"], [lost.number, other.number])["zebra"]) == [
        (lost.number, 0, 0, 1)
    ]
    assert samples.ask(lambda tx: tx.postings(query, ["okapi"], [lost.number, other.number])["okapi"]) == [
        (other.number, 0, 0, 1)
    ]
    assert samples.ask(lambda tx: tx.frequencies(query, ["gnu"], 9)["gnu"]) == 0


def test_a_check_finds_missing_sizes_and_a_rebuild_repairs_them(samples, store, run):
    samples.add("zebra crossing", SHOP)
    run("DELETE FROM areas")
    assert [finding.fixable for finding in store.check()] == [True]
    store.rebuild(samples.index_input)
    assert samples.problems() == []
    assert samples.ask(lambda tx: tx.sizes(Query(SHOP))) == IndexSize(1, 2)


@pytest.mark.parametrize(
    ("statement", "fails", "message"),
    [
        ("UPDATE versions SET body = '{}'", "versions", "past versions or links of #1 cannot be read"),
        ("UPDATE versions SET body = 'x'", "versions", "past versions or links of #1 cannot be read"),
        ("UPDATE links SET kind = 'odd'", "links", "past versions or links of #1 cannot be read"),
        ("UPDATE memories SET actor = 9 WHERE number = 1", "versions", "1 memories, versions or events name an actor"),
        ("UPDATE versions SET actor = 9", "versions", "1 memories, versions or events name an actor"),
    ],
)
def test_rows_beside_a_memory_that_another_program_damaged_are_found(samples, store, run, statement, fails, message):
    first, second = samples.add("zebra", SHOP), samples.add("okapi", SHOP)
    samples.change(first, content="quagga")
    with store.write() as tx:
        tx.link(first.number, LinkKind.RELATES, second.number, samples.now)
    assert store.check() == []
    run(statement)
    problem, *_ = store.check()
    assert problem.what.startswith(message)
    assert not problem.fixable
    with pytest.raises(StoreDamaged, match="run `omoide doctor`"), store.read() as tx:
        getattr(tx, fails)(first.number)


def test_an_erased_memory_leaves_no_row_in_any_table_but_its_events(samples, store, run):
    kept, erased = samples.add("zebra", SHOP), samples.add("quagga", SHOP, key="k")
    erased = samples.change(erased, content="okapi")
    with store.write() as tx:
        for source, target in ((kept.number, erased.number), (erased.number, kept.number)):
            tx.link(source, LinkKind.RELATES, target, samples.now)
        tx.put_vectors(tx.ensure_model("test", 64), [StoredVector(erased.number, 2, bytes(8), bytes(64))])
        mirror = tx.put_mirror(Mirror(0, SHOP, "/a", "f", "memories", Choice.OWN, samples.now)).number
        update = SyncUpdate(
            states=[SyncState(erased.number, "f")],
            files=[FileState("f", 1, 2, 3, "d", settled=True)],
            conflicts=[SyncConflict(mirror, erased.number, samples.now, 1, 2, Side.FILE)],
        )
        tx.record_sync(mirror, update)
    store.touch([erased.number], samples.now)
    samples.add("written with the access time")
    store.touch([erased.number], samples.step())
    samples.erase(erased)
    samples.add("written with the access time of a memory that is gone")
    tables = {"memories": "number", "versions": "memory", "accesses": "memory", "sign_bits": "memory", "vectors": "memory"}
    tables |= {"sync_states": "memory", "sync_conflicts": "memory", "words_docsize": "id & 0xffffffff"}
    for table, column in tables.items():
        assert run(f"SELECT count(*) FROM {table} WHERE {column} = ?", erased.number) == [(0,)], table
    assert run("SELECT count(*) FROM links") == [(0,)]
    assert run("SELECT action FROM events WHERE memory = ?", erased.number) == [("remembered",), ("changed",), ("purged",)]
    assert store.check() == []


def test_access_times_flushed_without_a_sync_leave_later_writes_durable(samples, store):
    kept = samples.add("zebra")
    store.touch([kept.number, *range(1_000, 1_600)], samples.now)
    store.flush()
    assert store._connection.pragma("synchronous") == 2
    with store.write(durable=False) as tx:
        tx.record_run("sweep", samples.now)
    assert store._connection.pragma("synchronous") == 2


def test_scrubbing_removes_every_byte_of_replaced_texts(samples, store, tmp_path):
    old = samples.add("zebra-in-the-past", SHOP)
    samples.change(old, content="okapi")
    with store.write() as tx:
        tx.put_project(Project("shop", "quagga-in-the-description"))
        tx.replace_version(replace(old, content="gnu"))
        tx.replace_text(StoredText("description", "quagga-in-the-description"), "gnu")
    store.scrub()
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"zebra-in-the-past" not in kept
    assert b"quagga" not in kept


# What callers do not choose: ids, hashes, words of a fixed list, times, and names from the settings.
NO_TEXTS_OF_CALLERS = {
    "actors.role", "actors.via", "events.action", "file_states.digest", "file_versions.digests", "hook_calls.digest",
    "hook_calls.event", "hook_calls.state", "idempotency.digest", "idempotency.key", "identities.kind", "injections.use",
    "links.kind", "llm_calls.id", "llm_calls.model", "llm_calls.purpose", "llm_calls.state", "memories.id", "memories.type",
    "meta.name", "mirrors.choice", "mirrors.format", "models.name", "places.stamp", "runs.receipt", "sync_conflicts.stands",
    "sync_states.digest", "sync_states.entry", "sync_states.held", "upkeep.task",
}  # several entries per line  # fmt: skip
ELSEWHERE = {
    "projects.folded": "projects.path", "sessions.folded": "sessions.name", "work_trees.root": "work_trees.record",
    "file_versions.name": "file_states.name",
}  # several entries per line  # fmt: skip
"""Texts that are stored twice, and replaced with the first one."""


def test_a_scan_looks_at_every_text_that_a_caller_can_store(store, run):
    tables = run(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'words*' AND name NOT GLOB 'sqlite_*'"
    )
    columns = {
        f"{table}.{column}"
        for (table,) in tables
        for (column,) in run("SELECT name FROM pragma_table_info(?) WHERE type = 'TEXT'", table)
    }
    of_memories = {name for name in columns if name.startswith("memories.")} | {"versions.body"}
    of_mirrors = {"mirrors.place", "mirrors.file", "mirrors.adopt", "sync_states.file", "file_states.name"}
    listed = {f"{table}.{column}" for table, column in names._COLUMNS.values() if table.isidentifier()}
    listed |= {"sessions.name", *(f"{table}.session" for table in names._OF_SESSIONS)}
    assert columns - NO_TEXTS_OF_CALLERS == (of_memories | of_mirrors | listed | set(ELSEWHERE)) - NO_TEXTS_OF_CALLERS
    assert set(ELSEWHERE.values()) <= of_mirrors | listed
