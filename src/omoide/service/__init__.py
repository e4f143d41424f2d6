"""The verbs: what every way in calls, and the only code that sees a store."""

import msgspec

from omoide.guard import permissions, validation
from omoide.model import Role
from omoide.service.imports import Imports
from omoide.service.maintenance import Maintenance
from omoide.service.memories import Memories
from omoide.service.mirrors import Mirrors
from omoide.service.projects import Projects
from omoide.service.queries import Queries
from omoide.service.retention import Retention
from omoide.service.secret_scan import SecretScan
from omoide.service.stats import Stats
from omoide.service.write_path import Hooks


class Service(Memories, Imports, Queries, Stats, Retention, Projects, Mirrors, Maintenance, SecretScan):
    """All the verbs on one store, for one actor. Each reads: permission, thinking, one transaction, event."""

    def acting_as(self, agent_id: str | None) -> "Service":
        """The same memory for the agent with this id, in the role that settings give it; None: as it is.

        An id is a claim. It makes an agent a worker or what `agents` says, and never more than this service's own actor.
        """
        if agent_id is None:
            return self
        name = validation.check_line(agent_id, "agent id", self._settings)
        role = permissions.lower_role(self._actor.role, self._settings.agents.get(name, Role.WORKER))
        actor = msgspec.structs.replace(self._actor, name=name, role=role)  # with its bounds, if it has any
        return Service(self._store, self._settings, actor, self._clock, self._hooks, self._embeddings)

    @property
    def hooks(self) -> Hooks:
        """The hooks that were registered when this service was composed, shared by all that `acting_as` returns."""
        return self._hooks

    @property
    def types(self) -> tuple[str, ...]:
        """What the type of a memory can be: one that everybody has, or one of the settings."""
        return self._settings.all_types

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def flush(self) -> None:
        """Does what was put off: for a moment in which nobody waits."""
        self._store.flush()

    def close(self) -> None:
        """Closes the memory, for all who act on it; before that, once a day, what has had its time is retired."""
        try:
            self._embeddings.close()
            self.retire_if_due()
        finally:
            self._store.close()


__all__ = ["Service"]
