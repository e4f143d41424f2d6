"""No text that a caller can store holds a secret, on any way in; and what an older omoide let in is found and redacted.

No real-looking secret stands in this file: each is put together when the test runs.
"""

import json
import subprocess
import warnings

import msgspec
import pytest

import omoide
from omoide import Actor, Draft, NotAllowed, Role, Scope, SecretFound, State, Task
from omoide.model import Choice, FileState, IdempotencyRecord, Memory, Mirror, Project, ProjectPlace, SyncState
from omoide.service import versioning
from omoide.storage.base import SyncUpdate

SHOP = Scope.project("shop")
TOKEN = "ghp" + "_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0bC3dE6"
PASSWORD = "Tanuki" + "#9981"

# What `remember` can store, each with a secret in it.
DRAFTS = {
    "content": Draft(f"the token is {TOKEN}", SHOP),
    "a password in a sentence": Draft(f"本番のパスワードは {PASSWORD} です", SHOP),
    "topic": Draft("x", SHOP, topic=TOKEN),
    "tag": Draft("x", SHOP, tags=["a", TOKEN]),
    "example": Draft("x", SHOP, examples=["a", f"curl -u ci:{PASSWORD} https://ci.local"]),
    "key": Draft("x", SHOP, key=TOKEN),
    "source": Draft("x", SHOP, source=TOKEN),
    "run": Draft("x", SHOP, source_run_id=TOKEN),
    "original prompt": Draft("x", SHOP, original_prompt=f"remember {TOKEN}"),
    "project": Draft("x", Scope.project(TOKEN)),
    "category": Draft("x", Scope.project(f"{TOKEN}/shop")),
    "session": Draft("x", Scope.session("shop", TOKEN)),
}
NAMES = ("key", "project", "category", "session")


def remains(directory, words=(TOKEN, PASSWORD)):
    """Which files of the directory still hold the words."""
    files = [file for file in directory.rglob("*") if file.is_file() and file.suffix != ".md"]
    return {file.name for file in files for word in words if word.encode() in file.read_bytes()}


@pytest.fixture
def path(tmp_path):
    (tmp_path / "store").mkdir()
    return tmp_path / "store" / "memory.db"


@pytest.fixture
def memory(path, open_memory):
    return open_memory(path)


@pytest.mark.parametrize("draft", DRAFTS.values(), ids=DRAFTS)
def test_no_field_is_stored_with_a_secret_by_any_interface(draft, memory, path):
    plain = memory.remember("plain", scope=SHOP).memory
    for keep in (
        lambda: memory.remember(draft),
        lambda: memory.remember_many([Draft("fine", SHOP), draft]),
        lambda: memory.import_drafts([draft]),
        lambda: memory.import_memories([draft]),
        lambda: memory.import_memories([whole(plain, draft)]),
    ):
        with pytest.raises(SecretFound) as refusal:
            keep()
        assert TOKEN not in str(refusal.value)
        assert PASSWORD not in str(refusal.value)
    assert [one.content for one, _ in memory.everything()] == ["plain"]
    memory._store.scrub()
    assert remains(path.parent) == set()


@pytest.mark.parametrize("draft", DRAFTS.values(), ids=DRAFTS)
def test_where_secrets_are_redacted_names_are_still_refused(draft, path, open_memory, request):
    redacting = open_memory(path, secrets="redact")
    if request.node.callspec.id in NAMES:
        with pytest.raises(SecretFound, match="choose a name without it"):
            redacting.remember(draft)
    else:
        redacting.remember(draft)
    redacting._store.scrub()
    assert remains(path.parent) == set()


def whole(plain, draft):
    """A memory as another store would hand it over."""
    return msgspec.structs.replace(
        plain, id="0" * 8 + plain.id[8:], number=9, scope=draft.scope, content=draft.content, topic=draft.topic or "t",
        topic_given=True, tags=tuple(draft.tags), examples=tuple(draft.examples), key=draft.key, source=draft.source or "x",
        source_run_id=draft.source_run_id, original_prompt=draft.original_prompt,
    )  # several entries per line  # fmt: skip


REVISIONS = {
    "content": {"content": TOKEN}, "topic": {"topic": TOKEN}, "tags": {"tags": [TOKEN]}, "examples": {"examples": [TOKEN]},
    "key": {"key": TOKEN}, "source": {"source": TOKEN}, "run": {"source_run_id": TOKEN},
    "original prompt": {"original_prompt": TOKEN},
}  # several entries per line  # fmt: skip


