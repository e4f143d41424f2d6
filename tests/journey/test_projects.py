"""The commands for projects and sessions."""

import re
import subprocess
import unicodedata
from pathlib import Path

import pytest

from omoide.interfaces.cli import cli


def git_init(path):
    path.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    return path


def names(done):
    return [project["path"] for project in done.data["projects"]]


# create


def test_a_project_is_created_with_categories_and_description(run):
    done = run("project", "create", "backend/python/shop", "--description", "  The web\nshop ", "--json")
    assert done.code == 0
    made = done.data
    assert list(made) == ["path", "name", "category", "description", "root", "created_at", "tree"]
    assert (made["path"], made["name"], made["category"]) == ("backend/python/shop", "shop", "backend/python")
    assert (made["description"], made["root"]) == ("The web shop", None)
    assert run("project", "create", "店").out.startswith("created  店\n  ")
    assert run("project", "list", "--json").data["projects"][0]["category"] is None


def test_creating_an_existing_project_is_a_conflict(run):
    run("project", "create", "backend/shop", "--description", "first")
    run("remember", "this makes a project, too", "--project", "bank")
    for path in ("backend/shop", "bank"):
        again = run("project", "create", path, "--description", "second")
        assert (again.code, again.out) == (1, "")
        assert "already" in again.err
    assert run("project", "show", "backend/shop", "--json").data["description"] == "first"


@pytest.mark.parametrize("path", ["Backend/SHOP", "BACKEND/shop"])
def test_a_name_that_differs_only_in_case_is_refused(run, path):
    run("project", "create", "backend/shop")
    for arguments in (["create", path], ["show", path], ["describe", path, "x"]):
        done = run("project", *arguments)
        assert (done.code, done.out) == (1, "")
        assert "'backend/shop' that differs only in case" in done.err


def test_names_that_differ_only_in_unicode_composition_are_the_same(run):
    composed, decomposed = (unicodedata.normalize(form, "がくせい") for form in ("NFC", "NFD"))
    assert composed != decomposed
    run("project", "create", composed)
    assert run("project", "create", decomposed).code == 1
    assert run("project", "show", decomposed, "--json").data["path"] == composed
    run("session", "start", composed)
    assert run("session", "start", decomposed).code == 1


BAD = [
    "..",
    "a/../b",
    "/etc",
    "a//b",
    "a/b/c/d",
    "",
    " a",
    "a.",
    ".git",
    "CON",
    "nul.txt",
    "a:b",
    "a\\b",
    "a\x1bb",
    "あ" * 86,
]


@pytest.mark.parametrize("name", BAD)
def test_a_name_that_is_not_a_portable_directory_name_is_refused(run, name):
    for done in (run("project", "create", name), run("session", "start", name or " ")):
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("omoide: ")
        assert "\x1b" not in done.err
    assert run("project", "list", "--json").data == {"projects": []}


def test_the_longest_name_is_255_bytes(run):
    assert run("project", "create", "あ" * 85).code == 0
    assert run("session", "start", "あ" * 85).code == 0


def test_a_description_with_a_secret_is_refused(run):
    secret = "ghp_" + "a1B2" * 9
    assert run("project", "create", "safe", "--description", f"token {secret}").code == 2
    run("project", "create", "safe")
    assert run("project", "describe", "safe", f"token {secret}").code == 2
    assert run("session", "start", "monday", "--source", secret).code == 2


def test_a_repository_belongs_to_the_project_created_for_it(omoide, place, monkeypatch):
    monkeypatch.delenv("OMOIDE_PROJECT")
    shop = git_init(place / "web shop")
    (shop / "deep").mkdir()
    made = omoide("project", "create", "backend/shop", "--root", ".", "--json", cwd=shop / "deep")
    assert made.data["root"] == str(shop)
    assert omoide("remember", "x", "--json", cwd=shop).data["memory"]["scope"]["project"] == "backend/shop"
    taken = omoide("project", "create", "other", "--root", str(shop), cwd=place)
    assert taken.code == 1
    assert "backend/shop" in taken.err
    assert omoide("project", "create", "other", "--root", "nowhere", cwd=place).code == 2


# list and show


