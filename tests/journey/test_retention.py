"""Retention: expired, unused and surplus memories are archived, on request or automatically, and can be restored."""

import time
import warnings
from datetime import timedelta

import pytest

from omoide import Actor, Draft, Role, Scope, State, Task, model
from omoide.app import open_service
from omoide.errors import Unreadable
from omoide.lifecycle import retention
from omoide.settings import load_settings

SHOP, BANK, EVERYWHERE = Scope.project("shop"), Scope.project("bank"), Scope.everywhere()
MONDAY = Scope.session("shop", "monday")
DAY = 86_400


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


def active(memory, scope=SHOP):
    return sorted(each.content for each in memory.list(scope=scope, limit=100_000).memories)


def record_use(memory, clock):
    """Somebody works here, and did before: an event, and a run of retention a day ago."""
    memory.remember("used", scope=EVERYWHERE)
    with memory._store.write() as tx:
        tx.record_run("retire", clock() - timedelta(days=1))


def reasons(plan):
    return {one.memory.number: one.reason.value for one in plan.retirements}


def test_memories_unused_for_90_days_are_archived_with_history_and_event(memory, clock):
    memory.remember("zebra stripes", scope=SHOP)
    memory.revise(1, scope=SHOP, topic="animals")
    clock.step(90 * DAY + 1)
    memory.remember("okapi", scope=SHOP)
    assert reasons(memory.retire()) == {1: "unused"}
    assert active(memory) == ["okapi"]
    assert memory.recall("zebra", scope=SHOP).hits == []
    assert [hit.memory.number for hit in memory.recall("zebra", scope=SHOP, states=[State.ARCHIVED]).hits] == [1]
    event = memory.events(1, scope=SHOP)[0]
    assert (event.action, event.detail["reason"], event.detail["version"]) == ("retired", "unused", 3)
    assert [each.memory.state for each in memory.history(1, scope=SHOP)] == ["active", "active", "archived"]
    assert memory.check() == []


@pytest.mark.parametrize(
    "use",
    [
        lambda memory: memory.recall("zebra", scope=SHOP),
        lambda memory: memory.show(1, scope=SHOP),
        lambda memory: memory.resume(scope=SHOP),
        lambda memory: memory.compose(Task(title="zebra"), scope=SHOP),
        lambda memory: memory.remember("zebra", scope=SHOP),
        lambda memory: memory.revise(1, scope=SHOP, tags=["striped"]),
    ],
    ids=["recall", "show", "resume", "compose", "remember", "revise"],
)
def test_every_use_restarts_the_period(memory, clock, use):
    memory.remember("zebra", scope=SHOP)
    clock.step(60 * DAY)
    use(memory)
    clock.step(60 * DAY)
    assert memory.retire().retirements == []
    clock.step(30 * DAY)
    assert reasons(memory.retire()) == {1: "unused"}


def test_listing_does_not_count_as_use(memory, clock):
    memory.remember("zebra", scope=SHOP)
    clock.step(60 * DAY)
    memory.list(scope=SHOP)
    clock.step(30 * DAY)
    assert reasons(memory.retire()) == {1: "unused"}


def test_pinned_inactive_archived_and_forgotten_memories_are_not_retired(memory, clock):
    for content in ("pinned", "inactive", "archived", "forgotten"):
        memory.remember(content, scope=SHOP, pinned=content == "pinned")
    memory.revise(2, scope=SHOP, active=False)
    memory.archive(3, scope=SHOP)
    memory.forget(4, scope=SHOP)
    clock.step(1000 * DAY)
    assert memory.retire().retirements == []


def test_an_expired_memory_is_archived_and_found_again_once_restored(memory, clock):
    memory.remember("zebra", scope=SHOP, expires_at=clock.now + timedelta(days=1))
    clock.step(DAY)
    assert reasons(memory.retire()) == {1: "expired"}
    assert memory.restore(1, scope=SHOP).expires_at is None
    assert [hit.memory.number for hit in memory.recall("zebra", scope=SHOP).hits] == [1]
    assert memory.retire().retirements == []


def test_a_future_expiry_survives_a_restore(memory, clock):
    expires_at = clock.now + timedelta(days=1)
    memory.remember("zebra", scope=SHOP, expires_at=expires_at)
    memory.archive(1, scope=SHOP)
    assert memory.restore(1, scope=SHOP).expires_at == expires_at


