"""A database that does not exist: whoever reads it creates nothing, and the first write says where it is."""

import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

import omoide as library
from omoide import Scope
from omoide.errors import NotFound, StoreError

READING = [
    "list", "recall words", "stats", "doctor", "doctor --fix", "events", "project list", "project show", "session list",
    "mirror list", "mirror status", "mirror sync", "memories list", "memories search x", "memories inject", "review",
    "retire --dry-run", "retire", "reindex --dry-run", "purge --forgotten --yes", "scan",
    "purge --everywhere --yes", "export", "list --json",
]  # several entries per line  # fmt: skip
FAILING = [
    "show 1", "forget 1", "archive 1", "restore 1", "revise 1 x", "pin 1", "history 1", "similar 1", "purge 1 --yes",
    "link 1 relates 2", "backup", "reindex", "project rename a b", "memories delete 1",
]  # several entries per line  # fmt: skip


@pytest.fixture
def missing(place, monkeypatch):
    """The path of a database in a directory that does not exist."""
    path = place / "typo" / "deep" / "x.db"
    monkeypatch.setenv("OMOIDE_STORE", str(path))
    return path


def test_a_reading_command_creates_nothing(run, missing):
    for command in READING:
        done = run(*command.split())
        assert done.code == 0, (command, done)
        assert "created" not in done.err, command
        assert not missing.parent.parent.exists(), command


def test_a_list_or_recall_that_finds_nothing_says_that_there_is_no_database(run, missing):
    for command in ("list", "recall zebra"):
        assert f"there is no database {missing} yet" in run(*command.split()).err
    assert run("list", "--store", "typo.db").err.endswith(f"there is no database {missing.parents[2] / 'typo.db'} yet\n")


def test_a_command_that_fails_creates_nothing(run, missing):
    for command in FAILING:
        done = run(*command.split())
        assert done.code != 0, (command, done)
        assert not missing.parent.parent.exists(), command


def test_a_backup_of_a_missing_database_names_it(run, missing):
    assert f"there is no database {missing}" in run("backup").err


def test_reading_in_a_repository_creates_nothing(run, missing, place, monkeypatch):
    monkeypatch.delenv("OMOIDE_PROJECT")
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    assert run("list").code == 0
    assert run("memories", "list").code == 0
    assert not missing.parent.parent.exists()


def test_the_first_write_creates_the_database_and_says_where(run, missing):
    done = run("remember", "最初の記憶")
    assert done.code == 0
    assert f"created the database {missing}" in done.err
    assert missing.stat().st_mode & 0o777 == 0o600
    assert missing.parent.stat().st_mode & 0o777 == 0o700
    again = run("remember", "次の記憶")
    assert "created the database" not in again.err
    assert "最初の記憶" in run("list").out


def test_processes_that_create_the_same_database_at_once_all_store_their_memory(omoide, missing):
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda number: omoide("remember", f"memory of process {number}"), range(6)))
    assert [one.code for one in done] == [0] * 6
    assert sum("created the database" in one.err for one in done) >= 1
    assert omoide("list", "--json").out.count("memory of process") >= 6


def test_a_service_that_was_opened_before_the_database_existed_sees_what_others_write(tmp_path):
    path = tmp_path / "new" / "x.db"
    with library.open(path) as early, library.open(path) as other:
        assert early.list(scope=Scope.everywhere()).memories == []
        assert not path.parent.exists()
        other.remember("written by another", scope=Scope.everywhere())
        assert [one.content for one in early.list(scope=Scope.everywhere()).memories] == ["written by another"]
        early.remember("and by this one", scope=Scope.everywhere())
        assert len(other.list(scope=Scope.everywhere()).memories) == 2


def test_a_write_that_fails_leaves_no_database_and_the_next_one_creates_it(tmp_path):
    path = tmp_path / "new" / "x.db"
    with library.open(path) as memory:
        with pytest.raises(NotFound):
            memory.forget(1, scope=Scope.everywhere())
        with pytest.raises(StoreError, match="there is no database"):
            memory.backup()
        assert not path.parent.exists()
        memory.remember("kept", scope=Scope.everywhere())
        assert path.exists()
    with library.open(path) as memory:
        assert [one.content for one in memory.list(scope=Scope.everywhere()).memories] == ["kept"]


def test_a_place_that_cannot_be_created_is_an_error_of_the_write(run, place, monkeypatch):
    (place / "file").write_text("not a directory")
    monkeypatch.setenv("OMOIDE_STORE", str(place / "file" / "x.db"))
    assert run("list").code == 0
    done = run("remember", "x")
    assert done.code != 0
    assert "cannot be created" in done.err
