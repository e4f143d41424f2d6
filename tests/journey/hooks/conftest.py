"""Hooks as a client runs them: a process with JSON on its standard input, and the memory that it works on."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import omoide
from omoide import Scope

PROGRAM = [sys.executable, "-c", "from omoide.interfaces.start import main; main()", "hook"]
CLIENT_VARIABLES = ("CLAUDE", "CODEX", "GEMINI", "COPILOT", "CURSOR")
PNPM = "We use pnpm as the package manager, never npm."
JWT = "認証は JWT を採用し、有効期限は15分とする"


class Answer(NamedTuple):
    code: int
    out: bytes
    err: bytes

    @property
    def context(self) -> str:
        """What a client that reads the form of Claude Code adds to the conversation; empty if nothing was printed."""
        return json.loads(self.out)["hookSpecificOutput"]["additionalContext"] if self.out else ""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository whose name has a space and Japanese in it."""
    root = tmp_path / "ホーム dir" / "shop"
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a client, without what the one that runs the tests has set."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(CLIENT_VARIABLES)}
    store = tmp_path / "データ の場所" / "memory.db"
    home = str(tmp_path / "ホーム dir")
    # A busy machine may take more than a second to start a process: only the tests of the limit have the usual one.
    return {**kept, "OMOIDE_STORE": str(store), "OMOIDE_ACTOR": "tester", "HOME": home, "OMOIDE_HOOK_SECONDS": "60"}


@pytest.fixture
def hook(environment: dict[str, str]) -> Callable[..., Answer]:
    """Runs a hook as a client does."""

    def hook(body: Mapping[str, Any] | bytes, *arguments: str, **variables: str) -> Answer:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        done = subprocess.run(
            [*PROGRAM, *arguments], input=data, capture_output=True, env={**environment, **variables}, timeout=60
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return hook


@pytest.fixture
def memory(environment: dict[str, str]) -> Callable[[], omoide.Service]:
    """Opens the memory that the hooks work on."""
    return lambda: omoide.open(environment["OMOIDE_STORE"], actor=omoide.Actor("tester"))


@pytest.fixture
def shop(memory: Callable[[], omoide.Service], repository: Path) -> Scope:
    """The project of the repository, with a memory in English and one in Japanese."""
    with memory() as service:
        scope = service.claim(repository)
        service.remember(PNPM, scope=scope)
        service.remember(JWT, scope=scope)
    return scope


@pytest.fixture
def started(repository: Path) -> dict[str, str]:
    """What Claude Code sends at the start of a session."""
    return {
        "session_id": "5a2c",
        "transcript_path": str(repository / "5a2c.jsonl"),
        "cwd": str(repository),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }


@pytest.fixture
def asked(repository: Path) -> dict[str, str]:
    """What Claude Code sends with a prompt."""
    return {
        "session_id": "5a2c",
        "transcript_path": str(repository / "5a2c.jsonl"),
        "cwd": str(repository),
        "prompt_id": "p1",
        "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit",
        "prompt": "Which package manager do we use?",
    }


@pytest.fixture
def stopped(repository: Path) -> dict[str, Any]:
    """What Claude Code sends at the end of a turn."""
    return {
        "session_id": "5a2c",
        "transcript_path": str(repository / "5a2c.jsonl"),
        "cwd": str(repository),
        "prompt_id": "p1",
        "effort": {"level": "high"},
        "hook_event_name": "Stop",
        "stop_hook_active": False,
        "last_assistant_message": "Done.",
    }
