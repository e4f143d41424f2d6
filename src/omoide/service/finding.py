"""Finding: recall, list, show, history, events, links."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

import msgspec

from omoide.errors import InvalidInput
from omoide.guard import access, bounds, checks
from omoide.model import Event, Found, Layer, Link, Memory, Page, Query, Scope, State, Version
from omoide.service import recalling
from omoide.service.base import Ref, Verbs
from omoide.store.base import Reading

_NUMBERS = ("to", "from", "into", "merged", "similar")
"""What the detail of an event calls other memories by their numbers under."""


class Finding(Verbs):
    def recall(
        self,
        text: str | Query = "",
        *,
        scope: Scope | None = None,
        type: str | None = None,
        tags: Sequence[str] = (),
        layers: Sequence[Layer] = (),
        states: Sequence[State] = (State.ACTIVE,),
        since: datetime | None = None,
        limit: int | None = None,
    ) -> Found:
        """What answers the text, best first; without a text, what is newest and most used."""
        access.require(self._actor, "recall")
        query = text
        if not isinstance(query, Query):
            query = self._query(scope, query, type, tags, layers, states, since, limit, 0)
        query = bounds.required(self._actor, query)
        at = self._clock()
        sense = self._meaning.sense(query, at)
        with self._reading(query.scope) as tx:
            found = recalling.found(tx, query, at, sense)
        self._store.touch([hit.memory.number for hit in found.hits], at)
        return found

    def list(
        self,
        *,
        scope: Scope,
        type: str | None = None,
        tags: Sequence[str] = (),
        layers: Sequence[Layer] = (),
        states: Sequence[State] = (State.ACTIVE,),
        since: datetime | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> Page:
        """Page by page through what the scope sees, last changed first. Does not count as access."""
        access.require(self._actor, "list")
        query = bounds.required(self._actor, self._query(scope, "", type, tags, layers, states, since, limit, offset))
        at = self._clock()
        with self._reading(scope) as tx:
            rows = tx.browse(query, at)
            for _ in zip(range(offset), rows, strict=False):
                pass
            return Page([memory for _, memory in zip(range(query.limit), rows, strict=False)], tx.count(query, at))

    def show(self, ref: Ref, *, scope: Scope) -> Memory:
        access.require(self._actor, "show")
        with self._reading(scope) as tx:
            memory = self._find(tx, ref, scope)
        self._store.touch([memory.number], self._clock())
        return memory

    def named(self, key: str, *, scope: Scope) -> Sequence[Memory]:
        """All that have this key and that the scope sees, set aside or not, nearest first. Does not count as access."""
        access.require(self._actor, "named")
        with self._reading(scope) as tx:
            return [*self._keyed(tx, key, scope)]

    def history(self, ref: Ref, *, scope: Scope) -> Sequence[Version]:
        """Every version, oldest first, the present one last."""
        access.require(self._actor, "history")
        with self._reading(scope) as tx:
            return tx.versions(self._find(tx, ref, scope).number)

    def events(
        self, ref: Ref | None = None, *, scope: Scope, since: datetime | None = None, limit: int = 50
    ) -> Sequence[Event]:
        """What happened, newest first."""
        access.require(self._actor, "events")
        limit = checks.limit(limit, self._settings)
        with self._reading(scope) as tx:
            number = None if ref is None else self._find(tx, ref, scope).number
            events = [event for event in tx.events(scope, number, since, limit) if self._may_know(tx, event)]
            return self._without_unseen(tx, events, scope)

    def _may_know(self, tx: Reading, event: Event) -> bool:
        """Whether an event is of a memory within the actor's bounds. Whoever is bound hears of no others: where a memory is
        gone, or an event is about a project, nobody can tell its layer."""
        if not isinstance(self._actor, bounds.BoundActor):
            return True
        memory = None if event.memory_number is None else tx.memory(event.memory_number)
        return memory is not None and bounds.covers(self._actor, memory.scope)

    def _without_unseen(self, tx: Reading, events: Sequence[Event], scope: Scope) -> Sequence[Event]:
        """The events without the numbers of memories that the reader does not see: a global memory may be linked with one of
        any project."""
        named = {number for event in events for name in _NUMBERS for number in _numbers(event.detail.get(name))}
        if not named:
            return list(events)
        present = tx.memories(sorted(named))
        seen = {memory.number for memory in present if self._visible(memory, scope)}
        # What is purged has left its events, which say where it was.
        for number in named - {memory.number for memory in present}:
            if any(self._may_know(tx, event) for event in tx.events(scope, number, None, 1)):
                seen.add(number)
        return [_limited(event, seen) for event in events]

    def links(self, ref: Ref, *, scope: Scope) -> Sequence[Link]:
        access.require(self._actor, "links")
        with self._reading(scope) as tx:
            number = self._find(tx, ref, scope).number
            # A global memory may be linked from any project: only the links between what the scope sees are told.
            return [link for link in tx.links(number) if self._seen(tx, (link.source, link.target), scope)]

    def _seen(self, tx: Reading, ids: Iterable[str], scope: Scope) -> bool:
        return all((memory := tx.by_id(id)) is not None and self._visible(memory, scope) for id in ids)

    def _query(
        self,
        scope: Scope | None,
        asked: str,
        type: str | None,
        tags: Sequence[str],
        layers: Sequence[Layer],
        states: Sequence[State],
        since: datetime | None,
        limit: int | None,
        offset: int,
    ) -> Query:
        if scope is None:
            raise InvalidInput("say where to look: scope=Scope.everywhere(), Scope.project(…) or Scope.session(…)")
        types = () if type is None else (checks.type_name(type, self._settings),)
        return Query(
            scope, asked, types, checks.tags(tags, self._settings), tuple(map(Layer, layers)), tuple(map(State, states)),
            checks.limit(limit, self._settings), offset, None if since is None else checks.aware(since, "since"),
        )  # fmt: skip


def _limited(event: Event, seen: Collection[int]) -> Event:
    detail: dict[str, object] = {}
    for name, value in event.detail.items():
        if name not in _NUMBERS:
            detail[name] = value
        elif kept := [number for number in _numbers(value) if number in seen]:
            detail[name] = kept if isinstance(value, list) else value
    return msgspec.structs.replace(event, detail=detail)


def _numbers(value: object) -> list[int]:
    """The numbers in a value of an event's detail: one, or several."""
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, int)]
