"""Measure what a score means: does it tell questions that the memories answer from others, and is it a probability?

Each set of `bench.retrieval` is asked its own questions and those of other sets in the same language, which its memories do
not answer. Constants are fitted again without the set and its questions (`left out`), and compared with those of omoide.
"""

import argparse
import os
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import omoide
from bench import calibration_plot, retrieval
from bench.retrieval import Question, Task
from omoide.retrieval import confidence, constants
from omoide.retrieval.confidence import MatchEvidence
from omoide.settings import load_settings

GROUPS = {
    "locomo turns": "locomo",
    "longmemeval_pool turns": "longmemeval",
    "longmemeval_pool sessions": "longmemeval",
    "longmemeval_s_heads": "longmemeval",
    "tech_nl2bash": "nl2bash",
    "tech_cosqa": "cosqa",
    "jsquad": "jsquad",
    "jaquad": "jaquad",
    "ja_caption": "ja_caption",
}
"""The sets, and the group of each: what comes from the same data is left out together."""
ASKS = {
    "locomo": "locomo turns",
    "longmemeval": "longmemeval_pool sessions",
    "nl2bash": "tech_nl2bash",
    "cosqa": "tech_cosqa",
    "jsquad": "jsquad",
    "jaquad": "jaquad",
    "ja_caption": "ja_caption",
}
"""The set whose questions stand for a group."""
JAPANESE = {"jsquad", "jaquad", "ja_caption"}
QUESTIONS = 150
"""Of a set, at most, for each pair."""
KEPT = 0.95
"""The share of own questions that the score must keep where foreign ones are refused."""
BINS = 10
CLAIMS = {"words": (0.95, 0.75, 0.8), "embeddings": (0.97, 0.85, 0.8), "both models": (0.97, 0.85, 0.8)}
"""Mean AUC, mean share of foreign questions refused at 95 % kept, and share of them without hits at `inject_min_score`."""
MAX_ERROR = 0.1
"""The largest difference between score and share of own questions in a bin."""
MAX_LOSS = 0.01
"""The largest loss of R@10 of a set by the default of `min_score`."""

Scores = NDArray[np.float64]


class Asked(NamedTuple):
    """What one question brought."""

    evidence: MatchEvidence
    score: float
    """Of the best hit; 0 if there is none."""
    recall: float
    """R@10, of an own question."""


class Pair(NamedTuple):
    """The questions of one group asked of the memories of a set of another group, and the set's own."""

    store: str
    asks: str
    own: list[Asked]
    foreign: list[Asked]

    def involves(self, group: str) -> bool:
        return group in (GROUPS[self.store], self.asks)


class Recorder:
    """Keeps the evidence of the last question."""

    def __init__(self) -> None:
        self.last: MatchEvidence | None = None
        self.probability = confidence.probability

    def __call__(self, evidence: MatchEvidence) -> float:
        self.last = evidence
        return self.probability(evidence)


def ask(
    memory: omoide.Service,
    questions: Iterable[Question],
    ids: Mapping[int, set[str]],
    clock: list[datetime],
    recorder: Recorder,
) -> list[Asked]:
    answers = []
    for question in questions:
        clock[:] = [question.asked_at] if question.asked_at else []
        recorder.last = None
        hits = memory.recall(question.text, scope=question.scope, limit=10, min_score=0).hits
        found = retrieval.scores([ids[hit.memory.number] for hit in hits], question.relevant)["R@10"]
        evidence = recorder.last or MatchEvidence(0.0, 0, 1, semantic=False)
        answers.append(Asked(evidence, hits[0].score if hits else 0.0, found))
    return answers


def sample(questions: Sequence[Question]) -> list[Question]:
    return random.Random(5).sample(questions, min(QUESTIONS, len(questions)))


def foreign_questions(task: Task, asked: Task) -> list[Question]:
    """Return questions of another set, in the scopes of this one."""
    scopes = [*dict.fromkeys(question.scope for question in task.questions)]
    return [
        Question(question.text, scopes[place % len(scopes)], frozenset({""}), question.asked_at)
        for place, question in enumerate(sample(asked.questions))
    ]


