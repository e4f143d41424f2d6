"""What a store promises, in small protocols: memories, search index, vectors, events, projects, sync state.

A store stores and finds; terms, fingerprints, ranking and permissions are computed above it, so that every backend gives
the same results. Each promise has a test in `tests/contract/`, to which a backend supplies a fixture. What only some
engines can do (copy a file, merge index segments) is an optional capability: see `capabilities.py`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

import msgspec

from omoide.model import (
    Actor,
    Event,
    FileState,
    FileVersions,
    Link,
    LinkKind,
    Memory,
    Mirror,
    Project,
    Query,
    Scope,
    Session,
    Source,
    Summary,
    SyncConflict,
    SyncState,
    Usage,
    Version,
)
from omoide.storage.hooks import HookReader as HookReader, HookWriter as HookWriter
from omoide.storage.idempotency import IdempotencyReader as IdempotencyReader, IdempotencyWriter as IdempotencyWriter
from omoide.storage.llm_calls import LlmCallReader as LlmCallReader, LlmCallWriter as LlmCallWriter
from omoide.storage.prompts import PromptReader as PromptReader
from omoide.storage.runs import RunReader as RunReader, RunWriter as RunWriter
from omoide.storage.search_index import (
    Counts as Counts,
    IndexEntry as IndexEntry,
    IndexSize as IndexSize,
    NearDuplicateFilter as NearDuplicateFilter,
    Posting as Posting,
    PostingSet as PostingSet,
    RankingFacts as RankingFacts,
    SearchIndex as SearchIndex,
    SessionNeighbour as SessionNeighbour,
    TextEnds as TextEnds,
)
from omoide.storage.vector_index import (
    EmbeddingModel as EmbeddingModel,
    SignBits as SignBits,
    StoredVector as StoredVector,
    VectorCounts as VectorCounts,
    VectorIndex as VectorIndex,
    VectorIndexWriter as VectorIndexWriter,
)
from omoide.storage.work_trees import WorkTreeReader as WorkTreeReader, WorkTreeWriter as WorkTreeWriter


class StoreMark(msgspec.Struct, frozen=True):
    """The state of a store, to be compared with an earlier one."""

    event: int
    """The number of the last event."""
    renewal: int
    """Changes when the whole index was rebuilt, which may have dropped vectors too."""


IndexedMemory = tuple[Memory, int, IndexEntry]
"""A memory with its fingerprint and its index entry."""
MemoryChange = tuple[Memory, Memory, int, IndexEntry]
"""The old memory, then the new one with its fingerprint and its index entry."""


class SyncUpdate(msgspec.Struct, frozen=True):
    """What changed in the sync state of a mirror. What is both new and dropped is dropped."""

    states: Iterable[SyncState] = ()
    """Each replaces the sync state of its memory. One whose memory was purged meanwhile is left out."""
    dropped_states: Iterable[int] = ()
    """Numbers of memories that are no longer in the mirror."""
    files: Iterable[FileState] = ()
    """Each replaces the state of the file of its name."""
    dropped_files: Iterable[str] = ()
    """Names of files that are no longer known; what is known of their versions stays."""
    versions: Iterable[FileVersions] = ()
    """Each replaces what is known of the versions of the file of its name."""
    dropped_versions: Iterable[str] = ()
    """Names of files of whose versions nothing is known any more."""
    conflicts: Iterable[SyncConflict] = ()
    """Each replaces an older one about the same memory."""
    settled_conflicts: Iterable[int] = ()
    """Numbers of memories about which there is no conflict any more."""
    last_event: int | None = None
    """The last event that the files show; None: as before."""


class MemoryReader(Protocol):
    """Read memories with their versions and links."""

    def memory(self, reference: int | str) -> Memory | None:
        """Return the memory with this number or id, of any scope and state."""

    def memories(self, references: Sequence[int] | Sequence[str]) -> list[Memory]:
        """Return the memories with these numbers or ids, of any scope and state, in the order asked.

        Missing ones are left out.
        """

    def by_key(self, scope: Scope, key: str, *, forgotten: bool = False) -> Memory | None:
        """Return the memory of exactly this scope with this key that is not forgotten; or the last forgotten one."""

    def by_key_in_sessions(self, scope: Scope, key: str) -> Sequence[Memory]:
        """Return the memories of any session of the scope's project with this key, not forgotten, last changed first."""

    def by_fingerprint(self, fingerprint: int, scope: Scope, *, forgotten: bool = False) -> list[Memory]:
        """Return the memories of exactly this scope with this fingerprint, newest first: forgotten ones, or the others."""

    def known_fingerprints(self, fingerprints: Sequence[int]) -> set[int]:
        """Return which of these fingerprints any memory has, of any scope."""

    def browse(self, query: Query, at: datetime) -> Iterator[Memory]:
        """Return what passes the query's scope, states and filters, last changed first. Lazy; ignores text and limit."""

    def everything(self) -> Iterator[Memory]:
        """Return every memory of every scope and state, by number."""

    def count(self, query: Query, at: datetime) -> int:
        """Return how many memories `browse` would return."""

    def summary(self, query: Query, at: datetime) -> Summary:
        """Return counts, tags and times of what `browse` would return. Reads no content."""

    def counts(self, at: datetime | None = None) -> list[tuple[Scope, str, str, int]]:
        """Return how many memories there are by scope, type and state, in this order.

        Given a moment, active memories that have expired by then count as inactive, as they are listed.
        """

    def versions(self, number: int) -> list[Version]:
        """Return all versions of a memory, oldest first, the present one last."""

    def links(self, number: int) -> list[Link]:
        """Return the links from and to a memory."""


