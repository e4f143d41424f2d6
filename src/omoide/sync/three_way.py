"""Decide what a sync does with one memory: from the state both sides had at the last sync, the database now, the file now.

Only the file changed: the database takes it over. Only the database: the file is rewritten. Both, but in different fields,
or to the same: both changes stand. Both, differently: the newer stands, the other becomes a version, and the conflict is
recorded. A missing entry counts as deleted only where a person plainly deleted it (`absence.py`), and one that comes back
never brings back a memory that was archived or forgotten. Pure: values in, values out.
"""

import re
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from enum import Enum, auto
from typing import Any, NamedTuple

import msgspec

from omoide.markdown.format import Entry, LocatedEntry, changed_fields, is_shown
from omoide.markdown.reformatting import is_same_value
from omoide.model import Held, Memory, Scope, Side, State, SyncState, fields


class SeenEntry(NamedTuple):
    """An entry, where it stands now."""

    file: str
    placed: LocatedEntry


class FileChange(msgspec.Struct, frozen=True):
    """One change that a file has and the database has not."""

    entry: Entry | None
    """None: the entry was deleted."""
    place: str
    """Where it stands, for messages."""
    number: int = 0
    """Of the memory that it is about; 0: of none that is known."""
    version: int = 0
    """Of that memory, when the change was found."""
    fields: dict[str, Any] = {}
    """The values that the memory should have."""
    stands: Side | None = None
    """The side that stands where both had changed, differently; None: there is no conflict."""
    lost: dict[str, Any] = {}
    """The file's values that do not stand: kept as a version."""
    detail: dict[str, object] = {}
    """More for the event of the change."""
    base: Memory | None = None
    """The memory as the entry showed it at the last sync; None: it never was in sync."""
    source: str = ""
    """Of an entry that somebody else wrote, in a file that is synced for the first time: the file and its commit."""


class Action(Enum):
    NOTHING = auto()
    """Nothing has changed."""
    MARK_SYNCED = auto()
    """Both sides are the same: record that."""
    PUT = auto()
    """Write the memory into its file."""
    REMOVE = auto()
    """Remove the memory from its file."""
    HOLD = auto()
    """The entry is missing, and that is no deletion: record why, and change neither side."""
    LEAVE = auto()
    """The file shows a memory that is archived or forgotten, and says nothing new: change neither side."""
    KEEP_EARLIER = auto()
    """The file shows an earlier version, which nobody wrote now: record that, and change neither side."""


class MergeCase(NamedTuple):
    """All that is known of one memory and its entry."""

    memory: Memory
    sync_state: SyncState | None
    seen: SeenEntry | None
    """None: it stands in no file that was read."""
    unread: bool
    """Its file looks as it did at the last sync, and was not read."""
    wanted: bool
    """Whether the mirror's files should show the memory as it is now."""
    in_scope: bool
    """Whether its scope is the mirror's."""
    saved_at: datetime
    """When the file was last saved."""
    absence: Held | None = None
    """Why a missing entry does not count as deleted; None: a person plainly deleted it."""
    imported: Memory | None = None
    """The memory as the entry showed it when this sync imported it: the base, if the entry was edited again since."""


class MergeContext(NamedTuple):
    """What a decision needs besides the case itself."""

    expected_entry: Callable[[Memory], Entry]
    """The entry that the format writes for a memory."""
    versions_since: Callable[[int, int], Sequence[Memory]]
    """The versions of a memory by number, from one on, oldest first."""
    place: str = ""
    """Where the entry stands, for messages."""
    stamped: bool = True
    """Whether every entry should have its id."""
    prefer: Side | None = None
    """The side that stands whatever is newer; None: decide by what changed."""
    put_back: Collection[int] = ()
    """Numbers of memories whose missing entries are written again."""
    take_out: Collection[int] = ()
    """Numbers of archived or forgotten memories whose entries are removed."""
    accept: Collection[int] = ()
    """Numbers of memories of which the earlier versions that the files show are imported."""
    is_old_copy: Callable[[str], bool] = lambda _: False
    """Whether a file has a text that git, or an editor that opened it long ago, brought back."""


_LABELS = ("", "content", "内容")
"""What may stand before a content, in the words of each format."""
_BETWEEN_WORDS = re.compile(r"[\W_]+")


