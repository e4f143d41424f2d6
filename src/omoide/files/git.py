"""The git repository of a directory, found by reading files: asking git would start a process."""

import re
from pathlib import Path

from omoide.errors import Unreadable


def git_root(start: Path) -> Path | None:
    """The root of the main work tree, which all worktrees of a repository share; None outside of git.

    A bare repository has no main work tree: there it is the directory of the repository itself, or the one whose
    `.git` file names it.
    """
    start = start.resolve()
    for directory in (start, *start.parents):
        mark = directory / ".git"
        if mark.is_dir():
            return directory
        if mark.is_file():
            return _main_repository(mark) or directory
        if _is_repository(directory):
            return _common_directory(directory)
    return None


def work_tree(start: Path) -> Path | None:
    """The root of the work tree that a directory is in, main or not; None outside of any."""
    start = start.resolve()
    for directory in (start, *start.parents):
        if (directory / ".git").exists():
            return directory
        if _is_repository(directory):
            return None
    return None


def git_directory(root: Path) -> Path | None:
    """The directory with git's own data of the repository whose work tree `root` is; None if it is none."""
    mark = root / ".git"
    if mark.is_dir():
        return mark
    if mark.is_file():
        here = _gitdir_target(mark)
        if here is not None and (here / "commondir").is_file():
            return (here / _text(here / "commondir").strip()).resolve()
        return here
    return root if _is_repository(root) else None


def follow_link(file: Path) -> Path:
    """The file that a path leads to, through symbolic links. Raises Unreadable if that leads out of the repository.

    A link within a repository stands for the file of any name there, but for git's own; one of a worktree may lead to the
    main worktree.
    """
    try:
        target = file.resolve()
    except (OSError, RuntimeError) as error:  # before Python 3.13, a RuntimeError
        raise Unreadable(f"{file} is a link that leads to itself: put the file itself there") from error
    # By the names on the way, not by where they lead: the repository is the one that the link is in.
    tree = next((directory for directory in file.absolute().parents if (directory / ".git").exists()), None)
    if tree is None:
        return target
    roots = {tree.resolve(), git_root(tree)}
    root = next((root for root in roots if root is not None and target.is_relative_to(root)), None)
    if root is not None and ".git" in target.relative_to(root).parts:
        raise Unreadable(f"{file} is a link to git's own file {target}: it is not followed; put the file itself there")
    if root is None:
        raise Unreadable(
            f"{file} is a link that leads out of the repository, to {target}: it is not followed; put the file itself there"
        )
    return target


_OPERATIONS = (
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_LOG",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
)
"""What git keeps in its directory of a work tree while a merge, cherry-pick, revert, bisect or rebase is in progress."""


def is_operation_in_progress(start: Path) -> bool:
    """Whether git is in the middle of a merge, rebase, cherry-pick, revert or bisect in the work tree of a directory."""
    own = own_git_directory(start)
    return own is not None and any((own / name).exists() for name in _OPERATIONS)


def seconds_to_index(file: Path) -> float | None:
    """How long after a file git last wrote the index of its work tree; None if it has not done so since.

    `git checkout -p` and `restore -p` do so at once, and again after each other file; so may `git status`, later.
    """
    own = own_git_directory(file.parent)
    if own is None:
        return None
    try:
        between = (own / "index").stat().st_mtime_ns - file.stat().st_mtime_ns
    except OSError:  # fallback: one of them is not there
        return None
    return between / 1e9 if between >= 0 else None


def own_git_directory(start: Path) -> Path | None:
    """The directory with git's data of one work tree, which the other ones of a repository do not share."""
    tree = work_tree(start)
    mark = None if tree is None else tree / ".git"
    return mark if mark is None or mark.is_dir() else _gitdir_target(mark)


def _main_repository(mark: Path) -> Path | None:
    """The repository that a worktree's `.git` file leads to; None for a submodule, which is its own repository."""
    here = _gitdir_target(mark)
    if here is None:
        return None
    common = here / "commondir"
    if not common.is_file():
        return None
    return _common_directory((here / _text(common).strip()).resolve())


def _gitdir_target(mark: Path) -> Path | None:
    """The repository that a `.git` file names."""
    text = _text(mark).strip()
    return (mark.parent / text.removeprefix("gitdir:").strip()).resolve() if text.startswith("gitdir:") else None


def _common_directory(repository: Path) -> Path:
    """The directory that stands for all worktrees of a repository."""
    if repository.name == ".git":
        return repository.parent
    settings = repository / "config"
    set_apart = re.search(
        r"^\s*\[core\][^\[]*?^\s*worktree\s*=\s*(.+?)\s*$",
        _text(settings) if settings.is_file() else "",
        re.MULTILINE | re.IGNORECASE,
    )
    if set_apart:  # a submodule: its repository is inside that of its owner, and names its work tree
        return (repository / re.sub(r"\\(.)", r"\1", set_apart[1].strip('"'))).resolve()
    mark = repository.parent / ".git"
    return repository.parent if mark.is_file() and _gitdir_target(mark) == repository else repository


def _is_repository(directory: Path) -> bool:
    """Whether this is a repository, by the same three names that git looks for."""
    return (directory / "HEAD").is_file() and (directory / "objects").is_dir() and (directory / "refs").is_dir()


def _text(file: Path) -> str:
    # Decoded as file names are, whatever bytes they have.
    return file.read_text(encoding="utf-8", errors="surrogateescape")
