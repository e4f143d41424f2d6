"""A database of hail-mary's Memory MCP, with the schema of its design, is imported with all that its rows say."""

import json
from contextlib import closing

import apsw
import pytest

SCHEMA = """
CREATE TABLE memories (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL CHECK(type IN ('tech', 'project-tech', 'domain')),
    topic TEXT NOT NULL,
    tags TEXT,
    content TEXT NOT NULL,
    examples TEXT,
    reference_count INTEGER DEFAULT 0,
    confidence REAL DEFAULT 1.0 CHECK(confidence >= 0 AND confidence <= 1),
    created_at INTEGER DEFAULT (unixepoch()),
    last_accessed INTEGER,
    source TEXT,
    deleted INTEGER DEFAULT 0
);
CREATE VIRTUAL TABLE memories_fts USING fts5(memory_id UNINDEXED, topic, tags, content, tokenize = 'porter unicode61');
CREATE INDEX idx_memories_type ON memories(type) WHERE deleted = 0;
CREATE TRIGGER memories_ai AFTER INSERT ON memories WHEN NEW.deleted = 0 BEGIN
    INSERT INTO memories_fts(memory_id, topic, tags, content) VALUES (NEW.id, NEW.topic, NEW.tags, NEW.content);
END;
"""
RUST = "7b1f4c1e-52a4-4f5b-9a8e-0d1c2b3a4f5e"
GONE = "9d2f4c1e-52a4-4f5b-9a8e-0d1c2b3a4f5e"
ROWS = [
    (RUST, "tech", "Rustの非同期プログラミング", "rust,async, tokio,futures", "Rustでは async/await を使って…",
     '["async fn main() {}", "tokio::spawn"]', 15, 0.95, 1737000000, 1737100000, "docs.rs", 0),
    ("8c2f4c1e-52a4-4f5b-9a8e-0d1c2b3a4f5e", "project-tech", "エラーハンドリング規約", None, "anyhow::Result を使用", None,
     12, 0.92, 1737000001, None, None, 0),
    ("not a uuid", "domain", "注文", "", "注文には明細がある", "[]", 0, 1.0, 1737000002, None, None, 0),
    (GONE, "tech", "古い知識", "old", "もう使わない", None, 3, 0.5, 1736000000, None, None, 1),
]  # several entries per line  # fmt: skip


@pytest.fixture
def database(place):
    """A database as the other program leaves it."""
    path = place / "data" / "memory.db"
    path.parent.mkdir()
    fill(path, ROWS)
    return path


def change(path, *statements):
    with closing(apsw.Connection(str(path))) as connection:
        for statement, *values in statements:
            connection.execute(statement, *values)


def fill(path, rows, mode="delete"):
    insert = f"INSERT INTO memories VALUES ({', '.join('?' * 12)})"
    change(path, (f"PRAGMA journal_mode={mode}",), (SCHEMA,), *((insert, row) for row in rows))


def test_every_row_is_imported_with_ids_tags_examples_counts_dates_and_deletion(run, database):
    assert run("import", "hail-mary", str(database), "--json").data["added"] == 4
    rust = run("show", RUST, "--json").data
    assert {name: rust[name] for name in ("type", "topic", "content", "tags", "examples", "source", "state")} == {
        "type": "tech",
        "topic": "Rustの非同期プログラミング",
        "content": "Rustでは async/await を使って…",
        "tags": ["rust", "async", "tokio", "futures"],
        "examples": ["async fn main() {}", "tokio::spawn"],
        "source": "docs.rs",
        "state": "active",
    }
    assert (rust["reference_count"], rust["confidence"], rust["created_at"]) == (15, 0.95, "2025-01-16T04:00:00Z")
    listed = {one["topic"]: one for one in run("list", "--all-states", "--json").data["memories"]}
    assert listed["古い知識"]["state"] == "forgotten"
    assert listed["エラーハンドリング規約"]["source"] == "hail-mary"
    assert {one["scope"]["project"] for one in listed.values()} == {"shop"}
    found = run("recall", "非同期", "--json").data["memories"]
    assert [one["id"] for one in found] == [RUST]
    assert "古い知識" not in run("recall", "もう使わない").out
    run("restore", GONE)
    assert "古い知識" in run("recall", "もう使わない").out


