"""The files of a work tree, as git sees them: without what it ignores."""

import os
from collections.abc import Iterator
from pathlib import Path

from omoide.files.repository import run_git


def list_files(root: Path) -> list[str]:
    """Return the files below a directory, relative to it and with slashes, sorted; those that git ignores are left out.

    Without git, or outside of a repository: every file that is not in `.git`. Names that are not UTF-8 are left out.
    """
    listed = run_git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    names = {name for name in listed if name} or set(_walk(root))
    return sorted(name for name in names if _is_utf8(name))


def _walk(root: Path) -> Iterator[str]:
    for directory, directories, files in os.walk(root):
        directories[:] = [name for name in directories if name != ".git"]
        for name in files:
            yield (Path(directory) / name).relative_to(root).as_posix()


def _is_utf8(name: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in name)
