"""A request to remember something, and a rule by which one is found. Pure."""

import re
from typing import NamedTuple

from omoide.learning.patterns import lazy_pattern, phrases

ONE_OFF = phrases(
    r"(?<!not just )(?<!not only )(?<!n't just )(?<!not for )\b(?:today(?! and (?:for )?(?:every|all|always))|tonight|"
    r"tomorrow|later today|this (?:morning|afternoon|evening|week)|right now|asap|by (?:\w+day|"
    r"noon|tonight|eod))\b",
    "今日中|本日中|今日の|明日|今夜|今晩|今から|この後|このあと|あとで|後で|帰る前|までに|来週(?!から|以降|より)|今週|"
    "いったん|"
    "とりあえず|一旦",
)
"""Words of an order for one time."""


class Request(NamedTuple):
    """What somebody asks to keep."""

    content: str
    kind: str
    """remember (asked for by name), rule (from now on) or decision."""
    phrase: str
    """The words that ask for it."""
    points: bool = False
    """Whether it points to the statement before it, and its content only adds to that."""


class RequestRule(NamedTuple):
    """A pattern of sentences that ask to keep something."""

    kind: str
    """remember (asked for by name), rule (from now on) or decision."""
    pattern: re.Pattern[str]
    """Its group `phrase` asks, its group `content` is what to keep, after its group `topic` if it has one. An empty content
    means the sentence before or after it."""
    needs: tuple[str, ...] = ()
    """Parts of words, one of which is in every text that the pattern matches; none: not said."""

    def match(self, text: str) -> re.Match[str] | None:
        """Match a text. The pattern is compiled only for one that has a word which it needs."""
        folded = text.lower()
        if self.needs and not any(word in folded for word in self.needs):
            return None
        return self.pattern.match(text)


def rule(kind: str, pattern: str, needs: str = "") -> RequestRule:
    """Return a rule. `needs` are parts of words with spaces between them, one of which is in every text that it matches."""
    return RequestRule(kind, lazy_pattern(pattern, re.I | re.S), tuple(needs.split()))
