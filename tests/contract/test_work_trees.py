"""Work trees: the last record of each directory in each project, dropped when it is old or when any memory is purged."""

from datetime import timedelta

import pytest

from contract.samples import START
from omoide.model import AgentFile, AgentHunk, Project, Scope, TreeFile, WorkTreeRecord, WorkTreeState
from omoide.storage.capabilities import StoredText

SHOP, BANK = Scope.project("shop"), Scope.project("bank")
EARLY = START - timedelta(days=1)


def record(root="/srv/shop", run=None, at=START):
    state = WorkTreeState(root, "ab" * 20, "main", 1, 4096, (TreeFile("src/a.py", "cd", "一\n"), TreeFile("gone")))
    return WorkTreeRecord(state, at, run, (AgentFile("src/a.py", "一\n二\n", (AgentHunk(0, 1, ("零",)),), added=True),))


def put(store, *records, scope=SHOP, drop_before=EARLY):
    with store.write() as tx:
        for each in records:
            tx.put_work_tree(scope, each, drop_before=drop_before)


def read(store, root="/srv/shop", scope=SHOP):
    with store.read() as tx:
        return tx.work_tree(scope, root)


def test_a_record_replaces_the_earlier_one_of_its_directory_and_project(store, backend):
    put(store, record(), record("/srv/other"), record(run="7"))
    put(store, record(run="theirs"), scope=BANK)
    put(store, record(run="everywhere"), scope=Scope.everywhere())
    for reader in (store, backend.open()):
        assert read(reader) == record(run="7")
        assert read(reader, "/srv/other") == record("/srv/other")
        assert read(reader, scope=BANK).run == "theirs"
        assert read(reader, scope=Scope.everywhere()).run == "everywhere"
        assert read(reader, scope=Scope.session("shop", "monday")) == record(run="7")
        assert read(reader, "/srv") is None
        assert read(reader, scope=Scope.project("none")) is None


def test_old_records_of_every_project_are_dropped(store):
    put(store, record(at=EARLY - timedelta(microseconds=1)), record("/srv/bank", at=EARLY), scope=BANK)
    put(store, record("/srv/other"))
    assert read(store, scope=BANK) is None
    assert read(store, "/srv/bank", BANK) is not None, "as old as that, not older"
    assert read(store, "/srv/other") is not None


def test_records_move_with_their_project_unless_the_target_has_one(samples, store):
    put(store, record(run="theirs"), record("/srv/bank"), scope=BANK)
    put(store, record(run="own"))
    with store.write() as tx:
        tx.put_project(Project("bank"))
        tx.merge_projects("bank", "shop")
    assert read(store).run == "own"
    assert read(store, "/srv/bank") == record("/srv/bank")
    assert read(store, "/srv/bank", BANK) is None


def test_a_purge_leaves_no_text_of_files(samples, store):
    memory = samples.add("zebra", SHOP)
    put(store, record(), record("/srv/other"))
    with store.write() as tx:
        tx.erase(memory.number)
    assert read(store) is None
    assert read(store, "/srv/other") is None


@pytest.mark.needs("Redaction")
def test_a_record_with_a_secret_is_listed_and_dropped_with_it(samples, store):
    put(store, record(), record("/srv/other"))
    listed = [text for text in samples.ask(lambda tx: tx.stored_texts()) if text.what == "work tree"]
    assert len(listed) == 2
    (one,) = [text for text in listed if "/srv/other" in text.text]
    with store.write() as tx:
        tx.replace_text(StoredText("work tree", one.text), "redacted")
    assert read(store, "/srv/other") is None
    assert read(store) == record()
