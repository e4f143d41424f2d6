"""Worktrees of a real repository share one file of memories, and no text is lost."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from omoide.files.git import git_root

FILE = Path(".agent", "memories.md")
ONE = "## one\n- Tags: a\n- Date: 2026-01-26\n- Content: the first\n"
TWO = "## two\n- Tags: b\n- Date: 2026-01-27\n- Content: the second\n"


def git(*arguments, cwd):
    done = subprocess.run(["git", *arguments], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def identity(place, monkeypatch):
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "t")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "t@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.delenv("OMOIDE_PROJECT")


@pytest.fixture
def shop(place):
    """A repository with a commit, in a directory with a space and Japanese in its name."""
    return repository(place / "お店 shop")


def repository(path):
    path.mkdir(parents=True)
    git("init", "-b", "main", cwd=path)
    git("commit", "--allow-empty", "-m", "start", cwd=path)
    return path


def write(root, *entries, head="# Memories\n\n"):
    (root / ".agent").mkdir(exist_ok=True)
    (root / FILE).write_text(head + "\n".join(entries), encoding="utf-8")


def commit(root, *entries):
    write(root, *entries)
    git("add", ".agent", cwd=root)
    git("commit", "-m", "memories", cwd=root)


# add


def test_a_new_worktree_has_a_link_to_the_memories_of_the_main_one(omoide, shop):
    write(shop, ONE)
    done = omoide("worktree", "add", "../機能 feature", "-b", "feature", "--json", cwd=shop)
    assert done.code == 0
    other = shop.parent / "機能 feature"
    assert (other / FILE).is_symlink()
    assert done.data == {
        "worktree": str(other), "action": "linked", "file": str(other / FILE), "target": str(shop / FILE),
        "backup": None, "notes": done.data["notes"],
    }  # several entries per line  # fmt: skip
    assert git("branch", "--show-current", cwd=other).strip() == "feature"
    (other / FILE).write_text("written through the link", encoding="utf-8")
    assert (shop / FILE).read_text(encoding="utf-8") == "written through the link"


def test_git_arguments_may_come_in_the_order_of_git(omoide, shop):
    done = omoide("worktree", "add", "-bhotfix", "--lock", "--reason", "a reason", "../fix", "HEAD", cwd=shop)
    assert (done.code, done.out.split()[0]) == (0, "linked")
    assert "HEAD is now at" in done.err
    assert git("branch", "--show-current", cwd=shop.parent / "fix").strip() == "hotfix"


def test_a_worktree_is_created_from_another_worktree_and_from_subdirectories(omoide, shop):
    write(shop, ONE)
    omoide("worktree", "add", "../first", cwd=shop)
    deep = shop.parent / "first" / "deep"
    deep.mkdir()
    done = omoide("worktree", "add", "../../second", cwd=deep)
    assert done.code == 0
    assert (shop.parent / "second" / FILE).readlink() == shop / FILE


def test_the_link_is_created_before_its_target_exists(omoide, shop):
    omoide("worktree", "add", "../first", cwd=shop)
    link = shop.parent / "first" / FILE
    assert not link.exists()
    link.write_text("# Memories\n", encoding="utf-8")
    assert (shop / FILE).read_text(encoding="utf-8") == "# Memories\n"


def test_if_git_fails_nothing_is_linked_and_its_reason_is_shown(omoide, shop):
    (shop.parent / "taken").mkdir()
    (shop.parent / "taken" / "file").touch()
    done = omoide("worktree", "add", "../taken", cwd=shop)
    assert (done.code, done.out) == (1, "")
    assert "already exists" in done.err
    assert not (shop.parent / "taken" / ".agent").exists()
    outside = omoide("worktree", "add", "x", cwd=shop.parent)
    assert (outside.code, outside.out) == (1, "")
    assert "not a git repository" in outside.err


def test_without_git_the_error_has_a_remedy(omoide, shop, place):
    git("worktree", "add", "../first", cwd=shop)
    done = omoide("worktree", "add", "../second", cwd=shop, PATH=str(place))
    assert done.code == 1
    assert "git is not installed" in done.err
    linked = omoide("worktree", "link", cwd=shop.parent / "first", PATH=str(place))
    assert linked.code == 0
    assert "/.agent/memories.md merge=union in .gitattributes: --gitattributes adds it" in linked.err
    assert (shop.parent / "first" / FILE).is_symlink()


def test_a_link_that_cannot_be_created_is_a_warning_and_the_worktree_stays(omoide, shop):
    (shop / ".agent").write_text("a file where the directory should be", encoding="utf-8")
    done = omoide("worktree", "add", "../first", "--json", cwd=shop)
    assert (done.code, done.data["action"]) == (0, "not linked")
    assert "omoide: " in done.err
    assert "omoide worktree link" in done.err
    assert (shop.parent / "first" / ".git").is_file()
    (shop / ".agent").unlink()
    assert omoide("worktree", "link", "../first", "--json", cwd=shop).data["action"] == "linked"


# link


def test_linking_twice_changes_nothing(omoide, shop):
    write(shop, ONE)
    git("worktree", "add", "../first", cwd=shop)
    first = shop.parent / "first"
    assert omoide("worktree", "link", "--json", cwd=first).data["action"] == "linked"
    before = (first / FILE).lstat()
    assert omoide("worktree", "link", "--json", cwd=first).data["action"] == "unchanged"
    after = (first / FILE).lstat()
    assert (after.st_ino, after.st_ctime_ns) == (before.st_ino, before.st_ctime_ns)


def test_the_main_worktree_keeps_its_file(omoide, shop):
    write(shop, ONE)
    done = omoide("worktree", "link", "--json", cwd=shop)
    assert (done.code, done.data["action"]) == (0, "unchanged")
    assert "main worktree" in done.err
    assert not (shop / FILE).is_symlink()


@pytest.mark.parametrize(
    "mine", ["", "# Memories\n", ONE, f"# Memories\r\n\r\n{ONE}".replace("\n", "\r\n"), f"{TWO}\n\n\n{ONE}"]
)
def test_a_file_without_texts_of_its_own_is_replaced_by_the_link(omoide, shop, mine):
    write(shop, ONE, TWO)
    git("worktree", "add", "../first", cwd=shop)
    first = shop.parent / "first"
    write(first, head=mine)
    done = omoide("worktree", "link", "--json", cwd=first)
    assert (done.data["action"], done.data["backup"]) == ("linked", None)
    assert [file.name for file in (first / ".agent").iterdir()] == ["memories.md"]


@pytest.mark.parametrize("mine", [ONE + "\n" + TWO, ONE.replace("first", "third"), "my own preface\n" + ONE])
def test_a_file_with_texts_of_its_own_is_replaced_only_with_force_and_copied(omoide, shop, mine):
    write(shop, ONE)
    git("worktree", "add", "../first", cwd=shop)
    first = shop.parent / "first"
    write(first, head=mine)
    done = omoide("worktree", "link", cwd=first)
    assert (done.code, done.out) == (1, "")
    assert "--force" in done.err
    assert (first / FILE).read_text(encoding="utf-8") == mine
    forced = omoide("worktree", "link", "--force", "--json", cwd=first)
    assert forced.code == 0
    assert Path(forced.data["backup"]).read_text(encoding="utf-8") == mine
    assert (first / FILE).readlink() == shop / FILE
    (first / FILE).unlink()
    write(first, head=mine)
    again = omoide("worktree", "link", "--force", "--json", cwd=first)
    assert again.data["backup"] != forced.data["backup"], "the first copy stays"


def test_the_only_file_with_memories_is_not_deleted(omoide, shop):
    git("worktree", "add", "../first", cwd=shop)
    write(shop.parent / "first", ONE)
    assert omoide("worktree", "link", cwd=shop.parent / "first").code == 1
    assert (shop.parent / "first" / FILE).read_text(encoding="utf-8").endswith(ONE)


def test_a_link_to_elsewhere_is_kept_unless_it_is_broken_or_forced(omoide, shop, place):
    git("worktree", "add", "../first", cwd=shop)
    first = shop.parent / "first"
    (first / ".agent").mkdir()
    (first / FILE).symlink_to(place / "mine.md")
    (place / "mine.md").write_text("mine", encoding="utf-8")
    done = omoide("worktree", "link", cwd=first)
    assert done.code == 1
    assert "mine.md" in done.err
    assert omoide("worktree", "link", "--force", cwd=first).code == 0
    assert (place / "mine.md").read_text(encoding="utf-8") == "mine"
    (first / FILE).unlink()
    (first / FILE).symlink_to(place / "gone.md")
    assert omoide("worktree", "link", "--json", cwd=first).data["action"] == "linked"
    assert (first / FILE).readlink() == shop / FILE


def test_two_files_never_become_links_to_each_other(omoide, shop):
    git("worktree", "add", "../first", cwd=shop)
    first = shop.parent / "first"
    write(first, ONE)
    (shop / ".agent").mkdir()
    (shop / FILE).symlink_to(first / FILE)
    assert omoide("worktree", "link", "--force", cwd=first).code == 1
    assert (shop / FILE).read_text(encoding="utf-8").endswith(ONE)


def test_a_moved_repository_is_linked_again(omoide, shop):
    write(shop, ONE)
    omoide("worktree", "add", "../first", cwd=shop)
    moved = shop.rename(shop.parent / "moved")
    git("worktree", "repair", "../first", cwd=moved)
    assert not (shop.parent / "first" / FILE).exists()
    assert omoide("worktree", "link", "../first", "--json", cwd=moved).data["action"] == "linked"
    assert (shop.parent / "first" / FILE).read_text(encoding="utf-8").endswith(ONE)


def test_a_directory_without_git_is_refused(omoide, place):
    for arguments in (["link"], ["link", "nowhere"]):
        done = omoide("worktree", *arguments, cwd=place)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("omoide: ")


# git and the link


def test_the_link_does_not_replace_a_tracked_file_in_commits(omoide, shop):
    commit(shop, ONE)
    write(shop, ONE, TWO)
    done = omoide("worktree", "add", "../first", cwd=shop)
    assert done.code == 0
    first = shop.parent / "first"
    assert (first / FILE).is_symlink()
    assert "commit the file in the main one" in done.err
    assert git("status", "--short", cwd=first) == ""
    git("commit", "--all", "--allow-empty", "-m", "nothing of it", cwd=first)
    assert git("ls-tree", "HEAD", str(FILE), cwd=first).startswith("100644 ")
    assert git("status", "--short", cwd=shop).split() == ["M", str(FILE)]


def test_a_branch_with_other_memories_keeps_its_file_with_a_warning(omoide, shop):
    git("checkout", "-b", "other", cwd=shop)
    commit(shop, ONE, TWO)
    git("checkout", "-b", "feature", "HEAD~1", cwd=shop)
    write(shop, ONE)
    done = omoide("worktree", "add", "../first", "other", cwd=shop)
    assert (done.code, done.out.split()[:2]) == (0, ["not", "linked"])
    assert "## two" in done.err
    assert (shop.parent / "first" / FILE).read_text(encoding="utf-8").endswith(TWO)
    assert git("status", "--short", cwd=shop.parent / "first") == ""


def test_a_link_that_git_shows_as_untracked_is_mentioned(omoide, shop):
    done = omoide("worktree", "add", "../first", cwd=shop)
    assert ".gitignore" in done.err
    (shop.parent / "first" / ".gitignore").write_text(".agent/\n", encoding="utf-8")
    assert ".gitignore" not in omoide("worktree", "link", cwd=shop.parent / "first").err


# repositories of other shapes


def test_worktrees_of_a_bare_repository_share_the_file_in_its_directory(omoide, shop, place):
    bare = place / "shop.git"
    git("clone", "--bare", str(shop), str(bare), cwd=place)
    for name, start in (("first", bare), ("second", place / "first")):
        assert omoide("worktree", "add", f"../{name}", "-b", name, cwd=start).code == 0
        assert (place / name / FILE).readlink() == bare / FILE
    (place / "first" / FILE).write_text("shared", encoding="utf-8")
    assert (place / "second" / FILE).read_text(encoding="utf-8") == "shared"
    assert git_root(bare / "refs") == git_root(place / "first") == bare
    assert omoide("worktree", "link", cwd=bare).code == 2


def test_worktrees_of_a_hidden_bare_repository_share_the_file_beside_it(omoide, shop, place):
    home = place / "home"
    git("clone", "--bare", str(shop), str(home / ".bare"), cwd=place)
    (home / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    assert omoide("worktree", "add", "main", cwd=home).code == 0
    assert (home / "main" / FILE).readlink() == home / FILE
    assert git_root(home) == git_root(home / "main") == git_root(home / ".bare") == home


def test_a_submodule_is_a_separate_repository(omoide, shop, place):
    owner = repository(place / "owner")
    git("-c", "protocol.file.allow=always", "submodule", "add", str(shop), "部品 part", cwd=owner)
    part = owner / "部品 part"
    write(part, ONE)
    assert omoide("worktree", "link", "--json", cwd=part).data["action"] == "unchanged"
    assert omoide("worktree", "add", "../../part-first", "-b", "first", cwd=part).code == 0
    assert (place / "part-first" / FILE).readlink() == part / FILE
    assert git_root(place / "part-first") == git_root(part) == part


def test_worktrees_that_git_links_by_relative_paths_are_found(shop):
    git("worktree", "add", "../first", cwd=shop)
    mark = shop.parent / "first" / ".git"
    target = Path(mark.read_text(encoding="utf-8").removeprefix("gitdir:").strip())
    mark.write_text(f"gitdir: {os.path.relpath(target, mark.parent)}\n", encoding="utf-8")
    assert git_root(shop.parent / "first") == shop


def test_removing_a_worktree_keeps_the_memories(omoide, shop):
    commit(shop, ONE)
    omoide("worktree", "add", "../first", cwd=shop)
    git("worktree", "remove", "../first", cwd=shop)
    assert (shop / FILE).read_text(encoding="utf-8").endswith(ONE)
    shutil.rmtree(shop)


# the whole story


def test_worktrees_share_one_list_for_additions_and_edits(omoide, shop):
    omoide("memories", "add", "認証は JWT を採用", "--tags", "auth", cwd=shop)
    committed_text = (shop / FILE).read_text(encoding="utf-8")
    git("add", ".agent", cwd=shop)
    git("commit", "-m", "memories", cwd=shop)
    omoide("worktree", "add", "../first", cwd=shop)
    first = shop.parent / "first"
    assert omoide("memories", "add", "added from the worktree", cwd=first).code == 0
    by_hand = (first / FILE).read_text(encoding="utf-8").replace("JWT", "OAuth")
    (first / FILE).write_text(by_hand, encoding="utf-8")
    found = omoide("recall", "OAuth", "--json", cwd=shop).data["memories"]
    assert [memory["content"] for memory in found] == ["認証は OAuth を採用"]
    omoide("revise", str(found[0]["number"]), "--add-tag", "security", cwd=first)
    assert (first / FILE).is_symlink(), "a rewrite goes through the link"
    text = (shop / FILE).read_text(encoding="utf-8")
    assert "added from the worktree" in text
    assert "OAuth" in text
    assert "security" in text
    assert "JWT" in committed_text
    assert git("status", "--short", cwd=first) == ""
    omoide("worktree", "add", "../second", cwd=first)
    assert omoide("memories", "list", "--json", cwd=shop.parent / "second").data == omoide(
        "memories", "list", "--json", cwd=shop
    ).data  # several entries per line  # fmt: skip
