"""Calls of a language model, as they are recorded."""

from datetime import datetime
from enum import StrEnum

import msgspec


class CallState(StrEnum):
    """How a call of a language model ended."""

    RUNNING = "running"
    """It has not ended, or its process was killed: its tokens are an estimate."""
    ANSWERED = "answered"
    REJECTED = "rejected"
    """It answered, but not what it was asked for."""
    FAILED = "failed"


class LlmCall(msgspec.Struct, frozen=True):
    """One call of a language model. Never holds what was asked or answered."""

    id: str
    at: datetime
    purpose: str
    """What it was asked for: route, summarize or learn."""
    model: str
    state: CallState
    input_tokens: int
    output_tokens: int = 0
    cost: float | None = None
    """In US dollars, where the model reports it or the settings give a price."""
    seconds: float = 0.0
