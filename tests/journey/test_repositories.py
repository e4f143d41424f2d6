"""A project is what git says it is: clones, worktrees, moved and renamed directories, forks, repositories of one name."""

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import omoide as omoide_package
from omoide import Actor, Role, Scope
from omoide.app import open_service
from omoide.files import repository
from omoide.files.directory_text import directory_path
from omoide.service import Service
from omoide.settings import load_settings

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
PROGRAM = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()"]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for repositories, and a store beside it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OMOIDE_STORE", str(tmp_path / "memory.db"))
    monkeypatch.setenv("OMOIDE_CONFIG", str(tmp_path / "config.toml"))
    for variable in ("OMOIDE_PROJECT", "OMOIDE_SESSION"):
        monkeypatch.delenv(variable, raising=False)
    for name, value in {"NAME": "t", "EMAIL": "t@example.org"}.items():
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    made = tmp_path / "work"
    made.mkdir()
    return made


def git(directory: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(directory), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def make_repository(directory: Path, text: str = "", remote: str = "") -> Path:
    directory.mkdir(parents=True)
    git(directory, "init", "-q", "-b", "main")
    if text:
        (directory / "README").write_text(text)
        git(directory, "add", "README")
        git(directory, "commit", "-q", "-m", text)
    if remote:
        git(directory, "remote", "add", "origin", remote)
    return directory


def omoide(directory: Path, *arguments: str) -> Any:
    return subprocess.run([*PROGRAM, *arguments], cwd=directory, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def remember(directory: Path, text: str) -> str:
    done = omoide(directory, "remember", text)
    assert done.returncode == 0, done.stderr
    return done.stderr


def list_output(directory: Path) -> str:
    done = omoide(directory, "list")
    assert done.returncode == 0, done.stderr
    return done.stdout


REMOTE = "https://example.org/ann/shop.git"


def test_a_moved_or_renamed_repository_keeps_its_memories(work: Path) -> None:
    shop = make_repository(work / "shop", "the shop")
    remember(shop, "pnpm is used")
    moved = shop.rename(work / "store")
    assert "pnpm" in list_output(moved)
    remember(moved, "Tuesday is release day")
    far = work / "deep" / "down"
    far.mkdir(parents=True)
    again = Path(shutil.move(str(moved), str(far / "shop")))
    listed = list_output(again)
    assert "pnpm" in listed
    assert "Tuesday" in listed


def test_a_second_clone_a_worktree_and_a_shallow_checkout_are_the_same_project(work: Path) -> None:
    origin = make_repository(work / "origin", "the shop")
    (origin / "more").write_text("more")
    git(origin, "add", "more")
    git(origin, "commit", "-q", "-m", "more")
    address = f"file://{origin}"
    git(work, "clone", "-q", address, "shop")
    remember(work / "shop", "pnpm is used")
    git(work, "clone", "-q", address, "second")
    git(work, "clone", "-q", "--depth", "1", address, "ci")
    git(work / "shop", "worktree", "add", "-q", str(work / "tree"), "-b", "feature")
    assert (work / "ci" / ".git" / "shallow").exists()
    for directory in ("second", "ci", "tree"):
        assert "pnpm" in list_output(work / directory), directory


def test_a_shallow_clone_that_came_first_is_found_again_by_its_remote(work: Path) -> None:
    origin = make_repository(work / "origin", "one")
    (origin / "README").write_text("two")
    git(origin, "commit", "-q", "-a", "-m", "two")
    git(work, "clone", "-q", "--depth", "1", f"file://{origin}", "ci")
    remember(work / "ci", "learnt in a pipeline")
    git(work, "clone", "-q", f"file://{origin}", "shop")
    assert "learnt in a pipeline" in list_output(work / "shop")
    assert "learnt in a pipeline" in list_output(origin)  # the clone is recognised by its root commit from now on


def make_hub(work: Path) -> str:
    """A repository with two commits to clone from, as its address."""
    origin = make_repository(work / "origin", "the shop")
    (origin / "README").write_text("more")
    git(origin, "commit", "-q", "-a", "-m", "more")
    return f"file://{origin}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to somebody else")
@pytest.mark.parametrize("depth", [(), ("--depth", "1")], ids=["whole", "shallow"])
def test_a_checkout_of_somebody_else_that_git_refuses_is_known_by_its_remote(depth: tuple[str, ...], work: Path) -> None:
    """As in a container of a CI, where another user cloned."""
    address = make_hub(work)
    git(work, "clone", "-q", address, "shop")
    remember(work / "shop", "pnpm is used")
    git(work, "clone", "-q", *depth, address, "ci")
    for place in (work / "ci", *(work / "ci").rglob("*")):
        os.chown(place, 12345, 12345)
    assert subprocess.run(["git", "-C", str(work / "ci"), "log"], capture_output=True).returncode != 0
    assert "pnpm" in list_output(work / "ci")


def test_a_repository_that_git_could_not_be_asked_about_is_identified_as_soon_as_it_can(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = make_repository(work / "shop", "the shop")
    with monkeypatch.context() as without_git:
        (work / "bin").mkdir()
        without_git.setenv("PATH", str(work / "bin"))
        remember(shop, "pnpm is used")
    assert "pnpm" in list_output(shop)
    git(work, "clone", "-q", f"file://{shop}", "second")
    assert "pnpm" in list_output(work / "second")


def test_a_repository_that_another_one_was_merged_into_never_sees_its_memories(work: Path) -> None:
    """As with `git subtree add`: the history of the library is part of that of the application."""
    library = make_repository(work / "library", "a library", REMOTE)
    remember(library, "of the library")
    app = make_repository(work / "app", "an application")
    git(app, "fetch", "-q", str(library), "main")
    git(app, "merge", "-q", "--allow-unrelated-histories", "-s", "ours", "-m", "merge", "FETCH_HEAD")
    assert "of the library" not in list_output(app)
    remember(app, "of the application")
    assert "of the application" not in list_output(library)
    git(work, "clone", "-q", str(app), "second")
    assert "of the application" in list_output(work / "second")


def test_a_remote_that_no_branch_follows_does_not_make_a_repository_the_same(work: Path) -> None:
    template = make_repository(work / "template", "a template", REMOTE)
    remember(template, "of the template")
    shop = make_repository(work / "shop", "the shop")
    git(shop, "remote", "add", "template", REMOTE)
    git(shop, "fetch", "-q", str(template), "main:refs/remotes/template/main", "--tags")
    assert "of the template" not in list_output(shop)


def test_a_clone_whose_remote_has_another_name_is_the_same_project(work: Path) -> None:
    address = make_hub(work)
    git(work, "clone", "-q", address, "shop")
    remember(work / "shop", "pnpm is used")
    git(work, "clone", "-q", "--origin", "upstream", "--depth", "1", address, "second")
    assert "pnpm" in list_output(work / "second")


def test_another_repository_of_the_same_name_never_sees_the_memories_and_it_is_said_once(work: Path) -> None:
    first = make_repository(work / "a" / "shop", "one shop")
    remember(first, "the secret sauce")
    second = make_repository(work / "b" / "shop", "another shop")
    assert "sauce" not in list_output(second)
    output = remember(second, "something else")
    assert "project shop is another repository" in output
    assert remember(second, "one more") == ""
    assert "sauce" not in list_output(second)
    assert "something else" not in list_output(first)


def test_another_repository_in_the_directory_of_a_deleted_one_never_sees_its_memories(work: Path) -> None:
    shop = make_repository(work / "shop", "one shop")
    remember(shop, "the secret sauce")
    shutil.rmtree(shop)
    make_repository(work / "shop", "another shop")
    first = omoide(work / "shop", "list")
    assert "sauce" not in first.stdout
    assert f"{shop} was project shop and is another repository now" in first.stderr
    assert "was project" not in remember(work / "shop", "something else")
    assert "sauce" not in list_output(work / "shop")


def test_bind_without_a_project_takes_the_one_whose_history_it_shares(work: Path) -> None:
    shop = make_repository(work / "shop", "the shop", REMOTE)
    remember(shop, "pnpm is used")
    git(work, "clone", "-q", str(shop), "fork")
    git(work / "fork", "remote", "set-url", "origin", "https://example.org/bob/shop")
    assert "to project shop" in omoide(work / "fork", "project", "bind").stdout
    assert "pnpm" in list_output(work / "fork")
    other = make_repository(work / "other", "another")
    refused = omoide(other, "project", "bind")
    assert refused.returncode == 2
    assert f"no project matches {other}: name one with --project" in refused.stderr


@pytest.mark.parametrize(("answer", "seen"), [("y", True), ("n", False)])
def test_a_repository_whose_history_was_begun_again_asks_once_on_a_terminal(answer: str, seen: bool, work: Path) -> None:
    shop = make_repository(work / "shop", "the shop")
    remember(shop, "pnpm is used")
    shutil.rmtree(shop / ".git")
    for arguments in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "begun again")):
        git(shop, *arguments)
    first, second = (on_terminal([*PROGRAM, "list"], shop, answer) for _ in range(2))
    assert "the same project as shop?" in first
    assert "the same project" not in second
    assert ("pnpm" in second) is seen


