"""Draw how scores compare with what they stand for, as SVG: a perfect probability lies on the diagonal."""

from collections.abc import Mapping, Sequence
from pathlib import Path

SIDE, LEFT, TOP, RIGHT, BOTTOM = 360, 76, 72, 190, 60
STYLES = (("#b45309", ""), ("#1d4ed8", "6 4"))
STEPS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def _place(score: float, share: float) -> tuple[float, float]:
    return LEFT + score * SIDE, TOP + (1 - share) * SIDE


def draw(file: Path, curves: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Write a chart to `file`: for each curve, its bins as mean score and share of questions that can be answered."""
    width, height = LEFT + SIDE + RIGHT, TOP + SIDE + BOTTOM
    title = "Score and share of questions that the memories answer"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="30" font-size="16" font-weight="bold" fill="#111827">{title}</text>',
        f'<text x="{LEFT}" y="50" fill="#4b5563">bins of equal count; the nearer to the line, the better</text>',
    ]
    for step in STEPS:
        x, y = _place(step, step)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + SIDE}" y2="{y:.1f}" stroke="#e5e7eb"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#4b5563">{step:g}</text>')
        parts.append(f'<text x="{x:.1f}" y="{TOP + SIDE + 20}" text-anchor="middle" fill="#4b5563">{step:g}</text>')
    parts.append(f'<line x1="{LEFT}" y1="{TOP + SIDE}" x2="{LEFT + SIDE}" y2="{TOP}" stroke="#9ca3af"/>')
    label = f'<text x="{LEFT + SIDE / 2}" y="{height - 16}" text-anchor="middle" fill="#4b5563">score of the best hit</text>'
    parts.append(label)
    for place, ((name, curve), (colour, dashes)) in enumerate(zip(curves.items(), STYLES, strict=False)):
        points = [_place(score, share) for score, share in curve]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"{dashed}/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in points]
        parts.append(f'<text x="{LEFT + SIDE + 16}" y="{TOP + 20 + 20 * place}" fill="{colour}">by {name}</text>')
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")
