"""One memory for all worktrees of a repository: each has a symbolic link to the file of the main one.

A link is made only where nothing can get lost: a file of a person's own goes away when all it says stands in the main
one, and otherwise only by force, with a copy of it beside the link.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from omoide.errors import Conflict, InvalidInput
from omoide.files.git import git_root, work_tree

SHARED = Path(".agent", "memories.md")
"""What worktrees share, from the root of each."""


class LinkResult(NamedTuple):
    worktree: Path
    action: str
    """linked, or unchanged where there was nothing to do."""
    file: Path
    target: Path
    """What the file is a link to, of the main worktree."""
    backup: Path | None = None
    """Where the file went that stood in the link's place, if it said something of its own."""
    notes: tuple[str, ...] = ()
    """What its owner should know."""


def add_worktree(arguments: Sequence[str], here: Path) -> Path:
    """Makes a worktree by `git worktree add` with these arguments, and answers where it is."""
    # Which of them is the place, only git knows for sure: it is the one where a worktree stands afterwards.
    places = [(here / argument).resolve() for argument in arguments if not argument.startswith("-")]
    before = {place for place in places if (place / ".git").exists()}
    try:
        # What git says is for people, and standard output for what we say.
        done = subprocess.run(["git", "worktree", "add", *arguments], cwd=here, stdout=2, check=False)  # noqa: S603, S607
    except FileNotFoundError as error:
        raise Conflict(
            "git is not installed, or not on the PATH: install it, or make the worktree and run `omoide worktree link` in it"
        ) from error
    if done.returncode:
        raise Conflict("git made no worktree, and says why above")
    for place in places:
        if place not in before and (place / ".git").exists():
            return place
    raise Conflict("git is done, but no new worktree is where the arguments say: run `omoide worktree link` in it")


def link_worktree(start: Path, *, force: bool = False) -> LinkResult:
    """Links the file of the worktree that `start` is in to the main one's; nothing happens where it is so already."""
    tree, main = work_tree(start), git_root(start)
    if tree is None or main is None:
        raise InvalidInput(f"{start} is in no worktree of git: go into one, or name it")
    file, target = tree / SHARED, main / SHARED
    if tree == main:
        return LinkResult(tree, "unchanged", file, target, notes=("this is the main worktree: the others link to its file",))
    try:
        return _link(tree, file, target, force=force)
    except OSError as error:
        raise Conflict(
            f"{file} cannot be linked to {target} ({error.strerror or error}): this worktree does not share its memories;"
            " mend that, and run `omoide worktree link`"
        ) from error


def _link(tree: Path, file: Path, target: Path, *, force: bool) -> LinkResult:
    if file.parent.is_symlink():
        if file.resolve() == target.resolve():
            return LinkResult(tree, "unchanged", file, target)
        raise Conflict(f"{file.parent} is a link to {file.parent.readlink()}: make it a directory first")
    for directory in (target.parent, file.parent):
        directory.mkdir(exist_ok=True)
    backup = None
    if file.is_symlink():
        leads = file.parent / file.readlink()
        if leads == target or (leads.exists() and leads.resolve() == target.resolve()):
            return LinkResult(tree, "unchanged", file, target, notes=_hide_from_git(tree))
        if leads.exists() and not force:
            raise Conflict(f"{file} is a link to {leads}, not to {target}: remove it, or add --force")
        file.unlink()  # only a link: what it leads to stays
        file.symlink_to(target)
    elif file.exists():
        backup = _replace_with_link(file, target, force=force)
    else:
        file.symlink_to(target)
    return LinkResult(tree, "linked", file, target, backup, _hide_from_git(tree))


def _replace_with_link(file: Path, target: Path, *, force: bool) -> Path | None:
    """Puts the link in the place of a file, and answers where the file went; None: it said nothing of its own."""
    if target.resolve() == file.resolve():
        raise Conflict(f"{target} is itself a link to {file}: move the file there first")
    more = _missing_parts(file, target)
    if more and not force:
        raise Conflict(
            f"{file} says what {target} does not (`{more[0].splitlines()[0][:60]}`{' and more' if more[1:] else ''}): copy"
            " that there first, or add --force, which keeps this file beside the link"
        )
    aside = _unused_name(file)
    file.rename(aside)
    try:
        file.symlink_to(target)
    except OSError:
        aside.rename(file)
        raise
    if _missing_parts(aside, target):  # looked at again: it may have been written to until it was moved
        return aside
    aside.unlink()
    return None


def _missing_parts(file: Path, target: Path) -> list[str]:
    """The entries of a file, and what stands above them, that the other one has not."""
    theirs = set(_heading_parts(target)) if target.exists() else set()
    return [part for part in _heading_parts(file) if part not in theirs and part != "# Memories"]


def _heading_parts(file: Path) -> list[str]:
    """A file cut at its headings; blank lines and line ends tell no two parts apart."""
    parts: list[list[str]] = [[]]
    for line in file.read_text(encoding="utf-8", errors="surrogateescape").removeprefix("\ufeff").splitlines():
        if line.startswith("## "):
            parts.append([])
        if line.strip():
            parts[-1].append(line.rstrip())
    return ["\n".join(part) for part in parts if part]


def _unused_name(file: Path) -> Path:
    """A name beside the file that is not taken."""
    number = 1
    while os.path.lexists(aside := file.with_name(f"{file.name}.bak{number}")):
        number += 1
    return aside


def _hide_from_git(tree: Path) -> tuple[str, ...]:
    """Sees to it that the link is not committed in the place of the file, as far as git can; answers what to know."""
    try:
        entry = _git(tree, "ls-files", "--stage", "--", str(SHARED))
        if entry.stdout.startswith("100"):  # git has it, as a file
            _git(tree, "update-index", "--skip-worktree", "--", str(SHARED))
            return (f"git has {SHARED}: it leaves the link alone in this worktree; commit the file in the main one",)
        if not entry.stdout and _git(tree, "check-ignore", "--quiet", str(SHARED)).returncode == 1:
            return (f"git does not ignore {SHARED}: put it into .gitignore, so that the link is never committed",)
    except FileNotFoundError:  # plan B: without git nothing is committed either
        pass
    return ()


def _git(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - no shell, and the arguments are our own
        ["git", *arguments], cwd=tree, capture_output=True, text=True, errors="surrogateescape", check=False  # noqa: S607
    )  # fmt: skip
