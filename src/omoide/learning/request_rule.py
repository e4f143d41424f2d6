"""A rule by which a request to remember is found. Pure."""

import re
from typing import NamedTuple


class RequestRule(NamedTuple):
    """A pattern of sentences that ask to keep something."""

    kind: str
    """remember (asked for by name), rule (from now on) or decision."""
    pattern: re.Pattern[str]
    """Its group `phrase` asks, its group `content` is what to keep, after its group `topic` if it has one. An empty content
    means the sentence before or after it."""


def rule(kind: str, pattern: str) -> RequestRule:
    """Compile a rule."""
    return RequestRule(kind, re.compile(pattern, re.I | re.S))
