"""Entries as sections of a page: a heading, `- Label: value` lines, a text. What else stands there is a person's own.

The rules, the same for every format made of them:
- An entry is a heading of the layout's level with a content or an id. A heading without either, text below another heading,
  and everything inside a code fence of the page itself, are a person's own: never read, never changed.
- A text's first line stands behind its label, the others below, indented by two spaces; so anything can stand in a text,
  headings and fences too. Where it cannot begin behind its label (it starts with white space, or with a mark of Markdown
  that needs a line of its own), all of it stands below. A line end at the end of a text is a last line of two spaces.
- A person need not indent: lines right below a text, with no empty line between, belong to it, as in Markdown.
- Labels that nobody knows stay with their entry. Of a label that stands there twice, the first counts.
- Lines end with LF or CRLF, as the file's first one does; a carriage return that belongs to a text is written twice.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, NamedTuple

from omoide.markdown.format import Entry, LocatedEntry, digest, parse_uuid
from omoide.markdown.page import (
    HEADING,
    ConflictMarkers,
    Fences,
    MarkdownPage,
    has_fence,
    is_blank,
    read_long_text,
    render_labelled,
)
from omoide.model import Memory

_ITEM = re.compile(r"[-*+][ \t]+([^\s:：][^:：]{0,39})[:：]", re.DOTALL)


class FieldLines(NamedTuple):
    start: int
    end: int
    text: str


class Section:
    """A heading and what is below it, while a page is read."""

    def __init__(self, heading: int, title: str, id: str | None) -> None:
        self.heading = heading
        self.title = title
        self.id = id
        self.fields: dict[str, list[FieldLines]] = {}
        self.entry_lines = [heading]
        self.own_lines: list[int] = []
        self.marks: list[int] = []
        """Lines with an id; the first counts."""
        self.end = heading + 1
        """Where the next heading is."""

    def text(self, field: str) -> str | None:
        found = self.fields.get(field)
        return found[0].text if found else None

    @property
    def content(self) -> str:
        """What it says; an entry without words of its own says its title."""
        text = self.text("content")
        return text if text and not text.isspace() else self.title

    @property
    def has_ended(self) -> bool:
        """Whether fields have ended: a person's own words stand below the content."""
        content = self.fields.get("content")
        return bool(content and self.own_lines and self.own_lines[-1] > content[0].start)


class LocatedSection(NamedTuple):
    section: Section
    digest: str
    id: str | None
    """The id that counts; None if it has none, or that of another entry of the page."""
    copy: bool = False
    """Whether it is another entry once more, to the byte: nobody's, and never read."""


