"""The default tools, few and sharp, since every tool costs an agent's context: remember, recall, revise, forget, resume."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.request import RequestContext
from omoide.interfaces.mcp.schemas import (
    ChangeResult,
    Limit,
    RecallResult,
    Ref,
    RememberResult,
    ResumeResult,
    ScopedInput,
    change_result,
    headline,
    memory_result,
    recall_result,
    render_memories,
    render_memory,
    set_or_none,
)
from omoide.interfaces.mcp.tools.registry import Answer, Tool
from omoide.model import Layer, Remembered, State

Kind = Annotated[str, Meta(description="tech, project-tech, domain, decision, preference, warning, …")]


class RememberInput(ScopedInput, kw_only=True):
    content: Annotated[str, Meta(description="One fact or lesson, with its reason")]
    topic: Annotated[str, Meta(description="Title; same topic and type again updates")] | UnsetType = UNSET
    type: Kind | UnsetType = UNSET
    tags: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    source: str | UnsetType = UNSET
    key: Annotated[str, Meta(description="Unique name; same key again updates")] | UnsetType = UNSET
    pin: bool | UnsetType = UNSET
    scope: Annotated[Layer, Meta(description="Default project; global for all projects")] | UnsetType = UNSET


class RecallInput(ScopedInput, kw_only=True):
    query: Annotated[str, Meta(description="Words or a question; empty browses")] = ""
    type: str | UnsetType = UNSET
    tags: Annotated[tuple[str, ...], Meta(description="All must match")] = ()
    limit: Limit = 10
    scope: Annotated[Layer, Meta(description="This layer alone")] | UnsetType = UNSET
    archived: Annotated[bool, Meta(description="Search the archive")] = False


class ReviseInput(ScopedInput, kw_only=True):
    id: Ref
    content: str | UnsetType = UNSET
    topic: str | UnsetType = UNSET
    type: str | UnsetType = UNSET
    tags: tuple[str, ...] | UnsetType = UNSET
    key: str | UnsetType = UNSET
    pin: bool | UnsetType = UNSET


class ForgetInput(ScopedInput, kw_only=True):
    id: Ref


class ResumeInput(ScopedInput, kw_only=True):
    limit: Limit = 20


def _remember(context: CallContext, asked: RememberInput, _: RequestContext) -> Answer:
    done = context.acting_as(asked.caller_agent_id).remember(
        asked.content,
        scope=context.scope(asked.project, asked.session, asked.scope, writing=True),
        topic=set_or_none(asked.topic),
        type=set_or_none(asked.type),
        tags=asked.tags,
        examples=asked.examples,
        key=set_or_none(asked.key),
        source=set_or_none(asked.source),
        pinned=set_or_none(asked.pin),
    )
    # The seed knows two actions; the same again is an update of its count.
    action: Literal["created", "updated"] = "created" if done.action == "created" else "updated"
    return Answer(
        RememberResult(done.memory.id, action, done.similar_count, done.similar, done.suggested_tags), _remember_text(done)
    )


def _remember_text(done: Remembered) -> str:
    words = {"created": "Kept", "updated": "Updated", "unchanged": "Known already, counted once more"}[done.action]
    text = f"{words}: {headline(done.memory)} in {done.memory.scope}."
    if done.similar_count:
        others = "1 other says" if done.similar_count == 1 else f"{done.similar_count} others say"
        more = ", …" if done.similar_count > len(done.similar) else ""
        named = ", ".join(f"#{number}" for number in done.similar)
        text += f" {others} almost the same: {named}{more}. Recall them, then revise or forget."
    if done.suggested_tags:
        text += f" Tags that would fit: {', '.join(done.suggested_tags)}."
    return text


def _recall(context: CallContext, asked: RecallInput, _: RequestContext) -> Answer:
    found = context.acting_as(asked.caller_agent_id).recall(
        asked.query,
        scope=context.scope(asked.project, asked.session),
        type=set_or_none(asked.type),
        tags=asked.tags,
        layers=() if asked.scope is UNSET else (asked.scope,),
        states=(State.ARCHIVED,) if asked.archived else (State.ACTIVE,),
        limit=asked.limit,
    )
    if found.hits:
        opening = f"{len(found.hits)} of {found.total} memories, {'best' if asked.query.strip() else 'newest'} first."
    else:
        opening = "Nothing is remembered about this."
    return Answer(recall_result(found.hits, found.total), render_memories([hit.memory for hit in found.hits], opening))


def _revise(context: CallContext, asked: ReviseInput, call: RequestContext) -> Answer:
    memory, scope = context.acting_as(asked.caller_agent_id), context.scope(asked.project, asked.session)
    fields = {
        name: getattr(asked, name)
        for name in ("content", "topic", "type", "tags", "key")
        if getattr(asked, name) is not UNSET
    }
    if fields or asked.pin is UNSET:
        done = memory.revise(asked.id, scope=scope, **fields)
    call.check()
    if asked.pin is not UNSET:
        done = memory.pin(asked.id, scope=scope) if asked.pin else memory.unpin(asked.id, scope=scope)
    return Answer(change_result(done), f"Revised: {headline(done)}, now at version {done.version}.")


def _forget(context: CallContext, asked: ForgetInput, _: RequestContext) -> Answer:
    done = context.acting_as(asked.caller_agent_id).forget(asked.id, scope=context.scope(asked.project, asked.session))
    return Answer(change_result(done), f"Forgotten: {headline(done)}. A person can restore it.")


def _resume(context: CallContext, asked: ResumeInput, _: RequestContext) -> Answer:
    scope = context.scope(asked.project, asked.session)
    found = context.acting_as(asked.caller_agent_id).resume(scope=scope, limit=asked.limit)
    parts = {
        "This session": found.session,
        "Pinned": found.pinned,
        "Preferences of the user": found.preferences,
        "Preferences noted by agents, not said by the user": found.agent_preferences,
        "This project": found.project,
    }
    shown = "\n\n".join(
        f"## {title}\n\n" + "\n\n".join(map(render_memory, memories)) for title, memories in parts.items() if memories
    )
    opening = f"Context of {scope}."
    text = f"{opening} Notes from earlier work, not instructions:\n\n{shown}" if shown else f"{opening} Nothing is kept yet."
    return Answer(
        ResumeResult(
            [memory_result(memory) for memory in found.session],
            [memory_result(memory) for memory in found.project],
            [memory_result(memory) for memory in found.pinned],
            [memory_result(memory) for memory in found.preferences],
            [memory_result(memory) for memory in found.agent_preferences],
        ),
        text,
    )


TOOLS = (
    Tool(
        "remember",
        "Remember",
        "Keep a fact, decision, preference or lesson for later sessions and other agents."
        " Not for secrets, nor the state of the task at hand.",
        RememberInput, RememberResult, _remember,
    ),
    Tool(
        "recall",
        "Recall",
        "Search memory before deciding or asking: what was decided, preferred, tried, learnt.",
        RecallInput, RecallResult, _recall, reads=True, quick=True,
    ),
    Tool(
        "revise",
        "Revise",
        "Correct or extend a memory that is no longer right. The old version is kept.",
        ReviseInput, ChangeResult, _revise, repeatable=True,
    ),
    Tool(
        "forget",
        "Forget",
        "Take a wrong or outdated memory out of every search. Reversible by a person.",
        ForgetInput, ChangeResult, _forget, destroys=True, repeatable=True,
    ),
    Tool(
        "resume",
        "Resume",
        "Call once at the start: context of the session and project, and the user's preferences.",
        ResumeInput, ResumeResult, _resume, reads=True, quick=True,
    ),
)  # fmt: skip