def test_the_list_has_name_category_description_last_change_and_sessions(run):
    run("project", "create", "backend/python/shop", "--description", "The web shop")
    run("project", "create", "bank")
    run("session", "start", "monday", "--project", "backend/python/shop")
    run("remember", "x", "--project", "backend/python/shop", "--session", "tuesday")
    kept = run("remember", "y", "--project", "backend/python/shop", "--json").data["memory"]
    first, second = run("project", "list", "--json").data["projects"]
    assert list(first) == ["path", "name", "category", "description", "root", "created_at", "updated_at", "sessions"]
    assert (first["name"], first["category"], first["description"]) == ("shop", "backend/python", "The web shop")
    assert (first["updated_at"], first["sessions"]) == (kept["updated_at"], ["tuesday", "monday"])
    assert (second["path"], second["sessions"], second["updated_at"]) == ("bank", [], second["created_at"])
    title, row, _ = run("project", "list").out.splitlines()
    assert title.split() == ["name", "category", "description", "updated", "sessions"]
    assert re.fullmatch(r"shop  backend/python  The web shop  \d{4}-\d\d-\d\d \d\d:\d\d  tuesday, monday", row)


def test_the_project_that_changed_last_comes_first(run):
    for path in ("one", "two", "three"):
        run("project", "create", path)
    run("remember", "x", "--project", "one")
    run("forget", "1", "--project", "one")
    assert names(run("project", "list", "--json")) == ["one", "three", "two"]


def test_an_empty_list_is_reported_on_stderr(run):
    done = run("project", "list")
    assert (done.code, done.out) == (0, "")
    assert "no projects yet" in done.err


def test_a_project_is_shown_with_size_sessions_pinned_and_recent(run):
    run("remember", "everywhere", "--global", "--pin")
    run("remember", "theirs", "--project", "bank")
    run("remember", "認証", "--type", "decision", "--pin")
    run("remember", "newest")
    run("remember", "in a session", "--session", "monday", "--pin")
    run("forget", run("remember", "gone", "--json").data["memory_id"])
    run("project", "describe", "shop", "The web shop")
    shown = run("project", "show", "--json").data
    assert (shown["path"], shown["description"], shown["total_count"]) == ("shop", "The web shop", 3)
    assert shown["bytes"] == len("認証".encode()) + len("newest") + len("in a session")
    assert shown["by_type"] == {"note": 2, "decision": 1}
    assert [memory["content"] for memory in shown["pinned"]] == ["in a session", "認証"]
    assert [memory["content"] for memory in shown["recent"]] == ["newest", "認証"]
    (session,) = shown["sessions"]
    assert list(session) == ["name", "project", "source", "created_at", "updated_at", "memory_count", "file"]
    assert (session["name"], session["project"], session["source"], session["memory_count"]) == (
        "monday",
        "shop",
        "human",
        1,
    )
    assert len(run("project", "show", "--limit", "1", "--json").data["recent"]) == 1
    text = run("project", "show").out
    for part in ("shop\nThe web shop", "3, 24 bytes (note 2, decision 1)", "monday", "pinned", "recent", "newest"):
        assert part in text
    assert "everywhere" not in text


def test_showing_a_missing_project_is_not_an_error(run):
    done = run("project", "show", "nowhere", "--json")
    assert (done.code, done.data, done.err) == (0, None, "")
    plain = run("project", "show", "nowhere")
    assert (plain.code, plain.out, plain.err) == (0, "", "there is no project nowhere\n")
    assert run("project", "list", "--json").data == {"projects": []}, "and asking does not make it"


def test_outside_of_a_project_its_path_is_required(run, monkeypatch):
    monkeypatch.delenv("OMOIDE_PROJECT")
    for arguments in (["project", "show"], ["session", "list"], ["session", "start", "x"], ["session", "show", "x"]):
        done = run(*arguments)
        assert (done.code, done.out) == (2, "")
    assert run("session", "list", "--project", "shop").code == 0


def test_a_description_is_changed_and_removed(run):
    run("remember", "x")
    assert run("project", "describe", "shop", "The web shop", "--json").data["description"] == "The web shop"
    assert run("project", "describe", "shop", "").out == "described  shop\n"
    assert run("project", "show", "--json").data["description"] == ""
    missing = run("project", "describe", "nowhere", "x")
    assert missing.code == 1
    assert "omoide project create" in missing.err


