"""Mirrors, the sync state of their entries and files, and conflicts."""

from contextlib import suppress

import pytest
from msgspec.structs import replace

from omoide.errors import Conflict
from omoide.model import (
    Actor,
    Choice,
    FileState,
    FileVersions,
    Held,
    Mirror,
    Role,
    Scope,
    Side,
    State,
    SyncConflict,
    SyncState,
)
from omoide.storage.base import SyncUpdate

SHOP, MONDAY = Scope.project("shop"), Scope.session("shop", "monday")
LIST = Mirror(0, SHOP, "/home/a/.agent", "memories.md", "memories", Choice.OWN, None)


@pytest.fixture
def add(store, samples):
    def add(**fields):
        with store.write() as tx:
            return tx.put_mirror(
                Mirror(**{**{n: getattr(LIST, n) for n in LIST.__struct_fields__}, "created_at": samples.now, **fields})
            )

    return add


def test_mirrors_are_stored_and_their_numbers_never_reused(samples, store, backend, add):
    first, second = add(), add(scope=MONDAY, place="/b", file="", format="entries", choice=Choice.ALL)
    third = add(scope=Scope(), place="/c", seen=7)
    assert (first.scope, second.scope, third.scope) == (SHOP, MONDAY, Scope())
    assert (second.place, second.file, second.format, second.choice, third.seen) == ("/b", "", "entries", Choice.ALL, 7)
    assert samples.ask(lambda tx: tx.mirrors()) == [first, second, third]
    with backend.open().read() as tx:
        assert tx.mirrors() == [first, second, third]
    with store.write() as tx:
        tx.drop_mirror(third.number)
    assert add(place="/c").number > third.number


def test_a_non_durable_write_is_atomic_and_visible_to_all(samples, store, backend):
    with store.write(durable=False) as tx:
        tx.record_run("dust", samples.now)
    with backend.open().read() as tx:
        assert tx.last_run("dust") == samples.now
    with suppress(ZeroDivisionError), store.write(durable=False) as tx:
        tx.record_run("dust", samples.step())
        1 / 0  # noqa: B018 - something goes wrong
    assert samples.ask(lambda tx: tx.last_run("dust")) < samples.now
    with store.write() as tx:
        tx.record_run("dust", samples.now)
    assert samples.ask(lambda tx: tx.last_run("dust")) == samples.now


def test_a_file_has_one_mirror(add, store):
    add()
    with pytest.raises(Conflict, match=r"memories\.md has a mirror already"):
        add(scope=MONDAY)
    assert add(file="other.md").number


def test_the_choice_of_a_mirror_can_be_changed(samples, store, add):
    other, mirror = add(place="/b"), add()
    with store.write() as tx:
        tx.put_mirror(replace(mirror, choice=Choice.ALL, seen=5))
    assert samples.ask(lambda tx: tx.mirrors()) == [other, replace(mirror, choice=Choice.ALL, seen=5)]


def test_changes_since_an_event_are_listed_by_memory(samples, store, backend):
    assert samples.ask(lambda tx: (tx.mark().event, tx.memories_changed_since(0))) == (0, [])
    one, two = samples.add("a"), samples.add("b", SHOP)
    between, both = samples.ask(lambda tx: (tx.mark().event, tx.memories_changed_since(0)))
    assert both == [one.number, two.number]
    assert samples.ask(lambda tx: tx.memories_changed_since(between)) == []
    one = samples.change(one, content="c")
    samples.change(one, content="d")
    later, changed = backend_says(backend, between)
    assert changed == [one.number]
    assert later > between
    samples.erase(two)
    assert samples.ask(lambda tx: tx.memories_changed_since(later)) == [two.number]


def backend_says(backend, since):
    with backend.open().read() as tx:
        return tx.mark().event, tx.memories_changed_since(since)


