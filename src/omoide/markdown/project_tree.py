"""A project's tree: MEMORY.md, pinned.md, decisions.md and MEMORY_<session>.md, below a directory for each part of its path.

The rules, beside those of `sections`:
- Each memory is in exactly one file: one of a session in the session's; else a pinned one in pinned.md; else a decision in
  decisions.md; else in MEMORY.md, under 最近の活動. An entry that a person moves to another file gets the fields of that
  file.
- Its id follows its title in an HTML comment, which no viewer shows.
- A line of activity is a bullet under 最近の活動: see `activity`. A person's own bullets there are read as such lines.
- The block quote at the top of MEMORY.md describes the project; under セッション its sessions are listed. Lines of a
  person's own there stay.
- Labels may also be written in English: Type, Tags, Date, Key, Pinned, Source, Original prompt, Example, Content.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC
from typing import ClassVar

import msgspec

from omoide.markdown.activity import MARK, Bullet, has_content_label, is_activity, read_bullets, render_bullet, set_mark
from omoide.markdown.format import (
    Entry,
    LocatedEntry,
    Mention,
    ProjectFrame,
    entry_for,
    explicit_topic,
    heading_text,
    parse_time,
    parse_uuid,
    shown_source,
)
from omoide.markdown.page import Fences, MarkdownPage, headings, is_blank
from omoide.markdown.reformatting import is_same_content, is_same_title, is_same_value
from omoide.markdown.section import Section
from omoide.markdown.sections import PageLayout
from omoide.markdown.single_file import split_tags
from omoide.model import ACTIVITY, TYPES, Memory
from omoide.model.fields import ENTRY

MAIN, PINNED, DECISIONS = "MEMORY.md", "pinned.md", "decisions.md"
RECENT, SESSIONS = "最近の活動", "セッション"
_NOTE, _DECISION = TYPES[0], "decision"
_SESSION = re.compile(r"MEMORY_(.+)\.md", re.DOTALL)
_SESSION_BYTES = 230
_SESSION_TITLE = f"# {SESSIONS}: "
_LINK = re.compile(r"[-*+][ \t]+\[.*\]\((<[^>]*>|[^()]*)\)\s*$", re.DOTALL)
_YES = "はい"


class ProjectTree:
    """The files of one project, in the directory of its path below the mirror's place."""

    name = "tree"
    carries = (*(name for name in ENTRY if name != "relevance"), "id", "created_at")

    def __init__(self, project: str = "") -> None:
        self.directories = (project,)
        self._project = project
        self._above = f"{project}/" if project else ""

    def owns(self, name: str) -> bool:
        last = name.removeprefix(self._above)
        return name == self._above + last and (
            last in (MAIN, PINNED, DECISIONS) or ("/" not in last and _SESSION.fullmatch(last) is not None)
        )

    def file_for(self, memory: Memory, taken: Callable[[str], bool] = lambda _: False) -> str:
        del taken
        if memory.scope.name:
            return self._above + session_file(memory.scope.name)
        if memory.pinned:
            return self._above + PINNED
        return self._above + (DECISIONS if memory.type == _DECISION else MAIN)

    def expected_entry(self, memory: Memory) -> Entry:
        created_at = parse_time(_minute(memory))
        entry = entry_for(memory, self.carries, session=memory.scope.name, created_at=created_at)
        return msgspec.structs.replace(entry, source=None) if is_activity(memory) else entry

    def parse(self, name: str, text: str) -> list[LocatedEntry]:
        return self._page(name, text).parse(text)

    def mentions(self, name: str, text: str) -> dict[str, Mention]:
        return self._page(name, text).mentions(text)

    def rewrite(
        self,
        name: str,
        text: str | None,
        put: Mapping[str, Memory],
        drop: Collection[str],
        stamps: Mapping[int, Memory],
    ) -> str | None:
        session = next((memory.scope.name for memory in put.values() if memory.scope.name), "")
        return self._page(name, text or "", session).rewrite(text, put, drop, stamps)

    def update_frame(self, name: str, text: str | None, frame: ProjectFrame) -> str | None:
        """MEMORY.md with the project's title, description and sessions; of the other files, how each begins."""
        page = self._page(name, text or "")
        if name.removeprefix(self._above) != MAIN:
            return "\n".join([*page.opening(), ""]) if text is None else text
        if text is None or not text.strip():
            text = "\n".join([f"# {_title(frame.project)}", "", f"## {SESSIONS}", "", f"## {RECENT}", ""])
        if frame.description and read_description(text) != _single_line(frame.description):
            text = _with_description(text, frame.description)
        return _with_sessions(text, frame.sessions)

    def new_file(self, name: str, session: str) -> str:
        """The file of a session that has no entries yet."""
        return "\n".join([*self._page(name, "", session).opening(), ""])

    def _page(self, name: str, text: str, session: str = "") -> "_FileLayout":
        last = name.removeprefix(self._above)
        if last == MAIN:
            return _MainLayout(_title(self._project))
        if last in (PINNED, DECISIONS):
            return _FileLayout(_TITLES[last], pinned=last == PINNED, type=_DECISION if last == DECISIONS else _NOTE)
        session = session or session_of_file(last, text)
        return _FileLayout(f"{SESSIONS}: {session}", session=session)


