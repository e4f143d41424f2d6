"""The directories of a tree that hold a file of one name: where projects are found, also those made by hand."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class FoundDirectory(NamedTuple):
    """A directory that has the file."""

    path: str
    """Relative to the root, with `/`."""
    files: frozenset[str]
    """The names of all files in it."""


def find_directories(root: Path, file: str, *, start: str = "", depth: int) -> Iterator[FoundDirectory]:
    """Yield the directories with a file of this name: `start`, and those at most `depth` levels below it.

    Hidden directories and symbolic links are left out, and so is what cannot be read.
    """
    yield from _walk(root / start, start, file, depth)


def _walk(directory: Path, path: str, file: str, depth: int) -> Iterator[FoundDirectory]:
    files: set[str] = set()
    below: list[str] = []
    with suppress(OSError), os.scandir(directory) as entries:  # fallback: it is left out, as promised above
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                below += [] if entry.name.startswith(".") else [entry.name]
            elif entry.is_file(follow_symlinks=False):
                files.add(entry.name)
    if path and file in files:
        yield FoundDirectory(path, frozenset(files))
    for name in sorted(below) if depth else ():
        yield from _walk(directory / name, f"{path}/{name}" if path else name, file, depth - 1)