def test_a_deleted_and_cloned_again_repository_keeps_its_memories(work: Path) -> None:
    origin = make_repository(work / "origin", "the shop")
    git(work, "clone", "-q", str(origin), "shop")
    remember(work / "shop", "pnpm is used")
    shutil.rmtree(work / "shop")
    git(work, "clone", "-q", str(origin), "shop")
    assert "pnpm" in list_output(work / "shop")


def test_a_repository_without_a_commit_is_its_directory_and_is_recognised_by_its_first_commit_later(work: Path) -> None:
    shop = make_repository(work / "shop")
    remember(shop, "pnpm is used")
    (shop / "README").write_text("first")
    git(shop, "add", "README")
    git(shop, "commit", "-q", "-m", "first")
    remember(shop, "Tuesday is release day")
    moved = shop.rename(work / "store")
    assert "pnpm" in list_output(moved)


def test_a_repository_without_a_commit_that_is_moved_keeps_its_memories(work: Path) -> None:
    shop = make_repository(work / "shop")
    remember(shop, "pnpm is used")
    moved = shop.rename(work / "store")
    assert "pnpm" in list_output(moved)


def test_a_rewritten_history_and_a_new_remote_address_keep_the_project(work: Path) -> None:
    shop = make_repository(work / "shop", "the shop", REMOTE)
    remember(shop, "pnpm is used")
    git(shop, "commit", "-q", "--amend", "-m", "another first commit")
    git(shop, "remote", "set-url", "origin", "git@example.org:bob/shop.git")
    assert "pnpm" in list_output(shop)
    moved = shop.rename(work / "store")
    assert "pnpm" in list_output(moved)


