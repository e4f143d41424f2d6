"""Migrations: databases of every earlier schema open with all their data; a migration is done whole, once, or not at all."""

import io
import json
import shutil
from datetime import UTC, datetime

import apsw
import pytest

from omoide.errors import StoreError, StoreFull
from omoide.model import LinkKind, MemoryUse, Scope, State
from omoide.storage.sqlite.store import MIGRATIONS, SqliteStore
from omoide.transfer.export import export
from omoide.transfer.import_ import import_file
from omoide.transfer.selection import TransferSelection

SHOP, MONDAY = Scope.project("shop"), Scope.session("shop", "monday")
STEPS = sorted(MIGRATIONS.glob("[0-9]*.sql"))
AT = datetime(2026, 2, 5, 10, tzinfo=UTC)
ZEBRA = "The zebra crossing in front of the shop was painted again in March"
JAPANESE = "配送は火曜日と金曜日だけです"
ID = "019c2d3e-9d1b-76ef-94c5-88628e870c2{}"
PAST = {
    "scope": {"path": "shop", "name": ""},
    "key": None,
    "type": "note",
    "topic": "animals",
    "topic_given": True,
    "content": "The zebra crossing is new",
    "tags": [],
    "examples": [],
    "source": "python",
    "confidence": 1.0,
    "relevance": 0.5,
    "pinned": False,
    "state": "active",
    "created_at": "2026-02-05T10:00:00Z",
    "updated_at": "2026-02-05T10:00:00Z",
    "expires_at": None,
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def database(tmp_path, path):
    """Creates a database of an earlier schema, with content."""

    def create(schema):
        steps = tmp_path / f"steps {schema}"
        steps.mkdir()
        for step in STEPS[:schema]:
            shutil.copy(step, steps)
        SqliteStore(path, migrations=steps).close()
        connection = apsw.Connection(str(path))
        for statement, *values in rows_of(schema, tmp_path):
            connection.execute(statement, values)
        connection.close()
        return path

    return create


def rows_of(schema, directory):
    """Rows as the omoide of that schema wrote them: spelled out here, not written by the present code."""
    at = 1_770_285_600_000_000  # AT
    columns = (
        "number, id, project, session, state, type, key, twin, kin, topic_given, length, pinned, confidence, relevance,"
        " reference_count, version, actor, created_at, updated_at, source, tags, examples, topic, content"
    )
    texts = {
        1: ('["striped"]', '["a zebra"]', "animals", ZEBRA),
        2: ("[]", "[]", JAPANESE, JAPANESE),
        3: ("[]", "[]", "okapi", "okapi"),
    }
    memories = [
        (1, ID.format(1), 1, "", 0, "note", None, 11, 5, 1, 9, 1, 1.0, 0.5, 2, 2, 1, at, at + 1, "python", *texts[1]),
        (2, ID.format(2), 1, "monday", 0, "decision", None, 12, 5, 0, 9, 0, 0.9, 0.5, 0, 1, 1, at, at, "python", *texts[2]),
        (3, ID.format(3), 0, "", 3, "note", "gone", 13, 5, 0, 1, 0, 1.0, 0.5, 0, 1, 1, at, at, "python", *texts[3]),
    ]
    event = "number, at, deed, actor, project, memory, detail"
    tables = ("meetings", "disputes")
    if schema >= 10:
        columns = columns.replace("twin, kin", "fingerprint, blocking_key")
        event = event.replace("deed", "action")
        tables = ("sync_states", "sync_conflicts")
    if schema < 11:
        yield "INSERT INTO projects VALUES (1, 'shop', 'shop', 'sells', '/shop', ?)", at
    else:
        yield "INSERT INTO projects VALUES (1, 'shop', 'shop', 'sells', ?)", at
        yield ("INSERT INTO places VALUES ('/shop', 1, '', 0)",)
    yield ("INSERT INTO actors VALUES (1, 'alice', 'owner', 'python')",)
    for memory in memories:
        yield f"INSERT INTO memories ({columns}) VALUES ({', '.join('?' * len(memory))})", *memory
    yield "INSERT INTO versions VALUES (1, 1, 1, ?)", json.dumps(PAST)
    yield "INSERT INTO accesses VALUES (1, ?)", at
    yield "INSERT INTO links VALUES (1, 'relates', 2, ?)", at
    for number, (what, memory) in enumerate((("remembered", 1), ("remembered", 2), ("revised", 1), ("forgotten", 3)), 1):
        yield f"INSERT INTO events ({event}) VALUES (?, ?, ?, 1, 1, ?, NULL)", number, at + number, what, memory
    yield ("INSERT INTO words (rowid, topic, tags, content) VALUES (2 << 32 | 1, 'animals', 'striped', 'zebra crossing')",)
    yield ("INSERT INTO words (rowid, topic, tags, content) VALUES (2 << 32 | 2, '', '', '配送')",)
    yield ("INSERT INTO areas VALUES (2, 2, 18)",)
    if schema >= 2:
        yield "INSERT INTO upkeep VALUES ('retire', ?)", at
        yield "INSERT INTO upkeep VALUES (?, ?)", "retire: told" if schema < 25 else "retire: reported", at
    if schema >= 3:
        mirror = (1, 1, "", str(directory), "memories.md", "memories", "own", at, 0)
        columns = "number, project, session, place, file, format, choice, created_at, seen"
        yield f"INSERT INTO mirrors ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *mirror
        tree = (2, 1, "", str(directory / "not mounted"), "" if schema < 19 else "shop", "tree", "all", at, 4)
        yield f"INSERT INTO mirrors ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *tree
        yield (f"INSERT INTO {tables[0]} (mirror, memory, file, entry, version, digest) VALUES (1, 1, '', '', 2, '')",)
        yield f"INSERT INTO {tables[1]} VALUES (1, 1, ?, 1, 2, 'database')", at
    if schema >= 4:
        yield "INSERT INTO sessions VALUES (1, 'monday', 'monday', 'slack', ?)", at
    if schema >= 5:
        yield ("INSERT INTO models VALUES (1, 'test', 64)",)
        table = "signs" if schema < 25 else "sign_bits"
        yield f"INSERT INTO {table} (memory, area, model, bits) VALUES (1, 2, 1, ?)", bytes(8)
        yield f"INSERT INTO vectors VALUES ({'1, 0' if schema == 5 else '1, 1'}, 1, ?)", bytes(64)
    if schema >= 7:
        yield ("UPDATE memories SET source_run_id = 'run 7' WHERE number = 1",)
    if schema >= 9:
        yield ("INSERT INTO actors VALUES (2, 'bob', 'worker', 'mcp')",)
        yield ("UPDATE memories SET author = 2 WHERE number = 2",)
    if schema >= 14:
        yield ("UPDATE memories SET original_prompt = '覚えて' WHERE number = 2",)
    yield from rows_beside_memories(schema, at)


def rows_beside_memories(schema, at):
    """What is known of calls, files, runs and work trees."""
    if schema >= 16:
        yield "INSERT INTO llm_calls VALUES ('call-1', ?, 'learn', 'small', 'answered', 10, 5, NULL, 1.5)", at
    if schema >= 17:
        yield ("UPDATE sync_states SET held = 'older'",)
        yield ("UPDATE mirrors SET adopt = 'api-*' WHERE number = 1",)
        yield "INSERT INTO file_versions VALUES (1, 'memories.md', ?, 'abc')", bytes(8)
    if schema >= 18:
        yield """INSERT INTO idempotency VALUES (1, 'k', 'd', '{"memory": 1}', ?)""", at
    if schema >= 20:
        receipt = {"sha256": "ab", "bytes": 1, "tokens": 1, "format": 1, "memories": [], "left_out": []}
        columns = "project, number, id, session, actor, started_at, task, receipt, outcome, outcome_event, tick"
        outcome = {"result": "success", "at": "2026-02-05T10:00:00Z", "by": "alice"}
        texts = (json.dumps({"title": "直す"}), json.dumps(receipt), json.dumps(outcome))
        yield f"INSERT INTO runs ({columns}) VALUES (1, 1, 'build-1', 'monday', 1, ?, ?, ?, ?, 3, 1)", at, *texts
        yield ("INSERT INTO run_memories VALUES (1, 1, 2, 1.0, 3.0)",)
        yield ("INSERT INTO learned_relevances VALUES (2, 0.4, 0.5, 3, 0, 3.0, 0.0, 1, 1)",)
    if schema >= 21:
        record = {"state": {"root": "/srv/shop", "head": "ab"}, "at": "2026-02-05T10:00:00Z", "run": "build-1"}
        yield "INSERT INTO work_trees VALUES (1, '/srv/shop', ?, ?)", at, json.dumps(record)
    if schema >= 22:
        call = "1, ?, 'claude-code', 'prompt', 'talk', 'd', 0, 'done', 0.1, 1, 20, ''"
        yield f"INSERT INTO hook_calls VALUES ({call})", at
        yield ("INSERT INTO injections (call, memory, version, tokens) VALUES (1, 1, 2, 20)",)
        columns = "at, client, session, project, directory, transcript, size, prompt, last_message, work_tree"
        item = ("claude-code", "talk", "shop", "/srv/shop", "/srv/talk.jsonl", 9, "直して", "done", "")
        yield f"INSERT INTO inbox ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", at, *item
        yield "INSERT INTO transcripts VALUES ('/srv/talk.jsonl', 5, 1, ?)", at
    if schema >= 23:
        yield ("UPDATE injections SET use = 'contradicted'",)
    if schema >= 24:
        yield ("UPDATE injections SET is_clear = 1",)


@pytest.mark.parametrize("schema", range(1, len(STEPS) + 1))
def test_a_database_of_every_schema_opens_with_all_its_data(database, open_memory, schema):
    with open_memory(database(schema)) as memory:
        assert memory.check() == []
        zebra, japanese = memory.show(1, scope=SHOP), memory.show(2, scope=SHOP)
        assert (zebra.content, zebra.topic, zebra.tags, zebra.examples) == (ZEBRA, "animals", ("striped",), ("a zebra",))
        assert (zebra.pinned, zebra.reference_count, zebra.version, zebra.author.name) == (True, 2, 2, "alice")
        assert zebra.source_run_id == ("run 7" if schema >= 7 else None)
        assert (japanese.scope, japanese.type, japanese.confidence) == (MONDAY, "decision", 0.9)
        assert japanese.author.name == ("bob" if schema >= 9 else "alice")
        assert japanese.original_prompt == ("覚えて" if schema >= 14 else None)
        runs = memory.runs(scope=SHOP, result="success", memory=None)
        assert [(run.id, run.task.title, run.tick) for run in runs] == ([("build-1", "直す", 1)] if schema >= 20 else [])
        assert memory.list(scope=SHOP).total == 2
        assert [hit.memory.number for hit in memory.recall("zebra crossing", scope=SHOP).hits] == [1]
        assert [hit.memory.number for hit in memory.recall("配送", scope=SHOP).hits] == [2]
        assert [version.memory.content for version in memory.history(1, scope=SHOP)] == [PAST["content"], ZEBRA]
        assert [link.kind for link in memory.links(1, scope=SHOP)] == [LinkKind.RELATES]
        assert [event.action for event in memory.events(scope=SHOP)][-4:] == [
            "forgotten",
            "revised",
            "remembered",
            "remembered",
        ]
        assert [session.scope for session in memory.sessions(scope=SHOP)] == [MONDAY]
        (project,) = memory.projects()
        assert (project.path, project.description, project.places[0].directory) == ("shop", "sells", "/shop")
        assert len(memory.conflicts()) == (1 if schema >= 3 else 0)
        assert [mirror.file for mirror in memory.mirrors()] == (["memories.md", "shop"] if schema >= 3 else [])
        assert memory.restore(3, scope=Scope()).state is State.ACTIVE


@pytest.mark.parametrize("schema", range(3, len(STEPS) + 1))
def test_what_is_known_of_files_calls_and_work_trees_is_there_after_every_migration(database, open_memory, schema):
    with open_memory(database(schema)) as memory, memory._store.read() as tx:
        (sync_state,) = tx.sync_states(1)
        assert sync_state.held == ("older" if schema >= 17 else "")
        mirror = tx.mirrors()[0]
        assert mirror.adopt == (("api-*",) if schema >= 17 else ("*",))
        assert [each.digests for each in tx.file_versions(1, ["memories.md"])] == ([("abc",)] if schema >= 17 else [])
        assert [(call.id, call.output_tokens) for call in tx.llm_calls(AT)] == ([("call-1", 5)] if schema >= 16 else [])
        request = tx.idempotency_record("shop", "k")
        assert (request and request.result) == ({"memory": 1} if schema >= 18 else None)
        tree = tx.work_tree(SHOP, "/srv/shop")
        assert (tree and (tree.run, tree.state.head)) == (("build-1", "ab") if schema >= 21 else None)
        assert [(call.client, call.tokens) for call in tx.hook_calls(9)] == ([("claude-code", 20)] if schema >= 22 else [])
        use = MemoryUse.CONTRADICTED if schema >= 23 else None
        injections = [(one.memory, one.use, one.is_clear) for one in tx.injections("talk", AT)]
        assert injections == ([(1, use, schema >= 24)] if schema >= 22 else [])
        assert [item.prompt for item in tx.inbox()] == (["直して"] if schema >= 22 else [])
        assert tx.transcript_position("/srv/talk.jsonl").bytes == (5 if schema >= 22 else 0)
        assert tx.last_run("retire: reported") == AT
        model = tx.model("test")
        assert (model and tx.vectors(model.number, [1])) == ([(1, bytes(64))] if schema >= 5 else None)
        assert [one.number for one in tx.sign_bits(1, 2, 0)] == ([1] if schema >= 5 else [])


@pytest.mark.parametrize("schema", range(1, len(STEPS) + 1))
def test_a_database_of_every_schema_is_written_and_exported(tmp_path, database, open_memory, schema):
    exported = io.BytesIO()
    with open_memory(database(schema)) as memory:
        revised = memory.revise(1, scope=SHOP, content="The zebra crossing is gone")
        assert revised.version == 3
        found = memory.recall("gone", scope=SHOP).hits[0].memory  # its access time may be written before it is shown
        assert (found.id, found.version, found.content) == (revised.id, 3, "The zebra crossing is gone")
        assert memory.show(1, scope=SHOP).content == found.content
        assert memory.remember("okapi", scope=SHOP).memory.number == 4
        assert export(memory, exported, "jsonl", TransferSelection(), lambda _: None) == 4
        assert memory.check() == []
    exported.seek(0)
    with open_memory(tmp_path / "copy.db") as copy:
        chosen = TransferSelection()
        import_file(copy, exported, "jsonl", name="x", here=SHOP, chosen=chosen, dry_run=False, tick=lambda _: None)
        assert copy.show(1, scope=SHOP).content == revised.content
        assert copy.show(2, scope=SHOP).content == JAPANESE


def test_an_upgraded_database_has_the_schema_of_a_new_one(tmp_path, database):
    path = database(1)
    SqliteStore(path).close()
    SqliteStore(tmp_path / "new.db").close()
    assert schema_of(path) == schema_of(tmp_path / "new.db")


def schema_of(path):
    connection = apsw.Connection(str(path))
    found = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()
    connection.close()
    return found


# the version of the index

NEAR = "The zebra crossing in front of the shop was painted again in May"


def test_near_duplicates_of_memories_that_an_older_omoide_indexed_are_found(database, open_memory):
    with open_memory(database(10)) as memory:
        assert memory.remember(NEAR, scope=SHOP).similar_count == 1


def test_an_index_is_rebuilt_once(database, open_memory):
    path = database(10)
    marks = []
    for _ in range(3):
        with open_memory(path) as memory, memory._store.read() as tx:
            marks.append(tx.mark().rebuild)
    assert marks[0] > 0
    assert set(marks) == {marks[0]}


def test_a_new_database_needs_no_rebuild(path, open_memory):
    with open_memory(path) as memory, memory._store.read() as tx:
        assert tx.mark().rebuild == 0


def test_a_process_that_rebuilds_the_index_keeps_no_other_from_using_the_old_one(database, open_memory):
    path = database(10)
    rebuilding = SqliteStore(path)
    with rebuilding.task_lock("rebuild"), open_memory(path) as memory:
        assert memory.recall("zebra crossing", scope=SHOP).hits[0].memory.number == 1
        (problem,) = memory.check()
        assert "an older omoide indexed them" in problem.what
    rebuilding.close()
    with open_memory(path) as memory:
        assert memory.check() == []


def test_an_outdated_index_on_a_full_disk_is_used_as_it_is(database, disk, ordinary_disk, open_memory):
    path = database(10)
    SqliteStore(path).close()  # the newest schema
    disk.room = 8_000
    with open_memory(path) as memory:
        assert memory._store.is_index_outdated()
        assert memory.recall("zebra crossing", scope=SHOP).hits[0].memory.number == 1
        with pytest.raises(StoreFull):
            memory.remember("much " * 10_000, scope=SHOP)
        disk.room = None
    ordinary_disk()
    with open_memory(path) as memory:
        assert memory.check() == []


# migrations that fail, die or run at the same time


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
