"""Fit the weights by which the meter judges a memory, and measure them on sessions that they were not fitted on."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.meter import read_sessions, work_of
from omoide import MemoryUse
from omoide.lifecycle.memory_use import find_traces, judge_clear, read_sentences
from omoide.lifecycle.use_evidence import CLEAR, UseEvidence, measure

_RIDGE = 30.0
"""How much weights are drawn to 0, on evidence of unit variance."""
_STEPS, _RATE = 4_000, 0.5
_FOLDS = 10
_USES = (MemoryUse.IGNORED, MemoryUse.USED, MemoryUse.CONTRADICTED)


class Measured(NamedTuple):
    """A memory in a session: of which set and session, what became of it, and what can be seen of that."""

    name: str
    session: int
    use: MemoryUse
    clear: MemoryUse | None
    """What one sign tells, without weighing."""
    evidence: UseEvidence


class Weights(NamedTuple):
    """Of each use but the first, against the first: a row of weights, and a bias."""

    rows: NDArray[np.float64]
    biases: NDArray[np.float64]

    def probabilities(self, evidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return those of each use, a row for each row of evidence."""
        odds = np.exp(np.c_[np.zeros(len(evidence)), evidence @ self.rows.T + self.biases])
        return odds / odds.sum(axis=1, keepdims=True)


def print_fit(names: Sequence[str]) -> None:
    """Print how often judgements are right on sessions that the weights were not fitted on, and the weights of all."""
    measured = [each for name in names for each in _measure(name)]
    folds = np.array([each.session % _FOLDS for each in measured])
    odds = np.zeros((len(measured), len(_USES)))
    for fold in range(_FOLDS):
        weights = fit([each for each, other in zip(measured, folds, strict=True) if other != fold])
        chosen = folds == fold
        odds[chosen] = weights.probabilities(np.array([each.evidence for each in measured])[chosen])
    for place, each in enumerate(measured):
        if each.clear is not None:
            odds[place] = [float(use is each.clear) for use in _USES]
    uses = np.array([_USES.index(each.use) for each in measured])
    print("\n| set, sessions left out in tenths | least probability | judged | right | of those judged contradicted |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in (*names, "all"):
        part = np.array([name in (each.name, "all") for each in measured])
        for least in sorted({0.0, 0.6, 0.7, CLEAR}):
            is_judged = part & (odds.max(axis=1) >= least)
            found = odds.argmax(axis=1)
            right, broken = is_judged & (found == uses), is_judged & (found == len(_USES) - 1)
            shares = f"{is_judged.sum() / part.sum():.0%} | {right.sum() / max(1, is_judged.sum()):.1%}"
            print(f"| {name} | {least:.2f} | {shares} | {(broken & right).sum()} of {broken.sum()} |")
    weights = fit(measured)
    for use, row, bias in zip(_USES[1:], weights.rows, weights.biases, strict=True):
        print(f"\n    MemoryUse.{use.name}: UseEvidence(")
        print("\n".join(f"        {field}={weight:.2f}," for field, weight in zip(UseEvidence._fields, row, strict=True)))
        print(f"    ),\nbias {bias:.2f}")


def _measure(name: str) -> list[Measured]:
    found = []
    for number, session in enumerate(read_sessions(name)):
        work = work_of(session)
        for memory, use in session.memories.items():
            traces = find_traces(memory, read_sentences(memory), work)
            found.append(Measured(name, number, use, judge_clear(traces), measure(memory, work, traces)))
    return found


def fit(measured: Sequence[Measured]) -> Weights:
    """Return the weights of a multinomial logistic model, by gradient descent."""
    kept = [each for each in measured if each.clear is None]
    rows = np.array([each.evidence for each in kept])
    uses = np.eye(len(_USES))[[_USES.index(each.use) for each in kept]]
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    inputs = np.c_[(rows - mean) / deviation, np.ones(len(rows))]
    found = np.zeros((inputs.shape[1], len(_USES)))
    drawn = np.full((inputs.shape[1], 1), _RIDGE)
    drawn[-1] = 0.0  # the biases are free
    for _ in range(_STEPS):
        odds = np.exp(inputs @ found)
        odds /= odds.sum(axis=1, keepdims=True)
        found -= _RATE * (inputs.T @ (odds - uses) + drawn * found) / len(rows)
    against = (found[:, 1:] - found[:, :1]).T
    weights = against[:, :-1] / deviation
    return Weights(weights, against[:, -1] - weights @ mean)
