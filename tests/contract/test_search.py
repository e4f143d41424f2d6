"""The search index: always as the memories are, and never another project's memories."""

from contextlib import suppress
from datetime import timedelta

import pytest

from omoide.model import Actor, Layer, Query, Scope, State
from omoide.storage.base import IndexEntry, IndexSize, PostingSet, RankingFacts, TextEnds

ALICE = Actor("alice", via="test")

SHOP, BANK = Scope.project("shop"), Scope.project("bank")
MONDAY, TUESDAY = Scope.session("shop", "monday"), Scope.session("shop", "tuesday")
LIVING = (State.ACTIVE, State.INACTIVE, State.ARCHIVED)


def find_numbers(samples, query, term):
    """The numbers of the memories that contain the term, by every method of the index; they must agree."""
    with samples.store.read() as tx:
        holders = tx.posting_numbers(query, [term], 99)[term]
        everyone = [memory.number for memory in tx.everything()]
        postings = tx.postings(query, [term], everyone)[term]
        assert {number for number, *_ in postings} == set(holders)
        assert tx.frequencies(query, [term], 99)[term] == len(holders)
        found_set = tx.posting_sets(query, {term: 99}, 99)[term]
        assert found_set.frequency == len(holders)
        assert found_set.bits == sum(1 << number for number in holders)
        assert {number: found_set.counts.get(number, (0, 0, 1)) for number in holders} == {
            number: tuple(counts) for number, *counts in postings
        }
        return set(tx.ranking_facts(query, holders, samples.now))


def test_the_index_follows_a_memory_through_its_whole_life(samples, store):
    kept = samples.add("zebra", SHOP)
    assert find_numbers(samples, Query(SHOP), "zebra") == {kept.number}
    kept = samples.change(kept, content="okapi")
    assert find_numbers(samples, Query(SHOP), "zebra") == set()
    assert find_numbers(samples, Query(SHOP), "okapi") == {kept.number}
    kept = samples.change(kept, state=State.ARCHIVED)
    assert find_numbers(samples, Query(SHOP), "okapi") == set()
    assert find_numbers(samples, Query(SHOP, states=(State.ARCHIVED,)), "okapi") == {kept.number}
    kept = samples.change(kept, state=State.FORGOTTEN)
    assert find_numbers(samples, Query(SHOP, states=LIVING), "okapi") == set()
    kept = samples.change(kept, state=State.ACTIVE)
    assert find_numbers(samples, Query(SHOP), "okapi") == {kept.number}
    assert find_numbers(samples, Query(BANK), "okapi") == set()
    kept = samples.change(kept, scope=Scope())
    assert find_numbers(samples, Query(BANK), "okapi") == {kept.number}
    kept = samples.change(kept, state=State.INACTIVE)
    assert find_numbers(samples, Query(BANK), "okapi") == set()
    samples.erase(kept)
    assert find_numbers(samples, Query(BANK, states=LIVING), "okapi") == set()
    assert samples.problems() == []


def test_a_project_sees_itself_its_sessions_and_the_global_layer_and_nothing_else(samples):
    places = {
        scope: samples.add("zebra", scope, key="k", fingerprint=7).number
        for scope in (Scope(), SHOP, MONDAY, TUESDAY, BANK, Scope.session("bank", "monday"), Scope.project("shop/x"))
    }
    ours = {places[Scope()], places[SHOP], places[MONDAY], places[TUESDAY]}
    for reader in (SHOP, MONDAY):
        query = Query(reader)
        assert find_numbers(samples, query, "zebra") == ours
        with samples.store.read() as tx:
            everyone = list(places.values())
            assert {memory.number for memory in tx.browse(query, samples.now)} == ours
            assert set(tx.ranking_facts(query, everyone, samples.now)) == ours
            assert tx.count(query, samples.now) == tx.sizes(query).entries == 4
            assert {event.memory_number for event in tx.events(reader, None, None, 99)} == ours
            assert tx.events(reader, places[BANK], None, 99) == []
            assert [memory.number for memory in tx.by_fingerprint(7, reader)] == [places[reader]]
            assert tx.by_key(reader, "k").number == places[reader]
    assert find_numbers(samples, Query(Scope()), "zebra") == {places[Scope()]}
    stranger = Query(Scope.project("unknown"))
    assert find_numbers(samples, stranger, "zebra") == {places[Scope()]}
    assert samples.ask(lambda tx: tx.by_key(stranger.scope, "k")) is None
    assert samples.ask(lambda tx: {e.memory_number for e in tx.events(stranger.scope, None, None, 9)}) == {places[Scope()]}


