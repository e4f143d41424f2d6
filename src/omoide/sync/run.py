"""One sync of one mirror: read the files that changed, compare both sides, import, write files, record what is in sync.

Everything follows from the state of both sides, so that a sync that was stopped anywhere is finished by the next one.
Nothing is recorded before it is done.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from omoide.errors import Changed
from omoide.files.late_saves import ReplacedFile
from omoide.model import Choice, FileState, Memory, Scope, Side, State, SyncState
from omoide.service.mirrors import holds
from omoide.sync.database import DatabaseSide, ImportResult, SyncDatabase
from omoide.sync.file_edits import FILE_ERRORS, FileEdits, describe_error
from omoide.sync.matching import MatchResult, Stamp, closest_version, entry_stamp, match_entries
from omoide.sync.snapshot import FileScan, FileText, Snapshot, file_state
from omoide.sync.three_way import Action, FileChange, MergeCase, MergeContext, SeenEntry, decide

TRIES = 8
_TRIES_UNASKED = 3  # the next sync does what this one could not
_FAR_BEHIND = 500  # events that do not concern the mirror, after which recording that is worth a write
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class SyncReport(msgspec.Struct, frozen=True):
    """What a sync did, or would do."""

    mirror: int
    imported: int = 0
    """Changes of the files that were stored in the database."""
    written: int = 0
    """Files that were written; in a plan, memories that would be."""
    conflicts: int = 0
    """Memories that both sides had changed, differently."""
    troubles: tuple[str, ...] = ()
    """What could not be imported or written: where, why, and what to do."""


class SyncPlan(NamedTuple):
    """What a comparison of both sides found to be done."""

    imports: list[tuple[SeenEntry | None, FileChange]]
    """Changes of the files, each with its entry; None: the entry was deleted."""
    writes: list[tuple[Memory, SyncState | None, SeenEntry | None]]
    removals: list[tuple[Memory, SyncState | None, SeenEntry | None]]
    in_sync: list[tuple[Memory, SeenEntry]]
    """Memories whose entries are the same and not yet recorded so."""
    matches: MatchResult
    unread: set[str]
    """Files that look as they did at the last sync."""


class Comparison(NamedTuple):
    """Both sides of a mirror at one moment."""

    scan: FileScan
    texts: dict[str, FileText]
    """The files that changed."""
    database: DatabaseSide


class SyncRun:
    """One sync of one mirror. `prefer`: the side from which the other is rebuilt."""

    def __init__(self, snapshot: Snapshot, database: SyncDatabase, prefer: Side | None = None, *, whole: bool = False):
        self._snapshot = snapshot
        self._database = database
        self._prefer = prefer
        self._whole = self._patient = whole or prefer is not None
        """Whether every memory and every file is compared, and missing files are written again."""
        self._is_root_missing = False
        self._stamps: dict[Stamp, int] = {}
        """Entries without an id that this run imported, with the numbers of their memories."""
        self._imported_memories: dict[int, tuple[int, Action]] = {}
        """What this run imported, by number: the version that it is now, and what is left to do with its entry."""
        self._problems: dict[str, None] = {}
        self._late_saves: list[str] = []
        """Messages about texts that were saved to files after these had been replaced."""
        self._unreadable: dict[str, str] = {}
        """Files that cannot be read, and why."""
        self._refused_memories: set[int] = set()
        """Numbers of memories whose entries were refused: neither side is changed."""
        self._refused_entries: set[Stamp] = set()
        self._incomplete: set[str] = set()
        """Files with a refused entry: they are read again by the next sync."""
        self._imported = self._written = self._conflicts = 0

    def sync(self) -> SyncReport:
        """Bring both sides together and return what was done."""
        if not self._snapshot.place.exists():
            # A disk that is not mounted, a branch without these files: nothing counts as deleted.
            self._is_root_missing = True
            if not self._whole and not self._decide(self._compare()).writes:
                return SyncReport(self._snapshot.mirror.number)
            self._whole = True
        with self._snapshot.place.lock():
            for _ in range(TRIES if self._patient else _TRIES_UNASKED):
                try:
                    if self._attempt() and not self._import_late_saves():
                        break
                except Changed:  # fallback: somebody saved a file at this moment, so compare again
                    continue
            else:
                if self._patient:
                    root = self._snapshot.place.root
                    self._add_problem(f"{root}: files change faster than they can be read: try again when that is over")
        troubles = (*self._problems, *self._late_saves)
        return SyncReport(self._snapshot.mirror.number, self._imported, self._written, self._conflicts, troubles)

    def plan(self) -> SyncReport:
        """Return what a sync would do, and change nothing."""
        mirror = self._snapshot.mirror
        self._is_root_missing = not self._snapshot.place.exists()
        if self._is_root_missing:
            self._add_problem(f"{mirror.place} is gone: bring it back, or `omoide mirror remove {mirror.number}`")
        plan = self._decide(self._compare())
        files = len(plan.writes) + sum(bool(state and state.file) for _, state, _ in plan.removals)
        conflicts = sum(change.stands is not None for _, change in plan.imports)
        return SyncReport(mirror.number, len(plan.imports), files, conflicts, tuple(self._problems))

    def _attempt(self) -> bool:
        """Compare, import and write once; return False if both sides must be compared again."""
        for findings in (self._problems, self._unreadable):
            findings.clear()
        for refusals in (self._refused_memories, self._refused_entries, self._incomplete):
            refusals.clear()
        comparison = self._compare()
        self._import_description(comparison)
        plan = self._decide(comparison)
        if plan.imports:
            is_complete = self._import_changes(plan, comparison.database)
            comparison = comparison._replace(database=self._database_side(comparison.scan, comparison.texts))
            plan = self._decide(comparison)
            if not is_complete:
                return False
        targets = [self._snapshot.format.file_for(memory, lambda _: False) for memory, *_ in plan.writes]
        if not self._whole and any(self._is_file_lost(file, comparison) for file in targets):
            # A missing file is left alone until something must be written to it; then it is written in full.
            self._whole = True
            return False
        self._finish(plan, comparison)
        return True

    # Comparing

    def _compare(self) -> Comparison:
        scan = self._snapshot.scan([] if self._whole else self._database.file_states(self._snapshot.mirror.number))
        for problem in scan.troubles:
            self._add_problem(problem)
        texts: dict[str, FileText] = {}
        for name in scan.changed:
            try:
                text = self._snapshot.read(name)
            except FILE_ERRORS as error:  # fallback: the other files
                self._unreadable[name] = describe_error(self._snapshot.place.root / name, error)
                self._add_problem(self._unreadable[name])
                continue
            if text is not None:
                texts[name] = text
        return Comparison(scan, texts, self._database_side(scan, texts))

    def _database_side(self, scan: FileScan, texts: Mapping[str, FileText]) -> DatabaseSide:
        seen = [SeenEntry(name, placed) for name, text in texts.items() for placed in text.placed]
        # An entry that this run imported and that has no id yet is known by its stamp, not by its key.
        keyed = [one.placed.entry for one in seen if one.placed.entry.key and entry_stamp(one) not in self._stamps]
        scope = self._snapshot.mirror.scope
        return self._database.database_side(
            self._snapshot.mirror.number,
            files=[*scan.changed, *scan.gone],
            ids=[one.placed.entry.id for one in seen if one.placed.entry.id],
            keys=[(Scope(scope.path, entry.session or scope.name), entry.key or "") for entry in keyed],
            taken=list(self._imported_memories),
            whole=self._whole,
        )

    def _add_problem(self, message: str) -> None:
        self._problems[message] = None

    def _where(self, seen: SeenEntry) -> str:
        path = self._snapshot.place.root / seen.file
        return str(path) if self._snapshot.is_file_per_entry else f"{path}, line {seen.placed.line}"

    # Deciding

    def _decide(self, comparison: Comparison) -> SyncPlan:
        snapshot, database = self._snapshot, comparison.database
        unread = set(comparison.scan.listing) - set(comparison.scan.changed)
        matches = match_entries(
            comparison.texts, unread, database, self._stamps, snapshot.format, alone=snapshot.is_file_per_entry
        )
        for refused, reason in matches.refused:
            self._add_problem(f"{self._where(refused)}: {reason}")
            self._incomplete.add(refused.file)
        plan = SyncPlan([], [], [], [], matches, unread)
        for memory in database.memories.values():
            self._plan_memory(plan, memory, comparison)
        if self._prefer is not Side.DATABASE:
            plan.imports.extend(
                (stranger, FileChange(stranger.placed.entry, self._where(stranger)))
                for stranger in matches.strangers
                if entry_stamp(stranger) not in self._refused_entries
            )
        return plan

    def _plan_memory(self, plan: SyncPlan, memory: Memory, comparison: Comparison) -> None:
        sync_state = comparison.database.sync_states.get(memory.number)
        seen = plan.matches.found.get(memory.number)
        if memory.number in self._refused_memories or self._is_unreadable(sync_state, comparison):
            return
        is_unread = False
        if sync_state and sync_state.file and seen is None:
            is_lost = self._is_file_lost(sync_state.file, comparison)
            if is_lost and self._whole:
                sync_state = SyncState(memory.number)
            else:
                is_unread = is_lost or sync_state.file in plan.unread
        decision = self._decision(memory, sync_state, seen, comparison, is_unread=is_unread)
        if isinstance(decision, FileChange):
            plan.imports.append((seen, decision))
        elif decision is Action.PUT:
            plan.writes.append((memory, sync_state, seen))
        elif decision is Action.REMOVE:
            plan.removals.append((memory, sync_state, seen))
        elif decision is Action.MARK_SYNCED and seen:
            plan.in_sync.append((memory, seen))

    def _decision(
        self,
        memory: Memory,
        sync_state: SyncState | None,
        seen: SeenEntry | None,
        comparison: Comparison,
        *,
        is_unread: bool,
    ) -> Action | FileChange:
        version, remaining = self._imported_memories.get(memory.number, (0, Action.NOTHING))
        if version == memory.version:
            return remaining
        mirror = self._snapshot.mirror
        in_scope = holds(mirror, memory.scope)
        is_chosen = mirror.choice is Choice.ALL or sync_state is not None or seen is not None
        context = MergeContext(
            self._snapshot.format.expected_entry,
            self._database.versions_since,
            self._where(seen) if seen else str(self._snapshot.place.root),
            stamped=not self._snapshot.is_file_per_entry,
            prefer=self._prefer,
        )
        case = MergeCase(
            memory,
            sync_state,
            seen,
            unread=is_unread,
            wanted=in_scope and is_chosen and self._is_shown(memory),
            in_scope=in_scope,
            saved_at=comparison.texts[seen.file].saved_at if seen else _NEVER,
        )
        return decide(case, context)

    def _is_shown(self, memory: Memory) -> bool:
        """Whether files show a memory in its state: a current one, and an archived one where there is an archive."""
        return self._database.is_current(memory) or (self._snapshot.is_file_per_entry and memory.state is State.ARCHIVED)

    def _is_unreadable(self, state: SyncState | None, comparison: Comparison) -> bool:
        """Whether nothing is known of a memory's file, because it cannot be read or its directory cannot be listed."""
        return state is not None and (state.file in self._unreadable or comparison.scan.is_closed(state.file))

    def _is_file_lost(self, file: str, comparison: Comparison) -> bool:
        """Whether a file with several entries is gone or empty.

        People delete entries one by one: such a file is being saved at this moment, or is on another branch, and none of
        its entries counts as deleted.
        """
        if self._is_root_missing:
            return True
        if self._snapshot.is_file_per_entry or not file or file in self._unreadable:
            return False
        if file not in comparison.scan.listing:
            return True
        text = comparison.texts.get(file)
        return text is not None and not text.text.strip("\ufeff \t\r\n")

    # From the files into the database

    def _import_description(self, comparison: Comparison) -> None:
        """Import the project's description from the main page of its tree."""
        main, mirror = comparison.texts.get(self._snapshot.main), comparison.database.mirror
        if main is None or self._prefer is Side.DATABASE:
            return
        from omoide.markdown.project_tree import read_description  # lazy: only a tree has such a page

        written, stored = read_description(main.text), self._database.frame(mirror.scope).description
        if written and written != stored and (mirror.seen or not stored or self._prefer is Side.FILE):
            self._database.describe(mirror.scope, written)

    def _import_changes(self, plan: SyncPlan, database: DatabaseSide) -> bool:
        """Import what the files changed; return False if a memory changed meanwhile."""
        changes = [change for _, change in plan.imports]
        results = self._database.import_changes(database.mirror, changes, plan.matches.found, plan.unread)
        for (seen, change), result in zip(plan.imports, results, strict=True):
            self._note_import(seen, change, result, database)
        return all(result.refused or result.memory for result in results)

    def _note_import(self, seen: SeenEntry | None, change: FileChange, result: ImportResult, database: DatabaseSide) -> None:
        if result.refused:
            self._add_problem(result.refused)
            self._refused_memories.add(change.number)
            if seen:
                self._refused_entries.add(entry_stamp(seen))
                self._incomplete.add(seen.file)
        elif result.memory is not None:
            memory = result.memory
            self._imported += 1
            self._conflicts += change.stands is not None
            remaining = self._remaining_action(seen, change, memory, database)
            self._imported_memories[memory.number] = (memory.version, remaining)
            if seen and not seen.placed.entry.id:
                self._stamps[entry_stamp(seen)] = memory.number

    def _remaining_action(
        self, seen: SeenEntry | None, change: FileChange, memory: Memory, database: DatabaseSide
    ) -> Action:
        """What is left to do with the entry of a change that was imported."""
        if seen is None:
            # It is written again, or moves to the archive; elsewhere there is nothing left of it.
            return Action.PUT if change.stands is not None or self._snapshot.is_file_per_entry else Action.REMOVE
        if not holds(database.mirror, memory.scope) or not self._is_shown(memory):
            return Action.REMOVE
        entry, expected = seen.placed.entry, self._snapshot.format.expected_entry(memory)
        sync_state = database.sync_states.get(change.number)
        must_be_written = (
            change.stands is Side.DATABASE
            or (sync_state is not None and sync_state.file and sync_state.version != change.version)
            or (entry.topic is not None and expected.topic is None)  # a title that follows the text
            or (entry.id is None and not self._snapshot.is_file_per_entry)
        )
        return Action.PUT if must_be_written else Action.MARK_SYNCED

    # What was saved to files after they had been replaced

    def _import_late_saves(self) -> bool:
        """Import what somebody saved to a file after it had been replaced; return whether there was such a save."""
        files = self._snapshot.late_saves()
        for file in files:
            problems = "; ".join(self._import_late_save(file))
            outcome = f"not all of its entries were imported ({problems})" if problems else "its entries were imported"
            backup = self._snapshot.place.back_up_replaced(file)
            message = f"was saved while it was replaced: {outcome}, and the saved text is kept as {backup}"
            self._late_saves.append(f"{self._snapshot.place.root / file.name} {message}")
        return bool(files)

    def _import_late_save(self, file: ReplacedFile) -> list[str]:
        """Import the entries of a replaced file, and return what could not be imported."""
        if self._prefer is Side.DATABASE:
            return ["the files are being rebuilt from the database"]
        run = SyncRun(self._snapshot, self._database)
        try:
            text = self._snapshot.place.replaced.read(file)
            run._import_text(file.name, FileText(text, file.now, self._snapshot.format.parse(file.name, text)))
        except FILE_ERRORS as error:  # fallback: the text is kept as a file
            return [str(error)]
        self._imported += run._imported
        self._conflicts += run._conflicts
        return list(run._problems)

    def _import_text(self, name: str, text: FileText) -> None:
        """Import the entries of a text that is no longer in its file; what it lacks does not count as deleted."""
        scan = FileScan({name: text.stat}, [name], [], [], unsettled=True)
        texts = {name: text}
        comparison = Comparison(scan, texts, self._database_side(scan, texts))
        # The text is older than the last sync: it is compared with the versions that it was made from.
        found = self._decide(comparison).matches.found
        sync_states = {number: self._base_state(number, seen) for number, seen in found.items()}
        database = comparison.database._replace(sync_states={**comparison.database.sync_states, **sync_states})
        plan = self._decide(comparison._replace(database=database))
        self._import_changes(plan._replace(imports=[(seen, change) for seen, change in plan.imports if seen]), database)

    def _base_state(self, number: int, seen: SeenEntry) -> SyncState:
        """The sync state of a memory at the version from which an entry was made."""
        versions = self._database.versions_since(number, 1)
        base = closest_version(versions, seen.placed.entry, self._snapshot.format)
        return SyncState(number, seen.file, seen.placed.entry.id or "", base.version)

    # From the database into the files

    def _finish(self, plan: SyncPlan, comparison: Comparison) -> None:
        """Write the files, and record what is in sync."""
        edits = self._file_edits(plan, comparison)
        edits.write(set(self._unreadable), comparison.scan.closed, backup=self._prefer is Side.DATABASE)
        for name in edits.written_files:
            self._problems.pop(self._unreadable.pop(name, ""), None)  # it was replaced
        for message in edits.problems:
            self._add_problem(message)
        self._written += edits.written
        sync_states = edits.sync_states + [
            SyncState(memory.number, seen.file, seen.placed.entry.id or "", memory.version, seen.placed.digest)
            for memory, seen in plan.in_sync
        ]
        file_states = self._file_states(comparison, edits)
        self._record(comparison, edits, sync_states, file_states)
        self._snapshot.event = comparison.database.event
        self._snapshot.mark_in_sync(comparison.scan, edits.written_files, edits.removed_files, file_states)

    def _file_edits(self, plan: SyncPlan, comparison: Comparison) -> FileEdits:
        snapshot, scan, mirror = self._snapshot, comparison.scan, comparison.database.mirror
        edits = FileEdits(snapshot, comparison.texts, scan.listing, self._database.versions_since)
        for memory, sync_state, seen in plan.writes:
            edits.put(memory, sync_state, seen)
        for memory, sync_state, seen in plan.removals:
            edits.remove(memory, sync_state, seen, in_scope=holds(mirror, memory.scope))
        for file, id in plan.matches.leftovers:
            edits.remove_entry(file, id)
        if self._prefer is Side.DATABASE:
            edits.remove_strangers(plan.matches.strangers)
        if snapshot.main and (edits or self._whole or snapshot.main in scan.listing):
            edits.set_frame(snapshot.main, self._database.frame(mirror.scope))
        return edits

    def _file_states(self, comparison: Comparison, edits: FileEdits) -> list[FileState]:
        """The states of the files that were read or written, but for those that must be read again."""
        texts = {name: (text.text, text.stat) for name, text in comparison.texts.items()} | edits.written_files
        states = [
            file_state(name, text, stat)
            for name, (text, stat) in texts.items()
            if name not in self._incomplete and (name in edits.written_files or not self._is_file_lost(name, comparison))
        ]
        return states + [state for state in comparison.scan.settled if state.name not in texts]

    def _record(
        self, comparison: Comparison, edits: FileEdits, sync_states: list[SyncState], file_states: list[FileState]
    ) -> None:
        scan, database = comparison.scan, comparison.database
        gone = [name for name in (*scan.gone, *edits.removed_files) if name not in edits.written_files]
        last_seen = database.mirror.seen
        is_first = last_seen == 0 < database.event
        is_far_behind = not 0 <= database.event - last_seen < _FAR_BEHIND
        if sync_states or edits.detached or file_states or gone or is_first or is_far_behind:
            is_finished = not (self._unreadable or scan.closed or self._refused_memories or edits.problems)
            self._database.record_sync(
                self._snapshot.mirror.number,
                sync_states=sync_states,
                parted=edits.detached,
                file_states=file_states,
                vanished=gone,
                seen=database.event if is_finished else None,
            )
