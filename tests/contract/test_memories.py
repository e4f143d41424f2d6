"""Memories: stored all or nothing, with every version and event, each under a number that is never reused."""

import threading
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from omoide.errors import Conflict, StoreBusy, StoreError
from omoide.model import (
    Actor,
    AgentSource,
    CliSource,
    FileSource,
    GitHubSource,
    LinkKind,
    Project,
    ProjectPlace,
    Query,
    Role,
    Scope,
    SlackSource,
    State,
)
from omoide.storage.base import NearDuplicateFilter

SHOP, BANK = Scope.project("shop"), Scope.project("bank")
MONDAY, TUESDAY = Scope.session("shop", "monday"), Scope.session("shop", "tuesday")
BOB = Actor("bob", via="test")


def test_every_field_is_read_back_as_stored(samples, backend):
    kept = samples.add(
        "first\nsecond  line", MONDAY, key="k", type="decision", topic="the topic", topic_given=False,
        tags=("a", "日本"), examples=("one", "two\n"), source="here", confidence=0.25, relevance=0.75,
        reference_count=3, pinned=True, state=State.ARCHIVED, version=7, source_run_id="run 7",
        original_prompt="覚えて\n",
        last_accessed_at=datetime(2026, 1, 1, 0, 0, 0, 1, UTC), expires_at=datetime(9998, 1, 1, 0, 0, 0, 999999, UTC),
    )  # several entries per line  # fmt: skip
    samples.store.close()
    with backend.open().read() as tx:
        assert tx.memory(kept.number) == tx.memory(kept.id) == kept


def test_times_keep_their_microseconds(samples):
    at = datetime(1999, 12, 31, 23, 59, 59, 999999, UTC)
    kept = samples.add("x", created_at=at, updated_at=at + timedelta(microseconds=1))
    read = samples.ask(lambda tx: tx.memory(kept.number))
    assert (read.created_at, read.updated_at) == (at, at + timedelta(microseconds=1))
    assert samples.ask(lambda tx: tx.events(None, None, None, 1))[0].at == samples.now


def test_a_failed_write_stores_nothing(samples, store):
    kept = samples.add("old", SHOP, fingerprint=5)
    before = samples.ask(
        lambda tx: (list(tx.everything()), tx.events(None, None, None, 99), tx.projects(), tx.counts(samples.now))
    )

    def fail():
        with store.write() as tx:
            draft = samples.draft("new", BANK)
            tx.add([(draft, 1, samples.index_entry(draft))], BOB)
            newer = msgspec.structs.replace(kept, content="newer", version=2)
            tx.change([(kept, newer, 1, samples.index_entry(newer))], BOB)
            tx.count_reference(kept.number)
            tx.add_event("changed", BOB, samples.now, kept, {})
            tx.put_project(Project("bank", "money"))
            tx.erase(kept.number)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    after = samples.ask(
        lambda tx: (list(tx.everything()), tx.events(None, None, None, 99), tx.projects(), tx.counts(samples.now))
    )
    assert after == before
    assert samples.problems() == []
    assert samples.ask(lambda tx: [tx.frequencies(Query(SHOP), [term], 9)[term] for term in ("old", "new", "newer")]) == [
        1,
        0,
        0,
    ]


def test_a_reader_sees_one_snapshot_while_others_write(samples, backend):
    kept = samples.add("before")
    with backend.open().read() as tx:
        assert tx.memory(kept.number).content == "before"
        samples.change(kept, content="after")
        assert tx.memory(kept.number).content == "before"
        assert tx.frequencies(Query(Scope()), ["after"], 9)["after"] == 0
    assert samples.ask(lambda tx: tx.memory(kept.number)).content == "after"


def test_a_writer_waits_for_another(samples, backend):
    other = backend.open()
    draft = samples.draft("second")

    def write():
        with other.write() as tx:
            tx.add([(draft, 0, samples.index_entry(draft))], BOB)

    with samples.store.write() as tx:
        waiting = threading.Thread(target=write)
        waiting.start()
        first = samples.draft("first")
        tx.add([(first, 0, samples.index_entry(first))], BOB)
    waiting.join()
    assert samples.ask(lambda tx: [memory.content for memory in tx.everything()]) == ["first", "second"]


