"""omoide install with files that are broken, read-only, linked, edited or not omoide's, and with others that write too."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journey.conftest import PROGRAM
from journey.settings_examples import ACCOUNT, CLAUDE, CODEX, GEMINI, OTHER_HOOKS, TOML_PLAIN, TWO_SPACES
from journey.test_install import handlers, home, is_ours, snapshot, values
from omoide.interfaces.install import settings_file
from omoide.interfaces.install.wiring import NAMES

Run = Callable[..., Any]
__all__ = ["home"]


def put(home: Path, name: str, data: bytes) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


BROKEN = {
    "cut off": ("claude-code", CLAUDE, b'{"hooks": {"Stop": [', "line 1, column 21"),
    "a comma too few": ("claude-code", CLAUDE, b'{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
    "two values": ("claude-code", CLAUDE, b"{}\n{}", "line 2, column 1"),
    "single quotes": ("gemini", GEMINI, b"{'a': 1}", "line 1, column 2"),
    "an endless string": ("gemini", GEMINI, b'{"a": "b\n}', "line 1"),
    "an endless comment": ("gemini", GEMINI, b'{"a": 1 /* b\n}', "line 1, column 9"),
    "deeply nested": ("gemini", GEMINI, b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}", "nested too deeply"),
    "no object": ("claude-code", CLAUDE, b"[1, 2]", "an object is expected"),
    "hooks of the wrong type": ("claude-code", CLAUDE, b'{"hooks": []}', "hooks is a list, an object is expected"),
    "an event of the wrong type": ("claude-code", CLAUDE, b'{"hooks": {"Stop": {}}}', "hooks.Stop is an object, a list"),
    "servers of the wrong type": ("gemini", GEMINI, b'{"mcpServers": "none"}', "mcpServers is a text, an object"),
    "not UTF-8": ("claude-code", CLAUDE, b'{"a": "\xff"}', "not UTF-8 (line 1, byte 7)"),
    "UTF-16": ("claude-code", CLAUDE, '{"a": 1}'.encode("utf-16"), "UTF-16"),
    "broken TOML": ("codex", CODEX, b"[mcp_servers\n", "not valid TOML"),
    "a table twice": ("codex", CODEX, b"[a]\n[a]\n", "not valid TOML"),
    "a server in place of the table": ("codex", CODEX, b"mcp_servers = 1\n", "a table is expected"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_broken_file_is_a_clear_error_and_nothing_is_written(command: str, name: str, run: Run, home: Path) -> None:
    client, path, data, expected = BROKEN[name]
    put(home, path, data)
    before = snapshot(home)
    done = run(command, client)
    if command == "uninstall" and done.code == 0:
        assert "is not installed" in done.out  # a value of the wrong type has no entries of omoide
    else:
        assert done.code == 2
        assert expected in done.err
        assert str(home / path) in done.err
    assert snapshot(home) == before


def test_a_broken_file_of_the_second_client_stops_the_first_one_too(run: Run, home: Path) -> None:
    put(home, CODEX, b"[")
    before = snapshot(home)
    assert run("install", "claude-code", "codex").code == 2
    assert snapshot(home) == before


def test_a_broken_file_of_the_second_client_stops_the_removal_of_the_first_one_too(run: Run, home: Path) -> None:
    assert run("install", "claude-code", "gemini").code == 0
    put(home, GEMINI, b"{")
    before = snapshot(home)
    done = run("uninstall", "claude-code", "gemini")
    assert (done.code, snapshot(home)) == (2, before)
    assert str(home / GEMINI) in done.err


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_read_only_file_of_the_second_client_stops_the_first_one_too(command: str, run: Run, home: Path) -> None:
    path = put(home, GEMINI, b"{}")
    if command == "uninstall":
        assert run("install", "claude-code", "gemini").code == 0
    path.chmod(0o444)
    before = snapshot(home)
    done = run(command, "claude-code", "gemini")
    assert (done.code, snapshot(home)) == (1, before)
    assert f"{path} is read-only (-r--r--r--)" in done.err


def test_a_read_only_file_is_a_clear_error(run: Run, home: Path) -> None:
    path = put(home, CLAUDE, TWO_SPACES)
    path.chmod(0o444)
    before = snapshot(home)
    done = run("install", "claude-code")
    assert done.code == 1
    assert f"{path} is read-only (-r--r--r--)" in done.err
    assert snapshot(home) == before


def everything(home: Path) -> dict[str, bytes]:
    """The files of the home directory and of the project around it, but for omoide's own."""
    return {name: data for name, data in snapshot(home.parent).items() if "/.local" not in name and "memory.db" not in name}


