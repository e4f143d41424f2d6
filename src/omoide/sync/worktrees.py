"""One list of memories for all worktrees of a repository: each has a symbolic link to the file of the main one.

A link replaces a file only where nothing gets lost: if all that the file says is in the main one, or by force, which keeps
the file beside the link.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from omoide.errors import Conflict, InvalidInput, OmoideError
from omoide.files.git import git_root, work_tree


def shared_file(list_directory: str) -> Path:
    """Return the file that worktrees share, relative to the root of each."""
    return Path(list_directory, "memories.md")


class LinkResult(NamedTuple):
    worktree: Path
    action: str
    """`linked`, `unchanged` if there was nothing to do, or `not linked`."""
    file: Path
    target: Path
    """The file of the main worktree that it is a link to."""
    backup: Path | None = None
    """Where the file is that the link replaced, if it had a text of its own."""
    notes: tuple[str, ...] = ()
    """What its owner should know."""
    problem: str = ""
    """Why it is not linked."""


def add_linked_worktree(arguments: Sequence[str], shared: Path, here: Path) -> LinkResult:
    """Create a worktree by `git worktree add` with these arguments, and link its list to the main one's.

    `shared` is the list, relative to the root of a worktree. Where no link can be created, the worktree has a list of its
    own. Raises Conflict if git does not create one.
    """
    tree = _add_worktree(arguments, here)
    try:
        return link_worktree(tree, shared)
    except OmoideError as error:  # fallback: a worktree with memories of its own
        file = tree / shared
        return LinkResult(tree, "not linked", file, file, problem=str(error))


def _add_worktree(arguments: Sequence[str], here: Path) -> Path:
    """Create a worktree, and return where it is."""
    # Only git knows which argument is the place: it is the one where a worktree is afterwards.
    places = [(here / argument).resolve() for argument in arguments if not argument.startswith("-")]
    before = {place for place in places if (place / ".git").exists()}
    try:
        # The output of git is for people; standard output is for the result of the command.
        command = ["git", "worktree", "add", *arguments]
        process = subprocess.run(command, cwd=here, stdout=2, check=False)  # noqa: S603 - no shell, a person's own words
    except FileNotFoundError as error:
        raise Conflict(
            "git is not installed, or not on the PATH: install it, or create the worktree and run"
            " `omoide worktree link` in it"
        ) from error
    if process.returncode:
        raise Conflict("git created no worktree: its message is above")
    for place in places:
        if place not in before and (place / ".git").exists():
            return place
    raise Conflict("git created a worktree that is not where the arguments say: run `omoide worktree link` in it")


def link_worktree(start: Path, shared: Path, *, force: bool = False) -> LinkResult:
    """Link the list of the worktree that `start` is in to the main one's, unless it is linked already.

    `shared` is the list, relative to the root of a worktree. `force` replaces a file that has a text of its own, and keeps
    it beside the link; without it, Conflict is raised.
    """
    tree, main = work_tree(start), git_root(start)
    if tree is None or main is None:
        raise InvalidInput(f"{start} is in no worktree of git: change to one, or name it")
    file, target = tree / shared, main / shared
    if tree == main:
        return LinkResult(tree, "unchanged", file, target, notes=("this is the main worktree: the others link to its file",))
    try:
        return _link(tree, shared, target, force=force)
    except OSError as error:
        raise Conflict(
            f"{file} cannot be linked to {target} ({error.strerror or error}): this worktree does not share its memories;"
            " repair that, and run `omoide worktree link`"
        ) from error


def _link(tree: Path, shared: Path, target: Path, *, force: bool) -> LinkResult:
    file = tree / shared
    if file.parent.is_symlink():
        if file.resolve() == target.resolve():
            return LinkResult(tree, "unchanged", file, target)
        raise Conflict(f"{file.parent} is a link to {file.parent.readlink()}: make it a directory first")
    for directory in (target.parent, file.parent):
        directory.mkdir(parents=True, exist_ok=True)
    backup = None
    if file.is_symlink():
        leads = file.parent / file.readlink()
        if leads == target or (leads.exists() and leads.resolve() == target.resolve()):
            return LinkResult(tree, "unchanged", file, target, notes=_hide_from_git(tree, shared))
        if leads.exists() and not force:
            raise Conflict(f"{file} is a link to {leads}, not to {target}: remove it, or add --force")
        file.unlink()  # only the link: its target stays
        file.symlink_to(target)
    elif file.exists():
        backup = _replace_with_link(file, target, force=force)
    else:
        file.symlink_to(target)
    return LinkResult(tree, "linked", file, target, backup, _hide_from_git(tree, shared))


def _replace_with_link(file: Path, target: Path, *, force: bool) -> Path | None:
    """Replace a file by the link, and return where the file is now; None: it had no text of its own."""
    if target.resolve() == file.resolve():
        raise Conflict(f"{target} is itself a link to {file}: move the file there first")
    more = _missing_parts(file, target)
    if more and not force:
        raise Conflict(
            f"{file} has text that {target} lacks (`{more[0].splitlines()[0][:60]}`{' and more' if more[1:] else ''}):"
            " copy that there first, or add --force, which keeps this file beside the link"
        )
    aside = _unused_name(file)
    file.rename(aside)
    try:
        file.symlink_to(target)
    except OSError:
        aside.rename(file)
        raise
    if _missing_parts(aside, target):  # compared again: it may have been written to until it was moved
        return aside
    aside.unlink()
    return None


def _missing_parts(file: Path, target: Path) -> list[str]:
    """The entries of a file, and the text above them, that the other one has not."""
    theirs = set(_heading_parts(target)) if target.exists() else set()
    return [part for part in _heading_parts(file) if part not in theirs and part != "# Memories"]


def _heading_parts(file: Path) -> list[str]:
    """A file cut at its headings, without blank lines and line ends, which make no difference."""
    parts: list[list[str]] = [[]]
    for line in file.read_text(encoding="utf-8", errors="surrogateescape").removeprefix("\ufeff").splitlines():
        if line.startswith("## "):
            parts.append([])
        if line.strip():
            parts[-1].append(line.rstrip())
    return ["\n".join(part) for part in parts if part]


def _unused_name(file: Path) -> Path:
    """An unused name beside the file."""
    number = 1
    while os.path.lexists(aside := file.with_name(f"{file.name}.bak{number}")):
        number += 1
    return aside


def _hide_from_git(tree: Path, shared: Path) -> tuple[str, ...]:
    """Keep git from committing the link in place of the file, as far as it can; return notes for the owner."""
    try:
        entry = _git(tree, "ls-files", "--stage", "--", str(shared))
        if entry.stdout.startswith("100"):  # git has it, as a file
            _git(tree, "update-index", "--skip-worktree", "--", str(shared))
            return (f"git tracks {shared}: it leaves the link alone in this worktree; commit the file in the main one",)
        if not entry.stdout and _git(tree, "check-ignore", "--quiet", str(shared)).returncode == 1:
            return (f"git does not ignore {shared}: put it into .gitignore, so that the link is never committed",)
    except FileNotFoundError:  # fallback: without git nothing is committed either
        pass
    return ()


def _git(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, errors="surrogateescape", check=False)  # noqa: S603 - our own words
