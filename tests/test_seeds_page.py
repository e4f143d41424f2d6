"""docs/seeds.md: every row names commands that exist and tests that exist, and the Japanese page has the same rows."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from omoide.interfaces.cli import cli

TESTS = Path(__file__).resolve().parent
PAGES = {language: TESTS.parent / "docs" / language / "seeds.md" for language in (".", "ja")}


class Row(NamedTuple):
    ids: str
    requirement: str
    how: str
    tests: tuple[str, ...]


def rows(page: Path) -> list[Row]:
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if re.match(r"\| [A-E]\d", line)]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [Row(ids, text, how, tuple(re.findall(r"`([^`]+)`", tests))) for ids, text, how, tests in cells]


@cache
def functions_of(file: Path) -> frozenset[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("row", rows(PAGES["."]), ids=lambda row: f"{row.ids} {row.requirement[:40]}")
def test_every_requirement_names_tests_that_exist(row: Row) -> None:
    assert row.tests, "the row names no test"
    for name in row.tests:
        file, _, function = name.partition("::")
        assert (TESTS / file).is_file(), f"there is no tests/{file}"
        assert function.startswith("test_")
        assert function in functions_of(TESTS / file), f"tests/{file} has no {function}"


def test_every_design_has_rows() -> None:
    assert {row.ids[0] for row in rows(PAGES["."])} == set("ABCDE")


def test_every_command_and_option_of_a_row_exists() -> None:
    for row in rows(PAGES["."]):
        for line in re.findall(r"`omoide ([^`]+)`", row.how):
            words, _, options = line.partition(" -")
            command: click.Command | None = cli
            for word in words.split():
                if isinstance(command, click.Group):
                    command = command.get_command(click.Context(command), word)
                    assert command is not None, f"there is no command omoide {line}"
            assert command is not None
            known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
            assert known.issuperset(re.findall(r"--[\w-]+", f"-{options}")), f"omoide {line}"


def test_the_japanese_page_has_the_same_rows() -> None:
    english, japanese = (rows(page) for page in PAGES.values())
    assert [(row.ids, row.tests) for row in japanese] == [(row.ids, row.tests) for row in english]
    code = [[sorted(re.findall(r"`([^`]+)`", row.how)) for row in page] for page in (english, japanese)]
    assert code[0] == code[1]
