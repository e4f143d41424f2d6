"""Find what a message corrects in the work of the last run: "No, use pnpm instead of npm", 「そうじゃなくて…」. Pure.

The first message of a conversation describes a task. After a run in the same work tree it may refer to that run: if it
begins by refusing something, or gives up a name that stands in lines that the agent wrote.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from omoide.learning.file_corrections import glob_of
from omoide.learning.guidance import Guidance, find_guidance
from omoide.learning.injected_text import strip_injected
from omoide.learning.replacements import find_replaced
from omoide.learning.requests import find_requests
from omoide.learning.transcript import shorten
from omoide.learning.wording import share_of, wording
from omoide.model import AgentFile

_MOST_GLOBS = 3
"""Kinds of files that a correction is about; where the agent wrote more of them, it is about the work as a whole."""
_MOST_EVIDENCE = 1_200
_MOST_LINES = 5
"""Lines of a file that show what is corrected."""


class SpokenCorrection(NamedTuple):
    """What a person says is to be done otherwise."""

    text: str
    is_general: bool
    """Whether it says itself that it holds in general."""
    globs: tuple[str, ...]
    """The files that it is about; none if that is not known."""
    evidence: str
    """The agent's lines that it is about, as a diff; else what the agent was asked, and the correction."""


def find_spoken_corrections(message: str, files: Sequence[AgentFile], asked: str = "") -> list[SpokenCorrection]:
    """Return what a message corrects in the work of the run before it.

    `files`: what the agent wrote in that run. `asked`: the task of that run, in words. What the message asks to remember is
    left out: that is a request, and kept as one.
    """
    message = strip_injected(message)
    covered = set(chain.from_iterable(wording(request.content) for request in find_requests(message)))
    return [
        correction
        for guidance in find_guidance(message)
        if not covered or share_of(guidance.text, covered) <= 0.5
        for correction in _correction(guidance, files, asked)
    ]


def _correction(guidance: Guidance, files: Sequence[AgentFile], asked: str) -> Iterator[SpokenCorrection]:
    lines = {file.path: found for file in files if (found := _lines_with(find_replaced(guidance.text), file))}
    if guidance.kind != "correction" and not lines:
        return
    globs = tuple(dict.fromkeys(filter(None, map(glob_of, lines or [file.path for file in files]))))
    evidence = "\n".join(chain.from_iterable([f"--- {path} (agent)", *found] for path, found in lines.items()))
    if not evidence and asked:
        evidence = f"{asked} → {guidance.text}"
    yield SpokenCorrection(
        guidance.text,
        guidance.is_general,
        globs if len(globs) <= _MOST_GLOBS else (),
        shorten(evidence, _MOST_EVIDENCE),
    )


def _lines_with(names: Sequence[str], file: AgentFile) -> list[str]:
    """The lines that the agent wrote in a file and that have one of the names, marked as in a diff."""
    if not names:
        return []
    first_words = [name.split()[0] for name in names]  # of "npm in", what is given up is the first word
    name = re.compile("|".join(rf"(?<![A-Za-z0-9_]){re.escape(one)}(?![A-Za-z0-9_])" for one in first_words), re.I)
    text = file.text.splitlines()
    written = chain.from_iterable(text[hunk.start : hunk.end] for hunk in file.hunks)
    return [f"+{line}" for line in written if name.search(line)][:_MOST_LINES]
