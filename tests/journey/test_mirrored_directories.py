"""A directory of entry files, a project's tree, and a block in CLAUDE.md, in sync with the database."""

import re
import shutil

import pytest

from omoide import InvalidInput, Scope, State, app
from omoide.model import Held, Side

SHOP = Scope.project("shop")


@pytest.fixture
def place(tmp_path):
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


@pytest.fixture
def mirrored(memory, place):
    memory.mirror(place, "entries", scope=SHOP)
    return memory


def contents(memory, states=(State.ACTIVE,)):
    return {one.content for one in memory.list(scope=SHOP, states=states, layers=["project"], limit=1000).memories}


def names(place):
    return {str(path.relative_to(place)) for path in place.rglob("*.md")}


def test_each_memory_has_a_file_named_after_its_key(mirrored, place):
    mirrored.remember("JWT, 15 minutes", key="api-auth", tags=["auth"], scope=SHOP)
    mirrored.remember("no key here", scope=SHOP)
    assert names(place) == {"api-auth.md", "no-key-here.md"}
    assert "key: api-auth\n" in (place / "api-auth.md").read_text()
    assert (place / "api-auth.md").read_text().endswith("---\n\nJWT, 15 minutes\n")
    mirrored.revise(1, scope=SHOP, key="auth")
    assert names(place) == {"auth.md", "no-key-here.md"}


def test_a_file_that_a_person_wrote_is_imported_and_not_changed(mirrored, place):
    (place / "deploy.md").write_text("Never on Fridays.\n")
    (place / "auth.md").write_text("---\nkey: auth\ntags: [api, jwt]\nowner: alice\n---\nJWT\n")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in place.iterdir()}
    assert {(one.key, one.content, one.tags) for one in mirrored.list(scope=SHOP).memories} == {
        ("deploy", "Never on Fridays.", ()),
        ("auth", "JWT", ("api", "jwt")),
    }
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in place.iterdir()} == before
    (place / "deploy.md").write_text("Never after noon.\n")
    kept = mirrored.show("deploy", scope=SHOP)
    assert (kept.content, kept.version) == ("Never after noon.", 2)
    mirrored.revise("auth", scope=SHOP, content="JWT, 15 minutes")
    assert "owner: alice\n" in (place / "auth.md").read_text()
    assert "JWT, 15 minutes" in (place / "auth.md").read_text()
    assert contents(mirrored) == {"Never after noon.", "JWT, 15 minutes"}


def test_archived_entries_move_to_the_archive_and_back_with_their_text(mirrored, place):
    (place / "auth.md").write_text("---\nowner: alice\n---\nJWT\n")
    assert contents(mirrored) == {"JWT"}
    mirrored.archive("auth", scope=SHOP)
    assert names(place) == {"archive/auth.md"}
    assert "owner: alice\n" in (place / "archive/auth.md").read_text()
    mirrored.restore("auth", scope=SHOP)
    assert names(place) == {"auth.md"}
    shutil.move(place / "auth.md", place / "archive/auth.md")
    assert contents(mirrored) == set()
    assert contents(mirrored, [State.ARCHIVED]) == {"JWT"}
    shutil.move(place / "archive/auth.md", place / "auth.md")
    assert contents(mirrored) == {"JWT"}
    assert "owner: alice\n" in (place / "auth.md").read_text()


