"""Judge entries that are missing from a file: did a person plainly delete them? Pure: values in, values out.

An absence is not a deletion. git, editors and formatters take entries out of files all the time; only where nothing else
explains it, the memories are archived. The judge needs no earlier text: an outline of the last synced version is enough.
See docs/decisions/0026-absent-entries.md.
"""

import re
from array import array
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple
from zlib import crc32

from omoide.model import FileVersions, Held

MOST_AT_ONCE = 10
"""A person deletes single entries. If more than this, or more than half, are missing, something else is the cause."""
MOST_VERSIONS = 100
"""Digests of earlier versions that are kept of a file."""
_UUID = re.compile(rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HEADING = re.compile(rb"(#{1,6})(?:\s|$)")
_NO_TITLE = b"-*+>| \t`~="
"""The beginnings of lines that an underline does not make a heading."""
_UNDERLINE = re.compile(rb"(=+|-{2,})\s*$")
_UNDERLINES, _EQUALS, _HASH_MARK = b"=-", ord("="), ord("#")
# An item of an outline has 32 bits: 3 of its kind, 2 of the empty lines above it, 27 of a hash.
_KIND, _BLANKS, _HASH = 29, 27, (1 << 27) - 1
_WITHOUT_BLANKS = ~(3 << _BLANKS) & 0xFFFFFFFF
_ID = 7
"""The kind of an item that is the hash of an id; 1 to 5 are headings of that level, 0 are other lines."""
_BULLET = 6
"""The kind of a bullet that is an entry by itself, with its id in a comment: a line of activity."""
_MARKED_BULLET = re.compile(rb"[-*+][ \t].*<!--[ \t]*omoide:[0-9a-fA-F-]{36}[ \t]*-->")


_MOST_COMPARED = 10
"""The number of these versions for which the changes are recorded."""
_MOST_CHANGES = 500
"""The largest number of changes recorded for one version: enough for a branch without the list, and back."""
_ADDED, _CHANGED, _REMOVED = "", "~", "-"
"""Before the hash of an id in `FileVersions.changes`; of an entry that was added there is only the hash."""
_BEFORE = ":"
"""Between that and the hash of what a changed entry said in the version before."""
_REST = "#"
"""Before the hash of what was outside of the entries, in the version before."""
_NO_CHANGE, _TOO_MANY = "=", "?"
"""Stands for the changes of a version that changed only empty lines or the order, or more than is recorded."""
_NO_LINE_END = 0xFFFFFFFF
"""The last item of an outline whose text does not end with a line end."""


class GitState(NamedTuple):
    """What git knows about the present text of a file."""

    has_text: bool = False
    """git has a blob with exactly this text."""
    operation: bool = False
    """A merge, rebase, cherry-pick, revert or bisect is in progress."""
    patched: bool = False
    """git has the file, which is new, and wrote its index after it, as it does when it takes out single changes."""


class Absence(NamedTuple):
    """Entries that are missing from one file, and what is known about it."""

    ids: Collection[str]
    """The ids of the missing entries, as they were in the file."""
    others: Collection[str]
    """The ids of the entries that the file had at the last sync and still has."""
    text: str | None
    """The file now; None: it is gone."""
    digest: str
    """Of the text."""
    versions: FileVersions
    """Of the file, up to the last sync."""
    elsewhere: Collection[str] = ()
    """The ids among them that are still in a text of the mirror."""
    total: int = 0
    """How many entries are missing in all files of the mirror."""


def judge(absence: Absence, git: Callable[[], GitState]) -> Held | None:
    """Return why the absence is no deletion; None: a person plainly deleted these entries.

    `git` may start a process: it is not called for a file that is gone.
    """
    if absence.text is None or not absence.text.strip("\ufeff \t\r\n"):
        return Held.GONE
    state = git()
    if state.operation:
        return Held.OPERATION
    if state.has_text:
        return Held.GIT
    if absence.elsewhere:
        return Held.UNREADABLE
    if not absence.versions.outline:
        return Held.UNKNOWN
    if is_older(absence.digest, absence.versions):
        return Held.OLDER
    if max(len(absence.ids), absence.total) > MOST_AT_ONCE or len(absence.ids) > len(absence.others):
        return Held.MANY
    if not is_plain_deletion(absence.versions.outline, absence.ids, absence.others, absence.text):
        return Held.EDITED
    # One entry at the end is left out of this: it is often the newest, and the one that is most often deleted.
    if len(absence.ids) > 1 and is_beginning(absence.versions.outline, absence.text):
        return Held.CUT_OFF
    return Held.PATCHED if state.patched else None


def judge_entries(absence: Absence, git: Callable[[], GitState]) -> dict[str, Held | None]:
    """Return for each missing entry why its absence is no deletion; None: a person plainly deleted it.

    A text that has nothing of the last two or more writes may have been opened before or after them. So what it lacks
    of the earlier text was deleted, and what these writes added is not.
    """
    reason = judge(absence, git)
    unseen = _unseen_ids(absence.versions, absence.ids) if reason is None else ()
    return {id: Held.OLDER if id in unseen else reason for id in absence.ids}


def _unseen_ids(versions: FileVersions, missing: Collection[str]) -> Collection[str]:
    """The missing ids that the last writes added, if these are at least two and nothing that they wrote is in the file."""
    ids = {_id_hash(id): id for id in missing}
    net = _NetChanges(versions.outline)
    unseen: set[str] = set()
    unknown = 0
    for number, changes in enumerate(versions.changes):
        if not changes:
            break  # it is not known how this version differs from the one before
        if _TOO_MANY in changes:
            unknown += 1
            if unknown > 1:
                return missing  # the second may have undone the first, as a branch that git went to and came back from
            continue
        net.add(changes)
        if number > 0 and not unknown and net.is_possible(ids):
            unseen |= {ids[id] for id, kind in net.entries.items() if kind == _ADDED}
    return unseen


class _NetChanges:
    """How the last version of a file differs from an earlier one. What came and went, or went and came, does not differ."""

    def __init__(self, outline: bytes):
        self._outline = outline
        self._rest = ""
        """The hash of what was outside of the entries; empty: the same as now."""
        self.entries: dict[str, str] = {}
        """The kinds of change, by the hash of the id."""
        self._texts: dict[str, str] = {}
        """The hashes of what changed entries said in the earlier version, by the hash of the id."""

    def add(self, changes: Sequence[str]) -> None:
        """Go back by one version, which made these changes."""
        for change in changes:
            if change.startswith(_REST):
                self._rest = change.removeprefix(_REST)
            elif change != _NO_CHANGE:
                self._add_entry(change)

    def _add_entry(self, change: str) -> None:
        name, _, text = change.partition(_BEFORE)
        id = name.lstrip(_CHANGED + _REMOVED)
        kind, later = name.removesuffix(id), self.entries.pop(id, None)
        self._texts[id] = text
        if later is None:
            self.entries[id] = kind
        elif kind == _CHANGED or (kind == _ADDED and later == _CHANGED):
            self.entries[id] = later if kind == _CHANGED else kind

    def is_possible(self, missing: Collection[str]) -> bool:
        """Whether a file without these ids, and else as the last version, may have been made from the earlier one."""
        # A person who saves an earlier version hardly deletes exactly what was removed since.
        if any(kind == _REMOVED or not (id in missing or self._is_as_before(id)) for id, kind in self.entries.items()):
            return False
        return not self._rest or self._rest == _rest_hash(self._outline)

    def _is_as_before(self, id: str) -> bool:
        """Whether an entry that changed says again what it said in the earlier version."""
        if self.entries[id] != _CHANGED or not self._texts[id]:
            return False
        found, _ = _sections(_without_mark(self._outline), 0, 0)
        section = found.get(int(id, 16))
        return section is not None and _items_hash(section) == self._texts[id]


def is_older(digest: str, versions: FileVersions) -> bool:
    """Whether a text is an older version of its file than the last two that were synced."""
    return digest in versions.digests[2:]


def is_previous(digest: str, versions: FileVersions) -> bool:
    """Whether a text is the version before the last one that was synced."""
    return versions.digests[1:2] == (digest,)


def is_truncated(before: bytes, text: str) -> bool:
    """Whether a text is the beginning of the version of an outline, cut off in the middle of a line."""
    if not before or not text or text.endswith("\n"):
        return False
    old, is_ended = _read(before)
    whole, _, rest = text.rpartition("\n")
    new = _items(whole)
    # Fewer lines may be the beginning of any text, and contain no entry.
    if not is_ended or len(new) < 3 or not rest.strip() or len(new) >= len(old) or _hash(rest) == old[len(new)] & _HASH:
        return False
    # The line above the cut may be the title of a heading whose underline is gone, so that its kind is not compared.
    return new[:-1] == old[: len(new)][:-1]


def is_beginning(before: bytes, text: str) -> bool:
    """Whether a text is the beginning of the version of an outline, up to a line end."""
    old, _ = _read(before)
    new = _items(text)
    return new == old[: len(new)]


def next_versions(known: FileVersions, text: str, digest: str) -> FileVersions:
    """What is known of a file after a text was synced."""
    if known.digests[:1] == (digest,) and known.outline:
        return known
    new = outline(text)
    if known.digests[:1] == (digest,):  # recorded before there were outlines
        return FileVersions(known.name, new, known.digests, known.changes)
    changes = (_changes(known.outline, new), *known.changes)[:_MOST_COMPARED] if known.outline else ()
    return FileVersions(known.name, new, (digest, *known.digests)[:MOST_VERSIONS], changes)


def _changes(before: bytes, after: bytes) -> tuple[str, ...]:
    """What a version changed: hashes of the ids of entries that it added, changed or removed, and of the rest before it."""
    before, after = _without_mark(before), _without_mark(after)
    # Nearly all of both is the same: only the sections between the common ones are looked at.
    start = _common_start(before, after)
    end = min(_common_start(before[::-1], after[::-1]), min(len(before), len(after)) - start)
    old, old_rest = _sections(before, start, end)
    new, new_rest = _sections(after, start, end)
    changes = [f"{id:x}" for id in new if id not in old]
    changes += [f"{_CHANGED}{id:x}{_BEFORE}{_items_hash(old[id])}" for id in old if id in new and old[id] != new[id]]
    changes += [f"{_REMOVED}{id:x}" for id in old if id not in new]
    if len(changes) > _MOST_CHANGES:
        return (_TOO_MANY,)
    if old_rest != new_rest:
        changes.append(f"{_REST}{_rest_hash(before)}")
    return tuple(changes) or (_NO_CHANGE,)


def _rest_hash(outline: bytes) -> str:
    """A hash of everything in an outline that is in no entry, empty lines aside."""
    _, rest = _sections(_without_mark(outline), 0, 0)
    return _items_hash([item for section in rest for item in section])


def _items_hash(items: Sequence[int]) -> str:
    return f"{crc32(array('I', items).tobytes()):x}"


def _without_mark(outline: bytes) -> bytes:
    """An outline as that of a text that ends with a line end."""
    return outline.removesuffix(_NO_LINE_END.to_bytes(4, "little"))


def _sections(outline: bytes, start: int, end: int) -> tuple[dict[int, list[int]], list[list[int]]]:
    """The sections of an outline but for those wholly within so many bytes at its start and end, empty lines aside.

    By the hashes of their ids; and those without an id, or with several.
    """
    items = array("I", outline)
    # The nearest headings within what is the same, so that both outlines are cut at the same places.
    first, last = start // 4 - 1, len(items) - end // 4
    while first > 0 and not 0 < items[first] >> _KIND < _ID:
        first -= 1
    while last < len(items) and not 0 < items[last] >> _KIND < _ID:
        last += 1
    sections: list[list[int]] = []
    for item in items[max(first, 0) : last]:
        if not sections or 0 < item >> _KIND < _ID:
            sections.append([])
        sections[-1].append(item & _WITHOUT_BLANKS)
    found: dict[int, list[int]] = {}
    rest: list[list[int]] = []
    for section in sections:
        ids = [item & _HASH for item in section if item >> _KIND == _ID]
        if len(ids) == 1 and ids[0] not in found:
            found[ids[0]] = section
        else:
            rest.append(section)
    return found, rest


def _common_start(one: bytes, other: bytes) -> int:
    """How many bytes of whole items two outlines have in common at their beginning."""
    low, high = 0, min(len(one), len(other)) // 4
    while low < high:
        middle = (low + high + 1) // 2
        if one[low * 4 : middle * 4] == other[low * 4 : middle * 4]:
            low = middle
        else:
            high = middle - 1
    return low * 4


def outline(text: str) -> bytes:
    """A short hash of every line of a file that is not empty, with its kind; and of every id in it.

    It says whether two versions differ in more than whole sections, and nothing about their texts.
    """
    items = _items(text)
    if not text.endswith("\n"):
        items.append(_NO_LINE_END)
    return items.tobytes()


def _read(outline: bytes) -> tuple["array[int]", bool]:
    """The items of an outline, and whether its text ended with a line end."""
    items = array("I")
    items.frombytes(outline)
    is_ended = not items or items[-1] != _NO_LINE_END
    return (items if is_ended else items[:-1]), is_ended


def _items(text: str) -> "array[int]":
    # Every write of a list passes here with each of its lines, so that the usual ones take few steps.
    items = array("I")
    blanks, above = 0, -1
    for line in text.removeprefix("\ufeff").encode("utf-8", "surrogatepass").split(b"\n"):
        if not line or line.isspace():
            blanks, above = min(blanks + 1, 3), -1
            continue
        first = line[0]
        if above >= 0 and first in _UNDERLINES and _UNDERLINE.match(line):
            items[above] |= (1 if first == _EQUALS else 2) << _KIND
        level = _level(line) if first == _HASH_MARK or b"<!--" in line else 0
        # The place of a line that is a heading if the next one underlines it.
        above = len(items) if first not in _NO_TITLE and first != _HASH_MARK else -1
        items.append(level << _KIND | blanks << _BLANKS | crc32(line) & _HASH)
        blanks = 0
        if line.count(b"-") >= 4:
            items.extend(_id_item(found.decode()) for found in _UUID.findall(line))
    return items


def _level(line: bytes) -> int:
    """The level of a heading, 0 for any other line; the last level for a bullet that is an entry."""
    found = _HEADING.match(line)
    if found:
        return min(len(found[1]), _BULLET - 1)
    return _BULLET if _MARKED_BULLET.match(line) else 0


def _hash(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass")) & _HASH


def _id_item(id: str) -> int:
    return _ID << _KIND | _hash(id.lower())


def _id_hash(id: str) -> str:
    return f"{_hash(id.lower()):x}"


def is_plain_deletion(before: bytes, ids: Collection[str], others: Collection[str], text: str) -> bool:
    """Whether a text is the version of an outline without the sections of these ids, and with no other difference.

    `others`: the ids of the other entries of the file. Empty lines where a section was cut out, and at the end, make no
    difference.
    """
    old, _ = _read(before)
    kept_ids = {_id_item(id) for id in others}
    sections = [_section(old, _id_item(id), kept_ids) for id in ids]
    cut = [section for section in sections if section is not None]
    if len(cut) < len(sections):
        return False
    # What is below a bullet may be the rest of its text, or a person's own.
    bullets = [section[:2] if old[section[0]] >> _KIND == _BULLET else section for section in cut]
    new = _items(text)
    return _is_without(old, cut, new) or _is_without(old, bullets, new)


def _is_without(old: Sequence[int], cut: Sequence[range], new: Sequence[int]) -> bool:
    """Whether the new items are the old ones without the sections that were cut out."""
    removed = {index for section in cut for index in section}
    kept = [index for index in range(len(old)) if index not in removed]
    if len(kept) != len(new):
        return False
    return all(
        old[index] == item or (index - 1 in removed and old[index] & _WITHOUT_BLANKS == item & _WITHOUT_BLANKS)
        for index, item in zip(kept, new, strict=True)
    )


def _section(items: Sequence[int], id: int, others: Collection[int]) -> range | None:
    """The section that an id is in: from its heading to the next one that is not below it; None if that is not clear."""
    places = [index for index, item in enumerate(items) if item == id]
    if len(places) != 1:
        return None
    start = places[0]
    while start >= 0 and not 0 < items[start] >> _KIND < _ID:
        start -= 1
    if start < 0:
        return None
    level = items[start] >> _KIND
    end = start + 1
    while end < len(items) and not 0 < items[end] >> _KIND <= level:
        end += 1
    # With another entry in the same section it is not clear which lines are whose.
    return None if any(item in others for item in items[start:end]) else range(start, end)
