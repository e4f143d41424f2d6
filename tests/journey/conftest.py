"""The command line at hand: `run` in this process, `omoide` as a program of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from omoide.interfaces.cli import cli

PROGRAM = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()"]


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory outside of any repository, with a store of its own, in project shop."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMOIDE_STORE", str(tmp_path / "memory.db"))
    monkeypatch.setenv("OMOIDE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("OMOIDE_PROJECT", "shop")
    monkeypatch.setenv("OMOIDE_ACTOR", "tester")
    monkeypatch.setenv("TZ", "UTC")
    return tmp_path


@pytest.fixture
def run(place: Path) -> Callable[..., Done]:
    """Runs a command in this process."""

    def run(*arguments: str, input: str | bytes | None = None) -> Done:
        done = CliRunner().invoke(cli, list(arguments), input=input, prog_name="omoide")
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Done(done.exit_code, done.stdout, done.stderr)

    return run


@pytest.fixture
def omoide(place: Path) -> Callable[..., Done]:
    """Runs a command as a process, as a shell would."""

    def omoide(*arguments: str, input: bytes = b"", cwd: Path | None = None, **environment: str) -> Done:
        done = subprocess.run(
            [*PROGRAM, *arguments], input=input, capture_output=True, cwd=cwd, env={**os.environ, **environment}
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return omoide
