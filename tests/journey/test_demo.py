"""`make demo`: what a newcomer sees first."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / ".venv/bin/omoide").exists(), reason="needs the environment that `make` sets up")
def test_the_demo_ends_with_an_agent_that_knows_the_second_time():
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMOIDE_")}
    done = subprocess.run(
        ["bash", "scripts/demo.sh"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loop = done.stdout.partition("7. Run an agent twice")[2]
    first, second = loop.partition("Push the fix of the logout.")[::2]
    assert "Assistant: Pushed." in first
    assert "make check comes before a push" not in first
    assert "make check comes before a push" in second
    assert "Traceback" not in done.stdout + done.stderr
