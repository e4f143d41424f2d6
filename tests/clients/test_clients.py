"""Real clients and the official conformance suite, where there is Node and time for it: OMOIDE_LONG=1."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "command",
    [["bash", "tests/clients/run.sh"], [sys.executable, "scripts/conformance.py"]],
    ids=["the inspector and Claude Code", "the conformance suite"],
)
def test_the_official_programs_are_content(command: list[str], long: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not long:
        pytest.skip("installs programs and takes a minute: run with OMOIDE_LONG=1")
    monkeypatch.setenv("PYTHON", sys.executable)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip(done.stdout + done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
