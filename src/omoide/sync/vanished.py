"""Mirrors whose directory is gone: deleted or moved with its repository, or on a disk that is not mounted."""

from pathlib import Path

from omoide.files.git import work_tree
from omoide.model import Mirror


def has_vanished(mirror: Mirror) -> bool:
    """Return whether the directory of a mirror was there and is gone, and is not to be created again with the next write.

    A directory within a repository is created again: a branch may lack it. Where the repository itself is gone, a new
    directory in its place would be in the way of the one that comes back.
    """
    place = Path(mirror.place)
    return mirror.seen > 0 and mirror.format != "tree" and not place.is_dir() and work_tree(place.parent) is None


def describe_gone(mirror: Mirror) -> str:
    """Return the line that says that the directory of a mirror is gone, and what to do."""
    # With the directory above it, the whole repository may have been moved: a command in it lets its mirrors follow.
    moved = "" if work_tree(Path(mirror.place).parent) else ", run a command where its repository is now"
    return f"{mirror.place} is gone: bring it back{moved}, or `omoide mirror remove {mirror.number}`"
