"""Tools on prompts: offered with `--tools all`."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from omoide.interfaces import serialize
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.request import RequestContext
from omoide.interfaces.mcp.schemas import ScopedInput, set_or_none
from omoide.interfaces.mcp.tools.registry import Tool, ToolAnswer
from omoide.model import RunResult, Task


class ComposeInput(ScopedInput, kw_only=True):
    """The fields of a task, and how large the prompt may be."""

    id: str = ""
    title: str = ""
    description: str = ""
    role: str = ""
    profile: str = ""
    workspace: str = ""
    read_first: tuple[str, ...] = ()
    write_scope: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    digest: str = ""
    output_format: str = ""
    limit: int | UnsetType = UNSET
    budget_bytes: int | UnsetType = UNSET
    budget_tokens: int | UnsetType = UNSET
    run: str | UnsetType = UNSET
    record: bool = False


class ComposeResult(Struct, frozen=True):
    prompt: str
    receipt: dict[str, Any]
    problems: tuple[str, ...]
    run: dict[str, Any] | None


class OutcomeInput(ScopedInput, kw_only=True):
    """The outcome of a run."""

    run: Annotated[str, Meta(description="Number or id")]
    result: RunResult
    helped: tuple[str, ...] = ()
    harmed: tuple[str, ...] = ()
    note: str = ""
    duration: float | UnsetType = UNSET
    exit_code: int | UnsetType = UNSET


class OutcomeResult(Struct, frozen=True):
    run: dict[str, Any]


def _compose(context: CallContext, arguments: ComposeInput, _: RequestContext) -> ToolAnswer:
    task = Task(**{name: getattr(arguments, name) for name in Task.__struct_fields__})
    composed = context.acting_as(arguments.caller_agent_id).compose(
        task,
        scope=context.scope(arguments.project, arguments.session, writing=arguments.record or arguments.run is not UNSET),
        limit=set_or_none(arguments.limit),
        budget_bytes=set_or_none(arguments.budget_bytes),
        budget_tokens=set_or_none(arguments.budget_tokens),
        run=set_or_none(arguments.run),
        record=arguments.record,
    )
    return ToolAnswer(ComposeResult(**serialize.composed_prompt(composed)), composed.text)


def _outcome(context: CallContext, arguments: OutcomeInput, _: RequestContext) -> ToolAnswer:
    run = context.acting_as(arguments.caller_agent_id).outcome(
        arguments.run,
        arguments.result,
        scope=context.scope(arguments.project, arguments.session),
        helped=arguments.helped,
        harmed=arguments.harmed,
        note=arguments.note,
        duration=set_or_none(arguments.duration),
        exit_code=set_or_none(arguments.exit_code),
    )
    return ToolAnswer(OutcomeResult(serialize.run(run)), f"Run {run.number}: {arguments.result.value}.")


TOOLS = (
    Tool(
        "compose",
        "Compose",
        "Compose the prompt of a task, with the memories that fit it: those tagged with a glob that matches"
        " write_scope first, then by relevance.",
        ComposeInput,
        ComposeResult,
        _compose,
    ),
    Tool(
        "outcome",
        "Outcome",
        "Record the outcome of a run: success, failure or partial, and which memories in its prompt helped or harmed. Their"
        " relevance moves accordingly.",
        OutcomeInput,
        OutcomeResult,
        _outcome,
    ),
)