def measure(tasks: Mapping[str, Task], embedder: str, keep: Path | None) -> tuple[list[Pair], dict[str, list[Asked]]]:
    """Return the pairs of sets in the same language, and the own questions of all sets."""
    recorder, clock = Recorder(), list[datetime]()
    pairs, own = [], {}
    confidence.probability = recorder
    try:
        for name, task in tasks.items():
            with (
                retrieval.filled_store(task, embedder, keep) as (file, ids),
                omoide.open(
                    file,
                    secrets="redact",
                    retire="manual",
                    embedder=embedder,
                    clock=lambda: clock[-1] if clock else datetime.now(UTC),
                ) as memory,
            ):
                own[name] = ask(memory, sample(task.questions), ids, clock, recorder)
                for group, asked in ASKS.items():
                    if name in GROUPS and group != GROUPS[name] and (group in JAPANESE) == (GROUPS[name] in JAPANESE):
                        foreign = foreign_questions(task, tasks[asked])
                        pairs.append(Pair(name, group, own[name], ask(memory, foreign, ids, clock, recorder)))
    finally:
        confidence.probability = recorder.probability
    return pairs, own


def features(asked: Sequence[Asked]) -> Scores:
    rows = []
    for evidence, _, _ in asked:
        size, terms = np.log(max(evidence.entries, 1)), np.log1p(evidence.terms)
        # The weight of the size is not fitted: sets of different sizes are different sets.
        share = (
            constants.HYBRID_SIZE / constants.HYBRID_FIT if evidence.semantic else constants.WORDS_SIZE / constants.WORDS_FIT
        )
        rows.append([1.0, evidence.fit + share * size, 0.0 if evidence.semantic else terms])
    return np.array(rows)


def fit(pairs: Sequence[Pair]) -> Scores:
    """Fit the constants on these pairs, each with the same weight and half of it for own questions."""
    rows = np.concatenate([features(side) for pair in pairs for side in (pair.own, pair.foreign)])
    is_own = np.concatenate(
        [np.full(len(side), side is pair.own, float) for pair in pairs for side in (pair.own, pair.foreign)]
    )
    weights = np.concatenate([np.full(len(side), 100 / len(side)) for pair in pairs for side in (pair.own, pair.foreign)])
    found = np.zeros(rows.shape[1])
    for _ in range(60):  # Newton's method
        chance = probabilities(rows, found)
        gradient = rows.T @ (weights * (chance - is_own)) + 1e-3 * found
        curvature = (rows * (weights * chance * (1 - chance))[:, None]).T @ rows + 1e-3 * np.eye(len(found))
        found -= np.linalg.solve(curvature, gradient)
    return found


def probabilities(rows: Scores, fitted: Scores) -> Scores:
    chances: Scores = 1 / (1 + np.exp(-rows @ fitted))
    return chances


def auc(own: Scores, foreign: Scores) -> float:
    """Return how likely an own question scores more than a foreign one."""
    ordered = np.sort(foreign)
    below, up_to = np.searchsorted(ordered, own, "left"), np.searchsorted(ordered, own, "right")
    return float(np.mean(below + up_to) / 2 / len(ordered))


def refused_share(own: Scores, foreign: Scores) -> float:
    """Return the share of foreign questions below the score that keeps `KEPT` of the own."""
    return float(np.mean(foreign < np.quantile(own, 1 - KEPT)))


def calibration(scored: Sequence[tuple[Scores, Scores]]) -> list[tuple[float, float]]:
    """Return for bins of equal weight the mean score and the share of own questions; each pair has the same weight."""
    sides = [(side, place == 0) for pair in scored for place, side in enumerate(pair)]
    scores = np.concatenate([side for side, _ in sides])
    is_own = np.concatenate([np.full(len(side), own, float) for side, own in sides])
    weights = np.concatenate([np.full(len(side), 1 / len(side)) for side, _ in sides])
    order = np.argsort(scores, kind="stable")
    bins = np.minimum((np.cumsum(weights[order]) / weights.sum() * BINS).astype(int), BINS - 1)
    return [
        (
            float(np.average(scores[order][part], weights=weights[order][part])),
            float(np.average(is_own[order][part], weights=weights[order][part])),
        )
        for part in (bins == place for place in range(BINS))
        if part.any()
    ]


def left_out_scores(pairs: Sequence[Pair]) -> list[tuple[Scores, Scores]]:
    """Return the scores of each pair by constants that were fitted without its set."""
    fitted = {group: fit([pair for pair in pairs if not pair.involves(group)]) for group in ASKS}
    return [
        (probabilities(features(pair.own), fitted[group]), probabilities(features(pair.foreign), fitted[group]))
        for pair in pairs
        for group in [GROUPS[pair.store]]
    ]