@pytest.mark.parametrize(
    ("reader", "layers", "seen"),
    [
        (SHOP, (Layer.EVERYWHERE,), {"everywhere"}),
        (SHOP, (Layer.PROJECT,), {"shop"}),
        (SHOP, (Layer.SESSION,), {"monday", "tuesday"}),
        (SHOP, (Layer.PROJECT, Layer.EVERYWHERE), {"shop", "everywhere"}),
        (MONDAY, (Layer.SESSION,), {"monday"}),
        (MONDAY, (Layer.SESSION, Layer.PROJECT), {"monday", "shop"}),
        (MONDAY, (Layer.SESSION, Layer.EVERYWHERE), {"monday", "everywhere"}),
        (MONDAY, (), {"monday", "tuesday", "shop", "everywhere"}),
        (Scope(), (Layer.PROJECT, Layer.SESSION), set()),
    ],
)
def test_layers_narrow_the_query(samples, reader, layers, seen):
    places = {"everywhere": Scope(), "shop": SHOP, "monday": MONDAY, "tuesday": TUESDAY, "bank": BANK}
    names = {samples.add("zebra", scope).number: name for name, scope in places.items()}
    query = Query(reader, layers=layers)
    assert {names[number] for number in find_numbers(samples, query, "zebra")} == seen
    browsed = samples.ask(lambda tx: [names[memory.number] for memory in tx.browse(query, samples.now)])
    assert set(browsed) == seen
    assert samples.ask(lambda tx: tx.count(query, samples.now)) == len(seen)


def bits(samples, query, term, most=9_999, counted=9_999):
    return samples.ask(lambda tx: tx.posting_sets(query, {term: most}, counted)[term])


def test_postings_include_writes_of_another_process_at_once(samples, store, backend):
    second = backend.open()
    one = samples.add("gnu", SHOP)
    assert bits(samples, Query(SHOP), "gnu").bits == 1 << one.number
    samples.store = second
    two, three = samples.add("gnu gnu", SHOP), samples.add("gnu", SHOP)
    samples.change(one, content="yak")
    samples.store = store
    found_set = bits(samples, Query(SHOP), "gnu")
    assert found_set.bits == 1 << two.number | 1 << three.number
    assert found_set.frequency == 2
    samples.store = second
    samples.change(three, state=State.ARCHIVED)
    samples.erase(two)
    samples.store = store
    assert bits(samples, Query(SHOP), "gnu").bits == 0
    assert bits(samples, Query(SHOP, states=LIVING), "gnu").bits == 1 << three.number


def test_counts_follow_changes_of_counted_memories(samples):
    one, two = samples.add("gnu gnu", SHOP), samples.add("a gnu", SHOP, topic="gnu")
    assert bits(samples, Query(SHOP), "gnu").counts == {one.number: (0, 0, 2), two.number: (1, 0, 1)}
    samples.change(one, content="gnu")
    three = samples.add("gnu gnu gnu", SHOP)
    found_set = bits(samples, Query(SHOP), "gnu")
    assert found_set.counts == {two.number: (1, 0, 1), three.number: (0, 0, 3)}
    assert found_set.frequency == 3


def test_a_term_is_read_again_after_many_changes(samples):
    kept = [samples.add("gnu", SHOP) for _ in range(3)]
    assert bits(samples, Query(SHOP), "gnu").frequency == 3
    more = [samples.add("gnu" if n % 2 else "yak", SHOP).number for n in range(120)]
    holders = [memory.number for memory in kept] + more[1::2]
    assert bits(samples, Query(SHOP), "gnu").bits == sum(1 << number for number in holders)


def test_bitsets_are_equal_for_long_and_short_posting_lists(samples):
    with samples.store.write() as tx:
        drafts = [samples.draft("gnu" if n % 3 else "yak", SHOP) for n in range(1_000)]
        for draft in drafts:
            tx.add_event("remembered", ALICE, samples.now, tx.add([(draft, 0, samples.index_entry(draft))], ALICE), {})
    holders = samples.ask(lambda tx: tx.posting_numbers(Query(SHOP), ["gnu"], 9_999)["gnu"])
    assert len(holders) == 666
    assert bits(samples, Query(SHOP), "gnu").bits == sum(1 << number for number in holders)


