"""Which memory each entry of the files is, and which are none yet. Pure."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import NamedTuple

from omoide.markdown.file_per_memory import ARCHIVE
from omoide.markdown.format import Format, LocatedEntry
from omoide.model import SyncState
from omoide.sync.database import DatabaseSide
from omoide.sync.snapshot import FileText
from omoide.sync.three_way import SeenEntry, differing_fields

_ARCHIVE = f"{ARCHIVE}/"
_TWICE = "{} has an entry with the same id: take the id out of one of them"

Stamp = tuple[str, int, str]
"""A file, a line and a digest: where an entry stands that has no id."""


class MatchResult(NamedTuple):
    found: dict[int, SeenEntry]
    """By the number of the memory."""
    strangers: list[SeenEntry]
    """Entries of memories that are to be made."""
    refused: list[tuple[SeenEntry, str]]
    """Entries that can be no memory's as they are, and what to do."""
    left: list[tuple[str, str]]
    """What a stopped sync left behind in a file that the memory is no longer in: the file, and the id there."""


def entry_stamp(seen: SeenEntry) -> Stamp:
    return seen.file, seen.placed.line, seen.placed.digest


def match_entries(
    texts: Mapping[str, FileText],
    unread: Collection[str],
    standing: DatabaseSide,
    stamps: Mapping[Stamp, int],
    format: Format,
    *,
    alone: bool,
) -> MatchResult:
    """`unread`: files that are as they were. `stamps`: entries that were taken in, but do not have their ids yet.
    `alone`: a file is one entry."""
    result = MatchResult({}, [], [], [])
    known = _KnownEntries(standing, stamps, alone=alone)
    for name, text in texts.items():
        for placed in text.placed:
            seen = SeenEntry(name, placed)
            number = known.number(name, placed)
            if number is not None:
                home = partial(format.file_for, standing.memories[number], lambda _: False)
                _place(result, number, seen, standing.sync_states.get(number), home, unread)
            elif placed.entry.id in standing.astray:
                why = standing.astray[placed.entry.id]
                result.refused.append((seen, f"{why}: take the id out to make it a new one, or delete the entry"))
            else:
                result.strangers.append(seen)
    _match_by_content(result, standing, format)
    return result


def _match_by_content(result: MatchResult, standing: DatabaseSide, format: Format) -> None:
    """An entry that has lost its id, because somebody saved an older text of the file, is still the same one."""
    missed: dict[tuple[str, str], int] = {}
    if any(not seen.placed.entry.id for seen in result.strangers):
        for number, sync_state in standing.sync_states.items():
            if sync_state.file and number not in result.found and number in standing.memories:
                missed.setdefault((sync_state.file, standing.memories[number].content), number)
    if not missed:
        return
    strangers, result.strangers[:] = list(result.strangers), []
    for seen in strangers:
        entry = seen.placed.entry
        lost = missed.get((seen.file, entry.content)) if not entry.id else None
        if lost is not None and not differing_fields(format.expected_entry(standing.memories[lost]), entry):
            del missed[seen.file, entry.content]
            result.found[lost] = seen
        else:
            result.strangers.append(seen)


class _KnownEntries:
    """The ways in which an entry is recognised."""

    def __init__(self, standing: DatabaseSide, stamps: Mapping[Stamp, int], *, alone: bool):
        self._standing = standing
        self._stamps = stamps
        self._by_id = {sync_state.entry: number for number, sync_state in standing.sync_states.items() if sync_state.entry}
        nameless = [(number, one) for number, one in standing.sync_states.items() if one.file and not one.entry]
        self._by_lines = {(one.file, one.digest): number for number, one in nameless}
        self._by_file = {one.file: number for number, one in nameless} if alone else {}

    def number(self, name: str, placed: LocatedEntry) -> int | None:
        id, key, numbers = placed.entry.id, placed.entry.key, self._standing.numbers
        if id:
            found = self._by_id.get(id) or numbers.get(id)
        else:
            found = (
                self._stamps.get((name, placed.line, placed.digest))
                or self._by_lines.get((name, placed.digest))
                or self._by_file.get(name)
            )
        found = found or (numbers.get(key) if key else None)
        return found if found in self._standing.memories else None


def _place(
    result: MatchResult,
    number: int,
    seen: SeenEntry,
    sync_state: SyncState | None,
    home: Callable[[], str],
    unread: Collection[str],
) -> None:
    """One more entry of a memory. If it has another one, that where they last met counts."""
    if sync_state and sync_state.file in unread and seen.file != sync_state.file:
        # Written there by a sync that was stopped, or brought back from the archive by a person who copies.
        if seen.file == home() or (sync_state.file.startswith(_ARCHIVE) and not seen.file.startswith(_ARCHIVE)):
            result.found[number] = seen
            result.left.append((sync_state.file, sync_state.entry))
        else:
            result.refused.append((seen, _TWICE.format(sync_state.file)))
        return
    other = result.found.setdefault(number, seen)
    if other is seen:
        return
    first, second = (seen, other) if sync_state and seen.file == sync_state.file else (other, seen)
    if sync_state and first.file != home() == second.file and first.placed.digest == sync_state.digest:
        # A sync was stopped after it had put the memory into another file, and before it took it from this one.
        result.found[number] = second
        result.left.append((first.file, sync_state.entry))
        return
    result.found[number] = first
    result.refused.append((second, _TWICE.format(first.file)))
