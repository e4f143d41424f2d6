"""What a store knows of projects and their sessions, and of what happens to them."""

import pytest

from omoide.errors import Conflict
from omoide.model import Actor, Choice, Mirror, Project, ProjectPlace, Scope, State
from omoide.storage.capabilities import StoredText

SHOP, BANK = Scope.project("shop"), Scope.project("bank")
MONDAY, TUESDAY = Scope.session("shop", "monday"), Scope.session("shop", "tuesday")
BOB = Actor("bob", via="test")


def sessions(shelf, scope=None):
    return {session.scope: session for session in shelf.ask(lambda tx: tx.sessions(shelf.now, scope))}


def test_a_session_is_started_once_with_source_and_time(shelf, store, backend):
    started = shelf.step()
    with store.write() as tx:
        assert tx.add_session(MONDAY, "slack", started)
    with store.write() as tx:
        assert not tx.add_session(MONDAY, "github", shelf.step())
    with backend.open().read() as tx:
        (session,) = tx.sessions(shelf.now, SHOP)
    assert (session.scope, session.source, session.created_at, session.updated_at) == (MONDAY, "slack", started, started)
    assert session.memories == 0


def test_the_first_memory_of_a_session_starts_it(shelf, store):
    first = shelf.keep("a", MONDAY, source="here")
    shelf.keep("b", MONDAY, source="there")
    draft = shelf.draft("c", TUESDAY)
    with store.write() as tx:
        tx.add([(shelf.draft(text, TUESDAY, author=BOB), 1, shelf.words(draft)) for text in "de"], BOB)
    found = sessions(shelf)
    assert set(found) == {MONDAY, TUESDAY}
    assert (found[MONDAY].source, found[MONDAY].created_at, found[MONDAY].memories) == ("here", first.created_at, 2)
    shelf.change(first, scope=Scope.session("shop", "friday"))
    assert Scope.session("shop", "friday") in sessions(shelf)


def test_a_session_has_its_last_change_and_active_count(shelf, store):
    with store.write() as tx:
        tx.add_session(TUESDAY, "", shelf.step())
    kept = [shelf.keep(text, MONDAY) for text in "abc"]
    changed = shelf.change(kept[0], state=State.FORGOTTEN)
    found = sessions(shelf)
    assert list(found) == [MONDAY, TUESDAY], "last changed first"
    assert (found[MONDAY].updated_at, found[MONDAY].memories) == (changed.updated_at, 2)


def test_sessions_are_listed_for_one_project_or_all(shelf):
    for scope in (MONDAY, TUESDAY, Scope.session("bank", "monday"), SHOP, Scope()):
        shelf.keep("a", scope)
    assert set(sessions(shelf)) == {MONDAY, TUESDAY, Scope.session("bank", "monday")}
    assert set(sessions(shelf, BANK)) == {Scope.session("bank", "monday")}
    assert sessions(shelf, Scope.project("unknown")) == {}
    assert set(sessions(shelf, MONDAY)) == {MONDAY}
    assert sessions(shelf, Scope.session("shop", "sunday")) == {}


def test_a_session_that_differs_only_in_case_is_refused_in_its_project(shelf, store):
    shelf.keep("a", Scope.session("shop", "Straße"))
    with pytest.raises(Conflict, match="'Straße' that differs only in case"), store.write() as tx:
        tx.add_session(Scope.session("shop", "STRASSE"), "", shelf.now)
    with pytest.raises(Conflict, match="differs only in case"):
        shelf.keep("b", Scope.session("shop", "strasse"))
    shelf.keep("c", Scope.session("bank", "strasse"))
    assert set(sessions(shelf)) == {Scope.session("shop", "Straße"), Scope.session("bank", "strasse")}


def test_a_session_of_a_write_that_fails_is_not_started(shelf, store):
    def fail():
        with store.write() as tx:
            tx.add_session(MONDAY, "", shelf.now)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert sessions(shelf) == {}


def test_a_project_is_found_by_its_exact_path(shelf, store):
    made = Project("backend/shop", "sells", (ProjectPlace("/a"),), shelf.now)
    with store.write() as tx:
        tx.put_project(made)
    assert shelf.ask(lambda tx: tx.project("backend/shop")) == made
    assert shelf.ask(lambda tx: tx.project("backend")) is None
    with pytest.raises(Conflict, match="differs only in case"):
        shelf.ask(lambda tx: tx.project("Backend/Shop"))


