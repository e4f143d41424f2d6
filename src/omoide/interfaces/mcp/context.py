"""Where a call lands: the memory, opened when first needed, and the scope it works in."""

import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from omoide.errors import InvalidInput
from omoide.model import Layer, Scope

if TYPE_CHECKING:  # the verbs load with the store, at the first call
    from omoide.service import Service


class ServiceHandle:
    """One opened memory for all calls of one actor. Opening waits for the first call: listing tools needs no database."""

    def __init__(self, open: "Callable[[], Service]"):
        self._open = open
        self._opened: Service | None = None
        self._lock = threading.Lock()

    @property
    def memory(self) -> "Service":
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def retire_if_due(self) -> None:
        """What an opened memory does by itself, for a server that rarely closes it."""
        with self._lock:
            if self._opened is not None:
                self._opened.retire_if_due()
                self._opened.flush()

    def flush(self) -> None:
        """What can wait until an answer is out."""
        opened = self._opened
        if opened is not None:
            opened.flush()

    def close(self) -> None:
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None


class CallContext:
    """What a call works with when it does not say otherwise: this memory, this project, this session."""

    def __init__(self, handle: ServiceHandle, root: Path | None = None, project: str = "", session: str = ""):
        self._handle = handle
        self._root = root
        self._project = project
        self._session = session

    @property
    def memory(self) -> "Service":
        return self._handle.memory

    def flush(self) -> None:
        self._handle.flush()

    def acting_as(self, agent: str | UnsetType) -> "Service":
        """The memory, acting as this agent; without one, as the server itself."""
        return self.memory if agent is UNSET else self.memory.acting_as(agent)

    def scope(
        self,
        project: str | UnsetType = UNSET,
        session: str | UnsetType = UNSET,
        layer: Layer | UnsetType = UNSET,
        *,
        writing: bool = False,
    ) -> Scope:
        """Where a call works: what it names, else what the server was started with, else the repository it runs in."""
        if layer is Layer.EVERYWHERE:
            return Scope.everywhere()
        place = self._resolve_project(project, writing=writing)
        name = session if session is not UNSET else self._session if project is UNSET else ""
        if layer is Layer.PROJECT:
            name = ""
        if not place.path:
            if name or layer is not UNSET:
                raise InvalidInput("this server works in no project: give `project`, or scope `global`")
            return place
        if layer is Layer.SESSION and not name:
            raise InvalidInput("scope `session` needs the session's name: give `session`")
        return Scope.session(place.path, name) if name else place

    def _resolve_project(self, project: str | UnsetType, *, writing: bool) -> Scope:
        if project is not UNSET and project:
            return Scope.project(project)
        if self._project:
            return self._default_scope
        if self._root is None:
            return Scope.everywhere()
        return self.memory.claim(self._root) if writing else self.memory.locate(self._root)

    @cached_property
    def _default_scope(self) -> Scope:
        return Scope.project(self._project)

    def project(self, project: str | UnsetType = UNSET, session: str | UnsetType = UNSET, *, writing: bool = False) -> Scope:
        """The same, for what cannot be done without a project."""
        scope = self.scope(project, session, writing=writing)
        if not scope.path:
            raise InvalidInput("this server works in no project: give `project`, or use the tools for global memory")
        return scope
