"""Files that can be trusted, by the commands of a person: missing entries, links, files of others, merges, first syncs."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ENVIRONMENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull} | {
    f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "a"), ("EMAIL", "a@b.c"))
}


def git(*arguments: str, cwd: Path, code: int = 0) -> str:
    done = subprocess.run(["git", *arguments], cwd=cwd, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stdout


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


def commit(repository: Path) -> None:
    git("add", "-A", cwd=repository)
    git("commit", "-q", "--allow-empty", "-m", "more", cwd=repository)


def active(run) -> set[str]:
    return {one["content"] for one in run("list", "--json", "--limit", "100").data["memories"]}


def texts(file: Path) -> list[str]:
    return re.findall(r"- Content: (.*)", file.read_text(encoding="utf-8"))


def entry(text: str, file: Path) -> str:
    found = re.search(rf"(?m)^## {text}\n(?:(?!## ).*\n?)*", file.read_text(encoding="utf-8"))
    assert found
    return found[0]


# missing entries


def test_status_and_doctor_name_missing_entries_the_reason_and_two_commands_for_them(run, shop, file):
    for text in ("one", "two", "three", "配送は火曜日"):
        run("memories", "add", text)
    commit(shop)
    run("memories", "add", "four")
    git("stash", "-q", cwd=shop)
    assert active(run) == {"one", "two", "three", "配送は火曜日", "four"}
    assert "four" not in texts(file)
    shown = run("mirror", "status").out
    assert re.search(r"not in memories\.md: .*four", shown)
    assert "not archived, because git has this version of the file" in shown
    assert "omoide mirror put-back 1 " in shown
    assert "omoide mirror forget-missing 1 " in shown
    assert re.search(r"(?m)^    1 to decide on$", shown)
    assert "in sync" not in shown, "not all of it is"
    (mirror,) = run("mirror", "status", "--json").data["mirrors"]
    assert mirror["in_sync"] is False
    assert [(one["number"], one["reason"]) for one in mirror["missing"]] == [(5, "git")]
    checks = run("doctor", "--json").data["checks"]
    (check,) = [one for one in checks if "#5 is not in memories.md" in one["what"]]
    assert "git has this version of the file" in check["what"]
    assert "put-back 1" in check["remedy"]
    assert "forget-missing 1" in check["remedy"]
    assert [one for one in checks if one["what"].endswith("is in sync with project shop, except for 1 entry to decide on")]
    assert "#1 is not one of these entries" in run("mirror", "put-back", "1", "1").err
    assert "four" in run("mirror", "put-back", "1", "5").out
    assert texts(file)[-1] == "four"
    (mirror,) = run("mirror", "status", "--json").data["mirrors"]
    assert (mirror["missing"], mirror["in_sync"]) == ([], True)
    git("checkout", "-q", ".", cwd=shop)
    active(run)
    assert run("mirror", "forget-missing", "1", "--json").data["entries"][0]["topic"] == "four"
    assert "four" not in active(run)
    assert run("mirror", "status", "--json").data["mirrors"][0]["missing"] == []
    assert "nothing to do" in run("mirror", "put-back", "1").err


def test_status_and_doctor_name_earlier_texts_that_git_brought_back_and_two_commands_for_them(run, shop, file):
    for text in ("one", "two", "配送は火曜日"):
        run("memories", "add", text)
    commit(shop)
    run("revise", "3", "配送は木曜日")
    git("checkout", "-q", ".", cwd=shop)
    assert active(run) == {"one", "two", "配送は木曜日"}
    assert "配送は火曜日" in texts(file)
    shown = run("mirror", "status").out
    assert re.search(r"an earlier text is in memories\.md: .*配送は木曜日", shown)
    assert "neither side was changed, because git, or an editor that opened the file long ago, brought" in shown
    assert "omoide mirror put-back 1 " in shown
    assert "omoide mirror accept 1 " in shown
    assert re.search(r"(?m)^    1 to decide on$", shown)
    assert "in sync" not in shown, "not all of it is"
    (mirror,) = run("mirror", "status", "--json").data["mirrors"]
    assert (mirror["in_sync"], mirror["missing"], mirror["retired"]) == (False, [], [])
    assert [(one["number"], one["reason"]) for one in mirror["outdated"]] == [(3, "outdated")]
    (check,) = [one for one in run("doctor", "--json").data["checks"] if "#3 is newer than what memories.md" in one["what"]]
    assert "put-back 1" in check["remedy"]
    assert "accept 1" in check["remedy"]
    assert "nothing to do" in run("mirror", "forget-missing", "1").err
    assert run("mirror", "put-back", "1").out.startswith("written ")
    assert "配送は木曜日" in texts(file)
    assert run("mirror", "status", "--json").data["mirrors"][0]["in_sync"] is True
    git("checkout", "-q", ".", cwd=shop)
    accepted = run("mirror", "accept", "1", "3").out
    assert accepted.startswith("accepted ")
    assert "配送は火曜日" in accepted, "the text that stands now"
    assert active(run) == {"one", "two", "配送は火曜日"}
    assert run("mirror", "status", "--json").data["mirrors"][0]["in_sync"] is True
    assert "配送は木曜日" in run("history", "3").out


@pytest.mark.parametrize(("old", "new"), [
    ("---\n", "--\n"),
    (r"(?s)---\n(.*?)\n---\n", r"______\n\n## \1\n\n"),  # as formatters do that do not know front matter
    (r"(?s)---\n(.*?)\n---\n", r"```yaml\n\1\n```\n"),
])  # several entries per line  # fmt: skip
def test_an_entry_file_whose_front_matter_was_broken_is_still_that_memory(run, shop, old, new):
    run("mirror", "add", "notes/")
    for name in ("one", "two"):
        run("remember", name, "--key", name)
    file = shop / "notes" / "one.md"
    whole = file.read_text()
    broken = re.sub(old, new, whole, count=1)
    assert broken != whole
    file.write_text(broken)
    assert f"{file}: its fields cannot be read" in run("mirror", "status").err
    assert active(run) == {"one", "two"}
    assert file.read_text() == broken
    run("revise", "one", "one, revised")
    assert (active(run), file.read_text()) == ({"one, revised", "two"}, broken)
    assert run("doctor").code == 1
    file.write_text(whole)
    assert active(run) == {"one, revised", "two"}
    assert "one, revised" in file.read_text()
    assert run("mirror", "status", "--json").data["mirrors"][0]["in_sync"] is True
    file.write_text(re.sub(r"(?s)---\n.*?\n---\n\n", "", file.read_text()).replace("revised", "without fields"))
    assert active(run) == {"one, without fields", "two"}, "a person who deletes the fields keeps the file"


@pytest.mark.parametrize("by_git", [False, True])
def test_an_entry_file_that_a_person_moves_to_the_archive_is_archived_although_git_has_its_text(run, shop, by_git):
    notes = shop / "notes"
    run("mirror", "add", "notes/")
    for name in ("one", "two", "three"):
        run("remember", name, "--key", name)
    run("archive", "three")
    commit(shop)
    if by_git:
        git("mv", "notes/two.md", "notes/archive/two.md", cwd=shop)
    else:
        (notes / "two.md").rename(notes / "archive" / "two.md")
    assert active(run) == {"one"}
    assert run("mirror", "status", "--json").data["mirrors"][0]["outdated"] == []
    commit(shop)
    git("checkout", "-q", "HEAD~1", cwd=shop)
    assert active(run) == {"one"}, "git brings the file back, and no memory"
    git("checkout", "-q", "main", cwd=shop)
    assert active(run) == {"one"}
    assert run("mirror", "status", "--json").data["mirrors"][0]["in_sync"] is True
    (notes / "archive" / "two.md").rename(notes / "two.md")
    assert active(run) == {"one", "two"}, "a person moves it back"


def test_an_entry_file_that_git_brought_back_from_before_the_archive_is_named_and_settled(run, shop, monkeypatch):
    run("mirror", "add", "notes/")
    run("remember", "one", "--key", "one")
    run("remember", "two", "--key", "two")
    commit(shop)
    run("archive", "two")
    git("checkout", "-q", "notes/two.md", cwd=shop)
    (shop / "notes" / "archive" / "two.md").unlink()
    assert active(run) == {"one"}
    (mirror,) = run("mirror", "status", "--json").data["mirrors"]
    assert [(one["file"], one["reason"]) for one in mirror["outdated"]] == [("two.md", "outdated")]
    assert run("mirror", "put-back", "1").out.startswith("written ")
    assert (shop / "notes" / "archive" / "two.md").exists()
    assert not (shop / "notes" / "two.md").exists()
    git("checkout", "-q", "notes/two.md", cwd=shop)
    (shop / "notes" / "archive" / "two.md").unlink()
    monkeypatch.setenv("OMOIDE_ROLE", "worker")
    refused = run("mirror", "accept", "1")
    assert "is a worker" in refused.err
    assert active(run) == {"one"}, "to accept the file would bring it back from the archive"
    monkeypatch.setenv("OMOIDE_ROLE", "owner")
    assert run("mirror", "accept", "1").out.startswith("accepted ")
    assert active(run) == {"one", "two"}
    events = [(one["action"], one["actor"]["name"]) for one in run("events", "two", "--json").data["events"]]
    assert ("resolved", "tester") in events, events


def test_an_old_buffer_in_which_a_person_changed_an_entry_takes_no_newer_text_back(run, file):
    for text in ("one", "two", "three"):
        run("memories", "add", text)
    old = file.read_text()
    run("memories", "add", "four")
    run("revise", "1", "one, revised")
    file.write_text(old.replace("Content: two", "Content: two, by hand"))
    assert active(run) == {"one, revised", "two, by hand", "three", "four"}
    status = run("mirror", "status", "--json").data["mirrors"][0]
    assert [one["number"] for one in status["missing"]] == [4]
    assert [one["number"] for one in status["outdated"]] == [1]
    assert run("mirror", "put-back", "1").code == 0
    assert texts(file)[1:] == ["two, by hand", "three", "four"]
    assert "one, revised" in file.read_text()
    assert run("mirror", "status", "--json").data["mirrors"][0]["in_sync"] is True


def test_status_names_an_entry_that_no_sync_can_import_instead_of_a_command_that_does_not_help(run, file):
    for text in ("one", "two"):
        assert run("memories", "add", text).code == 0
    file.write_text(file.read_text() + "\n## two\n- Content: two\n\n## three\n- Content: three\n")
    for _ in range(2):  # it changes nothing
        done = run("mirror", "status")
        assert "says what #2 says or said" in done.out + done.err
        assert "1 to import\n" in done.out, "the other one"
    assert active(run) == {"one", "two", "three"}
    done = run("mirror", "status")
    assert ("to import" in done.out, "brings both sides in sync" in done.out) == (False, False)
    status = run("mirror", "status", "--json").data["mirrors"][0]
    assert (status["in_sync"], len(status["troubles"]), status["to_import"]) == (False, 1, 0)
    file.write_text(file.read_text().replace("\n## two\n- Content: two\n", ""))
    assert "in sync" in run("mirror", "status").out
    assert active(run) == {"one", "two", "three"}


def test_a_deleted_entry_is_archived_with_the_undo_in_one_line(run, file):
    for text in ("one", "two", "three"):
        run("memories", "add", text)
    file.write_text(file.read_text().replace(entry("two", file), ""))
    done = run("recall", "two")
    assert done.err.count("\n") <= 2
    assert "the entry of #2 was deleted, so it is archived: `omoide restore 2` undoes it" in done.err
    assert active(run) == {"one", "three"}
    assert run("restore", "2").code == 0
    assert active(run) == {"one", "two", "three"}
    assert "two" in texts(file)


def test_a_file_that_is_as_before_the_last_write_is_reported_so_with_the_undo(run, file):
    """It may be an old buffer of an editor, or a deletion of the newest entry, which must work: the bytes are the same."""
    for text in ("one", "two"):
        run("memories", "add", text)
    buffer = file.read_bytes()
    run("memories", "add", "三つ目")
    file.write_bytes(buffer)
    err = run("list").err
    assert (
        "the entry of #3 was deleted, so it is archived: `omoide restore 3` undoes it (the file is as it was before" in err
    )
    assert err.count("\n") == 1
    assert active(run) == {"one", "two"}
    assert run("restore", "3").code == 0
    assert texts(file) == ["one", "two", "三つ目"]


def test_status_offers_to_take_a_forgotten_memory_out_of_the_file(run, shop, file):
    for text in ("one", "two"):
        run("memories", "add", text)
    commit(shop)
    run("forget", "1")
    git("checkout", "-q", ".", cwd=shop)
    assert active(run) == {"two"}
    shown = run("mirror", "status").out
    assert re.search(r"forgotten, but in memories\.md: .*one", shown)
    assert "omoide mirror take-out 1 " in shown
    assert run("mirror", "take-out", "1").code == 0
    assert texts(file) == ["two"]
    assert active(run) == {"two"}


def test_a_text_without_an_id_does_not_revive_what_was_forgotten(run, shop, file):
    file.parent.mkdir()
    file.write_text("# Memories\n\n## Deploy\n- Content: on Fridays never\n\n## other\n- Content: other\n")
    commit(shop)
    run("memories", "add", "third")
    assert active(run) == {"on Fridays never", "other", "third"}
    number = next(one["number"] for one in run("memories", "list", "--json").data["memories"] if one["title"] == "Deploy")
    run("forget", str(number))
    for _ in range(2):
        git("checkout", "-q", ".", cwd=shop)  # the version from before the ids
        assert active(run) == {"other", "third"}
    assert run("list", "--json").data["total_count"] == 2


def test_an_entry_that_an_agent_rewrote_with_its_id_is_still_that_memory(run, file):
    for text in ("one", "二番目", "three"):
        run("memories", "add", text)
    ids = re.findall(r"- Id: (.*)", file.read_text())
    third = entry("three", file)
    text = f"# Memories\n\n- **one** (id: {ids[0]})\n- 二番目 [{ids[1]}]\n\n{third}"
    file.write_text(text)
    done = run("memories", "list", "--json")
    assert [(one["line"], one["content"]) for one in done.data["memories"]] == [(3, "one"), (4, "二番目"), (6, "three")]
    assert "二番目" in run("memories", "inject").out
    assert run("memories", "search", "one").out.count("\n") == 2
    (mirror,) = run("mirror", "status", "--json").data["mirrors"]
    assert (mirror["in_sync"], mirror["missing"]) == (True, []), "nothing is to be settled: its text is there"
    file.write_text(text.replace("二番目 [", "see ["))
    done = run("memories", "list", "--json")
    assert active(run) == {"one", "二番目", "three"}
    assert "line 4 of memories.md: #2" in run("mirror", "status").out
    (mirror,) = run("mirror", "status", "--json").data["mirrors"]
    assert [(one["number"], one["line"], one["reason"]) for one in mirror["missing"]] == [(2, 4, "unreadable")]
    file.write_text(text.replace(f"- 二番目 [{ids[1]}]\n", ""))
    (mirror,) = run("mirror", "status", "--json").data["mirrors"]
    assert [(one["number"], one["line"], one["reason"]) for one in mirror["missing"]] == [(2, None, "edited")]
    assert active(run) == {"one", "二番目", "three"}
    run("mirror", "put-back", "1")
    assert texts(file) == ["three", "二番目"], "the first one is in the file already"
    assert run("mirror", "put-back", "1", "1").code == 0
    assert texts(file) == ["three", "二番目", "one"], "it was asked for"


@pytest.fixture
def rewritten(run, file):
    """Rewrites the entries of a list as an agent does, each in a line of its own, and returns the ids."""

    def rewrite(line: str, *texts: str) -> list[str]:
        for text in texts:
            run("memories", "add", text)
        ids = re.findall(r"- Id: (.*)", file.read_text(encoding="utf-8"))
        lines = [line.format(text=text, id=id) for text, id in zip(texts, ids, strict=True)]
        file.write_text("# Memories\n\n" + "\n".join(lines) + "\n\nMine.\n", encoding="utf-8")
        assert active(run) == set(texts)
        return ids

    return rewrite


LINES = {
    "a bullet": "- {text} <!-- {id} -->",
    "a numbered item": "1. **{text}** (id: {id})",
    "an item of several lines": "- {text}\n\n  [{id}]\n  - tags: none",
    "a row of a table": "| {text} | {id} |",
}


@pytest.mark.parametrize("state", ["forget", "archive"])
@pytest.mark.parametrize("line", LINES)
def test_a_memory_that_is_not_active_and_in_no_entry_but_in_the_file_is_offered_and_taken_out(
    run, file, rewritten, line, state
):
    rewritten(LINES[line], "one", "配送は火曜日", "three")
    before = file.read_text(encoding="utf-8")
    assert run(state, "2").code == 0
    assert file.read_text(encoding="utf-8") == before, "it is not taken out unasked"
    status = run("mirror", "status").out
    place = re.search(r"but in line (\d+) of memories\.md: #2", status)
    assert "配送は火曜日" in "\n".join(before.split("\n")[int(place[1]) - 3 : int(place[1])])
    assert "omoide mirror take-out 1" in status
    assert "`omoide mirror take-out 1` removes them from the files" in run("doctor").out
    (mirror,) = run("mirror", "status", "--json").data["mirrors"]
    assert ([one["number"] for one in mirror["retired"]], mirror["in_sync"]) == ([2], False)
    assert [one["number"] for one in run("mirror", "take-out", "1", "--json").data["entries"]] == [2]
    after = file.read_text(encoding="utf-8")
    item = LINES[line].format(text="配送は火曜日", id=run("show", "2", "--json").data["id"])
    assert after == before.replace(item + "\n", "")
    (mirror,) = run("mirror", "status", "--json").data["mirrors"]
    assert (mirror["retired"], mirror["missing"], mirror["in_sync"]) == ([], [], True)
    assert active(run) == {"one", "three"}
    assert before in [copy.read_text(encoding="utf-8") for copy in file.parent.glob(".omoide-backups/*.md.*")]


def test_a_forgotten_memory_in_a_bullet_of_a_project_tree_is_taken_out(run, place):
    for text in ("one", "二つ目"):
        run("remember", text, "--topic", text)
    assert run("mirror", "add", "tree", "--format", "tree").code == 0
    file = place / "tree" / "shop" / "MEMORY.md"
    ids = {one["content"]: one["id"] for one in run("list", "--json").data["memories"]}
    head = file.read_text(encoding="utf-8").partition("### ")[0]
    bullets = [f"- {text} (id {id})" for text, id in ids.items()]
    file.write_text("\n".join([f"{head}## My notes", "", *bullets, ""]), encoding="utf-8")
    run("list")
    run("forget", "2")
    assert "#2" in run("mirror", "status").out
    assert run("mirror", "take-out", "1").code == 0
    text = file.read_text(encoding="utf-8")
    assert ("二つ目" in text, f"- one (id {ids['one']})" in text) == (False, True)


def test_an_id_without_the_text_of_its_memory_is_a_persons_own_and_not_offered(run, file, rewritten):
    ids = rewritten("- {text} <!-- {id} -->", "one", "配送は火曜日", "three")
    file.write_text(file.read_text(encoding="utf-8").replace("配送は火曜日", "we gave that up"), encoding="utf-8")
    run("forget", "2")
    (mirror,) = run("mirror", "status", "--json").data["mirrors"]
    assert (mirror["retired"], mirror["in_sync"]) == ([], True)
    assert "nothing to do" in run("mirror", "take-out", "1").err
    assert f"we gave that up <!-- {ids[1]} -->" in file.read_text(encoding="utf-8")


def test_what_cannot_be_taken_out_by_itself_is_named_with_its_line_and_stays(run, file, rewritten):
    one, two = rewritten("- {text} <!-- {id} -->", "one", "two")
    file.write_text(f"# Memories\n\n- one <!-- {one} --> and two <!-- {two} -->\n", encoding="utf-8")
    run("forget", "2")
    done = run("mirror", "take-out", "1")
    assert done.code != 0
    assert f"{file}, line 3: it is no entry, and stays there: delete it by hand" in done.err
    assert two in file.read_text(encoding="utf-8")
    assert active(run) == {"one"}


def test_deleting_what_is_no_entry_any_more_archives_it_and_takes_its_item_out(run, file, rewritten):
    rewritten("- {text} ({id})", "one", "two")
    done = run("memories", "delete", "#1")
    assert (done.code, done.out.startswith("deleted  #1"), done.err) == (0, True, "")
    assert [line.split(" (")[0] for line in file.read_text().splitlines()] == ["# Memories", "", "- two", "", "Mine."]
    assert active(run) == {"two"}


def test_deleting_what_is_only_mentioned_beside_its_id_archives_it_and_says_what_stays(run, file, rewritten):
    rewritten("- {text} ({id})", "one", "two")
    text = file.read_text()
    file.write_text(text.replace("- one (", "- see ("))
    done = run("memories", "delete", "#1")
    assert (done.code, done.out.startswith("deleted  #1")) == (0, True)
    assert f"{file}, line 3: it is no entry, and stays there: delete it by hand" in done.err
    assert active(run) == {"two"}


def test_what_is_added_on_a_branch_without_the_file_is_said_to_wait_for_it(run, shop, file):
    run("memories", "add", "one")
    commit(shop)
    git("switch", "-q", "-c", "bare", "HEAD~1", cwd=shop)
    done = run("memories", "add", "二番目")
    assert done.code == 0
    assert done.err.count("\n") == 1
    assert f"{file} is not there, and git has it: 1 memory that belongs in it is stored" in done.err
    assert "`omoide mirror put-back 1` creates it" in done.err
    assert run("list").err == "", "it is reported once"
    assert not file.exists()
    assert f"{file} is not there: `omoide mirror status` shows what belongs in it" in run("memories", "list").err
    (mirror,) = run("mirror", "status", "--json").data["mirrors"]
    assert (mirror["troubles"], mirror["in_sync"], len(mirror["missing"])) == ([], False, 2)
    check, *entries = [one for one in run("doctor", "--json").data["checks"] if "memories.md" in one["what"]]
    assert check["ok"]
    assert check["what"].endswith("is not there, and git has it")
    assert [one["what"].split(" is not in ")[0] for one in entries] == ["mirror 1: #2", "mirror 1: #1"]
    git("switch", "-q", "main", cwd=shop)
    run("memories", "list")
    assert texts(file) == ["one", "二番目"]


def test_an_untracked_list_in_a_stash_is_not_created_beside_it(run, shop, file):
    run("memories", "add", "one")
    (shop / "code.py").write_text("print(1)\n")
    git("stash", "-q", "-u", cwd=shop)
    git("commit", "-q", "--allow-empty", "-m", "more", cwd=shop)
    (shop / "other.txt").write_text("more\n")
    git("stash", "-q", "-u", cwd=shop)
    assert "is not there, and git has it" in run("memories", "add", "二番目").err
    assert not file.exists()
    git("stash", "pop", "-q", "stash@{1}", cwd=shop)
    run("memories", "list")
    assert texts(file) == ["one", "二番目"]
    git("stash", "drop", "-q", cwd=shop)
    file.unlink()
    run("memories", "add", "three")
    assert texts(file) == ["three"], "git does not have it any more"


def test_status_of_a_long_list_that_is_gone_names_some_and_counts_the_rest(run, file):
    for number in range(30):
        run("memories", "add", f"text {number}")
    file.unlink()
    shown = run("mirror", "status").out
    assert shown.count("not in memories.md: ") == 20
    assert "    and 10 more: `omoide mirror status --json` lists all\n" in shown
    assert len(run("mirror", "status", "--json").data["mirrors"][0]["missing"]) == 30


# links, first syncs, conflict markers


def test_a_link_to_a_file_of_any_name_in_the_repository_is_read_and_written_as_that_file(run, shop, file):
    (shop / "docs").mkdir()
    (shop / "docs" / "team.md").write_text("# Team\n\n## one\n- Content: one\n")
    file.parent.mkdir()
    file.symlink_to("../docs/team.md")
    assert run("memories", "add", "two").code == 0
    assert texts(shop / "docs" / "team.md") == ["one", "two"]
    assert file.is_symlink()
    assert [one["title"] for one in run("memories", "list", "--json").data["memories"]] == ["one", "two"]
    assert sorted(path.name for path in (shop / "docs").iterdir() if path.suffix == ".md") == ["team.md"]
    (shop / "docs" / "team.md").write_text((shop / "docs" / "team.md").read_text().replace("Content: two", "Content: 2"))
    assert active(run) == {"one", "2"}


@pytest.mark.parametrize("linked", ["file", "directory"])
def test_a_link_that_leads_out_of_the_repository_is_refused_with_a_clear_line(run, shop, file, place, linked):
    outside = place / "private"
    outside.mkdir()
    (outside / "memories.md").write_text("## diary\n- Content: private\n")
    if linked == "file":
        file.parent.mkdir()
        file.symlink_to(outside / "memories.md")
    else:
        file.parent.symlink_to(outside)
    done = run("memories", "add", "two")
    assert "leads out of the repository" in done.err
    assert "leads out of the repository" in run("memories", "list").err
    assert (outside / "memories.md").read_text() == "## diary\n- Content: private\n"
    assert "private" not in active(run)


@pytest.mark.parametrize("name", ["config", "hooks/post-checkout"])
def test_a_link_to_a_file_of_git_itself_is_refused_with_a_clear_line(run, shop, file, name):
    target = shop / ".git" / name
    before = target.read_bytes() if target.exists() else None
    file.parent.mkdir()
    file.symlink_to(f"../.git/{name}")
    done = run("memories", "add", "two")
    assert (done.code, done.err.count("git's own file")) == (0, 1)
    assert "git's own file" in run("memories", "list").err
    assert (target.read_bytes() if target.exists() else None) == before
    assert git("status", "--short", cwd=shop) == "?? .agent/\n"
    assert active(run) == {"two"}


def test_a_link_that_leads_to_itself_is_reported_and_the_memory_is_stored(run, shop, file):
    file.parent.mkdir()
    file.symlink_to("memories.md")
    done = run("memories", "add", "two")
    assert (done.code, done.err.count("leads to itself")) == (0, 1)
    assert "leads to itself" in run("memories", "list").err
    assert active(run) == {"two"}
    assert run("doctor").code == 1


def test_the_entries_of_an_existing_file_are_counted_and_known_as_somebody_elses(run, shop, file, monkeypatch):
    monkeypatch.setenv("OMOIDE_FILE_CONFIDENCE", "0.4")
    file.parent.mkdir()
    file.write_text("# Memories\n\n## one\n- Content: 一番目\n\n## two\n- Content: second\n")
    commit(shop)
    head = git("rev-parse", "--short", "HEAD", cwd=shop).strip()
    done = run("memories", "add", "mine")
    assert "2 entries that were there are imported" in done.err
    found = {one["content"]: one for one in run("list", "--json").data["memories"]}
    for text in ("一番目", "second"):
        assert (found[text]["source"], found[text]["confidence"]) == (f"file:.agent/memories.md@{head}", 0.4)
    assert found["mine"]["confidence"] == 1
    file.write_text(file.read_text() + "\n## three\n- Content: by hand\n")
    found = {one["content"]: one for one in run("list", "--json").data["memories"]}
    assert (found["by hand"]["source"], found["by hand"]["confidence"]) == ("file", 1)
    assert run("list", "--json").err == "", "it is announced once"


def test_conflict_markers_stop_one_file_and_nothing_else(run, shop, file):
    for text in ("one", "two"):
        run("memories", "add", text)
    run("mirror", "add", "notes/")
    run("mirror", "add", "CLAUDE.md")
    before = file.read_text()
    marked = before.replace("- Content: two", "<<<<<<< HEAD\n- Content: 2\n=======\n- Content: II\n>>>>>>> side")
    file.write_text(marked)
    done = run("memories", "list", "--json")
    assert done.err.count("git left conflict markers here") == 1, "it is reported once"
    assert str(file) in done.err
    assert re.search(r"(?m)^#1 +one", run("memories", "list").out), "without a line number"
    assert {one["title"] for one in done.data["memories"]} == {"one", "two"}, "as last synced"
    injected = run("memories", "inject").out
    assert "- Content: two" in injected
    assert "<<<" not in injected
    note = next(path for path in (shop / "notes").glob("*.md") if "one" in path.read_text())
    note.write_text(note.read_text().replace("one", "<<<<<<< HEAD\n1\n=======\nI\n>>>>>>> side"))
    guide = shop / "CLAUDE.md"
    guide.write_text("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> side\n" + guide.read_text())
    kept = (note.read_text(), guide.read_text())
    run("remember", "three")
    assert active(run) == {"one", "two", "three"}
    assert (note.read_text(), guide.read_text(), file.read_text()) == (*kept, marked)
    troubles = [one["troubles"] for one in run("mirror", "status", "--json").data["mirrors"]]
    assert all("conflict markers" in one[0] for one in troubles)
    assert any("three" in path.read_text() for path in (shop / "notes").glob("*.md")), "the other files go on"
    file.write_text(before)
    assert active(run) == {"one", "two", "three"}


def test_a_list_that_is_cut_off_is_shown_and_injected_as_it_was_last_synced(run, file):
    for text in ("one", "二番目", "three"):
        run("memories", "add", text)
    whole = file.read_bytes()
    file.write_bytes(whole[: whole.index(b"- Content: three") - 20])
    done = run("memories", "list", "--json")
    assert [one["content"] for one in done.data["memories"]] == ["one", "二番目", "three"]
    assert done.err.count("cut off in the middle of its last line") == 1
    assert "- Content: three" in run("memories", "inject").out
    assert run("memories", "add", "four").code == 0
    file.write_bytes(whole)
    run("memories", "list")
    assert texts(file) == ["one", "二番目", "three", "four"]


def test_a_memory_about_conflict_markers_is_no_conflict(run, shop):
    run("mirror", "add", "notes/")
    text = "git marks a conflict so:\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side"
    run("remember", text, "--key", "git")
    note = shop / "notes" / "git.md"
    note.write_text(note.read_text().replace("so:", "like this:"))
    done = run("show", "git", "--json")
    assert done.data["content"] == text.replace("so:", "like this:")
    assert done.err == ""


# files of others


def test_files_of_others_in_a_mirrored_directory_are_never_changed(run, shop):
    theirs = {
        "CHANGELOG.md": "# Changes\n\n## 1.0\n- Content: not a memory\n",
        "notes.md": "---\ntitle: My notes\nid: 7\n---\n\nOf my own.\n",
        "broken.md": "---\ntags: [a\n---\nnot ours\n",
        "archive/old.md": "Old minutes.\n",
    }
    (shop / "archive").mkdir()
    for name, text in theirs.items():
        (shop / name).write_text(text)
    (shop / "utf16.md").write_bytes("別の".encode("utf-16"))
    (shop / "ours.md").write_text("---\nkey: ours\n---\n\nWritten for omoide.\n")
    done = run("mirror", "add", ".")
    assert done.code == 0
    assert "1 entry that was there is imported" in done.err
    assert active(run) == {"Written for omoide."}
    run("remember", "of the agent", "--key", "notes")
    run("archive", "ours")
    run("forget", "notes")
    run("mirror", "sync")
    run("retire")
    run("mirror", "rebuild", "--from", "database")
    run("mirror", "remove", "1")
    assert {name: (shop / name).read_text() for name in theirs} == theirs
    assert (shop / "utf16.md").read_bytes() == "別の".encode("utf-16")
    assert (shop / "archive" / "ours.md").exists()


def test_files_that_a_person_names_are_handed_over(run, shop):
    for name in ("CHANGELOG.md", "note-one.md", "note-two.md"):
        (shop / name).write_text(f"text of {name}\n")
    assert run("mirror", "add", ".", "--adopt", "note-one.md").code == 0
    assert active(run) == {"text of note-one.md"}
    assert run("mirror", "add", ".", "--adopt", "note-*.md").code == 0
    assert active(run) == {"text of note-one.md", "text of note-two.md"}
    assert (shop / "CHANGELOG.md").read_text() == "text of CHANGELOG.md\n"
    assert "is for a directory" in run("mirror", "add", "team.md", "--adopt", "x.md").err
    mistyped = run("mirror", "add", ".", "--adopt", "note-*.md", "--adopt", "not-one.md").err
    assert mistyped == f"--adopt not-one.md: no file in {shop} has this name now; one that comes later is mirrored\n"


@pytest.mark.parametrize("whole", [True, False], ids=["mirror add", "later"])
def test_a_file_that_is_handed_over_does_not_take_the_place_of_a_memory_with_its_key(run, shop, whole):
    notes = shop / "notes"
    notes.mkdir()
    (notes / "note.md").write_text("my own note\n")
    (notes / "other.md").write_text("x\n")
    run("mirror", "add", "notes/")
    run("remember", "what an agent noted", "--key", "note")
    (written,) = notes.glob("note-*.md")
    if not whole:
        (notes / "note.md").unlink()
    done = run("mirror", "add", "notes/", "--adopt", "note.md")
    if not whole:
        (notes / "note.md").write_text("my own note\n")
        done = run("list")
    assert (
        f"{notes / 'note.md'}: key 'note' is taken by #1, which is in {written.name}: give it another key or name"
        in done.err
    )
    assert active(run) == {"what an agent noted"}
    assert ((notes / "note.md").read_text(), written.exists()) == ("my own note\n", True)
    (notes / "note.md").rename(notes / "mine.md")
    run("mirror", "add", "notes/", "--adopt", "mine.md")
    assert active(run) == {"what an agent noted", "my own note"}


def test_pages_of_others_in_the_directory_of_a_tree_are_left_alone(run, shop):
    pages = shop / "memory" / "shop"
    pages.mkdir(parents=True)
    (pages / "MEMORY.md").write_text("# Index of another tool\n")
    done = run("mirror", "add", "memory", "--format", "tree")
    assert done.code == 0
    assert "was not made by omoide" in run("remember", "a note").err
    run("remember", "a decision", "--type", "decision")
    assert (pages / "MEMORY.md").read_text() == "# Index of another tool\n"
    assert "a decision" in (pages / "decisions.md").read_text()
    assert run("mirror", "add", "memory", "--format", "tree", "--adopt", "shop/MEMORY.md").code == 0
    assert "a note" in (pages / "MEMORY.md").read_text()


def test_the_directories_above_a_new_mirror_are_created(run, shop):
    run("remember", "one")
    assert run("mirror", "add", "deep/down/list.md").code == 0
    assert run("mirror", "add", "other/deep/notes/").code == 0
    assert texts(shop / "deep/down/list.md") == ["one"]
    assert len(list((shop / "other/deep/notes").glob("*.md"))) == 1
    (shop / "taken").write_text("a file\n")
    assert "taken" in run("mirror", "add", "taken/deep/list.md").err


# merges


def test_two_branches_that_each_add_an_entry_merge_without_a_conflict(run, shop, file):
    hint = run("mirror", "add").err
    assert "/.agent/memories.md merge=union in .gitattributes: --gitattributes adds it" in hint
    run("mirror", "remove", "1")
    assert "merge=union" in run("mirror", "add", "--gitattributes").err
    assert (shop / ".gitattributes").read_text() == "/.agent/memories.md merge=union\n"
    run("mirror", "remove", str(file))
    assert run("mirror", "add", "--gitattributes").err == "", "it is there already"
    run("remember", "of both")
    commit(shop)
    git("switch", "-q", "-c", "side", cwd=shop)
    run("remember", "of the side")
    commit(shop)
    git("switch", "-q", "main", cwd=shop)
    run("remember", "of main")
    commit(shop)
    git("merge", "-q", "-m", "both", "side", cwd=shop)
    assert active(run) == {"of both", "of the side", "of main"}
    assert sorted(texts(file)) == ["of both", "of main", "of the side"]
    assert run("mirror", "status", "--json").data["mirrors"][0]["missing"] == []
    assert len(set(re.findall(r"- Id: (\S+)", file.read_text()))) == 3


def test_the_line_for_merges_and_other_options_publish_nothing_private(run, shop, file):
    run("memories", "add", "public")
    run("remember", "秘密のメモ")
    assert run("mirror", "add", "--gitattributes").code == 0
    assert (shop / ".gitattributes").read_text() == "/.agent/memories.md merge=union\n"
    assert run("mirror", "add", "--retire", "--json").data["choice"] == "own"
    assert run("mirror", "add", "--gitattributes", "--json").data["choice"] == "own"
    refused = run("mirror", "add")
    assert (refused.code, "--choice all adds every memory of project shop to it" in refused.err) == (1, True)
    assert texts(file) == ["public"]
    assert run("mirror", "add", "--choice", "all").code == 0
    assert set(texts(file)) == {"public", "秘密のメモ"}
    refused = run("mirror", "add")
    assert (refused.code, "has a mirror already, number 1 of project shop: remove that first" in refused.err) == (1, True)


def test_without_that_line_additions_to_a_long_list_rarely_touch(run, shop, file):
    run("mirror", "add")
    notes = "\n".join(json.dumps({"content": f"note {number}"}) for number in range(60))
    (shop / "notes.jsonl").write_text(notes + "\n")
    assert run("import", "notes.jsonl").code == 0
    run("list")
    commit(shop)
    merged = 0
    for number in range(8):
        for name in ("side", "other"):
            git("switch", "-q", "-C", name, "main", cwd=shop)
            run("remember", f"of {name}, {number}")
            commit(shop)
        done = subprocess.run(
            ["git", "merge", "-q", "-m", "both", "side"], cwd=shop, env={**os.environ, **ENVIRONMENT}, capture_output=True
        )
        merged += done.returncode == 0
        git("reset", "-q", "--hard", cwd=shop)
    assert merged >= 5
