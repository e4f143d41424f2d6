"""The files of one project's tree: made where they are missing, read, replaced after a backup, and rendered without files.

Only a project that has a tree, or whose texts are asked for, loads this: the Markdown format takes a while.
"""

import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from omoide import model
from omoide.errors import Changed, Conflict, InvalidInput, Unreadable, Unwritable
from omoide.files.directory import BACKUPS, Directory
from omoide.files.tree_walk import find_directories
from omoide.markdown.format import ProjectFrame
from omoide.markdown.project_tree import DECISIONS, MAIN, PINNED, ProjectTree, is_session_file, session_file, session_of_file
from omoide.model import Memory
from omoide.service.trees import ProjectFile, ProjectFiles, Replacement

_DEPTH = 3
"""Segments of a project's path."""
_FILE_NAMES = re.compile(r"(?:MEMORY(?:_.*)?|pinned|decisions)\.md", re.IGNORECASE | re.DOTALL)


class FoundTree(NamedTuple):
    """A directory below the tree root that is a project's."""

    path: str
    session_files: tuple[str, ...]


def find_trees(root: Path, path: str | None) -> Iterator[FoundTree]:
    """Yield the directories with a MEMORY.md below the root; given a path, only that one."""
    for found in find_directories(root, MAIN, start=path or "", depth=0 if path else _DEPTH):
        yield FoundTree(found.path, tuple(sorted(filter(is_session_file, found.files))))


def sessions_of(root: Path, path: str, files: Iterable[str]) -> list[str]:
    """Return the names of the sessions that files of a project are of."""
    place = Directory(root)
    return [session_of_file(name, found[0]) for name in files if (found := place.read(f"{path}/{name}")) is not None]


class TreeFiles:
    """The files of one project."""

    def __init__(self, root: Path, path: str, backups: int = 5):
        """`root` is the directory of all trees, `path` that of the project, `backups` how many of a file are kept."""
        self.directory = root / path
        self._root = root
        self._path = path
        self._format = ProjectTree(path)
        self._backups = backups

    def _place(self) -> Directory:
        return Directory(self._root.resolve(), self._backups, private=True, keep_replaced=True)

    def _name(self, last: str) -> str:
        return f"{self._path}/{last}"

    def make_directory(self) -> None:
        """Make the directory. Raises InvalidInput for a path that files of other trees have, Unwritable if it fails."""
        wrong = next((part for part in self._path.split("/") if _FILE_NAMES.fullmatch(part)), None)
        if wrong is not None:
            raise InvalidInput(f"project {self._path!r}: {wrong} is the name of a file in a tree: choose another name")
        try:
            for directory in reversed([self.directory, *self.directory.parents]):
                directory.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise Unwritable(
                f"the tree of project {self._path} cannot be made in {self._root} ({error.strerror}): repair that, or set"
                " `tree_root`"
            ) from error

    def write_missing(self, description: str, sessions: Sequence[str]) -> None:
        """Write the files that are missing: MEMORY.md, an empty pinned.md and decisions.md, and those of these sessions."""
        main = self._name(MAIN)
        frame = ProjectFrame(self._path, description, tuple(sessions))
        texts = {main: self._format.update_frame(main, None, frame) or "", self._name(PINNED): "", self._name(DECISIONS): ""}
        for session in sessions:
            name = self._name(session_file(session))
            texts[name] = self._format.new_file(name, session)
        place = self._place()
        with place.lock():
            for name, text in texts.items():
                if place.stat(name) is None:
                    place.write(name, text, None)

    def session_path(self, session: str) -> str | None:
        """Return the path of a session's file; None if there is none."""
        path = self.directory / session_file(session)
        return str(path) if path.is_file() else None

    def read(self) -> dict[str, ProjectFile]:
        """Return the files of the tree by name. Raises Unreadable."""
        place = self._place()
        files: dict[str, ProjectFile] = {}
        for name, _ in place.names([self._path]):
            if self._format.owns(name) and (found := place.read(name)) is not None:
                text, stat = found
                files[name] = ProjectFile(text, str(self._root / name), datetime.fromtimestamp(stat.mtime_ns / 1e9, UTC))
        return files

    def log_size(self) -> int:
        """Return the size of MEMORY.md and the files of sessions, without reading them. Raises Unreadable."""
        others = (self._name(PINNED), self._name(DECISIONS))
        found = self._place().names([self._path])
        return sum(stat.size for name, stat in found if self._format.owns(name) and name not in others)

    def replace_main(self, text: str, old: ProjectFile | None) -> tuple[Replacement, list[str]]:
        """Replace MEMORY.md after a backup; return also the ids of the entries that it no longer has.

        Raises Changed where it is not `old`, or somebody saves it at this moment, and Unreadable for a text that is no page.
        """
        place, name = self._place(), self._name(MAIN)
        kept = self._ids(text)
        path = self._root / name
        with place.lock():
            found = place.read(name)
            if found is None:
                raise Conflict(f"{path} is gone: `omoide mirror sync` writes it again")
            if old is not None and found[0] != old.text:
                raise Changed(f"{path} has changed since it was read: read it again")
            removed = self._removed_ids(found[0], kept)
            backup = place.backup(name)
            place.write(name, text, found[1])
        replacement = Replacement(str(path), str(self._root / (backup or "")), len(found[0].encode()), len(text.encode()))
        return replacement, removed

    def _removed_ids(self, text: str, kept: Collection[str]) -> list[str]:
        try:
            return [id for id in self._ids(text) if id not in kept]
        except Unreadable:  # fallback: a file that nobody could read is replaced, and archives nothing
            return []

    def _ids(self, text: str) -> list[str]:
        return [located.entry.id for located in self._format.parse(self._name(MAIN), text) if located.entry.id]

    def move_to(self, path: str) -> None:
        """Rename the directory of the project. Raises Conflict if the new one exists, Unwritable if it fails."""
        target = self._root / path
        if (target / MAIN).exists():
            raise Conflict(f"{target / MAIN} exists already: move it away, or choose another name")
        self._rename(target)

    def set_aside(self) -> Path:
        """Move the files among the backups of the tree root, and return where they are."""
        stamp = model.now().strftime("%Y%m%d-%H%M%S-%f")
        target = self._root / BACKUPS / "merged" / f"{self._path.replace('/', '-')}-{stamp}"
        self._rename(target)
        return target

    def _rename(self, target: Path) -> None:
        """Move the project's own files: other projects may have directories below it."""
        try:
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
            for file in self.directory.iterdir():
                if self._format.owns(self._name(file.name)):
                    shutil.move(str(file), str(target / file.name))
            for directory in (self.directory, *self.directory.parents):
                if directory == self._root or any(directory.iterdir()):
                    break
                directory.rmdir()
        except OSError as error:
            raise Unwritable(
                f"{self.directory} cannot be moved to {target} ({error.strerror}): repair that first"
            ) from error


