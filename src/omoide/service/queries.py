"""Read memories: recall, list, show, history, events, links, resume, summary."""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import NamedTuple

import msgspec

from omoide.errors import InvalidInput
from omoide.guard import permissions, validation
from omoide.model import (
    Event,
    Layer,
    Memory,
    Page,
    Query,
    ResumeContext,
    Role,
    Scope,
    SearchResult,
    Source,
    State,
    Summary,
    Version,
    require_source,
)
from omoide.service.core import Core, Ref
from omoide.storage.base import Reader

_ACTIVE = (State.ACTIVE,)
_NUMBERS = ("to", "from", "into", "merged", "similar")
"""The keys in the detail of an event whose values are numbers of other memories."""

_RUN = "run"
"""The key in the detail of an event whose value is the id of a run."""

_MAX_RESUMED = 1_000
_PREFERENCES = ("preference", "preferences")
_MAX_PREFERENCE_CANDIDATES = 10_000
"""Memories with a preference in their topic or tags that are looked at, newest first."""
_BATCH = 200
_TRUSTED = (Role.OWNER, Role.ADMIN)
_UNTRUSTED = (Role.WORKER,)


class EventBatch(NamedTuple):
    """Some of the events after a number."""

    events: Sequence[Event]
    """Those that the actor may know of."""
    last: int
    """The number of the last event that was looked at: ask for those after it next."""


