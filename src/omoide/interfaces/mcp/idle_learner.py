"""Learn from what agents' hooks left while a server is idle: in a thread, so that no request waits for it."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from omoide.errors import OmoideError

if TYPE_CHECKING:  # the service loads with the store
    from omoide.service import Service

_IDLE_SECONDS = 2.0
"""A server is idle after this time without a request."""
_INTERVAL_SECONDS = 15.0
"""Between two looks into the inbox, each one read of the database."""
_LEAST_SECONDS = 0.1
_CLOSE_SECONDS = 1.0
"""That stopping waits for what is being learnt; what is left, the next process learns."""


class IdleLearner:
    """A thread that looks into the inbox from time to time, if there was no request for some seconds.

    It asks the language model, where one is configured: besides `omoide learn`, only a server has time for that.
    """

    def __init__(self, memory: "Callable[[], Service | None]", idle_seconds: Callable[[], float]):
        """`memory` returns the service, acting as the server itself, or None as long as there is none. `idle_seconds`
        returns for how long there was no request."""
        self._memory = memory
        self._idle_seconds = idle_seconds
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="omoide-inbox", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Begin nothing more, and wait a moment for what is being learnt."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_SECONDS)

    def _run(self) -> None:
        pause = _IDLE_SECONDS
        while not self._stopped.wait(pause):
            missing = _IDLE_SECONDS - self._idle_seconds()
            if missing > 0:
                pause = max(missing, _LEAST_SECONDS)
                continue
            with suppress(OmoideError):  # fallback: the next idle moment, or the next process
                self._learn()
            pause = _INTERVAL_SECONDS

    def _learn(self) -> None:
        memory = self._memory()
        if memory is not None:
            from omoide.service.hook_calls import learn_if_waiting  # lazy: it loads with the store

            learn_if_waiting(memory, ask=True)
