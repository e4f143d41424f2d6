"""Learn from the inbox that hooks leave: under a lease, each line of a transcript once, as much as the time allows."""

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.errors import InvalidInput, NotAllowed
from omoide.guard import permissions
from omoide.model import InboxItem, Scope, TranscriptPosition
from omoide.service.candidate_store import LearningReport, join_reports
from omoide.service.hook_calls import HookCalls
from omoide.service.learning import Learning
from omoide.service.meter import Meter
from omoide.service.repositories import Repositories
from omoide.storage.base import Writer

if TYPE_CHECKING:  # its patterns take 40 ms that only a process that learns should pay for
    from omoide.learning.transcript import Turn
    from omoide.service import Service

_EVER = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_JUDGED = 500
"""Turns before the end of an item that are compared with the memories in the conversation."""
_LEASE = timedelta(minutes=5)
"""How long a process may take over one part of a transcript, with a language model."""
_SHORT_LEASE = timedelta(seconds=30)
"""The same by rules alone: a hook that is ended in the middle of it keeps others waiting no longer."""
_MODEL_FIRST = timedelta(hours=1)
"""How long items wait for a process that may ask the language model, where one is configured."""


class Inbox(HookCalls, Repositories, Learning, Meter):
    """The operation that learns from what hooks left."""

    def learn_from_inbox(
        self, *, seconds: float | None = None, ask: bool = True, largest: int | None = None, most: int | None = None
    ) -> LearningReport:
        """Learn from the ends of turns that agents' hooks left in the inbox, oldest session first.

        Each line of a transcript is read once, by one process at a time.

        `seconds`: how long to go on beginning new parts; None: until nothing is left. `ask`: whether the language model may
        be asked, where one is configured; otherwise items wait up to an hour for a process that may ask it. `largest`: how
        many unread bytes a session may have; one with more is left to a process with more time; None: any. `most`: how many
        items of the inbox to learn from; None: all.

        Returns what was learnt, of all sessions. Raises StoreBusy if another process keeps writing.
        """
        permissions.require(self._actor, "learn_from_inbox")
        until = float("inf") if seconds is None else time.monotonic() + seconds
        reports: list[LearningReport] = []
        left = most
        while time.monotonic() < until and left != 0:
            at = self._clock()
            before = at - _MODEL_FIRST if self._llm.is_enabled and not ask else at + timedelta(microseconds=1)
            with self._store.read() as tx:
                if not tx.has_inbox(at, before):
                    break
            items = self._write_soon(partial(_lease, at=at, until=at + _lease_time(ask=ask), before=before))
            if not items:  # another process was faster
                continue
            if largest is not None and self._unread_bytes(items) > largest:
                self._give_back(items)
                break
            begun = items[:left]
            has_more = len(begun) < len(items)
            is_done = self._learn_session(begun, until, reports, ask=ask, has_more=has_more)
            if has_more or not is_done:
                self._give_back(items)
                break
            left = None if left is None else left - len(begun)
        return join_reports(reports)

    def _learn_session(
        self, items: Sequence[InboxItem], until: float, reports: list[LearningReport], *, ask: bool, has_more: bool
    ) -> bool:
        """Learn from items of a session, which may have more; return False if the time did not suffice for all of them."""
        for place, item in enumerate(items):
            is_last = place + 1 == len(items) and not has_more
            for report in self._learn_item(item, is_last=is_last, ask=ask):
                reports.append(report)
                if time.monotonic() >= until:
                    return False
        return True

    def _unread_bytes(self, items: Sequence[InboxItem]) -> int:
        """How much is to be read for the items of a session."""
        from omoide.service import session_turns  # lazy: see the top

        with self._store.read() as tx:
            starts = {item.transcript: tx.transcript_position(item.transcript).bytes for item in items}
        return sum(session_turns.unread_bytes(path, start) for path, start in starts.items())

    def _give_back(self, items: Sequence[InboxItem]) -> None:
        """Leave what is not learnt yet of these items to the next process."""
        with self._store.write(durable=False) as tx:  # after a power cut it waits for the end of the lease
            tx.extend_lease([item.number for item in items], self._clock())

    def _learn_item(self, item: InboxItem, *, is_last: bool, ask: bool) -> Iterator[LearningReport]:
        """Learn from an item part by part; yields after each what was learnt."""
        from omoide.service import session_turns  # lazy: see the top

        scope = self._scope_of_item(item)
        known = self._injected_texts(item.session)
        is_known = session_turns.has_transcript(item)
        said: list[Turn] = []
        while scope is not None:
            with self._store.read() as tx:
                position = tx.transcript_position(item.transcript)
            lines, end, position = session_turns.read_lines(item, position, is_last=is_last)
            if end == position.bytes:
                break
            turns = session_turns.turns(lines, position.line)
            is_known = is_known and (bool(turns) or not any(lines))  # a line that is too long is read as an empty one
            said = [*said, *turns][-_MOST_JUDGED:]
            report = self._learn_turns(turns, item, scope, known, ask=ask)
            with self._store.write(durable=False) as tx:  # it is synced with the end of the item
                at = self._clock()
                tx.record_position(item.transcript, TranscriptPosition(end, position.line + len(lines)), at)
                tx.extend_lease([item.number], at + _lease_time(ask=ask))
            yield report
        report = LearningReport()
        if scope is not None and not is_known:  # no transcript, or one in a format that is not known
            said = session_turns.turns_of_item(item)
            report = self._learn_turns(said, item, scope, known, ask=ask)
        uses = self._judge_turn(item, session_turns.separate_own(said)[0])
        with self._store.write() as tx:
            tx.record_uses(uses)
            tx.finish_inbox([item.number], self._clock())
        yield report

    def _learn_turns(
        self, turns: "Sequence[Turn]", item: InboxItem, scope: Scope, known: Sequence[str], *, ask: bool
    ) -> LearningReport:
        from omoide.service import session_turns  # lazy: see the top

        others, own = session_turns.separate_own(turns)
        if not others:
            return LearningReport()
        run = session_turns.run_id(item)
        try:
            return self.learn(others, scope=scope, run=run, known=[*known, *own], ask=ask)
        except (InvalidInput, NotAllowed):  # fallback: nothing can be learnt from it, now or later
            return LearningReport()

    def _scope_of_item(self, item: InboxItem) -> Scope | None:
        """Where what is learnt belongs; None if that is not known any more."""
        if item.project:
            return Scope.project(item.project)
        from omoide.files.git import git_root  # lazy: only here

        try:
            directory = Path(item.directory)
            if not item.directory or not directory.is_dir():
                return None
            root = git_root(directory)
        except (OSError, ValueError, RuntimeError):  # fallback: it cannot be read any more
            return None
        return Scope.everywhere() if root is None else self.claim(root)

    def _injected_texts(self, session: str) -> list[str]:
        """The texts of the memories that hooks injected into a session."""
        with self._store.read() as tx:
            numbers = sorted({one.memory for one in tx.injections(session, _EVER)})
            return [memory.content for memory in tx.memories(numbers)]


def learn_pending(
    memory: "Service", directory: Path | None, *, seconds: float | None = None, ask: bool = True
) -> LearningReport:
    """Learn from all that waits: what hooks left in the inbox, and what a person changed since the last turn of an agent.

    `directory`: in whose work tree a person may have changed something; None: nowhere. `seconds` and `ask` are those of
    `Service.learn_from_inbox`. Raises as that and `Service.begin_turn` do.
    """
    reports = [memory.learn_from_inbox(seconds=seconds, ask=ask)] if memory.has_inbox() else []
    if directory is not None:
        reports.append(memory.begin_turn(directory))
    return join_reports(reports)


def _lease(tx: Writer, *, at: datetime, until: datetime, before: datetime) -> Sequence[InboxItem]:
    return tx.lease_inbox(at, until, before)


def _lease_time(*, ask: bool) -> timedelta:
    return _LEASE if ask else _SHORT_LEASE
