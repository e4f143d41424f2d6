"""Check whether the files of the mirrors are in sync with the database."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from omoide.model import Mirror
from omoide.service.doctor import Check
from omoide.sync.engine import SyncEngine


def check_mirror(mirror: Mirror, engine: SyncEngine) -> Iterator[Check]:
    """Sync a mirror, as every read does, and yield what keeps it from being in sync."""
    if not Path(mirror.place).exists():
        remedy = f"bring it back, or run `omoide mirror remove {mirror.number}`"
        yield Check(ok=False, what=f"mirror {mirror.number}: {mirror.place} is gone", remedy=remedy)
        return
    report = engine.attempt(mirror, partial(engine.sync, mirror))
    if report is None:
        return
    for trouble in report.troubles:
        yield Check(ok=False, what=f"mirror {mirror.number}: {trouble}", remedy="then run `omoide mirror sync`")
    if not report.troubles:
        path = Path(mirror.place) / mirror.file
        missing = "" if path.exists() else ", but does not exist: `omoide mirror sync` creates it"
        yield Check(ok=True, what=f"mirror {mirror.number}: {path} is in sync with {mirror.scope}{missing}")
