"""What a store keeps: all or nothing, every version, every event, and a number once only."""

import threading
import time
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from omoide.errors import Conflict, StoreBusy
from omoide.model import Actor, LinkKind, Project, ProjectPlace, Query, Role, Scope, State
from omoide.storage.base import NearDuplicateFilter

SHOP, BANK = Scope.project("shop"), Scope.project("bank")
MONDAY, TUESDAY = Scope.session("shop", "monday"), Scope.session("shop", "tuesday")
BOB = Actor("bob", via="test")


def test_every_field_is_read_back_as_stored(shelf, backend):
    kept = shelf.keep(
        "first\nsecond  line", MONDAY, key="k", type="decision", topic="the topic", topic_given=False,
        tags=("a", "日本"), examples=("one", "two\n"), source="here", confidence=0.25, relevance=0.75,
        reference_count=3, pinned=True, state=State.ARCHIVED, version=7, source_run_id="run 7",
        last_accessed_at=datetime(2026, 1, 1, 0, 0, 0, 1, UTC), expires_at=datetime(9998, 1, 1, 0, 0, 0, 999999, UTC),
    )  # fmt: skip
    shelf.store.close()
    with backend.open().read() as tx:
        assert tx.memory(kept.number) == tx.memory(kept.id) == kept


def test_times_keep_their_microseconds(shelf):
    at = datetime(1999, 12, 31, 23, 59, 59, 999999, UTC)
    kept = shelf.keep("x", created_at=at, updated_at=at + timedelta(microseconds=1))
    read = shelf.ask(lambda tx: tx.memory(kept.number))
    assert (read.created_at, read.updated_at) == (at, at + timedelta(microseconds=1))
    assert shelf.ask(lambda tx: tx.events(None, None, None, 1))[0].at == shelf.now


def test_a_failed_write_stores_nothing(shelf, store):
    kept = shelf.keep("old", SHOP, twin=5)
    before = shelf.ask(
        lambda tx: (list(tx.everything()), tx.events(None, None, None, 99), tx.projects(), tx.counts(shelf.now))
    )

    def fail():
        with store.write() as tx:
            draft = shelf.draft("new", BANK)
            tx.add([(draft, 1, shelf.words(draft))], BOB)
            newer = msgspec.structs.replace(kept, content="newer", version=2)
            tx.change([(kept, newer, 1, shelf.words(newer))], BOB)
            tx.count_reference(kept.number)
            tx.add_event("changed", BOB, shelf.now, kept, {})
            tx.put_project(Project("bank", "money"))
            tx.erase(kept.number)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    after = shelf.ask(
        lambda tx: (list(tx.everything()), tx.events(None, None, None, 99), tx.projects(), tx.counts(shelf.now))
    )
    assert after == before
    assert store.check() == []
    assert shelf.ask(lambda tx: [tx.frequencies(Query(SHOP), [term], 9)[term] for term in ("old", "new", "newer")]) == [
        1,
        0,
        0,
    ]


def test_a_reader_sees_one_snapshot_while_others_write(shelf, backend):
    kept = shelf.keep("before")
    with backend.open().read() as tx:
        assert tx.memory(kept.number).content == "before"
        shelf.change(kept, content="after")
        assert tx.memory(kept.number).content == "before"
        assert tx.frequencies(Query(Scope()), ["after"], 9)["after"] == 0
    assert shelf.ask(lambda tx: tx.memory(kept.number)).content == "after"


def test_a_writer_waits_for_another(shelf, backend):
    other = backend.open()
    draft = shelf.draft("second")

    def write():
        with other.write() as tx:
            tx.add([(draft, 0, shelf.words(draft))], BOB)

    with shelf.store.write() as tx:
        waiting = threading.Thread(target=write)
        waiting.start()
        first = shelf.draft("first")
        tx.add([(first, 0, shelf.words(first))], BOB)
    waiting.join()
    assert shelf.ask(lambda tx: [memory.content for memory in tx.everything()]) == ["first", "second"]


def test_a_writer_that_waited_too_long_gets_an_error(shelf, backend):
    impatient = backend.open(wait=0.01)
    with shelf.store.write(), pytest.raises(StoreBusy, match="another process"), impatient.write():
        pass


