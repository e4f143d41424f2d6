"""Keeping: remember one, remember many, adopt what another store kept."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from omoide import model
from omoide.errors import InvalidInput
from omoide.guard import access, checks
from omoide.model import Draft, Memory, Remembered, Scope, State
from omoide.service import recalling, shape
from omoide.service.base import Verbs
from omoide.store.base import Reading, Words, Writing


class Keeping(Verbs):
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
        confidence: float | None = None,
        relevance: float | None = None,
        pinned: bool | None = None,
        expires_at: datetime | None = None,
        created_at: datetime | None = None,
    ) -> Remembered:
        """Keeps something. The same key in its scope, or the same given topic and type, updates what is there."""
        access.require(self._actor, "remember")
        draft = content
        if not isinstance(draft, Draft):
            draft = Draft(
                draft, scope, topic, type, tags, examples, key, source, confidence, relevance, pinned, expires_at, created_at
            )  # fmt: skip
        draft = checks.checked(draft, self._settings)
        words = shape.words(draft)
        at = self._clock()
        with self._store.write() as tx:
            similar = recalling.similar(tx, draft, words)
            done = self._keep(tx, draft, words, at)
        others = similar - {done.memory.number}
        return msgspec.structs.replace(done, similar_count=len(others)) if others else done

    def remember_many(self, drafts: Iterable[Draft]) -> Sequence[Remembered]:
        """Keeps them all in one transaction, or none of them. `similar_count` is not counted."""
        access.require(self._actor, "remember")
        ready = []
        for place, draft in enumerate(drafts, 1):
            try:
                draft = checks.checked(draft, self._settings)
            except InvalidInput as error:
                raise type(error)(f"draft {place}: {error}") from error
            ready.append((place, draft))
        # One project after the other: the index takes rising row ids much faster.
        ready.sort(key=lambda item: (item[1].scope.path if item[1].scope else "", item[0]))
        at = self._clock()
        done: dict[int, Remembered] = {}
        with self._store.write() as tx:
            for place, draft in ready:
                done[place] = self._keep(tx, draft, shape.words(draft), at)
        return [done[place] for place in sorted(done)]

    def _keep(self, tx: Writing, draft: Draft, words: Words, at: datetime) -> Remembered:
        old = self._same(tx, draft)
        if old is None:
            memory = self._add(tx, self._fresh(draft, at), words)
            tx.log("remembered", self._actor, at, memory, {})
            return Remembered(memory, "created")
        new = shape.merged(old, draft)
        if new == old:
            tx.confirm(old.number)
            tx.log("confirmed", self._actor, at, old, {})
            return Remembered(msgspec.structs.replace(old, reference_count=old.reference_count + 1), "unchanged")
        new = msgspec.structs.replace(new, reference_count=old.reference_count + 1)
        return Remembered(self._change(tx, old, new, "updated", at), "updated")

    def _same(self, tx: Reading, draft: Draft) -> Memory | None:
        """The memory that this draft is about: by key alone when there is one, else by topic and type, else by content."""
        assert draft.scope is not None and draft.type is not None
        if draft.key is not None:
            return tx.by_key(draft.scope, draft.key)
        twins = tx.twins(shape.twin(draft.scope, draft.type, draft.topic, draft.content), draft.scope)
        if draft.topic is None:
            return next((m for m in twins if not m.topic_given and m.content == draft.content and m.type == draft.type), None)
        wanted = shape.folded(draft.topic)
        return next((m for m in twins if m.topic_given and shape.folded(m.topic) == wanted and m.type == draft.type), None)

    def _fresh(self, draft: Draft, at: datetime) -> Memory:
        assert draft.scope is not None and draft.type is not None
        created = draft.created_at or at
        return Memory(
            id=model.new_id(created),
            number=0,
            scope=draft.scope,
            key=draft.key,
            type=draft.type,
            topic=draft.topic if draft.topic is not None else model.derived_topic(draft.content),
            topic_given=draft.topic is not None,
            content=draft.content,
            tags=tuple(draft.tags),
            examples=tuple(draft.examples),
            source=draft.source if draft.source is not None else self._actor.via,
            confidence=1.0 if draft.confidence is None else draft.confidence,
            relevance=0.5 if draft.relevance is None else draft.relevance,
            reference_count=0,
            pinned=bool(draft.pinned),
            state=State.ACTIVE,
            created_at=created,
            updated_at=created,
            last_accessed_at=None,
            expires_at=draft.expires_at,
            version=1,
        )

    def adopt(self, memories: Iterable[Memory]) -> Mapping[str, int]:
        """Takes memories in as they are, with their ids, dates and counts: how many were added, replaced and known.

        Of two memories with one id the one changed last stands, the other becomes its history. All or nothing.
        """
        access.require(self._actor, "import")
        at = self._clock()
        done = {"added": 0, "replaced": 0, "known": 0}
        with self._store.write() as tx:
            for memory in memories:
                draft = Draft(
                    memory.content, memory.scope, memory.topic, memory.type, memory.tags, memory.examples, memory.key
                )
                checks.checked(draft, self._settings)
                words = shape.words(memory)
                old = tx.by_id(memory.id)
                if old is None:
                    kept = self._add(tx, memory, words)
                    tx.log("imported", self._actor, at, kept, {})
                    done["added"] += 1
                elif old.updated_at < memory.updated_at:
                    self._change(tx, old, msgspec.structs.replace(memory, number=old.number), "imported", at)
                    done["replaced"] += 1
                else:
                    done["known"] += 1
        return done
