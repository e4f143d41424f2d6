"""Sessions: pieces of work in a project, each started once, by its name or by the first thing kept in it."""

from collections.abc import Sequence

from omoide.errors import Conflict, InvalidInput, NotFound
from omoide.guard import bounds, permissions, validation
from omoide.model import Layer, Scope, Session
from omoide.service.core import Core


class Sessions(Core):
    def start_session(self, *, scope: Scope, source: str | None = None) -> Session:
        """Starts the session that the scope is; one that is there already is a conflict."""
        permissions.require(self._actor, "start_session")
        _require_session(scope)
        bounds.require_within(self._actor, scope)
        validation.check_scope(scope)
        source = self._actor.via if source is None else validation.check_line(source, "source", self._settings)
        at = self._clock()
        with self._write() as tx:
            if not tx.add_session(scope, source, at):
                raise Conflict(f"there is a {scope} already: `omoide session append` adds to it, or choose another name")
            tx.add_scope_event("started", self._actor, at, scope, {"session": scope.name})
        return Session(scope, source, at, at)

    def sessions(self, *, scope: Scope) -> Sequence[Session]:
        """The sessions of the scope's project, last changed first."""
        permissions.require(self._actor, "sessions")
        bounds.require_layer(self._actor, Layer.SESSION)
        with self._read(scope) as tx:
            return tx.sessions(self._clock(), Scope(scope.path))

    def session(self, *, scope: Scope) -> Session:
        """What is known of the session that the scope is."""
        permissions.require(self._actor, "session")
        _require_session(scope)
        with self._read(scope) as tx:
            for session in tx.sessions(self._clock(), scope):
                return session
        raise NotFound(f"there is no {scope}: `omoide session list` shows those there are, `omoide session start` makes one")


def _require_session(scope: Scope) -> None:
    if not scope.name:
        raise InvalidInput(f"{scope} is no session: name one, as in Scope.session(project, name)")
