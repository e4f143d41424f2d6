"""The threads of REST: few work at the same time, and calls that take long do not keep others waiting."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from omoide.interfaces.rest import threads


@pytest.fixture
def workers() -> Iterator[threads.WorkerThreads]:
    workers = threads.WorkerThreads("test")
    yield workers
    workers.close()


def test_calls_that_block_do_not_keep_others_waiting(workers: threads.WorkerThreads) -> None:
    finish = threading.Event()

    async def run() -> list[object]:
        blocked = [asyncio.create_task(workers.run(lambda: finish.wait(60))) for _ in range(threads.MOST - 1)]
        results: list[object] = [await workers.run(lambda: "answered")]
        finish.set()
        return results + await asyncio.gather(*blocked)

    assert asyncio.run(run()) == ["answered", *[True] * (threads.MOST - 1)]


def test_few_calls_run_at_the_same_time_and_all_are_run(
    workers: threads.WorkerThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "PATIENCE_SECONDS", 60.0)
    lock, running, most, started = threading.Lock(), 0, 0, []

    def work(number: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            started.append(number)
        with lock:
            running -= 1

    async def run() -> None:
        await asyncio.gather(*(workers.run(lambda number=number: work(number)) for number in range(100)))

    asyncio.run(run())
    assert most <= threads.FEW
    assert sorted(started) == list(range(100))


def test_a_call_that_fails_lets_the_next_one_run(workers: threads.WorkerThreads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "PATIENCE_SECONDS", 60.0)

    async def run() -> list[object]:
        return await asyncio.gather(*(workers.run(lambda: 1 // 0) for _ in range(20)), return_exceptions=True)

    assert [type(each) for each in asyncio.run(run())] == [ZeroDivisionError] * 20