@pytest.mark.parametrize("fields", REVISIONS.values(), ids=REVISIONS)
def test_no_field_is_revised_to_a_secret(fields, memory):
    memory.remember("plain", scope=SHOP)
    with pytest.raises(SecretFound):
        memory.revise(1, scope=SHOP, **fields)
    assert memory.show(1, scope=SHOP).version == 1


def test_names_of_projects_sessions_agents_and_places_are_checked(memory, path, tmp_path, open_memory):
    work_tree = tmp_path / "work tree"
    subprocess.run(["git", "init", "-q", work_tree], check=True)
    for make in (
        lambda: memory.create_project(TOKEN),
        lambda: memory.create_project("new", description=f"token {TOKEN}"),
        lambda: memory.create_project("new", root=tmp_path / TOKEN),
        lambda: memory.describe_project("shop", f"password is {PASSWORD}"),
        lambda: memory.claim(tmp_path / TOKEN),
        lambda: memory.start_session(scope=Scope.session("shop", TOKEN)),
        lambda: memory.start_session(scope=Scope.session(TOKEN, "monday")),
        lambda: memory.start_session(scope=Scope.session("shop", "monday"), source=TOKEN),
        lambda: memory.acting_as(TOKEN),
        lambda: omoide.open(path, actor=Actor(TOKEN)),
        lambda: memory.mirror(tmp_path / TOKEN / "memories.md", scope=SHOP),
        lambda: memory.mirror(tmp_path / "memories.md", scope=Scope.project(TOKEN)),
        lambda: memory.ensure_list_mirror(tmp_path / f"{TOKEN}.md", scope=SHOP),
        lambda: memory.compose(Task(title="x"), scope=Scope.project(TOKEN), record=True),
        lambda: memory.compose(Task(title="x"), scope=Scope.session("shop", TOKEN), record=True),
        lambda: memory.record_prompt("x", Task(title="x"), [], scope=Scope.project(TOKEN), layout="list"),
        lambda: memory.record_prompt("x", Task(title="x"), [], scope=Scope.session("shop", TOKEN), layout="list"),
        lambda: memory.record_work_tree(None, work_tree, scope=Scope.project(TOKEN)),
        lambda: memory.learn_corrections(work_tree, scope=Scope.session("shop", TOKEN)),
        lambda: memory.begin_turn(work_tree, session="monday", scope=Scope.project(TOKEN)),
        lambda: memory.end_turn(work_tree, session="monday", scope=Scope.project(TOKEN)),
    ):
        with pytest.raises(SecretFound) as refusal:
            make()
        assert TOKEN not in str(refusal.value)
    running = open_memory(path, run=TOKEN)
    with pytest.raises(SecretFound):
        running.remember("x", scope=SHOP)
    assert memory.record_work_tree(TOKEN, work_tree, scope=SHOP).run == "[redacted: GitHub token]"
    assert remains(path.parent) == set()


