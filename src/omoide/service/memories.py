"""Store memories and change them: remember, revise, pin, archive, forget, restore, promote."""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType

from omoide.errors import InvalidInput, NotFound, StoreError
from omoide.guard import permissions, validation
from omoide.model import ACTIVITY, Draft, Memory, Query, Remembered, Scope, State, fields
from omoide.model.expiry import has_expired
from omoide.retrieval import near_duplicates
from omoide.retrieval.constants import MAX_COUNTED
from omoide.service import versioning
from omoide.service.core import Core, Ref
from omoide.service.versioning import require_living, with_fields
from omoide.storage.base import IndexEntry

if TYPE_CHECKING:  # for annotations
    from omoide.service import Service

_BATCH = 100
"""Memories that `remember_in_batches` stores in one transaction."""
_SWITCHES = {
    "active": {True: "restore", False: "archive"},
    "pinned": {True: "pin", False: "unpin"},
    "fixed_relevance": {True: "fix_relevance", False: "release_relevance"},
}
"""What an actor must be allowed to do to switch something of a memory on and off."""
_NAMED = 5
"""Near-duplicates whose numbers `remember` returns; the rest are counted."""


class Memories(Core):
    """Operations that store and change memories."""

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
        source_run_id: str | int | None = None,
        confidence: float | None = None,
        relevance: float | None = None,
        pinned: bool | None = None,
        expires_at: datetime | None = None,
        created_at: datetime | None = None,
        original_prompt: str | None = None,
    ) -> Remembered:
        """Store a memory, or update the one with the same key (or the same topic and type) in `scope`.

        Without a topic, the same content of the same type is the same memory: then only its count of references grows.
        An archived memory that is remembered again becomes active. A field that is left out stays as it was where a memory
        is updated.

        `content`: the text, stored byte for byte; or a whole `Draft`: then no other parameter is allowed.
        `scope`: where it belongs: `Scope.everywhere()`, `Scope.project(…)` or `Scope.session(…)`. Required.
        `topic`: a title of one line. Without it, one is derived from the content that does not identify the memory.
        `type`: one of `Service.types`; by default that of the settings.
        `tags`: single lines by which it is found besides its content.
        `examples`: whole texts by which it is found besides its content.
        `key`: a name that is unique in the scope, and identifies the memory.
        `source`: where it was learnt: human, run, learning, or any text. By default that of the settings; without one, run
        if a run is named, human for a person at the command line, else the interface.
        `source_run_id`: the run of an agent that it comes from, by its number or its id; by default that of the settings.
        `confidence`: how sure its author is, from 0 to 1; by default 1.
        `relevance`: how useful it has proved, from 0 to 1; by default 0.5.
        `pinned`: whether it is never archived by retention, and listed first by `resume`; by default False.
        `expires_at`: when it stops being true, with a time zone; by default never.
        `created_at`: when it was learnt, with a time zone; by default now.
        `original_prompt`: what the user said that made it a memory, where that is known.

        Returns the memory, whether it was created, updated or unchanged, near-duplicates of it, and suggested tags where the
        settings ask for them. Raises InvalidInput for a field that is not valid, SecretFound for a secret in one of the
        texts (unless the settings redact it), NotAllowed where the actor may not write to the scope or let the memory
        expire, and Conflict for a project or session whose name differs only in case from that of another one.
        """
        permissions.require(self._actor, "remember")
        given: dict[str, Any] = {
            "scope": scope,
            "topic": topic,
            "type": type,
            "tags": tags,
            "examples": examples,
            "key": key,
            "source": source,
            "source_run_id": source_run_id,
            "confidence": confidence,
            "relevance": relevance,
            "pinned": pinned,
            "expires_at": expires_at,
            "created_at": created_at,
            "original_prompt": original_prompt,
        }
        if isinstance(content, Draft):
            validation.require_alone("Draft", **given)
        draft = self._writes.check(content if isinstance(content, Draft) else Draft(content, **given))
        suggested = self._suggest_tags(draft)
        if suggested and self._settings.autotag == "apply":
            draft = msgspec.structs.replace(draft, tags=validation.check_tags(suggested, self._settings))
        entry = versioning.build_index_entry(draft)
        with self._writes.transaction() as write:
            done = write.result = write.remember(draft, entry)
        # After the transaction that writes, so that nobody waits for a search, and it finds what others wrote meanwhile.
        similar = self._similar_to(done.memory, entry)
        if similar:
            done = msgspec.structs.replace(done, similar_count=len(similar), similar=tuple(similar[:_NAMED]))
        if suggested and self._settings.autotag == "suggest":
            done = msgspec.structs.replace(done, suggested_tags=suggested)
        return done

    def append_activity(
        self, content: str, *, scope: Scope, source: str | None = None, type: str | None = ACTIVITY, tags: Sequence[str] = ()
    ) -> Memory:
        """Append a line to the recent activity of a project, or an entry to a session.

        It is always a new memory, also where the same text was appended before.

        `content`, `tags`: those of the memory. `scope`: the project or the session. `source`: where it comes from, such as
        `slack:C123/1700000000.0001`; by default as in `remember`. `type`: None: that of the settings.

        Returns the memory. Raises what `remember` raises, and InvalidInput for the global layer.
        """
        permissions.require(self._actor, "append_activity")
        if not scope.path:
            raise InvalidInput("the global layer has no activity: name a project, or a session")
        draft = self._writes.check(Draft(content, scope, type=type, tags=tags, source=source))
        with self._writes.transaction() as write, write.from_source(draft.source):
            added = write.result = write.add(self._writes.new_memory(draft, write.at), "remembered")
        return added

    def _similar_to(self, memory: Memory, entry: IndexEntry) -> list[int]:
        """The near-duplicates of a memory that has just been stored."""
        try:
            with self._store.read() as tx:
                return near_duplicates.find(tx, memory, entry)
        except StoreError:  # fallback: none are named; the memory is committed, and must be reported as such
            return []

    def _suggest_tags(self, draft: Draft) -> tuple[str, ...]:
        """Suggest tags for a draft without any, from its text and from similar memories of its scope."""
        if self._settings.autotag == "off" or draft.tags:
            return ()
        from omoide.retrieval import autotag, pipeline  # lazy: 5 ms that only suggested tags need

        query = permissions.narrow_or_refuse(
            self._actor, Query(validation.scope_of(draft), draft.content[: autotag.READ], limit=10)
        )
        with self._store.read() as tx:
            old = self._writes.find_same(tx, draft, self._clock())
            if old is not None and old.tags:
                return ()  # remembered again without tags: it keeps those that a person gave
            near = [(hit.memory, hit.score) for hit in pipeline.search(tx, query, self._clock()).hits]
            telling, entries = autotag.telling_terms(draft.content), tx.sizes(query).entries
            frequencies = tx.frequencies(query, telling, MAX_COUNTED) if near else {}
        texts = [(memory.tags, f"{memory.topic}\n{memory.content}") for memory, _ in near]
        shared = autotag.shared_tags(telling, frequencies, entries, texts)
        return tuple(autotag.suggest(draft.content, [(memory.tags, score) for memory, score in near], shared=shared))

    def remember_many(self, drafts: Iterable[Draft]) -> Sequence[Remembered]:
        """Store many memories in one transaction: all of them, or none.

        `drafts`: may be thousands. Returns what `remember` would for each, in their order, but without near-duplicates and
        suggested tags. Raises what `remember` raises for the first draft that cannot be stored; the message of an
        InvalidInput says which one it is.
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
        source_run_id: str | int | UnsetType | None = UNSET,
        confidence: float | UnsetType = UNSET,
        relevance: float | UnsetType = UNSET,
        expires_at: datetime | UnsetType | None = UNSET,
        original_prompt: str | UnsetType | None = UNSET,
        active: bool | UnsetType = UNSET,
        pinned: bool | UnsetType = UNSET,
        fixed_relevance: bool | UnsetType = UNSET,
        add_tags: Sequence[str] = (),
        remove_tags: Sequence[str] = (),
        if_version: int | None = None,
    ) -> Memory:
        """Change some fields of a memory as a new version, and keep the others.

        `ref`: the memory, by its id, number or key. `scope`: where the caller looks from. `content`, `topic`, `type`,
        `tags`, `examples`, `key`, `source`, `source_run_id`, `confidence`, `relevance`, `expires_at`, `original_prompt`: the
        new values, as in `remember`; `topic=None` derives the topic from the content, and None removes a key, run, prompt or
        expiry. `add_tags`, `remove_tags`: which tags to add to those that it has, or to the given `tags`, and which to
        remove, whatever their case. `active`: False switches the memory off (see `State.INACTIVE`), True switches it on
        again; that needs the permission to archive or to restore. `pinned`: as in `pin` and `unpin`. `fixed_relevance`: True
        as in `fix_relevance`, False as in `release_relevance`. `if_version`: raise Changed unless this is the current
        version.

        Returns the new version; the current one where nothing differs. Raises InvalidInput where nothing is given or a value
        is not valid, SecretFound, NotFound, NotAllowed (also for an earlier expiry, which needs the permission to archive),
        and Conflict for a key that another memory has and for a forgotten memory.
        """
        arguments = locals()  # by name: a field of the table that the signature lacks raises a KeyError
        permissions.require(self._actor, "revise")
        given = {name: value for name in fields.REVISABLE if (value := arguments[name]) is not UNSET}
        changes = validation.check_fields(given, self._settings, fields.REVISABLE)
        for name, actions in _SWITCHES.items():
            value = arguments[name]
            if value is not UNSET:
                permissions.require(self._actor, actions[validation.check_flag(value, name)])
        edits = bool(changes or add_tags or remove_tags or active is not UNSET)
        if not edits and pinned is UNSET and fixed_relevance is UNSET:
            raise InvalidInput(f"nothing to change: give at least one of {', '.join(fields.REVISABLE)}, active")

        def apply(old: Memory) -> Memory:
            new = dict(changes)
            if add_tags or remove_tags:
                tags = _edit_tags(new.get("tags", old.tags), add_tags, remove_tags)
                new |= validation.check_fields({"tags": tags}, self._settings)
            if active is not UNSET and old.state in (State.ACTIVE, State.INACTIVE):
                new["state"] = State.ACTIVE if active else State.INACTIVE
            return with_fields(old, new)

        with self._writes.transaction() as write, write.from_source(changes.get("source")):
            memory = require_living(self._find_version(write.tx, ref, scope, if_version))
            if edits:
                memory = write.change_if_new(memory, apply(memory), "revised")
            if pinned is not UNSET:
                memory = write.change_if_new(
                    memory, with_fields(memory, {"pinned": pinned}), "pinned" if pinned else "unpinned"
                )
            if fixed_relevance is True:
                memory = write.fix_relevance(memory, memory.relevance)
            elif fixed_relevance is False:
                write.release_relevance(memory)
            write.result = memory
        return memory

    def pin(self, ref: Ref, *, scope: Scope, if_version: int | None = None) -> Memory:
        """Pin a memory: retention never archives it, and `resume` lists it first.

        `if_version`: raise Changed unless this is the current version. Returns the memory. Raises NotFound, and Conflict
        where it is forgotten.
        """
        permissions.require(self._actor, "pin")
        return self._transform(ref, scope, "pinned", _set_pin(pinned=True), if_version)

    def unpin(self, ref: Ref, *, scope: Scope, if_version: int | None = None) -> Memory:
        """Unpin a memory: see `pin`.

        `if_version`: raise Changed unless this is the current version. Returns the memory. Raises NotFound, and Conflict
        where it is forgotten.
        """
        permissions.require(self._actor, "unpin")
        return self._transform(ref, scope, "unpinned", _set_pin(pinned=False), if_version)

    def archive(self, ref: Ref, *, scope: Scope, if_version: int | None = None) -> Memory:
        """Archive a memory: it is found only with `states=[State.ARCHIVED]`, and `restore` brings it back.

        `if_version`: raise Changed unless this is the current version. Returns the memory. Raises NotFound, NotAllowed, and
        Conflict where it is forgotten.
        """
        permissions.require(self._actor, "archive")
        archived = {"state": State.ARCHIVED}
        return self._transform(ref, scope, "archived", lambda old: with_fields(require_living(old), archived), if_version)

    def forget(self, ref: Ref, *, scope: Scope, if_version: int | None = None) -> Memory:
        """Forget a memory: no search finds it. `restore` brings it back, until `purge` erases it.

        `if_version`: raise Changed unless this is the current version. Returns the memory. Raises NotFound and NotAllowed.
        """
        permissions.require(self._actor, "forget")
        forgotten = {"state": State.FORGOTTEN}
        return self._transform(ref, scope, "forgotten", lambda old: with_fields(old, forgotten), if_version)

    def restore(self, ref: Ref, *, scope: Scope, version: int | None = None, if_version: int | None = None) -> Memory:
        """Make a forgotten, archived or inactive memory active again; it counts as accessed now.

        An expiry that has passed is removed. `version`: also bring back the fields of this version of its history; the scope
        stays. `if_version`: raise Changed unless this is the current version.

        Returns the memory. Raises NotFound for a memory or version that does not exist, NotAllowed, and Conflict where
        another memory has its key by now.
        """
        permissions.require(self._actor, "restore")
        at = self._clock()
        values = {} if version is None else self._fields_of_version(ref, scope, version)

        def apply(old: Memory) -> Memory:
            # With its old expiry it would be out of every search again at once.
            expires_at = values.get("expires_at", old.expires_at)
            expires_at = None if has_expired(expires_at, at) else expires_at
            return with_fields(old, {**values, "state": State.ACTIVE, "expires_at": expires_at})

        memory = self._transform(ref, scope, "restored", apply, if_version)
        self._store.touch([memory.number], at)
        return memory

    def revert(self, ref: Ref, version: int, *, scope: Scope, if_version: int | None = None) -> Memory:
        """Bring back the fields of a past version of a memory, as a new version; state, pin and scope stay as they are.

        `version`: the number of the past version. `if_version`: raise Changed unless this is the current version. Returns
        the memory. Raises NotFound for a memory or version that does not exist, and Conflict where it is forgotten or its
        old key is taken.
        """
        permissions.require(self._actor, "revert")
        values = self._fields_of_version(ref, scope, version)
        return self._transform(ref, scope, "reverted", lambda old: with_fields(require_living(old), values), if_version)

    def _fields_of_version(self, ref: Ref, scope: Scope, version: int) -> dict[str, Any]:
        """What a memory said in a version of its history, as it can be stored today."""
        with self._read(scope) as tx:
            number = self._find(tx, ref, scope).number
            past = next((each.memory for each in tx.versions(number) if each.memory.version == version), None)
        if past is None:
            raise NotFound(f"#{number} has no version {version}: `omoide history {number}` shows its versions")
        values = {name: getattr(past, name) for name in fields.REVISABLE}
        if not past.topic_given:
            values["topic"] = None
        return validation.check_fields(values, self._settings, fields.REVISABLE)

    def promote(self, ref: Ref, *, scope: Scope, to: Scope | None = None, if_version: int | None = None) -> Memory:
        """Move a memory to a wider scope: from a session to its project, from a project to the global layer.

        `to`: the wider scope; None: the next wider one. `if_version`: raise Changed unless this is the current version.
        Returns the memory. Raises NotFound, NotAllowed, InvalidInput for a scope that is not wider, and Conflict where the
        memory is forgotten or its key is taken there.
        """
        permissions.require(self._actor, "promote")

        def apply(old: Memory) -> Memory:
            target = to
            if target is None:
                target = Scope(old.scope.path) if old.scope.name else Scope.everywhere()
            wider = target == Scope.everywhere() or target == Scope(old.scope.path)
            if not wider or target == old.scope:
                raise InvalidInput(f"#{old.number} is in {old.scope}: it can only be promoted to a wider scope")
            permissions.require_within(self._actor, target)
            return with_fields(require_living(old), {"scope": target})

        return self._transform(ref, scope, "promoted", apply, if_version)

    def _transform(
        self,
        ref: Ref,
        scope: Scope,
        action: str,
        change: Callable[[Memory], Memory],
        if_version: int | None = None,
        source: str | None = None,
    ) -> Memory:
        """Change the memory that a caller refers to; nothing is written where `change` returns the same.

        Raises Changed unless the memory is at `if_version`, where one is given.
        """
        with self._writes.transaction() as write, write.from_source(source):
            old = self._find_version(write.tx, ref, scope, if_version)
            done = write.result = write.change_if_new(old, change(old), action)
            return done


def remember_in_batches(memory: "Service", drafts: Sequence[Draft], watch: Callable[[int], None]) -> None:
    """Store many memories, a batch in each transaction, for a caller that shows progress or may give up.

    `watch`: called before each batch, and at the end, with how many are stored. If it raises, what was stored stays. Raises
    as `Service.remember_many` does; the message says how many are stored.
    """
    for start in range(0, len(drafts), _BATCH):
        watch(start)
        try:
            memory.remember_many(drafts[start : start + _BATCH])
        except InvalidInput as error:
            raise type(error)(f"the first {start} of {len(drafts)} are stored; of the rest, {error}") from error
    watch(len(drafts))


def _edit_tags(tags: Sequence[str], added: Sequence[str], removed: Sequence[str]) -> list[str]:
    gone = {tag.casefold() for tag in removed}
    return [tag for tag in (*tags, *added) if tag.casefold() not in gone]


def _set_pin(*, pinned: bool) -> Callable[[Memory], Memory]:
    return lambda old: with_fields(require_living(old), {"pinned": pinned})


@contextmanager
def _without_gc() -> Iterator[None]:
    """Without garbage collection: it would walk thousands of new memories again and again, and find no garbage."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
