"""What a store promises: each verb once, with what it keeps even when things go wrong.

A store keeps and finds; it does not think. Terms, fingerprints, order and permission are made above it, so that every
backend gives the same answers. Its promises are tests in `tests/contract/`, and a new backend only supplies a fixture there.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from omoide.model import (
    Actor,
    Choice,
    Event,
    FileState,
    Link,
    LinkKind,
    Memory,
    Mirror,
    Project,
    Query,
    Scope,
    Session,
    Summary,
    SyncConflict,
    SyncState,
    Usage,
    Version,
)
from omoide.storage.texts import TextReader, TextWriter
from omoide.storage.values import NearDuplicateFilter, SessionNeighbour, TextEnds
from omoide.storage.vector_values import (
    EmbeddingModel as EmbeddingModel,
    SignBits as SignBits,
    StoredVector as StoredVector,
    VectorCounts as VectorCounts,
)


class IndexEntry(NamedTuple):
    """What makes a memory findable: its terms by field, space-joined, and how many they are."""

    topic: str
    tags: str
    content: str
    length: int
    blocking_key: int
    """A hash of what is most telling in the content: near fingerprints in one scope mostly share it."""
    key_terms: Sequence[str] = ()
    """The terms of the content that the kin was made of; not kept."""


Counts = tuple[int, int, int]
"""How often a memory holds a term in its topic, its tags and its content."""
Posting = tuple[int, int, int, int]
"""The same, after the memory's number."""


class PostingSet(NamedTuple):
    """Who holds a term."""

    holders: int
    """How many; one more than asked for if they are more."""
    bits: int | None
    """All of them in one number, whose n-th bit is memory n. None: more than asked for."""
    counts: Mapping[int, Counts] | None
    """How often, of those that hold it otherwise than once in their content. None: it is too common to be counted."""


SHORT = 2_000
"""Terms of the longest memory whose content is read for a ranking."""


class RankingFacts(NamedTuple):
    """What the ranking needs to know of a memory."""

    number: int
    everywhere: bool
    """Whether it is in the global layer."""
    session: str
    confidence: float
    relevance: float
    reference_count: int
    days: float
    """Since its last change."""


class IndexedText(NamedTuple):
    """What is indexed of a memory, as it was written."""

    number: int
    topic: str
    """Empty when omoide derived it; and the key. Beside it the tags in one text, and the content with the examples: None if
    it is too long to be read for a ranking."""
    tags: str
    content: str | None


class IndexSize(NamedTuple):
    entries: int
    terms: int


class StoreMark(NamedTuple):
    """Where a store stands, to be compared with where it stood."""

    event: int
    """The number of the last event."""
    renewal: int
    """Another one after the whole index was made anew, which may have dropped vectors too."""


class Problem(NamedTuple):
    """One thing that a check found wrong, and what would mend it."""

    what: str
    remedy: str
    fixable: bool


