"""Keeping: remember one, remember many, adopt what another store kept."""

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime

import msgspec

from omoide import model
from omoide.errors import InvalidInput, StoreError
from omoide.guard import bounds, permissions, validation
from omoide.model import Actor, Draft, Link, Memory, Query, Remembered, Scope, State
from omoide.model.expiry import is_current
from omoide.retrieval import near_duplicate_search, pipeline
from omoide.retrieval.candidates import COUNTED
from omoide.service import versioning
from omoide.service.core import Core
from omoide.service.known_texts import KnownTexts
from omoide.storage.base import IndexEntry, Reader, Writer

_CHUNK = 1_000
_NAMED = 5
_OUTCOMES = {"created": "added", "updated": "replaced", "unchanged": "known"}


class _DryRun(Exception):
    """Ends a rehearsal: the transaction is rolled back."""


class Memories(Core):
    def remember(
        self,
        content: str | Draft,
        *,
        scope: Scope | None = None,
        topic: str | None = None,
        type: str | None = None,
        tags: Sequence[str] = (),
        examples: Sequence[str] = (),
        key: str | None = None,
        source: str | None = None,
        source_run_id: str | None = None,
        confidence: float | None = None,
        relevance: float | None = None,
        pinned: bool | None = None,
        expires_at: datetime | None = None,
        created_at: datetime | None = None,
    ) -> Remembered:
        """Keeps something. The same key in its scope, or the same given topic and type, updates what is there."""
        permissions.require(self._actor, "remember")
        draft = content
        if not isinstance(draft, Draft):
            draft = Draft(
                draft, scope, topic, type, tags, examples, key, source, confidence, relevance, pinned, expires_at,
                created_at, source_run_id,
            )  # fmt: skip
        draft = self._check_draft(draft)
        suggested = self._suggest_tags(draft)
        if suggested and self._settings.autotag == "apply":
            draft = msgspec.structs.replace(draft, tags=validation.check_tags(suggested, self._settings))
        words = versioning.build_index_entry(draft)
        at = self._clock()
        run = self._run()
        with self._store.read() as tx:  # before the transaction that writes: nobody waits for a search
            similar, snapshot = near_duplicate_search.find(tx, draft, words), tx.snapshot()
        with self._write() as tx:
            disturbed = tx.snapshot() != snapshot
            done = self._remember(tx, draft, words, at, run)
        self._meaning.wake([done.memory.number])
        if disturbed:
            similar = self._recheck_similar(draft, words, similar)
        done = _with_similar(done, similar)
        if suggested and self._settings.autotag == "suggest":
            done = msgspec.structs.replace(done, suggested_tags=suggested)
        return done

    def _recheck_similar(self, draft: Draft, words: IndexEntry, before: list[int]) -> list[int]:
        """The near-duplicates as they are now: another may have been kept, or forgotten, since they were looked for."""
        try:
            with self._store.read() as tx:
                return near_duplicate_search.find(tx, draft, words)
        except StoreError:  # fallback: those found before the write, which is committed and must be reported as such
            return before

    def _check_draft(self, draft: Draft) -> Draft:
        draft = validation.check_draft(draft, self._settings)
        if isinstance(self._actor, bounds.BoundActor):
            bounds.require_within(self._actor, validation.scope_of(draft))
        return draft

    def _suggest_tags(self, draft: Draft) -> tuple[str, ...]:
        """Tags for a draft that names none, from its text and from what is tagged in its scope."""
        if self._settings.autotag == "off" or draft.tags:
            return ()
        from omoide.retrieval import autotag  # noqa: PLC0415 - its patterns take 5 ms that only whoever wants tags pays for

        query = bounds.narrow_or_refuse(
            self._actor, Query(validation.scope_of(draft), draft.content[: autotag.READ], limit=10)
        )
        with self._store.read() as tx:
            old = self._same(tx, draft)
            if old is not None and old.tags:
                return ()  # told again without tags: those that a person gave stay
            near = [(hit.memory, hit.score) for hit in pipeline.search(tx, query, self._clock()).hits]
            telling, entries = autotag.telling_terms(draft.content), tx.sizes(query).entries
            holders = tx.frequencies(query, telling, COUNTED) if near else {}
        texts = [(memory.tags, f"{memory.topic}\n{memory.content}") for memory, _ in near]
        shared = autotag.shared_tags(telling, holders, entries, texts)
        return tuple(autotag.suggest(draft.content, [(memory.tags, score) for memory, score in near], shared=shared))

    def remember_many(self, drafts: Iterable[Draft]) -> Sequence[Remembered]:
        """Keeps them all in one transaction, or none of them. `similar_count` is not counted."""
        permissions.require(self._actor, "remember_many")
        with _without_gc():
            answers = self._remember_all(drafts)
        self._meaning.wake([answer.memory.number for answer in answers])
        return answers

    def _remember_all(self, drafts: Iterable[Draft]) -> Sequence[Remembered]:
        ready: list[tuple[int, Draft]] = []
        at, run = self._clock(), self._run()
        try:
            for place, draft in enumerate(drafts):
                ready.append((place, self._check_draft(draft)))
        except InvalidInput as error:
            raise type(error)(f"draft {len(ready) + 1}: {error}") from error
        # One project after the other: the index takes rising row ids much faster.
        ready.sort(key=lambda item: validation.scope_of(item[1]).path)
        done: dict[int, Remembered] = {}
        with self._write() as tx:
            for start in range(0, len(ready), _CHUNK):
                self._remember_chunk(tx, ready[start : start + _CHUNK], done, at, run)
        return [done[place] for place in range(len(ready))]

    def _run(self) -> str | None:
        """The run whose agent remembers, as whoever started it says."""
        return validation.check_line(self._settings.run, "run", self._settings) if self._settings.run else None

    def _remember_chunk(
        self,
        tx: Writer,
        ready: Sequence[tuple[int, Draft]],
        done: dict[int, Remembered],
        at: datetime,
        run: str | None,
    ) -> None:
        """Adds what is surely new together, and the rest, which may be about something that is there, one by one."""
        twins = [self._fingerprint(draft) for _, draft in ready]
        seen = tx.known_fingerprints(twins)
        number = tx.next_number()
        random = os.urandom(10 * len(ready)).hex()
        new: list[tuple[Memory, int, IndexEntry]] = []
        others: list[tuple[int, Draft]] = []
        for (place, draft), fingerprint in zip(ready, twins, strict=True):
            if draft.key is not None or fingerprint in seen:
                others.append((place, draft))
            else:
                self._require_layer(validation.scope_of(draft))
                start = 20 * len(new)
                memory = self._new_memory(draft, at, number + len(new), random[start : start + 20], run)
                new.append((memory, fingerprint, versioning.build_index_entry(draft)))
                done[place] = Remembered(memory, "created")
            seen.add(fingerprint)
        tx.add_many(new, "remembered", self._actor, at)
        for place, draft in others:
            done[place] = self._remember(tx, draft, versioning.build_index_entry(draft), at, run)

    def _remember(self, tx: Writer, draft: Draft, words: IndexEntry, at: datetime, run: str | None = None) -> Remembered:
        old = self._same(tx, draft)
        if old is None:
            memory = self._add(tx, self._new_memory(draft, at, run=run), words)
            tx.add_event("remembered", self._actor, at, memory, {})
            return Remembered(memory, "created")
        new = versioning.merge_draft(old, draft, at)
        self._require_layer(old.scope)
        # Told again by somebody more trusted, it is theirs: otherwise an agent could take a preference from its user.
        theirs = old.author is not None and permissions.outranks(self._actor.role, old.author.role)
        if new == old and not theirs:
            tx.count_reference(old.number)
            tx.add_event("confirmed", self._actor, at, old, {})
            return Remembered(msgspec.structs.replace(old, reference_count=old.reference_count + 1), "unchanged")
        count, ran = old.reference_count + 1, draft.source_run_id or run or old.source_run_id
        new = msgspec.structs.replace(new, reference_count=count, source_run_id=ran)
        return Remembered(self._change(tx, old, new, "updated", at, self._actor if theirs else None), "updated")

    def _same(self, tx: Reader, draft: Draft) -> Memory | None:
        """What this draft is about: by key alone when it has one, else by topic and type, else by content and type."""
        scope = validation.scope_of(draft)
        if draft.key is not None:
            return tx.by_key(scope, draft.key)
        type = draft.type or self._settings.type
        twins = [memory for memory in tx.by_fingerprint(self._fingerprint(draft), scope) if memory.type == type]
        at = self._clock()
        twins.sort(key=lambda memory: not is_current(memory, at))  # rather than one that was set aside, or merged
        if draft.topic is None:
            return next((m for m in twins if not m.topic_given and m.content == draft.content), None)
        wanted = versioning.fold_topic(draft.topic)
        return next((m for m in twins if m.topic_given and versioning.fold_topic(m.topic) == wanted), None)

    def _fingerprint(self, draft: Draft) -> int:
        return versioning.fingerprint(
            validation.scope_of(draft), draft.type or self._settings.type, draft.topic, draft.content
        )

    def _new_memory(self, draft: Draft, at: datetime, number: int = 0, random: str = "", run: str | None = None) -> Memory:
        created = draft.created_at or at
        topic = draft.topic if draft.topic is not None else model.derive_topic(draft.content)
        # In the order of the fields: with their names it takes ten times as long, and a bulk import makes thousands.
        return Memory(
            model.new_id(created, random), number, validation.scope_of(draft), draft.key, draft.type or self._settings.type,
            topic, draft.topic is not None, draft.content, tuple(draft.tags), tuple(draft.examples),
            draft.source if draft.source is not None else self._actor.via,
            1.0 if draft.confidence is None else draft.confidence, 0.5 if draft.relevance is None else draft.relevance,
            0, bool(draft.pinned), State.ACTIVE, created, created, None, draft.expires_at, 1,
            run if draft.source_run_id is None else draft.source_run_id, self._actor,
        )  # fmt: skip

    def adopt(
        self,
        things: Iterable[Memory | Draft | Link],
        *,
        rehearse: bool = False,
        watch: Callable[[int], None] = lambda _: None,
    ) -> Mapping[str, int]:
        """Takes in what another store kept: memories as they are, with their ids, dates and counts; drafts as
        `remember_many` would; links between memories that are there by then. All of it in one transaction, or nothing.

        Of two memories with one id the one changed last stands, the other becomes its history. Answers how many were
        added, replaced and known, and how many links were linked, relinked (known) and astray (an end is missing).
        A rehearsal finds every error and every number, and keeps nothing. `watch` hears which one comes next.
        """
        permissions.require(self._actor, "adopt")
        at = self._clock()
        done = dict.fromkeys(("added", "replaced", "known", "linked", "relinked", "astray"), 0)
        read = list(things)  # before the transaction opens: nobody waits for a slow file, or is told of its errors as ours
        with suppress(_DryRun), self._write() as tx:
            for place, thing in enumerate(read):
                watch(place)
                done[self._adopt_one(tx, thing, at)] += 1
            if rehearse:
                raise _DryRun
        return done

    def gather(
        self, drafts: Iterable[Draft], *, rehearse: bool = False, watch: Callable[[int], None] = lambda _: None
    ) -> Sequence[Remembered]:
        """Takes over what another tool keeps; all of it, or nothing.

        What a memory of the same key says, or said in an earlier version, is unchanged, whatever became of it here; for
        a draft without key, any memory of the scope. So a second time changes nothing, and what was revised, archived or
        forgotten here stays so until the other tool says something new. A rehearsal answers the same, and keeps nothing.
        `watch` hears which one comes next.
        """
        permissions.require(self._actor, "gather")
        ready: list[Draft] = []
        for place, draft in enumerate(drafts):
            watch(place)
            ready.append(validation.check_draft(draft, self._settings))
        done: list[Remembered] = []
        at = self._clock()
        with suppress(_DryRun), self._write() as tx:
            said = KnownTexts(tx)
            for place, draft in enumerate(ready):
                watch(place)
                known = said.before(draft)
                told = (
                    Remembered(known, "unchanged")
                    if known
                    else self._remember(tx, draft, versioning.build_index_entry(draft), at)
                )
                done.append(told)
            if rehearse:
                raise _DryRun
        return done

    def _adopt_one(self, tx: Writer, thing: Memory | Draft | Link, at: datetime) -> str:
        if isinstance(thing, Link):
            return _add_link(tx, thing)
        if isinstance(thing, Draft):
            draft = validation.check_draft(thing, self._settings)
            return _OUTCOMES[self._remember(tx, draft, versioning.build_index_entry(draft), at).action]
        memory = self._checked_memory(thing)
        old = tx.by_id(memory.id)
        if old is None:
            kept = self._add(tx, memory, versioning.build_index_entry(memory))
            tx.add_event("imported", self._actor, at, kept, {})
            return "added"
        if old.updated_at < memory.updated_at:
            memory = msgspec.structs.replace(memory, number=old.number)
            self._change(tx, old, memory, "imported", at, memory.author)
            return "replaced"
        return "known"

    def _checked_memory(self, memory: Memory) -> Memory:
        """The memory with its texts as the checks let them through; a derived topic is derived, not checked."""
        draft = validation.check_draft(
            Draft(
                memory.content, memory.scope, memory.topic if memory.topic_given else None, memory.type, memory.tags,
                memory.examples, memory.key, memory.source, memory.confidence, memory.relevance, memory.pinned,
                memory.expires_at, memory.created_at, memory.source_run_id,
            ),
            self._settings,
        )  # fmt: skip
        validation.check_name(memory.id, "id")
        validation.check_aware(memory.updated_at, "updated_at")
        if memory.last_accessed_at is not None:
            validation.check_aware(memory.last_accessed_at, "last_accessed_at")
        return msgspec.structs.replace(
            memory,
            content=draft.content,
            topic=model.derive_topic(draft.content) if draft.topic is None else draft.topic,
            tags=tuple(draft.tags),
            examples=tuple(draft.examples),
            key=draft.key,
            source=draft.source or memory.source,
            source_run_id=draft.source_run_id,
            author=self._importing(memory.author),
        )

    def _importing(self, claimed: Actor | None) -> Actor:
        """Who an imported memory is by: whoever imports it. A file's claim can only lower that, to a worker."""
        if claimed is None or not permissions.outranks(self._actor.role, claimed.role):
            return self._actor
        return Actor(validation.check_line(claimed.name, "by", self._settings), claimed.role, self._actor.via)


def _with_similar(done: Remembered, similar: Sequence[int]) -> Remembered:
    others = [number for number in similar if number != done.memory.number][: near_duplicate_search.COUNTED]
    if not others:
        return done
    return msgspec.structs.replace(done, similar_count=len(others), similar=tuple(others[:_NAMED]))


@contextmanager
def _without_gc() -> Iterator[None]:
    """Without the collector of garbage: it would walk thousands of new memories again and again, and find none."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _add_link(tx: Writer, link: Link) -> str:
    source, target = tx.by_id(link.source), tx.by_id(link.target)
    if source is None or target is None:
        return "astray"
    return "linked" if tx.link(source.number, link.kind, target.number, link.created_at) else "relinked"