def test_numbers_rise_and_are_never_reused(shelf, backend):
    first, second = shelf.keep("a"), shelf.keep("b")
    assert first.number < second.number
    shelf.erase(second)
    third = shelf.keep("c")
    assert third.number > second.number
    shelf.erase(third)
    shelf.store.close()
    shelf.store = backend.open()
    assert shelf.keep("d").number > third.number


def test_a_requested_unused_number_is_assigned(shelf):
    assert shelf.keep("a", number=40).number == 40
    assert shelf.keep("b", number=7).number == 7
    assert shelf.keep("c").number == 41


def test_a_requested_used_number_is_replaced_even_after_a_purge(shelf):
    taken = shelf.keep("a")
    assert shelf.keep("b", number=taken.number).number != taken.number
    shelf.erase(taken)
    assert shelf.keep("c", number=taken.number).number != taken.number


@pytest.mark.parametrize("number", [-1, 2**32, 2**63 - 1])
def test_an_oversized_number_is_replaced_by_the_next_one(shelf, number):
    assert shelf.keep("a").number == 1
    assert shelf.keep("b", SHOP, number=number).number == 2
    assert shelf.keep("c").number == 3


def test_an_id_is_unique(shelf):
    kept = shelf.keep("a")
    with pytest.raises(Conflict, match=kept.id):
        shelf.keep("b", id=kept.id)


def test_a_key_is_unique_among_living_memories_of_its_scope(shelf):
    kept = shelf.keep("a", SHOP, key="k")
    for other in (BANK, MONDAY, TUESDAY, Scope()):
        shelf.keep("elsewhere", other, key="k")
    with pytest.raises(Conflict, match="'k' is taken in project shop"):
        shelf.keep("b", SHOP, key="k")
    other = shelf.keep("c", SHOP)
    with pytest.raises(Conflict, match="taken"):
        shelf.change(other, key="k")
    shelf.change(kept, state=State.ARCHIVED)
    with pytest.raises(Conflict, match="taken"):
        shelf.keep("b", SHOP, key="k")


def test_forgetting_frees_the_key_for_others(shelf):
    forgotten = shelf.change(shelf.keep("a", SHOP, key="k"), state=State.FORGOTTEN)
    assert shelf.ask(lambda tx: tx.by_key(SHOP, "k")) is None
    second = shelf.keep("b", SHOP, key="k")
    assert shelf.ask(lambda tx: tx.by_key(SHOP, "k")) == second
    with pytest.raises(Conflict, match="taken"):
        shelf.change(forgotten, state=State.ACTIVE)
    assert shelf.ask(lambda tx: tx.memory(forgotten.number)) == forgotten


def test_versions_come_oldest_first_each_with_its_actor(shelf):
    first = shelf.keep("one", SHOP, tags=("t",))
    second = shelf.change(first, content="two", actor=BOB)
    third = shelf.change(second, content="three", scope=Scope(), state=State.ARCHIVED)
    versions = shelf.ask(lambda tx: tx.versions(first.number))
    assert [version.memory for version in versions] == [first, second, third]
    assert [version.actor.name for version in versions] == ["alice", "bob", "alice"]
    assert shelf.ask(lambda tx: tx.versions(999)) == []


def test_a_confirmation_counts_but_makes_no_version(shelf, store):
    kept = shelf.keep("a")
    with store.write() as tx:
        tx.count_reference(kept.number)
        tx.count_reference(kept.number)
    read = shelf.ask(lambda tx: tx.memory(kept.number))
    assert read == msgspec.structs.replace(kept, reference_count=2)
    assert len(shelf.ask(lambda tx: tx.versions(kept.number))) == 1


def test_events_come_newest_first_and_can_be_narrowed(shelf):
    one, two = shelf.keep("a", SHOP), shelf.keep("b", SHOP, actor=BOB)
    middle = shelf.now
    one = shelf.change(one, content="c")
    events = shelf.ask(lambda tx: tx.events(None, None, None, 99))
    assert [(event.action, event.memory_number) for event in events] == [
        ("changed", one.number), ("remembered", two.number), ("remembered", one.number),
    ]  # fmt: skip
    assert [event.number for event in events] == sorted((event.number for event in events), reverse=True)
    assert (events[1].actor, events[1].memory_id, events[0].detail) == (BOB, two.id, {"version": 2})
    assert shelf.ask(lambda tx: tx.events(None, None, None, 2)) == events[:2]
    assert shelf.ask(lambda tx: tx.events(None, one.number, None, 99)) == [events[0], events[2]]
    assert shelf.ask(lambda tx: tx.events(None, None, middle, 99)) == events[:2]


