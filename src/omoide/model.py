"""The words of omoide as frozen values: memory, draft, scope, actor, query, hit, event, link, project, mirror."""

import functools
import os
import re
import time
import unicodedata
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from enum import StrEnum

import msgspec

from omoide.errors import InvalidInput


class State(StrEnum):
    """Where a memory is in its life. Only active ones are recalled unless others are asked for."""

    ACTIVE = "active"
    INACTIVE = "inactive"  # switched off by a person: kept, listed, never put into a prompt
    ARCHIVED = "archived"  # retired: searchable on request, restored at any time
    FORGOTTEN = "forgotten"  # out of the index; reversible until it is purged


class Layer(StrEnum):
    EVERYWHERE = "global"
    PROJECT = "project"
    SESSION = "session"


class LinkKind(StrEnum):
    RELATES = "relates"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    DERIVED_FROM = "derived_from"


class Role(StrEnum):
    OWNER = "owner"
    ADMIN = "admin"
    WORKER = "worker"


class Choice(StrEnum):
    """What of its scope a mirror holds."""

    ALL = "all"
    OWN = "own"  # only what came in through its file: nothing else ever gets into a repository


class Side(StrEnum):
    FILE = "file"
    DATABASE = "database"


class Scope(msgspec.Struct, frozen=True, gc=False):
    """Where a memory belongs: everywhere, a project, or a session of a project.

    Make one with `everywhere()`, `project(path)` or `session(path, session)`, which check the names.
    """

    path: str = ""
    """The project's path, one to three segments; empty means everywhere."""
    name: str = ""
    """The session's name; empty means the project itself."""

    @classmethod
    def everywhere(cls) -> "Scope":
        return cls()

    @classmethod
    def project(cls, path: str) -> "Scope":
        return cls(project_path(path))

    @classmethod
    def session(cls, path: str, session: str) -> "Scope":
        return cls(project_path(path), segment(session, "session"))

    @property
    def layer(self) -> Layer:
        if self.name:
            return Layer.SESSION
        return Layer.PROJECT if self.path else Layer.EVERYWHERE

    def sees(self, other: "Scope") -> bool:
        """A reader sees its project, all sessions of it and the global layer; never another project."""
        return not other.path or other.path == self.path

    def distance(self, other: "Scope") -> int:
        """How far a memory is from its reader: the smaller, the nearer; breaks ties in a ranking."""
        if other == self:
            return 0
        if not other.path:
            return 3
        return 2 if other.name else 1

    def __str__(self) -> str:
        if self.name:
            return f"session {self.name} of project {self.path}"
        return f"project {self.path}" if self.path else "the global layer"


class Actor(msgspec.Struct, frozen=True):
    """Who acts. Set by the way in, never by the text of a request."""

    name: str
    role: Role = Role.OWNER
    via: str = "python"


class Draft(msgspec.Struct, frozen=True, gc=False):
    """What someone wants kept. Only `content` and `scope` are needed; what is left out is filled in, or left as it was."""

    content: str
    scope: Scope | None = None
    topic: str | None = None
    """None: omoide derives one from the content, and it never matches another memory."""
    type: str | None = None
    tags: Sequence[str] = ()
    examples: Sequence[str] = ()
    key: str | None = None
    source: str | None = None
    confidence: float | None = None
    relevance: float | None = None
    pinned: bool | None = None
    expires_at: datetime | None = None
    created_at: datetime | None = None
    """When it was learnt, for what is imported; now, otherwise."""
    source_run_id: str | None = None


class Memory(msgspec.Struct, frozen=True, gc=False):
    """One thing learnt. A change makes a new version of it; the old one stays in its history."""

    id: str
    """UUIDv7: unique across stores."""
    number: int
    """Small, unique in its store, never given twice: what people and REST call it."""
    scope: Scope
    key: str | None
    """Unique among the living memories of its scope."""
    type: str
    topic: str
    topic_given: bool
    """False when omoide derived the topic: such a topic identifies nothing."""
    content: str
    tags: tuple[str, ...]
    examples: tuple[str, ...]
    source: str
    confidence: float
    """0 to 1: how sure its author was."""
    relevance: float
    """0 to 1: how useful it has proved; 0.5 is unknown."""
    reference_count: int
    """How often it was remembered again."""
    pinned: bool
    state: State
    created_at: datetime
    updated_at: datetime
    last_accessed_at: datetime | None
    expires_at: datetime | None
    version: int
    source_run_id: str | None = None
    """The run of an agent that it comes from, as whoever runs agents calls it."""
    author: Actor | None = None  # who changed what it says last, set by the server; None: it is not kept yet


