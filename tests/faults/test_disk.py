"""Disks that are full, files that may not be written, and files that nobody else may read."""

import os
import shutil
import stat
import subprocess
import sys
from contextlib import closing, suppress

import pytest

import omoide
from omoide.errors import StoreFull, StoreReadOnly
from omoide.model import Draft, Scope
from omoide.storage.backup import write_backup
from omoide.storage.sqlite.store import SqliteStore

SHOP = Scope.project("shop")
LONG_TEXT = "and so on " * 20_000


def test_a_full_disk_is_reported_and_nothing_is_lost(tmp_path, disk, ordinary_disk, open_memory):
    with open_memory(tmp_path / "memory.db") as memory:
        kept = memory.remember("kept before", scope=SHOP).memory
        disk.room = 100_000
        with pytest.raises(StoreFull, match="the disk is full, nothing was changed: make room"):
            memory.remember(LONG_TEXT, scope=SHOP)
        with pytest.raises(StoreFull):
            memory.revise(kept.id, scope=SHOP, content=LONG_TEXT)
        disk.room = 0
        assert memory.show(kept.id, scope=SHOP) == kept
        assert [hit.memory.id for hit in memory.recall("kept", scope=SHOP).hits] == [kept.id]
        disk.room = None
        memory.remember(LONG_TEXT, scope=SHOP)
        assert memory.list(scope=SHOP).total == 2
    ordinary_disk()  # the other one takes a single connection, and a check opens its own
    with open_memory(tmp_path / "memory.db") as memory:
        assert memory.check() == []


def test_a_write_on_a_full_disk_is_stored_whole_or_not_at_all(tmp_path, disk, ordinary_disk, open_memory):
    with open_memory(tmp_path / "memory.db") as memory:
        acknowledged = {memory.remember("first", scope=SHOP).memory.id}
        for room in range(0, 120_000, 3_000):
            disk.room = room
            try:
                done = memory.remember_many([Draft(f"one {room}", SHOP), Draft(f"two {room} " + "more " * 1500, SHOP)])
                acknowledged.update(each.memory.id for each in done)
            except StoreFull:
                pass
            disk.room = None
            assert {each.id for each in memory.list(scope=SHOP, limit=1000).memories} == acknowledged
        assert len(acknowledged) > 1
    ordinary_disk()  # the other one takes a single connection, and a check opens its own
    with open_memory(tmp_path / "memory.db") as memory:
        assert memory.check() == []


# apsw has no caller to tell when the disk is full again while it cleans up after the first error.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_new_store_on_a_full_disk_is_an_error_and_works_once_there_is_space(tmp_path, disk, ordinary_disk, open_memory):
    disk.room = 1000
    with open_memory(tmp_path / "memory.db") as memory:
        with pytest.raises(StoreFull):
            memory.remember("zebra", scope=SHOP)
        disk.room = None
        memory.remember("zebra", scope=SHOP)
    ordinary_disk()  # the other one takes a single connection, and a check opens its own
    with open_memory(tmp_path / "memory.db") as memory:
        assert memory.check() == []


@pytest.fixture
def small_disk(tmp_path):
    """A real file system of 2 MB: a new database and its log take one."""
    place = tmp_path / "small"
    place.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    done = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], capture_output=True, check=False
    )
    if not done or done.returncode:
        pytest.skip("only root may mount a small disk")
    yield place
    subprocess.run([umount, place], check=True)


def test_a_real_full_disk_is_reported_and_works_again_once_there_is_space(small_disk, open_memory, tmp_path):
    with open_memory(small_disk / "memory.db") as memory:
        kept = memory.remember("kept before", scope=SHOP).memory
        ballast = small_disk / "ballast"
        with ballast.open("wb") as file:
            file.truncate(0)
            while file.write(bytes(4096)) and shutil.disk_usage(small_disk).free > 40_000:
                file.flush()
        with pytest.raises(StoreFull):
            memory.remember(LONG_TEXT, scope=SHOP)
        with pytest.raises(omoide.StoreError):
            memory.backup(small_disk / "copy.db")
        assert not list(small_disk.glob("copy*"))
        assert memory.show(kept.id, scope=SHOP) == kept
        ballast.unlink()
        memory.remember("kept after", scope=SHOP)
        assert memory.check() == []


def fill(place):
    """Use up the last byte."""
    with (place / "ballast").open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(1024)):
            pass


def test_reading_goes_on_where_the_last_byte_of_the_disk_is_used(small_disk, tmp_path):
    environment = {**os.environ, "OMOIDE_STORE": str(small_disk / "memory.db"), "OMOIDE_CONFIG": str(tmp_path / "none.toml")}

    def run(*arguments):
        program = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()", *arguments, "--global"]
        return subprocess.run(program, env=environment, capture_output=True, text=True, cwd=tmp_path)

    assert run("remember", "満杯のディスクの zebra").returncode == 0
    fill(small_disk)
    for command in (("list",), ("recall", "zebra"), ("show", "1"), ("export",)):
        done = run(*command)
        assert (done.returncode, done.stderr) == (0, ""), command
        assert "zebra" in done.stdout, command
    done = run("remember", "no room")
    assert done.returncode != 0
    assert "the disk is full, nothing was changed: make room" in done.stderr
    (small_disk / "ballast").unlink()
    assert run("remember", "room again").returncode == 0
    assert run("list").stdout.count("\n") == 3


