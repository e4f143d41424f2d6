"""The meter as a bar chart in SVG: one bar for each memory, divided into used, ignored and contradicted."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from omoide.interfaces.cli.output import truncate

if TYPE_CHECKING:
    from omoide.service.meter import MeterRow

_WIDTH, _ROW, _TOP, _LEFT, _RIGHT = 860, 26, 64, 330, 60
_COLOURS = (("used", "#0f766e"), ("ignored", "#94a3b8"), ("contradicted", "#b91c1c"), ("not judged", "#e2e8f0"))
_MARGIN, _GAP = 16, 8
_LONGEST = 40
"""Columns of a label: as many of usual text have room before the bars, Latin and Japanese."""


def draw_meter(rows: "Sequence[MeterRow]") -> str:
    """Return the chart; the length of a bar is the number of prompts and session starts."""
    height = _TOP + _ROW * max(1, len(rows)) + 24
    most = max((row.times for row in rows), default=1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="13">',
        "<title>Memories in prompts and session starts, and whether agents used them</title>",
        f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
        '<text x="16" y="26" font-size="15" font-weight="bold" fill="#0f172a">Memories in prompts and session starts</text>',
        *_legend(),
    ]
    for place, row in enumerate(rows):
        parts += _bar(row, _TOP + place * _ROW, most)
    return "\n".join([*parts, "</svg>", ""])


def _legend() -> list[str]:
    parts: list[str] = []
    for place, (name, colour) in enumerate(_COLOURS):
        x = 16 + place * 130
        parts.append(f'<rect x="{x}" y="38" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{x + 18}" y="48" fill="#334155">{name}</text>')
    return parts


def _bar(row: "MeterRow", y: int, most: int) -> list[str]:
    room = _WIDTH - _LEFT - _RIGHT
    topic = "".join(character if character.isprintable() else " " for character in row.memory.topic)
    label = escape(truncate(f"#{row.memory.number} {topic}", _LONGEST))
    # In a frame of its own, which cuts off what wide letters need beyond it.
    frame = f'<svg x="{_MARGIN}" y="{y}" width="{_LEFT - _MARGIN - _GAP}" height="{_ROW}">'
    parts = [f'{frame}<text y="15" fill="#0f172a">{label}</text></svg>']
    x = float(_LEFT)
    judged = row.used + row.ignored + row.contradicted
    counts = (row.used, row.ignored, row.contradicted, max(0, row.times - judged))
    for (_, colour), count in zip(_COLOURS, counts, strict=True):
        width = room * count / most
        if count:
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{_ROW - 8}" fill="{colour}"/>')
        x += width
    parts.append(f'<text x="{x + 6:.1f}" y="{y + 15}" fill="#334155">{row.times}</text>')
    return parts