def test_a_writer_that_waited_too_long_gets_an_error(samples, backend):
    impatient = backend.open(wait=0.01)
    with samples.store.write(), pytest.raises(StoreBusy, match="another process"), impatient.write():
        pass


def test_numbers_rise_and_are_never_reused(samples, backend):
    first, second = samples.add("a"), samples.add("b")
    assert first.number < second.number
    samples.erase(second)
    third = samples.add("c")
    assert third.number > second.number
    samples.erase(third)
    samples.store.close()
    samples.store = backend.open()
    assert samples.add("d").number > third.number


def test_a_requested_unused_number_is_assigned(samples):
    assert samples.add("a", number=40).number == 40
    assert samples.add("b", number=7).number == 7
    assert samples.add("c").number == 41


def test_a_requested_used_number_is_replaced_even_after_a_purge(samples):
    taken = samples.add("a")
    assert samples.add("b", number=taken.number).number != taken.number
    samples.erase(taken)
    assert samples.add("c", number=taken.number).number != taken.number


@pytest.mark.parametrize("number", [-1, 2**32, 2**63 - 1])
def test_an_oversized_number_is_replaced_by_the_next_one(samples, number):
    assert samples.add("a").number == 1
    assert samples.add("b", SHOP, number=number).number == 2
    assert samples.add("c").number == 3


def test_an_id_is_unique(samples):
    kept = samples.add("a")
    with pytest.raises(Conflict, match=kept.id):
        samples.add("b", id=kept.id)


def test_a_key_is_unique_among_living_memories_of_its_scope(samples):
    kept = samples.add("a", SHOP, key="k")
    for other in (BANK, MONDAY, TUESDAY, Scope()):
        samples.add("elsewhere", other, key="k")
    with pytest.raises(Conflict, match="'k' is taken in project shop"):
        samples.add("b", SHOP, key="k")
    other = samples.add("c", SHOP)
    with pytest.raises(Conflict, match="taken"):
        samples.change(other, key="k")
    samples.change(kept, state=State.ARCHIVED)
    with pytest.raises(Conflict, match="taken"):
        samples.add("b", SHOP, key="k")


def test_forgetting_frees_the_key_for_others(samples):
    forgotten = samples.change(samples.add("a", SHOP, key="k"), state=State.FORGOTTEN)
    assert samples.ask(lambda tx: tx.by_key(SHOP, "k")) is None
    second = samples.add("b", SHOP, key="k")
    assert samples.ask(lambda tx: tx.by_key(SHOP, "k")) == second
    with pytest.raises(Conflict, match="taken"):
        samples.change(forgotten, state=State.ACTIVE)
    assert samples.ask(lambda tx: tx.memory(forgotten.number)) == forgotten


def test_versions_come_oldest_first_each_with_its_actor(samples):
    first = samples.add("one", SHOP, tags=("t",))
    second = samples.change(first, content="two", actor=BOB)
    third = samples.change(second, content="three", scope=Scope(), state=State.ARCHIVED)
    versions = samples.ask(lambda tx: tx.versions(first.number))
    assert [version.memory for version in versions] == [first, second, third]
    assert [version.actor.name for version in versions] == ["alice", "bob", "alice"]
    assert samples.ask(lambda tx: tx.versions(999)) == []


def test_a_confirmation_counts_but_makes_no_version(samples, store):
    kept = samples.add("a")
    with store.write() as tx:
        tx.count_reference(kept.number)
        tx.count_reference(kept.number)
    read = samples.ask(lambda tx: tx.memory(kept.number))
    assert read == msgspec.structs.replace(kept, reference_count=2)
    assert len(samples.ask(lambda tx: tx.versions(kept.number))) == 1


def test_events_come_newest_first_and_can_be_narrowed(samples):
    one, two = samples.add("a", SHOP), samples.add("b", SHOP, actor=BOB)
    middle = samples.now
    one = samples.change(one, content="c")
    events = samples.ask(lambda tx: tx.events(None, None, None, 99))
    assert [(event.action, event.memory_number) for event in events] == [
        ("changed", one.number), ("remembered", two.number), ("remembered", one.number),
    ]  # several entries per line  # fmt: skip
    assert [event.number for event in events] == sorted((event.number for event in events), reverse=True)
    assert (events[1].actor, events[1].memory_id, events[0].detail) == (BOB, two.id, {"version": 2})
    assert samples.ask(lambda tx: tx.events(None, None, None, 2)) == events[:2]
    assert samples.ask(lambda tx: tx.events(None, one.number, None, 99)) == [events[0], events[2]]
    assert samples.ask(lambda tx: tx.events(None, None, middle, 99)) == events[:2]


