"""A store is checked, its index rebuilt and the whole of it copied, while others use it."""

import gzip
import threading
from contextlib import contextmanager

import pytest
from msgspec.structs import replace

from omoide.errors import StoreBusy, StoreDamaged, StoreError
from omoide.model import Actor, Query, Scope, State
from omoide.storage.base import IndexEntry

SHOP = Scope.project("shop")
BOB = Actor("bob", via="test")


@contextmanager
def writing(samples, store):
    """Somebody else writes all the time, always two memories at once."""
    stop = threading.Event()

    def write():
        while not stop.is_set():
            with store.write() as tx:
                for _ in range(2):
                    draft = samples.draft("pair")
                    tx.add([(draft, 0, samples.index_entry(draft))], BOB)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.needs("Integrity")
def test_an_intact_store_reports_no_problem(samples, store):
    assert samples.problems() == []
    kept = samples.add("a b", SHOP)
    samples.change(kept, state=State.ARCHIVED)
    samples.add("c", state=State.FORGOTTEN)
    assert samples.problems() == []


@pytest.mark.needs("Integrity")
def test_a_failed_rebuild_leaves_the_index_unchanged(samples, store):
    first, last = samples.add("zebra"), [samples.add("zebra") for _ in range(1_000)][-1]

    def failing(memory):
        if memory.number == last.number:
            raise KeyboardInterrupt
        return 7, samples.index_entry(samples.draft("okapi okapi"))

    with pytest.raises(KeyboardInterrupt):
        store.rebuild(failing)
    assert samples.ask(lambda tx: tx.frequencies(Query(Scope()), ["zebra"], 9_999)["zebra"]) == 1_001
    assert samples.problems() == []
    assert store.check(lambda memory: (0, samples.index_entry(first))) == []


@pytest.mark.needs("Integrity")
def test_changes_made_with_a_rebuild_are_atomic_with_it(samples, store):
    zebra, okapi = samples.add("zebra", SHOP), samples.add("okapi", SHOP)

    def settle(tx):
        tx.erase(zebra.number)
        tx.change([(okapi, replace(okapi, content="gnu", version=2), 0, IndexEntry("", "", "gnu", 1, 1))], BOB)

    def settle_and_fail(tx):
        settle(tx)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.rebuild(samples.index_input, settle_and_fail)
    assert (frequency(store, "zebra"), frequency(store, "okapi"), frequency(store, "gnu")) == (1, 1, 0)
    assert samples.problems() == []
    store.rebuild(samples.index_input, settle)
    assert (frequency(store, "zebra"), frequency(store, "okapi"), frequency(store, "gnu")) == (0, 0, 1)
    assert samples.problems() == []


def frequency(store, word):
    with store.read() as tx:
        return tx.frequencies(Query(SHOP), [word], 9)[word]


@pytest.mark.needs("Integrity")
def test_a_check_of_a_busy_store_finds_nothing(samples, store, backend):
    with writing(samples, backend.open()):
        assert [store.check() for _ in range(300)] == [[]] * 300


@pytest.mark.needs("Backup")
def test_a_backup_is_a_complete_store(samples, store, backend, tmp_path):
    kept = samples.change(samples.add("zebra", SHOP), content="okapi")
    target = tmp_path / "backups" / "copy.db"
    store.backup(target)
    assert list(target.parent.iterdir()) == [target]
    samples.add("later")
    copy = backend.open_copy(target)
    assert copy.check() == []
    with copy.read() as tx:
        assert list(tx.everything()) == [kept]
        assert tx.frequencies(Query(SHOP), ["okapi"], 9)["okapi"] == 1
        assert len(tx.versions(kept.number)) == 2


@pytest.mark.needs("Backup")
def test_a_backup_named_gz_is_compressed(samples, store, backend, tmp_path):
    kept = samples.add("zebra " * 1_000, SHOP)
    target = tmp_path / "backups" / "copy.db.gz"
    store.backup(target)
    assert list(target.parent.iterdir()) == [target]
    assert target.stat().st_mode & 0o077 == 0
    plain = tmp_path / "copy.db"
    plain.write_bytes(gzip.decompress(target.read_bytes()))
    assert target.stat().st_size < plain.stat().st_size / 2
    with backend.open_copy(plain).read() as tx:
        assert list(tx.everything()) == [kept]


@pytest.mark.needs("Erasure")
def test_scrubbing_leaves_no_byte_of_an_erased_memory_or_its_versions(samples, store, tmp_path):
    kept = samples.add("zebra", SHOP)
    gone = samples.change(samples.add("okapi one", SHOP, tags=("striped",)), content="quagga two")
    samples.erase(gone)
    store.scrub()
    data = b"".join(file.read_bytes() for file in sorted(tmp_path.rglob("*")) if file.is_file())
    assert [word for word in (b"okapi", b"quagga", b"striped") if word in data] == []
    assert b"zebra" in data
    assert samples.problems() == []
    assert samples.ask(lambda tx: list(tx.everything())) == [kept]