def wired_files(run: Run, home: Path, client: str, scope: str) -> list[Path]:
    """The files that an installation of a client writes."""
    before = set(everything(home))
    assert run("install", client, scope).code == 0
    return [home.parent / name for name, data in everything(home).items() if name not in before and data != b"directory"]


@pytest.mark.parametrize("scope", ["--user", "--project"])
@pytest.mark.parametrize("client", NAMES)
def test_a_read_only_file_of_any_client_stops_the_installation_before_anything_is_written(
    client: str, scope: str, run: Run, home: Path
) -> None:
    """A client may have several files: none of them is changed if one cannot be."""
    files = wired_files(run, home, client, scope)
    assert run("uninstall", client, scope).code == 0
    edited = [path for path in files if path.suffix in (".json", ".toml")]
    for path in edited:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"" if path.suffix == ".toml" else b"{}\n")
    before = everything(home)
    for path in edited:
        path.chmod(0o444)
        done = run("install", client, scope)
        assert (done.code, everything(home)) == (1, before), path
        assert f"{path} is read-only (-r--r--r--)" in done.err
        path.chmod(0o644)
    assert edited or client == "opencode"


@pytest.mark.parametrize("scope", ["--user", "--project"])
@pytest.mark.parametrize("client", NAMES)
def test_a_read_only_file_of_any_client_stops_the_removal_before_anything_is_written(
    client: str, scope: str, run: Run, home: Path
) -> None:
    files = wired_files(run, home, client, scope)
    before = everything(home)
    for path in files:
        path.chmod(0o444)
        done = run("uninstall", client, scope)
        assert (done.code, everything(home)) == (1, before), path
        assert f"{path} is read-only (-r--r--r--)" in done.err
        path.chmod(0o644)
    assert files
    assert run("uninstall", client, scope).code == 0


@pytest.mark.parametrize("client", NAMES)
def test_the_files_of_any_client_in_a_dotfiles_repository_stay_links(client: str, run: Run, home: Path) -> None:
    files = wired_files(run, home, client, "--user")
    assert run("uninstall", client).code == 0
    linked = {}
    for number, path in enumerate(path for path in files if path.suffix in (".json", ".toml")):
        data = b"" if path.suffix == ".toml" else b"{\n}\n"
        linked[path] = (put(home, f"dot files/{number}{path.suffix}", data), data)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(linked[path][0])
    assert run("install", client).code == 0
    for path, (target, data) in linked.items():
        assert path.readlink() == target
        assert target.read_bytes() != data
    assert run("uninstall", client).code == 0
    for path, (target, data) in linked.items():
        assert path.readlink() == target
        assert target.read_bytes() == data


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_directory_is_a_clear_error(run: Run, home: Path) -> None:
    path = put(home, CLAUDE, TWO_SPACES)
    path.parent.chmod(0o555)
    try:
        done = run("install", "claude-code")
        assert (done.code, path.read_bytes()) == (1, TWO_SPACES)
        assert "cannot be written" in done.err
    finally:
        path.parent.chmod(0o755)


def test_a_directory_or_a_pipe_in_place_of_a_file_is_a_clear_error(run: Run, home: Path) -> None:
    (home / CLAUDE).mkdir(parents=True)
    assert "is a directory" in run("install", "claude-code").err
    (home / ".gemini").mkdir()
    os.mkfifo(home / GEMINI)
    done = run("install", "gemini")
    assert done.code == 2
    assert "not an ordinary file" in done.err


def test_mode_and_symbolic_links_stay(run: Run, home: Path) -> None:
    target = put(home, "dotfiles/claude.json", TWO_SPACES)
    target.chmod(0o640)
    link = home / CLAUDE
    link.parent.mkdir()
    link.symlink_to("../dotfiles/claude.json")
    assert run("install", "claude-code").code == 0
    assert link.is_symlink()
    assert link.readlink() == Path("../dotfiles/claude.json")
    assert "omoide hook" in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert run("uninstall", "claude-code").code == 0
    assert (link.is_symlink(), target.read_bytes()) == (True, TWO_SPACES)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.parametrize("option", [(), ("--dry-run",)])
