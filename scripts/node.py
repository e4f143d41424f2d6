"""Node programs for the checks that need them: installed once, under a directory of the user's choice.

python scripts/node.py @modelcontextprotocol/inspector     prints the directory their commands are in
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
    """Why nothing can be run; the check is skipped, and says so."""


def commands(*packages: str) -> Path:
    """The directory of the packages' commands, with a Node that is new enough beside them."""
    if shutil.which("npm") is None:
        raise NoNode("npm is not installed")
    first = PLACE / "bin"
    first.mkdir(mode=0o700, parents=True, exist_ok=True)
    _install(NODE)
    program = PLACE / "node_modules" / "node" / "bin" / "node"
    if not program.exists():
        # npm may be told not to run install scripts; the package `node` fetches its program in one.
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
    """With the new Node once it is there: npm takes the newest version of a package that runs on the Node it finds."""
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
    except NoNode as why:
        print(f"skipped: {why}", file=sys.stderr)
        sys.exit(77)
