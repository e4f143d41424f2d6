"""Simulate runs whose outcomes depend on the memories in their prompts, and measure what their relevance learns.

Of 30 memories, 5 help by .2, 5 harm by .2, and the rest does nothing; without any of them half of the runs succeed.
Each prompt has 10 memories. What is learned is right if every harmful memory ranks below every helpful one.
"""

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from omoide.lifecycle import relevance
from omoide.model import LearnedRelevance, OutcomeEvidence

MEMORIES, IN_PROMPT, RUNS, SEEDS = 30, 10, 200, 200
EFFECTS = (0.2,) * 5 + (-0.2,) * 5 + (0.0,) * 20
BASE = 0.5
CLAIM = 0.95
STEPS = (10, 25, 50, 100, 150, 200)
WIDTH = 50

Choose = Callable[[random.Random, Sequence[float]], Sequence[int]]


class Learned(NamedTuple):
    """What one simulation learned after some runs."""

    right: bool
    """Whether every harmful memory ranks below every helpful one."""
    pairs: float
    """The share of pairs of a helpful and a harmful memory that are in the right order."""
    means: tuple[float, float, float]
    """The mean relevance of the helpful, the harmful and the other memories."""


def different_tasks(chance: random.Random, _: Sequence[float]) -> Sequence[int]:
    """Choose memories as tasks about different parts of a project do."""
    return chance.sample(range(MEMORIES), IN_PROMPT)


def same_task(_: random.Random, values: Sequence[float]) -> Sequence[int]:
    """Choose the most relevant memories, as for one task that is repeated."""
    return sorted(range(MEMORIES), key=lambda memory: (-values[memory], memory))[:IN_PROMPT]


def simulate(seed: int, choose: Choose) -> dict[int, Learned]:
    """Run one simulation, and return what was learned after each of the steps."""
    chance = random.Random(seed)
    effects = list(EFFECTS)
    chance.shuffle(effects)
    evidence: list[list[OutcomeEvidence]] = [[] for _ in effects]
    known = [LearnedRelevance(memory, 0.5, 0.5, 0) for memory in range(MEMORIES)]
    learned = {}
    for tick in range(1, RUNS + 1):
        values = [relevance.relevance(each, "bench", tick - 1) for each in known]
        prompt = choose(chance, values)
        succeeded = chance.random() < BASE + sum(effects[memory] for memory in prompt)
        for memory in prompt:
            evidence[memory].append(OutcomeEvidence("bench", tick, float(succeeded), 1.0))
            known[memory] = relevance.learn(known[memory], evidence[memory])
        if tick in STEPS:
            learned[tick] = _judge(effects, [relevance.relevance(each, "bench", tick) for each in known])
    return learned


def _judge(effects: Sequence[float], values: Sequence[float]) -> Learned:
    helpful, harmful, others = (
        [value for value, effect in zip(values, effects, strict=True) if (effect > 0) - (effect < 0) == sign]
        for sign in (1, -1, 0)
    )
    pairs = [low < high for low in harmful for high in helpful]
    means = tuple(sum(group) / len(group) for group in (helpful, harmful, others))
    return Learned(all(pairs), sum(pairs) / len(pairs), (means[0], means[1], means[2]))


def _plot(rows: Sequence[tuple[int, Sequence[Learned]]]) -> None:
    print(f"\nmean relevance after so many runs: + helpful, - harmful, o others\n\n     0{'0.5'.center(WIDTH - 2)}1")
    for tick, found in rows:
        line = [" "] * (WIDTH + 1)
        for mark, group in (("o", 2), ("-", 1), ("+", 0)):
            line[round(WIDTH * sum(each.means[group] for each in found) / len(found))] = mark
        print(f"{tick:>4} |{''.join(line)}|")


def measure(choose: Choose, seeds: int) -> list[tuple[int, Sequence[Learned]]]:
    """Return what every seed learned, by steps."""
    runs = [simulate(seed, choose) for seed in range(seeds)]
    return [(tick, [run[tick] for run in runs]) for tick in STEPS]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learning", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    seeds = parser.parse_args().seeds
    print("| prompts | seeds | runs | all in the right order | pairs in the right order | claim | |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    different = measure(different_tasks, seeds)
    met = True
    for name, rows, claim in (("of different tasks", different, CLAIM), ("of one task", measure(same_task, seeds), None)):
        found = rows[-1][1]
        right = sum(each.right for each in found) / len(found)
        is_met = claim is None or right >= claim
        met = met and is_met
        wanted = "" if claim is None else f"≥ {claim:.0%}"
        mark = "" if claim is None else "✓" if is_met else "✗"
        pairs = sum(each.pairs for each in found) / len(found)
        print(f"| {name} | {seeds} | {rows[-1][0]} | {right:.1%} | {pairs:.1%} | {wanted} | {mark} |")
    _plot(different)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
