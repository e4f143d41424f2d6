"""From the files into the database: what a sync finds in texts, imports, and has left to do with the entries.

A text may be the file itself, or one that was saved to a file after it had been replaced (`late_import.py`).
"""

from collections.abc import Collection, Mapping

import msgspec

from omoide.errors import StoreError
from omoide.model import Memory, Scope, Side
from omoide.service import versioning
from omoide.sync.database import DatabaseSide, SyncDatabase
from omoide.sync.deletions import event_detail
from omoide.sync.entry_store import ImportResult
from omoide.sync.evidence import FileEvidence, describe_found
from omoide.sync.matching import entry_stamp
from omoide.sync.plan import Comparison, ImportedEntry, Progress, SyncPlan, SyncRequest, is_wanted, plan_sync, where
from omoide.sync.snapshot import FileScan, FileText, Snapshot
from omoide.sync.three_way import Action, FileChange, SeenEntry


class FileImport:
    """Compares texts of one mirror with the database, and imports what is new in them."""

    def __init__(self, snapshot: Snapshot, database: SyncDatabase, request: SyncRequest, *, whole: bool = False):
        """`whole`: compare every memory of the mirror, not only those that changed or that the texts name."""
        self._snapshot = snapshot
        self._database = database
        self._request = request
        self._whole = whole
        self.evidence = FileEvidence(snapshot, database)
        self.progress = Progress()
        self.problems: dict[str, None] = {}
        """What could not be imported: where, why, and what to do."""
        self.notices: dict[str, None] = {}
        """What a person should know once."""
        self.incomplete: set[str] = set()
        """Files with a refused entry: they are read again by the next sync."""
        self.imported = self.conflicts = 0

    def begin_attempt(self) -> None:
        """Forget what was refused: the files may be other ones now."""
        for findings in (self.problems, self.progress.refused_memories, self.progress.refused_entries, self.incomplete):
            findings.clear()

    def end_attempt(self) -> None:
        """Forget what was imported: it is recorded, or is found again as the next sync would find it."""
        self.progress = Progress()

    def add_problem(self, message: str) -> None:
        """Add what could not be imported, or written."""
        self.problems[message] = None

    # Comparing

    def compare(self, scan: FileScan, texts: Mapping[str, FileText], unreadable: Collection[str] = ()) -> Comparison:
        """Return both sides, as they are now."""
        snapshot = self._snapshot
        return Comparison(snapshot.place.root, snapshot.format, scan, texts, unreadable, self._database_side(scan, texts))

    def compare_again(self, comparison: Comparison) -> Comparison:
        """Return both sides after an import: the same texts, and the database as it is now."""
        return comparison._replace(database=self._database_side(comparison.scan, comparison.texts))

    def _database_side(self, scan: FileScan, texts: Mapping[str, FileText]) -> DatabaseSide:
        seen = [SeenEntry(name, placed) for name, text in texts.items() for placed in text.placed]
        # An entry that this run imported and that has no id yet is known by its stamp, not by its key.
        keyed = [one.placed.entry for one in seen if one.placed.entry.key and entry_stamp(one) not in self.progress.stamps]
        scope = self._snapshot.mirror.scope
        return self._database.database_side(
            self._snapshot.mirror.number,
            files=[*scan.changed, *scan.gone],
            ids=[one.placed.entry.id for one in seen if one.placed.entry.id],
            keys=[(Scope(scope.path, entry.session or scope.name), entry.key or "") for entry in keyed],
            taken=list(self.progress.imported),
            whole=self._whole,
        )

    def plan(self, comparison: Comparison) -> SyncPlan:
        """Return what is to be done, and note the entries that cannot be matched as they are."""
        plan = plan_sync(comparison, self._request, self.progress, self.evidence)
        for refused, reason in plan.matches.refused:
            self.add_problem(f"{where(comparison, refused)}: {reason}")
            self.incomplete.add(refused.file)
        return plan

    # Importing

    def import_changes(self, plan: SyncPlan, comparison: Comparison) -> bool:
        """Import what the files changed; return False if a memory changed meanwhile."""
        database, unread = comparison.database, comparison.unread
        if database.mirror.seen < 0 and self._request.prefer is None:
            plan = self._with_sources(plan)
        changes = [self._with_detail(change, comparison) for _, change in plan.imports]
        results = self._database.import_changes(database.mirror, changes, plan.matches.found, unread)
        for (seen, change), result in zip(plan.imports, results, strict=True):
            self._note_import(seen, change, result, comparison)
        return all(result.refused or result.memory for result in results)

    def find_refusals(self, plan: SyncPlan, comparison: Comparison) -> int:
        """Note the changes of the files that an import would refuse, change nothing, and return how many these are."""
        if not plan.imports:
            return 0
        changes = [change for _, change in plan.imports]
        try:
            refused = self._database.refusals(comparison.database.mirror, changes, plan.matches.found, comparison.unread)
        except StoreError:  # fallback: the store cannot be written to, so that only a sync will tell
            return 0
        for reason in refused:
            self.add_problem(reason)
        return len(refused)

    def _with_sources(self, plan: SyncPlan) -> SyncPlan:
        """The plan of a first sync: entries that the files have already were written by somebody else."""
        imports: list[tuple[SeenEntry | None, FileChange]] = []
        sources: list[str] = []
        for seen, change in plan.imports:
            if seen is not None and not change.number:
                sources.append(self.evidence.source(seen.file))
                imports.append((seen, msgspec.structs.replace(change, source=sources[-1])))
            else:
                imports.append((seen, change))
        if sources:
            path = self._snapshot.place.root / self._snapshot.name
            self.notices[describe_found(path, sources)] = None
        return plan._replace(imports=imports)

    def _note_import(self, seen: SeenEntry | None, change: FileChange, result: ImportResult, comparison: Comparison) -> None:
        memory, progress = result.memory, self.progress
        if result.refused:
            self.add_problem(result.refused)
            progress.refused_memories.add(change.number)
            if seen:
                progress.refused_entries.add(entry_stamp(seen))
                self.incomplete.add(seen.file)
        elif memory is not None and result.left:
            progress.imported[memory.number] = ImportedEntry(memory.version, Action.LEAVE, seen)
            if seen:
                progress.stamps[entry_stamp(seen)] = memory.number
        elif memory is not None:
            self.imported += 1
            self.conflicts += change.stands is not None
            remaining = self._remaining_action(seen, change, memory, comparison.database)
            progress.imported[memory.number] = ImportedEntry(
                memory.version, remaining, seen, _earlier_memory(change, memory)
            )
            if seen and not seen.placed.entry.id:
                progress.stamps[entry_stamp(seen)] = memory.number

    def _with_detail(self, change: FileChange, comparison: Comparison) -> FileChange:
        """The same change; of an entry that a person plainly deleted, with what is reported of it."""
        if change.entry is not None or change.stands is not None or self._request.prefer is not None:
            return change
        file = comparison.database.sync_states[change.number].file
        text = comparison.texts[file].text if file in comparison.texts else ""
        is_previous = self.evidence.is_previous_version(file, text)
        return msgspec.structs.replace(change, detail=event_detail(is_previous=is_previous))

    def _remaining_action(
        self, seen: SeenEntry | None, change: FileChange, memory: Memory, database: DatabaseSide
    ) -> Action:
        """What is left to do with the entry of a change that was imported."""
        if seen is None:
            # It is written again, or moves to the archive; elsewhere there is nothing left of it.
            return Action.PUT if change.stands is not None or self._snapshot.is_file_per_entry else Action.REMOVE
        if not is_wanted(database.mirror, memory, is_chosen=True, is_current=self._database.is_current(memory)):
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


def _earlier_memory(change: FileChange, memory: Memory) -> Memory | None:
    """The memory as the entry of a change showed it. `memory`: what it is since, which may have more changes than that."""
    if change.entry is None:
        return None
    return versioning.with_fields(change.base or memory, {**change.fields, **change.lost})
