"""Answer the hooks of agents: inject memories, and leave the end of a turn in the inbox."""

import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from omoide.errors import InvalidInput, OmoideError
from omoide.files.transcript_lines import transcript_size
from omoide.guard import permissions, secrets, validation
from omoide.model import HookCall, HookEvent, HookRecord, HookState, InboxItem, Injection, Scope
from omoide.service.hook_calls import HookCalls, learn_if_waiting, log_dropped
from omoide.service.recorded_names import directory_path, identifier, read_work_tree, transcript_path
from omoide.service.repositories import Repositories
from omoide.settings import Settings
from omoide.storage.base import Writer

if TYPE_CHECKING:  # only a process that answers a hook needs it
    from omoide.prompt.injection import InjectedText
    from omoide.service import Service

_LONGEST_TEXT = 20_000
"""Characters of a message that the inbox keeps: the beginning and the end of what is longer."""
_LONGEST_SECRET = 5_000
"""Characters of a secret that is found whole where a message is cut."""
_LONGEST_FAULT = 300
_LEARN_SHARE = 0.35
"""The share of the time of a process that answers a hook, for learning from the inbox."""
_LARGEST_LEARNT = 64 * 1024
"""Bytes of a session that a prompt learns from: a person waits for it. What is longer is left to a session start."""
_MOST_LEARNT = 2
"""Ends of turns that a prompt learns from, for the same reason. Each prompt adds one, so that none is left in the end."""


class AgentHooks(HookCalls, Repositories):
    """The operation that answers hooks."""

    def hook(self, call: HookCall, *, scope: Scope | None = None, deliver: Callable[[str], None] | None = None) -> str:
        """Return what a hook adds to the conversation: an empty text for nothing.

        At the start of a session that is its context, with a prompt what is relevant to it and not in the conversation yet.
        At the end of a turn, and before a compaction, nothing is added; an item of the inbox is stored, from which
        `learn_from_inbox` learns later. The same call within ten seconds does nothing.

        `call`: what the client sent. `scope`: where to look from; by default the project of the call's directory. `deliver`:
        called with the text before it is recorded what was injected, for a process that may be ended at any moment.

        The settings `memories_enabled` and `memories_inject`, of the user or the repository, turn it off. An error is
        logged: see `hook_calls`. Raises StoreError only where even that is impossible.
        """
        permissions.require(self._actor, "hook")
        started = time.perf_counter()
        at = self._clock()
        if call.is_ignored:
            return ""
        call = replace(call, client=identifier(call.client), session=identifier(call.session))
        try:
            root = _repository(call)
            settings = self._repository_settings(root or (Path(call.directory) if call.directory else None))
        except OmoideError as error:
            record = self._write_soon(lambda tx: self._begin_call(tx, call, at))
            self._end(record, started, fault=str(error))
            return ""
        if not settings.memories_enabled:
            return ""
        if call.event in (HookEvent.STOP, HookEvent.BEFORE_COMPACTION):
            project = settings.project if scope is None else scope.path
            self._store_turn(call, root, replace(settings, project=project), at, started)
            return ""
        record = self._write_soon(lambda tx: self._begin_call(tx, call, at))
        if record.state is HookState.REPEATED:
            return ""
        try:
            text = self._text(call, self._scope_of(root, settings) if scope is None else scope, settings, at)
        except OmoideError as error:  # fallback: the agent works on without memories
            self._end(record, started, fault=str(error))
            return ""
        if text is None:
            self._end(record, started)
            return ""
        if deliver is not None and text.text:
            deliver(text.text)
        self._end(record, started, text)
        return text.text

    def _text(self, call: HookCall, scope: Scope, settings: Settings, at: datetime) -> "InjectedText | None":
        """What to add to the conversation; None: nothing, because of the settings or the prompt itself."""
        if settings.memories_inject != "auto":
            return None
        from omoide.service import injections  # lazy: see the top

        narrow = partial(permissions.narrow, self._actor)
        if call.event is HookEvent.SESSION_START:
            with self._read(scope) as tx:
                return injections.text_for_session(tx, scope, settings, at, narrow)
        query = injections.prompt_query(call, scope, settings, narrow)
        if query is None:
            return None
        vector = self._embeddings.encode_query_without_loading(query)
        with self._store.read() as tx:  # without importing edits of files first: a person waits
            injected = injections.versions_in_conversation(tx, call, scope, settings, at, narrow)
            return injections.text_for_prompt(tx, call, query, vector, injected, settings, at)

    def _end(self, record: HookRecord, started: float, text: "InjectedText | None" = None, fault: str = "") -> None:
        shown = () if text is None else text.memories
        done = replace(
            record,
            state=HookState.FAILED if fault else HookState.DONE,
            seconds=time.perf_counter() - started,
            memories=len(shown),
            tokens=sum(one.tokens for one in shown),
            fault=secrets.redact(fault)[:_LONGEST_FAULT] if fault else "",
        )
        self._store.touch([one.memory.number for one in shown], record.at)
        injections = [
            Injection(
                *(done.number, done.at, done.client, done.event, done.session),
                *(one.memory.number, one.memory.version, one.tokens),
            )
            for one in shown
        ]
        self._write_soon(lambda tx: tx.end_hook_call(done, injections))

    def _store_turn(self, call: HookCall, root: Path | None, settings: Settings, at: datetime, started: float) -> None:
        """Store the end of a turn in one transaction, which also says that it was done."""
        item = None
        if settings.learn_from_sessions:
            try:
                item = _inbox_item(call, root, settings, at)
            except InvalidInput as error:  # fallback: nothing could be learnt from it
                self._end(self._write_soon(lambda tx: self._begin_call(tx, call, at)), started, fault=str(error))
                return

        def store(tx: Writer) -> None:
            record = self._begin_call(tx, call, at)
            if record.state is HookState.REPEATED:
                return
            if item is not None:
                tx.put_in_inbox(item)
            done = replace(record, state=HookState.DONE, seconds=time.perf_counter() - started)
            tx.end_hook_call(done)

        self._write_soon(store, durable=True)

    def _scope_of(self, root: Path | None, settings: Settings) -> Scope:
        if settings.project:
            return Scope.project(settings.project)
        return Scope.everywhere() if root is None else self.locate(root)


