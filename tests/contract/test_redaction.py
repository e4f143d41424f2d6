"""Texts beside memories, and texts of past versions, are replaced without keeping the old ones."""

import pytest
from msgspec.structs import replace

from omoide.model import Actor, Project, ProjectPlace, Scope
from omoide.storage.capabilities import StoredText

pytestmark = pytest.mark.needs("Redaction")
SHOP = Scope.project("shop")
MONDAY = Scope.session("shop", "Monday")


def test_every_text_outside_memories_is_listed_once(samples, store):
    samples.add("zebra", MONDAY, actor=Actor("carol", via="test"))
    samples.add("okapi", MONDAY)
    with store.write() as tx:
        tx.put_project(Project("shop", "sells things", (ProjectPlace("/srv/shop"),)))
        tx.add_event("started", Actor("carol", via="test"), samples.now, MONDAY, {"session": "Monday"})
    texts = samples.ask(lambda tx: tx.stored_texts())
    assert len(texts) == len({*texts})
    assert {*texts} == {
        StoredText("project", "shop"),
        StoredText("description", "sells things"),
        StoredText("directory", "/srv/shop"),
        StoredText("session", "Monday"),
        StoredText("session source", "test"),
        StoredText("actor", "alice"),
        StoredText("actor", "carol"),
        StoredText("event", '{"session":"Monday"}'),
    }


def test_a_replaced_name_is_the_name_from_then_on(samples, store, backend):
    kept = samples.add("zebra", MONDAY)
    with store.write() as tx:
        tx.put_project(Project("shop", "sells things", (ProjectPlace("/srv/shop"),)))
        for what, old, new in (
            ("project", "shop", "Store"),
            ("description", "sells things", "sells"),
            ("directory", "/srv/shop", ""),
            ("session", "Monday", "Tuesday"),
            ("session source", "test", "elsewhere"),
            ("actor", "alice", "bob"),
        ):
            tx.replace_text(StoredText(what, old), new)
    moved = Scope.session("Store", "Tuesday")
    for reader in (store, backend.open()):
        with reader.read() as tx:
            assert tx.memory(kept.number).scope == moved
            assert [(one.path, one.description, one.root) for one in tx.projects()] == [("Store", "sells", None)]
            assert [(one.scope, one.source, one.memories) for one in tx.sessions(samples.now)] == [(moved, "elsewhere", 1)]
            assert tx.events(None, None, None, 9)[-1].actor.name == "bob"
            assert tx.project("shop") is None
    assert samples.problems() == []
    again = samples.add("okapi", moved, actor=Actor("bob", via="test"))
    assert samples.ask(lambda tx: tx.memory(again.number)).scope == moved
    assert len(samples.ask(lambda tx: tx.projects())) == 1


def test_a_past_version_can_be_replaced_without_the_current_one(samples, store):
    old = samples.add("zebra", SHOP)
    new = samples.change(old, content="okapi")
    with store.write() as tx:
        tx.replace_version(replace(old, content="gnu", tags=("tame",)))
    past, present = [version.memory for version in samples.ask(lambda tx: tx.versions(old.number))]
    assert (past.content, past.tags, past.version) == ("gnu", ("tame",), 1)
    assert present == new
