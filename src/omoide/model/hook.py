"""Calls of agents' hooks: what a client sent, what was injected, and what was left in the inbox to learn from."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

import msgspec


class HookEvent(StrEnum):
    """When a client called, in omoide's own words."""

    SESSION_START = "session start"
    PROMPT = "prompt"
    STOP = "stop"
    BEFORE_COMPACTION = "before compaction"
    SESSION_END = "session end"
    OTHER = "other"


_COMPACTS_RARELY = ("gemini",)
"""Clients that announce a compaction at every turn, and hardly ever compact then."""


class HookCall(msgspec.Struct, frozen=True):
    """One call of a hook, as the client sent it. Every field but the event may be empty."""

    client: str
    """claude-code, codex, gemini, copilot, vscode, cursor or opencode; empty: not known."""
    event: HookEvent
    name: str = ""
    """What the client calls the event."""
    session: str = ""
    """The client's id of the conversation."""
    prompt: str = ""
    directory: str = ""
    """Where the agent works."""
    transcript: str = ""
    """The file of the conversation."""
    source: str = ""
    """Why a session starts: startup, resume, clear or compact, or the client's own word."""
    last_message: str = ""
    """What the agent answered last."""

    @property
    def is_ignored(self) -> bool:
        """Whether omoide does nothing at this event: the memory need not be opened for it."""
        if self.event is HookEvent.BEFORE_COMPACTION:
            return self.client in _COMPACTS_RARELY
        return self.event in (HookEvent.SESSION_END, HookEvent.OTHER)


class HookState(StrEnum):
    """How a call of a hook ended."""

    RUNNING = "running"
    """It has not ended, or its process was ended by the client or after a second."""
    DONE = "done"
    REPEATED = "repeated"
    """Another process had the same call within seconds: it did nothing."""
    FAILED = "failed"


class HookRecord(msgspec.Struct, frozen=True):
    """A call of a hook, as it is logged. Never holds a prompt or a memory's text."""

    number: int
    """0: it could not be written to the database."""
    at: datetime
    client: str
    event: HookEvent
    session: str = ""
    digest: str = ""
    """A hash of session, event and prompt, by which the same call is recognised."""
    clears: bool = False
    """Whether what was injected before is no longer in the conversation: it starts, or is cleared or compacted."""
    state: HookState = HookState.RUNNING
    seconds: float = 0.0
    memories: int = 0
    """How many were injected."""
    tokens: int = 0
    """How many tokens they take, as estimated."""
    fault: str = ""


class MemoryUse(StrEnum):
    """Whether an agent used a memory that was injected."""

    USED = "used"
    IGNORED = "ignored"
    CONTRADICTED = "contradicted"


class JudgedUse(NamedTuple):
    """Whether an agent used a memory in one injection, to be stored with that."""

    call: int
    """The number of the call of the hook."""
    memory: int
    """Its number."""
    use: MemoryUse
    is_clear: bool


class Injection(msgspec.Struct, frozen=True):
    """A memory that was injected into a conversation."""

    call: int
    """The number of the call of the hook."""
    at: datetime
    client: str
    event: HookEvent
    session: str
    memory: int
    """Its number."""
    version: int
    tokens: int
    """As estimated, with its heading."""
    use: MemoryUse | None = None
    """None: its turn has not ended, or was not judged yet."""
    is_clear: bool = False
    """Whether the use is clear: else it is only the most probable one."""


class InboxItem(msgspec.Struct, frozen=True):
    """The end of an agent's turn, to be learnt from later."""

    number: int
    at: datetime
    client: str
    session: str
    project: str
    """The project that the settings named; empty: that of the directory."""
    directory: str
    transcript: str
    size: int
    """Of the transcript then, in bytes: up to there it belongs to this turn."""
    prompt: str = ""
    """The person's message, where the client sends it with the answer."""
    last_message: str = ""
    work_tree: str = ""
    """The state of the work tree as JSON; empty outside of git."""


class TranscriptPosition(msgspec.Struct, frozen=True):
    """How far a transcript was read."""

    bytes: int = 0
    line: int = 0
