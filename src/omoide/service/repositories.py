"""Which project a repository is, and the repairs where that went wrong: bind, rename, merge."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import NamedTuple

import msgspec

from omoide import model
from omoide.errors import Conflict, InvalidInput, NotFound, StoreError
from omoide.guard import permissions, validation
from omoide.model import Memory, Mirror, Project, ProjectPlace, RepositoryIdentity, Scope, State
from omoide.service import versioning
from omoide.service.repository_match import Checkout, Match, Relation, match
from omoide.service.trees import Trees
from omoide.storage.base import MemoryChange, Reader, Writer
from omoide.storage.capabilities import Integrity, Redaction, StoredText, require

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


class ProjectMatch(NamedTuple):
    """What `identify` found out about a directory."""

    scope: Scope
    """Its project; of one that is not certain, the separate project that it becomes unless a person says otherwise."""
    candidate: str = ""
    """The project that it may be instead: `bind_project` says so."""
    notice: str = ""
    """One line for the person, where something is not as its name suggests."""
    is_stored: bool = False
    """Whether the directory is bound to the project in the store."""


class ProjectMerge(NamedTuple):
    """What a merge of two projects does."""

    memories: int
    sessions: Sequence[str]
    """Sessions of the first project, each of which is moved or joined with that of the same name."""
    new_keys: Sequence[tuple[str, str]]
    """Keys that both projects have: the old one, and the new one of the memory that is moved."""
    directories: Sequence[str]


class Repositories(Trees):
    """Operations that decide which project a repository is, and that repair it."""

    def locate(self, root: Path) -> Scope:
        """Return the scope of the project whose repository is at `root`. See `identify`.

        Where only a person could say which project it is, it becomes a separate one, and that is reported once.
        """
        permissions.require(self._actor, "locate")
        found = self._identify(root)
        if found.candidate:
            try:
                self._claim(root, found)
            except StoreError:  # fallback: decided in the same way next time
                self._hooks.report(found.notice)
        return found.scope

    def identify(self, root: Path) -> ProjectMatch:
        """Find out which project the repository at `root` is, by its root commits and remote, else by its directory.

        Another clone, a worktree and a moved directory are the same project; another repository of the same name is not.
        git is asked only where the directory is new, or its repository changed. A directory that is certainly of a known
        project is bound to it; otherwise nothing is written: `claim` does that.
        """
        permissions.require(self._actor, "identify")
        return self._identify(root)

    def claim(self, root: Path) -> Scope:
        """Return the scope of the project whose repository is at `root`, and bind the directory to it.

        A name that is not the directory's own is reported once, and so is a separate project where only a person could say.
        """
        permissions.require(self._actor, "claim")
        found = self._identify(root)
        if not found.is_stored:
            self._claim(root, found)
        return found.scope

    def _claim(self, root: Path, found: ProjectMatch) -> None:
        checkout = _read_checkout(root, None)
        with self._store.write() as tx:
            self._bind(tx, found.scope.path, checkout)
        if found.notice:
            self._hooks.report(found.notice)

    def bind_project(self, root: Path, path: str) -> Project:
        """Bind the repository at `root` to a project, whatever it was taken for. Raises NotFound for an unknown project."""
        permissions.require(self._actor, "bind_project")
        path = model.check_project_path(path)
        permissions.require_within(self._actor, Scope(path))
        checkout = _read_checkout(root, None)
        with self._writes.transaction() as write:
            _require_project(write.tx, path)
            _release(write.tx, checkout, path)
            project = self._bind(write.tx, path, checkout)
            write.log("bound", Scope(path), {"project": path})
        self._hooks.mirrors_changed()
        return project

    def rename_project(self, path: str, name: str) -> Project:
        """Give a project another path. Its memories, sessions, files and directories stay with it, and its tree is moved.

        Raises Conflict if the new path is taken, or a tree outside of the tree root is named after the old one.
        """
        permissions.require(self._actor, "rename_project")
        path, name = model.check_project_path(path), validation.check_name(model.check_project_path(name), "project")
        for each in (path, name):
            permissions.require_within(self._actor, Scope(each))
        with self._writes.transaction() as write:
            project = _require_project(write.tx, path)
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
        self._hooks.mirrors_changed()
        require(self._store, Integrity).rebuild(versioning.expected_entry)  # fingerprints are made of the scope too
        return msgspec.structs.replace(project, path=name)

    def merge_projects(self, source: str, into: str, *, dry_run: bool = False) -> ProjectMerge:
        """Move everything of the project `source` into `into`, and delete `source`; a dry run only says what would happen.

        A key that both have stays with the target's memory; the other one gets a new key. The files of the source's tree are
        moved to the backups of the tree root. Raises NotFound for an unknown project, and Conflict if a tree outside of the
        tree root is named after the first.
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
        self._hooks.mirrors_changed()
        return plan

    def _identify(self, root: Path, *, bind: bool = True) -> ProjectMatch:
        """Find out which project a repository is; `bind`: and write it down where that is certain."""
        from omoide.files import repository  # lazy: it loads subprocess: 10 ms

        directory = str(root)
        with self._store.read() as tx:
            bound = tx.project(root=directory)
        stamp = repository.stamp(root)
        if bound is not None and stamp == _place(bound, directory).stamp:
            return ProjectMatch(Scope(bound.path), is_stored=True)
        checkout = _read_checkout(root, bound)
        with self._store.read() as tx:
            projects = tx.projects()
        found = match(checkout, projects, _present(projects))
        if found.relation is not Relation.SAME:
            return ProjectMatch(Scope(found.path), found.candidate, _notice(found, directory))
        if not bind:
            return ProjectMatch(Scope(found.path))
        is_stored = True
        try:
            with self._store.write(patient=False, durable=False) as tx:
                self._bind(tx, found.path, checkout)
        except StoreError:  # fallback: found again next time
            is_stored = False
        return ProjectMatch(Scope(found.path), is_stored=is_stored)

    def _bind(self, tx: Writer, path: str, checkout: Checkout) -> Project:
        """Bind a directory to a project, which is created if need be, and record what git says of the repository."""
        permissions.require_within(self._actor, Scope(path))
        validation.check_name(checkout.directory, "directory")
        known = tx.project(path) or Project(path, created_at=self._clock())
        gone = [place.directory for place in known.places if not Path(place.directory).exists()]
        others = [place for place in known.places if place.directory != checkout.directory]
        identity = checkout.identity
        if identity != RepositoryIdentity():  # it is found again by that, should a directory come back
            others = [place for place in others if place.directory not in gone]
        project = msgspec.structs.replace(
            known,
            places=(ProjectPlace(checkout.directory, checkout.stamp), *others),
            root_commits=tuple(dict.fromkeys((*known.root_commits, *identity.root_commits))),
            remotes=tuple(dict.fromkeys(filter(None, (*known.remotes, identity.remote)))),
        )
        if project != known:
            tx.put_project(project)
            _move_mirrors(tx, path, gone, checkout.directory)
        return project

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
        project = _require_project(tx, source)
        _require_project(tx, target)
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


