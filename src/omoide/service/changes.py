"""Changing: revise, pin, archive, forget, restore, promote, link. Every change is a new version and an event."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType

from omoide.errors import Conflict, InvalidInput
from omoide.guard import bounds, permissions, validation
from omoide.model import LinkKind, Memory, Scope, State
from omoide.model.expiry import has_expired
from omoide.service.core import Core, Ref
from omoide.service.versioning import is_living, with_fields


class Changes(Core):
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
        permissions.require(self._actor, "revise")
        rules = self._settings
        changes: dict[str, Any] = {}
        if content is not UNSET:
            changes["content"] = validation.check_content(content, rules)
        if topic is not UNSET:
            changes["topic"] = None if topic is None else validation.check_line(topic, "topic", rules)
        if type is not UNSET:
            changes["type"] = validation.check_type(type, rules)
        if tags is not UNSET:
            changes["tags"] = validation.check_tags(tags, rules)
        if examples is not UNSET:
            changes["examples"] = validation.check_examples(examples, rules)
        if key is not UNSET:
            changes["key"] = None if key is None else validation.check_key(key)
        if source is not UNSET:
            changes["source"] = validation.check_line(source, "source", rules)
        if source_run_id is not UNSET:
            changes["source_run_id"] = (
                None if source_run_id is None else validation.check_line(source_run_id, "source_run_id", rules)
            )
        if confidence is not UNSET:
            changes["confidence"] = validation.check_share(confidence, "confidence")
        if relevance is not UNSET:
            changes["relevance"] = validation.check_share(relevance, "relevance")
        if expires_at is not UNSET:
            changes["expires_at"] = None if expires_at is None else validation.check_aware(expires_at, "expires_at")
        if active is not UNSET:  # to take away and bring back, under another name
            permissions.require(self._actor, "restore" if active else "archive")
        if not changes and active is UNSET:
            raise InvalidInput("say what to change: content, topic, type, tags, …")

        def revised(old: Memory) -> Memory:
            if if_version is not None and old.version != if_version:
                raise Conflict(f"#{old.number} is at version {old.version} by now, you saw {if_version}: look again")
            if old.state is State.FORGOTTEN:
                raise Conflict(f"#{old.number} is forgotten: restore it first")
            fields = dict(changes)
            if active is not UNSET and old.state in (State.ACTIVE, State.INACTIVE):
                fields["state"] = State.ACTIVE if active else State.INACTIVE
            return with_fields(old, fields)

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
