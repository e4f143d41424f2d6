"""Choose the memories of a prompt, in an order that depends on nothing but the memories and the task. Pure."""

from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple

from omoide.model.prompt import PromptCandidate, PromptMemory, Rule, Task
from omoide.prompt.globs import TagMatcher, resolve_scope


class Ranked(NamedTuple):
    """A candidate in its place, and why it is there."""

    candidate: PromptCandidate
    path: str
    """The path of the write scope that a glob tag matches; an empty text if none does."""
    score: float
    """How well it matches the task's text; 0 where that does not count."""

    def note(self, rule: Rule | None = None, excess: int = 0) -> PromptMemory:
        """Return what the receipt says of this candidate.

        `rule`: why it was left out; None: it was chosen, by the rule that ranked it. `excess`: by how much it was over the
        budget.
        """
        one = self.candidate
        chosen: Rule = "scope" if self.path else "task" if self.score else "relevance"
        return PromptMemory(
            one.number, one.id, one.version, rule or chosen, one.relevance, self.path, round(self.score, 4), excess
        )


class Ranking(NamedTuple):
    """The best candidates, in their order."""

    best: list[Ranked]
    total: int
    """How many candidates there were."""
    problems: list[str]
    """What is wrong with globs."""


def rank(
    candidates: Sequence[PromptCandidate],
    task: Task,
    most: int,
    *,
    files: Sequence[str] | None = None,
    scores: Mapping[int, float] | None = None,
) -> Ranking:
    """Order candidates: first those with a glob tag that matches the task's write scope, then by relevance, highest first.

    `most`: how many to return at most. `files`: the files of the work tree, for globs in the write scope; None: not known.
    `scores`: how well memories match the text of the task, by number; the match then counts before the relevance. What is
    equal in all this is ordered by type, text and id, so that neither the order in which memories were stored nor their
    numbers matter.
    """
    matcher = TagMatcher(resolve_scope(task.write_scope, files))
    scores = scores or {}
    match = matcher.match
    paths = [match(candidate.tags) if candidate.tags else "" for candidate in candidates]
    ranks = [
        (not path, -scores.get(candidate.number, 0.0), -candidate.relevance)
        for path, candidate in zip(paths, candidates, strict=True)
    ]
    places = _best(ranks, candidates, most)
    best = [Ranked(candidates[n], paths[n], scores.get(candidates[n].number, 0.0)) for n in places]
    return Ranking(best, len(candidates), matcher.problems)


def _best(ranks: Sequence[tuple[bool, float, float]], candidates: Sequence[PromptCandidate], most: int) -> list[int]:
    """The places of the best. Texts are compared only where ranks are equal, and only as far as they are needed."""
    if not most:
        return []
    last = sorted(ranks)[:most][-1:]
    wanted = [place for place, rank in enumerate(ranks) if [rank] <= last]
    return nsmallest(most, wanted, key=lambda place: (ranks[place], *_order(candidates[place])))


def _order(candidate: PromptCandidate) -> tuple[str, str, str]:
    return candidate.type, candidate.content, candidate.id