class PageLayout:
    """How the sections of a page look, and what each says of a memory. The classes below it are the formats' own."""

    level: ClassVar[int]
    labels: ClassVar[Mapping[str, str]]
    """FieldLines → label, in the order in which they stand."""
    also: ClassVar[Mapping[str, str]] = {}
    """Other labels that are understood → field."""
    many: ClassVar[Collection[str]] = ()
    """Fields that may stand there more than once."""
    long: ClassVar[Collection[str]] = ("content",)
    """Fields that may have several lines."""

    def __init__(self) -> None:
        self._fields = {label.casefold(): field for field, label in self.labels.items()} | dict(self.also)

    # What a layout says of itself.

    def opening(self) -> list[str]:
        """The lines at the top of a new page."""
        raise NotImplementedError

    def heading(self, memory: Memory) -> str:
        raise NotImplementedError

    def parse_heading(self, text: str) -> tuple[str, str | None]:
        """The title, and perhaps the id, that a heading tells."""
        return text, None

    def is_marker(self, line: str) -> bool:
        """Whether this line is one by which omoide knows its entries."""
        raise NotImplementedError

    def entry(self, section: Section, id: str | None) -> Entry:
        raise NotImplementedError

    def values(self, memory: Memory) -> dict[str, list[str]]:
        """What should stand behind each label; an empty list where it is left out."""
        raise NotImplementedError

    def is_current(self, field: str, section: Section, memory: Memory) -> bool:
        """Whether an entry already says of a memory what it should; `heading` is asked like a field."""
        raise NotImplementedError

    def remove_id(self, page: MarkdownPage, section: Section) -> None:
        """Takes the id out of an entry."""
        page.take(section.marks)

    def missing_heading(self, lines: Sequence[str]) -> list[str]:
        """What is missing on a page, and must stand above its first new entry."""
        return [] if any(line.strip() for line in lines) else self.opening()

    def insertion_line(self, lines: Sequence[str]) -> int:
        """The line above which new entries stand."""
        return len(lines)

    # What all of them can do.

    def parse(self, text: str) -> list[LocatedEntry]:
        page = MarkdownPage(text)
        return [
            LocatedEntry(self.entry(one.section, one.id), one.section.heading + 1, one.digest)
            for one in self._located_sections(page)
            if not one.copy
        ]

    def rewrite(
        self, text: str | None, put: Mapping[str, Memory], drop: Collection[str], stamps: Mapping[int, Memory]
    ) -> str | None:
        if text is None and not put:
            return None
        page = MarkdownPage(text or "")
        standing = self._located_sections(page)
        there = {one.id for one in standing if one.id}
        wanted = {**put, **{memory.id: memory for memory in stamps.values() if memory.id in there}}
        for section, _, id, copy in standing:
            stamp = None if copy or id else stamps.get(section.heading + 1)
            if stamp is not None and stamp.id not in there:
                there.add(stamp.id)
                self._edit(page, section, stamp)
            elif stamp is not None or id in drop or (copy and (section.id in drop or section.id in wanted)):
                _remove(page, section)
            elif id in wanted:
                self._edit(page, section, wanted[id])
            elif id is None and section.id in drop:
                # A changed copy of what goes: from now on it is seen to be one of its own.
                self.remove_id(page, section)
        self._append(page, [memory for id, memory in put.items() if id not in there])
        return page.text()

    def lines(self, memory: Memory) -> list[str]:
        """A fresh entry."""
        fields = self.values(memory)
        return [self.heading(memory), *(line for field, texts in fields.items() for line in self._lines(field, texts))]

    def _lines(self, field: str, texts: Sequence[str]) -> list[str]:
        label = self.labels[field]
        if field in self.long:
            return [line for text in texts for line in render_labelled(label, text)]
        return [f"- {label}: {text}" if text else f"- {label}:" for text in texts]

    def _append(self, page: MarkdownPage, memories: Sequence[Memory]) -> None:
        if memories and (missing := self.missing_heading(page.lines)):
            page.append(missing)
        place = self.insertion_line(page.lines)
        for memory in memories:
            if place == len(page):
                page.append(self.lines(memory))
            else:
                page.insert(place, [*self.lines(memory), ""])

    def _edit(self, page: MarkdownPage, section: Section, memory: Memory) -> None:
        if not self.is_current("heading", section, memory):
            page.take([section.heading])
            page.insert(section.heading, [self.heading(memory)])
        order = list(self.labels)
        values = self.values(memory)
        changed = [field for field in values if not self.is_current(field, section, memory)]
        top = len(page)
        own = False
        marked = [field for field in changed if field in self.long and any(map(has_fence, values[field]))]
        if marked:
            # In such a text stands what could close a fence that a person left open above. It cannot below the line by which
            # the entry is known: so that line goes above the text, and both above what is the person's own.
            texts = [one.start for field in marked for one in section.fields.get(field, ())]
            top = min([*section.own_lines[:1], *texts, top])
            own = top in section.own_lines
            known = any(one.start < top for one in section.fields.get("id", ()))
            changed = [field for field in values if own or field in changed or (field == "id" and not known)]
        for field in changed:
            found = section.fields.get(field, [])
            for part in found:
                page.take(range(part.start, part.end))
            # One that was missing stands above the first of those that come after it.
            after = [parts[0].start for name, parts in section.fields.items() if order.index(name) > order.index(field)]
            place = found[0].start if found else min(after, default=section.entry_lines[-1] + 1)
            page.insert(min(place, top), self._lines(field, values[field]))
        if own:
            page.insert(top, _separator(page.lines[top]))

    def _located_sections(self, page: MarkdownPage) -> list[LocatedSection]:
        """The entries of a page, each with the id that counts."""
        seen: dict[str, str] = {}
        found: list[LocatedSection] = []
        for section in self._sections(page.lines):
            if not section.content or (section.id is None and "content" not in section.fields):
                continue
            made = digest("\n".join([page.lines[line] for line in section.entry_lines]))
            if section.id is None or section.id not in seen:
                found.append(LocatedSection(section, made, section.id))
                seen |= {section.id: made} if section.id else {}
            else:
                found.append(LocatedSection(section, made, None, copy=seen[section.id] == made))
        return found

    def _sections(self, lines: Sequence[str]) -> list[Section]:
        """All sections of a page, entries or not, in time linear in its length."""
        fences = Fences(lines, self.is_marker)
        conflicts = ConflictMarkers()
        found: list[Section] = []
        section: Section | None = None
        index = 0
        while index < len(lines):
            line = lines[index]
            heading = HEADING.match(line) if line.startswith("#") else None
            if heading and len(heading[1]) <= self.level:
                if section:
                    section.end = index
                section = None
                if len(heading[1]) == self.level:
                    section = Section(index, *self.parse_heading((heading[2] or "").strip()))
                    found.append(section)
                index += 1
                continue
            closing = fences.end(index)
            if closing is not None:
                if section:
                    section.own_lines += range(index, closing + 1)
                index = closing + 1
                continue
            conflicts.check(index, line)
            index = self._read(lines, index, section, fences) if section and line.strip() else index + 1
        if section:
            section.end = len(lines)
        return found

    def _read(self, lines: Sequence[str], index: int, section: Section, fences: Fences) -> int:
        """One line of a section, or the whole of a field; answers where to go on."""
        item = _ITEM.match(lines[index])
        field = self._fields.get(item[1].strip().casefold()) if item else None
        if item and field == "id" and parse_uuid(lines[index][item.end() :].strip()):
            section.marks.append(index)
        if item and field and not section.has_ended and (field in self.many or field not in section.fields):
            if field in self.long:
                end, text = read_long_text(lines, index, item.end(), fences)
            else:
                end, text = index + 1, lines[index][item.end() :].strip()
            if field == "id":
                section.id = parse_uuid(text)
            if field != "id" or section.id:
                section.fields.setdefault(field, []).append(FieldLines(index, end, text))
                section.entry_lines += range(index, end)
                return end
        among = not section.own_lines and ("content" not in section.fields or section.entry_lines[-1] == index - 1)
        if item and (among or field == "id"):  # a second id is nobody's text, and must not be left to become another's
            section.entry_lines.append(index)
            while index + 1 < len(lines) and lines[index + 1].startswith("  ") and lines[index + 1].strip():
                index += 1
                section.entry_lines.append(index)
        else:
            section.own_lines.append(index)
        return index + 1


def _remove(page: MarkdownPage, section: Section) -> None:
    """Takes an entry out of a page; what a person wrote between and below its lines stays."""
    if not section.own_lines:
        page.take(range(section.heading, section.end))
        return
    first = section.own_lines[0]
    page.take(range(section.heading, first))
    page.take(section.entry_lines)
    if page.lines[first].startswith((" ", "\t")) or (section.heading and not is_blank(page.lines[section.heading - 1])):
        page.insert(first, _separator(page.lines[first]))


def _separator(line: str) -> list[str]:
    """What keeps a person's own line from being read as the text above it."""
    return ["", "<!-- -->"] if line.startswith((" ", "\t")) else [""]
