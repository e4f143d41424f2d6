"""Expiry: who may set it, and in which listing an expired memory stands."""

import itertools
import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st

import omoide
from omoide import Actor, Draft, NotAllowed, Role, Scope, State
from omoide.model import Memory, new_id
from omoide.model.expiry import listing

SHOP = Scope.project("shop")


@pytest.fixture
def owner(tmp_path, open_memory):
    return open_memory(tmp_path / "memory.db")


@pytest.fixture
def worker(tmp_path, open_memory):
    return open_memory(tmp_path / "memory.db", actor=Actor("agent-7", Role.WORKER))


WAYS = {
    "revise": lambda worker, at: worker.revise("db", scope=SHOP, expires_at=at),
    "remember by key": lambda worker, at: worker.remember("PostgreSQL", scope=SHOP, key="db", expires_at=at),
    "remember by topic and type": lambda worker, at: worker.remember(
        "other words", scope=SHOP, topic="Database", type="decision", expires_at=at
    ),
    "remember_many": lambda worker, at: worker.remember_many(
        [Draft("one more", SHOP), Draft("PostgreSQL", SHOP, key="db", expires_at=at)]
    ),
    "import_drafts": lambda worker, at: worker.import_drafts([Draft("other words", SHOP, key="db", expires_at=at)]),
    "import_memories": lambda worker, at: worker.import_memories([Draft("PostgreSQL", SHOP, key="db", expires_at=at)]),
    "as a named agent": lambda worker, at: worker.acting_as("boss").revise("db", scope=SHOP, expires_at=at),
}


@pytest.mark.parametrize("had", [None, 30], ids=["without expiry", "with a later one"])
@pytest.mark.parametrize("way", WAYS)
def test_a_worker_cannot_let_an_existing_memory_expire_earlier(owner, worker, clock, way, had):
    expires_at = None if had is None else clock() + timedelta(days=had)
    owner.remember("PostgreSQL", scope=SHOP, key="db", topic="Database", type="decision", pinned=True, expires_at=expires_at)
    before = owner.show("db", scope=SHOP), len(list(owner.everything()))
    for seconds in (-1, 0, 1.5, 86_400):
        with pytest.raises(NotAllowed, match="only admin or owner may"):
            WAYS[way](worker, clock() + timedelta(seconds=seconds))
    assert (owner.show("db", scope=SHOP), len(list(owner.everything()))) == before
    clock.step(2)
    assert [one.key for one in owner.resume(scope=SHOP).pinned] == ["db"]


def test_a_worker_may_lengthen_or_remove_an_expiry_and_give_one_to_what_is_new(owner, worker, clock):
    soon, later = clock() + timedelta(days=1), clock() + timedelta(days=2)
    owner.remember("PostgreSQL", scope=SHOP, key="db", expires_at=soon)
    assert worker.revise("db", scope=SHOP, expires_at=later).expires_at == later
    assert worker.remember("PostgreSQL 17", scope=SHOP, key="db", expires_at=later).memory.expires_at == later
    assert worker.revise("db", scope=SHOP, expires_at=None).expires_at is None
    assert worker.remember("freeze until the launch", scope=SHOP, expires_at=soon).memory.expires_at == soon


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN])
def test_a_role_that_may_archive_may_shorten_an_expiry(tmp_path, open_memory, clock, role):
    memory = open_memory(tmp_path / "memory.db", actor=Actor("someone", role))
    memory.remember("PostgreSQL", scope=SHOP, key="db")
    for days in (2, 1, -1):
        at = clock() + timedelta(days=days)
        assert memory.revise("db", scope=SHOP, expires_at=at).expires_at == at


def test_the_command_line_refuses_a_worker_an_earlier_expiry(run, monkeypatch, place):
    run("remember", "PostgreSQL", "--key", "db", "--pin")
    monkeypatch.setenv("OMOIDE_ROLE", "worker")
    editor = place / "editor.sh"
    editor.write_text("#!/bin/sh\nsed -i 's/^expires_at:.*/expires_at: 2099-01-01/' \"$1\"\n")
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    for command in (
        ["revise", "db", "--expires", "1d"],
        ["remember", "PostgreSQL", "--key", "db", "--expires", "1d"],
        ["edit", "db"],
    ):
        refused = run(*command)
        assert refused.code == 2, command
        assert "tester is a worker, and only admin or owner may archive #1 or let it expire earlier" in refused.err
    assert run("show", "db", "--json").data["expires_at"] is None


