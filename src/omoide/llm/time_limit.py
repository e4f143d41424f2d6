"""A limit for calls that have none of their own, or one that applies to each read only."""

import threading
from collections.abc import Callable

from omoide.errors import ModelUnavailable
from omoide.llm.base import Completion


def complete_within(seconds: float, call: Callable[[], Completion], name: str) -> Completion:
    """Run a call that raises nothing but ModelUnavailable in a thread, and return its result or raise its error.

    Raises ModelUnavailable after so many seconds; the thread is then abandoned, and ends with its call or with the process.
    """
    outcomes: list[Completion | ModelUnavailable] = []

    def run() -> None:
        try:
            outcomes.append(call())
        except ModelUnavailable as error:  # raised below, in the thread that waits
            outcomes.append(error)

    thread = threading.Thread(target=run, name="omoide-llm", daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcomes:
        raise ModelUnavailable(f"{name} did not answer within {seconds:g} s: see the setting `llm_timeout`")
    if isinstance(outcomes[0], ModelUnavailable):
        raise outcomes[0]
    return outcomes[0]
