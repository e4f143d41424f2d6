"""A short run of scripts/fuzz.py; the long one is `python scripts/fuzz.py --count 1000000 --jobs 2`."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "fuzz.py"


def test_parsers_accept_any_text(long):
    count = 200_000 if long else 2_000
    done = subprocess.run([sys.executable, SCRIPT, "--count", str(count)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count:,} texts" in done.stdout
