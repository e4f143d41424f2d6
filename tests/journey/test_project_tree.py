"""The tree of a project: one root for all projects, files made at once, read, extended and replaced, edits imported."""

import os
import stat
from pathlib import Path

import pytest

from omoide import Changed, Conflict, Draft, InvalidInput, NotAllowed, NotFound, Scope, State, Unwritable

SHOP = "backend/python/shop"
SCOPE = Scope.project(SHOP)
STORE = "店舗/決済/ショップ"
NEW = """# shop

> The web shop

## セッション

## 最近の活動
"""


@pytest.fixture
def root(tmp_path):
    """Where the trees of a store called memory.db are."""
    return tmp_path / "projects"


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def texts(memory, scope=SCOPE):
    return [each.content for each in memory.list(scope=scope, limit=100).memories][::-1]


# making a tree


def test_creating_a_project_makes_its_files_at_once(run, place, root):
    made = run("project", "create", SHOP, "--description", "The web shop", "--json").data
    directory = root / "backend" / "python" / "shop"
    assert made["tree"] == str(directory)
    assert {file.name: file.read_text(encoding="utf-8") for file in directory.iterdir()} == {
        "MEMORY.md": NEW, "pinned.md": "", "decisions.md": "",
    }  # several entries per line  # fmt: skip
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in directory.iterdir())
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_the_trees_of_all_projects_are_in_one_root_that_is_a_setting(run, place, monkeypatch):
    monkeypatch.setenv("OMOIDE_TREE_ROOT", str(place / "all trees"))
    for path in (SHOP, STORE, "bank"):
        assert run("project", "create", path).code == 0
    assert sorted(str(file.parent.relative_to(place / "all trees")) for file in place.rglob("MEMORY.md")) == sorted(
        [SHOP, STORE, "bank"]
    )


def test_without_trees_no_file_is_made_and_everything_else_works(run, place, monkeypatch):
    monkeypatch.setenv("OMOIDE_TREE_ROOT", "off")
    assert run("project", "create", SHOP, "--json").data["tree"] is None
    assert run("session", "start", "monday", "--project", SHOP, "--json").data["file"] is None
    run("project", "activity", "1.4 を公開", "--project", SHOP)
    shown = run("project", "show", SHOP, "--json").data["files"]
    assert "1.4 を公開" in shown["memory"]["text"]
    assert (shown["directory"], shown["memory"]["path"]) == (None, None)
    assert [file.name for file in place.iterdir() if not file.name.startswith("memory.db")] == []
    refused = run("project", "replace", SHOP, "-", input="# shop\n")
    assert (refused.code, "has no tree of files" in refused.err) == (1, True)


def test_without_a_created_project_or_a_started_session_there_are_no_files(run, place):
    run("remember", "x")
    run("remember", "y", "--session", "monday")
    run("project", "list")
    run("project", "show")
    run("recall", "x")
    assert [file.name for file in place.iterdir() if not file.name.startswith("memory.db")] == []


def test_starting_a_session_makes_its_file_at_once_lists_it_and_answers_its_path(run, root):
    run("project", "create", SHOP, "--description", "The web shop")
    started = run(
        "session", "start", "C042-月曜", "--project", SHOP, "--source", "slack:C042/1700000000.0001", "--json"
    ).data
    file = root / SHOP / "MEMORY_C042-月曜.md"
    assert started["file"] == str(file)
    assert file.read_text(encoding="utf-8") == "# セッション: C042-月曜\n"
    main = (root / SHOP / "MEMORY.md").read_text(encoding="utf-8")
    assert main == NEW.replace("## セッション\n", "## セッション\n\n- [C042-月曜](MEMORY_C042-月曜.md)\n")
    shown = run("session", "start", "tuesday", "--project", SHOP).out
    assert str(root / SHOP / "MEMORY_tuesday.md") in shown
    listed = run("session", "list", "--project", SHOP, "--json").data["sessions"]
    assert {each["file"] for each in listed} == {str(file), str(root / SHOP / "MEMORY_tuesday.md")}


