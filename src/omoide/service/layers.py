"""Layers as a whole: what an agent needs to go on where it was, and what there is in numbers."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from itertools import islice

from omoide.errors import InvalidInput
from omoide.guard import access, bounds
from omoide.model import Layer, Memory, Query, Resumed, Scope, State, Summary
from omoide.search import text
from omoide.service import recalling
from omoide.service.base import Verbs
from omoide.store.base import Reading

_MOST_RESUMED = 1_000
_PREFERENCES = ("preference", "preferences")
_LOOKED_AT = 200  # of those that speak of a preference in their topic or tags, the newest


class Layers(Verbs):
    def resume(self, *, scope: Scope, limit: int = 20) -> Resumed:
        """The context of a session in one call, `limit` memories in each list at the most. Counts as access."""
        access.require(self._actor, "resume")
        if not 1 <= limit <= _MOST_RESUMED:
            raise InvalidInput(f"limit is {limit}: 1 to {_MOST_RESUMED:,}, please")
        at = self._clock()
        with self._reading(scope) as tx:
            resumed = _resumed(tx, scope, limit, at, partial(bounds.narrowed, self._actor))
        lists = (resumed.pinned, resumed.preferences, resumed.session, resumed.project)
        self._store.touch([memory.number for each in lists for memory in each], at)
        return resumed

    def summary(self, *, scope: Scope, layers: Sequence[Layer] = (), states: Sequence[State] = (State.ACTIVE,)) -> Summary:
        """What the scope sees, in numbers: the archive's with `states=[State.ARCHIVED]`."""
        access.require(self._actor, "summary")
        with self._reading(scope) as tx:
            query = Query(scope, layers=tuple(map(Layer, layers)), states=tuple(map(State, states)))
            return tx.summary(bounds.required(self._actor, query), self._clock())


def _resumed(tx: Reading, scope: Scope, limit: int, at: datetime, narrowed: Callable[[Query], Query | None]) -> Resumed:
    def browse(query: Query, most: int) -> list[Memory]:
        allowed = narrowed(query)
        return [] if allowed is None else list(islice(tx.browse(allowed, at), most))

    pinned = browse(Query(scope, layers=tuple(Layer), pinned=True), limit)
    taken = {memory.number for memory in pinned}

    def rest(memories: Sequence[Memory]) -> list[Memory]:
        chosen = [memory for memory in memories if memory.number not in taken][:limit]
        taken.update(memory.number for memory in chosen)
        return chosen

    # As many more as other lists may have taken.
    preferred = Query(scope, types=("preference",), layers=(Layer.PROJECT, Layer.EVERYWHERE))
    preferences = [*browse(preferred, 2 * limit), *_tagged_preferences(tx, scope, at, narrowed)]
    preferences.sort(key=lambda memory: (memory.updated_at, memory.number), reverse=True)
    preferences = rest(preferences)
    session: list[Memory] = []
    if scope.name:
        session = rest(browse(Query(scope, layers=(Layer.SESSION,)), 2 * limit))
    own = Layer.PROJECT if scope.path else Layer.EVERYWHERE
    newest = narrowed(Query(scope, layers=(own,), limit=3 * limit))
    project = [] if newest is None else rest(recalling.freshest(tx, newest, at))
    return Resumed(pinned, preferences, session, project)


def _tagged_preferences(tx: Reading, scope: Scope, at: datetime, narrowed: Callable[[Query], Query | None]) -> list[Memory]:
    """Entries have tags and no type, so a preference among them says so in a tag."""
    query = narrowed(Query(scope, layers=(Layer.PROJECT, Layer.EVERYWHERE)))
    if query is None:
        return []
    stem = text.stem(_PREFERENCES[0])
    near = tx.holders(query, [stem], _LOOKED_AT, titled=True)[stem]
    tagged = tx.memories([*tx.lengths(query, near, at)])
    return [
        memory
        for memory in tagged
        if memory.type != "preference" and not {tag.casefold() for tag in memory.tags}.isdisjoint(_PREFERENCES)
    ]
