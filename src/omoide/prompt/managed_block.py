"""A block of memories between two markers in a file that belongs to somebody else, such as CLAUDE.md: never read back.

The rules:
- A marker is alone on its line. Everything outside the markers is left as it is, byte for byte.
- No marker: the block is added at the end of the file. A first and a last marker: what is between them is replaced.
- One without the other, the last above the first, or several of either (a block in a block, or a copy): it is unclear which
  text is whose, so the file is left alone, and an error names the line.
- The same memories make the same block: pinned ones first, then by confidence and number of references. The last line counts
  what does not fit.
"""

from collections.abc import Iterable, Sequence

from omoide.errors import Unreadable
from omoide.markdown.fence import indent
from omoide.markdown.format import heading_text
from omoide.markdown.page import MarkdownPage
from omoide.markdown.record import by_worker
from omoide.model import Memory

FIRST = "<!-- omoide: begin -->"
LAST = "<!-- omoide: end -->"
LARGEST = 20_000
"""Characters: all of it is in every prompt of the agent that reads the file."""
_INTRODUCTION = (
    "## Memories",
    "",
    "What was learnt here before, kept by omoide: aids, not orders, and perhaps out of date. Change them with omoide:",
    "this block is always rewritten.",
    "",
)


class ManagedBlock:
    """A block in the file with the name `file`. `largest`: how many characters the memories in it may have."""

    name = "block"
    directories: tuple[str, ...] = ()

    def __init__(self, file: str = "CLAUDE.md", largest: int = LARGEST) -> None:
        self._file = file
        self._largest = largest

    def belongs(self, name: str) -> bool:
        """Return whether a file with this name is the one of the block."""
        return name == self._file

    def render(self, text: str | None, memories: Iterable[Memory]) -> str:
        """Return the text of the file with these memories in its block.

        `text`: the text of the file as it is; None: there is no file. Raises Unreadable if its markers are not a pair.
        """
        page = MarkdownPage(text or "")
        found = _find_markers(page.lines)
        lines = [FIRST, *self._lines(sorted(memories, key=_sort_key)), LAST]
        if found is None:
            page.append(lines)
            return page.text()
        first, last = found
        if page.lines[first : last + 1] != lines:
            page.take(range(first, last + 1))
            page.insert(first, lines)
        return page.text()

    def remove(self, text: str) -> str:
        """Return the text of the file without the block and an empty line above it. Raises Unreadable as `render` does."""
        page = MarkdownPage(text)
        found = _find_markers(page.lines)
        if found is not None:
            first, last = found
            page.take(range(first, last + 1))
            if first and not page.lines[first - 1].strip():
                page.take([first - 1])
        return page.text()

    def _lines(self, memories: Sequence[Memory]) -> list[str]:
        lines = list(_INTRODUCTION)
        room = self._largest
        for index, memory in enumerate(memories):
            item = _list_item(memory)
            room -= sum(len(line) + 1 for line in item)
            if room < 0:
                rest = len(memories) - index
                return [*lines, f"- … and {rest} more: `omoide recall`, or `omoide list`"]
            lines += item
        return lines if memories else [*lines, "- nothing yet"]


def _find_markers(lines: Sequence[str]) -> tuple[int, int] | None:
    """The lines of the two markers; None if there are none."""
    first = [index for index, line in enumerate(lines) if line.rstrip() == FIRST]
    last = [index for index, line in enumerate(lines) if line.rstrip() == LAST]
    if not first and not last:
        return None
    if len(first) == len(last) == 1 and first[0] < last[0]:
        return first[0], last[0]
    for marker, found in ((FIRST, first), (LAST, last)):
        if len(found) > 1:
            raise Unreadable(f"line {found[1] + 1}: `{marker}` is here for the second time: keep one block")
    if not last:
        raise Unreadable(f"line {first[0] + 1}: `{FIRST}` has no `{LAST}` below it: add that, or remove the line")
    raise Unreadable(f"line {last[0] + 1}: `{LAST}` has no `{FIRST}` above it: add that, or remove the line")


def _sort_key(memory: Memory) -> tuple[object, ...]:
    return (not memory.pinned, -memory.confidence, -memory.reference_count, memory.created_at, memory.id)


def _list_item(memory: Memory) -> list[str]:
    """A memory as an item of a list. Its further lines are indented, so that no text can be a marker."""
    text = indent(memory.content.strip("\r\n").replace("\r\n", "\n"))
    first, *others = text.split("\n")
    topic = f"**{heading_text(memory.topic)}**: " if memory.topic_given and memory.topic != first.strip() else ""
    kind = "" if memory.type == "note" else f" ({memory.type})"
    if by := by_worker(memory.author):
        kind += f" ({by})"
    first = first.removeprefix("  ").rstrip()
    if not others:
        return [f"- {topic}{first}{kind}"]
    head = [f"- {topic}{first}".rstrip()] if not topic else [f"- {topic.rstrip()}", f"  {first}"]
    return [*head, *(line.rstrip() for line in others), *([f"  {kind.strip()}"] if kind else [])]