def test_a_posting_list_over_the_limit_returns_only_its_length(samples):
    for _ in range(3):
        samples.add("gnu", SHOP)
    assert bits(samples, Query(SHOP), "gnu", most=2) == PostingSet(3, None, None)
    assert bits(samples, Query(SHOP), "gnu", most=3).bits is not None


def test_occurrences_of_a_common_term_are_not_counted(samples):
    numbers = [samples.add("gnu gnu", SHOP).number for _ in range(3)]
    assert bits(samples, Query(SHOP), "gnu", counted=2) == PostingSet(3, sum(1 << number for number in numbers), None)


def test_postings_are_right_where_most_memories_are_in_other_projects(samples):
    for n in range(40):
        samples.add(f"gnu gnu {n}", BANK)
    one, two, three = (
        samples.add("gnu", SHOP),
        samples.add("gnu gnu", SHOP),
        samples.add("x", SHOP, topic="gnu", tags=("gnu",)),
    )
    assert bits(samples, Query(SHOP), "gnu", most=2) == PostingSet(3, None, None)
    found_set = bits(samples, Query(SHOP), "gnu")
    assert found_set.bits == sum(1 << each.number for each in (one, two, three))
    assert found_set.counts == {two.number: (0, 0, 2), three.number: (1, 1, 0)}
    assert find_numbers(samples, Query(SHOP), "gnu") == {one.number, two.number, three.number}


@pytest.mark.needs("Integrity")
def test_an_index_rebuilt_by_another_process_is_used(samples, backend):
    second = backend.open()
    kept = samples.add("gnu", SHOP)
    assert bits(samples, Query(SHOP), "yak").bits == 0
    second.rebuild(lambda memory: (0, IndexEntry("", "", "yak", 1, 1)))
    assert bits(samples, Query(SHOP), "yak").bits == 1 << kept.number
    second.rebuild(lambda memory: (0, IndexEntry("", "", "okapi", 1, 1)))
    assert bits(samples, Query(SHOP), "yak").bits == 0
    assert bits(samples, Query(SHOP), "okapi").bits == 1 << kept.number


def test_a_rolled_back_transaction_leaves_no_postings(samples):
    samples.add("gnu", SHOP)
    with suppress(ZeroDivisionError), samples.store.write() as tx:
        draft = samples.draft("gnu", SHOP)
        tx.add_event("remembered", ALICE, samples.now, tx.add([(draft, 0, samples.index_entry(draft))], ALICE), {})
        tx.posting_sets(Query(SHOP), {"gnu": 9}, 9)
        raise ZeroDivisionError
    assert bits(samples, Query(SHOP), "gnu").frequency == 1


def test_postings_in_titles_are_separate(samples):
    titled = [samples.add("x", SHOP, topic="gnu").number, samples.add("x", SHOP, tags=("gnu",)).number]
    samples.add("gnu", SHOP)
    found = samples.ask(lambda tx: tx.posting_numbers(Query(SHOP), ["gnu", "yak"], 9, topic_or_tags=True))
    assert found == {"gnu": titled[::-1], "yak": []}


def test_postings_come_newest_first_up_to_the_limit(samples):
    one, two, three = (samples.add("a gnu", SHOP).number for _ in range(3))
    samples.add("yak", SHOP)
    assert samples.ask(lambda tx: tx.posting_numbers(Query(SHOP), ["gnu"], 99)["gnu"]) == [three, two, one]
    assert samples.ask(lambda tx: tx.posting_numbers(Query(SHOP), ["gnu"], 2)["gnu"]) == [three, two]


def test_postings_count_the_term_in_each_field_of_the_memories_asked_about(samples):
    one = samples.add("gnu gnu gnu", SHOP, topic="gnu", tags=("gnu", "x")).number
    two = samples.add("a gnu", SHOP).number
    three = samples.add("gnus", SHOP, topic="gnu gnu").number
    none = samples.add("yak", SHOP).number
    theirs = samples.add("gnu", BANK).number
    everyone = [one, two, three, none, theirs, 99]
    assert sorted(samples.ask(lambda tx: tx.postings(Query(SHOP), ["gnu"], everyone)["gnu"])) == [
        (one, 1, 1, 3), (two, 0, 0, 1), (three, 2, 0, 0),
    ]  # several entries per line  # fmt: skip
    assert samples.ask(lambda tx: tx.postings(Query(SHOP), ["gnu"], [two, none])["gnu"]) == [(two, 0, 0, 1)]
    assert samples.ask(lambda tx: tx.postings(Query(SHOP), ["gnu"], [])["gnu"]) == []


