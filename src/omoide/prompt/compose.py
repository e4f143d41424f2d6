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


def compose(task: Task, candidates: Sequence[PromptCandidate], circumstances: Circumstances) -> ComposedPrompt:
    """Return the prompt of a task with the best of the candidates, and its receipt.

    Raises InvalidInput if the sections without memories are over the budget.
    """
    most = circumstances.limits.memories + budget.MAX_NOTED
    ranking = select.rank(candidates, task, most, files=circumstances.files, scores=circumstances.scores)
    cut = budget.fit(ranking, task, circumstances.role, circumstances.limits)
    if circumstances.holdout:
        cut = budget.hold_out(ranking)
    text = render.render(task, circumstances.role, cut.lines)
    receipt = _receipt(text, cut.chosen, cut.left_out, cut.left_out_count, holdout=circumstances.holdout)
    return ComposedPrompt(text, receipt, tuple(ranking.problems))


def describe(prompt: str, memories: Sequence[Memory], layout: Layout) -> ComposedPrompt:
    """Return a prompt that contains the text of files, and its receipt.

    `memories`: those that stand in the prompt. `layout`: how the prompt was laid out.
    """
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
