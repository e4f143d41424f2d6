"""Decide which project a message belongs to, from names, scores and the current project. Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from omoide.model import RouteConfidence

SURE = 0.8
"""The score from which on a project is certain, if no other comes near it."""
AHEAD = 0.25
"""By how much a score must be above another one to decide against it."""
_MOST_SECONDARY = 3


class Decision(NamedTuple):
    """Which project a message belongs to."""

    primary: str | None
    confidence: RouteConfidence
    reason: str
    secondary: Sequence[str] = ()
    undecided: bool = False
    """Whether something that reads the message could decide better."""


class Situation(NamedTuple):
    """What a message is decided by."""

    scores: Mapping[str, float]
    """By path of project, the likeliest first."""
    named: Sequence[str]
    """The projects that the message names, in their order in it."""
    current: str | None
    """The project that the conversation is in, or that of the directory."""
    least: float
    """The score from which on a project is worth naming at all."""
    telling: bool
    """Whether the message has words that could tell anything."""


def decide(situation: Situation) -> Decision:
    """Decide which project a message belongs to."""
    scores, current = situation.scores, situation.current
    if situation.named:
        primary = situation.named[0]
        others = situation.named[1:]
        return Decision(primary, RouteConfidence.HIGH, f"The message names {primary}.", others[:_MOST_SECONDARY])
    ranked = [path for path, score in scores.items() if score >= situation.least]
    best = ranked[0] if ranked else None
    if best is None:
        return _without_evidence(situation)
    others = [path for path in ranked[1:] if scores[path] >= scores[best] - AHEAD][:_MOST_SECONDARY]
    second = max((scores[path] for path in scores if path != best), default=0.0)
    clear = scores[best] - second >= AHEAD
    if current is None or best == current:
        if scores[best] >= SURE and clear:
            return Decision(best, RouteConfidence.HIGH, f"The message is about {best}.", others)
        undecided = not clear
        return Decision(best, RouteConfidence.MEDIUM, f"The message is most like {best}.", others, undecided)
    ahead = scores[best] - scores.get(current, 0.0)
    if scores[best] >= 0.5 and ahead >= AHEAD:
        return Decision(best, RouteConfidence.MEDIUM, f"The message is about {best}, not about {current}.", (current,))
    return Decision(current, RouteConfidence.MEDIUM, f"The message continues in {current}.", (best,), undecided=True)


def _without_evidence(situation: Situation) -> Decision:
    if situation.current is not None:
        return Decision(
            situation.current,
            RouteConfidence.MEDIUM,
            f"Nothing in the message is about another project than {situation.current}.",
        )
    reason = "The message has nothing in common with any project."
    return Decision(None, RouteConfidence.LOW, reason, undecided=situation.telling)
