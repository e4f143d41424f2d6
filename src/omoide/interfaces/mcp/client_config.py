"""How each client is told about omoide: which file, and what to put into it."""

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
    title: str
    places: Callable[[], Sequence[str]]
    """The files it reads, the one to prefer first."""
    local: Callable[[Command], str]
    remote: Callable[[str], str] | None
    """For the HTTP server; None where the client's file has no way to send a token."""
    hint: str = ""
    admission: str = f"set {VARIABLE} to what `omoide mcp token` prints"
    """How a person lets it bear the token of the HTTP server."""


def _json(*path: str) -> Callable[[dict[str, Any]], str]:
    def dumped(server: dict[str, Any]) -> str:
        value: dict[str, Any] = {"omoide": server}
        for name in reversed(path):
            value = {name: value}
        return serialize.dump_json(value)

    return dumped


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
    return serialize.dump_json(text, indent=0)  # a basic string of TOML is written like one of JSON


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
    """A file in the directory that the client's own variable moves."""
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
        "It starts servers outside of any project: add --project to the arguments, or work in the global layer.",
    ),
    "cursor": Client(
        "Cursor",
        lambda: [".cursor/mcp.json in the project", _home(".cursor/mcp.json")],
        lambda command: _servers({"type": "stdio", **_split(command)}),
        lambda url: _servers({"url": url, "headers": _bearer(f"${{env:{VARIABLE}}}")}),
    ),
    "vscode": Client(
        "Visual Studio Code",
        lambda: [".vscode/mcp.json in the project", "the user's, by the command MCP: Open User Configuration"],
        lambda command: _json("servers")({"type": "stdio", **_split(command)}),
        _vscode,
        admission="when it asks for the token, give it what `omoide mcp token` prints",
    ),
    "codex": Client("Codex", lambda: [_client_path("CODEX_HOME", ".codex", "config.toml")], _codex, _codex_http),
    "gemini": Client(
        "Gemini CLI",
        lambda: [".gemini/settings.json in the project", _home(".gemini/settings.json")],
        lambda command: _servers(_split(command)),
        lambda url: _servers({"httpUrl": url, "headers": _bearer(f"${VARIABLE}")}),
        "It starts servers only in a folder that you trust: it asks, or its command /permissions says so.",
    ),
    "opencode": Client(
        "opencode",
        lambda: ["opencode.json in the project", _client_path("XDG_CONFIG_HOME", ".config", "opencode/opencode.json")],
        lambda command: _json("mcp")({"type": "local", "command": command, "enabled": True}),
        lambda url: _json("mcp")({"type": "remote", "url": url, "headers": _bearer(f"{{env:{VARIABLE}}}"), "enabled": True}),
    ),
}  # fmt: skip


class Registration(NamedTuple):
    notes: list[str]
    """Where it goes, for a person."""
    snippet: str
    """What goes there, as it is."""


def registration(name: str, flags: Sequence[str], url: str | None) -> Registration:
    """The files and the snippet for a client: to start omoide itself, or to reach the server at this URL."""
    client = CLIENTS.get(name)
    if client is None:
        raise InvalidInput(f"there is no client {name!r}: {', '.join(CLIENTS)}")
    notes = [f"{client.title}: put this into", *(f"  {place}" for place in client.places())]
    if url is None:
        command = [program(), "mcp", *flags]
        if client.hint:
            notes.append(client.hint.format(command=shlex.join(command)))
        return Registration(notes, client.local(command))
    if client.remote is None:
        raise InvalidInput(f"{client.title} cannot send a token from its file: leave --http out")
    notes += [f"and {client.admission}; `omoide mcp --daemon` starts the server"]
    return Registration(notes, client.remote(url))


def program() -> str:
    """This omoide by its whole path: a client started from a desktop has another PATH than a shell."""
    beside = Path(sys.executable).with_name("omoide")
    return str(beside) if beside.exists() else shutil.which("omoide") or "omoide"
