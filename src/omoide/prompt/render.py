"""Render the composed prompt: Role, Task, Workspace, Read First, Memories, Constraints, digest, Output Format. Pure."""

import re
from collections.abc import Iterable

from omoide.compiled_patterns import load_pattern
from omoide.model.prompt import Task
from omoide.prompt import quote

FORMAT = 1
"""The version of the format: one more when the same task and memories give other bytes. `replay` needs it."""
SECTIONS = (
    "Role",
    "Task",
    "Workspace",
    "Read First",
    "Memories",
    "Constraints",
    "Retry/Continue Digest",
    "Output Format",
)
_OWN_HEADING = load_pattern(rf"^ {{0,3}}##[ \t]+(?:{'|'.join(map(re.escape, SECTIONS))})[ \t]*#*[ \t]*$")


def memory_line(type: str, content: str) -> str:
    """Return a memory as it stands in the section Memories: `- [type] content`, with further lines indented."""
    return quote.list_item(f"[{type}] ", content)


def render(task: Task, role: str, memories: Iterable[str]) -> str:
    """Return the prompt of a task. A section without a text is left out.

    `role`: the text of the section Role: that of the task, or the template of its profile. `memories`: what `memory_line`
    returns for each memory.
    """
    bodies = {
        "Role": _text(role),
        "Task": _task(task),
        "Workspace": _text(task.workspace),
        "Read First": "".join(quote.list_item("", path) for path in task.read_first),
        "Memories": "".join(memories),
        "Constraints": _constraints(task),
        "Retry/Continue Digest": _text(task.digest),
        "Output Format": _text(task.output_format),
    }
    return "\n".join(f"## {title}\n{body}" for title, body in bodies.items() if body)


def _task(task: Task) -> str:
    heads = [f"{label}: {quote.one_line(text)}\n" for label, text in (("ID", task.id), ("Title", task.title)) if text]
    description = _text(task.description)
    return "".join([*heads, "\n" if heads and description else "", description])


def _constraints(task: Task) -> str:
    scope = quote.list_item("Write only: ", ", ".join(map(quote.one_line, task.write_scope))) if task.write_scope else ""
    return scope + "".join(quote.list_item("", constraint) for constraint in task.constraints)


def _text(text: str) -> str:
    """A text of the task as it is, except that no line of it is a heading of the prompt."""
    if not text.strip():
        return ""
    return "".join(f"{_escape_heading(line)}\n" for line in quote.lines(text))


def _escape_heading(line: str) -> str:
    return f"\\{line.lstrip()}" if _OWN_HEADING.match(line) else line
