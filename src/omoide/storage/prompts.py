"""What a store promises about prompts: the memories that one may contain."""

from datetime import datetime
from typing import Protocol

from omoide.model import PromptCandidate, Query


class PromptReader(Protocol):
    """Read what prompts are composed of."""

    def prompt_candidates(self, query: Query, at: datetime) -> list[PromptCandidate]:
        """Return what `browse` would, in no order and with only what a selection needs: quick for many memories."""
