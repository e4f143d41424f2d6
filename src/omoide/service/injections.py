"""What hooks add to conversations: the context of a session at its start, and what is relevant to a prompt."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from omoide.model import HookCall, HookEvent, HookState, Memory, Query, Scope
from omoide.prompt.injection import InjectedText, render_for_prompt, render_for_session
from omoide.prompt.user_prompt import is_japanese, search_text
from omoide.retrieval import pipeline
from omoide.service.queries import resume_context
from omoide.settings import Settings
from omoide.storage.base import Reader

if TYPE_CHECKING:  # only a process that embeds loads numpy
    from omoide.embeddings.vectors import QueryVector

_MOST_HITS = 20
"""Memories that are looked at for a prompt: the budget takes fewer."""
_MOST_RESUMED = 20
"""Memories of each kind at the start of a session: the budget takes fewer."""
_STARTS_WITH_PROMPT = ("copilot",)
"""Clients that run the hooks of a session's start and of its first prompt at the same time."""
_RECENT_CALLS = 50
"""Calls among which those of a session that has just started are looked for."""

Narrow = Callable[[Query], Query | None]
"""Limits a query to what the actor may see; None: nothing."""


def text_for_session(tx: Reader, scope: Scope, settings: Settings, at: datetime, narrow: Narrow) -> InjectedText:
    """Return the context for the start of a session. The same memories give the same text."""
    context = resume_context(tx, scope, _MOST_RESUMED, at, narrow, by_use=False)
    memories = [*context.pinned, *context.preferences, *context.session, *context.project, *context.agent_preferences]
    return render_for_session(context, scope, japanese=_are_japanese(memories), tokens=settings.inject_start_tokens)


def prompt_query(call: HookCall, scope: Scope, settings: Settings, narrow: Narrow) -> Query | None:
    """Return the query for the memories that fit a prompt; None if there is nothing to search for, or to see."""
    text = search_text(call.prompt)
    return narrow(Query(scope, text, limit=_MOST_HITS, min_score=settings.inject_min_score)) if text else None


def versions_in_conversation(
    tx: Reader, call: HookCall, scope: Scope, settings: Settings, at: datetime, narrow: Narrow
) -> dict[int, int]:
    """Return the versions, by number, of the memories that are in the conversation of a prompt, or about to be."""
    injected = tx.injected_versions(call.session)
    if call.client in _STARTS_WITH_PROMPT and _is_starting(tx, call.session):
        start = text_for_session(tx, scope, settings, at, narrow)
        injected = {one.memory.number: one.memory.version for one in start.memories} | injected
    return injected


def _is_starting(tx: Reader, session: str) -> bool:
    """Whether this is the first prompt of a session whose start has not been answered yet."""
    recent = tx.hook_calls(_RECENT_CALLS)
    calls = [call for call in recent if call.session == session and call.state is not HookState.REPEATED]
    has_started = any(call.event is HookEvent.SESSION_START and call.state is HookState.DONE for call in calls)
    return not has_started and sum(call.event is HookEvent.PROMPT for call in calls) <= 1


def text_for_prompt(
    tx: Reader,
    call: HookCall,
    query: Query,
    vector: "QueryVector | None",
    injected: Mapping[int, int],
    settings: Settings,
    at: datetime,
) -> InjectedText:
    """Return the memories that are relevant to a prompt and not in the conversation yet.

    `query`: what `prompt_query` returned. `vector`: that of the query; None: search by words alone. `injected`: what
    `versions_in_conversation` returned.
    """
    least = settings.inject_min_score
    memories = [
        hit.memory
        for hit in pipeline.search(tx, query, at, vector).hits
        if hit.score >= least
        and injected.get(hit.memory.number) != hit.memory.version
        and not _is_from(hit.memory, call.session)
    ]
    return render_for_prompt(memories, japanese=is_japanese(query.text), tokens=settings.inject_tokens)


def _is_from(memory: Memory, session: str) -> bool:
    """Whether a memory was learnt from this very conversation."""
    return bool(session) and memory.source_run_id == session


def _are_japanese(memories: Sequence[Memory]) -> bool:
    """Whether most memories are in Japanese."""
    return 2 * sum(is_japanese(memory.content) for memory in memories) > len(memories)