def test_changes_of_projects_and_sessions_are_events(run):
    run("project", "create", "shop")
    run("project", "describe", "shop", "x")
    run("project", "describe", "shop", "x")
    run("session", "start", "monday")
    events = run("events", "--json").data["events"]
    assert [(event["action"], event["detail"], event["memory_number"]) for event in events] == [
        ("started", {"session": "monday"}, None),
        ("described", {"fields": ["description"]}, None),
        ("created", {"project": "shop"}, None),
    ]
    assert {event["actor"]["name"] for event in events} == {"tester"}
    assert "started" in run("events").out
    assert run("events", "--project", "bank", "--json").data["events"] == []


# backup


def test_a_project_backup_restores_that_project_only(run, place):
    run("remember", "認証", "--type", "decision")
    run("remember", "in a session", "--session", "monday")
    run("remember", "theirs", "--project", "bank")
    run("remember", "everywhere", "--global")
    done = run("project", "backup", "--json")
    assert done.code == 0
    assert (done.data["memories"], done.data["removed"]) == (2, [])
    file = Path(done.data["file"])
    assert file.parent == place / "backups" / "shop"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    run("forget", "1")
    run("purge", "1", "--yes")
    run("import", str(file))
    found = run("list", "--layer", "project", "--layer", "session", "--json").data["memories"]
    assert {memory["content"] for memory in found} == {"認証", "in a session"}


def test_only_the_newest_backups_and_other_files_stay(run, place, monkeypatch):
    monkeypatch.setenv("OMOIDE_MAX_BACKUPS", "2")
    run("remember", "x")
    own = place / "copies" / "my own.jsonl"
    own.parent.mkdir()
    own.touch()
    made = [run("project", "backup", "-o", "copies", "--json").data["file"] for _ in range(4)]
    assert sorted(map(str, own.parent.iterdir())) == sorted([*made[-2:], str(own)])


def test_backing_up_a_missing_project_is_an_error(run, place):
    done = run("project", "backup", "nowhere")
    assert (done.code, done.out) == (1, "")
    assert not (place / "backups").exists()
    run("remember", "x")
    (place / "file").touch()
    assert run("project", "backup", "-o", "file/deep").code == 1


# sessions


def test_a_session_is_started_extended_and_shown_from_its_start(run):
    started = run("session", "start", "C042", "--source", "slack", "--json").data
    assert list(started) == ["name", "project", "source", "created_at", "updated_at", "memory_count", "file"]
    assert (started["name"], started["project"], started["source"], started["memory_count"]) == ("C042", "shop", "slack", 0)
    first = run(
        "session", "append", "C042", "一つ目", "--type", "learning", "--tags", "a,b", "--source", "https://x", "--json"
    )
    assert (first.data["action"], first.data["memory"]["scope"]["session"]) == ("created", "C042")
    assert (first.data["memory"]["type"], first.data["memory"]["tags"]) == ("learning", ["a", "b"])
    assert run("session", "append", "C042", "-", input="from a pipe\nin two lines\n").code == 0
    shown = run("session", "show", "C042", "--json").data
    assert [(one["content"], one["source"]) for one in shown["memories"]] == [
        ("一つ目", "https://x"),
        ("from a pipe\nin two lines", "human"),
    ]
    assert (shown["memory_count"], shown["total_count"], shown["name"]) == (2, 2, "C042")
    text = run("session", "show", "C042").out
    assert text.startswith("C042  started ")
    assert " from slack\n" in text
    assert "    from a pipe\n    in two lines\n" in text
    assert text.index("一つ目") < text.index("from a pipe")


def test_a_long_session_shows_its_end(run):
    run("session", "start", "long")
    for n in range(5):
        run("session", "append", "long", f"entry {n}")
    shown = run("session", "show", "long", "--limit", "2")
    assert "entry 3" in shown.out
    assert "entry 2" not in shown.out
    assert "the last 2 of 5" in shown.err


