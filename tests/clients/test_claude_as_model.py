"""The real command `claude` as omoide's language model, against a stub of its API. Needs npm and OMOIDE_LONG=1."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clients import model_stub
from clients.agents import AGENTS, Place, install_packages

TALK = b"User: Remember that the port is 8766.\nAssistant: The nightly job writes its report somewhere else now.\n"
LOGINS = {
    "subscription": ({"CLAUDE_CODE_OAUTH_TOKEN": "x"}, {}),
    "key": ({"ANTHROPIC_API_KEY": "x"}, {}),
    "helper": ({}, {"apiKeyHelper": "echo x"}),
}
"""How a person may be logged in: by variables, and by settings."""


@pytest.mark.parametrize("login", LOGINS)
def test_claude_is_asked_with_the_login_of_the_person_and_nothing_else_of_theirs(
    tmp_path: Path, long: bool, login: str
) -> None:
    if not long:
        pytest.skip("installs a program: run with OMOIDE_LONG=1")
    commands, reason = install_packages(AGENTS["claude-code"].package)
    if commands is None:
        pytest.skip(reason)
    variables, settings = LOGINS[login]
    with model_stub.serve() as stub:
        place = Place(tmp_path / "山田 太郎", tmp_path / "shop", tmp_path / "bin", stub.url)
        place.commands.mkdir()
        claude = Place(place.home, place.project, commands, stub.url)
        command = AGENTS["claude-code"].command(claude, "")[0]
        (place.commands / "claude").symlink_to(command)
        hook = {"type": "command", "command": f"touch '{tmp_path}/hook-ran'"}
        hooks = {event: [{"hooks": [hook]}] for event in ("SessionStart", "UserPromptSubmit", "Stop")}
        place.put(".claude/settings.json", json.dumps({"hooks": hooks, **settings}))
        place.put(".claude/CLAUDE.md", "Always begin with the word MOO.")
        stub.answer = lambda: '{"learnings": []}'  # type: ignore[method-assign]
        own = {"OMOIDE_LLM": "claude", "OMOIDE_STORE": str(tmp_path / "memory.db"), "ANTHROPIC_BASE_URL": stub.url}
        done = subprocess.run(
            [sys.executable, "-c", "from omoide.interfaces.start import main; main()", "learn", "-", "--global"],
            input=TALK,
            capture_output=True,
            cwd=tmp_path,
            env={**place.environment, **own, **variables},
        )
        asked = [request.text for request in stub.requests]
    assert done.returncode == 0, done.stderr.decode()
    assert "did not help" not in done.stderr.decode()
    assert len(asked) == 1
    assert "nightly job" in asked[0]
    assert "MOO" not in asked[0]
    assert len(asked[0]) < 10_000
    assert not (tmp_path / "hook-ran").exists()
