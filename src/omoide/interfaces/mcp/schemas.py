"""The arguments and results of tools, and memories rendered as text for a model."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from omoide import model
from omoide.interfaces import serialize
from omoide.interfaces.time_input import parse_expiry
from omoide.model import Hit, Layer, Memory, fields
from omoide.prompt import notes

ScopeName = Annotated[str, Meta(description="Default: this repo")]
Ref = Annotated[str, Meta(description="Id, number (#12) or key")]
Agent = Annotated[str, Meta(description="Your id")]
Limit = Annotated[int, Meta(ge=1, le=1000)]

T = TypeVar("T")


_ARGUMENTS = {"pinned": "pin"}
"""The argument of each field that is not called as the field."""


def set_or_none(value: T | UnsetType) -> T | None:
    """Return None for an argument that was not given."""
    return None if value is UNSET else value


def given_fields(arguments: Struct, names: Iterable[str]) -> dict[str, Any]:
    """Return the fields of these names that the arguments of a tool give.

    The scope is none of them: as an argument it is a layer. A moment is read as people write it.
    """
    given: dict[str, Any] = {}
    for name in names:
        value = getattr(arguments, _ARGUMENTS.get(name, name), UNSET)
        if value is not UNSET and name != "scope":
            given[name] = parse_expiry(value, name) if fields.get(name).kind == "moment" else value
    return given


class ToolInput(Struct, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool. An unknown one is refused: a misspelt argument would be ignored silently."""


class ScopedInput(ToolInput, kw_only=True):
    """The arguments of almost every tool: who calls, and where."""

    caller_agent_id: Agent | UnsetType = UNSET
    project: ScopeName | UnsetType = UNSET
    session: str | UnsetType = UNSET


class RememberResult(Struct, frozen=True, omit_defaults=True):
    memory_id: str
    action: Literal["created", "updated"]
    similar_count: int
    similar: tuple[int, ...] = ()
    suggested_tags: tuple[str, ...] = ()


class MemoryResult(Struct, frozen=True, omit_defaults=True):
    """A memory as `recall` returns it."""

    id: str
    number: int
    type: str
    topic: str
    tags: tuple[str, ...]
    content: str
    reference_count: int
    confidence: float
    created_at: int
    layer: Layer
    examples: tuple[str, ...] = ()
    key: str | UnsetType = UNSET
    by: str = ""
    by_role: str = ""
    pinned: bool = False
    score: float | UnsetType = UNSET


class ListedMemoryResult(MemoryResult, frozen=True, omit_defaults=True):
    """A memory in a list of any state."""

    state: str = ""
    reason: str = ""


class RecallResult(Struct, frozen=True):
    memories: list[MemoryResult]
    total_count: int


class ChangeResult(Struct, frozen=True):
    memory_id: str
    state: str
    version: int


class CountResult(Struct, frozen=True):
    count: int


class RowsResult(Struct, frozen=True):
    rows: list[dict[str, Any]]


class ResumeResult(Struct, frozen=True):
    """The context of a session and its project."""

    session: list[MemoryResult]
    project: list[MemoryResult]
    pinned: list[MemoryResult]
    preferences: list[MemoryResult]
    agent_preferences: list[MemoryResult]


def memory_result(memory: Memory, score: float | UnsetType = UNSET) -> MemoryResult:
    """Return a memory as `recall` does, with its score if it has one."""
    values: dict[str, Any] = {name: getattr(memory, name) for name in MemoryResult.__struct_fields__ if name in fields.NAMES}
    values["created_at"] = int(memory.created_at.timestamp())
    if memory.key is None:
        del values["key"]
    if memory.author is not None:
        values |= {"by": memory.author.name, "by_role": memory.author.role.value}
    return MemoryResult(**values, layer=memory.scope.layer, score=score)


def listed_memory_result(memory: Memory) -> ListedMemoryResult:
    """Return a memory with its state, as `list` does."""
    values = structs.asdict(memory_result(memory))
    return ListedMemoryResult(**values, state=serialize.state(memory), reason=serialize.inactive_reason(memory))


def recall_result(hits: Iterable[Hit], total: int) -> RecallResult:
    """Return the hits of a search; `total` counts those beyond the limit as well."""
    return RecallResult([memory_result(hit.memory, hit.score) for hit in hits], total)


def change_result(memory: Memory) -> ChangeResult:
    """Return the state and version of a memory after a change."""
    return ChangeResult(memory.id, serialize.state(memory), memory.version)


def headline(memory: Memory) -> str:
    """Render the first line of a memory: see `prompt.notes`."""
    return notes.headline(memory, model.now())


def opening(memory: Memory) -> str:
    """Render the headline and the origin of a memory."""
    return notes.opening(memory, model.now())


def render_memory(memory: Memory) -> str:
    """Render a memory: headline, origin and text."""
    return notes.render_memory(memory, model.now())


def render_memories(memories: Sequence[Memory], first_line: str) -> str:
    """Render memories below a line that tells a model that they are data, not instructions."""
    return notes.render_memories(memories, first_line, model.now())
