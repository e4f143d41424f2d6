"""A chart as SVG, drawn by hand: two logarithmic axes, a line for each thing compared."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 80, 200, 48, 56
COLOURS = ("#c2410c", "#fb923c", "#1d4ed8", "#93c5fd")

Line = Sequence[tuple[float, float]]


def drawn(file: Path, title: str, across: str, up: str, lines: Mapping[str, Line]) -> None:
    """Writes the chart; the first lines are drawn strongest."""
    xs = [x for line in lines.values() for x, _ in line]
    ys = [y for line in lines.values() for _, y in line]
    low, high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
    first, last = math.log10(min(xs)), math.log10(max(xs))

    def place(x: float, y: float) -> tuple[float, float]:
        right = (math.log10(x) - first) / ((last - first) or 1)
        top = (math.log10(y) - low) / ((high - low) or 1)
        return LEFT + right * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - top * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="26" font-size="16" font-weight="bold">{title}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 14}" text-anchor="middle">{across}</text>',
        f'<text transform="translate(20 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">{up}</text>',
    ]
    for power in range(low, high + 1):
        _, y = place(min(xs), 10.0**power)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#e5e7eb"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for x in sorted(set(xs)):
        left, bottom = place(x, 10.0**low)
        parts.append(f'<text x="{left:.1f}" y="{bottom + 20:.1f}" text-anchor="middle">{x:,.0f}</text>')
    # Names beside the ends of their lines, pushed apart where they would overlap.
    names = sorted((place(*line[-1])[1], name) for name, line in lines.items())
    taken = 0.0
    for y, name in names:
        taken = max(y + 4, taken + 18)
        colour = COLOURS[list(lines).index(name) % len(COLOURS)]
        parts.append(f'<text x="{WIDTH - RIGHT + 12}" y="{taken:.1f}" fill="{colour}">{name}</text>')
    for (_, line), colour in zip(lines.items(), COLOURS, strict=False):
        points = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in line)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        parts += ['<circle cx="{:.1f}" cy="{:.1f}" r="3.5" fill="{}"/>'.format(*place(x, y), colour) for x, y in line]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")
