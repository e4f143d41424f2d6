"""The log of agents' hooks: which calls there were, how they ended, what they injected, and whether the inbox is empty."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from omoide.errors import OmoideError, StoreBusy, Unreadable
from omoide.guard import permissions, validation
from omoide.model import HookCall, HookEvent, HookRecord, HookState, Injection
from omoide.service.core import Core
from omoide.settings import Settings
from omoide.storage.base import Writer

if TYPE_CHECKING:  # for annotations
    from omoide.service import Service

T = TypeVar("T")

REPEATED = timedelta(seconds=10)
"""Within this time the same call is another process's of the same event: several clients load one settings file."""
_WAIT = 0.2
"""Seconds that a hook waits for another process that writes."""
_RETRY = 0.005
_LONGEST_NAME = 200
_KEEPS_CONTEXT = ("resume",)
"""The sources of a session start that leave what was injected in the conversation."""
_IS_NEW = ("new", "startup")
"""The sources of a session start that begins a conversation."""
_AT_ONCE = timedelta(seconds=10)
"""Within this time a session's start and its first prompt belong together: clients may run both hooks at the same time."""
_RECENT_CALLS = 50
"""Calls among which that prompt is looked for."""
_DROPS_CONTEXT = ("gemini",)
"""Clients that do not store what was injected with the conversation: it is gone when that is resumed."""


class HookCalls(Core):
    """Operations on the log of hooks, and the question whether they left something to learn from."""

    def hook_calls(self, *, limit: int = 20) -> Sequence[HookRecord]:
        """Return the last calls of agents' hooks, newest first; also those that failed before they reached the database.

        `limit`: how many at most. Raises InvalidInput, and NotAllowed for a role that may not see all projects.
        """
        permissions.require(self._actor, "hook_calls", "see the calls of hooks")
        limit = validation.check_limit(limit, self._settings)
        with self._store.read() as tx:
            recorded = tx.hook_calls(limit)
        return sorted([*self._faults(), *recorded], key=lambda call: call.at, reverse=True)[:limit]

    def last_hook_calls(self) -> Sequence[HookRecord]:
        """Return the last call of each client, newest first. Raises NotAllowed for a role that may not see all projects."""
        permissions.require(self._actor, "last_hook_calls", "see the calls of hooks")
        with self._store.read() as tx:
            recorded = tx.last_hook_calls()
        calls = sorted([*recorded, *self._faults()], key=lambda call: call.at)
        last = {call.client: call for call in calls}
        return sorted(last.values(), key=lambda call: call.at, reverse=True)

    def _faults(self) -> Sequence[HookRecord]:
        """The calls that are logged beside the database, because they failed before they reached it."""
        from omoide.files.hook_faults import read_faults  # lazy: only reading the log needs it

        return read_faults(self._settings.store)

    def injections(self, *, session: str | None = None, since: datetime | None = None) -> Sequence[Injection]:
        """Return which memories hooks injected into conversations, oldest first.

        `session`: the client's id of a conversation; None: all of them. `since`: only what was injected at or after this
        time. Raises InvalidInput for a time without a time zone, and NotAllowed for a role that may not see all projects.
        """
        permissions.require(self._actor, "injections", "see what hooks injected")
        moment = self._clock() - timedelta(days=36_500) if since is None else validation.check_aware(since, "since")
        with self._store.read() as tx:
            return tx.injections(session, moment)

    def has_inbox(self) -> bool:
        """Return whether something waits in the inbox. Call it before `learn_from_inbox`, which takes longer to load."""
        permissions.require(self._actor, "has_inbox")
        at = self._clock()
        with self._store.read() as tx:
            return tx.has_inbox(at, at + timedelta(microseconds=1))

    def _repository_settings(self, place: Path | None) -> Settings:
        """The settings, further silenced by those of the repository. Raises Unreadable if these cannot be read.

        A repository can keep memories out of its conversations, and never bring in those that the user keeps out.
        """
        if place is None:
            return self._settings
        try:
            has_directory = (place / self._settings.memories_directory).is_dir()
        except OSError as error:
            raise Unreadable(f"{place!s:.200} cannot be read ({(error.strerror or '').lower()})") from error
        if not has_directory:
            return self._settings
        from omoide.files.repo_config import with_repository_settings  # lazy: few repositories have such a file

        own, given = self._settings, with_repository_settings(self._settings, place)[0]
        return replace(
            own,
            memories_enabled=own.memories_enabled and given.memories_enabled,
            memories_inject=given.memories_inject if own.memories_inject == "auto" else own.memories_inject,
        )

    def _begin_call(self, tx: Writer, call: HookCall, at: datetime) -> HookRecord:
        """Record that a call began, or that it repeats another one: then its state is REPEATED."""
        session, clears = call.session[:_LONGEST_NAME], _clears(call) and not _began_with_prompt(tx, call, at)
        record = HookRecord(0, at, call.client[:_LONGEST_NAME], call.event, session, _digest(call), clears)
        if tx.has_hook_call(record.digest, at - REPEATED):
            record = replace(record, digest="", clears=False, state=HookState.REPEATED)
        return replace(record, number=tx.add_hook_call(record))

    def _write_soon(self, work: Callable[[Writer], T], *, durable: bool = False) -> T:
        """Write, and wait only a moment for others. Raises StoreBusy.

        `durable`: whether it must not be lost if the machine fails.
        """
        until = time.monotonic() + _WAIT
        while True:
            try:
                with self._store.write(patient=False, durable=durable) as tx:
                    return work(tx)
            except StoreBusy as error:
                if time.monotonic() >= until:
                    place = self._settings.store
                    raise StoreBusy(f"{place}: another process has been writing for {_WAIT:g} s: try again") from error
            time.sleep(_RETRY)