def test_an_event_outlives_its_memory_without_its_text(shelf):
    kept = shelf.keep("zebra", SHOP, topic="giraffe", tags=("okapi",), key="gnu")
    shelf.erase(kept)
    events = shelf.ask(lambda tx: tx.events(SHOP, None, None, 99))
    assert [(event.action, event.memory_number, event.memory_id) for event in events] == [
        ("purged", kept.number, None), ("remembered", kept.number, None),
    ]  # fmt: skip
    told = msgspec.json.encode(events).decode()
    assert not any(word in told for word in ("zebra", "giraffe", "okapi", "gnu"))


def test_erasing_removes_versions_and_links_of_that_memory_only(shelf, store):
    one, two = shelf.keep("a"), shelf.keep("b")
    one = shelf.change(one, content="c")
    with store.write() as tx:
        tx.link(one.number, LinkKind.RELATES, two.number, shelf.now)
    shelf.erase(one)
    assert shelf.ask(lambda tx: (tx.memory(one.number), tx.versions(one.number), tx.links(two.number))) == (
        None,
        [],
        [],
    )
    assert shelf.ask(lambda tx: list(tx.everything())) == [two]
    with store.write() as tx:
        tx.erase(one.number)  # again: nothing to do
    assert store.check() == []


def test_a_link_is_made_once_and_seen_from_both_ends(shelf, store):
    one, two = shelf.keep("a"), shelf.keep("b")
    with store.write() as tx:
        assert tx.link(one.number, LinkKind.SUPERSEDES, two.number, shelf.now)
        assert not tx.link(one.number, LinkKind.SUPERSEDES, two.number, shelf.now)
    (link,) = shelf.ask(lambda tx: tx.links(one.number))
    assert shelf.ask(lambda tx: tx.links(two.number)) == [link]
    assert (link.source, link.kind, link.target, link.created_at) == (one.id, LinkKind.SUPERSEDES, two.id, shelf.now)
    with store.write() as tx:
        assert tx.unlink(one.number, LinkKind.SUPERSEDES, two.number)
        assert not tx.unlink(one.number, LinkKind.SUPERSEDES, two.number)


def test_fingerprint_matches_are_living_ones_of_the_scope_newest_first(shelf):
    one, two = shelf.keep("a", SHOP, twin=77), shelf.keep("b", SHOP, twin=77)
    for elsewhere in (BANK, MONDAY, Scope()):
        shelf.keep("c", elsewhere, twin=77)
    shelf.keep("d", SHOP, twin=78)
    assert shelf.ask(lambda tx: tx.by_fingerprint(77, SHOP)) == [two, one]
    shelf.change(two, twin=77, state=State.FORGOTTEN)
    archived = shelf.change(one, twin=77, state=State.ARCHIVED)
    assert shelf.ask(lambda tx: tx.by_fingerprint(77, SHOP)) == [archived]
    assert shelf.ask(lambda tx: tx.by_fingerprint(77, Scope.project("unknown"))) == []


def test_adding_many_equals_adding_one_by_one(shelf, store):
    first = shelf.keep("before", SHOP)
    drafts = [shelf.draft("zebra", SHOP, topic="t"), shelf.draft("zebra zebra", BANK), shelf.draft("okapi", MONDAY)]
    with store.write() as tx:
        drafts = [msgspec.structs.replace(draft, author=BOB) for draft in drafts]
        added = tx.add([(memory, 7, shelf.words(memory)) for memory in drafts], BOB)
        tx.add_event("remembered", BOB, shelf.now, added, {})
    after = shelf.keep("after", SHOP)
    assert [each.number for each in added] == list(range(first.number + 1, after.number))
    with store.read() as tx:
        assert tx.memories([each.number for each in added]) == added
        assert tx.posting_numbers(Query(SHOP), ["zebra"], 9)["zebra"] == [added[0].number]
        assert tx.sizes(Query(SHOP)).entries == 4
        assert tx.by_fingerprint(7, MONDAY) == [added[2]]
        assert [event.actor for event in tx.events(SHOP, added[2].number, None, 9)] == [BOB]
        assert tx.known_fingerprints([7, 8, 0]) == {7, 0}
    assert store.check() == []


