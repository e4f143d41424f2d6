"""Run what works on the database in threads, few at a time: Python runs one of them, and the others only cost switches."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

FEW = 2
"""How many run at the same time as long as none takes long: one works while another one waits for the disk."""
MOST = 16
"""How many run at the same time at most, such as queries that wait for an embedder on another machine."""
PATIENCE_SECONDS = 0.05
"""How long a call waits for one of the few to end before it runs beside them."""


class WorkerThreads:
    """Threads for calls that block. Use it from one event loop."""

    def __init__(self, name: str):
        """Start no thread yet; `name` is the beginning of their names."""
        self._pool = ThreadPoolExecutor(MOST, thread_name_prefix=name)
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def run(self, call: Callable[[], T]) -> T:
        """Return what a call returns, run in a thread."""
        loop = asyncio.get_running_loop()
        if self._running >= FEW:
            await self._wait(loop)
        self._running += 1
        try:
            return await loop.run_in_executor(self._pool, call)
        finally:
            self._running -= 1
            self._wake()

    def close(self) -> None:
        """Wait until what runs has ended."""
        self._pool.shutdown(wait=True)

    async def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait until a call ends and this one is the next, but not for long."""
        turn = loop.create_future()
        timer = loop.call_later(PATIENCE_SECONDS, _let_go, turn)
        self._waiting.append(turn)
        try:
            await turn
        finally:
            timer.cancel()

    def _wake(self) -> None:
        """Let the first of those that still wait run."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return


def _let_go(turn: "asyncio.Future[None]") -> None:
    if not turn.done():
        turn.set_result(None)
