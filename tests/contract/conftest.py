"""The contract of a store: every promise of `omoide.storage.base`, tested on each backend.

A backend is a class `Backend(directory)` with

- `open(wait=5)`: a store; opened again, another one on the same data, as another process would have
- `close()`: closes all that were opened
- `lacks`: the capabilities (or protocols) that it does not have, each with the reason; their tests are skipped
- `open_copy(path)`: a store on a copy, where it has the capability `Backup`

A new backend adds its module to BACKENDS. Nothing here imports an engine.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from contract.samples import Samples
from omoide.storage.base import Store

BACKENDS = {"memory": "contract.memory_store", "sqlite": "sqlite.backend"}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    backend = import_module(BACKENDS[request.param]).Backend(tmp_path)
    for marker in request.node.iter_markers("needs"):
        for name in marker.args:
            if name in backend.lacks:
                pytest.skip(f"the {request.param} store lacks {name}: {backend.lacks[name]}")
    yield backend
    backend.close()


@pytest.fixture
def store(backend: Any) -> Store:
    return backend.open()


@pytest.fixture
def samples(store: Store) -> Samples:
    return Samples(store)
