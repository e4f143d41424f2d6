"""Joins the parts: settings, a store, and the verbs on it."""

from collections.abc import Callable
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any

from omoide import config, model
from omoide.model import Actor
from omoide.service import Service
from omoide.service.meaning import Meaning
from omoide.store.sqlite import MIGRATIONS, SqliteStore


def open(
    store: str | PathLike[str] | None = None,
    *,
    actor: Actor | None = None,
    clock: Callable[[], datetime] = model.now,
    **flags: Any,
) -> Service:
    """Opens a memory: the given database file, or the user's own. Other settings can be given by name."""
    settings = config.settings({**flags, "store": None if store is None else str(store)})
    return opened(settings, actor or Actor(settings.actor, settings.role, "python"), clock)


def opened(
    settings: config.Settings, actor: Actor, clock: Callable[[], datetime] = model.now, *, background: bool = True
) -> Service:
    """Without a background, missing vectors wait for a process that stays, or for `reindex --pending`."""
    store = SqliteStore(Path(settings.store), settings.wait)
    return Service(store, settings, actor, clock, Meaning(store, settings, background=background))


def engine() -> tuple[str, int]:
    """The database engine with the version of its package, and the schema that every opened database is brought to."""
    from importlib.metadata import version  # noqa: PLC0415 - 20 ms that only stats and doctor need

    return f"SQLite (apsw {version('apsw')})", len(list(MIGRATIONS.glob("[0-9]*.sql")))
