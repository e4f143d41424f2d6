"""What a store finds: its index in step with its rows, and never another project's memories."""

from contextlib import suppress
from datetime import timedelta

import pytest

from omoide.model import Actor, Layer, Query, Scope, State
from omoide.storage.base import IndexEntry

ALICE = Actor("alice", via="test")

SHOP, BANK = Scope.project("shop"), Scope.project("bank")
MONDAY, TUESDAY = Scope.session("shop", "monday"), Scope.session("shop", "tuesday")
LIVING = (State.ACTIVE, State.INACTIVE, State.ARCHIVED)


def found(shelf, query, term):
    """The numbers that hold the term, by every road of the index; they must agree."""
    with shelf.store.read() as tx:
        holders = tx.posting_numbers(query, [term], 99)[term]
        everyone = [memory.number for memory in tx.everything()]
        postings = tx.postings(query, [term], everyone)[term]
        assert {number for number, *_ in postings} == set(holders)
        assert tx.frequencies(query, [term], 99)[term] == len(holders)
        held = tx.posting_sets(query, {term: 99}, 99)[term]
        assert held.frequency == len(holders)
        assert held.bits == sum(1 << number for number in holders)
        assert {number: held.counts.get(number, (0, 0, 1)) for number in holders} == {
            number: tuple(counts) for number, *counts in postings
        }
        return set(tx.ranking_facts(query, holders, shelf.now))


def test_the_index_follows_a_memory_through_its_whole_life(shelf, store):
    kept = shelf.keep("zebra", SHOP)
    assert found(shelf, Query(SHOP), "zebra") == {kept.number}
    kept = shelf.change(kept, content="okapi")
    assert found(shelf, Query(SHOP), "zebra") == set()
    assert found(shelf, Query(SHOP), "okapi") == {kept.number}
    kept = shelf.change(kept, state=State.ARCHIVED)
    assert found(shelf, Query(SHOP), "okapi") == set()
    assert found(shelf, Query(SHOP, states=(State.ARCHIVED,)), "okapi") == {kept.number}
    kept = shelf.change(kept, state=State.FORGOTTEN)
    assert found(shelf, Query(SHOP, states=LIVING), "okapi") == set()
    kept = shelf.change(kept, state=State.ACTIVE)
    assert found(shelf, Query(SHOP), "okapi") == {kept.number}
    assert found(shelf, Query(BANK), "okapi") == set()
    kept = shelf.change(kept, scope=Scope())
    assert found(shelf, Query(BANK), "okapi") == {kept.number}
    kept = shelf.change(kept, state=State.INACTIVE)
    assert found(shelf, Query(BANK), "okapi") == set()
    shelf.erase(kept)
    assert found(shelf, Query(BANK, states=LIVING), "okapi") == set()
    assert store.check() == []


def test_a_project_sees_itself_its_sessions_and_the_global_layer_and_nothing_else(shelf):
    places = {
        scope: shelf.keep("zebra", scope, key="k", twin=7).number
        for scope in (Scope(), SHOP, MONDAY, TUESDAY, BANK, Scope.session("bank", "monday"), Scope.project("shop/x"))
    }
    ours = {places[Scope()], places[SHOP], places[MONDAY], places[TUESDAY]}
    for reader in (SHOP, MONDAY):
        query = Query(reader)
        assert found(shelf, query, "zebra") == ours
        with shelf.store.read() as tx:
            everyone = list(places.values())
            assert {memory.number for memory in tx.browse(query, shelf.now)} == ours
            assert set(tx.ranking_facts(query, everyone, shelf.now)) == ours
            assert tx.count(query, shelf.now) == tx.sizes(query).entries == 4
            assert {event.memory_number for event in tx.events(reader, None, None, 99)} == ours
            assert tx.events(reader, places[BANK], None, 99) == []
            assert [memory.number for memory in tx.by_fingerprint(7, reader)] == [places[reader]]
            assert tx.by_key(reader, "k").number == places[reader]
    assert found(shelf, Query(Scope()), "zebra") == {places[Scope()]}
    stranger = Query(Scope.project("unknown"))
    assert found(shelf, stranger, "zebra") == {places[Scope()]}
    assert shelf.ask(lambda tx: tx.by_key(stranger.scope, "k")) is None
    assert shelf.ask(lambda tx: {e.memory_number for e in tx.events(stranger.scope, None, None, 9)}) == {places[Scope()]}


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
def test_layers_narrow_the_query(shelf, reader, layers, seen):
    places = {"everywhere": Scope(), "shop": SHOP, "monday": MONDAY, "tuesday": TUESDAY, "bank": BANK}
    names = {shelf.keep("zebra", scope).number: name for name, scope in places.items()}
    query = Query(reader, layers=layers)
    assert {names[number] for number in found(shelf, query, "zebra")} == seen
    browsed = shelf.ask(lambda tx: [names[memory.number] for memory in tx.browse(query, shelf.now)])
    assert set(browsed) == seen
    assert shelf.ask(lambda tx: tx.count(query, shelf.now)) == len(seen)


