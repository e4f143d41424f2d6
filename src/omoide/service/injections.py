"""What hooks add to conversations: the context of a session at its start, and what is relevant to a prompt."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from omoide.guard import permissions
from omoide.model import HookCall, HookRecord, Injection, Memory, Query, Scope
from omoide.prompt.injection import InjectedMemory, InjectedText, render_for_prompt, render_for_session
from omoide.prompt.user_prompt import is_japanese, search_text
from omoide.retrieval import pipeline
from omoide.service.queries import Queries, resume_context

_MOST_HITS = 20
"""Memories that are looked at for a prompt: the budget takes fewer."""
_MOST_RESUMED = 20
"""Memories of each kind at the start of a session: the budget takes fewer."""


class Injections(Queries):
    """The parts of the hook that choose and render memories."""

    def _text_for_session(self, scope: Scope, at: datetime) -> InjectedText:
        """The context of a session: the same text for the same memories."""
        narrowed = partial(permissions.narrow, self._actor)
        with self._read(scope) as tx:
            context = resume_context(tx, scope, _MOST_RESUMED, at, narrowed, by_use=False)
        memories = [*context.pinned, *context.preferences, *context.session, *context.project, *context.agent_preferences]
        tokens = self._settings.inject_start_tokens
        return render_for_session(context, scope, japanese=_are_japanese(memories), tokens=tokens)

    def _text_for_prompt(self, call: HookCall, scope: Scope, at: datetime) -> InjectedText:
        """What is relevant to a prompt and not in the conversation yet."""
        text = search_text(call.prompt)
        least = self._settings.inject_min_score
        query = permissions.narrow(self._actor, Query(scope, text, limit=_MOST_HITS, min_score=least)) if text else None
        if query is None:
            return InjectedText()
        with self._store.read() as tx:
            injected = tx.injected_versions(call.session)
            found = pipeline.search(tx, query, at)
        memories = [
            hit.memory
            for hit in found.hits
            if hit.score >= least
            and injected.get(hit.memory.number) != hit.memory.version
            and not _is_from(hit.memory, call.session)
        ]
        return render_for_prompt(memories, japanese=is_japanese(text), tokens=self._settings.inject_tokens)


def injections_of(record: HookRecord, memories: Sequence[InjectedMemory]) -> list[Injection]:
    """Return the records of memories that a call injected."""
    return [
        Injection(
            *(record.number, record.at, record.client, record.event, record.session),
            *(one.memory.number, one.memory.version, one.tokens),
        )
        for one in memories
    ]


def _is_from(memory: Memory, session: str) -> bool:
    """Whether a memory was learnt from this very conversation."""
    return bool(session) and memory.source_run_id == session


def _are_japanese(memories: Sequence[Memory]) -> bool:
    """Whether most memories are in Japanese."""
    return 2 * sum(is_japanese(memory.content) for memory in memories) > len(memories)
