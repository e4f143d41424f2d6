"""Mirrored files in real repositories: whatever git does to them, no memory is archived and no forgotten one comes back."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from omoide import Scope, State, app
from omoide.model import Held

SHOP = Scope.project("shop")
ENVIRONMENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_EDITOR": "true"} | {
    f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "a"), ("EMAIL", "a@b.c"))
}


class Repository:
    """A repository with a mirror of a project, and a memory that follows it."""

    def __init__(self, root: Path, memory, format: str):
        self.root = root
        self.memory = memory
        self.format = format
        self.place = root / ".agent" if format == "memories" else root / "notes"
        root.mkdir()
        self("init", "-q", "-b", "main")
        (root / "code.py").write_text("print(1)\n")
        self.commit("start")
        self.place.mkdir()
        memory.mirror(self.place / "memories.md" if format == "memories" else self.place, format, scope=SHOP)

    def __call__(self, *arguments: str, check: bool = True, input: str = "") -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env={**os.environ, **ENVIRONMENT},
            input=input,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    def commit(self, message: str) -> None:
        self("add", "-A")
        self("commit", "-q", "--allow-empty", "-m", message)

    @property
    def mirror(self):
        return self.memory.mirrors()[0]

    def remember(self, *names: str) -> None:
        for name in names:
            self.memory.remember(f"text of {name}", key=name, scope=SHOP)

    def active(self) -> set[str]:
        return {one.key for one in self.memory.list(scope=SHOP, limit=100).memories}

    def archived_keys(self) -> set[str]:
        states = (State.ARCHIVED, State.FORGOTTEN, State.INACTIVE)
        return {one.key for one in self.memory.list(scope=SHOP, states=states, limit=100).memories}

    def files(self) -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in self.place.rglob("*.md") if ".omoide" not in str(path)}

    def write(self, files: dict[Path, bytes]) -> None:
        """As an editor does, or a person who copies files back."""
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def in_files(self) -> set[str]:
        return set(re.findall(r"text of (\w+)", b"\n".join(self.files().values()).decode()))

    def held_reasons(self) -> dict[str, Held]:
        return {one.key: Held(state.held) for one, state in app.sync_engine(self.memory).held_states(self.mirror)}


@pytest.fixture(params=["memories", "entries", "tree"])
def repository(request, tmp_path, memory):
    made = Repository(tmp_path / "shop", memory, request.param)
    made.remember("a", "b", "c", "d")
    made.commit("four")
    made.remember("e", "f")  # not committed
    return made


def stash(git):
    git("add", "-A")
    git("stash")
    yield
    git("stash", "pop")


def stash_with_new_files(git):
    git("stash", "-u")
    yield
    git("stash", "pop")


def checkout_of_files(git):
    before = git.files()
    git("checkout", "HEAD", "--", ".")
    yield
    git.write(before)


def branches(git):
    git.commit("six")
    git("checkout", "-q", "-b", "old", "HEAD~2")
    yield
    git("switch", "-q", "main")


def restore(git):
    git.commit("six")
    git("restore", "--source", "HEAD~1", "--", git.place.name)
    yield
    git("restore", "--", git.place.name)


def reset(git):
    git.commit("six")
    git("reset", "-q", "--hard", "HEAD~1")
    yield
    git("reset", "-q", "--hard", "ORIG_HEAD")


def rebase(git):
    git.commit("six")
    git("checkout", "-q", "-b", "side", "HEAD~1")
    (git.root / "code.py").write_text("print(2)\n")
    git.commit("side")
    yield
    git("rebase", "-q", "main")


def merge(git):
    git.commit("six")
    git("checkout", "-q", "-b", "side", "HEAD~1")
    (git.root / "code.py").write_text("print(2)\n")
    git.commit("side")
    git("merge", "-q", "--no-commit", "main")
    git("merge", "--abort")
    yield
    git("merge", "-q", "main")


def cherry_pick(git):
    git.commit("six")
    git("checkout", "-q", "-b", "side", "HEAD~1")
    yield
    git("cherry-pick", "main")


def clean(git):
    before = git.files()
    git("clean", "-fdxq")
    yield
    git.write(before)


def sparse_checkout(git):
    git.commit("six")
    (git.root / "lib").mkdir()
    (git.root / "lib" / "code.py").write_text("print(2)\n")
    git.commit("lib")
    git("sparse-checkout", "set", "lib")
    yield
    git("sparse-checkout", "disable")


def clone_again(git):
    git.commit("six")
    there = git.root.parent / "origin"
    git("clone", "-q", "--bare", ".", str(there))
    git("update-ref", "refs/heads/main", "HEAD~1")
    git("push", "-q", "-f", str(there), "main")
    before = git.files()
    shutil.rmtree(git.root)
    subprocess.run(["git", "clone", "-q", str(there), str(git.root)], check=True, capture_output=True)
    yield
    git.write(before)


def bisect(git):
    git.commit("six")
    git("bisect", "start", "HEAD", "HEAD~2")
    yield
    git("bisect", "reset")


@pytest.mark.parametrize(
    "operation",
    [
        stash,
        stash_with_new_files,
        checkout_of_files,
        branches,
        restore,
        reset,
        rebase,
        merge,
        cherry_pick,
        clean,
        sparse_checkout,
        clone_again,
        bisect,
    ],
    ids=lambda one: one.__name__,
)
def test_git_takes_entries_away_and_brings_them_back_and_nothing_is_archived(repository, operation):
    everything = set("abcdef")
    assert repository.in_files() == everything
    versions = {one.key: one.version for one in repository.memory.list(scope=SHOP).memories}
    step = operation(repository)
    next(step)
    state = repository("status", "--porcelain")
    for _ in range(2):
        assert repository.active() == everything
    assert repository.in_files() == everything - set(repository.held_reasons()), "what is missing is known, with the reason"
    assert repository("status", "--porcelain") == state, "nothing is written behind git's back"
    next(step, None)
    assert (repository.active(), repository.archived_keys()) == (everything, set())
    assert repository.in_files() == everything
    assert repository.held_reasons() == {}, "what is there again is in sync again"
    assert {one.key: one.version for one in repository.memory.list(scope=SHOP).memories} == versions


def test_a_memory_revised_on_a_branch_is_neither_reset_nor_written_over_by_switching(repository):
    repository.commit("six")
    repository("switch", "-q", "-c", "side")
    repository.memory.revise("a", scope=SHOP, content="text of a, revised")
    repository.commit("revised")
    for _ in range(3):
        repository("switch", "-q", "main")
        assert repository.memory.show("a", scope=SHOP).content == "text of a, revised"
        assert repository("status", "--porcelain") == ""
        repository("switch", "-q", "side")
        assert repository.memory.show("a", scope=SHOP).content == "text of a, revised"
    assert repository.memory.show("a", scope=SHOP).version == 2


@pytest.mark.parametrize("verb", ["forget", "archive"])
def test_a_forgotten_memory_that_a_branch_still_has_stays_forgotten(repository, verb):
    repository.commit("six")
    repository("switch", "-q", "-c", "side")
    getattr(repository.memory, verb)("b", scope=SHOP)
    repository.commit("without b")
    version = repository.memory.show("b", scope=SHOP).version
    for _ in range(2):
        repository("switch", "-q", "main")
        assert repository.active() == set("acdef")
        assert "b" in repository.in_files(), "git's file is left as it is"
        assert repository("status", "--porcelain") == ""
        repository("switch", "-q", "side")
        assert repository.active() == set("acdef")
    assert repository.memory.show("b", scope=SHOP).version == version
    repository("switch", "-q", "main")
    if repository.format != "entries" or verb == "forget":  # in a directory, an archived memory is shown in archive/
        assert repository.held_reasons() == {"b": Held.RETIRED}
        app.sync_engine(repository.memory).sync(repository.mirror, take_out=[2])
        assert "b" not in repository.in_files()


@pytest.mark.parametrize("kept", ["memories", "tree"])
def test_a_branch_without_the_file_gets_none_and_what_was_remembered_there_is_written_later(tmp_path, memory, kept):
    repository = Repository(tmp_path / "shop", memory, kept)
    repository.remember("a")
    repository.commit("a")
    repository("switch", "-q", "-c", "bare", "HEAD~1")
    repository.remember("b")
    assert repository.active() == {"a", "b"}
    assert repository("status", "--porcelain") == ""
    assert repository.in_files() == set()
    assert repository.held_reasons() == {"a": Held.GONE, "b": Held.WAITING}
    repository("switch", "-q", "main")
    assert repository.active() == {"a", "b"}
    assert repository.in_files() == {"a", "b"}
    assert repository.held_reasons() == {}


def test_a_block_is_not_written_behind_gits_back(tmp_path, memory):
    repository = Repository(tmp_path / "shop", memory, "memories")
    guide = repository.root / "CLAUDE.md"
    memory.mirror(guide, "block", scope=SHOP)
    repository.remember("a")
    repository.commit("a")
    repository.remember("b")
    repository.commit("b")
    repository("switch", "-q", "-c", "old", "HEAD~1")
    assert repository.active() == {"a", "b"}
    assert repository("status", "--porcelain") == ""
    repository.remember("c")
    assert "text of b" in guide.read_text(), "with the next change it is up to date"
    repository.commit("c")
    repository("switch", "-q", "-c", "bare", "HEAD~2")
    repository.remember("d")
    assert repository("status", "--porcelain") == "", "no file that git has elsewhere is created"
    repository("switch", "-q", "old")
    repository.remember("e")
    assert "text of d" in guide.read_text()


def test_a_person_deletes_one_entry_of_a_committed_list_and_it_is_archived(tmp_path, memory):
    repository = Repository(tmp_path / "shop", memory, "memories")
    repository.remember("a", "b", "c", "d")
    repository.commit("four")
    file = repository.place / "memories.md"
    file.write_text(re.sub(r"## text of b\n(?:(?!## ).*\n)*", "", file.read_text()))
    with pytest.warns(UserWarning, match="#2 was deleted, so it is archived: `omoide restore 2` undoes it"):
        assert repository.active() == {"a", "c", "d"}
    assert next(event.action for event in memory.events(2, scope=SHOP)) == "archived"
    repository("checkout", "-q", "HEAD", "--", ".")
    assert repository.active() == {"a", "c", "d"}, "git does not revive it either"
    assert repository.held_reasons() == {"b": Held.RETIRED}


def test_an_old_buffer_saved_after_two_writes_archives_nothing(repository):
    if repository.format == "entries":
        pytest.skip("a buffer of an entry file contains one entry")
    buffers = repository.files()
    repository.remember("g")
    repository.remember("h")
    repository.write(buffers)
    with pytest.warns(UserWarning, match="2 entries are missing, but the file is an older version than the last two"):
        assert repository.active() == set("abcdefgh")
    assert repository.in_files() == set("abcdef")
    assert repository.held_reasons() == {"g": Held.OLDER, "h": Held.OLDER}
    numbers = [one.number for one, _ in app.sync_engine(repository.memory).held_states(repository.mirror)]
    app.sync_engine(repository.memory).sync(repository.mirror, put_back=numbers)
    assert repository.in_files() == set("abcdefgh")
    assert repository.held_reasons() == {}


@pytest.mark.parametrize("written", [("g", "h"), ("g", "h", "i")])
def test_an_old_buffer_in_which_an_entry_was_deleted_archives_that_one_alone(repository, written):
    if repository.format == "entries":
        pytest.skip("a buffer of an entry file contains one entry")
    buffers = repository.files()
    repository.remember(*written)
    repository.write({path: without(data, "b") for path, data in buffers.items()})
    held = f"{len(written)} entries are missing, but the file is an older version than the last two: nothing was archived"
    with pytest.warns(UserWarning, match=held), pytest.warns(UserWarning, match="#2 was deleted, so it is archived"):
        assert repository.active() == {*"acdef", *written}
    assert repository.archived_keys() == {"b"}
    assert repository.held_reasons() == dict.fromkeys(written, Held.OLDER)


@pytest.mark.parametrize(("written", "deleted"), [("gh", "gb"), ("gh", "h"), ("gh", "hb"), ("g", "gb"), ("g", "bd")])
def test_new_entries_are_deleted_plainly_like_all_others(repository, written, deleted):
    if repository.format == "entries":
        pytest.skip("a file that is gone archives nothing")
    repository.remember(*written)
    for name in deleted:
        repository.write({path: without(data, name) for path, data in repository.files().items()})
    with pytest.warns(UserWarning, match="was deleted, so it is archived"):
        assert repository.active() == set("abcdef" + written) - set(deleted)
    assert (repository.archived_keys(), repository.held_reasons()) == (set(deleted), {})


def without(data: bytes, name: str) -> bytes:
    """A list as it is after a person has cut out one entry."""
    return re.sub(rf"(?m)^#+ text of {name}\b.*\n(?:(?!#).*\n)*".encode(), b"", data)


def remember_away_from(repository: Repository, name: str) -> str:
    """Store a memory whose entry is not next to another one, which git could not take out of the file by itself."""
    for other in "nopqrstuvwxyz":
        repository.remember(other)
        order = re.findall(r"(?m)^## text of (\w)", b"".join(repository.files().values()).decode())
        if abs(order.index(name) - order.index(other)) > 1:
            return other
        repository.memory.forget(other, scope=SHOP)
    raise AssertionError(f"every entry was placed next to {name}")


@pytest.mark.parametrize("how", ["staged", "patch"])
def test_an_entry_that_git_stashed_alone_is_not_archived_and_one_that_was_deleted_is(tmp_path, memory, how):
    repository = Repository(tmp_path / "shop", memory, "memories")
    repository.remember(*"abcdef")
    repository.commit("six")
    repository.remember("g")
    repository("add", "-A")
    later = remember_away_from(repository, "g")
    names = {*"abcdefg", later}
    if how == "staged":
        repository("stash", "push", "--staged")
    else:
        before = repository.files()
        repository.write({path: without(data, later) for path, data in before.items()})
        repository("stash")  # as `stash --patch` keeps only what was chosen
        repository.write({path: without(data, "g") for path, data in before.items()})
    assert repository.active() == names
    assert repository.held_reasons() == {"g": Held.STASHED}
    repository.write({path: without(data, "c") for path, data in repository.files().items()})
    with pytest.warns(UserWarning, match="was deleted, so it is archived"):
        assert repository.active() == names - {"c"}
    repository("checkout", "--", ".")
    repository("stash", "pop")
    assert repository.active() == names - {"c"}
    assert repository.held_reasons() == {"c": Held.RETIRED, later: Held.GIT}, "g is in sync again"


def revise_far_from(repository: Repository, name: str) -> list[str]:
    """Change a committed entry as far as possible from one that differs: git asks about both. Returns the two hunks."""
    order = re.findall(r"(?m)^## text of (\w)", b"".join(repository.files().values()).decode())
    far = order[0] if order.index(name) >= len(order) // 2 else order[-1]
    repository.memory.revise(far, scope=SHOP, content=f"text of {far}, far away")
    hunks = re.split(r"(?m)^@@ .*", repository("diff"))[1:]
    assert len(hunks) == 2
    return hunks


def set_index_later(repository: Repository, seconds: float) -> None:
    """Make git's index look as if git had written it again so long after the files."""
    index = repository.root / ".git" / "index"
    last = max(path.stat().st_mtime for path in repository.files())
    os.utime(index, (last + seconds, last + seconds))


