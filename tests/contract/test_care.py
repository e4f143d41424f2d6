"""How a store is kept well: checked, its index made anew, copied while in use."""

import gzip
import threading
from contextlib import contextmanager

import pytest
from msgspec.structs import replace

from omoide.errors import StoreError
from omoide.model import Actor, Query, Scope, State
from omoide.storage.base import IndexEntry

SHOP = Scope.project("shop")
BOB = Actor("bob", via="test")


@contextmanager
def writing(shelf, store):
    """Somebody else writes all the time, always two memories at once."""
    stop = threading.Event()

    def write():
        while not stop.is_set():
            with store.write() as tx:
                for _ in range(2):
                    draft = shelf.draft("pair")
                    tx.add([(draft, 0, shelf.words(draft))], BOB)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_an_intact_store_reports_no_problem(shelf, store):
    assert store.check() == []
    kept = shelf.keep("a b", SHOP)
    shelf.change(kept, state=State.ARCHIVED)
    shelf.keep("c", state=State.FORGOTTEN)
    assert store.check() == []


def test_a_check_finds_an_unindexed_memory_and_a_rebuild_repairs_it(shelf, store, backend):
    lost, other = shelf.keep("zebra", SHOP), shelf.keep("okapi")
    shelf.keep("gnu", state=State.FORGOTTEN)
    backend.lose_words(lost.number)
    findings = store.check()
    assert findings
    assert all(finding.fixable and finding.remedy for finding in findings)
    assert store.rebuild(shelf.expected) == 2
    assert store.check() == []
    query = Query(SHOP)
    assert shelf.ask(lambda tx: tx.postings(query, ["zebra"], [lost.number, other.number])["zebra"]) == [
        (lost.number, 0, 0, 1)
    ]
    assert shelf.ask(lambda tx: tx.postings(query, ["okapi"], [lost.number, other.number])["okapi"]) == [
        (other.number, 0, 0, 1)
    ]
    assert shelf.ask(lambda tx: tx.frequencies(query, ["gnu"], 9)["gnu"]) == 0


def test_a_check_finds_missing_sizes_and_a_rebuild_repairs_them(shelf, store, backend):
    shelf.keep("zebra crossing", SHOP)
    backend.lose_sizes()
    assert [finding.fixable for finding in store.check()] == [True]
    store.rebuild(shelf.expected)
    assert store.check() == []
    assert shelf.ask(lambda tx: tx.sizes(Query(SHOP))) == (1, 2)


def test_a_failed_rebuild_leaves_the_index_unchanged(shelf, store):
    first, last = shelf.keep("zebra"), [shelf.keep("zebra") for _ in range(1_000)][-1]

    def failing(memory):
        if memory.number == last.number:
            raise KeyboardInterrupt
        return 7, shelf.words(shelf.draft("okapi okapi"))

    with pytest.raises(KeyboardInterrupt):
        store.rebuild(failing)
    assert shelf.ask(lambda tx: tx.frequencies(Query(Scope()), ["zebra"], 9_999)["zebra"]) == 1_001
    assert store.check() == []
    assert store.check(lambda memory: (0, shelf.words(first))) == []


def test_changes_made_with_a_rebuild_are_atomic_with_it(shelf, store):
    zebra, okapi = shelf.keep("zebra", SHOP), shelf.keep("okapi", SHOP)

    def settle(tx):
        tx.erase(zebra.number)
        tx.change([(okapi, replace(okapi, content="gnu", version=2), 0, IndexEntry("", "", "gnu", 1, 1))], BOB)

    def settle_and_fail(tx):
        settle(tx)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.rebuild(shelf.expected, settle_and_fail)
    assert (held(store, "zebra"), held(store, "okapi"), held(store, "gnu")) == (1, 1, 0)
    assert store.check() == []
    store.rebuild(shelf.expected, settle)
    assert (held(store, "zebra"), held(store, "okapi"), held(store, "gnu")) == (0, 0, 1)
    assert store.check() == []


def held(store, word):
    with store.read() as tx:
        return tx.frequencies(Query(SHOP), [word], 9)[word]


def test_a_check_of_a_busy_store_finds_nothing(shelf, store, backend):
    with writing(shelf, backend.open()):
        assert [store.check() for _ in range(300)] == [[]] * 300


def test_a_backup_is_a_complete_store(shelf, store, backend, tmp_path):
    kept = shelf.change(shelf.keep("zebra", SHOP), content="okapi")
    target = tmp_path / "backups" / "copy.db"
    store.backup(target)
    assert list(target.parent.iterdir()) == [target]
    shelf.keep("later")
    copy = backend.open_copy(target)
    assert copy.check() == []
    with copy.read() as tx:
        assert list(tx.everything()) == [kept]
        assert tx.frequencies(Query(SHOP), ["okapi"], 9)["okapi"] == 1
        assert len(tx.versions(kept.number)) == 2


def test_a_backup_named_gz_is_compressed(shelf, store, backend, tmp_path):
    kept = shelf.keep("zebra " * 1_000, SHOP)
    target = tmp_path / "backups" / "copy.db.gz"
    store.backup(target)
    assert list(target.parent.iterdir()) == [target]
    assert target.stat().st_mode & 0o077 == 0
    plain = tmp_path / "copy.db"
    plain.write_bytes(gzip.decompress(target.read_bytes()))
    assert target.stat().st_size < plain.stat().st_size / 2
    with backend.open_copy(plain).read() as tx:
        assert list(tx.everything()) == [kept]


def test_a_backup_during_writes_is_consistent(shelf, store, backend, tmp_path):
    with writing(shelf, backend.open()):
        for n in range(5):
            store.backup(tmp_path / f"{n}.db")
    for n in range(5):
        copy = backend.open_copy(tmp_path / f"{n}.db")
        assert copy.check() == []
        with copy.read() as tx:
            assert len(list(tx.everything())) % 2 == 0


def test_a_backup_never_replaces_a_file(shelf, store, tmp_path):
    shelf.keep("zebra")
    target = tmp_path / "taken"
    target.write_text("mine")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(StoreError, match="exists already"):
        store.backup(target)
    assert target.read_text() == "mine"
    assert sorted(tmp_path.iterdir()) == before