def test_another_name_of_a_file_keeps_the_old_contents_and_that_is_said(
    option: tuple[str, ...], run: Run, home: Path
) -> None:
    path = put(home, GEMINI, TWO_SPACES)
    other = home / "dotfiles.json"
    other.hardlink_to(path)
    done = run("install", "gemini", *option)
    assert done.code == 0
    assert f"{path} has 1 other name" in done.err
    assert other.read_bytes() == TWO_SPACES
    assert (path.read_bytes() == TWO_SPACES) == bool(option)
    if not option:
        assert "other name" not in run("install", "gemini").err
        assert "other name" not in run("uninstall", "gemini").err
        assert path.read_bytes() == other.read_bytes()


def test_a_linked_directory_and_a_link_to_a_missing_file_work(run: Run, home: Path) -> None:
    (home / "dotfiles/claude").mkdir(parents=True)
    (home / ".claude").symlink_to("dotfiles/claude")
    (home / ".gemini").mkdir()
    (home / GEMINI).symlink_to("../dotfiles/gemini.json")
    before = set(snapshot(home))
    assert run("install", "claude-code", "gemini").code == 0
    assert (home / "dotfiles/gemini.json").exists()
    assert (home / "dotfiles/claude/settings.json").exists()
    assert run("uninstall", "claude-code", "gemini").code == 0
    assert set(snapshot(home)) == before
    assert (home / GEMINI).is_symlink()


def test_links_in_a_circle_are_a_clear_error(run: Run, home: Path) -> None:
    (home / ".claude").mkdir()
    (home / CLAUDE).symlink_to("settings.json")
    done = run("install", "claude-code")
    assert done.code == 2
    assert str(home / CLAUDE) in done.err


def test_a_new_file_with_servers_is_for_its_owner(run: Run, home: Path) -> None:
    assert run("install", "claude-code").code == 0
    assert stat.S_IMODE((home / ACCOUNT).stat().st_mode) == 0o600
    for path in (home / ".local/share/omoide/clients").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_plugin_of_somebody_else_is_not_replaced(run: Run, home: Path) -> None:
    path = put(home, ".config/opencode/plugin/omoide.js", b"export const Mine = async () => ({})\n")
    before = snapshot(home)
    done = run("install", "opencode")
    assert (done.code, snapshot(home)) == (1, before)
    assert f"{path} is there and is not omoide's" in done.err
    assert run("uninstall", "opencode").code == 0
    assert snapshot(home) == before


def test_hooks_in_the_settings_of_codex_are_mentioned(run: Run, home: Path) -> None:
    put(home, CODEX, b'[[hooks.Stop]]\nhooks = [{ type = "command", command = "true" }]\n')
    assert "has hooks of its own" in run("install", "codex").err
    put(home, CODEX, b'[hooks.state."x:stop:0:0"]\ntrusted_hash = "1"\n')
    assert "has hooks of its own" not in run("install", "codex").err


def test_a_server_of_the_same_name_that_is_not_omoide_is_left_alone(run: Run, home: Path) -> None:
    data = b'{\n  "mcpServers": {"omoide": {"command": "npx", "args": ["other-memory"]}}\n}\n'
    path = put(home, ACCOUNT, data)
    done = run("install", "claude-code")
    assert (done.code, path.read_bytes()) == (0, data)
    assert "a server omoide that is not this one (npx other-memory)" in done.err
    assert run("uninstall", "claude-code").code == 0
    assert path.read_bytes() == data


OLDER = """{
  "hooks": {
    "SessionStart": [{"hooks": [{"type": "command", "command": "/old/venv/bin/omoide hook", "timeout": 30}]}],
    "UserPromptSubmit": [{"hooks": [
      {"type": "command", "command": "date"},
      {"type": "command", "command": "'/home/a b/bin/omoide' hook", "timeout": 2}
    ]}],
    "SessionEnd": [{"hooks": [{"type": "command", "command": "omoide hook"}]}],
    "Stop": [
      {"hooks": [{"type": "command", "command": "omoide hook", "timeout": 5}]},
      {"hooks": [{"type": "command", "command": "omoide hook", "timeout": 5}]}
    ]
  },
  "model": "opus"
}
"""


