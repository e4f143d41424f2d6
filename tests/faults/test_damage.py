"""Files that are not a whole memory: recognised and reported, never half served, never touched."""

import os
import random

import apsw
import pytest

from omoide.errors import OmoideError, StoreDamaged, StoreError, StoreTooNew
from omoide.model import Draft, Scope, State
from omoide.storage.sqlite.store import SqliteStore

SHOP = Scope.project("shop")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def filled(path, open_memory):
    """The contents of a memory that lies closed in `path`, by number."""
    with open_memory(path) as memory:
        drafts = [Draft(f"note {n} " + f"word{n} " * (n % 10 * 150), SHOP, f"topic {n}") for n in range(200)]
        kept = [done.memory for done in memory.remember_many(drafts)]
    return {each.number: each.content for each in kept}


def check_refusal(path, open_memory, error, message):
    """The memory cannot be opened, says why, and leaves the file and its directory as they were."""
    before = (path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir()))
    with pytest.raises(error, match=message) as refusal:
        open_memory(path)
    assert str(path) in str(refusal.value)
    assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())) == before


def test_an_empty_file_becomes_a_new_store(path, open_memory):
    path.touch(0o600)
    with open_memory(path) as memory:
        memory.remember("zebra", scope=SHOP)
        assert memory.check() == []


def test_a_path_that_is_not_utf_8_is_refused_and_nothing_is_created(path, tmp_path, open_memory):
    bad = tmp_path / os.fsdecode(b"\x83d") / "memory.db"
    with pytest.raises(StoreError, match=r"\\udc83d/memory\.db is not UTF-8.*: choose another place"):
        open_memory(bad)
    with open_memory(path) as memory:
        memory.remember("zebra", scope=SHOP)
        with pytest.raises(StoreError, match="is not UTF-8"):
            memory.backup(bad)
    assert not bad.parent.exists()


@pytest.mark.parametrize("share", [0.0001, 0.01, 0.3, 0.6, 0.99])
def test_a_truncated_file_is_refused(path, open_memory, filled, share):
    raw = path.read_bytes()
    path.write_bytes(raw[: int(len(raw) * share)])
    check_refusal(path, open_memory, StoreDamaged, "damaged")


@pytest.mark.parametrize("size", [1, 15, 99, 100, 4095, 4096, 20_000])
def test_random_garbage_is_refused(path, open_memory, size):
    path.write_bytes(random.Random(size).randbytes(size))
    check_refusal(path, open_memory, StoreDamaged, "damaged")


@pytest.mark.parametrize("text", ["x", "# Notes\n\n- use pnpm\n", "SQLite format 3", "word " * 5000])
def test_a_text_file_is_refused(path, open_memory, text):
    path.write_text(text)
    check_refusal(path, open_memory, StoreDamaged, "damaged")


def test_a_damaged_header_is_refused(path, open_memory, filled):
    raw = bytearray(path.read_bytes())
    raw[0:16] = b"?" * 16
    path.write_bytes(raw)
    check_refusal(path, open_memory, StoreDamaged, "damaged")


def test_a_damaged_byte_of_the_header_is_reported_or_does_no_harm(path, open_memory, long):
    with open_memory(path) as memory:
        kept = [memory.remember(f"note {n} word{n}", scope=SHOP).memory for n in range(5)]
    filled = {each.number: each.content for each in kept}
    raw = path.read_bytes()
    for place in range(100):
        some = {0xFF, raw[place] ^ 1}
        more = {0, 1, 2, 3, 4, 0x40, 0x7F, 0x80, (raw[place] - 1) & 0xFF}
        for value in (some | more if long else some) - {raw[place]}:
            for file in (path, path.with_name("memory.db-wal"), path.with_name("memory.db-shm")):
                file.unlink(missing_ok=True)
            path.touch(0o600)
            path.write_bytes(raw[:place] + bytes([value]) + raw[place + 1 :])
            assert check_refused_or_right(path, open_memory, filled), (place, value)


