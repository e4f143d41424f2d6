"""Mirrors: files that are synced with a scope, and what was last known of both sides."""

from datetime import datetime
from enum import StrEnum

import msgspec

from omoide.model.scope import Scope


class Choice(StrEnum):
    """Which memories of its scope a mirror holds."""

    ALL = "all"
    OWN = "own"  # only what was imported from its files: nothing else gets into a repository


class Side(StrEnum):
    """One of the two sides of a mirror."""

    FILE = "file"
    DATABASE = "database"


class Mirror(msgspec.Struct, frozen=True):
    """A scope that is synced with a file, or with the files of a directory."""

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
    """The number of the last event that its files show."""
    retire: bool = False
    """Whether retention may archive what is in a list or a block. It always may in the other formats."""


class SyncState(msgspec.Struct, frozen=True, gc=False):
    """The version of a memory and the lines of its entry in a file when both were last in sync."""

    memory: int
    file: str = ""
    """Empty: the memory belongs to the mirror, but is in none of its files."""
    entry: str = ""
    """The id as it is written in the file; empty if it has none."""
    version: int = 0
    digest: str = ""


class FileState(msgspec.Struct, frozen=True, gc=False):
    """A file as it was when it was last read or written."""

    name: str
    mtime_ns: int
    size: int
    inode: int
    digest: str
    """The digest of its whole text."""
    settled: bool
    """False if the mtime is too recent to rule out another write within the clock's resolution."""


class SyncConflict(msgspec.Struct, frozen=True):
    """Different changes on both sides of a mirror. One side stands, the other is a version in the memory's history."""

    mirror: int
    memory: int
    at: datetime
    file_version: int
    """0: the entry was deleted from the file."""
    database_version: int
    stands: Side
