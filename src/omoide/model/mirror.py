"""Mirrors: files that follow a scope, and what is known of both sides."""

from datetime import datetime
from enum import StrEnum

import msgspec

from omoide.model.scope import Scope


class Choice(StrEnum):
    """What of its scope a mirror holds."""

    ALL = "all"
    OWN = "own"  # only what came in through its file: nothing else ever gets into a repository


class Side(StrEnum):
    FILE = "file"
    DATABASE = "database"


class Mirror(msgspec.Struct, frozen=True):
    """A scope that is kept in step with a file, or with the files of a directory."""

    number: int
    scope: Scope
    place: str
    """An absolute directory."""
    file: str
    """The file in it; empty where the format has many."""
    format: str
    choice: Choice
    created_at: datetime
    seen: int = 0
    """The last event that its files show."""


class SyncState(msgspec.Struct, frozen=True, gc=False):
    """When a memory and its entry in a file were last known to say the same: this version of it, and these lines there."""

    memory: int
    file: str = ""
    """Empty: it belongs to the mirror, but stands in none of its files."""
    entry: str = ""
    """The id as it stands in the file; empty where there is none."""
    version: int = 0
    digest: str = ""


class FileState(msgspec.Struct, frozen=True, gc=False):
    """How a file looked when it was last read or written."""

    name: str
    mtime_ns: int
    size: int
    inode: int
    digest: str
    """Of its whole text."""
    settled: bool
    """False: it was so young that a later change might not show in its time."""


class SyncConflict(msgspec.Struct, frozen=True):
    """Both sides of a mirror changed, differently. One stands, the other is a version in the memory's history."""

    mirror: int
    memory: int
    at: datetime
    file_version: int
    """0: the file had the entry no longer."""
    database_version: int
    stands: Side
