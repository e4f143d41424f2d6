"""Versions of a memory: its fingerprint, its index entry, and the version that a change makes. Pure."""

import unicodedata
import zlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from omoide.errors import Conflict
from omoide.guard import validation
from omoide.model import Draft, Memory, Scope, State, derive_topic, fields
from omoide.model.expiry import has_expired
from omoide.retrieval import blocking
from omoide.retrieval.analyzer import index_entry, index_text
from omoide.storage.base import IndexEntry

_TICK = timedelta(microseconds=1)


def build_index_entry(memory: Memory | Draft) -> IndexEntry:
    """Return the index entry of a memory or a draft: the terms by which it is found.

    A derived topic is left out: its words are in the content already, and should not count twice.
    """
    content, length, telling = index_entry(memory.content)
    topic = tags = ""
    if memory.examples:
        content = " ".join([content, *map(index_text, memory.examples)])
        length = _length(content)
    if memory.topic_given if isinstance(memory, Memory) else memory.topic is not None:
        topic = index_text(memory.topic or "")
    if memory.key is not None:
        topic = f"{topic} {index_text(memory.key)}".strip()
    if memory.tags:
        tags = index_text(" ".join(memory.tags))
    if topic or tags:
        length += _length(topic) + _length(tags)
    scope = memory.scope if isinstance(memory, Memory) else validation.scope_of(memory)
    return IndexEntry(topic, tags, content, length, blocking.blocking_key(telling, scope), telling)


def _length(terms: str) -> int:
    return terms.count(" ") + 1 if terms else 0


def fold_topic(topic: str) -> str:
    """Return a topic in the form in which topics are compared: in NFKC, without case and extra white space."""
    return " ".join(unicodedata.normalize("NFKC", topic).casefold().split())


def fingerprint(scope: Scope, type: str, topic: str | None, content: str) -> int:
    """Return a hash of what identifies a memory: its scope, its type, and its topic or else its content.

    `topic`: None: the content identifies it. Collisions are harmless, because the texts are compared as well.
    """
    what = f"content\x1f{content}" if topic is None else f"topic\x1f{fold_topic(topic)}"
    return zlib.crc32(f"{scope.path}\x1f{scope.name}\x1f{type}\x1f{what}".encode())


def memory_fingerprint(memory: Memory) -> int:
    """Return the fingerprint of a memory. A derived topic does not identify it."""
    return fingerprint(memory.scope, memory.type, memory.topic if memory.topic_given else None, memory.content)


def expected_entry(memory: Memory) -> tuple[int, IndexEntry]:
    """Return the fingerprint and the index entry that a memory should have in the database."""
    return memory_fingerprint(memory), build_index_entry(memory)


def with_fields(memory: Memory, values: Mapping[str, Any]) -> Memory:
    """Return the memory with these values of fields. A topic of None is derived; a derived topic follows the content."""
    new = dict(values)
    if "topic" in new:
        new["topic_given"] = new["topic"] is not None
    if not new.get("topic_given", memory.topic_given):
        new["topic"] = derive_topic(new.get("content", memory.content))
    return msgspec.structs.replace(memory, **new)


def next_version(old: Memory, new: Memory, at: datetime) -> Memory:
    """Return the new memory as the version after the old one: with the next version number, and a later time."""
    # Later than before even if the clock went back, so that the order of versions is the order of their times.
    return msgspec.structs.replace(new, version=old.version + 1, updated_at=max(at, old.updated_at + _TICK))


def require_living(memory: Memory) -> Memory:
    """Return the memory; raise Conflict if it is forgotten."""
    if memory.state is State.FORGOTTEN:
        raise Conflict(f"#{memory.number} is forgotten: restore it first")
    return memory


def matches_draft(memory: Memory, draft: Draft) -> bool:
    """Return whether a memory has the draft's content, and the topic, type and tags that the draft gives."""
    return (
        memory.content == draft.content
        and (draft.topic is None or memory.topic == draft.topic)
        and (draft.type is None or memory.type == draft.type)
        and (not draft.tags or memory.tags == draft.tags)
    )


def merge_draft(old: Memory, draft: Draft, at: datetime) -> Memory:
    """Return a memory that is remembered again: with every field that the draft gives, and active if it was archived.

    An expiry that has passed at the moment `at` is removed unless the draft gives another one.
    """
    given: dict[str, Any] = {}
    if has_expired(old.expires_at, at):
        given["expires_at"] = None
    for name in fields.UPDATES:
        value = getattr(draft, name)
        if value is not None and value != ():
            given[name] = value
    if old.state is State.ARCHIVED:
        given["state"] = State.ACTIVE
    return with_fields(old, given)
