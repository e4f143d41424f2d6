"""One sync of one mirror: read the files that changed, compare both sides, import, write files, record what is in sync.

Everything follows from the state of both sides, so that a sync that was stopped anywhere is finished by the next one.
Nothing is recorded before it is done.
"""

from collections.abc import Collection
from functools import partial

import msgspec

from omoide.errors import Changed
from omoide.files.atomic import Stat
from omoide.model import FileState, Held, Memory, Side, SyncState
from omoide.service.mirrors import holds
from omoide.sync.adoption import Adoption
from omoide.sync.database import SyncDatabase
from omoide.sync.evidence import held_notices
from omoide.sync.file_edits import FILE_ERRORS, FileEdits, describe_error
from omoide.sync.file_import import FileImport
from omoide.sync.plan import Comparison, SyncPlan, SyncRequest
from omoide.sync.snapshot import FileText, Snapshot, file_state
from omoide.sync.vanished import describe_gone, has_vanished

TRIES = 8
_TRIES_UNASKED = 3  # the next sync does what this one could not
_FAR_BEHIND = 500  # events that do not concern the mirror, after which recording that is worth a write


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
    """What a person should know once, such as what did not count as a deletion; see `deletions.py` for what did."""


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
        accept: Collection[int] = (),
        unasked: bool = False,
    ):
        """`put_back`: memories whose entries, which are missing or show earlier versions, are written again.

        `take_out`: those whose entries are removed. `accept`: those of which the versions in the files are imported.
        `unasked`: it follows a write, of which there may be hundreds in a second: late saves are looked for now and then.
        """
        self._snapshot = snapshot
        self._database = database
        self._request = SyncRequest(prefer, put_back, take_out, accept)
        self._unasked = unasked
        self._whole = whole or prefer is not None or bool(put_back or take_out or accept)
        """Whether every memory and every file is compared."""
        self._import = FileImport(snapshot, database, self._request, whole=self._whole)
        self._evidence = self._import.evidence
        self._late_saves: list[str] = []
        """Messages about texts that were saved to files after these had been replaced."""
        self._unreadable: dict[str, str] = {}
        """Files that cannot be read, and why."""
        self._adoption = Adoption(snapshot.mirror, partial(database.knows_file, snapshot.mirror.number))
        self._foreign: dict[str, tuple[str, Stat]] = {}
        """Files that omoide did not make and nobody handed over: they are never changed, moved or deleted."""
        self._written = 0

    def sync(self) -> SyncReport:
        """Bring both sides together and return what was done."""
        if not self._snapshot.place.exists():
            # A disk that is not mounted, a branch without these files: nothing counts as deleted.
            comparison = self._compare()
            plan = self._import.plan(comparison)
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
                    message = "files change faster than they can be read: try again when that is over"
                    self._import.add_problem(f"{self._snapshot.place.root}: {message}")
        troubles = (*self._import.problems, *self._late_saves)
        counts = self._import.imported, self._written, self._import.conflicts
        return SyncReport(self._snapshot.mirror.number, *counts, troubles, tuple(self._import.notices))

    def plan(self) -> SyncReport:
        """Return what a sync would do, and change nothing."""
        mirror = self._snapshot.mirror
        if not self._snapshot.place.exists() and not self.is_of_git():
            self._import.add_problem(describe_gone(mirror))
        comparison = self._compare()
        plan = self._import.plan(comparison)
        refused = self._import.find_refusals(plan, comparison)
        files = len(plan.writes) + sum(bool(state and state.file) for _, state, _ in plan.removals)
        conflicts = sum(change.stands is not None for _, change in plan.imports)
        return SyncReport(mirror.number, len(plan.imports) - refused, files, conflicts, tuple(self._import.problems))

    def is_of_git(self) -> bool:
        """Return whether git has the file of a mirror, on another branch perhaps."""
        return self._snapshot.single and self._evidence.is_known_to_git(self._snapshot.name)

    def unreadable(self) -> list[str]:
        """Return why files cannot be read, as they are now."""
        self._compare()
        return list(self._unreadable.values())

    def held_states(self) -> list[tuple[Memory, SyncState]]:
        """Return the memories whose entries are not as the memories say and are left so, as the files are now."""
        plan = self._import.plan(self._compare())
        resolved = {memory.number for memory, _, _ in (*plan.writes, *plan.removals)}
        resolved |= {memory.number for memory, _ in plan.in_sync}
        recorded = self._database.held_states(self._snapshot.mirror.number)
        states = {memory.number: state for memory, state in recorded if memory.number not in resolved}
        states |= {state.memory: state for state in plan.states() if state.held}
        return [(memory, states[memory.number]) for memory in self._database.memories(list(states))]

    def _attempt(self) -> bool:
        """Compare, import and write once; return False if both sides must be compared again."""
        self._unreadable.clear()
        self._import.begin_attempt()
        comparison = self._compare()
        self._import_description(comparison)
        plan = self._import.plan(comparison)
        if plan.imports:
            if not self._import.import_changes(plan, comparison):
                return False
            comparison = self._import.compare_again(comparison)
            plan = self._import.plan(comparison)
        self._finish(plan, comparison)
        self._import.end_attempt()
        return True

    # Comparing

    def _compare(self) -> Comparison:
        scan = self._snapshot.scan([] if self._whole else self._database.file_states(self._snapshot.mirror.number))
        for problem in scan.troubles:
            self._import.add_problem(problem)
        texts: dict[str, FileText] = {}
        self._foreign.clear()
        for name in scan.changed:
            try:
                found = self._snapshot.read(name)
                if found is not None and self._adoption.is_foreign(name, found[0]):
                    self._foreign[name] = found
                elif found is not None:
                    self._evidence.check_whole(name, found[0])
                    file = self._snapshot.parse(name, *found, self._known_texts)
                    self._evidence.check_fields(name, file)
                    texts[name] = file
            except FILE_ERRORS as error:  # fallback: the other files
                if self._adoption.is_foreign(name):
                    continue
                self._unreadable[name] = describe_error(self._snapshot.place.root / name, error)
                self._import.add_problem(self._unreadable[name])
        return self._import.compare(scan, texts, self._unreadable)

    def _known_texts(self, name: str) -> str:
        """The texts of the memories that were last in sync with a file."""
        return "\n".join(memory.content for memory in self._database.memories_in_files(self._snapshot.mirror.number, name))

    # From the files into the database, beside the entries

    def _import_description(self, comparison: Comparison) -> None:
        """Import the project's description from the main page of its tree."""
        main, mirror = comparison.texts.get(self._snapshot.main), comparison.database.mirror
        if main is None or self._request.prefer is Side.DATABASE:
            return
        from omoide.markdown.project_tree import read_description  # lazy: only a tree has such a page

        written, stored = read_description(main.text), self._database.frame(mirror.scope).description
        if written and written != stored and (mirror.seen > 0 or not stored or self._request.prefer is Side.FILE):
            self._database.describe(mirror.scope, written)

    def _import_late_saves(self) -> bool:
        """Import what somebody saved to a file after it had been replaced; return whether there was such a save."""
        if self._unasked and not self._snapshot.place.replaced.is_look_due():
            return False
        files = self._snapshot.late_saves()
        if files:
            from omoide.sync.late_import import import_late_save  # lazy: rarely needed
        for file in files:
            late = import_late_save(self._snapshot, self._database, file, self._request.prefer)
            self._late_saves.append(late.message)
            self._import.imported += late.imported
            self._import.conflicts += late.conflicts
        return bool(files)

    # From the database into the files

    def _finish(self, plan: SyncPlan, comparison: Comparison) -> None:
        """Write the files, and record what is in sync."""
        edits = self._file_edits(plan, comparison)
        edits.write(set(self._unreadable), comparison.scan.closed, backup=self._request.prefer is Side.DATABASE)
        for name in edits.written_files:
            self._import.problems.pop(self._unreadable.pop(name, ""), None)  # it was replaced
        for message in edits.problems:
            self._import.add_problem(message)
        self._written += edits.written
        sync_states = edits.sync_states + plan.states()
        self._import.notices |= dict.fromkeys(self._held_notices(plan))
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
        if self._request.take_out:
            self._remove_mentions(edits, comparison)
        if snapshot.main and (snapshot.main in scan.listing or ((edits or self._whole) and self._may_create_main())):
            edits.set_frame(snapshot.main, self._database.frame(mirror.scope))
        return edits

    def _remove_mentions(self, edits: FileEdits, comparison: Comparison) -> None:
        """Remove what is no entry any more, but has the id and the text of a memory that is to be taken out."""
        from omoide.sync.mentions import find_retired_mentions  # lazy: rarely needed

        texts = {name: text.text for name, text in comparison.texts.items()}
        for memory, file, id, mention in find_retired_mentions(self._snapshot, self._database, texts):
            if memory.number not in self._request.take_out:
                continue
            if mention.lines:
                edits.remove_mention(file, id)
            else:
                where = f"{self._snapshot.place.root / file}, line {mention.line}"
                edits.problems.append(f"{where}: it is no entry, and stays there: delete it by hand")

    def _may_create_main(self) -> bool:
        return bool(self._request.prefer or self._request.put_back) or self._evidence.may_create(self._snapshot.main)

    def _file_states(self, comparison: Comparison, edits: FileEdits) -> list[FileState]:
        """The states of the files that were read or written, but for those that must be read again."""
        texts = {name: (text.text, text.stat) for name, text in comparison.texts.items()}
        texts |= self._foreign | edits.written_files
        incomplete = self._import.incomplete
        states = [file_state(name, text, stat) for name, (text, stat) in texts.items() if name not in incomplete]
        return states + [state for state in comparison.scan.settled if state.name not in texts]

    def _read_texts(self, comparison: Comparison, edits: FileEdits) -> dict[str, str]:
        """The texts of the files that are as they should be after this run, without empty ones."""
        texts = {name: text.text for name, text in comparison.texts.items() if name not in self._import.incomplete}
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
            is_finished = not (self._unreadable or scan.closed or self._import.progress.refused_memories or edits.problems)
            self._database.record_sync(
                self._snapshot.mirror.number,
                sync_states=sync_states,
                parted=edits.detached,
                file_states=file_states,
                vanished=gone,
                versions=self._evidence.next_versions(self._read_texts(comparison, edits)),
                seen=database.event if is_finished else None,
            )
