"""A random walk: git, editors, formatters, agents and a person on two clones and two worktrees of one repository.

A model knows what a person plainly deleted, archived or forgot. Whatever else happens, in any order: no other memory is ever
out of recall, no forgotten one is in it, no text that was stored is lost, and no file that omoide did not make is changed.
"""

import os
import random
import re
import shutil
import subprocess
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import omoide
from omoide import Mirror, Scope, app
from omoide.sync.snapshot import digest_of
from omoide.sync.worktrees import link_worktree

SHOP = Scope.project("shop")
SEQUENCES, MANY, STEPS, PARTS = 50, 2_000, 24, 5
SEEDS = os.environ.get("OMOIDE_SEEDS", "")
"""Other sequences than those of the suite, as `500-999`."""
LIST = Path(".agent", "memories.md")
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_EDITOR": "true",
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.c",
}  # several entries per line  # fmt: skip
OF_MIRRORS = {".git", ".agent", "notes", "CLAUDE.md", ".omoide-backups"}
IDS = re.compile(r"Id:\W*([0-9a-f-]{36})")
TEXT = re.compile(r"text number \d+\s+of the walk")
"""A text, also one that a formatter has wrapped."""
ENTRY = re.compile(r"(?m)^## .*\n(?:(?!## ).*\n?)*")


def git(root: Path, *arguments: str) -> bool:
    """Run git as a person does, who sees an error and goes on."""
    done = subprocess.run(["git", *arguments], cwd=root, env=ENVIRONMENT, capture_output=True, check=False)
    return done.returncode == 0


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    """A bare origin with a clone: code, documents of others, and a list of memories on main, none on `bare`."""
    root = tmp_path_factory.mktemp("template")
    git(root, "init", "-q", "--bare", "-b", "main", "origin")
    git(root, "clone", "-q", "origin", "one")
    one = root / "one"
    (one / "docs").mkdir()
    (one / "code.py").write_text("print(1)\n")
    (one / "docs" / "CHANGELOG.md").write_text("# Changes\n\n## 1.0\n- Content: not a memory\n")
    git(one, "checkout", "-q", "-b", "main")
    git(one, "add", "-A")
    git(one, "commit", "-q", "-m", "start")
    git(one, "push", "-q", "origin", "main:main", "main:bare")
    return root


