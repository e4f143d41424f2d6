"""Start an MCP server on the memory that the settings name, over standard input and output or over HTTP."""

import gc
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.interfaces.mcp.context import CallContext, ServiceHandle
from omoide.interfaces.mcp.dispatch import Dispatcher
from omoide.interfaces.mcp.idle_learner import IdleLearner
from omoide.model import Actor, Scope
from omoide.settings import Settings

if TYPE_CHECKING:  # the service loads with the store, at the first call
    from omoide.interfaces.http import tokens
    from omoide.service import Service

_GC_THRESHOLD = 10_000
"""New objects before Python looks for cycles. With its default, it does so in every answer."""


def service_handle(
    settings: Settings, bearer: "tokens.Bearer | None" = None, reported: set[str] | None = None, via: str = "mcp"
) -> ServiceHandle:
    """Return a handle on the memory for one actor: the settings' actor and role, or the bearer of a token.

    `via` is the interface by which it acts.
    `reported` holds the warnings about mirrored files printed so far, where several services print to one stream.
    """

    def open() -> "Service":
        from omoide import app  # lazy: start-up: the store loads at the first call

        actor = _actor(settings, bearer, via)
        opened = app.open_service(settings, actor, report=print_warning, reported=reported, is_seen=False)
        gc.freeze()
        gc.set_threshold(_GC_THRESHOLD)
        return opened

    return ServiceHandle(open, settings.store)


def _actor(settings: Settings, bearer: "tokens.Bearer | None", via: str) -> Actor:
    if bearer is None:
        return Actor(settings.actor, settings.role, via)
    name = bearer.name or settings.actor
    if bearer.is_bound:
        from omoide.guard.permissions import BoundActor  # lazy: start-up: few tokens are bound

        return BoundActor(name, bearer.role, via, bearer.projects, bearer.layers)
    return Actor(name, bearer.role, via)


def serve_stdio(settings: Settings, root: Path | None, session: str, tool_set: str) -> None:
    """Serve over standard input and output, until the input ends."""
    from omoide.interfaces.mcp.transports import stdio  # lazy: start-up: only one transport is used

    handle = service_handle(settings)
    # Without a language model the next hook learns as much: the memory need not be opened for that alone.
    learner = IdleLearner(handle.open if settings.llm else lambda: handle.service_if_open, lambda: handle.idle_seconds)
    signal.signal(signal.SIGTERM, _raise_exit)
    try:
        context = CallContext(handle, root, _server_project(settings), session, is_local=True)
        learner.start()
        stdio.serve(Dispatcher(context, tool_set))
    finally:
        learner.stop()
        handle.close()


def _raise_exit(number: int, _: object) -> None:
    """End the server as the end of its input does: closing the service writes when memories were last used."""
    raise SystemExit(128 + number)


def make_dispatch(
    handle_for: "Callable[[tokens.Bearer], ServiceHandle]",
    settings: Settings,
    root: Path | None,
    session: str,
    tool_set: str,
) -> "Callable[[tokens.Bearer, str, str], Dispatcher]":
    """Return what the bearer of a token is offered in the project and the session that a URL names.

    Where the URL names none: the one project that the token is bound to, else `root` and `session`.
    """

    def dispatch(bearer: "tokens.Bearer", project: str, url_session: str) -> Dispatcher:
        handle = handle_for(bearer)
        if not project and len(bearer.projects) == 1:
            project = bearer.projects[0]
        if project:
            return Dispatcher(CallContext(handle, None, project, url_session), tool_set)
        return Dispatcher(CallContext(handle, root, _server_project(settings), url_session or session), tool_set)

    return dispatch


def serve_http(
    settings: Settings,
    root: Path | None,
    session: str,
    tool_set: str,
    address: str,
    names: Sequence[str],
    ready: Callable[[str, Path], None],
) -> None:
    """Serve over HTTP until SIGTERM or SIGINT.

    `names` are the host names, besides localhost, that clients may use. `ready` is called once with the URL and the file of
    the tokens, when the server accepts connections.
    """
    from omoide.interfaces.http import tokens  # lazy: start-up: only one transport is used
    from omoide.interfaces.mcp.transports import http  # lazy: start-up: only one transport is used

    handles: dict[tokens.Bearer, ServiceHandle] = {}
    reported: set[str] = set()

    def handle_for(bearer: tokens.Bearer) -> ServiceHandle:
        return handles.setdefault(bearer, service_handle(settings, bearer, reported))

    def retire_if_due() -> None:
        for handle in list(handles.values()):
            handle.retire_if_due()

    server = http.HttpServer(
        make_dispatch(handle_for, settings, root, session, tool_set),
        tokens.Tokens(settings, print_warning).bearer,
        address,
        names,
        when_idle=retire_if_due,
    )
    own = service_handle(settings, reported=reported)  # a bearer may be limited to some projects: the inbox is of all
    learner = IdleLearner(own.open, lambda: server.idle_seconds)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: server.stop())
    # A Python handler runs between two bytecodes: for a signal right before select() it would only run after select().
    signal.set_wakeup_fd(server.waker, warn_on_full_buffer=False)
    try:
        ready(server.url, tokens.token_file(settings))
        learner.start()
        server.serve()
    finally:
        signal.set_wakeup_fd(-1)
        learner.stop()
        for handle in [own, *handles.values()]:
            handle.close()


def print_warning(message: str) -> None:
    """Print to standard error: a warning about a mirrored file is not part of an answer."""
    sys.stderr.write(f"omoide: {message}\n")


def _server_project(settings: Settings) -> str:
    return Scope.project(settings.project).path if settings.project else ""
