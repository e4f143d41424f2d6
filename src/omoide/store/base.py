"""What a store promises: each verb once, with what it keeps even when things go wrong.

A store keeps and finds; it does not think. Terms, twins, order and permission are made above it, so that every backend
gives the same answers. Its promises are tests in `tests/contract/`, and a new backend only supplies a fixture there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from omoide.model import Actor, Event, Link, LinkKind, Memory, Project, Query, Scope, Version


class Words(NamedTuple):
    """What makes a memory findable: its terms by field, space-joined, and how many they are."""

    topic: str
    tags: str
    content: str
    length: int


Posting = tuple[int, int, int, int]
"""A memory's number, and how often it holds a term in its topic, its tags and its content. Thousands are made a query."""


class Outline(NamedTuple):
    """What the ranking needs to know of a memory, without its text."""

    number: int
    scope: Scope
    length: int
    confidence: float
    relevance: float
    reference_count: int
    updated_at: datetime


class Sizes(NamedTuple):
    entries: int
    terms: int


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
    def by_key(self, scope: Scope, key: str) -> Memory | None:
        """The living (not forgotten) memory of exactly this scope with this key."""

    def twins(self, twin: int, scope: Scope) -> list[Memory]:
        """The living memories of exactly this scope with this fingerprint, newest first."""

    def browse(self, query: Query, at: datetime) -> Iterator[Memory]:
        """What the query's scope, states and filters let through, last changed first. Lazy; ignores text and limit."""

    def count(self, query: Query, at: datetime) -> int: ...
    def sizes(self, query: Query) -> Sizes:
        """How much is indexed where the query may look."""

    def frequency(self, query: Query, term: str, most: int) -> int:
        """How many memories hold the term where the query may look, counted up to `most`."""

    def postings(self, query: Query, term: str, most: int, among: Sequence[str] = ()) -> list[Posting]:
        """Who holds the term, newest first, `most` at the most; with `among`, only those that hold one of these too."""

    def holding(self, query: Query, groups: Sequence[Sequence[str]], most: int) -> list[int]:
        """The newest memories that hold every term of at least one group."""

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


class Writing(Reading, Protocol):
    """A transaction: all of it is kept, durably, when the block ends; none of it when the block raises."""

    def add(self, memory: Memory, twin: int, words: Words, actor: Actor) -> Memory:
        """Keeps a new memory and indexes it. Number 0 asks for the next free one; a taken number gets a new one."""

    def change(self, old: Memory, new: Memory, twin: int, words: Words, actor: Actor) -> None:
        """Keeps `old` as a version, puts `new` in its place, and the index in step with its state and scope."""

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


class Store(Protocol):
    place: str
    """Where it is, for messages and for people."""

    def read(self) -> AbstractContextManager[Reading]: ...
    def write(self) -> AbstractContextManager[Writing]:
        """Waits for other writers; raises StoreBusy when that takes longer than the settings allow."""

    def touch(self, numbers: Iterable[int], at: datetime) -> None:
        """Notes that these were accessed. Written behind, without waiting: may be lost, never blocks."""

    def scrub(self) -> None:
        """Leaves no byte of what was erased in the file, its log or its index."""

    def check(self) -> list[Finding]: ...
    def rebuild(self, words: Callable[[Reading], Iterator[tuple[Memory, Words]]]) -> int:
        """Makes the whole index anew, in one transaction, from what `words` yields; answers how many were indexed."""

    def backup(self, target: Path) -> None:
        """A consistent copy while others read and write; the target appears whole or not at all."""

    def close(self) -> None: ...
