"""The SQLite store as a backend of the contract."""

from pathlib import Path
from typing import ClassVar

from omoide.storage.base import Store
from omoide.storage.sqlite.store import SqliteStore


class Backend:
    """What the contract asks of a backend: see `contract/conftest.py`."""

    lacks: ClassVar[dict[str, str]] = {}

    def __init__(self, directory: Path) -> None:
        self.path = directory / "store.db"
        self._opened: list[SqliteStore] = []

    def open(self, wait: float = 5) -> Store:
        self._opened.append(SqliteStore(self.path, wait))
        return self._opened[-1]

    def open_copy(self, path: Path) -> Store:
        self._opened.append(SqliteStore(path))
        return self._opened[-1]

    def close(self) -> None:
        for store in self._opened:
            store.close()
