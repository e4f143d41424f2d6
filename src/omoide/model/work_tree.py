"""Work trees of git between the runs of agents: what was in them, and what an agent wrote."""

from datetime import datetime

import msgspec


class TreeFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of a work tree."""

    path: str
    """Relative to the root, with slashes."""
    digest: str = ""
    """The hash of its bytes; empty: there is no such file."""
    text: str | None = None
    """None: it is not there, no text, or too large."""


class WorkTreeState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A work tree at one moment: the commit, and the files that differ from it."""

    root: str
    """The directory of the work tree."""
    head: str = ""
    """The commit that is checked out; empty: there is none yet."""
    branch: str = ""
    """Empty: no branch is checked out."""
    stashes: int = 0
    log_size: int = 0
    """Bytes of git's log of what was checked out: what is appended later happened later."""
    files: tuple[TreeFile, ...] = ()
    """What differs from the commit, by path: changed, new and deleted files; not what git ignores."""


class AgentHunk(msgspec.Struct, frozen=True):
    """Lines of a file that an agent wrote."""

    start: int
    """The first of them, from 0."""
    end: int
    """The line after the last one; the same as `start` where the agent only deleted lines."""
    before: tuple[str, ...]
    """The lines that it replaced."""


class AgentFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file as an agent left it, and what it wrote there."""

    path: str
    text: str
    hunks: tuple[AgentHunk, ...]
    added: bool = False
    """Whether the agent created the file."""
    digest: str = ""
    """The hash of its bytes; empty: not recorded."""


class WorkTreeRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of a work tree since the last run there, until the next one."""

    state: WorkTreeState
    """At the start of a run or, with `files`, at its end; then without texts."""
    at: datetime
    run: str | None = None
    """The run that ended; None: one is about to begin."""
    files: tuple[AgentFile, ...] = ()
    """What the agent changed in that run."""
    session: str = ""
    """The session of a client in which an agent is at work there; empty: none is, or it is not known."""
