"""Calls of agents' hooks, what they injected, and the inbox, on SQLite."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from omoide.model import HookEvent, HookRecord, HookState, InboxItem, Injection, JudgedUse, MemoryUse, TranscriptPosition
from omoide.storage.rows import micros, moment
from omoide.storage.sqlite.transaction import Transaction

_MOST_CALLS = 20_000
"""Calls that are kept: of a hundred a day, those of half a year."""
_KEPT = timedelta(days=30)
"""How long an item of the inbox is kept after it was learnt from, and a position after its transcript was last read."""
_PRUNED_EVERY = 100
"""Calls between two deletions of old ones."""
_LAST_ITEMS = 100
"""Items among which an earlier state of a work tree is looked for."""
_TELLING_LINE = 16
"""Characters of a line of a memory from which on its copy in another text is recognised."""

_CALL = "SELECT number, at, client, event, session, digest, clears, state, seconds, memories, tokens, fault FROM hook_calls"
_INJECTION = """
SELECT c.number, c.at, c.client, c.event, c.session, i.memory, i.version, i.tokens, i.use, i.is_clear
FROM hook_calls c JOIN injections i ON i.call = c.number"""
_ITEM = (
    "SELECT number, at, client, session, project, directory, transcript, size, prompt, last_message, work_tree FROM inbox"
)
_PENDING = "learnt_at IS NULL AND leased_until <= :at AND at < :before"


class SqliteHookReader:
    """The part of `SqliteReader` that is about hooks."""

    _tx: Transaction

    def hook_calls(self, limit: int) -> list[HookRecord]:
        return [_record(row) for row in self._tx.rows(f"{_CALL} ORDER BY number DESC LIMIT ?", (limit,))]

    def last_hook_calls(self) -> list[HookRecord]:
        last = "SELECT max(number) FROM hook_calls WHERE state <> 'repeated' GROUP BY client"
        return [_record(row) for row in self._tx.rows(f"{_CALL} WHERE number IN ({last}) ORDER BY number DESC")]

    def has_hook_call(self, digest: str, since: datetime) -> bool:
        statement = "SELECT EXISTS (SELECT 1 FROM hook_calls WHERE digest = ? AND digest <> '' AND at >= ?)"
        return bool(self._tx.get(statement, (digest, micros(since))))

    def injected_versions(self, session: str) -> dict[int, int]:
        rows = self._tx.rows(
            "SELECT i.memory, i.version FROM hook_calls c JOIN injections i ON i.call = c.number WHERE c.session = ?1"
            " AND c.number >= coalesce((SELECT max(number) FROM hook_calls WHERE session = ?1 AND clears), 0)"
            " ORDER BY c.number",
            (session,),
        )
        return dict(rows)

    def injections(self, session: str | None, since: datetime) -> list[Injection]:
        where, values = "c.at >= ?", [micros(since)]
        rows = self._tx.rows(
            f"{_INJECTION} WHERE {where}{'' if session is None else ' AND c.session = ?'} ORDER BY c.number, i.memory",
            (*values, *([] if session is None else [session])),
        )
        return [_injection(row) for row in rows]

    def use_counts(self) -> dict[int, tuple[int, int]]:
        rows = self._tx.rows(
            "SELECT memory, sum(use = 'used'), sum(use = 'contradicted') FROM injections"
            " WHERE use IN ('used', 'contradicted') AND is_clear GROUP BY memory"
        )
        return {memory: (used, contradicted) for memory, used, contradicted in rows}

    def inbox(self) -> list[InboxItem]:
        return [_item(row) for row in self._tx.rows(f"{_ITEM} WHERE learnt_at IS NULL ORDER BY number")]

    def has_inbox(self, at: datetime, before: datetime) -> bool:
        values = {"at": micros(at), "before": micros(before)}
        return bool(self._tx.get(f"SELECT EXISTS (SELECT 1 FROM inbox WHERE {_PENDING})", values))

    def work_tree_before(self, number: int, root: str) -> str:
        found = self._tx.get(
            "SELECT work_tree FROM"
            " (SELECT number, work_tree FROM inbox WHERE number < ? AND work_tree != '' ORDER BY number DESC LIMIT ?)"
            " WHERE json_extract(work_tree, '$.root') = ? ORDER BY number DESC LIMIT 1",
            (number, _LAST_ITEMS, root),
        )
        return found or ""

    def transcript_position(self, path: str) -> TranscriptPosition:
        row = self._tx.get("SELECT bytes, line FROM transcripts WHERE path = ?", (path,))
        return TranscriptPosition() if row is None else TranscriptPosition(*row)


class SqliteHookWriter(SqliteHookReader):
    """The part of `SqliteWriter` that is about hooks."""

    def add_hook_call(self, record: HookRecord) -> int:
        self._tx.run(
            "INSERT INTO hook_calls (at, client, event, session, digest, clears, state, seconds, memories, tokens, fault)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            _values(record),
        )
        number = self._tx.last_number()
        if number % _PRUNED_EVERY == 0:
            self._tx.run("DELETE FROM hook_calls WHERE number <= ?", (number - _MOST_CALLS,))
            self._tx.run("DELETE FROM injections WHERE call <= ?", (number - _MOST_CALLS,))
        return number

    def end_hook_call(self, record: HookRecord, injections: Sequence[Injection] = ()) -> None:
        self._tx.run(
            "UPDATE hook_calls SET at = ?, client = ?, event = ?, session = ?, digest = ?, clears = ?, state = ?,"
            " seconds = ?, memories = ?, tokens = ?, fault = ? WHERE number = ?",
            (*_values(record), record.number),
        )
        # A memory may have been purged meanwhile: nothing is recorded of it.
        self._tx.run_many(
            "INSERT OR REPLACE INTO injections (call, memory, version, tokens)"
            " SELECT ?1, number, ?3, ?4 FROM memories WHERE number = ?2",
            ((record.number, one.memory, one.version, one.tokens) for one in injections),
        )

    def record_uses(self, uses: Iterable[JudgedUse]) -> None:
        self._tx.run_many(
            "UPDATE injections SET use = ?, is_clear = ? WHERE call = ? AND memory = ?",
            ((one.use.value, one.is_clear, one.call, one.memory) for one in uses),
        )

    def put_in_inbox(self, item: InboxItem) -> None:
        oldest = micros(item.at - _KEPT)
        self._tx.run("DELETE FROM inbox WHERE learnt_at < ?", (oldest,))
        self._tx.run("DELETE FROM transcripts WHERE at < ?", (oldest,))
        self._tx.run(
            "INSERT INTO inbox (at, client, session, project, directory, transcript, size, prompt, last_message, work_tree)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (micros(item.at), *msgspec.structs.astuple(item)[2:]),
        )

    def lease_inbox(self, at: datetime, until: datetime, before: datetime) -> list[InboxItem]:
        values = {"at": micros(at), "before": micros(before)}
        session = self._tx.get(f"SELECT session FROM inbox WHERE {_PENDING} ORDER BY number LIMIT 1", values)
        if session is None:
            return []
        values["session"] = session
        rows = self._tx.rows(f"{_ITEM} WHERE session = :session AND {_PENDING} ORDER BY number", values)
        items = [_item(row) for row in rows]
        self.extend_lease([item.number for item in items], until)
        return items

    def extend_lease(self, numbers: Sequence[int], until: datetime) -> None:
        self._tx.run_many(
            "UPDATE inbox SET leased_until = ? WHERE number = ?", ((micros(until), number) for number in numbers)
        )

    def record_position(self, path: str, position: TranscriptPosition, at: datetime) -> None:
        values = (path, position.bytes, position.line, micros(at))
        self._tx.run("INSERT OR REPLACE INTO transcripts VALUES (?, ?, ?, ?)", values)

    def finish_inbox(self, numbers: Sequence[int], at: datetime) -> None:
        self._tx.run_many("UPDATE inbox SET learnt_at = ? WHERE number = ?", ((micros(at), number) for number in numbers))

    def erase_from_hooks(self, number: int, texts: Iterable[str]) -> None:
        """Delete what hooks recorded of a memory with these texts, and the items of the inbox that may repeat them.

        Those are the items of every session into which it was injected, and those that contain a line of it. What their
        transcripts hold is not learnt from any more.
        """
        lines = {line.strip() for text in texts for line in text.splitlines()}
        telling = [line for line in lines if len(line) >= _TELLING_LINE] or [line for line in lines if line]
        copied = "instr(prompt, value) OR instr(last_message, value) OR instr(work_tree, value)"
        found = self._tx.rows(
            "SELECT number, transcript, size FROM inbox WHERE session IN"
            " (SELECT c.session FROM injections i JOIN hook_calls c ON c.number = i.call WHERE i.memory = ?1)"
            f" OR EXISTS (SELECT 1 FROM json_each(?2) WHERE {copied})",
            (number, msgspec.json.encode(telling).decode()),
        )
        for item, transcript, size in found:
            self._tx.run("UPDATE transcripts SET bytes = max(bytes, ?) WHERE path = ?", (size, transcript))
            self._tx.run(
                "INSERT OR IGNORE INTO transcripts SELECT transcript, size, 0, at FROM inbox"
                " WHERE number = ? AND transcript <> ''",
                (item,),
            )
            self._tx.run("DELETE FROM inbox WHERE number = ?", (item,))
        self._tx.run("DELETE FROM injections WHERE memory = ?", (number,))


def _values(record: HookRecord) -> tuple[Any, ...]:
    return (
        *(micros(record.at), record.client, record.event.value, record.session, record.digest, int(record.clears)),
        *(record.state.value, record.seconds, record.memories, record.tokens, record.fault),
    )


def _record(row: Any) -> HookRecord:
    number, at, client, event, session, digest, clears, state, *rest = row
    return HookRecord(number, moment(at), client, HookEvent(event), session, digest, bool(clears), HookState(state), *rest)


def _injection(row: Any) -> Injection:
    call, at, client, event, session, memory, version, tokens, use, is_clear = row
    judged = MemoryUse(use) if use else None
    event = HookEvent(event)
    return Injection(call, moment(at), client, event, session, memory, version, tokens, judged, bool(is_clear))


def _item(row: Any) -> InboxItem:
    number, at, *rest = row
    return InboxItem(number, moment(at), *rest)
