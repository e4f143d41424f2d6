"""Events of a global memory tell a project nothing of another one's memories."""

import json
from datetime import datetime

import pytest

from omoide import InvalidInput, Scope, Task
from omoide.guard.permissions import BoundActor
from omoide.model import Layer
from omoide.service import Service

SHOP, BANK, EVERYWHERE = Scope.project("shop"), Scope.project("bank"), Scope.everywhere()


@pytest.fixture
def memory_with_events(memory):
    """A global memory to which everything happened that an event can tell; another project's memories have high numbers."""
    ours = memory.remember("ours", scope=EVERYWHERE, key="ours").memory
    for number in range(40):
        memory.remember(f"filler {number}", scope=BANK)
    near = [memory.remember(f"the bank runs its batch at night, says {who}", scope=BANK).memory for who in ("Ann", "Ben")]
    theirs = memory.remember("theirs", scope=BANK, key="theirs").memory
    gone = memory.remember("soon gone", scope=BANK, key="gone").memory
    for kind in ("relates", "supersedes", "contradicts", "derived_from"):
        for other in ("theirs", "gone"):
            memory.link("ours", kind, other, scope=BANK)
            memory.link(other, kind, "ours", scope=BANK)
    memory.unlink("ours", "relates", "theirs", scope=BANK)
    promoted = memory.remember("was the bank's", scope=BANK, key="promoted").memory
    memory.link("promoted", "relates", "theirs", scope=BANK)
    memory.promote("promoted", scope=BANK)
    memory.link("promoted", "supersedes", "theirs", scope=BANK)
    memory.forget("gone", scope=BANK)
    memory.purge(["gone"], scope=BANK)
    for words in ("We always deploy on Fridays after the review", "We always deploy on Fridays, after the review"):
        memory.remember(words, scope=EVERYWHERE)
        memory.remember(words, scope=BANK)
    memory.reindex()
    hidden = {one.number for one, _ in memory.everything() if one.scope == BANK} | {gone.number}
    assert {theirs.number, gone.number, *(one.number for one in near)} <= hidden
    return memory, hidden, ours.number, promoted.number


def numbers(value):
    """Every number that stands anywhere in a value."""
    if isinstance(value, dict):
        return {number for part in value.values() for number in numbers(part)}
    if isinstance(value, (list, tuple)):
        return {number for part in value for number in numbers(part)}
    return {value} if isinstance(value, int) else set()


def test_events_never_name_another_projects_memory(memory_with_events):
    memory, hidden, *refs = memory_with_events
    for scope in (SHOP, EVERYWHERE):
        for ref in (None, *refs):
            events = memory.events(ref, scope=scope, limit=1000)
            assert {event.action for event in events} >= {"linked"}
            for event in events:
                assert event.memory_number not in hidden
                detail = {name: value for name, value in event.detail.items() if name not in ("version", "mirror")}
                assert not numbers(detail) & hidden, event
            assert not [1 for event in events if event.memory_id and memory.show(event.memory_id, scope=BANK).scope == BANK]


def test_a_link_event_is_visible_where_both_memories_are_even_after_a_purge(memory_with_events):
    memory, _, ours, _ = memory_with_events
    events = memory.events(ours, scope=BANK, limit=1000)
    linked = [event for event in events if event.action in ("linked", "unlinked")]
    assert len(linked) == 9
    assert all(isinstance(event.detail["to"], int) for event in linked)


def test_the_command_line_shows_no_number_of_another_projects_memory(run):
    run("remember", "ours", "--global", "--key", "ours")
    run("remember", "theirs", "--project", "bank", "--key", "theirs")
    theirs = run("show", "theirs", "--project", "bank", "--json").data["number"]
    run("link", "ours", "relates", "theirs", "--project", "bank")
    for ref in ([], ["ours"]):
        linked = next(one for one in run("events", *ref, "--json").data["events"] if one["action"] == "linked")
        assert linked["detail"] == {"kind": "relates"}
        assert f"to {theirs}" not in run("events", *ref).out
        assert f"to {theirs}" in run("events", *ref, "--project", "bank").out
    assert json.dumps(run("history", "ours", "--json").data).count(f'"{theirs}"') == 0