def test_an_orphan_branch_is_the_same_project(work: Path) -> None:
    shop = make_repository(work / "shop", "the shop")
    remember(shop, "pnpm is used")
    git(shop, "checkout", "-q", "--orphan", "pages")
    git(shop, "commit", "-q", "-m", "pages")
    git(shop, "remote", "add", "origin", REMOTE)
    assert "pnpm" in list_output(shop)


def test_a_fork_without_a_terminal_is_separate_and_bind_makes_it_the_same(work: Path) -> None:
    shop = make_repository(work / "shop", "the shop", REMOTE)
    remember(shop, "pnpm is used")
    git(work, "clone", "-q", str(shop), "fork")
    git(work / "fork", "remote", "set-url", "origin", "https://example.org/bob/shop")
    done = omoide(work / "fork", "list")
    assert "pnpm" not in done.stdout
    assert "project bind --project shop" in done.stderr
    assert omoide(work / "fork", "list").stderr.count("project bind") == 0
    assert omoide(work / "fork", "project", "bind", "--project", "shop").returncode == 0
    assert "pnpm" in list_output(work / "fork")
    git(work, "clone", "-q", str(work / "fork"), "third")
    git(work / "third", "remote", "set-url", "origin", "https://example.org/bob/shop")
    assert "pnpm" in list_output(work / "third")


