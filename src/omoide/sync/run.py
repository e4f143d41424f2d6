"""One sync of one mirror: read what changed, let both sides meet, write what must be written, note it.

Everything is found from the state of both sides, so that a sync that was stopped anywhere is finished by the next one.
Nothing is noted before it is so.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from omoide.errors import Changed, InvalidInput
from omoide.markdown.format import changed_fields
from omoide.model import Choice, Memory, Scope, Side, State, SyncState
from omoide.service.mirrors import holds
from omoide.sync.database import DatabaseSide, SyncDatabase
from omoide.sync.file_edits import FileEdits
from omoide.sync.matching import MatchResult, Stamp, entry_stamp, match_entries
from omoide.sync.snapshot import FileScan, FileText, Listing, Snapshot, file_state
from omoide.sync.three_way import Action, FileChange, MergeCase, MergeContext, SeenEntry, decide
from omoide.sync.trouble import FILE_TROUBLE, explain

TRIES = 8
_TRIES_IN_PASSING = 3
"""For a sync that nobody asked for: the next one brings what this one could not."""
_FAR_BEHIND = 500
"""Events of others after which it is worth a write to note that none of them was ours."""
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class SyncReport(msgspec.Struct, frozen=True):
    """What a sync did, or would do."""

    mirror: int
    imported: int = 0
    """Changes that came from the files into the database."""
    written: int = 0
    """Files that were written; of a plan, memories that would be."""
    conflicts: int = 0
    troubles: tuple[str, ...] = ()
    """What could not be taken in or written: where, why, and what to do."""


class SyncWork(NamedTuple):
    """What a look at both sides found to be done."""

    say: list[tuple[SeenEntry | None, FileChange]]
    put: list[tuple[Memory, SyncState | None, SeenEntry | None]]
    out: list[tuple[Memory, SyncState | None, SeenEntry | None]]
    meet: list[tuple[Memory, SeenEntry]]
    matched: MatchResult
    unread: set[str]
    """Files that are as they were."""


class Comparison(NamedTuple):
    scan: FileScan
    texts: dict[str, FileText]
    standing: DatabaseSide


class SyncRun:
    """The work on one mirror."""

    def __init__(self, snapshot: Snapshot, sync_states: SyncDatabase, prefer: Side | None = None, *, whole: bool = False):
        self._snapshot = snapshot
        self._database = sync_states
        self._prefer = prefer
        self._whole = self._patient = whole or prefer is not None
        """Whether every memory and every file is looked at, and files that are gone are made anew."""
        self._rootless = False
        self._stamps: dict[Stamp, int] = {}
        self._heard: dict[int, tuple[int, Action]] = {}
        """What was taken in just now: the version that it is, and what is left to do about its entry."""
        self._troubles: dict[str, None] = {}
        self._late_saves: list[str] = []
        """What was saved to files after they had been replaced, and what became of it."""
        self._closed: dict[str, str] = {}
        """Files that cannot be read, and why."""
        self._held_back: set[int] = set()
        """Memories whose entries were refused: neither side is changed."""
        self._refused: set[Stamp] = set()
        self._unfinished: set[str] = set()
        """Files that hold a refused entry: they will be read again."""
        self._imported = self._written = self._conflicts = 0

    def sync(self) -> SyncReport:
        if not self._snapshot.place.exists():
            # A disk that is not there, a branch without these files: nothing of it is deleted.
            self._rootless = True
            if not self._whole and not self._decide(self._compare()).put:
                return SyncReport(self._snapshot.mirror.number)
            self._whole = True
        with self._snapshot.place.lock():
            for _ in range(TRIES if self._patient else _TRIES_IN_PASSING):
                try:
                    if self._attempt() and not self._import_late_saves():
                        break
                except Changed:  # plan B: somebody saved a file at this moment, so look again
                    continue
            else:
                self._give_up()
        troubles = (*self._troubles, *self._late_saves)
        return SyncReport(self._snapshot.mirror.number, self._imported, self._written, self._conflicts, troubles)

    def _give_up(self) -> None:
        if self._patient:
            root = self._snapshot.place.root
            self._trouble(f"{root}: files change faster than they can be read: try again when that is over")

    def plan(self) -> SyncReport:
        """What a sync would do; nothing is changed."""
        self._rootless = not self._snapshot.place.exists()
        if self._rootless:
            mirror = self._snapshot.mirror
            self._trouble(f"{mirror.place} is gone: bring it back, or `omoide mirror remove {mirror.number}`")
        looked = self._compare()
        work = self._decide(looked)
        files = len(work.put) + len([one for one in work.out if one[1] and one[1].file])
        conflicts = sum(said.stands is not None for _, said in work.say)
        return SyncReport(self._snapshot.mirror.number, len(work.say), files, conflicts, tuple(self._troubles))

    def _attempt(self) -> bool:
        """One look, and what follows from it; False: look again."""
        for each in (self._troubles, self._closed, self._held_back, self._refused, self._unfinished):
            each.clear()
        looked = self._compare()
        self._describe(looked)
        work = self._decide(looked)
        if work.say:
            again = self._import_changes(work, looked.standing)
            looked = looked._replace(standing=self._database_side(looked.scan, looked.texts))
            work = self._decide(looked)
            if again:
                return False
        if not self._whole and any(self._is_file_lost(self._target(one[0]), looked) for one in work.put):
            # It was left alone as long as nothing had to be written to it; now it is made whole again.
            self._whole = True
            return False
        self._finish(work, looked)
        return True

    # looking

    def _compare(self) -> Comparison:
        scan = self._snapshot.scan([] if self._whole else self._database.file_states(self._snapshot.mirror.number))
        for trouble in scan.troubles:
            self._trouble(trouble)
        texts: dict[str, FileText] = {}
        for name in scan.changed:
            try:
                text = self._snapshot.read(name)
            except FILE_TROUBLE as error:  # plan B: this file is left alone, the others are not
                self._close(name, error)
                continue
            if text is not None:
                texts[name] = text
        return Comparison(scan, texts, self._database_side(scan, texts))

    def _database_side(self, scan: FileScan, texts: Mapping[str, FileText]) -> DatabaseSide:
        seen = [SeenEntry(name, placed) for name, text in texts.items() for placed in text.placed]
        ids = [one.placed.entry.id for one in seen if one.placed.entry.id]
        scope = self._snapshot.mirror.scope
        keyed = [one.placed.entry for one in seen if one.placed.entry.key and entry_stamp(one) not in self._stamps]
        return self._database.database_side(
            self._snapshot.mirror.number,
            files=[*scan.changed, *scan.gone],
            ids=ids,
            keys=[(Scope(scope.path, entry.session or scope.name), entry.key or "") for entry in keyed],
            taken=list(self._heard),
            whole=self._whole,
        )

    def _close(self, name: str, error: Exception) -> None:
        self._closed[name] = explain(self._snapshot.place.root / name, error)
        self._trouble(self._closed[name])

    def _trouble(self, message: str) -> None:
        self._troubles[message] = None

    def _where(self, seen: SeenEntry) -> str:
        path = self._snapshot.place.root / seen.file
        return str(path) if self._snapshot.is_file_per_entry else f"{path}, line {seen.placed.line}"

    # deciding

    def _decide(self, looked: Comparison) -> SyncWork:
        snapshot, standing = self._snapshot, looked.standing
        changed = set(looked.scan.changed)
        same = {name for name in looked.scan.listing if name not in changed}
        found = match_entries(looked.texts, same, standing, self._stamps, snapshot.format, alone=snapshot.is_file_per_entry)
        for refused, why in found.refused:
            self._trouble(f"{self._where(refused)}: {why}")
            self._unfinished.add(refused.file)
        work = SyncWork([], [], [], [], found, same)
        for number, memory in standing.memories.items():
            sync_state, seen = standing.sync_states.get(number), found.found.get(number)
            if number in self._held_back or (sync_state and self._is_closed(sync_state.file, looked)):
                continue
            unread = False
            if sync_state and sync_state.file and seen is None:
                lost = self._is_file_lost(sync_state.file, looked)
                if lost and self._whole:
                    sync_state = SyncState(number)
                else:
                    unread = lost or sync_state.file in same
            self._add(work, memory, sync_state, seen, looked, unread=unread)
        if self._prefer is not Side.DATABASE:
            work.say.extend(
                (stranger, FileChange(stranger.placed.entry, self._where(stranger)))
                for stranger in found.strangers
                if entry_stamp(stranger) not in self._refused
            )
        return work

    def _add(
        self,
        work: SyncWork,
        memory: Memory,
        sync_state: SyncState | None,
        seen: SeenEntry | None,
        looked: Comparison,
        *,
        unread: bool,
    ) -> None:
        mirror = self._snapshot.mirror
        version, todo = self._heard.get(memory.number, (0, Action.NOTHING))
        decision: Action | FileChange
        if version == memory.version:
            decision = todo
        else:
            held = holds(mirror, memory.scope)
            wanted = (
                held
                and self._is_living(memory)
                and (mirror.choice is Choice.ALL or sync_state is not None or seen is not None)
            )
            saved_at = looked.texts[seen.file].saved_at if seen else _NEVER
            where = self._where(seen) if seen else str(self._snapshot.place.root)
            judge = MergeContext(
                self._snapshot.format.expected_entry,
                self._database.versions_since,
                where,
                stamped=not self._snapshot.is_file_per_entry,
                prefer=self._prefer,
            )
            decision = decide(MergeCase(memory, sync_state, seen, unread, wanted, held, saved_at), judge)
        if isinstance(decision, FileChange):
            work.say.append((seen, decision))
        elif decision is Action.PUT:
            work.put.append((memory, sync_state, seen))
        elif decision is Action.REMOVE:
            work.out.append((memory, sync_state, seen))
        elif decision is Action.MARK_SYNCED and seen:
            work.meet.append((memory, seen))

    def _is_living(self, memory: Memory) -> bool:
        """Whether a memory stands in a file: a current one, and where there is an archive, a retired one."""
        return self._database.is_current(memory) or (self._snapshot.is_file_per_entry and memory.state is State.ARCHIVED)

    def _target(self, memory: Memory) -> str:
        return "" if self._snapshot.is_file_per_entry else self._snapshot.format.file_for(memory, lambda _: False)

    def _is_closed(self, file: str, looked: Comparison) -> bool:
        """Whether what stands in a file is not known, because it or its directory cannot be read."""
        return file in self._closed or looked.scan.is_closed(file)

    def _is_file_lost(self, file: str, looked: Comparison) -> bool:
        """Whether a file that holds several entries is gone, or empty: people delete entries one by one, so it is being
        saved at this moment, or stands on another branch, and nothing of it is deleted."""
        if self._rootless:
            return True
        if self._snapshot.is_file_per_entry or not file or file in self._closed:
            return False
        if file not in looked.scan.listing:
            return True
        text = looked.texts.get(file)
        return text is not None and not text.text.strip("\ufeff \t\r\n")

    # from the files into the database

    def _describe(self, looked: Comparison) -> None:
        """What a person says of the project itself, on the main page of its tree."""
        main, mirror = looked.texts.get(self._snapshot.main), looked.standing.mirror
        if main is not None and self._prefer is not Side.DATABASE:
            from omoide.markdown.project_tree import read_description  # noqa: PLC0415 - only a tree has such a page

            told, known = read_description(main.text), self._database.frame(mirror.scope).description
            if told and told != known and (mirror.seen or not known or self._prefer is Side.FILE):
                self._database.describe(mirror.scope, told)

    def _import_changes(self, work: SyncWork, standing: DatabaseSide) -> bool:
        """Answers whether something changed meanwhile."""
        said_all = [said for _, said in work.say]
        taken = self._database.import_changes(standing.mirror, said_all, work.matched.found, work.unread)
        again = False
        for (seen, said), done in zip(work.say, taken, strict=True):
            if done.refused:
                self._trouble(done.refused)
                self._held_back.add(said.number)
                if seen:
                    self._refused.add(entry_stamp(seen))
                    self._unfinished.add(seen.file)
            elif done.memory is None:
                again = True
            else:
                self._imported += 1
                self._conflicts += said.stands is not None
                self._heard[done.memory.number] = (
                    done.memory.version,
                    self._remaining_action(seen, said, done.memory, standing),
                )
                if seen and not seen.placed.entry.id:
                    self._stamps[entry_stamp(seen)] = done.memory.number
        return again

    def _remaining_action(self, seen: SeenEntry | None, said: FileChange, memory: Memory, standing: DatabaseSide) -> Action:
        if seen is None:
            if said.stands is not None or self._snapshot.is_file_per_entry:
                return Action.PUT  # it comes back, or goes into the archive
            return Action.REMOVE
        entry, shown = seen.placed.entry, self._snapshot.format.expected_entry(memory)
        sync_state = standing.sync_states.get(said.number)
        ahead = sync_state is not None and bool(sync_state.file) and sync_state.version != said.version
        stale = entry.topic is not None and shown.topic is None  # a title that follows the text
        nameless = entry.id is None and not self._snapshot.is_file_per_entry
        if not holds(standing.mirror, memory.scope) or not self._is_living(memory):
            return Action.REMOVE
        return Action.PUT if said.stands is Side.DATABASE or ahead or stale or nameless else Action.MARK_SYNCED

    def _import_late_saves(self) -> bool:
        """Import what somebody saved to a file after it had been replaced; return whether there was such a save."""
        place = self._snapshot.place
        files = self._snapshot.late_saves()
        for file in files:
            run = SyncRun(self._snapshot, self._database)
            try:
                if self._prefer is Side.DATABASE:
                    raise InvalidInput("the files are being rebuilt from the database")
                text = place.replaced.read(file)
                run._import_text(file.name, FileText(text, file.now, self._snapshot.format.parse(file.name, text)))
                problems = list(run._troubles)
            except FILE_TROUBLE as error:  # fallback: the text is kept as a file
                problems = [str(error)]
            outcome = "its entries were imported"
            if problems:
                outcome = f"not all of its entries were imported ({'; '.join(problems)})"
            backup = place.back_up_replaced(file)
            path = place.root / file.name
            self._late_saves.append(
                f"{path} was saved while it was replaced: {outcome}, and the saved text is kept as {backup}"
            )
            self._imported += run._imported
            self._conflicts += run._conflicts
        return bool(files)

    def _import_text(self, name: str, text: FileText) -> None:
        """Import the entries of a text that is no longer in its file; what it lacks is not deleted."""
        scan = FileScan({name: text.stat}, [name], [], [], unsettled=True)
        texts = {name: text}
        looked = Comparison(scan, texts, self._database_side(scan, texts))
        # The text is older than the last sync: what it says is compared with the version that it was made from.
        based = {number: self._closest_state(number, seen) for number, seen in self._decide(looked).matched.found.items()}
        sync_states = {**looked.standing.sync_states, **based}
        looked = looked._replace(standing=looked.standing._replace(sync_states=sync_states))
        work = self._decide(looked)
        self._import_changes(work._replace(say=[(seen, said) for seen, said in work.say if seen]), looked.standing)

    def _closest_state(self, number: int, seen: SeenEntry) -> SyncState:
        """The sync state with the version of a memory from which an entry differs least."""
        entry, expected_entry = seen.placed.entry, self._snapshot.format.expected_entry
        closest = min(
            self._database.versions_since(number, 1),
            key=lambda version: (len(changed_fields(version, expected_entry(version), entry)), -version.version),
        )
        return SyncState(number, seen.file, entry.id or "", closest.version)

    # from the database into the files

    def _finish(self, work: SyncWork, looked: Comparison) -> None:
        snapshot, scan, standing = self._snapshot, looked.scan, looked.standing
        edits = FileEdits(snapshot, looked.texts, scan.listing, self._database.versions_since)
        for memory, sync_state, seen in work.put:
            edits.put(memory, sync_state, seen)
        for memory, sync_state, seen in work.out:
            edits.drop(memory, sync_state, seen, held=holds(standing.mirror, memory.scope))
        for file, id in work.matched.left:
            edits.take(file, id)
        if self._prefer is Side.DATABASE:
            edits.clear(work.matched.strangers)
        if snapshot.main and (edits or self._whole or snapshot.main in scan.listing):
            edits.frame(snapshot.main, self._database.frame(standing.mirror.scope))
        edits.write(set(self._closed), scan.closed, backup=self._prefer is Side.DATABASE)
        for name in edits.stats:
            self._troubles.pop(self._closed.pop(name, ""), None)  # it is made anew
        for message in edits.troubles:
            self._trouble(message)
        self._written += edits.written
        sync_states = edits.sync_states + [
            SyncState(memory.number, seen.file, seen.placed.entry.id or "", memory.version, seen.placed.digest)
            for memory, seen in work.meet
        ]
        self._note(looked, edits, sync_states)

    def _note(self, looked: Comparison, edits: FileEdits, sync_states: list[SyncState]) -> None:
        snapshot, scan, standing = self._snapshot, looked.scan, looked.standing
        texts = {name: (text.text, text.stat) for name, text in looked.texts.items()} | edits.stats
        file_states = [
            file_state(name, *told)
            for name, told in texts.items()
            if name not in self._unfinished and (name in edits.stats or not self._is_file_lost(name, looked))
        ]
        file_states += [one for one in scan.settled if one.name not in texts]
        vanished = [name for name in (*scan.gone, *edits.removed) if name not in edits.stats]
        finished = not (self._closed or scan.closed or self._held_back or edits.troubles)
        behind = standing.event - standing.mirror.seen
        first = standing.mirror.seen == 0 < standing.event
        if sync_states or edits.parted or file_states or vanished or first or not 0 <= behind < _FAR_BEHIND:
            self._database.record_sync(
                snapshot.mirror.number,
                sync_states=sync_states,
                parted=edits.parted,
                file_states=file_states,
                vanished=vanished,
                seen=standing.event if finished else None,
            )
        snapshot.event = standing.event
        listing = {**scan.listing, **{name: stat for name, (_, stat) in edits.stats.items()}}
        for name in edits.removed:
            listing.pop(name, None)
        calm = all(one.settled for one in file_states) and not scan.unsettled
        snapshot.calm = Listing(listing, scan.troubles, scan.closed) if calm else None
