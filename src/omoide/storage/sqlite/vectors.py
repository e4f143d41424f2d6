"""Vectors on SQLite: read, written and counted; triggers make them follow the rows (see the migration)."""

from collections.abc import Callable, Collection, Iterable, Sequence

from omoide.model import Memory, Query
from omoide.storage.base import EmbeddingModel, SessionNeighbour, SignBits, StoredVector, TextEnds, VectorCounts
from omoide.storage.rows import COLUMNS, FORGOTTEN, TABLES, memory_from_row, moment
from omoide.storage.sqlite.transaction import Transaction

_PENDING = (
    f"FROM memories m WHERE m.state <> {FORGOTTEN} AND NOT EXISTS"
    " (SELECT 1 FROM sign_bits s WHERE s.memory = m.number AND s.model = ?)"
)
_OPENING = 600  # characters: a turn of a talk is shorter
_AREA = f"SELECT CASE state WHEN {FORGOTTEN} THEN -1 ELSE project * 2 + (state <> 0) END FROM memories WHERE number = ?"


class VectorReader:
    _tx: Transaction
    _areas: Callable[[Query], dict[int, tuple[int, int]]]

    def model(self, name: str) -> EmbeddingModel | None:
        row = self._tx.get("SELECT number, dimensions FROM models WHERE name = ? ORDER BY number DESC LIMIT 1", (name,))
        return None if row is None else EmbeddingModel(*row)

    def areas(self, query: Query) -> list[int]:
        return list(self._areas(query))

    def sign_bits(self, model: int, area: int, after: int) -> list[SignBits]:
        rows = self._tx.rows(
            "SELECT seq, memory, bits FROM sign_bits WHERE area = ? AND seq > ? AND model = ? AND bits <> x'' ORDER BY seq",
            (area, after, model),
        )
        return list(map(SignBits._make, rows))

    def vectors(self, model: int, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        return self._tx.rows(
            "SELECT v.memory, v.int8 FROM json_each(?) n CROSS JOIN vectors v ON v.memory = n.value WHERE v.model = ?",
            (str(list(numbers)), model),
        )

    def without_vector(self, model: int | None, after: int, most: int, among: Sequence[int] | None = None) -> list[Memory]:
        wanted = "" if among is None else " AND m.number IN (SELECT value FROM json_each(?))"
        values = () if among is None else (str(list(among)),)
        numbers = self._tx.rows(
            f"SELECT m.number {_PENDING} AND m.number > ?{wanted} ORDER BY m.number LIMIT ?", (model, after, *values, most)
        )
        rows = self._tx.rows(
            f"SELECT {COLUMNS} FROM json_each(?) n CROSS JOIN {TABLES} WHERE m.number = n.value",
            (str([number for (number,) in numbers]),),
        )
        return [memory_from_row(row) for row in rows]

    def coverage(self, model: int | None) -> VectorCounts:
        living = self._tx.get(f"SELECT count(*) FROM memories WHERE state <> {FORGOTTEN}")
        pending = self._tx.get(f"SELECT count(*) {_PENDING}", (model,))
        return VectorCounts(living - pending, pending)

    def session_neighbours(self, numbers: Sequence[int], reach: int) -> list[SessionNeighbour]:
        # By number, since that is the order in which a session's memories came, also where their times are the same.
        # The + keeps SQLite from its index of sessions: a range of numbers is a handful of neighbouring rows.
        rows = self._tx.rows(
            "SELECT DISTINCT m.number, m.project, m.session, m.length FROM json_each(?1) n"
            " CROSS JOIN memories o ON o.number = n.value"
            " CROSS JOIN memories m ON m.number BETWEEN o.number - ?2 AND o.number + ?2"
            f" WHERE o.session <> '' AND +m.session = o.session AND +m.project = o.project AND +m.state <> {FORGOTTEN}"
            " ORDER BY m.number",
            (str(list(numbers)), reach),
        )
        return list(map(SessionNeighbour._make, rows))

    def text_ends(self, numbers: Sequence[int]) -> dict[int, TextEnds]:
        rows = self._tx.rows(
            "SELECT m.number, m.created_at, substr(m.content, 1, ?2), substr(m.content, -2)"
            " FROM json_each(?1) n CROSS JOIN memories m ON m.number = n.value",
            (str(list(numbers)), _OPENING),
        )
        return {number: TextEnds(moment(at), first, last) for number, at, first, last in rows}


class VectorWriter(VectorReader):
    def ensure_model(self, name: str, dimensions: int) -> int:
        known = self.model(name)
        if known is not None and known.dimensions == dimensions:
            return known.number
        self._tx.run("INSERT INTO models (name, dimensions) VALUES (?, ?)", (name, dimensions))
        return self._tx.last_number()

    def put_vectors(self, model: int, made: Iterable[StoredVector]) -> int:
        places: dict[int, int | None] = {}
        for one in made:
            if one.number not in places:
                places[one.number] = self._tx.get(f"{_AREA} AND version = ?", (one.number, one.version))
                if places[one.number] is not None:
                    self._tx.run("DELETE FROM sign_bits WHERE memory = ? AND model = ?", (one.number, model))
                    self._tx.run("DELETE FROM vectors WHERE memory = ? AND model = ?", (one.number, model))
            place = places[one.number]
            if place is not None:
                self._tx.run("INSERT INTO sign_bits VALUES (NULL, ?, ?, ?, ?)", (one.number, place, model, one.bits))
                if one.int8:  # an empty one only says that none is missing
                    self._tx.run("INSERT INTO vectors VALUES (NULL, ?, ?, ?)", (one.number, model, one.int8))
        return sum(place is not None for place in places.values())

    def drop_vectors(self, keep: Collection[int]) -> None:
        # The models themselves stay: a number given twice would mix vectors in a process that knows it.
        for table in ("sign_bits", "vectors"):
            self._tx.run(f"DELETE FROM {table} WHERE model NOT IN (SELECT value FROM json_each(?))", (str([*keep]),))
