"""The SQLite underneath: one that does not lose data, with its index in few pieces."""

from contextlib import closing

import apsw
import pytest

import omoide
from omoide import Draft, Scope

SHOP = Scope.project("shop")


@pytest.mark.parametrize("version", ["3.40.1", "3.51.2"])
def test_a_sqlite_that_can_lose_data_is_refused_at_start(tmp_path, monkeypatch, version):
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: version)
    with pytest.raises(
        omoide.StoreError, match=rf"SQLite {version} can lose data, 3\.51\.3 or newer is needed: upgrade apsw"
    ):
        omoide.open(tmp_path / "memory.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("version", ["3.51.3", "3.52.0", "4.0.0"])
def test_a_newer_sqlite_is_accepted(tmp_path, monkeypatch, version):
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: version)
    with omoide.open(tmp_path / "memory.db") as memory:
        assert memory.check() == []


def test_the_database_is_durable_and_shared_by_its_settings(tmp_path):
    with omoide.open(tmp_path / "memory.db") as memory:
        memory.remember("the first write creates the file", scope=SHOP)
        connection = memory._store._connection
        assert connection.pragma("journal_mode") == "wal"
        assert connection.pragma("synchronous") == 2  # FULL


def segments(path):
    """In how many pieces the index lies: a search looks into each."""
    with closing(apsw.Connection(str(path))) as connection:
        return int(connection.execute("SELECT count(DISTINCT segid) FROM words_idx").get)


def test_an_index_written_in_bulk_is_merged_afterwards(tmp_path):
    path = tmp_path / "store.db"
    with omoide.open(path, embedder="off", retire="manual") as memory:
        for part in range(4):
            memory.remember_many(Draft(f"note {n} of part {part}", SHOP) for n in range(300))
        assert segments(path) > 1
    assert segments(path) == 1


def test_an_index_written_one_by_one_is_merged_once_a_day(tmp_path):
    path = tmp_path / "store.db"
    for n in range(6):
        with omoide.open(path, embedder="off", retire="manual") as memory:
            memory.remember(f"note {n}", scope=SHOP)
    assert segments(path) > 1
    with omoide.open(path, embedder="off"):
        pass
    assert segments(path) == 1
