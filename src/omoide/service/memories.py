"""Store memories and change them: remember, revise, pin, archive, forget, restore, promote, link."""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

import msgspec
from msgspec import UNSET, UnsetType

from omoide.errors import Conflict, InvalidInput, StoreError
from omoide.guard import permissions, validation
from omoide.model import Draft, LinkKind, Memory, Query, Remembered, Scope, State, fields
from omoide.model.expiry import has_expired
from omoide.retrieval import near_duplicate_search, pipeline
from omoide.retrieval.constants import MAX_COUNTED
from omoide.service import versioning
from omoide.service.core import Core, Ref
from omoide.service.versioning import is_living, with_fields
from omoide.storage.base import IndexEntry

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
        draft = self._writes.check(draft)
        suggested = self._suggest_tags(draft)
        if suggested and self._settings.autotag == "apply":
            draft = msgspec.structs.replace(draft, tags=validation.check_tags(suggested, self._settings))
        entry = versioning.build_index_entry(draft)
        with self._store.read() as tx:  # before the transaction that writes: nobody waits for a search
            similar, mark = near_duplicate_search.find(tx, draft, entry), tx.mark()
        with self._writes.transaction() as write:
            is_stale = write.tx.mark() != mark
            done = write.remember(draft, entry)
        if is_stale:
            similar = self._recheck_similar(draft, entry, similar)
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

    def _suggest_tags(self, draft: Draft) -> tuple[str, ...]:
        """Tags for a draft that names none, from its text and from what is tagged in its scope."""
        if self._settings.autotag == "off" or draft.tags:
            return ()
        from omoide.retrieval import autotag  # noqa: PLC0415 - its patterns take 5 ms that only whoever wants tags pays for

        query = permissions.narrow_or_refuse(
            self._actor, Query(validation.scope_of(draft), draft.content[: autotag.READ], limit=10)
        )
        with self._store.read() as tx:
            old = self._writes.find_same(tx, draft, self._clock())
            if old is not None and old.tags:
                return ()  # told again without tags: those that a person gave stay
            near = [(hit.memory, hit.score) for hit in pipeline.search(tx, query, self._clock()).hits]
            telling, entries = autotag.telling_terms(draft.content), tx.sizes(query).entries
            holders = tx.frequencies(query, telling, MAX_COUNTED) if near else {}
        texts = [(memory.tags, f"{memory.topic}\n{memory.content}") for memory, _ in near]
        shared = autotag.shared_tags(telling, holders, entries, texts)
        return tuple(autotag.suggest(draft.content, [(memory.tags, score) for memory, score in near], shared=shared))

    def remember_many(self, drafts: Iterable[Draft]) -> Sequence[Remembered]:
        """Store many memories in one transaction: all of them, or none. `similar_count` is not counted.

        Raises InvalidInput, with the place of the draft, for the first one that cannot be stored.
        """
        permissions.require(self._actor, "remember_many")
        with _without_gc():
            checked: list[Draft] = []
            try:
                for draft in drafts:
                    checked.append(self._writes.check(draft))
            except InvalidInput as error:
                raise type(error)(f"draft {len(checked) + 1}: {error}") from error
            with self._writes.transaction() as write:
                return write.remember_many(checked)

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
            permissions.require_within(self._actor, target)
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
        with self._writes.transaction() as write:
            source, target = self._find(write.tx, ref, scope), self._find(write.tx, other, scope)
            self._writes.require_layer(source.scope)
            if source.number == target.number:
                raise InvalidInput(f"#{source.number} cannot be linked to itself")
            if action == "linked":
                done = write.tx.link(source.number, kind, target.number, write.at)
            else:
                done = write.tx.unlink(source.number, kind, target.number)
            if done:
                write.log(action, source, {"kind": kind.value, "to": target.number})
        return done

    def _transform(self, ref: Ref, scope: Scope, action: str, change: Callable[[Memory], Memory]) -> Memory:
        with self._writes.transaction() as write:
            old = self._find(write.tx, ref, scope)
            new = change(old)
            return old if new == old else write.change(old, new, action)


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
