"""The meter: whether agents used the memories that were injected into their conversations, and what those cost."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from omoide.guard import permissions, validation
from omoide.model import HookEvent, InboxItem, Injection, JudgedUse, Memory, MemoryUse, Query, Scope, WorkTreeState
from omoide.service.core import Core

if TYPE_CHECKING:  # only a process that judges needs it
    from omoide.learning.transcript import Turn
    from omoide.lifecycle.agent_work import AgentWork

_EVER = datetime(1970, 1, 1, tzinfo=UTC)
_SETTLED = (MemoryUse.USED, MemoryUse.CONTRADICTED)
"""What was ignored in one turn may still be used in a later one of the session."""
_MOST_LINES = 2_000
"""Lines that an agent added to files which are compared with memories."""
_LEAST_PROMPTS = 3
"""Ignored injections after which a memory that no agent used is worth a look."""


class UseCounts(NamedTuple):
    """How many injections agents used, ignored and contradicted."""

    used: int
    ignored: int
    contradicted: int


class MeterRow(msgspec.Struct, frozen=True):
    """One memory, and whether agents used it."""

    memory: Memory
    prompts: int
    session_starts: int
    """Into how many of each it was injected."""
    tokens: int
    used: int
    ignored: int
    contradicted: int
    """How often agents used, ignored and contradicted it, in the turns that have ended."""
    clear: UseCounts
    """The clear ones of these."""

    @property
    def times(self) -> int:
        """How often it was injected."""
        return self.prompts + self.session_starts

    @property
    def is_contradicted(self) -> bool:
        """Whether an agent clearly went against it, so that somebody should review it."""
        return self.clear.contradicted > 0

    @property
    def is_never_used(self) -> bool:
        """Whether agents ignored it three times, once clearly, and never used it or went against it: it may be retired."""
        return not self.used and not self.contradicted and self.ignored >= _LEAST_PROMPTS and self.clear.ignored > 0


class MeterReport(msgspec.Struct, frozen=True):
    """How much was injected, and whether agents used it."""

    since: datetime
    prompts: int
    session_starts: int
    """Into how many of each something was injected."""
    injections: int
    tokens: int
    used: int
    ignored: int
    contradicted: int
    clear: UseCounts
    """The clear ones of these; the others are only the most probable judgements."""
    rows: list[MeterRow]
    """By memory, the most injected first. A memory that was purged is not among them."""

    @property
    def share_used(self) -> float | None:
        """Of the injections that were judged, the share that was used; None: none was judged yet."""
        judged = self.used + self.ignored + self.contradicted
        return self.used / judged if judged else None


class Meter(Core):
    """The operation that reports whether agents used injected memories."""

    def meter(self, *, scope: Scope, since: datetime | None = None) -> MeterReport:
        """Report which of the memories that the scope sees were injected by hooks, and whether agents used them.

        `since`: count injections at or after this time; by default those of the last 30 days. A use is recognised by words,
        names and numbers alone: it is weak evidence. Raises InvalidInput for a time without a time zone, and NotAllowed.
        """
        permissions.require(self._actor, "meter")
        moment = self._clock() - timedelta(days=30) if since is None else validation.check_aware(since, "since")
        with self._read(scope) as tx:
            injected = tx.injections(None, moment)
            numbers = sorted({one.memory for one in injected})
            query = permissions.narrow_or_refuse(self._actor, Query(scope))
            seen = {memory.number: memory for memory in tx.memories(numbers) if query.scope.sees(memory.scope)}
        rows = [_row(memory, [one for one in injected if one.memory == number]) for number, memory in seen.items()]
        counted = [one for one in injected if one.memory in seen]
        return MeterReport(
            moment,
            *_count_calls(counted),
            len(counted),
            sum(one.tokens for one in counted),
            *_count_uses(counted),
            _count_uses(one for one in counted if one.is_clear),
            sorted(rows, key=lambda row: (-row.times, -row.tokens, row.memory.number)),
        )

    def _judge_turn(self, item: InboxItem, turns: "Sequence[Turn]") -> list[JudgedUse]:
        """Judge whether the agent used the memories in its session, by the turn that an item of the inbox is about.

        Returns what is to be recorded with the end of the item.
        """
        with self._store.read() as tx:
            open_ones = [one for one in tx.injections(item.session, _EVER) if one.at <= item.at and one.use not in _SETTLED]
            texts = {memory.number: memory.content for memory in tx.memories(sorted({one.memory for one in open_ones}))}
        if not texts:
            return []
        from omoide.lifecycle.memory_use import judge_use  # lazy: see the top

        work = _work_of(item, turns, self._files_of_turn(item))
        found = {number: judge_use(text, work) for number, text in texts.items()}
        return [
            JudgedUse(one.call, one.memory, judged.use, judged.is_clear)
            for one in open_ones
            if (judged := found.get(one.memory)) is not None
        ]

    def _files_of_turn(self, item: InboxItem) -> WorkTreeState | None:
        """The state of the work tree, with the files that were changed since its last turn ended; None outside of git."""
        if not item.work_tree:
            return None
        state = msgspec.json.decode(item.work_tree, type=WorkTreeState)
        with self._store.read() as tx:
            earlier = tx.work_tree_before(item.number, state.root)
        known = msgspec.json.decode(earlier, type=WorkTreeState).files if earlier else ()
        digests = {file.path: file.digest for file in known}
        return replace(state, files=tuple(file for file in state.files if digests.get(file.path) != file.digest))


def _row(memory: Memory, injected: Sequence[Injection]) -> MeterRow:
    tokens = sum(one.tokens for one in injected)
    clear = _count_uses(one for one in injected if one.is_clear)
    return MeterRow(memory, *_count_calls(injected), tokens, *_count_uses(injected), clear)


def _count_calls(injected: Iterable[Injection]) -> tuple[int, int]:
    """How many prompts and how many session starts something was injected into."""
    events = list({one.call: one.event for one in injected}.values())
    starts = events.count(HookEvent.SESSION_START)
    return len(events) - starts, starts


def _count_uses(injected: Iterable[Injection]) -> UseCounts:
    uses = [one.use for one in injected]
    return UseCounts(*map(uses.count, (MemoryUse.USED, MemoryUse.IGNORED, MemoryUse.CONTRADICTED)))


def _work_of(item: InboxItem, turns: "Sequence[Turn]", tree: WorkTreeState | None) -> "AgentWork":
    """What the person asked for in a turn, what the agent said, and what it did."""
    from omoide.learning.transcript import Speaker  # lazy: see the top
    from omoide.lifecycle.agent_work import AgentWork  # lazy: see the top

    said = {speaker: "\n".join(turn.text for turn in turns if turn.speaker is speaker) for speaker in Speaker}
    asked, answer = said[Speaker.PERSON] or item.prompt, said[Speaker.AGENT] or item.last_message
    added = {} if tree is None else _added_lines(tree)
    lines = "\n".join([line for lines in added.values() for line in lines][:_MOST_LINES])
    return AgentWork(asked, answer, lines, said[Speaker.COMMAND], list(added))


def _added_lines(state: WorkTreeState) -> dict[str, list[str]]:
    """The lines of files of a work tree that its commit lacks. Files that somebody changed later are left out."""
    from omoide.files.work_tree_state import read_committed, read_files  # lazy: it loads subprocess

    root, digests = Path(state.root), {file.path: file.digest for file in state.files if file.digest}
    files = [file for file in read_files(root, digests) if file.text is not None and file.digest == digests[file.path]]
    if not files:
        return {}
    committed = read_committed(root, state.head, [file.path for file in files])
    added: dict[str, list[str]] = {}
    for file in files:
        known = set((committed.get(file.path) or "").splitlines())
        added[file.path] = [line for line in (file.text or "").splitlines() if line.strip() and line not in known]
    return added