class Queries(Core):
    """Operations that find and show memories."""

    def recall(
        self,
        text: str | Query = "",
        *,
        scope: Scope | None = None,
        type: str | None = None,
        tags: Sequence[str] = (),
        layers: Sequence[Layer] = (),
        states: Sequence[State] = _ACTIVE,
        since: datetime | None = None,
        limit: int | None = None,
        min_score: float | None = None,
    ) -> SearchResult:
        """Search the memories that the scope sees, best first; without a text, return the newest and most used.

        `text`: a question or words; or a whole `Query`: then no other parameter is allowed.
        `scope`: where to look from: it sees its project with all sessions, and the global layer. Required.
        `type`: only memories of this type.
        `tags`: only memories with all of these tags; case is ignored.
        `layers`: only these layers; by default all that the scope sees.
        `states`: only memories in these states; by default active ones.
        `since`: only memories that changed at or after this time, which has a time zone.
        `limit`: how many at most; by default that of the settings.
        `min_score`: return nothing if the best hit scores less; 0: never; by default the setting `min_score`. A program
        that adds memories to prompts automatically gives `settings.inject_min_score`. Without a text it has no effect.

        Returns the hits with their scores and the evidence for each: the score of the first is the probability that the
        memories answer the question, the others follow it in proportion. If nothing is relevant, there are no hits, and
        `best_below` is the score that was too low. Every hit counts as accessed. Raises InvalidInput and NotAllowed.
        """
        from omoide.retrieval import pipeline  # lazy: what lists or shows memories needs no search

        permissions.require(self._actor, "recall")
        if isinstance(text, Query):
            beside = {"scope": scope, "type": type, "tags": tags, "layers": layers, "since": since, "limit": limit}
            validation.require_alone("Query", **beside, min_score=min_score, states=() if states == _ACTIVE else states)
            query = text
        else:
            least = self._settings.min_score if min_score is None else validation.check_share(min_score, "min_score")
            query = self._query(scope, text, type, tags, layers, states, since, limit, 0, least)
        query = permissions.narrow_or_refuse(self._actor, query)
        at = self._clock()
        vector = self._embeddings.encode_query(query)
        with self._read(query.scope) as tx:
            result = pipeline.search(tx, query, at, vector)
        self._store.touch([hit.memory.number for hit in result.hits], at)
        return result

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
        before: tuple[datetime, int] | None = None,
        total: bool = True,
    ) -> Page:
        """List the memories that the scope sees, last changed first, page by page. Does not count as access.

        `type`, `tags`, `layers`, `states`, `since`, `limit`: as in `recall`. `offset`: how many memories to skip. `before`:
        only memories that come after the one with this time of its last change and this number, so that no memory is listed
        twice while others change. `total`: whether to count all memories that match, which takes longer than a page.

        Returns the page and the number of all that match; -1 without `total`. Raises InvalidInput and NotAllowed.
        """
        permissions.require(self._actor, "list")
        query = permissions.narrow_or_refuse(
            self._actor, self._query(scope, "", type, tags, layers, states, since, limit, offset)
        )
        if before is not None:
            query = msgspec.structs.replace(query, before=before)
        at = self._clock()
        with self._read(scope) as tx:
            rows = tx.browse(query, at)
            for _ in zip(range(offset), rows, strict=False):
                pass
            memories = [memory for _, memory in zip(range(query.limit), rows, strict=False)]
            return Page(memories, tx.count(query, at) if total else -1)

    def show(self, ref: Ref, *, scope: Scope) -> Memory:
        """Return one memory, in any state. Counts as access. Raises NotFound if the scope does not see it."""
        permissions.require(self._actor, "show")
        with self._read(scope) as tx:
            memory = self._find(tx, ref, scope)
        self._store.touch([memory.number], self._clock())
        return memory

    def record_use(self, ids: Sequence[str], *, scope: Scope) -> None:
        """Record that memories were accessed, as `recall` and `show` do for what they return.

        Call it after showing a memory that was read elsewhere, such as from a file. `ids`: the ids of the memories; those
        that the scope does not see are ignored.
        """
        permissions.require(self._actor, "record_use")
        with self._store.read() as tx:
            numbers = [memory.number for memory in tx.memories(ids) if self._is_visible(memory, scope)]
        self._store.touch(numbers, self._clock())

    def by_key(self, key: str, *, scope: Scope) -> Sequence[Memory]:
        """Return the memories with this key that the scope sees, in any state but forgotten, nearest scope first.

        `key`: their key. For a project, those of its sessions come last. Does not count as access.
        """
        permissions.require(self._actor, "by_key")
        with self._read(scope) as tx:
            return [*self._by_key(tx, key, scope), *self._in_sessions(tx, key, scope)]

    def history(self, ref: Ref, *, scope: Scope) -> Sequence[Version]:
        """Return every version of a memory, oldest first, the current one last. Raises NotFound.

        A version of a scope that the reader does not see, from which the memory was promoted, has the present scope.
        """
        permissions.require(self._actor, "history")
        with self._read(scope) as tx:
            current = self._find(tx, ref, scope)
            return [
                Version(self._hide_past_scope(version.memory, current, scope), version.actor)
                for version in tx.versions(current.number)
            ]

    def events(
        self,
        ref: Ref | None = None,
        *,
        scope: Scope,
        since: datetime | None = None,
        source: Source | str | None = None,
        limit: int = 50,
    ) -> Sequence[Event]:
        """Return what happened to one memory, or to everything that the scope sees, newest first.

        `ref`: the memory; None: everything that the scope sees. `since`: only events at or after this time, which has a time
        zone. `source`: only events that came from this source, or a part of it: `slack` is every channel, `slack:C123` every
        thread of one. `limit`: how many at most. Raises NotFound and InvalidInput.
        """
        permissions.require(self._actor, "events")
        limit = validation.check_limit(limit, self._settings)
        earliest = None if since is None else validation.check_aware(since, "since")
        wanted = require_source(source) if isinstance(source, str) else source
        with self._read(scope) as tx:
            number = None if ref is None else self._find(tx, ref, scope).number
            events = [event for event in tx.events(scope, number, earliest, limit, wanted) if self._may_know(tx, event)]
            return self._hide_unseen(tx, events, scope)

    def events_after(self, event: int, *, scope: Scope | None = None, limit: int = 100) -> EventBatch:
        """Return the events after the one with this number, oldest first.

        `event`: the number; 0: from the first event on. `scope`: only events of what it sees; None: everything within the
        actor's bounds. `limit`: how many to look at: fewer are returned if the actor may not see some. Raises InvalidInput
        and NotAllowed.
        """
        permissions.require(self._actor, "events_after")
        limit = validation.check_limit(limit, self._settings)
        with self._read(scope) as tx:
            found = tx.events_after(event, scope, limit)
            known = [each for each in found if self._may_know(tx, each)]
            return EventBatch(self._hide_unseen(tx, known, scope), found[-1].number if found else event)

    def last_event(self) -> int:
        """Return the number of the last event, in any scope, after importing edits of mirrored files.

        Cheap: call it to see whether something happened.
        """
        permissions.require(self._actor, "last_event")
        with self._read(None) as tx:
            return tx.mark().event

    def _may_know(self, tx: Reader, event: Event) -> bool:
        """Whether an event is about a memory within the actor's bounds. An actor with bounds gets no other events: of a
        purged memory, and of a project itself, the layer is not known; and what happened to a global memory while it was
        another project's would name that project."""
        if not isinstance(self._actor, permissions.BoundActor):
            return True
        if event.project and not permissions.may_name(self._actor, event.project):
            return False
        memory = None if event.memory_number is None else tx.memory(event.memory_number)
        return memory is not None and permissions.covers(self._actor, memory.scope)

    def _hide_unseen(self, tx: Reader, events: Sequence[Event], scope: Scope | None) -> Sequence[Event]:
        """The events without the numbers of memories and the runs that the reader does not see.

        A global memory may be linked with one of any project, and learn from runs of any. `scope`: None for a reader of all
        scopes, within its bounds.
        """
        events = [event if self._sees_run(tx, event, scope) else _without_run(event) for event in events]
        named = {number for event in events for name in _NUMBERS for number in _numbers(event.detail.get(name))}
        if not named:
            return events
        present = tx.memories(sorted(named))
        seen = {
            memory.number
            for memory in present
            if permissions.covers(self._actor, memory.scope) and (scope is None or scope.sees(memory.scope))
        }
        # The events of a purged memory remain, and say where it was.
        for number in named - {memory.number for memory in present}:
            if any(self._may_know(tx, event) for event in tx.events(scope, number, None, 1)):
                seen.add(number)
        return [_without_numbers(event, seen) for event in events]

    def _sees_run(self, tx: Reader, event: Event, scope: Scope | None) -> bool:
        """Whether the reader sees the run that an event of a memory names; True if it names none.

        Ids of runs are unique in a project only, so it must be a run whose prompt had the memory.
        """
        id = event.detail.get(_RUN)
        if id is None or event.memory_number is None:
            return True
        if not isinstance(self._actor, permissions.BoundActor) and (scope is None or event.project):
            return True
        projects = [project.path for project in tx.projects()] if scope is None else [scope.path]
        runs = (tx.run(Scope(path), str(id)) for path in {"", *projects})
        return any(
            run is not None
            and permissions.covers(self._actor, run.scope)
            and any(one.number == event.memory_number for one in run.receipt.memories)
            for run in runs
        )

    def resume(self, *, scope: Scope, limit: int = 20) -> ResumeContext:
        """Return what an agent needs to continue in a scope: pinned memories, preferences, the session, the project.

        `limit`: the largest length of each list; no memory is in two of them. Counts as access. Raises InvalidInput.
        """
        permissions.require(self._actor, "resume")
        if not 1 <= limit <= _MAX_RESUMED:
            raise InvalidInput(f"limit must be from 1 to {_MAX_RESUMED:,}, got {limit}")
        at = self._clock()
        with self._read(scope) as tx:
            context = resume_context(tx, scope, limit, at, partial(permissions.narrow, self._actor))
        lists = (context.pinned, context.preferences, context.session, context.project, context.agent_preferences)
        self._store.touch([memory.number for memories in lists for memory in memories], at)
        return context

    def summary(self, *, scope: Scope, layers: Sequence[Layer] = (), states: Sequence[State] = (State.ACTIVE,)) -> Summary:
        """Count the memories that the scope sees, by type and tag, with their size and their oldest and newest dates.

        `layers`, `states`: as in `recall`; `states=[State.ARCHIVED]` counts the archive.
        """
        permissions.require(self._actor, "summary")
        with self._read(scope) as tx:
            query = Query(scope, layers=tuple(map(Layer, layers)), states=tuple(map(State, states)))
            return tx.summary(permissions.narrow_or_refuse(self._actor, query), self._clock())

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
        min_score: float = 0.0,
    ) -> Query:
        if scope is None:
            raise InvalidInput("no scope given: use scope=Scope.everywhere(), Scope.project(…) or Scope.session(…)")
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
            min_score=min_score,
        )