def test_near_duplicate_candidates_are_living_ones_of_the_scope_newest_first(shelf):
    one, two, three, other = (shelf.keep(text, SHOP) for text in ("abcd x", "efgh x y", "ijkl x y z x y", "longer x y z"))
    shelf.keep("longest x y z", SHOP)
    archived, forgotten = shelf.keep("mnop x", SHOP), shelf.keep("qrst x y z", SHOP)
    shelf.change(archived, state=State.ARCHIVED)
    shelf.change(forgotten, state=State.FORGOTTEN)
    for elsewhere in (BANK, MONDAY, Scope()):
        shelf.keep("uvwx x y z", elsewhere)

    def candidates(kin, *families, most=9, scope=SHOP, smallest=0, largest=99, head=99):
        wanted = NearDuplicateFilter(scope, smallest, largest, head, 2)
        return shelf.ask(lambda tx: tx.near_duplicate_candidates(wanted, kin, families, most))

    found = [(memory.number, memory.content) for memory in (archived, three, two, one)]
    longer = (other.number, other.content)
    assert candidates(4) == found
    assert candidates(4, (1, 3), (5, 6)) == [*found, longer]
    assert candidates(9, (1, 3), (6, 6), (4, 4))[0] == longer
    assert candidates(4, (6, 6), most=3) == found[:3]
    assert candidates(4, smallest=7, largest=8) == [(two.number, two.content)]
    assert candidates(4, smallest=9, head=3) == [(three.number, "ijk  y")]
    assert candidates(5) == []
    assert candidates(4, (0, 9), scope=Scope.project("unknown")) == []


def test_a_mark_differs_once_anybody_has_appended_an_event(backend):
    store, other = backend.open(), backend.open()
    seen = []
    for writer in (store, other, store):
        with store.read() as tx:
            seen.append(tx.mark())
        with store.read() as tx:
            assert tx.mark() == seen[-1]
        with store.write() as tx:
            assert tx.mark() == seen[-1]
        with store.read() as tx:
            seen.append(tx.mark())
        with writer.write() as tx:
            tx.add_event("started", BOB, datetime(2026, 2, 5, tzinfo=UTC), Scope.project("shop"), {})
    with store.write() as tx:
        seen.append(tx.mark())
    assert seen[1] != seen[2]
    assert seen[3] != seen[4]
    assert seen[5] != seen[6]


def test_memories_come_in_the_order_asked_without_the_missing(shelf):
    one, two, three = shelf.keep("a"), shelf.keep("b"), shelf.keep("c")
    assert shelf.ask(lambda tx: tx.memories([three.number, 99, one.number, two.number])) == [three, one, two]
    assert shelf.ask(lambda tx: tx.memories([])) == []


def test_access_times_are_written_with_the_next_write(shelf, store, backend):
    kept = shelf.keep("a")
    store.touch([kept.number, 999], shelf.now)
    with backend.open().read() as tx:
        assert tx.memory(kept.number).last_accessed_at is None
    shelf.keep("b")
    assert shelf.ask(lambda tx: tx.memory(kept.number)).last_accessed_at == shelf.now - timedelta(seconds=1)


def test_access_times_are_written_on_close_and_never_go_back(shelf, store, backend):
    kept = shelf.keep("a")
    store.touch([kept.number], shelf.now)
    store.close()
    shelf.store = backend.open()
    assert shelf.ask(lambda tx: tx.memory(kept.number)).last_accessed_at == shelf.now
    shelf.store.touch([kept.number], shelf.now - timedelta(days=1))
    shelf.keep("b")
    assert shelf.ask(lambda tx: tx.memory(kept.number)).last_accessed_at == shelf.now - timedelta(seconds=1)