def test_a_session_of_a_project_without_a_tree_makes_the_tree_with_what_the_project_has(memory, root):
    memory.remember("before", scope=SCOPE)
    session = memory.start_session(scope=Scope.session(SHOP, "monday"))
    assert session.file == str(root / SHOP / "MEMORY_monday.md")
    main = (root / SHOP / "MEMORY.md").read_text(encoding="utf-8")
    assert "before" in main
    assert "- [monday](MEMORY_monday.md)" in main


def test_a_session_whose_start_was_interrupted_gets_its_file_with_the_next_one(memory, root):
    memory.start_session(scope=Scope.session(SHOP, "monday"))
    (root / SHOP / "MEMORY_monday.md").unlink()
    memory.start_session(scope=Scope.session(SHOP, "tuesday"))
    assert {file.name for file in (root / SHOP).glob("MEMORY_*.md")} == {"MEMORY_monday.md", "MEMORY_tuesday.md"}


def test_a_session_with_a_very_long_name_has_a_file_with_its_whole_name(memory):
    name = "会議" * 40
    session = memory.start_session(scope=Scope.session(SHOP, name))
    assert Path(session.file).read_text(encoding="utf-8") == f"# セッション: {name}\n"
    assert [each.session for each in memory.project(SHOP).files.sessions] == [name]


@pytest.mark.parametrize("path", ["a/b/c/d", "", "a//b", "con/x", "a:b", ".hidden", "x ", "MEMORY.md", "shop/pinned.md"])
def test_a_name_that_cannot_be_a_directory_of_the_tree_is_refused(memory, root, path):
    with pytest.raises(InvalidInput):
        memory.create_project(path)
    assert not root.exists()


def test_a_second_project_of_the_same_path_is_a_conflict_and_changes_no_file(memory, root):
    memory.create_project(SHOP, description="The web shop")
    with pytest.raises(Conflict, match="there is a project"):
        memory.create_project(SHOP, description="Another")
    write(root / "by" / "hand" / "MEMORY.md", "# mine\n")
    with pytest.raises(Conflict, match="there is a project"):
        memory.create_project("by/hand")
    assert (root / "by" / "hand" / "MEMORY.md").read_text(encoding="utf-8").startswith("# mine\n")
    assert (root / SHOP / "MEMORY.md").read_text(encoding="utf-8") == NEW


def test_a_root_that_cannot_be_written_creates_no_project(memory, root):
    root.write_text("a file in its place")
    with pytest.raises(Unwritable, match=r"tree of project .* cannot be made"):
        memory.create_project(SHOP)
    assert memory.projects() == []


def test_every_store_has_a_root_of_its_own_apart_from_the_entry_files_of_the_global_layer(run, place):
    for store in ("memory.db", "team.alpha", "team.beta"):
        assert run("project", "create", "shop", "--store", str(place / store)).code == 0
    assert run("mirror", "add", "--entries", "--global").code == 0
    for root in ("projects", "team.alpha.projects", "team.beta.projects"):
        assert (place / root / "shop" / "MEMORY.md").is_file()


# finding projects


def test_projects_are_found_by_walking_the_root_also_those_made_by_hand(run, root):
    run("project", "create", SHOP)
    write(root / "notes" / "MEMORY.md", "# notes\n\n> 手で作った\n\n## 最近の活動\n\n- 2026-02-01: 始めた\n")
    write(root / STORE / "MEMORY.md", "# ショップ\n")
    write(root / STORE / "MEMORY_s1.md", "# セッション: s1\n\nfree text\n")
    write(root / "only-a-category" / "README.md", "no project")
    write(root / "a" / "b" / "c" / "too-deep" / "MEMORY.md", "# x\n")
    write(root / ".hidden" / "MEMORY.md", "# x\n")
    found = {project["path"]: project for project in run("project", "list", "--json").data["projects"]}
    assert set(found) == {SHOP, "notes", STORE}
    assert found["notes"]["description"] == "手で作った"
    assert found[STORE]["sessions"] == ["s1"]
    assert [each["content"] for each in run("list", "--project", "notes", "--json").data["memories"]] == ["始めた"]


