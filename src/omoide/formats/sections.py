"""Entries as sections of a page: a heading, `- Label: value` lines, a text. What else stands there is a person's own.

The rules, the same for every format made of them:
- An entry is a heading of the format's level with a content or an id. A heading without either, text below another heading,
  and everything inside a code fence of the page itself, are a person's own: never read, never changed.
- A text's first line stands behind its label, the others below, indented by two spaces; so anything can stand in a text,
  headings and fences too. Where it cannot begin behind its label (it starts with white space, or with a mark of Markdown
  that needs a line of its own), all of it stands below. A line end at the end of a text is a last line of two spaces.
- A person need not indent: lines right below a text, with no empty line between, belong to it, as in Markdown.
- A fence that never ends, or not before the next entry with an id, is no fence: else one stray mark would hide all below it.
- Labels that nobody knows stay with their entry. Of a label that stands there twice, the first counts.
- Lines end with LF or CRLF, as the file's first one does; a carriage return that belongs to a text is written twice.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

from omoide.errors import Unreadable
from omoide.formats.entry import Entry, Frame, Placed, digest
from omoide.model import Memory

_HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*))?$", re.DOTALL)
_ITEM = re.compile(r"[-*+][ \t]+([^\s:：][^:：]{0,39})[:：]", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$", re.DOTALL)
# What cannot go on a paragraph above it, and what begins a block of its own, in Markdown.
_BREAKS = re.compile(r"[ \t]*(?:#{1,6}(?:\s|$)|[-*+](?:\s|$)|\d{1,9}[.)]\s|>|<!--|-{3,}|`{3}|~{3}|<{7}|={7}|>{7})")
_OWN_LINE = re.compile(r"`{3}|~{3}|#|>|[-*+|]\s|\||\d{1,9}[.)]\s")


class Field(NamedTuple):
    start: int
    end: int
    text: str


class Section:
    """A heading and what is below it, while a page is read."""

    def __init__(self, heading: int, title: str, id: str | None) -> None:
        self.heading = heading
        self.title = title
        self.id = id
        self.fields: dict[str, list[Field]] = {}
        self.entry_lines = [heading]
        self.own_lines: list[int] = []
        self.end = heading + 1
        """Where the next heading is."""

    def text(self, field: str) -> str | None:
        found = self.fields.get(field)
        return found[0].text if found else None

    @property
    def content(self) -> str:
        """What it says; one without words of its own says its title."""
        text = self.text("content")
        return text if text and not text.isspace() else self.title

    def closed_to(self, field: str) -> bool:
        """Whether fields have ended: a person's own words stand below the content."""
        content = self.fields.get("content")
        return bool(content and self.own_lines and self.own_lines[-1] > content[0].start)


class Page:
    """The lines of a file, and the changes to be made to them."""

    def __init__(self, text: str) -> None:
        *ended, last = text.split("\n")
        self._raw = [line + "\n" for line in ended] + ([last] if last else [])
        self.lines = [_bare(line) for line in self._raw]
        if self.lines:
            self.lines[0] = self.lines[0].removeprefix("\ufeff")
        self._end = "\r\n" if self._raw and self._raw[0].endswith("\r\n") else "\n"
        self._gone: set[int] = set()
        self._new: dict[int, list[str]] = {}

    def __len__(self) -> int:
        return len(self.lines)

    def take(self, lines: Iterable[int]) -> None:
        self._gone.update(lines)

    def insert(self, before: int, lines: Iterable[str]) -> None:
        self._new.setdefault(before, []).extend(lines)

    def append(self, lines: Sequence[str]) -> None:
        """At the end, an empty line above."""
        self.insert(len(self), ["", *lines])

    def text(self) -> str:
        if not self._gone and not self._new:
            return "".join(self._raw)
        kept: list[str] = []
        for index in range(len(self._raw) + 1):
            new = self._new.get(index, ())
            if index == len(self._raw) and (self._gone & {index - 1} or new):
                # What stood at the end went, or something comes: no empty lines are left over from it.
                while kept and not _bare(kept[-1]).strip():
                    kept.pop()
            for line in new:
                self._add(kept, line)
            if index < len(self._raw) and index not in self._gone:
                kept.append(self._raw[index])
        mark = "\ufeff" if self._raw and self._raw[0].startswith("\ufeff") else ""
        return mark + "".join(kept).removeprefix("\ufeff")

    def _add(self, kept: list[str], line: str) -> None:
        if kept and not kept[-1].endswith("\n"):
            kept[-1] = kept[-1].removesuffix("\r") + self._end
        kept.append(line + ("\r\n" if line.endswith("\r") else self._end))


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


