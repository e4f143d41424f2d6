"""omoide install and uninstall: entries come and go, and not a byte of anything else changes."""

import json
import re
import shutil
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journey.settings_examples import CLAUDE, CODEX_HOOKS, EXAMPLES, GEMINI, Example
from omoide.interfaces.install.wiring import NAMES

Run = Callable[..., Any]
MOVED = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "VIRTUAL_ENV")


@pytest.fixture
def home(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with Japanese and spaces, and omoide on PATH."""
    home = place / "山田 太郎"
    programs = place / "bin"
    for directory in (home, programs):
        directory.mkdir()
    (programs / "omoide").symlink_to(sys.executable)
    for name in MOVED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return home


def snapshot(directory: Path) -> dict[str, bytes]:
    """Every file of a directory but omoide's own, and every directory."""
    found = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if not name.startswith(".local"):
            found[name] = path.read_bytes() if path.is_file() else b"directory"
    return found


def put(home: Path, example: Example) -> Path:
    path = home / example.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(example.data)
    return path


def values(path: Path) -> Any:
    """The values of a settings file, read without omoide's code."""
    text = path.read_bytes().decode("utf-8-sig")
    if path.suffix == ".toml":
        return tomllib.loads(text)
    strings_or_comments = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
    text = strings_or_comments.sub(lambda match: match[1] or "", text)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", text).strip() or "{}")


def handlers(path: Path) -> list[tuple[str, dict[str, Any]]]:
    hooks = values(path).get("hooks", {})
    lists = [
        (event, one)
        for event, entries in hooks.items()
        if isinstance(entries, list)
        for one in entries
        if isinstance(one, dict)
    ]
    return [(event, handler) for event, one in lists for handler in one.get("hooks", [one])]


def is_ours(handler: dict[str, Any]) -> bool:
    return handler.get("command") == "omoide hook" or (handler.get("server"), handler.get("tool")) == ("omoide", "hook")


def without_empty(value: Any) -> Any:
    """A value without empty lists and tables, and without the version that omoide adds."""
    if not isinstance(value, dict):
        return value
    inner = {key: without_empty(one) for key, one in value.items() if key != "version"}
    return {key: one for key, one in inner.items() if one not in ([], {})}


def hook_file(client: str, home: Path) -> Path:
    names = {"gemini": GEMINI, "cursor": ".cursor/hooks.json", "codex": CODEX_HOOKS, "claude-code": CLAUDE}
    return home / names.get(client, ".copilot/hooks/omoide.json")


@pytest.mark.parametrize("name", EXAMPLES)
def test_install_and_uninstall_give_every_byte_back(name: str, run: Run, home: Path) -> None:
    example = EXAMPLES[name]
    path = put(home, example)
    before, original = snapshot(home), values(path)
    done = run("install", example.client)
    assert done.code == 0, done.err
    assert path.read_bytes() != example.data
    if example.client == "opencode":
        assert "omoide" in (home / ".config/opencode/plugin/omoide.js").read_text(encoding="utf-8")
    else:
        assert any(is_ours(handler) for _, handler in handlers(hook_file(example.client, home)))
    for key, value in original.items():  # everything of the user is there, in the same order
        if key not in ("hooks", "mcpServers", "servers", "mcp", "mcp_servers"):
            assert values(path)[key] == value
    assert [key for key in values(path) if key in original] == list(original)
    installed = snapshot(home)
    again = run("install", example.client)
    assert (again.code, snapshot(home)) == (0, installed)
    assert "is installed already" in again.out
    done = run("uninstall", example.client)
    assert done.code == 0, done.err
    assert snapshot(home) == before


@pytest.mark.parametrize("name", EXAMPLES)
def test_without_the_record_the_entries_are_recognised(name: str, run: Run, home: Path) -> None:
    example = EXAMPLES[name]
    path = put(home, example)
    original = values(path)
    assert run("install", example.client).code == 0
    shutil.rmtree(home / ".local")
    assert run("uninstall", example.client).code == 0
    if example.exact:
        assert path.read_bytes() == example.data
    else:
        assert b"omoide" not in path.read_bytes()
        assert without_empty(values(path)) == without_empty(original)


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_somebody_changed_after_the_installation_stays(name: str, run: Run, home: Path) -> None:
    example = EXAMPLES[name]
    path = put(home, example)
    original = values(path)
    assert run("install", example.client).code == 0
    line = b"added = 1\n" if path.suffix == ".toml" else None
    installed = path.read_bytes()
    if line is None:
        opening = installed.index(
            b"{", 0 if not installed.removeprefix(b"\xef\xbb\xbf").startswith(b"//") else installed.index(b"\n")
        )
        changed = installed[: opening + 1] + b'"added": 1,' + installed[opening + 1 :]
    else:
        mark = b"\xef\xbb\xbf" if installed.startswith(b"\xef\xbb\xbf") else b""
        changed = mark + line + installed.removeprefix(mark)
    path.write_bytes(changed)
    assert run("uninstall", example.client).code == 0
    left = path.read_bytes()
    assert values(path)["added"] == 1
    assert b"omoide" not in left.replace(b'[mcp_servers.omoide]\ncommand = "not this one"', b"").replace(
        b'// "mcpServers": {"omoide"', b""
    )
    if example.exact and (original or path.suffix == ".toml"):
        assert left.replace(b'"added": 1,', b"", 1).replace(b"added = 1\n", b"", 1) == example.data


@pytest.mark.parametrize("client", NAMES)
@pytest.mark.parametrize("scope", ["--user", "--project"])
def test_files_and_directories_that_were_not_there_are_removed(client: str, scope: str, run: Run, home: Path) -> None:
    before = snapshot(home.parent)
    done = run("install", client, scope)
    assert done.code == 0, done.err
    assert snapshot(home.parent) != before
    assert run("uninstall", client, scope).code == 0
    after = {name: data for name, data in snapshot(home.parent).items() if "/.local" not in name}
    assert after == before
