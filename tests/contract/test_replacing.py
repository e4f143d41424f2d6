"""What a store replaces for good: texts beside memories, and texts of past versions."""

from msgspec.structs import replace

from omoide.model import Actor, Project, ProjectPlace, Scope
from omoide.storage.capabilities import StoredText

SHOP = Scope.project("shop")
MONDAY = Scope.session("shop", "Monday")


def test_every_text_outside_memories_is_listed_once(shelf, store):
    shelf.keep("zebra", MONDAY, actor=Actor("carol", via="test"))
    shelf.keep("okapi", MONDAY)
    with store.write() as tx:
        tx.put_project(Project("shop", "sells things", (ProjectPlace("/srv/shop"),)))
        tx.add_event("started", Actor("carol", via="test"), shelf.now, MONDAY, {"session": "Monday"})
    texts = shelf.ask(lambda tx: tx.stored_texts())
    assert sorted(texts) == sorted({
        StoredText("project", "shop"),
        StoredText("description", "sells things"),
        StoredText("directory", "/srv/shop"),
        StoredText("session", "Monday"),
        StoredText("session source", "test"),
        StoredText("actor", "alice"),
        StoredText("actor", "carol"),
        StoredText("event", '{"session":"Monday"}'),
    })  # fmt: skip


def test_a_replaced_name_is_the_name_from_then_on(shelf, store, backend):
    kept = shelf.keep("zebra", MONDAY)
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
            assert [(one.scope, one.source, one.memories) for one in tx.sessions(shelf.now)] == [(moved, "elsewhere", 1)]
            assert tx.events(None, None, None, 9)[-1].actor.name == "bob"
            assert tx.project("shop") is None
    assert store.check() == []
    again = shelf.keep("okapi", moved, actor=Actor("bob", via="test"))
    assert shelf.ask(lambda tx: tx.memory(again.number)).scope == moved
    assert len(shelf.ask(lambda tx: tx.projects())) == 1


def test_a_past_version_can_be_replaced_without_the_current_one(shelf, store):
    old = shelf.keep("zebra", SHOP)
    new = shelf.change(old, content="okapi")
    with store.write() as tx:
        tx.replace_version(replace(old, content="gnu", tags=("tame",)))
    past, present = [version.memory for version in shelf.ask(lambda tx: tx.versions(old.number))]
    assert (past.content, past.tags, past.version) == ("gnu", ("tame",), 1)
    assert present == new


def test_scrubbing_removes_every_byte_of_replaced_texts(shelf, store, tmp_path):
    old = shelf.keep("zebra-in-the-past", SHOP)
    shelf.change(old, content="okapi")
    with store.write() as tx:
        tx.put_project(Project("shop", "quagga-in-the-description"))
        tx.replace_version(replace(old, content="gnu"))
        tx.replace_text(StoredText("description", "quagga-in-the-description"), "gnu")
    store.scrub()
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"zebra-in-the-past" not in kept
    assert b"quagga" not in kept