# listings

NOW = datetime(2026, 2, 5, 10, tzinfo=UTC)
EVERYWHERE, MONDAY = Scope.everywhere(), Scope.session("shop", "monday")
ALL = 1_000


def a_memory(number, state, expires_at, scope=SHOP, *, pinned=False, type="note"):
    at = NOW - timedelta(days=1)
    content = f"zebra {number}"
    return Memory(
        new_id(at, f"{number:020x}"), number, scope, None, type, content, False, content, (), (), "test", 1.0, 0.5, 0,
        pinned, state, at, at, None, expires_at, 1,
    )  # several entries per line  # fmt: skip


MEMORIES = st.lists(
    st.builds(
        lambda *fields, pinned: (fields, pinned),
        st.sampled_from(State),
        st.sampled_from([None, *(NOW + timedelta(microseconds=n) for n in (-86_400_000_000, -1, 0, 1, 86_400_000_000))]),
        st.sampled_from([EVERYWHERE, SHOP, MONDAY]),
        pinned=st.booleans(),
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=40)
@given(MEMORIES, st.sets(st.sampled_from(State), min_size=1))
def test_every_memory_is_in_exactly_one_listing_and_every_output_agrees(tmp_path_factory, fields, some):
    kept = [a_memory(n, *its, pinned=pinned) for n, (its, pinned) in enumerate(fields, 1)]
    expected = {state: {one.number for one in kept if listing(one, NOW) is state} for state in State}
    with omoide.open(tmp_path_factory.mktemp("listings") / "memory.db", clock=lambda: NOW, retire="manual") as memory:
        memory.import_memories(kept)

        def list_numbers(*states):
            page = memory.list(scope=MONDAY, states=states, limit=ALL)
            numbers = [one.number for one in page.memories]
            assert page.total == len(numbers) == len(set(numbers))
            return set(numbers)

        assert {state: list_numbers(state) for state in State} == expected
        assert sum(map(len, expected.values())) == len(kept) == len(list(memory.everything()))
        assert list_numbers(*some) == set().union(*(expected[state] for state in some))
        for state in State:
            assert memory.summary(scope=MONDAY, states=[state]).count == len(expected[state])
            browsed = memory.recall("", scope=MONDAY, states=[state], limit=ALL)
            assert {hit.memory.number for hit in browsed.hits} == expected[state]
            assert browsed.total == len(expected[state])
            if state is not State.FORGOTTEN:
                found = memory.recall("zebra", scope=MONDAY, states=[state], limit=ALL)
                assert {hit.memory.number for hit in found.hits} == expected[state]
        tallied = Counter()
        for _, _, state, count in memory.tally():
            tallied[state] += count
        assert {state: tallied[state] for state in State} == {state: len(its) for state, its in expected.items()}
        current = expected[State.ACTIVE]
        in_session = {one.number for one in kept if one.scope == MONDAY} & current
        assert [one.memories for one in memory.sessions(scope=SHOP)] in ([], [len(in_session)])
        resumed = memory.resume(scope=MONDAY, limit=ALL)
        assert {one.number for one in resumed.pinned} == {one.number for one in kept if one.pinned} & current
        own = {one.number for one in kept if one.scope.path} & current
        portrait = memory.project("shop", limit=ALL)
        assert (portrait.summary.count if portrait else 0) == len(own)


def test_a_memory_expires_at_the_very_moment(owner, clock):
    number = owner.remember("freeze", scope=SHOP, pinned=True, expires_at=clock() + timedelta(seconds=1)).memory.number

    def where():
        return [state for state in State for one in owner.list(scope=SHOP, states=[state]).memories if one.number == number]

    assert where() == [State.ACTIVE]
    clock.step(1)
    assert where() == [State.INACTIVE]
    assert not owner.resume(scope=SHOP).pinned
    assert not owner.recall("freeze", scope=SHOP).hits
    owner.retire()
    assert where() == [State.INACTIVE]  # pinned: never retired
    owner.restore(number, scope=SHOP)
    assert where() == [State.ACTIVE]


@pytest.fixture
def of_all_kinds(tmp_path, open_memory):
    """A store as the command line and a server see it, by the real clock: number → its listing."""
    long_ago, far = datetime(2001, 1, 1, tzinfo=UTC), datetime(2101, 1, 1, tzinfo=UTC)
    kinds = itertools.product(State, (None, long_ago, far), (EVERYWHERE, SHOP, MONDAY), (False, True))
    kept = [
        a_memory(number, state, expires_at, scope, pinned=pinned)
        for number, (state, expires_at, scope, pinned) in enumerate(kinds, 1)
    ]
    open_memory(tmp_path / "memory.db").import_memories(kept)
    return {one.number: listing(one, datetime.now(UTC)) for one in kept}


def test_the_command_line_lists_each_memory_once_with_the_reason(run, monkeypatch, of_all_kinds):
    monkeypatch.setenv("OMOIDE_RETIRE", "manual")
    shown = {}
    for state in State:
        rows = run("list", "--state", state.value, "--limit", "1000", "--json").data["memories"]
        assert {row["state"] for row in rows} == {state.value}
        shown |= {row["number"]: state for row in rows}
        exported = run("export", "--state", state.value, "--format", "jsonl").out.splitlines()
        assert {json.loads(line)["number"] for line in exported} == {row["number"] for row in rows}
        for row in rows:
            expired = row["expires_at"] == "2001-01-01T00:00:00Z" and state is State.INACTIVE
            reason = row.get("reason", "")
            assert reason in ("", "expired 2001-01-01T00:00:00Z")
            assert not reason or expired
    assert shown == of_all_kinds
    stats = run("stats", "--json").data["by_state"]
    assert stats == {state.value: list(of_all_kinds.values()).count(state) for state in State}
    pinned = run("show", "10", "--json").data  # active, pinned, expired
    assert (pinned["pinned"], pinned["state"], pinned["reason"]) == (True, "inactive", "expired 2001-01-01T00:00:00Z")
    for command in (["show", "10"], ["list", "--state", "inactive", "--limit", "1000"]):
        assert "expired 2001-01-01T00:00:00Z" in run(*command).out


def test_the_json_of_an_expired_memory_is_imported_unchanged(run, place, monkeypatch, of_all_kinds):
    monkeypatch.setenv("OMOIDE_RETIRE", "manual")
    (place / "shown.jsonl").write_text(
        json.dumps(run("list", "--state", "inactive", "--limit", "1", "--json").data["memories"][0])
    )
    assert run("import", "shown.jsonl", "--store", str(place / "other.db")).code == 0
    taken = json.loads(run("export", "--format", "jsonl", "--store", str(place / "other.db")).out)
    before = next(
        line for line in map(json.loads, run("export", "--format", "jsonl").out.splitlines()) if line["id"] == taken["id"]
    )
    assert taken["state"] == before["state"]


# mirrors


@pytest.mark.parametrize(("format", "file"), [("memories", "memories.md"), ("block", "CLAUDE.md"), ("entries", "entries")])
def test_a_pinned_memory_that_expires_leaves_the_files_and_comes_back_with_a_new_expiry(
    owner, clock, tmp_path, format, file
):
    place = tmp_path / "files" / file
    place.parent.mkdir()
    owner.mirror(place, format, scope=SHOP)

    def read_files():
        owner.list(scope=SHOP)  # a reading brings the files up to date
        files = [place] if place.is_file() else sorted(place.rglob("*.md"))
        return "\n".join(one.read_text(encoding="utf-8") for one in files)

    owner.remember("no deploys this week", scope=SHOP, key="freeze", pinned=True, expires_at=clock() + timedelta(days=7))
    owner.remember("PostgreSQL", scope=SHOP)
    assert "no deploys this week" in read_files()
    clock.step(7 * 86_400)
    assert "no deploys this week" not in read_files()
    assert "PostgreSQL" in read_files()
    assert owner.show("freeze", scope=SHOP).state is State.ACTIVE  # nothing was archived by its absence
    owner.revise("freeze", scope=SHOP, expires_at=clock() + timedelta(days=7))
    assert "no deploys this week" in read_files()
