"""Install Node programs for the checks that need them, once, in a directory of the user's choice.

python scripts/node.py @modelcontextprotocol/inspector     prints the directory with its commands
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PLACE = Path(os.environ.get("OMOIDE_NODE", Path(tempfile.gettempdir()) / f"omoide-node-{os.getuid()}"))
NODE = "node@24"


class NoNode(Exception):
    """Node is missing or cannot be installed: the check is skipped and reports why."""


def commands(*packages: str) -> Path:
    """Install packages and a recent Node. Return the directory with their commands. Raise NoNode if that fails."""
    if shutil.which("npm") is None:
        raise NoNode("npm is not installed")
    first = PLACE / "bin"
    first.mkdir(mode=0o700, parents=True, exist_ok=True)
    _install(NODE)
    program = PLACE / "node_modules" / "node" / "bin" / "node"
    if not program.exists():
        # npm may be configured not to run install scripts; the package `node` installs its program in one.
        script = PLACE / "node_modules" / "node" / "installArchSpecificPackage.js"
        _run("node", str(script), cwd=script.parent)
    (first / "node").unlink(missing_ok=True)
    (first / "node").symlink_to(program)
    _install(*packages)
    for link in (PLACE / "node_modules" / ".bin").iterdir():
        if link.name != "node":
            (first / link.name).unlink(missing_ok=True)
            (first / link.name).symlink_to(link)
    return first


def _install(*packages: str) -> None:
    """Install packages, with the new Node if it is there: npm picks the newest version that runs on the Node it finds."""
    done = PLACE / "installed.txt"
    have = done.read_text().split() if done.exists() else []
    missing = [package for package in packages if package not in have]
    if missing:
        _run("npm", "install", "--prefix", str(PLACE), "--no-audit", "--no-fund", *missing)
        done.write_text("\n".join([*have, *missing]))


def environment(directory: Path) -> dict[str, str]:
    return {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"}


def _run(*command: str, cwd: Path | None = None) -> None:
    done = subprocess.run(command, check=False, cwd=cwd, capture_output=True, text=True, env=environment(PLACE / "bin"))
    if done.returncode:
        raise NoNode(f"{' '.join(command[:2])} failed: {done.stderr.strip()[-300:]}")


if __name__ == "__main__":
    try:
        print(commands(*sys.argv[1:]))
    except NoNode as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        sys.exit(77)
