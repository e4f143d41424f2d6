"""Fit the weights by which the meter tells used memories from ignored ones, and measure them on sets left out."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.meter import read_sessions, work_of
from omoide import MemoryUse
from omoide.lifecycle.memory_contradiction import find_contradiction
from omoide.lifecycle.memory_use import measure_use, read_sentences
from omoide.lifecycle.use_evidence import UseEvidence

_RIDGE = 3.0
"""How much weights are drawn to 0, on evidence of unit variance."""
_STEPS = 60


class Measured(NamedTuple):
    """A memory in a session: in which set, what became of it, and what can be seen of that."""

    name: str
    use: MemoryUse
    is_broken: bool
    """Whether the rules find a contradiction."""
    evidence: UseEvidence


def print_fit(names: Sequence[str]) -> None:
    """Print how often judgements are right on each set with the weights of the others, and the weights fitted on all."""
    measured = [each for name in names for each in _measure(name)]
    print("\n| set left out | right | of those used or ignored |\n| --- | ---: | ---: |")
    for name in names:
        weights, bias = fit([each for each in measured if each.name != name])
        left_out = [each for each in measured if each.name == name]
        right = [_judge(each, weights, bias) is each.use for each in left_out]
        other = [good for good, each in zip(right, left_out, strict=True) if each.use is not MemoryUse.CONTRADICTED]
        cells = (f"{sum(part)} of {len(part)} ({sum(part) / len(part):.0%})" for part in (right, other))
        print(f"| {name} | {' | '.join(cells)} |")
    weights, bias = fit(measured)
    print("\n" + "\n".join(f"{field}={weight:.2f}" for field, weight in zip(UseEvidence._fields, weights, strict=True)))
    print(f"bias {bias:.2f}")


def _measure(name: str) -> list[Measured]:
    found = []
    for session in read_sessions(name):
        work = work_of(session)
        for memory, use in session.memories.items():
            sentences = read_sentences(memory)
            is_broken = bool(find_contradiction(memory, sentences, work))
            found.append(Measured(name, use, is_broken, measure_use(memory, sentences, work)[0]))
    return found


def _judge(each: Measured, weights: NDArray[np.float64], bias: float) -> MemoryUse:
    if each.is_broken:
        return MemoryUse.CONTRADICTED
    return MemoryUse.USED if float(weights @ np.array(each.evidence)) + bias > 0 else MemoryUse.IGNORED


def fit(measured: Sequence[Measured]) -> tuple[NDArray[np.float64], float]:
    """Return the weights and the bias of a logistic model of used against ignored, by Newton's method."""
    kept = [each for each in measured if each.use is not MemoryUse.CONTRADICTED]
    rows = np.array([each.evidence for each in kept])
    used = np.array([each.use is MemoryUse.USED for each in kept], dtype=float)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    inputs = np.c_[(rows - mean) / deviation, np.ones(len(rows))]
    ridge = np.diag([_RIDGE] * rows.shape[1] + [0.0])
    found = np.zeros(inputs.shape[1])
    for _ in range(_STEPS):
        odds = 1 / (1 + np.exp(-inputs @ found))
        slope = inputs.T @ (odds - used) + ridge @ found
        curve = inputs.T @ (inputs * (odds * (1 - odds))[:, None]) + ridge
        found -= np.linalg.solve(curve, slope)
    weights = found[:-1] / deviation
    return weights, float(found[-1] - weights @ mean)
