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
    rebuild: int
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
        """Return the memory with this number or id, of any scope and state; None if there is none."""

    def memories(self, references: Sequence[int] | Sequence[str]) -> list[Memory]:
        """Return the memories with these numbers or ids, of any scope and state, in the order asked.

        Missing ones are left out.
        """

    def by_key(self, scope: Scope, key: str, *, forgotten: bool = False) -> Memory | None:
        """Return the memory of exactly this scope with this key; None if there is none.

        `forgotten`: look among forgotten memories instead of the others; of several, the one changed last is returned.
        """

    def by_key_in_sessions(self, scope: Scope, key: str) -> Sequence[Memory]:
        """Return the memories with this key in the project's sessions, last changed first, but no forgotten ones."""

    def by_fingerprint(self, fingerprint: int, scope: Scope, *, forgotten: bool = False) -> list[Memory]:
        """Return the memories of exactly this scope with this fingerprint, highest number first.

        `forgotten`: only forgotten memories; otherwise only the others.
        """

    def known_fingerprints(self, fingerprints: Sequence[int]) -> set[int]:
        """Return which of these fingerprints any memory has, of any scope."""

    def browse(self, query: Query, at: datetime) -> Iterator[Memory]:
        """Return the memories that pass the query's scope, states and filters, last changed first. Lazy.

        `at`: the moment at which expired memories count as inactive. Text, limit, offset and score are ignored.
        """

    def everything(self) -> Iterator[Memory]:
        """Return every memory of every scope and state, by number."""

    def count(self, query: Query, at: datetime) -> int:
        """Return how many memories `browse` would return."""

    def summary(self, query: Query, at: datetime) -> Summary:
        """Return counts, tags and times of what `browse` would return. Reads no content."""

    def counts(self, at: datetime | None = None) -> list[tuple[Scope, str, str, int]]:
        """Return how many memories there are, by scope, type and state: one tuple of these and the count for each.

        `at`: count active memories that have expired at this moment as inactive; None: by their stored state.
        """

    def versions(self, number: int) -> list[Version]:
        """Return all versions of a memory, oldest first, the current one last; none if there is no such memory."""

    def links(self, number: int) -> list[Link]:
        """Return the links from and to a memory, oldest first."""


class EventReader(Protocol):
    """Read what happened. A later event has a greater number, whichever process wrote it."""

    def events(
        self, scope: Scope | None, number: int | None, since: datetime | None, limit: int, source: Source | None = None
    ) -> list[Event]:
        """Return at most `limit` events, newest first.

        `scope`: only events of what it sees; None: of all scopes. `number`: only events about this memory. `since`: only
        events at or after this moment. `source`: only events that came from it, or from a part of it (see
        `model.source.is_within`).
        """

    def events_after(self, event: int, scope: Scope | None, limit: int) -> list[Event]:
        """Return at most `limit` events with a number above `event`, oldest first.

        `scope`: only events of what it sees; None: of all scopes.
        """

    def mark(self) -> StoreMark:
        """Return a mark that differs after any event and after a rebuild of the index, whichever process did it. Cheap."""

    def memories_changed_since(self, event: int) -> list[int]:
        """Return the numbers of the memories that events with a number above `event` are about, in rising order."""

    def projects_changed_since(self, event: int) -> set[str]:
        """Return the paths of the projects that events with a number above `event` are about themselves.

        The empty path is the global layer. Events about a session count, events about a memory do not.
        """

    def memories_expired_since(self, event: int, at: datetime) -> list[int]:
        """Return the numbers of the active memories that expired after the time of this event, up to the moment `at`.

        If there is no such event, all that have expired are returned.
        """

    def purged_ids(self, ids: Sequence[str] | None = None) -> set[str]:
        """Return which of these ids belonged to memories that were purged from this store; without ids, all such ids."""

    def copies(self) -> list[str]:
        """Return the paths that events name as copies of the store (action `backed_up`), each once, oldest first."""


class ProjectReader(Protocol):
    """Read projects and sessions."""

    def projects(self) -> list[Project]:
        """Return all projects by path."""

    def project(self, path: str | None = None, *, root: str | None = None, number: int | None = None) -> Project | None:
        """Return the project with this path, with this number, or with the directory `root`; None if there is none.

        Exactly one of the three is given. Raises Conflict if there is a project whose path differs only in case.
        """

    def last_changes(self) -> dict[str, datetime]:
        """Return when a memory in any state last changed in each project that has memories, by the project's path."""

    def sessions(self, at: datetime, scope: Scope | None = None) -> list[Session]:
        """Return the sessions of the scope's project, last changed first; of a session's scope, only that session.

        `at`: memories that have expired at this moment are not counted. `scope`: None for the sessions of all projects.
        """


