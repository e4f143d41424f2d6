"""`omoide hook` as a process: read the call, answer it, and end with 0 within a second, whatever happens.

Nothing here may disturb an agent: faults are logged, output is one write, and a thread ends the process when it takes too
long. It loads neither click nor anything that a model or an embedder needs.
"""

import gc
import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from omoide.errors import InvalidInput

if TYPE_CHECKING:  # they load when a call was read
    from omoide.model import HookCall
    from omoide.settings import Settings

CHILD = "OMOIDE_LLM_CHILD"
"""Set in the environment of a client that omoide itself started as its language model."""
_STEP = 0.2
"""Seconds between two looks at the time."""
_SECONDS = 0.85
"""Until the process is ended, as long as the settings are not read. Starting Python takes some time before."""
_LEAST_SECONDS, _MOST_SECONDS = 0.2, 60.0
"""What the setting `hook_seconds` may be."""
_GIT_SECONDS = 0.3
_WAIT = 0.2
_LARGEST_INPUT = 64 * 1024 * 1024
_CHUNK = 1 << 20


def main(arguments: Sequence[str] = ()) -> NoReturn:
    """Answer one call from standard input on standard output, and end the process with 0.

    `arguments` are the client and the event, for clients that do not send them.
    """
    started = time.perf_counter()
    watchdog = _Watchdog()
    gc.disable()
    _open_missing_streams()
    data = _read_input()
    if not os.environ.get(CHILD):
        run(data, arguments, started, watchdog)
        _store_patterns()
    os._exit(0)


class _Watchdog:
    """A thread that ends the process when it takes too long. What it was writing to the database is rolled back."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        try:
            seconds = float(os.environ.get("OMOIDE_HOOK_SECONDS", _SECONDS))
        except ValueError:  # fallback: loading the settings reports it
            seconds = _SECONDS
        self.seconds = seconds if _LEAST_SECONDS <= seconds <= _MOST_SECONDS else _SECONDS  # the same
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while (left := self._started + self.seconds - time.monotonic()) > 0:
            time.sleep(min(left, _STEP))
        os._exit(0)


def run(data: bytes | None, arguments: Sequence[str], started: float, watchdog: _Watchdog) -> None:
    """Answer a call. `data`: the input; None: it was too large."""
    call, settings = None, None
    try:
        from omoide.interfaces.hooks.client_input import read_call  # lazy: nothing loads before the input is read
        from omoide.settings import load_settings  # lazy: the same

        settings = _hook_settings(load_settings())
        watchdog.seconds = settings.hook_seconds
        call = read_call(_require_size(data), os.environ, _require_no_option(arguments))
        answer(call, settings)
    except Exception as error:  # noqa: BLE001 - an agent must never notice a fault of its memory, even a bug
        _log_fault(error, call, settings, started)


def _store_patterns() -> None:
    """Store what had to be compiled, for the next call."""
    from omoide.compiled_patterns import store_patterns  # lazy: see `run`

    store_patterns()


def _require_size(data: bytes | None) -> bytes:
    if data is None:
        raise InvalidInput(f"the input of the hook has more than {_LARGEST_INPUT:,} bytes")
    return data


def _require_no_option(arguments: Sequence[str]) -> Sequence[str]:
    option = next((word for word in arguments if word.startswith("-")), None)
    if option is not None:
        raise InvalidInput(f"omoide hook has no option {option}: remove it from the command of the hook")
    return arguments


def answer(call: "HookCall", settings: "Settings") -> None:
    """Print the answer to a call. Opens the memory only where there is something to do."""
    from omoide.interfaces.hooks.client_input import check_event  # lazy: see `run`
    from omoide.interfaces.hooks.client_output import render_output  # lazy: see `run`
    from omoide.model import Actor  # lazy: see `run`

    check_event(call)
    if call.is_ignored:
        return
    from omoide import app  # lazy: the store loads when it is opened
    from omoide.files import git_process  # lazy: it loads subprocess
    from omoide.service.agent_hooks import answer_and_learn  # lazy: it loads with the store

    git_process.limit_seconds(_GIT_SECONDS)
    actor = Actor(settings.actor, settings.role, "hook")
    memory = app.open_service(settings, actor, report=lambda _: None, background=False, quick=True, is_seen=False)
    try:
        answer_and_learn(memory, call, lambda text: _write(render_output(call, text)), seconds=settings.hook_seconds)
    finally:
        memory.close_quickly()


def _hook_settings(settings: "Settings") -> "Settings":
    """The settings for a process that must end at once: short waits, no embedder."""
    import msgspec  # lazy: see `run`

    return msgspec.structs.replace(settings, wait=min(settings.wait, _WAIT), embedder="off")


def _log_fault(error: Exception, call: "HookCall | None", settings: "Settings | None", started: float) -> None:
    from omoide.service.hook_faults import log_fault  # lazy: only for a fault
    from omoide.user_directories import default_store  # lazy: see `run`

    store = settings.store if settings else os.environ.get("OMOIDE_STORE") or default_store()
    log_fault(store, call, error, time.perf_counter() - started)


def _open_missing_streams() -> None:
    """Give closed standard streams a place: otherwise a file that is opened later would be taken for one of them."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:  # fallback: the lowest free number is this one
            os.open(os.devnull, os.O_RDWR)


def _read_input() -> bytes | None:
    """Read standard input to its end; None if it is too large."""
    parts: list[bytes] = []
    size = 0
    while True:
        try:
            part = os.read(0, _CHUNK)
        except OSError:  # fallback: what was read so far
            part = b""
        if not part:
            return None if size > _LARGEST_INPUT else b"".join(parts)
        size += len(part)
        if size <= _LARGEST_INPUT:
            parts.append(part)
        else:
            parts.clear()


def _write(output: str) -> None:
    with suppress(OSError):  # fallback: nobody reads it
        os.write(1, output.encode(errors="replace") + b"\n")
