"""What a plan may need to know about the files of a mirror beside their texts: earlier versions, and git.

A git process is started only once an entry is missing, or shows an earlier version of its memory.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from omoide.errors import Unreadable
from omoide.files.atomic import Stat, is_new_file
from omoide.files.git import is_operation_in_progress, seconds_to_index, work_tree
from omoide.model import FileSource, FileVersions, Held, Memory, SyncState
from omoide.sync.absence import GitState, is_previous, is_truncated, next_versions
from omoide.sync.database import SyncDatabase
from omoide.sync.snapshot import FileText, Snapshot, digest_of, is_recorded

REASONS = {
    Held.GONE: "the file is not there, or empty",
    Held.WAITING: "the file is not there, and git has it: it is not created beside git",
    Held.GIT: "git has this version of the file",
    Held.STASHED: "git has put it into a stash",
    Held.OPERATION: "git is in the middle of a merge, rebase, cherry-pick, revert or bisect",
    Held.PATCHED: "git wrote its index after the file, as `git checkout -p` does",
    Held.OLDER: "the file is an older version than the last two",
    Held.EDITED: "more was changed in the file than whole entries",
    Held.UNREADABLE: "its id is still in the files, but not in an entry that can be read",
    Held.MANY: "more than half of the entries, or more than ten, went at once",
    Held.CUT_OFF: "these are the last ones of the file, which may have been cut off",
    Held.UNKNOWN: "nothing is known of the file as it was before",
    Held.RETIRED: "the memory is not active",
    Held.OUTDATED: "git, or an editor that opened the file long ago, brought the earlier text back",
}
"""Why an entry that is not as its memory says is left so, by what is recorded."""
AMBIGUOUS = (Held.PATCHED, Held.OLDER, Held.EDITED, Held.UNREADABLE, Held.MANY, Held.CUT_OFF)
"""Reasons for which a person may have meant a deletion: it is reported at once that it did not count as one."""

_PATCH_SECONDS = 1
"""The time within which git writes its index after a file from which it took single changes. It takes milliseconds."""


class FileEvidence:
    """Answers the questions of a plan about one mirror, during one sync."""

    def __init__(self, snapshot: Snapshot, database: SyncDatabase):
        self._snapshot = snapshot
        self._database = database
        self._git: dict[tuple[str, str], GitState] = {}
        self._may_create: dict[str, bool] = {}
        self._commit: str | None = None

    def versions_since(self, number: int, version: int) -> list[Memory]:
        return self._database.versions_since(number, version)

    def is_current(self, memory: Memory) -> bool:
        return self._database.is_current(memory)

    def file_versions(self, names: Iterable[str]) -> dict[str, FileVersions]:
        wanted = list(names)
        known = {one.name: one for one in self._database.file_versions(self._snapshot.mirror.number, wanted)}
        return {name: known.get(name) or FileVersions(name) for name in wanted}

    def is_previous_version(self, name: str, text: str) -> bool:
        """Return whether a text is the version of a file before the last that was synced."""
        return is_previous(digest_of(text), self.file_versions([name])[name])

    def check_whole(self, name: str, text: str) -> None:
        """Raise Unreadable for a file that is cut off in the middle of a line, as by a full disk."""
        if text.endswith("\n") or not text or self._snapshot.is_file_per_entry:
            return
        if is_truncated(self.file_versions([name])[name].outline, text):
            raise Unreadable(
                "it is cut off in the middle of its last line, and is left alone:"
                " bring it back, or end that line if nothing is missing"
            )

    def check_fields(self, name: str, file: FileText) -> None:
        """Raise Unreadable for an entry file whose front matter was broken, as by a formatter: its id is in its text."""
        if not self._snapshot.is_file_per_entry or any(placed.entry.id for placed in file.placed):
            return
        text = file.text.lower()
        if any(id and id in text for id in self._database.entry_ids(self._snapshot.mirror.number, name)):
            raise Unreadable("its fields cannot be read: repair the lines `---` around them, or delete the fields")

    def next_versions(self, texts: Mapping[str, str]) -> list[FileVersions]:
        """Return what to record of files that are in sync now, by their texts. Of files with one entry each, nothing."""
        if self._snapshot.is_file_per_entry or not texts:
            return []
        known = self.file_versions(texts)
        new = [next_versions(known[name], text, digest_of(text)) for name, text in texts.items()]
        return [one for one in new if one is not known[one.name]]

    def other_texts(self, names: Iterable[str]) -> list[str]:
        found = []
        for name in names:
            if self._snapshot.owns(name):
                try:
                    read = self._snapshot.place.read(name)
                except Unreadable:  # fallback: the others; an unread file is one that could be read before
                    continue
                found.append(read[0] if read else "")
        return found

    def git_state(self, name: str, text: str) -> GitState:
        known = self._git.get((name, text))
        if known is None:
            known = self._git[name, text] = self._ask_git(self._snapshot.place.root / name, text)
        return known

    def _ask_git(self, file: Path, text: str) -> GitState:
        if not self._is_in_git:
            return GitState()
        if is_operation_in_progress(self._snapshot.place.root):
            return GitState(operation=True)
        from omoide.files.git_process import has_blob, is_tracked  # lazy: it loads subprocess: 10 ms

        patched = seconds_to_index(file) is not None and is_new_file(file) and is_tracked(file)
        return GitState(has_text=has_blob(file, text), patched=patched)

    def is_moved(self, before: str, stat: Stat) -> bool:
        known = self._database.file_states(self._snapshot.mirror.number)
        return any(state.name == before and is_recorded(state, stat) for state in known)

    def stashed_ids(self, name: str, ids: Collection[str]) -> set[str]:
        if not self._is_in_git:
            return set()
        from omoide.files.git_process import stashed_ids  # lazy: it loads subprocess: 10 ms

        return stashed_ids(self._snapshot.place.root / name, ids)

    def committed_ids(self, name: str, ids: Collection[str]) -> set[str]:
        file = self._snapshot.place.root / name
        seconds = seconds_to_index(file)
        if seconds is None or seconds < _PATCH_SECONDS:  # perhaps it took out what another commit does not have
            return set()
        from omoide.files.git_process import committed_ids  # lazy: it loads subprocess: 10 ms

        return committed_ids(file, ids)

    @property
    def _is_in_git(self) -> bool:
        return work_tree(self._snapshot.place.root) is not None

    def source(self, name: str) -> str:
        """Return the source of what a file has already: its path in the repository, and the commit that it comes from."""
        file = self._snapshot.place.root / name
        tree = work_tree(self._snapshot.place.root)
        if tree is None:
            return str(FileSource(str(file)))
        if self._commit is None:  # one question for all files of a directory
            from omoide.files.git_process import last_commit  # lazy: it loads subprocess: 10 ms

            self._commit = last_commit(self._snapshot.place.root, self._snapshot.name or ".")
        return str(FileSource(f"{file.relative_to(tree)}@{self._commit}" if self._commit else str(file.relative_to(tree))))

    def may_create(self, name: str) -> bool:
        if name not in self._may_create:
            is_new = not self.file_versions([name])[name].digests
            self._may_create[name] = is_new or not self.is_known_to_git(name)
        return self._may_create[name]

    def is_known_to_git(self, name: str) -> bool:
        """Return whether git has a file that is not there, on another branch perhaps."""
        if not self._is_in_git:
            return False
        from omoide.files.git_process import knows_file  # lazy: it loads subprocess: 10 ms

        return knows_file(self._snapshot.place.root / name)


def describe_found(path: Path, sources: Sequence[str]) -> str:
    """The line for a person whose new mirror has entries already: how many, and where they come from."""
    entries = "1 entry that was there is" if len(sources) == 1 else f"{len(sources)} entries that were there are"
    more = " and others" if len(set(sources)) > 1 else ""
    return f"{path}: {entries} imported, as from {sources[0]}{more}, with the confidence of the setting `file_confidence`"


def held_notices(
    snapshot: Snapshot, held: Sequence[SyncState], memories: Callable[[Sequence[int]], Sequence[Memory]]
) -> list[str]:
    """Return lines for a person who may have meant to delete entries, or who wrote something that is in no file yet.

    `held`: what the plan of a sync leaves alone. `memories` returns memories by number.
    """
    lines: list[str] = []
    if any(state.held == Held.UNREADABLE for state in held):
        from omoide.sync.mentions import unreadable_entries  # lazy: rarely needed

        lines = unreadable_entries(snapshot, held, memories)
    counts = Counter((state.file, Held(state.held)) for state in held if state.held != Held.UNREADABLE)
    for (file, reason), count in counts.items():
        path = snapshot.place.root / file
        if reason is Held.WAITING:
            lines.append(_describe_waiting(path, count, snapshot.mirror.number))
        elif reason in AMBIGUOUS:
            lines.append(_describe_held(path, count, reason))
    return lines


def _describe_waiting(path: Path, count: int, mirror: int) -> str:
    """The line for a person who remembered something for a file that is not there, and that git has."""
    memories = "1 memory that belongs in it is" if count == 1 else f"{count} memories that belong in it are"
    return (
        f"{path} is not there, and git has it: {memories} stored, and written when the file is there again;"
        f" `omoide mirror put-back {mirror}` creates it"
    )


def _describe_held(path: Path, count: int, reason: Held) -> str:
    """The line for a person who may have meant to delete entries."""
    entries = "1 entry is" if count == 1 else f"{count} entries are"
    return f"{path}: {entries} missing, but {REASONS[reason]}: nothing was archived; `omoide mirror status` shows them"
