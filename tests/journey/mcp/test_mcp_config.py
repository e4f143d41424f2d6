"""The snippets of `omoide mcp config`: each parses, and the server it starts answers."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omoide.interfaces.mcp.client_config import CLIENTS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "mcp.md").read_text(encoding="utf-8")
LIST = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n'


def server_in(client: str, snippet: str) -> dict[str, Any]:
    if client == "codex":
        return tomllib.loads(snippet)["mcp_servers"]["omoide"]
    top = {"vscode": "servers", "opencode": "mcp"}.get(client, "mcpServers")
    return json.loads(snippet)[top]["omoide"]


def test_config_lists_the_supported_clients(run: Callable[..., Any]) -> None:
    assert list(CLIENTS) == ["claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini", "copilot", "opencode"]
    assert [line.split()[0] for line in run("mcp", "config").out.splitlines()] == list(CLIENTS)
    assert "claude-code" in run("mcp", "config", "emacs").err


@pytest.mark.parametrize("client", CLIENTS)
def test_the_snippet_starts_a_server_that_answers(client: str, run: Callable[..., Any]) -> None:
    done = run("mcp", "config", client, "--project", "backend/shop", "--tools", "layers")
    assert done.code == 0
    assert CLIENTS[client].title in done.err
    server = server_in(client, done.out)
    command = server["command"] if client == "opencode" else [server["command"], *server["args"]]
    assert command[1:] == ["mcp", "--project", "backend/shop", "--tools", "layers"]
    main = "import sys; sys.argv[0] = 'omoide'; from omoide.interfaces.cli import main; main()"
    answer = subprocess.run([sys.executable, "-c", main, *command[1:]], input=LIST, capture_output=True, check=True)
    assert len(json.loads(answer.stdout)["result"]["tools"]) == 25


def test_the_snippet_uses_absolute_paths(run: Callable[..., Any], place: Path) -> None:
    done = run("mcp", "config", "claude-code", "--store", "my memories/own.db", "--project", "the shop")
    store = str(place / "my memories" / "own.db")
    assert server_in("claude-code", done.out)["args"] == ["mcp", "--store", store, "--project", "the shop"]
    (command,) = (line for line in done.err.splitlines() if "claude mcp add" in line)
    assert shlex.split(command)[-4:] == ["--store", store, "--project", "the shop"]


@pytest.mark.parametrize("flags", [["--project", "x", "--global"], ["--project", "../x"], ["--session", "a/b"]])
def test_invalid_flags_print_no_snippet(flags: list[str], run: Callable[..., Any]) -> None:
    done = run("mcp", "config", "codex", *flags)
    assert (done.code, done.out) == (2, "")
    assert run("mcp", *flags).code == 2


@pytest.mark.parametrize("flags", [["--tools", "layers"], ["--global"]])
def test_flags_of_the_running_server_are_refused_with_http(flags: list[str], run: Callable[..., Any]) -> None:
    done = run("mcp", "config", "gemini", "--http", *flags)
    assert done.code == 2
    assert "give these to the server" in done.err


@pytest.mark.parametrize("client", CLIENTS)
def test_the_http_snippet_does_not_contain_the_token(client: str, run: Callable[..., Any]) -> None:
    token = run("mcp", "token").out.strip()
    done = run("mcp", "config", client, "--http", "--project", "backend/shop")
    if client in ("claude-desktop", "copilot"):  # cannot send a token from a file
        assert done.code == 2
        return
    assert "http://127.0.0.1:8765/mcp?project=backend%2Fshop" in done.out
    assert token not in done.out
    server_in(client, done.out)
    assert "omoide mcp token" in done.err
    assert ("OMOIDE_MCP_TOKEN" in done.err) == ("OMOIDE_MCP_TOKEN" in done.out)  # only what the snippet reads is to be set


# What VS Code's reference of mcp.json asks for, by the type of a server: what must be there, and what may be.
VSCODE = {
    "stdio": ({"type", "command"}, {"args", "cwd", "env", "envFile"}),
    "http": ({"type", "url"}, {"headers"}),
}


@pytest.mark.parametrize(("type", "flags"), [("stdio", ["--project", "backend/shop"]), ("http", ["--http"])])
def test_the_visual_studio_code_snippet_has_the_fields_of_its_reference(
    type: str, flags: list[str], run: Callable[..., Any]
) -> None:
    snippet = json.loads(run("mcp", "config", "vscode", *flags).out)
    assert set(snippet) <= {"servers", "inputs"}
    server = snippet["servers"]["omoide"]
    required, optional = VSCODE[type]
    assert server["type"] == type
    assert required <= set(server) <= required | optional
    assert all(isinstance(server[name], str) for name in required)
    assert all(isinstance(word, str) for word in server.get("args", []))
    inputs = {one["id"]: one for one in snippet.get("inputs", [])}
    for one in inputs.values():
        assert set(one) <= {"type", "id", "description", "password", "default"}
        assert (one["type"], one["password"]) == ("promptString", True)  # asked for once, and not shown
        assert one["description"]
    # Every variable that it asks for is used, and every one that is used is asked for.
    used = set(re.findall(r"\$\{input:([^}]+)\}", json.dumps(server)))
    assert used == set(inputs) == (set() if type == "stdio" else {"omoide-token"})


def test_config_names_the_file_in_the_clients_own_directory_variable(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", "/moved/codex")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/moved/config")
    assert "  /moved/codex/config.toml\n" in run("mcp", "config", "codex").err
    assert "  /moved/config/opencode/opencode.json\n" in run("mcp", "config", "opencode").err


def test_the_http_snippet_has_the_url_of_the_running_server(omoide: Callable[..., Any]) -> None:
    started = omoide("mcp", "--daemon", "--http", "127.0.0.1:0")
    assert started.code == 0, started.err
    try:
        server = server_in("gemini", omoide("mcp", "config", "gemini", "--http").out)
        assert server["httpUrl"] == omoide("mcp", "status", "--json").data["url"]
    finally:
        omoide("mcp", "stop")


@pytest.mark.parametrize("client", CLIENTS)
def test_the_documentation_shows_each_client(client: str) -> None:
    assert f"omoide mcp config {client}" in PAGE
    assert CLIENTS[client].title in PAGE