def test_a_project_made_by_hand_is_found_by_its_name(memory, root):
    write(root / "notes" / "MEMORY.md", "# notes\n\n> mine\n\n## 最近の活動\n\n### t\n- 内容: typed\n")
    details = memory.project("notes")
    assert (details.overview.project.description, details.summary.count) == ("mine", 1)
    assert "typed" in details.files.memory.text
    (event,) = [event for event in memory.events(scope=Scope.project("notes")) if event.action == "created"]
    assert str(event.source) == f"file:{root / 'notes'}"


def test_a_directory_whose_name_cannot_be_a_projects_is_reported_and_left_alone(run, root):
    write(root / "what?" / "MEMORY.md", "# x\n")
    write(root / "notes" / "MEMORY.md", "# notes\n")
    listed = run("project", "list", "--json")
    assert [project["path"] for project in listed.data["projects"]] == ["notes"]
    assert "what? is not recognised as a project: project 'what?' contains '?'" in listed.err


# reading


def test_a_project_is_shown_with_the_texts_times_and_sizes_of_its_files(run, root):
    run("project", "create", SHOP, "--description", "The web shop")
    for name in ("monday", "火曜"):
        run("session", "start", name, "--project", SHOP)
    run("session", "append", "火曜", "テストを移行", "--project", SHOP)
    run("remember", "pnpm を使う", "--pin", "--original-prompt", "覚えて", "--project", SHOP)
    directory = root / SHOP
    os.utime(directory / "MEMORY_monday.md", (1_700_000_000, 1_700_000_000))
    shown = run("project", "show", SHOP, "--json").data
    files = shown["files"]
    on_disk = {file: file.read_text(encoding="utf-8") for file in directory.glob("*.md")}
    assert files["directory"] == str(directory)
    assert files["memory"]["text"] == on_disk[directory / "MEMORY.md"]
    assert "元の指示: 覚えて" in files["pinned"]["text"] == on_disk[directory / "pinned.md"]
    assert [(each["session"], each["text"]) for each in files["sessions"]] == [
        ("火曜", on_disk[directory / "MEMORY_火曜.md"]), ("monday", "# セッション: monday\n"),
    ]  # several entries per line  # fmt: skip
    assert "テストを移行" in files["sessions"][0]["text"]
    assert files["sessions"][1]["updated_at"] == "2023-11-14T22:13:20Z"
    assert files["memory"]["bytes"] == (directory / "MEMORY.md").stat().st_size
    assert shown["bytes"] == files["total_bytes"] == sum(file.stat().st_size for file in on_disk)
    full = run("project", "show", SHOP, "--full").out
    assert all(text.strip() in full for text in on_disk.values())


def test_an_unknown_project_is_none_and_null(run, memory):
    assert memory.project("nowhere") is None
    assert memory.project_files("nowhere") is None
    assert run("project", "show", "nowhere", "--json").out == "null\n"


def test_a_project_without_a_tree_has_the_texts_that_it_would_have(memory):
    memory.remember("decided", type="decision", scope=SCOPE)
    memory.remember("pinned text", pinned=True, scope=SCOPE)
    memory.remember("said", scope=Scope.session(SHOP, "monday"))
    files = memory.project_files(SHOP)
    assert ("decided" in files.decisions.text, "pinned text" in files.pinned.text) == (True, True)
    assert "- [monday](MEMORY_monday.md)" in files.memory.text
    assert [(file.session, "said" in file.text, file.path) for file in files.sessions] == [("monday", True, None)]


# activity