class Reader(TextReader, Protocol):
    """One consistent view: everything read in it is of one moment.

    It ends with its block. Whatever is used of it afterwards, an iterator too, raises StoreError.
    """

    def memory(self, number: int) -> Memory | None: ...
    def memories(self, numbers: Sequence[int]) -> list[Memory]:
        """In the order asked; missing ones are left out."""

    def by_id(self, id: str) -> Memory | None: ...
    def by_key(self, scope: Scope, key: str, *, forgotten: bool = False) -> Memory | None:
        """The living memory of exactly this scope with this key, or the one with it that was forgotten last."""

    def by_fingerprint(self, fingerprint: int, scope: Scope) -> list[Memory]:
        """The living memories of exactly this scope with this fingerprint, newest first."""

    def known_fingerprints(self, fingerprints: Sequence[int]) -> set[int]:
        """Which of these fingerprints any memory has, in whatever scope."""

    def near_duplicate_candidates(
        self, wanted: NearDuplicateFilter, blocking_key: int, families: Collection[tuple[int, int]], most: int
    ) -> list[tuple[int, str]]:
        """Numbers and excerpts of the newest memories with this kin, then of some whose kin is in one of these ranges (both
        ends included), one range after the other."""

    def snapshot(self) -> object:
        """A value that is equal in two transactions of one store if nobody wrote to it between them; cheap to ask for."""

    def browse(self, query: Query, at: datetime) -> Iterator[Memory]:
        """What the query's scope, states and filters let through, last changed first. Lazy; ignores text and limit."""

    def changed_between(self, query: Query, start: datetime, end: datetime, most: int, at: datetime) -> list[int]:
        """Of these the numbers of those last changed in this time, the end excluded, last changed first."""

    def count(self, query: Query, at: datetime) -> int: ...
    def summary(self, query: Query, at: datetime) -> Summary:
        """What the query's scope, states and filters let through, in numbers. Reads no content."""

    def sizes(self, query: Query) -> IndexSize:
        """How much is indexed where the query may look."""

    def posting_sets(self, query: Query, terms: Mapping[str, int], often: int) -> dict[str, PostingSet] | None:
        """Who holds each term where the query may look, unless they are more than the term's limit; and how often, unless
        they are more than `often`. None where memories are so many that `frequencies` and `holders` are better asked."""

    def title_postings(self, query: Query, terms: Iterable[str]) -> dict[str, int]:
        """Who holds each term in its topic or tags, as bits."""

    def frequencies(self, query: Query, terms: Iterable[str], most: int) -> dict[str, int]:
        """How many memories hold each term where the query may look, counted up to `most`."""

    def posting_numbers(
        self, query: Query, terms: Iterable[str], most: int, *, titled: bool = False
    ) -> dict[str, list[int]]:
        """Who holds each term where the query may look, `most` at the most; titled, in its topic or tags.

        Active memories come before those set aside, the scope's own project before the global layer, and in each the
        newest first: so a crowd elsewhere never pushes out what is near.
        """

    def postings(
        self, query: Query, terms: Iterable[str], among: Sequence[int] | None = None, *, counted: bool = True
    ) -> dict[str, list[Posting]]:
        """Of these memories, or of all, which hold each term and how often; uncounted, as if once in the content."""

    def lengths(self, query: Query, numbers: Sequence[int], at: datetime) -> dict[int, int]:
        """Of these memories those that the query's filters let through, in their order, with their lengths in terms."""

    def in_sessions(self, numbers: Collection[int]) -> list[int]:
        """Those of these memories that belong to a session."""

    def ranking_facts(self, numbers: Collection[int], at: datetime) -> list[RankingFacts]: ...

    def texts(self, numbers: Collection[int]) -> list[IndexedText]: ...

    def versions(self, number: int) -> list[Version]:
        """All versions, oldest first, the present one last."""

    def events(self, scope: Scope | None, number: int | None, since: datetime | None, limit: int) -> list[Event]:
        """Newest first. Events of memories that the scope does not see are left out."""

    def links(self, number: int) -> list[Link]: ...
    def projects(self) -> list[Project]: ...
    def project(self, path: str) -> Project | None:
        """The project of this path; raises Conflict for one that differs from it only in case."""

    def last_changes(self) -> dict[str, datetime]:
        """When a memory of each project last changed, in whatever state it is; projects without any are left out."""

    def sessions(self, at: datetime, scope: Scope | None = None) -> list[Session]:
        """The sessions of a project, or of all, last changed first; of a session, that one alone if it was started."""

    def project_at(self, root: str) -> Project | None: ...
    def everything(self) -> Iterator[Memory]:
        """Every memory of every scope and state, by number."""

    def counts(self, at: datetime) -> list[tuple[Scope, str, str, int]]:
        """Memories counted by scope, type and listing at this moment."""

    def unused(self, since: datetime, at: datetime) -> Iterator[Usage]:
        """The active memories that expired by `at`, then those not used after `since`, the longest unused first. A use is
        an access, or any event about the memory. Reads no content."""

    def expired_since(self, event: int, at: datetime) -> list[int]:
        """The numbers of active memories that expired after this event, or ever if there is none such, up to this moment."""

    def layer_sizes(self) -> dict[Scope, int]:
        """How many active memories each layer holds: the global one, every project, every session."""

    def last_run(self, task: str) -> datetime | None:
        """When this upkeep was done last; None: never."""

    def changes_since(self, since: int) -> tuple[int, list[int]]:
        """The number of the last event, and the memories that events after `since` are about.

        An event that is kept later has a greater number, whoever writes: what was seen once need not be looked at again.
        """

    def mark(self) -> StoreMark:
        """Another one when something happened to a memory since, or the whole index was made anew; cheap to ask for."""

    def numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """The numbers of the memories with these ids, in whatever scope and state; missing ones are left out."""

    def purged(self, ids: Sequence[str]) -> set[str]:
        """Which of these ids belonged to memories that were purged here."""

    def mirrors(self) -> list[Mirror]:
        """By number."""

    def sync_states(
        self, mirror: int, *, files: Sequence[str] | None = None, memories: Sequence[int] | None = None
    ) -> list[SyncState]:
        """Of these files or these memories; all of the mirror's when neither is named."""

    def file_states(self, mirror: int) -> list[FileState]: ...
    def sync_conflicts(self) -> list[SyncConflict]:
        """Of all mirrors, the oldest first."""

    def model(self, name: str) -> EmbeddingModel | None:
        """The model of this name that made vectors here last."""

    def areas(self, query: Query) -> list[int]:
        """Where the query may look: parts of the store, each with its own signs."""

    def sign_bits(self, model: int, place: int, after: int) -> list[SignBits]:
        """The model's signs in this place that came after a `seq`. Some may be of memories that left it since."""

    def vectors(self, model: int, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        """The vectors of these memories as they are now, all of each; those without one of this model are left out."""

    def without_vector(self, model: int | None, after: int, most: int, among: Sequence[int] | None = None) -> list[Memory]:
        """Of these memories, or of all, the first living ones after this number that have no vector of the model."""

    def coverage(self, model: int | None) -> VectorCounts: ...
    def session_neighbours(self, numbers: Sequence[int], reach: int) -> list[SessionNeighbour]:
        """Those of these memories that are of a session, and the memories of the same session among so many numbers
        before and after each, in the order of their numbers."""

    def text_ends(self, numbers: Sequence[int]) -> dict[int, TextEnds]: ...


class Writer(Reader, TextWriter, Protocol):
    """A transaction: all of it is kept, durably, when the block ends; none of it when the block raises.

    Whoever adds, changes or erases a memory also logs it here: other processes learn of the change by its event.
    """

    def add(self, memory: Memory, fingerprint: int, words: IndexEntry, actor: Actor) -> Memory:
        """Keeps a new memory and indexes it, by its author or else the actor. A number that is 0 or taken gets a new one."""

    def next_number(self) -> int:
        """The number that the next new memory will have."""

    def add_many(self, fresh: Sequence[tuple[Memory, int, IndexEntry]], action: str, actor: Actor, at: datetime) -> None:
        """Keeps active memories without key, numbered from `next_number` on, and logs the action for each.

        The same as `add` and `log` one by one, in a third of the time.
        """

    def change(self, old: Memory, new: Memory, fingerprint: int, words: IndexEntry, actor: Actor) -> None:
        """Keeps `old` as a version, puts `new` in its place, and the index in step with its state and scope."""

    def change_many(self, changes: Sequence[tuple[Memory, Memory, int, IndexEntry]], actor: Actor) -> None:
        """The same for several, each as (old, new, fingerprint, words), in a fraction of the time."""

    def count_reference(self, number: int) -> None:
        """Counts one more reference. Not a new version."""

    def erase(self, number: int) -> None:
        """Takes the memory, its versions, links, words and sync_states away. See `Store.scrub` for the bytes."""

    def add_event(self, action: str, actor: Actor, at: datetime, memory: Memory, detail: Mapping[str, object]) -> None:
        """Appends an event about the memory. The detail never holds its text."""

    def link(self, source: int, kind: LinkKind, target: int, at: datetime) -> bool:
        """True when the link is new."""

    def unlink(self, source: int, kind: LinkKind, target: int) -> bool: ...
    def add_scope_event(self, action: str, actor: Actor, at: datetime, scope: Scope, detail: Mapping[str, object]) -> None:
        """Appends an event that is about no memory, but about the scope itself."""

    def put_project(self, project: Project) -> None:
        """Adds the project, or changes its description and root."""

    def add_session(self, scope: Scope, source: str, at: datetime) -> bool:
        """Starts a session, as its first memory would too; False when it was started before.

        Raises Conflict when the project has one that differs from it only in case.
        """

    def record_run(self, task: str, at: datetime) -> None:
        """Says that this upkeep was done."""

    def put_mirror(self, mirror: Mirror) -> Mirror:
        """Keeps a new mirror and answers it with its number. Conflict when there is one of the same file."""

    def drop_mirror(self, number: int) -> None:
        """Takes it away, with all that is known of its files."""

    def set_choice(self, mirror: int, choice: Choice) -> None:
        """Changes what of its scope it holds."""

    def set_last_event(self, mirror: int, event: int) -> None: ...
    def put_sync_states(self, mirror: int, sync_states: Iterable[SyncState]) -> None:
        """Each in the place of the last meeting of its memory. One whose memory is gone by now is left out."""

    def drop_sync_states(self, mirror: int, memories: Iterable[int]) -> None: ...
    def put_file_states(self, mirror: int, file_states: Iterable[FileState]) -> None: ...
    def drop_file_states(self, mirror: int, names: Iterable[str]) -> None: ...
    def put_conflict(self, conflict: SyncConflict) -> None:
        """In the place of an older one about the same memory and mirror."""

    def drop_conflict(self, mirror: int, memory: int) -> bool:
        """False when there was none."""

    def ensure_model(self, name: str, dimensions: int) -> int:
        """The model's number. The same name with other dimensions is another model: its vectors are never mixed."""

    def put_vectors(self, model: int, made: Iterable[StoredVector]) -> int:
        """Keeps the vectors of memories that are still at that version, those of a memory together and instead of any it
        had of this model; answers how many memories. From then on they follow their memory: moved with it, gone with it,
        and gone when it is said anew."""

    def drop_vectors(self, but: int) -> None:
        """Takes the vectors of every model away but of this one."""


class Store(Protocol):
    location: str
    """Where it is, for messages and for people."""

    @property
    def idle(self) -> bool:
        """Whether it is open, and no transaction of this process is."""

    def read(self) -> AbstractContextManager[Reader]:
        """Raises StoreReplaced when the database was removed or replaced since it was opened; so does `write`."""

    def write(self, *, patient: bool = True, durable: bool = True) -> AbstractContextManager[Writer]:
        """Waits for other writers; raises StoreBusy when that takes longer than the settings allow, or at once.

        What need not be durable may be lost in a power cut, until the next durable write; all of it, never a part.
        """

    def snapshot(self) -> AbstractContextManager[Reader]:
        """The same as `read`, for what takes long: this process reads and writes meanwhile, and whoever ends it may be
        another thread than the one that began it."""

    def touch(self, numbers: Iterable[int], at: datetime) -> None:
        """Notes that these were accessed. Written behind, with the next write or later, without waiting: may be lost."""

    def flush(self) -> None:
        """Does what was put off, if it is much: for a moment in which nobody waits."""

    def enlarge_cache(self) -> None:
        """Keeps more of the file in memory, up to 16 MB: for a process that has loaded a model, and so is not small."""

    def merge_index(self, steps: int) -> None:
        """Brings the parts of the index, of which every write makes one, together again: a search looks into all of them.
        So many steps at the most, each a tenth of a second in which others cannot write; if one writes, another time."""

    def scrub(self) -> None:
        """Leaves no byte of what was erased in the file, its log or its index."""

    def check(self, expected: Callable[[Memory], tuple[int, IndexEntry]] | None = None) -> list[Problem]:
        """What is wrong. With the fingerprint and words that a memory should have, also which rows differ from theirs."""

    def rebuild(self, entries: Callable[[Reader], Iterator[tuple[Memory, int, IndexEntry]]]) -> int:
        """Makes the whole index and all fingerprints anew, in one transaction, from what `entries` yields; answers how many
        were indexed."""

    def rebuild_online(
        self, words: Callable[[Memory], IndexEntry], settle: Callable[[Writer], None], watch: Callable[[int], None]
    ) -> int:
        """The same while others write: the new index is made beside the old one and takes its place in one step, with
        all that was written meanwhile; what `settle` writes belongs to that step. `watch` hears how many more are
        indexed."""

    def task_lock(self, task: str) -> AbstractContextManager[None]:
        """Keeps every other process from the same task until the block, or this process, ends; StoreBusy if one is at it."""

    def backup(self, target: Path) -> None:
        """A consistent copy while others read and write, compressed if its name ends with .gz; the target appears whole or
        not at all."""

    def close(self) -> None: ...
