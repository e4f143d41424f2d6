"""Draw a line chart with two logarithmic axes as SVG."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

WIDTH, HEIGHT = 760, 430
LEFT, RIGHT, TOP, BOTTOM = 76, 176, 72, 56
# Dark enough for text on white. The background is painted, so that the chart looks the same on a dark page.
STYLES = (("#b45309", ""), ("#b91c1c", "6 4"), ("#1d4ed8", ""), ("#0f766e", "6 4"))
LABEL_HEIGHT = 18

Line = Sequence[tuple[float, float]]


class _Axes(NamedTuple):
    """The ranges of both axes, as powers of ten."""

    left: float
    right: float
    bottom: int
    top: int

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point is drawn."""
        across = (math.log10(x) - self.left) / ((self.right - self.left) or 1)
        up = (math.log10(y) - self.bottom) / ((self.top - self.bottom) or 1)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)


def draw(file: Path, title: str, x_label: str, y_label: str, lines: Mapping[str, Line]) -> None:
    """Write a chart with at most four lines to `file`; `lines` maps a line's name to its points, ascending by x."""
    xs = [x for line in lines.values() for x, _ in line]
    ys = [y for line in lines.values() for _, y in line]
    axes = _Axes(math.log10(min(xs)), math.log10(max(xs)), math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys))))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
        f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="30" font-size="16" font-weight="bold" fill="#111827">{title}</text>',
        f'<text x="{LEFT}" y="50" fill="#4b5563">{y_label}; both axes are logarithmic, lower is better</text>',
        *_grid(axes, sorted(set(xs))),
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 14}" text-anchor="middle" fill="#4b5563">{x_label}</text>',
        *_curves(axes, lines),
        *_names(axes, lines),
        "</svg>",
        "",
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(parts), encoding="utf-8")


def _grid(axes: _Axes, xs: Sequence[float]) -> list[str]:
    parts = []
    for power in range(axes.bottom, axes.top + 1):
        _, y = axes.place(xs[0], 10.0**power)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#e5e7eb"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#4b5563">{10.0**power:,g}</text>')
    for x in xs:
        left, bottom = axes.place(x, 10.0**axes.bottom)
        parts.append(f'<text x="{left:.1f}" y="{bottom + 20:.1f}" text-anchor="middle" fill="#4b5563">{x:,.0f}</text>')
    return parts


def _curves(axes: _Axes, lines: Mapping[str, Line]) -> list[str]:
    parts = []
    for line, (colour, dashes) in zip(lines.values(), STYLES, strict=False):
        points = [axes.place(x, y) for x, y in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"{dashed}/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in points]
    return parts


def _names(axes: _Axes, lines: Mapping[str, Line]) -> list[str]:
    """Name each line beside its end, with its last value; names that would overlap are moved down."""
    ends = sorted(
        (axes.place(*line[-1])[1], name, line[-1][1], colour)
        for (name, line), (colour, _) in zip(lines.items(), STYLES, strict=False)
    )
    parts, lowest = [], 0.0
    for y, name, value, colour in ends:
        lowest = max(y + 4, lowest + LABEL_HEIGHT)
        shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        parts.append(f'<text x="{WIDTH - RIGHT + 12}" y="{lowest:.1f}" fill="{colour}">{name}: {shown}</text>')
    return parts
