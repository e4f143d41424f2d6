"""Retrieve the entries of a project or of the global layer: one by its key, others by words, or by a session or a type."""

from collections.abc import Sequence
from contextlib import suppress

from omoide.errors import Conflict, InvalidInput, NotFound
from omoide.guard import permissions
from omoide.markdown.record import format_time
from omoide.model import Hit, Layer, Memory, Page, Scope, SearchResult, State
from omoide.model.expiry import listing
from omoide.service.queries import Queries


class Entries(Queries):
    """The search of one layer by the name of a session or a type, or by words."""

    def retrieve(
        self,
        text: str,
        *,
        scope: Scope,
        tags: Sequence[str] = (),
        states: Sequence[State] = (State.ACTIVE,),
        limit: int | None = None,
    ) -> SearchResult:
        """Search the memories of the scope's project with its sessions, or those of the global layer, but not both.

        If the text is the name of a session of the project, its memories come first, last changed first; if it is the name
        of a type, also in the plural (`preferences`), the memories of that type do. Then come those that `recall` finds.

        `text`, `tags`, `states` and `limit` are those of `recall`; no score is too low. Returns and raises what `recall`
        does. Every hit counts as accessed.
        """
        permissions.require(self._actor, "retrieve")
        layers = scope.own_layers
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

    def entry(self, key: str, *, scope: Scope, state: State = State.ACTIVE, only_here: bool = False) -> Memory:
        """Return the entry with this key among those of `retrieve`, the session's before the project's.

        `key`: a key, or # and the number of an entry without one. `state`: the listing that it must be in (see
        `expiry.listing`). `only_here`: not one of the project where the scope is a session. Does not count as access.

        Raises NotFound where there is none, Conflict for one in another state, or in several sessions of the project.
        """
        permissions.require(self._actor, "entry")
        with self._read(scope) as tx:
            found = [*self._by_key(tx, key, scope), *self._in_sessions(tx, key, scope)]
            if not found and key.startswith("#"):
                with suppress(NotFound):  # fallback: reported below, with the words for entries
                    found = [self._find(tx, key, scope)]
        found = [
            memory
            for memory in found
            if memory.scope.layer in scope.own_layers
            and memory.state is not State.FORGOTTEN
            and (memory.scope == scope or not only_here)
        ]
        at = self._clock()
        fitting = [memory for memory in found if listing(memory, at) is state]
        if fitting:
            _require_one_session(key, fitting, scope)
            return fitting[0]
        if not found:
            raise NotFound(f"there is no entry {key!s:.100} in {scope}: list the entries to see their keys")
        raise Conflict(f"entry {key!s:.100} is {_describe_state(found[0], listing(found[0], at))}")

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


def _require_one_session(key: str, found: Sequence[Memory], scope: Scope) -> None:
    """Raise Conflict if the entry is in no nearer place than several sessions."""
    if found[0].scope.name and found[0].scope != scope and len(found) > 1:
        sessions = ", ".join(memory.scope.name for memory in found)
        raise Conflict(f"entry {key!s:.100} is in several sessions ({sessions}): give `session`")


def _describe_state(memory: Memory, state: State) -> str:
    """The state of an entry that is not in the wanted one, for a message."""
    if state is State.ARCHIVED:
        return "archived: restore it first"
    return f"{state if state is memory.state else f'expired {format_time(memory.expires_at)}'}, not archived"