def test_appending_activity_always_appends_a_dated_line_also_the_same_text_again(run, root):
    run("project", "create", SHOP)
    for _ in range(3):
        assert run("project", "activity", "1.4 を公開", "--project", SHOP).code == 0
    lines = (root / SHOP / "MEMORY.md").read_text(encoding="utf-8").partition("## 最近の活動\n\n")[2].splitlines()
    assert len(lines) == 3
    for line, memory in zip(lines, run("list", "--project", SHOP, "--json").data["memories"][::-1], strict=True):
        at = memory["created_at"]
        assert line == f"- {at[:10]} {at[11:16]} 1.4 を公開 <!-- omoide:{memory['id']} -->"


def test_appending_to_a_session_always_appends(run, root):
    run("session", "start", "monday", "--project", SHOP)
    run("session", "append", "monday", "テスト", "--project", SHOP)
    run("session", "append", "monday", "テスト", "--project", SHOP)
    assert (root / SHOP / "MEMORY_monday.md").read_text(encoding="utf-8").count("- 内容: テスト\n") == 2


def test_activity_carries_its_source_and_stays_apart_in_a_reindex(memory, root):
    memory.create_project(SHOP)
    memory.append_activity("deployed to production", scope=SCOPE, source="github:owner/name#12")
    memory.append_activity("deployed to production", scope=SCOPE)
    assert [str(event.source) for event in memory.events(scope=SCOPE, source="github")] == ["github:owner/name#12"]
    memory.reindex()
    assert texts(memory) == ["deployed to production"] * 2
    with pytest.raises(InvalidInput, match="the global layer has no activity"):
        memory.append_activity("x", scope=Scope.everywhere())


def test_plain_bullets_that_a_person_wrote_under_recent_activity_are_read(memory, root):
    memory.create_project(SHOP)
    file = root / SHOP / "MEMORY.md"
    own = (
        "\n- 2026-02-01: 始めた\n- [2026-02-02 09:30] **会議** をした\n* 日付なし\n  続き\n  - 入れ子\n\n"
        "text of mine\n\n### 2月\n\n- 見出しの下\n\n## メモ\n\n- another list\n"
    )
    write(file, file.read_text(encoding="utf-8") + own)
    found = {each.content: each for each in memory.list(scope=SCOPE, limit=100).memories}
    assert set(found) == {"始めた", "**会議** をした", "日付なし\n続き\n- 入れ子", "見出しの下"}
    assert {each.type for each in found.values()} == {"activity"}
    assert f"{found['始めた'].created_at:%Y-%m-%d}" == "2026-02-01"
    assert f"{found['**会議** をした'].created_at:%Y-%m-%d %H:%M}" == "2026-02-02 09:30"
    marked = file.read_text(encoding="utf-8")
    assert marked.count("<!-- omoide:") == 4
    for each in found.values():
        marked = marked.replace(f" <!-- omoide:{each.id} -->", "")
    assert marked.endswith(own)


def test_a_bullet_is_edited_deleted_and_revised_on_both_sides(memory, root):
    memory.create_project(SHOP)
    for text in ("one", "two", "three"):
        memory.append_activity(text, scope=SCOPE)
    file = root / SHOP / "MEMORY.md"
    write(file, file.read_text(encoding="utf-8").replace(" one ", " ONE "))
    assert set(texts(memory)) == {"ONE", "two", "three"}
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    write(file, "".join(line for line in lines if " two " not in line))
    with pytest.warns(UserWarning, match=r"the entry of #2 was deleted, so it is archived"):
        assert set(texts(memory)) == {"ONE", "three"}
    assert memory.show(2, scope=SCOPE).state is State.ARCHIVED
    memory.revise(3, scope=SCOPE, content="three\nin two lines")
    assert " three <!-- omoide:" in file.read_text(encoding="utf-8")
    assert "-->\n  in two lines\n" in file.read_text(encoding="utf-8")
    memory.revise(1, scope=SCOPE, tags=["important"])
    assert "- タグ: important" in file.read_text(encoding="utf-8")
    memory.forget(3, scope=SCOPE)
    assert "three" not in file.read_text(encoding="utf-8")


