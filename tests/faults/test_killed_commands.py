"""The real command is killed with SIGKILL before every step of a sync on the disk: the next command finishes its work."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from omoide import Scope, State, app

SHOP = Scope.project("shop")
PROGRAM = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()"]
KILLER = """
import os, signal, sys

left = int(os.environ["KILLED_BEFORE_STEP"])
root = os.environ["KILLED_IN"]

def step():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

def hook(event, arguments):
    # Names that are relative to a directory's descriptor do not say where they are, but only files of mirrors are opened so.
    if event in ("os.rename", "os.link", "os.remove", "os.mkdir", "fcntl.flock"):
        step()
    elif event == "open" and isinstance(arguments[0], str) and arguments[2] & (os.O_WRONLY | os.O_RDWR):
        if arguments[0].startswith(root) or not arguments[0].startswith("/"):
            step()

sys.addaudithook(hook)

import apsw

def commits(connection):
    def before_commit():
        step()
        return False
    connection.set_commit_hook(before_commit)

apsw.connection_hooks.append(commits)
"""
EVERY = 6
"""A kind of files is tried with one step in so many, each kind with others; behind the flag for long tests, with all."""
TYPED = {"entries": "typed\n", "memories": "\n## new\n- Content: typed\n", "tree": "\n### new\n- 内容: typed\n"}


class Shop:
    """A store and its mirrored files, of which every killed command gets a copy of its own in the same place."""

    def __init__(self, root: Path, kind: str, open_memory) -> None:
        self.root, self.kind, self._open = root, kind, open_memory
        self.place = root / "shop" / "files"
        self.place.mkdir(parents=True)
        (root / "sitecustomize.py").write_text(KILLER)
        with self.open() as memory:
            memory.mirror(self.place / "memories.md" if kind == "memories" else self.place, kind, scope=SHOP)
            for n in range(5):
                memory.remember(f"text {n}", topic=f"topic {n}", scope=SHOP)

    def open(self):
        return self._open(self.root / "shop" / "memory.db")

    def file(self, text: str) -> Path:
        (found,) = (path for path in self.place.rglob("*.md") if f"{text}\n" in path.read_text(encoding="utf-8"))
        return found

    def freeze(self) -> None:
        shutil.copytree(self.root / "shop", self.root / "frozen", symlinks=True)

    def run(self, *command: str, killed_before: int) -> int:
        """Run a command on a fresh copy, and kill it before so many steps; return its exit code."""
        shutil.rmtree(self.root / "shop")
        shutil.copytree(self.root / "frozen", self.root / "shop", symlinks=True)
        environment = {
            **os.environ, "PYTHONPATH": str(self.root), "KILLED_BEFORE_STEP": str(killed_before),
            "KILLED_IN": str(self.root), "OMOIDE_STORE": str(self.root / "shop" / "memory.db"), "OMOIDE_PROJECT": "shop",
        }  # several entries per line  # fmt: skip
        done = subprocess.run([*PROGRAM, *command], cwd=self.root, env=environment, capture_output=True, check=False)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
        return done.returncode

    def text(self) -> str:
        files = (path for path in self.place.rglob("*.md") if ".omoide" not in str(path))
        return "\n".join(path.read_text(encoding="utf-8") for path in files)


KINDS = ["memories", "entries", "tree"]


@pytest.fixture
def steps(shop, long) -> range:
    """The steps before which a command is killed, one run after another, until one is not killed any more."""
    return range(1 + (0 if long else 2 * KINDS.index(shop.kind)), 200, 1 if long else EVERY)


@pytest.fixture(params=KINDS)
def shop(request, tmp_path, open_memory) -> Shop:
    return Shop(tmp_path, request.param, open_memory)


def contents(memory, *states: State) -> list[str]:
    found = memory.list(scope=SHOP, states=states or (State.ACTIVE,), limit=100).memories
    return sorted(one.content for one in found)


def check_settled(memory, shop: Shop) -> None:
    """The next command has finished what the killed one left: both sides agree, and nothing is left to do."""
    assert memory.conflicts() == []
    assert memory.check() == []
    text = shop.text()
    for content in contents(memory):
        assert len(re.findall(rf"(?m)(?:^|: ){re.escape(content)}$", text)) == 1, content
    report = app.sync_engine(memory).sync(memory.mirrors()[0], whole=True)
    assert (report.imported, report.written, report.troubles) == (0, 0, ())


def test_a_remember_that_is_killed_at_any_step_loses_no_edit_of_a_file(shop, steps):
    edited = shop.file("text 1")
    edited.write_text(edited.read_text(encoding="utf-8").replace("text 1\n", "by the person\n"), encoding="utf-8")
    typed = shop.place / "typed.md" if shop.kind == "entries" else edited
    with typed.open("a", encoding="utf-8") as end:
        end.write(TYPED[shop.kind])
    shop.freeze()
    outcomes = set()
    for step in steps:
        code = shop.run("remember", "by an agent", killed_before=step)
        with shop.open() as memory:
            found = contents(memory)
            outcomes.add("by an agent" in found)
            others = [content for content in found if content != "by an agent"]
            assert others == sorted(["by the person", "text 0", "text 2", "text 3", "text 4", "typed"]), step
            assert contents(memory, State.ARCHIVED) == []
            check_settled(memory, shop)
        if code == 0:
            break
    assert code == 0
    assert step > 12, "the steps are seen"
    assert outcomes == {False, True}, "it was killed before and after its commit"


def test_a_deletion_in_a_file_is_archived_once_whenever_its_import_is_killed(shop, steps):
    if shop.kind == "entries":
        pytest.skip("a file that is gone archives nothing")
    edited = shop.file("text 1")
    cut = re.sub(r"(?m)^#+ topic 1\b.*\n(?:(?!#).*\n)*", "", edited.read_text(encoding="utf-8"))
    edited.write_text(cut, encoding="utf-8")
    shop.freeze()
    for step in steps:
        code = shop.run("list", killed_before=step)
        with shop.open() as memory:
            if code:
                memory.list(scope=SHOP)
            assert contents(memory) == ["text 0", "text 2", "text 3", "text 4"], step
            assert contents(memory, State.ARCHIVED) == ["text 1"]
            number = memory.list(scope=SHOP, states=(State.ARCHIVED,)).memories[0].number
            assert [event.action for event in memory.events(number, scope=SHOP)].count("archived") == 1
            check_settled(memory, shop)
        if code == 0:
            break
    assert code == 0
    assert step > 3, "the steps are seen"
