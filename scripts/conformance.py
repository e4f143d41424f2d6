"""Run the official MCP conformance suite against omoide's HTTP server, for both revisions.

    python scripts/conformance.py

Every scenario that a revision requires must pass, except those that the table in docs/mcp.md lists with a reason. A listed
scenario that passes is an error too, so that the table stays correct. The exit code is 77 if there is no Node.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from node import NoNode, commands, environment

ROOT = Path(__file__).resolve().parents[1]
SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
REVISIONS = ("2025-11-25", "2026-07-28")


def documented_exceptions(revision: str) -> dict[str, str]:
    """Return the scenarios that the documentation lists as not passing, with the reason."""
    page = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8").split("## Conformance", 1)[1]
    rows = re.findall(r"^\| `([\w-]+)` \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    return {name: reason.strip() for name, revisions, reason in rows if revision in revisions}


def required_scenarios(revision: str, packages: Path) -> set[str]:
    """Return the server scenarios that the revision requires."""
    text = (packages / "requirements" / f"{revision}.yaml").read_text(encoding="utf-8")
    return set(re.findall(r"^  - (\S+)$", text.split("\nserver:\n", 1)[1].split("\nclient:", 1)[0], re.MULTILINE))


def failures_by_scenario(results: Path) -> dict[str, list[str]]:
    """Return the failures of each scenario that was run."""
    found = {}
    for file in results.glob("server-*/checks.json"):
        name = re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\dZ-]+$", "", file.parent.name)
        checks = json.loads(file.read_text(encoding="utf-8"))
        found[name] = [f"{c['id']}: {c.get('errorMessage')}" for c in checks if c["status"] == "FAILURE"]
    return found


def run(revision: str, bin: Path, url: str) -> bool:
    packages = bin.parent / "node_modules" / "@modelcontextprotocol" / "conformance"
    with tempfile.TemporaryDirectory() as directory:
        command = ["conformance", "server", "--url", url, "--requirements", revision, "-o", directory]
        done = subprocess.run(command, check=False, env=environment(bin), capture_output=True, text=True)
        found = failures_by_scenario(Path(directory))
    known, wanted = documented_exceptions(revision), required_scenarios(revision, packages)
    good = wanted <= set(found)
    if not good:
        print(f"not run: {', '.join(sorted(wanted - set(found)))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    passed = 0
    for name in sorted(wanted & set(found)):
        failures = found[name]
        passed += not failures
        if failures and name not in known:
            good = False
            print(f"✗ {revision} {name}\n    " + "\n    ".join(failures))
        elif not failures and name in known:
            good = False
            print(f"✗ {revision} {name} passes: remove it from docs/mcp.md")
    print(f"{revision}: {passed} of {len(wanted)} required scenarios pass, {len(known)} are exceptions (docs/mcp.md)")
    extra = sorted(name for name in set(found) - wanted if not found[name])
    print(f"{revision}: passed, although not required: {', '.join(extra)}")
    return good


def main() -> int:
    try:
        bin = commands(SUITE)
    except NoNode as reason:
        print(f"skipped: {reason}")
        return 77
    with subprocess.Popen(
        [sys.executable, str(ROOT / "scripts" / "conformance_server.py")], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            url = server.stdout.readline().strip()
            good = [run(revision, bin, url) for revision in REVISIONS]
            return 0 if all(good) else 1
        finally:
            server.kill()


if __name__ == "__main__":
    sys.exit(main())
