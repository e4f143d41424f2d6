"""A sync of one block of memories in a file that belongs to somebody else: written when they change, never read back."""

from omoide.errors import Changed, InvalidInput, Unreadable, Unwritable
from omoide.files.atomic import Stat
from omoide.markdown.conflict_markers import check_conflict_markers
from omoide.model import Side
from omoide.prompt.managed_block import ManagedBlock
from omoide.service.mirrors import holds
from omoide.sync.database import SyncDatabase
from omoide.sync.evidence import FileEvidence
from omoide.sync.file_edits import describe_error
from omoide.sync.run import TRIES, SyncReport
from omoide.sync.snapshot import Listing, Snapshot, file_state
from omoide.sync.vanished import describe_gone, has_vanished


class BlockRun:
    """One sync of one block."""

    def __init__(self, snapshot: Snapshot, database: SyncDatabase, prefer: Side | None = None, *, whole: bool = False):
        if prefer is Side.FILE:
            raise InvalidInput("a block is only written, never read: rebuild it from the database")
        self._snapshot = snapshot
        self._database = database
        self._prefer = prefer
        self._whole = whole or prefer is not None
        self._is_first = True
        """Whether the file was never in sync."""
        self._evidence = FileEvidence(snapshot, database)
        self._block = ManagedBlock(snapshot.name)

    def sync(self) -> SyncReport:
        """Write the block if it is not as it should be, and return what was done."""
        number = self._snapshot.mirror.number
        try:
            if self._has_vanished():
                return SyncReport(number, troubles=(describe_gone(self._snapshot.mirror),) if self._whole else ())
            with self._snapshot.place.lock():
                for _ in range(TRIES):
                    try:
                        return SyncReport(number, written=self._attempt(), troubles=self._back_up_late_saves())
                    except Changed:  # fallback: somebody saved the file at this moment, so compare again
                        continue
        except (Unreadable, Unwritable) as error:  # fallback: the file is left alone, and its owner gets a message
            return SyncReport(number, troubles=(self._describe_error(error),))
        return SyncReport(number)

    def plan(self) -> SyncReport:
        """Return what a sync would do, and change nothing."""
        number = self._snapshot.mirror.number
        try:
            if self._has_vanished():
                return SyncReport(number, troubles=(describe_gone(self._snapshot.mirror),))
            text, new, *_ = self._compare()
        except Unreadable as error:
            return SyncReport(number, troubles=(self._describe_error(error),))
        return SyncReport(number, written=int(new != text))

    def _has_vanished(self) -> bool:
        """Whether the directory of the file is gone, and nobody asked to rebuild the file."""
        if self._prefer is not None or self._snapshot.place.exists():
            return False
        number = self._snapshot.mirror.number
        return has_vanished(self._database.database_side(number, files=(), ids=(), keys=(), taken=(), whole=False).mirror)

    def _compare(self) -> tuple[str | None, str, Stat | None, int]:
        """The file as it is, as it should be, its stat, and the last event that this covers."""
        snapshot = self._snapshot
        mirror = snapshot.mirror
        found = snapshot.place.read(snapshot.name)
        database = self._database.database_side(mirror.number, files=(), ids=(), keys=(), taken=(), whole=True)
        memories = [
            memory
            for memory in database.memories.values()
            if self._database.is_current(memory) and holds(mirror, memory.scope)
        ]
        self._is_first = database.mirror.seen <= 0
        text, stat = found or (None, None)
        check_conflict_markers(text or "")
        return text, self._block.render(text, memories), stat, database.event

    def _attempt(self) -> int:
        """Compare and write once; return how many files were written."""
        snapshot = self._snapshot
        text, new, stat, event = self._compare()
        is_unchanged = snapshot.event == event and not self._whole
        if text is None and (is_unchanged or self._is_file_of_git()):
            # A file that is gone is written again with the next change of a memory, not by a read; one of git's, never.
            self._database.record_sync(snapshot.mirror.number, vanished=[snapshot.name], seen=event)
            snapshot.event = event
            snapshot.in_sync_listing = Listing({})
            return 0
        if text is not None and stat is not None and new != text and is_unchanged and self._is_text_of_git(text):
            new = text  # what git brought back is left until a memory changes
        if new != text or stat is None:
            stat = snapshot.write(snapshot.name, new, stat)
        snapshot.forget_returned(snapshot.name, text or "")
        state = file_state(snapshot.name, new, stat)
        self._database.record_sync(snapshot.mirror.number, file_states=[state], seen=event)
        snapshot.event = event
        snapshot.in_sync_listing = Listing({snapshot.name: stat}) if state.settled else None
        return int(new != text)

    def _is_file_of_git(self) -> bool:
        """Whether a file that is not there must not be created beside git, which has it on another branch perhaps."""
        is_asked_for = self._prefer is not None or self._is_first
        return not is_asked_for and self._evidence.is_known_to_git(self._snapshot.name)

    def _is_text_of_git(self, text: str) -> bool:
        return any(self._evidence.git_state(self._snapshot.name, text))

    def _back_up_late_saves(self) -> tuple[str, ...]:
        """Keep what somebody saved to the file after it had been replaced, and report where it is."""
        place = self._snapshot.place
        return tuple(
            f"{place.root / file.name} was saved while it was replaced, and the saved text is kept as"
            f" {place.back_up_replaced(file)}: copy what is missing"
            for file in self._snapshot.late_saves()
        )

    def _describe_error(self, error: Exception) -> str:
        return describe_error(self._snapshot.place.root / self._snapshot.name, error)
