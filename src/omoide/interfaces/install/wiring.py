"""The files of each client, and the entries that omoide puts into them."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from omoide.errors import InvalidInput
from omoide.interfaces.mcp.client_config import CLIENTS, client_path

SECONDS = 5
"""How long a client waits for a hook; `omoide hook` itself takes at most one second."""
_SCRIPT = "opencode_plugin.js"
PROGRAM_MARK = "@OMOIDE@"
"""What stands for the program in the script of opencode."""


class Wiring(NamedTuple):
    """A file that a client reads, and what omoide puts into it."""

    path: Path
    table: str = ""
    """The name of the table of MCP servers; empty: the file has none."""
    server: dict[str, Any] | None = None
    """The entry `omoide` of that table; None: it is to be removed."""
    hooks: dict[str, Any] | None = None
    """The entry for each event; empty: all are to be removed; None: the file has no hooks."""
    version: int | None = None
    """The version that the format of the file asks for."""
    script: str | None = None
    """The whole file, where it is a program."""
    is_script: bool = False
    private: bool = False
    """Whether a new file is for its owner alone."""

    @property
    def has_entries(self) -> bool:
        """Whether there is anything to put into the file."""
        return self.server is not None or bool(self.hooks) or self.script is not None

    @property
    def without_entries(self) -> "Wiring":
        """The same file with nothing of omoide in it."""
        return self._replace(server=None, hooks=None if self.hooks is None else {}, script=None)


class Installation(NamedTuple):
    """What `omoide install` writes for a client: its files, and what the user does next."""

    client: str
    scope: str
    files: tuple[Wiring, ...]
    steps: tuple[str, ...]


class _HookFile(NamedTuple):
    """The file of a client's hooks, by scope, and its entries."""

    project: str
    user: Callable[[], Path]
    entries: Callable[[str, bool], dict[str, Any]]
    """The entry for each event, by the command and whether the client can call tools of the running server."""
    version: int | None = None
    tools_since: tuple[str, tuple[int, ...]] | None = None
    """The program of the client, and since which version its hooks can call tools."""


NAMES = ("claude-code", "codex", "gemini", "copilot", "cursor", "vscode", "opencode")
"""The clients that can be installed, the most used first."""


def installation(
    client: str, scope: str, root: Path, program: str, *, hooks: bool = True, probe: bool = False
) -> Installation:
    """Return the files and entries of a client.

    `scope` is "user" or "project", `root` the directory of the project, `program` how a client starts omoide. Without
    `hooks` only the MCP server is registered. `probe` asks the client for its version: an old one gets hooks that it knows.
    Raise InvalidInput for an unknown client.
    """
    if client not in NAMES:
        raise InvalidInput(f"there is no client {client!r}: use one of {', '.join(NAMES)}")
    known = CLIENTS[client]
    is_project = scope == "project"
    server_path = root / known.project_file if is_project else known.user_file()
    if client == "opencode":
        server_path = _existing(server_path, server_path.with_suffix(".jsonc"))
    server = Wiring(server_path, known.table, known.server([program, "mcp"]), private=client == "claude-code")
    steps = tuple(_steps(client, scope, hooks=hooks))
    if client == "opencode":
        script_path = (root / ".opencode" if is_project else server_path.parent) / "plugin" / "omoide.js"
        script = Wiring(script_path, script=_script(program) if hooks else None, is_script=True)
        return Installation(client, scope, (server, script), steps)
    file = _HOOK_FILES[client]
    tools = not (hooks and probe and file.tools_since) or _is_since(*file.tools_since)
    entries = file.entries(_command(program), tools) if hooks else {}
    path = root / file.project if is_project else file.user()
    if path == server_path:
        return Installation(client, scope, (server._replace(hooks=entries),), steps)
    hook_wiring = Wiring(path, hooks=entries, version=file.version)
    return Installation(client, scope, (server, hook_wiring), steps)


def stable_program() -> tuple[str, str]:
    """Return how clients start omoide, and a note for the user if that depends on where it is installed.

    `omoide` by name if the shell finds it without an activated environment: the entry then stays the same over upgrades.
    """
    environment = os.environ.get("VIRTUAL_ENV")
    activated = None if environment is None else str(Path(environment) / ("Scripts" if os.name == "nt" else "bin"))
    directories = [one for one in os.environ.get("PATH", "").split(os.pathsep) if one and one != activated]
    if shutil.which("omoide", path=os.pathsep.join(directories)):
        return "omoide", ""
    running = Path(sys.argv[0]).absolute()
    if running.name.removesuffix(".exe") != "omoide":
        running = Path(sys.executable).with_name("omoide")
    note = f"omoide is not on PATH: the entries name {running}. If it moves, run `omoide install` again"
    return str(running), note


def _command(program: str) -> str:
    return f"{program if program == 'omoide' else shlex.quote(program)} hook"


def _existing(*paths: Path) -> Path:
    """The last of these files that exists, else the first."""
    return next((path for path in reversed(paths) if path.exists()), paths[0])


def _script(program: str) -> str:
    text = resources.files(__package__).joinpath(_SCRIPT).read_text(encoding="utf-8")
    quoted = program.replace("\\", "\\\\").replace('"', '\\"')
    return text.replace(PROGRAM_MARK, quoted)


def _handler(command: str) -> dict[str, Any]:
    return {"type": "command", "command": command, "timeout": SECONDS}


