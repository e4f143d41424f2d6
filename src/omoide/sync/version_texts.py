"""Texts that memories have, or had before: an entry without an id that says one of them is no new statement of a person.

git makes such entries: a merge of both sides keeps two versions of one entry, and a file from before its entries had ids
comes back.
"""

from collections.abc import Collection, Iterable
from datetime import datetime

from omoide.guard import validation
from omoide.model import Draft, Memory, Query, Scope, State
from omoide.service.versioning import fold_topic
from omoide.storage.base import Reader
from omoide.sync.three_way import words_of

_RETIRED = (State.ARCHIVED, State.FORGOTTEN, State.INACTIVE)


class VersionTexts:
    """The texts of all versions of memories, read when they are first asked for."""

    def __init__(self, tx: Reader, at: datetime, present: Iterable[int]):
        """`present`: numbers of the memories that the file shows under their own ids."""
        self._tx = tx
        self._at = at
        self._numbers = list(present)
        self._retired: dict[Scope, dict[str, list[Memory]]] = {}
        self._present: dict[str, list[Memory]] | None = None

    def find_retired(self, draft: Draft) -> Memory | None:
        """Return a memory of the draft's scope that is not active, and that says or said what the draft says."""
        scope = validation.scope_of(draft)
        if scope not in self._retired:
            query = Query(scope, layers=(scope.layer,), states=_RETIRED)
            found = [one for one in self._tx.browse(query, self._at) if one.scope == scope and one.state in _RETIRED]
            self._retired[scope] = self._versions_by_words(found)
        return self._find(draft, self._retired[scope])

    def find_present(self, draft: Draft) -> Memory | None:
        """Return a memory that the file shows under its own id, and that says or said what the draft says."""
        if self._present is None:
            self._present = self._versions_by_words(self._tx.memories(self._numbers))
        return self._find(draft, self._present)

    def _versions_by_words(self, memories: Collection[Memory]) -> dict[str, list[Memory]]:
        found: dict[str, list[Memory]] = {}
        for memory in memories:
            for version in self._tx.versions(memory.number) if memory.version > 1 else ():
                found.setdefault(words_of(version.memory.content), []).append(version.memory)
            found.setdefault(words_of(memory.content), []).append(memory)
        return found

    def _find(self, draft: Draft, versions: dict[str, list[Memory]]) -> Memory | None:
        alike = versions.get(words_of(draft.content), ())
        number = next((version.number for version in alike if _has_topic_of(version, draft)), None)
        return None if number is None else self._tx.memory(number)


def _has_topic_of(version: Memory, draft: Draft) -> bool:
    """Whether the title of a draft is that of a version with the same text, or says nothing beside the text."""
    if draft.topic is None:
        return True
    if version.topic_given:
        return fold_topic(version.topic) == fold_topic(draft.topic)
    return words_of(draft.content).startswith(words_of(draft.topic))
