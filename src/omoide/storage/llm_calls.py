"""Store protocols for the calls of language models."""

from datetime import datetime
from typing import Protocol

from omoide.model import LlmCall


class LlmCallReader(Protocol):
    """Read which calls were made."""

    def llm_calls(self, since: datetime) -> list[LlmCall]:
        """Return the calls that began at this moment or later, oldest first."""

    def llm_tokens(self, since: datetime) -> int:
        """Return how many tokens, read and written, these calls took."""


class LlmCallWriter(Protocol):
    """Record calls."""

    def put_llm_call(self, call: LlmCall) -> None:
        """Store a call, or replace the one with its id."""
