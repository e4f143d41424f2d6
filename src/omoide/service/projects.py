"""Projects and their sessions: create, describe, list, and find the project of a directory."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, count, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from omoide import model
from omoide.errors import Conflict, InvalidInput, NotFound
from omoide.files.directory_text import directory_text
from omoide.guard import permissions, validation
from omoide.model import Layer, Memory, Page, Project, ProjectPlace, Query, Scope, Session, Summary
from omoide.service import idempotency
from omoide.service.trees import ProjectFiles, Trees

if TYPE_CHECKING:  # for annotations
    from omoide.service import Service

_OWN = (Layer.PROJECT, Layer.SESSION)


class ProjectOverview(NamedTuple):
    """A project and its sessions."""

    project: Project
    updated_at: datetime
    """When a memory or a session of it last changed; when it was created, if nothing did since."""
    sessions: Sequence[Session]
    """Last changed first."""


class ProjectDetails(NamedTuple):
    """A project by itself, without the global layer."""

    overview: ProjectOverview
    summary: Summary
    """The counts of its active memories, including those of its sessions."""
    pinned: Sequence[Memory]
    recent: Sequence[Memory]
    """Last changed first; not those of its sessions."""
    files: ProjectFiles
    """The texts of its tree."""


class Projects(Trees):
    """Operations on projects and sessions."""

    def projects(self) -> Sequence[Project]:
        """Return the projects within the actor's bounds, by path."""
        permissions.require(self._actor, "projects")
        with self._store.read() as tx:
            return self._within_bounds(tx.projects())

    def _within_bounds(self, projects: Sequence[Project]) -> list[Project]:
        return [project for project in projects if permissions.may_name(self._actor, project.path)]

    def catalogue(self) -> Sequence[ProjectOverview]:
        """Return every project within the actor's bounds with its sessions, last changed first.

        Directories that somebody made by hand below the tree root become projects first.
        """
        permissions.require(self._actor, "catalogue")
        self._adopt_trees()
        with self._read(None) as tx:
            changes = tx.last_changes()
            sessions: dict[str, list[Session]] = {}
            for session in self._sessions_within_bounds(tx.sessions(self._clock())):
                sessions.setdefault(session.scope.path, []).append(session)
            projects = self._within_bounds(tx.projects())
            found = [_overview(project, changes, sessions.get(project.path, ())) for project in projects]
        return sorted(found, key=lambda overview: overview.updated_at, reverse=True)

    def _sessions_within_bounds(self, sessions: Sequence[Session]) -> list[Session]:
        return [session for session in sessions if permissions.covers(self._actor, session.scope)]

    def project(self, path: str, *, limit: int = 20) -> ProjectDetails | None:
        """Return what the project `path` contains; None if there is no such project.

        `limit`: how many memories to return at most in each list. Raises InvalidInput for a path that is not valid.
        """
        permissions.require(self._actor, "project")
        scope = Scope.project(path)
        at = self._clock()
        self._adopt_trees(scope.path)
        with self._read(scope) as tx:
            project = tx.project(scope.path)
            if project is None:
                return None
            recent = permissions.narrow(self._actor, Query(scope, layers=(Layer.PROJECT,)))
            tree = self._tree_of(tx, scope.path)
            sessions = [self._with_file(each, tree) for each in self._sessions_within_bounds(tx.sessions(at, scope))]
            return ProjectDetails(
                _overview(project, tx.last_changes(), sessions),
                tx.summary(permissions.narrow_or_refuse(self._actor, Query(scope, layers=_OWN)), at),
                list(
                    islice(
                        tx.browse(permissions.narrow_or_refuse(self._actor, Query(scope, layers=_OWN, pinned=True)), at),
                        limit,
                    )
                ),
                [] if recent is None else list(islice(tx.browse(recent, at), limit)),
                self._project_files(tx, project),
            )

    def project_by_number(self, number: int) -> Project:
        """Return the project with this number.

        `number`: it stays the same when the project is renamed. Raises NotFound if there is none, or none within the actor's
        bounds.
        """
        permissions.require(self._actor, "project_by_number")
        with self._store.read() as tx:
            project = tx.project(number=number)
        if project is None or not permissions.may_name(self._actor, project.path):
            raise NotFound(f"there is no project with the number {number}: list the projects")
        return project

    def create_project(self, path: str, *, description: str = "", root: Path | None = None) -> Project:
        """Create a project before anything is stored in it, with the files of its tree unless trees are turned off.

        `path`: one to three segments, such as backend/python/shop. `description`: one line. `root`: the directory that
        `locate` finds as this project. Returns the project. Raises InvalidInput for a path or description that is not valid,
        Conflict if the project exists or the directory belongs to another one, and Unwritable if the tree cannot be made.
        """
        permissions.require(self._actor, "create_project")
        at = self._clock()
        path = validation.check_name(model.check_project_path(path), "project")
        place = None if root is None else validation.check_name(directory_text(root), "directory")
        places = () if place is None else (ProjectPlace(place),)
        project = Project(path, self._check_description(description), places, at)
        permissions.require_within(self._actor, Scope(path))
        self._adopt_trees(path)

        def with_creation(done: Project) -> Project:
            return msgspec.structs.replace(done, path=path, description=project.description)

        with idempotency.complete_result(with_creation), self._writes.transaction() as write:
            if write.tx.project(path) is not None:
                raise Conflict(f"there is a project {path} already: `omoide project describe` changes its description")
            owner = None if place is None else write.tx.project(root=place)
            if owner is not None:
                raise Conflict(f"{place} is the directory of project {owner.path} already: name another")
            write.tx.put_project(project)
            write.log("created", Scope(path), {"project": path})
            stored = write.result = write.tx.project(path) or project
            tree = self._add_tree(write, path)
        if tree is not None:
            self._write_tree(tree, stored)
        return stored

    def describe_project(self, path: str, description: str) -> Project:
        """Set the description of the project `path`.

        `description`: one line; an empty text removes it. Returns the project. Raises NotFound, and InvalidInput for a
        description that is not valid.
        """
        permissions.require(self._actor, "describe_project")
        path, description = model.check_project_path(path), self._check_description(description)
        permissions.require_within(self._actor, Scope(path))
        with self._writes.transaction() as write:
            known = write.tx.project(path)
            if known is None:
                raise NotFound(f"there is no project {path}: `omoide project create` makes it")
            project = msgspec.structs.replace(known, description=description)
            if project != known:
                write.tx.put_project(project)
                write.log("described", Scope(path), {"fields": ["description"]})
        return project

    def _check_description(self, description: str) -> str:
        return validation.check_line(description, "description", self._settings) if description.strip() else ""

    def start_session(self, *, scope: Scope, source: str | None = None) -> Session:
        """Start the session that `scope` names; of a project's scope, a new session named by the local time.

        Its file is made at once, and listed in the project's MEMORY.md, unless trees are turned off; `Session.file` is its
        path.

        `source`: where it was started from; by default the interface. Returns the session. Raises InvalidInput for the
        global layer, Conflict if the session exists, and Unwritable if the tree cannot be made.
        """
        permissions.require(self._actor, "start_session")
        at = self._clock()
        candidates = _session_scopes(scope, at)
        first = next(candidates)
        permissions.require_within(self._actor, first)
        validation.check_scope(first)
        source = self._actor.via if source is None else validation.check_line(source, "source", self._settings)
        self._adopt_trees(scope.path)
        with self._writes.transaction() as write:
            scopes = chain((first,), candidates)
            started = next((each for each in scopes if write.tx.add_session(each, source, at)), None)
            if started is None:
                raise Conflict(f"there is a {scope} already: `omoide session append` adds to it, or choose another name")
            with write.from_source(source):
                write.log("started", started, {"session": started.name})
            tree = self._add_tree(write, scope.path)
            project = write.tx.project(scope.path)
            names = [each.scope.name for each in write.tx.sessions(at, Scope(scope.path))]
            session = write.result = Session(started, source, at, at)
        if tree is not None and project is not None:
            self._write_tree(tree, project, names)  # also the file of one that was interrupted here
        return self._with_file(session, tree)

    def sessions(self, *, scope: Scope) -> Sequence[Session]:
        """Return the sessions of the scope's project, last changed first."""
        permissions.require(self._actor, "sessions")
        permissions.require_allowed_layer(self._actor, Layer.SESSION)
        with self._read(scope) as tx:
            tree = self._tree_of(tx, scope.path)
            return [self._with_file(session, tree) for session in tx.sessions(self._clock(), Scope(scope.path))]

    def session(self, *, scope: Scope) -> Session:
        """Return the session that the scope names. Raises NotFound, and InvalidInput where it names none."""
        permissions.require(self._actor, "session")
        _require_session(scope)
        with self._read(scope) as tx:
            for session in tx.sessions(self._clock(), scope):
                return self._with_file(session, self._tree_of(tx, scope.path))
        raise NotFound(f"there is no {scope}: `omoide session list` shows those there are, `omoide session start` makes one")


