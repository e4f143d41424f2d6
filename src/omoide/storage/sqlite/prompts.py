"""Prompts on SQLite: the memories that one may contain."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from omoide.model import PromptCandidate, Query
from omoide.storage.rows import texts
from omoide.storage.sqlite.transaction import Transaction


class SqlitePromptReader:
    """The part of `SqliteReader` that is about prompts."""

    _tx: Transaction
    _where: Callable[[Query, datetime], tuple[list[str], dict[str, Any]]]

    def prompt_candidates(self, query: Query, at: datetime) -> list[PromptCandidate]:
        clauses, values = self._where(query, at)
        rows = self._tx.rows(
            "SELECT m.number, m.id, m.version, m.type, m.content, m.tags, m.relevance FROM memories m"
            f" WHERE {' AND '.join(clauses)}",
            values,
        )
        decoded = {tags: texts(tags) for tags in {row[5] for row in rows}}  # many memories have the same tags
        return [
            PromptCandidate(number, id, version, type, content, decoded[tags], relevance)
            for number, id, version, type, content, tags, relevance in rows
        ]
