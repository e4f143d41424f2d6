"""Mirrors: files that are synced with a scope, and what was last known of both sides."""

from datetime import datetime
from enum import StrEnum

import msgspec

from omoide.model.scope import Scope


class Choice(StrEnum):
    """Which memories of its scope a mirror contains."""

    ALL = "all"
    OWN = "own"  # only what was imported from its files: nothing else gets into a repository


class Side(StrEnum):
    """One of the two sides of a mirror."""

    FILE = "file"
    DATABASE = "database"


class Held(StrEnum):
    """Why a sync leaves an entry as it is although it differs from its memory."""

    GONE = "gone"
    """The file itself is gone."""
    WAITING = "waiting"
    """The memory was never written: its file is gone, and git has it."""
    GIT = "git"
    """git has this version of the file, so that git, not a person, took the entry out."""
    STASHED = "stashed"
    """git has taken the entry out of the file and put it into a stash."""
    OPERATION = "operation"
    """git is in the middle of a merge, a rebase, a cherry-pick, a revert or a bisect."""
    PATCHED = "patched"
    """git wrote its index after the file, as `git checkout -p` does with the single changes that it takes out."""
    OLDER = "older"
    """The file is an older version than the last two that were synced: an editor saved an old text again."""
    EDITED = "edited"
    """More than whole entries was changed in the file."""
    UNREADABLE = "unreadable"
    """The id is still in the files, but not in an entry that can be read."""
    MANY = "many"
    """More than half of the entries, or more than ten, are missing at once."""
    CUT_OFF = "cut_off"
    """The last entries of the file are missing, two or more: it may have been cut off."""
    UNKNOWN = "unknown"
    """Nothing is known of the file before the change."""
    RETIRED = "retired"
    """The opposite: the entry is in the file, but its memory is archived, forgotten or inactive, and stays so."""
    OUTDATED = "outdated"
    """The entry is in the file, with an earlier version of its memory, which git or an old buffer brought back."""


class Mirror(msgspec.Struct, frozen=True):
    """A scope that is synced with a file, or with the files of a directory."""

    number: int
    scope: Scope
    place: str
    """An absolute directory."""
    file: str
    """The file in it; of a tree, the directory of its project; empty where the format has many files."""
    format: str
    choice: Choice
    created_at: datetime
    seen: int = 0
    """The number of the last event that its files show; -1 before the first sync of files that were there already."""
    retire: bool = False
    """Whether retention may archive what is in a list or a block. It always may in the other formats."""
    adopt: tuple[str, ...] = ("*",)
    """Patterns of the names of files that were handed over to the mirror although they have none of its marks."""


class SyncState(msgspec.Struct, frozen=True, gc=False):
    """The version of a memory and the lines of its entry in a file when both were last in sync."""

    memory: int
    file: str = ""
    """Empty: the memory belongs to the mirror, but is in none of its files."""
    entry: str = ""
    """The id as it is written in the file; empty if it has none."""
    version: int = 0
    digest: str = ""
    held: str = ""
    """Why the entry is not as its memory says, a `Held`; empty: it is."""

    @property
    def is_in_file(self) -> bool:
        """Whether the file has an entry of the memory."""
        return bool(self.file) and self.held in _IN_FILE

    @property
    def shows_memory(self) -> bool:
        """Whether the file has an entry of the memory that belongs there, if perhaps with an earlier text."""
        return self.is_in_file and self.held != Held.RETIRED


_IN_FILE = ("", Held.RETIRED, Held.OUTDATED)


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


class FileVersions(msgspec.Struct, frozen=True):
    """What is known of the versions of a file that were synced, without their texts."""

    name: str
    outline: bytes = b""
    """Of the last one, see `sync/absence.py`."""
    digests: tuple[str, ...] = ()
    """Of the whole texts, the newest first."""
    changes: tuple[tuple[str, ...], ...] = ()
    """Of the newest ones, in that order: hashes of the ids of the entries that a version added, with `~` changed (and behind
    `:` the hash of the text before), with `-` removed; with `#` the hash of the rest as it was before; `=` for none of
    these, `?` for too many. None: not known."""


class SyncConflict(msgspec.Struct, frozen=True):
    """Different changes on both sides of a mirror. One side stands, the other is a version in the memory's history."""

    mirror: int
    memory: int
    at: datetime
    file_version: int
    """0: the entry was deleted from the file."""
    database_version: int
    stands: Side
