"""What all verbs share: the store, the settings, the acting actor, and how a reference to a memory is resolved."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from omoide import model
from omoide.embeddings.indexer import EmbeddingIndex
from omoide.errors import Changed, Conflict, InvalidInput, NotFound
from omoide.guard import permissions, validation
from omoide.llm.client import ModelClient
from omoide.model import Actor, Memory, Project, Scope
from omoide.service.hooks import Hooks
from omoide.settings import Settings
from omoide.storage.base import Reader, Store

if TYPE_CHECKING:  # what only reads needs none of it
    from omoide.service.idempotency import IdempotencyKey
    from omoide.service.write_path import WritePath

Ref = str | int
"""How a caller refers to a memory: by its id, its number (`12` or `"#12"`), or its key in the scope."""


class Core:
    """What every part of the service shares: the store, the settings, the actor, the write path and the hooks."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        actor: Actor,
        clock: Callable[[], datetime] = model.now,
        hooks: Hooks | None = None,
        embeddings: EmbeddingIndex | None = None,
        llm: ModelClient | None = None,
        key: "IdempotencyKey | None" = None,
    ):
        """Act on a store as one actor. `omoide.open` composes a service; only tests and `app` call this.

        `clock`: returns the current time. `hooks`: run before reads and after commits; None: there are none. `embeddings`:
        encodes questions and makes vectors; None: no vectors are made in the background. `llm`: asks the language model;
        None: that of the settings. `key`: that of the one operation that the service is for: see `with_idempotency_key`.
        """
        self._store = store
        self._embeddings = embeddings or EmbeddingIndex(store, settings, background=False)
        self._llm = llm or ModelClient(store, settings, clock)
        self._settings = settings
        self._actor = validation.check_actor(actor)
        self._clock = clock
        self._hooks = hooks or Hooks()
        self._key = key

    @cached_property
    def _writes(self) -> "WritePath":
        """How the actor stores and changes memories."""
        from omoide.service.write_path import WritePath  # lazy: see the top

        return WritePath(self._store, self._settings, self._actor, self._clock, self._hooks, self._key)

    def _read(self, scope: Scope | None) -> AbstractContextManager[Reader]:
        """Open a reading transaction, after the hooks that bring the scope up to date; None: every scope."""
        if scope is not None:
            permissions.require_place(self._actor, scope)
        self._hooks.before_read(scope)
        return self._store.read()

    def _find(self, tx: Reader, ref: Ref, scope: Scope) -> Memory:
        """The memory that a caller refers to. One that the scope may not see is missing, with the same message."""
        permissions.require_place(self._actor, scope)
        for memory in self._candidates_for(tx, ref, scope):
            if memory is not None and self._is_visible(memory, scope):
                return memory
        raise NotFound(f"there is no memory {ref!s:.100} in {scope}: recall, or list, shows what there is")

    def _find_version(self, tx: Reader, ref: Ref, scope: Scope, version: int | None) -> Memory:
        """The memory that a caller refers to. Raises Changed unless it is at this version, where one is given."""
        memory = self._find(tx, ref, scope)
        if version is not None and memory.version != version:
            raise Changed(f"#{memory.number} is at version {memory.version}, not {version}: read it again, then change it")
        return memory

    def _is_visible(self, memory: Memory, scope: Scope) -> bool:
        return scope.sees(memory.scope) and permissions.covers(self._actor, memory.scope)

    def _hide_past_scope(self, version: Memory, current: Memory, scope: Scope) -> Memory:
        """A past version of a memory; with the present scope, if the reader does not see the scope from which it came."""
        return version if self._is_visible(version, scope) else msgspec.structs.replace(version, scope=current.scope)

    def _candidates_for(self, tx: Reader, ref: Ref, scope: Scope) -> Iterator[Memory | None]:
        """By id, by number, then by key, nearest first; by the key of a forgotten one if no living one has it."""
        text = str(ref)
        if len(text) == 36 and text.count("-") == 4 and text.isascii():
            yield tx.memory(text.lower())
        number = text.removeprefix("#")
        if number.isascii() and number.isdigit() and len(number) < 10:
            numbered = tx.memory(int(number))
            if numbered is not None and number == ref and self._is_visible(numbered, scope):
                _require_unambiguous(numbered, self._by_key(tx, text, scope))
            yield numbered
        yield from self._by_key(tx, text, scope)
        yield from self._by_session_key(tx, text, scope)
        yield from self._by_key(tx, text, scope, forgotten=True)

    def _by_key(self, tx: Reader, text: str, scope: Scope, *, forgotten: bool = False) -> Iterator[Memory]:
        """The memories with this key that the scope sees, nearest first."""
        try:
            key = model.check_segment(text, "key")
        except InvalidInput:  # fallback: no memory can have such a key
            return
        for place in dict.fromkeys((scope, Scope(scope.path), Scope.everywhere())):
            memory = tx.by_key(place, key, forgotten=forgotten)
            if memory is not None and permissions.covers(self._actor, memory.scope):
                yield memory

    def _by_session_key(self, tx: Reader, text: str, scope: Scope) -> list[Memory]:
        """The memory with this key in one of the sessions that a project sees. Raises Conflict if several have it."""
        found = self._in_sessions(tx, text, scope)
        if len(found) > 1:
            sessions = ", ".join(memory.scope.name for memory in found)
            raise Conflict(
                f"key {text!s:.100} is in several sessions ({sessions}): name the session, or the memory's number"
            )
        return found

    def _in_sessions(self, tx: Reader, text: str, scope: Scope) -> list[Memory]:
        """The memories with this key in the sessions of a project; none for a scope that is a session itself."""
        if not scope.path or scope.name:
            return []
        try:
            key = model.check_segment(text, "key")
        except InvalidInput:  # fallback: no memory can have such a key
            return []
        return [memory for memory in tx.by_key_in_sessions(scope, key) if permissions.covers(self._actor, memory.scope)]


def _require_unambiguous(numbered: Memory, keyed: Iterator[Memory]) -> None:
    """Raise Conflict where digits are the number of one memory and the key of another."""
    other = next(keyed, numbered)
    if other.number != numbered.number:
        raise Conflict(f"{other.key} is the number of one memory and the key of #{other.number}: say which, with its #")


def require_project(tx: Reader, path: str) -> Project:
    """Return the project with this path; raise NotFound if there is none."""
    project = tx.project(path)
    if project is None:
        raise NotFound(f"there is no project {path}: `omoide project list` shows those there are")
    return project
