"""What REST takes and answers, in camelCase. The parser, the answers and the OpenAPI document are made of these types."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from omoide import model
from omoide.model import Memory, Project, State, expiry

Time = Annotated[datetime, Meta(tz=True)]
"""A moment, which becomes RFC 3339 in UTC."""
Share = Annotated[float, Meta(ge=0, le=1)]
Text = Annotated[str, Meta(min_length=1, pattern=r"\S")]
Line = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]
Tag = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"[^\s,]")]
Tags = Annotated[list[Tag], Meta(max_length=100)]
Examples = Annotated[list[Text], Meta(max_length=100)]
Name = Annotated[str, Meta(min_length=1, max_length=255)]
Limit = Annotated[int, Meta(ge=1, le=1_000)]
RunId = int | str
StateName = Literal["active", "inactive", "archived", "forgotten"]
LayerName = Literal["project", "session", "global"]
LinkName = Literal["relates", "supersedes", "contradicts", "derived_from"]


class Input(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a client sends. A name that is not a field is refused."""


class Output(msgspec.Struct, frozen=True, rename="camel"):
    """What the server answers."""


# memories


class MemoryAnswer(Output, frozen=True):
    """A memory."""

    id: int
    """Unique in the store, and never reused."""
    project_id: int
    """The number of its project; 0: it belongs to the global layer."""
    type: str
    content: str
    source: str
    """Who it comes from: human, run, learning, or a text such as a URL."""
    tags: Sequence[str]
    relevance_score: Share
    """How useful it has proved; 0.5 is unknown."""
    active: bool
    created_at: Time
    updated_at: Time
    version: int
    """Grows by one with each change."""
    state: StateName
    uuid: str
    """Unique across stores."""
    session: str | None
    key: str | None
    topic: str
    examples: Sequence[str]
    source_run_id: RunId | None
    confidence: Share
    pinned: bool
    expires_at: Time | None
    reference_count: int
    """How often it was remembered again."""
    author: str | None
    author_role: Literal["owner", "admin", "worker"] | None
    """The role of the author, which distinguishes an agent from a person of the same name."""
    original_prompt: str | None
    """What the user said that made it a memory."""


class MemoryList(Output, frozen=True):
    """A page of memories, last changed first."""

    memories: list[MemoryAnswer]
    next_cursor: str | None
    """Give it as `cursor` to get the next page; null: this is the last one."""


class NewMemory(Input, frozen=True):
    """A memory to store."""

    content: Text
    type: str | None = None
    tags: Tags = []
    relevance_score: Share | None = None
    source: Line | None = None
    """By default human, or run where `sourceRunId` is given."""
    source_run_id: RunId | None = None
    topic: Line | None = None
    """A title. The same topic and type again updates the memory."""
    key: Name | None = None
    """A name that is unique in the project. The same key again updates the memory."""
    session: Name | None = None
    """Store it in this session of the project."""
    examples: Examples = []
    confidence: Share | None = None
    pinned: bool | None = None
    expires_at: datetime | None = None
    original_prompt: Text | None = None
    """What the user said that made it a memory."""


class MemoryPatch(Input, frozen=True):
    """What to change of a memory. What is left out stays."""

    content: Text | UnsetType = UNSET
    type: str | UnsetType = UNSET
    tags: Tags | UnsetType = UNSET
    relevance_score: Share | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    """False: it is kept and listed with `active=false`, and never put into a prompt."""
    source: Line | UnsetType = UNSET
    source_run_id: RunId | UnsetType | None = UNSET
    topic: Line | UnsetType | None = UNSET
    """null: derive it from the content."""
    key: Name | UnsetType | None = UNSET
    examples: Examples | UnsetType = UNSET
    confidence: Share | UnsetType = UNSET
    expires_at: datetime | UnsetType | None = UNSET
    original_prompt: Text | UnsetType | None = UNSET


class ArchiveFilter(Input, frozen=True):
    """Which memories to list."""

    type: str | None = None
    tags: str | None = None
    """Tags separated by commas; a memory must have all of them."""
    include: str | None = None
    """Other layers to list too, separated by commas: global, sessions."""
    session: Name | None = None
    """Only memories of this session."""
    limit: Limit = 50
    cursor: str | None = None
    """The `nextCursor` of the page before."""


class MemoryFilter(ArchiveFilter, frozen=True):
    """Which memories to list."""

    active: bool = True
    """true: active memories; false: inactive ones."""


_ATTRIBUTES = {"relevance": "relevance_score"}
"""The attribute, here and in camelCase as a key, of each field that is not called as the field."""


def field_key(name: str) -> str:
    """Return the key that carries a field of a memory."""
    first, *rest = _ATTRIBUTES.get(name, name).split("_")
    return first + "".join(word.capitalize() for word in rest)


def given_fields(body: Input, names: Iterable[str]) -> dict[str, Any]:
    """Return the fields of these names that the body of a request gives."""
    attributes = {name: _ATTRIBUTES.get(name, name) for name in names}
    values = {name: getattr(body, attribute, UNSET) for name, attribute in attributes.items()}
    return {name: value for name, value in values.items() if value is not UNSET}


def run_id(value: str | None) -> RunId | None:
    """Return the id of a run: a number where it is one."""
    return int(value) if value and value.isascii() and value.isdigit() and value[0] != "0" and len(value) < 16 else value


def memory(value: Memory, project_id: int) -> MemoryAnswer:
    """Return the answer for a memory that a project with this number sees."""
    state = expiry.listing(value, model.now())
    # By position: with names it takes twice as long, and a list has up to a thousand.
    return MemoryAnswer(
        value.number,
        project_id if value.scope.path else 0,
        value.type,
        value.content,
        value.source,
        value.tags,
        value.relevance,
        state is State.ACTIVE,
        value.created_at,
        value.updated_at,
        value.version,
        state.value,
        value.id,
        value.scope.name or None,
        value.key,
        value.topic,
        value.examples,
        run_id(value.source_run_id),
        value.confidence,
        value.pinned,
        value.expires_at,
        value.reference_count,
        None if value.author is None else value.author.name,
        None if value.author is None else value.author.role.value,
        value.original_prompt,
    )


# projects and sessions


class ProjectAnswer(Output, frozen=True):
    """A project."""

    id: int
    """Stays when the project is renamed."""
    path: str
    name: str
    description: str
    created_at: Time | None


class ProjectList(Output, frozen=True):
    """All projects that the token may see."""

    projects: list[ProjectAnswer]


class NewProject(Input, frozen=True):
    """A project to create."""

    path: Annotated[str, Meta(min_length=1, max_length=767, examples=["backend/python/shop"])]
    """One to three names, separated by slashes."""
    description: Annotated[str, Meta(max_length=500)] = ""


class ProjectPatch(Input, frozen=True):
    """What to change of a project."""

    description: Annotated[str, Meta(max_length=500)]
    """One line; an empty one removes it."""


def project(value: Project) -> ProjectAnswer:
    """Return the answer for a project."""
    return ProjectAnswer(
        id=value.number,
        path=value.path,
        name=value.path.rpartition("/")[2],
        description=value.description,
        created_at=value.created_at,
    )


# health


class Health(Output, frozen=True):
    """Whether the server works."""

    status: Literal["ok"]


class VersionAnswer(Output, frozen=True):
    """What runs here."""

    name: str
    version: str


class ProblemAnswer(Output, frozen=True):
    """An error as RFC 9457 describes it."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, str]] = []
    """The fields that are wrong: `pointer` (a JSON pointer into the body) or `parameter`, and `detail`."""
