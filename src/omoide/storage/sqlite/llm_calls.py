"""Calls of language models on SQLite."""

from datetime import datetime

from omoide.model import CallState, LlmCall
from omoide.storage.rows import micros, moment
from omoide.storage.sqlite.transaction import Transaction

_COLUMNS = "id, at, purpose, model, state, input_tokens, output_tokens, cost, seconds"


class SqliteLlmCallReader:
    """The part of `SqliteReader` that is about calls of language models."""

    _tx: Transaction

    def llm_calls(self, since: datetime) -> list[LlmCall]:
        rows = self._tx.rows(f"SELECT {_COLUMNS} FROM llm_calls WHERE at >= ? ORDER BY at, id", (micros(since),))
        return [
            LlmCall(id, moment(at), purpose, model, CallState(state), *rest) for id, at, purpose, model, state, *rest in rows
        ]

    def llm_tokens(self, since: datetime) -> int:
        statement = "SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM llm_calls WHERE at >= ?"
        return int(self._tx.get(statement, (micros(since),)))


class SqliteLlmCallWriter:
    """The part of `SqliteWriter` that is about calls of language models."""

    _tx: Transaction

    def put_llm_call(self, call: LlmCall) -> None:
        self._tx.run(
            f"INSERT OR REPLACE INTO llm_calls ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                call.id,
                micros(call.at),
                call.purpose,
                call.model,
                call.state.value,
                call.input_tokens,
                call.output_tokens,
                call.cost,
                call.seconds,
            ),
        )
