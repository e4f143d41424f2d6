"""Projects that move: to another path, or into another project."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from omoide import model
from omoide.errors import Conflict, InvalidInput
from omoide.guard import permissions, validation
from omoide.model import Memory, Mirror, Project, Scope, State
from omoide.service import versioning
from omoide.service.core import require_project
from omoide.service.trees import Trees
from omoide.storage.base import MemoryChange, Reader
from omoide.storage.capabilities import Integrity, Redaction, StoredText, require

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


class ProjectMerge(NamedTuple):
    """What a merge of two projects does."""

    memories: int
    sessions: Sequence[str]
    """Sessions of the first project, each of which is moved or joined with that of the same name."""
    new_keys: Sequence[tuple[str, str]]
    """Keys that both projects have: the old one, and the new one of the memory that is moved."""
    directories: Sequence[str]


class ProjectMoves(Trees):
    """Operations that give a project another path, and that merge two."""

    def rename_project(self, path: str, name: str) -> Project:
        """Give a project another path. Its memories, sessions, files and directories stay with it, and its tree is moved.

        `path`: the path so far. `name`: the new path. Returns the project. Raises NotFound, InvalidInput for a path that is
        not valid, and Conflict if the new path is taken, or a tree outside of the tree root is named after the old one.
        """
        permissions.require(self._actor, "rename_project")
        path, name = model.check_project_path(path), validation.check_name(model.check_project_path(name), "project")
        for each in (path, name):
            permissions.require_within(self._actor, Scope(each))
        with self._writes.transaction() as write:
            project = require_project(write.tx, path)
            taken = next((one for one in write.tx.projects() if one.path.casefold() == name.casefold()), None)
            if taken is not None and taken.path != path:
                raise Conflict(f"there is a project {taken.path} already: `omoide project merge {path} {taken.path}`")
            tree = self._movable_tree(write.tx, path)
            require(write.tx, Redaction).replace_text(StoredText("project", path), name)
            write.log("renamed", Scope(name), {"project": name})
            if tree is not None:
                write.tx.drop_mirror(tree.number)
                moved = msgspec.structs.replace(tree, number=0, scope=Scope(name), file=name, seen=0)
                write.tx.put_mirror(moved)
                self._tree_files(tree).move_to(name)
        self._hooks.after_mirror_change()
        require(self._store, Integrity).rebuild(versioning.expected_entry)  # fingerprints are made of the scope too
        return msgspec.structs.replace(project, path=name)

    def merge_projects(self, source: str, into: str, *, dry_run: bool = False) -> ProjectMerge:
        """Move everything of the project `source` to the project `into`, and delete `source`.

        A key that both have stays with the memory of `into`; the other memory gets a new key. The files of the tree of
        `source` are moved to the backups of the tree root.

        `dry_run`: only return what would happen. Returns what is moved. Raises NotFound for an unknown project, InvalidInput
        for a project that is merged into itself, and Conflict if a tree outside of the tree root is named after `source`.
        """
        permissions.require(self._actor, "merge_projects")
        source, into = model.check_project_path(source), model.check_project_path(into)
        if source == into:
            raise InvalidInput(f"{source} cannot be merged into itself: name two projects")
        for path in (source, into):
            permissions.require_within(self._actor, Scope(path))
        if dry_run:
            with self._store.read() as tx:
                return self._plan_merge(tx, source, into)[0]
        with self._writes.transaction() as write:
            plan, changes = self._plan_merge(write.tx, source, into)
            write.replace_many(changes)
            for old, new, *_ in changes:
                write.log_change(old, new, "moved")
            tree = self._movable_tree(write.tx, source)
            if tree is not None:
                write.tx.drop_mirror(tree.number)
            write.tx.merge_projects(source, into)
            write.log("merged", Scope(into), {"project": source})
            if tree is not None:
                self._tree_files(tree).set_aside()
        self._hooks.after_mirror_change()
        return plan

    def _movable_tree(self, tx: Reader, path: str) -> Mirror | None:
        """The project's tree below the tree root, which can follow it. Raises Conflict for a tree anywhere else."""
        found = None
        for mirror in tx.mirrors():
            if mirror.format != "tree" or mirror.scope.path != path:
                continue
            if mirror.place != str(self._settings.tree_directory):
                raise Conflict(
                    f"the files of mirror {mirror.number} in {mirror.place} are named after project {path}:"
                    f" `omoide mirror remove {mirror.number}` first, and add it again afterwards"
                )
            found = mirror
        return found

    def _plan_merge(self, tx: Reader, source: str, target: str) -> tuple[ProjectMerge, list[MemoryChange]]:
        project = require_project(tx, source)
        require_project(tx, target)
        self._movable_tree(tx, source)
        at = self._clock()
        sessions = [session.scope.name for session in tx.sessions(at, Scope(source))]
        names = {session.scope.name.casefold(): session.scope.name for session in tx.sessions(at, Scope(target))}
        changes: list[MemoryChange] = []
        new_keys: list[tuple[str, str]] = []
        used: set[tuple[Scope, str]] = set()
        for memory in tx.everything():
            if memory.scope.path != source:
                continue
            name = memory.scope.name
            scope = Scope(target, names.get(name.casefold(), name))
            key = _free_key(tx, memory, scope, used)
            if key != memory.key:
                new_keys.append((memory.key or "", key or ""))
            changes.append(_move(memory, scope, key))
        directories = [place.directory for place in project.places]
        return ProjectMerge(len(changes), sessions, new_keys, directories), changes


def _free_key(tx: Reader, memory: Memory, scope: Scope, used: set[tuple[Scope, str]]) -> str | None:
    """The key that a memory can have in its new scope: its own, or one with a number."""
    if memory.key is None or memory.state is State.FORGOTTEN:
        return memory.key
    key, number = memory.key, 2
    while (scope, key) in used or tx.by_key(scope, key) is not None:
        key, number = f"{memory.key}-{number}", number + 1
    used.add((scope, key))
    return key


def _move(memory: Memory, scope: Scope, key: str | None) -> MemoryChange:
    """The memory in its new scope, as its next version; when it was last changed stays the same, but for a tick."""
    new = versioning.next_version(memory, msgspec.structs.replace(memory, scope=scope, key=key), _EARLIEST)
    return memory, new, versioning.memory_fingerprint(new), versioning.build_index_entry(new)