@pytest.mark.parametrize("seconds", [0, 10])
@pytest.mark.parametrize("command", ["checkout -p", "restore -p", "checkout -p HEAD", "restore -p --source=HEAD ."])
def test_an_entry_that_git_takes_out_alone_is_not_archived_and_one_that_is_deleted_then_is(
    tmp_path, memory, command, seconds
):
    repository = Repository(tmp_path / "shop", memory, "memories")
    repository.remember(*"abcdef")
    repository.commit("six")
    repository.remember("g")
    answers = ["y" if "text of g" in hunk else "n" for hunk in revise_far_from(repository, "g")]
    anyway = "y"  # where the index does not have the entry, git asks whether to take it out of the file alone
    repository(*command.split(), input="\n".join([*answers, anyway]) + "\n")
    assert repository.in_files() == set("abcdef")
    if seconds:  # as after the changes of other files, which git asks about next, or after `git status`
        set_index_later(repository, seconds)
    with pytest.warns(UserWarning, match="git wrote its index after the file"):
        assert repository.active() == set("abcdefg")
    assert repository.held_reasons() == {"g": Held.PATCHED}
    repository.write({path: without(data, "c") for path, data in repository.files().items()})
    with pytest.warns(UserWarning, match="#3 was deleted, so it is archived"):
        assert repository.active() == set("abdefg")


