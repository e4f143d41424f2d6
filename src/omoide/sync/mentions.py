"""Ids in a mirrored file whose entries cannot be read: where they are, and whether the text of the memory is there too."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from omoide.errors import Unreadable
from omoide.markdown.format import Format, Mention
from omoide.markdown.loose_sections import ids_in
from omoide.markdown.normal_form import normal_form
from omoide.markdown.page import MarkdownPage, is_blank
from omoide.model import Held, Memory, SyncState
from omoide.service.mirrors import holds
from omoide.sync.database import SyncDatabase
from omoide.sync.snapshot import Snapshot


class RetiredMention(NamedTuple):
    """A memory that is not active, and whose text a file has beside its id, in no entry."""

    memory: Memory
    file: str
    id: str
    mention: Mention


def unreadable_entries(
    snapshot: Snapshot, held: Iterable[SyncState], memories: Callable[[Sequence[int]], Sequence[Memory]]
) -> list[str]:
    """Return a line for each entry that cannot be read: where it is, and what to do.

    `held`: what the plan of a sync leaves alone. `memories` returns memories by number. An entry whose text is still
    beside its id says what it should, and gets no line.
    """
    states = {state.memory: state for state in held if state.held == Held.UNREADABLE}
    found = find_mentions(snapshot, states.values())
    lines = []
    for memory in memories(list(states)):
        mention = found.get(memory.number)
        if mention is None or not is_stated(memory.content, mention):
            path = snapshot.place.root / states[memory.number].file
            where = f"{path}, line {mention.line}" if mention else str(path)
            lines.append(
                f"{where}: the entry of #{memory.number} cannot be read and was left alone:"
                f" `omoide mirror put-back {snapshot.mirror.number} {memory.number}` writes it again"
            )
    return lines


def is_stated(content: str, mention: Mention) -> bool:
    """Return whether the text of a memory is beside its id, however that is written."""
    return normal_form(content) in normal_form(mention.text)


def find_mentions(snapshot: Snapshot, states: Iterable[SyncState]) -> dict[int, Mention]:
    """Return where the ids of missing entries are, by the number of the memory."""
    texts: dict[str, dict[str, Mention]] = {}
    found: dict[int, Mention] = {}
    for state in states:
        if state.file not in texts:
            texts[state.file] = _mentions(snapshot, state.file)
        if state.entry in texts[state.file]:
            found[state.memory] = texts[state.file][state.entry]
    return found


def find_retired_mentions(snapshot: Snapshot, database: SyncDatabase, texts: Mapping[str, str]) -> list[RetiredMention]:
    """Return the memories that are not active and are in no entry of these files, but there with their ids and texts."""
    if snapshot.is_file_per_entry:  # a file without an entry is not of the mirror
        return []
    ids = {name: list(ids_in(text.split("\n"))) for name, text in texts.items()}
    known = database.memories_by_id([id for found in ids.values() for id in found])
    retired = {
        id: memory
        for id, memory in known.items()
        if holds(snapshot.mirror, memory.scope) and not database.is_current(memory)
    }
    return [
        RetiredMention(retired[id], name, id, mention)
        for name, found in ids.items()
        if not retired.keys().isdisjoint(found)
        for id, mention in snapshot.format.mentions(name, texts[name]).items()
        if id in retired and any(is_stated(one.content, mention) for one in database.versions_since(retired[id].number, 1))
    ]


def remove_mentions(format: Format, name: str, text: str, ids: Collection[str]) -> str:
    """Return a file without the items, rows and lines that these ids are in; what cannot be removed by itself stays."""
    while True:
        found = [mention for id, mention in format.mentions(name, text).items() if id in ids and mention.lines]
        if not found:
            return text
        page = MarkdownPage(text)
        for mention in found:
            page.take(line - 1 for line in mention.lines)
            first, after = mention.lines[0] - 2, mention.lines[-1]
            if first >= 0 and after < len(page) and is_blank(page.lines[first]) and is_blank(page.lines[after]):
                page.take([after])  # one empty line is enough between what was above and below it
        text = page.text()


def _mentions(snapshot: Snapshot, file: str) -> dict[str, Mention]:
    try:
        read = snapshot.place.read(file)
        return {} if read is None else snapshot.format.mentions(file, read[0])
    except Unreadable:  # fallback: the file alone is named
        return {}
