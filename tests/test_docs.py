"""The documents are true: every command, option and setting is in them, and the README's examples run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from omoide.interfaces.cli import COMMANDS, cli
from omoide.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[1]
COMMANDS_PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
SETTINGS_PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
READMES = ("README.md", "README.ja.md")


def commands(group: click.Group, prefix: str = "") -> dict[str, click.Command]:
    found = {}
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found[f"{prefix}{name}"] = command
        if isinstance(command, click.Group):
            found |= commands(command, f"{prefix}{name} ")
    return found


@pytest.mark.parametrize("name", commands(cli))
def test_every_command_and_option_is_documented(name: str) -> None:
    command = commands(cli)[name]
    assert name in COMMANDS_PAGE
    section = COMMANDS_PAGE.split(f"### {name.split()[0]}\n", 1)[-1].split("\n### ", 1)[0]
    shared = COMMANDS_PAGE.split("## Keep", 1)[0]
    for parameter in command.params:
        for option in parameter.opts if isinstance(parameter, click.Option) else []:
            assert option in section or option in shared, f"{name} {option} is not in docs/commands.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_short_help_is_the_commands_own(name: str) -> None:
    command = commands(cli)[name]
    assert (command.help or "").strip().splitlines()[0].strip() == COMMANDS[name].help


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_is_documented_with_its_variable(setting) -> None:
    assert f"| `{setting.name}` | `{setting.variable}` |" in SETTINGS_PAGE


def shell_examples(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("omoide ")]


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "OMOIDE_STORE": str(tmp_path / "memory.db"),
        "OMOIDE_CONFIG": str(tmp_path / "config.toml"),
        "OMOIDE_PROJECT": "shop",
    }


@pytest.mark.parametrize("page", READMES)
def test_the_shell_examples_of_the_readme_run(page: str, home: dict[str, str], tmp_path: Path) -> None:
    examples = shell_examples(page)
    assert len(examples) >= 5
    for line in examples:
        done = subprocess.run(["bash", "-c", line], env=home, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


@pytest.mark.parametrize("page", [*READMES, "docs/python.md", "docs/mirrors.md"])
def test_the_python_examples_run(page: str, home: dict[str, str], tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        done = subprocess.run([sys.executable, "-c", block], env=home, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_links_between_the_documents_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


def test_every_number_of_the_readme_names_its_command() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    figures = text.split("## Figures", 1)[1].split("\n## ", 1)[0]
    tables = figures.split("\n| ")
    assert len(tables) > 5
    for command in ("make bench", "python -m bench.retrieval"):
        assert command in figures
