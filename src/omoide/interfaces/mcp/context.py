"""What a call works on: the memory, opened at the first call, and the scope."""

import threading
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from omoide.errors import InvalidInput
from omoide.model import Layer, Scope

if TYPE_CHECKING:  # the service loads with the store, at the first call
    from omoide.service import Service


class ServiceHandle:
    """One service for all calls of one actor, opened at the first call: listing tools needs no database."""

    def __init__(self, open: "Callable[[], Service]", store: str = ""):
        """`open` opens the service; `store` is where its store is."""
        self.store = store
        self._open = open
        self._opened: Service | None = None
        self._lock = threading.Lock()
        self._used_at = time.monotonic()

    @property
    def service(self) -> "Service":
        """The service for a request, opened if it is not open yet."""
        self._used_at = time.monotonic()
        return self.open()

    def open(self) -> "Service":
        """Return the service for work that no request asks for, opened if it is not open yet."""
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    @property
    def service_if_open(self) -> "Service | None":
        """The service, if it is open."""
        return self._opened

    @property
    def idle_seconds(self) -> float:
        """For how long no request has used the service."""
        return time.monotonic() - self._used_at

    def retire_if_due(self) -> None:
        """Retire memories that are due, once a day: closing does it too, but a server rarely closes."""
        with self._lock:
            if self._opened is not None:
                self._opened.retire_if_due()
                self._opened.flush()

    def flush(self) -> None:
        """Run deferred writes, if the service is open."""
        opened = self._opened
        if opened is not None:
            opened.flush()

    def close(self) -> None:
        """Close the service, if it is open."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None


class CallContext:
    """The defaults of a call that names nothing itself: this memory, this project, this session."""

    def __init__(
        self,
        handle: ServiceHandle,
        root: Path | None = None,
        project: str = "",
        session: str = "",
        *,
        is_local: bool = False,
    ):
        """`is_local`: whether the client runs on this machine as the same user, such as one that started this server."""
        self.is_local = is_local
        self._handle = handle
        self._root = root
        self._project = project
        self._session = session

    @property
    def service(self) -> "Service":
        """The service, acting as the server itself."""
        return self._handle.service

    @property
    def names_project(self) -> bool:
        """Whether the server was started for one project."""
        return bool(self._project)

    @property
    def store_location(self) -> str:
        """Where the store is, which may be out of order."""
        return self._handle.store

    def flush(self) -> None:
        """Run deferred writes."""
        self._handle.flush()

    def acting_as(self, agent: str | UnsetType) -> "Service":
        """Return the service acting as this agent; without one, as the server itself."""
        return self.service if agent is UNSET else self.service.acting_as(agent)

    def scope(
        self,
        project: str | UnsetType = UNSET,
        session: str | UnsetType = UNSET,
        layer: Layer | UnsetType = UNSET,
        *,
        writing: bool = False,
    ) -> Scope:
        """Return the scope of a call: what it names, else what the server was started with, else the repository it runs in.

        Raise InvalidInput if the call needs a project or a session and there is none.
        """
        if layer is Layer.EVERYWHERE:
            return Scope.everywhere()
        project_scope = self._resolve_project(project, writing=writing)
        name = session if session is not UNSET else self._session if project is UNSET else ""
        if layer is Layer.PROJECT:
            name = ""
        if not project_scope.path:
            if name or layer is not UNSET:
                raise InvalidInput("this server has no project: give `project`, or scope `global`")
            return project_scope
        if layer is Layer.SESSION and not name:
            raise InvalidInput("scope `session` needs the name of a session: give `session`")
        return Scope.session(project_scope.path, name) if name else project_scope

    def _resolve_project(self, project: str | UnsetType, *, writing: bool) -> Scope:
        if project is not UNSET and project:
            return Scope.project(project)
        if self._project:
            return self._default_scope
        if self._root is None:
            return Scope.everywhere()
        return self.service.claim(self._root) if writing else self.service.locate(self._root)

    @cached_property
    def _default_scope(self) -> Scope:
        return Scope.project(self._project)

    def project_scope(
        self, project: str | UnsetType = UNSET, session: str | UnsetType = UNSET, *, writing: bool = False
    ) -> Scope:
        """Return the scope of a call that needs a project. Raise InvalidInput if there is none."""
        scope = self.scope(project, session, writing=writing)
        if not scope.path:
            raise InvalidInput("this server has no project: give `project`, or use the tools for global memory")
        return scope