def test_a_secret_anywhere_in_a_file_is_not_imported(memory, path, tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    (files / f"{TOKEN}.md").write_text("---\nkey: named\ntopic: named\n---\n\nin a file whose name is a secret\n")
    (files / "text.md").write_text(f"---\nkey: text\ntopic: text\n---\n\nuse {TOKEN}\n")
    (files / "tag.md").write_text(f"---\nkey: tag\ntopic: tag\ntags: [{TOKEN}]\n---\n\nfine\n")
    (files / "key.md").write_text(f"---\ntopic: key\nkey: {TOKEN}\n---\n\nfine\n")
    (files / "fine.md").write_text("---\nkey: fine\ntopic: fine\n---\n\nnothing here\n")
    memory.mirror(files, "entries", scope=SHOP)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [one.topic for one in memory.list(scope=SHOP).memories] == ["fine"]
        assert [one.topic for one in memory.list(scope=SHOP).memories] == ["fine"]
    messages = "\n".join(str(one.message) for one in caught)
    assert "the name of the file seems to hold a secret" in messages
    assert {file.name for file in files.glob("*.md")} >= {f"{TOKEN}.md", "text.md", "tag.md", "key.md", "fine.md"}
    memory._store.scrub()
    assert remains(path.parent) == set()


# what is stored already


def store_unchecked(memory: omoide.service.Service, files) -> None:
    """Puts secrets wherever an older omoide let them in."""
    at, actor = memory._clock(), Actor(f"agent {TOKEN}")
    plain = memory.remember("plain", scope=SHOP).memory

    def keep(tx, old, **fields) -> Memory:
        new = msgspec.structs.replace(plain, id=f"{old:08d}{plain.id[8:]}", number=0, **fields)
        return tx.add([(new, versioning.memory_fingerprint(new), versioning.build_index_entry(new))], actor)[0]

    with memory._store.write() as tx:
        keep(tx, 2, content=f"pinned note: {TOKEN}", pinned=True, state=State.ACTIVE)
        keep(tx, 3, content="x", topic=f"password: {PASSWORD}", topic_given=True, state=State.ARCHIVED)
        keep(tx, 4, content="y", tags=("a", TOKEN), examples=("b", f"API_KEY={TOKEN}"), state=State.FORGOTTEN)
        keep(tx, 5, content="z", key=TOKEN, source=TOKEN, source_run_id=TOKEN, state=State.INACTIVE)
        old = keep(tx, 6, content=f"from {TOKEN}", scope=Scope.session("shop", f"s-{TOKEN}"))
        new = versioning.next_version(old, msgspec.structs.replace(old, content="clean now"), at)
        tx.change([(old, new, versioning.memory_fingerprint(new), versioning.build_index_entry(new))], actor)
        keep(tx, 7, content="in a project of that name", scope=Scope(f"cat/{TOKEN}"))
        tx.put_project(Project("shop", f"token {TOKEN}", (ProjectPlace(f"/srv/{TOKEN}"),), at))
        tx.add_session(Scope.session("shop", "monday"), TOKEN, at)
        tx.add_event("started", actor, at, Scope("shop"), {"session": TOKEN})
        tx.put_mirror(Mirror(0, SHOP, f"/srv/{TOKEN}", "memories.md", "memories", Choice.OWN, at))
        mirror = tx.put_mirror(Mirror(0, SHOP, str(files), "", "entries", Choice.OWN, at)).number
        states = [SyncState(2, f"{TOKEN}.md", "", 1, "d"), SyncState(3, "fine.md", "", 1, "d")]
        tx.record_sync(mirror, SyncUpdate(states, files=[FileState(f"{TOKEN}.md", 1, 1, 1, "d", settled=True)]))


@pytest.fixture
def files(tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    return files


def test_a_scan_finds_every_place_and_shows_no_secret(memory, files):
    store_unchecked(memory, files)
    scan = memory.scan()
    assert not scan.fixed
    places = {(one.number, one.version, one.field) for one in scan.found}
    assert places == {
        (2, 1, "content"), (3, 1, "topic"), (4, 1, "tags"), (4, 1, "examples"), (5, 1, "key"), (5, 1, "source"),
        (5, 1, "source_run_id"), (6, 1, "content"), (None, None, "project"), (None, None, "description"),
        (None, None, "directory"), (None, None, "session"), (None, None, "session source"), (None, None, "actor"),
        (None, None, "event"), (None, None, "mirror"), (None, None, "file"),
    }  # several entries per line  # fmt: skip
    assert {one.kind for one in scan.found} == {"GitHub token", "password"}
    text = repr(scan.found)
    assert TOKEN[:8] not in text
    assert PASSWORD[:4] not in text
    assert [str(files / "fine.md")] == [file for file in scan.files if TOKEN not in file]
    assert memory.scan().found == scan.found, "looking changes nothing"


def test_a_fix_removes_every_byte_of_a_secret_and_nothing_else(memory, path, files, open_memory):
    store_unchecked(memory, files)
    assert remains(path.parent) != set()
    scan = memory.scan(fix=True)
    assert scan.fixed
    assert scan.found
    assert remains(path.parent) == set()
    assert memory.scan().found == []
    kept = {one.number: one for one, _ in memory.everything()}
    assert kept[1].content == "plain"
    assert kept[1].version == 1
    assert kept[2].content == "pinned note: [redacted: GitHub token]"
    assert kept[2].pinned
    assert (kept[3].topic, kept[3].state) == ("password: [redacted: password]", State.ARCHIVED)
    assert kept[4].tags == ("a", "[redacted: GitHub token]")
    assert kept[4].state is State.FORGOTTEN
    assert (kept[5].key, kept[5].source) == (None, "[redacted: GitHub token]")
    assert (kept[6].content, kept[6].version, kept[6].scope) == ("clean now", 2, Scope.session("shop", "redacted"))
    past = memory.history(6, scope=kept[6].scope)[0].memory
    assert (past.content, past.scope) == ("from [redacted: GitHub token]", kept[6].scope)
    assert kept[7].scope == Scope.project("cat/redacted")
    assert memory.project("shop").overview.project.description == "token [redacted: GitHub token]"
    assert memory.project("shop").overview.project.root is None
    assert [one.place for one in memory.mirrors()] == [str(files)]
    assert memory.check() == []
    hits = memory.recall("pinned note", scope=SHOP).hits
    assert [hit.memory.number for hit in hits][:1] == [2]
    assert memory.recall(TOKEN, scope=SHOP).hits == []
    actions = [event.action for event in memory.events(scope=SHOP, limit=50)]
    assert actions.count("redacted") == 5


def test_a_fix_reaches_the_mirrored_file_as_any_other_change_does(memory, path, tmp_path):
    file = tmp_path / "memories.md"
    memory.mirror(file, scope=SHOP)
    kept = memory.remember("plain text", scope=SHOP).memory
    leaked = msgspec.structs.replace(kept, content=f"use {TOKEN}", version=2)
    with memory._store.write() as tx:
        change = (kept, leaked, versioning.memory_fingerprint(leaked), versioning.build_index_entry(leaked))
        tx.change([change], Actor("old"))
        tx.add_event("revised", Actor("old"), memory._clock(), leaked, {})
    memory.list(scope=SHOP)
    assert TOKEN in file.read_text()
    scan = memory.scan(fix=True)
    assert list(scan.files) == [str(file)]
    assert TOKEN not in file.read_text()
    assert "use [redacted: GitHub token]" in file.read_text()


def test_a_fix_reaches_names_that_only_runs_mirrors_and_repeated_requests_have(memory, path, tmp_path):
    run = memory.compose(Task(title="x"), scope=SHOP, record=True).run
    at, session = memory._clock(), Scope.session("shop", TOKEN)
    with memory._store.write() as tx:
        tx.add_run(msgspec.structs.replace(run, id="second", number=0, scope=session))
        tx.put_mirror(Mirror(0, SHOP, str(tmp_path), "", "entries", Choice.OWN, at, adopt=(TOKEN,)))
        result = {"session": TOKEN, "path": "shop"}
        tx.put_idempotency_record(IdempotencyRecord("shop", "key", "digest", result, at), drop_before=at)
    found = memory.scan().found
    assert {one.field for one in found} == {"session", "mirror", "repeated request"}
    memory.scan(fix=True)
    assert remains(path.parent) == set()
    assert [one.scope.name for one in memory.runs(scope=SHOP)] == ["redacted", ""]
    assert memory.mirrors() == []


def test_a_worker_may_not_scan(path, open_memory):
    worker = open_memory(path, actor=Actor("agent", Role.WORKER))
    with pytest.raises(NotAllowed, match="scan"):
        worker.scan()


def test_scan_names_the_places_and_exits_with_1_until_fixed(run, place):
    assert run("scan").code == 0
    run("remember", "plain", "--key", "k")
    with omoide.open(place / "memory.db") as memory, memory._store.write() as tx:
        old = tx.memory(1)
        new = msgspec.structs.replace(old, content=f"use {TOKEN}", version=2)
        tx.change([(old, new, versioning.memory_fingerprint(new), versioning.build_index_entry(new))], Actor("old"))
    done = run("scan")
    assert done.code == 1
    assert "#1" in done.out
    assert "GitHub token" in done.out
    assert "omoide scan --fix" in done.err
    assert TOKEN[:8] not in done.out + done.err
    done = run("scan", "--json")
    assert done.code == 1
    assert done.data == {
        "fixed": False,
        "total_count": 1,
        "found": [{"kind": "GitHub token", "field": "content", "preview": "ghp_…", "number": 1, "version": 2}],
        "files": [],
    }
    done = run("scan", "--fix", "--json")
    assert (done.code, done.data["fixed"], done.data["total_count"]) == (0, True, 1)
    assert run("scan").code == 0
    assert json.loads(run("show", "1", "--json").out)["content"] == "use [redacted: GitHub token]"
    assert remains(place) == set()


def test_a_scan_of_a_worker_is_refused_by_the_command(run, monkeypatch):
    run("remember", "plain")
    monkeypatch.setenv("OMOIDE_ROLE", "worker")
    assert run("scan").code == 2
