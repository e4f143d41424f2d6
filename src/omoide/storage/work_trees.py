"""What a store promises about work trees: the last record of each, in each project."""

from datetime import datetime
from typing import Protocol

from omoide.model import Scope, WorkTreeRecord


class WorkTreeReader(Protocol):
    """Read what is known of work trees."""

    def work_tree(self, scope: Scope, root: str) -> WorkTreeRecord | None:
        """Return the record of this directory in the scope's project; None if there is none."""


class WorkTreeWriter(Protocol):
    """Write what is known of work trees. A purge of any memory deletes all records: a file may contain its text."""

    def put_work_tree(self, scope: Scope, record: WorkTreeRecord, *, drop_before: datetime) -> None:
        """Store the record in place of an earlier one, and drop those that are older than `drop_before`, of any project."""
