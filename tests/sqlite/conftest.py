"""The SQLite store by itself: what no other backend has."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.samples import Samples
from omoide.storage.base import Store
from sqlite.backend import Backend


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    backend = Backend(tmp_path)
    yield backend
    backend.close()


@pytest.fixture
def store(backend: Backend) -> Store:
    return backend.open()


@pytest.fixture
def samples(store: Store) -> Samples:
    return Samples(store)