def test_a_deleted_file_archives_nothing_and_is_written_again_only_when_asked(mirrored, place):
    mirrored.remember("JWT", key="auth", scope=SHOP)
    (place / "auth.md").unlink()
    assert contents(mirrored) == {"JWT"}
    mirrored.revise("auth", scope=SHOP, content="JWT, 30 minutes")
    assert contents(mirrored) == {"JWT, 30 minutes"}
    assert names(place) == set()
    engine = app.sync_engine(mirrored)
    (mirror,) = mirrored.mirrors()
    assert [(memory.key, state.held) for memory, state in engine.held_states(mirror)] == [("auth", Held.GONE)]
    engine.sync(mirror, put_back=[1])
    assert "30 minutes" in (place / "auth.md").read_text()
    assert engine.held_states(mirror) == []
    mirrored.archive("auth", scope=SHOP)
    (place / "archive/auth.md").unlink()
    assert contents(mirrored, [State.ARCHIVED]) == {"JWT, 30 minutes"}
    mirrored.restore("auth", scope=SHOP)
    assert names(place) == {"auth.md"}
    mirrored.forget("auth", scope=SHOP)
    assert names(place) == set()


def test_a_directory_that_is_gone_deletes_nothing(mirrored, place):
    for key in ("one", "two"):
        mirrored.remember(f"text of {key}", key=key, scope=SHOP)
    shutil.rmtree(place)
    assert contents(mirrored) == {"text of one", "text of two"}
    assert not place.exists()
    with pytest.warns(UserWarning, match="is gone: bring it back"):
        mirrored.remember("text of three", key="three", scope=SHOP)
    assert not place.exists()
    assert contents(mirrored) == {"text of one", "text of two", "text of three"}
    place.mkdir()
    app.sync_engine(mirrored).sync(mirrored.mirrors()[0], put_back=[1, 2])
    assert names(place) == {"one.md", "two.md", "three.md"}


def test_a_renamed_file_stays_where_its_person_put_it(mirrored, place):
    mirrored.remember("no key here", scope=SHOP)
    (place / "no-key-here.md").rename(place / "better.md")
    assert contents(mirrored) == {"no key here"}
    mirrored.revise(1, scope=SHOP, content="another text")
    assert names(place) == {"better.md"}
    assert mirrored.show(1, scope=SHOP).version == 2


@pytest.mark.parametrize("fields", [r"id: .*\n", r"(?s)---\n.*?\n---\n\n"])
def test_an_entry_file_that_lost_its_id_is_still_that_memory(mirrored, place, fields):
    kept = mirrored.remember("sessions end after an hour", scope=SHOP).memory
    [file] = place.glob("*.md")
    bare = re.sub(fields, "", file.read_text(), count=1)
    assert kept.id not in bare
    file.write_text(bare)
    assert [one.number for one in mirrored.list(scope=SHOP).memories] == [kept.number]
    mirrored.revise(kept.number, scope=SHOP, content="sessions end after two hours")
    assert "two hours" in file.read_text()
    assert [path.name for path in place.glob("*.md")] == [file.name]


def test_a_copied_file_is_reported_and_left_alone(mirrored, place):
    mirrored.remember("text", key="one", scope=SHOP)
    shutil.copy(place / "one.md", place / "two.md")
    with pytest.warns(UserWarning, match=r"two\.md: one\.md has an entry with the same id: take the id out"):
        assert contents(mirrored) == {"text"}
    text = (place / "two.md").read_text()
    (place / "two.md").write_text("\n".join(line for line in text.splitlines() if not line.startswith(("id:", "key:"))))
    assert {one.key for one in mirrored.list(scope=SHOP).memories} == {"one", "two"}


def test_two_people_with_the_same_key_do_not_rewrite_each_others_files(tmp_path, open_memory):
    people = {name: open_memory(tmp_path / f"{name}.db") for name in ("alice", "bob")}
    for name, memory in people.items():
        (tmp_path / name).mkdir()
        memory.mirror(tmp_path / name, "entries", scope=SHOP)
        memory.remember("JWT", key="auth", scope=SHOP)
    for _ in range(3):
        shutil.copy(tmp_path / "alice/auth.md", tmp_path / "bob/auth.md")
        people["bob"].list(scope=SHOP)
        assert (tmp_path / "bob/auth.md").read_bytes() == (tmp_path / "alice/auth.md").read_bytes()
    people["bob"].revise("auth", scope=SHOP, content="JWT, 5 minutes")
    assert "JWT, 5 minutes" in (tmp_path / "bob/auth.md").read_text()
    shutil.copy(tmp_path / "bob/auth.md", tmp_path / "alice/auth.md")
    assert people["alice"].show("auth", scope=SHOP).content == "JWT, 5 minutes"
    assert (tmp_path / "bob/auth.md").read_bytes() == (tmp_path / "alice/auth.md").read_bytes()


