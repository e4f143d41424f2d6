"""Layers as a whole: what an agent needs to go on where it was, and what there is in numbers."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import islice

import msgspec

from omoide.errors import InvalidInput
from omoide.guard import bounds, permissions
from omoide.model import Layer, Memory, Query, ResumeContext, Role, Scope, State, Summary
from omoide.retrieval import analyzer, pipeline
from omoide.service.core import Core
from omoide.storage.base import Reader

_MOST_RESUMED = 1_000
_PREFERENCES = ("preference", "preferences")
_LOOKED_AT = 10_000  # of those that speak of a preference in their topic or tags, the newest
_AT_ONCE = 200
_TRUSTED = (Role.OWNER, Role.ADMIN)
_UNTRUSTED = (Role.WORKER,)


class Layers(Core):
    def resume(self, *, scope: Scope, limit: int = 20) -> ResumeContext:
        """The context of a session in one call, `limit` memories in each list at the most. Counts as access."""
        permissions.require(self._actor, "resume")
        if not 1 <= limit <= _MOST_RESUMED:
            raise InvalidInput(f"limit is {limit}: 1 to {_MOST_RESUMED:,}, please")
        at = self._clock()
        with self._read(scope) as tx:
            resumed = _resume(tx, scope, limit, at, partial(bounds.narrow, self._actor))
        lists = (
            resumed.pinned, resumed.preferences, resumed.session, resumed.project, resumed.agent_preferences,
        )  # fmt: skip
        self._store.touch([memory.number for each in lists for memory in each], at)
        return resumed

    def summary(self, *, scope: Scope, layers: Sequence[Layer] = (), states: Sequence[State] = (State.ACTIVE,)) -> Summary:
        """What the scope sees, in numbers: the archive's with `states=[State.ARCHIVED]`."""
        permissions.require(self._actor, "summary")
        with self._read(scope) as tx:
            query = Query(scope, layers=tuple(map(Layer, layers)), states=tuple(map(State, states)))
            return tx.summary(bounds.narrow_or_refuse(self._actor, query), self._clock())


def _resume(tx: Reader, scope: Scope, limit: int, at: datetime, narrowed: Callable[[Query], Query | None]) -> ResumeContext:
    def browse(query: Query, most: int) -> list[Memory]:
        allowed = narrowed(query)
        return [] if allowed is None else list(islice(tx.browse(allowed, at), most))

    pinned = browse(Query(scope, layers=tuple(Layer), pinned=True), limit)
    taken = {memory.number for memory in pinned}

    def rest(memories: Sequence[Memory]) -> list[Memory]:
        chosen = [memory for memory in memories if memory.number not in taken][:limit]
        taken.update(memory.number for memory in chosen)
        return chosen

    preferences = rest(_preferences(tx, scope, _TRUSTED, limit, at, narrowed))
    agent_preferences = rest(_preferences(tx, scope, _UNTRUSTED, limit, at, narrowed))
    session: list[Memory] = []
    if scope.name:
        session = rest(browse(Query(scope, layers=(Layer.SESSION,)), 2 * limit))
    own = Layer.PROJECT if scope.path else Layer.EVERYWHERE
    newest = narrowed(Query(scope, layers=(own,), limit=3 * limit))
    project = [] if newest is None else rest(pipeline.newest(tx, newest, at))
    return ResumeContext(pinned, preferences, session, project, agent_preferences)


def _preferences(
    tx: Reader, scope: Scope, roles: tuple[Role, ...], limit: int, at: datetime, narrowed: Callable[[Query], Query | None]
) -> list[Memory]:
    """The preferences that were written in one of these roles, last changed first."""
    query = narrowed(Query(scope, layers=(Layer.PROJECT, Layer.EVERYWHERE), roles=roles))
    if query is None:
        return []
    typed = msgspec.structs.replace(query, types=("preference",))
    # As many more as other lists may have taken.
    found = [*islice(tx.browse(typed, at), 2 * limit), *islice(_tagged_preferences(tx, query, at), 2 * limit)]
    return sorted(found, key=lambda memory: (memory.updated_at, memory.number), reverse=True)


def _tagged_preferences(tx: Reader, query: Query, at: datetime) -> Iterator[Memory]:
    """Entries have tags and no type, so a preference among them says so in a tag."""
    stem = analyzer.stem(_PREFERENCES[0])
    near = tx.posting_numbers(query, [stem], _LOOKED_AT, titled=True)[stem]
    for start in range(0, len(near), _AT_ONCE):
        for memory in tx.memories([*tx.lengths(query, near[start : start + _AT_ONCE], at)]):
            if memory.type != "preference" and not {tag.casefold() for tag in memory.tags}.isdisjoint(_PREFERENCES):
                yield memory