@pytest.mark.needs("Erasure")
def test_scrubbing_says_that_traces_stay_while_somebody_reads(samples, backend):
    samples.erase(samples.add("okapi", SHOP))
    with backend.open().read() as tx:
        assert list(tx.everything()) == []
        with pytest.raises(StoreBusy, match="purge again"):
            backend.open(wait=0.1).scrub()
    backend.open(wait=0.1).scrub()


@pytest.mark.needs("CopyErasure")
@pytest.mark.parametrize("name", ["copy.db", "copy.db.gz"])
def test_a_memory_is_erased_from_a_backup_and_nothing_else_is(samples, store, backend, tmp_path, name):
    kept, gone = samples.add("zebra", SHOP), samples.change(samples.add("okapi one", SHOP), content="okapi two")
    target = tmp_path / "backups" / name
    store.backup(target)
    before = target.read_bytes()
    assert store.erase_from_copy(target, [gone.id])
    assert not store.erase_from_copy(target, ["019c2d3e-9d1b-76ef-94c5-88628e870c23"], lambda *_: None)
    assert target.read_bytes() == before, "asking changes nothing"
    assert store.erase_from_copy(target, [gone.id], lambda tx, memory: tx.erase(memory.number))
    assert list(target.parent.iterdir()) == [target]
    assert target.stat().st_mode & 0o077 == 0
    data = target.read_bytes()
    data = gzip.decompress(data) if name.endswith(".gz") else data
    assert b"okapi" not in data
    plain = tmp_path / "plain.db"
    plain.write_bytes(data)
    with backend.open_copy(plain).read() as tx:
        assert list(tx.everything()) == [kept]
    assert samples.ask(lambda tx: len(list(tx.everything()))) == 2


@pytest.mark.needs("CopyErasure")
def test_a_damaged_backup_is_left_as_it_is(samples, store, tmp_path):
    gone = samples.add("okapi", SHOP)
    target = tmp_path / "backups" / "copy.db.gz"
    store.backup(target)
    target.write_bytes(target.read_bytes()[:-50])
    before = target.read_bytes()
    with pytest.raises(StoreDamaged, match="left as it is"):
        store.erase_from_copy(target, [gone.id], lambda tx, memory: tx.erase(memory.number))
    assert target.read_bytes() == before
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.needs("Backup")
def test_a_backup_during_writes_is_consistent(samples, store, backend, tmp_path):
    with writing(samples, backend.open()):
        for n in range(5):
            store.backup(tmp_path / f"{n}.db")
    for n in range(5):
        copy = backend.open_copy(tmp_path / f"{n}.db")
        assert copy.check() == []
        with copy.read() as tx:
            assert len(list(tx.everything())) % 2 == 0


@pytest.mark.needs("Backup")
def test_a_backup_never_replaces_a_file(samples, store, tmp_path):
    samples.add("zebra")
    target = tmp_path / "taken"
    target.write_text("mine")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(StoreError, match="exists already"):
        store.backup(target)
    assert target.read_text() == "mine"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.needs("Integrity")
def test_a_check_finds_memories_that_are_not_as_expected_and_a_rebuild_repairs_them(samples, store):
    zebra, okapi = samples.add("zebra", SHOP), samples.add("okapi", SHOP, fingerprint=7)
    samples.add("gnu", state=State.FORGOTTEN)
    assert len(store.check(samples.index_input)) == 1, "the fingerprint of one"
    indexed = []
    assert store.rebuild(samples.index_input, watch=indexed.append) == 2
    assert sum(indexed) == 3
    assert store.check(samples.index_input) == []
    assert samples.ask(lambda tx: (tx.by_fingerprint(7, SHOP), tx.by_fingerprint(0, SHOP))) == ([], [okapi, zebra])
    assert not store.is_index_outdated()


@pytest.mark.needs("Integrity")
def test_a_second_rebuild_waits_for_the_first_or_is_refused_at_once(samples, store, backend):
    samples.add("zebra", SHOP)
    other = backend.open()
    second = threading.Thread(target=lambda: other.rebuild(samples.index_input))

    def rebuild_too(memory):
        with pytest.raises(StoreBusy):
            other.rebuild(samples.index_input, patient=False)
        second.start()
        return samples.index_input(memory)

    assert store.rebuild(rebuild_too) == 1
    second.join()
    assert len({samples.ask(lambda tx: tx.mark()).rebuild, 0}) == 2
    assert store.check(samples.index_input) == []
