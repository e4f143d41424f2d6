"""Compose a prompt: select, cut to the budget, render, and write its receipt. Pure."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from omoide.model import ComposedPrompt, Layout, Memory, PromptCandidate, PromptMemory, Receipt, Task
from omoide.prompt import budget, globs, render, select
from omoide.prompt.tokens import estimate_tokens


class Circumstances(NamedTuple):
    """What a prompt depends on beside its task and the memories."""

    role: str = ""
    """The text of the section Role: the task's own, or the template of its profile."""
    limits: budget.Budget = budget.Budget()
    files: Sequence[str] | None = None
    """The files of the work tree, for globs in the write scope; None: not known."""
    scores: Mapping[int, float] | None = None
    """How well memories match the task's text, by their numbers, where that ranks them."""
    holdout: bool = False
    """Compose without memories."""


def needs_files(task: Task) -> bool:
    """Return whether the write scope of a task has a glob, which stands for files of the work tree."""
    return any(map(globs.has_wildcard, task.write_scope))


def compose(task: Task, candidates: Sequence[PromptCandidate], given: Circumstances) -> ComposedPrompt:
    """Return the prompt of a task with the best of the candidates.

    Raises InvalidInput where the sections without memories are over the budget.
    """
    most = given.limits.memories + budget.MAX_NOTED
    ranking = select.rank(candidates, task, most, files=given.files, scores=given.scores)
    cut = budget.fit(ranking, task, given.role, given.limits)
    if given.holdout:
        cut = budget.hold_out(ranking)
    text = render.render(task, given.role, cut.lines)
    receipt = _receipt(text, cut.chosen, cut.left_out, cut.left_out_count, holdout=given.holdout)
    return ComposedPrompt(text, receipt, tuple(ranking.problems))


def describe(prompt: str, memories: Sequence[Memory], layout: Layout) -> ComposedPrompt:
    """Return a prompt that contains the text of files with its receipt. `memories` are those in it."""
    present = tuple(PromptMemory(memory.number, memory.id, memory.version, "file", memory.relevance) for memory in memories)
    return ComposedPrompt(prompt, _receipt(prompt, present, layout=layout))


def _receipt(
    text: str,
    chosen: tuple[PromptMemory, ...],
    left_out: tuple[PromptMemory, ...] = (),
    left_out_count: int = 0,
    *,
    holdout: bool = False,
    layout: Layout = "sections",
) -> Receipt:
    data = text.encode()
    return Receipt(
        hashlib.sha256(data).hexdigest(),
        len(data),
        estimate_tokens(text),
        render.FORMAT,
        chosen,
        left_out,
        left_out_count,
        holdout,
        layout,
    )
