"""Finding: recall, list, show, history, events, links."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

import msgspec

from omoide.errors import InvalidInput
from omoide.guard import bounds, permissions, validation
from omoide.model import Event, Layer, Link, Memory, Page, Query, Scope, SearchResult, State, Version
from omoide.retrieval import pipeline
from omoide.service.core import Core, Ref
from omoide.storage.base import Reader

_NUMBERS = ("to", "from", "into", "merged", "similar")
"""What the detail of an event calls other memories by their numbers under."""


class Queries(Core):
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
    ) -> SearchResult:
        """What answers the text, best first; without a text, what is newest and most used."""
        permissions.require(self._actor, "recall")
        query = text
        if not isinstance(query, Query):
            query = self._query(scope, query, type, tags, layers, states, since, limit, 0)
        query = bounds.narrow_or_refuse(self._actor, query)
        at = self._clock()
        vector = self._meaning.encode_query(query)
        with self._read(query.scope) as tx:
            found = pipeline.search(tx, query, at, vector)
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
        permissions.require(self._actor, "list")
        query = bounds.narrow_or_refuse(
            self._actor, self._query(scope, "", type, tags, layers, states, since, limit, offset)
        )
        at = self._clock()
        with self._read(scope) as tx:
            rows = tx.browse(query, at)
            for _ in zip(range(offset), rows, strict=False):
                pass
            return Page([memory for _, memory in zip(range(query.limit), rows, strict=False)], tx.count(query, at))

    def show(self, ref: Ref, *, scope: Scope) -> Memory:
        permissions.require(self._actor, "show")
        with self._read(scope) as tx:
            memory = self._find(tx, ref, scope)
        self._store.touch([memory.number], self._clock())
        return memory

    def by_key(self, key: str, *, scope: Scope) -> Sequence[Memory]:
        """All that have this key and that the scope sees, set aside or not, nearest first. Does not count as access."""
        permissions.require(self._actor, "by_key")
        with self._read(scope) as tx:
            return [*self._by_key(tx, key, scope)]

    def history(self, ref: Ref, *, scope: Scope) -> Sequence[Version]:
        """Every version, oldest first, the present one last."""
        permissions.require(self._actor, "history")
        with self._read(scope) as tx:
            return tx.versions(self._find(tx, ref, scope).number)

    def events(
        self, ref: Ref | None = None, *, scope: Scope, since: datetime | None = None, limit: int = 50
    ) -> Sequence[Event]:
        """What happened, newest first."""
        permissions.require(self._actor, "events")
        limit = validation.check_limit(limit, self._settings)
        with self._read(scope) as tx:
            number = None if ref is None else self._find(tx, ref, scope).number
            events = [event for event in tx.events(scope, number, since, limit) if self._may_know(tx, event)]
            return self._hide_unseen_numbers(tx, events, scope)

    def _may_know(self, tx: Reader, event: Event) -> bool:
        """Whether an event is of a memory within the actor's bounds. Whoever is bound hears of no others: where a memory is
        gone, or an event is about a project, nobody can tell its layer."""
        if not isinstance(self._actor, bounds.BoundActor):
            return True
        memory = None if event.memory_number is None else tx.memory(event.memory_number)
        return memory is not None and bounds.covers(self._actor, memory.scope)

    def _hide_unseen_numbers(self, tx: Reader, events: Sequence[Event], scope: Scope) -> Sequence[Event]:
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
        return [_without_numbers(event, seen) for event in events]

    def links(self, ref: Ref, *, scope: Scope) -> Sequence[Link]:
        permissions.require(self._actor, "links")
        with self._read(scope) as tx:
            number = self._find(tx, ref, scope).number
            # A global memory may be linked from any project: only the links between what the scope sees are told.
            return [link for link in tx.links(number) if self._sees_all(tx, (link.source, link.target), scope)]

    def _sees_all(self, tx: Reader, ids: Iterable[str], scope: Scope) -> bool:
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
        types = () if type is None else (validation.check_type(type, self._settings),)
        return Query(
            scope,
            asked,
            types,
            validation.check_tags(tags, self._settings),
            tuple(map(Layer, layers)),
            tuple(map(State, states)),
            validation.check_limit(limit, self._settings),
            offset,
            None if since is None else validation.check_aware(since, "since"),
        )


def _without_numbers(event: Event, seen: Collection[int]) -> Event:
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