def check_refused_or_right(path, open_memory, filled):
    """A clear error, now or from a check; or all is there, and can be written to."""
    try:
        with open_memory(path, retire="manual") as memory:
            found = memory.check()
            before = {each.number: each.content for each in memory.list(scope=SHOP, limit=1000).memories}
            memory.recall("note word7", scope=SHOP)
            kept = memory.remember("more " * 3000, scope=SHOP).memory
            after = {each.number: each.content for each in memory.list(scope=SHOP, limit=1000).memories}
    except OmoideError as error:
        return str(path) in str(error)
    return found or (before == filled and after == {**filled, kept.number: kept.content})


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
@pytest.mark.parametrize("mark", ["", "PRAGMA application_id=77", "PRAGMA user_version=1"])
def test_a_database_of_another_program_is_refused(path, open_memory, journal, mark):
    theirs = apsw.Connection(str(path))
    for statement in (
        f"PRAGMA journal_mode={journal}",
        mark,
        "CREATE TABLE memories (id)",
        "INSERT INTO memories VALUES (1)",
    ):
        theirs.execute(statement)
    theirs.close()
    check_refusal(path, open_memory, StoreError, "another program")


def test_an_empty_database_of_another_program_is_refused(path, open_memory):
    theirs = apsw.Connection(str(path))
    theirs.execute("PRAGMA application_id=77")
    theirs.close()
    check_refusal(path, open_memory, StoreError, "another program")


def test_a_store_of_a_newer_schema_is_refused(path, open_memory, filled, next_schema):
    SqliteStore(path, migrations=next_schema.steps).close()
    check_refusal(path, open_memory, StoreTooNew, "upgrade omoide")


@pytest.mark.parametrize("kind", ["random", "zero", "other page"])
def test_a_damaged_page_is_reported(path, open_memory, filled, kind, long):
    raw = path.read_bytes()
    chance = random.Random(kind)
    pages = branches(path)
    for page in pages if long else chance.sample(pages, 12):
        other = chance.choice([each for each in pages if each != page])
        filler = {"random": chance.randbytes(4096), "zero": bytes(4096), "other page": raw[other * 4096 :][:4096]}[kind]
        path.write_bytes(raw[: page * 4096] + filler + raw[(page + 1) * 4096 :])
        # One empty table's page for another's goes unnoticed, and does no harm: `damaged` looks for that.
        assert reports_damage(path, open_memory, filled) or kind == "other page", page


def test_damage_inside_a_long_text_harms_no_other_memory(path, open_memory, filled, long):
    raw = path.read_bytes()
    chance = random.Random(1)
    pages = sorted(set(range(1, len(raw) // 4096)) - set(branches(path)))
    for page in pages if long else chance.sample(pages, 12):
        path.write_bytes(raw[: page * 4096] + bytes(4096) + raw[(page + 1) * 4096 :])
        reports_damage(path, open_memory, filled)


def branches(path):
    """The pages that hold rows, from 0, without the first; the others hold the rest of long texts, or nothing."""
    connection = apsw.Connection(str(path))
    found = connection.execute("SELECT pageno - 1 FROM dbstat WHERE pagetype <> 'overflow' AND pageno > 1").fetchall()
    connection.close()
    return sorted(page for (page,) in found)


def reports_damage(path, open_memory, filled):
    try:
        with open_memory(path) as memory:
            findings = memory.check()
            served = memory.list(scope=SHOP, limit=1000, states=tuple(State)).memories
            memory.recall("note word7", scope=SHOP)
    except StoreDamaged:
        return True
    wrong = [each.number for each in served if each.content != filled.get(each.number)]
    if not findings:
        # SQLite has no checksums: damage inside a text that runs over whole pages is all that can go unnoticed.
        assert len(served) == len(filled)
        assert all(len(filled[number]) > 1000 for number in wrong)
    return bool(findings)


def test_a_file_truncated_under_its_log_is_reported_when_the_missing_half_is_needed(path, open_memory, child, filled):
    writer = child("write_for_ever", path, "writer")
    writer.stdout.readline()
    writer.kill()
    writer.wait()
    assert path.with_name("memory.db-wal").stat().st_size
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2])
    assert reports_damage(path, open_memory, filled)


def test_a_backup_of_a_damaged_database_says_so_and_leaves_no_copy(path, open_memory, filled):
    data = bytearray(path.read_bytes())
    page = len(data) // 4096 // 2 * 4096
    data[page : page + 4096 * 4] = b"\xff" * 4096 * 4
    path.write_bytes(data)
    target = path.with_name("copy.db")
    with open_memory(path) as memory, pytest.raises(StoreDamaged, match=r"is damaged .*, and a copy would be, too"):
        memory.backup(target)
    assert not list(path.parent.glob("copy*"))