def test_postings_of_the_nearer_layer_come_first(samples):
    mine = samples.add("gnu", SHOP)
    others = [samples.add("gnu").number for _ in range(5)]
    assert samples.ask(lambda tx: tx.posting_numbers(Query(SHOP), ["gnu"], 3)["gnu"]) == [mine.number, others[4], others[3]]


def test_a_count_of_a_million_does_not_spill_into_another_field(samples):
    kept = samples.add("a " * 1_100_000, SHOP, topic="a")
    ((number, topic, tags, content),) = samples.ask(lambda tx: tx.postings(Query(SHOP), ["a"], [kept.number])["a"])
    assert (number, topic, tags) == (kept.number, 1, 0)
    assert content >= 1_000_000


def test_frequencies_are_counted_up_to_the_limit(samples):
    for scope in (SHOP, SHOP, SHOP, Scope(), Scope()):
        samples.add("gnu", scope)
    assert samples.ask(lambda tx: [tx.frequencies(Query(SHOP), ["gnu"], most)["gnu"] for most in (1, 3, 4, 5, 99)]) == [
        1,
        3,
        4,
        5,
        5,
    ]
    assert samples.ask(lambda tx: tx.frequencies(Query(SHOP), ["yak"], 99)["yak"]) == 0


def test_common_terms_are_recounted_before_the_count_is_ten_percent_off(samples):
    def count():
        return samples.ask(lambda tx: tx.frequencies(Query(SHOP), ["gnu"], 9_999)["gnu"])

    for number in range(150):
        samples.add(f"gnu {number}", SHOP)
    assert count() == 150
    for number in range(150, 250):
        samples.add(f"gnu {number}", SHOP)
        assert number * 0.9 < count() <= number + 1


def test_sizes_count_the_index_of_the_query_scope(samples):
    kept = samples.add("a b c", SHOP, topic="t", tags=("u",))
    samples.add("d", MONDAY)
    samples.add("e f", Scope())
    samples.add("g h i j", BANK)
    assert samples.ask(lambda tx: tx.sizes(Query(SHOP))) == IndexSize(3, 8)
    assert samples.ask(lambda tx: tx.sizes(Query(SHOP, layers=(Layer.EVERYWHERE,)))) == IndexSize(1, 2)
    kept = samples.change(kept, state=State.ARCHIVED)
    assert samples.ask(lambda tx: tx.sizes(Query(SHOP))) == IndexSize(2, 3)
    assert samples.ask(lambda tx: tx.sizes(Query(SHOP, states=(State.ARCHIVED,)))) == IndexSize(1, 5)
    samples.change(kept, state=State.FORGOTTEN)
    assert samples.ask(lambda tx: tx.sizes(Query(SHOP, states=LIVING))) == IndexSize(2, 3)


@pytest.mark.parametrize(
    "term", ['"', 'a"b', "AND", "OR", "NEAR", "*", "a*", "-x", "^a", "(", "a:b", "c++", "日本", "\\", "'"]
)
def test_a_term_is_never_syntax(samples, term):
    kept = samples.add(term, SHOP)
    samples.add("something else", SHOP)
    assert find_numbers(samples, Query(SHOP), term) == {kept.number}


def test_ranking_facts_carry_what_the_ranking_needs(samples):
    kept = samples.add("a b", MONDAY, confidence=0.25, relevance=0.75, reference_count=4)
    shared = samples.add("c")
    later = kept.updated_at + timedelta(days=1, hours=12)
    with samples.store.read() as tx:
        facts = tx.ranking_facts(Query(SHOP), [shared.number, kept.number, 99], later)
    assert [*facts] == [shared.number, kept.number]
    assert facts[kept.number] == RankingFacts(2, False, "monday", 0.25, 0.75, 4, pytest.approx(1.5))
    assert (facts[shared.number].length, facts[shared.number].everywhere, facts[shared.number].session) == (1, True, "")


