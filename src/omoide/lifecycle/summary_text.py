"""The text of a summary: dated bullets below a heading for each kind of point, in English or Japanese. Pure."""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from omoide.lifecycle.summary_points import PointKind

_HEADINGS = {
    PointKind.DECISION: ("Decisions", "決定事項"),
    PointKind.RULE: ("Rules and preferences", "決まりと好み"),
    PointKind.CAUSE: ("Problems and causes", "不具合と原因"),
    PointKind.FACT: ("Facts", "事実"),
    PointKind.REMARK: ("Remarks", "その他"),
}
_KIND_OF = {heading: kind for kind, headings in _HEADINGS.items() for heading in headings}
_BULLET = re.compile(r"- (\d{4}-\d{2}-\d{2}): (.*)")
_CLOSING = re.compile(r"\((?:Summary of [\d,]+ entries|[\d,]+ 件の記録の要約)[^()]*\)|（[\d,]+ 件の記録の要約[^（）]*）")
_TIMES = 3
"""How often a point must have been said for that to be worth mentioning."""
_JAPANESE = re.compile("[ぁ-ゖァ-ヺ一-鿿]")
_LETTER = re.compile(r"[A-Za-z]")


class Point(NamedTuple):
    """One bullet of a summary."""

    day: date
    kind: PointKind
    text: str
    times: int = 1
    """How often it was said."""
    last: date | None = None
    """When it was last said, if more than once."""


def is_japanese(texts: Iterable[str]) -> bool:
    """Whether texts are rather Japanese than English."""
    japanese = letters = 0
    for text in texts:
        japanese += len(_JAPANESE.findall(text))
        letters += len(_LETTER.findall(text))
    return japanese * 3 > letters  # a word of English has about five letters, one of Japanese two characters


def render_points(points: Sequence[Point], entries: int, *, japanese: bool) -> str:
    """Return the text of a summary of so many entries: its points by kind, then by date."""
    lines: list[str] = []
    for kind, headings in _HEADINGS.items():
        chosen = sorted((point for point in points if point.kind is kind), key=lambda point: point.day)
        if chosen:
            lines += [
                *([""] if lines else []),
                headings[japanese],
                *(render_point(point, japanese=japanese) for point in chosen),
            ]
    said = "" if points else ("、残すべき内容はなし" if japanese else ", none of which says anything to keep")
    closing = f"（{entries:,} 件の記録の要約{said}）" if japanese else f"(Summary of {entries:,} entries{said})"
    return "\n".join([*lines, *([""] if lines else []), closing])


def render_point(point: Point, *, japanese: bool) -> str:
    """Return the bullet of a point."""
    repeated = ""
    if point.times >= _TIMES:
        last = point.last or point.day
        repeated = f"（{point.times} 回、最後は {last}）" if japanese else f" ({point.times} times, last {last})"
    first, *others = f"{point.text}{repeated}".split("\n")
    return "\n".join([f"- {point.day}: {first}", *(f"  {line}" if line else "" for line in others)])


def parse_points(text: str, day: date) -> list[Point]:
    """Return the points of a summary's text. What a person added in another form is a remark of this day, line by line."""
    kind = PointKind.REMARK
    points: list[Point] = []
    in_bullet = False
    for line in text.split("\n"):
        bullet = _BULLET.fullmatch(line)
        if line in _KIND_OF:
            kind, in_bullet = _KIND_OF[line], False
        elif bullet and (said := _parse_day(bullet[1])):
            points.append(Point(said, kind, bullet[2]))
            in_bullet = True
        elif in_bullet and line.startswith("  "):
            points[-1] = points[-1]._replace(text=f"{points[-1].text}\n{line[2:]}")
        elif line.strip() and not _CLOSING.fullmatch(line.strip()):
            points.append(Point(day, PointKind.REMARK, line.strip().removeprefix("- ")))
            in_bullet = False
    return points


def _parse_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:  # fallback: a text that only looks like a date
        return None


def title(first: date, last: date, *, japanese: bool) -> str:
    """Return the topic of a summary of these days."""
    if first == last:
        return f"{first} の要約" if japanese else f"Summary of {first}"
    return f"{first}〜{last} の要約" if japanese else f"Summary of {first} to {last}"
