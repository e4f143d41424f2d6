"""What memories say and have said before, in whatever state they are by now."""

from collections.abc import Iterable
from datetime import UTC, datetime

from omoide.guard import validation
from omoide.model import Draft, Memory, Query, Scope, State
from omoide.service import versioning
from omoide.storage.base import Reader

_WHENEVER = datetime(1970, 1, 1, tzinfo=UTC)  # of a query for all states, nothing has expired


class KnownTexts:
    """One look at the store, for many drafts."""

    def __init__(self, tx: Reader):
        self._tx = tx
        self._texts: dict[Scope, dict[str, list[tuple[Memory, Memory]]]] = {}

    def before(self, draft: Draft) -> Memory | None:
        """The memory of exactly the draft's scope that says the same, or did in an earlier version, as it is now."""
        return next(
            (present for present, version in self._candidates(draft) if versioning.matches_draft(version, draft)), None
        )

    def _candidates(self, draft: Draft) -> Iterable[tuple[Memory, Memory]]:
        scope, key = validation.scope_of(draft), draft.key
        if key is not None:
            memory = self._tx.by_key(scope, key) or self._tx.by_key(scope, key, forgotten=True)
            return [] if memory is None else self._versions(memory)
        if scope not in self._texts:
            texts = self._texts[scope] = {}
            for memory in self._tx.browse(Query(scope, layers=(scope.layer,), states=tuple(State)), _WHENEVER):
                for present, version in self._versions(memory):
                    texts.setdefault(version.content, []).append((present, version))
        return self._texts[scope].get(draft.content, ())

    def _versions(self, memory: Memory) -> list[tuple[Memory, Memory]]:
        if memory.version == 1:
            return [(memory, memory)]
        return [(memory, version.memory) for version in self._tx.versions(memory.number)]
