"""A summary, or its undo, that is killed at any step: all is as before or as after, in the database and in the files."""

import shutil
import signal
from datetime import timedelta

import pytest

from omoide import Draft, Scope, State
from omoide.model import now

SHOP = Scope.project("shop")
MONDAY = Scope.session("shop", "monday")
TEXTS = [
    "We decided to use PostgreSQL 16 because SQLite locked.",
    "Running the tests now.",
    "認証は JWT を採用することにした。",
    "今テストを流しています。",
    "CI is green again.",
    "db-staging-2 listens on port 5433.",
]


def fill(memory):
    memory.create_project("shop")
    memory.start_session(scope=MONDAY)
    old = now() - timedelta(days=100)
    drafts = [
        Draft(f"{text} ({n})" if n % 2 else text, scope, type="activity", created_at=old + timedelta(hours=n))
        for scope in (SHOP, MONDAY)
        for n, text in enumerate(TEXTS * 2)
    ]
    memory.remember_many(drafts)
    return len(drafts)


def stage(memory, entries):
    """Whether all is as before a summary, or as after it, also in the files."""
    assert memory.check() == []
    files = memory.project_files("shop")
    shown = "".join(file.text for file in (files.memory, *files.sessions))
    states = [one.state for one, _ in memory.everything() if one.source != "summary"]
    active = [one for one in memory.list(scope=SHOP, limit=100).memories if one.source == "summary"]
    is_before = states == [State.ACTIVE] * entries and not active and "Running the tests now." in shown
    is_after = states == [State.ARCHIVED] * entries and len(active) == 2 and "Running the tests now." not in shown
    is_after = is_after and shown.count("PostgreSQL 16") >= 2 and all(one.id in shown for one in active)
    assert is_before != is_after, (states, active, shown)
    return "before" if is_before else "after"


@pytest.mark.parametrize("undo", ["", "undo"])
@pytest.mark.parametrize("kind", ["statement", "file"])
def test_a_summary_killed_at_any_step_is_atomic(tmp_path, child, open_memory, long, kind, undo):
    work, model = tmp_path / "work", tmp_path / "model"
    work.mkdir()
    path = work / "memory.db"
    with open_memory(path, embedder="off", clock=now) as memory:
        entries = fill(memory)
        if undo:
            assert memory.summarize(scope=SHOP, force=True).entries_summarized == entries
    work.rename(model)  # the database knows where its files are: every copy of it stands in the same place
    # Twice: the first process may also write compiled modules, and a slow one looks at files more often.
    last = min(int(_run(child, model, work, kind, 0, undo).stdout.read()) for _ in range(2))
    assert last > (10 if kind == "statement" else 3)
    before, after = ("after", "before") if undo else ("before", "after")
    stages = []
    for step in (
        range(1, last + 1) if long else sorted({*range(1, last, last // 10 or 1), *range(max(1, last - 3), last + 1)})
    ):
        code = _run(child, model, work, kind, step, undo).returncode
        assert code == -signal.SIGKILL or (code == 0 and step > last - 3)  # a quick one may have a step less
        with open_memory(path, embedder="off", clock=now) as memory:
            stages.append(stage(memory, entries))
            if not undo:
                memory.summarize(scope=SHOP, force=True)
                assert stage(memory, entries) == "after"
                assert not list(work.rglob("*.part"))
            memory.undo_summary(scope=SHOP)
            assert stage(memory, entries) == "before"
    assert stages == sorted(stages, key=[before, after].index), "once, and never anything else"
    assert stages[0] == before
    assert stages[-1] == after


def _run(child, model, work, kind, step, undo):
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(model, work)
    process = child("summarize_until", work / "memory.db", kind, step, undo)
    process.wait()
    return process