def _without_numbers(event: Event, seen: Collection[int]) -> Event:
    detail: dict[str, object] = {}
    for name, value in event.detail.items():
        if name not in _NUMBERS:
            detail[name] = value
        elif kept := [number for number in _numbers(value) if number in seen]:
            detail[name] = kept if isinstance(value, list) else value
    return msgspec.structs.replace(event, detail=detail)


def _without_run(event: Event) -> Event:
    return msgspec.structs.replace(event, detail={name: value for name, value in event.detail.items() if name != _RUN})


def _numbers(value: object) -> list[int]:
    """The numbers in a value of an event's detail, which is one or a list."""
    return [number for number in (value if isinstance(value, list) else [value]) if isinstance(number, int)]


def resume_context(
    tx: Reader,
    scope: Scope,
    limit: int,
    at: datetime,
    narrow: Callable[[Query], Query | None],
    *,
    by_use: bool = True,
) -> ResumeContext:
    """Return what an agent needs to continue in a scope, with at most `limit` memories in each list.

    `narrow`: limits a query to what the actor may see; it returns None for nothing. `by_use`: whether, of the memories of
    the project that changed on one day, those that were remembered more often come first; otherwise the last changed ones.
    """

    from omoide.retrieval import pipeline  # lazy: as in `recall`

    def browse(query: Query, most: int) -> list[Memory]:
        allowed = narrow(query)
        return [] if allowed is None else list(islice(tx.browse(allowed, at), most))

    pinned = browse(Query(scope, layers=tuple(Layer), pinned=True), limit)
    taken = {memory.number for memory in pinned}

    def rest(memories: Sequence[Memory]) -> list[Memory]:
        chosen = [memory for memory in memories if memory.number not in taken][:limit]
        taken.update(memory.number for memory in chosen)
        return chosen

    preferences = rest(_preferences(tx, scope, _TRUSTED, limit, at, narrow))
    agent_preferences = rest(_preferences(tx, scope, _UNTRUSTED, limit, at, narrow))
    session: list[Memory] = []
    if scope.name:
        session = rest(browse(Query(scope, layers=(Layer.SESSION,)), 2 * limit))
    own = Layer.PROJECT if scope.path else Layer.EVERYWHERE
    newest = narrow(Query(scope, layers=(own,), limit=3 * limit))
    found = [] if newest is None else pipeline.newest(tx, newest, at) if by_use else browse(newest, 3 * limit)
    project = rest(found)
    return ResumeContext(pinned, preferences, session, project, agent_preferences)


