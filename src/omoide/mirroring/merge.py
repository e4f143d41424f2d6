"""Three ways: what both sides said when they last met, what the database says now, what the file says now. Pure.

Only the file changed: the database takes it over. Only the database: the file is rewritten. Both, but in different fields,
or to the same: both changes stand. Both, differently: the newer stands, the other is kept as a version, and people are told.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from enum import Enum, auto
from typing import Any, NamedTuple

from omoide.formats.entry import Entry, Placed, changes
from omoide.model import Meeting, Memory, Scope, Side, State
from omoide.service.meetings import Said


class Seen(NamedTuple):
    """An entry, where it stands now."""

    file: str
    placed: Placed


class Do(Enum):
    REST = auto()
    """Nothing has changed."""
    MEET = auto()
    """They say the same: to be noted."""
    PUT = auto()
    """The file should say what the database says."""
    OUT = auto()
    """It should stand in no file."""


class Case(NamedTuple):
    """All that is known of one memory and its entry."""

    memory: Memory
    meeting: Meeting | None
    seen: Seen | None
    """None: it stands in no file that was read."""
    unread: bool
    """Its file looks as it did at the meeting, and was not read."""
    wanted: bool
    """Whether the mirror holds a memory such as this is now."""
    held: bool
    """Whether its scope is the mirror's."""
    saved_at: datetime
    """When the file was last saved."""


class Judge(NamedTuple):
    """What deciding needs beside the case itself."""

    shown: Callable[[Memory], Entry]
    past: Callable[[int, int], Sequence[Memory]]
    """The versions of a memory by number, from one on, oldest first."""
    place: str = ""
    stamped: bool = True
    """Whether every entry should have its id."""
    prefer: Side | None = None
    """Set where one side is to be made from the other, whatever is newer."""


def decided(case: Case, judge: Judge) -> Do | Said:
    if case.seen is not None:
        return _present(case, case.seen, judge)
    if case.unread:
        assert case.meeting is not None  # noqa: S101 - a file that was not read is known by its meetings
        if case.memory.version == case.meeting.version:
            return Do.REST if case.wanted else Do.OUT  # it has expired, which is no new version
        return Do.PUT if case.wanted else Do.OUT
    return _absent(case, judge)


def _absent(case: Case, judge: Judge) -> Do | Said:
    memory, meeting = case.memory, case.meeting
    gone = Said(None, judge.place, memory.number, memory.version, {"state": State.ARCHIVED})
    if judge.prefer is Side.FILE and case.wanted:
        return gone if memory.state is State.ACTIVE else Do.OUT
    if meeting is None or not meeting.file:
        # It was in no file. Since it was last looked at nothing happened to it, or it should be there now.
        if meeting is not None and meeting.version == memory.version:
            return Do.REST
        return Do.PUT if case.wanted else Do.OUT
    if not case.wanted:
        return Do.OUT
    if judge.prefer is Side.DATABASE:
        return Do.PUT
    before = _base(case, judge)
    if before is None or differing(judge.shown(before), judge.shown(memory)) or before.state is not memory.state:
        return Said(None, judge.place, memory.number, memory.version, stands=Side.DATABASE)
    return gone if memory.state is State.ACTIVE else Do.OUT


def _present(case: Case, seen: Seen, judge: Judge) -> Do | Said:
    memory, meeting, entry = case.memory, case.meeting, seen.placed.entry
    met = meeting is not None and meeting.file != ""
    if meeting and met and (seen.file, seen.placed.digest) == (meeting.file, meeting.digest) and judge.prefer is None:
        if memory.version == meeting.version:
            return Do.REST if case.wanted else Do.OUT
        return Do.PUT if case.wanted else Do.OUT
    now = judge.shown(memory)
    if judge.prefer is not None:
        said = _said(memory, now, entry, case)
        if judge.prefer is Side.DATABASE or not said:
            return _settled(case, now, entry, judge)
        return Said(entry, judge.place, memory.number, memory.version, said)
    base = _base(case, judge)
    if base is None:
        said = _said(memory, now, entry, case)
        disputed = {name: value for name, value in said.items() if name != "state"}
    else:
        shown = judge.shown(base)
        said = {name: value for name, value in _said(base, shown, entry, case).items() if value != _value(memory, now, name)}
        moved = memory.state is not base.state or not case.held
        disputed = {
            name: value for name, value in said.items() if moved or _value(memory, now, name) != _value(base, shown, name)
        }
    if not said:
        return _settled(case, now, entry, judge)
    if not disputed:
        return Said(entry, judge.place, memory.number, memory.version, said)
    if base is not None and _was_ours(case, entry, judge, base.version):
        return Do.PUT if case.wanted else Do.OUT
    if case.held and case.saved_at > memory.updated_at:
        if memory.state is not _state(entry):
            said["state"] = _state(entry)
        return Said(entry, judge.place, memory.number, memory.version, said, Side.FILE)
    rest = {name: value for name, value in said.items() if name not in disputed}
    return Said(entry, judge.place, memory.number, memory.version, rest, Side.DATABASE, disputed)


def _settled(case: Case, now: Entry, entry: Entry, judge: Judge) -> Do:
    """The file says nothing new: either both say the same, or the database has more to say."""
    if not case.wanted:
        return Do.OUT
    if differing(now, entry) or now.archived is not entry.archived or (entry.id is None and judge.stamped):
        return Do.PUT
    return Do.MEET


def _base(case: Case, judge: Judge) -> Memory | None:
    """The memory as it was at the meeting; None if they have never met."""
    memory, meeting = case.memory, case.meeting
    if meeting is None or not meeting.version:
        return None
    if meeting.version == memory.version:
        return memory
    past = judge.past(memory.number, meeting.version)
    return past[0] if past and past[0].version == meeting.version else None


def _was_ours(case: Case, entry: Entry, judge: Judge, since: int) -> bool:
    """Whether the file says what the database has said since: then we wrote it, and were stopped before we noted that."""
    return any(
        not differing(judge.shown(version), entry)
        for version in judge.past(case.memory.number, since + 1)
        if version.version != case.memory.version
    )


_FIELDS = ("content", "topic", "type", "tags", "examples", "key", "source", "pinned")


def differing(shown: Entry, entry: Entry) -> bool:
    return any(
        getattr(entry, name) != getattr(shown, name)
        for name in _FIELDS
        if name == "topic" or getattr(entry, name) is not None
    )


def _said(base: Memory, shown: Entry, entry: Entry, case: Case) -> dict[str, Any]:
    """What the file says that was not so at the meeting."""
    said = changes(base, shown, entry)
    if base.state is not _state(entry):
        said["state"] = _state(entry)
    if case.held and entry.session != shown.session:
        said["scope"] = Scope(base.scope.path, entry.session)
    return said


def _state(entry: Entry) -> State:
    return State.ARCHIVED if entry.archived else State.ACTIVE


def _value(memory: Memory, shown: Entry, name: str) -> Any:
    return getattr(memory, name) if name in ("state", "scope") else getattr(shown, name)