def bits(shelf, query, term, most=9_999, counted=9_999):
    return shelf.ask(lambda tx: tx.posting_sets(query, {term: most}, counted)[term])


def test_postings_include_writes_of_another_process_at_once(shelf, store, backend):
    second = backend.open()
    one = shelf.keep("gnu", SHOP)
    assert bits(shelf, Query(SHOP), "gnu").bits == 1 << one.number
    shelf.store = second
    two, three = shelf.keep("gnu gnu", SHOP), shelf.keep("gnu", SHOP)
    shelf.change(one, content="yak")
    shelf.store = store
    held = bits(shelf, Query(SHOP), "gnu")
    assert held.bits == 1 << two.number | 1 << three.number
    assert held.frequency == 2
    shelf.store = second
    shelf.change(three, state=State.ARCHIVED)
    shelf.erase(two)
    shelf.store = store
    assert bits(shelf, Query(SHOP), "gnu").bits == 0
    assert bits(shelf, Query(SHOP, states=LIVING), "gnu").bits == 1 << three.number


def test_counts_follow_changes_of_counted_memories(shelf):
    one, two = shelf.keep("gnu gnu", SHOP), shelf.keep("a gnu", SHOP, topic="gnu")
    assert bits(shelf, Query(SHOP), "gnu").counts == {one.number: (0, 0, 2), two.number: (1, 0, 1)}
    shelf.change(one, content="gnu")
    three = shelf.keep("gnu gnu gnu", SHOP)
    held = bits(shelf, Query(SHOP), "gnu")
    assert held.counts == {two.number: (1, 0, 1), three.number: (0, 0, 3)}
    assert held.frequency == 3


def test_a_term_is_read_again_after_many_changes(shelf):
    kept = [shelf.keep("gnu", SHOP) for _ in range(3)]
    assert bits(shelf, Query(SHOP), "gnu").frequency == 3
    more = [shelf.keep("gnu" if n % 2 else "yak", SHOP).number for n in range(120)]
    holders = [memory.number for memory in kept] + more[1::2]
    assert bits(shelf, Query(SHOP), "gnu").bits == sum(1 << number for number in holders)


def test_bitsets_are_equal_for_long_and_short_posting_lists(shelf):
    with shelf.store.write() as tx:
        drafts = [shelf.draft("gnu" if n % 3 else "yak", SHOP) for n in range(1_000)]
        for draft in drafts:
            tx.add_event("remembered", ALICE, shelf.now, tx.add([(draft, 0, shelf.words(draft))], ALICE), {})
    holders = shelf.ask(lambda tx: tx.posting_numbers(Query(SHOP), ["gnu"], 9_999)["gnu"])
    assert len(holders) == 666
    assert bits(shelf, Query(SHOP), "gnu").bits == sum(1 << number for number in holders)


def test_a_posting_list_over_the_limit_returns_only_its_length(shelf):
    for _ in range(3):
        shelf.keep("gnu", SHOP)
    assert bits(shelf, Query(SHOP), "gnu", most=2) == (3, None, None)
    assert bits(shelf, Query(SHOP), "gnu", most=3).bits is not None


def test_occurrences_of_a_common_term_are_not_counted(shelf):
    numbers = [shelf.keep("gnu gnu", SHOP).number for _ in range(3)]
    assert bits(shelf, Query(SHOP), "gnu", counted=2) == (3, sum(1 << number for number in numbers), None)


def test_postings_are_right_where_most_memories_are_in_other_projects(shelf):
    for n in range(40):
        shelf.keep(f"gnu gnu {n}", BANK)
    one, two, three = shelf.keep("gnu", SHOP), shelf.keep("gnu gnu", SHOP), shelf.keep("x", SHOP, topic="gnu", tags=("gnu",))
    assert bits(shelf, Query(SHOP), "gnu", most=2) == (3, None, None)
    held = bits(shelf, Query(SHOP), "gnu")
    assert held.bits == sum(1 << each.number for each in (one, two, three))
    assert held.counts == {two.number: (0, 0, 2), three.number: (1, 1, 0)}
    assert found(shelf, Query(SHOP), "gnu") == {one.number, two.number, three.number}


