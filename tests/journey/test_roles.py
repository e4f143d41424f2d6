"""Who may do what: every verb of the service, in every role and layer, as the one table says."""

import inspect
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

import omoide
from omoide import Actor, Draft, InvalidInput, Layer, NotAllowed, NotFound, Role, Scope, Task
from omoide.errors import Unreadable
from omoide.guard import permissions
from omoide.learning.transcript import Speaker, Turn
from omoide.model import Choice, HookCall, HookEvent, Mirror, Project, Side, SyncConflict
from omoide.service import Service
from omoide.storage.base import SyncUpdate

SHOP, BANK = Scope.project("shop"), Scope.project("bank")
SCOPES = {
    Layer.EVERYWHERE: Scope.everywhere(),
    Layer.PROJECT: SHOP,
    Layer.SESSION: Scope.session("shop", "monday"),
}
# They change nothing and tell nothing of memories: another actor with no more rights, another source, a rest, the end,
# where the file is, who follows it, which types there are, and the settings.
NO_VERBS = {"acting_as", "with_source", "with_idempotency_key", "flush", "close", "close_quickly"}
NO_VERBS |= {"location", "hooks", "types", "settings"}
VERBS = {name: getattr(Service, name) for name in dir(Service) if not name.startswith("_") and name not in NO_VERBS}
NAMING = [name for name, verb in VERBS.items() if {"ref", "refs"} & set(inspect.signature(verb).parameters)]


def call(memory, verb, scope, directory, *, ref, other):
    """The verb with a value for each parameter that it needs, by the parameter's name."""
    values = {
        "ref": ref, "refs": [ref], "other": other, "kind": "relates", "scope": scope, "content": "newer", "text": "zebra",
        "drafts": [Draft("one of many", scope)], "items": [], "root": directory / verb, "target": directory / f"{verb}.db",
        "path": "new" if verb == "create_project" else "shop", "description": "sells",
        "turns": [Turn(Speaker.PERSON, f"Remember that the zebra has {verb} stripes", 1)],
        "place": directory / f"{verb}.md", "take": "database", "ids": [], "event": 0, "version": 1,
        "task": Task(title="zebra"), "message": "zebra", "prompt": "zebra", "memories": [], "layout": "list",
        "directory": directory,
        "call": HookCall("codex", HookEvent.PROMPT, prompt="zebra stripes", directory=str(directory)),
    }  # several entries per line  # fmt: skip
    if verb in ("unmirror", "join", "reset_sync_state", "accept_entries"):
        values["number"] = make_mirror(memory, scope, directory / f"of {verb}.md")
    if verb == "resolve" and isinstance(ref, int):
        mirror = make_mirror(memory, scope, directory / "of resolve.md")
        with memory._store.write() as tx:
            conflict = SyncConflict(mirror, ref, datetime(2026, 2, 5, tzinfo=UTC), 1, 1, Side.FILE)
            tx.record_sync(mirror, SyncUpdate(conflicts=[conflict]))
    if verb in ("rename_project", "merge_projects"):
        with memory._store.write() as tx:
            tx.put_project(Project("old"))
        values |= {"path": "old", "name": "renamed", "source": "old", "into": "shop"}
    if verb in ("session", "start_session"):  # they are about a session, from wherever it is looked at
        values["scope"] = Scope.session("shop", "monday" if verb == "session" else "new")
    if verb == "project_by_number":
        values["number"] = next(project.number for project in memory.projects() if project.path == "shop")
    if verb == "by_key":
        values["key"] = "zebra"
    if verb == "entry":
        values["key"] = f"#{ref}"
    if verb in ("run", "replay", "why", "compare_runs", "outcome", "undo_outcome"):
        run = memory.compose(Task(title="zebra"), scope=scope, record=True).run.id
        values |= {"run": run, "first": run, "second": run, "result": "success"}
        if verb == "undo_outcome":
            memory.outcome(run, "success", scope=scope)
    if verb == "record_work_tree":
        values["run"] = None
    parameters = inspect.signature(VERBS[verb]).parameters
    answer = getattr(memory, verb)(**{name: values[name] for name in parameters if name in values})
    return list(answer) if inspect.isgenerator(answer) else answer


def make_mirror(memory, scope, file):
    """The number of a mirror that the owner made."""
    file.parent.mkdir(exist_ok=True)
    with memory._store.write() as tx:
        known = [mirror.number for mirror in tx.mirrors() if mirror.file == file.name]
        return (
            known[0]
            if known
            else tx.put_mirror(
                Mirror(0, scope, str(file.parent), file.name, "memories", Choice.OWN, datetime(2026, 2, 5, tzinfo=UTC))
            ).number
        )


def state_of(owner):
    return msgspec.json.encode([(memory, links) for memory, links in owner.everything()]), owner.latest_event()


def test_every_verb_is_in_the_table():
    assert set(VERBS) == set(permissions.PERMISSIONS)