@pytest.mark.parametrize(("answer", "seen"), [("y", True), ("n", False)])
def test_a_fork_on_a_terminal_asks_once(answer: str, seen: bool, work: Path) -> None:
    shop = make_repository(work / "shop", "the shop", REMOTE)
    remember(shop, "pnpm is used")
    git(work, "clone", "-q", str(shop), "fork")
    git(work / "fork", "remote", "set-url", "origin", "https://example.org/bob/shop")
    first, second = (on_terminal([*PROGRAM, "list"], work / "fork", answer) for _ in range(2))
    assert "Is " in first
    assert "the same project as shop?" in first
    assert "the same project" not in second
    assert ("pnpm" in second) is seen


@pytest.mark.parametrize(("answer", "seen"), [("y", True), ("n", False)])
def test_a_fork_that_an_agent_met_first_asks_once_on_the_next_terminal(answer: str, seen: bool, work: Path) -> None:
    fork = make_fork(work)
    prompt = {"session_id": "s", "cwd": str(fork), "hook_event_name": "UserPromptSubmit", "prompt": "is pnpm used?"}
    hook = subprocess.run(
        [*PROGRAM, "hook", "claude-code"], cwd=fork, input=json.dumps(prompt), capture_output=True, text=True
    )
    assert hook.returncode == 0
    assert "pnpm is used" not in hook.stdout
    first, second = (on_terminal([*PROGRAM, "list"], fork, answer) for _ in range(2))
    assert "the same project as shop?" in first
    assert "the same project" not in second
    assert ("pnpm" in second) is seen


@pytest.mark.parametrize("is_writing", [False, True], ids=["reads", "writes"])
def test_a_fork_that_a_server_met_first_is_reported_by_the_next_command_once(is_writing: bool, work: Path) -> None:
    fork = make_fork(work)
    settings = load_settings()
    server = open_service(settings, Actor("agent", Role.OWNER, "mcp"), report=lambda _: None, is_seen=False)
    scope = server.claim(fork) if is_writing else server.locate(fork)
    server.close()
    first, second = omoide(fork, "list"), omoide(fork, "list")
    assert f"so it is a project of its own, {scope.path}: `omoide project bind --project shop`" in first.stderr
    assert "pnpm" not in first.stdout
    assert second.stderr.count("bind") == 0


def make_fork(work: Path) -> Path:
    shop = make_repository(work / "shop", "the shop", REMOTE)
    remember(shop, "pnpm is used")
    git(work, "clone", "-q", str(shop), "fork")
    git(work / "fork", "remote", "set-url", "origin", "https://example.org/bob/shop")
    return work / "fork"


def on_terminal(command: list[str], directory: Path, answer: str) -> str:
    """Run a command on a terminal of its own, type the answer, and return all that was shown."""
    child, descriptor = pty.fork()
    if child == 0:
        os.chdir(directory)
        os.execvp(command[0], command)
    os.write(descriptor, f"{answer}\n".encode())
    shown = b""
    while True:
        try:
            part = os.read(descriptor, 4096)
        except OSError:  # the end of a terminal
            break
        if not part:
            break
        shown += part
    os.close(descriptor)
    os.waitpid(child, 0)
    return shown.decode(errors="replace")


