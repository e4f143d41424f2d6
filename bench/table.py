"""The table that every benchmark of speed and size prints: figure, baseline, ratio and claim."""

from collections.abc import Sequence
from typing import NamedTuple


class Row(NamedTuple):
    what: str
    ours: str
    baseline: str
    ratio: str
    claim: str
    is_met: bool


def ratio(what: str, ours: float, baseline: float, most: float, unit: str, *, digits: int = 2) -> Row:
    """Return the row of a figure that may be at most `most` times a baseline measured in the same run."""
    times = ours / baseline
    return Row(
        what, f"{ours:.{digits}f} {unit}", f"{baseline:.{digits}f} {unit}", f"{times:.2f}x", f"≤ {most:g}x", times <= most
    )


def limit(what: str, ours: float, most: float, unit: str) -> Row:
    """Return the row of a figure that may be at most `most`, in the same unit."""
    return Row(what, f"{ours:.1f} {unit}", "", "", f"≤ {most:g} {unit}", ours <= most)


def print_table(title: str, rows: Sequence[Row]) -> bool:
    """Print the rows as a Markdown table. Return False if a claim is not met."""
    print(f"\n### {title}\n")
    print("| what | omoide | baseline | ratio | claim | |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    for row in rows:
        print(f"| {row.what} | {row.ours} | {row.baseline} | {row.ratio} | {row.claim} | {'✓' if row.is_met else '✗'} |")
    return all(row.is_met for row in rows)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share (0 to 1) of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
