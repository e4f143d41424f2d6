"""Projects: which one a directory belongs to, and what is known of each."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path, PurePath
from typing import NamedTuple

import msgspec

from omoide import model
from omoide.errors import Conflict, InvalidInput, NotFound
from omoide.guard import access, bounds, checks
from omoide.model import Layer, Memory, Project, Query, Scope, Session, Summary
from omoide.service.base import Verbs
from omoide.store.base import Reading

_OWN = (Layer.PROJECT, Layer.SESSION)


class Overview(NamedTuple):
    """A project in a list of them."""

    project: Project
    updated_at: datetime
    """When a memory or a session of it last changed; when it was made, if nothing did since."""
    sessions: Sequence[Session]
    """Last changed first."""


class Portrait(NamedTuple):
    """A project by itself, without the global layer."""

    overview: Overview
    summary: Summary
    """Of its active memories, those of its sessions included."""
    pinned: Sequence[Memory]
    recent: Sequence[Memory]
    """Last changed first; not those of its sessions."""


class Projects(Verbs):
    def projects(self) -> Sequence[Project]:
        access.require(self._actor, "projects")
        with self._store.read() as tx:
            return self._allowed(tx.projects())

    def _allowed(self, projects: Sequence[Project]) -> list[Project]:
        return [project for project in projects if bounds.may_name(self._actor, project.path)]

    def catalogue(self) -> Sequence[Overview]:
        """Every project with its sessions, last changed first."""
        access.require(self._actor, "catalogue")
        with self._reading(None) as tx:
            changes = tx.last_changes()
            sessions: dict[str, list[Session]] = {}
            for session in self._known(tx.sessions(self._clock())):
                sessions.setdefault(session.scope.path, []).append(session)
            projects = self._allowed(tx.projects())
            found = [_overview(project, changes, sessions.get(project.path, ())) for project in projects]
        return sorted(found, key=lambda overview: overview.updated_at, reverse=True)

    def _known(self, sessions: Sequence[Session]) -> list[Session]:
        return [session for session in sessions if bounds.covers(self._actor, session.scope)]

    def project(self, path: str, *, limit: int = 20) -> Portrait | None:
        """What there is in a project, `limit` memories in each list at the most; None when there is no such project."""
        access.require(self._actor, "project")
        scope = Scope.project(path)
        at = self._clock()
        with self._reading(scope) as tx:
            project = tx.project(scope.path)
            if project is None:
                return None
            recent = bounds.narrowed(self._actor, Query(scope, layers=(Layer.PROJECT,)))
            return Portrait(
                _overview(project, tx.last_changes(), self._known(tx.sessions(at, scope))),
                tx.summary(bounds.required(self._actor, Query(scope, layers=_OWN)), at),
                list(islice(tx.browse(bounds.required(self._actor, Query(scope, layers=_OWN, pinned=True)), at), limit)),
                [] if recent is None else list(islice(tx.browse(recent, at), limit)),
            )

    def create_project(self, path: str, *, description: str = "", root: Path | None = None) -> Project:
        """Makes a project before anything is kept in it; `root` is the directory that is to be found as this project."""
        access.require(self._actor, "create_project")
        at = self._clock()
        path = checks.name(model.project_path(path), "project")
        place = None if root is None else checks.name(str(root), "directory")
        made = Project(path, self._described(description), place, at)
        bounds.require_within(self._actor, Scope(made.path))
        with self._writing() as tx:
            if tx.project(made.path) is not None:
                raise Conflict(f"there is a project {made.path} already: `omoide project describe` changes its description")
            owner = None if made.root is None else tx.project_at(made.root)
            if owner is not None:
                raise Conflict(f"{made.root} is the directory of project {owner.path} already: name another")
            tx.put_project(made)
            tx.note("created", self._actor, at, Scope(made.path), {"project": made.path})
        return made

    def describe_project(self, path: str, description: str) -> Project:
        """Says in a line what the project is about; an empty line takes the description off."""
        access.require(self._actor, "describe_project")
        path, description = model.project_path(path), self._described(description)
        bounds.require_within(self._actor, Scope(path))
        with self._writing() as tx:
            known = tx.project(path)
            if known is None:
                raise NotFound(f"there is no project {path}: `omoide project create` makes it")
            project = msgspec.structs.replace(known, description=description)
            if project != known:
                tx.put_project(project)
                tx.note("described", self._actor, self._clock(), Scope(path), {"fields": ["description"]})
        return project

    def _described(self, description: str) -> str:
        return checks.line(description, "description", self._settings) if description.strip() else ""

    def locate(self, root: Path) -> Scope:
        """The scope of the project whose directory this is. Nothing is written: see `claim`."""
        access.require(self._actor, "locate")
        with self._store.read() as tx:
            return Scope(self._named(tx, root))

    def claim(self, root: Path) -> Scope:
        """The same, and from now on the project has this directory."""
        access.require(self._actor, "claim")
        with self._store.read() as tx:
            known = tx.project_at(str(root))
        if known is not None:
            return Scope(known.path)
        checks.name(str(root), "directory")
        with self._store.write() as tx:
            path = self._named(tx, root)
            bounds.require_within(self._actor, Scope(path))
            known = next((project for project in tx.projects() if project.path == path), None)
            description = known.description if known else ""
            tx.put_project(Project(path, description, str(root), self._clock()))
        return Scope(path)

    def _named(self, tx: Reading, root: Path) -> str:
        known = tx.project_at(str(root))
        if known is not None:
            return known.path
        taken = {
            project.path.casefold(): project
            for project in tx.projects()
            # A project whose directory is gone was moved here, or its name is free again.
            if project.root is not None and Path(project.root).exists()
        }
        names = [name for name in map(_segment, PurePath(root).parts[1:]) if name]
        for length in (1, 2, 3):
            path = "/".join(names[-length:])
            if path and path.casefold() not in taken:
                # Shop and shop are one project: take the spelling that is there.
                return next((p.path for p in tx.projects() if p.path.casefold() == path.casefold()), path)
        raise InvalidInput(f"no free project name for {root}: give one with --project")


def _overview(project: Project, changes: Mapping[str, datetime], sessions: Sequence[Session]) -> Overview:
    moments = (project.created_at, changes.get(project.path), *(session.updated_at for session in sessions))
    return Overview(project, max(at for at in moments if at is not None), sessions)


def _segment(part: str) -> str:
    """A directory's name as a project's segment; empty when nothing of it can stay."""
    try:
        return model.segment(part, "project")
    except InvalidInput:
        cleaned = "".join(c if c.isalnum() or c in "-_" else "-" for c in part).strip("-")
        return cleaned[:80]
