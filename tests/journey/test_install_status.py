"""omoide doctor: which clients are wired to omoide, where, and whether they trust its hooks."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journey.test_install import home
from omoide.interfaces.install.wiring import NAMES
from omoide.interfaces.mcp.client_config import CLIENTS

Run = Callable[..., Any]
__all__ = ["home"]


def checks(run: Run, title: str) -> list[dict[str, Any]]:
    return [check for check in run("doctor", "--json").data["checks"] if check["what"].startswith(title)]


def test_without_clients_doctor_names_none(run: Run, home: Path) -> None:
    shown = run("doctor").out
    assert not any(client.title in shown for client in CLIENTS.values())
    assert "not wired" not in shown


@pytest.mark.parametrize("client", NAMES)
def test_doctor_shows_where_a_client_is_wired(client: str, run: Run, home: Path) -> None:
    title = CLIENTS[client].title
    assert run("install", client).code == 0
    (check,) = checks(run, title)
    assert check["ok"]
    assert check["what"].startswith(f"{title}: wired in ~/.")
    assert run("install", client, "--no-hooks").code == 0
    (check,) = checks(run, title)
    assert (check["ok"], check["remedy"]) == (True, f"omoide install {client} adds them")
    assert check["what"].endswith("no hooks")
    assert run("uninstall", client).code == 0
    assert checks(run, title) == []


def test_doctor_looks_into_the_project_too(run: Run, home: Path, place: Path) -> None:
    (place / ".git").mkdir()
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert run("install", "claude-code", "--project").code == 0
    (check,) = checks(run, "Claude Code")
    assert check["what"].startswith(f"Claude Code in this project: wired in {place}/.mcp.json and ")


def test_doctor_names_clients_that_are_there_and_not_wired(run: Run, home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".gemini").mkdir()
    (check,) = checks(run, "not wired")
    assert (check["what"], check["remedy"]) == ("not wired: codex, gemini", "omoide install codex")


def test_doctor_shows_whether_codex_trusts_the_hooks(run: Run, home: Path) -> None:
    assert run("install", "codex").code == 0
    (check,) = checks(run, "Codex")
    assert "0 of 4 hooks trusted" in check["what"]
    assert "/hooks" in check["remedy"]
    file = home / ".codex/config.toml"
    for number, event in enumerate(("session_start", "user_prompt_submit", "pre_compact", "stop"), start=1):
        with file.open("a", encoding="utf-8") as config:
            config.write(f'\n[hooks.state."{home}/.codex/hooks.json:{event}:0:0"]\ntrusted_hash = "sha256:{number}"\n')
        (check,) = checks(run, "Codex")
        assert (f"{number} of 4 hooks trusted" if number < 4 else ", trusted;") in check["what"]
    assert check["remedy"] == ""
    assert run("uninstall", "codex").code == 0
    assert "trusted_hash" in file.read_text(encoding="utf-8")  # the user's consent is not ours to remove


def test_a_program_that_is_gone_is_wrong(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("install", "gemini").code == 0
    assert run("doctor").code == 0
    monkeypatch.setenv("PATH", "/nowhere")
    (check,) = checks(run, "Gemini CLI")
    assert (check["ok"], check["what"]) == (False, "Gemini CLI starts omoide, which is not there")
    assert run("doctor").code == 1


def test_doctor_shows_when_and_how_the_last_call_went(omoide: Run, home: Path) -> None:
    assert omoide("remember", "We use pnpm").code == 0
    assert omoide("install", "gemini").code == 0
    (check,) = checks(omoide, "Gemini CLI")
    assert check["what"].endswith("; its hooks have not called yet")
    call = b'{"hook_event_name": "BeforeAgent", "session_id": "s", "prompt": "Which package manager?", "cwd": "/"}'
    assert omoide("hook", input=call, OMOIDE_HOOK_SECONDS="30").code == 0
    (check,) = checks(omoide, "Gemini CLI")
    assert re.search(r"; last call \d{4}-\d\d-\d\d \d\d:\d\d \(prompt\) took \d+ ms$", check["what"])
    assert (check["ok"], check["remedy"]) == (True, "")
    broken = home.parent / "shop" / ".agent"
    broken.mkdir(parents=True)
    (broken / "config.toml").write_text("[")
    call = call.replace(b'"/"', f'"{broken.parent}"'.encode()).replace(b'"s"', b'"t"')
    assert omoide("hook", input=call, OMOIDE_HOOK_SECONDS="30").code == 0
    (check,) = checks(omoide, "Gemini CLI")
    assert "(prompt) failed: " in check["what"]
    assert check["remedy"] == "omoide hook log shows the calls"


def test_hooks_without_a_server_are_wrong(run: Run, home: Path) -> None:
    assert run("install", "claude-code").code == 0
    (home / ".claude.json").write_text("{}")
    (check,) = checks(run, "Claude Code")
    assert (check["ok"], check["remedy"]) == (False, "omoide install claude-code")


def test_a_broken_settings_file_is_shown(run: Run, home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text("{")
    assert checks(run, "Gemini CLI") == []  # not ours
    (home / ".gemini/settings.json").write_text('{"mcpServers": {"omoide": {')
    (check,) = checks(run, "Gemini CLI")
    assert not check["ok"]
    assert "not valid JSON" in check["what"]