# replacing


def test_replacing_memory_md_backs_it_up_first_and_answers_the_backups_path(run, root):
    run("project", "create", SHOP, "--description", "The web shop")
    run("project", "activity", "一つ目", "--project", SHOP)
    run("project", "activity", "二つ目", "--project", SHOP)
    before = (root / SHOP / "MEMORY.md").read_bytes()
    lines = [line for line in before.decode().splitlines() if "一つ目" not in line]
    shorter = "\n".join([*lines, "", "### まとめ", "- 内容: 一つ目までの要約", ""])
    done = run("project", "replace", SHOP, "-", "--json", input=shorter).data
    assert Path(done["backup"]).read_bytes() == before
    assert done["path"] == str(root / SHOP / "MEMORY.md")
    assert (done["bytes_before"], done["bytes_after"]) == (len(before), len(shorter.encode()))
    contents = {each["content"] for each in run("list", "--project", SHOP, "--json").data["memories"]}
    assert contents == {"二つ目", "一つ目までの要約"}
    assert run("show", "1", "--project", SHOP, "--json").data["state"] == "archived"
    assert run("events", "--project", SHOP, "--json").data["events"][-1]["action"] == "created"
    assert "replaced" in {event["action"] for event in run("events", "--project", SHOP, "--json").data["events"]}


def test_only_as_many_backups_stay_as_the_setting_says(open_memory, tmp_path, root):
    memory = open_memory(tmp_path / "memory.db", max_backups=2)
    memory.create_project(SHOP)
    backups = [memory.replace_memory_file(SHOP, f"# shop {n}\n").backup for n in range(4)]
    assert len(set(backups)) == 4
    assert [Path(backup).is_file() for backup in backups] == [False, False, True, True]
    assert Path(backups[-1]).read_text(encoding="utf-8").startswith("# shop 2\n")


def test_what_somebody_wrote_meanwhile_is_not_replaced(memory, root):
    memory.create_project(SHOP)
    read = memory.project(SHOP).files.memory
    write(root / SHOP / "MEMORY.md", read.text + "\n- 手で足した\n")
    with pytest.raises(Changed, match="has changed since it was read"):
        memory.replace_memory_file(SHOP, "# shop\n", old=read)
    assert "手で足した" in texts(memory)


def test_a_file_with_conflict_markers_can_be_replaced_and_such_a_text_is_refused(memory, root):
    memory.create_project(SHOP)
    memory.append_activity("stays", scope=SCOPE)
    file, good = root / SHOP / "MEMORY.md", memory.project(SHOP).files.memory.text
    with pytest.raises(InvalidInput, match="git left conflict markers"):
        memory.replace_memory_file(SHOP, f"{good}\n<<<<<<< ours\n=======\n>>>>>>> theirs\n")
    assert file.read_text(encoding="utf-8") == good
    write(file, f"{good}\n<<<<<<< ours\n")
    with pytest.warns(UserWarning, match="git left conflict markers"):
        memory.replace_memory_file(SHOP, good)
    assert texts(memory) == ["stays"]


