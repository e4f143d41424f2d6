"""The verbs: what every way in calls, and the only code that sees a store."""

import msgspec

from omoide.guard import access, checks
from omoide.model import Role
from omoide.service.base import Follower
from omoide.service.care import Care
from omoide.service.changing import Changing
from omoide.service.finding import Finding
from omoide.service.keeping import Keeping
from omoide.service.layers import Layers
from omoide.service.mirrors import Mirrors
from omoide.service.projects import Projects
from omoide.service.reindexing import Reindexing
from omoide.service.retiring import Retiring
from omoide.service.secret_scan import SecretScan
from omoide.service.sensing import Sensing
from omoide.service.sessions import Sessions


class Service(
    Keeping, Finding, Changing, Layers, Sensing, Retiring, Reindexing, Projects, Sessions, Mirrors, Care, SecretScan
):  # fmt: skip
    """All the verbs on one store, for one actor. Each reads: permission, thinking, one transaction, event."""

    def acting_as(self, agent_id: str | None) -> "Service":
        """The same memory for the agent with this id, in the role that settings give it; None: as it is.

        An id is a claim. It makes an agent a worker or what `agents` says, and never more than this service's own actor.
        """
        if agent_id is None:
            return self
        name = checks.line(agent_id, "agent id", self._settings)
        role = access.lesser(self._actor.role, self._settings.agents.get(name, Role.WORKER))
        actor = msgspec.structs.replace(self._actor, name=name, role=role)  # with its bounds, if it has any
        return Service(self._store, self._settings, actor, self._clock, self._follower, self._meaning)

    @property
    def follower(self) -> Follower | None:
        """Who keeps files in step with this memory, if anybody does."""
        return self._follower

    @property
    def types(self) -> tuple[str, ...]:
        """What the type of a memory can be: one that everybody has, or one of the settings."""
        return self._settings.known_types

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def rest(self) -> None:
        """Does what was put off: for a moment in which nobody waits."""
        self._store.rest()

    def close(self) -> None:
        """Closes the memory, for all who act on it; before that, once a day, what has had its time is retired."""
        try:
            self._meaning.close()
            self.retire_if_due()
        finally:
            self._store.close()


__all__ = ["Service"]
