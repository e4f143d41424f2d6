"""LangGraph's own tests of stores, from the source package of the installed version, on ours; they need OMOIDE_LONG=1."""

import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

PACKAGE = "langgraph-checkpoint"
CONFTEST = """
import itertools
import pathlib

import langgraph.store.memory
import pytest

import omoide
from omoide.interfaces.langgraph import OmoideStore

NUMBERS = itertools.count()


class Store(OmoideStore):
    def __init__(self, **options):
        if options:
            pytest.skip("it configures an embedder of LangGraph: ours is a setting of omoide")
        super().__init__(omoide.open(pathlib.Path(f"{next(NUMBERS)}.db").absolute(), embedder="off"))


langgraph.store.memory.InMemoryStore = Store
"""
"""Their tests make a store with `InMemoryStore()`: here that is one of omoide, on a new database."""


@pytest.mark.skipif(importlib.util.find_spec("langgraph") is None, reason="needs the extra `langgraph`")
def test_langgraphs_own_tests_of_stores_pass(tmp_path: Path, *, long: bool) -> None:
    if not long:
        pytest.skip("installs programs and takes a minute: run with OMOIDE_LONG=1")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wanted = f"{PACKAGE}=={importlib.metadata.version(PACKAGE)}"
    subprocess.run([*pip, "download", "--no-deps", "--no-binary", ":all:", wanted], cwd=tmp_path, check=True)
    plugins = ["pytest-asyncio", "pytest-mock"]
    subprocess.run([*pip, "install", "--no-deps", "--target", "plugins", *plugins], cwd=tmp_path, check=True)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = (path for path in tmp_path.glob("*/tests") if (path / "test_store.py").exists())
    (source.parent / "conftest.py").write_text(CONFTEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-c", os.devnull]
    done = subprocess.run(
        [*command, "-o", "asyncio_mode=auto", "--rootdir", str(source.parent), "tests/test_store.py"],
        cwd=source.parent,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "plugins"), "OMOIDE_CONFIG": os.devnull},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 50, done.stdout
