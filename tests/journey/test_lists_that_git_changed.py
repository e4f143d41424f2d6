"""The list of a repository after git brought old entries back: what is shown of it, and what is imported."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ENVIRONMENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull} | {
    f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "a"), ("EMAIL", "a@b.c"))
}


def git(*arguments: str, cwd: Path) -> str:
    done = subprocess.run(["git", *arguments], cwd=cwd, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(repository: Path) -> None:
    git("add", "-A", cwd=repository)
    git("commit", "-q", "--allow-empty", "-m", "more", cwd=repository)


@pytest.fixture
def shop(place, monkeypatch):
    repository = place / "shop"
    repository.mkdir()
    git("init", "-q", "-b", "main", cwd=repository)
    git("commit", "-q", "--allow-empty", "-m", "start", cwd=repository)
    monkeypatch.chdir(repository)
    return repository


@pytest.fixture
def file(shop):
    return shop / ".agent" / "memories.md"


@pytest.fixture
def five(run, shop):
    """A committed list of five memories."""
    for text in ("one", "two", "three", "four", "five"):
        assert run("memories", "add", f"{text} is").code == 0
    commit(shop)


def shown(run, *command: str) -> list[str]:
    return [one["content"] for one in run("memories", *(command or ("list",)), "--json").data["memories"]]


# what the list shows


def test_the_list_its_search_and_prompts_leave_out_forgotten_memories_and_show_newer_texts(run, shop, file, five):
    run("revise", "2", "two newer")
    run("forget", "4")
    git("checkout", "-q", ".", cwd=shop)
    assert shown(run) == ["one is", "two newer", "three is", "five is"]
    injected = run("memories", "inject").out
    assert "two newer" in injected
    assert "two is" not in injected
    assert "four" not in injected
    assert shown(run, "search", "four") == []
    assert shown(run, "search", "two newer") == ["two newer"]
    assert "four is" in file.read_text(), "git's file is left as it is"
    (two,) = [one for one in run("memories", "list", "--json").data["memories"] if one["number"] == 2]
    assert file.read_text().splitlines()[two["line"] - 1] == "## two is"


def test_an_archived_memory_and_one_whose_entry_cannot_be_removed_are_not_shown(run, shop, file, five):
    run("archive", "1")
    git("checkout", "-q", ".", cwd=shop)
    assert "one is" not in shown(run)
    file.write_text(file.read_text() + "\n<<<<<<< HEAD\n=======\n>>>>>>> side\n")
    run("forget", "2")
    assert shown(run) == ["three is", "four is", "five is"]


def test_a_forgotten_text_without_an_id_is_not_shown(run, shop, file):
    file.parent.mkdir()
    file.write_text("# Memories\n\n## Deploy\n- Content: on Fridays never\n\n## other\n- Content: other\n")
    commit(shop)
    run("memories", "add", "third")
    number = next(one["number"] for one in run("memories", "list", "--json").data["memories"] if one["title"] == "Deploy")
    run("forget", str(number))
    git("checkout", "-q", ".", cwd=shop)  # the version from before the ids
    run("list")
    assert shown(run) == ["other"]
    assert "Fridays" not in run("memories", "inject").out


def test_a_second_clone_shows_no_forgotten_earlier_and_purged_text(run, shop, place, five, monkeypatch):
    clone = place / "clone"
    git("clone", "-q", str(shop), str(clone), cwd=place)
    run("revise", "2", "two newer")
    run("forget", "3")
    run("forget", "4")
    run("purge", "4", "--yes")
    monkeypatch.chdir(clone)
    assert shown(run) == ["one is", "two newer", "five is"]
    injected = run("memories", "inject").out
    assert "two is" not in injected
    assert "four is" not in injected


# purged memories


def test_a_purged_memory_that_is_in_the_file_is_named_with_its_line_and_the_command_that_removes_it(run, shop, file, five):
    run("forget", "1")
    git("checkout", "-q", ".", cwd=shop)
    run("list")
    done = run("purge", "1", "--yes")
    assert "holds it    mirror" in done.out
    assert "`omoide purge --everywhere --yes` removes" in done.err, "it works without a terminal"
    line = file.read_text().splitlines().index("## one is") + 1
    for _ in range(2):
        (mirror,) = run("mirror", "status", "--json").data["mirrors"]
        assert mirror["in_sync"] is False
        (trouble,) = mirror["troubles"]
        assert f"{file}, line {line}: the memory with this id was purged" in trouble
        assert "omoide purge --everywhere --yes" in trouble
        checks = [one for one in run("doctor", "--json").data["checks"] if "memories.md" in one["what"]]
        assert [one["ok"] for one in checks if f"line {line}: the memory with this id was purged" in one["what"]] == [False]
        assert not [one for one in checks if "in sync" in one["what"]]
        run("mirror", "sync")
    assert run("purge", "--everywhere", "--yes").code == 0
    assert "one is" not in file.read_text()
    (mirror,) = run("mirror", "status", "--json").data["mirrors"]
    assert (mirror["in_sync"], mirror["troubles"]) == (True, [])
    assert [one for one in run("doctor", "--json").data["checks"] if "is in sync with project shop" in one["what"]]


# texts without an id


@pytest.fixture
def merged(run, shop, file):
    """Merges two branches by the line that omoide offers; both have revised the second memory, and one has forgotten it."""

    def merge(*, forget: bool) -> None:
        run("mirror", "add", "--choice", "own", "--gitattributes")
        for text in ("one", "two", "three", "four", "five", "six"):
            run("memories", "add", f"{text} is")
        commit(shop)
        git("switch", "-q", "-c", "side", cwd=shop)
        run("revise", "2", "two on the side")
        commit(shop)
        git("switch", "-q", "main", cwd=shop)
        run("list")
        run("mirror", "put-back", "1")
        run("revise", "2", "two on main")
        commit(shop)
        if forget:
            git("switch", "-q", "side", cwd=shop)
            run("list")
            run("forget", "2")
            git("checkout", "-q", ".", cwd=shop)
        git("merge", "-q", "--no-edit", "side" if not forget else "main", cwd=shop)
        text = file.read_text()
        assert text.count("Content: two on") == 2

    return merge


def stored(run) -> list[str]:
    return sorted(one["content"] for one in run("list", "--json", "--limit", "100").data["memories"])


def test_a_merge_of_both_sides_does_not_store_a_forgotten_text_as_a_new_memory(run, file, merged):
    merged(forget=True)
    text = file.read_text()
    done = run("list")
    assert stored(run) == ["five is", "four is", "one is", "six is", "three is"]
    assert "says what #2 says or said, which is forgotten" in done.err
    assert "`omoide restore 2`" in done.err
    assert "two on" not in run("memories", "inject").out
    assert file.read_text() == text
    assert run("mirror", "status", "--json").data["mirrors"][0]["in_sync"] is False


def test_a_merge_of_both_sides_does_not_store_an_earlier_text_as_a_second_memory(run, file, merged):
    merged(forget=False)
    done = run("list")
    assert stored(run) == ["five is", "four is", "one is", "six is", "three is", "two on main"]
    assert "says what #2 says or said, which is in the file as well: delete one of the two" in done.err
    injected = run("memories", "inject").out
    assert ("two on main" in injected, "two on the side" in injected) == (True, False)
    checks = run("doctor", "--json").data["checks"]
    assert [one["ok"] for one in checks if "says what #2 says or said" in one["what"]] == [False]
    text = file.read_text()
    side = text.index("## two on the side")
    file.write_text(text[:side] + text[text.index("## ", side + 1) :])
    assert "says what" not in run("list").err
    assert len(stored(run)) == 6


def test_an_entry_without_an_id_that_says_what_a_forgotten_memory_said_before_is_not_stored(run, shop, file, five):
    run("memories", "add", "six was a long statement")
    run("revise", "6", "six newer statement")
    run("forget", "6")
    file.write_text(file.read_text() + "\n## six was\n- Content: six was a long statement\n")
    assert len(stored(run)) == 5
    (mirror,) = run("mirror", "status", "--json").data["mirrors"]
    assert [one["number"] for one in mirror["retired"]] == [6]
    assert "six was" not in run("memories", "inject").out
    file.write_text(file.read_text() + "\n## seven\n- Content: six was\n")
    assert "six was" in stored(run), "what a forgotten memory begins with may be a statement of its own"


def test_an_entry_file_that_says_what_a_forgotten_memory_said_before_is_not_stored(run, shop):
    run("mirror", "add", "notes/")
    run("remember", "alpha is a statement", "--key", "alpha")
    run("remember", "beta", "--key", "beta")
    run("revise", "1", "alpha is newer", "--key", "other")
    run("forget", "1")
    (shop / "notes" / "alpha.md").write_text("alpha is a statement\n")
    assert stored(run) == ["beta"]
    (mirror,) = run("mirror", "status", "--json").data["mirrors"]
    assert [(one["number"], one["file"]) for one in mirror["retired"]] == [(1, "alpha.md")]
    (shop / "notes" / "alpha.md").write_text("alpha is something else\n")
    assert stored(run) == ["alpha is something else", "beta"]


def test_a_title_tells_the_statement_of_a_person_from_a_forgotten_one_with_the_same_text(run, shop, file, five):
    run("remember", "Tuesday", "--topic", "Delivery")
    run("revise", "6", "Friday")
    run("forget", "6")
    file.write_text(file.read_text() + "\n## Meeting\n- Content: Tuesday\n")
    assert "Tuesday" in stored(run)


# blocks, and directories that are gone


def test_status_and_doctor_name_a_block_that_git_brought_back_and_the_command_that_writes_it(run, shop):
    run("mirror", "add", "CLAUDE.md")
    for text in ("one", "two", "three"):
        run("remember", f"{text} is")
    commit(shop)
    run("forget", "2")
    git("checkout", "-q", ".", cwd=shop)
    run("list")
    guide = shop / "CLAUDE.md"
    assert "two is" in guide.read_text(), "git's file is left as it is"
    shown = run("mirror", "status").out
    assert "1 to write" in shown
    assert "omoide mirror sync 1 " in shown
    (check,) = [one for one in run("doctor", "--json").data["checks"] if "CLAUDE.md" in one["what"]]
    assert f"{guide} is not in sync with project shop: 1 to write" in check["what"]
    assert "`omoide mirror sync 1`" in check["remedy"]
    assert run("mirror", "sync", "1").code == 0
    assert "two is" not in guide.read_text()
    assert "    in sync\n" in run("mirror", "status").out
    (check,) = [one for one in run("doctor", "--json").data["checks"] if "CLAUDE.md" in one["what"]]
    assert check["what"].endswith("is in sync with project shop")


def test_doctor_names_the_entries_of_a_directory_that_is_gone(run, shop, file, five):
    shutil.rmtree(file.parent)
    checks = [one for one in run("doctor", "--json").data["checks"] if "memories.md" in one["what"]]
    assert "is not there, and git has it" in checks[0]["what"]
    (check,) = checks[1:]
    assert "#1, #2, #3, #4, #5 are not in memories.md: not archived, because the file is not there" in check["what"]
    assert "`omoide mirror put-back 1`" in check["remedy"]
    assert "`omoide mirror forget-missing 1`" in check["remedy"]


def test_doctor_does_not_call_a_file_in_sync_that_does_not_exist(run, file, five):
    file.unlink()
    (check, *_) = [one for one in run("doctor", "--json").data["checks"] if "memories.md" in one["what"]]
    assert check["what"].endswith("memories.md does not exist: 5 entries to decide on")


# conflict markers


@pytest.mark.parametrize("command", ["accept", "put-back", "take-out", "forget-missing"])
@pytest.mark.parametrize("refs", [[], ["2"]])
def test_what_a_person_asks_of_a_file_with_conflict_markers_fails_with_the_conflict(run, shop, file, five, command, refs):
    run("revise", "2", "two newer")
    git("checkout", "-q", ".", cwd=shop)
    file.write_text(file.read_text() + "\n<<<<<<< HEAD\n=======\n>>>>>>> side\n")
    done = run("mirror", command, "1", *refs)
    assert done.code != 0
    assert "git left conflict markers here" in done.err.splitlines()[-1]
    assert "nothing to do" not in done.err
