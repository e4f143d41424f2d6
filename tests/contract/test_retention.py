"""What retention reads: memories out of use, the size of each layer, the last run of a task; and who may write."""

import threading
from datetime import timedelta

import msgspec
import pytest

from omoide.errors import StoreBusy, StoreError
from omoide.model import Actor, Layer, Query, Scope, State
from omoide.storage.base import StoredVector

SHOP, MONDAY = Scope.project("shop"), Scope.session("shop", "monday")
BOB = Actor("bob", via="test")
DAY = timedelta(days=1)


def find_unused(samples, since, at=None):
    return [usage.number for usage in samples.ask(lambda tx: list(tx.unused_memories(since, at or samples.now)))]


def test_a_memory_is_unused_since_its_last_change_access_or_event(samples, store):
    start = samples.now
    changed, accessed, linked, idle = (samples.add(text) for text in "abcd")
    assert find_unused(samples, start) == []
    kept = samples.now
    assert find_unused(samples, kept) == [changed.number, accessed.number, linked.number, idle.number]
    samples.change(changed, content="z")
    with store.write() as tx:
        store.touch([accessed.number], samples.step())
        tx.add_event("linked", BOB, samples.step(), linked, {})
    assert find_unused(samples, kept) == [idle.number]
    assert find_unused(samples, samples.now) == [idle.number, changed.number, accessed.number, linked.number]
    used = samples.ask(lambda tx: {usage.number: usage.used_at for usage in tx.unused_memories(samples.now, samples.now)})
    assert used[linked.number] == samples.now
    assert used[idle.number] == kept


def test_dates_from_before_an_import_do_not_make_a_memory_unused(samples):
    before = samples.now - 1000 * DAY
    samples.add("imported", created_at=before, updated_at=before, last_accessed_at=before)
    assert find_unused(samples, samples.now - DAY) == []


def test_unused_lists_expired_first_and_only_active_memories(samples):
    soon = samples.now + 2 * DAY
    first = samples.add("a", SHOP, pinned=True)
    for state in (State.INACTIVE, State.ARCHIVED, State.FORGOTTEN):
        samples.add("b", SHOP, state=state, expires_at=soon)
    expiring = samples.add("c", MONDAY, topic="t", expires_at=soon)
    assert find_unused(samples, samples.now, soon) == [expiring.number, first.number]
    assert find_unused(samples, samples.now - 99 * DAY, soon) == [expiring.number]
    assert find_unused(samples, samples.now - 99 * DAY, soon - DAY) == []
    usages = samples.ask(lambda tx: list(tx.unused_memories(samples.now, soon)))
    assert [(u.scope, u.topic, u.version, u.pinned, u.expires_at) for u in usages] == [
        (MONDAY, "t", 1, False, soon),
        (SHOP, "", 1, True, None),
    ]


def test_layer_sizes_count_active_memories_per_layer(samples):
    for scope in (SHOP, SHOP, MONDAY, Scope()):
        samples.add("a", scope)
    samples.add("b", SHOP, state=State.ARCHIVED)
    counts = samples.ask(lambda tx: tx.counts())
    active = {scope: count for scope, _, state, count in counts if state == "active"}
    assert active == {Scope(): 1, SHOP: 2, MONDAY: 1}


def test_the_last_run_of_a_task_is_visible_to_all(samples, store, backend):
    assert samples.ask(lambda tx: tx.last_run("sweep")) is None
    for at in (samples.step(), samples.step()):
        with store.write() as tx:
            tx.record_run("sweep", at)
        with backend.open().read() as tx:
            assert tx.last_run("sweep") == at
            assert tx.last_run("dust") is None


@pytest.mark.needs("Integrity")
def test_the_mark_changes_with_every_event_and_every_rebuild(samples, store, backend):
    other, kept = backend.open(), []
    marks = [samples.ask(lambda tx: tx.mark())]

    def mark_is_new():
        with other.read() as tx:
            marks.append(tx.mark())
        return marks[-1] not in marks[:-1]

    actions = (
        lambda: kept.append(samples.add("zebra", SHOP)),
        lambda: kept.append(samples.change(kept[0], content="okapi")),
        lambda: samples.erase(kept[-1]),
        lambda: store.rebuild(samples.index_input),
        lambda: store.rebuild(samples.index_input),
    )
    for action in actions:
        action()
        assert mark_is_new()
    assert [mark.event for mark in marks] == [0, 1, 2, 3, 3, 3]
    assert len({mark.rebuild for mark in marks}) == 3
    assert samples.ask(lambda tx: tx.mark()) == marks[-1]


