"""Joins the parts: settings, a store, the verbs on it, and whoever keeps files in step with it."""

import time
import warnings
from collections.abc import Callable, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omoide import model
from omoide.embeddings.indexer import EmbeddingIndex
from omoide.errors import OmoideError
from omoide.model import Actor, Mirror, Role, Scope
from omoide.service import Service
from omoide.settings import Settings, load_settings
from omoide.storage.base import Store
from omoide.storage.sqlite.store import MIGRATIONS, SqliteStore

if TYPE_CHECKING:  # only a store that has a mirror needs it
    from omoide.sync.engine import SyncEngine

_REFRESH_SECONDS = 1.0
"""Seconds: mirrors that another process adds are followed after so long at the latest."""
FILE_ACTOR = Actor("human", Role.OWNER, "file")
"""Who says what stands in a file: see docs/decisions/0009-mirror-sync.md."""


def open(
    store: str | PathLike[str] | None = None,
    *,
    actor: Actor | None = None,
    clock: Callable[[], datetime] = model.now,
    **flags: Any,
) -> Service:
    """Opens a memory: the given database file, or the user's own. Other settings can be given by name."""
    settings = load_settings({**flags, "store": None if store is None else str(store)})
    return open_service(settings, actor or Actor(settings.actor, settings.role, "python"), clock)


def open_service(
    settings: Settings,
    actor: Actor,
    clock: Callable[[], datetime] = model.now,
    tell: Callable[[str], None] | None = None,
    *,
    told: set[str] | None = None,
    background: bool = True,
) -> Service:
    """`tell` hears what is wrong with mirrored files; without it, Python's warnings do. `told` is what it has heard,
    where several memories share it. Without a background, missing vectors wait for a process that stays, or for
    `reindex --pending`."""
    store = SqliteStore(Path(settings.store), settings.wait)
    following = MirrorHook(store, settings, clock, tell or _warn, set() if told is None else told)
    return Service(store, settings, actor, clock, following, EmbeddingIndex(store, settings, background=background))


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=2)


class MirrorHook:
    """Keeps the files of mirrors in step. While there is none it costs a question a second, and its code is not loaded."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Callable[[], datetime],
        tell: Callable[[str], None],
        told: set[str],
    ):
        self._store = store
        self._settings = settings
        self._clock = clock
        self._tell = tell
        self._told = told
        self._known: Sequence[Mirror] = ()
        self._until = 0.0
        self._engine: SyncEngine | None = None

    # What is wrong with a file is reported, by `Mirroring.attempt`. Only the database itself can end these two, and the
    # verb that is about to read it.

    def before_reading(self, scope: Scope | None) -> None:
        mirrors = self._mirrors()
        if mirrors:
            self.engine.import_edits(mirrors, scope)

    def after_writing(self) -> None:
        try:
            mirrors = self._mirrors()
            if mirrors:
                self.engine.export_changes(mirrors)
        except OmoideError as error:  # plan B: what was written is kept; the next reading brings it to the files
            self._say(str(error))

    def invalidate(self) -> None:
        self._until = 0.0

    @property
    def engine(self) -> "SyncEngine":
        if self._engine is None:
            from omoide.sync.database import SyncDatabase  # noqa: PLC0415 - the same
            from omoide.sync.engine import SyncEngine  # noqa: PLC0415 - see the class

            meetings = SyncDatabase(self._store, self._settings, FILE_ACTOR, self._clock)
            self._engine = SyncEngine(meetings, self._settings, self._say, self._told)
        return self._engine

    def _say(self, message: str) -> None:
        """Report, without failing where there is nobody to report to: the verb has its answer."""
        try:
            self._tell(message)
        except (OSError, ValueError, Warning):  # fallback: a closed stream, or warnings made errors, still leave the log
            import logging  # noqa: PLC0415 - 5 ms that only this needs

            logging.getLogger(__name__).warning("%s", message)

    def _mirrors(self) -> Sequence[Mirror]:
        now = time.monotonic()
        if now >= self._until:
            self._known = Service(self._store, self._settings, FILE_ACTOR, self._clock).mirrors()
            self._until = now + _REFRESH_SECONDS
        return self._known


def sync_engine(memory: Service) -> "SyncEngine":
    """Who keeps the files of this memory in step, for those who ask for it by name."""
    follower = memory.follower
    if not isinstance(follower, MirrorHook):
        raise TypeError("this memory was opened without a follower: use omoide.open")
    return follower.engine


def engine_info() -> tuple[str, int]:
    """The database engine with the version of its package, and the schema that every opened database is brought to."""
    from importlib.metadata import version  # noqa: PLC0415 - 20 ms that only stats and doctor need

    return f"SQLite (apsw {version('apsw')})", len(list(MIGRATIONS.glob("[0-9]*.sql")))
