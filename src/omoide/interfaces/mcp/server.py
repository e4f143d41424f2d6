"""Starts a server with what it serves: the memory of the settings, in a project, on pipes or over HTTP."""

import gc
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.interfaces.mcp.context import CallContext, ServiceHandle
from omoide.interfaces.mcp.dispatch import Dispatcher
from omoide.model import Actor, Scope
from omoide.settings import Settings

if TYPE_CHECKING:  # the verbs load with the store, at the first call
    from omoide.interfaces.http import tokens
    from omoide.service import Service

_UNSWEPT = 10_000  # objects more than before until Python looks for cycles among them; by itself it does so in every answer


def service_handle(settings: Settings, bearer: "tokens.Bearer | None" = None, told: set[str] | None = None) -> ServiceHandle:
    """The memory for one actor: the person of the settings in their role, or the bearer of a token.

    `told`: what is wrong with mirrored files and has been reported, where several memories report to one place.
    """

    def open() -> "Service":
        from omoide import app  # noqa: PLC0415 - the store loads when it is first needed

        opened = app.open_service(settings, _actor(settings, bearer), tell=_print_warning, told=told)
        gc.freeze()
        gc.set_threshold(_UNSWEPT)
        return opened

    return ServiceHandle(open)


def _actor(settings: Settings, bearer: "tokens.Bearer | None") -> Actor:
    if bearer is None:
        return Actor(settings.actor, settings.role, "mcp")
    name = bearer.name or settings.actor
    if bearer.is_bound:
        from omoide.guard.bounds import BoundActor  # noqa: PLC0415 - few tokens are bound

        return BoundActor(name, bearer.role, "mcp", bearer.projects, bearer.layers)
    return Actor(name, bearer.role, "mcp")


def serve_stdio(settings: Settings, root: Path | None, session: str, chosen: str) -> None:
    from omoide.interfaces.mcp.transports import stdio  # noqa: PLC0415 - one transport or the other

    memory = service_handle(settings)
    signal.signal(signal.SIGTERM, _raise_end)
    try:
        stdio.serve(Dispatcher(CallContext(memory, root, _server_name(settings), session), chosen))
    finally:
        memory.close()


def _raise_end(number: int, _: object) -> None:
    """Ends the server like the end of its input, so that the memory is closed: that writes when memories were used."""
    raise SystemExit(128 + number)


def serve_http(
    settings: Settings,
    root: Path | None,
    session: str,
    chosen: str,
    address: str,
    names: Sequence[str],
    ready: Callable[[str, Path], None],
) -> None:
    from omoide.interfaces.http import tokens  # noqa: PLC0415 - one transport or the other
    from omoide.interfaces.mcp.transports import http  # noqa: PLC0415 - one transport or the other

    shelves: dict[tokens.Bearer, ServiceHandle] = {}
    told: set[str] = set()

    def dispatch(bearer: tokens.Bearer, project: str, session_asked: str) -> Dispatcher:
        memory = shelves.setdefault(bearer, service_handle(settings, bearer, told))
        if not project and len(bearer.projects) == 1:
            project = bearer.projects[0]
        if project:
            return Dispatcher(CallContext(memory, None, project, session_asked), chosen)
        return Dispatcher(CallContext(memory, root, _server_name(settings), session_asked or session), chosen)

    def upkeep() -> None:
        """At a quiet moment: what has had its time is retired, once a day."""
        for each in list(shelves.values()):
            each.retire_if_due()

    server = http.HttpServer(dispatch, tokens.Tokens(settings, _print_warning).bearer, address, names, quiet=upkeep)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: server.stop())
    # Python's handlers run between two steps of Python: one that comes right before a long wait would only run after it.
    signal.set_wakeup_fd(server.waker, warn_on_full_buffer=False)
    try:
        ready(server.url, tokens.token_file(settings))
        server.serve()
    finally:
        signal.set_wakeup_fd(-1)
        for each in list(shelves.values()):
            each.close()


def _print_warning(message: str) -> None:
    """To standard error: what is wrong with a mirrored file is no answer to a call."""
    sys.stderr.write(f"omoide: {message}\n")


def _server_name(settings: Settings) -> str:
    return Scope.project(settings.project).path if settings.project else ""
