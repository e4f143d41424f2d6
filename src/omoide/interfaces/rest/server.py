"""Start the server: REST and MCP on one port."""

import asyncio
import errno
import gc
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import uvicorn

from omoide.errors import InvalidInput
from omoide.interfaces.http import tokens
from omoide.interfaces.http.address import listen, show_host
from omoide.interfaces.http.authentication import Authenticator
from omoide.interfaces.http.limits import DRAIN_SECONDS, HEAD_SECONDS
from omoide.interfaces.http.tokens import Bearer, Tokens
from omoide.interfaces.mcp.context import ServiceHandle
from omoide.interfaces.mcp.idle_learner import IdleLearner
from omoide.interfaces.mcp.server import make_dispatch, print_warning, service_handle
from omoide.interfaces.mcp.transports.endpoint import Endpoint
from omoide.interfaces.rest import routing
from omoide.interfaces.rest.app import PUBLIC, make_app
from omoide.interfaces.rest.connection import StrictProtocol
from omoide.interfaces.rest.feed import EventFeed
from omoide.interfaces.rest.gate import Gate
from omoide.interfaces.rest.mcp import make_handler
from omoide.service import Service
from omoide.settings import Settings

_KEEP_ALIVE_SECONDS = 75
_STOP_SECONDS = 30
"""How long a server that stops waits for the answers in progress."""
_BACKLOG = 128
"""Connections that wait to be accepted. Out of file descriptors, asyncio tries and fails once for each of them."""
_MAX_HEAD = 65_536
_RATE = (2_000.0, 10_000.0)
"""The limit of each bearer, in requests per second and at once: it stops a client in an endless loop, and no other."""


class ServeOptions(NamedTuple):
    """Where and how to serve."""

    host: str
    port: int
    names: Sequence[str] = ()
    """Names that clients may use for this server, besides localhost."""
    origins: Sequence[str] = ()
    """Origins of web pages that may send requests."""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    tools: str = "default"
    """The set of MCP tools."""
    access_log: bool = True


class Services:
    """One service for each bearer of a token, opened at its first request."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self._reported: set[str] = set()
        self._handles: dict[Bearer | None, ServiceHandle] = {}
        self._lock = threading.Lock()

    def get(self, bearer: Bearer | None) -> Service:
        """Return the service of a bearer; None: of the server itself."""
        return self.handle(bearer).service

    def handle(self, bearer: Bearer | None) -> ServiceHandle:
        """Return the handle on the service of a bearer."""
        with self._lock:
            if bearer not in self._handles:
                self._handles[bearer] = service_handle(self._settings, bearer, self._reported, via="rest")
            return self._handles[bearer]

    def close(self) -> None:
        """Close all of them."""
        for handle in self._handles.values():
            handle.close()


class _Server(uvicorn.Server):
    """uvicorn's server, which ends with status 0 after a signal."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], feed: EventFeed):
        super().__init__(config)
        self._ready = ready
        self._feed = feed

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop, and end the streams of events: they would keep the server waiting."""
        self._feed.stopping = True
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.handle_exit)
        yield

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override] # its sockets
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_report_loop_error)
        if self.config.is_ssl:
            _limit_tls(loop)
        await super().startup(sockets)  # type: ignore[arg-type] # the same
        self._ready()


def serve(settings: Settings, options: ServeOptions, ready: Callable[[str, Path], None]) -> None:
    """Serve until SIGTERM or SIGINT.

    `ready` is called once with the URL and the file of the tokens, when the server accepts connections. Raise InvalidInput
    for an address or a certificate that cannot be used.
    """
    listener = listen(options.host, options.port, f"{show_host(options.host)}:{options.port}", options.names)
    find_bearer = Tokens(settings, print_warning).bearer
    services = Services(settings)
    secure = options.tls_cert is not None
    feed = EventFeed(services.get)
    endpoint = Endpoint(make_dispatch(services.handle, settings, None, "", options.tools))
    gate = Gate(
        make_app(services.get, settings.all_types, [feed.handler(), make_handler(endpoint)], feed),  # type: ignore[arg-type] # Litestar's own types of the same messages
        Authenticator(find_bearer, options.names, _RATE),
        {*PUBLIC, *(route.path for route in routing.ROUTES if route.public)},
        origins=options.origins,
        secure=secure,
        log=_write_log if options.access_log else None,
    )
    config = uvicorn.Config(
        gate,
        http=StrictProtocol,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_STOP_SECONDS,
        h11_max_incomplete_event_size=_MAX_HEAD,
        ssl_certfile=options.tls_cert,
        ssl_keyfile=options.tls_key,
    )
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    url = f"http{'s' if secure else ''}://{show_host(options.host)}:{listener.getsockname()[1]}"
    server = _Server(config, lambda: ready(url, tokens.token_file(settings)), feed)
    learner = IdleLearner(services.handle(None).open, lambda: gate.idle_seconds)
    try:
        _load_certificate(config)
        gc.freeze()
        learner.start()
        server.run([listener])
    finally:
        listener.close()
        learner.stop()
        services.close()


def _load_certificate(config: uvicorn.Config) -> None:
    """Load the certificate and its key, if there are any. Raise InvalidInput if they cannot be used."""
    try:
        config.load()
    except OSError as error:  # ssl.SSLError is one
        files = f"--tls-cert {config.ssl_certfile} and --tls-key {config.ssl_keyfile}"
        raise InvalidInput(f"{files} cannot be used ({error}): give a certificate and its key in PEM format") from error


def _limit_tls(loop: asyncio.AbstractEventLoop) -> None:
    """Close the connection of a client that takes no part in TLS: asyncio waits a minute, and uvicorn has no option."""
    limits = {"ssl_handshake_timeout": HEAD_SECONDS, "ssl_shutdown_timeout": DRAIN_SECONDS}
    loop.create_server = partial(loop.create_server, **limits)  # type: ignore[method-assign]


def _report_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error of the loop, unless it is out of file descriptors: then it accepts connections again in a second."""
    error = context.get("exception")
    if not (isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)):
        loop.default_exception_handler(context)


def _write_log(line: bytes) -> None:
    sys.stderr.write(line.decode() + "\n")
