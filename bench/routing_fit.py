"""Fit the constants of `routing/scoring.py` on the messages that may be tuned on, and check them on parts left out.

The strengths are those of a conditional logit: of the projects and of no project, the one that a message belongs to should
have the largest share of the sum of exponentials. That a project is new is not fitted: all have ten memories.
"""

import random
import tempfile
from collections.abc import Sequence
from math import log1p
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import omoide
from bench.routing import EMBEDDERS, TUNED_ON, fill, read_lines
from omoide import Project, Service
from omoide.routing import scoring
from omoide.routing.cues import find_cues
from omoide.routing.names import find_mentions

Rows = NDArray[np.float64]
FOLDS, STEPS, RATE, PENALTY = 5, 400, 0.1, 0.01
_LABELS = (
    *("constant", "shared", "named", "memory", "description"),
    *("current", "work", "goes on", "changes topic", "private", "general", "greeting", "unrelated"),
)
_NONE_CUES = 4
"""Of those for no project, the first, which are fitted."""
SECONDARY = 0.3
"""How much of a message belongs to the projects that are acceptable beside its own."""


class Example(NamedTuple):
    """A message: what speaks for each alternative, the last of which is no project, and how right each is."""

    rows: Rows
    target: Rows


def read_examples(memory: Service, messages: Sequence[dict[str, Any]]) -> list[Example]:
    projects = memory.projects()
    memory.route("anything")  # the private method that is called below loads with its verb
    return [_read_example(memory, message, projects) for message in messages]


def _read_example(memory: Service, message: dict[str, Any], projects: Sequence[Project]) -> Example:
    paths = [project.path for project in projects]
    matches = memory._match_projects(message["message"], projects)  # noqa: SLF001 - what `route` scores
    shared = scoring.shared_terms(matches)
    named = [one.path for one in find_mentions(message["message"], paths) if not one.compared]
    cues = find_cues(message["message"])
    none_cues = scoring.none_cues(matches, scoring.MessageContext(named, message["current"], cues))[:_NONE_CUES]
    rows = []
    for path in paths:
        near = matches.projects[path].nearness
        cosines = (0.0, 0.0) if near is None else (near.memory, near.description)
        is_current = path == message["current"]
        stay_cues = scoring.stay_cues(matches, cues) if is_current else [0.0] * len(scoring.STAY_CUES)
        common = [1.0, log1p(sum(shared[path].values())), path in named, *cosines]
        rows.append([*common, is_current, *stay_cues, *[0.0] * len(none_cues)])
    rows.append([*[0.0] * (len(rows[0]) - len(none_cues)), *none_cues])
    right = [message["primary"], *message["also"]]
    shares = [1.0] if len(right) == 1 else [1 - SECONDARY, *[SECONDARY / (len(right) - 1)] * (len(right) - 1)]
    target = np.zeros(len(rows))
    for path, share in zip(right, shares, strict=True):
        target[len(paths) if path is None else paths.index(path)] = share
    return Example(np.array(rows, dtype=float), target)


def probabilities(example: Example, weights: Rows) -> Rows:
    strengths = example.rows @ weights
    shares = np.exp(strengths - strengths.max())
    result: Rows = shares / shares.sum()
    return result


def fit(examples: Sequence[Example]) -> Rows:
    """Return the weights that make the right alternatives likeliest, by gradient ascent with Adam."""
    scale = np.concatenate([example.rows for example in examples]).std(axis=0)
    scale[0] = 1.0
    scale[scale == 0] = 1.0  # no vectors
    weights, mean, square = (np.zeros(len(scale)) for _ in range(3))
    free = np.array([label not in ("constant", "current") for label in _LABELS], dtype=float)
    for step in range(1, STEPS + 1):
        slope = sum(
            (example.rows / scale).T @ (example.target - probabilities(example, weights / scale)) for example in examples
        )
        slope = slope / len(examples) - PENALTY * free * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        weights = weights + RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    result: Rows = weights / scale
    return result


def share_right(examples: Sequence[Example], weights: Rows) -> float:
    return float(np.mean([example.target[probabilities(example, weights).argmax()] > 0 for example in examples]))


def cross_validate(examples: Sequence[Example]) -> float:
    """Return the share of messages that are right with weights fitted on the other folds."""
    order = list(examples)
    random.Random(1).shuffle(order)
    right = 0.0
    for fold in range(FOLDS):
        held = order[fold::FOLDS]
        rest = [example for place, example in enumerate(order) if place % FOLDS != fold]
        right += share_right(held, fit(rest)) * len(held)
    return right / len(order)


def print_fit() -> None:
    """Print the constants that fit best, and how often they are right."""
    for embedder, name in EMBEDDERS.items():
        with (
            tempfile.TemporaryDirectory() as directory,
            omoide.open(Path(directory, "memory.db"), tree_root="off", embedder=embedder) as memory,
        ):
            fill(memory)
            examples = read_examples(memory, [message for name in TUNED_ON for message in read_lines(f"{name}.jsonl")])
        weights = fit(examples)
        print(f"{name}: {', '.join(f'{label} {weight:.2f}' for label, weight in zip(_LABELS, weights, strict=True))}")
        print(f"  right: {share_right(examples, weights):.1%} of all, {cross_validate(examples):.1%} of those left out")
