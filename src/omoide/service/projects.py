"""Projects: which one a directory belongs to, and what is known of each."""

from collections.abc import Sequence
from pathlib import Path, PurePath

from omoide import model
from omoide.errors import InvalidInput
from omoide.guard import access
from omoide.model import Project, Scope
from omoide.service.base import Verbs
from omoide.store.base import Reading


class Projects(Verbs):
    def projects(self) -> Sequence[Project]:
        access.require(self._actor, "projects")
        with self._store.read() as tx:
            return tx.projects()

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
        with self._store.write() as tx:
            path = self._named(tx, root)
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


def _segment(part: str) -> str:
    """A directory's name as a project's segment; empty when nothing of it can stay."""
    try:
        return model.segment(part, "project")
    except InvalidInput:
        cleaned = "".join(c if c.isalnum() or c in "-_" else "-" for c in part).strip("-")
        return cleaned[:80]
