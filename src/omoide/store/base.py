"""What a store promises: each verb once, with what it keeps even when things go wrong.

A store keeps and finds; it does not think. Terms, twins, order and permission are made above it, so that every backend
gives the same answers. Its promises are tests in `tests/contract/`, and a new backend only supplies a fixture there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from omoide.model import Actor, Event, Link, LinkKind, Memory, Project, Query, Scope, Summary, Usage, Version


class Words(NamedTuple):
    """What makes a memory findable: its terms by field, space-joined, and how many they are."""

    topic: str
    tags: str
    content: str
    length: int
    kin: int
    """A hash of the most telling term of the content: near twins mostly share it."""


Posting = tuple[int, int, int, int]
"""A memory's number, and how often it holds a term in its topic, its tags and its content."""


SHORT = 2_000
"""Terms of the longest memory whose text an outline carries."""


class Outline(NamedTuple):
    """What the ranking needs to know of a memory."""

    number: int
    everywhere: bool
    """Whether it is in the global layer."""
    session: str
    length: int
    confidence: float
    relevance: float
    reference_count: int
    days: float
    """Since its last change."""
    topic: str
    """What is indexed as its topic: none when omoide derived it, and the key."""
    tags: str
    """Its tags in one text, and beside it its content with the examples. None: too long to be read for a ranking."""
    content: str | None


class Sizes(NamedTuple):
    entries: int
    terms: int


class Sign(NamedTuple):
    """The signs of a vector: what it is searched by."""

    seq: int
    """Rises with every change: what a process has not seen has a higher one than what it has."""
    number: int
    bits: bytes


class Vector(NamedTuple):
    """What a piece of a version of a memory means."""

    number: int
    version: int
    bits: bytes
    parts: bytes


class Coverage(NamedTuple):
    """How far the vectors of a model are."""

    embedded: int
    pending: int


class Model(NamedTuple):
    number: int
    dimensions: int


class Near(NamedTuple):
    """A memory beside another in a session."""

    number: int
    project: int
    session: str
    length: int


class Opening(NamedTuple):
    """How a memory begins and ends, and when it was learnt."""

    created_at: datetime
    first: str
    last: str


class Finding(NamedTuple):
    """One thing that a check found wrong, and what would mend it."""

    what: str
    remedy: str
    fixable: bool