@pytest.mark.parametrize("operation", ["events", "runs", "meter"])
def test_a_start_without_a_time_zone_is_refused_with_what_to_do(memory, operation):
    with pytest.raises(InvalidInput, match="time zone"):
        getattr(memory, operation)(scope=SHOP, since=datetime(2026, 1, 1))  # noqa: DTZ001 - that is the mistake


def test_an_event_of_a_global_memory_names_only_runs_that_the_reader_sees(memory):
    memory.remember("everywhere", scope=Scope.everywhere())
    for scope, run in ((SHOP, "mine"), (BANK, "acquire-acme"), (Scope.session("shop", "monday"), "of monday")):
        memory.compose(Task(title="x"), scope=scope, run=run)
        memory.outcome(run, "success", scope=scope)

    def named(reader, **where):
        return [event.detail.get("run") for event in reader.events(1, **where) if event.action == "learned"]

    assert named(memory, scope=SHOP) == ["of monday", None, "mine"]
    assert named(memory, scope=BANK) == [None, "acquire-acme", None]
    assert named(memory, scope=Scope.everywhere()) == [None, None, None]
    after = [event.detail.get("run") for event in memory.events_after(0).events if event.action == "learned"]
    assert after == ["mine", "acquire-acme", "of monday"]
    for bounds, seen in (
        ({"projects": ("shop",)}, ["mine", None, "of monday"]),
        ({"projects": ("shop",), "layers": (Layer.PROJECT, Layer.EVERYWHERE)}, ["mine", None, None]),
    ):
        bound = Service(memory._store, memory._settings, BoundActor("token", **bounds), memory._clock)
        assert named(bound, scope=SHOP) == seen[::-1]
        known = [event for event in bound.events_after(0).events if event.action == "learned"]
        assert [event.detail.get("run") for event in known] == seen


def test_an_actor_with_bounds_gets_no_event_from_the_time_when_a_global_memory_was_another_projects(memory):
    memory.remember("the bank's", scope=BANK)
    memory.pin(1, scope=BANK)
    memory.promote(1, scope=BANK)
    memory.unpin(1, scope=BANK)

    def known(*projects):
        bound = Service(memory._store, memory._settings, BoundActor("token", projects=projects), memory._clock)
        return [(event.action, event.project) for event in bound.events_after(0).events]

    assert known("shop") == [("promoted", ""), ("unpinned", "")]
    assert known("bank") == [("remembered", "bank"), ("pinned", "bank"), ("promoted", ""), ("unpinned", "")]


def test_an_event_of_another_projects_run_with_the_same_id_is_not_taken_for_an_own_one(memory):
    memory.compose(Task(title="x"), scope=SHOP, run="build-1")
    memory.remember("everywhere", scope=Scope.everywhere())
    memory.compose(Task(title="x"), scope=BANK, run="build-1")
    memory.outcome("build-1", "success", scope=BANK)
    (learned,) = [event for event in memory.events(1, scope=SHOP) if event.action == "learned"]
    assert "run" not in learned.detail


def test_the_history_of_a_promoted_memory_does_not_name_the_project_that_it_came_from(memory):
    memory.remember("a fact", scope=Scope.session("secret", "hidden"))
    memory.promote(1, scope=Scope.session("secret", "hidden"))
    memory.promote(1, scope=Scope.project("secret"))
    assert [str(version.memory.scope) for version in memory.history(1, scope=Scope.project("secret"))] == [
        "session hidden of project secret", "project secret", "the global layer"
    ]  # several entries per line  # fmt: skip
    assert {version.memory.scope for version in memory.history(1, scope=SHOP)} == {Scope.everywhere()}
    bounds = {"projects": ("secret",), "layers": (Layer.PROJECT, Layer.EVERYWHERE)}
    bound = Service(memory._store, memory._settings, BoundActor("token", **bounds), memory._clock)
    assert [str(version.memory.scope) for version in bound.history(1, scope=Scope.project("secret"))] == [
        "the global layer", "project secret", "the global layer"
    ]  # several entries per line  # fmt: skip


def test_why_does_not_name_the_project_from_which_a_memory_was_promoted_later(memory, clock):
    memory.remember("a fact", scope=Scope.project("secret"))
    clock.step(60)
    memory.compose(Task(title="x"), scope=SHOP, run="one")
    clock.step(60)
    memory.promote(1, scope=Scope.project("secret"))
    (explained,) = memory.why("one", 1, scope=SHOP)
    assert explained.memory.scope == Scope.everywhere()
