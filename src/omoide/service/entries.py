"""Retrieve the entries of a project or of the global layer: those of a session or of a type by its name, others by words."""

from collections.abc import Sequence

from omoide.errors import InvalidInput
from omoide.guard import permissions
from omoide.model import Hit, Layer, Memory, Page, Scope, SearchResult, State
from omoide.service.queries import Queries


class Entries(Queries):
    """Operations on the entries of one layer, as other agents' tools know them."""

    def retrieve(
        self,
        text: str,
        *,
        scope: Scope,
        tags: Sequence[str] = (),
        states: Sequence[State] = (State.ACTIVE,),
        limit: int | None = None,
    ) -> SearchResult:
        """Search the scope's own entries: a project's with its sessions', or those of the global layer.

        If the text is the name of a session of the project, its entries come first, last changed first; if it is the name of
        a type, also in the plural (`preferences`), the entries of that type do. Then come those that `recall` finds.

        Returns and raises what `recall` does. Every hit counts as accessed.
        """
        permissions.require(self._actor, "retrieve")
        layers = (Layer.PROJECT, Layer.SESSION) if scope.path else (Layer.EVERYWHERE,)
        # Never cut by a score: other agents' tools expect every entry that matches.
        found = self.recall(text, scope=scope, tags=tags, layers=layers, states=states, limit=limit, min_score=0)
        named, reason, overlap = self._find_named(text, scope, tags, layers, states, limit)
        if not named.total:
            return found
        numbers = {memory.number for memory in named.memories}
        self._store.touch(list(numbers), self._clock())
        hits = [_named_hit(memory, reason) for memory in named.memories]
        hits += [hit for hit in found.hits if hit.memory.number not in numbers]
        most = self._settings.limit if limit is None else limit
        return SearchResult(hits[:most], found.total + named.total - overlap)

    def _find_named(
        self,
        text: str,
        scope: Scope,
        tags: Sequence[str],
        layers: Sequence[Layer],
        states: Sequence[State],
        limit: int | None,
    ) -> tuple[Page, str, int]:
        """The entries of the session or the type that the text names, why, and how many of them `recall` finds as well."""
        session = self._find_session(text, scope)
        if session is not None:
            page = self.list(scope=session, tags=tags, layers=(Layer.SESSION,), states=states, limit=limit)
            if page.total:
                overlap = self.recall(
                    text, scope=session, tags=tags, layers=(Layer.SESSION,), states=states, limit=1, min_score=0
                ).total
                return page, str(session), overlap
        name = self._find_type(text)
        if name is None:
            return Page([], 0), "", 0
        page = self.list(scope=scope, type=name, tags=tags, layers=layers, states=states, limit=limit)
        overlap = self.recall(
            text, scope=scope, type=name, tags=tags, layers=layers, states=states, limit=1, min_score=0
        ).total
        return page, f"type {name}", overlap

    def _find_session(self, text: str, scope: Scope) -> Scope | None:
        """The session of the project whose name the text is; None if it cannot be one, or may not be looked into."""
        if not scope.path:
            return None
        try:
            session = Scope.session(scope.path, text.strip())
        except InvalidInput:  # fallback: words to search for
            return None
        return session if permissions.covers(self._actor, session) else None

    def _find_type(self, text: str) -> str | None:
        name = text.strip().casefold()
        return next((type for type in self._settings.all_types if name in (type, f"{type}s")), None)


def _named_hit(memory: Memory, reason: str) -> Hit:
    return Hit(memory, 1.0, lambda: reason)
