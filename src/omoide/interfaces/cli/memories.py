"""memories add, search, list, delete and inject: the list of a repository, `.agent/memories.md`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    working_directory,
)
from omoide.interfaces.cli.output import escape_control, headline, print_json, print_table
from omoide.settings import Settings

if TYPE_CHECKING:  # they load with the store
    from omoide.sync.repo_list import ListItem, RepoList

_OFF = "the list is switched off: set `memories_enabled` to true to use it"


@click.group("memories")
def memories_command() -> None:
    """Work with the list of this repository, .agent/memories.md.

    Works in any repository without set-up, from all its directories and worktrees. People may edit the file at any time.

    \b
    omoide memories add "Always use try-catch" -t pattern --tags errors
    omoide memories list
    omoide memories delete 12
    """


@memories_command.command("add")
@click.argument("content")
@click.option(
    "-t", "--type", "type_", metavar="TYPE", help="pattern, architecture, solution or any other type: the first tag."
)
@click.option("--tag", multiple=True, help="A tag; may be given more than once.")
@click.option("--tags", help="Tags, separated by commas.")
@target_options
@json_option
def add_command(
    content: str, type_: str | None, tag: tuple[str, ...], tags: str | None, target: Target, as_json: bool
) -> None:
    """Add an entry.

    Its title is the beginning of the text, its date is today.

    \b
    omoide memories add "Always use try-catch"
    git log -1 --format=%B | omoide memories add - -t solution --tags release,ci
    """
    text = read_stdin() if content == "-" else content
    with _open_list(target, writing=True) as (repo_list, settings):
        if not settings.memories_enabled:
            warn(_OFF)
            if as_json:
                print_json({"action": "disabled"})
            return
        remembered, line = repo_list.add(text, type_, tags_of(tag, tags))
    if as_json:
        print_json(
            {
                "action": remembered.action,
                "file": str(repo_list.file),
                "line": line,
                "memory": serialize.memory(remembered.memory),
            }
        )
    else:
        click.echo(f"{remembered.action}  {headline(remembered.memory)}")


@memories_command.command("search")
@click.argument("words", nargs=-1, required=True)
@target_options
@json_option
def search_command(words: tuple[str, ...], target: Target, as_json: bool) -> None:
    """Find entries by words in title, text or tags, ignoring case.

    \b
    omoide memories search try-catch
    """
    with _open_list(target) as (repo_list, settings):
        found = _read_items(repo_list, settings, " ".join(words))
        _print(repo_list, found, as_json=as_json)
    if not found and not as_json:
        click.echo(f"no entry of {escape_control(str(repo_list.file))} contains these words", err=True)


@memories_command.command("list")
@target_options
@json_option
def list_command(target: Target, as_json: bool) -> None:
    """List the entries in the order of the file.

    \b
    omoide memories list
    omoide memories list --json
    """
    with _open_list(target) as (repo_list, settings):
        found = _read_items(repo_list, settings)
        _print(repo_list, found, as_json=as_json)
    if not found and not as_json:
        click.echo(f"{escape_control(str(repo_list.file))} has no entries", err=True)


@memories_command.command("delete")
@click.argument("id")
@target_options
@json_option
def delete_command(id: str, target: Target, as_json: bool) -> None:
    """Delete an entry from the file, and archive its memory.

    `omoide restore` brings it back. ID is the id of the entry, the number of its memory (#12), or the line of its
    heading (12).

    \b
    omoide memories delete '#12'
    omoide memories delete 7
    """
    with _open_list(target, writing=True) as (repo_list, settings):
        if not settings.memories_enabled:
            raise InvalidInput(_OFF)
        deleted = repo_list.delete(id)
    if as_json:
        print_json({"action": "deleted", "file": str(repo_list.file), "memory": serialize.memory(deleted)})
    else:
        click.echo(f"deleted  {headline(deleted)}")


@memories_command.command("inject")
@click.argument("prompt", required=False)
@click.option("--manual", is_flag=True, help="Also if `memories_inject` is manual.")
@target_options
@json_option
def inject_command(prompt: str | None, manual: bool, target: Target, as_json: bool) -> None:
    """Print the whole list, followed by ---, for the start of a prompt.

    The list is printed only if the setting `memories_inject` is auto. PROMPT, or - for one on standard input, is printed
    after it.

    \b
    omoide memories inject
    echo "Fix the login" | omoide memories inject - | my-agent
    """
    following = read_stdin() if prompt == "-" else prompt or ""
    with _open_list(target) as (repo_list, settings):
        wanted = settings.memories_inject == "auto" or (manual and settings.memories_inject == "manual")
        text = ""
        if settings.memories_enabled and wanted:
            try:
                text = repo_list.injection()
            except Unreadable as error:  # fallback: the prompt alone
                warn(str(error))
    if as_json:
        print_json({"inject": settings.memories_inject, "text": text, "prompt": text + following})
    else:
        click.echo((text + (following and following + "\n")).encode(), nl=False)


@contextmanager
def _open_list(target: Target, *, writing: bool = False) -> "Iterator[tuple[RepoList, Settings]]":
    from omoide import app  # lazy: the store loads when it is opened
    from omoide.sync.repo_list import RepoList  # lazy: the same

    settings = settings_for(target)
    here = working_directory().resolve()
    with open_memory(target, writing=writing) as (memory, scope):
        file = (git_root(here) or here) / ".agent" / "memories.md"
        yield RepoList(memory, app.sync_engine(memory), file, scope, settings.all_types), settings


def _read_items(repo_list: "RepoList", settings: Settings, words: str | None = None) -> "Sequence[ListItem]":
    """The entries of the list, or a warning and none if it is switched off or cannot be read."""
    if not settings.memories_enabled:
        warn(_OFF)
        return []
    try:
        return repo_list.items() if words is None else repo_list.search(words)
    except Unreadable as error:  # fallback: an empty list
        warn(str(error))
        return []


def _print(repo_list: "RepoList", items: "Sequence[ListItem]", *, as_json: bool) -> None:
    numbers = repo_list.numbers()
    records: list[dict[str, Any]] = [
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
        print_json({"file": str(repo_list.file), "memories": records, "total_count": len(records)})
    elif records:
        rows = [
            [
                str(record["line"]),
                f"#{record['number']}" if record["number"] else "",
                record["title"],
                ", ".join(record["tags"]),
                record["date"] or "",
            ]
            for record in records
        ]
        print_table(["line", "#", "title", "tags", "date"], rows, flexible=(2, 3), optional=(4, 3))