def test_the_last_change_of_a_project_is_that_of_any_of_its_memories(shelf, store):
    with store.write() as tx:
        tx.put_project(Project("empty", created_at=shelf.now))
    shelf.keep("everywhere")
    shelf.keep("a", MONDAY)
    bank = shelf.keep("b", BANK)
    shop = shelf.change(shelf.keep("c", SHOP), state=State.FORGOTTEN)
    changes = shelf.ask(lambda tx: tx.last_changes())
    assert changes == {"bank": bank.updated_at, "shop": shop.updated_at}


def test_an_event_may_be_about_a_scope_and_is_seen_from_there_alone(shelf, store):
    kept = shelf.keep("a", BANK)
    with store.write() as tx:
        tx.add_event("started", BOB, shelf.step(), MONDAY, {"session": "monday"})
    event = shelf.ask(lambda tx: tx.events(SHOP, None, None, 9))[0]
    assert (event.action, event.actor, event.at, event.detail) == ("started", BOB, shelf.now, {"session": "monday"})
    assert (event.memory_number, event.memory_id) == (None, None)
    assert [one.action for one in shelf.ask(lambda tx: tx.events(BANK, None, None, 9))] == ["remembered"]
    last, memories = shelf.ask(lambda tx: (tx.mark().event, tx.changed_since(0)))
    assert (last, memories) == (event.number, [kept.number])
    assert store.check() == []


def test_merging_projects_moves_sessions_events_places_and_mirrors_and_deletes_the_first(store, shelf):
    mine, theirs = Scope.session("shop", "monday"), Scope.session("bank", "monday")
    with store.write() as tx:
        tx.put_project(Project("shop", "sells", (ProjectPlace("/a", "seen"),), shelf.now, ("c1",), ("example.org/shop",)))
        tx.put_project(Project("bank", "lends", (ProjectPlace("/b"),), shelf.now, ("c2",), ("example.org/shop",)))
        for scope in (mine, theirs, Scope.session("bank", "tuesday")):
            tx.add_session(scope, "cli", shelf.now)
        tx.add_event("described", BOB, shelf.now, Scope.project("bank"), {})
        mirror = tx.put_mirror(Mirror(0, Scope.project("bank"), "/b", "memories.md", "memories", Choice.ALL, shelf.now))
    with store.write() as tx:
        tx.merge_projects("bank", "shop")
    assert [project.path for project in shelf.ask(lambda tx: tx.projects())] == ["shop"]
    merged = shelf.ask(lambda tx: tx.project("shop"))
    assert merged.places == (ProjectPlace("/a", "seen"), ProjectPlace("/b"))
    assert (merged.description, merged.root_commits, merged.remotes) == ("sells", ("c1", "c2"), ("example.org/shop",))
    assert shelf.ask(lambda tx: tx.project(root="/b")) == merged
    names = sorted(session.scope.name for session in shelf.ask(lambda tx: tx.sessions(shelf.now, Scope.project("shop"))))
    assert names == ["monday", "tuesday"]
    assert shelf.ask(lambda tx: tx.events(Scope.project("shop"), None, None, 9))[0].action == "described"
    assert [one.scope.path for one in shelf.ask(lambda tx: tx.mirrors()) if one.number == mirror.number] == ["shop"]


def test_a_project_that_still_has_memories_is_not_merged_away(store, shelf):
    shelf.keep("a", Scope.project("shop"))
    shelf.keep("b", Scope.project("bank"))
    with pytest.raises(Conflict, match="still has memories"), store.write() as tx:
        tx.merge_projects("bank", "shop")
    assert len(shelf.ask(lambda tx: tx.projects())) == 2


def test_a_project_renamed_by_another_process_has_its_new_name_at_once(store, shelf, backend):
    kept = shelf.keep("a", Scope.project("shop"))
    other = backend.open()
    with other.read() as tx:
        assert tx.project("shop") is not None
    with store.write() as tx:
        tx.replace_text(StoredText("project", "shop"), "store")
    with other.write() as tx:
        assert tx.project("shop") is None
        assert tx.memory(kept.number).scope == Scope.project("store")