class Sections:
    """A format whose entries are sections. What its pages look like is said by the classes below it."""

    name: ClassVar[str]
    level: ClassVar[int]
    labels: ClassVar[Mapping[str, str]]
    """Field → label, in the order in which they stand."""
    also: ClassVar[Mapping[str, str]] = {}
    """Other labels that are understood → field."""
    many: ClassVar[Collection[str]] = ()
    long: ClassVar[Collection[str]] = ("content",)
    """Fields that may have several lines."""

    def __init__(self) -> None:
        self._fields = {label.casefold(): field for field, label in self.labels.items()} | dict(self.also)

    # What a format says of itself.

    def heading(self, title: str, id: str) -> str:
        raise NotImplementedError

    def headed(self, rest: str) -> tuple[str, str | None]:
        """The title and perhaps the id that a heading tells."""
        return rest, None

    def marks(self, line: str) -> bool:
        """Whether this line is part of an entry that omoide has written."""
        raise NotImplementedError

    def entry(self, name: str, section: Section, id: str | None) -> Entry:
        raise NotImplementedError

    def values(self, name: str, memory: Memory) -> dict[str, list[str]]:
        """What stands behind each label; an empty list where the label is left out."""
        raise NotImplementedError

    def title(self, memory: Memory) -> str:
        raise NotImplementedError

    def same(self, name: str, field: str, section: Section, memory: Memory) -> bool:
        """Whether an entry already says of a memory what it should."""
        raise NotImplementedError

    def opening(self, name: str) -> list[str]:
        """The lines at the top of a new file."""
        raise NotImplementedError

    def position(self, name: str, page: Page, sections: Sequence[Section]) -> int:
        """The line above which new entries are put; the end of the page if nothing else is said."""
        return len(page)

    # What all of them can do.

    def parsed(self, name: str, text: str) -> list[Placed]:
        page = Page(text)
        return [
            Placed(self.entry(name, section, id), section.heading + 1, self._digest(page, section))
            for section, id in self._standing(page)
            if id != _COPY
        ]

    def rewritten(
        self,
        name: str,
        text: str | None,
        put: Mapping[str, Memory],
        drop: Collection[str],
        stamps: Mapping[int, Memory],
    ) -> str | None:
        if text is None and not put:
            return None
        page = Page(text or "")
        standing = self._standing(page)
        there = {id for _, id in standing if id}
        wanted = {**put, **{memory.id: memory for memory in stamps.values() if memory.id in there}}
        for section, id in standing:
            origin = section.id if id == _COPY else id
            stamp = stamps.get(section.heading + 1) if id is None else None
            if stamp is not None and stamp.id not in there:
                there.add(stamp.id)
                self._edit(name, page, section, stamp)
            elif stamp is not None or origin in drop or (id == _COPY and origin in wanted):
                self._remove(page, section)
            elif id in wanted:
                self._edit(name, page, section, wanted[id])
        sections = [section for section, _ in standing]
        fresh = [memory for id, memory in put.items() if id not in there]
        self._append(name, page, sections, fresh)
        return page.text()

    def framed(self, name: str, text: str | None, frame: Frame) -> str | None:
        del name, frame
        return text

    def written(self, name: str, memory: Memory) -> list[str]:
        """A fresh entry."""
        lines = [self.heading(self.title(memory), memory.id)]
        for field, texts in self.values(name, memory).items():
            lines += self._lines(field, texts)
        return lines

    def _append(self, name: str, page: Page, sections: Sequence[Section], memories: Sequence[Memory]) -> None:
        if not any(line.strip() for line in page.lines) and memories:
            page.take(range(len(page)))
            page.insert(len(page), self.opening(name))
        place = self.position(name, page, sections)
        for memory in memories:
            lines = self.written(name, memory)
            if place == len(page):
                page.append(lines)
            else:
                page.insert(place, [*lines, ""])

    def _standing(self, page: Page) -> list[tuple[Section, str | None]]:
        """The entries of a page, each with the id that counts."""
        seen: dict[str, str] = {}
        found: list[tuple[Section, str | None]] = []
        for section in self.sections(page.lines):
            id = section.id
            if id is None:
                if "content" in section.fields and section.content:
                    found.append((section, None))
                continue
            if not section.content:
                continue
            same = self._digest(page, section)
            if id not in seen:
                seen[id] = same
                found.append((section, id))
            else:
                found.append((section, _COPY if seen[id] == same else None))
        return found

    def _digest(self, page: Page, section: Section) -> str:
        return digest(page.lines[line] for line in section.entry_lines)

    def _edit(self, name: str, page: Page, section: Section, memory: Memory) -> None:
        heading = self.heading(self.title(memory), memory.id)
        if page.lines[section.heading] != heading and self.headed(section.title) != (self.title(memory), memory.id):
            if " ".join(section.title.split()) != self.title(memory) or self.headed(heading)[1]:
                page.take([section.heading])
                page.insert(section.heading, [heading])
        last = section.entry_lines[-1] + 1
        for field, texts in self.values(name, memory).items():
            found = section.fields.get(field, [])
            if self.same(name, field, section, memory):
                continue
            for part in found:
                page.take(range(part.start, part.end))
            place = found[0].start if found else self._place(section, field, last)
            page.insert(place, self._lines(field, texts))

    def _place(self, section: Section, field: str, last: int) -> int:
        """Where a field that is missing belongs: above the first of those that come after it."""
        order = list(self.labels)
        after = [parts[0].start for other, parts in section.fields.items() if order.index(other) > order.index(field)]
        return min(after, default=last)

    def _remove(self, page: Page, section: Section) -> None:
        if not section.own_lines:
            page.take(range(section.heading, section.end))
            return
        own = set(section.own_lines)
        page.take(line for line in range(section.heading, section.own_lines[0]))
        page.take(line for line in section.entry_lines if line not in own)

    def _lines(self, field: str, texts: Sequence[str]) -> list[str]:
        label = self.labels[field]
        lines: list[str] = []
        for text in texts:
            lines += _written(label, text) if field in self.long else [f"- {label}: {text}" if text else f"- {label}:"]
        return lines

    def sections(self, lines: Sequence[str]) -> list[Section]:
        """All sections of a page, entries or not; in time linear in its lines."""
        fences = _Fences(lines, self.marks)
        found: list[Section] = []
        section: Section | None = None
        merge: list[int] = []
        index = 0
        while index < len(lines):
            line = lines[index]
            heading = _HEADING.match(line) if line.startswith("#") else None
            if heading and len(heading[1]) <= self.level:
                if section:
                    section.end = index
                section = None
                if len(heading[1]) == self.level:
                    section = Section(index, *self.headed((heading[2] or "").strip()))
                    found.append(section)
                index += 1
                continue
            closing = fences.end(index)
            if closing is not None:
                if section:
                    section.own_lines += range(index, closing + 1)
                index = closing + 1
                continue
            _settle(merge, line, index)
            index = self._read(lines, index, section, fences) if section and line.strip() else index + 1
        if section:
            section.end = len(lines)
        return found

    def _read(self, lines: Sequence[str], index: int, section: Section, fences: "_Fences") -> int:
        """One line of a section, or the whole of a field; answers where to go on."""
        line = lines[index]
        item = _ITEM.match(line)
        field = self._fields.get(item[1].strip().casefold()) if item else None
        if item and field and not section.closed_to(field) and (field in self.many or field not in section.fields):
            end, text = _content(lines, index, item.end(), fences) if field in self.long else (index + 1, line[item.end() :])
            if self.takes(section, field, text.strip() if field not in self.long else text):
                section.fields.setdefault(field, []).append(Field(index, end, text))
                section.entry_lines += range(index, end)
                return end
        if item and not section.own_lines and "content" not in section.fields:
            section.entry_lines.append(index)
            while index + 1 < len(lines) and lines[index + 1].startswith("  ") and lines[index + 1].strip():
                index += 1
                section.entry_lines.append(index)
        else:
            section.own_lines.append(index)
        return index + 1

    def takes(self, section: Section, field: str, text: str) -> bool:
        """Whether a field is what its label says."""
        del section, field, text
        return True