def test_ranking_facts_follow_changes_also_of_another_process(samples, store, backend):
    second = backend.open()

    def facts():
        with store.read() as tx:
            found = tx.ranking_facts(Query(SHOP), [one.number, two.number], samples.now)
            return [(each.length, each.session, each.relevance) for each in found.values()]

    one, two = samples.add("a", SHOP, relevance=0.5), samples.add("a b", SHOP, relevance=0.5)
    assert facts() == [(1, "", 0.5), (2, "", 0.5)]
    samples.store = second
    one = samples.change(one, content="a b c", relevance=0.25, scope=MONDAY)
    assert facts() == [(3, "monday", 0.25), (2, "", 0.5)]
    samples.store = store
    two = samples.change(two, state=State.ARCHIVED)
    assert facts() == [(3, "monday", 0.25)]
    samples.store = second
    samples.change(two, state=State.ACTIVE, scope=BANK)
    samples.erase(one)
    assert facts() == []


def test_ranking_facts_come_in_the_order_asked_for_and_without_what_expired(samples):
    soon, later, never = (
        samples.add("a " * n, SHOP, expires_at=expires_at)
        for n, expires_at in ((1, samples.now + timedelta(days=1)), (2, samples.now + timedelta(days=2)), (3, None))
    )
    numbers = [never.number, 99, soon.number, later.number]

    def lengths(days, **filters):
        at = samples.now + timedelta(days=days)
        facts = samples.ask(lambda tx: tx.ranking_facts(Query(SHOP, **filters), numbers, at))
        return [(number, each.length) for number, each in facts.items()]

    assert lengths(0) == [(never.number, 3), (soon.number, 1), (later.number, 2)]
    assert lengths(1.5) == lengths(1.5, types=("note",)) == [(never.number, 3), (later.number, 2)]
    samples.change(soon, expires_at=None)
    assert lengths(9) == [(never.number, 3), (soon.number, 1)]


def test_counts_are_read_again_for_a_query_that_counts_commoner_terms(samples):
    numbers = [samples.add("gnu gnu", SHOP).number for _ in range(3)]
    assert bits(samples, Query(SHOP), "gnu", counted=2).counts is None
    assert bits(samples, Query(SHOP), "gnu", counted=3).counts == dict.fromkeys(numbers, (0, 0, 2))


def test_browse_returns_the_last_changed_first(samples):
    one, two, three = (samples.add(name, SHOP) for name in "abc")
    one = samples.change(one, content="changed")
    assert samples.ask(lambda tx: list(tx.browse(Query(SHOP), samples.now))) == [one, three, two]


def test_filters_select_matching_memories(samples):
    tech = samples.add("a", SHOP, type="tech", tags=("Python", "db"))
    note = samples.add("b", SHOP, tags=("python",))
    set_aside = samples.add("c", SHOP, state=State.ARCHIVED)

    def through(**filters):
        query = Query(SHOP, **filters)
        with samples.store.read() as tx:
            browsed = {memory.number for memory in tx.browse(query, samples.now)}
            assert tx.count(query, samples.now) == len(browsed)
            everyone = [memory.number for memory in tx.everything()]
            assert set(tx.ranking_facts(query, everyone, samples.now)) == browsed
        return browsed

    assert through() == {tech.number, note.number}
    assert through(types=("tech", "decision")) == {tech.number}
    assert through(tags=("PYTHON",)) == {tech.number, note.number}
    assert through(tags=("python", "DB")) == {tech.number}
    assert through(states=(State.ARCHIVED,)) == {set_aside.number}
    assert through(states=tuple(State)) == {tech.number, note.number, set_aside.number}
    assert through(since=note.updated_at) == {note.number}


def test_the_case_of_a_tag_is_ignored_in_every_alphabet(samples):
    kept = samples.add("a", SHOP, tags=("Übung", "ДЕЛО"))
    query = Query(SHOP, tags=("übung", "дело"))
    assert samples.ask(lambda tx: [memory.number for memory in tx.browse(query, samples.now)]) == [kept.number]


def test_an_expired_memory_is_returned_only_for_other_states(samples):
    kept = samples.add("gnu", SHOP, expires_at=samples.now + timedelta(seconds=2))
    query = Query(SHOP)
    assert find_numbers(samples, query, "gnu") == {kept.number}
    samples.step()
    samples.step()
    assert find_numbers(samples, query, "gnu") == set()
    assert samples.ask(lambda tx: list(tx.browse(query, samples.now))) == []
    assert find_numbers(samples, Query(SHOP, states=LIVING), "gnu") == {kept.number}