@pytest.mark.parametrize("seconds", [0.1, 10])
def test_an_entry_deleted_in_place_before_git_writes_its_index_is_archived(tmp_path, memory, seconds):
    repository = Repository(tmp_path / "shop", memory, "memories")
    repository.remember(*"abcdef")
    repository.commit("six")
    repository.remember("g", "h")
    [(file, data)] = repository.files().items()
    file.write_bytes(without(data, "g"))
    later = file.stat().st_mtime + 10  # an editor saves a file in place that was created long before
    os.utime(file, (later, later))
    set_index_later(repository, seconds)
    with pytest.warns(UserWarning, match="#7 was deleted, so it is archived"):
        assert repository.active() == set("abcdefh")


def test_an_entry_of_a_file_that_git_ignores_is_archived_when_an_editor_deletes_it_in_a_new_file(tmp_path, memory):
    repository = Repository(tmp_path / "shop", memory, "memories")
    (repository.root / ".gitignore").write_text(".agent/\n")
    repository.remember(*"abcdef")
    [(file, data)] = repository.files().items()
    file.unlink()
    file.write_bytes(without(data, "c"))
    repository.commit("six")
    with pytest.warns(UserWarning, match="#3 was deleted, so it is archived"):
        assert repository.active() == set("abdef")


def test_an_entry_that_git_has_is_archived_when_an_editor_deletes_it_in_a_new_file(tmp_path, memory):
    repository = Repository(tmp_path / "shop", memory, "memories")
    repository.remember(*"abcdef")
    repository.commit("six")
    repository.remember("g", "h")
    [(file, data)] = repository.files().items()
    for name, reported in (("c", "#3 was deleted, so it is archived"), ("g", "git wrote its index after the file")):
        data = without(data, name)
        file.unlink()
        file.write_bytes(data)
        set_index_later(repository, 10)
        with pytest.warns(UserWarning, match=reported):
            assert "c" not in repository.active()
    assert repository.active() == set("abdefgh")
    assert repository.held_reasons() == {"g": Held.PATCHED}, "git may have taken out what it does not have"


