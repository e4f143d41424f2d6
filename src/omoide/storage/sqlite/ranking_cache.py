"""The ranking facts of memories, cached between transactions in a few bytes each.

Reading the rows of some forty candidates takes a fifth of a search: each is on a page of its own, and most of it is text.
"""

import struct
from array import array
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from omoide.errors import StoreDamaged
from omoide.model.expiry import has_expired
from omoide.storage.base import RankingFacts
from omoide.storage.sqlite.transaction import Transaction

_ROWS = """
SELECT m.number, m.project, m.state, m.expires_at, m.session, m.length, m.confidence, m.relevance, m.reference_count,
    m.updated_at / 86400000000.0
FROM json_each(?) n CROSS JOIN memories m ON m.number = n.value"""
_DAY = 86_400_000_000
# The session by its place in a list, length, confidence, relevance, references, and the last change in days since 1970:
# differences of floats take a fifth of the time of those of microseconds, which are large integers in Python.
_FACTS = struct.Struct("<IIddqd")
_LAST_GLOBAL = 1 << 2  # the largest place of project 0


class RankingCache:
    """By number of a memory: its project and state, when it expires, and its ranking facts."""

    def __init__(self) -> None:
        self._places = array("Q")
        """Project and state of each memory, plus 1; 0 where nothing is cached."""
        self._facts = bytearray()
        self._sessions = [""]
        self._session_places = {"": 0}
        self._expiring: dict[int, int] = {}

    def invalidate(self, numbers: Iterable[int]) -> None:
        """Forget these memories: something happened to them."""
        for number in numbers:
            if number < len(self._places):
                self._places[number] = 0
                self._expiring.pop(number, None)

    def ranking_facts(
        self, tx: Transaction, numbers: Sequence[int], projects: Iterable[int], state: int, now: int
    ) -> dict[int, RankingFacts]:
        """Return those of these memories that are in one of the projects, of this state, and not expired."""
        self._load_missing(tx, numbers)
        wanted = {(project << 2 | state) + 1 for project in projects}
        places, facts, sessions, expiring = self._places, self._facts, self._sessions, self._expiring
        unpack, size, today, found = _FACTS.unpack_from, _FACTS.size, now / _DAY, {}
        for number in numbers:
            place = places[number]
            if place in wanted and not (number in expiring and has_expired(expiring[number], now)):
                session, length, confidence, relevance, references, changed = unpack(facts, number * size)
                everywhere, name = place <= _LAST_GLOBAL, sessions[session]
                found[number] = RankingFacts(length, everywhere, name, confidence, relevance, references, today - changed)
        return found

    def _load_missing(self, tx: Transaction, numbers: Collection[int]) -> None:
        self._make_room(max(numbers, default=0))
        missing = [number for number in numbers if not self._places[number]]
        if missing:
            for row in tx.rows(_ROWS, (str(missing),)):
                self._store(row)

    def _make_room(self, highest: int) -> None:
        more = highest + 1 - len(self._places)
        if more > 0:
            self._places.frombytes(bytes(self._places.itemsize * more))
            self._facts += bytes(_FACTS.size * more)

    def _store(self, row: Any) -> None:
        number, project, state, expires_at, session, *facts = row
        try:
            place = self._session_places.get(session)
            if place is None:
                place = self._session_places[session] = len(self._sessions)
                self._sessions.append(session)
            _FACTS.pack_into(self._facts, number * _FACTS.size, place, *facts)
            self._places[number] = (project << 2 | state) + 1
        except (struct.error, TypeError, OverflowError) as error:
            # The tables are strict: only a damaged page has a row with values of other types.
            raise StoreDamaged(f"the row of memory {number} is damaged ({error}): run `omoide doctor`") from error
        if expires_at is not None:
            self._expiring[number] = expires_at
