"""The tree of a project: files in a directory of its own below the tree root, kept in sync as a mirror.

See docs/decisions/0027-project-trees.md for who gets a tree, and when.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from omoide import model
from omoide.errors import Conflict, InvalidInput, OmoideError, Unreadable
from omoide.guard import permissions, validation
from omoide.model import Choice, FileSource, Layer, Mirror, Project, Query, Scope, Session, State
from omoide.service import versioning
from omoide.service.core import Core, require_project
from omoide.service.write_path import MemoryTransaction
from omoide.storage.base import Reader

if TYPE_CHECKING:  # it loads the Markdown format, which most commands do not need
    from omoide.service.tree_files import FoundTree, TreeFiles

_RENDERED = 1_000
"""Memories of a project without a tree that its texts show."""


class ProjectFile(NamedTuple):
    """One file of a project's tree."""

    text: str
    path: str | None = None
    """None: there is no file, and the text is what it would say."""
    updated_at: datetime | None = None
    """When the file was last written."""
    session: str = ""
    """The session that it is of; empty: the project itself."""

    @property
    def bytes(self) -> int:
        """The size of the text in UTF-8."""
        return len(self.text.encode())


class ProjectFiles(NamedTuple):
    """The files of a project's tree."""

    memory: ProjectFile
    """MEMORY.md."""
    pinned: ProjectFile
    decisions: ProjectFile
    sessions: Sequence[ProjectFile]
    """MEMORY_<session>.md of each session, last written first."""
    directory: str | None = None
    """Where they are; None: the project has no tree."""

    @property
    def total_bytes(self) -> int:
        """The size of all files."""
        return sum(file.bytes for file in (self.memory, self.pinned, self.decisions, *self.sessions))

    @property
    def log_bytes(self) -> int:
        """The size of MEMORY.md and of the files of sessions, which a summary makes shorter."""
        return sum(file.bytes for file in (self.memory, *self.sessions))


class Replacement(NamedTuple):
    """The result of replacing the content of a MEMORY.md."""

    path: str
    backup: str
    """The copy of the previous content."""
    bytes_before: int
    bytes_after: int