def test_the_cache_keeps_recently_used_terms(shelf, monkeypatch):
    monkeypatch.setattr("omoide.storage.sqlite.postings._MAX_BYTES", 2_000)
    kept = {f"w{n}": shelf.keep(f"w{n} gnu", SHOP).number for n in range(30)}
    for word, number in [*kept.items(), *kept.items()]:
        assert bits(shelf, Query(SHOP), word).bits == 1 << number
        assert bits(shelf, Query(SHOP), "gnu").frequency == 30
    shelf.keep("gnu w1", SHOP)
    assert (bits(shelf, Query(SHOP), "gnu").frequency, bits(shelf, Query(SHOP), "w1").frequency) == (31, 2)


def test_an_index_rebuilt_by_another_process_is_used(shelf, backend):
    second = backend.open()
    kept = shelf.keep("gnu", SHOP)
    assert bits(shelf, Query(SHOP), "yak").bits == 0
    second.rebuild(lambda memory: (0, IndexEntry("", "", "yak", 1, 1)))
    assert bits(shelf, Query(SHOP), "yak").bits == 1 << kept.number
    second.rebuild(lambda memory: (0, IndexEntry("", "", "okapi", 1, 1)))
    assert bits(shelf, Query(SHOP), "yak").bits == 0
    assert bits(shelf, Query(SHOP), "okapi").bits == 1 << kept.number


def test_a_rolled_back_transaction_leaves_no_postings(shelf):
    shelf.keep("gnu", SHOP)
    with suppress(ZeroDivisionError), shelf.store.write() as tx:
        draft = shelf.draft("gnu", SHOP)
        tx.add_event("remembered", ALICE, shelf.now, tx.add([(draft, 0, shelf.words(draft))], ALICE), {})
        tx.posting_sets(Query(SHOP), {"gnu": 9}, 9)
        raise ZeroDivisionError
    assert bits(shelf, Query(SHOP), "gnu").frequency == 1


def test_postings_in_titles_are_separate(shelf):
    titled = [shelf.keep("x", SHOP, topic="gnu").number, shelf.keep("x", SHOP, tags=("gnu",)).number]
    shelf.keep("gnu", SHOP)
    found = shelf.ask(lambda tx: tx.posting_numbers(Query(SHOP), ["gnu", "yak"], 9, titled=True))
    assert found == {"gnu": titled[::-1], "yak": []}


def test_there_are_no_bitsets_for_high_numbers(shelf):
    shelf.keep("gnu", SHOP, number=1_000_000)
    assert shelf.ask(lambda tx: tx.posting_sets(Query(SHOP), {"gnu": 9}, 9)) is None


def test_postings_come_newest_first_up_to_the_limit(shelf):
    one, two, three = (shelf.keep("a gnu", SHOP).number for _ in range(3))
    shelf.keep("yak", SHOP)
    assert shelf.ask(lambda tx: tx.posting_numbers(Query(SHOP), ["gnu"], 99)["gnu"]) == [three, two, one]
    assert shelf.ask(lambda tx: tx.posting_numbers(Query(SHOP), ["gnu"], 2)["gnu"]) == [three, two]


def test_postings_count_the_term_in_each_field_of_the_memories_asked_about(shelf):
    one = shelf.keep("gnu gnu gnu", SHOP, topic="gnu", tags=("gnu", "x")).number
    two = shelf.keep("a gnu", SHOP).number
    three = shelf.keep("gnus", SHOP, topic="gnu gnu").number
    none = shelf.keep("yak", SHOP).number
    theirs = shelf.keep("gnu", BANK).number
    everyone = [one, two, three, none, theirs, 99]
    assert sorted(shelf.ask(lambda tx: tx.postings(Query(SHOP), ["gnu"], everyone)["gnu"])) == [
        (one, 1, 1, 3), (two, 0, 0, 1), (three, 2, 0, 0),
    ]  # fmt: skip
    assert shelf.ask(lambda tx: tx.postings(Query(SHOP), ["gnu"], [two, none])["gnu"]) == [(two, 0, 0, 1)]
    assert shelf.ask(lambda tx: tx.postings(Query(SHOP), ["gnu"], [])["gnu"]) == []


def test_postings_of_the_nearer_layer_come_first(shelf):
    mine = shelf.keep("gnu", SHOP)
    crowd = [shelf.keep("gnu").number for _ in range(5)]
    assert shelf.ask(lambda tx: tx.posting_numbers(Query(SHOP), ["gnu"], 3)["gnu"]) == [mine.number, crowd[4], crowd[3]]