def arrange(files: dict[str, ProjectFile], path: str, sessions: Sequence[str], directory: str | None) -> ProjectFiles:
    """Return the files of a project by what they are; those of sessions last written first, else in the order given."""
    rest = dict(files)
    memory, pinned, decisions = (rest.pop(f"{path}/{name}", ProjectFile("")) for name in (MAIN, PINNED, DECISIONS))
    names = {f"{path}/{session_file(session)}": session for session in sessions}
    order = {session: position for position, session in enumerate(sessions)}
    found = [
        file._replace(session=names.get(name) or session_of_file(name.rpartition("/")[2], file.text))
        for name, file in rest.items()
    ]
    found.sort(key=lambda file: (-file.updated_at.timestamp() if file.updated_at else 0.0, order.get(file.session, 0)))
    return ProjectFiles(memory, pinned, decisions, tuple(found), directory)


def render(path: str, description: str, sessions: Sequence[str], memories: Iterable[Memory]) -> dict[str, ProjectFile]:
    """Return the files that a project's tree would have, by name."""
    format, main = ProjectTree(path), f"{path}/{MAIN}"
    entries: dict[str, dict[str, Memory]] = {main: {}}
    for memory in memories:
        entries.setdefault(format.file_for(memory), {})[memory.id] = memory
    texts = {name: format.rewrite(name, None, put, (), {}) for name, put in entries.items()}
    texts[main] = format.update_frame(main, texts[main], ProjectFrame(path, description, tuple(sorted(sessions))))
    return {name: ProjectFile(text or "") for name, text in texts.items()}


def file_name(session: str) -> str:
    """Return the name of a session's file; that of MEMORY.md if it is empty."""
    return session_file(session) if session else MAIN


def rewrite(path: str, texts: Mapping[str, str], added: Sequence[Memory], removed: Collection[Memory]) -> dict[str, str]:
    """Return the files of a project, by their sessions, with some entries added and others removed.

    `texts`: MEMORY.md, by an empty name, and the files of sessions. Raises Unreadable for a text that is no page.
    """
    format = ProjectTree(path)
    new: dict[str, str] = {}
    for session, text in texts.items():
        put = {memory.id: memory for memory in added if memory.scope.name == session}
        drop = {memory.id for memory in removed if memory.scope.name == session}
        new[session] = format.rewrite(f"{path}/{file_name(session)}", text, put, drop, {}) or ""
    return new
