"""Projects and their sessions, and the events about them."""

import pytest
from msgspec.structs import replace

from omoide.errors import Conflict
from omoide.model import Actor, Choice, Mirror, Project, ProjectPlace, Scope, State
from omoide.storage.capabilities import StoredText

SHOP, BANK = Scope.project("shop"), Scope.project("bank")
MONDAY, TUESDAY = Scope.session("shop", "monday"), Scope.session("shop", "tuesday")
BOB = Actor("bob", via="test")


def sessions(samples, scope=None):
    return {session.scope: session for session in samples.ask(lambda tx: tx.sessions(samples.now, scope))}


def test_a_session_is_started_once_with_source_and_time(samples, store, backend):
    started = samples.step()
    with store.write() as tx:
        assert tx.add_session(MONDAY, "slack", started)
    with store.write() as tx:
        assert not tx.add_session(MONDAY, "github", samples.step())
    with backend.open().read() as tx:
        (session,) = tx.sessions(samples.now, SHOP)
    assert (session.scope, session.source, session.created_at, session.updated_at) == (MONDAY, "slack", started, started)
    assert session.memories == 0


def test_the_first_memory_of_a_session_starts_it(samples, store):
    first = samples.add("a", MONDAY, source="here")
    samples.add("b", MONDAY, source="there")
    draft = samples.draft("c", TUESDAY)
    with store.write() as tx:
        tx.add([(samples.draft(text, TUESDAY, author=BOB), 1, samples.index_entry(draft)) for text in "de"], BOB)
    found = sessions(samples)
    assert set(found) == {MONDAY, TUESDAY}
    assert (found[MONDAY].source, found[MONDAY].created_at, found[MONDAY].memories) == ("here", first.created_at, 2)
    samples.change(first, scope=Scope.session("shop", "friday"))
    assert Scope.session("shop", "friday") in sessions(samples)


def test_a_session_has_its_last_change_and_active_count(samples, store):
    with store.write() as tx:
        tx.add_session(MONDAY, "", samples.step())
    kept = [samples.add(text, TUESDAY) for text in "abc"]
    changed = samples.change(kept[0], state=State.FORGOTTEN)
    found = sessions(samples)
    assert list(found) == [TUESDAY, MONDAY], "last changed first"
    assert (found[TUESDAY].updated_at, found[TUESDAY].memories) == (changed.updated_at, 2)


def test_sessions_are_listed_for_one_project_or_all(samples):
    for scope in (MONDAY, TUESDAY, Scope.session("bank", "monday"), SHOP, Scope()):
        samples.add("a", scope)
    assert set(sessions(samples)) == {MONDAY, TUESDAY, Scope.session("bank", "monday")}
    assert set(sessions(samples, BANK)) == {Scope.session("bank", "monday")}
    assert sessions(samples, Scope.project("unknown")) == {}
    assert set(sessions(samples, MONDAY)) == {MONDAY}
    assert sessions(samples, Scope.session("shop", "sunday")) == {}


def test_a_session_that_differs_only_in_case_is_refused_in_its_project(samples, store):
    samples.add("a", Scope.session("shop", "Straße"))
    with pytest.raises(Conflict, match="'Straße' that differs only in case"), store.write() as tx:
        tx.add_session(Scope.session("shop", "STRASSE"), "", samples.now)
    with pytest.raises(Conflict, match="differs only in case"):
        samples.add("b", Scope.session("shop", "strasse"))
    samples.add("c", Scope.session("bank", "strasse"))
    assert set(sessions(samples)) == {Scope.session("shop", "Straße"), Scope.session("bank", "strasse")}


def test_a_session_of_a_write_that_fails_is_not_started(samples, store):
    def fail():
        with store.write() as tx:
            tx.add_session(MONDAY, "", samples.now)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert sessions(samples) == {}


def test_a_project_is_found_by_its_exact_path(samples, store):
    made = Project("backend/shop", "sells", (ProjectPlace("/a"),), samples.now)
    with store.write() as tx:
        tx.put_project(made)
    found = samples.ask(lambda tx: tx.project("backend/shop"))
    assert found == replace(made, number=found.number)
    assert samples.ask(lambda tx: tx.project("backend")) is None
    with pytest.raises(Conflict, match="differs only in case"):
        samples.ask(lambda tx: tx.project("Backend/Shop"))


def test_a_project_has_a_number_that_stays_and_is_never_given_again(samples, store):
    samples.add("a", SHOP)
    with store.write() as tx:
        tx.put_project(Project("bank", "lends"))
    shop, bank = (samples.ask(lambda tx, path=path: tx.project(path)) for path in ("shop", "bank"))
    assert 0 < shop.number != bank.number > 0
    with store.write() as tx:
        tx.put_project(replace(bank, description="lends more"))
    assert samples.ask(lambda tx: tx.project(number=bank.number)).description == "lends more"
    with store.write() as tx:
        tx.merge_projects("bank", "shop")
        tx.put_project(Project("new"))
    assert samples.ask(lambda tx: tx.project("new")).number not in (shop.number, bank.number)
    for number in (0, -1, bank.number, 999, 2**70):
        assert samples.ask(lambda tx, number=number: tx.project(number=number)) is None