def test_access_times_are_written_when_idle_except_for_purged_memories(shelf, store, backend):
    second = backend.open()
    kept = [shelf.keep("a", SHOP) for _ in range(3)]

    def accesses():
        with second.read() as tx:
            return [memory.last_accessed_at for memory in tx.everything()]

    for at in (shelf.step(), shelf.step()):  # the second time, nobody else has written since
        store.touch([each.number for each in kept] + [*range(1_000, 1_600)], at)
        store.flush()
        assert accesses() == [at] * 3
    shelf.store = second
    shelf.erase(kept[0])
    store.touch([each.number for each in kept] + [*range(1_000, 1_600)], at := shelf.step())
    store.flush()
    assert accesses() == [at] * 2
    assert store.check() == []


def test_recording_access_times_never_blocks(shelf, store, backend):
    kept = [shelf.keep(f"m{n}").number for n in range(3)]
    started = time.monotonic()
    with backend.open().write():
        store.touch([*kept, *range(1000, 3000)], shelf.now)
        store.close()
    assert time.monotonic() - started < 4.5  # a write would wait for five seconds
    shelf.store = backend.open()
    assert shelf.ask(lambda tx: tx.memory(kept[0])).last_accessed_at is None


def test_a_project_keeps_its_description_and_a_directory_belongs_to_one(shelf, store):
    with store.write() as tx:
        tx.put_project(Project("shop", "sells", (ProjectPlace("/a"),), shelf.now))
        tx.put_project(Project("bank", "lends", (ProjectPlace("/b"),), shelf.now))
    assert shelf.ask(lambda tx: tx.project(root="/a")) == Project("shop", "sells", (ProjectPlace("/a"),), shelf.now)
    with store.write() as tx:
        tx.put_project(Project("bank", "lends", (ProjectPlace("/a"),)))
    assert shelf.ask(lambda tx: tx.project(root="/a")).path == "bank"
    assert shelf.ask(lambda tx: tx.project(root="/b")) is None
    assert [project.path for project in shelf.ask(lambda tx: tx.projects())] == ["bank", "shop"]


def test_a_project_that_differs_only_in_case_is_refused(shelf):
    shelf.keep("a", Scope.project("Größe"))
    with pytest.raises(Conflict, match="'Größe'"):
        shelf.keep("b", Scope.project("GRÖSSE"))


def test_everything_is_ordered_by_number_and_counted(shelf):
    kept = [shelf.keep("a", SHOP), shelf.keep("b", MONDAY, type="tech"), shelf.keep("c", state=State.FORGOTTEN)]
    kept += [shelf.keep(str(n), BANK) for n in range(3)]
    assert shelf.ask(lambda tx: list(tx.everything())) == kept
    assert shelf.ask(lambda tx: tx.counts(shelf.now)) == [
        (Scope(), "note", "forgotten", 1), (BANK, "note", "active", 3), (SHOP, "note", "active", 1),
        (MONDAY, "tech", "active", 1),
    ]  # fmt: skip


def test_every_version_names_its_author_or_else_the_actor(shelf, store):
    agent = Actor("agent-7", Role.WORKER, "test")
    plain, theirs = shelf.keep("plain", SHOP), shelf.keep("theirs", SHOP, author=agent)
    changed = shelf.change(theirs, pinned=True)
    with store.read() as tx:
        assert tx.memory(plain.number).author == plain.author
        assert plain.author.name != agent.name
        assert tx.memory(theirs.number).author == agent
        assert [version.memory.author for version in tx.versions(theirs.number)] == [agent, agent]
        for role in Role:
            numbers = {memory.number for memory in tx.browse(Query(SHOP, roles=(role,)), shelf.now)}
            wanted = {one.number for one in (plain, changed) if one.author.role is role}
            assert numbers == wanted
            assert set(tx.ranking_facts(Query(SHOP, roles=(role,)), [plain.number, theirs.number], shelf.now)) == wanted


def test_memories_expired_since_an_event_are_listed_by_number(shelf, store):
    soon = shelf.keep("soon", SHOP, expires_at=shelf.now + timedelta(days=1), pinned=True)
    shelf.keep("later", SHOP, expires_at=shelf.now + timedelta(days=3))
    shelf.keep("ended", SHOP, expires_at=shelf.now + timedelta(days=1), state=State.ARCHIVED)
    at = soon.expires_at
    with store.read() as tx:
        last = tx.events(None, None, None, 1)
        assert tx.expired_since(0, at) == [soon.number]
        assert tx.expired_since(last[0].number if last else 0, at) == [soon.number]
        assert tx.expired_since(0, at - timedelta(microseconds=1)) == []
