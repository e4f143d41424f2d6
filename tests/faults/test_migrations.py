"""Schema steps: old or new, never between; the oldest is brought up to date; two at once do it once."""

import shutil

import apsw
import pytest

from omoide.errors import StoreError
from omoide.model import Scope
from omoide.storage.sqlite.store import MIGRATIONS, SqliteStore

SHOP = Scope.project("shop")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


def test_the_oldest_schema_is_migrated_with_all_its_data(tmp_path, path, open_memory):
    oldest = tmp_path / "oldest"
    oldest.mkdir()
    shutil.copy(MIGRATIONS / "0001_start.sql", oldest)
    SqliteStore(path, migrations=oldest).close()
    fill_by_hand(path)
    with open_memory(path) as memory:
        (finding,) = memory.check()
        assert "an older omoide indexed them" in finding.what
        assert memory.repair() == 1
        assert memory.check() == []
        kept = memory.show(1, scope=SHOP)
        assert (kept.content, kept.topic, kept.tags) == ("zebra crossing", "animals", ("striped",))
        assert [hit.memory.number for hit in memory.recall("zebra", scope=SHOP).hits] == [1]
        assert memory.remember("okapi", scope=SHOP).memory.number == 2


def test_an_upgraded_database_has_the_schema_of_a_new_one(tmp_path, path):
    oldest = tmp_path / "oldest"
    oldest.mkdir()
    shutil.copy(MIGRATIONS / "0001_start.sql", oldest)
    SqliteStore(path, migrations=oldest).close()
    SqliteStore(path).close()
    SqliteStore(tmp_path / "new.db").close()
    assert schema(path) == schema(tmp_path / "new.db")


def schema(path):
    connection = apsw.Connection(str(path))
    found = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()
    connection.close()
    return found


def fill_by_hand(path):
    """A memory as the first schema keeps it: written here once and for all, not by the code of the day."""
    connection = apsw.Connection(str(path))
    for statement in (
        "INSERT INTO projects (number, path, folded, created_at) VALUES (1, 'shop', 'shop', 0)",
        "INSERT INTO actors VALUES (1, 'alice', 'owner', 'python')",
        """INSERT INTO memories (number, id, project, session, state, type, twin, kin, topic_given, length, pinned,
        confidence, relevance, reference_count, version, actor, created_at, updated_at, source, tags, examples, topic,
        content) VALUES (1, '019c2d3e-9d1b-76ef-94c5-88628e870c23', 1, '', 0, 'note', 0, 0, 1, 4, 0, 1.0, 0.5, 0, 1, 1,
        1000000, 1000000, 'python', '["striped"]', '[]', 'animals', 'zebra crossing')""",
        "INSERT INTO words (rowid, topic, tags, content) VALUES (2 << 32 | 1, 'anim', 'stripe', 'zebra cross')",
        "INSERT INTO areas VALUES (2, 1, 4)",
    ):
        connection.execute(statement)
    connection.close()


def test_a_failed_migration_changes_nothing_and_its_fixed_version_is_applied(path, open_memory, next_schema):
    with open_memory(path) as memory:
        kept = memory.remember("zebra", scope=SHOP).memory
    (step,) = next_schema.steps.glob("*_next.sql")
    good = step.read_text()
    step.write_text(good + "INSERT INTO nowhere VALUES (1);")
    with pytest.raises(StoreError, match=r"nowhere.*changed nothing"):
        SqliteStore(path, migrations=next_schema.steps)
    assert next_schema.of(path) == "old"
    with open_memory(path) as memory:  # the omoide of before still works
        assert memory.show(kept.id, scope=SHOP) == kept
    step.write_text(good)
    SqliteStore(path, migrations=next_schema.steps).close()
    assert next_schema.of(path) == "new"


def test_a_killed_migration_is_atomic_and_finished_by_the_next_open(tmp_path, open_memory, child, next_schema, long):
    seen = set()
    for n in range(40 if long else 4):
        path = tmp_path / f"memory{n}.db"
        with open_memory(path) as memory:
            memory.remember("zebra", scope=SHOP)
        migrating = child("migrate", path, next_schema.steps)
        migrating.stdout.readline()
        print(file=migrating.stdin, flush=True)
        while migrating.poll() is None and wal_size(path) < n * 50_000:
            pass  # until the log has grown so far: the step is half way, or over
        migrating.kill()
        migrating.communicate()
        seen.add(next_schema.of(path))
        store = SqliteStore(path, migrations=next_schema.steps)
        assert store.check() == []
        store.close()
        assert next_schema.of(path) == "new"
    assert seen <= {"old", "new"}


def wal_size(path):
    try:
        return path.with_name(path.name + "-wal").stat().st_size
    except FileNotFoundError:  # not yet, or no longer
        return 0


def test_two_processes_migrating_at_once_migrate_once(path, open_memory, child, next_schema):
    with open_memory(path) as memory:
        memory.remember("zebra", scope=SHOP)
    children = [child("migrate", path, next_schema.steps) for _ in range(4)]
    for process in children:
        process.stdout.readline()
    for process in children:
        print(file=process.stdin, flush=True)
    for process in children:
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    assert next_schema.of(path) == "new"
