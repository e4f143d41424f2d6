"""Search, similar memories, and what an agent needs to resume."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import msgspec

from omoide.interfaces.rest import values
from omoide.interfaces.rest.problems import InvalidRequest
from omoide.interfaces.rest.routes.memories import MEMORY, ONE, split_list
from omoide.interfaces.rest.routing import Answer, Call, NoQuery, route
from omoide.model import Hit, Layer, State

_PATH = "/api/projects/{projectId}/search"
_HITS = {"hits": [{"memory": MEMORY, "score": 0.93, "why": "pnpm in content"}], "total": 1}


class HitAnswer(values.Output, frozen=True):
    """A memory that was found."""

    memory: values.MemoryAnswer
    score: float
    why: str
    """Which terms of the query were found where."""


class HitList(values.Output, frozen=True):
    """What was found, best first."""

    hits: list[HitAnswer]
    total: int
    """How many memories match."""


class SearchQuery(values.Input, frozen=True):
    """What to search for."""

    q: values.Text
    type: str | None = None
    tags: str | None = None
    """Tags separated by commas; a memory must have all of them."""
    layers: str | None = None
    """Which layers to search, separated by commas: project, session, global. By default all that the project sees."""
    limit: values.Limit = 10


class SearchBody(values.Input, frozen=True):
    """What to search for."""

    query: values.Text
    type: str | None = None
    tags: values.Tags = msgspec.field(default_factory=list)
    layers: list[values.LayerName] = msgspec.field(default_factory=list)
    """By default all that the project sees."""
    states: list[Literal["active", "inactive", "archived"]] = msgspec.field(default_factory=lambda: ["active"])
    """By default active ones."""
    since: datetime | None = None
    """Only memories that changed at or after this time."""
    limit: values.Limit = 10


class LimitQuery(values.Input, frozen=True):
    """How many to return."""

    limit: values.Limit = 10


def _show_hits(found: Sequence[Hit], total: int, project_id: int) -> HitList:
    """Return the answer for the result of a search."""
    return HitList(
        hits=[HitAnswer(memory=values.memory(hit.memory, project_id), score=hit.score, why=hit.why) for hit in found],
        total=total,
    )


class ResumeAnswer(values.Output, frozen=True):
    """What an agent needs to continue. No memory is in two of the lists."""

    pinned: list[values.MemoryAnswer]
    preferences: list[values.MemoryAnswer]
    session: list[values.MemoryAnswer]
    project: list[values.MemoryAnswer]
    agent_preferences: list[values.MemoryAnswer]


class ResumeQuery(values.Input, frozen=True):
    """What to resume."""

    session: values.Name | None = None
    limit: values.Limit = 20


@route("GET", _PATH, "searchMemories", query=SearchQuery, answer=HitList, example=_HITS)
def search_memories(call: Call[SearchQuery, None]) -> Answer:
    """Search the memories that a project sees, best first.

    These are its own, those of its sessions and the global ones. Every hit has a score and says why it was found."""
    asked = call.query
    layers = split_list(asked.layers)
    unknown = [name for name in layers if name not in list(Layer)]
    if unknown:
        raise InvalidRequest(f"layers: there is no layer {unknown[0]!r}: use {', '.join(Layer)}", {"parameter": "layers"})
    found = call.service.recall(
        asked.q,
        scope=call.scope,
        type=asked.type,
        tags=split_list(asked.tags),
        layers=[Layer(name) for name in layers],
        limit=asked.limit,
    )
    return Answer(_show_hits(found.hits, found.total, call.project_id))


@route(
    "POST",
    _PATH,
    "searchMemoriesByBody",
    body=SearchBody,
    answer=HitList,
    example=_HITS,
    body_example={"query": "認証", "type": "decision"},
)
def search_memories_by_body(call: Call[NoQuery, SearchBody]) -> Answer:
    """Search as with GET, with a query that may be long, and more filters."""
    asked = call.body
    found = call.service.recall(
        asked.query,
        scope=call.scope,
        type=asked.type,
        tags=asked.tags,
        layers=[Layer(name) for name in asked.layers],
        states=[State(name) for name in asked.states],
        since=asked.since,
        limit=asked.limit,
    )
    return Answer(_show_hits(found.hits, found.total, call.project_id))


@route("GET", f"{ONE}/similar", "listSimilar", query=LimitQuery, answer=HitList, example=_HITS)
def list_similar(call: Call[LimitQuery, None]) -> Answer:
    """List the memories that are most similar to one, best first."""
    found = call.service.similar(call.memory_ref, scope=call.scope, limit=call.query.limit)
    return Answer(_show_hits(found.hits, found.total, call.project_id))


@route(
    "GET",
    "/api/projects/{projectId}/resume",
    "resume",
    query=ResumeQuery,
    answer=ResumeAnswer,
    example={"pinned": [MEMORY], "preferences": [], "session": [], "project": [], "agentPreferences": []},
)
def resume(call: Call[ResumeQuery, None]) -> Answer:
    """Return what an agent needs to continue: pinned memories, preferences, the session, the project."""
    found = call.service.resume(scope=call.session_scope(call.query.session), limit=call.query.limit)
    lists = {
        each: [values.memory(memory, call.project_id) for memory in getattr(found, each)]
        for each in ("pinned", "preferences", "session", "project", "agent_preferences")
    }
    return Answer(ResumeAnswer(**lists))