class _FileSide(NamedTuple):
    """What the file changed since the last sync."""

    base: Memory | None
    """The memory as it was at the last sync; None: it was never in sync."""
    changes: dict[str, Any]
    """The values of the file that the memory does not have now."""
    conflicting: dict[str, Any]
    """Those of them whose field the database changed too."""

    def without_state(self) -> "_FileSide":
        """The same without a change of state, which only a person can make."""
        changes, conflicting = (
            {name: value for name, value in values.items() if name != "state"} for values in (self.changes, self.conflicting)
        )
        return _FileSide(self.base, changes, conflicting)


def decide(case: MergeCase, context: MergeContext) -> Action | FileChange:
    """Return what to do with the file, or the change to import from it."""
    if case.seen is not None:
        return _decide_present(case, case.seen, context)
    if case.sync_state is not None and case.sync_state.file and not case.sync_state.is_in_file:
        return _decide_held(case, case.sync_state, context)
    if case.unread:
        assert case.sync_state is not None  # noqa: S101 - a file that was not read is known by its sync states
        return _decide_untouched(case, case.sync_state, context)
    return _decide_absent(case, context)


def _decide_untouched(case: MergeCase, sync_state: SyncState, context: MergeContext) -> Action:
    """The entry is as it was at the last sync: only the database may have changed."""
    number, is_retired = case.memory.number, sync_state.held == Held.RETIRED
    if case.wanted:
        is_left = case.memory.version == sync_state.version and not is_retired and number not in context.put_back
        return Action.NOTHING if is_left else Action.PUT
    if is_retired and number not in context.take_out:
        return Action.NOTHING
    return Action.REMOVE  # also what has expired, which makes no new version


def _decide_held(case: MergeCase, sync_state: SyncState, context: MergeContext) -> Action | FileChange:
    """The entry was missing at the last sync, and that was no deletion: a person has to say what it was."""
    if not case.wanted:
        return Action.REMOVE
    if context.prefer is Side.FILE:
        return _deletion(case.memory, context)
    is_asked_for = context.prefer is Side.DATABASE or case.memory.number in context.put_back
    is_writable_again = sync_state.held == Held.WAITING and case.absence is not Held.GONE
    base = _base(case, context)
    is_restored = base is not None and base.state is not case.memory.state
    return Action.PUT if is_asked_for or is_writable_again or is_restored else Action.NOTHING


def _decide_absent(case: MergeCase, context: MergeContext) -> Action | FileChange:
    """The entry is in no file: it was deleted, or was never written."""
    memory, sync_state = case.memory, case.sync_state
    if context.prefer is Side.FILE and case.wanted:
        return _deletion(memory, context)
    if sync_state is None:
        # Nothing is recorded of a memory that no file shows: a sync state makes it belong to a mirror of chosen memories.
        return Action.PUT if case.wanted else Action.NOTHING
    if not sync_state.file:
        # One that is wanted again without a change had expired by a clock that was ahead.
        if case.wanted:
            return Action.PUT
        return Action.NOTHING if sync_state.version == memory.version else Action.REMOVE
    if not case.wanted:
        return Action.REMOVE
    if context.prefer is Side.DATABASE or memory.number in context.put_back:
        return Action.PUT
    if case.absence is not None:
        return Action.HOLD
    base = _base(case, context)
    if base is None or base.state is not memory.state or _shows_change(base, memory, context):
        return FileChange(None, context.place, memory.number, memory.version, stands=Side.DATABASE)
    return _deletion(memory, context)


def _deletion(memory: Memory, context: MergeContext) -> Action | FileChange:
    """An entry that a person deleted archives its memory."""
    if memory.state is not State.ACTIVE:
        return Action.REMOVE
    return FileChange(None, context.place, memory.number, memory.version, {"state": State.ARCHIVED})


def _shows_change(base: Memory, memory: Memory, context: MergeContext) -> bool:
    return differing_fields(context.expected_entry(base), context.expected_entry(memory))


def _decide_present(case: MergeCase, seen: SeenEntry, context: MergeContext) -> Action | FileChange:
    """The entry is in a file: compare it with the memory, and both with what they were at the last sync."""
    sync_state, entry = case.sync_state, seen.placed.entry
    if context.prefer is not None:
        return _decide_preferred(case, entry, context)
    if case.wanted and case.memory.number in context.accept:
        return _decide_accepted(case, entry, context)
    if sync_state is not None and sync_state.is_in_file and _is_unchanged(seen, sync_state):
        return _decide_untouched(case, sync_state, context)
    if case.in_scope and not case.wanted and not (sync_state and sync_state.shows_memory):
        return _decide_returned(case, entry, context)
    file = _file_side(case, entry, context)
    if not file.changes:
        return _decide_same(case, entry, context)
    if case.wanted:
        return _decide_edited(case, seen, context, file)
    if _is_new_statement(case, entry, context):
        return _decide_changed(case, entry, context, file)
    lost = _new_values(case, file, context)
    if not lost:
        return Action.REMOVE
    # Such as a title: it does not revive the memory, but is in its history before the entry is removed.
    memory = case.memory
    return FileChange(entry, context.place, memory.number, memory.version, stands=Side.DATABASE, lost=lost, base=file.base)


