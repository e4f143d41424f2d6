"""A store of plain dictionaries: it shows that the contract needs no engine, and how little a backend has to be.

A transaction that writes works on a copy, which takes the place of the original when it ends.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace

from omoide.errors import Conflict, StoreBusy, StoreError
from omoide.model import (
    Actor,
    Event,
    FileState,
    FileVersions,
    HookRecord,
    HookState,
    IdempotencyRecord,
    InboxItem,
    Injection,
    JudgedUse,
    Layer,
    LearnedRelevance,
    Link,
    LinkKind,
    LlmCall,
    Memory,
    MemoryUse,
    Mirror,
    Outcome,
    OutcomeEvidence,
    Project,
    PromptCandidate,
    Query,
    Run,
    Scope,
    Session,
    Source,
    State,
    Summary,
    SyncConflict,
    SyncState,
    TranscriptPosition,
    Usage,
    Version,
    WorkTreeRecord,
    actor_source,
    expiry,
)
from omoide.model.source import is_within
from omoide.storage.base import (
    IndexedMemory,
    IndexEntry,
    IndexSize,
    MemoryChange,
    NearDuplicateFilter,
    Posting,
    PostingSet,
    RankingFacts,
    SessionNeighbour,
    StoreMark,
    SyncUpdate,
    TextEnds,
)
from omoide.storage.capabilities import Expected, Problem

_LARGEST_ASKED = 999_999_999
_STATES = list(State)
_SET_ASIDE = {State.ACTIVE: {False}, State.INACTIVE: {False, True}, State.ARCHIVED: {True}, State.FORGOTTEN: set()}
"""In which parts of the index memories of a listing are: what has expired stays among the active ones."""
_DAY = timedelta(days=1)


@dataclass
class Data:
    memories: dict[int, Memory] = field(default_factory=dict)
    fingerprints: dict[int, int] = field(default_factory=dict)
    entries: dict[int, IndexEntry] = field(default_factory=dict)
    changed_by: dict[int, Actor] = field(default_factory=dict)
    versions: dict[int, list[Version]] = field(default_factory=dict)
    accesses: dict[int, datetime] = field(default_factory=dict)
    links: dict[tuple[int, LinkKind, int], datetime] = field(default_factory=dict)
    events: dict[int, tuple[Event, str]] = field(default_factory=dict)
    projects: dict[str, Project] = field(default_factory=dict)
    sessions: dict[Scope, tuple[str, datetime]] = field(default_factory=dict)
    runs: dict[str, datetime] = field(default_factory=dict)
    mirrors: dict[int, Mirror] = field(default_factory=dict)
    sync_states: dict[tuple[int, int], SyncState] = field(default_factory=dict)
    file_states: dict[tuple[int, str], FileState] = field(default_factory=dict)
    file_versions: dict[tuple[int, str], FileVersions] = field(default_factory=dict)
    conflicts: dict[tuple[int, int], SyncConflict] = field(default_factory=dict)
    llm_calls: dict[str, LlmCall] = field(default_factory=dict)
    idempotency: dict[tuple[str, str], IdempotencyRecord] = field(default_factory=dict)
    hook_calls: dict[int, HookRecord] = field(default_factory=dict)
    injections: dict[tuple[int, int], Injection] = field(default_factory=dict)
    inbox: dict[int, InboxItem] = field(default_factory=dict)
    leases: dict[int, datetime] = field(default_factory=dict)
    learnt: dict[int, datetime] = field(default_factory=dict)
    positions: dict[str, TranscriptPosition] = field(default_factory=dict)
    agent_runs: dict[tuple[str, int], Run] = field(default_factory=dict)
    credits: dict[tuple[str, int], dict[int, tuple[float, float]]] = field(default_factory=dict)
    learned: dict[int, LearnedRelevance] = field(default_factory=dict)
    work_trees: dict[tuple[str, str], WorkTreeRecord] = field(default_factory=dict)
    last: Counter[str] = field(default_factory=Counter)
    """The last number that a memory or a mirror was given, and how often the index was rebuilt."""

    def copy(self) -> "Data":
        return Data(**{each.name: getattr(self, each.name).copy() for each in fields(self)})


class MemoryReader:
    def __init__(self, data: Data) -> None:
        self._open: Data | None = data

    @property
    def data(self) -> Data:
        if self._open is None:
            raise StoreError("this transaction has ended")
        return self._open

    def end(self) -> None:
        self._open = None

    # memories

    def memory(self, reference: int | str) -> Memory | None:
        if isinstance(reference, str):
            return next((each for each in self.everything() if each.id == reference), None)
        memory = self.data.memories.get(reference)
        return None if memory is None else replace(memory, last_accessed_at=self.data.accesses.get(reference))

    def memories(self, references: Sequence[int] | Sequence[str]) -> list[Memory]:
        return [memory for each in references if (memory := self.memory(each)) is not None]

    def everything(self) -> Iterator[Memory]:
        return (memory for number in sorted(self.data.memories) if (memory := self.memory(number)) is not None)

    def _living(self, scope: Scope, *, forgotten: bool = False) -> list[Memory]:
        """The memories of exactly this scope that are not forgotten, or that are, newest first."""
        found = [each for each in self.everything() if each.scope == scope and (each.state is State.FORGOTTEN) is forgotten]
        return found[::-1]

    def by_key(self, scope: Scope, key: str, *, forgotten: bool = False) -> Memory | None:
        if not forgotten:
            return next((each for each in self._living(scope) if each.key == key), None)
        found = [each for each in self.everything() if (each.scope, each.key, each.state) == (scope, key, State.FORGOTTEN)]
        return max(found, key=_change_key, default=None)

    def by_key_in_sessions(self, scope: Scope, key: str) -> list[Memory]:
        living = (each for each in self.everything() if each.key == key and each.state is not State.FORGOTTEN)
        found = [each for each in living if each.scope.name and scope.path and each.scope.path == scope.path]
        return sorted(found, key=_change_key, reverse=True)

    def by_fingerprint(self, fingerprint: int, scope: Scope, *, forgotten: bool = False) -> list[Memory]:
        found = self._living(scope, forgotten=forgotten)
        return [each for each in found if self.data.fingerprints[each.number] == fingerprint]

    def known_fingerprints(self, fingerprints: Sequence[int]) -> set[int]:
        return set(fingerprints) & set(self.data.fingerprints.values())

    def browse(self, query: Query, at: datetime) -> Iterator[Memory]:
        found = [each for each in self.everything() if _passes(each, query, at)]
        for memory in sorted(found, key=_change_key, reverse=True):
            _ = self.data  # raises once the transaction has ended
            yield memory

    def prompt_candidates(self, query: Query, at: datetime) -> list[PromptCandidate]:
        return [
            PromptCandidate(each.number, each.id, each.version, each.type, each.content, each.tags, each.relevance)
            for each in self.browse(query, at)
        ]

    def count(self, query: Query, at: datetime) -> int:
        return sum(1 for _ in self.browse(query, at))

    def summary(self, query: Query, at: datetime) -> Summary:
        found = list(self.browse(query, at))
        tags: Counter[str] = Counter()
        spellings: dict[str, str] = {}
        for tag in (tag for each in found for tag in each.tags):
            tags[tag.casefold()] += 1
            spellings[tag.casefold()] = min(tag, spellings.get(tag.casefold(), tag))
        common = sorted(tags, key=lambda tag: (-tags[tag], spellings[tag]))
        types = Counter(each.type for each in found)
        return Summary(
            len(found),
            {name: types[name] for name in sorted(types, key=lambda name: (-types[name], name))},
            {spellings[tag]: tags[tag] for tag in common[:20]},
            min((each.created_at for each in found), default=None),
            max((each.updated_at for each in found), default=None),
            sum(len(each.content.encode()) for each in found),
        )

    def counts(self, at: datetime | None = None) -> list[tuple[Scope, str, str, int]]:
        found: Counter[tuple[str, str, str, int]] = Counter()
        for each in self.everything():
            state = each.state if at is None else expiry.listing(each, at)
            found[each.scope.path, each.scope.name, each.type, _STATES.index(state)] += 1
        return [
            (Scope(path, name), type, _STATES[state].value, number)
            for (path, name, type, state), number in sorted(found.items())
        ]

    def versions(self, number: int) -> list[Version]:
        present = self.memory(number)
        if present is None:
            return []
        past = [
            Version(replace(each.memory, reference_count=present.reference_count), each.actor)
            for each in self.data.versions.get(number, ())
        ]
        return [*past, Version(present, self.data.changed_by[number])]

    def links(self, number: int) -> list[Link]:
        memories = self.data.memories
        found = [
            Link(memories[source].id, kind, memories[target].id, at)
            for (source, kind, target), at in self.data.links.items()
            if number in (source, target)
        ]
        return sorted(found, key=lambda link: (link.created_at, link.kind))

    # events

    def events(
        self, scope: Scope | None, number: int | None, since: datetime | None, limit: int, source: Source | None = None
    ) -> list[Event]:
        found = []
        for event, path in reversed(self.data.events.values()):
            seen = scope is None or path in ("", scope.path)
            seen = seen and (source is None or is_within(event.source, str(source)))
            if seen and number in (None, event.memory_number) and (since is None or event.at >= since):
                memory = self.data.memories.get(event.memory_number or 0)
                found.append(replace(event, memory_id=None if memory is None else memory.id, project=path))
        return found[:limit]

    def events_after(self, event: int, scope: Scope | None, limit: int) -> list[Event]:
        return [each for each in reversed(self.events(scope, None, None, len(self.data.events))) if each.number > event][
            :limit
        ]

    def mark(self) -> StoreMark:
        return StoreMark(len(self.data.events), self.data.last["rebuild"])

    def memories_changed_since(self, event: int) -> list[int]:
        later = (each for number, (each, _) in self.data.events.items() if number > event)
        return sorted({each.memory_number for each in later if each.memory_number is not None})

    def projects_changed_since(self, event: int) -> set[str]:
        later = (pair for number, pair in self.data.events.items() if number > event)
        return {path for each, path in later if each.memory_number is None}

    def memories_expired_since(self, event: int, at: datetime) -> list[int]:
        after = self.data.events[event][0].at if event in self.data.events else None
        return [
            each.number
            for each in self.everything()
            if each.state is State.ACTIVE
            and expiry.has_expired(each.expires_at, at)
            and (after is None or each.expires_at > after)
        ]

    def purged_ids(self, ids: Sequence[str] | None = None) -> set[str]:
        every = {event.detail["id"] for event, _ in self.data.events.values() if event.action == "purged"}
        return every if ids is None else every & set(ids)

    def copies(self) -> list[str]:
        named = [event.detail["file"] for event, _ in self.data.events.values() if event.action == "backed_up"]
        return list(dict.fromkeys(named))

    # projects

    def projects(self) -> list[Project]:
        return [self.data.projects[path] for path in sorted(self.data.projects)]

    def project(self, path: str | None = None, *, root: str | None = None, number: int | None = None) -> Project | None:
        if number is not None:
            return next((each for each in self.projects() if each.number == number), None)
        if path is None:
            return next((each for each in self.projects() if root in [place.directory for place in each.places]), None)
        for known in self.data.projects:
            if known != path and known.casefold() == path.casefold():
                raise Conflict(f"there is a project {known!r} that differs only in case: use that name")
        return self.data.projects.get(path)

    def last_changes(self) -> dict[str, datetime]:
        found: dict[str, datetime] = {}
        for each in self.everything():
            if each.scope.path:
                found[each.scope.path] = max(each.updated_at, found.get(each.scope.path, each.updated_at))
        return found

    def sessions(self, at: datetime, scope: Scope | None = None) -> list[Session]:
        found = []
        for each, (source, created_at) in self.data.sessions.items():
            if scope is None or (each.path == scope.path and scope.name in ("", each.name)):
                memories = [memory for memory in self.everything() if memory.scope == each]
                updated_at = max([created_at, *(memory.updated_at for memory in memories)])
                current = sum(expiry.is_current(memory, at) for memory in memories)
                found.append(Session(each, source, created_at, updated_at, current))
        found.sort(key=lambda session: (session.scope.path, session.scope.name))
        return sorted(found, key=lambda session: session.updated_at, reverse=True)

    # retention

    def unused_memories(self, since: datetime, at: datetime) -> Iterator[Usage]:
        found = []
        for each in self.everything():
            events = [event.at for event, _ in self.data.events.values() if event.memory_number == each.number]
            times = [each.created_at, each.updated_at, each.last_accessed_at, *events]
            used_at = max(time for time in times if time is not None)
            expired = expiry.has_expired(each.expires_at, at)
            if each.state is State.ACTIVE and (expired or used_at <= since):
                usage = Usage(each.number, each.version, each.scope, each.topic, each.pinned, used_at, each.expires_at)
                found.append((not expired, used_at, each.number, usage))
        return (usage for *_, usage in sorted(found, key=lambda row: row[:3]))

    # hooks

    def hook_calls(self, limit: int) -> list[HookRecord]:
        return sorted(self.data.hook_calls.values(), key=lambda call: -call.number)[:limit]

    def last_hook_calls(self) -> list[HookRecord]:
        calls = [call for call in self.hook_calls(_LARGEST_ASKED) if call.state is not HookState.REPEATED]
        last = {call.client: call for call in reversed(calls)}
        return sorted(last.values(), key=lambda call: -call.number)

    def has_hook_call(self, digest: str, since: datetime) -> bool:
        return any(digest and call.digest == digest and call.at >= since for call in self.data.hook_calls.values())

    def injected_versions(self, session: str) -> dict[int, int]:
        calls = [call for call in self.data.hook_calls.values() if call.session == session]
        cleared = max((call.number for call in calls if call.clears), default=0)
        ordered = sorted(self.data.injections.items())
        return {memory: one.version for (call, memory), one in ordered if one.session == session and call >= cleared}

    def injections(self, session: str | None, since: datetime) -> list[Injection]:
        ordered = [one for _, one in sorted(self.data.injections.items())]
        return [one for one in ordered if session in (None, one.session) and one.at >= since]

    def use_counts(self) -> dict[int, tuple[int, int]]:
        judged = [
            one
            for one in self.data.injections.values()
            if one.is_clear and one.use in (MemoryUse.USED, MemoryUse.CONTRADICTED)
        ]
        return {
            number: (
                sum(one.use is MemoryUse.USED for one in judged if one.memory == number),
                sum(one.use is MemoryUse.CONTRADICTED for one in judged if one.memory == number),
            )
            for number in {one.memory for one in judged}
        }

    def inbox(self) -> list[InboxItem]:
        return [item for number, item in sorted(self.data.inbox.items()) if number not in self.data.learnt]

    def work_tree_before(self, number: int, root: str) -> str:
        trees = [item.work_tree for place, item in self.data.inbox.items() if place < number and item.work_tree]
        return next((tree for tree in reversed(trees) if json.loads(tree).get("root") == root), "")

    def has_inbox(self, at: datetime, before: datetime) -> bool:
        return bool(self._free_items(at, before))

    def _free_items(self, at: datetime, before: datetime) -> list[InboxItem]:
        leases = self.data.leases
        free = [item for item in self.inbox() if item.number not in leases or leases[item.number] <= at]
        return [item for item in free if item.at < before]

    def transcript_position(self, path: str) -> TranscriptPosition:
        return self.data.positions.get(path, TranscriptPosition())

    def idempotency_record(self, project: str, key: str) -> IdempotencyRecord | None:
        return self.data.idempotency.get((project, key))

    def llm_calls(self, since: datetime) -> list[LlmCall]:
        calls = [call for call in self.data.llm_calls.values() if call.at >= since]
        return sorted(calls, key=lambda call: (call.at, call.id))

    def llm_tokens(self, since: datetime) -> int:
        return sum(call.input_tokens + call.output_tokens for call in self.llm_calls(since))

    def work_tree(self, scope: Scope, root: str) -> WorkTreeRecord | None:
        return self.data.work_trees.get((scope.path, root))

    # runs

    def run(self, scope: Scope, reference: int | str) -> Run | None:
        return next((run for run in self.runs(Scope(scope.path)) if reference in (run.number, run.id)), None)

    def runs(self, scope: Scope) -> Iterator[Run]:
        for _, run in sorted(self.data.agent_runs.items(), reverse=True):
            if run.scope == scope or (run.scope.path == scope.path and not scope.name):
                _ = self.data  # raises once the transaction has ended
                yield run

    def last_tick(self, scope: Scope) -> int:
        return max((run.tick for run in self.runs(Scope(scope.path))), default=0)

    def evidence(self, memory: int, since: int) -> list[OutcomeEvidence]:
        found = [
            (run.outcome.event, OutcomeEvidence(path, run.tick, *self.data.credits[path, number][memory]))
            for (path, number), run in self.data.agent_runs.items()
            if run.outcome is not None and run.outcome.event >= since and memory in self.data.credits.get((path, number), {})
        ]
        return [one for _, one in sorted(found, key=lambda each: each[0])]

    def learned_relevances(self, scope: Scope) -> list[LearnedRelevance]:
        return [
            known
            for number, known in sorted(self.data.learned.items())
            if number in self.data.memories and self.data.memories[number].scope.path in ("", scope.path)
        ]

    def last_run(self, task: str) -> datetime | None:
        return self.data.runs.get(task)

    # mirrors

    def mirrors(self) -> list[Mirror]:
        return list(self.data.mirrors.values())

    def sync_states(
        self, mirror: int, *, files: Sequence[str] | None = None, memories: Sequence[int] | None = None
    ) -> list[SyncState]:
        found = [state for (number, _), state in self.data.sync_states.items() if number == mirror]
        if files is None and memories is None:
            return found
        return [state for state in found if state.file in (files or ()) or state.memory in (memories or ())]

    def mirrors_of(self, memories: Sequence[int]) -> set[int]:
        return {mirror for mirror, memory in self.data.sync_states if memory in memories}

    def file_states(self, mirror: int) -> list[FileState]:
        return [state for (number, _), state in self.data.file_states.items() if number == mirror]

    def file_versions(self, mirror: int, names: Sequence[str]) -> list[FileVersions]:
        return [each for (number, name), each in self.data.file_versions.items() if number == mirror and name in names]

    def sync_conflicts(self) -> list[SyncConflict]:
        return sorted(self.data.conflicts.values(), key=lambda conflict: (conflict.at, conflict.memory))

    # search index

    def _indexed_entries(self, query: Query) -> Iterator[tuple[Memory, IndexEntry]]:
        """What is indexed where the query may search: active ones, then all others; in each the nearer layer, the newest."""
        wanted = {part for state in query.states for part in _SET_ASIDE[state]}
        for set_aside in sorted(wanted):
            for path in _paths(query):
                for number in sorted(self.data.entries, reverse=True):
                    memory = self.data.memories[number]
                    if memory.scope.path == path and (memory.state is not State.ACTIVE) is set_aside:
                        yield memory, self.data.entries[number]

    def _postings(self, query: Query, term: str) -> Iterator[Posting]:
        for memory, entry in self._indexed_entries(query):
            topic, tags, content = (text.split().count(term) for text in (entry.topic, entry.tags, entry.content))
            if topic or tags or content:
                yield memory.number, topic, tags, content

    def sizes(self, query: Query) -> IndexSize:
        entries = [entry for _, entry in self._indexed_entries(query)]
        return IndexSize(len(entries), sum(entry.length for entry in entries))

    def posting_sets(self, query: Query, terms: Mapping[str, int], counted: int) -> dict[str, PostingSet] | None:
        return {term: self._posting_set(query, term, most, counted) for term, most in terms.items()}

    def _posting_set(self, query: Query, term: str, most: int, counted: int) -> PostingSet:
        found = {number: tuple(counts) for number, *counts in self._postings(query, term)}
        if len(found) > most:
            return PostingSet(most + 1, None, None)
        counts = {number: each for number, each in found.items() if each != (0, 0, 1)}
        return PostingSet(len(found), sum(1 << number for number in found), counts if len(found) <= counted else None)

    def frequencies(self, query: Query, terms: Iterable[str], most: int) -> dict[str, int]:
        return {term: min(most, sum(1 for _ in self._postings(query, term))) for term in terms}

    def project_frequencies(self, terms: Iterable[str], most: int) -> dict[str, dict[str, int]]:
        found = {}
        for term in terms:
            holders = [
                self.data.memories[number]
                for number, entry in self.data.entries.items()
                if term in f"{entry.topic} {entry.tags} {entry.content}".split()
            ]
            if len(holders) <= most:
                active = [each.scope.path for each in holders if each.state is State.ACTIVE and each.scope.path]
                found[term] = dict(Counter(active))
        return found

    def posting_numbers(
        self, query: Query, terms: Iterable[str], most: int, *, topic_or_tags: bool = False
    ) -> dict[str, list[int]]:
        return {
            term: [number for number, topic, tags, _ in self._postings(query, term) if topic or tags or not topic_or_tags][
                :most
            ]
            for term in terms
        }

    def postings(self, query: Query, terms: Iterable[str], numbers: Sequence[int]) -> dict[str, list[Posting]]:
        return {term: [each for each in self._postings(query, term) if each[0] in numbers] for term in terms}

    def ranking_facts(self, query: Query, numbers: Sequence[int], at: datetime) -> dict[int, RankingFacts]:
        return {
            each.number: RankingFacts(
                self.data.entries[each.number].length if each.number in self.data.entries else 0,
                not each.scope.path,
                each.scope.name,
                each.confidence,
                each.relevance,
                each.reference_count,
                (at - each.updated_at) / _DAY,
            )
            for each in self.memories(numbers)
            if _passes(each, query, at)
        }

    def session_neighbours(self, numbers: Sequence[int], reach: int) -> list[SessionNeighbour]:
        found = {}
        for near in self.memories(numbers):
            for each in self.memories(range(near.number - reach, near.number + reach + 1)):
                if near.scope.name and each.scope == near.scope and each.state is not State.FORGOTTEN:
                    project = [*self.data.projects].index(each.scope.path)
                    length = self.data.entries[each.number].length
                    found[each.number] = SessionNeighbour(each.number, project, each.scope.name, length)
        return [found[number] for number in sorted(found)]

    def text_ends(self, numbers: Sequence[int]) -> dict[int, TextEnds]:
        return {
            each.number: TextEnds(each.created_at, each.content[:600], each.content[-2:]) for each in self.memories(numbers)
        }

    def memories_changed_between(self, query: Query, start: datetime, end: datetime, most: int, at: datetime) -> list[int]:
        found = (each.number for each in self.browse(query, at) if start <= each.updated_at < end)
        return list(islice(found, most))

    def near_duplicate_candidates(
        self, wanted: NearDuplicateFilter, blocking_key: int | None, ranges: Collection[tuple[int, int]], most: int
    ) -> list[tuple[int, str]]:
        found = []
        for lowest, highest in (*([] if blocking_key is None else [(blocking_key, blocking_key)]), *ranges):
            for each in self._living(wanted.scope):
                key = self.data.entries[each.number].blocking_key
                size = len(each.content.encode())
                is_other = each.number != wanted.number
                if is_other and lowest <= key <= highest and wanted.smallest <= size <= wanted.largest:
                    text = each.content
                    if len(text) > wanted.head + wanted.tail:
                        text = f"{text[: wanted.head]} {text[-wanted.tail :]}"
                    found.append((each.number, text))
        return found[:most]


class MemoryWriter(MemoryReader):
    def add(self, new: Sequence[IndexedMemory], actor: Actor) -> list[Memory]:
        return [self._add(memory, fingerprint, entry, actor) for memory, fingerprint, entry in new]

    def _add(self, memory: Memory, fingerprint: int, entry: IndexEntry, actor: Actor) -> Memory:
        if self.memory(memory.id) is not None:
            raise Conflict(f"there is a memory {memory.id} already")
        number = memory.number
        used = {event.memory_number for event, _ in self.data.events.values()}
        if not 0 < number <= _LARGEST_ASKED or number in self.data.memories or number in used:
            number = self.data.last["memory"] + 1
        self.data.last["memory"] = max(number, self.data.last["memory"])
        memory = replace(memory, number=number, author=memory.author or actor)
        if memory.last_accessed_at is not None:
            self.data.accesses[number] = memory.last_accessed_at
        self._put(memory, fingerprint, entry, actor)
        return memory

    def change(self, changes: Sequence[MemoryChange], actor: Actor) -> None:
        for old, new, fingerprint, entry in changes:
            past = Version(replace(old, last_accessed_at=None), self.data.changed_by[old.number])
            self.data.versions[old.number] = [*self.data.versions.get(old.number, ()), past]
            self._put(replace(new, author=new.author or actor), fingerprint, entry, actor)

    def _put(self, memory: Memory, fingerprint: int, entry: IndexEntry, actor: Actor) -> None:
        number = memory.number
        self._ensure_project(memory.scope.path, memory.created_at)
        if memory.scope.name:
            self.add_session(memory.scope, memory.source, memory.created_at)
        holder = None if memory.key is None else self.by_key(memory.scope, memory.key)
        if holder is not None and holder.number != number and memory.state is not State.FORGOTTEN:
            raise Conflict(f"key {memory.key!r} is taken in {memory.scope}: choose another, or revise that one")
        self.data.memories[number] = memory
        self.data.fingerprints[number] = fingerprint
        self.data.changed_by[number] = actor
        self.data.entries.pop(number, None)
        if memory.state is not State.FORGOTTEN:
            self.data.entries[number] = entry

    def count_reference(self, number: int) -> None:
        memory = self.data.memories[number]
        self.data.memories[number] = replace(memory, reference_count=memory.reference_count + 1)

    def erase(self, number: int) -> None:
        data = self.data
        texts = [version.memory.content for version in self.versions(number)]
        for table in (data.memories, data.fingerprints, data.entries, data.changed_by, data.versions, data.accesses):
            table.pop(number, None)
        data.links = {link: at for link, at in data.links.items() if number not in (link[0], link[2])}
        data.sync_states = {key: state for key, state in data.sync_states.items() if key[1] != number}
        data.conflicts = {key: conflict for key, conflict in data.conflicts.items() if key[1] != number}
        data.learned.pop(number, None)
        data.work_trees.clear()
        self._erase_from_hooks(number, texts)

    def _erase_from_hooks(self, number: int, texts: Sequence[str]) -> None:
        data = self.data
        sessions = {one.session for (_, memory), one in data.injections.items() if memory == number}
        lines = {line.strip() for text in texts for line in text.splitlines() if line.strip()}
        telling = {line for line in lines if len(line) >= 16} or lines
        for item in list(data.inbox.values()):
            held = (item.prompt, item.last_message, item.work_tree)
            if item.session in sessions or any(line in text for line in telling for text in held):
                del data.inbox[item.number]
                known = data.positions.get(item.transcript, TranscriptPosition())
                data.positions[item.transcript] = replace(known, bytes=max(known.bytes, item.size))
        data.injections = {key: one for key, one in data.injections.items() if key[1] != number}

    def add_hook_call(self, record: HookRecord) -> int:
        self.data.last["hook call"] += 1
        number = self.data.last["hook call"]
        self.data.hook_calls[number] = replace(record, number=number)
        return number

    def end_hook_call(self, record: HookRecord, injections: Sequence[Injection] = ()) -> None:
        self.data.hook_calls[record.number] = record
        for one in injections:
            if one.memory in self.data.memories:
                self.data.injections[record.number, one.memory] = one

    def record_uses(self, uses: Iterable[JudgedUse]) -> None:
        for call, memory, use, is_clear in uses:
            if (call, memory) in self.data.injections:
                injection = self.data.injections[call, memory]
                self.data.injections[call, memory] = replace(injection, use=use, is_clear=is_clear)

    def put_in_inbox(self, item: InboxItem) -> None:
        self.data.last["inbox"] += 1
        self.data.inbox[self.data.last["inbox"]] = replace(item, number=self.data.last["inbox"])

    def lease_inbox(self, at: datetime, until: datetime, before: datetime) -> list[InboxItem]:
        free = self._free_items(at, before)
        items = [item for item in free if item.session == free[0].session]
        self.extend_lease([item.number for item in items], until)
        return items

    def extend_lease(self, numbers: Sequence[int], until: datetime) -> None:
        self.data.leases |= dict.fromkeys(numbers, until)

    def record_position(self, path: str, position: TranscriptPosition, at: datetime) -> None:
        self.data.positions[path] = position

    def finish_inbox(self, numbers: Sequence[int], at: datetime) -> None:
        self.data.learnt |= dict.fromkeys(numbers, at)

    def link(self, source: int, kind: LinkKind, target: int, at: datetime) -> bool:
        new = (source, kind, target) not in self.data.links
        self.data.links.setdefault((source, kind, target), at)
        return new

    def unlink(self, source: int, kind: LinkKind, target: int) -> bool:
        return self.data.links.pop((source, kind, target), None) is not None

    def add_event(
        self,
        action: str,
        actor: Actor,
        at: datetime,
        about: Memory | Scope | Sequence[Memory],
        detail: Mapping[str, object],
        source: Source | None = None,
    ) -> None:
        source = source or actor_source(actor)
        if isinstance(about, Scope):
            self._ensure_project(about.path, at)
            self._append(about, Event(0, at, action, actor, source, None, None, dict(detail)))
            return
        for memory in (about,) if isinstance(about, Memory) else about:
            self._append(memory.scope, Event(0, at, action, actor, source, None, memory.number, dict(detail)))

    def _append(self, scope: Scope, event: Event) -> None:
        number = len(self.data.events) + 1
        self.data.events[number] = (replace(event, number=number), scope.path)

    def _ensure_project(self, path: str, at: datetime) -> None:
        if path and self.project(path) is None:
            self.data.projects[path] = Project(path, created_at=at, number=self._next("project"))

    def _next(self, what: str) -> int:
        self.data.last[what] += 1
        return self.data.last[what]

    def put_project(self, project: Project) -> None:
        known = self.project(project.path)
        taken = {place.directory for place in project.places}
        for other in self.projects():
            left = tuple(place for place in other.places if place.directory not in taken)
            self.data.projects[other.path] = replace(other, places=left)
        created_at = project.created_at if known is None else known.created_at
        number = self._next("project") if known is None else known.number
        self.data.projects[project.path] = replace(project, created_at=created_at, number=number)

    def merge_projects(self, source: str, target: str) -> None:
        data = self.data
        if any(memory.scope.path == source for memory in data.memories.values()):
            raise Conflict(f"project {source} still has memories: move them first")
        old, new = data.projects.pop(source), data.projects[target]
        data.projects[target] = replace(
            new,
            places=new.places + old.places,
            root_commits=tuple(sorted({*new.root_commits, *old.root_commits})),
            remotes=tuple(sorted({*new.remotes, *old.remotes})),
        )
        for scope in [scope for scope in data.sessions if scope.path == source]:
            data.sessions.setdefault(Scope(target, scope.name), data.sessions.pop(scope))
        for path, root in [key for key in data.work_trees if key[0] == source]:
            data.work_trees.setdefault((target, root), data.work_trees.pop((path, root)))
        for number, (event, path) in data.events.items():
            data.events[number] = (event, target if path == source else path)
        last = max((number for path, number in data.agent_runs if path == target), default=0)
        tick = max((run.tick for (path, _), run in data.agent_runs.items() if path == target), default=0)
        ids = {run.id for (path, _), run in data.agent_runs.items() if path == target}
        for path, number in [key for key in data.agent_runs if key[0] == source]:
            run = data.agent_runs.pop((path, number))
            id = f"{run.id}-{number}" if run.id in ids else run.id
            scope = Scope(target, run.scope.name)
            moved = replace(run, number=last + number, id=id, scope=scope, tick=run.tick and run.tick + tick)
            data.agent_runs[target, last + number] = moved
            data.credits[target, last + number] = data.credits.pop((path, number), {})
        for number, known in data.learned.items():
            if known.project == source:
                data.learned[number] = replace(known, project=target, tick=known.tick + tick)
        for number, mirror in data.mirrors.items():
            if mirror.scope.path == source:
                data.mirrors[number] = replace(mirror, scope=Scope(target, mirror.scope.name))

    def add_session(self, scope: Scope, source: str, at: datetime) -> bool:
        self._ensure_project(scope.path, at)
        if scope in self.data.sessions:
            return False
        for other in self.data.sessions:
            if other.path == scope.path and other.name.casefold() == scope.name.casefold():
                raise Conflict(f"{Scope(scope.path)} has a session {other.name!r} that differs only in case: use that name")
        self.data.sessions[scope] = (source, at)
        return True

    def record_run(self, task: str, at: datetime) -> None:
        self.data.runs[task] = at

    def put_idempotency_record(self, record: IdempotencyRecord, *, drop_before: datetime) -> None:
        kept = {key: each for key, each in self.data.idempotency.items() if each.at >= drop_before}
        self.data.idempotency = {**kept, (record.project, record.key): record}

    def put_work_tree(self, scope: Scope, record: WorkTreeRecord, *, drop_before: datetime) -> None:
        kept = {key: each for key, each in self.data.work_trees.items() if each.at >= drop_before}
        self._ensure_project(scope.path, record.at)
        self.data.work_trees = {**kept, (scope.path, record.state.root): record}

    def add_run(self, run: Run) -> Run:
        if self.run(run.scope, run.id) is not None:
            raise Conflict(f"{run.scope} has a run {run.id!r} already: choose another id")
        self._ensure_project(run.scope.path, run.started_at)
        number = 1 + max((number for path, number in self.data.agent_runs if path == run.scope.path), default=0)
        self.data.agent_runs[run.scope.path, number] = replace(run, number=number)
        return replace(run, number=number)

    def put_outcome(self, run: Run, outcome: Outcome | None, credits: Mapping[int, tuple[float, float]]) -> None:
        key = (run.scope.path, run.number)
        tick = 0 if outcome is None else run.tick
        self.data.agent_runs[key] = replace(self.data.agent_runs[key], outcome=outcome, tick=tick)
        self.data.credits[key] = dict(credits)

    def put_learned_relevance(self, known: LearnedRelevance) -> None:
        self.data.learned[known.memory] = known

    def drop_learned(self, memories: Iterable[int]) -> None:
        for number in memories:
            self.data.learned.pop(number, None)

    def put_llm_call(self, call: LlmCall) -> None:
        self.data.llm_calls[call.id] = call

    def put_mirror(self, mirror: Mirror) -> Mirror:
        for other in self.mirrors():
            if (other.place, other.file) == (mirror.place, mirror.file) and other.number != mirror.number:
                raise Conflict(f"{mirror.place}/{mirror.file} has a mirror already: `omoide mirror list` shows it")
        if not mirror.number:
            self._ensure_project(mirror.scope.path, mirror.created_at)
            mirror = replace(mirror, number=self._next("mirror"))
        self.data.mirrors[mirror.number] = mirror
        return mirror

    def drop_mirror(self, number: int) -> None:
        data = self.data
        data.mirrors.pop(number, None)
        for name in ("sync_states", "file_states", "file_versions", "conflicts"):
            setattr(data, name, {key: value for key, value in getattr(data, name).items() if key[0] != number})

    def record_sync(self, mirror: int, update: SyncUpdate) -> None:
        data = self.data
        if mirror not in data.mirrors:
            return
        data.sync_states |= {(mirror, each.memory): each for each in update.states if each.memory in data.memories}
        data.file_states |= {(mirror, each.name): each for each in update.files}
        data.file_versions |= {(mirror, each.name): each for each in update.versions}
        data.conflicts |= {(mirror, each.memory): each for each in update.conflicts}
        for number in update.dropped_states:
            data.sync_states.pop((mirror, number), None)
        for name in update.dropped_files:
            data.file_states.pop((mirror, name), None)
        for name in update.dropped_versions:
            data.file_versions.pop((mirror, name), None)
        for number in update.settled_conflicts:
            data.conflicts.pop((mirror, number), None)
        if update.last_event is not None:
            data.mirrors[mirror] = replace(data.mirrors[mirror], seen=update.last_event)


@dataclass
class Shared:
    """What all stores of a backend have in common, as processes have a file."""

    data: Data = field(default_factory=Data)
    writing: threading.Lock = field(default_factory=threading.Lock)
    tasks: set[str] = field(default_factory=set)


class MemoryStore:
    location = "memory"

    def __init__(self, shared: Shared, wait: float) -> None:
        self._shared = shared
        self._wait = wait
        self._lock = threading.RLock()
        self._active = False
        self._closed = False
        self._touched: dict[int, datetime] = {}

    @property
    def idle(self) -> bool:
        return not self._closed and not self._active

    def _require_ready(self) -> None:
        if self._closed:
            raise StoreError("this store was closed: open it again")
        if self._active:
            raise StoreError("this process is still reading or writing: let that transaction end first")

    @contextmanager
    def read(self) -> Iterator[MemoryReader]:
        with self._lock:
            self._require_ready()
            reader, self._active = MemoryReader(self._shared.data), True
            try:
                yield reader
            finally:
                reader.end()
                self._active = False

    @contextmanager
    def snapshot(self) -> Iterator[MemoryReader]:
        reader = MemoryReader(self._shared.data)
        try:
            yield reader
        finally:
            reader.end()

    @contextmanager
    def write(self, *, patient: bool = True, durable: bool = True) -> Iterator[MemoryWriter]:
        with self._lock:
            self._require_ready()
            if not self._shared.writing.acquire(timeout=self._wait if patient else 0):
                raise StoreBusy(f"another process has been writing for {self._wait} s: try again")
            writer, self._active = MemoryWriter(self._shared.data.copy()), True
            try:
                yield writer
                self._write_touches(writer.data)
                self._shared.data = writer.data
            finally:
                writer.end()
                self._active = False
                self._shared.writing.release()

    def touch(self, numbers: Iterable[int], at: datetime) -> None:
        self._touched.update(dict.fromkeys(numbers, at))

    def _write_touches(self, data: Data) -> None:
        for number, at in self._touched.items():
            if number in data.memories:
                data.accesses[number] = max(at, data.accesses.get(number, at))
        self._touched.clear()

    @contextmanager
    def task_lock(self, task: str) -> Iterator[None]:
        if task in self._shared.tasks:
            raise StoreBusy(f"another {task} is running: let it finish")
        self._shared.tasks.add(task)
        try:
            yield
        finally:
            self._shared.tasks.discard(task)

    def close(self) -> None:
        if self._touched and not self._closed and self._shared.writing.acquire(blocking=False):
            data = self._shared.data.copy()
            self._write_touches(data)
            self._shared.data = data
            self._shared.writing.release()
        self._closed = True

    # integrity

    def is_index_outdated(self) -> bool:
        return False

    def check(self, expected: Expected | None = None) -> list[Problem]:
        data = self._shared.data
        living = {number for number, memory in data.memories.items() if memory.state is not State.FORGOTTEN}
        wrong = living ^ set(data.entries)
        if expected is not None:
            for number in living & set(data.entries):
                found = (data.fingerprints[number], replace(data.entries[number], key_terms=()))
                fingerprint, entry = expected(data.memories[number])
                if found != (fingerprint, replace(entry, key_terms=())):
                    wrong.add(number)
        return [Problem(f"#{number} is not indexed as it should be", "rebuild", fixable=True) for number in sorted(wrong)]

    def rebuild(
        self,
        expected: Expected,
        settle: Callable[[Any], None] | None = None,
        watch: Callable[[int], None] | None = None,
        *,
        patient: bool = True,
    ) -> int:
        with nullcontext() if patient else self.task_lock("rebuild"), self.write(patient=patient) as writer:
            data = writer.data
            for number, memory in data.memories.items():
                data.fingerprints[number], entry = expected(memory)
                if memory.state is not State.FORGOTTEN:
                    data.entries[number] = entry
            data.last["rebuild"] += 1
            if watch is not None:
                watch(len(data.memories))
            indexed = len(data.entries)
            if settle is not None:
                settle(writer)
        return indexed


class Backend:
    """What the contract asks of a backend: see `conftest.py`."""

    lacks: ClassVar = {
        "VectorIndex": "nothing is embedded in memory",
        "Housekeeping": "there is no deferred work",
        "Redaction": "the texts beside memories are in many dictionaries",
        "Erasure": "there is no file",
        "Backup": "there is no file",
        "CopyErasure": "there is no file",
    }

    def __init__(self, directory: Path) -> None:
        self._shared = Shared()

    def open(self, wait: float = 5) -> MemoryStore:
        return MemoryStore(self._shared, wait)

    def close(self) -> None:
        pass


def _change_key(memory: Memory) -> tuple[datetime, int]:
    return memory.updated_at, memory.number


def _paths(query: Query) -> list[str]:
    """The projects that a query may look into, the nearer first; the global layer has no path."""
    layers = query.layers or tuple(Layer)
    paths = [*dict.fromkeys(filter(None, (query.scope.path, *query.projects)))]
    if not {Layer.PROJECT, Layer.SESSION} & set(layers):
        paths = []
    return [*paths, ""] if Layer.EVERYWHERE in layers else paths


def _passes(memory: Memory, query: Query, at: datetime) -> bool:
    tags = {tag.casefold() for tag in memory.tags}
    return (
        memory.scope.path in _paths(query)
        and _is_in_layers(memory.scope, query)
        and expiry.listing(memory, at) in query.states
        and (not query.types or memory.type in query.types)
        and {tag.casefold() for tag in query.tags} <= tags
        and (query.since is None or memory.updated_at >= query.since)
        and (memory.pinned or not query.pinned)
        and (query.before is None or _change_key(memory) < query.before)
        and (not query.roles or (memory.author is not None and memory.author.role in query.roles))
    )


def _is_in_layers(scope: Scope, query: Query) -> bool:
    layers = query.layers
    if not layers or not scope.path:
        return True
    if not scope.name:
        return Layer.PROJECT in layers
    return Layer.SESSION in layers and query.scope.name in ("", scope.name)
