"""Secrets that are stored already: found in every text that is kept, reported without showing them, redacted for good."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from omoide.guard import permissions, secrets
from omoide.model import Memory, Mirror, Scope, SyncState, derive_topic, fields
from omoide.service import versioning
from omoide.service.core import Core
from omoide.service.write_path import MemoryTransaction
from omoide.storage.base import Reader, SyncUpdate, Writer
from omoide.storage.capabilities import Erasure, Integrity, Redaction, StoredText, StoredTexts, require

_LINES = fields.names(lambda field: field.kind in ("key", "line"))
_LISTS = fields.names(lambda field: field.kind in ("tags", "texts"))
_NAMES = ("project", "session", "actor")
"""Texts that must differ from each other, and from what cannot be a name."""


class StoredSecret(NamedTuple):
    """A secret that was found in the database."""

    kind: str
    field: str
    """Where it stands: a field of a memory, or what else is kept: project, session, actor, event, mirror, file."""
    preview: str
    """How it begins: a few characters, never a quarter of it."""
    number: int | None = None
    """Of the memory that holds it."""
    version: int | None = None
    """Of that memory; the highest is the present one."""


class SecretScanReport(NamedTuple):
    """What a scan for secrets found."""

    found: Sequence[StoredSecret]
    files: Sequence[str]
    """Files of mirrors in which a memory stands that holds a secret: look there, too."""
    fixed: bool


class SecretScan(Core):
    """The scan of the database for secrets."""

    def scan(self, *, fix: bool = False) -> SecretScanReport:
        """Find secrets in everything that is stored: memories in every state and version, names, events, mirrors.

        With `fix`, each is redacted where it stands: in the present version by a new one, in past versions, names and
        events in place. Keys and paths that hold one are dropped. Afterwards no byte of them is in the database.
        Raises NotAllowed for an actor who may not see all projects.
        """
        permissions.require(self._actor, "scan")
        with self._read(None) as tx:
            found = list(_find_secrets(tx))
            files = sorted(_files(tx, {one.number for one in found if one.number is not None}))
        if not fix:
            return SecretScanReport(found, files, fixed=False)
        if found:
            with self._writes.transaction() as write:
                renamed = _redact(write)
            if renamed:  # fingerprints are made of the scope too
                require(self._store, Integrity).rebuild(versioning.expected_entry)
        require(self._store, Erasure).scrub()
        return SecretScanReport(found, files, fixed=True)


def _redact(write: MemoryTransaction) -> bool:
    """Redact what is stored now: somebody may have written since the scan. Answer whether a project or a session was
    renamed."""
    tx = write.tx
    renamed = _rename(tx)
    for memory in list(tx.everything()):
        new = _redact_memory(memory)
        if new != memory:
            new = versioning.next_version(memory, new, write.at)
            write.replace(memory, new)
        changed = _changed_fields(memory, new)
        for past in [version.memory for version in tx.versions(memory.number)][:-1]:
            clean = _redact_memory(_with_new_scope(past, renamed))
            if clean != past:
                changed |= _changed_fields(past, clean)
                require(tx, Redaction).replace_version(clean)
        if changed:
            write.log("redacted", new, {"fields": sorted(changed), "version": new.version})
    for mirror in tx.mirrors():
        _clean_mirror(tx, mirror)
    return bool(renamed)


def _find_secrets(tx: Reader) -> Iterator[StoredSecret]:
    for memory in tx.everything():
        for version in tx.versions(memory.number):
            yield from _in_memory(version.memory)
    for text in require(tx, StoredTexts).stored_texts():
        yield from _in_text(text.text, text.what)
    for mirror in tx.mirrors():
        yield from _in_text(str(PurePath(mirror.place, mirror.file)), "mirror")
        for name in _files_with_secrets(tx, mirror):
            yield from _in_text(name, "file")


def _in_memory(memory: Memory) -> Iterator[StoredSecret]:
    for field, text in _texts(memory):
        if field == "topic" and not memory.topic_given:
            continue  # the opening of the content
        for secret in _in_text(text, field):
            yield secret._replace(number=memory.number, version=memory.version)


def _texts(memory: Memory) -> Iterator[tuple[str, str]]:
    yield "content", memory.content
    for field in _LINES:
        text = getattr(memory, field)
        if text:
            yield field, text
    for field in _LISTS:
        for text in getattr(memory, field):
            yield field, text


def _in_text(text: str, field: str) -> Iterator[StoredSecret]:
    end = 0
    for secret in sorted(secrets.find(text), key=lambda secret: secret.start):
        if secret.start >= end:  # the same one may be found by two rules
            yield StoredSecret(secret.kind, field, _preview(text[secret.start : secret.end]))
        end = max(end, secret.end)


def _preview(secret: str) -> str:
    return f"{secret[: min(4, len(secret) // 4)]}…"


def _redact_memory(memory: Memory) -> Memory:
    """The memory without its secrets; the same where it holds none."""
    values: dict[str, Any] = {"content": secrets.redact(memory.content)}
    for name in _LINES:
        text = getattr(memory, name)
        values[name] = None if text is None else secrets.redact(text)
    for name in _LISTS:
        values[name] = tuple(secrets.redact(text) for text in getattr(memory, name))
    if values["key"] != memory.key:
        values["key"] = None  # a redacted key would be another name
    if not memory.topic_given:
        same = values["content"] == memory.content
        values["topic"] = memory.topic if same else derive_topic(values["content"])
    return msgspec.structs.replace(memory, **values)


def _changed_fields(old: Memory, new: Memory) -> set[str]:
    names = ("content", "scope", *_LINES, *_LISTS)
    return {name for name in names if getattr(old, name) != getattr(new, name)}


def _with_new_scope(memory: Memory, renamed: Mapping[StoredText, str]) -> Memory:
    """A past version in the scope as it is called now."""
    path, name = memory.scope.path, memory.scope.name
    scope = Scope(renamed.get(StoredText("project", path), path), renamed.get(StoredText("session", name), name))
    return memory if scope == memory.scope else msgspec.structs.replace(memory, scope=scope)


def _rename(tx: Writer) -> dict[StoredText, str]:
    """Replaces every text beside memories that holds a secret; answers what became of each."""
    stored = require(tx, StoredTexts).stored_texts()
    taken = {(one.what, one.text.casefold()) for one in stored}
    renamed: dict[StoredText, str] = {}
    for one in stored:
        if not any(True for _ in secrets.find(one.text)):
            continue
        new = _replacement(one, lambda name, what=one.what: (what, name.casefold()) in taken)  # type: ignore[misc]
        taken.add((one.what, new.casefold()))
        require(tx, Redaction).replace_text(one, new)
        renamed[one] = new
    return renamed


def _replacement(old: StoredText, is_taken: Callable[[str], bool]) -> str:
    if old.what == "directory":
        return ""
    if old.what not in _NAMES:
        return secrets.redact(old.text)
    names = (f"redacted-{n}" if n > 1 else "redacted" for n in count(1))
    if old.what == "project":
        parent = "/".join(part for part in old.text.split("/")[:-1] if not any(True for _ in secrets.find(part)))
        names = (f"{parent}/{name}" if parent else name for name in names)
    return next(name for name in names if not is_taken(name))


def _files_with_secrets(tx: Reader, mirror: Mirror) -> set[str]:
    met = {one.file for one in tx.sync_states(mirror.number) if one.file}
    return met | {one.name for one in tx.file_states(mirror.number)}


def _clean_mirror(tx: Writer, mirror: Mirror) -> None:
    """Forgets files whose names hold a secret, and the whole mirror where its own place does."""
    if any(True for _ in secrets.find(str(PurePath(mirror.place, mirror.file)))):
        tx.drop_mirror(mirror.number)
        return
    names = {name for name in _files_with_secrets(tx, mirror) if any(True for _ in secrets.find(name))}
    if names:
        states = [SyncState(one.memory) for one in tx.sync_states(mirror.number, files=sorted(names))]
        tx.record_sync(mirror.number, SyncUpdate(states=states, dropped_files=names))


def _files(tx: Reader, numbers: set[int]) -> set[str]:
    """Where these memories stand in files, as far as the last sync knows."""
    found = set()
    for mirror in tx.mirrors():
        for met in tx.sync_states(mirror.number):
            if met.memory in numbers:
                found.add(str(PurePath(mirror.place, met.file or mirror.file)))
    return found