def test_changes_in_a_span_come_last_changed_first(samples):
    day = timedelta(days=1)
    now = samples.now
    one, two, three = (samples.add(f"note {n}", SHOP, updated_at=now - n * day) for n in range(3))
    samples.add("elsewhere", BANK, updated_at=now - day)
    samples.add("set aside", SHOP, updated_at=now - day, state=State.ARCHIVED)
    span = (three.updated_at, one.updated_at)
    found = samples.ask(lambda tx: tx.memories_changed_between(Query(SHOP), *span, 9, samples.now))
    assert found == [two.number, three.number]
    assert samples.ask(lambda tx: tx.memories_changed_between(Query(SHOP), *span, 1, samples.now)) == [two.number]


def test_neighbours_are_of_the_same_session_and_in_order(store, samples):
    talk = Scope.session("shop", "monday")
    turns = [samples.add(f"turn {n}", Scope.session("shop", "tuesday") if n == 2 else talk) for n in range(6)]
    samples.add("elsewhere", Scope.session("bank", "monday"))
    samples.change(turns[4], state=State.FORGOTTEN)
    with store.read() as tx:
        near = [one.number for one in tx.session_neighbours([turns[1].number], 4)]
        assert near == [turns[n].number for n in (0, 1, 3, 5)]


def test_the_ends_of_a_text_are_its_first_600_and_last_2_characters(samples):
    long, short = samples.add("a" * 700 + "?!"), samples.add("yes")
    ends = samples.ask(lambda tx: tx.text_ends([long.number, 99, short.number]))
    assert ends == {
        long.number: TextEnds(long.created_at, "a" * 600, "?!"),
        short.number: TextEnds(short.created_at, "yes", "es"),
    }


def test_a_memory_is_expired_from_the_very_moment_on(samples):
    at = samples.now + timedelta(days=1)
    kept = samples.add("gnu", MONDAY, expires_at=at)
    for moment, state, current in ((at - timedelta(microseconds=1), State.ACTIVE, 1), (at, State.INACTIVE, 0)):
        with samples.store.read() as tx:
            assert tx.count(Query(SHOP), moment) == current
            assert len(list(tx.browse(Query(SHOP), moment))) == current
            assert len(tx.ranking_facts(Query(SHOP), [kept.number], moment)) == current
            assert tx.summary(Query(SHOP), moment).count == current
            assert tx.sessions(moment)[0].memories == current
            assert tx.counts(moment) == [(MONDAY, "note", state.value, 1)]
            assert tx.counts() == [(MONDAY, "note", "active", 1)]
            assert len(list(tx.unused_memories(kept.created_at - timedelta(days=9), moment))) == 1 - current


def test_terms_are_counted_by_project_in_active_memories_only(samples):
    samples.add("zebra", SHOP)
    samples.add("zebra okapi", MONDAY)
    samples.add("zebra", BANK)
    samples.change(samples.add("zebra", BANK), state=State.ARCHIVED)
    samples.add("zebra", Scope())
    with samples.store.read() as tx:
        assert tx.project_frequencies(["zebra", "okapi", "gnu"], 99) == {
            "zebra": {"shop": 2, "bank": 1},
            "okapi": {"shop": 1},
            "gnu": {},
        }
        assert tx.project_frequencies(["zebra", "okapi"], 4) == {"okapi": {"shop": 1}}


def test_a_query_may_name_more_projects_than_that_of_its_scope(samples):
    places = {scope: samples.add("zebra", scope).number for scope in (Scope(), SHOP, MONDAY, BANK, Scope.project("x"))}
    both = Query(Scope(), projects=("shop", "bank", "unknown"), layers=(Layer.PROJECT, Layer.SESSION))
    assert find_numbers(samples, both, "zebra") == {places[SHOP], places[MONDAY], places[BANK]}
    assert find_numbers(samples, Query(BANK, projects=("shop", "bank")), "zebra") == {*places.values()} - {
        places[Scope.project("x")]
    }
    assert find_numbers(samples, Query(Scope(), projects=("shop",), layers=(Layer.EVERYWHERE,)), "zebra") == {
        places[Scope()]
    }