_COPY = "copy"


def _settle(merge: list[int], line: str, index: int) -> None:
    """Refuses a page in which git has left both sides of a conflict: neither is what a person wants."""
    if line.startswith("<<<<<<< "):
        merge[:] = [index]
    elif (line == "=======" and len(merge) == 1) or (line.startswith(">>>>>>> ") and len(merge) == 2):
        merge.append(index)
        if len(merge) == 3:
            raise Unreadable(f"line {merge[0] + 1}: git left the marks of a conflict here: settle it, then save the file")


class _Fences:
    """Where the code fences of a page end."""

    def __init__(self, lines: Sequence[str], marks: Callable[[str], bool]) -> None:
        self._lines = lines
        # From each line on, the longest closing fence of either kind before the next entry with an id.
        self._ahead: dict[int, tuple[int, int]] = {}
        ticks = waves = 0
        for index in range(len(lines) - 1, -1, -1):
            line = lines[index]
            fence = _FENCE.match(line) if "```" in line or "~~~" in line else None
            if fence:
                self._ahead[index] = (ticks, waves)
                if not fence[2].strip():
                    ticks = max(ticks, len(fence[1])) if fence[1][0] == "`" else ticks
                    waves = max(waves, len(fence[1])) if fence[1][0] == "~" else waves
            elif marks(line):
                ticks = waves = 0

    def end(self, index: int) -> int | None:
        """The line that closes the fence which opens here; None if none opens here, or it never ends."""
        if index not in self._ahead:
            return None
        opening = _FENCE.match(self._lines[index])
        assert opening
        mark = opening[1]
        ticks, waves = self._ahead[index]
        if len(mark) > (ticks if mark[0] == "`" else waves) or (mark[0] == "`" and "`" in opening[2]):
            return None
        for later in range(index + 1, len(self._lines)):
            if later in self._ahead:
                closing = _FENCE.match(self._lines[later])
                if closing and closing[1].startswith(mark) and not closing[2].strip():
                    return later
        return None


