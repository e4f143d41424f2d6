"""Many processes at once, and processes that die: nothing acknowledged is lost, nothing is half done."""

import os
import random

import pytest

from omoide.model import Scope

LONG = os.environ.get("OMOIDE_LONG") == "1"
SHOP = Scope.project("shop")


@pytest.fixture
def rounds(long):
    return 30 if long else 3


def test_acknowledged_writes_survive_the_killing_of_eight_writers(tmp_path, child, open_memory, rounds):
    chance = random.Random(1)
    path = tmp_path / "memory.db"
    acknowledged = set()
    for round in range(rounds):
        writers = [child("write_for_ever", path, f"writer{round}-{n}") for n in range(8)]
        chance.shuffle(writers)
        for writer in writers:
            acknowledged.update(writer.stdout.readline() for _ in range(chance.randint(1, 12)))
            writer.kill()  # the others go on writing meanwhile
        for writer in writers:
            # Not by communicate(), which would pass over what readline() has read ahead.
            output, errors = writer.stdout.read(), writer.stderr.read()
            assert errors == ""
            acknowledged.update(line for line in output.splitlines(keepends=True) if line.endswith("\n"))
        with open_memory(path) as memory:
            assert memory.check() == []
            kept = {each.id + "\n" for each in memory.list(scope=SHOP, limit=100_000).memories}
            assert acknowledged <= kept
            assert memory.recall("note", scope=SHOP).hits
    assert len(acknowledged) >= rounds * 8


def test_eight_writers_and_eight_readers_lose_nothing_and_see_no_error(tmp_path, child, open_memory, long):
    path = tmp_path / "memory.db"
    times = 200 if long else 12
    children = [child("write", path, f"writer{n}", times) for n in range(8)] + [child("read", path, times) for _ in range(8)]
    start_together(children)
    for process in children:
        _, errors = process.communicate()
        assert (errors, process.returncode) == ("", 0)
    with open_memory(path) as memory:
        shared = memory.show("shared", scope=SHOP)
        assert shared.reference_count == 8 * times - 1  # the first one made it
        assert shared.version == 8 * times
        notes = {each.content for each in memory.list(scope=SHOP, limit=100_000).memories} - {shared.content}
        assert notes == {f"distinct note {n} of writer{w}" for n in range(times) for w in range(8)}
        assert memory.check() == []


@pytest.mark.parametrize("attempt", range(40 if LONG else 3))
def test_processes_opening_a_new_store_at_once_all_work(tmp_path, child, open_memory, attempt):
    path = tmp_path / "memory.db"
    children = [child("open_and_write", path, f"hello from {n}") for n in range(6)]
    start_together(children)
    for process in children:
        _, errors = process.communicate()
        assert (errors, process.returncode) == ("", 0)
    with open_memory(path) as memory:
        assert memory.list(scope=SHOP, limit=100).total == 6
        assert memory.check() == []


def start_together(children):
    for process in children:
        assert process.stdout.readline() == "ready\n"
    for process in children:
        print(file=process.stdin, flush=True)