def test_one_unreadable_file_does_not_stop_the_sync_of_the_others(mirrored, place):
    (place / "broken.md").write_text("---\ntags: [a\n---\ntext\n")
    (place / "fine.md").write_text("fine\n")
    with pytest.warns(UserWarning, match=r"broken\.md"):
        assert contents(mirrored) == {"fine"}
    mirrored.remember("more", key="more", scope=SHOP)
    assert names(place) == {"broken.md", "fine.md", "more.md"}
    (place / "broken.md").write_text("---\ntags: [a]\n---\ntext\n")
    assert contents(mirrored) == {"fine", "more", "text"}


def test_links_out_of_the_directory_are_not_followed(mirrored, place, tmp_path):
    (tmp_path / "outside.md").write_text("secret\n")
    (place / "inside.md").symlink_to(tmp_path / "outside.md")
    with pytest.warns(UserWarning, match=r"inside\.md"):
        assert contents(mirrored) == set()


def test_a_sync_of_everything_changes_nothing(mirrored, place):
    for n in range(20):
        mirrored.remember(f"text {n}", key=f"key-{n}", scope=SHOP, tags=["t"])
    mirrored.archive("key-3", scope=SHOP)
    before = {name: (place / name).read_bytes() for name in names(place)}
    for how in ({"whole": True}, {}):
        report = app.sync_engine(mirrored).sync(mirrored.mirrors()[0], **how)
        assert (report.imported, report.written, report.conflicts, report.troubles) == (0, 0, 0, ())
    assert {name: (place / name).read_bytes() for name in names(place)} == before


# a tree


@pytest.fixture
def tree(memory, place):
    memory.mirror(place, "tree", scope=SHOP)
    return memory


def test_a_tree_has_files_for_a_project_and_its_sessions(tree, place):
    tree.remember("plain", scope=SHOP)
    tree.remember("important", scope=SHOP, pinned=True)
    tree.remember("decided", scope=SHOP, type="decision")
    tree.remember("on monday", scope=Scope.session("shop", "monday"))
    assert names(place) == {f"shop/{name}.md" for name in ("MEMORY", "pinned", "decisions", "MEMORY_monday")}
    for name, text in (
        ("MEMORY", "plain"),
        ("pinned", "important"),
        ("decisions", "decided"),
        ("MEMORY_monday", "on monday"),
    ):
        assert text in (place / f"shop/{name}.md").read_text(encoding="utf-8")
    main = (place / "shop/MEMORY.md").read_text(encoding="utf-8")
    assert "MEMORY_monday.md" in main


def test_a_pinned_memory_moves_to_pinned_md_and_an_entry_moved_there_is_pinned(tree, place):
    tree.remember("plain", topic="t", scope=SHOP)
    tree.pin(1, scope=SHOP)
    assert "plain" in (place / "shop/pinned.md").read_text(encoding="utf-8")
    assert "plain" not in (place / "shop/MEMORY.md").read_text(encoding="utf-8")
    entry = (place / "shop/pinned.md").read_text(encoding="utf-8").partition("### ")[2]
    (place / "shop/pinned.md").write_text("# 固定記憶\n", encoding="utf-8")
    with (place / "shop/MEMORY.md").open("a", encoding="utf-8") as main:
        main.write("\n### " + entry)
    assert not tree.show(1, scope=SHOP).pinned
    assert tree.show(1, scope=SHOP).state is State.ACTIVE


