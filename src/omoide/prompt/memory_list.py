"""Render the list of a repository as text for the start of a prompt: `# Memories`, its entries, and `---`. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from omoide.markdown.page import render_labelled
from omoide.prompt import quote


class ListedMemory(NamedTuple):
    """An entry of the list."""

    title: str
    tags: tuple[str, ...]
    """With the type first, unless it is a plain note."""
    date: str
    content: str


def render_list(memories: Iterable[ListedMemory]) -> str:
    """Return the whole list in the format of its file, without ids, closed by `---`; an empty text if there are no memories.

    The further lines of a text are indented, so that none of them is a heading, a label or the end of the list.
    """
    lines: list[str] = []
    for memory in memories:
        lines += [
            f"## {quote.one_line(memory.title)}",
            f"- Tags: {quote.one_line(', '.join(memory.tags))}".rstrip(),
            f"- Date: {quote.one_line(memory.date)}".rstrip(),
            *render_labelled("Content", "\n".join(quote.lines(memory.content))),
            "",
        ]
    return "\n".join(["# Memories", "", *lines, "---", ""]) if lines else ""
