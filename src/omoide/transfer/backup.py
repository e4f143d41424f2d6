"""Backups of one project: an export of all of it, of which the newest few are kept."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from omoide import model
from omoide.errors import Conflict, NotFound
from omoide.model import Scope
from omoide.service import Service
from omoide.transfer.export import export, open_output
from omoide.transfer.selection import TransferSelection

_NAME = re.compile(r"\d{8}-\d{6}-\d{6}\.jsonl")


class ProjectBackup(NamedTuple):
    file: Path
    memories: int
    removed: Sequence[Path]
    """Older backups that were over the limit."""


def back_up_project(service: Service, scope: Scope, directory: Path | None, keep: int) -> ProjectBackup:
    """Export all of a project into a new file of the directory, and remove all but the newest `keep` backups there.

    Without a directory, into one beside the store. Raises NotFound if there is no such project, Conflict if the directory
    or the file cannot be created.
    """
    if service.project(scope.path, limit=1) is None:
        raise NotFound(f"there is no project {scope.path}: `omoide project list` shows the projects")
    directory = directory or Path(service.location).parent / "backups" / scope.path
    stamp = model.now().strftime("%Y%m%d-%H%M%S-%f")
    try:
        for each in reversed([directory, *directory.parents]):
            each.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise Conflict(f"{directory} cannot be made ({error.strerror}): choose another place with --output") from error
    target = directory / f"{stamp}.jsonl"
    with open_output(target, force=False) as file:
        count = export(service, file, "jsonl", TransferSelection(scope=scope), lambda _: None)
    service.record_copy(target)
    # By the name, which is the time: a file that was copied or touched has another date.
    backups = sorted(each for each in directory.iterdir() if _NAME.fullmatch(each.name) and each.is_file())
    for backup in backups[:-keep]:
        backup.unlink()
    return ProjectBackup(target, count, backups[:-keep])
