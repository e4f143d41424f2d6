"""Parse the memory files of Claude Code, one fact in each, and pages of instructions such as CLAUDE.md or AGENTS.md.

The rules:
- A file with front matter is one fact: `name` is its topic, `description` is put above its text unless the text contains
  it, and its type (at the top or under `metadata`) becomes a type of omoide and a tag. Its file name is its key, so that a
  second import updates the same memory.
- `MEMORY.md` is an index: its links to files that are read are left out. The rest of it, and every file without front
  matter, is read like CLAUDE.md.
- In CLAUDE.md and AGENTS.md each item of a list, with all that is below it, is one memory, tagged with the heading it is
  under; other text is one memory for each heading, with the heading as its topic. Left out are omoide's own block, HTML
  comments, and lines that only import another file (`@path`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from omoide.errors import Unreadable
from omoide.markdown import frontmatter
from omoide.markdown.format import key_of_file, normalize_newlines
from omoide.markdown.page import HEADING, Fences
from omoide.model import CONTROL, Draft
from omoide.prompt import managed_block

INDEX = "MEMORY.md"
SOURCE = "claude-code"
_TYPES = {"user": "preference", "feedback": "preference", "project": "context", "reference": "context"}
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)", re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(<?([^)>]+)>?\)")
_IMPORT = re.compile(r"@[^\s@]+$")
_LINE = 500
_TAG = 200


class Fact(NamedTuple):
    """Something to remember, without a scope, and where it is written."""

    draft: Draft
    file: str
    line: int
    about: str = ""
    """What Claude Code calls its kind: user, feedback, project or reference."""


class ParsedFacts(NamedTuple):
    facts: list[Fact]
    troubles: list[str]
    """Why files cannot be read, and what to do."""


def parse_directory(files: Mapping[str, str]) -> ParsedFacts:
    """Return the facts of a memory directory, which is given as file name → text."""
    found = ParsedFacts([], [])
    for name in sorted(files, key=lambda name: (name != INDEX, name)):
        try:
            fact = _fact(name, files[name]) if name != INDEX else None
        except Unreadable as error:  # fallback: the other files; the person gets a message
            found.troubles.append(f"{name}: {error}")
            continue
        found.facts.extend([fact] if fact else parse_instructions(name, files[name], left_out=files))
    return found


def _fact(name: str, text: str) -> Fact | None:
    """Return the one fact of a file with front matter; None if it has none."""
    plain = normalize_newlines(text)
    fields, body = frontmatter.parse(plain)
    if not fields:
        return None
    topic = _field_text(fields, "name")
    description = _field_text(fields, "description")
    content = body.strip("\n")
    if description and description not in " ".join(content.split()):
        content = f"{description}\n\n{content}".strip("\n")
    if not content.strip():
        content = topic
    metadata = fields.get("metadata")
    about = _field_text(fields, "type") or (_field_text(metadata, "type") if isinstance(metadata, dict) else "")
    if not content.strip():
        return None
    draft = Draft(
        content,
        topic=_line(topic) or None,
        type=_TYPES.get(about.casefold()),
        tags=_tags(about),
        key=key_of_file(name),
        source=SOURCE,
    )
    return Fact(draft, name, 1, about)


def _field_text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""


def parse_instructions(name: str, text: str, left_out: Mapping[str, str] | None = None) -> list[Fact]:
    """Return the facts of a page of instructions; links to one of the files `left_out` are no facts."""
    lines, above = _split_body(normalize_newlines(text))
    found: list[Fact] = []
    for part in _split_parts(lines):
        content = "\n".join(part.lines).strip("\n").rstrip()
        link = _LINK.match(content)
        if not content.strip() or (left_out and link and link[1].removeprefix("./") in left_out):
            continue
        draft = Draft(
            content,
            topic=None if part.item else _line(part.heading) or None,
            type="context",
            tags=_tags(part.heading) if part.item else (),
            source=SOURCE,
        )
        found.append(Fact(draft, name, above + part.start + 1))
    return found


class _Part(NamedTuple):
    heading: str
    start: int
    lines: list[str]
    item: bool


def _split_parts(lines: Sequence[str]) -> Iterator[_Part]:
    """Yield the items of lists, and the other text below each heading."""
    heading = ""
    prose = _Part("", 0, [], item=False)
    item: _Part | None = None
    for index, line, fenced in _user_lines(lines):
        title = None if fenced else HEADING.match(line)
        bullet = None if fenced or title else _ITEM.match(line)
        if item and (title or bullet or _ends_item(item, line, fenced=fenced)):
            yield item
            item = None
        if title:
            yield prose
            heading = " ".join((title[2] or "").rstrip("# ").split())
            prose = _Part(heading, index, [], item=False)
        elif bullet:
            item = _Part(heading, index, [bullet[1]], item=True)
        elif item:
            item.lines.append(_dedent(line))
        else:
            prose = _add_line(prose, index, line)
    if item:
        yield item
    yield prose


def _ends_item(item: _Part, line: str, *, fenced: bool) -> bool:
    """Return whether a line is no part of an item any more: not indented, and after an empty line or in a code fence."""
    if not line.strip() or line.startswith((" ", "\t")):
        return False
    return fenced or not item.lines[-1].strip()


def _add_line(prose: _Part, index: int, line: str) -> _Part:
    """Return the text with one more line; it begins with the first line that is not empty."""
    if not prose.lines and not line.strip():
        return prose
    part = prose if prose.lines else prose._replace(start=index)
    part.lines.append(line)
    return part


def _dedent(line: str) -> str:
    if line.startswith("\t"):
        return line[1:]
    indent = len(line) - len(line.lstrip(" "))
    return line[min(indent, 2) :]


def _user_lines(lines: Sequence[str]) -> Iterator[tuple[int, str, bool]]:
    """Yield the lines that a person wrote, and whether each is in a code fence; no block of omoide, comments, imports."""
    fences = Fences(lines, lambda _: False)
    ours = comment = False
    fence = -1
    for index, line in enumerate(lines):
        if not ours and not comment:
            if index > fence:
                fence = fences.end(index) or fence
            if index <= fence:
                yield index, line, True
                continue
        ours = ours or line.rstrip() == managed_block.FIRST
        opened = comment or ours or line.lstrip().startswith("<!--")
        if not opened and not _IMPORT.match(line.strip()):
            yield index, line, False
        if ours:
            ours = line.rstrip() != managed_block.LAST
        else:
            comment = opened and "-->" not in line


def _split_body(plain: str) -> tuple[list[str], int]:
    """Return the lines below the front matter, if there is any, and how many are above."""
    try:
        halves = frontmatter.split(plain)
    except Unreadable:  # fallback: no front matter; a page may well begin with a line of ---
        halves = None
    lines = plain.split("\n")
    below = halves[1].count("\n") + 1 if halves else len(lines)
    return lines[len(lines) - below :], len(lines) - below


def _line(text: str) -> str:
    return CONTROL.sub("", " ".join(text.split()))[:_LINE].strip()


def _tags(text: str) -> tuple[str, ...]:
    tag = _line(text.replace(",", " "))[:_TAG].strip()
    return (tag,) if tag else ()
