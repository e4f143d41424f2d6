"""Projects and their sessions."""

from datetime import datetime

import msgspec

from omoide.model.scope import Scope


class RepositoryIdentity(msgspec.Struct, frozen=True):
    """What makes a git repository the same one in every directory and on every machine."""

    root_commits: tuple[str, ...] = ()
    """The commits without a parent; empty for a shallow clone, and before the first commit."""
    remote: str = ""
    """The normalised address of its remote; empty: it has none."""


class ProjectPlace(msgspec.Struct, frozen=True):
    """A directory that belongs to a project."""

    directory: str
    """Its path as `files.directory_text` gives it."""
    stamp: str = ""
    """How its repository looked when it was last identified; empty: never."""


class Project(msgspec.Struct, frozen=True):
    """A project, by which memories are kept apart."""

    path: str
    description: str = ""
    places: tuple[ProjectPlace, ...] = ()
    """Its directories, the one that was bound last first. A directory belongs to one project."""
    created_at: datetime | None = None
    root_commits: tuple[str, ...] = ()
    remotes: tuple[str, ...] = ()
    number: int = 0
    """Given by the store, unique in it and never reused; it stays when the project is renamed. 0: not stored yet."""

    @property
    def root(self) -> str | None:
        """The directory that was bound last."""
        return self.places[0].directory if self.places else None


class Session(msgspec.Struct, frozen=True):
    """A piece of work in a project, started by name or by the first memory that is stored in it."""

    scope: Scope
    source: str
    """Where it was started from, such as cli or slack; empty if that is not known."""
    created_at: datetime
    updated_at: datetime
    """When a memory of it last changed; when it was started, if none did."""
    memories: int = 0
    """How many current memories it has."""
    file: str | None = None
    """The path of its file in the project's tree; None: there is none."""
