"""How each client is configured to use omoide: which file, and what to put into it."""

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from omoide.errors import InvalidInput
from omoide.interfaces import serialize
from omoide.interfaces.http.tokens import VARIABLE

Command = list[str]


class Client(NamedTuple):
    """A client: its files, and the snippets for them."""

    title: str
    files: Callable[[], Sequence[str]]
    """The files it reads, the preferred one first."""
    local: Callable[[Command], str]
    remote: Callable[[str], str] | None
    """The snippet for the HTTP server; None if the client's file cannot send a token."""
    hint: str = ""
    authorization_hint: str = f"set {VARIABLE} to what `omoide mcp token` prints"
    """How a person gives it the token of the HTTP server."""


def _json(*path: str) -> Callable[[dict[str, Any]], str]:
    def render(server: dict[str, Any]) -> str:
        value: dict[str, Any] = {"omoide": server}
        for name in reversed(path):
            value = {name: value}
        return serialize.dump_json(value)

    return render


def _split(command: Command) -> dict[str, Any]:
    return {"command": command[0], "args": command[1:]}


def _bearer(reference: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {reference}"}


_servers = _json("mcpServers")


def _vscode(url: str) -> str:
    ask = {"type": "promptString", "id": "omoide-token", "description": "omoide mcp token prints it", "password": True}
    server = {"type": "http", "url": url, "headers": _bearer("${input:omoide-token}")}
    return serialize.dump_json({"inputs": [ask], "servers": {"omoide": server}})


def _codex(command: Command) -> str:
    return f"[mcp_servers.omoide]\ncommand = {_toml(command[0])}\nargs = [{', '.join(map(_toml, command[1:]))}]"


def _codex_http(url: str) -> str:
    return f"[mcp_servers.omoide]\nurl = {_toml(url)}\nbearer_token_env_var = {_toml(VARIABLE)}"


def _toml(text: str) -> str:
    return serialize.dump_json(text, indent=0)  # TOML's basic strings have the syntax of JSON's


def _desktop() -> Sequence[str]:
    home = Path.home()
    if sys.platform == "darwin":
        return [str(home / "Library/Application Support/Claude/claude_desktop_config.json")]
    if os.name == "nt":
        return [r"%APPDATA%\Claude\claude_desktop_config.json"]
    return [_client_path("XDG_CONFIG_HOME", ".config", "Claude/claude_desktop_config.json")]


def _home(name: str) -> str:
    return str(Path.home() / name)


def _client_path(variable: str, default: str, name: str) -> str:
    """Return a file in the client's directory, which its own variable may move."""
    return str(Path(os.environ.get(variable) or Path.home() / default) / name)


CLIENTS = {
    "claude-code": Client(
        "Claude Code",
        lambda: [".mcp.json in the project"],
        lambda command: _servers({"type": "stdio", **_split(command)}),
        lambda url: _servers({"type": "http", "url": url, "headers": _bearer(f"${{{VARIABLE}}}")}),
        "or, for all projects: claude mcp add --scope user omoide -- {command}",
    ),
    "claude-desktop": Client(
        "Claude Desktop",
        _desktop,
        lambda command: _servers(_split(command)),
        None,
        "It starts servers outside of any project: add --project to the arguments, or use the global layer.",
    ),
    "cursor": Client(
        "Cursor",
        lambda: [".cursor/mcp.json in the project", _home(".cursor/mcp.json")],
        lambda command: _servers({"type": "stdio", **_split(command)}),
        lambda url: _servers({"url": url, "headers": _bearer(f"${{env:{VARIABLE}}}")}),
    ),
    "vscode": Client(
        "Visual Studio Code",
        lambda: [".vscode/mcp.json in the project", "the user's, with the command MCP: Open User Configuration"],
        lambda command: _json("servers")({"type": "stdio", **_split(command)}),
        _vscode,
        authorization_hint="when it asks for the token, enter what `omoide mcp token` prints",
    ),
    "codex": Client("Codex", lambda: [_client_path("CODEX_HOME", ".codex", "config.toml")], _codex, _codex_http),
    "gemini": Client(
        "Gemini CLI",
        lambda: [".gemini/settings.json in the project", _home(".gemini/settings.json")],
        lambda command: _servers(_split(command)),
        lambda url: _servers({"httpUrl": url, "headers": _bearer(f"${VARIABLE}")}),
        "It starts servers only in a trusted folder: it asks, or use its command /permissions.",
    ),
    "opencode": Client(
        "opencode",
        lambda: ["opencode.json in the project", _client_path("XDG_CONFIG_HOME", ".config", "opencode/opencode.json")],
        lambda command: _json("mcp")({"type": "local", "command": command, "enabled": True}),
        lambda url: _json("mcp")({"type": "remote", "url": url, "headers": _bearer(f"{{env:{VARIABLE}}}"), "enabled": True}),
    ),
}


class Registration(NamedTuple):
    """How to register omoide with a client."""

    notes: list[str]
    """Where to put the snippet, for a person."""
    snippet: str


def registration(name: str, flags: Sequence[str], url: str | None) -> Registration:
    """Return the files and the snippet for a client: to start omoide itself, or to use the server at this URL.

    Raise InvalidInput for an unknown client, or one that cannot send a token to a URL.
    """
    client = CLIENTS.get(name)
    if client is None:
        raise InvalidInput(f"there is no client {name!r}: use one of {', '.join(CLIENTS)}")
    notes = [f"{client.title}: put this into", *(f"  {file}" for file in client.files())]
    if url is None:
        command = [program(), "mcp", *flags]
        if client.hint:
            notes.append(client.hint.format(command=shlex.join(command)))
        return Registration(notes, client.local(command))
    if client.remote is None:
        raise InvalidInput(f"{client.title} cannot send a token from its file: omit --http")
    notes += [f"and {client.authorization_hint}; `omoide mcp --daemon` starts the server"]
    return Registration(notes, client.remote(url))


def program() -> str:
    """Return the full path of this omoide: a client started from a desktop has another PATH than a shell."""
    installed = Path(sys.executable).with_name("omoide")
    return str(installed) if installed.exists() else shutil.which("omoide") or "omoide"