def test_the_last_access_is_kept(run, database):
    run("import", "hail-mary", str(database))
    listed = {one["id"]: one for one in run("list", "--json").data["memories"]}
    assert listed[RUST]["last_accessed_at"] == "2025-01-17T07:46:40Z"


def test_a_second_import_adds_only_what_is_new(run, database):
    run("import", "hail-mary", str(database))
    run("revise", RUST, "revised here")
    change(database, ("INSERT INTO memories (id, type, topic, content) VALUES ('new', 'tech', 'new', 'new')",))
    done = run("import", "hail-mary", str(database), "--json").data
    assert (done["added"], done["known"], done["replaced"]) == (1, 4, 0)
    assert run("show", RUST, "--json").data["content"] == "revised here"


def test_a_dry_run_stores_nothing(run, database):
    assert "would be: 4 added" in run("import", "hail-mary", str(database), "--dry-run").out
    assert run("list", "--all-states", "--json").data["total_count"] == 0


def test_the_database_is_left_as_it_is_also_one_with_a_log(run, place):
    path = place / "data" / "memory.db"
    path.parent.mkdir()
    fill(path, ROWS[:1], "wal")
    with closing(apsw.Connection(str(path))) as writer:
        writer.wal_autocheckpoint(0)
        writer.execute(f"INSERT INTO memories VALUES ({', '.join('?' * 12)})", ROWS[1])
        before = {file.name: (file.stat().st_mtime_ns, file.read_bytes()) for file in path.parent.iterdir()}
        assert set(before) == {"memory.db", "memory.db-wal", "memory.db-shm"}
        assert run("import", "hail-mary", str(path), "--json").data["added"] == 2, "what is only in the log, too"
        assert {file.name: (file.stat().st_mtime_ns, file.read_bytes()) for file in path.parent.iterdir()} == before


@pytest.mark.parametrize(("make", "message"), [
    (lambda path: path.write_text("hello"), "it is no SQLite database"),
    (lambda path: path.write_bytes(b""), "it is no SQLite database"),
    (lambda path: path.mkdir(), "cannot be read"),
    (lambda path: None, "cannot be read"),
    (lambda path: change(path, ("CREATE TABLE notes (a)",)), "it has no table memories"),
    (lambda path: change(path, ("CREATE TABLE memories (id, topic)",)), "without type, tags"),
    (lambda path: path.write_bytes(b"SQLite format 3\0" + b"x" * 5000), "cannot be read as a memory database of hail-mary"),
])  # several entries per line  # fmt: skip
def test_another_file_is_a_clear_error(run, place, make, message):
    path = place / "other.db"
    make(path)
    done = run("import", "hail-mary", str(path))
    assert done.code == 2
    assert message in done.err
    assert str(path) in done.err


@pytest.mark.parametrize(("column", "value", "message"), [
    ("examples", "not json", "examples must be a JSON list of texts"),
    ("examples", "[1]", "examples must be a JSON list of texts"),
    ("created_at", "yesterday", "created_at must be a time in seconds since 1970"),
    ("content", "", "the content is empty"),
    ("reference_count", -1, "reference_count"),
])  # several entries per line  # fmt: skip
def test_a_row_that_cannot_be_stored_is_named_and_nothing_is_imported(run, database, column, value, message):
    change(database, (f"UPDATE memories SET {column} = ? WHERE rowid = 2", (value,)))
    done = run("import", "hail-mary", str(database))
    assert done.code == 2
    assert f"{database}, row 2: " in done.err
    assert message in done.err
    assert run("list", "--all-states", "--json").data["total_count"] == 0


def test_the_store_itself_is_refused(run, place):
    run("remember", "one")
    done = run("import", "hail-mary", str(place / "memory.db"))
    assert done.code == 2
    assert "is the store itself" in done.err


def test_an_import_with_options_reads_the_same_rows(run, database):
    done = run("import", "hail-mary", str(database), "--global")
    assert (done.code, done.out) == (0, "4 added, 0 replaced, 0 known\n")
    exported = json.loads(run("export", "--global").out)["memories"]
    assert len(exported) == 4