def test_a_session_of_a_project_whose_tree_is_elsewhere_has_its_file_there(memory, root, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    memory.mirror(tmp_path / "elsewhere", "tree", scope=SCOPE)
    session = memory.start_session(scope=Scope.session(SHOP, "monday"))
    assert session.file == str(tmp_path / "elsewhere" / SHOP / "MEMORY_monday.md")
    assert not root.exists()


def test_replacing_is_refused_for_what_is_not_there_empty_secret_or_not_allowed(memory, root):
    with pytest.raises(NotFound, match="there is no project"):
        memory.replace_memory_file(SHOP, "# shop\n")
    memory.create_project(SHOP)
    with pytest.raises(InvalidInput, match=r"content of MEMORY\.md is empty"):
        memory.replace_memory_file(SHOP, "\n")
    with pytest.raises(InvalidInput, match="seems to hold a secret"):
        memory.replace_memory_file(SHOP, "# shop\n\nAKIA" + "QYLPMN5HHHFPZAM2" + "\n")
    with pytest.raises(NotAllowed):
        memory.acting_as("agent-7").replace_memory_file(SHOP, "# shop\n")


# one tree among many


def test_a_write_in_one_project_leaves_the_files_of_the_others_alone(memory, root):
    for path in (SHOP, "bank"):
        memory.create_project(path)
    memory.remember("in the shop", scope=SCOPE)
    before = {file: file.stat() for file in (root / "bank").iterdir()}
    memory.remember("more in the shop", scope=SCOPE)
    assert {file: file.stat() for file in (root / "bank").iterdir()} == before
    assert "more in the shop" in (root / SHOP / "MEMORY.md").read_text(encoding="utf-8")


def test_a_memory_that_leaves_its_project_leaves_its_tree_among_other_trees(memory, root):
    for path in (SHOP, "bank"):
        memory.create_project(path)
    number = memory.remember("for everybody", scope=SCOPE).memory.number
    memory.promote(number, scope=SCOPE)
    assert "for everybody" not in (root / SHOP / "MEMORY.md").read_text(encoding="utf-8")
    memory.remember_many([Draft("in the bank", Scope.project("bank")), Draft("in the shop", SCOPE)])
    assert "in the bank" in (root / "bank" / "MEMORY.md").read_text(encoding="utf-8")
    assert "in the shop" in (root / SHOP / "MEMORY.md").read_text(encoding="utf-8")
    memory.describe_project("bank", "The bank")
    assert "> The bank" in (root / "bank" / "MEMORY.md").read_text(encoding="utf-8")


def test_reading_a_new_tree_again_and_again_syncs_nothing(memory, root):
    memory.create_project(SHOP)
    memory.list(scope=SCOPE)
    for file in (root / SHOP).iterdir():
        os.utime(file, (1_700_000_000, 1_700_000_000))
    memory.list(scope=SCOPE)
    (mirror,) = memory.mirrors()
    with memory._store.read() as tx:
        assert {state.name for state in tx.file_states(mirror.number)} == {
            f"{SHOP}/{name}" for name in ("MEMORY.md", "pinned.md", "decisions.md")
        }


def test_a_renamed_project_takes_its_tree_along_with_everything_in_it(memory, root):
    memory.create_project("shop", description="The web shop")
    memory.create_project("shop/admin")
    memory.start_session(scope=Scope.session("shop", "monday"))
    memory.append_activity("1.4 を公開", scope=Scope.project("shop"))
    memory.rename_project("shop", STORE)
    assert sorted(file.name for file in (root / "shop").iterdir()) == ["admin"]
    assert "1.4 を公開" in (root / STORE / "MEMORY.md").read_text(encoding="utf-8")
    memory.append_activity("次", scope=Scope.project(STORE))
    details = memory.project(STORE)
    assert details.files.directory == str(root / STORE)
    assert ("次" in details.files.memory.text, details.summary.count) == (True, 2)
    assert [file.session for file in details.files.sessions] == ["monday"]
    assert {overview.project.path for overview in memory.catalogue()} == {STORE, "shop/admin"}


def test_a_merged_project_leaves_its_files_among_the_backups(memory, root):
    for path in ("one", "two"):
        memory.create_project(path)
        memory.append_activity(f"in {path}", scope=Scope.project(path))
    memory.merge_projects("one", "two")
    assert not (root / "one").exists()
    (kept,) = (root / ".omoide-backups" / "merged").glob("one-*/MEMORY.md")
    assert "in one" in kept.read_text(encoding="utf-8")
    text = memory.project("two").files.memory.text
    assert ("in one" in text, "in two" in text) == (True, True)
    assert [overview.project.path for overview in memory.catalogue()] == ["two"]