def test_a_count_of_a_million_does_not_spill_into_another_field(shelf):
    kept = shelf.keep("a " * 1_100_000, SHOP, topic="a")
    ((number, topic, tags, content),) = shelf.ask(lambda tx: tx.postings(Query(SHOP), ["a"], [kept.number])["a"])
    assert (number, topic, tags) == (kept.number, 1, 0)
    assert content >= 1_000_000


def test_frequencies_are_counted_up_to_the_limit(shelf):
    for scope in (SHOP, SHOP, SHOP, Scope(), Scope()):
        shelf.keep("gnu", scope)
    assert shelf.ask(lambda tx: [tx.frequencies(Query(SHOP), ["gnu"], most)["gnu"] for most in (1, 3, 4, 5, 99)]) == [
        1,
        3,
        4,
        5,
        5,
    ]
    assert shelf.ask(lambda tx: tx.frequencies(Query(SHOP), ["yak"], 99)["yak"]) == 0


def test_common_terms_are_recounted_before_the_count_is_ten_percent_off(shelf):
    def counted():
        return shelf.ask(lambda tx: tx.frequencies(Query(SHOP), ["gnu"], 9_999)["gnu"])

    for number in range(150):
        shelf.keep(f"gnu {number}", SHOP)
    assert counted() == 150
    for number in range(150, 250):
        shelf.keep(f"gnu {number}", SHOP)
        assert number * 0.9 < counted() <= number + 1


def test_sizes_count_the_index_of_the_query_scope(shelf):
    kept = shelf.keep("a b c", SHOP, topic="t", tags=("u",))
    shelf.keep("d", MONDAY)
    shelf.keep("e f", Scope())
    shelf.keep("g h i j", BANK)
    assert shelf.ask(lambda tx: tx.sizes(Query(SHOP))) == (3, 8)
    assert shelf.ask(lambda tx: tx.sizes(Query(SHOP, layers=(Layer.EVERYWHERE,)))) == (1, 2)
    kept = shelf.change(kept, state=State.ARCHIVED)
    assert shelf.ask(lambda tx: tx.sizes(Query(SHOP))) == (2, 3)
    assert shelf.ask(lambda tx: tx.sizes(Query(SHOP, states=(State.ARCHIVED,)))) == (1, 5)
    shelf.change(kept, state=State.FORGOTTEN)
    assert shelf.ask(lambda tx: tx.sizes(Query(SHOP, states=LIVING))) == (2, 3)


@pytest.mark.parametrize(
    "term", ['"', 'a"b', "AND", "OR", "NEAR", "*", "a*", "-x", "^a", "(", "a:b", "c++", "日本", "\\", "'"]
)
def test_a_term_is_never_syntax(shelf, term):
    kept = shelf.keep(term, SHOP)
    shelf.keep("something else", SHOP)
    assert found(shelf, Query(SHOP), term) == {kept.number}


@pytest.fixture(params=["cached", "by lists"])
def either(request, monkeypatch):
    """What is kept between transactions, and what is read where there are too many memories for that."""
    if request.param == "by lists":
        monkeypatch.setattr("omoide.storage.sqlite.cache.HIGHEST_CACHED", 0)


@pytest.mark.usefixtures("either")
def test_ranking_facts_carry_what_the_ranking_needs(shelf):
    kept = shelf.keep("a b", MONDAY, confidence=0.25, relevance=0.75, reference_count=4)
    shared = shelf.keep("c")
    later = kept.updated_at + timedelta(days=1, hours=12)
    with shelf.store.read() as tx:
        facts = tx.ranking_facts(Query(SHOP), [shared.number, kept.number, 99], later)
    assert [*facts] == [shared.number, kept.number]
    assert facts[kept.number] == (2, False, "monday", 0.25, 0.75, 4, 1.5)
    assert (facts[shared.number].length, facts[shared.number].everywhere, facts[shared.number].session) == (1, True, "")


@pytest.mark.usefixtures("either")
def test_ranking_facts_follow_changes_also_of_another_process(shelf, store, backend):
    second = backend.open()

    def told():
        with store.read() as tx:
            facts = tx.ranking_facts(Query(SHOP), [one.number, two.number], shelf.now)
            return [(each.length, each.session, each.relevance) for each in facts.values()]

    one, two = shelf.keep("a", SHOP, relevance=0.5), shelf.keep("a b", SHOP, relevance=0.5)
    assert told() == [(1, "", 0.5), (2, "", 0.5)]
    shelf.store = second
    one = shelf.change(one, content="a b c", relevance=0.25, scope=MONDAY)
    assert told() == [(3, "monday", 0.25), (2, "", 0.5)]
    shelf.store = store
    two = shelf.change(two, state=State.ARCHIVED)
    assert told() == [(3, "monday", 0.25)]
    shelf.store = second
    shelf.change(two, state=State.ACTIVE, scope=BANK)
    shelf.erase(one)
    assert told() == []