def _title(project: str) -> str:
    return project.rpartition("/")[2] or MAIN


_TITLES = {PINNED: "固定記憶", DECISIONS: "決定事項"}


def session_file(session: str) -> str:
    """The name of a session's file; a very long one is shortened, and the first line of the file has the whole name."""
    if len(session.encode()) > _SESSION_BYTES:
        short = session.encode()[: _SESSION_BYTES - 9].decode(errors="ignore").rstrip()
        session = f"{short}-{hashlib.blake2b(session.encode(), digest_size=4).hexdigest()}"
    return f"MEMORY_{session}.md"


def is_session_file(name: str) -> bool:
    """Whether a file of this name is that of a session."""
    return _SESSION.fullmatch(name) is not None


def session_of_file(last: str, text: str) -> str:
    """The session whose file has this name and text: the inverse of `session_file`."""
    first = text.removeprefix("\ufeff").partition("\n")[0].removesuffix("\r")
    name = first.removeprefix(_SESSION_TITLE)
    if name != first and session_file(name) == last:
        return name
    found = _SESSION.fullmatch(last)
    return found[1] if found else ""


class _FileLayout(PageLayout):
    """One file of the tree. What all its entries share is not repeated by each."""

    level = 3
    labels: ClassVar = {
        "type": "種類",
        "tags": "タグ",
        "date": "日時",
        "key": "キー",
        "pinned": "固定",
        "source": "出典",
        "original_prompt": "元の指示",
        "example": "例",
        "content": "内容",
    }
    also: ClassVar = {field: field for field in labels} | {"examples": "example", "original prompt": "original_prompt"}
    many = ("example",)
    long = ("original_prompt", "example", "content")

    def __init__(self, title: str, *, pinned: bool = False, type: str = _NOTE, session: str = "") -> None:
        super().__init__()
        self._title = title
        self._pinned = pinned
        self._type = type
        self._session = session

    def opening(self) -> list[str]:
        return [f"# {self._title}"]

    def heading(self, memory: Memory) -> str:
        return f"### {heading_text(memory.topic)} <!-- omoide:{memory.id} -->"

    def parse_heading(self, text: str) -> tuple[str, str | None]:
        mark = MARK.search(text)
        id = parse_uuid(mark[1]) if mark else None
        return (text[: mark.start()].strip(), id) if mark and id else (text, None)

    def is_marker(self, line: str) -> bool:
        return is_entry_heading(line)

    def remove_id(self, page: MarkdownPage, section: Section) -> None:
        page.take([section.heading])
        page.insert(section.heading, [f"### {section.title}"])

    def entry(self, section: Section, id: str | None) -> Entry:
        return Entry(
            content=section.content,
            id=id,
            topic=explicit_topic(section.title, section.content),
            type=section.text("type") or (self._type if id or self._type != _NOTE else None),
            tags=split_tags(section.text("tags") or ""),
            examples=_examples(section),
            key=section.text("key") or None,
            pinned=self._is_pinned(section),
            session=self._session,
            source=section.text("source") or None,
            original_prompt=section.text("original_prompt") or None,
            created_at=parse_time((section.text("date") or "").strip()),
            below=section.below,
        )

    def values(self, memory: Memory) -> dict[str, list[str]]:
        return {
            "type": [] if memory.type == self._type else [memory.type],
            "tags": [", ".join(memory.tags)] if memory.tags else [],
            "date": [_minute(memory)],
            "key": [memory.key] if memory.key else [],
            "pinned": [_YES] if memory.pinned and not self._pinned else [],
            "source": [source] if (source := shown_source(memory.source)) and not is_activity(memory) else [],
            "original_prompt": [memory.original_prompt] if memory.original_prompt else [],
            "example": list(memory.examples),
            "content": [memory.content],
        }

    def is_current(self, field: str, section: Section, memory: Memory) -> bool:
        current = {
            "heading": section.id == memory.id and is_same_title(heading_text(memory.topic), heading_text(section.title)),
            "type": (section.text("type") or self._type) == memory.type,
            "tags": is_same_value(memory.tags, split_tags(section.text("tags") or "")),
            "date": True,  # the date does not change, and a person may leave it out
            "key": is_same_value(memory.key, section.text("key") or None),
            "pinned": self._is_pinned(section) == memory.pinned,
            "source": is_activity(memory) or is_same_value(shown_source(memory.source), section.text("source") or None),
            "original_prompt": is_same_value(memory.original_prompt, section.text("original_prompt") or None),
            "example": is_same_value(memory.examples, _examples(section)),
            "content": is_same_content(memory.content, section.content, section.below),
        }
        return current[field]

    def _is_pinned(self, section: Section) -> bool:
        return self._pinned or (section.text("pinned") or "").casefold() in (_YES, "yes", "true")


