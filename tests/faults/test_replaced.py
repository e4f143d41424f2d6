"""A database file that is removed or replaced while it is open: noticed, reported, and never written to."""

import shutil

import pytest

from omoide import Draft, Scope, State
from omoide.errors import StoreReplaced

SHOP = Scope.project("shop")
MANY = 600  # memories: so many access times are written at rest


@pytest.fixture
def path(tmp_path):
    (tmp_path / "here").mkdir()
    return tmp_path / "here" / "memory.db"


@pytest.fixture
def memory(path, open_memory):
    memory = open_memory(path, retire="manual")
    memory.remember_many(Draft(f"note {n}", SHOP) for n in range(MANY))
    memory.backup(path.with_name("copy.db"))
    memory.remember("after the copy", scope=SHOP)
    return memory


def files(path):
    return [path, *(path.with_name(f"{path.name}-{what}") for what in ("wal", "shm"))]


def remove(path):
    path.unlink()


def remove_all(path):
    for file in files(path):
        file.unlink()


def move_away(path):
    path.rename(path.with_name("elsewhere.db"))


def move_its_directory(path):
    path.parent.rename(path.parent.with_name("elsewhere"))


def restore_over_it(path):
    path.with_name("copy.db").rename(path)


def restore_all(path):
    remove_all(path)
    shutil.copy(path.with_name("copy.db"), path)


def make_empty(path):
    path.unlink()
    path.touch(0o600)


def remove_log(path):
    files(path)[1].unlink()


def replace_log(path):
    files(path)[1].unlink()
    files(path)[1].touch(0o600)


def verbs(memory):
    return [
        lambda: memory.list(scope=SHOP),
        lambda: memory.recall("note", scope=SHOP),
        lambda: memory.show(1, scope=SHOP),
        lambda: memory.remember("lost", scope=SHOP),
        lambda: memory.revise(1, scope=SHOP, content="lost"),
        lambda: memory.purge([], scope=SHOP),
        lambda: next(memory.everything()),
        memory.check,
        memory.repair,
    ]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (remove, "was removed"),
        (remove_all, "was removed"),
        (move_away, "was removed"),
        (move_its_directory, "was removed"),
        (restore_over_it, "was replaced"),
        (restore_all, "was replaced"),
        (make_empty, "was replaced"),
        (remove_log, "the log of the database, was removed"),
        (replace_log, "the log of the database, was replaced"),
    ],
)
def test_every_verb_reports_a_replaced_database_and_writes_nothing(path, memory, change, what):
    memory.recall("", scope=SHOP, limit=1000)  # access times wait to be written
    change(path)
    before = contents(path)
    for verb in verbs(memory):
        with pytest.raises(StoreReplaced, match=rf"{what}.*Restart every omoide that has it open") as refusal:
            verb()
        assert str(path) in str(refusal.value)
    memory.flush()
    assert contents(path) == before
    log = files(path)[1]
    assert not log.exists() or log.stat().st_size == 0  # the next who opens the new file takes nothing of it for its own


def contents(path):
    return path.read_bytes() if path.exists() else None


def test_a_database_put_back_is_used_again(path, memory):
    move_away(path)
    with pytest.raises(StoreReplaced):
        memory.list(scope=SHOP)
    path.with_name("elsewhere.db").rename(path)
    memory.remember("kept", scope=SHOP)
    assert memory.list(scope=SHOP).total == MANY + 2
    assert memory.check() == []


def test_a_copy_put_in_place_is_intact_after_the_old_one_is_closed(path, memory, open_memory):
    restore_over_it(path)
    with pytest.raises(StoreReplaced):
        memory.remember("lost", scope=SHOP)
    memory.close()
    with open_memory(path) as again:
        assert again.check() == []
        assert again.list(scope=SHOP).total == MANY


def test_closing_the_old_database_keeps_the_log_of_the_new_one(path, memory, child, open_memory):
    restore_all(path)
    writer = child("write", path, "somebody", 5)
    assert writer.stdout.readline() == "ready\n"  # it has opened the new file, and its log
    log = files(path)[1].stat().st_ino
    memory.close()
    assert files(path)[1].stat().st_ino == log
    writer.communicate("\n", timeout=60)
    assert writer.returncode == 0
    with open_memory(path) as again:
        assert again.check() == []
        assert again.list(scope=SHOP, states=tuple(State)).total == MANY + 6


def test_a_link_to_another_database_is_noticed(path, memory, open_memory):
    link = path.with_name("link.db")
    link.symlink_to(path)
    linked = open_memory(link, retire="manual")
    assert linked.list(scope=SHOP).total == MANY + 1
    link.unlink()
    link.symlink_to(path.with_name("copy.db"))
    with pytest.raises(StoreReplaced, match="was replaced"):
        linked.remember("lost", scope=SHOP)


def test_a_relative_path_is_the_same_file_after_a_change_of_directory(tmp_path, open_memory, monkeypatch):
    monkeypatch.chdir(tmp_path)
    memory = open_memory("memory.db")
    (tmp_path / "deeper").mkdir()
    monkeypatch.chdir(tmp_path / "deeper")
    memory.remember("zebra", scope=SHOP)
    assert [hit.memory.content for hit in memory.recall("zebra", scope=SHOP).hits] == ["zebra"]
