"""Which repository a directory belongs to, read from its files: asking git would cost a process."""

from pathlib import Path


def git_root(start: Path) -> Path | None:
    """The root of the main work tree, so that all worktrees of one repository are one place; None outside of git."""
    start = start.resolve()
    for directory in (start, *start.parents):
        mark = directory / ".git"
        if mark.is_dir():
            return directory
        if mark.is_file():
            return _main(mark) or directory
    return None


def _main(mark: Path) -> Path | None:
    """From a worktree's `.git` file to the repository it was made from; None for a submodule, a place of its own."""
    text = mark.read_text(encoding="utf-8", errors="replace").strip()
    if not text.startswith("gitdir:"):
        return None
    here = (mark.parent / text.removeprefix("gitdir:").strip()).resolve()
    common = here / "commondir"
    if not common.is_file():
        return None
    shared = (here / common.read_text(encoding="utf-8", errors="replace").strip()).resolve()
    return shared.parent if shared.name == ".git" else shared
