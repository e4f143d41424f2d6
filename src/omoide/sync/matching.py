"""Match the entries of files with the memories they are, and find those that are new. Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from omoide.markdown.file_per_memory import ARCHIVE
from omoide.markdown.format import Entry, Format, LocatedEntry, changed_fields
from omoide.model import Memory, SyncState
from omoide.sync.database import DatabaseSide
from omoide.sync.snapshot import FileText
from omoide.sync.three_way import SeenEntry, differing_fields

_ARCHIVE = f"{ARCHIVE}/"
_DUPLICATE_ID = "{} has an entry with the same id: take the id out of one of them"
_DUPLICATE_KEY = "key {!r} is taken by #{}, which is in {}: give it another key or name"

Stamp = tuple[str, int, str]
"""A file, a line and a digest: where an entry without an id stands."""


class MatchResult(NamedTuple):
    found: dict[int, SeenEntry]
    """The entry of each memory, by number."""
    strangers: list[SeenEntry]
    """Entries of new memories."""
    refused: list[tuple[SeenEntry, str]]
    """Entries that cannot be matched as they are, and what to do about it."""
    leftovers: list[tuple[str, str]]
    """What a stopped sync left in a file that the memory is no longer in: the file, and the id there."""


def entry_stamp(seen: SeenEntry) -> Stamp:
    return seen.file, seen.placed.line, seen.placed.digest


def match_entries(
    texts: Mapping[str, FileText],
    unread: Collection[str],
    database: DatabaseSide,
    stamps: Mapping[Stamp, int],
    format: Format,
    *,
    alone: bool,
) -> MatchResult:
    """Match the entries of `texts` with memories.

    `unread`: files that look as they did at the last sync. `stamps`: entries that were imported, but do not have their ids
    yet. `alone`: each file is one entry.
    """
    result = MatchResult({}, [], [], [])
    known = _KnownEntries(database, stamps, alone=alone)
    for name, text in texts.items():
        for placed in text.placed:
            seen = SeenEntry(name, placed)
            number = known.number(name, placed)
            if number is not None:
                home = partial(format.file_for, database.memories[number], lambda _: False)
                _add_match(result, number, seen, database.sync_states.get(number), home, unread)
            elif placed.entry.id in database.misplaced:
                result.refused.append((seen, database.misplaced[placed.entry.id]))
            else:
                result.strangers.append(seen)
    _match_by_content(result, database, format, alone=alone)
    return result


def closest_version(versions: Sequence[Memory], entry: Entry, format: Format) -> Memory:
    """The version from which an entry differs in the fewest fields; of several, the newest."""
    return min(
        versions,
        key=lambda version: (len(changed_fields(version, format.expected_entry(version), entry)), -version.version),
    )


def _match_by_content(result: MatchResult, database: DatabaseSide, format: Format, *, alone: bool) -> None:
    """Match entries that have lost their ids, because somebody saved an older text of the file, or took the fields out."""
    if all(seen.placed.entry.id for seen in result.strangers):
        return
    missing = _missing_by_content(result, database)
    strangers, result.strangers[:] = list(result.strangers), []
    for seen in strangers:
        entry = seen.placed.entry
        number = missing.get((seen.file, entry.content)) if not entry.id else None
        # In a file of its own, an entry without a key has that of the file's name.
        named = msgspec.structs.replace(entry, key=None) if alone else entry
        if number is not None and not differing_fields(format.expected_entry(database.memories[number]), named):
            del missing[seen.file, entry.content]
            result.found[number] = seen
        else:
            result.strangers.append(seen)


def _missing_by_content(result: MatchResult, database: DatabaseSide) -> dict[tuple[str, str], int]:
    """The memories that should have an entry and have none, by file and content."""
    missing: dict[tuple[str, str], int] = {}
    for number, sync_state in database.sync_states.items():
        if sync_state.file and number not in result.found and number in database.memories:
            missing.setdefault((sync_state.file, database.memories[number].content), number)
    return missing


class _KnownEntries:
    """Recognises entries by id, stamp, digest, file or key."""

    def __init__(self, database: DatabaseSide, stamps: Mapping[Stamp, int], *, alone: bool):
        self._database = database
        self._stamps = stamps
        self._by_id = {state.entry: number for number, state in database.sync_states.items() if state.entry}
        without_id = [(number, state) for number, state in database.sync_states.items() if state.file and not state.entry]
        self._by_digest = {(state.file, state.digest): number for number, state in without_id}
        self._by_file = {state.file: number for number, state in without_id} if alone else {}

    def number(self, name: str, placed: LocatedEntry) -> int | None:
        """The number of the memory that an entry is; None: it is of none that is known."""
        id, key, numbers = placed.entry.id, placed.entry.key, self._database.numbers
        if id:
            number = self._by_id.get(id) or numbers.get(id)
        else:
            number = (
                self._stamps.get((name, placed.line, placed.digest))
                or self._by_digest.get((name, placed.digest))
                or self._by_file.get(name)
            )
        number = number or (numbers.get(key) if key else None)
        return number if number in self._database.memories else None


def _add_match(
    result: MatchResult,
    number: int,
    seen: SeenEntry,
    sync_state: SyncState | None,
    home: Callable[[], str],
    unread: Collection[str],
) -> None:
    """Add an entry of a memory. If it has another one, the one in the file of the last sync counts."""
    if sync_state and sync_state.file in unread and seen.file != sync_state.file:
        # Written there by a sync that was stopped, or copied from the archive by a person.
        is_written = bool(seen.placed.entry.id) and seen.file == home()
        if is_written or _is_copied_from_archive(sync_state.file, seen.file):
            result.found[number] = seen
            result.leftovers.append((sync_state.file, sync_state.entry))
        else:
            result.refused.append((seen, _describe_duplicate(number, seen.placed.entry, sync_state.file)))
        return
    other = result.found.setdefault(number, seen)
    if other is not seen:
        first, second = (seen, other) if sync_state and seen.file == sync_state.file else (other, seen)
        _choose_match(result, number, first, second, sync_state, home)


def _choose_match(
    result: MatchResult,
    number: int,
    first: SeenEntry,
    second: SeenEntry,
    sync_state: SyncState | None,
    home: Callable[[], str],
) -> None:
    """Choose between two entries of one memory, of which `first` is the one in the file of the last sync."""
    is_written = bool(second.placed.entry.id) and first.file != home() == second.file
    if sync_state and is_written and first.placed.digest == sync_state.digest:
        # A sync was stopped after it had written the memory to another file, and before it removed it from this one.
        result.found[number] = second
        result.leftovers.append((first.file, sync_state.entry))
    else:
        result.found[number] = first
        result.refused.append((second, _describe_duplicate(number, second.placed.entry, first.file)))


def _describe_duplicate(number: int, entry: Entry, file: str) -> str:
    """Why an entry is not that of a memory which a file has already, and what to do."""
    is_by_key = entry.key and not entry.id
    return _DUPLICATE_KEY.format(entry.key, number, file) if is_by_key else _DUPLICATE_ID.format(file)


def _is_copied_from_archive(file: str, copy: str) -> bool:
    return file.startswith(_ARCHIVE) and not copy.startswith(_ARCHIVE)
