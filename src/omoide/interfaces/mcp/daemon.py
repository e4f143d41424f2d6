"""The server in the background: one for a store, started, found and stopped by a file beside it that it keeps locked."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from omoide.errors import Conflict, InvalidInput, OmoideError, StoreError
from omoide.interfaces.http import state_files
from omoide.settings import Settings, config_file, load_settings

_PATIENCE = 40.0
"""Longer than the server takes to give its last answers."""


class DaemonConfig(msgspec.Struct, frozen=True):
    """What the background process is told."""

    store: str
    project: str
    session: str
    address: str
    tools: str
    names: tuple[str, ...]
    ready: int
    """The descriptor on which it says that it serves."""


def state_file(settings: Settings) -> Path:
    return state_files.state_file(settings, "json")


def log_file(settings: Settings) -> Path:
    return state_files.state_file(settings, "log")


def find_running(settings: Settings) -> dict[str, Any] | None:
    """What the running server says of itself; None when there is none. The lock tells, since a process id may be reused."""
    _require_posix()
    import fcntl  # noqa: PLC0415 - not on Windows

    path = state_file(settings)
    try:
        with state_files.file_errors(path):
            descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # plan A, in fact: somebody holds it
        told: dict[str, Any] = msgspec.json.decode(os.read(descriptor, 65_536) or b"{}")
        return told if "pid" in told else None
    finally:
        os.close(descriptor)
    return None


def start(settings: Settings, address: str, tools: str, names: Sequence[str], session: str) -> str:
    """Starts it and waits until it serves; answers its URL. It works in no repository: whoever calls names a project."""
    already = find_running(settings)
    if already is not None:
        raise Conflict(f"a background server runs already at {already['url']}: omoide mcp stop ends it")
    log = state_files.open_private(log_file(settings), os.O_WRONLY | os.O_APPEND)
    hears, says = os.pipe()
    order = DaemonConfig(settings.store, settings.project, session, address, tools, tuple(names), says)
    command = [sys.executable, "-m", "omoide.interfaces.mcp.daemon", msgspec.json.encode(order).decode()]
    # It runs elsewhere: a relative name would mean another file there.
    environment = {**os.environ, "OMOIDE_CONFIG": str(config_file().absolute())}
    try:
        subprocess.Popen(  # noqa: S603 - ourselves
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, pass_fds=(says,), cwd="/",
            start_new_session=True,
        )  # fmt: skip
    finally:
        os.close(says)
        os.close(log)
    with os.fdopen(hears, encoding="utf-8") as pipe:
        answer = pipe.read()
    if not answer.startswith("http"):
        raise StoreError(answer.strip() or f"the background server did not start: {log_file(settings)} says why")
    return answer.strip()


def stop(settings: Settings) -> bool:
    """Asks the server to end, and waits until it has; False when none runs."""
    import signal  # noqa: PLC0415 - starting needs none

    told = find_running(settings)
    if told is None:
        return False
    os.kill(told["pid"], signal.SIGTERM)
    until = time.monotonic() + _PATIENCE
    while find_running(settings) is not None:
        if time.monotonic() > until:
            raise StoreError(f"process {told['pid']} does not end: {log_file(settings)} may say why")
        time.sleep(0.02)
    return True


def _require_posix() -> None:
    if os.name != "posix":
        raise InvalidInput("the background server needs Unix: here, run `omoide mcp --http` in a window of its own")


def main(argument: str) -> None:
    """The background process itself."""
    order = msgspec.json.decode(argument, type=DaemonConfig)
    with os.fdopen(order.ready, "w", encoding="utf-8") as says:
        try:
            _run(order, says)
        except OmoideError as error:
            if not says.closed:
                says.write(str(error))
            raise


def _run(order: DaemonConfig, says: Any) -> None:
    import fcntl  # noqa: PLC0415 - not on Windows

    settings = load_settings({"store": order.store, "project": order.project})
    descriptor = state_files.open_private(state_file(settings), os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        says.write("another background server is starting: omoide mcp status tells about it")
        return
    try:
        _serve(settings, order, descriptor, says)
    finally:
        state_file(settings).unlink(missing_ok=True)


def _serve(settings: Settings, order: DaemonConfig, descriptor: int, says: Any) -> None:
    from omoide.interfaces.mcp.server import serve_http  # noqa: PLC0415 - the one who starts it needs none

    def ready(url: str, _: Path) -> None:
        told = {"pid": os.getpid(), "url": url, "store": settings.store, "started_at": _now(), "tools": order.tools}
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, msgspec.json.encode(told), 0)
        says.write(url)
        says.close()

    serve_http(settings, None, order.session, order.tools, order.address, order.names, ready)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


if __name__ == "__main__":
    main(sys.argv[1])
