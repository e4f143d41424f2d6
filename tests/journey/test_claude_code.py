"""The import from Claude Code: one memory for each of its files, once, with its type."""

import subprocess

import pytest

from omoide.transfer.claude_code.files import directory_name

FACTS = {
    "user-language.md": ("Answer language", "user", "How to answer", "The user wants answers in Japanese.\n\n- 丁寧に\n"),
    "feedback-tests.md": ("Test style", "feedback", "How tests are named", "Tests are sentences.\n"),
    "project-launch.md": ("Launch", "project", "When we launch", "The launch is on 2026-12-01.\n"),
    "reference-tickets.md": ("Ticket board", "reference", "Where tickets are", "Tickets are in the tracker SHOP.\n"),
}
TYPES = {
    "user-language": "preference", "feedback-tests": "preference", "project-launch": "context",
    "reference-tickets": "context",
}  # several entries per line  # fmt: skip


def fact(name, kind, description, body):
    return f"---\nname: {name}\ndescription: {description}\ntype: {kind}\n---\n\n{body}"


@pytest.fixture
def shop(place, monkeypatch):
    """A repository that Claude Code has worked in."""
    monkeypatch.delenv("OMOIDE_PROJECT")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place / "claude"))
    shop = place / "my_shop 店"
    shop.mkdir()
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    directory = place / "claude" / "projects" / directory_name(str(shop)) / "memory"
    directory.mkdir(parents=True)
    for file, parts in FACTS.items():
        (directory / file).write_text(fact(*parts), encoding="utf-8")
    index = "".join(f"- [{parts[0]}]({file}) — {parts[2]}\n" for file, parts in FACTS.items())
    (directory / "MEMORY.md").write_text("# Memory\n\n" + index, encoding="utf-8")
    monkeypatch.chdir(shop)
    return shop


@pytest.fixture
def facts(shop, place):
    return place / "claude" / "projects" / directory_name(str(shop)) / "memory"


def memories(run, *flags):
    return {one["key"]: one for one in run("list", "--limit", "100", "--json", *flags).data["memories"]}


def test_each_file_is_a_memory_with_its_name_as_key_and_its_kind_as_type(run, shop):
    done = run("import", "claude-code", "--json")
    assert done.code == 0
    assert done.err.splitlines()[1:] == []  # the first says where the database was created
    assert (done.data["added"], done.data["replaced"], done.data["known"], done.data["dry_run"]) == (4, 0, 0, False)
    kept = memories(run)
    assert {key: one["type"] for key, one in kept.items()} == TYPES
    assert {one["topic"] for one in kept.values()} == {parts[0] for parts in FACTS.values()}
    language = kept["user-language"]
    assert "The user wants answers in Japanese.\n\n- 丁寧に" in language["content"]
    assert "How to answer" in language["content"], "the description is kept"
    assert (language["source"], language["tags"]) == ("claude-code", ["user"])
    assert language["scope"]["project"] == "my_shop 店"
    assert run("recall", "丁寧", "--json").data["total_count"] == 1


def test_the_index_is_not_imported(run, shop):
    run("import", "claude-code")
    assert set(memories(run)) == set(TYPES)


def test_a_second_import_changes_nothing(run, shop):
    run("import", "claude-code")
    before, events = run("export").out, run("events", "--limit", "1000", "--json").data
    again = run("import", "claude-code", "--json")
    assert (again.data["added"], again.data["replaced"], again.data["known"]) == (0, 0, 4)
    assert run("export").out == before
    assert run("events", "--limit", "1000", "--json").data == events


def test_a_second_import_adds_new_facts_and_keeps_local_changes(run, shop, facts):
    run("import", "claude-code")
    run("revise", "project-launch", "The launch is over.")
    run("forget", "reference-tickets")
    (facts / "feedback-tests.md").write_text(fact("Test style", "feedback", "x", "Tests are short.\n"), encoding="utf-8")
    (facts / "user-new.md").write_text(fact("New", "user", "y", "Likes tea.\n"), encoding="utf-8")
    done = run("import", "claude-code", "--json").data
    assert (done["added"], done["replaced"], done["known"]) == (1, 1, 3)
    kept = memories(run)
    assert set(kept) == {"user-language", "feedback-tests", "project-launch", "user-new"}
    assert kept["project-launch"]["content"] == "The launch is over."
    assert "Tests are short." in kept["feedback-tests"]["content"]
    assert len(run("history", "feedback-tests", "--json").data["versions"]) == 2


def test_a_dry_run_reports_and_stores_nothing(run, shop):
    done = run("import", "claude-code", "--dry-run", "--json")
    assert (done.data["dry_run"], done.data["added"]) == (True, 4)
    actions = {one["key"]: (one["action"], one["type"], one["topic"]) for one in done.data["memories"]}
    assert actions["user-language"] == ("added", "preference", "Answer language")
    assert run("stats", "--json").data["memories"] == 0
    text = run("import", "claude-code", "--dry-run")
    assert "user-language" in text.out
    assert "would be: 4 added" in text.out


def test_all_worktrees_of_a_repository_have_the_same_memories(run, shop, monkeypatch):
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "x"],
        check=True,
    )
    subprocess.run(["git", "worktree", "add", "-q", "../other"], check=True)
    monkeypatch.chdir(shop.parent / "other")
    assert run("import", "claude-code", "--json").data["added"] == 4