def test_ids_are_looked_up_in_every_scope_and_purged_ones_stay_known(samples):
    mine, theirs = samples.add("a", SHOP), samples.add("b", Scope.project("bank"), state=State.FORGOTTEN)
    missing = "019c2d3e-9d1b-76ef-94c5-88628e870c23"
    ids = [mine.id, theirs.id, missing]
    assert samples.ask(lambda tx: tx.memories(ids)) == [mine, theirs]
    assert samples.ask(lambda tx: tx.purged_ids(ids)) == set()
    samples.erase(theirs)
    assert samples.ask(lambda tx: tx.memories(ids)) == [mine]
    assert samples.ask(lambda tx: tx.purged_ids(ids)) == {theirs.id}
    assert samples.ask(lambda tx: tx.purged_ids()) == {theirs.id}


def test_the_copies_that_events_name_are_listed_once_and_oldest_first(samples, store):
    assert samples.ask(lambda tx: tx.copies()) == []
    with store.write() as tx:
        for file in ("/b.db", "/a.db", "/b.db"):
            tx.add_event("backed_up", Actor("alice", Role.OWNER, "test"), samples.step(), Scope.everywhere(), {"file": file})
    assert samples.ask(lambda tx: tx.copies()) == ["/b.db", "/a.db"]


def test_the_last_state_of_each_memory_is_found_by_file_and_by_memory(samples, store, add):
    one, two, three = (samples.add(text).number for text in "abc")
    here, there = add().number, add(place="/b").number
    first = SyncState(one, "a.md", "x", 1, "d1")
    with store.write() as tx:
        states = [first, SyncState(two, "a.md"), SyncState(three, "b.md"), SyncState(99, "a.md")]
        tx.record_sync(here, SyncUpdate(states))
        tx.record_sync(there, SyncUpdate([SyncState(one, "a.md", "", 5, "d5")]))
        tx.record_sync(here, SyncUpdate([SyncState(two, "b.md", "y", 3, "d3")]))

    def memory_numbers(mirror, **which):
        return sorted(state.memory for state in samples.ask(lambda tx: tx.sync_states(mirror, **which)))

    assert memory_numbers(here) == [one, two, three]
    assert memory_numbers(here, files=["a.md"]) == [one]
    assert memory_numbers(here, memories=[two, 99]) == [two]
    assert memory_numbers(here, files=["b.md"], memories=[one]) == [one, two, three]
    assert memory_numbers(here, files=[], memories=[]) == []
    assert memory_numbers(there) == [one]
    assert samples.ask(lambda tx: tx.mirrors_of([one])) == {here, there}
    assert samples.ask(lambda tx: tx.mirrors_of([two, three, 99])) == {here}
    assert samples.ask(lambda tx: tx.mirrors_of([])) == set()
    assert first in samples.ask(lambda tx: tx.sync_states(here))
    with store.write() as tx:
        tx.record_sync(here, SyncUpdate([first], dropped_states=[one, three]))
    assert memory_numbers(here) == [two]
    assert memory_numbers(there) == [one]


def test_file_states_are_stored_unchanged(samples, store, add):
    mirror = add().number
    old = FileState("a.md", 1_770_000_000_123_456_789, 10, 2**62, "d", settled=True)
    new = FileState("a.md", 1, 2, 3, "e", settled=False)
    other = FileState("archive/b.md", 1, 2, 3, "e", settled=True)
    with store.write() as tx:
        tx.record_sync(mirror, SyncUpdate(files=[old, other]))
    assert sorted(samples.ask(lambda tx: tx.file_states(mirror)), key=lambda s: s.name) == [old, other]
    with store.write() as tx:
        tx.record_sync(mirror, SyncUpdate(files=[new], dropped_files=["archive/b.md", "nothing.md"], last_event=12))
    assert samples.ask(lambda tx: tx.file_states(mirror)) == [new]
    assert samples.ask(lambda tx: tx.mirrors())[0].seen == 12


