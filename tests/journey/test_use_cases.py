"""Use cases of the service that several interfaces offer: both report the same facts."""

import gzip
from pathlib import Path

import msgspec
import pytest

from omoide import Conflict, InvalidInput, NotAllowed, NotFound, Role, Scope
from omoide.interfaces.mcp.context import CallContext, ServiceHandle
from omoide.interfaces.mcp.request import RequestContext
from omoide.interfaces.mcp.tools.maintenance import TOOLS
from omoide.model import Actor

SHOP = Scope.project("shop")


# stats


def test_the_command_and_the_tool_report_the_same_statistics(run, open_memory, place):
    run("remember", "a", "--type", "decision")
    run("remember", "b", "--global")
    run("remember", "c", "--session", "monday")
    run("forget", "3")
    command = run("stats", "--json").data
    stats = {tool.name: tool for tool in TOOLS}["stats"]
    with open_memory(place / "memory.db") as memory:
        context = CallContext(ServiceHandle(lambda: memory))
        answer = stats.run(context, stats.arguments(), RequestContext({}))
    tool = msgspec.to_builtins(answer.value)
    assert tool["count"] == command["memories"] == 3
    assert tool["by_state"] == {state: count for state, count in command["by_state"].items() if count}
    assert list(tool["by_type"].items()) == list(command["by_type"].items())
    assert [(path or None, count) for path, count in tool["by_project"].items()] == [
        (row["project"], row["memories"]) for row in command["by_project"]
    ]
    assert tool["vectors"] == command["vectors"]
    assert tool["newest_change"] == command["newest_change"]


def test_a_store_without_memories_has_statistics_too(memory):
    memory.create_project("shop")
    stats = memory.stats()
    assert (stats.count, stats.by_type) == (0, {})
    assert set(stats.by_state.values()) == {0}
    assert stats.bytes > 0


# purge


def test_a_purge_without_names_selects_the_forgotten_memories_of_the_scope_itself(memory):
    monday = Scope.session("shop", "monday")
    for number, scope in enumerate((SHOP, monday, Scope.everywhere(), Scope.project("bank")), start=1):
        memory.remember(f"note {number}", scope=scope)
        memory.forget(number, scope=scope)
    memory.remember("active", scope=SHOP)
    selected = {
        scope: {each.number for each in memory.purge_candidates(scope=scope)} for scope in (SHOP, monday, Scope.everywhere())
    }
    assert selected == {SHOP: {1, 2}, monday: {2}, Scope.everywhere(): {3}}


def test_a_purge_with_names_selects_each_once_and_only_forgotten_ones(memory):
    memory.remember("a", scope=SHOP, key="k")
    memory.remember("b", scope=SHOP)
    memory.forget(1, scope=SHOP)
    assert [each.number for each in memory.purge_candidates(["k", 1], scope=SHOP)] == [1]
    with pytest.raises(Conflict, match="forget it first"):
        memory.purge_candidates([1, 2], scope=SHOP)
    with pytest.raises(NotFound):
        memory.purge_candidates([7], scope=SHOP)


def test_only_who_may_purge_sees_what_a_purge_would_select(tmp_path, open_memory):
    with (
        open_memory(tmp_path / "memory.db", actor=Actor("someone", Role.WORKER)) as worker,
        pytest.raises(NotAllowed, match="may purge"),
    ):
        worker.purge_candidates(scope=SHOP)


# sessions


def test_sessions_without_a_name_are_named_by_the_time_and_never_alike(memory, clock):
    names = [memory.start_session(scope=SHOP).scope.name for _ in range(3)]
    stamp = clock().astimezone().strftime("%Y-%m-%d-%H%M%S")
    assert names == [stamp, f"{stamp}-2", f"{stamp}-3"]
    assert {each.scope.name for each in memory.sessions(scope=SHOP)} == set(names)


def test_a_session_needs_a_project(memory):
    with pytest.raises(InvalidInput):
        memory.start_session(scope=Scope.everywhere())


# archives


def test_a_reindex_archives_the_database_beside_the_store_and_keeps_the_newest(tmp_path, open_memory, clock):
    archive = tmp_path / "archive"
    archive.mkdir()
    old = [f"memory_2020010{number}.db.gz" for number in range(1, 10)] + [
        "memory_20200109_2.db.gz",
        "memory_20200109_10.db.gz",
    ]
    others = ["another_20200101.db.gz", "memory_20200101.db", "notes.txt"]
    for name in (*old, *others):
        (archive / name).write_bytes(b"")
    with open_memory(tmp_path / "memory.db") as memory:
        memory.remember("one", scope=SHOP)
        made = Path(memory.reindex(archive=True).archive)
    assert made == archive / f"memory_{clock().astimezone():%Y%m%d}.db.gz"
    newest = {"memory_20200108.db.gz", "memory_20200109.db.gz", "memory_20200109_2.db.gz", "memory_20200109_10.db.gz"}
    assert {file.name for file in archive.iterdir()} == {made.name, *newest, *others}
    assert gzip.decompress(made.read_bytes()).startswith(b"SQLite format 3")


def test_a_reindex_that_fails_leaves_no_archive(tmp_path, open_memory):
    with open_memory(tmp_path / "memory.db") as memory:
        memory.remember("one", scope=SHOP)

        def fail(step, *_):
            if step == "comparing":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            memory.reindex(archive=True, watch=fail)
    assert list((tmp_path / "archive").iterdir()) == []


def test_a_backup_without_a_path_is_named_by_the_time(tmp_path, open_memory, clock):
    with open_memory(tmp_path / "memory.db") as memory:
        memory.remember("one", scope=SHOP)
        copy = memory.backup()
    assert copy == tmp_path / f"memory-{clock().astimezone():%Y%m%d-%H%M%S}.db"
    assert copy.exists()