def _content(lines: Sequence[str], start: int, column: int, fences: _Fences) -> tuple[int, str]:
    """A text of several lines that begins behind its label, and the line after it."""
    first = lines[start][column:].lstrip()
    texts = [first] if first else []
    end = index = start + 1
    while index < len(lines):
        line = lines[index]
        below = line[2:] if line.startswith("  ") else line[1:] if line.startswith("\t") else None
        if below is not None:
            # Empty lines count only between lines of the text; right below a bare label they are a person's spacing.
            texts += [""] * (index - end) if texts else []
            texts.append(below)
            end = index = index + 1
        elif not line.strip():
            index += 1
        elif index > end:
            break
        elif (closing := fences.end(index)) is not None:
            texts += lines[index : closing + 1]
            end = index = closing + 1
        elif _BREAKS.match(line):
            break
        else:
            texts.append(line.lstrip())
            end = index = index + 1
    return end, "\n".join(texts)


def _written(label: str, text: str) -> list[str]:
    first, *others = text.split("\n")
    if not first or first[0].isspace() or (others and _OWN_LINE.match(first)):
        others = [first, *others]
        lines = [f"- {label}:"]
    else:
        lines = [f"- {label}: {first}"]
    return lines + list(_indented(others, at_start=len(lines[0]) == len(label) + 3))


def _indented(texts: Sequence[str], *, at_start: bool) -> Iterator[str]:
    """Empty lines stay empty, but at the ends of a text: there only two spaces tell that they belong to it."""
    filled = [index for index, text in enumerate(texts) if text]
    first = filled[0] if filled and at_start else 0
    last = filled[-1] if filled else -1
    for index, text in enumerate(texts):
        yield f"  {text}" if text or index > last or index < first else ""
