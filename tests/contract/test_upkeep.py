"""What a store knows for its upkeep: who is unused, how full each layer is, when it was last looked after."""

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


def unused(shelf, since, at=None):
    return [usage.number for usage in shelf.ask(lambda tx: list(tx.unused(since, at or shelf.now)))]


def test_a_memory_is_unused_since_its_last_change_access_or_event(shelf, store):
    start = shelf.now
    changed, accessed, linked, idle = (shelf.keep(text) for text in "abcd")
    assert unused(shelf, start) == []
    kept = shelf.now
    assert unused(shelf, kept) == [changed.number, accessed.number, linked.number, idle.number]
    shelf.change(changed, content="z")
    with store.write() as tx:
        store.touch([accessed.number], shelf.step())
        tx.add_event("told", BOB, shelf.step(), linked, {})
    assert unused(shelf, kept) == [idle.number]
    assert unused(shelf, shelf.now) == [idle.number, changed.number, accessed.number, linked.number]
    used = shelf.ask(lambda tx: {usage.number: usage.used_at for usage in tx.unused(shelf.now, shelf.now)})
    assert used[linked.number] == shelf.now
    assert used[idle.number] == kept


def test_dates_from_before_an_import_do_not_make_a_memory_unused(shelf):
    before = shelf.now - 1000 * DAY
    shelf.keep("imported", created_at=before, updated_at=before, last_accessed_at=before)
    assert unused(shelf, shelf.now - DAY) == []


def test_unused_lists_expired_first_and_only_active_memories(shelf):
    soon = shelf.now + 2 * DAY
    first = shelf.keep("a", SHOP, pinned=True)
    for state in (State.INACTIVE, State.ARCHIVED, State.FORGOTTEN):
        shelf.keep("b", SHOP, state=state, expires_at=soon)
    expiring = shelf.keep("c", MONDAY, topic="t", expires_at=soon)
    assert unused(shelf, shelf.now, soon) == [expiring.number, first.number]
    assert unused(shelf, shelf.now - 99 * DAY, soon) == [expiring.number]
    assert unused(shelf, shelf.now - 99 * DAY, soon - DAY) == []
    usages = shelf.ask(lambda tx: list(tx.unused(shelf.now, soon)))
    assert [(u.scope, u.topic, u.version, u.pinned, u.expires_at) for u in usages] == [
        (MONDAY, "t", 1, False, soon),
        (SHOP, "", 1, True, None),
    ]


def test_layer_sizes_count_active_memories_per_layer(shelf):
    for scope in (SHOP, SHOP, MONDAY, Scope()):
        shelf.keep("a", scope)
    shelf.keep("b", SHOP, state=State.ARCHIVED)
    counts = shelf.ask(lambda tx: tx.counts())
    active = {scope: count for scope, _, state, count in counts if state == "active"}
    assert active == {Scope(): 1, SHOP: 2, MONDAY: 1}


def test_the_last_run_of_a_task_is_visible_to_all(shelf, store, backend):
    assert shelf.ask(lambda tx: tx.last_run("sweep")) is None
    for at in (shelf.step(), shelf.step()):
        with store.write() as tx:
            tx.record_run("sweep", at)
        with backend.open().read() as tx:
            assert tx.last_run("sweep") == at
            assert tx.last_run("dust") is None


def test_the_mark_changes_with_every_event_and_every_rebuild(shelf, store, backend):
    other, kept = backend.open(), []
    marks = [shelf.ask(lambda tx: tx.mark())]

    def moved():
        with other.read() as tx:
            marks.append(tx.mark())
        return marks[-1] not in marks[:-1]

    deeds = (
        lambda: kept.append(shelf.keep("zebra", SHOP)),
        lambda: kept.append(shelf.change(kept[0], content="okapi")),
        lambda: shelf.erase(kept[-1]),
        lambda: store.rebuild(shelf.expected),
        lambda: store.rebuild(shelf.expected),
    )
    for deed in deeds:
        deed()
        assert moved()
    assert [mark.event for mark in marks] == [0, 1, 2, 3, 3, 3]
    assert len({mark.renewal for mark in marks}) == 3
    assert shelf.ask(lambda tx: tx.mark()) == marks[-1]


