"""Tools on prompts: offered with `--tools all`."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from omoide.interfaces import serialize
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.request import RequestContext
from omoide.interfaces.mcp.schemas import ScopedInput, set_or_none
from omoide.interfaces.mcp.tools.registry import Answer, Tool
from omoide.model import Task


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


class ComposeResult(Struct, frozen=True):
    prompt: str
    receipt: dict[str, Any]
    problems: tuple[str, ...]


def _compose(context: CallContext, arguments: ComposeInput, _: RequestContext) -> Answer:
    task = Task(**{name: getattr(arguments, name) for name in Task.__struct_fields__})
    composed = context.acting_as(arguments.caller_agent_id).compose(
        task,
        scope=context.scope(arguments.project, arguments.session),
        limit=set_or_none(arguments.limit),
        budget_bytes=set_or_none(arguments.budget_bytes),
        budget_tokens=set_or_none(arguments.budget_tokens),
    )
    return Answer(ComposeResult(composed.text, serialize.receipt(composed.receipt), composed.problems), composed.text)


TOOLS = (
    Tool(
        "compose",
        "Compose",
        "Compose the prompt of a task, with the memories that fit it: those tagged with a glob that matches"
        " write_scope first, then by relevance.",
        ComposeInput,
        ComposeResult,
        _compose,
        reads=True,
    ),
)