class RetentionReader(Protocol):
    """Read what retention needs: memories out of use, and when it last ran."""

    def unused_memories(self, since: datetime, at: datetime) -> Iterator[Usage]:
        """Return the active memories that have expired at `at`, then those not used after `since`, longest unused first.

        A use is an access or any event about the memory. Lazy; reads no content.
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
        """Return the sync states of these files and of these memories; all states of the mirror if neither is given."""

    def mirrors_of(self, memories: Sequence[int]) -> set[int]:
        """Return the numbers of the mirrors that have a sync state of one of these memories."""

    def file_states(self, mirror: int) -> list[FileState]:
        """Return the state of each file of a mirror when it was last read or written."""

    def file_versions(self, mirror: int, names: Sequence[str]) -> list[FileVersions]:
        """Return what is known of the synced versions of these files. Files of which nothing is known are left out."""

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
        """Store and index new memories, and return them with their numbers.

        `actor`: who stores them, and the author of a memory that has none. A number that is 0, is taken, was taken by an
        erased memory or is too large is replaced by the next free one. The first memory of a project or session creates
        it. Raises Conflict if an id is taken, or a key in its scope.
        """

    def change(self, changes: Sequence[MemoryChange], actor: Actor) -> None:
        """Store the old memories as past versions, replace them by the new ones, and index these by state and scope.

        `actor`: who makes the new versions. Raises Conflict if a new key is taken in its scope.
        """

    def count_reference(self, number: int) -> None:
        """Add one to the reference count of a memory, without a new version."""

    def erase(self, number: int) -> None:
        """Delete a memory with its versions, links, index entry, sync states, and what is recorded of it for runs and hooks.

        All records of work trees are deleted too: their files may contain its text. Does nothing if there is no such memory.
        See `Erasure` for the bytes that stay in the file.
        """

    def link(self, source: int, kind: LinkKind, target: int, at: datetime) -> bool:
        """Link memory number `source` to number `target`; return False if they have a link of this kind already."""

    def unlink(self, source: int, kind: LinkKind, target: int) -> bool:
        """Remove the link of this kind from memory number `source` to number `target`; return whether there was one."""


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

        `action`: what was done, such as remembered. `detail`: more about it, never a memory's text. `source`: where the
        action came from; None: the interface of the actor (see `model.source.actor_source`).
        """


class ProjectWriter(Protocol):
    """Write projects and sessions."""

    def put_project(self, project: Project) -> None:
        """Add a project, or replace the description, directories and identity of the one with its path.

        A directory of another project is taken from that one. The store numbers a new project, and never gives a number
        twice.
        """

    def merge_projects(self, source: str, target: str) -> None:
        """Move everything of the project `source` but its memories to the project `target`, and delete `source`.

        That is its sessions, runs, events, directories, identity, mirrors and records of work trees; what both have stays as
        it is in the target. Raises Conflict if `source` still has memories.
        """

    def add_session(self, scope: Scope, source: str, at: datetime) -> bool:
        """Add a session, and its project if that is new; return False if the session exists already.

        `source`: where it was started from. Raises Conflict if the project has a session whose name differs only in case.
        """


class RetentionWriter(Protocol):
    """Record maintenance."""

    def record_run(self, task: str, at: datetime) -> None:
        """Record that this task ran at this moment: see `RetentionReader.last_run`."""


class SyncWriter(Protocol):
    """Write mirrors, and what is known of their files and entries."""

    def put_mirror(self, mirror: Mirror) -> Mirror:
        """Store a mirror, and return it with its number.

        The number 0 stands for a new mirror; of another one, place, choice, last event, retention and adopted patterns are
        changed. Raises Conflict if a new mirror has the files of another one.
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
    """A store of memories, which begins transactions on it."""

    location: str
    """Where the store is, for messages and for people."""

    @property
    def idle(self) -> bool:
        """Whether the store is open and has no transaction of this process."""

    def read(self) -> AbstractContextManager[Reader]:
        """Begin a transaction that reads.

        Raises StoreReplaced, as `write` does, if the database was removed or replaced since it was opened.
        """

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Begin a long transaction that reads, on a connection of its own.

        Meanwhile this process can begin other transactions. It may end in another thread than the one that began it.
        """

    def write(self, *, patient: bool = True, durable: bool = True) -> AbstractContextManager[Writer]:
        """Begin a transaction that writes.

        `patient`: whether to wait for other writers, as long as the setting `wait` allows. `durable`: whether the commit is
        synced to the disk; otherwise a power cut before the next durable write may lose it, all of it and never a part.
        Raises StoreBusy if another process is still writing.
        """

    def touch(self, numbers: Iterable[int], at: datetime) -> None:
        """Record that these memories were accessed at this moment.

        The times are written later, with the next write at the latest; they are lost if the process is killed before.
        """

    def task_lock(self, task: str) -> AbstractContextManager[None]:
        """Lock a task for this process until the block or the process ends; raise StoreBusy if another process runs it."""

    def close(self) -> None:
        """Close the store. Closing it again does nothing."""
