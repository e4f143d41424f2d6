"""The verbs: what every way in calls, and the only code that sees a store."""

from omoide.service.care import Care
from omoide.service.changing import Changing
from omoide.service.finding import Finding
from omoide.service.keeping import Keeping
from omoide.service.projects import Projects


class Service(Keeping, Finding, Changing, Projects, Care):
    """All the verbs on one store, for one actor. Each reads: permission, thinking, one transaction, event."""

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._store.close()


__all__ = ["Service"]