@pytest.mark.parametrize("command", [("reindex",), ("revise", "1", "okapi"), ("memories", "add", "okapi")])
def test_a_command_that_needs_room_says_in_one_line_that_the_disk_is_full(command, small_disk, tmp_path):
    environment = {
        **os.environ,
        "OMOIDE_STORE": str(small_disk / "memory.db"),
        "OMOIDE_CONFIG": str(tmp_path / "none.toml"),
        "OMOIDE_PROJECT": "shop",
    }

    def run(*arguments):
        program = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()", *arguments]
        return subprocess.run(program, env=environment, capture_output=True, text=True, cwd=small_disk)

    assert run("memories", "add", "zebra").returncode == 0
    fill(small_disk)
    done = run(*command)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert "the disk is full" in done.stderr
    assert "zebra" in run("list").stdout


def test_a_process_that_stays_reads_on_a_full_disk_and_writes_once_there_is_room(small_disk, open_memory):
    with open_memory(small_disk / "memory.db") as memory:
        memory.remember("zebra", scope=SHOP)
    fill(small_disk)
    with open_memory(small_disk / "memory.db") as memory, open_memory(small_disk / "memory.db") as other:
        for each in (memory, other, memory):
            assert [hit.memory.content for hit in each.recall("zebra", scope=SHOP).hits] == ["zebra"]
        with pytest.raises(StoreFull):
            memory.remember("okapi", scope=SHOP)
        (small_disk / "ballast").unlink()
        memory.remember("okapi", scope=SHOP)
        assert other.list(scope=SHOP).total == 2
        assert memory.check() == []


# rights


@pytest.fixture
def theirs(public_path, open_memory):
    """A memory of somebody else that everybody may read, closed."""
    with open_memory(public_path / "memory.db") as memory:
        memory.remember("zebra", scope=SHOP)
    (public_path / "memory.db").chmod(0o644)
    if os.geteuid() != 0:
        (public_path / "memory.db").chmod(0o444)
        public_path.chmod(0o555)
    yield public_path / "memory.db"
    public_path.chmod(0o755)


def error_of(action):
    """The kind and the words of the error that an action ends with."""
    try:
        action()
    except omoide.OmoideError as error:
        return [type(error).__name__, str(error)]
    return None


def test_a_store_in_a_read_only_directory_gives_a_clear_error(theirs, without_rights):
    before = theirs.read_bytes()

    def write():
        with omoide.open(theirs) as memory:
            memory.remember("okapi", scope=SHOP)

    kind, words = without_rights(lambda: error_of(write))
    assert kind == "StoreReadOnly"
    assert str(theirs) in words
    assert "permissions" in words
    assert theirs.read_bytes() == before


def test_a_read_only_store_is_read_but_not_changed(theirs, without_rights):
    theirs.parent.chmod(0o777)
    before = theirs.read_bytes()

    def read_and_write():
        with omoide.open(theirs) as memory:
            hits = len(memory.recall("zebra", scope=SHOP).hits)
            return hits, error_of(lambda: memory.remember("okapi", scope=SHOP))

    hits, (kind, words) = without_rights(read_and_write)
    assert hits == 1
    assert kind == "StoreReadOnly"
    assert str(theirs) in words
    assert "check the permissions" in words
    assert theirs.read_bytes() == before


def test_an_unreadable_store_gives_a_clear_error(theirs, without_rights):
    theirs.chmod(0o000)
    kind, words = without_rights(lambda: error_of(lambda: omoide.open(theirs)))
    assert kind == "StoreReadOnly"
    assert "check its permissions" in words


def test_a_store_that_cannot_be_created_gives_a_clear_error(public_path, without_rights):
    public_path.chmod(0o555)
    kind, words = without_rights(
        lambda: error_of(lambda: omoide.open(public_path / "deep" / "memory.db").remember("x", scope=SHOP))
    )
    assert kind == "StoreReadOnly"
    assert "choose another place with --store" in words


def test_a_directory_as_store_is_refused(tmp_path, open_memory):
    with pytest.raises(StoreReadOnly, match="Is a directory"):
        open_memory(tmp_path)


def test_files_and_directories_are_private_whatever_the_umask(tmp_path, open_memory):
    before = os.umask(0)
    try:
        memory = open_memory(tmp_path / "a" / "b" / "memory.db")
        memory.remember("zebra", scope=SHOP)
        memory.backup(tmp_path / "c" / "d" / "copy.db")
        modes = {str(path.relative_to(tmp_path)): stat.S_IMODE(path.stat().st_mode) for path in sorted(tmp_path.rglob("*"))}
    finally:
        os.umask(before)
    assert modes == {
        "a": 0o700, "a/b": 0o700, "a/b/memory.db": 0o600, "a/b/memory.db-shm": 0o600, "a/b/memory.db-wal": 0o600,
        "c": 0o700, "c/d": 0o700, "c/d/copy.db": 0o600,
    }  # several entries per line  # fmt: skip


def test_a_check_finds_a_file_that_others_can_read(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db")
    memory.remember("x", scope=SHOP)
    (tmp_path / "memory.db").chmod(0o644)
    (finding,) = memory.check()
    assert "can be read by others" in finding.what
    assert "chmod 600" in finding.remedy


def test_closing_twice_is_safe(tmp_path):
    store = SqliteStore(tmp_path / "memory.db")
    store.close()
    store.close()
    with closing(SqliteStore(tmp_path / "memory.db")) as again:
        assert again.check() == []


def test_a_copy_that_fails_leaves_none_of_its_files(tmp_path):
    def fail_to_copy(path):
        for end in ("", "-wal", "-shm"):
            path.with_name(f"{path.name}{end}").touch()
        raise StoreFull("the disk is full")

    with pytest.raises(StoreFull):
        write_backup(tmp_path / "copy.db.gz", fail_to_copy)
    assert list(tmp_path.iterdir()) == []
