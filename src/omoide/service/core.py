"""What all verbs share: the store, the settings, who acts, and how a caller's word for a memory is understood."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import Protocol

import msgspec

from omoide import model
from omoide.embeddings.indexer import EmbeddingIndex
from omoide.errors import Conflict, InvalidInput, NotFound
from omoide.guard import bounds, permissions, validation
from omoide.model import Actor, Memory, Scope, fields
from omoide.service import versioning
from omoide.settings import Settings
from omoide.storage.base import IndexEntry, Reader, Store, Writer

Ref = str | int
"""What a caller calls a memory by: its id, its number, or its key in the scope."""


class FileHook(Protocol):
    """Who keeps files in step with the store. It never raises: what is wrong with a file is nothing that a verb does."""

    def before_reading(self, scope: Scope | None) -> None:
        """What people changed in the files that this scope sees comes in; None: in all of them."""

    def after_writing(self) -> None:
        """What was written goes out."""

    def invalidate(self) -> None: ...


class Core:
    def __init__(
        self,
        store: Store,
        settings: Settings,
        actor: Actor,
        clock: Callable[[], datetime] = model.now,
        follower: FileHook | None = None,
        meaning: EmbeddingIndex | None = None,
    ):
        self._store = store
        self._meaning = meaning or EmbeddingIndex(store, settings, background=False)
        self._settings = settings
        self._actor = validation.check_actor(actor)
        self._clock = clock
        self._follower = follower

    def _read(self, scope: Scope | None) -> AbstractContextManager[Reader]:
        if scope is not None:
            bounds.require_place(self._actor, scope)
        if self._follower is not None:
            self._follower.before_reading(scope)
        return self._store.read()

    @contextmanager
    def _write(self) -> Iterator[Writer]:
        with self._store.write() as tx:
            yield tx
        if self._follower is not None:
            self._follower.after_writing()

    def _require_expiry_right(self, old: Memory, new: Memory) -> None:
        """Setting or shortening the expiry of a memory takes it away later: it needs the right to archive."""
        if new.expires_at is not None and (old.expires_at is None or new.expires_at < old.expires_at):
            permissions.require(self._actor, "archive", f"archive #{old.number} or let it expire earlier")

    def _find(self, tx: Reader, ref: Ref, scope: Scope) -> Memory:
        """The memory a caller means. One that the scope may not see is missing, in the same words."""
        bounds.require_place(self._actor, scope)
        for memory in self._candidates_for(tx, ref, scope):
            if memory is not None and self._visible(memory, scope):
                return memory
        raise NotFound(f"there is no memory {ref!s:.100} in {scope}: recall, or list, shows what there is")

    def _visible(self, memory: Memory, scope: Scope) -> bool:
        return scope.sees(memory.scope) and bounds.covers(self._actor, memory.scope)

    def _candidates_for(self, tx: Reader, ref: Ref, scope: Scope) -> Iterator[Memory | None]:
        """By id, by number, then by key, nearest first; by the key of a forgotten one if no living one has it."""
        word = str(ref)
        if len(word) == 36 and word.count("-") == 4 and word.isascii():
            yield tx.memory(word.lower())
        number = word.removeprefix("#")
        if number.isascii() and number.isdigit() and len(number) < 10:
            numbered = tx.memory(int(number))
            if numbered is not None and number == ref and self._visible(numbered, scope):
                _require_unambiguous(numbered, self._by_key(tx, word, scope))
            yield numbered
        yield from self._by_key(tx, word, scope)
        yield from self._by_key(tx, word, scope, forgotten=True)

    def _by_key(self, tx: Reader, word: str, scope: Scope, *, forgotten: bool = False) -> Iterator[Memory]:
        """Those with this key that the scope sees, nearest first."""
        try:
            key = model.check_segment(word, "key")
        except InvalidInput:  # plan B: no memory can have such a key
            return
        for place in dict.fromkeys((scope, Scope(scope.path), Scope.everywhere())):
            memory = tx.by_key(place, key, forgotten=forgotten)
            if memory is not None and bounds.covers(self._actor, memory.scope):
                yield memory

    def _require_layer(self, scope: Scope) -> None:
        """A worker writes to the global layer only where settings let it."""
        permissions.require_layer(self._actor, scope, workers_global=self._settings.workers_global)

    def _add(self, tx: Writer, memory: Memory, words: IndexEntry) -> Memory:
        self._require_layer(memory.scope)
        return tx.add(memory, versioning.memory_fingerprint(memory), words, self._actor)

    def _change(
        self, tx: Writer, old: Memory, new: Memory, action: str, at: datetime, author: Actor | None = None
    ) -> Memory:
        """Put the new in the place of the old, written by this author; None: by the actor, if it says something else."""
        self._require_expiry_right(old, new)
        self._require_layer(old.scope)
        self._require_layer(new.scope)
        if author is None:
            author = self._actor if any(getattr(old, name) != getattr(new, name) for name in fields.AUTHORED) else old.author
        new = msgspec.structs.replace(new, author=author)
        if action != "imported":
            new = versioning.next_version(old, new, at)
        else:
            new = msgspec.structs.replace(new, version=max(new.version, old.version + 1))
        tx.change(old, new, versioning.memory_fingerprint(new), versioning.build_index_entry(new), self._actor)
        self._log_change(tx, old, new, action, at)
        return new

    def _log_change(self, tx: Writer, old: Memory, new: Memory, action: str, at: datetime) -> None:
        changed = [
            name for name in Memory.__struct_fields__ if name in fields.LOGGED and getattr(old, name) != getattr(new, name)
        ]
        tx.add_event(action, self._actor, at, new, {"fields": changed, "version": new.version})


def _require_unambiguous(numbered: Memory, keyed: Iterator[Memory]) -> None:
    """Digits may be a number and a key: what is meant is not guessed."""
    other = next(keyed, numbered)
    if other.number != numbered.number:
        raise Conflict(f"{other.key} is the number of one memory and the key of #{other.number}: say which, with its #")
