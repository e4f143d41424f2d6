"""Mirrored files as a developer uses them: real processes of omoide, git and an editor in real repositories."""

import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_EDITOR": "true"} | {
    f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "a"), ("EMAIL", "a@b.c"))
}
TEXTS = ["one of four", "two of four", "配送は火曜日", "four of four"]
LATER = "remembered later"


class Repository:
    """A repository with a list of memories, four of them committed and one added since. Its project is what git says."""

    def __init__(self, root: Path, omoide) -> None:
        self.root, self._omoide = root, omoide
        self.file = root / ".agent" / "memories.md"
        root.mkdir()
        self("init", "-q", "-b", "main")
        (root / "code.py").write_text("print(1)\n")
        self.commit()
        for text in TEXTS:
            assert self.omoide("memories", "add", text).code == 0
        self.commit()
        assert self.omoide("memories", "add", LATER).code == 0

    def __call__(self, *arguments: str) -> str:
        environment = {**os.environ, **GIT}
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def omoide(self, *arguments: str):
        done = self._omoide(*arguments, cwd=self.root)
        assert "Traceback" not in done.err
        return done

    def commit(self) -> None:
        self("add", "-A")
        self("commit", "-q", "--allow-empty", "-m", "more")

    def active(self) -> set[str]:
        return {one["content"] for one in self.omoide("list", "--limit", "100", "--json").data["memories"]}

    def archived_texts(self) -> set[str]:
        return {one["content"] for one in self.omoide("list", "--state", "archived", "--json").data["memories"]}

    def texts(self) -> list[str]:
        return re.findall(r"- Content: (.*)", self.file.read_text(encoding="utf-8")) if self.file.exists() else []

    def missing(self) -> dict[str, str]:
        """The texts that are not in the file, with the reason, as `mirror status` says it."""
        (mirror,) = self.omoide("mirror", "status", "--json").data["mirrors"]
        return {one["topic"]: one["reason"] for one in mirror["missing"]}


@pytest.fixture
def shop(place, omoide, monkeypatch) -> Repository:
    monkeypatch.delenv("OMOIDE_PROJECT")
    return Repository(place / "shop", omoide)


def stash(git):
    git("stash", "-q")
    yield {LATER: "git"}
    git("stash", "pop", "-q")


def stash_of_an_untracked_list(git):
    git("rm", "-q", "--cached", "-r", ".agent")
    git("commit", "-q", "-m", "no longer tracked")
    git("stash", "-q", "-u")
    yield dict.fromkeys([*TEXTS, LATER], "gone")
    git("stash", "pop", "-q")


def switch(git):
    git.commit()
    git("switch", "-q", "-c", "old", "HEAD~1")
    yield {LATER: "git"}
    git("switch", "-q", "main")


def rebase(git):
    git.commit()
    git("switch", "-q", "-c", "side", "HEAD~1")
    (git.root / "code.py").write_text("print(2)\n")
    git.commit()
    yield {LATER: "git"}
    git("rebase", "-q", "main")


def clean(git):
    git("rm", "-q", "--cached", "-r", ".agent")
    git("commit", "-q", "-m", "no longer tracked")
    copy = git.file.read_bytes()
    git("clean", "-f", "-d", "-x", "-q")
    yield dict.fromkeys([*TEXTS, LATER], "gone")
    git.file.parent.mkdir()
    git.file.write_bytes(copy)


def clone_at_the_same_place(git):
    origin = git.root.parent / "origin"
    git("clone", "-q", "--bare", ".", str(origin))
    copy = git.file.read_bytes()
    shutil.rmtree(git.root)
    git.root.mkdir()
    git("clone", "-q", str(origin), ".")
    yield {LATER: "git"}
    git.file.write_bytes(copy)


@pytest.mark.parametrize(
    "operation",
    [
        stash,
        stash_of_an_untracked_list,
        switch,
        rebase,
        clean,
        clone_at_the_same_place,
    ],
    ids=lambda one: one.__name__,
)
def test_git_takes_entries_away_and_brings_them_back_and_every_command_finds_all_memories(shop, operation):
    everything = {*TEXTS, LATER}
    steps = operation(shop)
    missing = next(steps)
    before = shop("status", "--porcelain")
    assert shop.active() == everything
    assert shop.missing() == missing
    assert set(shop.texts()) == everything - set(missing)
    assert shop("status", "--porcelain") == before, "nothing is written behind git's back"
    assert shop.omoide("doctor").code in (0, 1)
    next(steps, None)
    assert (shop.active(), shop.archived_texts(), shop.missing()) == (everything, set(), {})
    assert set(shop.texts()) == everything


def test_two_branches_that_each_remember_merge_without_a_conflict(shop):
    shop.omoide("mirror", "add", "--gitattributes")
    shop.commit()
    shop("switch", "-q", "-c", "side")
    shop.omoide("memories", "add", "on the side")
    shop.commit()
    shop("switch", "-q", "main")
    shop.omoide("memories", "add", "on main")
    shop.commit()
    shop("merge", "-q", "side")
    assert set(shop.texts()) == {*TEXTS, LATER, "on the side", "on main"}
    assert shop.active() == set(shop.texts())
    assert (shop.missing(), shop.archived_texts()) == ({}, set())
    assert shop("status", "--porcelain") == ""


def test_what_was_forgotten_stays_so_on_every_branch_and_a_plain_deletion_can_be_undone(shop):
    shop.commit()
    shop("switch", "-q", "-c", "old")
    shop("switch", "-q", "main")
    number = next(one["number"] for one in shop.omoide("list", "--json").data["memories"] if one["content"] == TEXTS[1])
    assert shop.omoide("forget", str(number)).code == 0
    shop.commit()
    for branch in ("old", "main", "old", "main"):
        shop("switch", "-q", branch)
        assert shop.active() == {*TEXTS, LATER} - {TEXTS[1]}
    text = re.sub(r"(?m)^## one of four\n(?:(?!## ).*\n)*", "", shop.file.read_text(encoding="utf-8"))
    shop.file.write_text(text, encoding="utf-8")
    deleted = shop.omoide("list", "--json")
    assert json.loads(deleted.out)["total_count"] == 3
    undo = re.search(r"was deleted, so it is archived: `omoide (restore \d+)` undoes it", deleted.err)
    assert undo, deleted.err
    shop.omoide(*undo[1].split())
    assert shop.active() == {*TEXTS, LATER} - {TEXTS[1]}
    assert TEXTS[0] in shop.texts()


def test_agents_that_remember_while_a_person_edits_commits_and_moves_the_repository_lose_nothing(shop, place):
    with ThreadPoolExecutor() as agents:
        done = agents.map(lambda number: shop.omoide("memories", "add", f"agent note {number}"), range(4))
    assert {one.code for one in done} == {0}
    with shop.file.open("a", encoding="utf-8") as end:
        end.write("\n## by hand\n- Content: typed by a person\n")
    shop.commit()
    moved = place / "renamed"
    shop.root.rename(moved)
    shop.root, shop.file = moved, moved / ".agent" / "memories.md"
    assert shop.omoide("memories", "add", "after the move").code == 0
    everything = {*TEXTS, LATER, *(f"agent note {number}" for number in range(4)), "typed by a person", "after the move"}
    assert shop.active() == everything
    assert set(shop.texts()) == everything
    assert (shop.archived_texts(), shop.missing()) == (set(), {})
