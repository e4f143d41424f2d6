"""Tasks, the prompts composed for them, and receipts: which memories a prompt contains, and why."""

from typing import Literal

import msgspec


class Task(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an agent is to do: the sections of a composed prompt other than its memories. Every field may be left out."""

    id: str = ""
    title: str = ""
    description: str = ""
    role: str = ""
    """The text of the section Role."""
    profile: str = ""
    """The name of a template in the setting `profiles`, instead of `role`."""
    workspace: str = ""
    """Where the agent works: a description of the work tree."""
    read_first: tuple[str, ...] = ()
    """Paths that the agent should read before anything else."""
    write_scope: tuple[str, ...] = ()
    """Paths and globs that the agent may write: memories with a glob tag that matches one of them come first."""
    constraints: tuple[str, ...] = ()
    digest: str = ""
    """What happened so far, where the task is tried again or continued."""
    output_format: str = ""

    @property
    def subject(self) -> str:
        """What it is about, in one line: its title, or the first line of its description."""
        lines = (line.strip() for text in (self.title, self.description) for line in text.splitlines())
        return next((line for line in lines if line), "")


class PromptCandidate(msgspec.Struct, frozen=True):
    """What the selection and rendering of a prompt need of a memory."""

    number: int
    id: str
    version: int
    type: str
    content: str
    tags: tuple[str, ...]
    relevance: float


Layout = Literal["sections", "list", "project"]
"""How a prompt is laid out: as sections (see `omoide compose`), or as a message with the list of its repository before it,
or with the block of its project after it."""
Rule = Literal["scope", "relevance", "task", "file", "limit", "budget", "holdout"]
"""Why a memory is in a prompt, or is not.

In it: scope (a glob tag matches the task's write scope), task (the task's text recalls it), relevance (its rank), file
(it stands in the list or the tree whose text is in the prompt).
Left out: limit (others rank higher), budget (it does not fit), holdout (the run is composed without memories).
"""


class PromptMemory(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A memory that was considered for a prompt. Never holds its text, so that a purge leaves nothing here."""

    number: int
    id: str
    version: int
    """Which version of the memory it was."""
    rule: Rule
    relevance: float = 0.0
    """Its relevance at that moment."""
    path: str = ""
    """The path of the write scope that one of its glob tags matches."""
    score: float = 0.0
    """How well it matches the task's text, where the setting `select` is task."""
    excess: int = 0
    """By how many bytes (or tokens, if those were the limit) it was over the budget."""

    @property
    def reason(self) -> str:
        """Why it is in the prompt or was left out, in words."""
        rank = f"relevance {self.relevance:.2f}"
        if self.score:
            rank = f"match {self.score:.2f}, {rank}"
        if self.path:
            rank = f"a glob tag matches {self.path}, {rank}"
        words = {
            "limit": f"others rank higher: {rank}",
            "budget": f"it does not fit the budget by {self.excess:,}: {rank}",
            "holdout": f"this run is composed without memories: {rank}",
            "file": "it stands in the file whose text is in the prompt",
        }
        return words.get(self.rule, rank)


class Receipt(msgspec.Struct, frozen=True):
    """What a prompt was made of, without any text: enough to make the same bytes again from the history."""

    sha256: str
    """The hash of the prompt's bytes, in hexadecimal digits."""
    bytes: int
    tokens: int
    """An estimate: see `prompt.budget`."""
    format: int
    """The version of the renderer."""
    memories: tuple[PromptMemory, ...] = ()
    """In the order of the prompt."""
    left_out: tuple[PromptMemory, ...] = ()
    """The best of those that were left out, in their order."""
    left_out_count: int = 0
    """How many were left out, of which `left_out` are the best."""
    holdout: bool = False
    """Whether the prompt was composed without memories, to compare its outcome with the others."""
    layout: Layout = "sections"
    """Only sections can be rendered again: the other layouts contain the text of files."""