class Remembered(msgspec.Struct, frozen=True, gc=False):
    """The answer of `remember`."""

    memory: Memory
    action: str
    """created, updated or unchanged (the same again: only the count grew)."""
    similar_count: int = 0
    """How many other memories of the scope say almost the same words; counted up to 50."""
    similar: tuple[int, ...] = ()
    """The numbers of up to five of them, the closest first."""
    suggested_tags: tuple[str, ...] = ()
    """What it could be tagged with, where settings ask for suggestions."""


class Query(msgspec.Struct, frozen=True):
    """What someone wants to find. An empty text browses, newest and most used first."""

    scope: Scope
    text: str = ""
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """Every one of them must be on the memory; case is ignored."""
    layers: tuple[Layer, ...] = ()
    """Narrows what the scope sees; empty means all of it. In a session, the session layer is that session alone."""
    states: tuple[State, ...] = (State.ACTIVE,)  # the listings that are looked into: see `expiry`
    limit: int = 10
    offset: int = 0
    since: datetime | None = None
    """Only memories changed at or after this moment."""
    pinned: bool = False  # only pinned ones
    roles: tuple[Role, ...] = ()  # only what an author of one of these roles wrote; empty: anybody


class Hit(msgspec.Struct, frozen=True, eq=False, gc=False):
    memory: Memory
    score: float
    told: Callable[[], str]
    """In words, when someone asks: what of the question was found where."""

    @property
    def why(self) -> str:
        return self.told()

    def __repr__(self) -> str:
        return f"Hit(memory={self.memory!r}, score={self.score!r}, why={self.why!r})"


class Found(msgspec.Struct, frozen=True):
    hits: list[Hit]
    total: int
    """How many memories matched, of which `hits` are the best."""


class Page(msgspec.Struct, frozen=True):
    memories: list[Memory]
    total: int


class Usage(msgspec.Struct, frozen=True, gc=False):
    """What retention needs to know of an active memory, without its text."""

    number: int
    version: int
    scope: Scope
    topic: str
    pinned: bool
    used_at: datetime
    """The last time it was found or shown, or anything was done to it: kept, told again, changed, imported, restored."""
    expires_at: datetime | None = None


class Resumed(msgspec.Struct, frozen=True):
    """What an agent needs to go on where it was. No memory is in two of the lists: the first that fits has it."""

    pinned: list[Memory]
    """Of all that the scope sees, but for other sessions; last changed first, as in every list."""
    preferences: list[Memory]
    """Of type preference, of the project and the global layer: the user's own, not those that a worker wrote."""
    session: list[Memory]
    """Of the scope's session; empty where the scope is none."""
    project: list[Memory]
    """Of the project, without its sessions, newest and most used first; of the global layer where there is no project."""
    agent_preferences: list[Memory]  # those that workers wrote: what an agent says that the user wants


class Summary(msgspec.Struct, frozen=True):
    """What there is, in numbers."""

    count: int
    by_type: dict[str, int]
    """The most common first, as in `by_tag`."""
    by_tag: dict[str, int]
    """The 20 most common; tags that differ only in case are one."""
    oldest: datetime | None
    """When the first of them was created."""
    newest: datetime | None
    """When the last of them was changed."""
    bytes: int
    """Of their contents in UTF-8."""


class Vectors(msgspec.Struct, frozen=True):
    """How far the vectors are."""

    embedder: str | None
    """The model that makes them; None when there is none, and words alone find."""
    embedded: int
    pending: int
    trouble: str = ""
    """Why the last ones could not be made."""


class Event(msgspec.Struct, frozen=True):
    """What happened, in order. Never holds a memory's text, so that a purge leaves nothing here."""

    number: int
    at: datetime
    deed: str
    actor: Actor
    memory_id: str | None = None
    memory_number: int | None = None
    detail: dict[str, object] = {}


class Link(msgspec.Struct, frozen=True):
    source: str
    """Id of the memory the link starts from."""
    kind: LinkKind
    target: str
    created_at: datetime


class Version(msgspec.Struct, frozen=True):
    """How a memory looked from `memory.updated_at` on."""

    memory: Memory
    actor: Actor | None


class Project(msgspec.Struct, frozen=True):
    path: str
    description: str = ""
    root: str | None = None
    """The directory it was found in, if any."""
    created_at: datetime | None = None


class Session(msgspec.Struct, frozen=True):
    """A piece of work in a project, started by its name or by the first memory that is kept in it."""

    scope: Scope
    source: str
    """Where it was started from, such as cli or slack; empty when nobody said."""
    created_at: datetime
    updated_at: datetime
    """When something in it last changed; when it was started, if nothing did."""
    memories: int = 0  # the current ones