def test_a_submodule_is_a_project_of_its_own_and_a_subdirectory_is_its_repositorys(work: Path) -> None:
    library = make_repository(work / "library", "a library")
    shop = make_repository(work / "shop", "the shop")
    git(shop, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
    remember(shop, "of the shop")
    (shop / "packages" / "app").mkdir(parents=True)
    assert "of the shop" in list_output(shop / "packages" / "app")
    assert "of the shop" not in list_output(shop / "lib")
    remember(library, "of the library")
    assert "of the library" in list_output(shop / "lib")


def test_mirrors_of_a_moved_repository_follow_it(work: Path) -> None:
    shop = make_repository(work / "shop", "the shop")
    remember(shop, "pnpm is used")
    assert omoide(shop, "mirror", "add").returncode == 0
    moved = shop.rename(work / "store")
    remember(moved, "Tuesday is release day")
    assert "Tuesday" in (moved / ".agent" / "memories.md").read_text()
    assert not shop.exists()


def test_a_vanished_directory_of_a_mirror_is_reported(work: Path) -> None:
    shop = make_repository(work / "shop", "the shop")
    remember(shop, "pnpm is used")
    assert omoide(shop, "mirror", "add").returncode == 0
    shutil.rmtree(shop)
    done = omoide(work, "mirror", "status")
    assert "in sync" not in done.stdout
    assert "gone" in done.stdout + done.stderr


def test_a_project_whose_directory_is_gone_is_named_by_show_and_doctor(work: Path) -> None:
    shop = make_repository(work / "shop", "the shop")
    remember(shop, "pnpm is used")
    shown, checked = omoide(shop, "project", "show"), omoide(shop, "doctor")
    assert "gone" not in shown.stdout + checked.stdout
    shop.rename(work / "store")
    for command in (("project", "show", "shop"), ("doctor",)):
        done = omoide(work, *command)
        assert f"{shop} is gone" in done.stdout, command
        assert "omoide project bind PATH --project shop" in done.stdout, command
    assert omoide(work, "project", "bind", "store", "--project", "shop").returncode == 0
    assert "gone" not in omoide(work, "doctor").stdout


@pytest.mark.parametrize("file", ["CLAUDE.md", "LIST.md"])
def test_a_vanished_repository_is_not_created_again_by_a_write_a_sync_or_put_back(file: str, work: Path) -> None:
    shop = make_repository(work / "shop", "the shop")
    remember(shop, "pnpm is used")
    assert omoide(shop, "mirror", "add", file).returncode == 0
    moved = shop.rename(work / "store")
    assert omoide(work, "remember", "Tuesday is release day", "--project", "shop").returncode == 0
    assert f"{shop} is gone: bring it back" in omoide(work, "mirror", "status").stderr
    synced = omoide(work, "mirror", "sync")
    assert synced.returncode == 1
    assert synced.stderr.count(f"{shop} is gone: bring it back") == 1
    omoide(work, "mirror", "put-back", "1")
    assert not shop.exists()
    remember(moved, "Friday is quiet")  # a command in its new place lets the mirror follow
    text = (moved / file).read_text()
    assert all(word in text for word in ("pnpm", "Tuesday", "Friday"))
    assert omoide(work, "mirror", "sync").returncode == 0


def test_put_back_says_that_the_repository_is_gone_and_writes_nothing(work: Path) -> None:
    shop = make_repository(work / "shop", "the shop")
    assert omoide(shop, "memories", "add", "pnpm is used").returncode == 0
    shop.rename(work / "store")
    status = omoide(work, "mirror", "status")
    assert status.stderr.count("is gone: bring it back") == 1
    assert "put-back" not in status.stdout + status.stderr, "it would write nothing"
    done = omoide(work, "mirror", "put-back", "1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("is gone: bring it back, run a command where its repository is now") == 1
    assert not shop.exists()


def test_put_back_writes_the_list_again_whose_directory_was_deleted(work: Path) -> None:
    shop = make_repository(work / "shop", "the shop")
    assert omoide(shop, "memories", "add", "pnpm is used").returncode == 0
    git(shop, "add", ".agent")
    git(shop, "commit", "-q", "-m", "list")
    shutil.rmtree(shop / ".agent")
    assert omoide(shop, "mirror", "put-back", "1").returncode == 0
    assert "pnpm" in (shop / ".agent" / "memories.md").read_text()


def test_renaming_a_project_keeps_everything_and_a_running_server_uses_the_new_name(memory: Service, tmp_path: Path) -> None:
    old, new = Scope.project("shop"), Scope.project("trade/store")
    memory.remember("pnpm is used", scope=old, topic="Tools")
    memory.remember("monday", scope=Scope.session("shop", "monday"))
    other = omoide_package.open(tmp_path / "memory.db")
    assert len(other.list(scope=old).memories) == 2
    memory.rename_project("shop", "trade/store")
    assert other.list(scope=old).memories == []
    other.remember("a new shop", scope=old)
    assert [one.content for one in other.list(scope=old).memories] == ["a new shop"]
    assert len(memory.list(scope=new).memories) == 2
    assert [session.scope.name for session in memory.sessions(scope=new)] == ["monday"]
    assert memory.remember("yarn is used", scope=new, topic="tools").action == "updated"


def test_merging_projects_moves_all_with_history_and_gives_taken_keys_a_number(memory: Service) -> None:
    shop, copy = Scope.project("shop"), Scope.project("shop-2")
    memory.remember("of the shop", scope=shop, key="rule")
    moved = memory.remember("of the copy", scope=copy, key="rule").memory
    memory.revise("rule", scope=copy, content="of the copy, revised")
    memory.remember("monday", scope=Scope.session("shop-2", "Monday"))
    memory.remember("monday too", scope=Scope.session("shop", "monday"))
    forgotten = memory.remember("forgotten", scope=copy).memory
    memory.forget(forgotten.number, scope=copy)
    plan = memory.merge_projects("shop-2", "shop", dry_run=True)
    assert (plan.memories, plan.sessions, plan.new_keys) == (3, ["Monday"], [("rule", "rule-2")])
    assert memory.project("shop-2") is not None
    assert memory.merge_projects("shop-2", "shop") == plan
    assert memory.project("shop-2") is None
    assert memory.show("rule", scope=shop).content == "of the shop"
    assert memory.show("rule-2", scope=shop).id == moved.id
    assert [version.memory.content for version in memory.history("rule-2", scope=shop)][:2] == [
        "of the copy",
        "of the copy, revised",
    ]
    assert len(memory.list(scope=Scope.session("shop", "monday"), layers=["session"]).memories) == 2
    assert memory.recall("copy revised", scope=shop).hits[0].memory.id == moved.id
    assert memory.restore(forgotten.number, scope=shop).content == "forgotten"


def test_an_old_database_is_bound_to_its_repository_without_a_persons_doing(work: Path) -> None:
    """A directory that an older version bound has no identity: the first command records it."""
    shop = make_repository(work / "shop", "the shop")
    assert omoide(shop, "project", "create", "shop", "--root", ".").returncode == 0  # no identity, as after a migration
    remember(shop, "pnpm is used")
    moved = shop.rename(work / "store")
    assert "pnpm" in list_output(moved)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/Ann/Shop.git", "github.com/ann/shop"),
        ("https://token@github.com/ann/shop", "github.com/ann/shop"),
        ("git@github.com:ann/shop.git", "github.com/ann/shop"),
        ("ssh://git@github.com:22/ann/shop.git/", "github.com/ann/shop"),
        ("ssh://git@example.org:2222/ann/shop", "example.org:2222/ann/shop"),
        ("git://example.org/ann/shop", "example.org/ann/shop"),
        ("../shop", "/work/shop"),
        ("/work/shop/", "/work/shop"),
        ("file:///work/shop", "/work/shop"),
        ("", ""),
    ],
)
def test_addresses_of_one_remote_are_normalised_to_one(url: str, expected: str) -> None:
    assert repository.normalize_remote(url, Path("/work/other")) == expected


