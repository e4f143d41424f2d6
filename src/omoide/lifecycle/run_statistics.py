"""Compare the outcomes of runs with memories and of runs without: shares and durations, each with an interval. Pure."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from omoide.model import Run, RunResult

FEWEST = 10
"""Runs with an outcome that each side needs before the two are compared."""
_Z = 1.96
"""Standard deviations of an interval that is right 19 times out of 20."""
_CREDITS = {RunResult.SUCCESS: 1.0, RunResult.PARTIAL: 0.5, RunResult.FAILURE: 0.0}


class Interval(NamedTuple):
    """An estimate with its 95 % confidence interval."""

    low: float
    value: float
    high: float


class RunGroup(NamedTuple):
    """Runs with an outcome."""

    runs: int
    successes: float
    """A partial success counts half."""
    success: Interval | None
    """The share of successes; None without runs."""
    seconds: Interval | None
    """The typical duration: the geometric mean; None without durations."""


class RunReport(NamedTuple):
    """Whether memories help in a project."""

    with_memories: RunGroup
    without: RunGroup
    """Runs of the holdout."""
    pending: int
    """Runs without an outcome, which are left out."""
    success: Interval | None
    """The difference of the shares of success; None where there is too little data."""
    seconds: Interval | None
    """The ratio of the durations: below 1, runs with memories are quicker."""
    conclusion: str


def report(runs: Iterable[Run]) -> RunReport:
    """Compare the runs that have an outcome."""
    sides: tuple[list[Run], list[Run]] = ([], [])
    pending = 0
    for run in runs:
        if run.outcome is None:
            pending += 1
        else:
            sides[run.receipt.holdout].append(run)
    with_memories, without = (_group(side) for side in sides)
    success, seconds = _compare_success(with_memories, without), _compare_seconds(with_memories, without)
    return RunReport(with_memories, without, pending, success, seconds, _conclude(with_memories, without, success, seconds))


def _group(runs: Sequence[Run]) -> RunGroup:
    outcomes = [run.outcome for run in runs if run.outcome is not None]
    successes = sum(_CREDITS[outcome.result] for outcome in outcomes)
    logs = [math.log(max(outcome.duration, 0.001)) for outcome in outcomes if outcome.duration is not None]
    return RunGroup(len(outcomes), successes, wilson(successes, len(outcomes)) if outcomes else None, _geometric_mean(logs))


def wilson(successes: float, count: int) -> Interval:
    """Return the share of successes with Wilson's interval, which is sound for few runs too."""
    share = successes / count
    middle = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    half = _Z / (1 + _Z**2 / count) * math.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    return Interval(max(0.0, middle - half), share, min(1.0, middle + half))


def _compare_success(one: RunGroup, other: RunGroup) -> Interval | None:
    """The difference of two shares, by Newcombe's method on their Wilson intervals."""
    first, second = one.success, other.success
    if first is None or second is None or min(one.runs, other.runs) < FEWEST:
        return None
    difference = first.value - second.value
    below = math.hypot(first.value - first.low, second.high - second.value)
    above = math.hypot(first.high - first.value, second.value - second.low)
    return Interval(difference - below, difference, difference + above)


def _compare_seconds(one: RunGroup, other: RunGroup) -> Interval | None:
    first, second = one.seconds, other.seconds
    if first is None or second is None or min(one.runs, other.runs) < FEWEST:
        return None
    spread = math.hypot(math.log(first.high / first.value), math.log(second.high / second.value))
    ratio = first.value / second.value
    return Interval(ratio / math.exp(spread), ratio, ratio * math.exp(spread))


def _geometric_mean(logs: Sequence[float]) -> Interval | None:
    if not logs:
        return None
    mean = sum(logs) / len(logs)
    spread = math.sqrt(sum((each - mean) ** 2 for each in logs) / max(1, len(logs) - 1))
    half = _Z * spread / math.sqrt(len(logs))
    return Interval(math.exp(mean - half), math.exp(mean), math.exp(mean + half))


def _conclude(one: RunGroup, other: RunGroup, success: Interval | None, seconds: Interval | None) -> str:
    if not other.runs:
        return "no runs without memories to compare with: set `holdout` to a share such as 0.1"
    if success is None:
        return (
            f"too little data: {one.runs} runs with memories and {other.runs} without, at least {FEWEST} of each are needed"
        )
    if success.low > 0:
        return f"memories help: {success.low * 100:.0f} to {success.high * 100:.0f} points more success"
    if success.high < 0:
        return f"memories harm: {-success.high * 100:.0f} to {-success.low * 100:.0f} points less success"
    if seconds is not None and seconds.high < 1:
        return "no difference in success is shown yet; runs with memories are quicker"
    return "no difference is shown yet: more runs would narrow the intervals"
