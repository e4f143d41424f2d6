"""One sync of one mirror: read the files that changed, compare both sides, import, write files, record what is in sync.

Everything follows from the state of both sides, so that a sync that was stopped anywhere is finished by the next one.
Nothing is recorded before it is done.
"""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import partial

import msgspec

from omoide.errors import Changed
from omoide.files.atomic import Stat
from omoide.files.late_saves import ReplacedFile
from omoide.model import FileState, Held, Memory, Scope, Side, SyncState
from omoide.service import versioning
from omoide.service.mirrors import holds
from omoide.sync.adoption import Adoption
from omoide.sync.database import DatabaseSide, ImportResult, SyncDatabase
from omoide.sync.evidence import FileEvidence, describe_archived, describe_found, held_notices
from omoide.sync.file_edits import FILE_ERRORS, FileEdits, describe_error
from omoide.sync.matching import closest_version, entry_stamp
from omoide.sync.plan import Comparison, ImportedEntry, Progress, SyncPlan, SyncRequest, is_wanted, plan_sync, where
from omoide.sync.snapshot import FileScan, FileText, Snapshot, file_state
from omoide.sync.three_way import Action, FileChange, SeenEntry
from omoide.sync.vanished import describe_gone, has_vanished

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
    notices: tuple[str, ...] = ()
    """What a person should know once: what a deletion in a file archived, and what did not count as a deletion."""


