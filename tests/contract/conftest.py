"""The backends that keep the contract. A new one adds its class to BACKENDS, and nothing else changes."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

from omoide import model
from omoide.model import Actor, Memory, Scope, State
from omoide.storage.base import IndexEntry, Reader, Store
from omoide.storage.sqlite.store import SqliteStore

START = datetime(2026, 2, 5, 10, 0, 0, 123456, UTC)
ALICE = Actor("alice", via="test")
EVERYWHERE = Scope.everywhere()


class Sqlite:
    def __init__(self, directory: Path) -> None:
        self._path = directory / "store.db"
        self._opened: list[SqliteStore] = []

    def open(self, wait: float = 5) -> Store:
        """Another connection to the same store."""
        self._opened.append(SqliteStore(self._path, wait))
        return self._opened[-1]

    def open_copy(self, path: Path) -> Store:
        self._opened.append(SqliteStore(path))
        return self._opened[-1]

    def lose_words(self, number: int) -> None:
        """Breaks the index behind the store's back: the words of one memory are gone."""
        connection = apsw.Connection(str(self._path))
        connection.execute("DELETE FROM words WHERE rowid & 0xffffffff = ?", (number,))
        connection.close()

    def lose_sizes(self) -> None:
        connection = apsw.Connection(str(self._path))
        connection.execute("DELETE FROM areas")
        connection.close()

    def close(self) -> None:
        for store in self._opened:
            store.close()


BACKENDS = {"sqlite": Sqlite}


class Shelf:
    """Puts memories into a store with plain words of their own, so that no test depends on how texts are analysed."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.now = START

    def step(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def draft(self, content: str, scope: Scope = EVERYWHERE, **fields: Any) -> Memory:
        at = self.step()
        plain: dict[str, Any] = {
            "id": model.new_id(at), "number": 0, "scope": scope, "key": None, "type": "note", "topic": "",
            "topic_given": True, "content": content, "tags": (), "examples": (), "source": "test", "confidence": 1.0,
            "relevance": 0.5, "reference_count": 0, "pinned": False, "state": State.ACTIVE, "created_at": at,
            "updated_at": at, "last_accessed_at": None, "expires_at": None, "version": 1,
        }  # fmt: skip
        return Memory(**{**plain, **fields})

    def keep(self, content: str, scope: Scope = EVERYWHERE, *, twin: int = 0, actor: Actor = ALICE, **fields: Any) -> Memory:
        draft = self.draft(content, scope, **fields)
        with self.store.write() as tx:
            (kept,) = tx.add([(draft, twin, self.words(draft))], actor)
            tx.add_event("remembered", actor, self.now, kept, {})
        return kept

    def change(self, old: Memory, *, twin: int = 0, actor: Actor = ALICE, **fields: Any) -> Memory:
        new = msgspec.structs.replace(old, version=old.version + 1, updated_at=self.step(), **fields)
        with self.store.write() as tx:
            tx.change([(old, new, twin, self.words(new))], actor)
            tx.add_event("changed", actor, self.now, new, {"version": new.version})
        return new

    def erase(self, memory: Memory, actor: Actor = ALICE) -> None:
        with self.store.write() as tx:
            tx.erase(memory.number)
            tx.add_event("purged", actor, self.step(), memory, {"id": memory.id})

    def words(self, memory: Memory) -> IndexEntry:
        topic, tags, content = memory.topic.split(), list(memory.tags), memory.content.split()
        length = len(topic) + len(tags) + len(content)
        return IndexEntry(
            " ".join(topic), " ".join(tags), " ".join(content), length, blocking_key=len(content[0]) if content else 0
        )

    def expected(self, memory: Memory) -> tuple[int, IndexEntry]:
        """What `check` and `rebuild` ask for."""
        return 0, self.words(memory)

    def ask(self, question: Callable[[Reader], Any]) -> Any:
        with self.store.read() as tx:
            return question(tx)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sqlite]:
    backend = BACKENDS[request.param](tmp_path)
    yield backend
    backend.close()


@pytest.fixture
def store(backend: Sqlite) -> Store:
    return backend.open()


@pytest.fixture
def shelf(store: Store) -> Shelf:
    return Shelf(store)