def test_a_known_directory_costs_no_git_process(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = make_repository(work / "shop", "the shop")
    remember(shop, "pnpm is used")
    path = work / "bin"
    path.mkdir()
    (path / "git").write_text(f"#!/bin/sh\necho called >> {work}/calls\nexit 1\n")
    (path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    assert "pnpm" in list_output(shop)
    assert not (work / "calls").exists()


# a path that is not UTF-8


@pytest.fixture
def odd(work: Path) -> Path:
    """A repository in a directory whose name is not UTF-8."""
    return make_repository(Path(os.fsdecode(os.fsencode(work) + b"/\x83dir's")), "one")


def _run(directory: Path, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run([*PROGRAM, *arguments], cwd=directory, capture_output=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace")


def test_every_command_works_in_a_repository_whose_path_is_not_utf_8(odd: Path) -> None:
    commands = """
        list; remember hello; recall hello; resume; summary; route hello; compose --title x --record; runs; runs report
        replay 1; why 1; blame hello; learn --no-model /dev/null; export; history 1; events; project show
        project show --json; project activity x; project bind; project bind --json; project backup; project inject
        project list --json; session start monday; session list; memories list; memories list --json; mirror list
        mirror sync; doctor --json; document --stdout; document --json; meter; before hi; before hi --json
        run --message hello -- true; scan; retire
    """
    for command in commands.replace("\n", ";").split(";"):
        if command.strip():
            code, printed, complained = _run(odd, *command.split())
            assert "Traceback" not in complained, (command, complained)
            assert code == 0, (command, complained)
            if "--json" in command:
                json.loads(printed)
    for command in (["mirror", "add"], ["memories", "add", "x"]):
        code, _, complained = _run(odd, *command)
        assert code == 2
        assert "is not UTF-8: rename it" in complained


def test_a_directory_whose_path_is_not_utf_8_is_a_project_like_any_other(odd: Path, work: Path) -> None:
    other = make_repository(Path(os.fsdecode(os.fsencode(work) + b"/\x84dir's")))
    assert _run(odd, "remember", "of the first")[0] == _run(other, "remember", "of the second")[0] == 0
    assert "of the second" not in _run(odd, "list")[1]
    assert "of the first" not in _run(other, "list")[1]
    with open_service(load_settings(), Actor("me", Role.OWNER, "cli")) as memory:
        for root in (odd, other):
            scope = memory.locate(root)
            (place,) = next(project for project in memory.projects() if project.path == scope.path).places
            assert directory_path(place.directory) == root
            assert place.directory.encode().isascii()
        assert memory.route("run the tests again", directory=odd).primary.path == memory.locate(odd).path
    assert "gone" not in _run(odd, "doctor")[1]


def test_a_clone_and_a_moved_directory_whose_path_is_not_utf_8_are_the_same_project(odd: Path, work: Path) -> None:
    assert _run(odd, "remember", "of the project")[0] == 0
    git(work, "clone", "-q", str(odd), "clone")
    assert "of the project" in _run(work / "clone", "list")[1]
    moved = odd.rename(work / "moved")
    assert "of the project" in _run(moved, "list")[1]
    back = moved.rename(odd)
    assert "of the project" in _run(back, "list")[1]


def test_the_servers_of_agents_start_in_a_repository_whose_path_is_not_utf_8(odd: Path) -> None:
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for name, arguments in (("remember", {"content": "hello"}), ("recall", {"query": "hello"}), ("resume", {}))
    ]
    lines = "".join(json.dumps(message) + "\n" for message in asked).encode()
    done = subprocess.run([*PROGRAM, "mcp"], cwd=odd, input=lines, capture_output=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["result"]["isError"] for answer in answers] == [False] * 3, done.stderr
