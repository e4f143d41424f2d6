"""Power cuts: what was acknowledged is there afterwards, whatever was left of the writes that were not synced."""

import random

import pytest

from omoide.errors import StoreDamaged
from omoide.model import Draft, Scope, State
from omoide.storage.sqlite.store import SqliteStore

SHOP = Scope.project("shop")


class Storm:
    """Takes down what a power cut would have left, at many moments, with what had been acknowledged by then."""

    def __init__(self, disk, directory, seed, share=0.05):
        self.acknowledged = {}
        self.cuts = []
        self._chance = random.Random(seed)
        self._disk, self._directory, self._share = disk, directory, share
        disk.watch = self._perhaps

    def _perhaps(self):
        if self._chance.random() < self._share:
            self.cut()

    def cut(self):
        into = self._disk.cut(self._directory / f"cut{len(self.cuts)}", self._chance)
        self.cuts.append((into, dict(self.acknowledged)))

    def over(self):
        self._disk.watch = lambda: None


def live(memory, storm, times):
    """Remembers, revises, forgets and restores, noting each state when it is acknowledged."""
    for n in range(times):
        kept = memory.remember(f"note {n} " + "and more " * (n % 5 * 200), scope=SHOP, topic=f"topic {n}").memory
        storm.acknowledged[kept.id] = kept.version
        for change in (
            lambda kept: memory.revise(kept.id, scope=SHOP, content="revised " + kept.content),
            lambda kept: memory.forget(kept.id, scope=SHOP),
            lambda kept: memory.restore(kept.id, scope=SHOP),
        )[: n % 4]:
            kept = change(kept)
            storm.acknowledged[kept.id] = kept.version
    done = memory.remember_many(Draft(f"many {n}", SHOP) for n in range(20))
    storm.acknowledged.update((each.memory.id, each.memory.version) for each in done)


def harm(open_memory, directory, acknowledged):
    """What the cut did: findings, and acknowledged memories that are gone or not in the state that was acknowledged."""
    try:
        with open_memory(directory / "memory.db") as memory:
            findings = memory.check()
            page = memory.list(scope=SHOP, limit=10_000, states=tuple(State))
    except StoreDamaged as error:
        return [error]
    there = {each.id: each.version for each in page.memories}
    return [*findings, *(id for id, version in acknowledged.items() if there.get(id, 0) < version)]


@pytest.fixture
def seeds(long):
    return range(40 if long else 2)


def test_acknowledged_writes_survive_a_power_cut(tmp_path, disk, ordinary_disk, open_memory, seeds):
    storms = []
    for seed in seeds:
        directory = tmp_path / str(seed)
        directory.mkdir()
        storm = Storm(disk, directory, seed)
        disk.platters.clear()
        with open_memory(directory / "memory.db") as memory:
            memory.remember("the first write creates the file", scope=SHOP)
            disk.connections[-1].wal_autocheckpoint(15)  # so that moving the log into the file is cut short as well
            live(memory, storm, 25)
            storm.cut()
        storm.over()
        storms.append(storm)
    ordinary_disk()
    for storm in storms:
        assert len(storm.cuts) > 10
        for directory, acknowledged in storm.cuts:
            assert harm(open_memory, directory, acknowledged) == []


@pytest.mark.parametrize("synchronous", ["NORMAL", "OFF"])
def test_the_simulation_notices_a_store_that_syncs_too_little(tmp_path, disk, ordinary_disk, open_memory, synchronous):
    storm = Storm(disk, tmp_path, 1)
    with open_memory(tmp_path / "memory.db") as memory:
        memory.remember("the first write creates the file", scope=SHOP)
        disk.connections[-1].execute(f"PRAGMA synchronous={synchronous}")
        live(memory, storm, 10)
    storm.over()
    ordinary_disk()
    assert any(harm(open_memory, directory, acknowledged) for directory, acknowledged in storm.cuts)


def test_deferred_access_times_endanger_no_memory(tmp_path, disk, ordinary_disk, open_memory):
    with open_memory(tmp_path / "memory.db") as memory:
        memory.remember_many(Draft(f"note {n}", SHOP) for n in range(600))
        connection = disk.connections[-1]
        storm = Storm(disk, tmp_path, 1)
        for n in range(5):
            connection.wal_autocheckpoint(0)
            kept = memory.remember(f"acknowledged {n}", scope=SHOP).memory
            storm.acknowledged[kept.id] = kept.version
            storm.cut()
            # So many were accessed that it is written down at once, and that write moves the log into the file.
            connection.wal_autocheckpoint(1)
            memory.recall("", scope=SHOP, limit=1000)
            storm.cut()
        storm.over()
    ordinary_disk()
    for directory, acknowledged in storm.cuts:
        assert harm(open_memory, directory, acknowledged) == []


def test_a_migration_in_a_power_cut_is_atomic_and_finished_by_the_next_open(
    tmp_path, disk, ordinary_disk, open_memory, next_schema
):
    path = tmp_path / "memory.db"
    with open_memory(path) as memory:
        kept = memory.remember("zebra", scope=SHOP).memory
    storm = Storm(disk, tmp_path, 1, share=0.04)
    SqliteStore(path, migrations=next_schema.steps).close()
    storm.over()
    ordinary_disk()
    assert len(storm.cuts) > 3
    for directory, _ in storm.cuts:
        assert next_schema.of(directory / "memory.db") in ("old", "new")
        store = SqliteStore(directory / "memory.db", migrations=next_schema.steps)
        assert store.check() == []
        with store.read() as tx:
            assert tx.memory(kept.id).content == "zebra"
        store.close()
        assert next_schema.of(directory / "memory.db") == "new"
