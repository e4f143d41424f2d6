"""What a store knows of mirrors: which files follow which scope, what happened since, when memories met their entries."""

from contextlib import suppress

import pytest

from omoide.errors import Conflict
from omoide.model import Choice, Dispute, Meeting, Mirror, Scope, Side, Sighting, State

SHOP, MONDAY = Scope.project("shop"), Scope.session("shop", "monday")
LIST = Mirror(0, SHOP, "/home/a/.agent", "memories.md", "memories", Choice.OWN, None)


@pytest.fixture
def add(store, shelf):
    def add(**fields):
        with store.write() as tx:
            return tx.put_mirror(
                Mirror(**{**{n: getattr(LIST, n) for n in LIST.__struct_fields__}, "created_at": shelf.now, **fields})
            )

    return add


def test_mirrors_are_kept_as_they_are_and_numbers_are_never_given_twice(shelf, store, backend, add):
    first, second = add(), add(scope=MONDAY, place="/b", file="", format="entries", choice=Choice.ALL)
    third = add(scope=Scope(), place="/c", seen=7)
    assert (first.scope, second.scope, third.scope) == (SHOP, MONDAY, Scope())
    assert (second.place, second.file, second.format, second.choice, third.seen) == ("/b", "", "entries", Choice.ALL, 7)
    assert shelf.ask(lambda tx: tx.mirrors()) == [first, second, third]
    with backend.open().read() as tx:
        assert tx.mirrors() == [first, second, third]
    with store.write() as tx:
        tx.drop_mirror(third.number)
    assert add(place="/c").number > third.number


def test_what_need_not_be_durable_is_kept_whole_and_seen_by_all(shelf, store, backend):
    with store.write(durable=False) as tx:
        tx.note_done("dust", shelf.now)
    with backend.open().read() as tx:
        assert tx.last_done("dust") == shelf.now
    with suppress(ZeroDivisionError), store.write(durable=False) as tx:
        tx.note_done("dust", shelf.step())
        1 / 0  # noqa: B018 - something goes wrong
    assert shelf.ask(lambda tx: tx.last_done("dust")) < shelf.now
    with store.write() as tx:
        tx.note_done("dust", shelf.now)
    assert shelf.ask(lambda tx: tx.last_done("dust")) == shelf.now


def test_a_file_has_one_mirror(add, store):
    add()
    with pytest.raises(Conflict, match=r"memories\.md has a mirror already"):
        add(scope=MONDAY)
    assert add(file="other.md").number


def test_what_a_mirror_holds_can_be_changed(shelf, store, add):
    other, mirror = add(place="/b"), add()
    with store.write() as tx:
        tx.choose(mirror.number, Choice.ALL)
    assert [one.choice for one in shelf.ask(lambda tx: tx.mirrors())] == [other.choice, Choice.ALL]


def test_what_happened_since_is_told_by_memory(shelf, store, backend):
    start, nothing = shelf.ask(lambda tx: tx.happened(0))
    assert (start, nothing) == (0, [])
    one, two = shelf.keep("a"), shelf.keep("b", SHOP)
    between, both = shelf.ask(lambda tx: tx.happened(0))
    assert both == [one.number, two.number]
    assert shelf.ask(lambda tx: tx.happened(between)) == (between, [])
    one = shelf.change(one, content="c")
    shelf.change(one, content="d")
    later, changed = backend_says(backend, between)
    assert changed == [one.number]
    assert later > between
    shelf.erase(two)
    assert shelf.ask(lambda tx: tx.happened(later))[1] == [two.number]


def backend_says(backend, since):
    with backend.open().read() as tx:
        return tx.happened(since)


def test_ids_are_known_in_every_scope_and_purged_ones_for_good(shelf):
    mine, theirs = shelf.keep("a", SHOP), shelf.keep("b", Scope.project("bank"), state=State.FORGOTTEN)
    missing = "019c2d3e-9d1b-76ef-94c5-88628e870c23"
    ids = [mine.id, theirs.id, missing]
    assert shelf.ask(lambda tx: tx.numbers(ids)) == {mine.id: mine.number, theirs.id: theirs.number}
    assert shelf.ask(lambda tx: tx.erased(ids)) == set()
    shelf.erase(theirs)
    assert shelf.ask(lambda tx: tx.numbers(ids)) == {mine.id: mine.number}
    assert shelf.ask(lambda tx: tx.erased(ids)) == {theirs.id}


