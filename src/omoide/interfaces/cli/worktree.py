"""Worktrees that share one memory: worktree add, worktree link."""

from pathlib import Path

import click

from omoide.errors import InvalidInput, OmoideError
from omoide.interfaces.cli.options import json_option
from omoide.interfaces.cli.output import escape_control, print_json
from omoide.sync import worktrees


@click.group("worktree")
def worktree_command() -> None:
    """Create git worktrees that share one .agent/memories.md.

    \b
    omoide worktree add ../feature -b feature
    omoide worktree link
    """


# Without -h, which could be part of an option of git's, as in -bhotfix.
@worktree_command.command("add", context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("path")
@click.argument("arguments", metavar="[GIT ARGUMENTS]...", nargs=-1, type=click.UNPROCESSED)
@json_option
def add_command(path: str, arguments: tuple[str, ...], as_json: bool) -> None:
    """Make a worktree with git, and link its memories to those of the main one.

    Everything but --json is handed to `git worktree add` as it is. Where no link can be made, the worktree is there all
    the same, and a warning says why.

    \b
    omoide worktree add ../feature
    omoide worktree add ../fix -b fix main
    """
    place = worktrees.add_worktree([path, *arguments], _here())
    try:
        done = worktrees.link_worktree(place)
    except OmoideError as error:  # plan B: a worktree with memories of its own, and a person who knows
        click.echo(f"omoide: {escape_control(str(error))}", err=True)
        done = worktrees.LinkResult(place, "not linked", place / worktrees.SHARED, place / worktrees.SHARED)
    _report(done, as_json=as_json)


@worktree_command.command("link")
@click.argument("path", required=False)
@click.option("--force", is_flag=True, help="Also if the file there says something of its own: it is kept beside the link.")
@json_option
def link_command(path: str | None, force: bool, as_json: bool) -> None:
    """Link the memories of a worktree that is there to those of the main one.

    \b
    omoide worktree link
    omoide worktree link ../feature --force
    """
    start = _here() / (path or "")
    if not start.is_dir():
        raise InvalidInput(f"{start} is no directory: name a worktree, or make one with `omoide worktree add`")
    _report(worktrees.link_worktree(start, force=force), as_json=as_json)


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise InvalidInput(f"this directory cannot be read ({error.strerror}): go to one that is there") from error


def _report(done: worktrees.LinkResult, *, as_json: bool) -> None:
    if as_json:
        print_json({
            "worktree": _name(done.worktree),
            "action": done.action,
            "file": _name(done.file),
            "target": _name(done.target),
            "backup": None if done.backup is None else _name(done.backup),
            "notes": done.notes,
        })  # fmt: skip
    else:
        leads = "" if done.action == "not linked" else f" → {escape_control(str(done.target))}"
        click.echo(f"{done.action}  {escape_control(str(done.file))}{leads}")
    for note in (*done.notes, *([f"what stood there before is in {done.backup}"] if done.backup else [])):
        click.echo(escape_control(note), err=True)


def _name(path: Path) -> str:
    """A path as JSON can say it, whatever bytes it is made of."""
    return str(path).encode(errors="backslashreplace").decode()