def _tool(*fields: str) -> dict[str, Any]:
    """A hook that calls the running MCP server: no process is started."""
    names = {"event": "hook_event_name", "session": "session_id", "transcript": "transcript_path"}
    given = {field: f"${{{names.get(field, field)}}}" for field in fields}
    return {"type": "mcp_tool", "server": "omoide", "tool": "hook", "timeout": SECONDS, "input": given}


def _claude_code(command: str, tools: bool) -> dict[str, Any]:
    # Session start cannot call a server: Claude Code runs its hooks before the servers are connected.
    prompt = _tool("event", "session", "prompt", "cwd", "transcript")
    return {
        "SessionStart": {"matcher": "startup|resume|clear|compact", "hooks": [_handler(command)]},
        "UserPromptSubmit": {"hooks": [prompt if tools else _handler(command)]},
        "PreCompact": {"hooks": [_handler(command)]},
        "Stop": {"hooks": [_handler(command)]},
    }


def _codex(command: str, tools: bool) -> dict[str, Any]:
    # Without the transcript: it may be null, and a field that is missing fails the hook.
    start = _tool("event", "session", "cwd") if tools else _handler(command)
    prompt = _tool("event", "session", "prompt", "cwd") if tools else _handler(command)
    return {
        "SessionStart": {"hooks": [start]},
        "UserPromptSubmit": {"hooks": [prompt]},
        "PreCompact": {"hooks": [_handler(command)]},
        "Stop": {"hooks": [_handler(command)]},
    }


def _gemini(command: str, _: bool) -> dict[str, Any]:
    # Its time limits are in milliseconds.
    handler = {"name": "omoide", "type": "command", "command": command, "timeout": SECONDS * 1000}
    return {event: {"hooks": [handler]} for event in ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress")}


def _copilot(command: str, _: bool) -> dict[str, Any]:
    # One form for Copilot CLI and Visual Studio Code, because both read the same directories.
    return {event: _handler(command) for event in ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop")}


def _cursor(command: str, _: bool) -> dict[str, Any]:
    # Only documented fields: Cursor refuses a file with others.
    entry = {"command": command, "timeout": SECONDS}
    return dict.fromkeys(("sessionStart", "beforeSubmitPrompt", "preCompact", "stop"), entry)


def _copilot_hooks() -> Path:
    return client_path("COPILOT_HOME", ".copilot", "hooks/omoide.json")


_HOOK_FILES = {
    "claude-code": _HookFile(
        ".claude/settings.json",
        lambda: client_path("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
        _claude_code,
        tools_since=("claude", (2, 1, 118)),
    ),
    "codex": _HookFile(
        ".codex/hooks.json",
        lambda: client_path("CODEX_HOME", ".codex", "hooks.json"),
        _codex,
        tools_since=("codex", (0, 166, 0)),
    ),
    "gemini": _HookFile(".gemini/settings.json", lambda: Path.home() / ".gemini/settings.json", _gemini),
    "copilot": _HookFile(".github/hooks/omoide.json", _copilot_hooks, _copilot, 1),
    "vscode": _HookFile(".github/hooks/omoide.json", lambda: Path.home() / ".copilot/hooks/omoide.json", _copilot, 1),
    "cursor": _HookFile(".cursor/hooks.json", lambda: Path.home() / ".cursor/hooks.json", _cursor, 1),
}


def _is_since(program: str, since: tuple[int, ...]) -> bool:
    """Whether the client that is installed has this version or a later one; one that is not found is taken for a new one."""
    found = shutil.which(program)
    if found is None:
        return True
    try:
        done = subprocess.run(  # noqa: S603 - the user's own client
            [found, "--version"], check=False, capture_output=True, text=True, timeout=10, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):  # fallback: it is taken for a new one
        return True
    version = re.search(r"(\d+)\.(\d+)\.(\d+)", done.stdout)
    return version is None or tuple(map(int, version.groups())) >= since


def _steps(client: str, scope: str, *, hooks: bool) -> list[str]:
    """What the user still has to do."""
    steps = {
        ("claude-code", "project"): "start claude in the project and approve the server omoide: it asks once",
        ("gemini", "project"): "start gemini in the project and trust the folder: it asks, or use its command /permissions",
        ("copilot", "project"): "start copilot in the project and trust the folder: it asks once",
        ("codex", "project"): "start codex in the project and trust it: it reads a project's files only then",
        ("cursor", "project"): "open Cursor's settings, MCP, and turn the server omoide on",
        ("cursor", "user"): "open Cursor's settings, MCP, and turn the server omoide on if it is off",
        (
            "vscode",
            "project",
        ): "open the project in Visual Studio Code and start the server omoide: it asks whether to trust it",
        ("vscode", "user"): "restart Visual Studio Code and start the server omoide: it asks whether to trust it",
    }
    found = [steps[client, scope]] if (client, scope) in steps else []
    if client == "codex" and hooks:
        found.append("open codex, enter /hooks and trust the hooks of omoide: until then Codex skips them")
    if client == "opencode" and hooks:
        found.append("start opencode: it installs its library for plugins once, which may take a minute")
    elif client in ("claude-code", "gemini", "copilot", "opencode") and scope == "user":
        found.append(f"start {CLIENTS[client].title} again if it is running")
    return found