class _MainLayout(_FileLayout):
    """MEMORY.md, where entries are under 最近の活動."""

    def missing_heading(self, lines: Sequence[str]) -> list[str]:
        if any(heading.text == RECENT and heading.level == 2 for heading in headings(lines, self.is_marker)):
            return []
        return [*([*self.opening(), ""] if not any(line.strip() for line in lines) else []), f"## {RECENT}"]

    def insertion_line(self, lines: Sequence[str]) -> int:
        return _section(lines, RECENT)[1]

    def entry(self, section: Section, id: str | None) -> Entry:
        if isinstance(section, Bullet):
            return Entry(section.content, id, type=ACTIVITY, pinned=False, created_at=section.date)
        return super().entry(section, id)

    def remove_id(self, page: MarkdownPage, section: Section) -> None:
        if isinstance(section, Bullet):
            set_mark(page, section, None)
        else:
            super().remove_id(page, section)

    def is_certain(self, section: Section) -> bool:
        # A bullet without an id may be a label of an entry whose heading is in another style.
        return section.id is not None or not isinstance(section, Bullet)

    def _sections(self, lines: Sequence[str], ends: Collection[int] = ()) -> list[Section]:
        sections = super()._sections(lines, ends)
        return sorted([*sections, *self._bullets(lines, sections)], key=lambda section: section.heading)

    def _bullets(self, lines: Sequence[str], sections: Sequence[Section]) -> list[Bullet]:
        """The bullets under 最近の活動 that are in no entry, also below a person's own headings there."""
        heading, end = _section(lines, RECENT)
        if heading is None:
            return []
        parts: list[tuple[int, int]] = []
        start = heading + 1
        for section in sections:
            if heading < section.heading < end:
                parts.append((start, section.heading))
                start = section.end if section.id or section.fields else section.heading + 1
        return read_bullets(lines, [*parts, (start, end)], Fences(lines, self.is_marker))

    def _edit(self, page: MarkdownPage, section: Section, memory: Memory) -> None:
        if not isinstance(section, Bullet):
            super()._edit(page, section, memory)
        elif is_activity(memory) and section.content == memory.content and not has_content_label(memory.content):
            if section.id != memory.id:
                set_mark(page, section, memory.id)
        else:
            page.take(section.entry_lines)
            bullet = render_bullet(memory)
            if bullet is not None:
                page.insert(section.heading, bullet)
            else:
                super()._append(page, [memory])

    def _append(self, page: MarkdownPage, memories: Sequence[Memory]) -> None:
        """Append lines of activity below the last one, and every other entry at the end of 最近の活動."""
        bullets: list[str] = []
        others: list[Memory] = []
        for memory in memories:
            lines = render_bullet(memory)
            bullets += lines or []
            others += [memory] if lines is None else []
        heading, _ = _section(page.lines, RECENT)
        if bullets and heading is None:
            page.append([*self.missing_heading(page.lines), "", *bullets])
            for memory in others:
                page.append(self.lines(memory))
            return
        if bullets and heading is not None:
            self._insert_bullets(page, heading, bullets)
        super()._append(page, others)

    def _insert_bullets(self, page: MarkdownPage, heading: int, bullets: Sequence[str]) -> None:
        others = [*super()._sections(page.lines), *(one for one in page.entries if not isinstance(one, Bullet))]
        first = min((section.heading for section in others if section.heading > heading), default=len(page))
        known = [bullet for bullet in page.entries if isinstance(bullet, Bullet) and heading < bullet.heading < first]
        if known:
            page.insert_first(known[-1].end, bullets)
            return
        place = heading + 1
        is_spaced = place == len(page) or not page.lines[place].strip()
        below = next((line for line in page.lines[place:] if not is_blank(line)), "")
        separator = ["", "<!-- -->"] if below.startswith((" ", "\t")) else []  # else it would continue the last bullet
        page.insert_first(place, ["", *bullets, *separator, *([] if is_spaced else [""])])