class EventReader(Protocol):
    """Read what happened. A later event has a greater number, whichever process wrote it."""

    def events(
        self, scope: Scope | None, number: int | None, since: datetime | None, limit: int, source: Source | None = None
    ) -> list[Event]:
        """Return events, newest first. Events of memories that the scope does not see are left out.

        `source`: only those that came from it, or from a part of it (see `model.source.is_within`).
        """

    def events_after(self, event: int, scope: Scope | None, limit: int) -> list[Event]:
        """Return the events with a greater number, oldest first; of those that the scope does not see none, None: all."""

    def mark(self) -> StoreMark:
        """Return a mark that differs after any event and after the index was rebuilt, whichever process did it. Cheap."""

    def memories_changed_since(self, event: int) -> list[int]:
        """Return the numbers of the memories that later events are about, in rising order."""

    def projects_changed_since(self, event: int) -> set[str]:
        """Return the paths of the projects that later events are about themselves, or one of their sessions."""

    def memories_expired_since(self, event: int, at: datetime) -> list[int]:
        """Return the active memories that expired after this event, or ever if it does not exist, up to this moment."""

    def purged_ids(self, ids: Sequence[str] | None = None) -> set[str]:
        """Return which of these ids belonged to memories that were purged here; None: all of them."""

    def copies(self) -> list[str]:
        """Return the files that events name as copies of the store (`backed_up`), each once, oldest first."""


class ProjectReader(Protocol):
    """Read projects and sessions."""

    def projects(self) -> list[Project]:
        """Return all projects by path."""

    def project(self, path: str | None = None, *, root: str | None = None, number: int | None = None) -> Project | None:
        """Return the project with this path, with this number, or that this directory belongs to; None if there is none.

        Raises Conflict if there is a project whose path differs only in case.
        """

    def last_changes(self) -> dict[str, datetime]:
        """Return when a memory of each project last changed, in any state; projects without memories are left out."""

    def sessions(self, at: datetime, scope: Scope | None = None) -> list[Session]:
        """Return the sessions of a project, or of all, last changed first; of a session's scope, only that one."""


class RetentionReader(Protocol):
    """Read what retention needs: memories out of use, and when it last ran."""

    def unused_memories(self, since: datetime, at: datetime) -> Iterator[Usage]:
        """Return the active memories that expired by `at`, then those not used after `since`, longest unused first.

        A use is an access or any event about the memory. Reads no content.
        """

    def last_run(self, task: str) -> datetime | None:
        """Return when this task last ran; None if never."""


class SyncReader(Protocol):
    """Read mirrors, and what is known of their files and entries."""

    def mirrors(self) -> list[Mirror]:
        """Return all mirrors by number."""

    def sync_states(
        self, mirror: int, *, files: Sequence[str] | None = None, memories: Sequence[int] | None = None
    ) -> list[SyncState]:
        """Return the sync states of these files and these memories; all of the mirror's if neither is given."""

    def mirrors_of(self, memories: Sequence[int]) -> set[int]:
        """Return the numbers of the mirrors that have a sync state of one of these memories."""

    def file_states(self, mirror: int) -> list[FileState]:
        """Return the state of each file of a mirror when it was last read or written."""

    def file_versions(self, mirror: int, names: Sequence[str]) -> list[FileVersions]:
        """Return what is known of the synced versions of these files; one of which nothing is known is left out."""

    def sync_conflicts(self) -> list[SyncConflict]:
        """Return the conflicts of all mirrors, oldest first."""


class Reader(
    MemoryReader,
    SearchIndex,
    VectorIndex,
    EventReader,
    ProjectReader,
    RetentionReader,
    SyncReader,
    LlmCallReader,
    PromptReader,
    IdempotencyReader,
    RunReader,
    WorkTreeReader,
    HookReader,
    Protocol,
):
    """A consistent view: everything that is read in it is of one moment, at the latest that of the first read.

    It ends with its block. Whatever is used of it afterwards, an iterator too, raises StoreError.
    """


