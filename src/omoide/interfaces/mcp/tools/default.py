"""The default tools, five because every tool costs context of the agent: remember, recall, revise, forget, resume."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from omoide import model
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
    given_fields,
    headline,
    memory_result,
    recall_result,
    render_memories,
    set_or_none,
)
from omoide.interfaces.mcp.tools.registry import Tool, ToolAnswer
from omoide.model import Draft, Layer, Remembered, State, fields
from omoide.prompt import notes

Kind = Annotated[str, Meta(description="tech, project-tech, domain, decision, preference, warning, …")]


class RememberInput(ScopedInput, kw_only=True):
    content: Annotated[str, Meta(description="One fact or lesson, with its reason")]
    topic: Annotated[str, Meta(description="Title; same topic and type updates")] | UnsetType = UNSET
    type: Kind | UnsetType = UNSET
    tags: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    source: str | UnsetType = UNSET
    key: Annotated[str, Meta(description="Unique name; same key updates")] | UnsetType = UNSET
    pin: bool | UnsetType = UNSET
    relevance: float | UnsetType = UNSET
    expires_at: Annotated[str, Meta(description="A date, or 90d")] | UnsetType = UNSET
    scope: Annotated[Layer, Meta(description="Default project; global: all projects")] | UnsetType = UNSET


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


def _remember(context: CallContext, arguments: RememberInput, _: RequestContext) -> ToolAnswer:
    scope = context.scope(arguments.project, arguments.session, arguments.scope, writing=True)
    draft = Draft(**given_fields(arguments, fields.DRAFT), scope=scope)
    remembered = context.acting_as(arguments.caller_agent_id).remember(draft)
    # Two actions in the result: "unchanged" is an update of the reference count.
    action: Literal["created", "updated"] = "created" if remembered.action == "created" else "updated"
    result = RememberResult(
        remembered.memory.id, action, remembered.similar_count, remembered.similar, remembered.suggested_tags
    )
    return ToolAnswer(result, _remember_text(remembered))


def _remember_text(remembered: Remembered) -> str:
    action = {"created": "Stored", "updated": "Updated", "unchanged": "Already known, counted again"}[remembered.action]
    text = f"{action}: {headline(remembered.memory)} in {remembered.memory.scope}."
    count = remembered.similar_count
    if count:
        others = "1 other memory says" if count == 1 else f"{count} other memories say"
        more = ", …" if count > len(remembered.similar) else ""
        numbers = ", ".join(f"#{number}" for number in remembered.similar)
        text += f" {others} almost the same: {numbers}{more}. Recall them, then revise or forget."
    if remembered.suggested_tags:
        text += f" Suggested tags: {', '.join(remembered.suggested_tags)}."
    return text


def _recall(context: CallContext, arguments: RecallInput, _: RequestContext) -> ToolAnswer:
    found = context.acting_as(arguments.caller_agent_id).recall(
        arguments.query,
        scope=context.scope(arguments.project, arguments.session),
        type=set_or_none(arguments.type),
        tags=arguments.tags,
        layers=() if arguments.scope is UNSET else (arguments.scope,),
        states=(State.ARCHIVED,) if arguments.archived else (State.ACTIVE,),
        limit=arguments.limit,
    )
    if found.hits:
        first_line = f"{len(found.hits)} of {found.total} memories, {'best' if arguments.query.strip() else 'newest'} first."
    elif found.best_below is not None:
        first_line = f"Nothing relevant: the best match scores {found.best_below:.3f}, below the setting min_score."
    else:
        first_line = "No memories found."
    return ToolAnswer(
        recall_result(found.hits, found.total), render_memories([hit.memory for hit in found.hits], first_line)
    )


def _revise(context: CallContext, arguments: ReviseInput, _: RequestContext) -> ToolAnswer:
    service = context.acting_as(arguments.caller_agent_id)
    scope = context.scope(arguments.project, arguments.session)
    given = given_fields(arguments, fields.REVISABLE)
    memory = service.revise(arguments.id, scope=scope, pinned=arguments.pin, **given)
    return ToolAnswer(change_result(memory), f"Revised: {headline(memory)}, now at version {memory.version}.")


def _forget(context: CallContext, arguments: ForgetInput, _: RequestContext) -> ToolAnswer:
    service = context.acting_as(arguments.caller_agent_id)
    memory = service.forget(arguments.id, scope=context.scope(arguments.project, arguments.session))
    return ToolAnswer(change_result(memory), f"Forgotten: {headline(memory)}. A person can restore it.")


def _resume(context: CallContext, arguments: ResumeInput, _: RequestContext) -> ToolAnswer:
    scope = context.scope(arguments.project, arguments.session)
    found = context.acting_as(arguments.caller_agent_id).resume(scope=scope, limit=arguments.limit)
    return ToolAnswer(
        ResumeResult(
            [memory_result(memory) for memory in found.session],
            [memory_result(memory) for memory in found.project],
            [memory_result(memory) for memory in found.pinned],
            [memory_result(memory) for memory in found.preferences],
            [memory_result(memory) for memory in found.agent_preferences],
        ),
        notes.render_resume(found, scope, model.now()),
    )


TOOLS = (
    Tool(
        "remember",
        "Remember",
        "Store a fact, decision, preference or lesson for later sessions and other agents."
        " Not for secrets or the state of the current task.",
        RememberInput,
        RememberResult,
        _remember,
    ),
    Tool(
        "recall",
        "Recall",
        "Search memory before deciding or asking: what was decided, preferred, tried, learnt.",
        RecallInput,
        RecallResult,
        _recall,
        reads=True,
        quick=True,
    ),
    Tool(
        "revise",
        "Revise",
        "Correct or extend a memory. The old version is kept.",
        ReviseInput,
        ChangeResult,
        _revise,
        repeatable=True,
    ),
    Tool(
        "forget",
        "Forget",
        "Remove a wrong or outdated memory from every search. A person can restore it.",
        ForgetInput,
        ChangeResult,
        _forget,
        destroys=True,
        repeatable=True,
    ),
    Tool(
        "resume",
        "Resume",
        "Call once at the start: the context of the session and project, and the user's preferences.",
        ResumeInput,
        ResumeResult,
        _resume,
        reads=True,
        quick=True,
    ),
)