@pytest.mark.usefixtures("either")
def test_ranking_facts_come_in_the_order_asked_for_and_without_what_expired(shelf):
    soon, later, never = (
        shelf.keep("a " * n, SHOP, expires_at=expires_at)
        for n, expires_at in ((1, shelf.now + timedelta(days=1)), (2, shelf.now + timedelta(days=2)), (3, None))
    )
    numbers = [never.number, 99, soon.number, later.number]

    def lengths(days, **filters):
        at = shelf.now + timedelta(days=days)
        facts = shelf.ask(lambda tx: tx.ranking_facts(Query(SHOP, **filters), numbers, at))
        return [(number, each.length) for number, each in facts.items()]

    assert lengths(0) == [(never.number, 3), (soon.number, 1), (later.number, 2)]
    assert lengths(1.5) == lengths(1.5, types=("note",)) == [(never.number, 3), (later.number, 2)]
    shelf.change(soon, expires_at=None)
    assert lengths(9) == [(never.number, 3), (soon.number, 1)]


def test_counts_are_read_again_for_a_query_that_counts_commoner_terms(shelf):
    numbers = [shelf.keep("gnu gnu", SHOP).number for _ in range(3)]
    assert bits(shelf, Query(SHOP), "gnu", counted=2).counts is None
    assert bits(shelf, Query(SHOP), "gnu", counted=3).counts == dict.fromkeys(numbers, (0, 0, 2))


def test_browse_returns_the_last_changed_first(shelf):
    one, two, three = (shelf.keep(name, SHOP) for name in "abc")
    one = shelf.change(one, content="changed")
    assert shelf.ask(lambda tx: list(tx.browse(Query(SHOP), shelf.now))) == [one, three, two]


def test_filters_select_matching_memories(shelf):
    tech = shelf.keep("a", SHOP, type="tech", tags=("Python", "db"))
    note = shelf.keep("b", SHOP, tags=("python",))
    set_aside = shelf.keep("c", SHOP, state=State.ARCHIVED)

    def through(**filters):
        query = Query(SHOP, **filters)
        with shelf.store.read() as tx:
            browsed = {memory.number for memory in tx.browse(query, shelf.now)}
            assert tx.count(query, shelf.now) == len(browsed)
            everyone = [memory.number for memory in tx.everything()]
            assert set(tx.ranking_facts(query, everyone, shelf.now)) == browsed
        return browsed

    assert through() == {tech.number, note.number}
    assert through(types=("tech", "decision")) == {tech.number}
    assert through(tags=("PYTHON",)) == {tech.number, note.number}
    assert through(tags=("python", "DB")) == {tech.number}
    assert through(states=(State.ARCHIVED,)) == {set_aside.number}
    assert through(states=tuple(State)) == {tech.number, note.number, set_aside.number}
    assert through(since=note.updated_at) == {note.number}


def test_the_case_of_a_tag_is_ignored_in_every_alphabet(shelf):
    kept = shelf.keep("a", SHOP, tags=("Übung", "ДЕЛО"))
    query = Query(SHOP, tags=("übung", "дело"))
    assert shelf.ask(lambda tx: [memory.number for memory in tx.browse(query, shelf.now)]) == [kept.number]


def test_an_expired_memory_is_returned_only_for_other_states(shelf):
    kept = shelf.keep("gnu", SHOP, expires_at=shelf.now + timedelta(seconds=2))
    query = Query(SHOP)
    assert found(shelf, query, "gnu") == {kept.number}
    shelf.step()
    shelf.step()
    assert found(shelf, query, "gnu") == set()
    assert shelf.ask(lambda tx: list(tx.browse(query, shelf.now))) == []
    assert found(shelf, Query(SHOP, states=LIVING), "gnu") == {kept.number}


def test_changes_in_a_span_come_last_changed_first(shelf):
    day = timedelta(days=1)
    now = shelf.now
    one, two, three = (shelf.keep(f"note {n}", SHOP, updated_at=now - n * day) for n in range(3))
    shelf.keep("elsewhere", BANK, updated_at=now - day)
    shelf.keep("set aside", SHOP, updated_at=now - day, state=State.ARCHIVED)
    span = (three.updated_at, one.updated_at)
    found = shelf.ask(lambda tx: tx.changed_between(Query(SHOP), *span, 9, shelf.now))
    assert found == [two.number, three.number]
    assert shelf.ask(lambda tx: tx.changed_between(Query(SHOP), *span, 1, shelf.now)) == [two.number]