class Trees(Core):
    """Operations on the trees of projects."""

    def project_files(self, path: str) -> ProjectFiles | None:
        """Return the texts of the tree of the project `path`, with sizes and times; None if there is no such project.

        Of a project without a tree, they are the texts that its tree would have, of its last 1,000 memories, without paths.
        Raises InvalidInput for a path that is not valid.
        """
        permissions.require(self._actor, "project_files")
        scope = Scope.project(path)
        self._adopt_trees(scope.path)
        with self._read(scope) as tx:
            project = tx.project(scope.path)
            return None if project is None else self._project_files(tx, project)

    def replace_memory_file(self, path: str, text: str, *, old: ProjectFile | None = None) -> Replacement:
        """Replace the whole content of a project's MEMORY.md, after a backup of it, and import what it says.

        The memory of an entry that is not in the new text is archived. As many backups stay as the setting `max_backups`
        says.

        `path`: the path of the project. `text`: the whole new content. `old`: the file as the caller read it; None: replace
        it whatever it says. Returns what was replaced. Raises NotFound, Changed if the file is not `old`, Conflict if the
        project has no tree, InvalidInput and SecretFound for the text.
        """
        permissions.require(self._actor, "replace_memory_file")
        scope = Scope.project(path)
        permissions.require_within(self._actor, scope)
        text = validation.check_content(text, self._settings, "content of MEMORY.md")
        self._adopt_trees(scope.path)
        with self._read(scope) as tx:
            require_project(tx, scope.path)
            mirror = self._tree_of(tx, scope.path)
        if mirror is None:
            raise Conflict(f"project {path} has no tree of files: `omoide session start` makes one")
        replacement, removed = self._tree_files(mirror).replace_main(text, old)
        with self._writes.transaction() as write:
            write.log("replaced", scope, {"bytes": replacement.bytes_after})
            for memory in write.tx.memories(removed):
                if memory.state is State.ACTIVE and memory.scope == scope:
                    write.change(memory, versioning.with_fields(memory, {"state": State.ARCHIVED}), "archived")
        self._hooks.before_read(scope)
        return replacement

    # Making a tree

    def _add_tree(self, write: MemoryTransaction, path: str) -> Mirror | None:
        """Make the directory of a project below the tree root, and record it as the project's tree, within the transaction
        that makes the project or the session.

        Returns the tree that the project has; None where trees are turned off.
        """
        known, root = self._tree_of(write.tx, path), self._settings.tree_directory
        if known is not None or root is None:
            return known
        from omoide.service.tree_files import TreeFiles  # lazy: see the top

        TreeFiles(root, path).make_directory()
        return write.tx.put_mirror(Mirror(0, Scope(path), str(root), path, "tree", Choice.ALL, write.at))

    def _write_tree(self, tree: Mirror, project: Project, sessions: Sequence[str] = ()) -> None:
        """Write the files of a tree that are missing, and sync it: MEMORY.md lists its sessions."""
        self._tree_files(tree).write_missing(project.description, sessions)
        self._hooks.after_mirror_change()
        self._hooks.before_read(Scope(project.path))

    def _tree_files(self, tree: Mirror) -> "TreeFiles":
        from omoide.service.tree_files import TreeFiles  # lazy: see the top

        return TreeFiles(Path(tree.place), tree.file, self._settings.max_backups)

    def _tree_of(self, tx: Reader, path: str) -> Mirror | None:
        """The tree of a project; of several, the one below the tree root."""
        root = str(self._settings.tree_directory)
        trees = [mirror for mirror in tx.mirrors() if mirror.format == "tree" and mirror.scope == Scope(path)]
        return min(trees, key=lambda mirror: mirror.place != root, default=None)

    def _with_file(self, session: Session, tree: Mirror | None) -> Session:
        """The session with the path of its file, if it has one."""
        if tree is None:
            return session
        return msgspec.structs.replace(session, file=self._tree_files(tree).session_path(session.scope.name))

    # Finding trees that somebody made by hand

    def _adopt_trees(self, path: str | None = None) -> None:
        """Make projects and sessions of the directories and files below the tree root that are not known yet.

        `path`: look only for this project. What cannot be one is reported and left alone.
        """
        root = self._settings.tree_directory
        if root is None or not (root / (path or "")).is_dir():
            return
        from omoide.markdown.project_tree import session_file  # lazy: see the top
        from omoide.service.tree_files import find_trees  # lazy: see the top

        found = list(find_trees(root, path))
        with self._store.read() as tx:
            trees = {mirror.scope.path for mirror in tx.mirrors() if mirror.format == "tree"}
            sessions = (
                tx.sessions(self._clock(), Scope(path) if path else None) if any(one.session_files for one in found) else []
            )
            known = {(each.scope.path, session_file(each.scope.name)) for each in sessions}
        for tree in found:
            new = tree._replace(session_files=tuple(name for name in tree.session_files if (tree.path, name) not in known))
            if tree.path not in trees or new.session_files:
                try:
                    self._adopt(root, new)
                except OmoideError as error:  # fallback: the other directories; this one is reported to its author
                    self._hooks.report(f"{root / tree.path} is not recognised as a project: {error}")

    def _adopt(self, root: Path, tree: "FoundTree") -> None:
        """Make a project of a directory, and sessions of its files."""
        from omoide.service.tree_files import sessions_of  # lazy: see the top

        path = tree.path
        if model.check_project_path(path) != path:
            raise InvalidInput("its name is not in the Unicode form NFC: rename it")
        validation.check_name(path, "project")
        sessions = [Scope.session(path, name) for name in sessions_of(root, path, tree.session_files)]
        with self._writes.transaction() as write:
            write.source = FileSource(str(root / path))
            if write.tx.project(path) is None:
                write.tx.put_project(Project(path, created_at=write.at))
                write.log("created", Scope(path), {"project": path})
            self._add_tree(write, path)
            for scope in map(validation.check_scope, sessions):
                if write.tx.add_session(scope, "file", write.at):
                    write.log("started", scope, {"session": scope.name})
        self._hooks.after_mirror_change()

    # Reading

    def _project_files(self, tx: Reader, project: Project, limit: int | None = _RENDERED) -> ProjectFiles:
        """The files of a project; without a tree, what they would say of so many memories, the newest. None: of all."""
        from omoide.service import tree_files  # lazy: see the top

        scope = Scope(project.path)
        sessions: list[str] = []
        tree = None
        # MEMORY.md names the sessions: an actor that may not know of them gets what the database says without them.
        if permissions.covers(self._actor, Scope(scope.path, "any")):
            sessions = [session.scope.name for session in tx.sessions(self._clock(), scope)]
            tree = self._tree_of(tx, project.path)
        files: dict[str, ProjectFile] = {}
        if tree is not None:
            try:
                files = self._tree_files(tree).read()
            except Unreadable as error:  # fallback: what the files should say, from the database
                self._hooks.report(str(error))
        if not files:
            query = permissions.narrow_or_refuse(self._actor, Query(scope, layers=(Layer.PROJECT, Layer.SESSION)))
            newest = list(islice(tx.browse(query, self._clock()), limit))
            files = tree_files.render(project.path, project.description, sessions, newest[::-1])
        directory = None if tree is None else str(Path(tree.place, tree.file))
        arranged = tree_files.arrange(files, project.path, sessions, directory)
        if not permissions.covers(self._actor, scope):  # its sessions alone
            empty = ProjectFile("")
            arranged = arranged._replace(memory=empty, pinned=empty, decisions=empty)
        return arranged
