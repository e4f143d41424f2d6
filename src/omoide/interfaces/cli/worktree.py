"""worktree add and link: git worktrees that share one memory."""

from pathlib import Path

import click

from omoide.errors import InvalidInput
from omoide.interfaces.cli.options import json_option, warn, working_directory
from omoide.interfaces.cli.output import escape_control, print_json
from omoide.settings import load_settings
from omoide.sync import git_attributes, worktrees

_gitattributes = click.option(
    "--gitattributes", is_flag=True, help="Add a line to .gitattributes that lets git merge additions of both sides."
)


@click.group("worktree")
def worktree_command() -> None:
    """Create git worktrees that share one .agent/memories.md.

    \b
    omoide worktree add ../feature -b feature
    omoide worktree link
    """


# Without -h, which may be part of an option of git, as in -bhotfix.
@worktree_command.command("add", context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("path")
@click.argument("arguments", metavar="[GIT ARGUMENTS]...", nargs=-1, type=click.UNPROCESSED)
@_gitattributes
@json_option
def add_command(path: str, arguments: tuple[str, ...], gitattributes: bool, as_json: bool) -> None:
    """Create a worktree that shares the memories of the main one.

    Everything but --json and --gitattributes is passed to `git worktree add`. Where no link can be created, the worktree is
    created all the same, and a warning says why.

    \b
    omoide worktree add ../feature
    omoide worktree add ../fix -b fix main
    """
    shared = worktrees.shared_file(load_settings().memories_directory)
    result = worktrees.add_linked_worktree([path, *arguments], shared, working_directory())
    if result.problem:
        warn(result.problem)
    _report(result, gitattributes=gitattributes, as_json=as_json)


@worktree_command.command("link")
@click.argument("path", required=False)
@click.option("--force", is_flag=True, help="Also if the file there has texts of its own: it is saved beside the link.")
@_gitattributes
@json_option
def link_command(path: str | None, force: bool, gitattributes: bool, as_json: bool) -> None:
    """Link an existing worktree to the memories of the main one.

    \b
    omoide worktree link
    omoide worktree link ../feature --force
    """
    start = working_directory() / (path or "")
    if not start.is_dir():
        raise InvalidInput(f"{start} is not a directory: name a worktree, or create one with `omoide worktree add`")
    shared = worktrees.shared_file(load_settings().memories_directory)
    _report(worktrees.link_worktree(start, shared, force=force), gitattributes=gitattributes, as_json=as_json)


def _report(result: worktrees.LinkResult, *, gitattributes: bool, as_json: bool) -> None:
    hints = git_attributes.let_git_merge([result.target], add=gitattributes)
    if as_json:
        print_json(_record(result))
    else:
        arrow = "" if result.action == "not linked" else f" → {escape_control(str(result.target))}"
        click.echo(f"{result.action}  {escape_control(str(result.file))}{arrow}")
    for note in (*result.notes, *hints):
        click.echo(escape_control(note), err=True)
    if result.backup:
        click.echo(escape_control(f"the file that was there is saved as {result.backup}"), err=True)


def _record(result: worktrees.LinkResult) -> dict[str, object]:
    return {
        "worktree": _printable(result.worktree),
        "action": result.action,
        "file": _printable(result.file),
        "target": _printable(result.target),
        "backup": None if result.backup is None else _printable(result.backup),
        "notes": result.notes,
    }


def _printable(path: Path) -> str:
    """The path with escapes for bytes that JSON cannot hold."""
    return str(path).encode(errors="backslashreplace").decode()
