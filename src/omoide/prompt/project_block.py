"""Render the memory of a project as a block for the end of a prompt, cut to a size. Pure.

The block is `---`, `## プロジェクトメモリ: <name>`, the text of MEMORY.md, the newest session, `### 固定記憶` with the
pinned memories, the summaries of other projects, and `---`.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern
from omoide.prompt import quote

TITLE, PINNED, OTHERS = "## プロジェクトメモリ: ", "### 固定記憶", "### 関連プロジェクト: "
CUT = "…"
"""Stands for lines that did not fit."""
_RULE = load_pattern(r" {0,3}([-*_])[ \t]*(\1[ \t]*){2,}")
_OWN_HEADING = load_pattern(r" {0,3}(##[ \t]+プロジェクトメモリ|###[ \t]+(固定記憶|関連プロジェクト))")
_FENCE = load_pattern(r" {0,3}(`{3,}|~{3,})([^`]*)$")
_HTML = load_pattern(r" {0,3}<(!--|!\[CDATA|![a-z]|\?|script|pre|style|textarea)", re.IGNORECASE)
"""The beginning of HTML that goes on over empty lines."""
_MARK = load_pattern(r"[ \t]*<!--[ \t]*omoide:[0-9a-fA-F-]{36}[ \t]*-->")
_PINNED_TITLE = load_pattern(r"#[ \t]+固定記憶[ \t]*\n+")


class ProjectTexts(NamedTuple):
    """The texts of a project that a block shows."""

    name: str
    memory: str
    """MEMORY.md."""
    session: str = ""
    """The file of the newest session."""
    pinned: str = ""
    """pinned.md."""


def render_project_block(project: ProjectTexts, others: Sequence[tuple[str, str]] = (), *, most: int = 0) -> str:
    """Return the block of a project; an empty text if not even its frame fits.

    `others`: the name and the text of MEMORY.md of other projects, of which the block shows only the part before the first
    section. `most`: the maximum size in bytes; 0: no limit. What does not fit is left out: first the other projects, from
    the last one, then the oldest lines of the session, then the end of MEMORY.md, then the end of the pinned memories.
    """
    parts = _Parts(
        _body(project.memory),
        _body(project.session),
        _body(_PINNED_TITLE.sub("", project.pinned, count=1)),
        [(quote.one_line(name), summary) for name, text in others if (summary := _body(summary_of(text)))],
    )
    name = quote.one_line(project.name)
    if not most or _size(name, parts) <= most:
        return _render(name, parts)
    while parts.others and _size(name, parts) > most:
        parts = parts._replace(others=parts.others[:-1])
    while parts.session and (excess := _size(name, parts) - most) > 0:
        parts = parts._replace(session=_cut(parts.session[::-1], excess)[::-1])
    while parts.memory and (excess := _size(name, parts) - most) > 0:
        parts = parts._replace(memory=_cut(parts.memory, excess))
    while parts.pinned and (excess := _size(name, parts) - most) > 0:
        parts = parts._replace(pinned=_cut(parts.pinned, excess))
    return _render(name, parts) if _size(name, parts) <= most else ""


def inject_project_block(prompt: str, context: str, block: str) -> str:
    """Return a prompt followed by a context, such as that of a channel, and a project's block; empty texts are left out."""
    return "\n".join(f"{part.rstrip()}\n" for part in (prompt, context, block) if part.strip())


def summary_of(memory: str) -> str:
    """Return the part of MEMORY.md before its first section: the title, and the block quote that describes the project."""
    lines: list[str] = []
    for line in quote.lines(memory):
        if line.startswith("## "):
            break
        lines.append(line)
    return "\n".join(lines)


class _Parts(NamedTuple):
    memory: list[str]
    session: list[str]
    pinned: list[str]
    others: list[tuple[str, list[str]]]


def _body(text: str) -> list[str]:
    """The lines of a text; none of them ends the block, or is one of its headings. Headings of its own stay."""
    lines = [_escape(_MARK.sub("", line).rstrip()) for line in quote.lines(text)]
    return lines if any(lines) else []


def _escape(line: str) -> str:
    ends = _RULE.fullmatch(line) or _OWN_HEADING.match(line) or (_HTML.match(line) and "-->" not in line)
    return f"\\{line.lstrip()}" if ends else line


def _render(name: str, parts: _Parts) -> str:
    lines = ["---", f"{TITLE}{name}", ""]
    for body in (parts.memory, parts.session):
        if body:
            lines += [*_close_fence(body), ""]
    if parts.pinned:
        lines += [PINNED, *_close_fence(parts.pinned), ""]
    for other, summary in parts.others:
        lines += [f"{OTHERS}{other}", *_close_fence(summary), ""]
    return "\n".join([*lines, "---", ""])


def _size(name: str, parts: _Parts) -> int:
    return len(_render(name, parts).encode())


def _cut(lines: Sequence[str], excess: int) -> list[str]:
    """The lines without those at their end that have so many bytes; at least one less."""
    kept = list(lines[:-1] if lines[-1] == CUT else lines)
    room = sum(len(line.encode()) + 1 for line in kept) - excess - len(CUT.encode()) - 1
    fitting: list[str] = []
    for line in kept[:-1]:
        room -= len(line.encode()) + 1
        if room < 0:
            break
        fitting.append(line)
    return [*fitting, CUT] if fitting else []


def _close_fence(lines: Sequence[str]) -> list[str]:
    """The lines, and the end of a code block that they begin and do not end: it would contain what follows."""
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        if found is None:
            continue
        if not fence:
            fence = found[1]
        elif found[1].startswith(fence) and not found[2].strip():
            fence = ""
    return [*lines, fence] if fence else list(lines)