def test_an_event_has_its_source_and_events_of_a_source_or_its_parts_can_be_asked_for(samples):
    thread, other = SlackSource("C123", "1700000000.0001"), SlackSource("C1234")
    issue, path = GitHubSource("owner/name", 12), FileSource("/notes/a.md")
    sources = (thread, other, issue, path, None)
    with samples.store.write() as tx:
        for source in sources:
            tx.add_event("started", BOB, samples.now, SHOP, {}, source)

    def event_sources(wanted):
        return [event.source for event in samples.ask(lambda tx: tx.events(None, None, None, 99, wanted))][::-1]

    assert event_sources(None) == [thread, other, issue, path, AgentSource("bob")]
    assert event_sources(SlackSource()) == [thread, other]
    assert event_sources(SlackSource("C123")) == event_sources(thread) == [thread]
    assert (
        event_sources(GitHubSource("owner")) == event_sources(GitHubSource("owner/name")) == event_sources(issue) == [issue]
    )
    assert event_sources(GitHubSource("owner/name", 1)) == []
    assert event_sources(FileSource("/notes")) == [path]
    assert event_sources(AgentSource()) == event_sources(AgentSource("bob")) == [AgentSource("bob")]
    assert event_sources(CliSource()) == event_sources(AgentSource("alice")) == []


def test_an_event_outlives_its_memory_without_its_text(samples):
    kept = samples.add("zebra", SHOP, topic="giraffe", tags=("okapi",), key="gnu")
    samples.erase(kept)
    events = samples.ask(lambda tx: tx.events(SHOP, None, None, 99))
    assert [(event.action, event.memory_number, event.memory_id) for event in events] == [
        ("purged", kept.number, None), ("remembered", kept.number, None),
    ]  # several entries per line  # fmt: skip
    text = msgspec.json.encode(events).decode()
    assert not any(word in text for word in ("zebra", "giraffe", "okapi", "gnu"))


def test_erasing_removes_versions_and_links_of_that_memory_only(samples, store):
    one, two = samples.add("a"), samples.add("b")
    one = samples.change(one, content="c")
    with store.write() as tx:
        tx.link(one.number, LinkKind.RELATES, two.number, samples.now)
    samples.erase(one)
    assert samples.ask(lambda tx: (tx.memory(one.number), tx.versions(one.number), tx.links(two.number))) == (
        None,
        [],
        [],
    )
    assert samples.ask(lambda tx: list(tx.everything())) == [two]
    with store.write() as tx:
        tx.erase(one.number)  # again: nothing to do
    assert samples.problems() == []


def test_a_link_is_made_once_and_seen_from_both_ends(samples, store):
    one, two = samples.add("a"), samples.add("b")
    with store.write() as tx:
        assert tx.link(one.number, LinkKind.SUPERSEDES, two.number, samples.now)
        assert not tx.link(one.number, LinkKind.SUPERSEDES, two.number, samples.now)
    (link,) = samples.ask(lambda tx: tx.links(one.number))
    assert samples.ask(lambda tx: tx.links(two.number)) == [link]
    assert (link.source, link.kind, link.target, link.created_at) == (one.id, LinkKind.SUPERSEDES, two.id, samples.now)
    with store.write() as tx:
        assert tx.unlink(one.number, LinkKind.SUPERSEDES, two.number)
        assert not tx.unlink(one.number, LinkKind.SUPERSEDES, two.number)


def test_fingerprint_matches_are_living_ones_of_the_scope_newest_first(samples):
    one, two = samples.add("a", SHOP, fingerprint=77), samples.add("b", SHOP, fingerprint=77)
    for elsewhere in (BANK, MONDAY, Scope()):
        samples.add("c", elsewhere, fingerprint=77)
    samples.add("d", SHOP, fingerprint=78)
    assert samples.ask(lambda tx: tx.by_fingerprint(77, SHOP)) == [two, one]
    forgotten = samples.change(two, fingerprint=77, state=State.FORGOTTEN)
    archived = samples.change(one, fingerprint=77, state=State.ARCHIVED)
    assert samples.ask(lambda tx: tx.by_fingerprint(77, SHOP)) == [archived]
    assert samples.ask(lambda tx: tx.by_fingerprint(77, SHOP, forgotten=True)) == [forgotten]
    assert samples.ask(lambda tx: tx.by_fingerprint(77, Scope.project("unknown"))) == []


