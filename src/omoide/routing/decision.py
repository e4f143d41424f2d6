"""Decide which project a message belongs to, from probabilities, names and the current project. Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from omoide.model import RouteConfidence
from omoide.routing.names import Mention
from omoide.routing.scoring import NO_PROJECT

SURE, LIKELY = 0.8, 0.5
"""The probability from which on the confidence is high, and medium."""
OTHER = 0.1
"""The probability from which on another project is named as well. Chosen by judgement."""
_MOST_OTHERS = 3


class Decision(NamedTuple):
    """Which project a message belongs to."""

    primary: str | None
    confidence: RouteConfidence
    why: str
    """A sentence for people, without the words in common."""
    secondary: Sequence[str] = ()
    undecided: bool = False
    """Whether somebody who reads the message could decide better."""


def decide(
    scores: Mapping[str, float], mentions: Sequence[Mention], current: str | None, *, least: float, telling: bool
) -> Decision:
    """Decide which project a message belongs to.

    scores: the probability of each project and of none, the likeliest first
    mentions: the projects that the message names
    least: the probability from which on a project is chosen where there is no current one
    telling: whether the message has words that could tell what it is about
    """
    certain = sorted((one.path for one in mentions if one.certain), key=lambda path: -scores[path])
    if certain:
        others = [*certain[1:], *_others(scores, certain[0], mentions)]
        return Decision(certain[0], RouteConfidence.HIGH, f"The message names {certain[0]}", _first(others))
    best = next(iter(scores), NO_PROJECT)
    if current is None and (best == NO_PROJECT or scores[best] < least):
        return _no_project(scores, telling=telling)
    confidence = _confidence(scores[best])
    others = _first(_others(scores, best, mentions))
    undecided = confidence is not RouteConfidence.HIGH
    if current is None:
        return Decision(best, confidence, f"The message is about {best}", others, undecided)
    if best == current:
        return Decision(best, confidence, f"Nothing speaks for another project than {best}", others, undecided)
    why = f"The message is about {best}, and no longer about {current}"
    return Decision(best, confidence, why, _first([current, *others]), undecided)


def _no_project(scores: Mapping[str, float], *, telling: bool) -> Decision:
    undecided = telling and scores.get(NO_PROJECT, 0.0) < SURE
    return Decision(None, RouteConfidence.LOW, "No project has enough in common with the message", undecided=undecided)


def _confidence(probability: float) -> RouteConfidence:
    if probability >= SURE:
        return RouteConfidence.HIGH
    return RouteConfidence.MEDIUM if probability >= LIKELY else RouteConfidence.LOW


def _others(scores: Mapping[str, float], primary: str, mentions: Sequence[Mention]) -> list[str]:
    """The other projects that a message names, and those that are likely."""
    likely = [path for path, score in scores.items() if score >= OTHER]
    return [path for path in (*(one.path for one in mentions), *likely) if path not in (primary, NO_PROJECT)]


def _first(paths: Sequence[str]) -> list[str]:
    return [*dict.fromkeys(paths)][:_MOST_OTHERS]
