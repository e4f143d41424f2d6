"""Lines of activity on a page: bullets with a time and a text and, in an HTML comment that no viewer shows, an id.

    - 2026-02-05 10:00 1.4 を公開 <!-- omoide:019c2d5e-… -->

The rules:
- A person may write a bullet without a time and without an id: `- 2026-02-05: text`, `- [2026-02-05 10:00] text`, `- text`.
- A text goes on below its bullet, indented by two spaces; so can bullets below a bullet.
- A line that has its id stays as somebody wrote it until its text changes.
- A bullet with an id and, below it, a label `内容` is another entry, in another style (`loose_sections`).
- A bullet in which a code fence begins that does not end there is left alone.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from omoide.markdown.format import parse_uuid
from omoide.markdown.page import Fences, MarkdownPage, has_fence, read_long_text
from omoide.markdown.section import FieldLines, Section
from omoide.model import ACTIVITY, Memory

MARK = re.compile(r"[ \t]*<!--[ \t]*omoide:([0-9a-fA-F-]{36})[ \t]*-->[ \t]*$")
_BULLET = re.compile(r"[-*+][ \t]+(?=\S)")
_DATE = re.compile(
    r"(?:\[|\*\*)?(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:(?:T|[ \t]+)(\d{1,2}):(\d{2})(?::\d{2})?Z?)?"
    r"(?:\]|\*\*)?[:：]?[ \t]+(?=\S)"
)
_CONTENT = re.compile(r"[ \t]*(?:[-*+][ \t]+)?[*_`]{0,3}(?:内容|content)[*_`]{0,3}[ \t]*[:：]", re.IGNORECASE)


class Bullet(Section):
    """A bullet as an entry of its page."""

    date: datetime | None = None


def read_bullets(lines: Sequence[str], parts: Iterable[tuple[int, int]], fences: Fences) -> list[Bullet]:
    """Return the bullets of parts of a page (first line, end), without those inside another bullet or a code fence."""
    texts = list(lines)
    return [bullet for start, end in parts for bullet in _read_part(texts, start, end, fences)]


def _read_part(texts: list[str], start: int, end: int, fences: Fences) -> list[Bullet]:
    found: list[Bullet] = []
    index = start
    while index < end:
        closing = fences.end(index)
        begin = _BULLET.match(texts[index])
        if closing is not None:
            index = closing + 1
        elif begin:
            bullet = _read_bullet(texts, index, begin.end(), fences)
            is_entry = bullet.id is not None and has_content_label(bullet.content)
            found += [bullet] if bullet.content and not is_entry and not _has_open_fence(bullet.content) else []
            index = bullet.end
        else:
            index += 1
    return found


def has_content_label(text: str) -> bool:
    """Whether the text of a bullet has the label of a content below its first line: with an id it is no line of activity."""
    return any(_CONTENT.match(line) for line in text.split("\n")[1:])


def _has_open_fence(text: str) -> bool:
    """Whether a code fence begins in a text and does not end there: then it is not clear where the text ends."""
    if not has_fence(text):
        return False
    lines = text.split("\n")
    fences = Fences(lines, lambda _: False)
    index = 0
    while index < len(lines):
        closing = fences.end(index)
        if closing is None and has_fence(lines[index]):
            return True
        index = (closing or index) + 1
    return False


def _read_bullet(lines: list[str], index: int, column: int, fences: Fences) -> Bullet:
    """Read a bullet whose text begins at this column, and take its id from the line."""
    mark = MARK.search(lines[index])
    id = parse_uuid(mark[1]) if mark else None
    # The text ends where its id would stand: white space above or in front of that is nobody's.
    lines[index] = (lines[index][: mark.start()] if mark and id else lines[index]).rstrip(" \t")
    bullet = Bullet(index, "", id)
    date = _DATE.match(lines[index], column)
    if date:
        bullet.date = _moment(date)
        column = date.end() if bullet.date else column
    bullet.end, text = read_long_text(lines, index, column, fences)
    bullet.fields["content"] = [FieldLines(index, bullet.end, text)] if text.strip() else []
    bullet.entry_lines = list(range(index, bullet.end))
    return bullet


def _moment(date: re.Match[str]) -> datetime | None:
    """The time that a bullet begins with, in UTC; None if it is none."""
    try:
        return datetime(*(int(part or 0) for part in date.groups()), tzinfo=UTC)  # type: ignore[arg-type, misc]
    except ValueError:  # the answer of this function
        return None


def is_activity(memory: Memory) -> bool:
    """Whether a memory is a line of its project's activity and nothing else, so that a bullet can show all of it."""
    return memory.type == ACTIVITY and not (
        memory.topic_given
        or memory.tags
        or memory.examples
        or memory.key
        or memory.pinned
        or memory.original_prompt
        or memory.scope.name
    )


def render_bullet(memory: Memory) -> list[str] | None:
    """Return the lines of a bullet; None for a text that would not be read back as it is."""
    if not is_activity(memory) or has_fence(memory.content) or "<!--" in memory.content or "\r" in memory.content:
        return None
    first, *others = memory.content.split("\n")
    at = f"{memory.created_at.astimezone(UTC):%Y-%m-%d %H:%M}"
    lines = [f"- {at} {first} <!-- omoide:{memory.id} -->", *(f"  {line}" if line else "" for line in others)]
    bullets = read_bullets(lines, [(0, len(lines))], Fences(lines, lambda _: False))
    is_same = len(bullets) == 1 and (bullets[0].content, bullets[0].end) == (memory.content, len(lines))
    return lines if is_same else None


def set_mark(page: MarkdownPage, bullet: Bullet, id: str | None) -> None:
    """Write the id behind a bullet, or take it away, and leave the rest of the line as it is."""
    line = page.lines[bullet.heading]
    text = MARK.sub("", line) if bullet.id else line.rstrip(" \t")
    page.take([bullet.heading])
    page.insert(bullet.heading, [f"{text} <!-- omoide:{id} -->" if id else text])
