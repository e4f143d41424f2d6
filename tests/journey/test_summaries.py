"""Summaries: old entries become a short text and are archived, what matters stays word for word, all can be undone."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

import omoide
from bench.project_log import make_log
from journey.model_server import ModelServer
from omoide import Draft, InvalidInput, LinkKind, NotAllowed, NotFound, Role, Scope, State
from omoide.guard.permissions import BoundActor
from omoide.model import Layer

PATH = "backend/python/shop"
SHOP = Scope.project(PATH)
MONDAY = Scope.session(PATH, "monday")
LOG = [
    "We decided to use PostgreSQL 16 for orders because SQLite locked at 40 writers.",
    "Running the tests for checkout now.",
    "Still working on checkout.",
    "db-staging-2 listens on port 5433.",
    "認証は JWT を採用することにした。理由はセッション共有が不要なため。",
    "今テストを流しています。",
    "CI is green again.",
    "db-staging-2 listens on port 5433.",
    "Pushed the branch.",
    "Reviewed the pull request of Tom.",
]
PROGRESS = [text for text in LOG if text.startswith(("Running", "Still", "今", "CI", "Pushed", "Reviewed"))]


@pytest.fixture
def server():
    server = ModelServer()
    yield server
    server.close()


def fill(memory, clock, *, scope=SHOP, times=3):
    """A project with a log of some weeks, and what has to stay; a month later."""
    if memory.project(scope.path) is None:
        memory.create_project(scope.path)
    for n in range(times):
        for text in LOG:
            memory.append_activity(text.replace("16", f"16.{n}") if n else text, scope=scope)
            clock.step(3_600)
    clock.step(30 * 86_400)


def active(memory, scope=SHOP):
    return [one for one in memory.list(scope=scope, limit=1_000).memories if one.scope.path]


def texts(memory, scope=SHOP):
    return sorted(one.content for one in active(memory, scope))


@pytest.fixture
def log(memory, clock):
    fill(memory, clock)
    return memory


def test_old_entries_are_replaced_by_a_summary_and_archived(log):
    before = texts(log)
    done = log.summarize(scope=SHOP, force=True)
    assert done.success
    assert done.trouble == ""
    assert (done.entries_summarized, done.entries_preserved) == (len(before), 0)
    (summary,) = active(log)
    assert "PostgreSQL 16 for orders because SQLite locked at 40 writers" in summary.content
    assert "認証は JWT を採用することにした。理由はセッション共有が不要なため。" in summary.content
    assert summary.content.count("db-staging-2 listens on port 5433") == 1
    assert not any(text in summary.content for text in PROGRESS)
    archived = log.list(scope=SHOP, states=[State.ARCHIVED], limit=100).memories
    assert sorted(one.content for one in archived) == before


def test_the_entries_are_reached_from_the_summary_by_links(log):
    entries = {one.id for one in active(log)}
    (summary,) = log.summarize(scope=SHOP, force=True).summaries
    links = log.links(summary.number, scope=SHOP)
    assert {link.target for link in links} == entries
    assert {(link.source, link.kind) for link in links} == {(summary.id, LinkKind.DERIVED_FROM)}


def test_pinned_memories_decisions_knowledge_and_the_last_week_stay_word_for_word(log, clock):
    old = log.list(scope=SHOP, limit=100).memories
    log.pin(old[0].number, scope=SHOP)
    clock.step(40 * 86_400)
    log.remember("固定: 金曜日にデプロイしない", scope=SHOP, pinned=True)
    kept = [
        log.remember("We use JWT", scope=SHOP, type="decision").memory,
        log.remember("Prefer tabs", scope=SHOP, type="preference").memory,
        log.remember("tests live in tests/", scope=SHOP, tags=["tests/**"]).memory,
        log.remember("the answer", scope=SHOP, key="answer").memory,
        log.remember("an example", scope=SHOP, examples=["print(1)"]).memory,
    ]
    clock.step(8 * 86_400)
    recent = log.append_activity("Running the tests again.", scope=SHOP)
    clock.step(6 * 86_400)
    done = log.summarize(scope=SHOP, force=True)
    contents = texts(log)
    assert {one.content for one in kept} | {recent.content, old[0].content, "固定: 金曜日にデプロイしない"} <= set(contents)
    assert done.entries_summarized == len(old) - 1
    assert done.entries_preserved == 8
    assert done.preserved == {"pinned": 2, "decision": 1, "knowledge": 4, "recent": 1}


def test_a_project_is_due_when_its_files_pass_the_threshold(tmp_path, clock, open_memory):
    memory = open_memory(tmp_path / "memory.db", summarize_threshold=3_000)
    memory.create_project(PATH)
    assert not memory.summary_due(scope=SHOP)
    fill(memory, clock, times=1)
    assert memory.project_files(PATH).log_bytes < 3_000
    assert not memory.summary_due(scope=SHOP)
    done = memory.summarize(scope=SHOP)
    assert (done.success, done.is_due, done.entries_summarized, done.backup_path) == (True, False, 0, "")
    fill(memory, clock, times=2)
    assert memory.summary_due(scope=SHOP)
    assert memory.summary_due(scope=MONDAY)
    assert memory.summarize(scope=MONDAY).entries_summarized == 30
    assert not memory.summary_due(scope=SHOP)
    assert not memory.summary_due(scope=Scope.everywhere())
    assert not memory.summary_due(scope=Scope.project("unknown"))


def test_a_threshold_of_0_is_never_passed(tmp_path, clock, open_memory):
    memory = open_memory(tmp_path / "memory.db", summarize_threshold=0)
    fill(memory, clock)
    assert not memory.summary_due(scope=SHOP)
    assert memory.summarize(scope=SHOP).entries_summarized == 0


def test_a_project_that_is_large_without_old_entries_is_not_due(tmp_path, clock, open_memory):
    memory = open_memory(tmp_path / "memory.db", summarize_threshold=100)
    fill(memory, clock)
    memory.summarize(scope=SHOP)
    for text in LOG:
        memory.append_activity(text, scope=SHOP)
    assert memory.project_files(PATH).log_bytes > 100
    assert not memory.summary_due(scope=SHOP)


def test_the_files_of_the_tree_follow_and_a_dry_run_shows_them_before(log, clock):
    log.start_session(scope=MONDAY)
    for text in LOG:
        log.append_activity(text, scope=MONDAY, type="note")
    clock.step(30 * 86_400)
    before = log.project_files(PATH)
    backups = Path(log.location).parent / "backups"
    preview = log.summarize(scope=SHOP, dry_run=True)
    assert log.project_files(PATH) == before
    assert not backups.exists()
    assert {file.name for file in preview.files} == {"MEMORY.md", "MEMORY_monday.md"}
    assert preview.before == "\n".join(file.text for file in (before.memory, *before.sessions))
    done = log.summarize(scope=SHOP, force=True)
    after = log.project_files(PATH)
    assert (
        (done.original_size, done.new_size)
        == (before.log_bytes, after.log_bytes)
        == (preview.original_size, preview.new_size)
    )
    assert done.new_size * 2 < done.original_size
    shown = "\n".join(file.text for file in (after.memory, *after.sessions))
    ids = zip([one.id for one in preview.summaries], [one.id for one in done.summaries], strict=True)
    expected = preview.after
    for old, new in ids:
        expected = expected.replace(old, new)
    assert shown == expected
    assert {one.scope for one in done.summaries} == {SHOP, MONDAY}
    assert "- [monday](MEMORY_monday.md)" in after.memory.text


def test_text_of_a_persons_own_in_memory_md_survives(log):
    file = Path(log.project_files(PATH).memory.path)
    text = file.read_text(encoding="utf-8").replace("## セッション", "自分用のメモ: 触らないで\n\n## セッション")
    file.write_text(text, encoding="utf-8")
    log.summarize(scope=SHOP, force=True)
    assert "自分用のメモ: 触らないで" in file.read_text(encoding="utf-8")
    assert "Running the tests" not in file.read_text(encoding="utf-8")


def test_summarising_again_does_nothing(log):
    assert log.summarize(scope=SHOP, force=True).entries_summarized
    before = log.latest_event()
    again = log.summarize(scope=SHOP, force=True)
    assert (again.success, again.entries_summarized, again.backup_path, again.summaries) == (True, 0, "", [])
    assert log.latest_event() == before


def test_undo_brings_the_entries_back_and_forgets_the_summary(log, clock):
    before = texts(log)
    files = log.project_files(PATH)
    (summary,) = log.summarize(scope=SHOP, force=True).summaries
    clock.step()
    log.append_activity("written in between", scope=SHOP)
    undone = log.undo_summary(scope=SHOP)
    assert texts(log) == sorted([*before, "written in between"])
    assert [one.number for one in undone.forgotten] == [summary.number]
    assert log.show(summary.number, scope=SHOP).state is State.FORGOTTEN
    assert log.history(summary.number, scope=SHOP)[0].memory.content == summary.content
    assert sorted(files.memory.text.splitlines()) == sorted(
        line for line in log.project_files(PATH).memory.text.splitlines() if "written in between" not in line
    )
    again = log.undo_summary(scope=SHOP)
    assert again.restored == again.forgotten == again.edited == []


def test_undo_leaves_what_was_changed_since(log, clock):
    (summary,) = log.summarize(scope=SHOP, force=True).summaries
    first, second, *_ = log.list(scope=SHOP, states=[State.ARCHIVED], limit=100).memories
    clock.step()
    log.forget(first.number, scope=SHOP)
    log.restore(second.number, scope=SHOP)
    log.archive(second.number, scope=SHOP)
    log.revise(summary.number, scope=SHOP, content=f"{summary.content}\n- 自分で書き足した行")
    undone = log.undo_summary(scope=SHOP)
    assert {first.number, second.number}.isdisjoint(one.number for one in undone.restored)
    assert log.show(first.number, scope=SHOP).state is State.FORGOTTEN
    assert log.show(second.number, scope=SHOP).state is State.ARCHIVED
    assert ([one.number for one in undone.edited], undone.forgotten) == ([summary.number], [])
    assert "自分で書き足した行" in log.show(summary.number, scope=SHOP).content


def test_undo_goes_back_beyond_a_summary_that_somebody_changed(log, clock):
    log.summarize(scope=SHOP, force=True)
    clock.step()
    fill(log, clock, times=2)
    clock.step(10 * 86_400)
    (second,) = log.summarize(scope=SHOP, force=True).summaries
    clock.step()
    log.revise(second.number, scope=SHOP, content="my own words")
    assert len(log.undo_summary(scope=SHOP).restored) >= 20
    assert len(log.undo_summary(scope=SHOP).restored) == 30
    assert "my own words" in texts(log)


def test_a_memory_that_only_looks_like_a_summary_is_not_undone(log):
    fake = log.remember("my summary", scope=SHOP, type="context", tags=["summary"], source="summary").memory
    undone = log.undo_summary(scope=SHOP)
    assert (undone.restored, undone.forgotten) == ([], [])
    assert log.show(fake.number, scope=SHOP).state is State.ACTIVE


def test_a_summary_whose_size_cannot_be_read_afterwards_is_reported_as_done(log, monkeypatch):
    files, asked = log._log_files, []

    def fail_the_second_time(tx, project):
        asked.append(project)
        if len(asked) > 1:
            raise omoide.StoreBusy("busy")
        return files(tx, project)

    monkeypatch.setattr(log, "_log_files", fail_the_second_time)
    done = log.summarize(scope=SHOP, force=True)
    assert (done.success, done.entries_summarized) == (True, 30)
    assert "its size is not known: busy" in done.trouble


def test_undo_works_after_the_summary_was_forgotten_or_archived(log, clock):
    before = texts(log)
    for verb in (log.forget, log.archive):
        (summary,) = log.summarize(scope=SHOP, force=True).summaries
        clock.step()
        verb(summary.number, scope=SHOP)
        log.undo_summary(scope=SHOP)
        assert texts(log) == before
        clock.step(30 * 86_400)


def test_a_later_summary_keeps_every_line_of_the_earlier_one(log, clock):
    (first,) = log.summarize(scope=SHOP, force=True).summaries
    points = [line for line in first.content.splitlines() if line.startswith("- ")]
    clock.step(30 * 86_400)
    for n in range(9):
        log.append_activity(f"We agreed on limit {n} for search-node-{n}." if n % 3 == 0 else PROGRESS[n % 4], scope=SHOP)
        clock.step(60)
    clock.step(30 * 86_400)
    done = log.summarize(scope=SHOP, force=True)
    (second,) = done.summaries
    assert set(points) <= set(second.content.splitlines())
    assert all(f"limit {n} for search-node-{n}" in second.content for n in (0, 3, 6))
    assert log.show(first.number, scope=SHOP).state is State.ARCHIVED
    assert first.id in {link.target for link in log.links(second.number, scope=SHOP)}
    log.undo_summary(scope=SHOP)
    assert log.show(first.number, scope=SHOP).state is State.ACTIVE
    log.undo_summary(scope=SHOP)
    assert len(active(log)) == len(LOG) * 3 + 9


def test_each_session_has_a_summary_of_its_own(memory, clock):
    memory.create_project(PATH)
    other = Scope.session(PATH, "火曜日")
    for scope in (MONDAY, other):
        memory.start_session(scope=scope)
        for text in LOG:
            memory.append_activity(text.replace("5433", f"5433 ({scope.name})"), scope=scope, type="note")
    clock.step(30 * 86_400)
    done = memory.summarize(scope=SHOP, force=True)
    assert {one.scope for one in done.summaries} == {MONDAY, other}
    for one in done.summaries:
        assert ("火曜日" in one.content) == (one.scope == other)


def test_the_backup_has_all_memories_of_the_project_and_can_be_imported(log, tmp_path, clock, run):
    before = texts(log)
    done = log.summarize(scope=SHOP, force=True)
    backup = Path(done.backup_path)
    assert sorted(json.loads(line)["content"] for line in backup.read_text(encoding="utf-8").splitlines()) == before
    assert backup.stat().st_mode & 0o077 == 0
    other = tmp_path / "other.db"
    assert run("import", str(backup), "--store", str(other)).code == 0
    with omoide.open(other, clock=clock) as restored:
        assert texts(restored) == before


def test_only_the_newest_backups_are_kept(tmp_path, clock, open_memory):
    memory = open_memory(tmp_path / "memory.db", max_backups=2)
    paths = []
    for _ in range(4):
        fill(memory, clock, times=1)
        paths.append(memory.summarize(scope=SHOP, force=True).backup_path)
    assert sorted(map(str, (tmp_path / "backups" / PATH).iterdir())) == sorted(paths[-2:])


def test_a_backup_that_cannot_be_written_changes_nothing_and_is_reported(log, tmp_path):
    before, last = texts(log), log.latest_event()
    (tmp_path / "backups").write_text("in the way")
    done = log.summarize(scope=SHOP, force=True)
    assert not done.success
    assert "no backup can be written" in done.trouble
    assert (done.new_size, done.entries_summarized, done.backup_path) == (done.original_size, 0, "")
    assert (texts(log), log.latest_event()) == (before, last)


def test_a_purge_reaches_the_backups_of_summaries(log):
    first = active(log)[0]
    done = log.summarize(scope=SHOP, force=True)
    log.forget(first.number, scope=SHOP)
    report = log.purge([first.number], scope=SHOP, everywhere=True)
    assert done.backup_path in {copy.path for copy in report.copies}
    assert first.id not in Path(done.backup_path).read_text(encoding="utf-8")


def test_a_project_without_a_tree_is_summarised_too(tmp_path, clock, open_memory):
    memory = open_memory(tmp_path / "memory.db", tree_root="off", summarize_threshold=1_000)
    fill(memory, clock)
    assert memory.summary_due(scope=SHOP)
    preview = memory.summarize(scope=SHOP, dry_run=True)
    done = memory.summarize(scope=SHOP)
    assert done.new_size == preview.new_size < done.original_size / 2
    assert not memory.summary_due(scope=SHOP)


def test_a_project_without_a_tree_is_due_by_the_size_that_is_reported(tmp_path, clock, open_memory):
    memory = open_memory(tmp_path / "memory.db", tree_root="off")
    fill(memory, clock)
    size = memory.summarize(scope=SHOP, dry_run=True).original_size
    for threshold, is_due in ((size - 1, True), (size, False)):
        other = open_memory(tmp_path / "memory.db", tree_root="off", summarize_threshold=threshold)
        assert other.summary_due(scope=SHOP) is is_due
        assert other.summarize(scope=SHOP, dry_run=True).is_due is is_due


# roles


def test_a_worker_may_ask_whether_a_summary_is_due_but_not_make_one(log):
    worker = log.acting_as("builder")
    assert not worker.summary_due(scope=SHOP)
    for verb in (worker.summarize, worker.undo_summary):
        with pytest.raises(NotAllowed, match="builder is a worker"):
            verb(scope=SHOP)


def test_a_token_that_is_bound_to_a_project_summarises_that_project_alone(tmp_path, log, clock):
    fill(log, clock, scope=Scope.project("bank"))
    bound = omoide.open(tmp_path / "memory.db", actor=BoundActor("ci", Role.ADMIN, "http", (PATH,)), clock=clock)
    assert bound.summarize(scope=SHOP, force=True).entries_summarized
    with pytest.raises(NotAllowed, match="bank"):
        bound.summarize(scope=Scope.project("bank"), force=True)
    assert bound.undo_summary(scope=SHOP).restored
    bound.close()


def test_a_token_that_is_bound_to_sessions_leaves_the_project_itself_alone(tmp_path, log, clock):
    log.start_session(scope=MONDAY)
    for text in LOG:
        log.append_activity(text, scope=MONDAY, type="note")
    clock.step(30 * 86_400)
    actor = BoundActor("ci", Role.ADMIN, "http", (PATH,), (Layer.SESSION,))
    bound = omoide.open(tmp_path / "memory.db", actor=actor, clock=clock)
    done = bound.summarize(scope=SHOP, force=True)
    assert {one.scope for one in done.summaries} == {MONDAY}
    assert done.entries_preserved == 0
    bound.close()
    assert len(active(log)) == len(LOG) * 3 + 1


def test_a_summary_of_what_a_worker_wrote_counts_as_the_workers(memory, clock):
    memory.create_project(PATH)
    for n, text in enumerate(LOG):
        (memory if n else memory.acting_as("builder")).append_activity(text, scope=SHOP)
    clock.step(30 * 86_400)
    (summary,) = memory.summarize(scope=SHOP, force=True).summaries
    assert (summary.author.name, summary.author.role) == ("builder", Role.WORKER)


def test_only_a_project_that_exists_can_be_summarised(memory):
    for verb in (memory.summarize, memory.undo_summary):
        with pytest.raises(InvalidInput, match="name a project"):
            verb(scope=Scope.everywhere())
        with pytest.raises(NotFound, match="no project ghost"):
            verb(scope=Scope.project("ghost"))


# changes meanwhile


def test_an_entry_that_is_changed_meanwhile_stays_and_the_rest_is_summarised(tmp_path, log, clock, monkeypatch):
    entry = next(one for one in active(log) if "PostgreSQL 16 " in one.content)
    other = omoide.open(tmp_path / "memory.db", clock=clock)
    backed_up = log._back_up_project

    def write_meanwhile(project):
        other.revise(entry.number, scope=SHOP, content="We decided to use MySQL 8 after all.")
        return backed_up(project)

    monkeypatch.setattr(log, "_back_up_project", write_meanwhile)
    done = log.summarize(scope=SHOP, force=True)
    assert done.success
    assert done.trouble == "1 entry changed meanwhile and stays as it is"
    assert done.preserved == {"changed": 1}
    assert log.show(entry.number, scope=SHOP).content == "We decided to use MySQL 8 after all."
    (summary,) = done.summaries
    assert "PostgreSQL 16 " not in summary.content
    assert "JWT" in summary.content
    assert done.entries_summarized == len(LOG) * 3 - 1
    other.close()


def test_an_edit_of_the_file_meanwhile_wins(log, monkeypatch):
    file = Path(log.project_files(PATH).memory.path)
    backed_up = log._back_up_project

    def edit_meanwhile(project):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("PostgreSQL 16 for orders", "MySQL 8 for orders"), encoding="utf-8")
        return backed_up(project)

    monkeypatch.setattr(log, "_back_up_project", edit_meanwhile)
    done = log.summarize(scope=SHOP, force=True)
    assert done.success
    assert any("MySQL 8 for orders" in one.content for one in active(log))
    assert "MySQL 8 for orders" in file.read_text(encoding="utf-8")
    assert all("PostgreSQL 16 for orders" not in one.content for one in done.summaries)


def test_an_edit_of_the_file_at_the_moment_of_the_commit_is_not_lost(log, monkeypatch):
    file = Path(log.project_files(PATH).memory.path)
    add = log._add_summary

    def edit_at_the_last_moment(*arguments):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("PostgreSQL 16 for orders", "MySQL 8 for orders"), encoding="utf-8")
        return add(*arguments)

    monkeypatch.setattr(log, "_add_summary", edit_at_the_last_moment)
    assert log.summarize(scope=SHOP, force=True).success
    assert sum("MySQL 8 for orders" in one.content for one in active(log)) == 1
    assert "MySQL 8 for orders" in file.read_text(encoding="utf-8")
    assert len(log.conflicts()) == 1


def test_a_log_that_never_rests_is_left_alone(log, monkeypatch):
    numbers = iter([one.number for one in active(log)])
    before = log._hooks.before_read

    def change_one(scope):
        before(scope)
        log.pin(next(numbers), scope=SHOP)

    monkeypatch.setattr("omoide.service.summaries._ATTEMPTS", 3)
    backed_up = log._back_up_project

    def begin(project):
        path = backed_up(project)
        monkeypatch.setattr(log._hooks, "before_read", change_one)
        return path

    monkeypatch.setattr(log, "_back_up_project", begin)
    done = log.summarize(scope=SHOP, force=True)
    monkeypatch.undo()
    assert not done.success
    assert "again and again" in done.trouble
    assert len(active(log)) == len(LOG) * 3


def test_two_summaries_at_once_do_not_both_run(tmp_path, log, clock, monkeypatch):
    other = omoide.open(tmp_path / "memory.db", clock=clock)
    backed_up, refused = log._back_up_project, []

    def another(project):
        refused.append(other.summarize(scope=SHOP, force=True))
        return backed_up(project)

    monkeypatch.setattr(log, "_back_up_project", another)
    assert log.summarize(scope=SHOP, force=True).success
    assert [(one.success, one.entries_summarized) for one in refused] == [(False, 0)]
    assert "another summary is running" in refused[0].trouble
    other.close()


# 500 entries


@pytest.mark.parametrize("wordings", ["known", "held_out"])
def test_500_entries_are_halved_and_the_details_of_decisions_stay(memory, clock, wordings):
    entries = make_log(500, wordings=wordings)
    memory.create_project(PATH)
    for name in ("one", "two"):
        memory.start_session(scope=Scope.session(PATH, name))
    scopes = [SHOP, SHOP, SHOP, Scope.session(PATH, "one"), Scope.session(PATH, "two")]
    for n, entry in enumerate(entries):
        clock.now = entry.at
        memory.append_activity(entry.text, scope=scopes[n % 5])
    clock.step(timedelta(days=8).total_seconds())
    assert memory.summary_due(scope=SHOP)
    done = memory.summarize(scope=SHOP)
    assert done.entries_summarized == 500
    assert done.new_size * 2 <= done.original_size
    points = [line.lower() for one in active(memory) for line in one.content.splitlines()]
    wanted = kept = 0
    for entry in entries:
        # All in one line: a number that only stands somewhere else says nothing about this decision.
        found = max(sum(detail.lower() in line for detail in entry.details) for line in points)
        wanted, kept = wanted + len(entry.details), kept + found
    assert wanted > 250
    assert kept >= 0.95 * wanted


def test_a_long_log_becomes_several_summaries_of_limited_size(memory, clock):
    memory.create_project(PATH)
    memory.remember_many([Draft(f"Note {n}: host-{n} has {n} disks. " * 20, SHOP, created_at=clock.now) for n in range(400)])
    clock.step(30 * 86_400)
    done = memory.summarize(scope=SHOP, force=True)
    assert all(len(one.content.encode()) < 15_000 for one in done.summaries)
    assert len(done.summaries) > 1


def test_the_events_say_who_summarised_what_into_which_memory(log):
    entries = {one.number for one in active(log)}
    admin = log.acting_as(None)
    (summary,) = admin.summarize(scope=SHOP, force=True).summaries
    made, *archived = log.events(scope=SHOP, limit=len(entries) + 1)[::-1]
    assert (made.action, made.memory_number) == ("summarized", summary.number)
    assert {(event.action, event.detail["into"]) for event in archived} == {("archived", summary.number)}
    assert {event.memory_number for event in archived} == entries


# the command line


@pytest.fixture
def shop(run, place, monkeypatch):
    """Project shop of the command line, with a log of a month ago."""
    with omoide.open(place / "memory.db") as memory:
        memory.create_project("shop")
        old = omoide.model.now() - timedelta(days=40)
        memory.remember_many(
            [
                Draft(
                    text.replace("16", f"16.{n}"),
                    Scope.project("shop"),
                    type="activity",
                    created_at=old + timedelta(hours=n),
                )
                for n, text in enumerate(LOG * 3)
            ]
        )
    return place / "projects" / "shop" / "MEMORY.md"


def test_the_command_shows_what_would_go_and_what_would_come_and_changes_nothing(run, shop):
    before = shop.read_text(encoding="utf-8")
    shown = run("summarize", "--dry-run")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[0].startswith("MEMORY.md  ")
    assert sum(line.startswith("- ") for line in lines) == 13
    assert "- … and 18 entries more" in lines
    assert "+   Decisions" in lines
    assert any(line.startswith("30 entries would be archived, 1 summary in their place") for line in lines)
    assert "0 memories kept as they are" in lines
    assert "--force summarises anyway" in shown.err
    assert shop.read_text(encoding="utf-8") == before


def test_the_command_summarises_only_what_is_due_unless_forced_and_undoes_it(run, shop):
    before = shop.read_text(encoding="utf-8")
    not_due = run("summarize")
    assert (not_due.code, not_due.out) == (0, "")
    assert "is not due for a summary" in not_due.err
    done = run("summarize", "--force")
    assert done.code == 0
    assert "Decisions" in done.out
    assert "backup: " in done.err
    assert len(shop.read_text(encoding="utf-8")) < len(before) / 2
    assert "nothing to summarise" in run("summarize", "--force").err
    undone = run("summarize", "--undo")
    assert "30 entries restored" in undone.err
    assert sorted(shop.read_text(encoding="utf-8").splitlines()) == sorted(before.splitlines())
    assert "there is no summary to undo" in run("summarize", "--undo").err


def test_the_command_prints_json(run, shop):
    data = run("summarize", "--force", "--json").data
    assert (data["success"], data["entries_summarized"], data["entries_preserved"]) == (True, 30, 0)
    assert data["new_size"] * 2 < data["original_size"]
    assert Path(data["backup_path"]).exists()
    assert len(data["archived"]) == 30
    undone = run("summarize", "--undo", "--json").data
    assert len(undone["restored"]) == 30
    assert [memory["number"] for memory in undone["forgotten"]] == [memory["number"] for memory in data["summaries"]]


def test_a_failure_ends_the_command_with_1_and_says_that_nothing_changed(run, shop, place):
    (place / "backups").write_text("in the way")
    failed = run("summarize", "--force")
    assert failed.code == 1
    assert "nothing was changed: no backup can be written" in failed.err


def test_options_that_exclude_each_other_and_a_missing_project_are_refused(run, place, monkeypatch):
    assert run("summarize", "--undo", "--dry-run").code == 2
    monkeypatch.setenv("OMOIDE_PROJECT", "")
    assert "a summary needs a project" in run("summarize").err
    assert "no project ghost" in run("summarize", "--project", "ghost").err


def test_control_characters_of_entries_do_not_reach_the_terminal(run, place):
    with omoide.open(place / "memory.db") as memory:
        memory.create_project("shop")
        old = omoide.model.now() - timedelta(days=40)
        texts = [f"host-{n} \x1b[31mis red\x1b[0m. Running the tests now. Still at it. All tests pass." for n in range(9)]
        memory.remember_many([Draft(text, Scope.project("shop"), created_at=old) for text in texts])
    shown = run("summarize", "--dry-run")
    assert "host-3" in shown.out
    assert "\x1b" not in shown.out
