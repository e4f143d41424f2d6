"""What the ranking needs to know of memories, on SQLite: kept between transactions, a few bytes for each.

Reading the rows of some forty candidates takes longer than all else that ranks them: each is on a page of its own, and most
of it is text.
"""

import struct
from array import array
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from omoide.errors import StoreDamaged
from omoide.model.expiry import has_expired
from omoide.storage.base import RankingFacts
from omoide.storage.sqlite.transaction import Transaction

_COLUMNS = (
    "m.number, m.project, m.state, m.length, m.expires_at, m.session, m.confidence, m.relevance, m.reference_count,"
    " m.updated_at"
)
_THESE = f"SELECT {_COLUMNS} FROM json_each(?) n CROSS JOIN memories m ON m.number = n.value"
_DAY = 86_400_000_000
_FACTS = struct.Struct("<Iddqq")  # the session, by its place in a list; confidence, relevance, count, last change
_EVERYWHERE = 1 << 2  # the last place of project 0

_new = tuple.__new__  # a third of the time that a named tuple takes to make itself


class RankingCache:
    """Of each memory, by its number: its place, its length, and the facts that nudge its score."""

    def __init__(self) -> None:
        self._places = array("Q")
        """The project and the state, and 1 more: where nothing is known, there is 0."""
        self._lengths = array("I")
        self._facts = bytearray()
        self._sessions = [""]
        self._names = {"": 0}
        self._spoken: set[int] = set()
        """Those that belong to a session."""
        self._expiring: dict[int, int] = {}

    def forget(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            if number < len(self._places):
                self._places[number] = 0
                self._spoken.discard(number)
                self._expiring.pop(number, None)

    def lengths(
        self, tx: Transaction, numbers: Sequence[int], projects: Iterable[int], state: int, now: int
    ) -> dict[int, int]:
        """Of these memories those in such projects, of this state, and not expired: their lengths."""
        self._load_missing(tx, numbers)
        places, lengths, wanted = self._places, self._lengths, {(project << 2 | state) + 1 for project in projects}
        found = {number: lengths[number] for number in numbers if places[number] in wanted}
        if self._expiring:
            gone = [number for number in found if has_expired(self._expiring.get(number), now)]
            for number in gone:
                del found[number]
        return found

    def ranking_facts(self, tx: Transaction, numbers: Collection[int], now: int) -> list[RankingFacts]:
        self._load_missing(tx, numbers)
        places, facts, sessions = self._places, self._facts, self._sessions
        unpack, size, found = _FACTS.unpack_from, _FACTS.size, []
        for number in numbers:
            place = places[number]
            if place:
                name, confidence, relevance, count, updated = unpack(facts, number * size)
                its = number, place <= _EVERYWHERE, sessions[name], confidence, relevance, count, (now - updated) / _DAY
                found.append(_new(RankingFacts, its))
        return found

    def in_sessions(self, tx: Transaction, numbers: Collection[int]) -> list[int]:
        """Those that belong to a session."""
        self._load_missing(tx, numbers)
        return [number for number in numbers if number in self._spoken]

    def _load_missing(self, tx: Transaction, numbers: Collection[int]) -> None:
        self._make_room(max(numbers, default=0))
        missing = [number for number in numbers if not self._places[number]]
        if missing:
            self._keep(tx.rows(_THESE, (str(missing),)))

    def _make_room(self, highest: int) -> None:
        more = highest + 1 - len(self._places)
        if more > 0:
            self._places.frombytes(bytes(self._places.itemsize * more))
            self._lengths.frombytes(bytes(self._lengths.itemsize * more))
            self._facts += bytes(_FACTS.size * more)

    def _keep(self, rows: Iterable[Any]) -> None:
        for row in rows:
            try:
                self._keep_one(*row)
            except (struct.error, TypeError, OverflowError) as error:
                # The tables are strict: only a damaged page holds a row that is none.
                raise StoreDamaged(f"the row of memory {row[0]} is damaged ({error}): run `omoide doctor`") from error

    def _keep_one(
        self, number: int, project: int, state: int, length: int, expires_at: int | None, session: str, *facts: float
    ) -> None:
        name = self._names.get(session)
        if name is None:
            name = self._names[session] = len(self._sessions)
            self._sessions.append(session)
        if session:
            self._spoken.add(number)
        if expires_at is not None:
            self._expiring[number] = expires_at
        _FACTS.pack_into(self._facts, number * _FACTS.size, name, *facts)
        self._places[number], self._lengths[number] = (project << 2 | state) + 1, length