def test_starting_an_existing_session_is_a_conflict(run):
    run("session", "start", "monday")
    run("remember", "x", "--session", "tuesday")
    for name in ("monday", "tuesday"):
        again = run("session", "start", name)
        assert (again.code, again.out) == (1, "")
        assert "omoide session append" in again.err
    for arguments in (["session", "start", "MONDAY"], ["remember", "x", "--session", "Tuesday"]):
        done = run(*arguments)
        assert (done.code, done.out) == (1, "")
        assert "differs only in case" in done.err
    assert run("session", "start", "monday", "--project", "bank").code == 0


def test_sessions_without_a_name_get_different_names(run):
    started = {run("session", "start", "--json").data["name"] for _ in range(5)}
    assert len(started) == 5
    assert {one["name"] for one in run("session", "list", "--json").data["sessions"]} == started


def test_a_missing_session_is_neither_extended_nor_shown(run):
    for arguments in (["append", "nowhere", "x"], ["show", "nowhere"]):
        done = run("session", *arguments)
        assert (done.code, done.out) == (1, "")
        assert "omoide session start" in done.err
    assert run("stats", "--json").data["memories"] == 0


def test_sessions_are_listed_last_changed_first_and_only_those_of_the_project(run):
    for name in ("one", "two", "three"):
        run("session", "start", name, "--source", "slack")
    run("session", "start", "theirs", "--project", "bank")
    run("session", "append", "one", "x")
    listed = run("session", "list", "--json").data["sessions"]
    assert [(one["name"], one["memory_count"]) for one in listed] == [("one", 1), ("three", 0), ("two", 0)]
    title, row, *_ = run("session", "list").out.splitlines()
    assert title.split() == ["name", "source", "memories", "started", "updated"]
    assert row.split()[:3] == ["one", "slack", "1"]
    empty = run("session", "list", "--project", "nothing")
    assert (empty.code, empty.out) == (0, "")
    assert "omoide session start" in empty.err


def test_a_memory_of_the_project_layer_is_recent_and_in_no_session(run):
    run("session", "start", "monday")
    run("remember", "Moved the tests", "--source", "slack:C042")
    shown = run("project", "show", "--json").data
    assert [(one["content"], one["source"]) for one in shown["recent"]] == [("Moved the tests", "slack:C042")]
    assert run("session", "show", "monday", "--json").data["memories"] == []


def test_control_characters_of_a_project_are_escaped(run):
    run("session", "start", "monday")
    run("session", "append", "monday", "\x1b[31mred\x07")
    for command in (["session", "show", "monday"], ["project", "show"]):
        assert not {"\x1b", "\x07"} & set(run(*command).out)


@pytest.mark.parametrize("group", ["project", "session", "worktree"])
def test_every_subcommand_has_an_example(group):
    commands = cli.get_command(None, group).commands
    assert commands
    for name, command in commands.items():
        assert f"omoide {group} {name}" in command.help, name


def test_sessions_of_an_older_database_are_listed_after_its_upgrade(run, place):
    import shutil

    import apsw

    from omoide.storage.sqlite.store import MIGRATIONS, SqliteStore

    steps = place / "steps"
    steps.mkdir()
    for step in sorted(MIGRATIONS.glob("*.sql"))[:3]:
        shutil.copy(step, steps)
    SqliteStore(place / "memory.db", migrations=steps).close()
    database = apsw.Connection(str(place / "memory.db"))
    database.execute("INSERT INTO projects (number, path, folded, created_at) VALUES (1, 'shop', 'shop', 0)")
    for number, session in enumerate(("Monday", "monday", ""), 1):
        database.execute(
            "INSERT INTO memories (number, id, project, session, state, type, twin, kin, topic_given, length, pinned,"
            " confidence, relevance, reference_count, version, actor, created_at, updated_at, source, tags, examples, topic,"
            " content) VALUES (?, ?, 1, ?, 0, 'note', 0, 0, 0, 0, 0, 1.0, 0.5, 0, 1, 1, ?, ?, 's', '[]', '[]', 't', 'c')",
            (number, str(number), session, number * 1_000_000, number * 1_000_000),
        )
    database.close()
    listed = run("session", "list", "--json").data["sessions"]
    assert [(one["name"], one["created_at"]) for one in listed] == [
        ("monday", "1970-01-01T00:00:02Z"),
        ("Monday", "1970-01-01T00:00:01Z"),
    ]