def test_a_restored_memory_is_found_and_its_period_restarts(path, open_memory, clock):
    memory = open_memory(path)
    memory.remember("zebra", scope=SHOP)
    clock.step(100 * DAY)
    memory.retire()
    memory.restore(1, scope=SHOP)
    clock.step(89 * DAY)
    # Another process: it knows nothing of access times that the first still holds back, or lost.
    other = open_memory(path)
    assert other.retire().retirements == []
    assert [hit.memory.number for hit in other.recall("zebra", scope=SHOP).hits] == [1]


def test_a_layer_over_the_limit_keeps_the_last_used(path, open_memory, clock):
    memory = open_memory(path, max_entries=3)
    for scope in (SHOP, MONDAY, BANK, EVERYWHERE):
        for n in range(3):
            memory.remember(f"{n}", scope=scope)
            clock.step()
    clock.step(8 * DAY)
    assert memory.retire().retirements == []
    for n in range(3, 5):
        memory.remember(f"{n}", scope=SHOP)
    memory.show(1, scope=SHOP)
    assert reasons(memory.retire()) == {2: "over_limit", 3: "over_limit"}
    assert active(memory, BANK) == ["0", "0", "1", "1", "2", "2"]


def test_retire_by_hand_applies_the_limit_at_once(path, open_memory, clock):
    memory = open_memory(path, max_entries=3)
    for n in range(6):
        memory.remember(f"{n}", scope=SHOP)
        clock.step()
    assert reasons(memory.retire(dry_run=True)) == dict.fromkeys((1, 2, 3), "over_limit")
    assert memory.retire_if_due() is None or active(memory, SHOP) == list("012345")
    memory.retire()
    assert active(memory, SHOP) == list("345")


def test_imported_and_bulk_memories_stay_however_old_and_many(path, open_memory, clock):
    long_ago = clock.now - timedelta(days=2000)
    with open_memory(path) as memory:
        memory.remember_many(Draft(f"bulk {n}", SHOP, created_at=long_ago) for n in range(3000))
        kept = memory.show(1, scope=SHOP)
    with open_memory(path.with_name("copy.db")) as copy:
        copy.import_memories([kept])
    for days in (0, 1, 5):
        clock.step(days * DAY)
        for file in (path, path.with_name("copy.db")):
            open_memory(file).close()  # which retires what is due
        with open_memory(path) as memory, open_memory(path.with_name("copy.db")) as copy:
            assert memory.summary(scope=SHOP).count == 3000
            assert copy.retire(dry_run=True).retirements == []
            # By hand it is meant.
            assert len(memory.retire(dry_run=True).retirements) == 2000
    clock.step(DAY)
    with open_memory(path) as memory:
        assert len(memory.retire().retirements) == 2000
        clock.step(90 * DAY)
        assert len(memory.retire().retirements) == 1000
        assert memory.check() == []


def test_a_dry_run_lists_what_the_run_would_do(path, open_memory, clock):
    memory = open_memory(path, max_entries=2)
    for n in range(6):
        memory.remember(f"{n}", scope=SHOP, expires_at=clock.now + timedelta(days=9) if n == 5 else None)
        clock.step(DAY)
    clock.step(80 * DAY)
    before = memory.latest_event()
    rehearsed = memory.retire(dry_run=True)
    assert len(set(reasons(rehearsed).values())) == 2
    memory.close()
    memory = open_memory(path, max_entries=2)  # and on closing neither: there is a day to pin what should stay
    assert memory.latest_event() == before
    assert memory.retire() == rehearsed
    assert memory.retire().retirements == []


def test_memories_changed_during_planning_are_not_retired(path, open_memory, clock, monkeypatch):
    memory, other = open_memory(path), open_memory(path)
    for content in ("zebra", "okapi"):
        memory.remember(content, scope=SHOP)
    clock.step(100 * DAY)
    planned = retention.plan

    def and_meanwhile(*arguments):
        plan = planned(*arguments)
        other.revise(1, scope=SHOP, content="zebra, revised")
        return plan

    monkeypatch.setattr(retention, "plan", and_meanwhile)
    assert reasons(memory.retire()) == {2: "unused"}
    assert active(memory) == ["zebra, revised"]


# automatically


