"""Purged memories in mirrored files and in the backups beside them: find them, and remove them."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from omoide.errors import OmoideError
from omoide.files.directory import BACKUPS
from omoide.files.git import work_tree
from omoide.markdown.normal_form import is_same_text
from omoide.model import Mirror
from omoide.prompt.managed_block import ManagedBlock
from omoide.service.copies import HOLDS, REMOVED, UNREADABLE, Copy, FoundCopies, Trace, list_files
from omoide.sync.file_edits import FILE_ERRORS, as_memory
from omoide.sync.mentions import is_stated, remove_mentions
from omoide.sync.snapshot import Snapshot
from omoide.sync.three_way import SeenEntry

_SHORTEST = 12
"""Characters of a line by which a text is recognised in a file that cannot be parsed."""


def find_in_files(
    mirrors: Sequence[Mirror],
    snapshot: Callable[[Mirror], Snapshot],
    traces: Sequence[Trace],
    write_block: Callable[[Mirror], object],
    *,
    remove: bool,
) -> FoundCopies:
    """Find purged memories in the files of mirrors; with `remove`, remove them there. `write_block` updates a block."""
    found = FoundCopies([], [])
    for mirror in mirrors:
        try:
            seen = snapshot(mirror)
            if mirror.format == "block":
                found.copies.extend(_clean_block(mirror, seen, traces, write_block, remove=remove))
            else:
                found.copies.extend(MirrorFiles(seen, traces).clean(remove=remove))
            # Several mirrors of one repository have one history.
            found.unreachable.extend(line for line in _history(seen, traces) if line not in found.unreachable)
        except (OmoideError, OSError) as error:  # fallback: the other mirrors
            found.copies.append(Copy(str(Path(mirror.place) / mirror.file), "mirror", UNREADABLE, str(error)))
    return found


def _clean_block(
    mirror: Mirror, snapshot: Snapshot, traces: Sequence[Trace], write_block: Callable[[Mirror], object], *, remove: bool
) -> list[Copy]:
    """The file of a block that git brought back with one of the memories, if there is one.

    A block names no ids: where the texts are no longer known, any block that is not up to date may hold one.
    """
    before = snapshot.place.read(snapshot.name)
    if before is None:
        return []
    texts = [text for trace in traces for text in trace.texts]
    own = ManagedBlock(snapshot.name).remove(before[0])
    is_there = any(_has_text(before[0], text) and not _has_text(own, text) for text in texts)
    path = str(snapshot.place.root / snapshot.name)
    if not remove:
        return [Copy(path, "mirror", HOLDS)] if is_there else []
    write_block(mirror)
    after = snapshot.place.read(snapshot.name)
    is_removed = after is not None and after[0] != before[0]
    if is_removed and (is_there or not texts):
        return [Copy(path, "mirror", REMOVED)]
    return [Copy(path, "mirror", HOLDS)] if is_there else []


def _history(snapshot: Snapshot, traces: Sequence[Trace]) -> list[str]:
    """Return a line if git has one of the memories in the history of the files of a mirror."""
    root = snapshot.place.root
    tree = work_tree(root)
    if tree is None:
        return []
    from omoide.files.git_process import call_git  # lazy: it loads subprocess: 10 ms

    wanted = {trace.id for trace in traces}
    if snapshot.mirror.format == "block":  # it names no ids
        lines = (max(text.split("\n"), key=len).strip() for trace in traces for text in trace.texts)
        wanted = {line for line in lines if len(line) >= _SHORTEST}
    for each in sorted(wanted):
        code, commit = call_git(
            root, "log", "--all", "--reflog", "-1", "--format=%h", f"-S{each}", "--", snapshot.name or "."
        )
        if code != 0 or commit.strip():
            where = f" (commit {commit.strip()})" if commit.strip() else ", perhaps,"
            message = f"the git history of {tree}{where} still has it, and so has every clone of it"
            return [f"{message}: rewrite the history, for example with `git filter-repo`, and replace the clones"]
    return []


class MirrorFiles:
    """The files of one mirror, and the backups beside them."""

    def __init__(self, snapshot: Snapshot, traces: Sequence[Trace]):
        self._snapshot = snapshot
        self._format = snapshot.format
        self._traces = traces
        self._ids = {trace.id for trace in traces}
        self._texts = [text for trace in traces for text in trace.texts]

    def clean(self, *, remove: bool) -> list[Copy]:
        """Return the files that hold one of the memories, and those from which it was removed."""
        found = [
            self._clean_mirrored(name, remove=remove) for name in self._snapshot.listing().files if self._snapshot.owns(name)
        ]
        if remove:
            # An edited one would look like a late save, and be imported.
            self._snapshot.place.replaced.discard()
        files, closed = self._backups()
        found += [self._clean_backup(file, remove=remove) for file in files]
        return [*(copy for copy in found if copy is not None), *closed]

    def _backups(self) -> tuple[list[Path], list[Copy]]:
        """The backups beside the files, and the directories of backups that cannot be read."""
        directory = self._snapshot.place.root / BACKUPS
        if directory.is_symlink() or not directory.is_dir():
            return [], []
        files, closed = list_files(directory, "mirror backup")
        return [file for file in files if file.name != ".gitignore" and not file.is_symlink() and file.is_file()], closed

    def _clean_mirrored(self, name: str, *, remove: bool) -> Copy | None:
        path = self._snapshot.place.root / name
        try:
            with self._snapshot.place.lock():
                read = self._snapshot.place.read(name)
                if read is None or not any(id in read[0].lower() for id in self._ids):
                    return None
                text, stat = read
                if remove:
                    new = self._without(name, text, by_text=False)
                    if new is None:
                        self._snapshot.place.remove(name, stat)
                    elif new != text:
                        self._snapshot.write(name, new, stat)
                    if new is None or not any(id in new.lower() for id in self._ids):
                        return Copy(str(path), "mirror", REMOVED)
        except (OmoideError, *FILE_ERRORS) as error:  # fallback: it is named, and left as it is
            return Copy(str(path), "mirror", UNREADABLE, str(error))
        return Copy(str(path), "mirror", HOLDS)

    def _clean_backup(self, file: Path, *, remove: bool) -> Copy | None:
        try:
            text = file.read_bytes().decode()
            if not self._holds(text):
                return None
            if remove:
                new = self._without(self._original_name(file), text, by_text=True)
                if new is None:
                    file.unlink()
                elif new != text:
                    _replace(file, new)
                if new is None or not self._holds(new):
                    return Copy(str(file), "mirror backup", REMOVED)
        except (OmoideError, *FILE_ERRORS) as error:  # fallback: it is named, and left as it is
            return Copy(str(file), "mirror backup", UNREADABLE, str(error))
        return Copy(str(file), "mirror backup", HOLDS)

    def _original_name(self, file: Path) -> str:
        """The name of the mirrored file that a backup was made of."""
        relative = file.relative_to(self._snapshot.place.root / BACKUPS).as_posix()
        name = relative.rpartition(".")[0]
        if self._snapshot.owns(name):
            return name
        return self._snapshot.name or self._snapshot.main or name

    def _holds(self, text: str) -> bool:
        return any(id in text.lower() for id in self._ids) or any(_has_text(text, each) for each in self._texts)

    def _without(self, name: str, text: str, *, by_text: bool) -> str | None:
        """A file without the entries of the memories; None: nothing is left of it. `by_text`: also those without an id."""
        located = self._format.parse(name, text)
        strangers = {
            one.line: as_memory(SeenEntry(name, one))
            for one in located
            if by_text and not one.entry.id and any(is_same_text(each, one.entry.content) for each in self._texts)
        }
        if self._snapshot.is_file_per_entry:
            return None if strangers or {one.entry.id for one in located} & self._ids else text
        if strangers:
            text = self._format.rewrite(name, text, {}, (), strangers) or ""
        text = self._format.rewrite(name, text, {}, self._ids | {one.id for one in strangers.values()}, {}) or ""
        return remove_mentions(self._format, name, text, self._stated_ids(name, text))

    def _stated_ids(self, name: str, text: str) -> set[str]:
        """The ids of the memories that are in no entry of a file, but there with their texts."""
        mentions = self._format.mentions(name, text)
        return {
            trace.id
            for trace in self._traces
            if trace.id in mentions and any(is_stated(each, mentions[trace.id]) for each in trace.texts)
        }


def _has_text(file: str, text: str) -> bool:
    """Whether every line of a text is in a file: there they are indented."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return any(len(line) >= _SHORTEST for line in lines) and all(line in file for line in lines)


def _replace(file: Path, text: str) -> None:
    """Replace a backup in one step, with its permissions."""
    partial = file.with_name(f".omoide-{os.getpid()}-purge.tmp")
    try:
        with os.fdopen(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as target:
            target.write(text.encode())
            target.flush()
            os.fsync(target.fileno())
        partial.chmod(file.stat().st_mode & 0o777)
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