@pytest.mark.parametrize("seconds", [0, 10])
def test_an_earlier_text_that_git_brings_back_alone_changes_no_memory(tmp_path, memory, seconds):
    repository = Repository(tmp_path / "shop", memory, "memories")
    repository.remember(*"abcdef")
    repository.commit("six")
    memory.revise("b", scope=SHOP, content="text of b, revised")
    hunks = revise_far_from(repository, "b")
    repository("checkout", "-p", input="".join("y\n" if "b, revised" in hunk else "n\n" for hunk in hunks))
    assert "b, revised" not in b"".join(repository.files().values()).decode()
    if seconds:
        set_index_later(repository, seconds)
    assert memory.show("b", scope=SHOP).content == "text of b, revised"
    assert repository.held_reasons() == {"b": Held.OUTDATED}


def test_a_stash_of_other_changes_does_not_keep_a_deleted_entry(tmp_path, memory):
    repository = Repository(tmp_path / "shop", memory, "memories")
    repository.remember(*"abcdef")
    repository.commit("six")
    for name in "gh":
        (repository.root / "code.py").write_text(f"print({name!r})\n")
        repository.remember(name)
        repository("stash")
        repository("stash", "apply")
        repository.commit(name)
        repository("stash", "drop")
    (repository.root / "code.py").write_text("print(4)\n")
    repository("stash")
    repository.write({path: without(data, "c") for path, data in repository.files().items()})
    with pytest.warns(UserWarning, match="was deleted, so it is archived"):
        assert repository.active() == set("abdefgh")
    assert repository("stash", "list")


