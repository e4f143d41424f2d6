"""The flags of the commands that write a memory cover the field table."""

import click
import pytest

from omoide.interfaces.cli import cli
from omoide.interfaces.cli.query import _details
from omoide.model import Scope, fields

SPELLING = {
    "examples": "--example",
    "expires_at": "--expires",
    "pinned": "--pin",
    "source_run_id": "--run",
    "original_prompt": "--original-prompt",
}
NOT_REMEMBERED = {
    "scope": "--project, --session and --global name it",
    "created_at": "an import sets it",
}


def flags(command: str) -> set[str]:
    found = cli.get_command(click.Context(cli), command)
    assert found is not None
    return {flag for parameter in found.params for flag in parameter.opts}


def flag(name: str) -> str:
    return "content" if name == "content" else SPELLING.get(name, f"--{name}")


@pytest.mark.parametrize("name", [name for name in fields.DRAFT if name not in NOT_REMEMBERED])
def test_remember_has_a_flag_for_every_field_of_a_draft(name):
    assert flag(name) in flags("remember")


@pytest.mark.parametrize("name", fields.REVISABLE)
def test_revise_has_a_flag_for_every_revisable_field(name):
    assert flag(name) in flags("revise")


def test_show_has_a_line_for_every_field_that_headline_and_text_do_not_show(memory):
    headline = {"number", "type", "topic", "content", "tags", "examples", "pinned", "original_prompt", "state", "version"}
    labels = {"author": "by", "source_run_id": "run", "reference_count": "references", "last_accessed_at": "last accessed"}
    labels |= {name: name.removesuffix("_at") for name in ("created_at", "updated_at", "expires_at")}
    shown = {field.name for field in fields.FIELDS if field.shown} - headline
    stored = memory.remember("x", scope=Scope.everywhere()).memory
    assert {labels.get(name, name) for name in shown} == {label for label, _ in _details(stored)} - {"state"}
