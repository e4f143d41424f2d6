"""`memories.md`: one file a person can read and write, a `## title` with Tags, Date, Id and Content for each memory.

A memory's type stands first among its tags when it is not a plain note; a first tag that names a type is that type.
"""

import re
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from omoide.formats import entry as entries
from omoide.formats.entry import Entry
from omoide.formats.sections import Section, Sections
from omoide.model import TYPES, Memory, derived_topic

_NOTE = TYPES[0]
_MARK = re.compile(r"[-*+][ \t]+[Ii][Dd][:：][ \t]*[0-9a-fA-F-]{36}\s*$")


class MemoriesMd(Sections):
    """The list of seed-like `memories.md` files, in the file that the mirror names."""

    name = "memories"
    directories: tuple[str, ...] = ()
    level = 2
    labels: ClassVar = {"type": "Type", "tags": "Tags", "date": "Date", "id": "Id", "content": "Content"}

    def __init__(self, file: str = "memories.md", types: Collection[str] = TYPES) -> None:
        super().__init__()
        self._file = file
        self._types = frozenset(types)

    def belongs(self, name: str) -> bool:
        return name == self._file

    def place(self, memory: Memory, taken: Callable[[str], bool]) -> str:
        del memory, taken
        return self._file

    def shown(self, memory: Memory) -> Entry:
        return Entry(
            content=memory.content,
            id=memory.id,
            topic=_topic(self.title(memory), memory.content),
            type=memory.type,
            tags=memory.tags,
            created_at=_midnight(_day(memory)),
        )

    def listed(self, memories: Sequence[Memory]) -> str:
        """A whole file that holds these, in this order."""
        text = self.rewritten(self._file, None, {memory.id: memory for memory in memories}, (), {})
        return text if text is not None else "\n".join([*self.opening(self._file), ""])

    def opening(self, name: str) -> list[str]:
        return ["# Memories"]

    def heading(self, title: str, id: str) -> str:
        return f"## {title}"

    def marks(self, line: str) -> bool:
        return _MARK.match(line) is not None

    def title(self, memory: Memory) -> str:
        return entries.title(memory.topic)

    def takes(self, section: Section, field: str, text: str) -> bool:
        if field == "id":
            section.id = entries.uuid(text)
            return section.id is not None
        return True

    def entry(self, name: str, section: Section, id: str | None) -> Entry:
        type, tags = self._kind(section)
        return Entry(
            content=section.content,
            id=id,
            topic=_topic(" ".join(section.title.split()), section.content),
            type=type or (_NOTE if id else None),
            tags=tags,
            created_at=_midnight(section.text("date") or ""),
        )

    def values(self, name: str, memory: Memory) -> dict[str, list[str]]:
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

    def same(self, name: str, field: str, section: Section, memory: Memory) -> bool:
        if field == "content":
            return section.content == memory.content
        if field == "id":
            return section.id == memory.id
        if field == "date":  # when it was learnt does not change, and a person may leave it out
            return True
        type, tags = self._kind(section)
        fits = (type or _NOTE) == memory.type
        if field == "type":
            return fits or (memory.type in self._types and "type" not in section.fields)
        return fits and tags == memory.tags

    def _kind(self, section: Section) -> tuple[str | None, tuple[str, ...]]:
        parts = (section.text("tags") or "").split(",")
        tags = tuple(folded for part in parts if (folded := " ".join(part.split())))
        said = section.text("type")
        if said is not None and said.strip():
            return said.strip(), tags
        return (tags[0], tags[1:]) if tags and tags[0] in self._types else (None, tags)


def _topic(title: str, content: str) -> str | None:
    return None if not title or title == entries.title(derived_topic(content)) else title


def _day(memory: Memory) -> str:
    return memory.created_at.astimezone(UTC).date().isoformat()


def _midnight(day: str) -> datetime | None:
    """The start of a day as it is written; None where no day is told."""
    try:
        return datetime.strptime(day.strip()[:10], "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