class World:
    """Two clones and two worktrees of one repository, one memory, and what a model expects of it."""

    def __init__(self, template: Path, place: Path, seed: int):
        self.random = random.Random(seed)
        self.log: list[str] = []
        shutil.copytree(template, place, symlinks=True)
        self.place = place
        self.one, self.two = place / "one", place / "two"
        git(self.one, "remote", "set-url", "origin", str(place / "origin"))
        git(place, "clone", "-q", str(place / "origin"), str(self.two))
        git(self.one, "worktree", "add", "-q", "../linked", "-b", "linked")
        git(self.two, "worktree", "add", "-q", "../plain", "-b", "plain")
        self.count = 0
        self.active: set[int] = set()
        """Memories that must be found."""
        self.retired: set[int] = set()
        """Memories that must not be found."""
        self.unseen: set[str] = set()
        """Texts that were written since the last check."""
        self.stored: set[str] = set()
        """The texts of all versions, at the last check."""
        self.history: dict[Path, list[bytes]] = {}
        """The versions of each list that were synced."""
        self.memory = omoide.open(place / "memory.db")
        choice = self.random.choice(["all", "all", "own"])
        for clone in (self.one, self.two):
            (clone / LIST).parent.mkdir(exist_ok=True)
            self.memory.mirror(clone / LIST, scope=SHOP, choice=choice)
        self.lists = self.memory.mirrors()
        if self.random.random() < 0.5:
            self.memory.mirror(self.one / "notes", "entries", scope=SHOP)
            self.memory.mirror(self.two / "CLAUDE.md", "block", scope=SHOP)
        self.choice = choice
        for _ in range(4):
            self.remember()
        link_worktree(place / "linked", LIST)
        for clone in (self.one, self.two):
            git(clone, "add", "-A")
            git(clone, "commit", "-q", "-m", "memories")

    # what is checked

    def text(self) -> str:
        self.count += 1
        self.unseen.add(f"text number {self.count} of the walk")
        return f"text number {self.count} of the walk"

    def foreign(self) -> dict[Path, bytes]:
        """The files that omoide did not make."""
        return {
            path: path.read_bytes()
            for tree in (self.one, self.two, self.place / "linked", self.place / "plain")
            for path in tree.rglob("*")
            if path.is_file() and not path.is_symlink() and not OF_MIRRORS & set(path.parts)
        }

    def read(self) -> set[int]:
        """What recall can find, after every edit was imported."""
        return {one.number for one in self.memory.list(scope=SHOP, limit=10_000).memories}

    def check(self) -> None:
        found = self.read()
        assert found >= self.active, f"out of recall: {sorted(self.active - found)}"
        assert not found & self.retired, f"back in recall: {sorted(self.retired & found)}"
        self.check_texts()
        for mirror in self.lists:
            self.note(mirror)

    def check_texts(self) -> None:
        """Every text that was written is in the history of a memory, or still in the file of the person who wrote it."""
        with self.memory._store.read() as tx:
            versions = [one.memory for memory in tx.everything() for one in tx.versions(memory.number)]
        # Of an entry that was truncated above its content, the title is what a person edits.
        stored = {text for memory in versions for text in (memory.content, memory.topic)}
        files = "".join((clone / LIST).read_text() for clone in (self.one, self.two) if (clone / LIST).is_file())
        lost = {text for text in self.unseen if text not in stored and text not in files}
        assert not lost, f"lost: {sorted(lost)}"
        self.unseen.clear()
        assert stored >= self.stored, f"gone from the history: {sorted(self.stored - stored)}"
        self.stored = stored

    def note(self, mirror: Mirror) -> None:
        """Keep the text of a list if it was synced: one that was cut off, or has conflict markers, was not."""
        file = Path(mirror.place, mirror.file)
        if not file.is_file():
            return
        with self.memory._store.read() as tx:
            known = tx.file_versions(mirror.number, [mirror.file])
        versions = self.history.setdefault(file, [])
        data = file.read_bytes()
        is_synced = any(digest_of(data.decode()) in one.digests[:1] for one in known)
        if is_synced and (not versions or versions[-1] != data):
            versions.append(data)

    def step(self) -> None:
        doing = self.random.choices(list(STEPS_OF_WALK), list(STEPS_OF_WALK.values()))[0]
        self.log.append(doing.__name__)
        before = self.foreign() if doing in OF_OMOIDE else {}
        doing(self)
        if doing in OF_OMOIDE:
            assert self.foreign() == before, "a file that omoide did not make"
        self.check()

    def clone(self) -> Path:
        return self.random.choice([self.one, self.two])

    def number(self, numbers: set[int]) -> int | None:
        return self.random.choice(sorted(numbers)) if numbers else None

    # agents and commands

    def remember(self) -> None:
        number = self.memory.remember(self.text(), scope=SHOP).memory.number
        self.active.add(number)
        if self.choice == "own":
            for mirror in self.lists:
                self.memory.join(number, mirror.number, scope=SHOP)

    def revise(self) -> None:
        number = self.number(self.active)
        if number:
            self.memory.revise(number, scope=SHOP, content=self.text())

    def retire(self) -> None:
        number = self.number(self.active)
        if number:
            self.random.choice([self.memory.forget, self.memory.archive])(number, scope=SHOP)
            self.active.discard(number)
            self.retired.add(number)

    def restore(self) -> None:
        number = self.number(self.retired)
        if number:
            self.memory.restore(number, scope=SHOP)
            self.retired.discard(number)
            self.active.add(number)

    def reopen(self) -> None:
        self.memory.close()
        self.memory = omoide.open(self.place / "memory.db")

    def settle(self) -> None:
        """The person decides about what is missing."""
        engine = app.sync_engine(self.memory)
        for mirror in self.memory.mirrors():
            held = engine.held_states(mirror)
            missing = {memory.number for memory, state in held if not state.is_in_file}
            engine.sync(mirror, put_back=missing, take_out={memory.number for memory, _ in held} - missing)

    def sync_all(self) -> None:
        for mirror in self.memory.mirrors():
            app.sync_engine(self.memory).sync(mirror, whole=True)

    # the person, in an editor

    def save(self, change: Callable[[str], str]) -> None:
        file = self.clone() / LIST
        if file.is_file():
            with file.open("r", encoding="utf-8", newline="") as stream:
                text = stream.read()
            if not text.endswith("\n"):  # it was truncated, as below, and its memory may have been retired since
                for id in IDS.findall(text)[-1:]:
                    self.release(id, retired_only=True)
            file.write_text(change(text), encoding="utf-8", newline="")
        else:
            self.unseen.clear()  # there was no file to write it to

    def edit(self) -> None:
        def change(text: str) -> str:
            """A new text for one entry. If its memory is retired, that is a new statement."""
            entries = [one for one in ENTRY.findall(text) if TEXT.search(one)]
            if not entries:
                return text
            entry = self.random.choice(entries)
            for id in IDS.findall(entry):
                self.release(id, retired_only=True)
            return text.replace(entry, TEXT.sub(self.text(), entry), 1)

        self.save(change)

    def add_by_hand(self) -> None:
        text = self.text()
        self.save(lambda old: old.rstrip("\n") + f"\n\n## {text[:14]}\n- Content: {text}\n")

    def own_words(self) -> None:
        self.save(lambda text: text + "\nWords of my own.\n")

    def delete(self) -> None:
        """Plainly, one entry, and what a formatter made a part of it: they may be archived from now on."""
        file = self.clone() / LIST
        entries = ENTRY.findall(file.read_text(encoding="utf-8")) if file.is_file() else []
        entries = [entry for entry in entries if "- Id: " in entry]
        if len(entries) > 1:
            entry = self.random.choice(entries)
            for id in IDS.findall(entry):
                self.release(id)
            file.write_text(file.read_text(encoding="utf-8").replace(entry, "", 1), encoding="utf-8")

    def release(self, id: str, *, retired_only: bool = False) -> None:
        """From now on the model does not know what a memory is."""
        with self.memory._store.read() as tx:
            memory = tx.memory(id)
        if memory is not None:
            self.retired.discard(memory.number)
            if not retired_only:
                self.active.discard(memory.number)

    def save_old_buffer(self) -> None:
        file = self.clone() / LIST
        versions = self.history.get(file, [])
        recent = {bytes(one) for one in versions[-2:]}
        old = [one for one in versions[:-2] if one not in recent]
        if old:
            file.parent.mkdir(exist_ok=True)
            data = self.random.choice(old)
            file.write_bytes(self.without_one(data) if self.random.random() < 0.5 else data)

    def without_one(self, data: bytes) -> bytes:
        """A list from which a person has cut out an entry before saving it: only that one may be archived."""
        entries = {id: entry for entry in ENTRY.findall(data.decode()) for id in IDS.findall(entry) if "- Id: " in entry}
        with self.memory._store.read() as tx:
            found = {memory.id for memory in tx.memories(list(entries)) if memory.number in self.active}
        if not found:
            return data
        entry = entries[self.random.choice(sorted(found))]
        for id in IDS.findall(entry):
            self.release(id)
        return data.replace(entry.encode(), b"", 1)

    def truncate(self) -> None:
        """In the middle of an entry, or to nothing: at the end of one it would be a plain deletion.

        Whoever goes on writing below makes a text of the rest of the entry, which its memory never had.
        """
        file = self.clone() / LIST
        if file.is_file():
            data = file.read_bytes()
            place = data.rfind(b"- Content")
            for id in IDS.findall(data[:place].decode())[-1:]:
                self.release(id, retired_only=True)
            file.write_bytes(b"" if place < 0 or self.random.random() < 0.5 else data[: place + 4])

    def format(self) -> None:
        self.save(self.random.choice(FORMATTERS))

    # git

    def commit(self) -> None:
        tree = self.random.choice([self.one, self.two, self.place / "plain"])
        git(tree, "add", "-A")
        git(tree, "commit", "-q", "-m", "more")

    def stage(self) -> None:
        git(self.clone(), "add", "-A")

    def switch(self) -> None:
        tree = self.random.choice([self.one, self.two, self.place / "plain"])
        name = self.random.choice(["main", "side", "bare", "linked", "plain"])
        git(tree, "switch", "-q", name) or git(tree, "switch", "-q", "-c", name)

    def go_back(self) -> None:
        tree = self.random.choice([self.one, self.two])
        how = self.random.choice([
            ("checkout", "-q", "HEAD", "--", "."), ("checkout", "-q", "HEAD~1", "--", "."), ("restore", "."),
            ("restore", "--source", "HEAD~1", "."), ("reset", "-q", "--hard"), ("reset", "-q", "--hard", "HEAD~1"),
            ("checkout", "-q", "HEAD~1"), ("revert", "--no-edit", "HEAD"), ("clean", "-fdxq"), ("rm", "-q", "-f", str(LIST)),
        ])  # several entries per line  # fmt: skip
        git(tree, *how)

    def stash(self) -> None:
        git(self.clone(), "stash", *self.random.choice([(), ("-u",), ("-a",), ("pop",), ("pop",), ("apply",)]))

    def integrate(self) -> None:
        tree = self.random.choice([self.one, self.two])
        name = self.random.choice(["main", "side", "bare", "plain", "linked", "origin/main", "stash@{0}"])
        how = self.random.choice([("merge", "-q"), ("rebase", "-q"), ("cherry-pick",), ("rebase", "-q", "--autostash")])
        git(tree, *how, name)

    def finish(self) -> None:
        tree = self.random.choice([self.one, self.two])
        for name in ("merge", "rebase", "cherry-pick", "revert"):
            git(tree, name, "--abort")

    def exchange(self) -> None:
        tree = self.random.choice([self.one, self.two])
        git(
            tree,
            *self.random.choice([("push", "-q", "origin", "HEAD:main"), ("pull", "-q", "--no-rebase", "origin", "main")]),
        )
        git(tree, "fetch", "-q")

    def sparse(self) -> None:
        git(self.clone(), "sparse-checkout", *self.random.choice([("set", "docs"), ("disable",), ("disable",)]))

    def remove(self) -> None:
        file = self.clone() / LIST
        notes = sorted((self.one / "notes").glob("*.md"))
        how = self.random.randrange(3)
        if how == 0:
            file.unlink(missing_ok=True)
        elif how == 1:
            shutil.rmtree(file.parent, ignore_errors=True)
        elif notes:
            self.random.choice(notes).unlink()

    def clone_again(self) -> None:
        shutil.rmtree(self.two)
        git(self.place, "clone", "-q", str(self.place / "origin"), str(self.two))

    def link(self) -> None:
        with suppress(omoide.OmoideError):
            link_worktree(self.place / "linked", LIST, force=True)