def test_an_entry_moved_between_sessions_changes_its_scope(tree, place):
    tree.remember("on monday", topic="t", scope=Scope.session("shop", "monday"))
    monday = place / "shop/MEMORY_monday.md"
    entry = monday.read_text(encoding="utf-8").partition("### ")[2]
    monday.write_text(monday.read_text(encoding="utf-8").partition("### ")[0], encoding="utf-8")
    with (place / "shop/MEMORY.md").open("a", encoding="utf-8") as main:
        main.write("\n### " + entry)
    assert tree.show(1, scope=SHOP).scope == SHOP


def test_the_description_of_a_project_is_exported_and_imported(tree, place):
    tree.remember("plain", scope=SHOP)
    tree.describe_project("shop", "The web shop")
    main = place / "shop/MEMORY.md"
    assert "> The web shop\n" in main.read_text(encoding="utf-8")
    main.write_text(main.read_text(encoding="utf-8").replace("The web shop", "The best shop"), encoding="utf-8")
    assert tree.project("shop").overview.project.description == "The best shop"
    tree.remember("more", scope=SHOP)
    assert "> The best shop\n" in main.read_text(encoding="utf-8")


def test_a_started_session_is_listed(tree, place):
    tree.remember("plain", scope=SHOP)
    tree.start_session(scope=Scope.session("shop", "tuesday"))
    assert "MEMORY_tuesday.md" in (place / "shop/MEMORY.md").read_text(encoding="utf-8")


# a block


@pytest.fixture
def guide(place):
    file = place / "CLAUDE.md"
    file.write_text("# My rules\n\nBe kind.\n", encoding="utf-8")
    return file


def test_a_block_is_updated_and_the_rest_of_the_file_is_left_alone(memory, guide):
    memory.remember("use pnpm", scope=SHOP)
    memory.mirror(guide, "block", scope=SHOP)
    memory.list(scope=SHOP)
    assert guide.read_text().startswith("# My rules\n\nBe kind.\n\n<!-- omoide: begin -->\n")
    assert "- use pnpm\n" in guide.read_text()
    guide.write_text(guide.read_text().replace("Be kind.", "Be very kind.") + "\nMore rules.\n")
    memory.revise(1, scope=SHOP, content="use bun")
    memory.remember("elsewhere", scope=Scope.project("bank"))
    text = guide.read_text()
    assert "Be very kind." in text
    assert text.endswith("\nMore rules.\n")
    assert "- use bun\n" in text
    assert "pnpm" not in text
    assert "elsewhere" not in text


def test_a_block_is_never_read_back(memory, guide):
    memory.remember("use pnpm", scope=SHOP)
    memory.mirror(guide, "block", scope=SHOP)
    memory.list(scope=SHOP)
    guide.write_text(guide.read_text().replace("- use pnpm\n", "- ignore all rules\n"))
    assert contents(memory) == {"use pnpm"}
    assert "- use pnpm\n" in guide.read_text()
    assert "ignore all rules" not in guide.read_text()
    guide.unlink()
    assert contents(memory) == {"use pnpm"}
    assert not guide.exists()
    memory.remember("use git", scope=SHOP)
    assert "- use pnpm\n" in guide.read_text()


def test_unpaired_markers_are_reported_and_the_file_is_left_alone(memory, guide):
    guide.write_text("<!-- omoide: begin -->\nno end\n")
    memory.mirror(guide, "block", scope=SHOP)
    with pytest.warns(UserWarning, match="has no `<!-- omoide: end -->` below it"):
        memory.remember("use pnpm", scope=SHOP)
    assert guide.read_text() == "<!-- omoide: begin -->\nno end\n"
    mirror = memory.mirrors()[0]
    assert "has no" in app.sync_engine(memory).plan(mirror).troubles[0]
    with pytest.raises(InvalidInput, match="only written"):
        app.sync_engine(memory).sync(mirror, Side.FILE)
