"""The background server: one per database, found through a state file next to it that the server keeps locked."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import msgspec

from omoide.errors import Conflict, InvalidInput, OmoideError, StoreError
from omoide.interfaces.http import state_files
from omoide.interfaces.process_end import run_program
from omoide.settings import Settings, config_file, load_settings

_STOP_SECONDS = 40.0
"""How long `stop` waits; longer than a server takes to finish its last answers."""


class DaemonConfig(msgspec.Struct, frozen=True):
    """What `start` passes to the background process."""

    store: str
    project: str
    session: str
    address: str
    tools: str
    names: tuple[str, ...]
    ready: int
    """The descriptor to which it writes its URL, or why it cannot serve."""


def state_file(settings: Settings) -> Path:
    """Return the file that says which server runs."""
    return state_files.state_file(settings, "json")


def log_file(settings: Settings) -> Path:
    """Return the file with the standard error of the background server."""
    return state_files.state_file(settings, "log")


def find_running(settings: Settings) -> dict[str, Any] | None:
    """Return the state of the running server (pid, url, store, started_at, tools), or None.

    The lock decides whether it runs: a process id may be reused.
    """
    _require_posix()
    import fcntl  # lazy: not on Windows

    path = state_file(settings)
    try:
        with state_files.file_errors(path):
            descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # a server runs: it holds the lock
        state: dict[str, Any] = msgspec.json.decode(os.read(descriptor, 65_536) or b"{}")
        return state if "pid" in state else None
    finally:
        os.close(descriptor)
    return None


def start(settings: Settings, address: str, tools: str, names: Sequence[str], session: str) -> str:
    """Start the background server, wait until it serves, and return its URL. It works in no repository.

    Raise Conflict if one runs already, StoreError if it does not start.
    """
    running = find_running(settings)
    if running is not None:
        raise Conflict(f"a background server already runs at {running['url']}: stop it with `omoide mcp stop`")
    log = state_files.open_private(log_file(settings), os.O_WRONLY | os.O_APPEND)
    read_end, write_end = os.pipe()
    config = DaemonConfig(settings.store, settings.project, session, address, tools, tuple(names), write_end)
    command = [sys.executable, "-m", "omoide.interfaces.mcp.daemon", msgspec.json.encode(config).decode()]
    # The server runs in another directory, where a relative path would name another file.
    environment = {**os.environ, "OMOIDE_CONFIG": str(config_file().absolute())}
    try:
        subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            pass_fds=(write_end,),
            cwd="/",
            start_new_session=True,
        )
    finally:
        os.close(write_end)
        os.close(log)
    with os.fdopen(read_end, encoding="utf-8") as pipe:
        answer = pipe.read()
    if not answer.startswith("http"):
        raise StoreError(answer.strip() or f"the background server did not start: see {log_file(settings)}")
    return answer.strip()


def stop(settings: Settings) -> bool:
    """Stop the background server and wait until it has ended. Return False if none runs."""
    import signal  # lazy: start-up: only stopping needs it

    state = find_running(settings)
    if state is None:
        return False
    os.kill(state["pid"], signal.SIGTERM)
    until = time.monotonic() + _STOP_SECONDS
    while find_running(settings) is not None:
        if time.monotonic() > until:
            raise StoreError(f"process {state['pid']} does not end: see {log_file(settings)}")
        time.sleep(0.02)
    return True


def _require_posix() -> None:
    if os.name != "posix":
        raise InvalidInput("the background server needs Unix: run `omoide mcp --http` in its own terminal instead")


def main(argument: str) -> None:
    """Run the background server; `argument` is a `DaemonConfig` as JSON."""
    config = msgspec.json.decode(argument, type=DaemonConfig)
    with os.fdopen(config.ready, "w", encoding="utf-8") as pipe:
        try:
            _run(config, pipe)
        except OmoideError as error:
            if not pipe.closed:
                pipe.write(str(error))
            raise


def _run(config: DaemonConfig, pipe: TextIO) -> None:
    import fcntl  # lazy: not on Windows

    settings = load_settings({"store": config.store, "project": config.project})
    descriptor = state_files.open_private(state_file(settings), os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # it holds the lock; the message says so
        pipe.write("another background server is starting: see `omoide mcp status`")
        return
    try:
        _serve(settings, config, descriptor, pipe)
    finally:
        state_file(settings).unlink(missing_ok=True)


def _serve(settings: Settings, config: DaemonConfig, descriptor: int, pipe: TextIO) -> None:
    from omoide.interfaces.mcp.server import serve_http  # lazy: the process that starts the server does not need it

    def ready(url: str, _: Path) -> None:
        state = {"pid": os.getpid(), "url": url, "store": settings.store, "started_at": _now(), "tools": config.tools}
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, msgspec.json.encode(state), 0)
        pipe.write(url)
        pipe.close()

    serve_http(settings, None, config.session, config.tools, config.address, config.names, ready)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


if __name__ == "__main__":
    run_program(partial(main, sys.argv[1]))
