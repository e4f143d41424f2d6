"""`memories.md`: one file a person can read and write, a `## title` with Tags, Date, Id and Content for each memory.

A memory's type stands first among its tags when it is not a plain note; a first tag that names a type is that type.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import ClassVar

from omoide.markdown.format import Entry, LocatedEntry, Mention, ProjectFrame, entry_for, explicit_topic, heading_text
from omoide.markdown.reformatting import is_same_content, is_same_title, is_same_value
from omoide.markdown.section import Section
from omoide.markdown.sections import PageLayout
from omoide.model import TYPES, Memory

_NOTE = TYPES[0]
_FEWEST = 5
"""Of fewer entries than these, two additions would often be neighbours all the same: they are added at the end."""
_ID = re.compile(r"[-*+][ \t]+[*_`]{0,3}[Ii][Dd][*_`]{0,3}[:：][*_`]{0,3}[ \t]*[`<]?[0-9a-fA-F-]{36}[`>]?\s*$")


class SingleFile:
    """The list of memories in one file."""

    name = "memories"
    carries = ("id", "type", "topic", "content", "tags", "created_at")
    directories: tuple[str, ...] = ()

    def __init__(self, file: str = "memories.md", types: Collection[str] = TYPES, *, spread: bool = False) -> None:
        """`spread`: whether new entries go between the others, so that git can merge those of two branches."""
        self._file = file
        self._list = _ListLayout(types, spread=spread)

    def owns(self, name: str) -> bool:
        return name == self._file

    def file_for(self, memory: Memory, taken: Callable[[str], bool]) -> str:
        del memory, taken
        return self._file

    def expected_entry(self, memory: Memory) -> Entry:
        return entry_for(memory, self.carries, created_at=_start_of_day(_day(memory)))

    def parse(self, name: str, text: str) -> list[LocatedEntry]:
        del name
        return self._list.parse(text)

    def mentions(self, name: str, text: str) -> dict[str, Mention]:
        del name
        return self._list.mentions(text)

    def rewrite(
        self,
        name: str,
        text: str | None,
        put: Mapping[str, Memory],
        drop: Collection[str],
        stamps: Mapping[int, Memory],
    ) -> str | None:
        del name
        return self._list.rewrite(text, put, drop, stamps)

    def update_frame(self, name: str, text: str | None, frame: ProjectFrame) -> str | None:
        del name, frame
        return text

    def render_list(self, memories: Iterable[Memory]) -> str:
        """A whole file that holds these, in this order."""
        put = {memory.id: memory for memory in memories}
        return self._list.rewrite("", put, (), {}) or "\n".join([*self._list.opening(), ""])


class _ListLayout(PageLayout):
    level = 2
    labels: ClassVar = {"type": "Type", "tags": "Tags", "date": "Date", "id": "Id", "content": "Content"}

    def __init__(self, types: Collection[str], *, spread: bool = False) -> None:
        super().__init__()
        self._types = frozenset(types)
        self._spread = spread

    def opening(self) -> list[str]:
        return ["# Memories"]

    def heading(self, memory: Memory) -> str:
        return f"## {heading_text(memory.topic)}"

    def place_between(self, memory: Memory, gaps: Sequence[int], end: int) -> int:
        if not self._spread or len(gaps) < _FEWEST:
            return end
        places = [*gaps, end]
        return places[int(memory.id[-8:], 16) % len(places)]  # by the random digits of its id

    def is_marker(self, line: str) -> bool:
        return _ID.match(line) is not None

    def is_entry(self, section: Section) -> bool:
        return super().is_entry(section) or {"tags", "date"} <= section.fields.keys()

    def entry(self, section: Section, id: str | None) -> Entry:
        type, tags = self._type_and_tags(section)
        return Entry(
            content=section.content,
            id=id,
            topic=explicit_topic(section.title, section.content),
            type=type or (_NOTE if id else None),
            tags=tags,
            created_at=_start_of_day(section.text("date") or ""),
            below=section.below,
        )

    def values(self, memory: Memory) -> dict[str, list[str]]:
        known = memory.type in self._types
        tags = list(memory.tags)
        if known and (memory.type != _NOTE or (tags and tags[0] in self._types)):
            tags.insert(0, memory.type)
        return {
            "type": [] if known else [memory.type],
            "tags": [", ".join(tags)],
            "date": [_day(memory)],
            "id": [memory.id],
            "content": [memory.content],
        }

    def is_current(self, field: str, section: Section, memory: Memory) -> bool:
        if field == "heading":
            return is_same_title(heading_text(memory.topic), heading_text(section.title))
        if field == "content":
            return is_same_content(memory.content, section.content, section.below)
        if field == "id":
            return section.id == memory.id
        if field == "date":  # it does not change, and a person may leave it out
            return True
        type, tags = self._type_and_tags(section)
        fits = (type or _NOTE) == memory.type
        if field == "type":
            return fits or (memory.type in self._types and "type" not in section.fields)
        return fits and is_same_value(memory.tags, tags)

    def _type_and_tags(self, section: Section) -> tuple[str | None, tuple[str, ...]]:
        """The type and the tags."""
        tags = split_tags(section.text("tags") or "")
        type = section.text("type")
        if type:
            return type, tags
        return (tags[0], tags[1:]) if tags and tags[0] in self._types else (None, tags)


def split_tags(text: str) -> tuple[str, ...]:
    return tuple(tag for part in text.split(",") if (tag := " ".join(part.split())))


def _day(memory: Memory) -> str:
    return memory.created_at.astimezone(UTC).date().isoformat()


def _start_of_day(day: str) -> datetime | None:
    """The start of a day; None if this is not one."""
    try:
        return datetime.combine(date.fromisoformat(day[:10]), time(tzinfo=UTC))
    except ValueError:  # the answer of this function
        return None
