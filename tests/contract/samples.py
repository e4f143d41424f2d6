"""Sample memories with terms of their own, so that no test of a store depends on how texts are analysed."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from omoide import model
from omoide.model import Actor, Memory, Scope, State
from omoide.storage.base import IndexEntry, Reader, Store
from omoide.storage.capabilities import Integrity, Problem

START = datetime(2026, 2, 5, 10, 0, 0, 123456, UTC)
ALICE = Actor("alice", via="test")
EVERYWHERE = Scope.everywhere()


class Samples:
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
        }  # several entries per line  # fmt: skip
        return Memory(**{**plain, **fields})

    def add(
        self, content: str, scope: Scope = EVERYWHERE, *, fingerprint: int = 0, actor: Actor = ALICE, **fields: Any
    ) -> Memory:
        draft = self.draft(content, scope, **fields)
        with self.store.write() as tx:
            (added,) = tx.add([(draft, fingerprint, self.index_entry(draft))], actor)
            tx.add_event("remembered", actor, self.now, added, {})
        return added

    def change(self, old: Memory, *, fingerprint: int = 0, actor: Actor = ALICE, **fields: Any) -> Memory:
        new = msgspec.structs.replace(old, version=old.version + 1, updated_at=self.step(), **fields)
        with self.store.write() as tx:
            tx.change([(old, new, fingerprint, self.index_entry(new))], actor)
            tx.add_event("changed", actor, self.now, new, {"version": new.version})
        return new

    def erase(self, memory: Memory, actor: Actor = ALICE) -> None:
        with self.store.write() as tx:
            tx.erase(memory.number)
            tx.add_event("purged", actor, self.step(), memory, {"id": memory.id})

    def index_entry(self, memory: Memory) -> IndexEntry:
        topic, tags, content = memory.topic.split(), list(memory.tags), memory.content.split()
        length = len(topic) + len(tags) + len(content)
        return IndexEntry(
            " ".join(topic), " ".join(tags), " ".join(content), length, blocking_key=len(content[0]) if content else 0
        )

    def index_input(self, memory: Memory) -> tuple[int, IndexEntry]:
        """What `check` and `rebuild` ask for."""
        return 0, self.index_entry(memory)

    def ask(self, question: Callable[[Reader], Any]) -> Any:
        with self.store.read() as tx:
            return question(tx)

    def problems(self) -> list[Problem]:
        """What a check finds; nothing where the store has none."""
        return self.store.check() if isinstance(self.store, Integrity) else []
