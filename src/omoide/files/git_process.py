"""Ask git, by starting a process: where reading its files does not answer a question."""

import os
from collections.abc import Collection
from pathlib import Path

_limit = 20.0
"""Seconds for one question: the history of a very large repository takes some to walk through."""


def limit_seconds(seconds: float) -> None:
    """Wait at most so long for each answer from now on: for a process that must end at once, such as a hook."""
    global _limit  # noqa: PLW0603 - of the whole process
    _limit = seconds


def call_git(directory: Path, *arguments: str, input: bytes = b"") -> tuple[int, str]:
    """Run git in a directory, and return its exit code and what it prints; -1 if it cannot be run or takes too long."""
    import subprocess  # lazy: 3 ms that only a question needs; a hook sets the limit and mostly asks nothing

    # A hook of git runs with variables that point to its own repository, and this is a question about another one.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and the arguments are our own
            ["git", "-C", str(directory), *arguments],  # noqa: S607 - the git of the person's PATH
            env=environment,
            input=input,
            capture_output=True,
            timeout=_limit,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):  # fallback: the caller knows what to do without an answer
        return -1, ""
    return done.returncode, done.stdout.decode(errors="surrogateescape")


def has_blob(file: Path, text: str) -> bool:
    """Return whether git has this text of a file already. Where git does not answer, that cannot be ruled out."""
    # With --path, git applies the same conversions of line ends and filters as for a commit of the file.
    code, blob = call_git(file.parent, "hash-object", "--stdin", f"--path={file.name}", input=text.encode())
    return code != 0 or call_git(file.parent, "cat-file", "-e", blob.strip())[0] != 1


def is_tracked(file: Path) -> bool:
    """Return whether a file is in git's index. Where git does not answer, that cannot be ruled out."""
    return call_git(file.parent, "ls-files", "--error-unmatch", "--", f":(literal){file.name}")[0] != 1


def committed_ids(file: Path, ids: Collection[str]) -> set[str]:
    """Return which of these ids a file contains in the last commit and in the index. None, where git does not answer."""
    texts = [call_git(file.parent, "cat-file", "blob", f"{where}:./{file.name}")[1].lower() for where in ("HEAD", "")]
    return {id for id in ids if all(id in text for text in texts)}


def stashed_ids(file: Path, ids: Collection[str]) -> set[str]:
    """Return which of these ids a stash of git added to a file: what was not committed. All, where git does not answer."""
    if call_git(file.parent, "rev-parse", "-q", "--verify", "refs/stash")[0] == 1:
        return set()
    what = (
        "log",
        "-g",
        "--first-parent",
        "-m",
        "-p",
        "--text",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--no-renames",
    )
    code, changes = call_git(file.parent, *what, "--format=%x00", "refs/stash", "--", f":(literal){file.name}")
    if code != 0:
        return set(ids)
    return {id for id in ids if any(_count(id, "+", stash) > _count(id, "-", stash) for stash in changes.split("\0"))}


def _count(id: str, mark: str, changes: str) -> int:
    """How many lines with an id a diff adds or removes."""
    return sum(line.startswith(mark) and id in line for line in changes.lower().split("\n"))


def knows_file(file: Path) -> bool:
    """Return whether a file that is not there is in git's index or history, of any branch or stash."""
    directory = next(parent for parent in file.parents if parent.is_dir())
    path = f":(literal){file.relative_to(directory)}"
    history = ("log", "--all", "--reflog", "-1", "--format=%h")
    # Untracked files are in a third parent of a stash, which git leaves out unless it is asked for the full history: that of
    # what is in no branch is short.
    stashes = (*history, "--full-history", "--not", "--branches", "--remotes", "--tags")
    answers = (call_git(directory, *question, "--", path) for question in (("ls-files",), history, stashes))
    return any(code != 0 or printed for code, printed in answers)  # where git does not answer, it cannot be ruled out


def last_commit(directory: Path, name: str) -> str:
    """Return the last commit that changed a file or directory, abbreviated; empty if there is none."""
    return call_git(directory, "log", "-1", "--format=%h", "--", f":(literal){name}")[1].strip()