def _new_values(case: MergeCase, file: _FileSide, context: MergeContext) -> dict[str, Any]:
    """The values beside the content that a person gave an entry, and that no version of its memory has."""
    versions = [(one, context.expected_entry(one)) for one in context.versions_since(case.memory.number, 1)]
    return {
        name: value
        for name, value in file.changes.items()
        if value
        and name not in ("content", "state", "scope")
        and not any(is_same_value(_value(version, expected, name), value) for version, expected in versions)
    }


def _decide_edited(case: MergeCase, seen: SeenEntry, context: MergeContext, file: _FileSide) -> Action | FileChange:
    """The entry of a memory that is to be shown says something else: by a person, or because its file is an old copy."""
    sync_state, entry = case.sync_state, seen.placed.entry
    if _is_earlier_version(case, entry, context) and (sync_state is None or context.is_old_copy(seen.file)):
        # Nobody wrote that now. A file that git brought back is left as it is; a new mirror starts with what is known.
        is_asked_for = sync_state is None or case.memory.number in context.put_back
        return Action.PUT if is_asked_for else Action.KEEP_EARLIER
    if "state" in file.changes and context.is_old_copy(seen.file):
        file = file.without_state()
        if not file.changes:
            return Action.KEEP_EARLIER
    return _decide_changed(case, entry, context, file)


def _decide_changed(case: MergeCase, entry: Entry, context: MergeContext, file: _FileSide) -> Action | FileChange:
    """The file has something new: it is imported, unless the memory has changed as well."""
    memory = case.memory
    if not file.conflicting:
        return FileChange(entry, context.place, memory.number, memory.version, file.changes, base=file.base)
    if file.base is not None and _is_past_version(case, entry, context, file.base.version):
        return Action.PUT if case.wanted else Action.REMOVE
    return _decide_conflict(case, entry, context, file)


def _decide_returned(case: MergeCase, entry: Entry, context: MergeContext) -> Action | FileChange:
    """An entry is in the file again, or still, and its memory is not to be shown: only a new text changes that."""
    memory = case.memory
    if memory.number in context.take_out:
        return Action.REMOVE
    if not _is_new_statement(case, entry, context):
        return Action.LEAVE
    changes = _file_changes(memory, context.expected_entry(memory), entry, case)
    return FileChange(entry, context.place, memory.number, memory.version, changes)


def _is_new_statement(case: MergeCase, entry: Entry, context: MergeContext) -> bool:
    """Whether an entry has a text that the memory never had. Formatters change only what is between the words."""
    return is_new_text(entry.content, context.versions_since(case.memory.number, 1))


def is_new_text(content: str, versions: Sequence[Memory]) -> bool:
    """Whether a content has other words than every version of a memory, and than its beginning, perhaps with its label: what
    is left of an entry after its file was cut off is no new text."""
    words = words_of(content)
    texts = [words_of(version.content) for version in versions]
    return not any(f"{label}{text}".startswith(words) for text in texts for label in _LABELS)


def words_of(text: str) -> str:
    """Return the letters and digits of a text, without case: what a formatter leaves as it is."""
    return _BETWEEN_WORDS.sub("", text).casefold()


def _is_earlier_version(case: MergeCase, entry: Entry, context: MergeContext) -> bool:
    """Whether an entry shows the memory as it was before."""
    return any(
        not differing_fields(expected, entry) and (expected.archived, expected.session) == (entry.archived, entry.session)
        for version in context.versions_since(case.memory.number, 1)
        if version.version != case.memory.version and (expected := context.expected_entry(version))
    )


def _decide_preferred(case: MergeCase, entry: Entry, context: MergeContext) -> Action | FileChange:
    """One side is rebuilt from the other."""
    return _decide_same(case, entry, context) if context.prefer is Side.DATABASE else _decide_accepted(case, entry, context)