def test_entries_of_an_older_version_are_updated_in_place(run: Run, home: Path) -> None:
    path = put(home, CLAUDE, OLDER.encode())
    assert run("install", "claude-code").code == 0
    hooks = values(path)["hooks"]
    assert list(hooks) == ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact"]  # SessionEnd is no longer used
    assert hooks["SessionStart"] == [{"hooks": [{"type": "command", "command": "omoide hook", "timeout": 30}]}]
    date, prompt = hooks["UserPromptSubmit"][0]["hooks"]
    assert date == {"type": "command", "command": "date"}
    assert (prompt["type"], prompt["server"], prompt["tool"], prompt["timeout"]) == ("mcp_tool", "omoide", "hook", 2)
    assert len(hooks["Stop"]) == 1  # one of two
    installed = path.read_bytes()
    assert "is installed already" in run("install", "claude-code").out
    assert run("uninstall", "claude-code").code == 0
    assert values(path) == {"hooks": {"UserPromptSubmit": [{"hooks": [date]}]}, "model": "opus"}
    path.write_bytes(installed)
    (home / ".local/share/omoide/clients/installed.json").write_text("{broken")
    assert run("uninstall", "claude-code").code == 0
    assert values(path) == {"hooks": {"UserPromptSubmit": [{"hooks": [date]}]}, "model": "opus"}


