"""What a language model is asked about a message, and its answer. Pure."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from omoide.llm.answers import fence
from omoide.model import Memory, Project
from omoide.routing.catalogue import catalogue

INSTRUCTIONS = (
    "You decide which project a message to an assistant belongs to. You get a numbered list of projects, some of their"
    " notes, the project of the conversation so far, and the message. Answer with the number of the project that the"
    " message is about; null if it is about none of them, as a greeting or a new topic. A message that only continues"
    " belongs to the project of the conversation so far. secondary are the numbers of other projects that it is about as"
    " well. new_project is a short name for a new project, if the message begins one. pinned_content is what the message"
    " asks to remember for good, in its own words; null if it asks for nothing."
)
_MOST_MESSAGE = 8_000
"""Characters of a message that a model is shown: its beginning."""
_MOST_NOTES = 8
_MOST_NOTE = 200
"""Characters of each note."""


class RoutingAnswer(msgspec.Struct, frozen=True):
    """Which project a model chose."""

    primary: int | None
    reason: Annotated[str, msgspec.Meta(max_length=1_000)] = ""
    secondary: list[int] = []
    confidence: Literal["high", "medium", "low"] = "medium"
    pinned_content: str | None = None
    new_project: str | None = None


def compose_question(message: str, projects: Sequence[Project], notes: Sequence[Memory], current: str | None) -> str:
    """Return the question which project a message belongs to, with everything that others wrote in fences.

    projects: all that may be chosen, by their place in this order
    notes: memories of them that have something in common with the message, the best first
    current: the path of the project that the conversation is in
    """
    numbers = {project.path: number for number, project in enumerate(projects, 1)}
    lines = [
        f"{numbers[memory.scope.path]}. {' '.join(memory.content[:_MOST_NOTE].split())}"
        for memory in notes[:_MOST_NOTES]
        if memory.scope.path in numbers
    ]
    here = "none" if current is None else str(numbers[current])
    parts = [
        f"Projects:\n{fence(catalogue(projects), 'projects')}",
        f"Some of their notes, each with the number of its project:\n{fence(chr(10).join(lines), 'notes')}",
        f"The conversation so far is in project: {here}",
        f"Message:\n{fence(message[:_MOST_MESSAGE], 'message')}",
    ]
    return "\n\n".join(parts)