def own_scores(pairs: Sequence[Pair]) -> list[tuple[Scores, Scores]]:
    """Return the scores that recall gave."""
    return [
        (np.array([asked.score for asked in pair.own]), np.array([asked.score for asked in pair.foreign])) for pair in pairs
    ]


def report(mode: str, tasks: Mapping[str, Task], embedder: str, keep: Path | None) -> tuple[list[tuple[float, float]], bool]:
    """Print the tables of a mode. Return the calibration of the scores, and whether the claims are met."""
    pairs, own = measure(tasks, embedder, keep)
    settings = load_settings(environment={"OMOIDE_CONFIG": os.devnull})
    tuned, left_out = own_scores(pairs), left_out_scores(pairs)
    print(f"\n### By {mode}\n")
    print("| memories | questions of | AUC | left out | refused | left out | no hits at min_score | at inject_min_score |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for pair, scored, fitted in zip(pairs, tuned, left_out, strict=True):
        silent = [np.mean(scored[1] < least) for least in (settings.min_score, settings.inject_min_score)]
        figures = (auc(*scored), auc(*fitted), refused_share(*scored), refused_share(*fitted), *silent)
        print(f"| {pair.store} | {pair.asks} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |")
    least_auc, least_refused, least_silent = CLAIMS[mode]
    curve, curve_left_out = calibration(tuned), calibration(left_out)
    errors = [max(abs(score - share) for score, share in bins) for bins in (curve, curve_left_out)]
    silent = [
        float(np.mean([np.mean(foreign < least) for _, foreign in tuned]))
        for least in (settings.min_score, settings.inject_min_score)
    ]
    losses = {
        name: sum(asked.recall for asked in its if asked.score < settings.min_score) / len(its) for name, its in own.items()
    }
    worst = max(losses, key=losses.__getitem__)
    rows = [
        ("mean AUC", np.mean([auc(*pair) for pair in tuned]), np.mean([auc(*pair) for pair in left_out]), least_auc, 1),
        ("worst AUC", min(auc(*pair) for pair in tuned), min(auc(*pair) for pair in left_out), None, 1),
        (
            "refused at 95 % kept, mean",
            np.mean([refused_share(*pair) for pair in tuned]),
            np.mean([refused_share(*pair) for pair in left_out]),
            least_refused,
            1,
        ),
        (f"largest error of {BINS} bins", errors[0], errors[1], MAX_ERROR, -1),
        (f"no hits at min_score {settings.min_score:g}", silent[0], None, None, 1),
        (f"no hits at inject_min_score {settings.inject_min_score:g}", silent[1], None, least_silent, 1),
        (f"largest loss of R@10 by min_score ({worst})", losses[worst], None, MAX_LOSS, -1),
    ]
    return curve, print_rows(rows)


def print_rows(rows: Sequence[tuple[str, float, float | None, float | None, int]]) -> bool:
    """Print figures with their claims; a direction of -1 means at most. Return whether all are met."""
    print("\n| what | figure | left out | claim | |\n| --- | ---: | ---: | ---: | --- |")
    all_met = True
    for what, figure, without, claim, direction in rows:
        judged = figure if without is None else min(figure * direction, without * direction) * direction
        is_met = claim is None or round(judged, 4) * direction >= claim * direction
        shown = "" if claim is None else f"{'≥' if direction > 0 else '≤'} {claim:g}"
        left_out = "" if without is None else f"{without:.3f}"
        print(f"| {what} | {figure:.3f} | {left_out} | {shown} | {'✓' if is_met else '✗'} |")
        all_met = all_met and is_met
    return all_met


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, help="write the calibration of the scores to this SVG file")
    parser.add_argument("--english", action="store_true", help="only with the bundled model and the one for English")
    parser.add_argument("--keep", type=Path, help="keep the stores in this directory, and use those that are there")
    options = parser.parse_args(arguments)
    if not retrieval.DATA.is_dir():
        print("nothing to measure: the evaluation data is not in ../shared/data beside this checkout")
        return 0
    tasks = {task.name: task for task in retrieval.tasks()}
    curves, all_met = {}, True
    modes = {"both models": "bundled+english"} if options.english else {"words": "off", "embeddings": "bundled"}
    for mode, embedder in modes.items():
        curves[mode], is_met = report(mode, tasks, embedder, options.keep)
        all_met = all_met and is_met
    if options.plot:
        calibration_plot.draw(options.plot, curves)
    return 0 if all_met else 1


if __name__ == "__main__":
    sys.exit(main())
