"""The plugin directory: the manifests are valid, name the same things, and have the entries that `omoide install` writes."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

import omoide
from omoide.interfaces.install.wiring import installation

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = ROOT / "plugin"
SCHEMAS = "https://agent-plugins.org/schemas/1.0.0/"
MANIFESTS = [
    "agent-plugin/plugin.json",
    ".claude-plugin/plugin.json",
    ".codex-plugin/plugin.json",
    "gemini/gemini-extension.json",
]


def load(name: str) -> Any:
    return json.loads((PLUGIN / name).read_text(encoding="utf-8"))


def installed_hooks(client: str) -> dict[str, list[Any]]:
    (hooks,) = [wiring.hooks for wiring in installation(client, "user", ROOT, "omoide").files if wiring.hooks]
    return {event: [entry] for event, entry in hooks.items()}


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_has_the_name_and_version_of_omoide(name: str) -> None:
    manifest = load(name)
    assert (manifest["name"], manifest["version"]) == ("omoide", omoide.__version__)
    assert manifest["description"] == load("agent-plugin/plugin.json")["description"]


def test_the_agent_plugin_has_only_keys_of_the_standard() -> None:
    manifest, servers = load("agent-plugin/plugin.json"), load("agent-plugin/mcp.json")
    assert manifest["$schema"] == f"{SCHEMAS}plugin.schema.json"
    allowed = {"name", "version", "description", "author", "homepage", "repository", "license", "keywords", "extensions"}
    assert set(manifest) <= {"$schema", *allowed}
    assert re.fullmatch(r"(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?", manifest["name"])
    assert servers["$schema"] == f"{SCHEMAS}mcp.schema.json"
    assert set(servers) == {"$schema", "mcpServers"}
    for server in servers["mcpServers"].values():
        assert server["type"] == "stdio"
        assert set(server) <= {"type", "command", "args", "env", "cwd"}


def test_every_format_starts_the_same_server() -> None:
    server = {"command": "omoide", "args": ["mcp"]}
    assert load("agent-plugin/mcp.json")["mcpServers"]["omoide"] == {"type": "stdio", **server}
    assert load(".mcp.json")["mcpServers"]["omoide"] == {"type": "stdio", **server}
    assert load("gemini/gemini-extension.json")["mcpServers"]["omoide"] == server


def test_the_hooks_are_those_that_install_writes() -> None:
    claude = installed_hooks("claude-code")
    claude["UserPromptSubmit"][0]["hooks"][0]["server"] = "plugin:omoide:omoide"  # the name of a plugin's server
    assert load("hooks/hooks.json")["hooks"] == claude
    assert load("gemini/hooks/hooks.json")["hooks"] == installed_hooks("gemini")
    codex = load("hooks/codex.json")["hooks"]
    assert set(codex) == set(installed_hooks("codex"))
    assert {entry["command"] for (group,) in codex.values() for entry in group["hooks"]} == {"omoide hook"}


def test_the_files_that_a_manifest_names_exist() -> None:
    codex = load(".codex-plugin/plugin.json")
    for key in ("skills", "mcpServers", "hooks"):
        assert (PLUGIN / codex[key]).exists()
    market = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text(encoding="utf-8"))
    (listed,) = market["plugins"]
    assert (ROOT / listed["source"]) == PLUGIN
    assert listed["version"] == omoide.__version__


def test_the_skill_says_when_it_is_used_in_both_languages() -> None:
    text = (PLUGIN / "skills/memory/SKILL.md").read_text(encoding="utf-8")
    _, header, body = text.split("---\n", 2)
    fields = yaml.safe_load(header)
    assert set(fields) == {"name", "description"}
    assert fields["name"] == "memory"
    assert len(fields["description"]) <= 1024  # the limit of the clients
    for tool in ("remember", "recall", "revise", "forget", "resume"):
        assert f"`{tool}" in body
    assert "覚えておいて" in fields["description"]
    assert len(body.splitlines()) < 100
    assert (PLUGIN / "agent-plugin/skills/memory/SKILL.md").read_text(encoding="utf-8") == text
    assert not (PLUGIN / "plugin.json").exists()  # Codex would read it instead of its own manifest, which names the hooks


def test_the_validators_of_the_clients_accept_it(long: bool, tmp_path: Path) -> None:
    if not long:
        pytest.skip("installs programs: run with OMOIDE_LONG=1")
    from clients.agents import AGENTS, Place, install_packages

    packages = [AGENTS[name].package for name in ("claude-code", "gemini")]
    for package in packages:
        commands, reason = install_packages(package)
        if commands is None:
            pytest.skip(reason)
    place = Place(tmp_path, tmp_path, commands, "")
    claude = place.module(packages[0], "claude")
    for command in (
        [claude, "plugin", "validate", "--strict", str(PLUGIN)],
        [claude, "plugin", "validate", "--strict", str(ROOT)],
        [str(commands / "gemini"), "extensions", "validate", str(PLUGIN / "gemini")],
    ):
        done = subprocess.run(command, env=place.environment, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
