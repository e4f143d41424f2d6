"""The commands for the list of a repository: add, search, list, delete, inject."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from omoide.interfaces.cli import cli


def git(*arguments, cwd):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def repository(place, monkeypatch):
    """A git repository that the tests work in, with nothing set up."""
    monkeypatch.delenv("OMOIDE_PROJECT")
    root = place / "web-shop"
    root.mkdir()
    git("init", "-b", "main", cwd=root)
    git("commit", "--allow-empty", "-m", "start", cwd=root)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def file(repository):
    return repository / ".agent" / "memories.md"


def test_add_creates_the_file_and_an_entry_with_title_tags_and_date(run, file):
    text = "Always wrap calls to the payment provider in a retry with a deadline"
    done = run("memories", "add", text, "-t", "pattern", "--tags", "errors,http", "--json")
    assert done.code == 0, done.err
    kept = done.data["memory"]
    assert (done.data["action"], done.data["line"], done.data["file"]) == ("created", 3, str(file))
    assert file.read_text(encoding="utf-8") == (
        "# Memories\n\n"
        f"## {text[:50]}...\n"
        "- Tags: pattern, errors, http\n"
        f"- Date: {datetime.now(UTC).date().isoformat()}\n"
        f"- Id: {kept['id']}\n"
        f"- Content: {text}\n"
    )
    assert run("memories", "add", "short").code == 0
    assert "## short\n- Tags:\n" in file.read_text(encoding="utf-8")


def test_added_entries_are_recalled_and_other_memories_stay_out_of_the_file(run, file):
    run("remember", "a private thought")
    run("memories", "add", "use pnpm", "-t", "decision")
    assert run("recall", "pnpm", "--json").data["total_count"] == 1
    run("remember", "another private thought")
    assert "private" not in file.read_text(encoding="utf-8")
    run("revise", "2", "use bun")
    assert "- Content: use bun\n" in file.read_text(encoding="utf-8")


def test_search_covers_title_text_and_tags_and_ignores_case(run):
    run("memories", "add", "Always use try-catch", "--tags", "Errors")
    run("memories", "add", "Use PostgreSQL", "-t", "architecture")
    run("memories", "add", "認証は JWT")

    def search(*words):
        return [one["content"] for one in run("memories", "search", *words, "--json").data["memories"]]

    assert search("TRY-CATCH") == ["Always use try-catch"]
    assert search("errors") == ["Always use try-catch"]
    assert search("Architecture") == ["Use PostgreSQL"]
    assert search("use") == ["Always use try-catch", "Use PostgreSQL"]
    assert search("認証") == ["認証は JWT"]
    done = run("memories", "search", "nothing", "of the kind")
    assert (done.code, done.out) == (0, "")
    assert "contains these words" in done.err


def test_a_missing_file_is_an_empty_list_and_an_unreadable_one_a_warning(run, file):
    assert run("memories", "list", "--json").data == {"file": str(file), "memories": [], "total_count": 0}
    assert not file.exists()
    file.parent.mkdir()
    file.write_bytes(b"\xff\xfe\x00")
    for command in (["list", "--json"], ["search", "x", "--json"]):
        done = run("memories", *command)
        assert (done.code, done.data["memories"]) == (0, [])
        assert "save it as UTF-8" in done.err
    done = run("memories", "add", "kept all the same")
    assert done.code == 0
    assert "save it as UTF-8" in done.err
    assert run("recall", "same", "--json").data["total_count"] == 1
    done = run("memories", "inject", "the prompt")
    assert (done.code, done.out) == (0, "the prompt\n")
    assert file.read_bytes() == b"\xff\xfe\x00"


def test_an_existing_list_is_unchanged_by_reading_and_imported_by_the_first_add(run, file):
    file.parent.mkdir()
    old = "# Memories\n\n## First\n- Tags: a\n- Date: 2026-01-26\n- Content: one\n\n## Second\n- Tags:\n- Content: two\n"
    file.write_text(old)
    listed = run("memories", "list", "--json").data["memories"]
    assert [(one["line"], one["title"], one["id"]) for one in listed] == [(3, "First", None), (8, "Second", None)]
    assert file.read_text() == old
    assert run("mirror", "list", "--json").data["mirrors"] == []
    run("memories", "add", "three")
    listed = run("memories", "list", "--json").data["memories"]
    assert [one["content"] for one in listed] == ["one", "two", "three"]
    assert all(one["id"] and one["number"] for one in listed)
    assert run("show", "First", "--json").code == 1, "a title is no key"
    assert run("recall", "one", "--json").data["memories"][0]["created_at"].startswith("2026-01-26")


@pytest.mark.parametrize("called", ["by id", "by number", "by line"])
def test_delete_removes_the_entry_and_archives_its_memory(run, file, called):
    for text in ("one", "two", "three"):
        run("memories", "add", text)
    two = run("memories", "list", "--json").data["memories"][1]
    word = {"by id": two["id"], "by number": f"#{two['number']}", "by line": str(two["line"])}[called]
    assert run("memories", "delete", word, "--json").data["memory"]["content"] == "two"
    assert [one["content"] for one in run("memories", "list", "--json").data["memories"]] == ["one", "three"]
    assert run("recall", "two", "--archived", "--json").data["total_count"] == 1
    run("restore", str(two["number"]))
    assert {one["content"] for one in run("memories", "list", "--json").data["memories"]} == {"one", "two", "three"}


def test_ids_stay_while_lines_move(run):
    for text in ("one", "two"):
        run("memories", "add", text)
    before = {one["content"]: one for one in run("memories", "list", "--json").data["memories"]}
    run("memories", "delete", str(before["one"]["line"]))
    (after,) = run("memories", "list", "--json").data["memories"]
    assert after["id"] == before["two"]["id"]
    assert after["line"] != before["two"]["line"]


def test_an_entry_without_id_is_deleted_by_its_line(run, file):
    file.parent.mkdir()
    file.write_text("# Memories\n\n## First\n- Content: one\n\n## Second\n- Content: two\n")
    assert run("memories", "delete", "6").code == 0
    assert [one["content"] for one in run("memories", "list", "--json").data["memories"]] == ["one"]


@pytest.mark.parametrize("word", ["4", "99", "#99", "no-such-thing"])
def test_deleting_a_missing_entry_is_an_error(run, word):
    run("memories", "add", "one")
    run("remember", "elsewhere")
    done = run("memories", "delete", word)
    assert done.code == 1
    assert "omoide memories list" in done.err or "shows what there is" in done.err
    assert "is not in" in run("memories", "delete", "#2").err


def test_inject_prints_the_list_and_then_the_prompt(run, file):
    assert run("memories", "inject").out == ""
    run("memories", "add", "Always use try-catch", "-t", "pattern")
    run("memories", "add", "two lines\n\n## no heading")
    today = datetime.now(UTC).date().isoformat()
    text = (
        f"# Memories\n\n## Always use try-catch\n- Tags: pattern\n- Date: {today}\n- Content: Always use try-catch\n\n"
        f"## two lines ## no heading\n- Tags:\n- Date: {today}\n- Content: two lines\n\n  ## no heading\n\n---\n"
    )
    assert run("memories", "inject").out == text
    assert run("memories", "inject", "Fix it").out == text + "Fix it\n"
    assert run("memories", "inject", "-", input="Fix it\n").out == text + "Fix it\n"
    assert run("memories", "inject", "--json").data == {"inject": "auto", "text": text, "prompt": text}


@pytest.mark.parametrize(("mode", "flag", "printed"), [
    ("auto", (), True), ("manual", (), False), ("manual", ("--manual",), True),
    ("none", (), False), ("none", ("--manual",), False),
])  # several entries per line  # fmt: skip
def test_the_setting_decides_whether_the_list_is_injected(run, monkeypatch, mode, flag, printed):
    run("memories", "add", "one")
    monkeypatch.setenv("OMOIDE_MEMORIES_INJECT", mode)
    assert ("- Content: one" in run("memories", "inject", "go", *flag).out) is printed


def test_a_disabled_list_does_nothing_and_warns(run, file, monkeypatch):
    run("memories", "add", "one")
    before = file.read_bytes()
    monkeypatch.setenv("OMOIDE_MEMORIES_ENABLED", "false")
    for command, code in ((["add", "two"], 0), (["list"], 0), (["search", "one"], 0), (["delete", "3"], 2)):
        done = run("memories", *command)
        assert (done.code, done.out) == (code, ""), command
        assert "memories_enabled" in done.err
    assert run("memories", "inject", "go").out == "go\n"
    assert file.read_bytes() == before


@pytest.mark.parametrize(("name", "value", "wanted"), [
    ("MEMORIES_ENABLED", "maybe", "must be true or false"),
    ("MEMORIES_INJECT", "always", 'must be "auto", "manual" or "none"'),
])  # several entries per line  # fmt: skip
def test_a_bad_setting_gets_a_clear_error(run, monkeypatch, name, value, wanted):
    monkeypatch.setenv(f"OMOIDE_{name}", value)
    done = run("memories", "list")
    assert done.code == 2
    assert done.err == f"omoide: OMOIDE_{name}: {name.lower()} {wanted}, got '{value}'\n"


def test_settings_can_be_in_the_file(run, place):
    (place / "config.toml").write_text('memories_enabled = false\nmemories_inject = "none"\n')
    settings = run("config", "--json").data["settings"]
    assert (settings["memories_enabled"]["value"], settings["memories_inject"]["value"]) == (False, "none")


def test_a_file_over_10_mb_gives_a_warning_with_a_remedy(run, file):
    file.parent.mkdir()
    filler = "- Content: " + "x" * 900_000 + "\n"
    file.write_text("# Memories\n\n" + "".join(f"## note {n}\n{filler}\n" for n in range(12)))
    done = run("memories", "list", "--json")
    assert done.code == 0
    assert "more than 10: archive what is old" in done.err
    done = run("memories", "add", "one more")
    assert done.code == 0
    assert "more than 10: archive what is old" in done.err


def test_secrets_do_not_get_into_the_file(run, file):
    done = run("memories", "add", "use ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    assert done.code == 2
    assert "secret" in done.err
    assert not file.exists() or "ghp_" not in file.read_text()


def test_the_list_is_the_same_from_subdirectories_and_worktrees(run, omoide, repository, file, monkeypatch):
    deep = repository / "src" / "deep"
    deep.mkdir(parents=True)
    other = repository.parent / "feature"
    git("worktree", "add", str(other), cwd=repository)
    for where, text in ((deep, "from below"), (other, "from the worktree"), (repository, "from the root")):
        monkeypatch.chdir(where)
        assert run("memories", "add", text).code == 0
    assert [one["content"] for one in run("memories", "list", "--json").data["memories"]] == [
        "from below", "from the worktree", "from the root",
    ]  # several entries per line  # fmt: skip
    assert not (other / ".agent").exists()
    assert omoide("memories", "list", "--json", cwd=other).data["total_count"] == 3


def test_outside_of_a_repository_the_list_belongs_to_the_directory(run, place):
    assert run("memories", "add", "one").code == 0
    assert "- Content: one\n" in (place / ".agent" / "memories.md").read_text()


def test_a_worker_may_add_but_not_delete(run, file, monkeypatch):
    monkeypatch.setenv("OMOIDE_ROLE", "worker")
    assert run("memories", "add", "learnt").code == 0
    done = run("memories", "delete", "3")
    assert done.code == 2
    assert "is a worker" in done.err
    assert "- Content: learnt" in file.read_text()


def test_the_group_lists_its_commands():
    assert sorted(cli.get_command(None, "memories").commands) == ["add", "delete", "inject", "list", "search"]


def test_a_memory_that_nobody_added_never_gets_into_the_file_whatever_is_done_to_it(run, file):
    run("memories", "add", "public X")
    run("remember", "private Y")
    for command in ("pin", "archive", "restore"):
        for number in ("1", "2"):
            assert run(command, number).code == 0
    run("revise", "2", "private Y, revised")
    text = file.read_text(encoding="utf-8")
    assert "public X" in text
    assert "private" not in text


def test_an_entry_added_after_a_repeated_one_is_in_the_file(run, file):
    for words in (("memories", "add", "X"), ("remember", "X"), ("memories", "add", "X"), ("memories", "add", "Y")):
        assert run(*words).code == 0
    text = file.read_text(encoding="utf-8")
    assert "- Content: X\n" in text
    assert "- Content: Y\n" in text


def test_a_memory_that_was_stored_before_can_be_added_and_only_that_one(run, file):
    run("memories", "add", "public X")
    run("remember", "private Y")
    run("remember", "private Z")
    run("pin", "1")  # a sync that looks at all three
    assert run("memories", "add", "private Y").code == 0
    text = file.read_text(encoding="utf-8")
    assert "private Y" in text
    assert "private Z" not in text


def test_a_mirror_of_everything_that_becomes_one_of_its_own_shows_what_is_in_the_file_and_no_more(run, file):
    run("remember", "shown")
    run("remember", "archived")
    run("mirror", "add")
    run("archive", "2")
    run("mirror", "add", "--choice", "own")
    run("restore", "2")
    run("remember", "later")
    text = file.read_text(encoding="utf-8")
    assert "shown" in text
    assert "archived" not in text
    assert "later" not in text


def test_all_entries_that_24_processes_add_at_once_are_in_the_file_when_the_last_one_ends(omoide, file):
    omoide("remember", "before")  # creates the database, and says so
    with ThreadPoolExecutor(24) as pool:
        done = list(pool.map(lambda n: omoide("memories", "add", f"entry {n} of many"), range(24)))
    assert [one.code for one in done] == [0] * 24
    assert {one.err for one in done if "created the database" not in one.err} == {""}
    text = file.read_text(encoding="utf-8")
    assert sorted(n for n in range(24) if f"- Content: entry {n} of many\n" in text) == list(range(24))


def test_a_heading_with_tags_and_date_but_no_content_is_an_entry(run, file):
    file.parent.mkdir()
    file.write_text(
        "# Memories\n\n## Use PostgreSQL\n- Tags: architecture, database\n- Date: 2026-01-26\n\n"
        "## My own chapter\n- Tags: none of yours\n\n## Dated\n- Date: 2026-01-26\n"
    )
    (listed,) = run("memories", "list", "--json").data["memories"]
    assert {name: listed[name] for name in ("line", "title", "type", "tags", "date", "content")} == {
        "line": 3, "title": "Use PostgreSQL", "type": "architecture", "tags": ["architecture", "database"],
        "date": "2026-01-26", "content": "Use PostgreSQL",
    }  # several entries per line  # fmt: skip
    run("memories", "add", "Always use try-catch")
    assert run("recall", "PostgreSQL", "--json").data["total_count"] == 1
    assert "## My own chapter\n- Tags: none of yours\n\n## Dated\n- Date: 2026-01-26\n" in file.read_text()


def test_list_and_search_show_the_content_and_the_whole_of_it_with_full(run, file):
    text = "Two steps, in this order:\n\nmake build, then make ship, " + "and never on a Friday " * 10
    run("memories", "add", text, "--tags", "ops")
    for command in (["list"], ["search", "friday"]):
        shown = run("memories", *command).out
        assert text.replace("\n", " ").strip() in shown
        whole = run("memories", *command, "--full").out
        assert "    Two steps, in this order:\n" in whole
        assert "    make build, then make ship" in whole
        assert "ops" in whole


def test_the_json_of_a_list_has_every_field(run, file):
    run("memories", "add", "Always use try-catch", "-t", "pattern", "--tags", "error-handling")
    (listed,) = run("memories", "list", "--json").data["memories"]
    assert list(listed) == ["id", "number", "line", "title", "type", "tags", "date", "content"]
    assert (listed["type"], listed["tags"]) == ("pattern", ["pattern", "error-handling"])


@pytest.fixture
def two_named_3(run, file):
    """A list in which 3 is the line of `one` and the number of `three`."""
    for text in ("one", "two", "three"):
        run("memories", "add", text)
    listed = run("memories", "list", "--json").data["memories"]
    assert (listed[0]["line"], listed[0]["content"], listed[2]["number"]) == (3, "one", 3)
    return listed


def test_digits_that_are_a_line_and_a_number_are_refused_with_both_named(run, two_named_3):
    done = run("memories", "delete", "3")
    assert done.code == 1
    third = two_named_3[2]["line"]
    assert f"3 is the line of 'one' (line 3, #1) and the number of 'three' (line {third}, #3)" in done.err
    assert "#1 or #3" in done.err
    assert run("memories", "list", "--json").data["total_count"] == 3
    assert run("memories", "delete", "#3", "--json").data["memory"]["content"] == "three"
    assert run("memories", "delete", "3", "--json").data["memory"]["content"] == "one", "now it is only a line"
