"""The documentation is complete and correct in both languages: commands, options, settings, tools, links, examples."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from omoide.interfaces.cli import COMMANDS, cli
from omoide.interfaces.mcp.dispatch import tools_of
from omoide.service import Service
from omoide.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
JAPANESE = DOCS / "ja"
LANGUAGES = (DOCS, JAPANESE)
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
@pytest.mark.parametrize("folder", LANGUAGES, ids=["en", "ja"])
def test_every_command_and_option_is_documented(folder: Path, name: str) -> None:
    command = commands(cli)[name]
    page = (folder / "commands.md").read_text(encoding="utf-8")
    assert name in page
    section = page.split(f"### {name.split()[0]}\n", 1)[-1].split("\n### ", 1)[0]
    shared = page.split("\n---\n", 1)[0]
    for parameter in command.params:
        for option in parameter.opts if isinstance(parameter, click.Option) else []:
            assert option in section or option in shared, f"{name} {option} is not in {folder.name}/commands.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_short_help_is_the_first_line_of_the_command(name: str) -> None:
    command = commands(cli)[name]
    assert (command.help or "").strip().splitlines()[0].strip() == COMMANDS[name].help


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
@pytest.mark.parametrize("folder", LANGUAGES, ids=["en", "ja"])
def test_every_setting_is_documented_with_its_variable(folder: Path, setting) -> None:
    page = (folder / "settings.md").read_text(encoding="utf-8")
    assert f"| `{setting.name}` | `{setting.variable}` |" in page


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


@pytest.mark.parametrize(
    "page", [*READMES, *(f"docs/{folder}{page}.md" for folder in ("", "ja/") for page in ("python", "mirrors", "prompts"))]
)
def test_the_python_examples_run(page: str, home: dict[str, str], tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        done = subprocess.run([sys.executable, "-c", block], env=home, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the anchors that a hosting page gives to the headings: lower case, punctuation removed, hyphens for spaces."""
    headings = re.findall(r"^#+ (.+)$", without_code(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_between_documents_resolve() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", without_code(page)):
            file = page.parent / target if target else page
            assert file.exists(), f"{page.name} points to {target}"
            assert not anchor or anchor in anchors(file), f"{page.name} points to {target}#{anchor}"


def paragraphs(page: str) -> list[str]:
    return re.split(r"\n\s*\n", (ROOT / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", READMES)
def test_every_figure_of_the_readme_names_its_command(page: str) -> None:
    figures = [text for text in paragraphs(page) if re.search(r"\d ?(ms|µs|MB|GB|%)(?!\w)|\bR@\d", text)]
    assert figures
    for text in figures:
        assert "python -m bench." in text, text


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 200


def benchmark_sections() -> dict[str, str]:
    sections = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").split("\n## ")[1:]
    return {section.splitlines()[0]: section for section in sections}


@pytest.mark.parametrize("title", benchmark_sections())
def test_every_benchmark_names_its_command_and_whether_it_was_tuned(title: str) -> None:
    command = re.search(r"`python -m (bench\.\w+)( --\w+)?`$", title)
    assert command, title
    assert (ROOT / f"{command[1].replace('.', '/')}.py").exists()
    assert re.search(r"^\*\*Tuned on this data:\*\* (yes|no)\b", benchmark_sections()[title], re.MULTILINE), title


def test_every_benchmark_has_a_section() -> None:
    modules = {
        f"bench.{path.stem}" for path in (ROOT / "bench").glob("*.py") if "__main__" in path.read_text(encoding="utf-8")
    }
    documented = {name for title in benchmark_sections() for name in re.findall(r"bench\.\w+", title)}
    assert documented == modules - {"bench.__main__"}


@pytest.mark.parametrize(
    "page",
    [
        "architecture.md",
        "ja/architecture.md",
        *(f"decisions/{path.name}" for path in (ROOT / "docs" / "decisions").glob("*.md")),
    ],
)
def test_modules_named_by_the_architecture_and_the_decisions_exist(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    files = [
        f"/{path.relative_to(ROOT)}" for folder in ("src", "tests", "scripts") for path in (ROOT / folder).rglob("*.py")
    ]
    for name in re.findall(r"`([\w/]+\.py)`", text):
        assert any(file.endswith(f"/{name}") for file in files), f"{page} names {name}"


def test_every_page_has_a_japanese_one() -> None:
    assert {page.name for page in JAPANESE.glob("*.md")} == {page.name for page in DOCS.glob("*.md")}


def test_the_readmes_have_the_same_structure() -> None:
    """Same headings, same commands, and links to the same pages, in Japanese where there is one."""
    english, japanese = ((ROOT / page).read_text(encoding="utf-8") for page in READMES)
    for pattern in (r"^#+ ", r"^```\w*$", r"`(?:omoide|make|pip|python)[^`]*`"):
        assert len(re.findall(pattern, english, re.MULTILINE)) == len(re.findall(pattern, japanese, re.MULTILINE)), pattern
    links = [set(re.findall(r"\]\((?:docs/)?(?:ja/)?([\w/.]+\.\w+)", text)) - set(READMES) for text in (english, japanese)]
    assert links[0] == links[1]


def code_spans(page: Path, pattern: str) -> set[str]:
    """Return the code spans that match, without the white space in them: lines break elsewhere in the other language."""
    text = without_code(page)
    return {re.sub(r"\s+", "", span) for span in re.findall(r"`([^`]+)`", text) if re.match(pattern, span)}


@pytest.mark.parametrize(
    "page", ["commands.md", "mcp.md", "settings.md", "meaning.md", "mirrors.md", "prompts.md", "python.md", "worktrees.md"]
)
def test_the_japanese_page_names_the_same_commands_options_json_and_python(page: str) -> None:
    missing = code_spans(DOCS / page, r"--|omoide |OMOIDE_|\{\"|\w+\(|[A-Z]\w+[a-z]$") - code_spans(JAPANESE / page, ".")
    assert not missing, f"docs/ja/{page} does not name {sorted(missing)}"


def operations_of(page: Path) -> tuple[set[str], dict[str, set[str]]]:
    """The names in the table of operations, and the parameters of those that are written with them."""
    (section,) = [part for part in page.read_text("utf-8").split("\n## ") if "`remember_many(" in part]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    spans = [span for row in rows for span in re.findall(r"`([^`]+)`", row)]
    signatures = dict(re.fullmatch(r"(\w+)\((.*)\)", span).groups() for span in spans if "(" in span and "…" not in span)
    names = {span.partition("(")[0] for span in spans}
    return names, {name: set(arguments.replace("*, ", "").split(", ")) - {""} for name, arguments in signatures.items()}


@pytest.mark.parametrize("folder", LANGUAGES, ids=["en", "ja"])
def test_every_operation_of_the_service_is_documented_with_its_parameters(folder: Path) -> None:
    names, documented = operations_of(folder / "python.md")
    assert names == {name for name in dir(Service) if not name.startswith("_")}
    actual = {name: set(inspect.signature(getattr(Service, name)).parameters) - {"self"} for name in documented}
    assert documented == actual


def test_every_tool_is_documented_in_both_languages() -> None:
    for folder in LANGUAGES:
        text = (folder / "mcp.md").read_text(encoding="utf-8")
        for name in tools_of("all"):
            assert f"`{name}`" in text, f"{name} is not in {folder.name}/mcp.md"


def test_japanese_figures_and_examples_are_those_of_the_english_pages() -> None:
    figures = (DOCS / "benchmarks.md").read_text(encoding="utf-8").splitlines()
    for line in (JAPANESE / "benchmarks.md").read_text(encoding="utf-8").splitlines():
        assert line in figures or not re.search(r"^\|.*(✓|\| \.\d)", line), f"not in docs/benchmarks.md: {line}"
    assert code_spans(DOCS / "benchmarks.md", r"python -m") == code_spans(JAPANESE / "benchmarks.md", r"python -m")
    examples = [
        re.findall(r"^<!-- example.*?^```$", (folder / "files.md").read_text("utf-8"), re.M | re.S) for folder in LANGUAGES
    ]
    assert examples[0] == examples[1]