def test_the_versions_of_a_file_are_stored_unchanged_and_outlive_the_file(samples, store, add):
    mirror, other = add().number, add(place="/b").number
    old = FileVersions("a.md", b"\x00\xff" * 40, ("d2", "d1"))
    new = FileVersions("a.md", b"", ("d3", "d2", "d1"), ((), ("1a", "~2b", "-3c")))
    names = ["a.md", "nothing.md"]
    with store.write() as tx:
        tx.record_sync(mirror, SyncUpdate(versions=[old, FileVersions("b.md")]))
    assert samples.ask(lambda tx: (tx.file_versions(mirror, names), tx.file_versions(other, names))) == ([old], [])
    with store.write() as tx:
        tx.record_sync(mirror, SyncUpdate(versions=[new], dropped_files=["a.md"]))
    assert samples.ask(lambda tx: tx.file_versions(mirror, names)) == [new]
    with store.write() as tx:
        tx.record_sync(mirror, SyncUpdate(dropped_versions=["a.md"]))
    assert samples.ask(lambda tx: tx.file_versions(mirror, names)) == []
    with store.write() as tx:
        tx.drop_mirror(mirror)
    assert samples.ask(lambda tx: tx.file_versions(mirror, ["b.md"])) == []


def test_a_mirror_stores_what_it_adopts_and_a_state_why_it_is_left_to_a_person(samples, store, add):
    mirror, memory = add(adopt=("notes-*.md", "a.md")), samples.add("a").number
    none = add(place="/b", adopt=())
    held = SyncState(memory, "a.md", "x", 1, "d1", Held.GIT)
    with store.write() as tx:
        tx.record_sync(mirror.number, SyncUpdate([held]))
    assert samples.ask(lambda tx: tx.mirrors()) == [mirror, none]
    assert (mirror.adopt, none.adopt) == (("notes-*.md", "a.md"), ())
    assert samples.ask(lambda tx: tx.sync_states(mirror.number)) == [held]


def test_a_memory_has_one_conflict_in_a_mirror(samples, store, add):
    mirror, memory = add().number, samples.add("a").number
    conflicts = [SyncConflict(mirror, memory, samples.step(), n, 9, side) for n, side in enumerate(Side)]
    for conflict in conflicts:
        with store.write() as tx:
            tx.record_sync(mirror, SyncUpdate(conflicts=[conflict]))
    assert samples.ask(lambda tx: tx.sync_conflicts()) == conflicts[-1:]
    with store.write() as tx:
        tx.record_sync(mirror, SyncUpdate(settled_conflicts=[memory, 99]))
    assert samples.ask(lambda tx: tx.sync_conflicts()) == []


def test_conflicts_are_returned_oldest_first(samples, store, add):
    one, two, mirror = samples.add("a").number, samples.add("b").number, add().number
    older, newer = (SyncConflict(mirror, memory, samples.step(), 1, 2, Side.FILE) for memory in (two, one))
    with store.write() as tx:
        tx.record_sync(mirror, SyncUpdate(conflicts=[newer, older]))
    assert samples.ask(lambda tx: tx.sync_conflicts()) == [older, newer]


def test_erased_memories_and_removed_mirrors_leave_no_sync_state(samples, store, add):
    one, two = samples.add("a"), samples.add("b")
    mirror = add().number
    with store.write() as tx:
        update = SyncUpdate(
            states=[SyncState(one.number, "f", "x", 1, "d"), SyncState(two.number, "f", "y", 1, "d")],
            files=[FileState("f", 1, 2, 3, "d", settled=True)],
            conflicts=[SyncConflict(mirror, memory.number, samples.now, 1, 2, Side.FILE) for memory in (one, two)],
        )
        tx.record_sync(mirror, update)
    samples.erase(one)
    assert [state.memory for state in samples.ask(lambda tx: tx.sync_states(mirror))] == [two.number]
    assert [conflict.memory for conflict in samples.ask(lambda tx: tx.sync_conflicts())] == [two.number]
    with store.write() as tx:
        tx.drop_mirror(mirror)
    assert samples.ask(lambda tx: (tx.mirrors(), tx.sync_states(mirror), tx.file_states(mirror), tx.sync_conflicts())) == (
        [],
        [],
        [],
        [],
    )


def test_nothing_is_recorded_of_a_mirror_that_was_dropped_meanwhile(samples, store, add):
    memory, mirror = samples.add("a"), add().number
    with store.write() as tx:
        tx.drop_mirror(mirror)
    with store.write() as tx:
        tx.record_sync(mirror, SyncUpdate([SyncState(memory.number, "f")], last_event=3))
    assert samples.ask(lambda tx: (tx.mirrors(), tx.sync_states(mirror))) == ([], [])
