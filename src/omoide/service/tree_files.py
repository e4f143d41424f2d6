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
    """Yield the directories of projects below the tree root: those with a MEMORY.md.

    `path`: look only at the directory of this project; None: at all.
    """
    for found in find_directories(root, MAIN, start=path or "", depth=0 if path else _DEPTH):
        yield FoundTree(found.path, tuple(sorted(filter(is_session_file, found.files))))


def sessions_of(root: Path, path: str, files: Iterable[str]) -> list[str]:
    """Return the names of the sessions that these files of a project belong to.

    `root`: the tree root. `path`: the path of the project. `files`: the names of the files.
    """
    place = Directory(root)
    return [session_of_file(name, found[0]) for name in files if (found := place.read(f"{path}/{name}")) is not None]


class TreeFiles:
    """The files of one project."""

    def __init__(self, root: Path, path: str, backups: int = 5):
        """`root`: the tree root. `path`: the path of the project. `backups`: how many backups of a file to keep."""
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
        """Make the directory.

        Raises InvalidInput if a part of its path has the name of a file in a tree, and Unwritable if it fails.
        """
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
        """Write the files that are missing: MEMORY.md, empty ones for pinned memories and decisions, and those of sessions.

        `description`: that of the project. `sessions`: the names of its sessions.
        """
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
        """Return the path of the file of a session; None if there is no such file."""
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
        """Replace the text of MEMORY.md after a backup; return what was done, and the ids of entries that are gone.

        `old`: the file as the caller read it; None: replace it whatever it says. Raises Changed if the file is not `old`, or
        somebody saves it at this moment, Conflict if there is no file, and Unreadable for a text that cannot be parsed.
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
        """Move the files of the project to the directory of another path below the tree root.

        Raises Conflict if there is a MEMORY.md already, Unwritable if it fails.
        """
        target = self._root / path
        if (target / MAIN).exists():
            raise Conflict(f"{target / MAIN} exists already: move it away, or choose another name")
        self._rename(target)

    def set_aside(self) -> Path:
        """Move the files to the tree root's backups, and return the directory there. Raises Unwritable if it fails."""
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
    """Return the files of a project by what they are; those of sessions last written first.

    `files`: the files by their names below the tree root. `path`: the path of the project. `sessions`: the names of its
    sessions, in the order for files that were never written. `directory`: where the files are; None: nowhere.
    """
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
    """Return the files that the tree of a project would have, by their names below the tree root.

    `path`: the path of the project. `sessions`: the names of its sessions. `memories`: those that the files show, in their
    order.
    """
    format, main = ProjectTree(path), f"{path}/{MAIN}"
    entries: dict[str, dict[str, Memory]] = {main: {}}
    for memory in memories:
        entries.setdefault(format.file_for(memory), {})[memory.id] = memory
    texts = {name: format.rewrite(name, None, put, (), {}) for name, put in entries.items()}
    texts[main] = format.update_frame(main, texts[main], ProjectFrame(path, description, tuple(sorted(sessions))))
    return {name: ProjectFile(text or "") for name, text in texts.items()}


def file_name(session: str) -> str:
    """Return the name of a session's file; of an empty text, MEMORY.md."""
    return session_file(session) if session else MAIN


def rewrite(path: str, texts: Mapping[str, str], added: Sequence[Memory], removed: Collection[Memory]) -> dict[str, str]:
    """Return the texts of a project's files, by their sessions, with some entries added and others removed.

    `path`: the path of the project. `texts`: the texts by their sessions; that of MEMORY.md by an empty text. `added`,
    `removed`: the memories whose entries are added and removed. Raises Unreadable for a text that cannot be parsed.
    """
    format = ProjectTree(path)
    new: dict[str, str] = {}
    for session, text in texts.items():
        put = {memory.id: memory for memory in added if memory.scope.name == session}
        drop = {memory.id for memory in removed if memory.scope.name == session}
        new[session] = format.rewrite(f"{path}/{file_name(session)}", text, put, drop, {}) or ""
    return new