def _release(tx: Writer, checkout: Checkout, path: str) -> None:
    """Take a directory from the project it was of; of one that has no other directory, also what it is recognised by."""
    owner = tx.project(root=checkout.directory)
    if owner is None or owner.path == path:
        return
    if owner.path not in tx.last_changes():
        tx.merge_projects(owner.path, path)  # nothing was ever remembered in it
    elif len(owner.places) == 1:
        tx.put_project(msgspec.structs.replace(owner, places=(), root_commits=(), remotes=()))


def _read_checkout(root: Path, bound: Project | None) -> Checkout:
    from omoide.files import repository  # lazy: it loads subprocess: 10 ms

    directory, stamp, identity = str(root), repository.stamp(root), repository.read_identity(root)
    if bound is None:
        return Checkout(directory, identity, stamp)
    shared = not set(bound.root_commits).isdisjoint(identity.root_commits)
    rewritten = not shared and repository.has_commit(root, bound.root_commits)
    before = _place(bound, directory).stamp
    same_data = bool(stamp) and before.split(":")[:2] == stamp.split(":")[:2]
    return Checkout(directory, identity, stamp, rewritten=rewritten, same_data=same_data)


def _place(project: Project, directory: str) -> ProjectPlace:
    return next(place for place in project.places if place.directory == directory)


def _present(projects: Iterable[Project]) -> set[str]:
    return {place.directory for project in projects for place in project.places if Path(place.directory).exists()}


def _notice(found: Match, directory: str) -> str:
    if found.relation is Relation.FORK:
        return (
            f"{directory} has the history of project {found.candidate} and another remote, so it is a project of its own,"
            f" {found.path}: `omoide project bind --project {found.candidate}` makes it the same"
        )
    if found.relation is Relation.UNSURE:
        return (
            f"the directory of project {found.candidate} is gone, and {directory} may be another repository, so it is a"
            f" project of its own, {found.path}: `omoide project bind --project {found.candidate}` makes it the same"
        )
    if found.taken:
        return f"project {found.taken} is another repository, so {directory} is project {found.path}"
    return ""


def _require_project(tx: Reader, path: str) -> Project:
    project = tx.project(path)
    if project is None:
        raise NotFound(f"there is no project {path}: `omoide project list` shows those there are")
    return project


def _move_mirrors(tx: Writer, path: str, gone: Sequence[str], directory: str) -> None:
    """Let mirrors in a directory that was moved follow it."""
    taken = {(mirror.place, mirror.file) for mirror in tx.mirrors()}
    for mirror in tx.mirrors():
        if mirror.scope.path == path:
            place = _moved_place(mirror, gone, directory)
            if place and (place, mirror.file) not in taken:
                tx.put_mirror(msgspec.structs.replace(mirror, place=place))


def _moved_place(mirror: Mirror, gone: Sequence[str], directory: str) -> str:
    """Where the files of a mirror are by now; empty: they were not moved."""
    for old in gone:
        if mirror.place == old or PurePath(mirror.place).is_relative_to(old):
            place = Path(directory) / PurePath(mirror.place).relative_to(old)
            return str(place) if (place / mirror.file).exists() else ""
    return ""


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