def read_description(text: str) -> str:
    """The description of a project: the first block quote above the sections of its MEMORY.md, on one line."""
    lines = MarkdownPage(text).lines
    start, end = _quote(lines)
    return _single_line(" ".join(line.removeprefix(">") for line in lines[start:end]))


def _single_line(text: str) -> str:
    return " ".join(text.split())


def _quote(lines: Sequence[str]) -> tuple[int, int]:
    """The first block quote above the sections; where there is none, the place for one."""
    place = 0
    for index, line in enumerate(lines):
        if line.startswith(">"):
            end = next((later for later in range(index, len(lines)) if not lines[later].startswith(">")), len(lines))
            return index, end
        if line.startswith("# "):
            place = index + 1
        elif line.startswith("##"):
            break
    return place, place


def _with_description(text: str, description: str) -> str:
    page = MarkdownPage(text)
    start, end = _quote(page.lines)
    quote = [f"> {_single_line(description)}"]
    if start == end:
        quote = ["", *quote] if start else quote
        quote += [] if start < len(page) and not page.lines[start].strip() else [""]
    page.take(range(start, end))
    page.insert(start, quote)
    return page.text()


def _with_sessions(text: str, sessions: Sequence[str]) -> str:
    """Add the missing sessions to the list of sessions."""
    page = MarkdownPage(text)
    listed = {found[1] for line in page.lines if (found := _LINK.match(line))}
    missing = [f"- [{name}]({_target(name)})" for name in sessions if _target(name) not in listed]
    if not missing:
        return text
    heading, end = _section(page.lines, SESSIONS)
    if heading is None:
        place = next((one.line for one in headings(page.lines, is_entry_heading) if one.level == 2), len(page))
        page.insert(place, [f"## {SESSIONS}", "", *missing, ""])
        return page.text()
    last = next(index for index in range(end - 1, heading - 1, -1) if page.lines[index].strip())
    page.insert(last + 1, missing if _LINK.match(page.lines[last]) else ["", *missing])
    return page.text()


def _target(session: str) -> str:
    name = session_file(session)
    return f"<{name}>" if re.search(r"[\s()]", name) else name


def _section(lines: Sequence[str], name: str) -> tuple[int | None, int]:
    """The first line of a section of the second level, and the line after it; if it is missing, None and the last line."""
    start: int | None = None
    for heading in headings(lines, is_entry_heading):
        if start is not None and heading.level <= 2:
            return start, heading.line
        if start is None and heading.level == 2 and heading.text == name:
            start = heading.line
    return start, len(lines)


def is_entry_heading(line: str) -> bool:
    """Whether this is the heading of an entry, or a line of activity, that omoide has written."""
    return line.startswith(("### ", "- ", "* ", "+ ")) and "<!--" in line and MARK.search(line) is not None


def _examples(section: Section) -> tuple[str, ...]:
    return tuple(field.text for field in section.fields.get("example", ()))


def _minute(memory: Memory) -> str:
    return f"{memory.created_at.astimezone(UTC):%Y-%m-%d %H:%M}"
