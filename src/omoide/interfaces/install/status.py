"""Which clients are wired to omoide, where, and whether they trust its hooks."""

import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from omoide.errors import OmoideError
from omoide.interfaces.install import entries, settings_file
from omoide.interfaces.install.hook_entries import find_hooks, is_hook
from omoide.interfaces.install.json_text import JsonText
from omoide.interfaces.install.toml_text import TomlText
from omoide.interfaces.install.wiring import NAMES, Installation, Wiring, installation
from omoide.interfaces.mcp.client_config import CLIENTS
from omoide.model import HookRecord, HookState
from omoide.service.doctor import Check

_PROGRAMS = {"claude-code": "claude", "vscode": "code"}
"""The programs of clients whose names differ."""


class ClientStatus(NamedTuple):
    """What a client's files of one scope say of omoide."""

    client: str
    scope: str
    servers: tuple[Path, ...] = ()
    """The files that register the MCP server."""
    hooks: tuple[Path, ...] = ()
    """The files with hooks."""
    programs: tuple[str, ...] = ()
    """The programs that they start."""
    fault: str = ""
    """Why a file cannot be read."""

    @property
    def is_wired(self) -> bool:
        """Whether there is anything of omoide."""
        return bool(self.servers or self.hooks)


def client_checks(root: Path | None, last_calls: Mapping[str, HookRecord]) -> Iterator[Check]:
    """Yield a finding for each client that is wired, and one for those that are there and are not.

    `root`: the project to look into, if any. `last_calls`: the last call of each client's hooks.
    """
    missing = []
    for client in NAMES:
        found = [status(client, "user", Path.cwd())]
        if root is not None:
            found.append(status(client, "project", root))
        wired = [one for one in found if one.is_wired or one.fault]
        for one in wired:
            yield _check(one, last_calls.get(client))
        if not wired and _is_there(client):
            missing.append(client)
    if missing:
        yield Check(ok=True, what=f"not wired: {', '.join(missing)}", remedy=f"omoide install {missing[0]}")


def status(client: str, scope: str, root: Path) -> ClientStatus:
    """Return what a client's files of one scope say of omoide."""
    parts = installation(client, scope, root, "omoide")
    servers: list[Path] = []
    hooks: list[Path] = []
    programs: list[str] = []
    try:
        for wiring in parts.files:
            for kind, program in _entries(wiring):
                (servers if kind == "server" else hooks).append(wiring.path)
                programs.append(program)
    except OmoideError as error:
        return ClientStatus(client, scope, fault=str(error) if _mentions_omoide(parts) else "")
    return ClientStatus(
        client, scope, tuple(dict.fromkeys(servers)), tuple(dict.fromkeys(hooks)), tuple(dict.fromkeys(programs))
    )


def _mentions_omoide(parts: Installation) -> bool:
    """Whether a file that cannot be read as settings concerns omoide at all."""
    for wiring in parts.files:
        try:
            if b"omoide" in wiring.path.read_bytes():
                return True
        except OSError:  # fallback: nothing can be said about it
            continue
    return False


def _entries(wiring: Wiring) -> Iterator[tuple[str, str]]:
    """The entries of omoide in a file: what each is, and the program that it starts; empty: none, or the running server."""
    file = settings_file.read(wiring.path)
    if file.data is None:
        return
    for entry in entries.present(file.text, wiring):
        if isinstance(entry, str):
            named = re.search(r'^const PROGRAM = "(.*)"$', entry, re.MULTILINE)
            yield "hooks", named[1].replace('\\"', '"').replace("\\\\", "\\") if named else ""
        elif is_hook(entry) or "hooks" in entry:
            for handler in [entry] if is_hook(entry) else [one for one in entry["hooks"] if is_hook(one)]:
                yield "hooks", _program(handler)
        else:
            command = entry["command"]
            yield "server", command[0] if isinstance(command, list) else command


def _program(handler: Mapping[str, Any]) -> str:
    command = handler.get("command", handler.get("bash", ""))
    try:
        words = shlex.split(command)
    except ValueError:  # fallback: somebody edited it, and the shell decides what it means
        return ""
    return next((word for word in words if Path(word).name == "omoide"), "")


def _check(one: ClientStatus, last: HookRecord | None) -> Check:
    title = CLIENTS[one.client].title + (" in this project" if one.scope == "project" else "")
    install = f"omoide install {one.client}" + (" --project" if one.scope == "project" else "")
    if one.fault:
        return Check(ok=False, what=f"{title}: {one.fault}", remedy="the client cannot read it either: repair it")
    lost = [program for program in one.programs if program and shutil.which(program) is None]
    if lost:
        return Check(
            ok=False, what=f"{title} starts {lost[0]}, which is not there", remedy=f"{install} writes the entries again"
        )
    if not one.servers:
        return Check(ok=False, what=f"{title}: hooks in {_names(one.hooks)}, but no server omoide", remedy=install)
    if not one.hooks:
        return Check(ok=True, what=f"{title}: server in {_names(one.servers)}, no hooks", remedy=f"{install} adds them")
    trusted, remedy = _trust(one) if one.client == "codex" else ("", "")
    if not remedy and last is not None and last.state in (HookState.FAILED, HookState.RUNNING):
        remedy = "omoide hook log shows the calls"
    files = _names(dict.fromkeys([*one.servers, *one.hooks]))
    return Check(ok=True, what=f"{title}: wired in {files}{trusted}; {_describe(last)}", remedy=remedy)


def _describe(last: HookRecord | None) -> str:
    """When the last call of a client's hooks was, and how it went."""
    if last is None:
        return "its hooks have not called yet"
    call = f"last call {last.at.astimezone():%Y-%m-%d %H:%M} ({last.event.value})"
    if last.state is HookState.FAILED:
        return f"{call} failed: {last.fault}"
    if last.state is HookState.RUNNING:
        return f"{call} did not end"
    return f"{call} took {last.seconds * 1000:.0f} ms"


def _trust(one: ClientStatus) -> tuple[str, str]:
    """Whether Codex trusts the hooks: it keeps the user's consent in its config.toml, one entry for each."""
    user = installation("codex", "user", Path.cwd(), "omoide").files[0]
    text = settings_file.read(user.path).text
    document = TomlText(text, str(user.path))
    states = document.get(["hooks", "state"])
    path = str(one.hooks[0])
    known = states if isinstance(states, dict) else {}
    keys = []
    for place in find_hooks(JsonText(settings_file.read(one.hooks[0]).text, path)):
        event = re.sub(r"(?<!^)(?=[A-Z])", "_", place.event).lower()
        keys.append(f"{path}:{event}:{place.entry[-1]}:{place.path[-1]}")
    count = sum("trusted_hash" in known.get(key, {}) for key in keys)
    if count == len(keys):
        return ", trusted", ""
    return f", {count} of {len(keys)} hooks trusted", "open codex, enter /hooks and trust the hooks of omoide"


def _names(paths: Sequence[Path] | Mapping[Path, None]) -> str:
    home = Path.home()
    return " and ".join(f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path) for path in paths)


def _is_there(client: str) -> bool:
    """Whether a client seems to be installed."""
    parts = installation(client, "user", Path.cwd(), "omoide")
    directories = {wiring.path.parent for wiring in parts.files} - {Path.home()}
    return any(one.is_dir() for one in directories) or shutil.which(_PROGRAMS.get(client, client)) is not None