def test_a_directory_or_a_single_file_can_be_named(run, shop, facts, place, monkeypatch):
    monkeypatch.chdir(place)
    assert run("import", "claude-code", str(facts / "user-language.md"), "--project", "shop", "--json").data["added"] == 1
    done = run("import", "claude-code", str(facts), "--project", "shop", "--json").data
    assert (done["added"], done["known"]) == (3, 1)
    assert set(memories(run, "--project", "shop")) == set(TYPES)
    assert run("import", "claude-code", str(facts), "--global", "--json").data["added"] == 4


@pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md"])
def test_named_instruction_files_are_imported(run, shop, name):
    (shop / name).write_text(
        "# Shop\n\nA web shop.\n\n## Testing\n\nRun `make test`.\n\n## 文体\n\n簡潔に。\n", encoding="utf-8"
    )
    done = run("import", "claude-code", name, "--json")
    assert done.code == 0
    assert done.data["added"] >= 2
    texts = [one["content"] for one in run("list", "--limit", "100", "--json").data["memories"]]
    assert any("Run `make test`." in text for text in texts)
    assert any("簡潔に。" in text for text in texts)
    again = run("import", "claude-code", name, "--json").data
    assert (again["added"], again["replaced"]) == (0, 0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"---\nname: [\n---\n\nx\n", "bad.md: the front matter is not YAML"),
        ("日本".encode("shift-jis"), "bad.md is not UTF-8"),
        (b"---\nname: x\n---\n\ntoken ghp_" + b"a1B2" * 9, "bad.md, line 1: the content seems to hold a secret"),
        (b"- fine\n- token ghp_" + b"a1B2" * 9, "bad.md, line 2: the content seems to hold a secret"),
    ],
)
def test_what_cannot_be_imported_is_reported_and_the_rest_is_imported(run, shop, facts, text, says):
    (facts / "bad.md").write_bytes(text)
    done = run("import", "claude-code", "--json")
    assert done.code == 1
    assert says in done.err
    assert "ghp_" not in done.err
    assert [says in one for one in done.data["left_out"]] == [True]
    assert done.data["added"] == 4 + (b"fine" in text)
    assert set(TYPES) <= set(memories(run))


def test_a_named_file_that_cannot_be_read_is_an_error(run, shop, facts):
    (facts / "bad.md").write_bytes(b"\xff")
    done = run("import", "claude-code", str(facts / "bad.md"))
    assert (done.code, done.out) == (2, "")
    assert "not UTF-8" in done.err


def test_facts_in_the_index_itself_are_imported_one_by_one(run, shop, facts):
    (facts / "MEMORY.md").write_text(
        "# Memory\n\n## Build\n\n- Use pnpm\n- Node 22\n  or newer\n\n- [Launch](project-launch.md) — When\n",
        encoding="utf-8",
    )
    assert run("import", "claude-code", "--json").data["added"] == 6
    found = [
        (one["content"], one["tags"]) for one in run("list", "--limit", "9", "--json").data["memories"] if not one["key"]
    ]
    assert sorted(found) == [("Node 22\nor newer", ["Build"]), ("Use pnpm", ["Build"])]
    assert run("import", "claude-code", "--json").data["known"] == 6


def test_a_missing_memory_directory_is_an_error_with_its_path(run, place, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place / "claude"))
    done = run("import", "claude-code")
    assert (done.code, done.out) == (1, "")
    assert str(place / "claude" / "projects") in done.err
    missing = run("import", "claude-code", "nowhere")
    assert (missing.code, missing.out) == (2, "")


def test_an_empty_directory_imports_nothing(run, place):
    (place / "empty").mkdir()
    done = run("import", "claude-code", "empty", "--json")
    assert (done.code, done.data["added"]) == (0, 0)


def test_a_file_named_like_the_tool_can_be_imported(run, place):
    run("remember", "x")
    run("export", "-o", "claude-code", "--format", "json")
    for arguments in (["file", "claude-code"], ["./claude-code"]):
        done = run("import", *arguments, "--format", "json", "--store", str(place / "other.db"), "--json")
        assert done.code == 0
        assert done.data["added"] + done.data["known"] == 1


def test_options_may_come_before_the_file(run, place):
    run("remember", "x")
    run("export", "-o", "a.txt", "--format", "jsonl")
    assert run("import", "--format", "jsonl", "a.txt", "--json").data["known"] == 1
    missing = run("import")
    assert (missing.code, missing.out) == (2, "")
    assert "FILE" in missing.err


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/user/my_project", "-home-user-my-project"),
        ("/home/user/.config/a b", "-home-user--config-a-b"),
        ("/home/お店", "-home---"),
        ("/home/🎏", "-home---"),
        ("C:\\Users\\me", "C--Users-me"),
    ],
)
def test_the_directory_name_is_that_of_claude_code(path, name):
    assert directory_name(path) == name


def test_the_directory_name_of_a_long_path_is_cut_and_gets_a_hash():
    name = directory_name("/" + "a" * 300)
    assert name.startswith("-" + "a" * 199 + "-")
    assert name != directory_name("/" + "a" * 301)
    assert name.removeprefix("-" + "a" * 199 + "-").isalnum()