def test_vectors_accesses_and_maintenance_keep_the_mark(shelf, store):
    memory = shelf.keep("zebra", SHOP)
    mark = shelf.ask(lambda tx: tx.mark())
    with store.write() as tx:
        tx.put_vectors(tx.ensure_model("test", 64), [StoredVector(memory.number, memory.version, bytes(8), bytes(64))])
        tx.record_run("sweep", shelf.now)
    store.touch([memory.number], shelf.step())
    assert shelf.ask(lambda tx: tx.mark()) == mark


def test_a_writer_that_does_not_wait_gets_an_error_at_once(shelf, store, backend):
    other = backend.open()
    with store.write(), pytest.raises(StoreBusy), other.write(patient=False):
        pass
    with other.write(patient=False) as tx:
        tx.record_run("sweep", shelf.now)
    waited = threading.Event()

    def write():
        with other.write() as tx:  # and is as patient as ever afterwards
            tx.record_run("sweep", shelf.step())
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


def test_changing_many_equals_changing_one_by_one(shelf, store):
    kept = [shelf.keep(f"word{n} common", SHOP if n % 2 else Scope()) for n in range(6)]
    wanted = [State.ARCHIVED, State.FORGOTTEN, State.ACTIVE, State.INACTIVE, State.ARCHIVED, State.ARCHIVED]
    changed = [
        msgspec.structs.replace(old, state=state, scope=SHOP, content=f"new{old.number}", version=2, updated_at=shelf.step())
        for old, state in zip(kept, wanted, strict=True)
    ]
    with store.write() as tx:
        pairs = [(old, new, 7, shelf.words(new)) for old, new in zip(kept, changed, strict=True)]
        tx.change(list(reversed(pairs)), BOB)
    assert shelf.ask(lambda tx: list(tx.everything())) == changed
    for old, new in zip(kept, changed, strict=True):
        assert shelf.ask(lambda tx, number=old.number: [v.memory for v in tx.versions(number)]) == [old, new]
    everything = Query(SHOP, states=tuple(State))
    words = ["common", *(f"new{old.number}" for old in kept)]
    found = shelf.ask(lambda tx: tx.frequencies(everything, words, 99))
    assert [found.get(word, 0) for word in words] == [0, 1, 0, 1, 1, 1, 1]
    assert store.check() == []


def test_pinned_memories_are_browsed_alone_if_asked(shelf):
    shelf.keep("a", SHOP)
    pinned = [shelf.keep("b", SHOP, pinned=True), shelf.keep("c", pinned=True)]
    shelf.keep("d", SHOP, pinned=True, state=State.ARCHIVED)
    found = shelf.ask(lambda tx: list(tx.browse(Query(SHOP, pinned=True), shelf.now)))
    assert found == list(reversed(pinned))


def test_a_session_alone_is_browsed_without_its_project_and_other_sessions(shelf):
    shelf.keep("a", SHOP)
    shelf.keep("b", Scope.session("shop", "tuesday"))
    mine = shelf.keep("c", MONDAY)
    assert shelf.ask(lambda tx: list(tx.browse(Query(MONDAY, layers=(Layer.SESSION,)), shelf.now))) == [mine]


def test_an_index_merge_changes_no_result_and_yields_to_writers(shelf, store, backend):
    kept = [shelf.keep(f"gnu {n}", SHOP).number for n in range(20)]
    store.merge_index(9)
    store.merge_index(9)  # and when there is nothing left to merge
    assert shelf.ask(lambda tx: tx.posting_numbers(Query(SHOP), ["gnu"], 99)["gnu"]) == kept[::-1]
    with backend.open().write():
        store.merge_index(9)
    assert store.check() == []