class Mirror(msgspec.Struct, frozen=True):
    """A scope that is kept in step with a file, or with the files of a directory."""

    number: int
    scope: Scope
    place: str
    """An absolute directory."""
    file: str
    """The file in it; empty where the format has many."""
    format: str
    choice: Choice
    created_at: datetime
    seen: int = 0
    """The last event that its files show."""


class Meeting(msgspec.Struct, frozen=True, gc=False):
    """When a memory and its entry in a file were last known to say the same: this version of it, and these lines there."""

    memory: int
    file: str = ""
    """Empty: it belongs to the mirror, but stands in none of its files."""
    entry: str = ""
    """The id as it stands in the file; empty where there is none."""
    version: int = 0
    digest: str = ""


class Sighting(msgspec.Struct, frozen=True, gc=False):
    """How a file looked when it was last read or written."""

    name: str
    mtime_ns: int
    size: int
    inode: int
    digest: str
    """Of its whole text."""
    settled: bool
    """False: it was so young that a later change might not show in its time."""


class Dispute(msgspec.Struct, frozen=True):
    """Both sides of a mirror changed, differently. One stands, the other is a version in the memory's history."""

    mirror: int
    memory: int
    at: datetime
    file_version: int
    """0: the file had the entry no longer."""
    database_version: int
    stands: Side


TYPES = (
    "note", "tech", "project-tech", "domain", "pattern", "warning", "learning", "context",
    "architecture", "solution", "decision", "preference",
)  # fmt: skip
"""The types everybody has; settings add more."""

TOPIC_LENGTH = 50

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""C0 and C1 controls, and the characters that change the direction of what follows: never in a single line."""


def derived_topic(content: str) -> str:
    """The first 50 characters of the content on one line, without control characters, the rest of it as three dots."""
    opening = content[: TOPIC_LENGTH + 1]
    if len(opening) > TOPIC_LENGTH and opening.isprintable() and "  " not in opening and opening[0] != " ":
        return opening[:TOPIC_LENGTH] + "..."
    # Only the opening is looked at: a 1 MB content must not be split into words for its title.
    opening = CONTROL.sub("", " ".join(content[: TOPIC_LENGTH * 8].split()))
    if len(opening) <= TOPIC_LENGTH and len(content) <= TOPIC_LENGTH * 8:
        return opening
    return opening[:TOPIC_LENGTH] + "..."


def new_id(at: datetime, random: str = "") -> str:
    """A UUIDv7: 48 bits of milliseconds, then 74 random ones; of `random`, 20 hex digits, where many are drawn at once."""
    random = random or os.urandom(10).hex()
    return f"{_time_of_id(at)}-7{random[:3]}-{_VARIANT[random[3]]}{random[4:7]}-{random[8:]}"


@functools.lru_cache(maxsize=4)
def _time_of_id(at: datetime) -> str:
    time = f"{max(0, int(at.timestamp() * 1000)) & 0xFFFF_FFFF_FFFF:012x}"
    return f"{time[:8]}-{time[8:]}"


_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}


def now() -> datetime:
    return datetime.fromtimestamp(time.time(), UTC)


# Names Windows keeps for devices: a project tree must be able to live on any disk.
_RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))}
_SEGMENT_BYTES = 255


def segment(name: str, what: str) -> str:
    """A checked name of a project segment or a session, in NFC."""
    name = unicodedata.normalize("NFC", name)
    if not name.strip():
        raise InvalidInput(f"a {what} needs a name: it is empty")
    if name != name.strip() or name.startswith(".") or name.endswith("."):
        raise InvalidInput(f"{what} {name!r}: no white space at its ends, and no dot at its start or end, please")
    for character in name:
        if character in '/\\:*?"<>|' or unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            raise InvalidInput(f"{what} {name!r} holds {character!r}: letters, digits, spaces, - _ . are fine")
    if len(name.encode()) > _SEGMENT_BYTES:
        raise InvalidInput(f"{what} {name[:20]!r}… is longer than {_SEGMENT_BYTES} bytes: choose a shorter name")
    if name.casefold().partition(".")[0] in _RESERVED:
        raise InvalidInput(f"{what} {name!r} is a reserved name: choose another")
    return name


def project_path(path: str) -> str:
    parts = path.split("/")
    if len(parts) > 3:
        raise InvalidInput(f"project {path!r} has {len(parts)} segments: one to three, like backend/python/shop")
    return "/".join(segment(part, "project") for part in parts)