def test_adding_many_equals_adding_one_by_one(samples, store):
    first = samples.add("before", SHOP)
    drafts = [samples.draft("zebra", SHOP, topic="t"), samples.draft("zebra zebra", BANK), samples.draft("okapi", MONDAY)]
    with store.write() as tx:
        drafts = [msgspec.structs.replace(draft, author=BOB) for draft in drafts]
        added = tx.add([(memory, 7, samples.index_entry(memory)) for memory in drafts], BOB)
        tx.add_event("remembered", BOB, samples.now, added, {})
    after = samples.add("after", SHOP)
    assert [each.number for each in added] == list(range(first.number + 1, after.number))
    with store.read() as tx:
        assert tx.memories([each.number for each in added]) == added
        assert tx.posting_numbers(Query(SHOP), ["zebra"], 9)["zebra"] == [added[0].number]
        assert tx.sizes(Query(SHOP)).entries == 4
        assert tx.by_fingerprint(7, MONDAY) == [added[2]]
        assert [event.actor for event in tx.events(SHOP, added[2].number, None, 9)] == [BOB]
        assert tx.known_fingerprints([7, 8, 0]) == {7, 0}
    assert samples.problems() == []


def test_near_duplicate_candidates_are_living_ones_of_the_scope_newest_first(samples):
    one, two, three, other = (samples.add(text, SHOP) for text in ("abcd x", "efgh x y", "ijkl x y z x y", "longer x y z"))
    samples.add("longest x y z", SHOP)
    archived, forgotten = samples.add("mnop x", SHOP), samples.add("qrst x y z", SHOP)
    samples.change(archived, state=State.ARCHIVED)
    samples.change(forgotten, state=State.FORGOTTEN)
    for elsewhere in (BANK, MONDAY, Scope()):
        samples.add("uvwx x y z", elsewhere)

    def candidates(blocking_key, *ranges, most=9, scope=SHOP, number=0, smallest=0, largest=99, head=99):
        wanted = NearDuplicateFilter(scope, number, smallest, largest, head, 2)
        return samples.ask(lambda tx: tx.near_duplicate_candidates(wanted, blocking_key, ranges, most))

    found = [(memory.number, memory.content) for memory in (archived, three, two, one)]
    longer = (other.number, other.content)
    assert candidates(4) == found
    assert candidates(4, (1, 3), (5, 6)) == [*found, longer]
    assert candidates(9, (1, 3), (6, 6), (4, 4))[0] == longer
    assert candidates(None, (1, 3), (6, 6), (4, 4), most=3)[0] == longer
    assert candidates(None, (6, 6)) == [longer]
    assert candidates(4, (6, 6), most=3) == found[:3]
    assert candidates(4, (6, 6), number=three.number, most=3) == [found[0], *found[2:]]
    assert candidates(4, (6, 6), number=other.number) == found
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


def test_memories_come_in_the_order_asked_without_the_missing(samples):
    one, two, three = samples.add("a"), samples.add("b"), samples.add("c")
    assert samples.ask(lambda tx: tx.memories([three.number, 99, one.number, two.number])) == [three, one, two]
    assert samples.ask(lambda tx: tx.memories([])) == []


def test_access_times_are_written_with_the_next_write(samples, store, backend):
    kept = samples.add("a")
    store.touch([kept.number, 999], samples.now)
    with backend.open().read() as tx:
        assert tx.memory(kept.number).last_accessed_at is None
    samples.add("b")
    assert samples.ask(lambda tx: tx.memory(kept.number)).last_accessed_at == samples.now - timedelta(seconds=1)


def test_access_times_are_written_on_close_and_never_go_back(samples, store, backend):
    kept = samples.add("a")
    store.touch([kept.number], samples.now)
    store.close()
    samples.store = backend.open()
    assert samples.ask(lambda tx: tx.memory(kept.number)).last_accessed_at == samples.now
    samples.store.touch([kept.number], samples.now - timedelta(days=1))
    samples.add("b")
    assert samples.ask(lambda tx: tx.memory(kept.number)).last_accessed_at == samples.now - timedelta(seconds=1)


