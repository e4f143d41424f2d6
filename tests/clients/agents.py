"""The agent clients that the tests run: how each is installed, pointed at the stub of a model, and asked."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
MACHINE = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), platform.machine())
SYSTEM = "darwin" if sys.platform == "darwin" else "linux"
SECONDS = 240


class Place(NamedTuple):
    """Where a client runs: a home of its own, a project, the directory of the clients' commands, the model's URL."""

    home: Path
    project: Path
    commands: Path
    url: str

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the person who runs the tests: what the clients are to find is in their home."""
        return {
            "HOME": str(self.home),
            "PATH": f"{Path(sys.executable).parent}:{self.commands}:/usr/local/bin:/usr/bin:/bin",
            "TMPDIR": str(self.home.parent),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "CI": "1",
        }

    def put(self, name: str, text: str) -> None:
        """Write a file in the home directory."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def module(self, *parts: str) -> str:
        """The path of a file in an installed package."""
        return str(self.commands.parent.joinpath("node_modules", *parts))


class Agent(NamedTuple):
    """A client."""

    name: str
    package: str
    settings: Callable[[Place], None]
    """Writes the settings that it needs to reach the model."""
    variables: Callable[[Place], dict[str, str]]
    command: Callable[[Place, str], list[str]]
    """What asks it something in a new conversation."""
    resume: Callable[[Place, str], list[str]]
    """What asks it something in the last conversation."""

    def ask(self, place: Place, prompt: str, *, resume: bool = False) -> None:
        """Ask it something, and wait for the end of its turn."""
        command = (self.resume if resume else self.command)(place, prompt)
        environment = {**place.environment, **self.variables(place)}
        done = subprocess.run(
            command, cwd=place.project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS
        )
        assert done.returncode == 0, (done.stdout + done.stderr).decode(errors="replace")[-3000:]


def install_packages(package: str) -> tuple[Path | None, str]:
    """Install a client; return the directory with its commands, or None and why that is not possible."""
    done = subprocess.run(
        [sys.executable, "scripts/node.py", package], cwd=ROOT, capture_output=True, text=True, env=dict(os.environ)
    )
    if done.returncode == 77:
        return None, done.stderr.strip()
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip()), ""


def _claude_settings(place: Place) -> None:
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
    place.put(".claude/settings.json", json.dumps({"hooks": hooks, "includeCoAuthoredBy": False}, indent=4) + "\n")


def _claude(place: Place) -> str:
    return place.module("@anthropic-ai", f"claude-code-{SYSTEM}-{MACHINE}", "claude")


def _codex_settings(place: Place) -> None:
    text = f"""# the stub
model = "stub"
model_provider = "stub"

[model_providers.stub]
name = "stub"
base_url = "{place.url}/v1"
wire_api = "responses"

[projects."{place.project}"]
trust_level = "trusted"
"""
    place.put(".codex/config.toml", text)


_CODEX = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]


def _gemini_settings(place: Place) -> None:
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": False}}
    place.put(".gemini/settings.json", "// mine\n" + json.dumps(settings))


def _opencode_settings(place: Place) -> None:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{place.url}/v1", "apiKey": "x"},
        "models": {"stub": {"name": "stub"}},
    }
    schema = "https://opencode.ai/config.json"  # it rewrites a file without it
    settings = {
        "$schema": schema,
        "model": "stub/stub",
        "provider": {"stub": provider},
        "autoupdate": False,
        "share": "disabled",
    }
    place.put(".config/opencode/opencode.json", json.dumps(settings, indent="\t"))


def _opencode(place: Place) -> str:
    return place.module(_OPENCODE, "bin", "opencode")


_OPENCODE = f"opencode-{SYSTEM}-{MACHINE}" + ("-baseline" if MACHINE == "x64" else "")

AGENTS = {
    agent.name: agent
    for agent in (
        Agent(
            "claude-code",
            f"@anthropic-ai/claude-code-{SYSTEM}-{MACHINE}",
            _claude_settings,
            lambda place: {
                "ANTHROPIC_BASE_URL": place.url,
                "ANTHROPIC_API_KEY": "x",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
            },
            lambda place, prompt: [_claude(place), "-p", prompt, "--output-format", "json"],
            lambda place, prompt: [_claude(place), "-p", prompt, "--output-format", "json", "--continue"],
        ),
        Agent(
            "codex",
            "@openai/codex@latest",  # not the one that an older run has left
            _codex_settings,
            lambda place: {},
            lambda place, prompt: [str(place.commands / "codex"), *_CODEX, prompt],
            lambda place, prompt: [str(place.commands / "codex"), *_CODEX, "resume", "--last", prompt],
        ),
        Agent(
            "gemini",
            "@google/gemini-cli",
            _gemini_settings,
            lambda place: {
                "GOOGLE_GEMINI_BASE_URL": place.url,
                "GEMINI_API_KEY": "x",
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
            },
            lambda place, prompt: [str(place.commands / "gemini"), "-p", prompt],
            lambda place, prompt: [str(place.commands / "gemini"), "--resume", "latest", "-p", prompt],
        ),
        Agent(
            "copilot",
            "@github/copilot",
            lambda place: place.put(".copilot/mcp-config.json", '{"mcpServers":{}}'),
            lambda place: {
                "COPILOT_OFFLINE": "true",
                "COPILOT_PROVIDER_BASE_URL": f"{place.url}/v1",
                "COPILOT_PROVIDER_API_KEY": "x",
                "COPILOT_MODEL": "stub",
                "COPILOT_AUTO_UPDATE": "false",
            },
            lambda place, prompt: [str(place.commands / "copilot"), "-p", prompt, "--allow-all-tools"],
            lambda place, prompt: [str(place.commands / "copilot"), "--continue", "-p", prompt, "--allow-all-tools"],
        ),
        Agent(
            "opencode",
            _OPENCODE,
            _opencode_settings,
            lambda place: {
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "XDG_CACHE_HOME": place.module(".cache"),  # where it installs the package of its provider
            },
            lambda place, prompt: [_opencode(place), "run", prompt],
            lambda place, prompt: [_opencode(place), "run", "--continue", prompt],
        ),
    )
}
