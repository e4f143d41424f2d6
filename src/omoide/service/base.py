"""What all verbs share: the store, the settings, who acts, and how a caller's word for a memory is understood."""

from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec

from omoide import model
from omoide.config import Settings
from omoide.errors import NotFound
from omoide.model import Actor, Memory, Scope
from omoide.service import shape
from omoide.store.base import Reading, Store, Words, Writing

Ref = str | int
"""What a caller calls a memory by: its id, its number, or its key in the scope."""

_TICK = timedelta(microseconds=1)
_UNTOLD = ("reference_count", "updated_at", "version", "last_accessed_at")


class Verbs:
    def __init__(self, store: Store, settings: Settings, actor: Actor, clock: Callable[[], datetime] = model.now):
        self._store = store
        self._settings = settings
        self._actor = actor
        self._clock = clock

    def _find(self, tx: Reading, ref: Ref, scope: Scope) -> Memory:
        """The memory a caller means. One that the scope may not see is missing, in the same words."""
        memory = None
        if isinstance(ref, str) and len(ref) == 36 and ref.count("-") == 4:
            memory = tx.by_id(ref.lower())
        number = str(ref).removeprefix("#")
        if memory is None and number.isascii() and number.isdigit() and len(number) < 10:
            memory = tx.memory(int(number))
        if memory is None and isinstance(ref, str):
            for place in dict.fromkeys((scope, Scope(scope.path), Scope.everywhere())):
                memory = memory or tx.by_key(place, ref)
        if memory is None or not scope.sees(memory.scope):
            raise NotFound(f"there is no memory {ref} in {scope}: `omoide list` shows what there is")
        return memory

    def _add(self, tx: Writing, memory: Memory, words: Words) -> Memory:
        return tx.add(memory, shape.twin_of(memory), words, self._actor)

    def _change(self, tx: Writing, old: Memory, new: Memory, deed: str, at: datetime) -> Memory:
        fields = [
            name
            for name in Memory.__struct_fields__
            if name not in _UNTOLD and getattr(old, name) != getattr(new, name)
        ]
        if deed != "imported":
            # Later than before even if the clock went back, so that the order of versions is the order of their times.
            new = msgspec.structs.replace(new, version=old.version + 1, updated_at=max(at, old.updated_at + _TICK))
        else:
            new = msgspec.structs.replace(new, version=max(new.version, old.version + 1))
        tx.change(old, new, shape.twin_of(new), shape.words(new), self._actor)
        tx.log(deed, self._actor, at, new, {"fields": fields, "version": new.version})
        return new
