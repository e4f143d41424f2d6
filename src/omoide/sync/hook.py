"""The hooks by which mirrored files follow a service: edits come in before a read, changes go out after a commit.

While there is no mirror this costs one query a second, and none of the code that syncs is loaded.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from omoide.errors import OmoideError
from omoide.model import Mirror, Scope
from omoide.storage.base import Store

if TYPE_CHECKING:  # only a store that has a mirror, and a purge, need them
    from omoide.service.copies import FoundCopies, Trace
    from omoide.sync.engine import SyncEngine

_REFRESH_SECONDS = 1.0
"""Mirrors that another process adds are followed after so long at the latest."""


class MirrorHook:
    def __init__(
        self,
        store: Store,
        make_engine: "Callable[[Callable[[str], None]], SyncEngine]",
        report: Callable[[str], None],
        *,
        is_seen: bool = True,
    ):
        """Follow the mirrors of a store.

        `make_engine` is called with `report` when the first mirror needs it; `report` gets what is wrong with mirrored
        files, and must not raise. `is_seen`: whether a person sees reports at once.
        """
        self._is_seen = is_seen
        self._store = store
        self._make_engine = make_engine
        self._report = report
        self._mirrors: Sequence[Mirror] = ()
        self._refresh_at = 0.0
        self._engine: SyncEngine | None = None

    # What is wrong with a file is reported by `SyncEngine.attempt`. Only the database itself can make the first of these
    # raise, and the verb that is about to read it would fail with the same error.

    def before_read(self, scope: Scope | None) -> None:
        """Import what people changed in the files that this scope sees; None: in all of them."""
        mirrors = self._current_mirrors()
        if mirrors:
            self.engine.import_edits(mirrors, scope)

    def after_commit(self, numbers: Sequence[int] = ()) -> None:
        """Export what was written to the files that it concerns."""
        try:
            mirrors = self._current_mirrors()
            if mirrors:
                self.engine.export_changes(mirrors, numbers)
        except OmoideError as error:  # fallback: what was written is committed; the next read exports it
            self._report(str(error))

    def find_copies(self, traces: "Sequence[Trace]", remove: bool) -> "FoundCopies":
        """Find purged memories in the files of the mirrors and their backups, and remove them there if `remove`."""
        from omoide.service.copies import FoundCopies  # lazy: only a purge needs it
        from omoide.sync.file_copies import find_in_files  # lazy: the same

        mirrors = self._current_mirrors()
        if not mirrors:
            return FoundCopies([], [])
        write_block = partial(self.engine.sync, whole=True)
        return find_in_files(mirrors, self.engine.snapshot, traces, write_block, remove=remove)

    def after_mirror_change(self) -> None:
        """Look up the mirrors again at the next read or commit."""
        self._refresh_at = 0.0

    @property
    def engine(self) -> "SyncEngine":
        """The engine that syncs the mirrors of this store, created when it is first needed."""
        if self._engine is None:
            self._engine = self._make_engine(self._report)
        return self._engine

    def _current_mirrors(self) -> Sequence[Mirror]:
        now = time.monotonic()
        if now >= self._refresh_at:
            with self._store.read() as tx:
                self._mirrors = tx.mirrors()
            self._refresh_at = now + _REFRESH_SECONDS
            if self._mirrors and self._is_seen:
                self.engine.report_deletions()  # what an agent's hook or a server has imported meanwhile
        return self._mirrors