def _decide_accepted(case: MergeCase, entry: Entry, context: MergeContext) -> Action | FileChange:
    """The entry stands as it is, whatever the memory is since."""
    memory = case.memory
    changes = _file_changes(memory, context.expected_entry(memory), entry, case)
    if not changes:
        return _decide_same(case, entry, context)
    return FileChange(entry, context.place, memory.number, memory.version, changes)


def _decide_same(case: MergeCase, entry: Entry, context: MergeContext) -> Action:
    """The file has nothing new: either both are the same, or the file is behind."""
    if not case.wanted:
        return Action.REMOVE
    expected = context.expected_entry(case.memory)
    lacks_id = entry.id is None and context.stamped
    if lacks_id or differing_fields(expected, entry) or expected.archived is not entry.archived:
        return Action.PUT
    return Action.MARK_SYNCED


def _decide_conflict(case: MergeCase, entry: Entry, context: MergeContext, file: _FileSide) -> FileChange:
    """Both sides changed, differently: the newer stands; a memory that left the mirror's scope stands as it is."""
    memory = case.memory
    if case.in_scope and case.saved_at > memory.updated_at:
        changes = dict(file.changes)
        if memory.state is not _state(entry):
            changes["state"] = _state(entry)
        return FileChange(entry, context.place, memory.number, memory.version, changes, Side.FILE, base=file.base)
    others = {name: value for name, value in file.changes.items() if name not in file.conflicting}
    return FileChange(
        entry, context.place, memory.number, memory.version, others, Side.DATABASE, file.conflicting, base=file.base
    )


def _is_unchanged(seen: SeenEntry, sync_state: SyncState) -> bool:
    return (seen.file, seen.placed.digest) == (sync_state.file, sync_state.digest)


def _file_side(case: MergeCase, entry: Entry, context: MergeContext) -> _FileSide:
    memory, base = case.memory, _base(case, context)
    expected = context.expected_entry(memory)
    if base is None:
        changes = _file_changes(memory, expected, entry, case)
        return _FileSide(None, changes, {name: value for name, value in changes.items() if name != "state"})
    expected_before = context.expected_entry(base)
    changes = {
        name: value
        for name, value in _file_changes(base, expected_before, entry, case).items()
        if not is_same_value(_value(memory, expected, name), value)
    }
    # A memory that was archived, restored or moved meanwhile conflicts with every change of its entry.
    if memory.state is not base.state or not case.in_scope:
        return _FileSide(base, changes, changes)
    return _FileSide(
        base,
        changes,
        {
            name: value
            for name, value in changes.items()
            if _value(memory, expected, name) != _value(base, expected_before, name)
        },
    )


def _base(case: MergeCase, context: MergeContext) -> Memory | None:
    """The memory as it was at the last sync; None if it never was in sync, or that version is gone."""
    memory, sync_state = case.memory, case.sync_state
    if case.imported is not None:
        return case.imported
    if sync_state is None or not sync_state.version:
        return None
    if sync_state.version == memory.version:
        return memory
    versions = context.versions_since(memory.number, sync_state.version)
    return versions[0] if versions and versions[0].version == sync_state.version else None


def _is_past_version(case: MergeCase, entry: Entry, context: MergeContext, base: int) -> bool:
    """Whether the file shows a version after the base: then omoide wrote it, and was stopped before it recorded that."""
    return any(
        not differing_fields(context.expected_entry(version), entry)
        for version in context.versions_since(case.memory.number, base + 1)
        if version.version != case.memory.version
    )


def differing_fields(expected: Entry, entry: Entry) -> bool:
    """Whether a field that the entry names differs from what the format would write."""
    return any(
        not is_shown(name, expected, entry) for name in fields.ENTRY if name == "topic" or getattr(entry, name) is not None
    )


def _file_changes(base: Memory, expected: Entry, entry: Entry, case: MergeCase) -> dict[str, Any]:
    """The values of the entry, and of its place, that the base does not have."""
    changes = changed_fields(base, expected, entry)
    if base.state is not _state(entry):
        changes["state"] = _state(entry)
    if case.in_scope and entry.session != expected.session:
        changes["scope"] = Scope(base.scope.path, entry.session)
    return changes


def _state(entry: Entry) -> State:
    return State.ARCHIVED if entry.archived else State.ACTIVE


def _value(memory: Memory, expected: Entry, name: str) -> Any:
    return getattr(expected if name in fields.ENTRY else memory, name)
