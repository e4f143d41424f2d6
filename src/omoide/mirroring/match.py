"""Which memory each entry of the files is, and which are none yet. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from omoide.formats.entry import Format, Placed
from omoide.mirroring.merge import Seen
from omoide.mirroring.sight import Text
from omoide.model import Meeting, Memory
from omoide.service.meetings import Standing

Stamp = tuple[str, int, str]
"""A file, a line and a digest: where an entry stands that has no id."""


class Matched(NamedTuple):
    found: dict[int, Seen]
    """By the number of the memory."""
    strangers: list[Seen]
    """Entries of memories that are to be made."""
    refused: list[tuple[Seen, str]]
    """Entries that can be no memory's as they are, and what to do."""
    left: list[Seen]
    """What a stopped sync left behind in a file that the memory is no longer in."""


def stamp(seen: Seen) -> Stamp:
    return seen.file, seen.placed.line, seen.placed.digest


def matched(
    texts: Mapping[str, Text], standing: Standing, stamps: Mapping[Stamp, int], format: Format, *, alone: bool
) -> Matched:
    """`stamps`: entries that were taken in, but do not have their ids yet. `alone`: a file is one entry."""
    result = Matched({}, [], [], [])
    known = _Known(standing, stamps, alone=alone)
    for name, text in texts.items():
        for placed in text.placed:
            seen = Seen(name, placed)
            number = known.number(name, placed)
            if number is not None:
                _place(result, number, seen, standing.memories[number], standing.meetings.get(number), format)
            elif placed.entry.id in standing.astray:
                why = standing.astray[placed.entry.id]
                result.refused.append((seen, f"{why}: take the id out to make it a new one, or delete the entry"))
            else:
                result.strangers.append(seen)
    return result


class _Known:
    """The ways in which an entry is recognised."""

    def __init__(self, standing: Standing, stamps: Mapping[Stamp, int], *, alone: bool):
        self._standing = standing
        self._stamps = stamps
        self._by_id = {meeting.entry: number for number, meeting in standing.meetings.items() if meeting.entry}
        nameless = [(number, one) for number, one in standing.meetings.items() if one.file and not one.entry]
        self._by_lines = {(one.file, one.digest): number for number, one in nameless}
        self._by_file = {one.file: number for number, one in nameless} if alone else {}

    def number(self, name: str, placed: Placed) -> int | None:
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


def _place(result: Matched, number: int, seen: Seen, memory: Memory, meeting: Meeting | None, format: Format) -> None:
    other = result.found.setdefault(number, seen)
    if other is seen:
        return
    # Two entries of one memory: the one where they last met counts.
    first, second = (seen, other) if meeting and seen.file == meeting.file else (other, seen)
    target = format.place(memory, lambda _: False)
    if meeting and first.file != target == second.file and first.placed.digest == meeting.digest:
        # A sync was stopped after it had put the memory into another file, and before it took it from this one.
        result.found[number] = second
        result.left.append(first)
        return
    result.found[number] = first
    result.refused.append((second, f"{first.file} has an entry with the same id: take the id out of one of them"))