def test_a_list_that_is_cut_off_between_its_entries_archives_at_most_the_last_one(tmp_path, memory):
    repository = Repository(tmp_path / "shop", memory, "memories")
    repository.remember(*"abcdefgh")
    [(file, whole)] = repository.files().items()
    starts = [found.start() for found in re.finditer(rb"(?m)^## ", whole)]
    for start in starts[:-1]:
        file.write_bytes(whole[:start])
        with pytest.warns(UserWarning, match="nothing was archived"):
            assert repository.active() == set("abcdefgh")
        for text in (whole, whole[: start - 1], whole):  # the empty line above the cut is gone too
            file.write_bytes(text)
            assert repository.active() == set("abcdefgh")
    assert repository.held_reasons() == {}


@pytest.mark.parametrize("cut", [0, 1, 100, 200, 350])
def test_a_truncated_list_archives_nothing(tmp_path, memory, cut):
    repository = Repository(tmp_path / "shop", memory, "memories")
    repository.remember("a", "b", "c", "d")
    file = repository.place / "memories.md"
    whole = file.read_bytes()
    file.write_bytes(whole[:cut])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app.sync_engine(memory), "_report_to", lambda _: None)
        assert repository.active() == set("abcd")
        file.write_bytes(whole)
        assert (repository.active(), repository.held_reasons()) == (set("abcd"), {})


def test_no_git_process_is_started_while_nothing_is_missing(repository, monkeypatch):
    started = []
    run = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: started.append(a) or run(*a, **k))
    assert repository.active() == set("abcdef")
    repository.remember("g")
    repository.memory.revise("g", scope=SHOP, content="text of g, revised")
    file = next(path for path in repository.place.rglob("*.md") if "text of a" in path.read_text())
    file.write_text(file.read_text().replace("text of a", "text of a by hand"))
    assert repository.memory.show("a", scope=SHOP).content == "text of a by hand"
    repository.memory.archive("b", scope=SHOP)
    assert started == []