def _relabel(pattern: str, new: str) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, new, text, flags=re.M)


FORMATTERS = [
    _relabel(r"^- ", "* "),
    _relabel(r"^## ", "### "),
    _relabel(r"^## (.*)$", r"\1\n------"),
    _relabel(r"\n", "\r\n"),
    _relabel(r"\r\n", "\n"),
    _relabel(r"^- (\w+):", r"- **\1:**"),
    _relabel(r"^- ", "  - "),
    _relabel(r"^- ", "    - "),
    _relabel(r"^(- Content: text number \d+) (.*)", r"\1\n  \2"),
    _relabel(r"\n\n+", "\n"),
    _relabel(r"^# Memories\n", ""),
]
STEPS_OF_WALK = {
    World.remember: 8, World.revise: 5, World.retire: 4, World.restore: 2, World.reopen: 2, World.settle: 2,
    World.sync_all: 2, World.edit: 4, World.add_by_hand: 3, World.own_words: 1, World.delete: 2, World.truncate: 2,
    World.save_old_buffer: 3,
    World.format: 4, World.commit: 8, World.stage: 2, World.switch: 7, World.go_back: 6, World.stash: 5, World.integrate: 6,
    World.finish: 3, World.exchange: 4, World.sparse: 2, World.remove: 2, World.clone_again: 1, World.link: 1,
}  # several entries per line  # fmt: skip
OF_OMOIDE = {
    World.remember, World.revise, World.retire, World.restore, World.reopen, World.settle, World.sync_all, World.link,
}  # several entries per line  # fmt: skip


def seeds(part: int, *, long: bool) -> range:
    """The sequences of one of several tests that may run at the same time."""
    first, _, last = (SEEDS or f"0-{(MANY if long else SEQUENCES) - 1}").partition("-")
    return range(int(first) + part, int(last or first) + 1, PARTS)


@pytest.mark.parametrize("part", range(PARTS))
def test_whatever_git_editors_and_agents_do_no_memory_is_lost_and_no_forgotten_one_comes_back(
    part, template, tmp_path, long
):
    for seed in seeds(part, long=long):
        place = tmp_path / str(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            world = World(template, place, seed)
            try:
                for _ in range(STEPS):
                    world.step()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, after {world.log}: {error}") from error
            finally:
                world.memory.close()
        shutil.rmtree(place)