@pytest.mark.parametrize("layer", Layer)
@pytest.mark.parametrize("role", Role)
def test_a_role_may_do_what_the_table_says_and_nothing_more(tmp_path, open_memory, role, layer):
    scope = SCOPES[layer]
    owner = open_memory(tmp_path / "memory.db")
    someone = open_memory(tmp_path / "memory.db", actor=Actor("someone", role))
    other = owner.remember("another", scope=scope).memory.number
    owner.remember("a session", scope=SCOPES[Layer.SESSION])
    for verb, roles in permissions.PERMISSIONS.items():
        ref = owner.remember(f"zebra {verb}", scope=scope).memory.number
        if verb.startswith("purge"):
            owner.forget(ref, scope=scope)
        if verb in ("approve", "reject"):
            owner.revise(ref, scope=scope, type="learning", source="learning", active=False)
        before = state_of(owner)
        if role not in roles:
            with pytest.raises(NotAllowed, match=f"someone is a {role}, and only"):
                call(someone, verb, scope, tmp_path / f"{role}", ref=ref, other=other)
            assert state_of(owner) == before, verb
        elif layer is Layer.EVERYWHERE and verb in ("promote", "append_activity", "summarize", "undo_summary"):
            with pytest.raises(InvalidInput, match=r"wider|has no activity|is not summarised"):
                call(someone, verb, scope, tmp_path, ref=ref, other=other)
        else:
            call(someone, verb, scope, tmp_path / f"{role}", ref=ref, other=other)


def test_what_a_worker_and_an_admin_may_not_do():
    refused = {role: {verb for verb, roles in permissions.PERMISSIONS.items() if role not in roles} for role in Role}
    assert refused == {
        Role.OWNER: set(),
        Role.ADMIN: {"purge", "purge_candidates", "repair", "reindex"},
        Role.WORKER: {
            "forget", "restore", "archive", "promote", "retire", "purge", "purge_candidates", "repair", "reindex",
            "mirror", "unmirror", "reset_sync_state", "resolve", "accept_entries", "embed_pending", "replace_memory_file",
            "bind_project", "rename_project", "merge_projects", "undo_retirement", "summarize", "undo_summary",
            "hook_calls", "last_hook_calls", "injections",
            "approve", "reject", "llm_usage",
            "import_memories", "everything", "backup", "record_copy", "tally", "latest_event", "stats", "check", "scan",
            "fix_relevance", "release_relevance",
        },
    }  # several entries per line  # fmt: skip


def test_a_worker_cannot_remove_by_other_means(tmp_path, open_memory, clock):
    owner = open_memory(tmp_path / "memory.db")
    worker = open_memory(tmp_path / "memory.db", actor=Actor("someone", Role.WORKER))
    kept = owner.remember("zebra", scope=SHOP, key="k").memory
    past = clock() - timedelta(days=1)
    before = state_of(owner)
    for taken in (
        lambda: worker.revise("k", scope=SHOP, active=False),
        lambda: worker.revise("k", scope=SHOP, expires_at=past),
        lambda: worker.remember("zebra", scope=SHOP, key="k", expires_at=past),
        lambda: worker.remember_many([Draft("zebra", SHOP, key="k", expires_at=past)]),
        lambda: worker.import_drafts([Draft("okapi", SHOP, key="k", expires_at=past)]),
    ):
        with pytest.raises(NotAllowed, match="may archive"):
            taken()
    assert state_of(owner) == before
    owner.revise("k", scope=SHOP, active=False)
    with pytest.raises(NotAllowed, match="may restore"):
        worker.revise("k", scope=SHOP, active=True)
    assert owner.revise(kept.id, scope=SHOP, expires_at=past).expires_at == past


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_checks_its_own_permission(memory, tmp_path, monkeypatch, verb):
    ref, other = (memory.remember(text, scope=SHOP).memory.number for text in ("zebra", "okapi"))
    monkeypatch.setitem(permissions.PERMISSIONS, verb, frozenset())
    with pytest.raises(NotAllowed):
        call(memory, verb, SHOP, tmp_path, ref=ref, other=other)
    monkeypatch.undo()


# other projects


@pytest.mark.parametrize("verb", NAMING)
def test_another_projects_memory_is_reported_like_a_missing_one(memory, tmp_path, verb):
    mine = memory.remember("okapi", scope=SHOP).memory
    theirs = memory.remember("zebra", scope=BANK, key="striped").memory
    memory.forget(memory.remember("gnu", scope=BANK).memory.number, scope=BANK)
    missing = {theirs.number: 99, theirs.id: "019c2d3e-9d1b-76ef-94c5-88628e870c23", "striped": "spotted", 3: 98}
    for seen, nowhere in missing.items():
        for places in ({"ref": None, "other": mine.number}, {"ref": mine.number, "other": None}):
            if places["other"] is None and "other" not in inspect.signature(VERBS[verb]).parameters:
                continue
            answers = []
            for word in (seen, nowhere):
                named = {name: word if value is None else value for name, value in places.items()}
                with pytest.raises(NotFound) as refusal:
                    call(memory, verb, SHOP, tmp_path, **named)
                answers.append((type(refusal.value), str(refusal.value).replace(str(word), "…")))
            assert answers[0] == answers[1]
    assert memory.show(theirs.number, scope=BANK).version == 1