class SyncRun:
    """One sync of one mirror. `prefer`: the side from which the other is rebuilt."""

    def __init__(
        self,
        snapshot: Snapshot,
        database: SyncDatabase,
        prefer: Side | None = None,
        *,
        whole: bool = False,
        put_back: Collection[int] = (),
        take_out: Collection[int] = (),
        unasked: bool = False,
    ):
        """`put_back`: memories whose missing entries are written again. `take_out`: those whose entries are removed.

        `unasked`: it follows a write, of which there may be hundreds in a second: late saves are looked for now and then.
        """
        self._snapshot = snapshot
        self._database = database
        self._request = SyncRequest(prefer, put_back, take_out)
        self._progress = Progress()
        self._unasked = unasked
        self._whole = whole or prefer is not None or bool(put_back or take_out)
        """Whether every memory and every file is compared."""
        self._evidence = FileEvidence(snapshot, database)
        self._notices: dict[str, None] = {}
        self._problems: dict[str, None] = {}
        self._late_saves: list[str] = []
        """Messages about texts that were saved to files after these had been replaced."""
        self._unreadable: dict[str, str] = {}
        """Files that cannot be read, and why."""
        self._adoption = Adoption(snapshot.mirror, partial(database.knows_file, snapshot.mirror.number))
        self._foreign: dict[str, tuple[str, Stat]] = {}
        """Files that omoide did not make and nobody handed over: they are never changed, moved or deleted."""
        self._incomplete: set[str] = set()
        """Files with a refused entry: they are read again by the next sync."""
        self._imported = self._written = self._conflicts = 0

    def sync(self) -> SyncReport:
        """Bring both sides together and return what was done."""
        if not self._snapshot.place.exists():
            # A disk that is not mounted, a branch without these files: nothing counts as deleted.
            comparison = self._compare()
            plan = self._decide(comparison)
            if not plan.writes or has_vanished(comparison.database.mirror):
                waiting = [state for state in plan.held if state.held == Held.WAITING]
                if waiting:  # recorded, so that it is reported once
                    self._database.record_sync(self._snapshot.mirror.number, sync_states=waiting)
                gone = (describe_gone(self._snapshot.mirror),) if self._whole or plan.writes else ()
                return SyncReport(self._snapshot.mirror.number, troubles=gone, notices=self._held_notices(plan))
        with self._snapshot.place.lock():
            for _ in range(TRIES if self._whole else _TRIES_UNASKED):
                try:
                    if self._attempt() and not self._import_late_saves():
                        break
                except Changed:  # fallback: somebody saved a file at this moment, so compare again
                    continue
            else:
                if self._whole:
                    root = self._snapshot.place.root
                    self._add_problem(f"{root}: files change faster than they can be read: try again when that is over")
        troubles = (*self._problems, *self._late_saves)
        counts = self._imported, self._written, self._conflicts
        return SyncReport(self._snapshot.mirror.number, *counts, troubles, tuple(self._notices))

    def plan(self) -> SyncReport:
        """Return what a sync would do, and change nothing."""
        mirror = self._snapshot.mirror
        if not self._snapshot.place.exists() and not self.is_of_git():
            self._add_problem(describe_gone(mirror))
        plan = self._decide(self._compare())
        files = len(plan.writes) + sum(bool(state and state.file) for _, state, _ in plan.removals)
        conflicts = sum(change.stands is not None for _, change in plan.imports)
        return SyncReport(mirror.number, len(plan.imports), files, conflicts, tuple(self._problems))

    def is_of_git(self) -> bool:
        """Return whether git has the file of a mirror, on another branch perhaps."""
        return self._snapshot.single and self._evidence.is_known_to_git(self._snapshot.name)

    def held(self) -> list[tuple[Memory, SyncState]]:
        """Return the memories whose entries are not as the memories say and are left so, as the files are now."""
        plan = self._decide(self._compare())
        resolved = {memory.number for memory, _, _ in (*plan.writes, *plan.removals)}
        resolved |= {memory.number for memory, _ in plan.in_sync}
        recorded = self._database.held_states(self._snapshot.mirror.number)
        states = {memory.number: state for memory, state in recorded if memory.number not in resolved}
        states |= {state.memory: state for state in plan.states() if state.held}
        return [(memory, states[memory.number]) for memory in self._database.memories(list(states))]

    def _attempt(self) -> bool:
        """Compare, import and write once; return False if both sides must be compared again."""
        for findings in (self._problems, self._unreadable):
            findings.clear()
        for refusals in (self._progress.refused_memories, self._progress.refused_entries, self._incomplete):
            refusals.clear()
        comparison = self._compare()
        self._import_description(comparison)
        plan = self._decide(comparison)
        if plan.imports:
            is_complete = self._import_changes(plan, comparison)
            comparison = comparison._replace(database=self._database_side(comparison.scan, comparison.texts))
            plan = self._decide(comparison)
            if not is_complete:
                return False
        self._finish(plan, comparison)
        self._progress = Progress()  # what was imported is recorded, or is found again as the next sync would find it
        return True

    # Comparing

    def _compare(self) -> Comparison:
        scan = self._snapshot.scan([] if self._whole else self._database.file_states(self._snapshot.mirror.number))
        for problem in scan.troubles:
            self._add_problem(problem)
        texts: dict[str, FileText] = {}
        self._foreign.clear()
        for name in scan.changed:
            try:
                found = self._snapshot.read(name)
                if found is not None and self._adoption.is_foreign(name, found[0]):
                    self._foreign[name] = found
                elif found is not None:
                    self._evidence.check_whole(name, found[0])
                    texts[name] = self._snapshot.parse(name, *found, self._known_texts)
            except FILE_ERRORS as error:  # fallback: the other files
                if self._adoption.is_foreign(name):
                    continue
                self._unreadable[name] = describe_error(self._snapshot.place.root / name, error)
                self._add_problem(self._unreadable[name])
        return self._comparison(scan, texts)

    def _known_texts(self, name: str) -> str:
        """The texts of the memories that were last in sync with a file."""
        return "\n".join(memory.content for memory in self._database.listed(self._snapshot.mirror.number, name))

    def _comparison(self, scan: FileScan, texts: Mapping[str, FileText]) -> Comparison:
        snapshot, database = self._snapshot, self._database_side(scan, texts)
        return Comparison(snapshot.place.root, snapshot.format, scan, texts, self._unreadable, database)

    def _database_side(self, scan: FileScan, texts: Mapping[str, FileText]) -> DatabaseSide:
        seen = [SeenEntry(name, placed) for name, text in texts.items() for placed in text.placed]
        # An entry that this run imported and that has no id yet is known by its stamp, not by its key.
        keyed = [one.placed.entry for one in seen if one.placed.entry.key and entry_stamp(one) not in self._progress.stamps]
        scope = self._snapshot.mirror.scope
        return self._database.database_side(
            self._snapshot.mirror.number,
            files=[*scan.changed, *scan.gone],
            ids=[one.placed.entry.id for one in seen if one.placed.entry.id],
            keys=[(Scope(scope.path, entry.session or scope.name), entry.key or "") for entry in keyed],
            taken=list(self._progress.imported),
            whole=self._whole,
        )

    def _add_problem(self, message: str) -> None:
        self._problems[message] = None

    # Deciding

    def _decide(self, comparison: Comparison) -> SyncPlan:
        plan = plan_sync(comparison, self._request, self._progress, self._evidence)
        for refused, reason in plan.matches.refused:
            self._add_problem(f"{where(comparison, refused)}: {reason}")
            self._incomplete.add(refused.file)
        return plan

    # From the files into the database

    def _import_description(self, comparison: Comparison) -> None:
        """Import the project's description from the main page of its tree."""
        main, mirror = comparison.texts.get(self._snapshot.main), comparison.database.mirror
        if main is None or self._request.prefer is Side.DATABASE:
            return
        from omoide.markdown.project_tree import read_description  # lazy: only a tree has such a page

        written, stored = read_description(main.text), self._database.frame(mirror.scope).description
        if written and written != stored and (mirror.seen > 0 or not stored or self._request.prefer is Side.FILE):
            self._database.describe(mirror.scope, written)

    def _import_changes(self, plan: SyncPlan, comparison: Comparison) -> bool:
        """Import what the files changed; return False if a memory changed meanwhile."""
        database, unread = comparison.database, comparison.unread
        if database.mirror.seen < 0 and self._request.prefer is None:
            plan = self._with_sources(plan)
        changes = [change for _, change in plan.imports]
        results = self._database.import_changes(database.mirror, changes, plan.matches.found, unread)
        for (seen, change), result in zip(plan.imports, results, strict=True):
            self._note_import(seen, change, result, comparison)
        return all(result.refused or result.memory for result in results)

    def _with_sources(self, plan: SyncPlan) -> SyncPlan:
        """The plan of a first sync: entries that the files have already were written by somebody else."""
        imports: list[tuple[SeenEntry | None, FileChange]] = []
        sources: list[str] = []
        for seen, change in plan.imports:
            if seen is not None and not change.number:
                sources.append(self._evidence.source(seen.file))
                imports.append((seen, msgspec.structs.replace(change, source=sources[-1])))
            else:
                imports.append((seen, change))
        if sources:
            path = self._snapshot.place.root / self._snapshot.name
            self._notices[describe_found(path, sources)] = None
        return plan._replace(imports=imports)

    def _note_import(self, seen: SeenEntry | None, change: FileChange, result: ImportResult, comparison: Comparison) -> None:
        database = comparison.database
        if result.refused:
            self._add_problem(result.refused)
            self._progress.refused_memories.add(change.number)
            if seen:
                self._progress.refused_entries.add(entry_stamp(seen))
                self._incomplete.add(seen.file)
        elif result.memory is not None and result.left:
            self._progress.imported[result.memory.number] = ImportedEntry(result.memory.version, Action.LEAVE, seen)
            if seen:
                self._progress.stamps[entry_stamp(seen)] = result.memory.number
        elif result.memory is not None:
            memory = result.memory
            self._imported += 1
            self._conflicts += change.stands is not None
            remaining = self._remaining_action(seen, change, memory, database)
            self._progress.imported[memory.number] = ImportedEntry(memory.version, remaining, seen, _shown(change, memory))
            if seen and not seen.placed.entry.id:
                self._progress.stamps[entry_stamp(seen)] = memory.number
            if seen is None and change.stands is None and self._request.prefer is None:
                self._notices[self._describe_archived(memory, database.sync_states[memory.number].file, comparison)] = None

    def _describe_archived(self, memory: Memory, file: str, comparison: Comparison) -> str:
        text = comparison.texts[file].text if file in comparison.texts else ""
        is_previous = self._evidence.is_previous_version(file, text)
        return describe_archived(self._snapshot.place.root / file, memory, is_previous=is_previous)

    def _remaining_action(
        self, seen: SeenEntry | None, change: FileChange, memory: Memory, database: DatabaseSide
    ) -> Action:
        """What is left to do with the entry of a change that was imported."""
        if seen is None:
            # It is written again, or moves to the archive; elsewhere there is nothing left of it.
            return Action.PUT if change.stands is not None or self._snapshot.is_file_per_entry else Action.REMOVE
        if not self._is_wanted(database, memory):
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

    def _is_wanted(self, database: DatabaseSide, memory: Memory) -> bool:
        return is_wanted(database.mirror, memory, is_chosen=True, is_current=self._database.is_current(memory))

    # What was saved to files after they had been replaced

    def _import_late_saves(self) -> bool:
        """Import what somebody saved to a file after it had been replaced; return whether there was such a save."""
        if self._unasked and not self._snapshot.place.replaced.is_look_due():
            return False
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
        if self._request.prefer is Side.DATABASE:
            return ["the files are being rebuilt from the database"]
        run = SyncRun(self._snapshot, self._database)
        run._progress.is_late_save = True
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
        for _ in range(TRIES):
            if self._import_compared(scan, {name: text}):
                return
        self._add_problem("the memories change faster than they can be compared")

    def _import_compared(self, scan: FileScan, texts: Mapping[str, FileText]) -> bool:
        """Import what texts have that the database has not; return False if a memory changed meanwhile."""
        comparison = self._comparison(scan, texts)
        # The text is older than the last sync: it is compared with the versions that it was made from.
        found = self._decide(comparison).matches.found
        sync_states = {number: self._base_state(number, seen) for number, seen in found.items()}
        database = comparison.database._replace(sync_states={**comparison.database.sync_states, **sync_states})
        comparison = comparison._replace(database=database)
        plan = self._decide(comparison)
        imports: list[tuple[SeenEntry | None, FileChange]] = [(seen, change) for seen, change in plan.imports if seen]
        return self._import_changes(plan._replace(imports=imports), comparison)

    def _base_state(self, number: int, seen: SeenEntry) -> SyncState:
        """The sync state of a memory at the version from which an entry was made."""
        versions = self._database.versions_since(number, 1)
        base = closest_version(versions, seen.placed.entry, self._snapshot.format)
        return SyncState(number, seen.file, seen.placed.entry.id or "", base.version)

    # From the database into the files

    def _finish(self, plan: SyncPlan, comparison: Comparison) -> None:
        """Write the files, and record what is in sync."""
        edits = self._file_edits(plan, comparison)
        edits.write(set(self._unreadable), comparison.scan.closed, backup=self._request.prefer is Side.DATABASE)
        for name in edits.written_files:
            self._problems.pop(self._unreadable.pop(name, ""), None)  # it was replaced
        for message in edits.problems:
            self._add_problem(message)
        self._written += edits.written
        sync_states = edits.sync_states + plan.states()
        self._notices |= dict.fromkeys(self._held_notices(plan))
        file_states = self._file_states(comparison, edits)
        self._record(comparison, edits, sync_states, file_states)
        for name, text in comparison.texts.items():
            self._snapshot.forget_returned(name, text.text)
        self._snapshot.event = comparison.database.event
        self._snapshot.mark_in_sync(comparison.scan, edits.written_files, edits.removed_files, file_states)

    def _held_notices(self, plan: SyncPlan) -> tuple[str, ...]:
        return tuple(held_notices(self._snapshot, plan.held, self._database.memories))

    def _file_edits(self, plan: SyncPlan, comparison: Comparison) -> FileEdits:
        snapshot, scan, mirror = self._snapshot, comparison.scan, comparison.database.mirror
        edits = FileEdits(snapshot, comparison.texts, scan.listing, self._database.versions_since, self._adoption.is_foreign)
        for memory, sync_state, seen in plan.writes:
            edits.put(memory, sync_state, seen)
        for memory, sync_state, seen in plan.removals:
            edits.remove(memory, sync_state, seen, in_scope=holds(mirror, memory.scope))
        for file, id in plan.matches.leftovers:
            edits.remove_entry(file, id)
        if self._request.prefer is Side.DATABASE:
            edits.remove_strangers(plan.matches.strangers)
        if snapshot.main and (snapshot.main in scan.listing or ((edits or self._whole) and self._may_create_main())):
            edits.set_frame(snapshot.main, self._database.frame(mirror.scope))
        return edits

    def _may_create_main(self) -> bool:
        return bool(self._request.prefer or self._request.put_back) or self._evidence.may_create(self._snapshot.main)

    def _file_states(self, comparison: Comparison, edits: FileEdits) -> list[FileState]:
        """The states of the files that were read or written, but for those that must be read again."""
        texts = {name: (text.text, text.stat) for name, text in comparison.texts.items()}
        texts |= self._foreign | edits.written_files
        states = [file_state(name, text, stat) for name, (text, stat) in texts.items() if name not in self._incomplete]
        return states + [state for state in comparison.scan.settled if state.name not in texts]

    def _read_texts(self, comparison: Comparison, edits: FileEdits) -> dict[str, str]:
        """The texts of the files that are as they should be after this run, without empty ones."""
        texts = {name: text.text for name, text in comparison.texts.items() if name not in self._incomplete}
        texts |= {name: text for name, (text, _) in edits.written_files.items()}
        return {name: text for name, text in texts.items() if text.strip()}

    def _record(
        self, comparison: Comparison, edits: FileEdits, sync_states: list[SyncState], file_states: list[FileState]
    ) -> None:
        scan, database = comparison.scan, comparison.database
        gone = [name for name in (*scan.gone, *edits.removed_files) if name not in edits.written_files]
        last_seen = database.mirror.seen
        is_first = last_seen < 0 or last_seen == 0 < database.event
        is_far_behind = not 0 <= database.event - last_seen < _FAR_BEHIND
        if sync_states or edits.detached or file_states or gone or is_first or is_far_behind:
            is_finished = not (self._unreadable or scan.closed or self._progress.refused_memories or edits.problems)
            self._database.record_sync(
                self._snapshot.mirror.number,
                sync_states=sync_states,
                parted=edits.detached,
                file_states=file_states,
                vanished=gone,
                versions=self._evidence.next_versions(self._read_texts(comparison, edits)),
                seen=database.event if is_finished else None,
            )


def _shown(change: FileChange, memory: Memory) -> Memory | None:
    """The memory as the entry of a change showed it. `memory`: what it is since, which may have more changes than that."""
    if change.entry is None:
        return None
    return versioning.with_fields(change.base or memory, {**change.fields, **change.lost})
