"""Documents: all memories of a type on one page, by confidence, and a page that lists the pages.

The same memories always make the same bytes: there is no current date in them, and nothing of the machine.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from omoide.markdown.fence import fence
from omoide.markdown.format import heading_text
from omoide.markdown.languages import read_example
from omoide.markdown.record import author
from omoide.model import TYPES, Memory, Role

INDEX = "index.md"
_TITLES = {
    "tech": "Technical Knowledge",
    "project-tech": "Project Technical Standards",
    "domain": "Domain Knowledge",
}


def render_all(memories: Iterable[Memory]) -> dict[str, str]:
    """File name → page, the index first; a type without memories has none."""
    by_type: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        by_type[memory.type].append(memory)
    types = sorted(by_type, key=_sort_key)
    pages = {file_name(type): render_document(type, by_type[type]) for type in types}
    return {INDEX: render_index({type: len(by_type[type]) for type in types}), **pages}


def render_document(type: str, memories: Iterable[Memory]) -> str:
    """All of one type."""
    surest = sorted(memories, key=lambda memory: (-memory.confidence, -memory.reference_count, memory.created_at, memory.id))
    return "\n---\n\n".join([f"# {heading(type)}\n", *map(_section, surest)])


def render_index(counts: Mapping[str, int]) -> str:
    lines = ["# Memories", ""]
    lines += [f"- [{heading(type)}]({file_name(type)}): {count:,}" for type, count in counts.items()] or ["- nothing yet"]
    return "\n".join([*lines, ""])


def heading(type: str) -> str:
    return _TITLES.get(type) or type.replace("-", " ").capitalize()


def file_name(type: str) -> str:
    """The page's file name; never that of the index."""
    return "index-type.md" if f"{type}.md" == INDEX else f"{type}.md"


def _sort_key(type: str) -> tuple[int, str]:
    """The types that come with omoide in their order, tech before the plain notes, then others by name."""
    order = (*TYPES[1:], TYPES[0])
    return (order.index(type) if type in order else len(order), type)


def _section(memory: Memory) -> str:
    lines = [f"## {heading_text(memory.topic)}"]
    if memory.tags:
        lines.append(f"*Tags: {', '.join(memory.tags)}*")
    content = memory.content
    if memory.author is not None and memory.author.role is Role.WORKER:
        lines.append(f"*By {author(memory)}*")
        content = fence(content)  # otherwise it could contain a section that looks like somebody else's memory
    lines += [f"*References: {memory.reference_count}, Confidence: {memory.confidence:.2f}*", "", content]
    if memory.examples:
        lines += ["", "### Examples:"]
        lines += [fence(*read_example(example, memory.tags)) for example in memory.examples]
    return "\n".join([*lines, ""])