# agents


@pytest.fixture
def with_agents(tmp_path, open_memory):
    return open_memory(tmp_path / "memory.db", agents="planner=admin, builder=worker, boss=owner")


@pytest.mark.parametrize(
    ("agent", "may"),
    [("boss", True), ("planner", True), ("builder", False), ("stranger", False), ("owner", False), ("admin", False)],
)
def test_an_agent_acts_in_the_role_that_settings_give_it_and_as_a_worker_otherwise(with_agents, agent, may):
    ref = with_agents.remember("zebra", scope=SHOP).memory.number
    acting = with_agents.acting_as(agent)
    acting.revise(ref, scope=SHOP, source="role: owner")  # a claim, which grants nothing
    if may:
        acting.forget(ref, scope=SHOP)
    else:
        with pytest.raises(NotAllowed, match=f"{agent} is a worker"):
            acting.forget(ref, scope=SHOP)
    assert with_agents.events(scope=SHOP)[0].actor.name == agent


def test_without_an_id_the_process_acts_itself(with_agents):
    assert with_agents.acting_as(None) is with_agents


def test_an_agent_never_gets_more_than_the_process_it_came_through(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", role="worker", agents={"boss": "owner"})
    ref = memory.remember("zebra", scope=SHOP).memory.number
    with pytest.raises(NotAllowed, match="boss is a worker"):
        memory.acting_as("boss").forget(ref, scope=SHOP)


@pytest.mark.parametrize("agent", ["", "  ", "two\x1blines", "\ud800"])
def test_an_invalid_agent_id_is_refused(with_agents, agent):
    with pytest.raises(InvalidInput, match="agent id"):
        with_agents.acting_as(agent)


@pytest.mark.parametrize("agents", ["planner", "=admin", "planner=king", {"planner": "king"}, {"planner": 3}, ["planner"]])
def test_an_invalid_agents_table_is_an_error(tmp_path, open_memory, agents):
    with pytest.raises(Unreadable, match="names with their roles"):
        open_memory(tmp_path / "memory.db", agents=agents)


def test_the_command_line_acts_in_the_role_of_the_settings(run, place, monkeypatch):
    run("remember", "zebra")
    (place / "config.toml").write_text('role = "worker"\n[agents]\nplanner = "admin"\n')
    refused = run("forget", "1")
    assert refused.code == 2
    assert "tester is a worker, and only admin or owner may forget" in refused.err
    assert run("config", "--json").data["settings"]["agents"]["value"] == {"planner": "admin"}
    assert "planner=admin" in run("config").out
    monkeypatch.setenv("OMOIDE_ROLE", "admin")
    assert run("forget", "1").code == 0
    monkeypatch.setenv("OMOIDE_ROLE", "king")
    assert '"owner" or "admin" or "worker"' in run("forget", "1").err


@pytest.mark.parametrize(("agents", "name", "role"), [
    ({"admin_*": "admin"}, "admin_xxx", "admin"),
    ({"admin_*": "admin"}, "worker_1", "worker"),
    ({"admin_*": "admin"}, "xadmin_1", "worker"),
    ({"*": "admin", "worker_*": "worker"}, "worker_1", "worker"),
    ({"*": "admin", "worker_*": "worker"}, "planner", "admin"),
    ({"admin_*": "admin", "admin_guest": "worker"}, "admin_guest", "worker"),
    ({"admin_?": "admin"}, "admin_1", "admin"),
    ({"admin_?": "admin"}, "admin_10", "worker"),
    ({"a*": "admin", "*x": "worker"}, "a-x", "worker"),
    ({"admin.*": "admin"}, "adminx1", "worker"),
    ({"管理_*": "owner"}, "管理_一", "owner"),
])  # several entries per line  # fmt: skip
def test_a_pattern_gives_agents_their_role_unless_a_longer_one_or_the_name_itself_does(tmp_path, agents, name, role):
    with omoide.open(tmp_path / "memory.db", agents=agents) as memory:
        agent = memory.acting_as(name)
        kept = agent.remember("x", scope=Scope.everywhere()).memory
        assert kept.author.role == role


def test_a_pattern_never_gives_more_than_the_process_has(tmp_path):
    with omoide.open(tmp_path / "memory.db", role="admin", agents={"*": "owner"}) as memory:
        assert memory.acting_as("anyone").remember("x", scope=Scope.everywhere()).memory.author.role == "admin"
