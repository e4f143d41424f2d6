"""Prompts on SQLite: the memories that one may contain."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from omoide.model import PromptCandidate, Query
from omoide.storage.rows import texts
from omoide.storage.sqlite.transaction import Transaction

_COLUMNS = ", ".join(f"m.{name}" for name in PromptCandidate.__struct_fields__)
_TAGS = PromptCandidate.__struct_fields__.index("tags")


class SqlitePromptReader:
    """The part of `SqliteReader` that is about prompts."""

    _tx: Transaction
    _where: Callable[[Query, datetime], tuple[list[str], dict[str, Any]]]

    def prompt_candidates(self, query: Query, at: datetime) -> list[PromptCandidate]:
        clauses, values = self._where(query, at)
        rows = self._tx.rows(f"SELECT {_COLUMNS} FROM memories m WHERE {' AND '.join(clauses)}", values)
        decoded = {tags: texts(tags) for tags in {row[_TAGS] for row in rows}}  # many memories have the same tags
        return [_candidate([*row], decoded) for row in rows]


def _candidate(values: list[Any], decoded: Mapping[str, tuple[str, ...]]) -> PromptCandidate:
    values[_TAGS] = decoded[values[_TAGS]]
    return PromptCandidate(*values)