def answer_and_learn(memory: "Service", call: HookCall, deliver: Callable[[str], None], *, seconds: float) -> None:
    """Answer a hook in a process that serves this call alone, record the turn, and learn from what earlier hooks left.

    `deliver`: called with the text that is added to the conversation, as soon as it is known. `seconds`: the time that the
    process has; a share of it is for learning, by rules alone. Raises StoreError as `Service.hook`.
    """
    if call.event is HookEvent.SESSION_START:  # what was learnt from the last session is in the context of this one
        learn_if_waiting(memory, seconds=_LEARN_SHARE * seconds)
    memory.hook(call, deliver=deliver)
    record_turn(memory, call)
    if call.event is HookEvent.PROMPT:  # after the answer: that must not be lost if there is no time to learn
        learn_if_waiting(memory, seconds=_LEARN_SHARE * seconds, largest=_LARGEST_LEARNT, most=_MOST_LEARNT)


def record_turn(memory: "Service", call: HookCall, *, scope: Scope | None = None) -> None:
    """Record that a turn begins with a prompt or ends with a stop, so that a person's changes can be learnt from.

    `call`: of the hook, after `Service.hook` has answered it: this starts git. `scope`: as there. An error is logged: then
    nothing is learnt from what a person changed.
    """
    started = time.perf_counter()
    try:
        if call.event is HookEvent.PROMPT:
            memory.begin_turn(call.directory, session=call.session, message=call.prompt, scope=scope)
        elif call.event is HookEvent.STOP:
            memory.end_turn(call.directory, session=call.session, scope=scope)
    except InvalidInput:  # fallback: a setting that is not valid, which the hook itself has logged
        pass
    except OmoideError as error:  # fallback: see above
        log_dropped(memory, call, error, started)


def _repository(call: HookCall) -> Path | None:
    """The repository that the agent works in."""
    from omoide.files.git import git_root  # lazy: a server that names the project itself needs none

    try:
        return git_root(Path(call.directory)) if call.directory else None
    except (OSError, ValueError, RuntimeError):  # fallback: a directory that cannot be read is in no repository
        return None


def _inbox_item(call: HookCall, root: Path | None, settings: Settings, at: datetime) -> InboxItem:
    """Return what is left in the inbox. Raises InvalidInput where the project or the directory cannot be stored."""
    scope = Scope.project(settings.project) if settings.project else None
    transcript = transcript_path(call.transcript)
    return InboxItem(
        0,
        at,
        call.client,
        call.session,
        "" if scope is None else validation.check_scope(scope).path,
        directory_path(call, root),
        transcript,
        transcript_size(transcript),
        _message(call.prompt),
        _message(call.last_message),
        _work_tree(call),
    )


def _message(text: str) -> str:
    """A message as it is stored: without what was injected, without secrets, not too long."""
    from omoide.learning.injected_text import strip_injected  # lazy: see the top

    text = strip_injected(text).strip()
    if len(text) <= _LONGEST_TEXT:
        return secrets.redact(text)
    half = _LONGEST_TEXT // 2
    read = half + _LONGEST_SECRET  # redacted before it is cut: half a secret is not found
    return f"{secrets.redact(text[:read])[:half]}\n…\n{secrets.redact(text[-read:])[-half:]}"


def _work_tree(call: HookCall) -> str:
    """The state of the work tree without the texts of its files, as JSON; empty outside of git."""
    if not call.directory:
        return ""
    try:
        state = read_work_tree(Path(call.directory))
    except (OSError, ValueError, RuntimeError):  # fallback: a directory that cannot be read has no state
        return ""
    if state is None:
        return ""
    files = tuple(replace(file, text=None) for file in state.files)
    return msgspec.json.encode(replace(state, files=files)).decode()
