"""Rows compared with what the index and the fingerprints hold of them: another program may have changed a row alone."""

from collections.abc import Callable, Iterator

from omoide.model import Memory
from omoide.storage.base import IndexEntry
from omoide.storage.rows import COLUMNS, FORGOTTEN, TABLES, memory_from_row
from omoide.storage.sqlite.postings import document_id
from omoide.storage.sqlite.transaction import Transaction

_PAGE = 500
_ROWS = (
    f"SELECT {COLUMNS}, m.project * 2 + (m.state <> 0), m.state = {FORGOTTEN}, m.fingerprint, m.blocking_key, m.length"
    f" FROM {TABLES} WHERE m.number > ? ORDER BY m.number LIMIT {_PAGE}"
)
_ADDED = 5  # columns after those of a memory
_TERMS = "SELECT doc, col, CAST(term AS BLOB) FROM temp.instances"
_LONGEST = 32_768  # bytes of a term that FTS5 keeps
# As the tokenizer of the table `words` reads a text: see the first migration.
_FOLDED = bytes(32 if byte <= 32 or byte == 127 else byte for byte in bytes(range(256)).lower())

Expected = Callable[[Memory], tuple[int, IndexEntry]]
"""The fingerprint that a memory should have, and the words by which it should be found."""


def find_differences(tx: Transaction, expected: Expected) -> Iterator[int]:
    """The numbers of the memories that are not indexed as their rows read now."""
    indexed: dict[int, int] = {}
    for number, column, term in tx.stream(_TERMS):
        indexed[number] = indexed.get(number, 0) + hash((column, term))
    for row in tx.pages(_ROWS):
        memory = memory_from_row(row[:-_ADDED])
        area, forgotten, *columns = row[-_ADDED:]
        fingerprint, words = expected(memory)
        terms = 0 if forgotten else _sum(words)
        if columns != [fingerprint, words.blocking_key, words.length] or terms != indexed.get(
            document_id(area, memory.number), 0
        ):
            yield memory.number


def _sum(words: IndexEntry) -> int:
    """The same for the same terms in the same columns, in whatever order."""
    return sum(
        hash((column, term[:_LONGEST]))
        for column, text in (("topic", words.topic), ("tags", words.tags), ("content", words.content))
        for term in text.encode().translate(_FOLDED).split()
    )
