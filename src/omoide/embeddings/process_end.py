"""The end of the process, or of an index in it, as threads that make vectors see it."""

import threading


def is_process_ending() -> bool:
    """Whether the main thread has ended: the interpreter then waits for the threads that are no daemons, and ends."""
    return not threading.main_thread().is_alive()


class EndSignal:
    """Asks a thread to end after its batch in progress: set by the owner of the thread, or by the end of the process."""

    def __init__(self) -> None:
        self._set = threading.Event()

    def set(self) -> None:
        """Ask the thread to end."""
        self._set.set()

    def is_set(self) -> bool:
        """Whether the thread has to end."""
        return self._set.is_set() or is_process_ending()

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until it is set by `set`; return whether the thread has to end."""
        return self._set.wait(seconds) or is_process_ending()
