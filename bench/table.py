"""One table for all benchmarks: what was measured, what it is compared with, and the claim it must meet."""

from collections.abc import Sequence
from typing import NamedTuple


class Row(NamedTuple):
    what: str
    ours: str
    floor: str
    ratio: str
    claim: str
    kept: bool


def claim(what: str, ours: float, floor: float, most: float, unit: str, *, digits: int = 2) -> Row:
    """A row for `ours` against a floor measured in the same run: at most so many times as much."""
    ratio = ours / floor
    return Row(
        what, f"{ours:.{digits}f} {unit}", f"{floor:.{digits}f} {unit}", f"{ratio:.2f}x", f"≤ {most:g}x", ratio <= most
    )


def limit(what: str, ours: float, most: float, unit: str) -> Row:
    return Row(what, f"{ours:.1f} {unit}", "", "", f"≤ {most:g} {unit}", ours <= most)


def printed(title: str, rows: Sequence[Row]) -> bool:
    """Prints the rows as Markdown; False when a claim is not kept."""
    print(f"\n### {title}\n")
    print("| what | omoide | floor | ratio | claim | |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    for row in rows:
        print(f"| {row.what} | {row.ours} | {row.floor} | {row.ratio} | {row.claim} | {'✓' if row.kept else '✗'} |")
    return all(row.kept for row in rows)


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