def test_retention_runs_on_close_at_most_once_a_day(path, open_memory, clock):
    with open_memory(path) as memory:
        memory.remember("zebra", scope=SHOP)
        clock.step(90 * DAY - 3600)
        record_use(memory, clock)
    clock.step(3600)
    open_memory(path).close()
    with open_memory(path) as memory:
        assert active(memory) == ["used", "zebra"]  # the last time was an hour ago
        clock.step(DAY)
    memory = open_memory(path, actor=Actor("reader", Role.WORKER))
    assert active(memory) == ["used"]
    event = memory.events(scope=SHOP)[0]
    assert (event.action, event.actor) == ("retired", Actor("omoide", Role.OWNER, "upkeep"))


def test_automatic_retention_can_be_switched_off(path, open_memory, clock):
    with open_memory(path, retire="manual") as memory:
        memory.remember("zebra", scope=SHOP)
        clock.step(100 * DAY)
        assert memory.retire_if_due() is None
    assert active(open_memory(path)) == ["zebra"]


def test_memories_just_used_are_not_retired_on_close(path, open_memory, clock):
    with open_memory(path) as memory:
        memory.remember("zebra", scope=SHOP)
    clock.step(100 * DAY)
    with open_memory(path) as memory:
        memory.recall("zebra", scope=SHOP)
    assert active(open_memory(path)) == ["zebra"]


def test_automatic_retention_skips_when_the_store_is_busy(path, open_memory, clock):
    with open_memory(path) as memory:
        memory.remember("zebra", scope=SHOP)
    clock.step(100 * DAY)
    busy, closing = open_memory(path, retire="manual"), open_memory(path)
    record_use(busy, clock)
    with busy._store.write():
        started = time.monotonic()
        closing.close()
        assert time.monotonic() - started < 20  # of the 30 seconds that a write would wait
    assert active(busy) == ["used", "zebra"]
    open_memory(path).close()
    assert active(busy) == ["used"]


def test_at_most_a_tenth_of_a_layer_is_archived_by_itself_a_day_and_at_least_one_memory(path, open_memory, clock):
    with open_memory(path, retire="manual") as memory:
        memory.remember_many(Draft(f"bulk {n}", SHOP) for n in range(40))
        memory.remember("alone", scope=BANK)
        memory.remember_many(Draft(f"many {n}", EVERYWHERE) for n in range(6_000))
        clock.step(100 * DAY)
        record_use(memory, clock)
    left = []
    for _ in range(3):
        open_memory(path).close()
        open_memory(path).close()  # the same day
        memory = open_memory(path, retire="manual")
        left.append([memory.summary(scope=scope, layers=[scope.layer]).count for scope in (SHOP, BANK, EVERYWHERE)])
        clock.step(DAY)
    # 40, 36 and 33 memories have a tenth of 4, 3 and 3; all layers together at most 500 a day.
    assert left == [[36, 0, 6001 - 495], [33, 0, 6001 - 495 - 497], [30, 0, 6001 - 495 - 497 - 497]]


def test_after_45_quiet_days_the_first_run_only_proposes(path, open_memory, clock):
    with open_memory(path) as memory:
        memory.remember_many(Draft(f"note {n}", SHOP) for n in range(20))
    clock.step(100 * DAY)
    memory = open_memory(path)
    memory.remember("back again", scope=SHOP)
    with pytest.warns(UserWarning, match="omoide retire --dry-run"):
        memory.close()
    assert len(active(open_memory(path, retire="manual"))) == 21
    clock.step(DAY)
    open_memory(path).close()
    assert len(active(open_memory(path, retire="manual"))) == 19


def test_nothing_is_archived_by_itself_while_nobody_writes(path, open_memory, clock):
    """A server that runs through a long absence."""
    with open_memory(path) as memory:
        memory.remember_many(Draft(f"note {n}", SHOP) for n in range(20))
    server = open_memory(path)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for _ in range(120):
            clock.step(DAY)
            server.retire_if_due()
    assert len(active(server)) == 20
    assert len([one for one in warned if "omoide retire" in str(one.message)]) == 1