class Reading(Protocol):
    """One consistent view: everything read in it is of one moment."""

    def memory(self, number: int) -> Memory | None: ...
    def memories(self, numbers: Sequence[int]) -> list[Memory]:
        """In the order asked; missing ones are left out."""

    def by_id(self, id: str) -> Memory | None: ...
    def by_key(self, scope: Scope, key: str, *, forgotten: bool = False) -> Memory | None:
        """The living memory of exactly this scope with this key, or the one with it that was forgotten last."""

    def twins(self, twin: int, scope: Scope) -> list[Memory]:
        """The living memories of exactly this scope with this fingerprint, newest first."""

    def known(self, twins: Sequence[int]) -> set[int]:
        """Which of these fingerprints any memory has, in whatever scope."""

    def kindred(self, words: Words, scope: Scope, most: int) -> list[Memory]:
        """The newest living memories of exactly this scope with the same kin and about the same length."""

    def browse(self, query: Query, at: datetime) -> Iterator[Memory]:
        """What the query's scope, states and filters let through, last changed first. Lazy; ignores text and limit."""

    def count(self, query: Query, at: datetime) -> int: ...
    def summary(self, query: Query, at: datetime) -> Summary:
        """What the query's scope, states and filters let through, in numbers. Reads no content."""

    def sizes(self, query: Query) -> Sizes:
        """How much is indexed where the query may look."""

    def frequencies(self, query: Query, terms: Iterable[str], most: int) -> dict[str, int]:
        """How many memories hold each term where the query may look, counted up to `most`."""

    def holders(self, query: Query, terms: Iterable[str], most: int, *, titled: bool = False) -> dict[str, list[int]]:
        """Who holds each term where the query may look, `most` at the most; titled, in its topic or tags.

        Active memories come before those set aside, the scope's own project before the global layer, and in each the
        newest first: so a crowd elsewhere never pushes out what is near.
        """

    def postings(
        self, query: Query, terms: Iterable[str], among: Sequence[int] | None = None, *, counted: bool = True
    ) -> dict[str, list[Posting]]:
        """Of these memories, or of all, which hold each term and how often; uncounted, as if once in the content."""

    def outlines(self, query: Query, numbers: Sequence[int], at: datetime) -> list[Outline]:
        """Of these memories, those that the query's filters let through."""

    def versions(self, number: int) -> list[Version]:
        """All versions, oldest first, the present one last."""

    def events(self, scope: Scope | None, number: int | None, since: datetime | None, limit: int) -> list[Event]:
        """Newest first. Events of memories that the scope does not see are left out."""

    def links(self, number: int) -> list[Link]: ...
    def projects(self) -> list[Project]: ...
    def project_at(self, root: str) -> Project | None: ...
    def everything(self) -> Iterator[Memory]:
        """Every memory of every scope and state, by number."""

    def tally(self) -> list[tuple[Scope, str, str, int]]:
        """Memories counted by scope, type and state."""

    def unused(self, since: datetime, at: datetime) -> Iterator[Usage]:
        """The active memories that expired by `at`, then those not used after `since`, the longest unused first.

        A use is an access, or any event about the memory. Reads no content.
        """

    def crowds(self) -> dict[Scope, int]:
        """How many active memories each layer holds: the global one, every project, every session."""

    def last_done(self, task: str) -> datetime | None:
        """When this upkeep was done last; None: never."""

    def model(self, name: str) -> Model | None:
        """The model of this name that made vectors here last."""

    def places(self, query: Query) -> list[int]:
        """Where the query may look: parts of the store, each with its own signs."""

    def signs(self, model: int, place: int, after: int) -> list[Sign]:
        """The model's signs in this place that came after a `seq`. Some may be of memories that left it since."""

    def vectors(self, model: int, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        """The vectors of these memories as they are now, all of each; those without one of this model are left out."""

    def unembedded(self, model: int | None, after: int, most: int) -> list[Memory]:
        """The first living memories after this number that have no vector of the model."""

    def coverage(self, model: int | None) -> Coverage: ...
    def near(self, numbers: Sequence[int], reach: int) -> list[Near]:
        """Those of these memories that are of a session, and the memories of the same session among so many numbers
        before and after each, in the order of their numbers."""

    def openings(self, numbers: Sequence[int]) -> dict[int, Opening]: ...


class Writing(Reading, Protocol):
    """A transaction: all of it is kept, durably, when the block ends; none of it when the block raises."""

    def add(self, memory: Memory, twin: int, words: Words, actor: Actor) -> Memory:
        """Keeps a new memory and indexes it. Number 0 asks for the next free one; a taken number gets a new one."""

    def next_number(self) -> int:
        """The number that the next new memory will have."""

    def add_many(self, fresh: Sequence[tuple[Memory, int, Words]], deed: str, actor: Actor, at: datetime) -> None:
        """Keeps active memories without key, numbered from `next_number` on, and logs the deed for each.

        The same as `add` and `log` one by one, in a third of the time.
        """

    def change(self, old: Memory, new: Memory, twin: int, words: Words, actor: Actor) -> None:
        """Keeps `old` as a version, puts `new` in its place, and the index in step with its state and scope."""

    def change_many(self, changes: Sequence[tuple[Memory, Memory, int, Words]], actor: Actor) -> None:
        """The same for several, each as (old, new, twin, words), in a fraction of the time."""

    def confirm(self, number: int) -> None:
        """Counts one more reference. Not a new version."""

    def erase(self, number: int) -> None:
        """Takes the memory, its versions, links and words away. See `Store.scrub` for the bytes."""

    def log(self, deed: str, actor: Actor, at: datetime, memory: Memory, detail: Mapping[str, object]) -> None:
        """Appends an event about the memory. The detail never holds its text."""

    def link(self, source: int, kind: LinkKind, target: int, at: datetime) -> bool:
        """True when the link is new."""

    def unlink(self, source: int, kind: LinkKind, target: int) -> bool: ...
    def put_project(self, project: Project) -> None:
        """Adds the project, or changes its description and root."""

    def note_done(self, task: str, at: datetime) -> None:
        """Says that this upkeep was done."""

    def made_model(self, name: str, dimensions: int) -> int:
        """The model's number. The same name with other dimensions is another model: its vectors are never mixed."""

    def put_vectors(self, model: int, made: Iterable[Vector]) -> int:
        """Keeps the vectors of memories that are still at that version, those of a memory together and instead of any it
        had; answers how many memories. From then on they follow their memory: moved with it, gone with it, and gone when
        it is said anew."""


class Store(Protocol):
    place: str
    """Where it is, for messages and for people."""

    @property
    def idle(self) -> bool:
        """Whether it is open, and no transaction of this process is."""

    def read(self) -> AbstractContextManager[Reading]: ...
    def write(self, *, patient: bool = True) -> AbstractContextManager[Writing]:
        """Waits for other writers; raises StoreBusy when that takes longer than the settings allow, or at once."""

    def touch(self, numbers: Iterable[int], at: datetime) -> None:
        """Notes that these were accessed. Written behind, with the next write or later, without waiting: may be lost."""

    def scrub(self) -> None:
        """Leaves no byte of what was erased in the file, its log or its index."""

    def check(self) -> list[Finding]: ...
    def rebuild(self, words: Callable[[Reading], Iterator[tuple[Memory, Words]]]) -> int:
        """Makes the whole index anew, in one transaction, from what `words` yields; answers how many were indexed."""

    def renew(self, words: Callable[[Memory], Words], watch: Callable[[int], None]) -> int:
        """The same while others write: the new index is made beside the old one and takes its place in one step, with
        all that was written meanwhile. `watch` hears how many more are indexed."""

    def alone(self, task: str) -> AbstractContextManager[None]:
        """Keeps every other process from the same task until the block, or this process, ends; StoreBusy if one is at it."""

    def backup(self, target: Path) -> None:
        """A consistent copy while others read and write; the target appears whole or not at all."""

    def close(self) -> None: ...
