"""The list of a repository, `.agent/memories.md`: memories add, search, list, delete, inject."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omoide.errors import InvalidInput, Unreadable
from omoide.files.git import git_root
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import (
    Target,
    json_option,
    open_memory,
    read_stdin,
    settings_for,
    tags_of,
    target_options,
    warn,
)
from omoide.interfaces.cli.output import escape_control, headline, print_json, print_table
from omoide.settings import Settings

if TYPE_CHECKING:  # see common
    from omoide.sync.repo_list import ListItem, RepoList

_OFF = "the list is switched off: set `memories_enabled` to true to use it"


@click.group("memories")
def memories_command() -> None:
    """Work with the list of this repository, .agent/memories.md.

    Works in any repository with nothing set up, from any of its directories and worktrees. People may edit the file at any
    time.

    \b
    omoide memories add "Always use try-catch" -t pattern --tags errors
    omoide memories list
    omoide memories delete 12
    """


@memories_command.command("add")
@click.argument("content")
@click.option(
    "-t", "--type", "type_", metavar="TYPE", help="pattern, architecture, solution or any other type: its first tag."
)
@click.option("--tag", multiple=True, help="A tag; may be given more than once.")
@click.option("--tags", help="Tags, separated by commas.")
@target_options
@json_option
def add_command(
    content: str, type_: str | None, tag: tuple[str, ...], tags: str | None, target: Target, as_json: bool
) -> None:
    """Add an entry: its title is how the text begins, its date today.

    \b
    omoide memories add "Always use try-catch"
    git log -1 --format=%B | omoide memories add - -t solution --tags release,ci
    """
    text = read_stdin() if content == "-" else content
    with _notebook(target, writing=True) as (notebook, settings):
        if not settings.memories_enabled:
            warn(_OFF)
            if as_json:
                print_json({"action": "disabled"})
            return
        done, line = notebook.add(text, type_, tags_of(tag, tags))
    if as_json:
        print_json(
            {"action": done.action, "file": str(notebook.file), "line": line, "memory": serialize.memory(done.memory)}
        )
    else:
        click.echo(f"{done.action}  {headline(done.memory)}")


@memories_command.command("search")
@click.argument("words", nargs=-1, required=True)
@target_options
@json_option
def search_command(words: tuple[str, ...], target: Target, as_json: bool) -> None:
    """Find entries whose title, text or tags hold these words, in whatever case.

    \b
    omoide memories search try-catch
    """
    with _notebook(target) as (notebook, settings):
        found = _readable(notebook, settings, " ".join(words))
        _print(notebook, found, as_json=as_json)
    if not found and not as_json:
        click.echo(f"nothing in {escape_control(str(notebook.file))} holds that", err=True)


@memories_command.command("list")
@target_options
@json_option
def list_command(target: Target, as_json: bool) -> None:
    """List the entries in the order of the file.

    \b
    omoide memories list
    omoide memories list --json
    """
    with _notebook(target) as (notebook, settings):
        found = _readable(notebook, settings)
        _print(notebook, found, as_json=as_json)
    if not found and not as_json:
        click.echo(f"{escape_control(str(notebook.file))} has no entries", err=True)


@memories_command.command("delete")
@click.argument("id")
@target_options
@json_option
def delete_command(id: str, target: Target, as_json: bool) -> None:
    """Take an entry out of the file; its memory is archived, and `omoide restore` brings it back.

    An entry is called by its id, by the number of its memory (#12), or by the line of its heading (12).

    \b
    omoide memories delete '#12'
    omoide memories delete 7
    """
    with _notebook(target, writing=True) as (notebook, settings):
        if not settings.memories_enabled:
            raise InvalidInput(_OFF)
        gone = notebook.delete(id)
    if as_json:
        print_json({"action": "deleted", "file": str(notebook.file), "memory": serialize.memory(gone)})
    else:
        click.echo(f"deleted  {headline(gone)}")


@memories_command.command("inject")
@click.argument("prompt", required=False)
@click.option("--manual", is_flag=True, help="Also where `memories_inject` is manual.")
@target_options
@json_option
def inject_command(prompt: str | None, manual: bool, target: Target, as_json: bool) -> None:
    """Print the whole list, closed by ---, for the start of a prompt.

    Nothing is printed unless the setting `memories_inject` is auto. A prompt, or - for one on standard input, is printed
    after it.

    \b
    omoide memories inject
    echo "Fix the login" | omoide memories inject - | my-agent
    """
    asked = read_stdin() if prompt == "-" else prompt or ""
    with _notebook(target) as (notebook, settings):
        wanted = settings.memories_inject == "auto" or (manual and settings.memories_inject == "manual")
        text = ""
        if settings.memories_enabled and wanted:
            try:
                text = notebook.injection()
            except Unreadable as error:  # plan B: the prompt goes on without them
                warn(str(error))
    if as_json:
        print_json({"inject": settings.memories_inject, "text": text, "prompt": text + asked})
    else:
        click.echo((text + (asked and asked + "\n")).encode(), nl=False)


@contextmanager
def _notebook(target: Target, *, writing: bool = False) -> "Iterator[tuple[RepoList, Settings]]":
    from omoide import app  # noqa: PLC0415 - the store loads when it is opened
    from omoide.sync.repo_list import RepoList  # noqa: PLC0415 - the same

    settings = settings_for(target)
    try:
        here = Path.cwd().resolve()
    except OSError as error:
        raise InvalidInput(f"this directory cannot be read ({error.strerror}): go to one that is there") from error
    with open_memory(target, writing=writing) as (memory, scope):
        file = (git_root(here) or here) / ".agent" / "memories.md"
        yield RepoList(memory, app.sync_engine(memory), file, scope, settings.all_types), settings


def _readable(notebook: "RepoList", settings: Settings, words: str | None = None) -> "Sequence[ListItem]":
    """What is in the list; of one that is switched off or cannot be read, nothing, and people hear why."""
    if not settings.memories_enabled:
        warn(_OFF)
        return []
    try:
        return notebook.items() if words is None else notebook.search(words)
    except Unreadable as error:  # plan B: an empty list
        warn(str(error))
        return []


def _print(notebook: "RepoList", items: "Sequence[ListItem]", *, as_json: bool) -> None:
    numbers = notebook.numbers()
    shapes: list[dict[str, Any]] = [
        {
            "id": item.entry.id,
            "number": numbers.get(item.entry.id or ""),
            "line": item.line,
            "title": item.title,
            "tags": item.tags,
            "date": item.date or None,
            "content": item.entry.content,
        }
        for item in items
    ]
    if as_json:
        print_json({"file": str(notebook.file), "memories": shapes, "total_count": len(shapes)})
    elif shapes:
        rows = [
            [
                str(one["line"]),
                f"#{one['number']}" if one["number"] else "",
                one["title"],
                ", ".join(one["tags"]),
                one["date"] or "",
            ]
            for one in shapes
        ]
        print_table(["line", "#", "title", "tags", "date"], rows, flexible=(2, 3), optional=(4, 3))
