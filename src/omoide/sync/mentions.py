"""Ids in a mirrored file whose entries cannot be read: where they are, and whether the text of the memory is there too."""

from collections.abc import Callable, Iterable, Sequence

from omoide.errors import Unreadable
from omoide.markdown.format import Mention
from omoide.markdown.normal_form import normal_form
from omoide.model import Held, Memory, SyncState
from omoide.sync.snapshot import Snapshot


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
        if mention is None or not is_stated(memory, mention):
            path = snapshot.place.root / states[memory.number].file
            where = f"{path}, line {mention.line}" if mention else str(path)
            lines.append(
                f"{where}: the entry of #{memory.number} cannot be read and was left alone:"
                f" `omoide mirror put-back {snapshot.mirror.number} {memory.number}` writes it again"
            )
    return lines


def is_stated(memory: Memory, mention: Mention) -> bool:
    """Return whether the text of a memory is beside its id, however that is written."""
    return normal_form(memory.content) in normal_form(mention.text)


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


def _mentions(snapshot: Snapshot, file: str) -> dict[str, Mention]:
    try:
        read = snapshot.place.read(file)
        return {} if read is None else snapshot.format.mentions(file, read[0])
    except Unreadable:  # fallback: the file alone is named
        return {}