def test_the_last_change_of_a_project_is_that_of_any_of_its_memories(samples, store):
    with store.write() as tx:
        tx.put_project(Project("empty", created_at=samples.now))
    samples.add("everywhere")
    samples.add("a", MONDAY)
    bank = samples.add("b", BANK)
    shop = samples.change(samples.add("c", SHOP), state=State.FORGOTTEN)
    changes = samples.ask(lambda tx: tx.last_changes())
    assert changes == {"bank": bank.updated_at, "shop": shop.updated_at}


def test_an_event_may_be_about_a_scope_and_is_seen_from_there_alone(samples, store):
    kept = samples.add("a", BANK)
    with store.write() as tx:
        tx.add_event("started", BOB, samples.step(), MONDAY, {"session": "monday"})
    event = samples.ask(lambda tx: tx.events(SHOP, None, None, 9))[0]
    assert (event.action, event.actor, event.at, event.detail) == ("started", BOB, samples.now, {"session": "monday"})
    assert (event.memory_number, event.memory_id) == (None, None)
    assert [one.action for one in samples.ask(lambda tx: tx.events(BANK, None, None, 9))] == ["remembered"]
    assert samples.ask(lambda tx: tx.projects_changed_since(event.number - 1)) == {"shop"}
    assert samples.ask(lambda tx: tx.projects_changed_since(event.number)) == set()
    last, memories = samples.ask(lambda tx: (tx.mark().event, tx.memories_changed_since(0)))
    assert (last, memories) == (event.number, [kept.number])
    assert samples.problems() == []


def test_later_events_are_returned_oldest_first_with_their_project(samples, store):
    first = samples.add("a", SHOP)
    samples.add("b", BANK)
    samples.add("c")
    with store.write() as tx:
        tx.add_event("started", BOB, samples.step(), MONDAY, {})

    def after(event, scope, limit=9):
        found = samples.ask(lambda tx: tx.events_after(event, scope, limit))
        return [(each.number - start, each.project) for each in found]

    start = samples.ask(lambda tx: tx.events(None, first.number, None, 1))[0].number
    assert after(0, None) == [(0, "shop"), (1, "bank"), (2, ""), (3, "shop")]
    assert after(start, SHOP) == [(2, ""), (3, "shop")]
    assert after(start, None, 2) == [(1, "bank"), (2, "")]
    assert after(start + 3, None) == []


def test_merging_projects_moves_sessions_events_places_and_mirrors_and_deletes_the_first(store, samples):
    mine, theirs = Scope.session("shop", "monday"), Scope.session("bank", "monday")
    with store.write() as tx:
        tx.put_project(Project("shop", "sells", (ProjectPlace("/a", "seen"),), samples.now, ("c1",), ("example.org/shop",)))
        tx.put_project(Project("bank", "lends", (ProjectPlace("/b"),), samples.now, ("c2",), ("example.org/shop",)))
        for scope in (mine, theirs, Scope.session("bank", "tuesday")):
            tx.add_session(scope, "cli", samples.now)
        tx.add_event("described", BOB, samples.now, Scope.project("bank"), {})
        mirror = tx.put_mirror(Mirror(0, Scope.project("bank"), "/b", "memories.md", "memories", Choice.ALL, samples.now))
    with store.write() as tx:
        tx.merge_projects("bank", "shop")
    assert [project.path for project in samples.ask(lambda tx: tx.projects())] == ["shop"]
    merged = samples.ask(lambda tx: tx.project("shop"))
    assert merged.places == (ProjectPlace("/a", "seen"), ProjectPlace("/b"))
    assert (merged.description, merged.root_commits, merged.remotes) == ("sells", ("c1", "c2"), ("example.org/shop",))
    assert samples.ask(lambda tx: tx.project(root="/b")) == merged
    names = sorted(session.scope.name for session in samples.ask(lambda tx: tx.sessions(samples.now, Scope.project("shop"))))
    assert names == ["monday", "tuesday"]
    assert samples.ask(lambda tx: tx.events(Scope.project("shop"), None, None, 9))[0].action == "described"
    assert [one.scope.path for one in samples.ask(lambda tx: tx.mirrors()) if one.number == mirror.number] == ["shop"]


def test_a_project_that_still_has_memories_is_not_merged_away(store, samples):
    samples.add("a", Scope.project("shop"))
    samples.add("b", Scope.project("bank"))
    with pytest.raises(Conflict, match="still has memories"), store.write() as tx:
        tx.merge_projects("bank", "shop")
    assert len(samples.ask(lambda tx: tx.projects())) == 2


@pytest.mark.needs("Redaction")
def test_a_project_renamed_by_another_process_has_its_new_name_at_once(store, samples, backend):
    kept = samples.add("a", Scope.project("shop"))
    other = backend.open()
    with other.read() as tx:
        assert tx.project("shop") is not None
    with store.write() as tx:
        tx.replace_text(StoredText("project", "shop"), "store")
    with other.write() as tx:
        assert tx.project("shop") is None
        assert tx.memory(kept.number).scope == Scope.project("store")
