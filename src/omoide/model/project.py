"""Projects and their sessions."""

from datetime import datetime

import msgspec

from omoide.model.scope import Scope


class Project(msgspec.Struct, frozen=True):
    path: str
    description: str = ""
    root: str | None = None
    """The directory it was found in, if any."""
    created_at: datetime | None = None


class Session(msgspec.Struct, frozen=True):
    """A piece of work in a project, started by its name or by the first memory that is kept in it."""

    scope: Scope
    source: str
    """Where it was started from, such as cli or slack; empty when nobody said."""
    created_at: datetime
    updated_at: datetime
    """When something in it last changed; when it was started, if nothing did."""
    memories: int = 0  # the current ones
