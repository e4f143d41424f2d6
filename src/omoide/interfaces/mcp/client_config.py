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
    """A client: its files, and what to put into them."""

    title: str
    project_file: str
    """The file in a project that names its servers; empty: there is none."""
    user_file: Callable[[], Path]
    """The file for all projects."""
    table: str
    """The name of the table of servers in these files."""
    server: Callable[[Command], dict[str, Any]]
    """The entry that starts omoide with a command."""
    remote: Callable[[str], dict[str, Any]] | None
    """The entry for the HTTP server; None if the client's file cannot send a token."""
    inputs: tuple[dict[str, Any], ...] = ()
    """What the entry for the HTTP server makes the client ask for."""
    hint: str = ""
    user_note: str = ""
    """How a person finds the file for all projects, where its path is not enough."""
    authorization_hint: str = f"set {VARIABLE} to what `omoide mcp token` prints"
    """How a person gives it the token of the HTTP server."""

    def files(self) -> list[str]:
        """Return the files it reads, for a person, the preferred one first."""
        project = [f"{self.project_file} in the project"] if self.project_file else []
        return [*project, self.user_note or str(self.user_file())]

    def snippet(self, entry: dict[str, Any], inputs: Sequence[dict[str, Any]] = ()) -> str:
        """Return a whole file with only this entry."""
        if self.table == "mcp_servers":
            return f"[mcp_servers.omoide]\n{toml_lines(entry)}"
        return serialize.dump_json({**({"inputs": inputs} if inputs else {}), self.table: {"omoide": entry}})


def _split(command: Command) -> dict[str, Any]:
    return {"command": command[0], "args": command[1:]}


def _bearer(reference: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {reference}"}


def _stdio(command: Command) -> dict[str, Any]:
    return {"type": "stdio", **_split(command)}


def toml_lines(entry: dict[str, Any], newline: str = "\n") -> str:
    """Return an entry as lines of TOML: its strings and lists of strings have the syntax of JSON's."""
    return newline.join(f"{key} = {toml_value(value)}" for key, value in entry.items())


def toml_value(value: str | Sequence[str]) -> str:
    """Return a string or a list of strings as TOML."""
    if isinstance(value, str):
        return serialize.dump_json(value, indent=0)
    return f"[{', '.join(map(toml_value, value))}]"


def _desktop() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/Claude/claude_desktop_config.json"
    if os.name == "nt":
        return Path(r"%APPDATA%\Claude\claude_desktop_config.json")
    return client_path("XDG_CONFIG_HOME", ".config", "Claude/claude_desktop_config.json")


def _vscode_user() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/Code/User/mcp.json"
    if os.name == "nt":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData/Roaming") / "Code/User/mcp.json"
    return client_path("XDG_CONFIG_HOME", ".config", "Code/User/mcp.json")


def client_path(variable: str, default: str, name: str) -> Path:
    """Return a file in the client's directory, which its own variable may move."""
    return Path(os.environ.get(variable) or Path.home() / default) / name


CLIENTS = {
    "claude-code": Client(
        "Claude Code",
        ".mcp.json",
        lambda: client_path("CLAUDE_CONFIG_DIR", "", ".claude.json"),
        "mcpServers",
        _stdio,
        lambda url: {"type": "http", "url": url, "headers": _bearer(f"${{{VARIABLE}}}")},
        hint="or, for all projects: claude mcp add --scope user omoide -- {command}",
    ),
    "claude-desktop": Client(
        "Claude Desktop",
        "",
        _desktop,
        "mcpServers",
        _split,
        None,
        hint="It starts servers outside of any project: add --project to the arguments, or use the global layer.",
    ),
    "cursor": Client(
        "Cursor",
        ".cursor/mcp.json",
        lambda: Path.home() / ".cursor/mcp.json",
        "mcpServers",
        _stdio,
        lambda url: {"url": url, "headers": _bearer(f"${{env:{VARIABLE}}}")},
    ),
    "vscode": Client(
        "Visual Studio Code",
        ".vscode/mcp.json",
        _vscode_user,
        "servers",
        _stdio,
        lambda url: {"type": "http", "url": url, "headers": _bearer("${input:omoide-token}")},
        inputs=(
            {"type": "promptString", "id": "omoide-token", "description": "omoide mcp token prints it", "password": True},
        ),
        user_note="the user's, with the command MCP: Open User Configuration",
        authorization_hint="when it asks for the token, enter what `omoide mcp token` prints",
    ),
    "codex": Client(
        "Codex",
        ".codex/config.toml",
        lambda: client_path("CODEX_HOME", ".codex", "config.toml"),
        "mcp_servers",
        _split,
        lambda url: {"url": url, "bearer_token_env_var": VARIABLE},
    ),
    "gemini": Client(
        "Gemini CLI",
        ".gemini/settings.json",
        lambda: Path.home() / ".gemini/settings.json",
        "mcpServers",
        _split,
        lambda url: {"httpUrl": url, "headers": _bearer(f"${VARIABLE}")},
        hint="It starts servers only in a trusted folder: it asks, or use its command /permissions.",
    ),
    "copilot": Client(
        "GitHub Copilot CLI",
        ".github/mcp.json",
        lambda: client_path("COPILOT_HOME", ".copilot", "mcp-config.json"),
        "mcpServers",
        lambda command: {"type": "local", **_split(command), "tools": ["*"]},
        None,
        hint="It reads the file of a project only in a trusted folder: it asks at its start.",
    ),
    "opencode": Client(
        "opencode",
        "opencode.json",
        lambda: client_path("XDG_CONFIG_HOME", ".config", "opencode/opencode.json"),
        "mcp",
        lambda command: {"type": "local", "command": command, "enabled": True},
        lambda url: {"type": "remote", "url": url, "headers": _bearer(f"{{env:{VARIABLE}}}"), "enabled": True},
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
        return Registration(notes, client.snippet(client.server(command)))
    if client.remote is None:
        raise InvalidInput(f"{client.title} cannot send a token from its file: omit --http")
    notes += [f"and {client.authorization_hint}; `omoide mcp --daemon` starts the server"]
    return Registration(notes, client.snippet(client.remote(url), client.inputs))


def program() -> str:
    """Return the full path of this omoide: a client started from a desktop has another PATH than a shell."""
    installed = Path(sys.executable).with_name("omoide")
    return str(installed) if installed.exists() else shutil.which("omoide") or "omoide"
