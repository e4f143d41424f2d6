"""Which project a message belongs to."""

from enum import StrEnum

import msgspec

from omoide.model.project import Project


class RouteConfidence(StrEnum):
    """How sure a route is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class RouteCandidate(msgspec.Struct, frozen=True):
    """A project that a message may belong to."""

    project: Project
    score: float
    """How likely it is that the message is about the project, from 0 to 1, by words and vectors."""


class Route(msgspec.Struct, frozen=True):
    """The project that a message belongs to, and what it asks to remember."""

    primary: Project | None
    """None: it belongs to no project that there is."""
    confidence: RouteConfidence
    reason: str
    """Why, as a sentence for people."""
    secondary: tuple[Project, ...] = ()
    """Other projects that the message is about as well, the likeliest first."""
    pinned_content: str = ""
    """What the message asks to remember, without the words that ask for it; empty: nothing."""
    proposal: str = ""
    """The name of a new project, where no project fits and there is no current one. Nothing is created."""
    candidates: tuple[RouteCandidate, ...] = ()
    """The projects with something in common with the message, the likeliest first."""
    trouble: str = ""
    """Why the language model did not help, where it was asked."""
    current: Project | None = None
    """The project that the conversation is in, also where the message belongs to another one or to none."""
