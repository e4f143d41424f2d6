"""Entries as sections of a page: a heading, `- Label: value` lines, a text. Everything else belongs to a person.

The rules, the same for every format that has sections:
- An entry is a heading of the layout's level with a content or an id, or with the labels that a layout accepts instead of a
  content. Any other heading, text below another heading, and everything inside a code fence of the page itself, belong to a
  person: they are never read and never changed.
- A text begins behind its label and goes on below, indented by two spaces; so it can contain anything, also headings and
  fences. If it cannot begin behind its label (it starts with white space, or with Markdown that needs a line of its own),
  all of it is below. A line end at the end of a text is a last line of two spaces.
- A person need not indent: lines right below a text, without an empty line between, belong to it, as in Markdown.
- Unknown labels stay with their entry. Of a label that occurs twice, the first counts.
- Lines end with LF or CRLF, as the file's first one does; a carriage return that belongs to a text is written twice.
- An entry with an id that is in another style is read as well as it can be (`loose_sections`). It stays as it is until its
  memory changes; then it is written in this style.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from omoide.markdown.conflict_markers import check_conflict_markers
from omoide.markdown.format import Entry, LocatedEntry, Mention, digest, parse_uuid
from omoide.markdown.loose_sections import LooseLines, find_mentions, ids_in
from omoide.markdown.page import (
    HEADING,
    Fences,
    MarkdownPage,
    has_fence,
    is_blank,
    read_long_text,
    render_labelled,
)
from omoide.markdown.section import (
    FieldLines,
    LocatedSection,
    Section,
    is_among_fields,
    lines_outside,
    take_text_below,
    text_below,
)
from omoide.model import Memory

_ITEM = re.compile(
    r"[-*+][ \t]+(?:"
    r"([*_`]{1,3})(?:(?P<a>[^\s:：*_`][^:：*`]{0,39}?)\1[:：]|(?P<b>[^\s:：*_`][^:：*`]{0,39})[:：]\1)"
    r"|(?P<c>[^\s:：][^:：]{0,39})[:：])",
    re.DOTALL,
)
"""An item with a label, which may be in bold."""


_AROUND_ID = " \t`*_<>"
"""What may stand around an id."""


class PageLayout:
    """How memories are written as sections of a page, and read from them. Each format has its subclass."""

    level: ClassVar[int]
    labels: ClassVar[Mapping[str, str]]
    """FieldLines → label, in the order in which they stand."""
    also: ClassVar[Mapping[str, str]] = {}
    """Other labels that are accepted → field."""
    many: ClassVar[Collection[str]] = ()
    """Fields that may occur more than once."""
    long: ClassVar[Collection[str]] = ("content",)
    """Fields that may have several lines."""

    def __init__(self) -> None:
        self._fields = {label.casefold(): field for field, label in self.labels.items()} | dict(self.also)

    # What a subclass defines

    def opening(self) -> list[str]:
        """The lines at the top of a new page."""
        raise NotImplementedError

    def heading(self, memory: Memory) -> str:
        raise NotImplementedError

    def parse_heading(self, text: str) -> tuple[str, str | None]:
        """The title of a heading, and its id if it has one."""
        return text, None

    def is_marker(self, line: str) -> bool:
        """Whether omoide wrote this line to mark an entry."""
        raise NotImplementedError

    def is_entry(self, section: Section) -> bool:
        """Whether a section without an id is an entry, by the labels that a person wrote."""
        return "content" in section.fields

    def is_certain(self, section: Section) -> bool:
        """Whether the lines of a section can belong to no other entry, which is in another style."""
        del section
        return True

    def entry(self, section: Section, id: str | None) -> Entry:
        raise NotImplementedError

    def values(self, memory: Memory) -> dict[str, list[str]]:
        """The texts of each label; an empty list where it is left out."""
        raise NotImplementedError

    def is_current(self, field: str, section: Section, memory: Memory) -> bool:
        """Whether a field of an entry is up to date with a memory; `heading` counts as a field."""
        raise NotImplementedError

    def remove_id(self, page: MarkdownPage, section: Section) -> None:
        """Remove the id from an entry."""
        page.take(section.marks)

    def missing_heading(self, lines: Sequence[str]) -> list[str]:
        """The lines that a page lacks and that go above its first new entry."""
        return [] if any(line.strip() for line in lines) else self.opening()

    def insertion_line(self, lines: Sequence[str]) -> int:
        """The line above which new entries are inserted."""
        return len(lines)

    def place_between(self, memory: Memory, gaps: Sequence[int], end: int) -> int:
        """The line above which a new entry is inserted: one of the gaps between other entries, or the usual one."""
        del memory, gaps
        return end

    # What all layouts share

    def parse(self, text: str) -> list[LocatedEntry]:
        check_conflict_markers(text)
        page = MarkdownPage(text)
        return [
            LocatedEntry(self.entry(one.section, one.id), one.section.heading + 1, one.digest, one.section.is_exact)
            for one in self._located_sections(page)
            if not one.copy
        ]

    def mentions(self, text: str) -> dict[str, Mention]:
        lines = MarkdownPage(text).lines
        sections = self._entries(lines)
        outside = lines_outside(lines, sections)
        known = {section.id for section in sections}
        return {id: mention for id, mention in find_mentions(lines, outside).items() if id not in known}

    def rewrite(
        self, text: str | None, put: Mapping[str, Memory], drop: Collection[str], stamps: Mapping[int, Memory]
    ) -> str | None:
        if text is None and not put:
            return None
        new = self._rewrite(text, put, drop, stamps)
        # An id that is there once more, in another style, is an entry only when the first one is gone.
        while any(id in new for id in drop):
            left = {section.id for section in self._entries(MarkdownPage(new).lines) if section.id}.intersection(drop)
            if not left:
                break
            new = self._rewrite(new, {}, left, {})
        return new

    def _rewrite(
        self, text: str | None, put: Mapping[str, Memory], drop: Collection[str], stamps: Mapping[int, Memory]
    ) -> str:
        page = MarkdownPage(text or "")
        sections = self._located_sections(page)
        present = {located.id for located in sections if located.id}
        wanted = {**put, **{memory.id: memory for memory in stamps.values() if memory.id in present}}
        for located in sections:
            stamp = None if located.copy or located.id else stamps.get(located.section.heading + 1)
            if stamp is None:
                self._rewrite_section(page, located, wanted, drop)
            elif stamp.id in present:
                _remove(page, located.section)
            else:
                present.add(stamp.id)
                self._edit(page, located.section, stamp)
        touched = {None, *wanted, *drop}
        exact = [located for located in sections if located.section.is_exact and not located.copy]
        page.gaps = [located.section.heading for located in exact if located.id not in touched]
        self._append(page, [memory for id, memory in put.items() if id not in present])
        return page.text()

    def _rewrite_section(
        self, page: MarkdownPage, located: LocatedSection, wanted: dict[str, Memory], drop: Collection[str]
    ) -> None:
        """Change, remove or leave an entry that gets no new id."""
        section = located.section
        if located.is_removed(wanted, drop):
            _remove(page, section)
        elif located.id in wanted:
            self._edit(page, section, wanted[located.id])
        elif located.id is None and section.id in drop:
            # A changed copy of an entry that is removed: from now on it is an entry of its own.
            self.remove_id(page, section)

    def lines(self, memory: Memory) -> list[str]:
        """The lines of a new entry."""
        fields = self.values(memory)
        return [self.heading(memory), *(line for field, texts in fields.items() for line in self._lines(field, texts))]

    def _lines(self, field: str, texts: Sequence[str]) -> list[str]:
        label = self.labels[field]
        if field in self.long:
            return [line for text in texts for line in render_labelled(label, text)]
        return [f"- {label}: {text}" if text else f"- {label}:" for text in texts]

    def _append(self, page: MarkdownPage, memories: Sequence[Memory]) -> None:
        """Add entries at the end, or between others."""
        if memories and (missing := self.missing_heading(page.lines)):
            page.append(missing)
        end = self.insertion_line(page.lines)
        for memory in memories:
            place = self.place_between(memory, page.gaps, end)
            if place == len(page):
                page.append(self.lines(memory))
            else:
                page.insert(place, [*self.lines(memory), ""])

    def _edit(self, page: MarkdownPage, section: Section, memory: Memory) -> None:
        """Change the lines of an entry that do not say what the memory says."""
        values = self.values(memory)
        outdated = [field for field in ("heading", *values) if not self.is_current(field, section, memory)]
        if not section.is_exact:
            if outdated:
                page.take(section.entry_lines)
                page.insert(section.heading, ["", *self.lines(memory), ""])
            return
        if "heading" in outdated:
            page.take([section.heading])
            page.insert(section.heading, [self.heading(memory)])
        changed = [field for field in outdated if field != "heading"]
        if "content" not in section.fields and "content" not in changed:
            # Below the labels of an entry with an id stands its text, unless a label says which text that is.
            changed.append("content")
        self._replace_fields(page, section, values, changed)

    def _replace_fields(
        self, page: MarkdownPage, section: Section, values: Mapping[str, Sequence[str]], changed: Sequence[str]
    ) -> None:
        """Replace the lines of some fields of an entry."""
        fenced = [field for field in changed if field in self.long and any(map(has_fence, values[field]))]
        top = len(page)
        is_above_own_lines = False
        if fenced:
            # Such a text could close a fence that a person left open above it, unless the line with the entry's id is in
            # between: so that line goes above the text, and both above the person's own lines.
            starts = [lines.start for field in fenced for lines in section.fields.get(field, ())]
            top = min([*section.own_lines[:1], *starts, top])
            is_above_own_lines = top in section.own_lines
            moved = set(values) if is_above_own_lines else self._fields_to_move(section, top)
            changed = [field for field in values if field in changed or field in moved]
        for field in changed:
            for lines in section.fields.get(field, []):
                page.take(range(lines.start, lines.end))
            page.insert(min(self._insertion_place(section, field), top), self._lines(field, values[field]))
        if is_above_own_lines:
            page.insert(top, _separator(page.lines[top]))

    def _fields_to_move(self, section: Section, top: int) -> set[str]:
        """The id, unless it is above this line already."""
        return set() if any(lines.start < top for lines in section.fields.get("id", ())) else {"id"}

    def _insertion_place(self, section: Section, field: str) -> int:
        """Where a field is, or the place above the first of those that come after it."""
        found = section.fields.get(field, [])
        if found:
            return found[0].start
        order = list(self.labels)
        later = [lines[0].start for name, lines in section.fields.items() if order.index(name) > order.index(field)]
        return min(later, default=section.entry_lines[-1] + 1)

    def _located_sections(self, page: MarkdownPage) -> list[LocatedSection]:
        """The entries of a page, each with the id that counts."""
        seen: dict[str, str] = {}
        found: list[LocatedSection] = []
        page.entries = self._entries(page.lines)
        for section in page.entries:
            made = digest("\n".join([page.lines[line] for line in section.entry_lines]))
            if section.id is None or section.id not in seen:
                found.append(LocatedSection(section, made, section.id))
                seen |= {section.id: made} if section.id else {}
            else:
                found.append(LocatedSection(section, made, None, copy=seen[section.id] == made))
        return found

    def _entries(self, lines: Sequence[str]) -> list[Section]:
        """The sections of a page that are entries."""
        sections = self._with_content(self._sections(lines))
        entries = sections if self._is_complete(lines, sections) else self._loose_entries(lines, sections)
        end = len(lines)
        for section in reversed(entries):
            section.below = text_below(lines, section, end)
            end = section.heading
        return entries

    def _with_content(self, sections: Sequence[Section]) -> list[Section]:
        return [one for one in sections if one.content and (one.id or self.is_entry(one))]

    def _is_complete(self, lines: Sequence[str], sections: Sequence[Section]) -> bool:
        """Whether every id of a page is that of an entry, and each of these has a content."""
        if any(section.id and ("content" not in section.fields or len(section.marks) > 1) for section in sections):
            return False
        return not ids_in(lines_outside(lines, [section for section in sections if section.id]))

    def _loose_entries(self, lines: Sequence[str], exact: Sequence[Section]) -> list[Section]:
        """The entries of a page on which some are in another style."""
        certain = [section for section in exact if self.is_certain(section)]
        known = {line for section in certain if "content" in section.fields for line in section.first_lines()}
        tidy, ends = LooseLines(lines, self._fields, self.level).read(known)
        sections = self._sections(tidy, ends)
        for section in sections:
            section.is_exact = all(tidy[line] == lines[line] for line in range(section.heading, section.end))
            if section.id and "content" not in section.fields:
                take_text_below(section, tidy)
        found = self._with_content(sections)
        ids = {section.id for section in found}
        return found if all(section.id in ids for section in certain) else list(exact)

    def _sections(self, lines: Sequence[str], ends: Collection[int] = ()) -> list[Section]:
        """All sections of a page, entries or not, in time linear in its length; one ends above each of the lines `ends`."""
        fences = Fences(lines, self.is_marker)
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
            if section and index in ends:
                section.end = index
                section = None
            closing = fences.end(index)
            if closing is not None:
                if section:
                    section.own_lines += range(index, closing + 1)
                index = closing + 1
                continue
            index = self._read(lines, index, section, fences) if section and line.strip() else index + 1
        if section:
            section.end = len(lines)
        return found

    def _read(self, lines: Sequence[str], index: int, section: Section, fences: Fences) -> int:
        """Read one line of a section, or all lines of a field; return the next line to read."""
        item = _ITEM.match(lines[index])
        field = self._fields.get((item["a"] or item["b"] or item["c"]).strip().casefold()) if item else None
        if item and field:
            if field == "id" and parse_uuid(lines[index][item.end() :].strip(_AROUND_ID)):
                section.marks.append(index)
            if not section.has_ended and (field in self.many or field not in section.fields):
                end = self._read_field(lines, index, item.end(), field, section, fences)
                if end is not None:
                    return end
        # A second id is nobody's text, and must not be left to become another entry's.
        if item and (field == "id" or is_among_fields(section, index)):
            end = index + 1
            while end < len(lines) and lines[end].startswith("  ") and lines[end].strip():
                end += 1
            section.entry_lines += range(index, end)
            return end
        section.own_lines.append(index)
        return index + 1

    def _read_field(
        self, lines: Sequence[str], index: int, column: int, field: str, section: Section, fences: Fences
    ) -> int | None:
        """Read a field whose value begins at this column; return the line after it, or None if it is not an id."""
        if field in self.long:
            end, text = read_long_text(lines, index, column, fences)
        else:
            end, text = _read_short_text(lines, index, column)
        if field == "id":
            section.id = parse_uuid(text.strip(_AROUND_ID))
            if section.id is None:
                return None
        section.fields.setdefault(field, []).append(FieldLines(index, end, text))
        section.entry_lines += range(index, end)
        return end


def _read_short_text(lines: Sequence[str], index: int, column: int) -> tuple[int, str]:
    """Read a value of one line, which a formatter may have broken into several; return the line after it, and the value."""
    end = index + 1
    while end < len(lines) and lines[end].startswith("  ") and lines[end].strip() and not _ITEM.match(lines[end].lstrip()):
        end += 1
    return end, " ".join(line.strip() for line in [lines[index][column:], *lines[index + 1 : end]]).strip()


def _remove(page: MarkdownPage, section: Section) -> None:
    """Remove an entry from a page; what a person wrote between and below its lines stays."""
    if not section.own_lines:
        page.take(range(section.heading, section.end))
        return
    first = section.own_lines[0]
    page.take(range(section.heading, first))
    page.take(section.entry_lines)
    if page.lines[first].startswith((" ", "\t")) or (section.heading and not is_blank(page.lines[section.heading - 1])):
        page.insert(first, _separator(page.lines[first]))


def _separator(line: str) -> list[str]:
    """The lines that keep a person's own line from being read as part of the text above it."""
    return ["", "<!-- -->"] if line.startswith((" ", "\t")) else [""]