def _preferences(
    tx: Reader, scope: Scope, roles: tuple[Role, ...], limit: int, at: datetime, narrow: Callable[[Query], Query | None]
) -> list[Memory]:
    """The preferences whose author has one of these roles, last changed first."""
    query = narrow(Query(scope, layers=(Layer.PROJECT, Layer.EVERYWHERE), roles=roles))
    if query is None:
        return []
    typed = msgspec.structs.replace(query, types=("preference",))
    # Twice the limit: the lists before may have taken some of them.
    found = [*islice(tx.browse(typed, at), 2 * limit), *islice(_tagged_preferences(tx, query, at), 2 * limit)]
    return sorted(found, key=lambda memory: (memory.updated_at, memory.number), reverse=True)


def _tagged_preferences(tx: Reader, query: Query, at: datetime) -> Iterator[Memory]:
    """Memories whose preference is a tag: an entry of a file has tags and no type."""
    from omoide.retrieval import analyzer  # lazy: as in `recall`

    stem = analyzer.stem(_PREFERENCES[0])
    candidates = tx.posting_numbers(query, [stem], _MAX_PREFERENCE_CANDIDATES, topic_or_tags=True)[stem]
    for start in range(0, len(candidates), _BATCH):
        for memory in tx.memories([*tx.ranking_facts(query, candidates[start : start + _BATCH], at)]):
            if memory.type != "preference" and not {tag.casefold() for tag in memory.tags}.isdisjoint(_PREFERENCES):
                yield memory