def project_page(memory: "Service", path: str, limit: int) -> Page | None:
    """Return the memories of a project and its sessions, pinned ones first, then the last changed.

    `limit`: how many at most. Returns them with the number of all, or None where there is no such project.
    """
    detail = memory.project(path, limit=limit)
    if detail is None:
        return None
    found = memory.list(scope=Scope.project(path), layers=_OWN, limit=limit)
    # A pinned memory may be older than those on the page of the last changed ones.
    by_id = {one.id: one for one in (*detail.pinned, *found.memories)}
    return Page(list(by_id.values())[:limit], found.total)


def _overview(project: Project, changes: Mapping[str, datetime], sessions: Sequence[Session]) -> ProjectOverview:
    moments = (project.created_at, changes.get(project.path), *(session.updated_at for session in sessions))
    return ProjectOverview(project, max(at for at in moments if at is not None), sessions)


def _session_scopes(scope: Scope, at: datetime) -> Iterator[Scope]:
    """The session that the scope names, or sessions of a project named by the time, to take the first that is free."""
    if scope.name or not scope.path:
        _require_session(scope)
        yield scope
        return
    stamp = at.astimezone().strftime("%Y-%m-%d-%H%M%S")
    yield Scope.session(scope.path, stamp)
    for number in count(2):
        yield Scope.session(scope.path, f"{stamp}-{number}")


def _require_session(scope: Scope) -> None:
    if not scope.name:
        raise InvalidInput(f"{scope} is no session: name one, as in Scope.session(project, name)")