@pytest.mark.needs("Housekeeping")
def test_access_times_are_written_when_idle_except_for_purged_memories(samples, store, backend):
    second = backend.open()
    kept = [samples.add("a", SHOP) for _ in range(3)]

    def accesses():
        with second.read() as tx:
            return [memory.last_accessed_at for memory in tx.everything()]

    for at in (samples.step(), samples.step()):  # the second time, nobody else has written since
        store.touch([each.number for each in kept] + [*range(1_000, 1_600)], at)
        store.flush()
        assert accesses() == [at] * 3
    samples.store = second
    samples.erase(kept[0])
    store.touch([each.number for each in kept] + [*range(1_000, 1_600)], at := samples.step())
    store.flush()
    assert accesses() == [at] * 2
    assert samples.problems() == []


def test_recording_access_times_never_blocks(samples, backend):
    kept = [samples.add(f"m{n}").number for n in range(3)]
    store, other = backend.open(wait=3_600), backend.open()  # a program that waits does not give up by itself

    def record():
        store.touch([*kept, *range(1000, 3000)], samples.now)
        store.close()

    recording = threading.Thread(target=record, daemon=True)
    with other.write():
        recording.start()
        recording.join(120)
        assert not recording.is_alive(), "it waits for the other writer"
    samples.store = backend.open()
    assert samples.ask(lambda tx: tx.memory(kept[0])).last_accessed_at is None


def test_a_project_keeps_its_description_and_a_directory_belongs_to_one(samples, store):
    with store.write() as tx:
        tx.put_project(Project("shop", "sells", (ProjectPlace("/a"),), samples.now))
        tx.put_project(Project("bank", "lends", (ProjectPlace("/b"),), samples.now))
    shop = samples.ask(lambda tx: tx.project(root="/a"))
    assert shop == Project("shop", "sells", (ProjectPlace("/a"),), samples.now, number=shop.number)
    with store.write() as tx:
        tx.put_project(Project("bank", "lends", (ProjectPlace("/a"),)))
    assert samples.ask(lambda tx: tx.project(root="/a")).path == "bank"
    assert samples.ask(lambda tx: tx.project(root="/b")) is None
    assert [project.path for project in samples.ask(lambda tx: tx.projects())] == ["bank", "shop"]


def test_a_project_that_differs_only_in_case_is_refused(samples):
    samples.add("a", Scope.project("Größe"))
    with pytest.raises(Conflict, match="'Größe'"):
        samples.add("b", Scope.project("GRÖSSE"))


def test_everything_is_ordered_by_number_and_counted(samples):
    kept = [samples.add("a", SHOP), samples.add("b", MONDAY, type="tech"), samples.add("c", state=State.FORGOTTEN)]
    kept += [samples.add(str(n), BANK) for n in range(3)]
    assert samples.ask(lambda tx: list(tx.everything())) == kept
    assert samples.ask(lambda tx: tx.counts(samples.now)) == [
        (Scope(), "note", "forgotten", 1), (BANK, "note", "active", 3), (SHOP, "note", "active", 1),
        (MONDAY, "tech", "active", 1),
    ]  # several entries per line  # fmt: skip


def test_every_version_names_its_author_or_else_the_actor(samples, store):
    agent = Actor("agent-7", Role.WORKER, "test")
    plain, theirs = samples.add("plain", SHOP), samples.add("theirs", SHOP, author=agent)
    changed = samples.change(theirs, pinned=True)
    with store.read() as tx:
        assert tx.memory(plain.number).author == plain.author
        assert plain.author.name != agent.name
        assert tx.memory(theirs.number).author == agent
        assert [version.memory.author for version in tx.versions(theirs.number)] == [agent, agent]
        for role in Role:
            numbers = {memory.number for memory in tx.browse(Query(SHOP, roles=(role,)), samples.now)}
            wanted = {one.number for one in (plain, changed) if one.author.role is role}
            assert numbers == wanted
            assert set(tx.ranking_facts(Query(SHOP, roles=(role,)), [plain.number, theirs.number], samples.now)) == wanted


