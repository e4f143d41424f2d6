"""Write on SQLite: rows and their index entries, always changed together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw
import msgspec

from omoide.errors import Conflict
from omoide.model import Actor, LinkKind, Memory, Scope, Source, State
from omoide.storage.base import IndexedMemory, IndexEntry, MemoryChange, StoreMark
from omoide.storage.capabilities import StoredText
from omoide.storage.rows import PLAIN, STATE_NUMBER, STATES, micros, plain_values, strings, version_json
from omoide.storage.sqlite.cache import MARK, ReaderCache, SearchCache
from omoide.storage.sqlite.hooks import SqliteHookWriter
from omoide.storage.sqlite.idempotency import SqliteIdempotencyWriter
from omoide.storage.sqlite.llm_calls import SqliteLlmCallWriter
from omoide.storage.sqlite.mirrors import MirrorWriter
from omoide.storage.sqlite.names import NameWriter
from omoide.storage.sqlite.postings import document_id
from omoide.storage.sqlite.projects import SessionWriter
from omoide.storage.sqlite.reader import SqliteReader, area
from omoide.storage.sqlite.transaction import Transaction
from omoide.storage.sqlite.vectors import VectorWriter
from omoide.storage.sqlite.work_trees import SqliteWorkTreeWriter

_LARGEST_ASKED = 999_999_999  # so that an import cannot exhaust the numbers

_COLUMNS = (
    *PLAIN,
    *("state", "tags", "examples", "created_at", "updated_at", "expires_at"),
    *("project", "session", "fingerprint", "blocking_key", "length", "actor", "author"),
)
"""In the order of `_columns`."""
_ADD = f"INSERT INTO memories (number, id, {', '.join(_COLUMNS)}) VALUES (?, ?{', ?' * len(_COLUMNS)})"
_CHANGE = f"UPDATE memories SET {', '.join(f'{column} = ?' for column in _COLUMNS)} WHERE number = ?"
_NO_MEMORY = 0  # in an event about a project or a session
_INDEX = "INSERT INTO words (rowid, topic, tags, content) VALUES (?, ?, ?, ?)"
_LOG = "INSERT INTO events (at, action, actor, source, project, memory, detail) VALUES (?, ?, ?, ?, ?, ?, ?)"
# A file that contains this memory alone is named after its text. So is the source of an event, if such a file was edited.
_DROP_FILE_NAMES = """
DELETE FROM file_states
WHERE (mirror, name) IN (SELECT mirror, file FROM sync_states WHERE memory = ?1)
    AND (mirror, name) NOT IN (SELECT mirror, file FROM sync_states WHERE memory <> ?1)"""
_COUNT_AREA = """
INSERT INTO areas (area, entries, terms) VALUES (?, ?, ?)
ON CONFLICT (area) DO UPDATE SET entries = entries + excluded.entries, terms = terms + excluded.terms"""


class SqliteWriter(
    SqliteWorkTreeWriter,
    MirrorWriter,
    SessionWriter,
    NameWriter,
    SqliteIdempotencyWriter,
    SqliteReader,
    VectorWriter,
    SqliteLlmCallWriter,
    SqliteHookWriter,
):
    """See `storage/base.py` for what each method promises."""

    def __init__(self, tx: Transaction, known: ReaderCache):
        super().__init__(tx, known)
        self._started: set[Scope] = set()
        self._grown: dict[int, list[int]] = {}
        self._created: tuple[datetime | None, int] = (None, 0)

    def _current_cache(self) -> SearchCache:
        # It may read what is rolled back later, and change what has no event yet: so nothing is cached.
        self._cache, self._is_current = SearchCache(), False
        return super()._current_cache()

    def add(self, new: Sequence[IndexedMemory], actor: Actor) -> list[Memory]:
        if len(new) > 1 and all(_is_plain(memory) for memory, _, _ in new):
            return self._add_plain(new, actor)
        return [self._add(memory, fingerprint, entry, actor) for memory, fingerprint, entry in new]

    def _add(self, memory: Memory, fingerprint: int, entry: IndexEntry, actor: Actor) -> Memory:
        if memory.author is None:
            memory = msgspec.structs.replace(memory, author=actor)
        project = self._ensure_project(memory.scope.path, memory.created_at)
        self._start(memory)
        asked = memory.number if 0 < memory.number <= _LARGEST_ASKED and not self._is_number_used(memory.number) else None
        columns = self._columns(memory, project, fingerprint, entry, self._actor_number(actor))
        self._insert(_ADD, (asked, memory.id, *columns), memory)
        number = asked or self._tx.last_number()
        if memory.last_accessed_at is not None:
            self._tx.run("INSERT OR REPLACE INTO accesses VALUES (?, ?)", (number, micros(memory.last_accessed_at)))
        self._index(area(project, memory.state), number, entry)
        return memory if number == memory.number else msgspec.structs.replace(memory, number=number)

    def _add_plain(self, new: Sequence[IndexedMemory], actor: Actor) -> list[Memory]:
        """The same as `_add` for each, in a third of the time."""
        # One statement after the other, not one memory after the other: each then runs from a warm cache. Lazily, so that
        # the garbage collector does not see thousands of rows alive at once.
        by = self._actor_number(actor)
        first = 1 + (self._tx.get("SELECT seq FROM sqlite_sequence WHERE name = 'memories'") or 0)
        added = [msgspec.structs.replace(memory, number=number) for number, (memory, _, _) in enumerate(new, first)]
        created = {memory.scope.path: memory.created_at for memory in reversed(added)}
        numbers = {path: self._ensure_project(path, created_at) for path, created_at in created.items()}
        projects = [numbers[memory.scope.path] for memory in added]
        rows = (
            (memory.number, memory.id, *self._columns(memory, project, fingerprint, entry, by))
            for project, memory, (_, fingerprint, entry) in zip(projects, added, new, strict=True)
        )
        try:
            self._tx.run_many(_ADD, rows)
        except apsw.ConstraintError as error:
            raise Conflict("one of these memories, or another with its id, is stored already") from error
        self._tx.run_many(
            _INDEX,
            (
                (document_id(project * 2, memory.number), entry.topic, entry.tags, entry.content)
                for project, memory, (_, _, entry) in zip(projects, added, new, strict=True)
            ),
        )
        terms = dict.fromkeys(projects, 0)
        for project, (memory, _, entry) in zip(projects, new, strict=True):
            terms[project] += entry.length
            if memory.scope.name:
                self._start(memory)
        for project, entries in Counter(projects).items():
            self._grow(project * 2, entries, terms[project])
        return added

    def change(self, changes: Sequence[MemoryChange], actor: Actor) -> None:
        # By rising row ids out of the index, then by rising row ids into it: at each step back, and at each INSERT … SELECT
        # (which opens a savepoint), FTS5 would write out all it has pending.
        by = self._actor_number(actor)
        gone: list[tuple[int, int, int]] = []
        come: list[tuple[int, int, IndexEntry]] = []
        for old, new, fingerprint, words in changes:
            number = old.number
            present = self._tx.get("SELECT version, actor, length FROM memories WHERE number = ?", (number,))
            version, before, length = present
            self._tx.run("INSERT INTO versions VALUES (?, ?, ?, ?)", (number, version, before, version_json(old)))
            project = self._ensure_project(new.scope.path, new.updated_at)
            self._start(new)
            where = area(self._ensure_project(old.scope.path, old.created_at), old.state)
            if where is not None:
                gone.append((where, number, length))
            self._insert(_CHANGE, (*self._columns(new, project, fingerprint, words, by), number), new)
            where = area(project, new.state)
            if where is not None:
                come.append((where, number, words))
        for where, number, length in sorted(gone):
            self._unindex(where, number, length)
        for where, number, words in sorted(come):
            self._index(where, number, words)

    def count_reference(self, number: int) -> None:
        self._tx.run("UPDATE memories SET reference_count = reference_count + 1 WHERE number = ?", (number,))

    def erase(self, number: int) -> None:
        row = self._tx.get("SELECT project, state, length FROM memories WHERE number = ?", (number,))
        if row is None:
            return
        self.erase_from_hooks(number, [version.memory.content for version in self.versions(number)])
        self._unindex(area(row[0], STATES[row[1]]), number, row[2])
        for statement in (
            _DROP_FILE_NAMES,
            "UPDATE events SET source = 'file' WHERE memory = ? AND source LIKE 'file:%'",
            "DELETE FROM versions WHERE memory = ?",
            "DELETE FROM accesses WHERE memory = ?",
            "DELETE FROM links WHERE ?1 IN (source, target)",
            "DELETE FROM sync_states WHERE memory = ?",
            "DELETE FROM sync_conflicts WHERE memory = ?",
            "DELETE FROM run_memories WHERE memory = ?",
            "DELETE FROM learned_relevances WHERE memory = ?",
            "DELETE FROM memories WHERE number = ?",
        ):
            self._tx.run(statement, (number,))
        self._tx.run("DELETE FROM work_trees")  # files that an agent wrote may contain its text

    def mark(self) -> StoreMark:
        return StoreMark(*self._tx.get(MARK))

    def add_event(
        self,
        action: str,
        actor: Actor,
        at: datetime,
        about: Memory | Scope | Sequence[Memory],
        detail: Mapping[str, object],
        source: Source | None = None,
    ) -> None:
        start = (micros(at), action, self._actor_number(actor), None if source is None else str(source))
        text = msgspec.json.encode(detail).decode() if detail else None
        if isinstance(about, Scope):
            self._tx.run(_LOG, (*start, self._ensure_project(about.path, at), _NO_MEMORY, text))
            return
        if isinstance(about, Memory):
            self._tx.run(_LOG, (*start, self._ensure_project(about.scope.path, at), about.number, text))
            return
        self._tx.run_many(
            _LOG,
            ((*start, self._ensure_project(memory.scope.path, at), memory.number, text) for memory in about),
        )

    def link(self, source: int, kind: LinkKind, target: int, at: datetime) -> bool:
        self._tx.run("INSERT OR IGNORE INTO links VALUES (?, ?, ?, ?)", (source, kind.value, target, micros(at)))
        return bool(self._tx.changes())

    def unlink(self, source: int, kind: LinkKind, target: int) -> bool:
        self._tx.run("DELETE FROM links WHERE source = ? AND kind = ? AND target = ?", (source, kind.value, target))
        return bool(self._tx.changes())

    def merge_projects(self, source: str, target: str) -> None:
        super().merge_projects(source, target)
        self._known.invalidate()  # the numbers of projects are known by name

    def replace_text(self, old: StoredText, new: str) -> None:
        super().replace_text(old, new)
        self._known.invalidate()  # the numbers of projects and actors are known by name

    def record_run(self, task: str, at: datetime) -> None:
        self._tx.run("INSERT OR REPLACE INTO upkeep VALUES (?, ?)", (task, micros(at)))

    def merge(self, pages: int) -> int:
        """Merge segments of the index, writing so many of its pages. Return how many rows that changed."""
        before = self._tx.total_changes()
        self._tx.run("INSERT INTO words (words, rank) VALUES ('merge', ?)", (pages,))
        return self._tx.total_changes() - before

    @property
    def index_growth(self) -> int:
        """By how many entries the index has grown."""
        return sum(entries for entries, _ in self._grown.values())

    def finish(self) -> None:
        """Write what is cheaper once per transaction than once per memory."""
        for where, (entries, terms) in self._grown.items():
            self._tx.run(_COUNT_AREA, (where, entries, terms))

    # the parts of the above

    def _start(self, memory: Memory) -> None:
        """Create the memory's session if it is new."""
        if memory.scope.name and memory.scope not in self._started:
            self.add_session(memory.scope, memory.source, memory.created_at)
            self._started.add(memory.scope)

    def _columns(self, memory: Memory, project: int, fingerprint: int, words: IndexEntry, by: int) -> tuple[Any, ...]:
        if memory.created_at is not self._created[0]:  # thousands that are added together have the same
            self._created = (memory.created_at, micros(memory.created_at))
        created = self._created[1]
        return (
            *plain_values(memory),
            STATE_NUMBER[memory.state],
            strings(memory.tags),
            strings(memory.examples),
            created,
            created if memory.updated_at is memory.created_at else micros(memory.updated_at),
            None if memory.expires_at is None else micros(memory.expires_at),
            project,
            memory.scope.name,
            fingerprint,
            words.blocking_key,
            words.length,
            by,
            self._author(memory, by),
        )

    def _author(self, memory: Memory, by: int) -> int | None:
        """The author's number; None if the author makes this version."""
        author = by if memory.author is None else self._actor_number(memory.author)
        return None if author == by else author

    def _is_number_used(self, number: int) -> bool:
        """Whether a memory has this number, or had it before it was erased: its events remain."""
        return bool(
            self._tx.get(
                "SELECT EXISTS (SELECT 1 FROM memories WHERE number = ?1) OR EXISTS"
                " (SELECT 1 FROM events WHERE memory = ?1)",
                (number,),
            )
        )

    def _insert(self, statement: str, values: tuple[Any, ...], memory: Memory) -> None:
        try:
            self._tx.run(statement, values)
        except apsw.ConstraintError as error:  # only the id and the key are unique
            if memory.key is not None and self.by_key(memory.scope, memory.key) is not None:
                raise Conflict(
                    f"key {memory.key!r} is taken in {memory.scope}: choose another, or revise that one"
                ) from error
            raise Conflict(f"there is a memory {memory.id} already") from error

    def _index(self, where: int | None, number: int, words: IndexEntry) -> None:
        if where is not None:
            self._tx.run(_INDEX, (document_id(where, number), words.topic, words.tags, words.content))
            self._grow(where, 1, words.length)

    def _unindex(self, where: int | None, number: int, length: int) -> None:
        if where is not None:
            self._tx.run("DELETE FROM words WHERE rowid = ?", (document_id(where, number),))
            self._grow(where, -1, -length)

    def _grow(self, where: int, entries: int, terms: int) -> None:
        grown = self._grown.setdefault(where, [0, 0])
        grown[0] += entries
        grown[1] += terms


def _is_plain(memory: Memory) -> bool:
    """Whether nothing about a new memory needs a look at others, or a row of its own elsewhere."""
    return (
        memory.number == 0
        and memory.key is None
        and memory.state is State.ACTIVE
        and memory.author is not None
        and memory.last_accessed_at is None
    )