def test_the_last_meeting_of_each_memory_is_found_by_file_and_by_memory(shelf, store, add):
    one, two, three = (shelf.keep(text).number for text in "abc")
    here, there = add().number, add(place="/b").number
    first = Meeting(one, "a.md", "x", 1, "d1")
    with store.write() as tx:
        tx.put_meetings(here, [first, Meeting(two, "a.md"), Meeting(three, "b.md"), Meeting(99, "a.md")])
        tx.put_meetings(there, [Meeting(one, "a.md", "", 5, "d5")])
        tx.put_meetings(here, [Meeting(two, "b.md", "y", 3, "d3")])

    def told(mirror, **which):
        return sorted(meeting.memory for meeting in shelf.ask(lambda tx: tx.meetings(mirror, **which)))

    assert told(here) == [one, two, three]
    assert told(here, files=["a.md"]) == [one]
    assert told(here, files=["b.md"], memories=[one]) == [one, two, three]
    assert told(here, files=[], memories=[]) == []
    assert told(there) == [one]
    assert first in shelf.ask(lambda tx: tx.meetings(here))
    with store.write() as tx:
        tx.drop_meetings(here, [one, three])
    assert told(here) == [two]
    assert told(there) == [one]


def test_how_files_looked_is_kept_whole(shelf, store, add):
    mirror = add().number
    old = Sighting("a.md", 1_770_000_000_123_456_789, 10, 2**62, "d", settled=True)
    new = Sighting("a.md", 1, 2, 3, "e", settled=False)
    other = Sighting("archive/b.md", 1, 2, 3, "e", settled=True)
    with store.write() as tx:
        tx.put_sightings(mirror, [old, other])
    assert sorted(shelf.ask(lambda tx: tx.sightings(mirror)), key=lambda s: s.name) == [old, other]
    with store.write() as tx:
        tx.put_sightings(mirror, [new])
        tx.drop_sightings(mirror, ["archive/b.md", "nothing.md"])
        tx.note_seen(mirror, 12)
    assert shelf.ask(lambda tx: tx.sightings(mirror)) == [new]
    assert shelf.ask(lambda tx: tx.mirrors())[0].seen == 12


def test_a_memory_has_one_dispute_in_a_mirror(shelf, store, add):
    mirror, memory = add().number, shelf.keep("a").number
    disputes = [Dispute(mirror, memory, shelf.step(), n, 9, side) for n, side in enumerate(Side)]
    for dispute in disputes:
        with store.write() as tx:
            tx.put_dispute(dispute)
    assert shelf.ask(lambda tx: tx.disputes()) == disputes[-1:]
    with store.write() as tx:
        assert tx.drop_dispute(mirror, memory)
        assert not tx.drop_dispute(mirror, memory)


def test_what_is_erased_and_what_is_no_longer_mirrored_leaves_nothing_behind(shelf, store, add):
    one, two = shelf.keep("a"), shelf.keep("b")
    mirror = add().number
    with store.write() as tx:
        tx.put_meetings(mirror, [Meeting(one.number, "f", "x", 1, "d"), Meeting(two.number, "f", "y", 1, "d")])
        tx.put_sightings(mirror, [Sighting("f", 1, 2, 3, "d", settled=True)])
        for memory in (one, two):
            tx.put_dispute(Dispute(mirror, memory.number, shelf.now, 1, 2, Side.FILE))
    shelf.erase(one)
    assert [meeting.memory for meeting in shelf.ask(lambda tx: tx.meetings(mirror))] == [two.number]
    assert [dispute.memory for dispute in shelf.ask(lambda tx: tx.disputes())] == [two.number]
    with store.write() as tx:
        tx.drop_mirror(mirror)
    assert shelf.ask(lambda tx: (tx.mirrors(), tx.meetings(mirror), tx.sightings(mirror), tx.disputes())) == ([], [], [], [])
