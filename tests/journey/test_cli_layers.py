"""Layers on the command line: resume, summary, entries by key, entry files in their usual directories."""

import subprocess

import pytest


def test_resume_shows_the_session_the_pinned_and_the_preferences_with_their_texts(run):
    run("remember", "日本語で答える", "--type", "preference", "--global")
    run("remember", "Freeze until the launch", "--pin")
    run("remember", "ステップ 1 を終えた\n次はステップ 2", "--session", "monday")
    run("remember", "認証は JWT を採用", "--type", "decision")
    done = run("resume", "--session", "monday")
    titles = [line for line in done.out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["This session:", "Pinned:", "Preferences of the user:", "This project:"]
    assert "    ステップ 1 を終えた\n    次はステップ 2\n" in done.out
    found = run("resume", "--session", "monday", "--json").data
    assert {name: [one["content"] for one in memories] for name, memories in found.items()} == {
        "session": ["ステップ 1 を終えた\n次はステップ 2"],
        "pinned": ["Freeze until the launch"],
        "preferences": ["日本語で答える"],
        "agent_preferences": [],
        "project": ["認証は JWT を採用"],
    }
    assert [len(memories) for memories in run("resume", "--limit", "1", "--json").data.values()] == [0, 1, 1, 0, 1]


def test_resume_of_nothing_says_so(run):
    done = run("resume")
    assert (done.code, done.out) == (0, "")
    assert "no memories in project shop yet" in done.err


def test_summary_counts_a_layer_or_its_archive(run):
    run("remember", "認証は JWT", "--type", "decision", "--tags", "api,auth")
    run("remember", "in a session", "--session", "monday", "--tags", "api")
    run("remember", "everywhere", "--global")
    run("archive", run("remember", "old", "--json").data["memory_id"])
    found = run("summary", "--json").data
    assert (found["count"], found["by_type"], found["by_tag"]) == (2, {"decision": 1, "note": 1}, {"api": 2, "auth": 1})
    assert found["bytes"] > 0
    assert found["oldest"] <= found["newest"]
    assert run("summary", "--global", "--json").data["count"] == 1
    assert run("summary", "--layer", "session", "--json").data["count"] == 1
    assert run("summary", "--archived", "--json").data["count"] == 1
    text = run("summary").out
    assert text.startswith("2 memories in project shop, ")
    assert "decision" in text
    assert run("summary", "--archived").out.startswith("1 archived memory in project shop")


def test_a_memory_of_a_session_that_a_list_shows_is_shown_by_its_key(run):
    run("remember", "of monday", "--session", "monday", "--key", "step")
    (listed,) = run("list", "--json").data["memories"]
    assert run("show", listed["key"], "--json").data["content"] == "of monday"
    run("remember", "of tuesday", "--session", "tuesday", "--key", "step")
    done = run("forget", "step")
    assert done.code == 1
    assert "key step is in several sessions (tuesday, monday)" in done.err
    assert run("forget", "step", "--session", "monday").code == 0
    assert run("show", "step", "--json").data["content"] == "of tuesday"


ENTRY = """---
key: api-design-decision
tags:
  - architecture
  - api
  - decision
created_at: 2024-01-15T10:30:00
updated_at: 2024-01-15T10:30:00
---

## API設計の決定事項

REST API は以下の方針で設計する:
- リソース指向のエンドポイント設計
"""


@pytest.fixture
def repository(place, monkeypatch):
    monkeypatch.delenv("OMOIDE_PROJECT")
    root = place / "web-shop"
    root.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=root, check=True)
    monkeypatch.chdir(root)
    return root


def test_entry_files_of_a_project_are_one_command(run, repository):
    added = run("mirror", "add", "--entries", "--json")
    assert added.code == 0, added.err
    directory = repository / ".omoide" / "memory"
    assert (added.data["path"], added.data["format"]) == (f"{directory}/", "entries")
    assert (directory / "archive").is_dir()
    (directory / "api-design-decision.md").write_text(ENTRY, encoding="utf-8")
    shown = run("show", "api-design-decision", "--json").data
    assert (shown["tags"], shown["created_at"]) == (["architecture", "api", "decision"], "2024-01-15T10:30:00Z")
    assert shown["content"].startswith("## API設計の決定事項\n")
    run("archive", "api-design-decision")
    assert [file.name for file in (directory / "archive").iterdir()] == ["api-design-decision.md"]
    run("remember", "認証は JWT を採用", "--key", "api-auth-decision")
    assert "認証は JWT を採用" in (directory / "api-auth-decision.md").read_text(encoding="utf-8")


def test_entry_files_of_the_global_layer_and_of_a_session_are_one_command_each(run, place, repository):
    assert run("mirror", "add", "--entries", "--global").code == 0
    directory = place / "memory"
    assert (directory / "archive").is_dir()
    assert directory.stat().st_mode & 0o077 == 0
    run("remember", "日本語で答える", "--global", "--key", "language")
    assert "日本語で答える" in (directory / "language.md").read_text(encoding="utf-8")
    assert run("mirror", "add", "--entries", "--session", "monday").code == 0
    run("remember", "step 1", "--session", "monday", "--key", "step")
    assert (repository / ".omoide" / "monday" / "memory" / "step.md").exists()


def test_entries_need_a_repository_or_a_directory_and_no_other_format(run, place):
    done = run("mirror", "add", "--entries")
    assert done.code == 2
    assert "name a directory" in done.err
    assert run("mirror", "add", "--entries", "notes").code == 0
    assert run("mirror", "add", "--entries", "--format", "tree", "notes2").code == 2


def test_a_worker_may_not_add_entry_files_and_no_directory_is_left(run, repository, monkeypatch):
    monkeypatch.setenv("OMOIDE_ROLE", "worker")
    done = run("mirror", "add", "--entries")
    assert done.code == 2
    assert "is a worker" in done.err
    assert not (repository / ".omoide").exists()
