"""Which entries of its file the list of a repository shows: not those that git brought back."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from omoide.markdown.format import Entry, LocatedEntry
from omoide.markdown.single_file import SingleFile
from omoide.model import Held, Memory, Mirror, Scope, SyncState
from omoide.sync.database import SyncDatabase
from omoide.sync.three_way import differing_fields


class ShownEntry(NamedTuple):
    """An entry as the list shows it."""

    line: int
    entry: Entry
    number: int | None
    """The number of its memory; None if the mirror does not know it."""


class _KnownMemories(NamedTuple):
    """What the database knows of the entries of a file."""

    numbers: Mapping[str, int]
    """The memories of the mirror, by the ids that they have in its files."""
    memories: Mapping[str, Memory]
    """The memories of the ids in the file."""
    purged: Collection[str]
    """The ids among them whose memories were purged."""
    held: Mapping[str, tuple[Memory, SyncState]]
    """What a sync leaves as it is, by the id in the file, or by the digest of an entry without one."""


def find_shown_entries(
    database: SyncDatabase, mirror: Mirror | None, scope: Scope, format: SingleFile, name: str, text: str
) -> list[ShownEntry]:
    """Return the entries of a file as the list shows them, in the order of the file.

    An entry of a memory that is not active, or was purged, is left out, and so is one without an id that says what such a
    memory or another entry says or said. One that shows an earlier version, which nobody wrote now, has the text of its
    memory. `mirror`: None if the file has none; then its memories are those of `scope`.
    """
    known, located = _find_known(database, mirror, scope, format.parse(name, text))
    found = [
        ShownEntry(one.line, entry, known.numbers.get(one.entry.id or ""))
        for one in located
        if (entry := _find_entry(database, mirror, scope, format, known, one)) is not None
    ]
    # An entry that somebody rewrote as something else, with its id, is still that memory.
    found += _find_rewritten(database, format, known, name, text)
    return sorted(found, key=lambda one: one.line)


def _find_known(
    database: SyncDatabase, mirror: Mirror | None, scope: Scope, located: list[LocatedEntry]
) -> tuple[_KnownMemories, list[LocatedEntry]]:
    """What the database knows of the entries, and the entries without those that have no id and say nothing new."""
    ids = [one.entry.id for one in located if one.entry.id]
    numbers = {} if mirror is None else database.entries(mirror.number)
    held = [] if mirror is None else database.held_states(mirror.number)
    memories = _memories_of(database, numbers, ids)
    purged = database.purged_ids([id for id in ids if id not in memories])
    known = _KnownMemories(
        numbers, memories, purged, {state.entry or state.digest: (memory, state) for memory, state in held}
    )
    repeated = _lines_of_repetitions(database, scope, known, located)
    return known, [one for one in located if one.line not in repeated]


def _memories_of(database: SyncDatabase, numbers: Mapping[str, int], ids: Sequence[str]) -> dict[str, Memory]:
    """The memories with these ids; of an id that the mirror knows, the memory whose entry it is."""
    by_number = {memory.number: memory for memory in database.memories([numbers[id] for id in ids if id in numbers])}
    return database.memories_by_id(ids) | {id: by_number[numbers[id]] for id in ids if numbers.get(id) in by_number}


def _lines_of_repetitions(
    database: SyncDatabase, scope: Scope, known: _KnownMemories, located: Sequence[LocatedEntry]
) -> set[int]:
    """The lines of the entries that have no id and say nothing new."""
    unknown = [one for one in located if not one.entry.id and one.digest not in known.held]
    present = [memory.number for memory in known.memories.values()]
    is_known = database.says_nothing_new([one.entry for one in unknown], scope, present) if unknown else ()
    return {one.line for one, known in zip(unknown, is_known, strict=True) if known}


def _find_entry(
    database: SyncDatabase, mirror: Mirror | None, scope: Scope, format: SingleFile, known: _KnownMemories, one: LocatedEntry
) -> Entry | None:
    """The entry as it is shown; None: it is not."""
    entry = one.entry
    if entry.id in known.purged:
        return None
    memory, state = known.held.get(entry.id or one.digest, (known.memories.get(entry.id or ""), None))
    if memory is None:
        return entry
    if not database.is_current(memory):
        return None
    if mirror is None:
        is_earlier = memory.scope == scope and _is_earlier_version(database, format, memory, entry)
    else:
        is_earlier = state is not None and state.held == Held.OUTDATED
    return format.expected_entry(memory) if is_earlier else entry


def _is_earlier_version(database: SyncDatabase, format: SingleFile, memory: Memory, entry: Entry) -> bool:
    """Whether an entry that was never synced shows its memory as it was before."""
    return differing_fields(format.expected_entry(memory), entry) and any(
        not differing_fields(format.expected_entry(version), entry) for version in database.versions_since(memory.number, 1)
    )


def _find_rewritten(
    database: SyncDatabase, format: SingleFile, known: _KnownMemories, name: str, text: str
) -> Iterator[ShownEntry]:
    rewritten = {
        id: memory
        for id, (memory, state) in known.held.items()
        if state.held == Held.UNREADABLE and database.is_current(memory)
    }
    mentions = format.mentions(name, text) if rewritten else {}
    for id in mentions.keys() & rewritten.keys():
        memory = rewritten[id]
        yield ShownEntry(mentions[id].line, format.expected_entry(memory), memory.number)
