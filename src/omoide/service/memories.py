"""Store memories and change them: remember, revise, pin, archive, forget, restore, promote, link."""

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

import msgspec
from msgspec import UNSET, UnsetType

from omoide import model
from omoide.errors import Conflict, InvalidInput, StoreError
from omoide.guard import bounds, permissions, validation
from omoide.model import Draft, LinkKind, Memory, Query, Remembered, Scope, State, fields
from omoide.model.expiry import has_expired, is_current
from omoide.retrieval import near_duplicate_search, pipeline
from omoide.retrieval.candidates import COUNTED
from omoide.service import versioning
from omoide.service.core import Core, Ref
from omoide.service.versioning import is_living, with_fields
from omoide.storage.base import IndexEntry, Reader, Writer

_CHUNK = 1_000
_NAMED = 5


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
            similar, mark = near_duplicate_search.find(tx, draft, words), tx.mark()
        with self._write() as tx:
            disturbed = tx.mark() != mark
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

    def revise(
        self,
        ref: Ref,
        *,
        scope: Scope,
        content: str | UnsetType = UNSET,
        topic: str | UnsetType | None = UNSET,
        type: str | UnsetType = UNSET,
        tags: Sequence[str] | UnsetType = UNSET,
        examples: Sequence[str] | UnsetType = UNSET,
        key: str | UnsetType | None = UNSET,
        source: str | UnsetType = UNSET,
        source_run_id: str | UnsetType | None = UNSET,
        confidence: float | UnsetType = UNSET,
        relevance: float | UnsetType = UNSET,
        expires_at: datetime | UnsetType | None = UNSET,
        active: bool | UnsetType = UNSET,
        if_version: int | None = None,
    ) -> Memory:
        """Changes what is named and keeps the rest. `topic=None` derives it anew; `if_version` refuses to overwrite."""
        arguments = locals()  # by name: one that the table has and the signature lacks is an error
        permissions.require(self._actor, "revise")
        given = {name: value for name in fields.REVISABLE if (value := arguments[name]) is not UNSET}
        changes = validation.check_fields(given, self._settings, fields.REVISABLE)
        if active is not UNSET:  # to take away and bring back, under another name
            permissions.require(self._actor, "restore" if active else "archive")
        if not changes and active is UNSET:
            raise InvalidInput("say what to change: content, topic, type, tags, …")

        def revised(old: Memory) -> Memory:
            if if_version is not None and old.version != if_version:
                raise Conflict(f"#{old.number} is at version {old.version} by now, you saw {if_version}: look again")
            if old.state is State.FORGOTTEN:
                raise Conflict(f"#{old.number} is forgotten: restore it first")
            new = dict(changes)
            if active is not UNSET and old.state in (State.ACTIVE, State.INACTIVE):
                new["state"] = State.ACTIVE if active else State.INACTIVE
            return with_fields(old, new)

        return self._transform(ref, scope, "revised", revised)

    def pin(self, ref: Ref, *, scope: Scope) -> Memory:
        """Always kept in view: never retired, never summarised away."""
        permissions.require(self._actor, "pin")
        return self._transform(ref, scope, "pinned", lambda old: is_living(old, pinned=True))

    def unpin(self, ref: Ref, *, scope: Scope) -> Memory:
        permissions.require(self._actor, "unpin")
        return self._transform(ref, scope, "unpinned", lambda old: is_living(old, pinned=False))

    def archive(self, ref: Ref, *, scope: Scope) -> Memory:
        """Retires it: still searchable on request, restored at any time."""
        permissions.require(self._actor, "archive")
        return self._transform(ref, scope, "archived", lambda old: is_living(old, state=State.ARCHIVED))

    def forget(self, ref: Ref, *, scope: Scope) -> Memory:
        """Takes it out of every search. Reversible with `restore` until `purge`."""
        permissions.require(self._actor, "forget")
        return self._transform(ref, scope, "forgotten", lambda old: with_fields(old, {"state": State.FORGOTTEN}))

    def restore(self, ref: Ref, *, scope: Scope) -> Memory:
        """Brings a forgotten, archived or inactive memory back, findable again; its time of access starts anew."""
        permissions.require(self._actor, "restore")
        at = self._clock()

        def restored(old: Memory) -> Memory:
            # What expired would be out of every search again at once.
            expires_at = None if has_expired(old.expires_at, at) else old.expires_at
            return with_fields(old, {"state": State.ACTIVE, "expires_at": expires_at})

        memory = self._transform(ref, scope, "restored", restored)
        self._store.touch([memory.number], at)
        return memory

    def promote(self, ref: Ref, *, scope: Scope, to: Scope | None = None) -> Memory:
        """Moves it to a wider scope: a session's to its project, a project's to everywhere, or where `to` says."""
        permissions.require(self._actor, "promote")

        def promoted(old: Memory) -> Memory:
            target = to
            if target is None:
                target = Scope(old.scope.path) if old.scope.name else Scope.everywhere()
            wider = target == Scope.everywhere() or target == Scope(old.scope.path)
            if not wider or target == old.scope:
                raise InvalidInput(f"#{old.number} is in {old.scope}: it can only be promoted to a wider scope")
            bounds.require_within(self._actor, target)
            return is_living(old, scope=target)

        return self._transform(ref, scope, "promoted", promoted)

    def link(self, ref: Ref, kind: LinkKind | str, other: Ref, *, scope: Scope) -> bool:
        """Says how one memory stands to another; False when that was known."""
        permissions.require(self._actor, "link")
        return self._linking(ref, kind, other, scope, "linked")

    def unlink(self, ref: Ref, kind: LinkKind | str, other: Ref, *, scope: Scope) -> bool:
        """Takes a link away; False when there was none."""
        permissions.require(self._actor, "unlink")
        return self._linking(ref, kind, other, scope, "unlinked")

    def _linking(self, ref: Ref, kind: LinkKind | str, other: Ref, scope: Scope, action: str) -> bool:
        try:
            kind = LinkKind(kind)
        except ValueError:
            raise InvalidInput(f"there is no link {kind!r}: use {', '.join(LinkKind)}") from None
        at = self._clock()
        with self._write() as tx:
            source, target = self._find(tx, ref, scope), self._find(tx, other, scope)
            self._require_layer(source.scope)
            if source.number == target.number:
                raise InvalidInput(f"#{source.number} cannot be linked to itself")
            if action == "linked":
                done = tx.link(source.number, kind, target.number, at)
            else:
                done = tx.unlink(source.number, kind, target.number)
            if done:
                tx.add_event(action, self._actor, at, source, {"kind": kind.value, "to": target.number})
        return done

    def _transform(self, ref: Ref, scope: Scope, action: str, change: Callable[[Memory], Memory]) -> Memory:
        at = self._clock()
        with self._write() as tx:
            old = self._find(tx, ref, scope)
            new = change(old)
            done = old if new == old else self._change(tx, old, new, action, at)
        self._meaning.wake([done.number])
        return done


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