@pytest.mark.needs("VectorIndex")
def test_vectors_accesses_and_maintenance_keep_the_mark(samples, store):
    memory = samples.add("zebra", SHOP)
    mark = samples.ask(lambda tx: tx.mark())
    with store.write() as tx:
        tx.put_vectors(tx.ensure_model("test", 64), [StoredVector(memory.number, memory.version, bytes(8), bytes(64))])
        tx.record_run("sweep", samples.now)
    store.touch([memory.number], samples.step())
    assert samples.ask(lambda tx: tx.mark()) == mark


def test_a_writer_that_does_not_wait_gets_an_error_at_once(samples, store, backend):
    other = backend.open()
    with store.write(), pytest.raises(StoreBusy), other.write(patient=False):
        pass
    with other.write(patient=False) as tx:
        tx.record_run("sweep", samples.now)
    waited = threading.Event()

    def write():
        with other.write() as tx:  # and is as patient as ever afterwards
            tx.record_run("sweep", samples.step())
        waited.set()

    thread = threading.Thread(target=write)
    with store.write():
        thread.start()
        assert not waited.wait(0.1)
    thread.join()
    assert waited.is_set()


def test_a_store_is_idle_while_it_is_open_and_no_transaction_is(store):
    assert store.idle
    with store.read():
        assert not store.idle
    with store.write():
        assert not store.idle
    with store.read(), pytest.raises(StoreError, match="still reading"), store.write():
        pass
    assert store.idle
    store.close()
    assert not store.idle


def test_changing_many_equals_changing_one_by_one(samples, store):
    kept = [samples.add(f"word{n} common", SHOP if n % 2 else Scope()) for n in range(6)]
    wanted = [State.ARCHIVED, State.FORGOTTEN, State.ACTIVE, State.INACTIVE, State.ARCHIVED, State.ARCHIVED]
    changed = [
        msgspec.structs.replace(
            old, state=state, scope=SHOP, content=f"new{old.number}", version=2, updated_at=samples.step()
        )
        for old, state in zip(kept, wanted, strict=True)
    ]
    with store.write() as tx:
        pairs = [(old, new, 7, samples.index_entry(new)) for old, new in zip(kept, changed, strict=True)]
        tx.change(list(reversed(pairs)), BOB)
    assert samples.ask(lambda tx: list(tx.everything())) == changed
    for old, new in zip(kept, changed, strict=True):
        assert samples.ask(lambda tx, number=old.number: [v.memory for v in tx.versions(number)]) == [old, new]
    everything = Query(SHOP, states=tuple(State))
    words = ["common", *(f"new{old.number}" for old in kept)]
    found = samples.ask(lambda tx: tx.frequencies(everything, words, 99))
    assert [found.get(word, 0) for word in words] == [0, 1, 0, 1, 1, 1, 1]
    assert samples.problems() == []


def test_pinned_memories_are_browsed_alone_if_asked(samples):
    samples.add("a", SHOP)
    pinned = [samples.add("b", SHOP, pinned=True), samples.add("c", pinned=True)]
    samples.add("d", SHOP, pinned=True, state=State.ARCHIVED)
    found = samples.ask(lambda tx: list(tx.browse(Query(SHOP, pinned=True), samples.now)))
    assert found == list(reversed(pinned))


def test_a_session_alone_is_browsed_without_its_project_and_other_sessions(samples):
    samples.add("a", SHOP)
    samples.add("b", Scope.session("shop", "tuesday"))
    mine = samples.add("c", MONDAY)
    assert samples.ask(lambda tx: list(tx.browse(Query(MONDAY, layers=(Layer.SESSION,)), samples.now))) == [mine]


@pytest.mark.needs("Housekeeping")
def test_an_index_merge_changes_no_result_and_yields_to_writers(samples, store, backend):
    kept = [samples.add(f"gnu {n}", SHOP).number for n in range(20)]
    store.merge_index(9)
    store.merge_index(9)  # and when there is nothing left to merge
    assert samples.ask(lambda tx: tx.posting_numbers(Query(SHOP), ["gnu"], 99)["gnu"]) == kept[::-1]
    with backend.open().write():
        store.merge_index(9)
    assert samples.problems() == []
