"""A section of a page: a heading, and which of the lines below it belong to an entry and which to a person."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple


class FieldLines(NamedTuple):
    start: int
    end: int
    text: str


class Section:
    """A heading and the lines below it."""

    def __init__(self, heading: int, title: str, id: str | None) -> None:
        self.heading = heading
        self.title = title
        self.id = id
        self.fields: dict[str, list[FieldLines]] = {}
        self.entry_lines = [heading]
        self.own_lines: list[int] = []
        self.marks: list[int] = []
        """Lines with an id, of which the first counts."""
        self.end = heading + 1
        """Where the next heading is."""
        self.below = ""
        """The text below the content, up to the next entry."""
        self.is_exact = True
        """False: it is in another style."""

    def text(self, field: str) -> str | None:
        found = self.fields.get(field)
        return found[0].text if found else None

    @property
    def content(self) -> str:
        """The content; for an entry without one, its title."""
        text = self.text("content")
        return text if text and not text.isspace() else self.title

    def first_lines(self) -> list[int]:
        """The lines of the entry above a second id: that may be another entry, with a heading of another level."""
        end = self.marks[1] if len(self.marks) > 1 else self.end
        return [line for line in self.entry_lines if line < end]

    @property
    def has_ended(self) -> bool:
        """Whether no more fields follow: a person's own text is below the content."""
        content = self.fields.get("content")
        return bool(content and self.own_lines and self.own_lines[-1] > content[0].start)


class LocatedSection(NamedTuple):
    section: Section
    digest: str
    id: str | None
    """The id that counts; None if it has none, or that of another entry of the page."""
    copy: bool = False
    """Whether it is an exact copy of another entry: then it is ignored."""

    def is_removed(self, wanted: Collection[str], drop: Collection[str]) -> bool:
        """Whether it is to be removed; a copy is removed when the entry that it is a copy of changes."""
        if self.copy:
            return self.section.id in drop or self.section.id in wanted
        return self.id in drop


def lines_outside(lines: Sequence[str], sections: Iterable[Section]) -> list[str]:
    """The lines that belong to none of these entries, at their places; the others are empty."""
    outside = list(lines)
    for section in sections:
        for line in section.entry_lines:
            outside[line] = ""
    return outside


def take_text_below(section: Section, lines: Sequence[str]) -> None:
    """Read the text below the labels of an entry as its content, where no label says what that is."""
    start = section.entry_lines[-1] + 1
    below = [line for line in section.own_lines if line >= start]
    if below:
        end = below[-1] + 1
        text = "\n".join(lines[below[0] : end])
        section.fields["content"] = [FieldLines(below[0], end, text)]
        section.entry_lines += range(below[0], end)
        section.own_lines = [line for line in section.own_lines if line < start]
        section.is_exact = False


def text_below(lines: Sequence[str], section: Section, end: int) -> str:
    start = section.entry_lines[-1] + 1
    return "\n".join(lines[start:end]).strip("\n") if end > start + 1 or (end > start and lines[start].strip()) else ""


def is_among_fields(section: Section, index: int) -> bool:
    """Whether a line with an unknown label belongs to the entry: it is above its content, or right below it."""
    return not section.own_lines and ("content" not in section.fields or section.entry_lines[-1] == index - 1)