def learn_if_waiting(
    memory: "Service",
    *,
    seconds: float | None = None,
    ask: bool = False,
    largest: int | None = None,
    most: int | None = None,
) -> None:
    """Learn from the inbox if something waits in it. Never raises an OmoideError: call it beside the process's own work.

    The parameters are those of `Service.learn_from_inbox`. An error is logged, so that `omoide hook log` shows it, and
    the next process learns what is left.
    """
    started = time.perf_counter()
    try:
        if memory.has_inbox():  # mostly it has nothing, and learning takes 10 ms to load
            memory.learn_from_inbox(seconds=seconds, ask=ask, largest=largest, most=most)
    except OmoideError as error:  # fallback: see above
        log_dropped(memory, None, error, started)


def log_dropped(memory: "Service", call: HookCall | None, error: OmoideError, started: float) -> None:
    """Log an error that the caller drops, because its process is for something else. A store that is gone gets no log."""
    if Path(memory.settings.store).exists():
        from omoide.service.hook_faults import log_fault  # lazy: only for a fault

        log_fault(memory.settings.store, call, error, time.perf_counter() - started)


def _digest(call: HookCall) -> str:
    """A hash by which the same call is recognised, whichever client or process makes it."""
    from hashlib import blake2b  # lazy: start-up: only a hook needs it

    said = call.prompt
    if call.event is HookEvent.STOP:
        from omoide.files.transcript_lines import transcript_size  # lazy: only the end of a turn needs it

        # A client that does not send the answer has two turns within seconds too: their transcripts differ.
        said = call.last_message or str(transcript_size(call.transcript))
    parts = (call.session or call.directory, call.event.value, said, call.source)
    return blake2b("\0".join(parts).encode(errors="replace"), digest_size=12).hexdigest()


def _began_with_prompt(tx: Writer, call: HookCall, at: datetime) -> bool:
    """Whether a session starts whose first prompt came a moment before: what that injected is in the conversation."""
    return (
        call.event is HookEvent.SESSION_START
        and call.source in _IS_NEW
        and any(
            one.session == call.session and one.event is HookEvent.PROMPT and one.at >= at - _AT_ONCE
            for one in tx.hook_calls(_RECENT_CALLS)
        )
    )


def _clears(call: HookCall) -> bool:
    if call.event is HookEvent.SESSION_START:
        return call.source not in _KEEPS_CONTEXT or call.client in _DROPS_CONTEXT
    return call.event is HookEvent.BEFORE_COMPACTION and not call.is_ignored
