"""Decide which project a message belongs to, from probabilities, names and the current project. Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from omoide.model import RouteConfidence
from omoide.routing.names import NameMention
from omoide.routing.scoring import NO_PROJECT, NoProjectEvidence

SURE, LIKELY = 0.8, 0.5
"""The probability from which on the confidence is high, and medium."""
OTHER = 0.15
"""The probability from which on another project is named as well. Chosen by judgement."""
_MOST_OTHERS = 3


class Decision(NamedTuple):
    """Which project a message belongs to."""

    primary: str | None
    confidence: RouteConfidence
    why: str
    """A sentence for people, without the words in common."""
    secondary: Sequence[str] = ()
    private: Sequence[str] = ()
    """The words of private life, which are evidence for no project."""
    undecided: bool = False
    """Whether somebody who reads the message could decide better."""


class Weighing(NamedTuple):
    """The probability of each project and of none, the likeliest first."""

    here: Mapping[str, float]
    """With the pull of the current project."""
    anywhere: Mapping[str, float]
    """As if there were no current one."""


def decide(
    scores: Weighing,
    mentions: Sequence[NameMention],
    current: str | None,
    evidence: NoProjectEvidence,
    *,
    least: float,
    telling: bool,
) -> Decision:
    """Decide which project a message belongs to.

    mentions: the projects that the message names
    evidence: for no project, by how the message is phrased
    least: the probability from which on a project is chosen where there is no current one
    telling: whether the message has words that could tell what it is about
    """
    certain = sorted((one.path for one in mentions if one.certain), key=lambda path: -scores.here[path])
    if certain:
        others = _others(scores.anywhere, certain[0], mentions)
        return Decision(certain[0], RouteConfidence.HIGH, f"The message names {certain[0]}", others)
    best = next(iter(scores.here), NO_PROJECT)
    if best == NO_PROJECT or (current is None and scores.here[best] < least):
        return _no_project(scores.here, current, evidence, telling=telling)
    confidence = _confidence(scores.here[best])
    why = f"The message is about {best}"
    if best == current:
        why = f"The conversation is about {best}, and the message points to no other project"
    elif current is not None:
        why = f"The message is about {best}, and no longer about {current}"
    others = _others(scores.anywhere, best, mentions)
    return Decision(best, confidence, why, others, undecided=confidence is RouteConfidence.LOW)


def _no_project(scores: Mapping[str, float], current: str | None, evidence: NoProjectEvidence, *, telling: bool) -> Decision:
    undecided = telling and scores.get(NO_PROJECT, 0.0) < SURE
    if evidence.only_greets:
        why = "The message is a greeting"
    elif evidence.private:
        why = "The message is about private life"
    elif evidence.asks_general:
        why = "The message asks for general knowledge, or begins something new"
    else:
        why = "No project has enough in common with the message"
    if current is not None:
        why = f"{why}, and it is not about {current}, where the conversation is"
    return Decision(None, RouteConfidence.LOW, why, private=evidence.private, undecided=undecided)


def _confidence(probability: float) -> RouteConfidence:
    if probability >= SURE:
        return RouteConfidence.HIGH
    return RouteConfidence.MEDIUM if probability >= LIKELY else RouteConfidence.LOW


def _others(scores: Mapping[str, float], primary: str, mentions: Sequence[NameMention]) -> list[str]:
    """The other projects that a message names, and those that it has as much in common with as would do by itself."""
    least = max(OTHER, scores.get(NO_PROJECT, 0.0))
    likely = [path for path, score in scores.items() if score >= least]
    others = [path for path in (*(one.path for one in mentions), *likely) if path not in (primary, NO_PROJECT)]
    return [*dict.fromkeys(others)][:_MOST_OTHERS]
