"""The SQLite underneath must be one that does not lose data."""

import apsw
import pytest

import omoide


@pytest.mark.parametrize("version", ["3.40.1", "3.51.2"])
def test_a_sqlite_that_can_lose_data_is_refused_at_start(tmp_path, monkeypatch, version):
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: version)
    with pytest.raises(
        omoide.StoreError, match=rf"SQLite {version} can lose data, 3\.51\.3 or newer is needed: upgrade apsw"
    ):
        omoide.open(tmp_path / "memory.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("version", ["3.51.3", "3.52.0", "4.0.0"])
def test_a_newer_one_is_welcome(tmp_path, monkeypatch, version):
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: version)
    with omoide.open(tmp_path / "memory.db") as memory:
        assert memory.check() == []


def test_the_database_is_durable_and_shared_by_its_settings(tmp_path):
    with omoide.open(tmp_path / "memory.db") as memory:
        connection = memory._store._connection
        assert connection.pragma("journal_mode") == "wal"
        assert connection.pragma("synchronous") == 2  # FULL
