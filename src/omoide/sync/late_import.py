"""Import what somebody saved to a file after it had been replaced: that text is in no file of the mirror any more."""

from typing import NamedTuple

from omoide.files.late_saves import ReplacedFile
from omoide.model import Side, SyncState
from omoide.sync.database import SyncDatabase
from omoide.sync.file_edits import FILE_ERRORS
from omoide.sync.file_import import FileImport
from omoide.sync.matching import closest_version
from omoide.sync.plan import Comparison, SyncPlan, SyncRequest
from omoide.sync.snapshot import FileScan, FileText, Snapshot
from omoide.sync.three_way import SeenEntry

_TRIES = 8


class LateSave(NamedTuple):
    """A text that was saved to a replaced file, and what was done with it."""

    message: str
    """What happened, and where the text is kept."""
    imported: int = 0
    conflicts: int = 0


def import_late_save(snapshot: Snapshot, database: SyncDatabase, file: ReplacedFile, prefer: Side | None = None) -> LateSave:
    """Import the entries of a replaced file that somebody has saved to, and move it to the backups.

    `prefer`: the side from which the other is rebuilt. What could not be imported is in the message of the result.
    """
    late = _LateImport(snapshot, database)
    is_rebuilt = prefer is Side.DATABASE
    problems = ["the files are being rebuilt from the database"] if is_rebuilt else late.import_file(file)
    outcome = "its entries were imported"
    if problems:
        outcome = f"not all of its entries were imported ({'; '.join(problems)})"
    backup = snapshot.place.back_up_replaced(file)
    message = f"was saved while it was replaced: {outcome}, and the saved text is kept as {backup}"
    return LateSave(f"{snapshot.place.root / file.name} {message}", late.imported, late.conflicts)


class _LateImport:
    def __init__(self, snapshot: Snapshot, database: SyncDatabase):
        self._snapshot = snapshot
        self._database = database
        self._import = FileImport(snapshot, database, SyncRequest())
        self._import.progress.is_late_save = True

    @property
    def imported(self) -> int:
        return self._import.imported

    @property
    def conflicts(self) -> int:
        return self._import.conflicts

    def import_file(self, file: ReplacedFile) -> list[str]:
        """Import the entries of a replaced file, and return what could not be imported."""
        try:
            text = self._snapshot.place.replaced.read(file)
            self._import_text(file.name, FileText(text, file.now, self._snapshot.format.parse(file.name, text)))
        except FILE_ERRORS as error:  # fallback: the text is kept as a file
            return [str(error)]
        return list(self._import.problems)

    def _import_text(self, name: str, text: FileText) -> None:
        """Import the entries of a text; what it lacks does not count as deleted."""
        scan = FileScan({name: text.stat}, [name], [], [], unsettled=True)
        for _ in range(_TRIES):
            comparison = self._with_bases(self._import.compare(scan, {name: text}))
            plan = self._import.plan(comparison)
            if self._import.import_changes(_present_only(plan), comparison):
                return
        self._import.add_problem("the memories change faster than they can be compared")

    def _with_bases(self, comparison: Comparison) -> Comparison:
        """Compare each entry with the version that it was made from: the text is older than the last sync."""
        found = self._import.plan(comparison).matches.found
        sync_states = {number: self._base_state(number, seen) for number, seen in found.items()}
        database = comparison.database._replace(sync_states={**comparison.database.sync_states, **sync_states})
        return comparison._replace(database=database)

    def _base_state(self, number: int, seen: SeenEntry) -> SyncState:
        """The sync state of a memory at the version from which an entry was made."""
        versions = self._database.versions_since(number, 1)
        base = closest_version(versions, seen.placed.entry, self._snapshot.format)
        return SyncState(number, seen.file, seen.placed.entry.id or "", base.version)


def _present_only(plan: SyncPlan) -> SyncPlan:
    """The plan without the deletions."""
    return plan._replace(imports=[(seen, change) for seen, change in plan.imports if seen])
