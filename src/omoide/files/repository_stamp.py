"""Whether a repository may have become another one since it was last seen, by a few stat calls, without asking git."""

import os
from pathlib import Path

from omoide.files.git import git_directory
from omoide.model import RepositoryIdentity

UNANSWERED = "?"
"""The end of a stamp where git was asked and did not say what the repository is."""
_COMMITS = "commits"


def repository_stamp(root: Path) -> str:
    """Return a text that changes when the repository at `root` may have become another one, or got its first commit."""
    directory = git_directory(root)
    if directory is None:
        return ""
    try:
        place = directory.stat()
    except OSError:  # fallback: a repository that cannot be read is known by its directory
        return ""
    config = _stat(directory / "config")
    state = "shallow" if (directory / "shallow").exists() else _history_mark(directory)
    return f"{place.st_dev}:{place.st_ino}:{config}:{state}"


def is_unanswered(stamp: str, identity: RepositoryIdentity) -> bool:
    """Return whether a repository has commits by its stamp, and git did not say which was the first."""
    return stamp.endswith(f":{_COMMITS}") and not identity.root_commits


def _history_mark(directory: Path) -> str:
    """Whether there is any commit; with the newer storage of references, when they last changed."""
    tables = directory / "reftable" / "tables.list"
    if tables.exists():
        return _stat(tables)
    if (directory / "packed-refs").exists():
        return _COMMITS
    for kind in ("heads", "remotes"):
        try:
            with os.scandir(directory / "refs" / kind) as references:
                if any(references):
                    return _COMMITS
        except OSError:  # fallback: no such references
            continue
    return "empty"


def _stat(file: Path) -> str:
    try:
        found = file.stat()
    except OSError:  # fallback: a missing file is a state like any other
        return "-"
    return f"{found.st_mtime_ns}.{found.st_size}"
