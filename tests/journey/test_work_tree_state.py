"""The state of a work tree, read with real git: its commit, and the files that differ from it."""

import os
import subprocess

import pytest

from omoide.files.work_tree_state import (
    MAX_FILES,
    MAX_TEXT,
    commits_paths,
    head_at,
    is_persons_work,
    read_committed,
    read_work_tree_state,
)


@pytest.fixture
def git(tmp_path, monkeypatch):
    """A repository with one commit, and git in it."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    root = tmp_path / "repo"
    root.mkdir()

    def git(*arguments, directory=root):
        done = subprocess.run(
            ["git", "-c", "user.name=P", "-c", "user.email=p@example.com", *arguments],
            cwd=directory,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    git("init", "-q", "-b", "main")
    (root / "src").mkdir()
    (root / "src/a.py").write_text("one\ntwo\n")
    (root / ".gitignore").write_text("*.log\n")
    git("add", ".")
    git("commit", "-qm", "first")
    git.root = root
    return git


def read(git):
    return read_work_tree_state(git.root)


def test_changed_new_and_deleted_files_are_in_it_and_ignored_ones_are_not(git):
    (git.root / "src/a.py").write_bytes("一\r\n".encode())
    (git.root / "src/新しい file.py").write_text("new\n")
    (git.root / "noise.log").write_text("x")
    (git.root / ".gitignore").unlink()
    (git.root / ".gitignore").write_text("*.log\n")
    state = read_work_tree_state(git.root / "src")
    assert (state.root, state.head, state.branch, state.stashes) == (str(git.root), git("rev-parse", "HEAD"), "main", 0)
    assert [(file.path, file.text) for file in state.files] == [("src/a.py", "一\n"), ("src/新しい file.py", "new\n")]
    (git.root / "src/a.py").unlink()
    assert next((file.path, file.digest, file.text) for file in read(git).files) == ("src/a.py", "", None)


def test_binary_large_and_linked_files_have_no_text(git, tmp_path):
    (tmp_path / "secret").write_text("outside")
    (git.root / "binary").write_bytes(b"\0\1")
    (git.root / "latin").write_bytes(b"caf\xe9")
    (git.root / "large").write_text("x" * (MAX_TEXT + 1))
    (git.root / "link").symlink_to(tmp_path / "secret")
    files = {file.path: file for file in read(git).files}
    assert set(files) == {"binary", "latin", "large"}
    assert all(file.digest and file.text is None for file in files.values())


def test_of_very_many_files_some_are_read(git):
    for number in range(MAX_FILES + 50):
        (git.root / f"{number:04}").write_text("x")
    assert len(read(git).files) == MAX_FILES


def test_a_file_that_became_a_pipe_is_a_state_without_text(git):
    (git.root / "src/a.py").unlink()
    os.mkfifo(git.root / "src/a.py")
    assert [(file.path, file.digest, file.text) for file in read(git).files] == [("src/a.py", "", None)]


def test_without_a_work_tree_there_is_no_state(git, tmp_path):
    assert read_work_tree_state(tmp_path) is None
    assert read_work_tree_state(tmp_path / "gone") is None
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare")], check=True)
    assert read_work_tree_state(tmp_path / "bare") is None


def test_a_repository_without_a_commit_has_a_state(tmp_path):
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    (tmp_path / "a").write_text("x")
    state = read_work_tree_state(tmp_path)
    assert (state.head, state.branch, [file.path for file in state.files]) == ("", "main", ["a"])


def test_texts_and_changes_of_commits_are_read(git):
    first = git("rev-parse", "HEAD")
    (git.root / "src/a.py").write_text("three\n")
    (git.root / "b").write_bytes(b"\0")
    (git.root / "large").write_text("x" * (MAX_TEXT + 1))
    git("add", ".")
    git("commit", "-qm", "second")
    second = git("rev-parse", "HEAD")
    assert sorted(commits_paths(git.root, first, second)) == ["b", "large", "src/a.py"]
    assert sorted(commits_paths(git.root, "", second)) == [".gitignore", "b", "large", "src/a.py"]
    assert commits_paths(git.root, first, second, "2037-01-01T00:00:00+00:00") == []
    assert commits_paths(git.root, first, first) == commits_paths(git.root, first, "f" * 40) == []
    paths = ["large", "src/a.py", "gone", "b", "src"]
    assert read_committed(git.root, second, paths) == {"src/a.py": "three\n", "b": None, "large": None}
    assert read_committed(git.root, first, ["src/a.py"]) == {"src/a.py": "one\ntwo\n"}
    assert read_committed(git.root, "f" * 40, paths) == {}
    assert head_at(git.root, "2037-01-01T00:00:00+00:00") == second


def commit(git, name="c"):
    (git.root / name).write_text(name)
    git("add", name)
    git("commit", "-qm", name)


def test_edits_commits_amends_and_reverts_are_a_persons_work(git):
    before = read(git)
    (git.root / "src/a.py").write_text("three\n")
    assert is_persons_work(before, read(git))
    git("commit", "-qam", "edit")
    git("commit", "-q", "--amend", "-m", "edited")
    git("revert", "--no-edit", "HEAD")
    assert is_persons_work(before, read(git))


@pytest.mark.parametrize(
    "steps",
    [
        [("checkout", "-q", "other")],
        [("checkout", "-q", "--detach")],
        [("merge", "-q", "--no-edit", "other")],
        [("rebase", "-q", "other")],
        [("reset", "-q", "--hard", "HEAD~1")],
        [("cherry-pick", "other")],
        [("stash", "push", "-q")],
    ],
)
def test_what_git_does_to_the_files_is_no_persons_work(git, steps):
    git("branch", "other")
    commit(git)
    git("checkout", "-q", "other")
    commit(git, "o")
    git("checkout", "-q", "main")
    (git.root / "src/a.py").write_text("three\n")
    if steps[0][0] not in ("stash", "reset"):
        git("checkout", "-q", "--", ".")
    before = read(git)
    for step in steps:
        git(*step)
    assert not is_persons_work(before, read(git))


def test_a_merge_that_waits_for_a_person_is_no_persons_work(git):
    git("checkout", "-qb", "other")
    (git.root / "src/a.py").write_text("theirs\n")
    git("commit", "-qam", "theirs")
    git("checkout", "-q", "main")
    (git.root / "src/a.py").write_text("ours\n")
    git("commit", "-qam", "ours")
    before = read(git)
    with pytest.raises(AssertionError):
        git("merge", "other")
    assert not is_persons_work(before, read(git))
