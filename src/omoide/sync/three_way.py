"""Three ways: what both sides said when they last met, what the database says now, what the file says now. Pure.

Only the file changed: the database takes it over. Only the database: the file is rewritten. Both, but in different fields,
or to the same: both changes stand. Both, differently: the newer stands, the other is kept as a version, and people are told.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from enum import Enum, auto
from typing import Any, NamedTuple

from omoide.markdown.format import Entry, LocatedEntry, changed_fields
from omoide.model import Memory, Scope, Side, State, SyncState
from omoide.sync.database import FileChange


class SeenEntry(NamedTuple):
    """An entry, where it stands now."""

    file: str
    placed: LocatedEntry


class Action(Enum):
    NOTHING = auto()
    """Nothing has changed."""
    MARK_SYNCED = auto()
    """They say the same: to be noted."""
    PUT = auto()
    """The file should say what the database says."""
    REMOVE = auto()
    """It should stand in no file."""


class MergeCase(NamedTuple):
    """All that is known of one memory and its entry."""

    memory: Memory
    sync_state: SyncState | None
    seen: SeenEntry | None
    """None: it stands in no file that was read."""
    unread: bool
    """Its file looks as it did at the meeting, and was not read."""
    wanted: bool
    """Whether the mirror holds a memory such as this is now."""
    held: bool
    """Whether its scope is the mirror's."""
    saved_at: datetime
    """When the file was last saved."""


class MergeContext(NamedTuple):
    """What deciding needs beside the case itself."""

    shown: Callable[[Memory], Entry]
    past: Callable[[int, int], Sequence[Memory]]
    """The versions of a memory by number, from one on, oldest first."""
    place: str = ""
    stamped: bool = True
    """Whether every entry should have its id."""
    prefer: Side | None = None
    """Set where one side is to be made from the other, whatever is newer."""


def decide(case: MergeCase, judge: MergeContext) -> Action | FileChange:
    if case.seen is not None:
        return _decide_present(case, case.seen, judge)
    if case.unread:
        assert case.sync_state is not None  # noqa: S101 - a file that was not read is known by its meetings
        if case.memory.version == case.sync_state.version:
            return Action.NOTHING if case.wanted else Action.REMOVE  # it has expired, which is no new version
        return Action.PUT if case.wanted else Action.REMOVE
    return _decide_absent(case, judge)


def _decide_absent(case: MergeCase, judge: MergeContext) -> Action | FileChange:
    memory, sync_state = case.memory, case.sync_state
    gone = FileChange(None, judge.place, memory.number, memory.version, {"state": State.ARCHIVED})
    if judge.prefer is Side.FILE and case.wanted:
        return gone if memory.state is State.ACTIVE else Action.REMOVE
    if sync_state is None or not sync_state.file:
        # It was in no file. Since it was last looked at nothing happened to it, or it should be there now.
        if sync_state is not None and sync_state.version == memory.version:
            return Action.NOTHING
        return Action.PUT if case.wanted else Action.REMOVE
    if not case.wanted:
        return Action.REMOVE
    if judge.prefer is Side.DATABASE:
        return Action.PUT
    before = _base(case, judge)
    if before is None or differing_fields(judge.shown(before), judge.shown(memory)) or before.state is not memory.state:
        return FileChange(None, judge.place, memory.number, memory.version, stands=Side.DATABASE)
    return gone if memory.state is State.ACTIVE else Action.REMOVE


def _decide_present(case: MergeCase, seen: SeenEntry, judge: MergeContext) -> Action | FileChange:
    memory, sync_state, entry = case.memory, case.sync_state, seen.placed.entry
    met = sync_state is not None and sync_state.file != ""
    if (
        sync_state
        and met
        and (seen.file, seen.placed.digest) == (sync_state.file, sync_state.digest)
        and judge.prefer is None
    ):
        if memory.version == sync_state.version:
            return Action.NOTHING if case.wanted else Action.REMOVE
        return Action.PUT if case.wanted else Action.REMOVE
    now = judge.shown(memory)
    if judge.prefer is not None:
        said = _file_changes(memory, now, entry, case)
        if judge.prefer is Side.DATABASE or not said:
            return _decide_unchanged(case, now, entry, judge)
        return FileChange(entry, judge.place, memory.number, memory.version, said)
    base = _base(case, judge)
    if base is None:
        said = _file_changes(memory, now, entry, case)
        conflicting = {name: value for name, value in said.items() if name != "state"}
    else:
        shown = judge.shown(base)
        said = {
            name: value
            for name, value in _file_changes(base, shown, entry, case).items()
            if value != _value(memory, now, name)
        }
        moved = memory.state is not base.state or not case.held
        conflicting = {
            name: value for name, value in said.items() if moved or _value(memory, now, name) != _value(base, shown, name)
        }
    if not said:
        return _decide_unchanged(case, now, entry, judge)
    if not conflicting:
        return FileChange(entry, judge.place, memory.number, memory.version, said)
    if base is not None and _was_ours(case, entry, judge, base.version):
        return Action.PUT if case.wanted else Action.REMOVE
    if case.held and case.saved_at > memory.updated_at:
        if memory.state is not _state(entry):
            said["state"] = _state(entry)
        return FileChange(entry, judge.place, memory.number, memory.version, said, Side.FILE)
    rest = {name: value for name, value in said.items() if name not in conflicting}
    return FileChange(entry, judge.place, memory.number, memory.version, rest, Side.DATABASE, conflicting)


def _decide_unchanged(case: MergeCase, now: Entry, entry: Entry, judge: MergeContext) -> Action:
    """The file says nothing new: either both say the same, or the database has more to say."""
    if not case.wanted:
        return Action.REMOVE
    if differing_fields(now, entry) or now.archived is not entry.archived or (entry.id is None and judge.stamped):
        return Action.PUT
    return Action.MARK_SYNCED


def _base(case: MergeCase, judge: MergeContext) -> Memory | None:
    """The memory as it was at the meeting; None if they have never met."""
    memory, sync_state = case.memory, case.sync_state
    if sync_state is None or not sync_state.version:
        return None
    if sync_state.version == memory.version:
        return memory
    past = judge.past(memory.number, sync_state.version)
    return past[0] if past and past[0].version == sync_state.version else None


def _was_ours(case: MergeCase, entry: Entry, judge: MergeContext, since: int) -> bool:
    """Whether the file says what the database has said since: then we wrote it, and were stopped before we noted that."""
    return any(
        not differing_fields(judge.shown(version), entry)
        for version in judge.past(case.memory.number, since + 1)
        if version.version != case.memory.version
    )


_FIELDS = ("content", "topic", "type", "tags", "examples", "key", "source", "pinned")


def differing_fields(shown: Entry, entry: Entry) -> bool:
    return any(
        getattr(entry, name) != getattr(shown, name)
        for name in _FIELDS
        if name == "topic" or getattr(entry, name) is not None
    )


def _file_changes(base: Memory, shown: Entry, entry: Entry, case: MergeCase) -> dict[str, Any]:
    """What the file says that was not so at the meeting."""
    said = changed_fields(base, shown, entry)
    if base.state is not _state(entry):
        said["state"] = _state(entry)
    if case.held and entry.session != shown.session:
        said["scope"] = Scope(base.scope.path, entry.session)
    return said


def _state(entry: Entry) -> State:
    return State.ARCHIVED if entry.archived else State.ACTIVE


def _value(memory: Memory, shown: Entry, name: str) -> Any:
    return getattr(memory, name) if name in ("state", "scope") else getattr(shown, name)
