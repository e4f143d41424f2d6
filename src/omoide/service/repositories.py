"""Which project a repository is: known for a directory that has not changed, else decided by what git reports."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from omoide import model
from omoide.errors import InvalidInput, StoreError
from omoide.files.directory_text import directory_path, directory_text
from omoide.files.repository_stamp import UNANSWERED, is_unanswered, repository_stamp
from omoide.guard import permissions, validation
from omoide.model import Mirror, Project, ProjectPlace, RepositoryIdentity, Scope
from omoide.service.core import Core, require_project
from omoide.storage.base import Writer

if TYPE_CHECKING:  # only a directory that is new or has changed needs them
    from omoide.service.repository_match import Checkout, Match

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


class Repositories(Core):
    """Operations that decide which project a repository is."""

    def locate(self, root: Path) -> Scope:
        """Return the scope of the project whose repository is at `root`: see `identify`.

        Where only a person could say which project it is, it becomes a separate one, and that is reported once. Raises
        InvalidInput if no name for a project can be made from the directory.
        """
        permissions.require(self._actor, "locate")
        found = self._identify(root)
        if found.candidate or (found.is_stored and found.notice):
            try:
                self._claim(root, found)
            except StoreError:  # fallback: decided in the same way next time
                self._hooks.report(found.notice)
        return found.scope

    def identify(self, root: Path) -> ProjectMatch:
        """Find out which project the repository at `root` is, by its root commits and remote, else by its directory.

        Another clone, a worktree and a moved directory are the same project; another repository of the same name is not.
        git is asked only where the directory is new, or its repository changed. A directory that is certainly of a known
        project is bound to it; otherwise nothing is written: `claim` does that. Raises InvalidInput as `locate`.
        """
        permissions.require(self._actor, "identify")
        return self._identify(root)

    def claim(self, root: Path) -> Scope:
        """Return the scope of the project whose repository is at `root`, and bind the directory to it.

        Two things are reported once: a project whose name is not that of the directory, and a separate project where only a
        person could say which one it is. Raises InvalidInput as `locate`.
        """
        permissions.require(self._actor, "claim")
        found = self._identify(root)
        if not found.is_stored or found.notice:
            self._claim(root, found)
        return found.scope

    def _claim(self, root: Path, found: ProjectMatch) -> None:
        checkout = _read_checkout(root, None)
        with self._store.write() as tx:
            self._bind(tx, found.scope.path, checkout)
            project = tx.project(found.scope.path)
            if found.notice and project is not None:
                # An agent's hook or server comes first where one is installed, and nobody sees its reports.
                tx.record_run(_notice_task(project), _EARLIEST if self._hooks.is_seen else self._clock())
        if found.notice:
            self._hooks.report(found.notice)

    def bind_project(self, root: Path, path: str | None = None) -> Project:
        """Bind the repository at `root` to a project, regardless of the project that it was recognised as before.

        `path`: the path of the project; None: of the one that it may be, as `identify` finds, else of the one that it is
        bound to. Returns the project. Raises NotFound if there is none with this path, and InvalidInput if none is named and
        none matches.
        """
        permissions.require(self._actor, "bind_project")
        path = model.check_project_path(path or self._likely_project(root))
        permissions.require_within(self._actor, Scope(path))
        checkout = _read_checkout(root, None)
        with self._writes.transaction() as write:
            require_project(write.tx, path)
            _release(write.tx, checkout, path)
            project = self._bind(write.tx, path, checkout)
            write.log("bound", Scope(path), {"project": path})
        self._hooks.after_mirror_change()
        return project

    def _likely_project(self, root: Path) -> str:
        found = self._identify(root)
        path = found.candidate or (found.scope.path if found.is_stored else "")
        if not path:
            raise InvalidInput(
                f"no project matches {directory_text(root)}: name one with --project, or create one with `omoide project"
                " create`"
            )
        return path

    def _identify(self, root: Path, *, bind: bool = True) -> ProjectMatch:
        """Find out which project a repository is; `bind`: and write it down where that is certain."""
        directory = directory_text(root)
        with self._store.read() as tx:
            bound = tx.project(root=directory)
            is_unseen = (
                bound is not None and self._hooks.is_seen and tx.last_run(_notice_task(bound)) not in (None, _EARLIEST)
            )
        if bound is not None and _is_identified(bound, directory, repository_stamp(root)):
            return self._doubtful_match(root, bound) if is_unseen else ProjectMatch(Scope(bound.path), is_stored=True)
        return self._match(root, bound, bind=bind)

    def _match(self, root: Path, bound: Project | None, *, bind: bool) -> ProjectMatch:
        """Find out which project a repository is by what git says of it; `bound`: the project of its directory so far."""
        from omoide.service.repository_match import Relation, match  # lazy: see the top

        directory = directory_text(root)
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

    def _doubtful_match(self, root: Path, bound: Project) -> ProjectMatch:
        """The project of a directory that was bound when nobody saw it, with what a person should have been asked."""
        from omoide.service.repository_match import Relation, match  # lazy: see the top

        with self._store.read() as tx:
            others = [project for project in tx.projects() if project.path != bound.path]
        found = match(_read_checkout(root, None), others, _present(others))
        candidate = found.path if found.relation is Relation.SAME else found.candidate
        directory = directory_text(root)
        notice = _notice(found._replace(path=bound.path), directory)
        notice = notice or f"{directory} is a project of its own, {bound.path}"
        return ProjectMatch(Scope(bound.path), candidate, notice, is_stored=True)

    def _bind(self, tx: Writer, path: str, checkout: "Checkout") -> Project:
        """Bind a directory to a project, which is created if need be, and record what git says of the repository."""
        permissions.require_within(self._actor, Scope(path))
        validation.check_name(checkout.directory, "directory")
        known = tx.project(path) or Project(path, created_at=self._clock())
        gone = [place.directory for place in known.places if not directory_path(place.directory).exists()]
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


def _notice_task(project: Project) -> str:
    """Under which name it is recorded when a notice about a project was given that nobody saw; `_EARLIEST`: seen."""
    return f"project {project.number}: notice"


def _release(tx: Writer, checkout: "Checkout", path: str) -> None:
    """Take a directory from the project it was of; of one that has no other directory, also what it is recognised by."""
    owner = tx.project(root=checkout.directory)
    if owner is None or owner.path == path:
        return
    if owner.path not in tx.last_changes():
        tx.merge_projects(owner.path, path)  # nothing was ever remembered in it
    elif len(owner.places) == 1:
        tx.put_project(msgspec.structs.replace(owner, places=(), root_commits=(), remotes=()))


def _read_checkout(root: Path, bound: Project | None) -> "Checkout":
    from omoide.files import repository  # lazy: see the top
    from omoide.service.repository_match import Checkout  # lazy: see the top

    directory, stamp, identity = directory_text(root), repository_stamp(root), repository.read_identity(root)
    if is_unanswered(stamp, identity):
        stamp += UNANSWERED
    if bound is None:
        return Checkout(directory, identity, stamp)
    shared = not set(bound.root_commits).isdisjoint(identity.root_commits)
    rewritten = not shared and repository.has_commit(root, bound.root_commits)
    before = _place(bound, directory).stamp
    same_data = bool(stamp) and before.split(":")[:2] == stamp.split(":")[:2]
    return Checkout(directory, identity, stamp, rewritten=rewritten, same_data=same_data)


def _is_identified(project: Project, directory: str, stamp: str) -> bool:
    """Whether git need not be asked: the repository is as it was, and something is known of it besides its directory."""
    known = _place(project, directory).stamp
    return known == stamp or (known == stamp + UNANSWERED and bool(project.root_commits or project.remotes))


def _place(project: Project, directory: str) -> ProjectPlace:
    return next(place for place in project.places if place.directory == directory)


def _present(projects: Iterable[Project]) -> set[str]:
    return {place.directory for project in projects for place in project.places if directory_path(place.directory).exists()}


def _notice(found: "Match", directory: str) -> str:
    from omoide.service.repository_match import Relation  # lazy: see the top

    if found.relation is Relation.FORK:
        return (
            f"{directory} has the history of project {found.candidate} and another remote, so it is a project of its own,"
            f" {found.path}: `omoide project bind --project {found.candidate}` makes it the same"
        )
    if found.relation is Relation.REPLACED:
        return (
            f"{directory} was project {found.candidate} and is another repository now, so it is a project of its own,"
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