def test_memories_expired_since_an_event_are_listed_by_number(samples, store):
    soon = samples.add("soon", SHOP, expires_at=samples.now + timedelta(days=1), pinned=True)
    samples.add("later", SHOP, expires_at=samples.now + timedelta(days=3))
    samples.add("ended", SHOP, expires_at=samples.now + timedelta(days=1), state=State.ARCHIVED)
    at = soon.expires_at
    with store.read() as tx:
        last = tx.events(None, None, None, 1)
        assert tx.memories_expired_since(0, at) == [soon.number]
        assert tx.memories_expired_since(last[0].number if last else 0, at) == [soon.number]
        assert tx.memories_expired_since(0, at - timedelta(microseconds=1)) == []
    with store.write() as tx:
        tx.add_event("started", BOB, at, SHOP, {})
    with store.read() as tx:
        (at_expiry,) = tx.events(None, None, None, 1)
        assert tx.memories_expired_since(at_expiry.number, at) == [], "not after the event"


def test_erasing_leaves_no_trace_of_a_memory_but_its_events(samples, store):
    other = samples.add("zebra", SHOP)
    erased = samples.add("okapi", SHOP, key="k", topic="animals", tags=("striped",), fingerprint=77)
    erased = samples.change(erased, fingerprint=78, content="quagga")
    with store.write() as tx:
        for source, target in ((other.number, erased.number), (erased.number, other.number)):
            tx.link(source, LinkKind.RELATES, target, samples.now)
    store.touch([erased.number], samples.now)
    samples.erase(erased)
    samples.add("written with the access time of a memory that is gone", SHOP)
    with store.read() as tx:
        assert tx.memory(erased.number) is tx.memory(erased.id) is None
        assert tx.memories([erased.number]) == tx.memories([erased.id]) == tx.versions(erased.number) == []
        assert tx.links(other.number) == tx.links(erased.number) == []
        assert tx.by_key(SHOP, "k") is tx.by_key(SHOP, "k", forgotten=True) is None
        assert tx.known_fingerprints([77, 78]) == set()
        everywhere = Query(SHOP, states=tuple(State))
        assert erased.number not in [memory.number for memory in tx.browse(everywhere, samples.now)]
        terms = ["okapi", "quagga", "animals", "striped"]
        assert tx.frequencies(everywhere, terms, 9) == dict.fromkeys(terms, 0)
        assert tx.sizes(everywhere).entries == 2
        assert {event.memory_id for event in tx.events(None, erased.number, None, 9)} == {None}
    assert samples.problems() == []


def test_a_key_is_found_in_all_sessions_of_a_project_last_changed_first(samples):
    samples.add("of the project", SHOP, key="k")
    samples.add("global", Scope.everywhere(), key="k")
    samples.add("of another project", Scope.session("bank", "monday"), key="k")
    samples.add("another key", MONDAY, key="other")
    samples.add("no key", MONDAY)
    monday, tuesday = samples.add("m", MONDAY, key="k"), samples.add("t", TUESDAY, key="k", state=State.ARCHIVED)
    assert samples.ask(lambda tx: list(tx.by_key_in_sessions(SHOP, "k"))) == [tuesday, monday]
    monday = samples.change(monday, content="changed")
    assert samples.ask(lambda tx: list(tx.by_key_in_sessions(TUESDAY, "k"))) == [monday, tuesday]
    samples.change(monday, state=State.FORGOTTEN)
    assert samples.ask(lambda tx: list(tx.by_key_in_sessions(SHOP, "k"))) == [tuesday]
    for scope in (Scope.everywhere(), Scope.project("unknown")):
        assert samples.ask(lambda tx, scope=scope: list(tx.by_key_in_sessions(scope, "k"))) == []


def test_of_several_forgotten_memories_with_a_key_the_last_one_is_found(samples):
    first, second = (samples.add(text, SHOP, key="k", state=State.FORGOTTEN) for text in "ab")
    samples.add("c", BANK, key="k", state=State.FORGOTTEN)
    assert samples.ask(lambda tx: tx.by_key(SHOP, "k", forgotten=True)) == second
    first = samples.change(first, content="forgotten again")
    assert samples.ask(lambda tx: tx.by_key(SHOP, "k", forgotten=True)) == first
    assert samples.ask(lambda tx: tx.by_key(SHOP, "k")) is None
    assert samples.ask(lambda tx: tx.by_key(MONDAY, "k", forgotten=True)) is None