def test_a_clock_five_years_ahead_for_one_command_archives_nothing(path, open_memory, clock):
    with open_memory(path) as memory:
        memory.remember_many(Draft(f"note {n}", SHOP) for n in range(20))
    clock.step(1825 * DAY)
    with pytest.warns(UserWarning, match="omoide retire"):
        open_memory(path).close()
    clock.step(-1825 * DAY + DAY)
    open_memory(path).close()
    clock.step(DAY)
    open_memory(path).close()
    assert len(active(open_memory(path, retire="manual"))) == 20


def test_what_was_archived_by_itself_is_reported_once_at_the_next_command_with_the_undo(path, omoide, open_memory, clock):
    with open_memory(path) as memory:
        for n in range(10):
            memory.remember(f"note {n}", scope=SHOP)
    clock.step(100 * DAY)
    with open_memory(path, retire="manual") as memory:
        record_use(memory, clock)
    open_memory(path).close()
    first, second = omoide("list"), omoide("list")
    assert "1 memory was archived automatically (#1): `omoide retire --undo`" in first.err
    assert "archived" not in second.err
    assert "note 0 " not in first.out
    done = omoide("retire", "--undo", "--json")
    assert [one["number"] for one in done.data["restored"]] == [1]
    assert "note 0 " in omoide("list").out
    assert omoide("retire", "--undo").err.strip() == "0 memories restored"
    assert omoide("retire", "--undo", "--dry-run").code == 2


def test_what_several_automatic_runs_archived_is_reported_and_undone_together(path, omoide, open_memory, clock):
    """A server retires day after day, and nobody runs a command meanwhile."""
    with open_memory(path) as memory:
        memory.remember_many(Draft(f"note {n}", SHOP) for n in range(20))
    clock.step(100 * DAY)
    server = open_memory(path)
    record_use(server, clock)
    for _ in range(3):
        server.retire_if_due()
        for n in range(600):  # much more happens before somebody runs a command
            server.revise(20, scope=SHOP, content=f"note 19, {n}")
        clock.step(DAY)
    archived = [one.number for one in server.list(scope=SHOP, states=[State.ARCHIVED]).memories]
    assert len(archived) == 4  # 2, 1 and 1 of what is left
    first, second = omoide("list"), omoide("list")
    assert "4 memories were archived automatically" in first.err
    assert "archived" not in second.err
    restored = omoide("retire", "--undo", "--json").data["restored"]
    assert sorted(one["number"] for one in restored) == sorted(archived)


def test_what_was_reported_before_is_not_reported_again_with_the_next_run(path, open_memory, clock):
    with open_memory(path) as memory:
        memory.remember_many(Draft(f"note {n}", SHOP) for n in range(20))
    clock.step(100 * DAY)
    memory = open_memory(path)
    record_use(memory, clock)
    seen = []
    for _ in range(2):
        memory.retire_if_due()
        seen.append({one.number for one in memory.automatic_retirements()})
        clock.step(DAY)
    assert [len(numbers) for numbers in seen] == [2, 1]
    assert seen[0].isdisjoint(seen[1])
    assert {one.number for one in memory.undo_retirement()} == seen[1]


def test_a_first_run_of_retention_in_a_store_with_a_history_only_proposes(path, open_memory, clock):
    """As after `retire = "manual"`, or in a database that was copied here."""
    with open_memory(path, retire="manual") as memory:
        memory.remember_many(Draft(f"note {n}", SHOP) for n in range(20))
        clock.step(100 * DAY)
        memory.remember("back again", scope=SHOP)
    with pytest.warns(UserWarning, match="omoide retire"):
        open_memory(path).close()
    assert len(active(open_memory(path, retire="manual"))) == 21


def test_doctor_names_a_last_change_that_is_dated_in_the_future(place, run, open_memory):
    assert run("remember", "okapi").code == 0
    assert "the clock was ahead" not in run("doctor").out
    ahead = model.now() + timedelta(days=1825)
    with open_memory(place / "memory.db", clock=lambda: ahead, retire="manual") as memory:
        memory.remember("zebra", scope=SHOP)
    done = run("doctor")
    assert f"the last change is dated {ahead:%Y-%m-%d}: the clock was ahead then" in done.out
    assert done.code == 0


