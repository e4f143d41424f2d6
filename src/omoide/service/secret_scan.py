"""Find secrets that are stored already, report them without showing them, and redact them for good."""

from collections.abc import Collection, Iterator, Mapping, Sequence
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

_LINES = fields.names(lambda field: field.kind in ("key", "line", "run") or field.name == "original_prompt")
_LISTS = fields.names(lambda field: field.kind in ("tags", "texts"))
_NAMES = ("project", "session", "actor", "run")
"""Texts that are names: each must be unique, and a redacted one would not be a valid name."""


class StoredSecret(NamedTuple):
    """A secret in the store, without its text."""

    kind: str
    field: str
    """Where it is: a field of a memory, mirror, file, or one of the texts beside memories (see `StoredText.what`)."""
    preview: str
    """Its first characters: at most four, and never more than a quarter of it."""
    number: int | None = None
    """The number of the memory that contains it."""
    version: int | None = None
    """The version of that memory; the highest is the current one."""


class SecretScanReport(NamedTuple):
    """What a scan found, and whether it was redacted."""

    found: Sequence[StoredSecret]
    files: Sequence[str]
    """Files of mirrors that show a memory with a secret: look there, too."""
    fixed: bool


class SecretScan(Core):
    """The scan of the database for secrets."""

    def scan(self, *, fix: bool = False) -> SecretScanReport:
        """Scan everything that is stored for secrets: memories in every state and version, names, events, mirrors.

        `fix`: redact the secrets: in the current version by a new version, in past versions, names and events in place. A
        key or a path that contains one is removed. Afterwards no byte of them is in the database.

        Returns what was found, of all projects. Raises NotAllowed.
        """
        permissions.require(self._actor, "scan")
        with self._read(None) as tx:
            found = list(_find_secrets(tx))
            files = sorted(_files(tx, {secret.number for secret in found if secret.number is not None}))
        if not fix:
            return SecretScanReport(found, files, fixed=False)
        if found:
            with self._writes.transaction() as write:
                renamed = _redact(write)
            if renamed:  # a fingerprint depends on the scope too
                require(self._store, Integrity).rebuild(versioning.expected_entry)
        require(self._store, Erasure).scrub()
        return SecretScanReport(found, files, fixed=True)


def _redact(write: MemoryTransaction) -> bool:
    """Redact what is stored now: somebody may have written since the scan. Return whether a name was replaced."""
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
        for name in _mirror_texts(mirror):
            yield from _in_text(name, "mirror")
        for name in _recorded_files(tx, mirror):
            yield from _in_text(name, "file")


def _in_memory(memory: Memory) -> Iterator[StoredSecret]:
    for field, text in _texts(memory):
        if field == "topic" and not memory.topic_given:
            continue  # a derived topic is the beginning of the content
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
    """The memory without its secrets; the same where it has none."""
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
    """A past version in its scope under the new name."""
    path, name = memory.scope.path, memory.scope.name
    scope = Scope(renamed.get(StoredText("project", path), path), renamed.get(StoredText("session", name), name))
    return memory if scope == memory.scope else msgspec.structs.replace(memory, scope=scope)


def _rename(tx: Writer) -> dict[StoredText, str]:
    """Replace every text outside of memories that contains a secret; return the new text of each."""
    stored = require(tx, StoredTexts).stored_texts()
    taken = {(text.what, text.text.casefold()) for text in stored}
    renamed: dict[StoredText, str] = {}
    for text in stored:
        if _has_secret(text.text):
            renamed[text] = _replacement(text, taken)
            taken.add((text.what, renamed[text].casefold()))
            require(tx, Redaction).replace_text(text, renamed[text])
    return renamed


def _replacement(old: StoredText, taken: Collection[tuple[str, str]]) -> str:
    if old.what == "directory":
        return ""
    if old.what not in _NAMES:
        return secrets.redact(old.text)
    names = (f"redacted-{n}" if n > 1 else "redacted" for n in count(1))
    if old.what == "project":
        parent = "/".join(part for part in old.text.split("/")[:-1] if not _has_secret(part))
        names = (f"{parent}/{name}" if parent else name for name in names)
    return next(name for name in names if (old.what, name.casefold()) not in taken)


def _has_secret(text: str) -> bool:
    return any(True for _ in secrets.find(text))


def _mirror_texts(mirror: Mirror) -> list[str]:
    return [str(PurePath(mirror.place, mirror.file)), *mirror.adopt]


def _recorded_files(tx: Reader, mirror: Mirror) -> set[str]:
    """The names of a mirror's files that are in the database."""
    shown = {state.file for state in tx.sync_states(mirror.number) if state.file}
    return shown | {state.name for state in tx.file_states(mirror.number)}


def _clean_mirror(tx: Writer, mirror: Mirror) -> None:
    """Drop what is recorded of files whose names contain a secret, and the whole mirror where its path or a pattern does."""
    if any(map(_has_secret, _mirror_texts(mirror))):
        tx.drop_mirror(mirror.number)
        return
    names = {name for name in _recorded_files(tx, mirror) if _has_secret(name)}
    if names:
        states = [SyncState(state.memory) for state in tx.sync_states(mirror.number, files=sorted(names))]
        tx.record_sync(mirror.number, SyncUpdate(states=states, dropped_files=names, dropped_versions=names))


def _files(tx: Reader, numbers: set[int]) -> set[str]:
    """The files that showed these memories at the last sync."""
    return {
        str(PurePath(mirror.place, state.file or mirror.file))
        for mirror in tx.mirrors()
        for state in tx.sync_states(mirror.number)
        if state.memory in numbers
    }