def test_a_transaction_that_has_ended_refuses_every_use(samples, store):
    for _ in range(3):
        samples.add("a", SHOP)
    with store.read() as tx:
        browsed, everything = tx.browse(Query(SHOP), samples.now), tx.everything()
        assert next(browsed).content == next(everything).content == "a"
    with store.write() as writer:
        pass
    uses = (
        lambda: tx.memory(1),
        tx.mark,
        lambda: next(browsed),
        lambda: list(everything),
        lambda: writer.count_reference(1),
    )
    for use in uses:
        with pytest.raises(StoreError, match="has ended"):
            use()


def test_a_closed_store_refuses_transactions_and_may_be_closed_again(store):
    store.close()
    store.close()
    with pytest.raises(StoreError, match="was closed"), store.read():
        pass


def test_a_snapshot_is_of_one_moment_while_its_own_store_reads_and_writes(samples, store):
    samples.add("a")
    with store.snapshot() as tx:
        assert tx.count(Query(Scope()), samples.now) == 1
        everything = tx.everything()
        samples.add("b")
        assert samples.ask(lambda reader: len(list(reader.everything()))) == 2
        assert [memory.content for memory in everything] == ["a"]


def test_everything_is_returned_by_number(samples, store):
    for number in (9, 5):
        draft = samples.draft("a", SHOP, author=BOB, number=number)
        with store.write() as tx:
            tx.add([(draft, 1, samples.index_entry(draft))], BOB)
    assert samples.ask(lambda tx: [memory.number for memory in tx.everything()]) == [5, 9]


def test_a_task_runs_in_one_process_at_a_time(store, backend):
    other = backend.open()
    with store.task_lock("sweep"):
        with pytest.raises(StoreBusy, match="sweep"), other.task_lock("sweep"):
            pass
        with other.task_lock("dust"):
            pass
    with other.task_lock("sweep"):
        pass


def test_a_summary_counts_what_browsing_returns(samples):
    first = samples.add("äb", SHOP, type="tech", tags=("db", "Python"))
    samples.add("c", SHOP, tags=("python",))
    last = samples.add("d", SHOP)
    samples.add("elsewhere", BANK, tags=("other",))
    summary = samples.ask(lambda tx: tx.summary(Query(SHOP), samples.now))
    assert (summary.count, list(summary.by_type.items())) == (3, [("note", 2), ("tech", 1)])
    assert list(summary.by_tag.items()) == [("Python", 2), ("db", 1)]
    assert (summary.oldest, summary.newest, summary.bytes) == (first.created_at, last.updated_at, 5)


def test_a_summary_has_the_twenty_most_common_tags(samples):
    for number in range(25):
        samples.add("a", SHOP, tags=tuple(f"tag{each:02}" for each in range(number, 25)))
    summary = samples.ask(lambda tx: tx.summary(Query(SHOP), samples.now))
    assert list(summary.by_tag.items()) == [(f"tag{each:02}", each + 1) for each in range(24, 4, -1)]


def test_many_memories_of_which_one_has_a_taken_id_are_refused_together(samples, store):
    kept = samples.add("a", SHOP)
    drafts = [samples.draft("b", SHOP, author=BOB), samples.draft("c", SHOP, author=BOB, id=kept.id)]
    with pytest.raises(Conflict), store.write() as tx:
        tx.add([(draft, 0, samples.index_entry(draft)) for draft in drafts], BOB)
    assert samples.ask(lambda tx: list(tx.everything())) == [kept]


def test_the_next_page_of_a_list_begins_after_the_last_memory_of_this_one(samples):
    kept = [samples.add(text, Scope.project("shop")) for text in "abcd"]
    everywhere = samples.add("e")
    query = Query(Scope.project("shop"))
    order = [memory.number for memory in samples.ask(lambda tx: list(tx.browse(query, samples.now)))]
    assert order == [everywhere.number, *(memory.number for memory in reversed(kept))]
    for place, number in enumerate(order):
        last = samples.ask(lambda tx, number=number: tx.memory(number))
        rest = msgspec.structs.replace(query, before=(last.updated_at, last.number))
        found = samples.ask(lambda tx, rest=rest: [each.number for each in tx.browse(rest, samples.now)])
        assert found == order[place + 1 :]