def test_after_a_clock_that_was_ahead_a_long_pause_is_still_noticed(path, open_memory, clock):
    with open_memory(path) as memory:
        memory.remember_many(Draft(f"note {n}", SHOP) for n in range(20))
    clock.step(1825 * DAY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with open_memory(path) as memory:
            memory.remember("by a wrong clock", scope=BANK)
        clock.step(-1725 * DAY)
        with open_memory(path) as memory:
            memory.remember("back again", scope=BANK)
    assert len(active(open_memory(path, retire="manual"))) == 20


def test_a_proposal_that_a_server_made_is_reported_by_the_next_command(path, omoide, open_memory, clock):
    with open_memory(path) as memory:
        memory.remember_many(Draft(f"note {n}", SHOP) for n in range(20))
    clock.step(100 * DAY)
    settings = load_settings({"store": str(path)})
    server = open_service(settings, Actor("agent", Role.OWNER, "mcp"), clock, report=lambda _: None, is_seen=False)
    server.remember("back again", scope=SHOP)
    server.close()
    first, second = omoide("list"), omoide("list")
    assert first.err.count("`omoide retire --dry-run` shows what is out of date") == 1
    assert "retire" not in second.err


def test_undo_leaves_alone_what_was_changed_since(path, open_memory, clock):
    with open_memory(path) as memory:
        memory.remember_many(Draft(f"note {n}", SHOP) for n in range(20))
    clock.step(100 * DAY)
    memory = open_memory(path)
    record_use(memory, clock)
    retired = [each.memory.number for each in memory.retire_if_due().retirements]
    assert len(retired) == 2
    memory.forget(retired[0], scope=SHOP)
    assert [one.number for one in memory.undo_retirement()] == retired[1:]
    assert memory.show(retired[0], scope=SHOP).state is State.FORGOTTEN


@pytest.mark.parametrize("kind", ["own", "all", "block"])
def test_the_list_of_a_repository_and_a_block_are_not_retired_unless_their_mirror_says_so(
    kind, path, tmp_path, open_memory, clock
):
    memory = open_memory(path, retire="manual")
    in_list = memory.remember("in the list", scope=SHOP).memory.number
    memory.remember("elsewhere", scope=BANK)
    expired = memory.remember("expires", scope=SHOP, expires_at=clock() + timedelta(days=1)).memory.number
    file = tmp_path / "files" / ("CLAUDE.md" if kind == "block" else "memories.md")
    file.parent.mkdir()
    format = "block" if kind == "block" else "memories"
    mirror = memory.mirror(file, format, scope=SHOP, choice="own" if kind == "own" else "all")
    if kind == "own":
        memory.join(in_list, mirror.number, scope=SHOP)
    clock.step(100 * DAY)
    assert {each.memory.topic for each in memory.retire(dry_run=True).retirements} == {"elsewhere", "expires"}
    memory.mirror(file, format, scope=SHOP, choice="own" if kind == "own" else "all", retire=True)
    assert in_list in {each.memory.number for each in memory.retire(dry_run=True).retirements}
    assert expired in {each.memory.number for each in memory.retire(dry_run=True).retirements}


def test_searching_and_injecting_the_list_of_a_repository_is_use_and_listing_it_is_not(place, run, open_memory, clock):
    run("memories", "add", "pnpm is used")
    before = access_times(open_memory, place)
    run("memories", "list")
    run("document")
    assert access_times(open_memory, place) == before
    run("memories", "search", "pnpm")
    searched = access_times(open_memory, place)
    assert searched != before
    run("memories", "inject")
    assert access_times(open_memory, place) != searched


def access_times(open_memory, place):
    with open_memory(place / "memory.db", retire="manual") as memory:
        return [one.last_accessed_at for one, _ in memory.everything()]


def test_a_wrong_clock_does_not_stop_retention_for_good(path, open_memory, clock):
    clock.step(10_000 * DAY)
    open_memory(path).close()
    clock.step(-10_000 * DAY)
    with open_memory(path) as memory:
        memory.remember("zebra", scope=SHOP)
    clock.step(100 * DAY)
    with open_memory(path, retire="manual") as memory:
        record_use(memory, clock)
    open_memory(path).close()
    assert active(open_memory(path)) == ["used"]


def test_closing_twice_or_during_an_export_is_safe(path, open_memory, clock):
    memory = open_memory(path)
    memory.remember("zebra", scope=SHOP)
    clock.step(100 * DAY)
    memory.remember("okapi", scope=SHOP)
    record_use(memory, clock)
    exported = memory.everything()
    next(exported)
    assert [one.memory.number for one in memory.retire_if_due().retirements] == [1]
    assert [one.state for one, _ in exported] == [State.ACTIVE] * 2
    memory.close()
    memory.close()
    assert memory.retire_if_due() is None


# from the command line


@pytest.fixture
def long_ago(place, open_memory):
    """A store in which zebra was last used 100 days ago, okapi 10 days ago and gnu just now."""
    now = model.now()
    for content, days in (("zebra", 100), ("okapi", 10), ("gnu", 0)):
        at = now - timedelta(days=days)
        with open_memory(place / "memory.db", clock=lambda at=at: at, retire="manual") as memory:
            memory.remember(content, scope=SHOP)
    with open_memory(place / "memory.db", clock=lambda: now, retire="manual") as memory, memory._store.write() as tx:
        tx.record_run("retire", now - timedelta(days=1))


def test_the_command_shows_the_plan_before_running_it(run, long_ago):
    planned = run("retire", "--dry-run")
    assert "#1" in planned.out
    assert "zebra" in planned.out
    assert "unused for 90 days" in planned.out
    assert "#2" not in planned.out
    assert planned.err == "1 memory would be archived\n"
    assert run("list", "--json").data["total_count"] == 3
    done = run("retire", "--json").data
    assert (done["dry_run"], done["total_count"]) == (False, 1)
    assert {name: done["retired"][0][name] for name in ("number", "topic", "reason")} == {
        "number": 1, "topic": "zebra", "reason": "unused",
    }  # several entries per line  # fmt: skip
    assert done["retired"][0]["scope"]["project"] == "shop"
    assert run("retire").err == "0 memories archived\n"
    assert run("recall", "zebra", "--archived", "--json").data["total_count"] == 1
    assert run("restore", "1").code == 0
    assert run("recall", "zebra", "--json").data["total_count"] == 1
    assert run("retire", "--json").data["total_count"] == 0


def test_a_command_prints_before_it_retires(omoide, long_ago):
    assert omoide("list", "--json").data["total_count"] == 3
    assert omoide("list", "--json").data["total_count"] == 2


def test_a_command_does_not_retire_what_it_found(omoide, long_ago):
    assert omoide("recall", "zebra", "--json").data["total_count"] == 1
    assert omoide("list", "--json").data["total_count"] == 3


@pytest.mark.parametrize(
    ("environment", "retired"),
    [
        ({"OMOIDE_TTL_DAYS": "0"}, 0),
        ({"OMOIDE_TTL_DAYS": "5"}, 2),
        ({"MCP_MEMORY_TTL_DAYS": "5"}, 2),
        ({"MCP_MEMORY_TTL_DAYS": "", "MCP_MEMORY_MAX_ENTRIES": ""}, 1),
        ({"MCP_MEMORY_TTL_DAYS": "5", "OMOIDE_TTL_DAYS": "50"}, 1),
        ({"MCP_MEMORY_TTL_DAYS": "0", "MCP_MEMORY_MAX_ENTRIES": "1"}, 2),
        ({"MCP_MEMORY_TTL_DAYS": "0", "MCP_MEMORY_MAX_ENTRIES": "1", "OMOIDE_MAX_ENTRIES": "2"}, 1),
        ({"MCP_MEMORY_TTL_DAYS": "0", "OMOIDE_MAX_ENTRIES": "0"}, 0),
    ],
    ids=str,
)
def test_limits_come_from_settings_and_flags_win(run, long_ago, monkeypatch, environment, retired):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert run("retire", "--dry-run", "--json").data["total_count"] == retired


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("MCP_MEMORY_TTL_DAYS", "soon", "MCP_MEMORY_TTL_DAYS: ttl_days must be an integer from 0 to 36,500, got 'soon'"),
        ("OMOIDE_MAX_ENTRIES", "-1", "OMOIDE_MAX_ENTRIES: max_entries must be an integer from 0 to 1,000,000,000, got '-1'"),
        ("OMOIDE_RETIRE", "never", 'OMOIDE_RETIRE: retire must be "auto" or "manual", got \'never\''),
    ],
)
def test_an_invalid_limit_is_an_error_naming_its_variable(path, open_memory, monkeypatch, name, value, wanted):
    monkeypatch.setenv(name, value)
    with pytest.raises(Unreadable) as refusal:
        open_memory(path)
    assert wanted in str(refusal.value)