def test_an_entry_that_omoide_wrote_itself_becomes_the_new_one(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(home, CLAUDE, TWO_SPACES)
    monkeypatch.setattr("omoide.interfaces.install.wiring.SECONDS", 9)
    assert run("install", "claude-code").code == 0
    assert {handler["timeout"] for _, handler in handlers(path)} == {9}
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{home.parent / 'bin'}:/usr/bin:/bin")
    assert run("install", "claude-code").code == 0
    assert {handler["timeout"] for _, handler in handlers(path)} == {5}
    assert run("uninstall", "claude-code").code == 0
    assert path.read_bytes() == TWO_SPACES


COMMAND = {"type": "command", "command": "omoide hook"}
OLD_COMMAND = {"type": "command", "command": "/old/venv/bin/omoide hook"}
OTHER = {"type": "command", "command": "say done"}
DUPLICATES = {
    "in one group": [{"hooks": [COMMAND, OLD_COMMAND]}],
    "three in one group": [{"hooks": [COMMAND, OLD_COMMAND, COMMAND]}],
    "in one group beside another": [{"hooks": [COMMAND, OTHER, OLD_COMMAND]}],
    "in two groups": [{"hooks": [COMMAND, OLD_COMMAND]}, {"matcher": "x", "hooks": [OLD_COMMAND, COMMAND]}],
}


@pytest.mark.parametrize("name", DUPLICATES)
def test_several_hooks_of_omoide_for_one_event_become_one_and_are_all_removed(name: str, run: Run, home: Path) -> None:
    path = put(home, CLAUDE, json.dumps({"hooks": {"Stop": DUPLICATES[name]}}).encode())
    others = [OTHER] if "another" in name else []
    assert run("install", "claude-code").code == 0
    assert [handler for event, handler in handlers(path) if event == "Stop" and not is_ours(handler)] == others
    assert len([handler for event, handler in handlers(path) if event == "Stop" and is_ours(handler)]) == 1
    assert run("uninstall", "claude-code").code == 0
    assert [handler for _, handler in handlers(path)] == others
    path.write_text(json.dumps({"hooks": {"Stop": DUPLICATES[name]}}))
    assert run("uninstall", "claude-code").code == 0, "without an installation of this version"
    assert values(path) == ({"hooks": {"Stop": [{"hooks": others}]}} if others else {})


@pytest.mark.parametrize("after", ["", ', {"hooks": [{"type": "command", "command": "say done"}]}'])
@pytest.mark.parametrize("before", ["", '{"hooks": [{"type": "command", "command": "say done"}]}, '])
def test_a_hook_behind_a_line_comment_is_removed_and_the_comment_stays(
    before: str, after: str, run: Run, home: Path
) -> None:
    ours = '{"hooks": [{"type": "command", "command": "omoide hook"}]}'
    path = put(home, GEMINI, f'{{"hooks": {{"AfterAgent": [{before}// mine\n{ours}{after}]}}}}'.encode())
    done = run("uninstall", "gemini")
    assert done.code == 0, done.err
    assert [handler for _, handler in handlers(path)] == [OTHER] * (bool(before) + bool(after))
    assert "// mine\n" in path.read_text(encoding="utf-8")


def test_what_somebody_edited_in_the_entries_stays(run: Run, home: Path) -> None:
    path = put(home, CLAUDE, TWO_SPACES)
    account = put(home, ACCOUNT, b"{}")
    assert run("install", "claude-code").code == 0
    text = path.read_text().replace('"timeout": 5', '"timeout": 60', 1)
    text = text.replace(
        '"command": "omoide hook",\n            "timeout": 5', '"command": "OMOIDE_PROJECT=x omoide hook"', 1
    )
    path.write_text(text)
    account.write_text(account.read_text().replace('["mcp"]', '["mcp", "--tools", "layers"]'))
    edited = snapshot(home)
    assert "is installed already" in run("install", "claude-code").out
    assert snapshot(home) == edited
    assert run("uninstall", "claude-code").code == 0
    assert b"omoide" not in path.read_bytes() + account.read_bytes()
    assert values(path) == json.loads(TWO_SPACES)


def test_a_matcher_that_somebody_removed_stays_away(run: Run, home: Path) -> None:
    path = put(home, CLAUDE, TWO_SPACES)
    assert run("install", "claude-code").code == 0
    text = path.read_text()
    line = '        "matcher": "startup|resume|clear|compact",\n'
    assert text.count(line) == 1
    path.write_text(text.replace(line, ""))  # the entry is now the same as that of another event
    edited = snapshot(home)
    assert "is installed already" in run("install", "claude-code").out
    assert snapshot(home) == edited


@pytest.mark.parametrize(
    "before",
    [
        '[mcp_servers.omoide]  # mine\ncommand = "/old/bin/omoide"\nargs = ["mcp", "--tools", "all"]\nenv = {}\n\n[tui]\n',
        'mcp_servers.omoide.command = "/old/bin/omoide"\nmcp_servers.omoide.args = ["mcp"]\n',
        '[mcp_servers]\nomoide = { args = ["mcp"], command = "/old/bin/omoide" }  # mine\n',
        'mcp_servers = { omoide = { command = "/old/bin/omoide", args = ["mcp"] }, docs = {} }\n',
    ],
)
def test_a_codex_entry_of_an_older_version_is_updated_in_place(before: str, run: Run, home: Path) -> None:
    path = put(home, CODEX, before.encode())
    assert run("install", "codex", "--no-hooks").code == 0
    assert path.read_text() == before.replace("/old/bin/omoide", "omoide")
    assert run("uninstall", "codex").code == 0
    assert "omoide" not in path.read_text()
    assert ("tui" in values(path)) == ("tui" in before)
    assert ("docs" in values(path).get("mcp_servers", {})) == ("docs" in before)


SERVER = '"omoide": {"command": "omoide", "args": ["mcp"]}'


@pytest.mark.parametrize(
    "before",
    [f'{{"mcpServers": {{{SERVER}, {SERVER}}}}}', f'{{"mcpServers": {{{SERVER}}}, "mcpServers": {{{SERVER}}}}}'],
    ids=["the server", "the table"],
)
def test_a_server_that_is_there_twice_is_removed_twice(before: str, run: Run, home: Path) -> None:
    path = put(home, ACCOUNT, before.encode())
    assert run("uninstall", "claude-code").code == 0
    assert "mcpServers" not in values(path)


def test_no_hooks_removes_the_hooks_of_an_earlier_installation(run: Run, home: Path) -> None:
    path = put(home, CLAUDE, OTHER_HOOKS)
    assert run("install", "claude-code").code == 0
    assert run("install", "claude-code", "--no-hooks").code == 0
    assert path.read_bytes() == OTHER_HOOKS
    assert "omoide" in values(home / ACCOUNT)["mcpServers"]
    assert run("uninstall", "claude-code").code == 0
    assert snapshot(home) == {".claude": b"directory", CLAUDE: OTHER_HOOKS}


def test_two_clients_share_a_file_and_each_can_go_first(run: Run, home: Path) -> None:
    before = snapshot(home)
    for first, second in (("copilot", "vscode"), ("vscode", "copilot")):
        assert run("install", "copilot", "vscode").code == 0
        assert run("uninstall", first).code == 0
        assert any(is_ours(handler) for _, handler in handlers(home / ".copilot/hooks/omoide.json"))
        assert run("uninstall", second).code == 0
        assert snapshot(home) == before


def test_no_hooks_for_one_client_leaves_the_hooks_that_another_one_uses(run: Run, home: Path) -> None:
    path = home / ".copilot/hooks/omoide.json"
    before = snapshot(home)
    assert run("install", "copilot", "vscode").code == 0
    installed = path.read_bytes()
    done = run("install", "vscode", "--no-hooks")
    assert "omoide.json stays: copilot uses it too" in done.err
    assert path.read_bytes() == installed
    assert "is installed already" in run("install", "copilot").out
    assert run("uninstall", "copilot").code == 0
    assert not path.exists()
    assert run("uninstall", "vscode").code == 0
    assert snapshot(home) == before


def test_dry_run_shows_the_change_and_writes_nothing(run: Run, home: Path) -> None:
    put(home, CLAUDE, TWO_SPACES)
    done = run("install", "claude-code", "--dry-run")
    assert '+            "command": "omoide hook",' in done.out
    assert str(home / CLAUDE) in done.out
    assert snapshot(home) == {".claude": b"directory", CLAUDE: TWO_SPACES}
    assert not (home / ".local").exists()
    assert run("install", "claude-code").code == 0
    installed = snapshot(home)
    assert '-            "command": "omoide hook",' in run("uninstall", "claude-code", "--dry-run").out
    assert snapshot(home) == installed


def test_the_backup_is_where_it_says(run: Run, home: Path) -> None:
    put(home, CLAUDE, TWO_SPACES)
    done = run("install", "claude-code")
    (line,) = [line for line in done.err.splitlines() if line.startswith("backup: ")]
    assert Path(line.removeprefix("backup: ")).read_bytes() == TWO_SPACES


def test_only_the_newest_backups_are_kept(run: Run, home: Path) -> None:
    put(home, GEMINI, TWO_SPACES)
    for _ in range(5):
        assert run("install", "gemini").code == 0
        assert run("uninstall", "gemini").code == 0
    assert len(list((home / ".local/share/omoide/clients").glob("*.bak"))) == 5


def test_without_omoide_on_path_the_entries_name_this_program(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    done = run("install", "gemini")
    program = str(Path(sys.executable).with_name("omoide"))
    assert f"omoide is not on PATH: the entries name {program}" in done.err
    assert values(home / GEMINI)["mcpServers"]["omoide"]["command"] == program
    assert run("uninstall", "gemini").code == 0
    assert snapshot(home) == {}


def test_a_program_in_a_directory_with_spaces_is_quoted_and_recognised(
    omoide: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = home / "my venv" / "bin" / "omoide"
    program.parent.mkdir(parents=True)
    start = f'import sys; sys.argv[0] = "{program}"; from omoide.interfaces.cli import main; main()'
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{start}' \"$@\"\n")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}:/usr/bin:/bin", "VIRTUAL_ENV": str(program.parent.parent)}
    done = subprocess.run([str(program), "install", "gemini"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    commands = {handler["command"] for _, handler in handlers(home / GEMINI)}
    assert commands == {f"'{program}' hook"}
    (home / ".local/share/omoide/clients/installed.json").unlink()
    assert omoide("uninstall", "gemini").code == 0
    assert b"omoide" not in (home / GEMINI).read_bytes()


def test_the_entries_name_no_version_and_no_directory(run: Run, home: Path) -> None:
    from omoide import __version__

    assert run("install", *NAMES).code == 0
    for name, data in snapshot(home).items():
        text = data.decode()
        assert __version__ not in text, name
        assert str(home.parent) not in text, name


def test_an_unknown_client_is_named(run: Run, home: Path) -> None:
    done = run("install", "emacs")
    assert (done.code, "claude-code" in done.err) == (2, True)
    done = run("install")
    assert (done.code, "claude-code" in done.err) == (2, True)


def test_installs_at_once_lose_nothing(home: Path, place: Path) -> None:
    put(home, GEMINI, TWO_SPACES)
    put(home, CLAUDE, OTHER_HOOKS)
    before = snapshot(home)
    order = ["claude-code", "gemini", "codex", "copilot", "vscode", "cursor", "opencode"]
    commands = [[*PROGRAM, "install", *order[turn:], *order[:turn]] for turn in range(4)]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for command in commands]
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    assert len([handler for _, handler in handlers(home / CLAUDE) if is_ours(handler)]) == 4
    commands = [[*PROGRAM, "uninstall", *order[turn:], *order[:turn]] for turn in range(3)]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for command in commands]
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    assert snapshot(home) == before


def test_a_client_that_writes_at_the_same_time_loses_nothing(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client replaces its file after omoide read it and before it writes: both changes are in the end there."""
    path = put(home, ACCOUNT, b'{\n  "numStartups": 1\n}\n')
    write, raced = settings_file._exchange, []

    def race(directory: int, spare: str, name: str, file: settings_file.SettingsFile) -> None:
        if name == ACCOUNT and len(raced) < 2:
            raced.append(name)
            path.write_bytes(b'{\n  "numStartups": %d\n}\n' % (len(raced) + 1))
        write(directory, spare, name, file)

    monkeypatch.setattr(settings_file, "_exchange", race)
    assert run("install", "claude-code").code == 0
    assert values(path)["numStartups"] == 3
    assert "omoide" in values(path)["mcpServers"]
    assert run("uninstall", "claude-code").code == 0
    assert path.read_bytes() == b'{\n  "numStartups": 3\n}\n'


def test_a_file_that_is_removed_at_the_same_time_is_planned_again(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process removes the file after omoide read it, as an uninstallation does that restores what was there."""
    path = put(home, ACCOUNT, b'{"numStartups": 1}\n')
    check = settings_file.check_writable

    def race(file: settings_file.SettingsFile) -> None:
        if file.path == path and file.data is not None:
            path.unlink(missing_ok=True)
        check(file)

    monkeypatch.setattr(settings_file, "check_writable", race)
    assert run("install", "claude-code").code == 0
    assert list(values(path)) == ["mcpServers"]
    assert list(values(path)["mcpServers"]) == ["omoide"]


KILLED = """
import os, signal, sys
from omoide.interfaces.cli import main
from omoide.interfaces.install import install_record, settings_file
left = int(sys.argv.pop(1))
def count(function):
    def run(*arguments, **options):
        global left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return run
for name in ("open", "link", "unlink", "rename", "replace", "fsync", "mkdir"):
    setattr(os, name, count(getattr(os, name)))
settings_file.atomic.swap = count(settings_file.atomic.swap)
main()
"""
"""Kills itself at the nth call to the system that concerns a file."""


@pytest.mark.parametrize("begin", range(1, 6))
def test_a_killed_installation_leaves_whole_files_and_can_be_ended_or_undone(
    begin: int, run: Run, home: Path, long: bool
) -> None:
    """Killed at one call to the system after the other: files are old or new, and install and uninstall work then."""
    files = {CLAUDE: OTHER_HOOKS, CODEX: TOML_PLAIN}
    for name, data in files.items():
        put(home, name, data)
    before = snapshot(home)
    for step in range(begin, 500, 5 if long else 15):
        command = [sys.executable, "-c", KILLED, str(step), "install", "claude-code", "codex"]
        killed = subprocess.run(command, capture_output=True)
        for name in files:
            assert (home / name).read_bytes() == files[name] or is_installed(home / name), f"{name} at step {step}"
        assert killed.returncode in (0, -signal.SIGKILL), killed.stderr.decode()
        if step % 2:
            assert run("install", "claude-code", "codex").code == 0
            assert all(is_installed(home / name) for name in files)
        assert run("uninstall", "claude-code", "codex").code == 0
        assert snapshot(home) == before, f"after step {step}"
        if killed.returncode == 0:
            break
    assert step > 15
    assert killed.returncode == 0


def is_installed(path: Path) -> bool:
    found = values(path)
    servers = found.get("mcpServers", found.get("mcp_servers", {}))
    return "omoide" in servers or any(is_ours(handler) for _, handler in handlers(path))
