"""Plan a sync: from the database, the files, what was last in sync and what git says, to what is to be done. Pure.

`plan_sync` decides and changes nothing; `run.py` does what the plan says. What costs a query or a process (earlier versions,
git) is asked of an `Evidence`, and only where a decision needs it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from omoide.files.atomic import Stat
from omoide.markdown.format import Format
from omoide.model import Choice, FileVersions, Held, Memory, Mirror, Side, State, SyncState
from omoide.service.mirrors import holds
from omoide.sync.absence import Absence, GitState, is_older, judge_entries
from omoide.sync.database import DatabaseSide
from omoide.sync.matching import MatchResult, Stamp, entry_stamp, match_entries
from omoide.sync.snapshot import FileScan, FileText, digest_of
from omoide.sync.three_way import Action, FileChange, MergeCase, MergeContext, SeenEntry, decide

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_REASONS_LEFT = {Action.LEAVE: Held.RETIRED, Action.KEEP_EARLIER: Held.OUTDATED}


class Comparison(NamedTuple):
    """Both sides of a mirror at one moment."""

    root: Path
    """The directory of the files."""
    format: Format
    scan: FileScan
    texts: Mapping[str, FileText]
    """The files that changed."""
    unreadable: Collection[str]
    """Files that cannot be read."""
    database: DatabaseSide

    @property
    def unread(self) -> set[str]:
        """Files that look as they did at the last sync."""
        return set(self.scan.listing) - set(self.scan.changed)

    @property
    def is_file_per_entry(self) -> bool:
        return self.database.mirror.format == "entries"


class SyncRequest(NamedTuple):
    """What a person asks of a sync, beside bringing both sides together."""

    prefer: Side | None = None
    """The side from which the other is rebuilt."""
    put_back: Collection[int] = ()
    """Numbers of memories whose missing entries are written again."""
    take_out: Collection[int] = ()
    """Numbers of memories that are not active and whose entries are removed."""
    accept: Collection[int] = ()
    """Numbers of memories of which the earlier versions that the files show are imported."""


class ImportedEntry(NamedTuple):
    """A change of a file that a sync has imported."""

    version: int
    """That the memory has since."""
    remaining: Action
    """What is left to do with the entry."""
    seen: SeenEntry | None = None
    """The entry as it was imported; None: it was deleted."""
    shown: Memory | None = None
    """The memory as that entry showed it."""

    def is_of(self, memory: Memory, seen: SeenEntry | None) -> bool:
        """Whether neither the memory nor its entry has changed again. The line of an entry may be another one."""
        if memory.version != self.version or (seen is None) is not (self.seen is None):
            return False
        return seen is None or self.seen is None or _is_same_entry(seen, self.seen)

    def sync_state(self, number: int, recorded: SyncState | None) -> SyncState | None:
        """What was last in sync, for an entry that is in a file now. `recorded`: before the change was imported."""
        if self.seen is not None:
            placed = self.seen.placed
            held = Held.RETIRED if self.remaining is Action.LEAVE else ""
            return SyncState(number, self.seen.file, placed.entry.id or "", self.version, placed.digest, held)
        return SyncState(number, version=self.version) if self.remaining is Action.REMOVE else recorded


class Progress:
    """What one sync has imported, and not recorded yet."""

    def __init__(self) -> None:
        self.stamps: dict[Stamp, int] = {}
        """Entries without an id that were imported, with the numbers of their memories."""
        self.imported: dict[int, ImportedEntry] = {}
        """By the number of the memory."""
        self.refused_memories: set[int] = set()
        """Numbers of memories whose entries were refused: neither side is changed."""
        self.refused_entries: set[Stamp] = set()
        self.is_late_save = False
        """Whether the text that is compared is no longer in its file: nothing that it lacks counts as deleted."""


class Evidence(Protocol):
    """What a plan may need to know beside both sides. Every question may cost a query, a read or a process."""

    def versions_since(self, number: int, version: int) -> Sequence[Memory]:
        """Return the versions of a memory from one on, oldest first."""

    def is_current(self, memory: Memory) -> bool:
        """Return whether a memory is active and has not expired."""

    def file_versions(self, names: Iterable[str]) -> Mapping[str, FileVersions]:
        """Return what is known of the synced versions of these files."""

    def other_texts(self, names: Iterable[str]) -> Sequence[str]:
        """Return the texts of files that were not read."""

    def git_state(self, name: str, text: str) -> GitState:
        """Return what git has to do with the text of a file."""

    def is_moved(self, before: str, stat: Stat) -> bool:
        """Return whether a file is the one that had another name at the last sync: git writes a new one."""

    def stashed_ids(self, name: str, ids: Collection[str]) -> Collection[str]:
        """Return which of these ids git has taken out of a file and put into a stash."""

    def committed_ids(self, name: str, ids: Collection[str]) -> Collection[str]:
        """Return which of these ids git has in its last commit and index, so that it does not take out single ones."""

    def may_create(self, name: str) -> bool:
        """Return whether a file that is not there may be created: not one that git has, on another branch perhaps."""


class SyncPlan(NamedTuple):
    """What is to be done."""

    matches: MatchResult
    imports: list[tuple[SeenEntry | None, FileChange]]
    """Changes of the files, each with its entry; None: the entry was deleted."""
    writes: list[tuple[Memory, SyncState | None, SeenEntry | None]]
    removals: list[tuple[Memory, SyncState | None, SeenEntry | None]]
    in_sync: list[tuple[Memory, SeenEntry]]
    """Memories whose entries are the same and not yet recorded so."""
    left: list[tuple[Memory, SeenEntry, Held]]
    """Memories whose entries are left as they are: of one that is not active, or with an earlier version. And which."""
    held: list[SyncState]
    """Entries that are missing, which is no deletion, as they are to be recorded."""

    def states(self) -> list[SyncState]:
        """The sync states that follow from what is left as it is."""
        synced = [_state(memory, seen) for memory, seen in self.in_sync]
        return [*synced, *(_state(memory, seen, reason) for memory, seen, reason in self.left), *self.held]


def _state(memory: Memory, seen: SeenEntry, held: str = "") -> SyncState:
    return SyncState(memory.number, seen.file, seen.placed.entry.id or "", memory.version, seen.placed.digest, held)


def plan_sync(comparison: Comparison, request: SyncRequest, progress: Progress, evidence: Evidence) -> SyncPlan:
    """Return what a sync has to do, given both sides, what was asked for, and what was done already."""
    database, unread = comparison.database, comparison.unread
    alone = comparison.is_file_per_entry
    matches = match_entries(comparison.texts, unread, database, progress.stamps, comparison.format, alone=alone)
    planner = _SyncPlanner(comparison, request, progress, evidence, SyncPlan(matches, [], [], [], [], [], []))
    planner.judge_absences()
    for memory in database.memories.values():
        planner.add(memory)
    if request.prefer is not Side.DATABASE:
        planner.plan.imports.extend(
            (stranger, FileChange(stranger.placed.entry, where(comparison, stranger)))
            for stranger in matches.strangers
            if entry_stamp(stranger) not in progress.refused_entries
        )
    return planner.plan


def _is_same_entry(one: SeenEntry, other: SeenEntry) -> bool:
    return (one.file, one.placed.digest) == (other.file, other.placed.digest)


def where(comparison: Comparison, seen: SeenEntry) -> str:
    """The place of an entry, for messages."""
    path = comparison.root / seen.file
    return str(path) if comparison.is_file_per_entry else f"{path}, line {seen.placed.line}"


def is_wanted(mirror: Mirror, memory: Memory, *, is_chosen: bool, is_current: bool) -> bool:
    """Whether the files of a mirror should show a memory: a current one, and an archived one where there is an archive."""
    is_shown = is_current or (mirror.format == "entries" and memory.state is State.ARCHIVED)
    return is_shown and holds(mirror, memory.scope) and (mirror.choice is Choice.ALL or is_chosen)


class _SyncPlanner:
    def __init__(self, comparison: Comparison, request: SyncRequest, progress: Progress, evidence: Evidence, plan: SyncPlan):
        self._comparison = comparison
        self._unread = comparison.unread
        self._mirror = comparison.database.mirror
        self._request = request
        self._progress = progress
        self._evidence = evidence
        self._verdicts: dict[int, Held | None] = {}
        self._doubtful: set[str] = set()
        """Files that lack entries which nobody plainly deleted."""
        self.plan = plan

    # Entries that are missing

    def judge_absences(self) -> None:
        """Find out for each entry that is missing why that is no deletion, or that it is one.

        Deletions that this sync has imported already are judged together with the others, as before.
        """
        missing: dict[str, list[SyncState]] = {}
        remaining: dict[str, list[str]] = {}
        for number, state in self._comparison.database.sync_states.items():
            if not state.is_in_file or state.file in self._unread or self._is_unreadable(state):
                continue
            if number in self.plan.matches.found:
                remaining.setdefault(state.file, []).append(state.entry)
            elif number in self._progress.imported or self._is_missed(number, state):
                missing.setdefault(state.file, []).append(state)
        if self._progress.is_late_save:
            self._verdicts = {state.memory: Held.UNKNOWN for states in missing.values() for state in states}
        elif missing:
            self._judge(missing, remaining)

    def _is_missed(self, number: int, state: SyncState) -> bool:
        """Whether the files should show the memory of an entry that is missing."""
        memory = self._comparison.database.memories.get(number)
        return memory is not None and self._is_wanted(memory, state, None)

    def _judge(self, missing: Mapping[str, Sequence[SyncState]], remaining: Mapping[str, Sequence[str]]) -> None:
        texts = self._comparison.texts
        versions = self._evidence.file_versions(missing)
        total = sum(map(len, missing.values()))
        all_texts: list[str] = []
        if any(name in texts for name in missing):
            others = self._evidence.other_texts(self._unread)
            all_texts = [text.lower() for text in (*(one.text for one in texts.values()), *others)]
        for name, states in missing.items():
            ids = {state.entry for state in states}
            text = texts[name].text if name in texts else None
            absence = Absence(
                ids,
                remaining.get(name, ()),
                text,
                digest_of(text or ""),
                versions[name],
                elsewhere={id for id in ids if not id or any(id in one for one in all_texts)},
                total=total,
            )
            verdicts = judge_entries(absence, partial(self._evidence.git_state, name, text or ""))
            patched = [id for id, verdict in verdicts.items() if verdict is Held.PATCHED]
            verdicts |= dict.fromkeys(self._evidence.committed_ids(name, patched) if patched else (), None)
            # `git stash --staged` and `--patch` leave a text that git does not have.
            cut = [id for id, verdict in verdicts.items() if verdict in (None, Held.PATCHED)]
            verdicts |= dict.fromkeys(self._evidence.stashed_ids(name, cut) if cut else (), Held.STASHED)
            self._verdicts |= {state.memory: verdicts[state.entry] for state in states}
            if any(verdicts.values()):
                self._doubtful.add(name)

    # One memory

    def add(self, memory: Memory) -> None:
        """Decide about one memory, and add what is to be done to the plan."""
        plan, number = self.plan, memory.number
        sync_state = self._comparison.database.sync_states.get(number)
        seen = plan.matches.found.get(number)
        if number in self._progress.refused_memories or self._is_unreadable(sync_state):
            return
        absence = self._verdicts.get(number)
        if sync_state is not None and sync_state.held and sync_state.file not in self._comparison.scan.listing:
            absence = Held.GONE
        decision = self._decide(memory, sync_state, seen, absence)
        if isinstance(decision, FileChange):
            plan.imports.append((seen, decision))
        elif decision is Action.PUT and (file := self._file_of_git(memory, seen)):
            plan.held.append(SyncState(number, file, held=Held.WAITING))
        elif decision is Action.PUT:
            plan.writes.append((memory, sync_state, seen))
        elif decision is Action.REMOVE:
            plan.removals.append((memory, sync_state, seen))
        elif decision is Action.MARK_SYNCED and seen:
            plan.in_sync.append((memory, seen))
        elif decision in _REASONS_LEFT and seen:
            plan.left.append((memory, seen, _REASONS_LEFT[decision]))
        elif decision is Action.HOLD and sync_state and absence:
            plan.held.append(msgspec.structs.replace(sync_state, held=absence))

    def _decide(
        self, memory: Memory, sync_state: SyncState | None, seen: SeenEntry | None, absence: Held | None
    ) -> Action | FileChange:
        comparison, request = self._comparison, self._request
        imported = self._progress.imported.get(memory.number)
        if imported is not None and imported.is_of(memory, seen):
            return imported.remaining
        if imported is not None and seen is not None:  # somebody has saved the file again since
            sync_state = imported.sync_state(memory.number, sync_state)
        context = MergeContext(
            comparison.format.expected_entry,
            self._evidence.versions_since,
            where(comparison, seen) if seen else str(comparison.root / (sync_state.file if sync_state else "")),
            stamped=not comparison.is_file_per_entry,
            prefer=request.prefer,
            put_back=request.put_back,
            take_out=request.take_out,
            accept=request.accept,
            is_old_copy=partial(self._is_old_copy, before=sync_state.file if sync_state else ""),
        )
        case = MergeCase(
            memory,
            sync_state,
            seen,
            unread=sync_state is not None and sync_state.file in self._unread,
            wanted=self._is_wanted(memory, sync_state, seen),
            in_scope=holds(self._mirror, memory.scope),
            saved_at=comparison.texts[seen.file].saved_at if seen else _NEVER,
            absence=absence,
            imported=imported.shown if imported is not None and seen is not None else None,
        )
        return decide(case, context)

    def _is_wanted(self, memory: Memory, sync_state: SyncState | None, seen: SeenEntry | None) -> bool:
        is_chosen = sync_state is not None or seen is not None
        return is_wanted(self._mirror, memory, is_chosen=is_chosen, is_current=self._evidence.is_current(memory))

    def _is_unreadable(self, state: SyncState | None) -> bool:
        """Whether nothing is known of a memory's file, because it cannot be read or its directory cannot be listed."""
        comparison = self._comparison
        return state is not None and (state.file in comparison.unreadable or comparison.scan.is_closed(state.file))

    def _is_old_copy(self, file: str, before: str) -> bool:
        """Whether git, or an editor that opened the file long ago, brought its text back. `before`: its name before."""
        text, stat, _ = self._comparison.texts[file]
        if before not in ("", file) and self._evidence.is_moved(before, stat):
            return False  # by a person: to the archive, or from there
        if file in self._doubtful or is_older(digest_of(text), self._evidence.file_versions([file])[file]):
            return True
        return any(self._evidence.git_state(file, text))

    def _file_of_git(self, memory: Memory, seen: SeenEntry | None) -> str:
        """The file that a memory belongs in, if it is not there and must not be created beside git; else empty."""
        is_asked_for = self._request.prefer is not None or memory.number in self._request.put_back
        if seen or is_asked_for or self._comparison.is_file_per_entry:
            return ""
        file = self._comparison.format.file_for(memory, lambda _: False)
        return "" if file in self._comparison.scan.listing or self._evidence.may_create(file) else file