class MemoryWriter(Protocol):
    """Write memories, their versions, their links and their index entries, always together."""

    def add(self, new: Sequence[IndexedMemory], actor: Actor) -> list[Memory]:
        """Store and index new memories, each by its author or else the actor. Return them with their numbers.

        A number that is 0, is taken, was taken by an erased memory or is too large is replaced by the next free one. The
        first memory of a project or session creates it. Raises Conflict if an id is taken, or a key in its scope.
        """

    def change(self, changes: Sequence[MemoryChange], actor: Actor) -> None:
        """Store the old memories as versions, put the new ones in their places, and index those by state and scope.

        Raises Conflict if a new key is taken in its scope.
        """

    def count_reference(self, number: int) -> None:
        """Count one more reference. Not a new version."""

    def erase(self, number: int) -> None:
        """Delete the memory, its versions, links, index entry and sync states. See `Erasure` for the bytes."""

    def link(self, source: int, kind: LinkKind, target: int, at: datetime) -> bool:
        """Link two memories. Return whether the link is new."""

    def unlink(self, source: int, kind: LinkKind, target: int) -> bool:
        """Remove a link. Return whether there was one."""


class EventWriter(Protocol):
    """Append events. Whoever adds, changes or erases a memory also appends its event: other processes learn by it."""

    def add_event(
        self,
        action: str,
        actor: Actor,
        at: datetime,
        about: Memory | Scope | Sequence[Memory],
        detail: Mapping[str, object],
        source: Source | None = None,
    ) -> None:
        """Append an event about a memory, one about each of several memories, or one about a scope itself.

        The detail never contains a memory's text. `source`: where it came from; None: from the interface of the actor
        (see `model.source.actor_source`).
        """


class ProjectWriter(Protocol):
    """Write projects and sessions."""

    def put_project(self, project: Project) -> None:
        """Add the project, or change its description, directories and identity. A directory leaves the project it was of.

        The store numbers a new project: a number is never given twice.
        """

    def merge_projects(self, source: str, target: str) -> None:
        """Move the sessions, events, directories, identity and mirrors of one project to another, and delete it.

        Raises Conflict if it still has memories.
        """

    def add_session(self, scope: Scope, source: str, at: datetime) -> bool:
        """Start a session, as its first memory would too. Return whether it is new.

        Raises Conflict if the project has one that differs only in case.
        """


class RetentionWriter(Protocol):
    """Record maintenance."""

    def record_run(self, task: str, at: datetime) -> None:
        """Record that this task ran."""


class SyncWriter(Protocol):
    """Write mirrors, and what is known of their files and entries."""

    def put_mirror(self, mirror: Mirror) -> Mirror:
        """Store a new mirror (its number is 0), or change place, choice, last event and retention of the one with
        this number.

        Return it with its number. Raises Conflict if another mirror has the file.
        """

    def drop_mirror(self, number: int) -> None:
        """Delete a mirror, with everything that is known of its files."""

    def record_sync(self, mirror: int, update: SyncUpdate) -> None:
        """Record what is now known of a mirror's files and entries. Does nothing if there is no such mirror."""


class Writer(
    Reader,
    MemoryWriter,
    VectorIndexWriter,
    EventWriter,
    ProjectWriter,
    RetentionWriter,
    SyncWriter,
    RunWriter,
    LlmCallWriter,
    IdempotencyWriter,
    WorkTreeWriter,
    HookWriter,
    Protocol,
):
    """A transaction: all of it is stored, durably, when the block ends; none of it when the block raises."""


class Store(Protocol):
    """Where memories are stored: begins transactions."""

    location: str
    """Where the store is, for messages and for people."""

    @property
    def idle(self) -> bool:
        """Whether the store is open and has no transaction of this process."""

    def read(self) -> AbstractContextManager[Reader]:
        """Begin to read. Raises StoreReplaced if the database was removed or replaced since it was opened, as `write`."""

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Begin a long read, during which this process reads and writes. Another thread than the first may end it."""

    def write(self, *, patient: bool = True, durable: bool = True) -> AbstractContextManager[Writer]:
        """Begin to write. Waits for other writers; raises StoreBusy if that takes longer than the settings allow, or at
        once if not `patient`.

        What is not `durable` may be lost in a power cut, until the next durable write: all of it, never a part.
        """

    def touch(self, numbers: Iterable[int], at: datetime) -> None:
        """Note that these memories were accessed. Written later, with the next write at the latest: may be lost."""

    def task_lock(self, task: str) -> AbstractContextManager[None]:
        """Keep other processes from the same task until the block or this process ends. Raises StoreBusy if one runs."""

    def close(self) -> None:
        """Close the store. May be called again."""
