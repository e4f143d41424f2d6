"""memories add, search, list, delete and inject: the list of a repository, `.agent/memories.md`."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from omoide.interfaces import serialize
from omoide.interfaces.cli.options import (
    Target,
    json_option,
    open_memory,
    read_stdin,
    tags_of,
    target_options,
    working_directory,
)
from omoide.interfaces.cli.output import escape_control, headline, print_json, print_table
from omoide.markdown.fence import indent

if TYPE_CHECKING:  # they load with the store
    from omoide.sync.repo_list import ListItem, RepoList

_full_option = click.option("--full", is_flag=True, help="Show the whole text of each entry.")


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
    with _open_list(target, writing=True) as repo_list:
        added = repo_list.add(text, tags_of(tag, tags), type=type_)
    if added is None:
        if as_json:
            print_json({"action": "disabled"})
        return
    remembered, line = added
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
@_full_option
@target_options
@json_option
def search_command(words: tuple[str, ...], full: bool, target: Target, as_json: bool) -> None:
    """Find entries by words in title, text or tags, ignoring case.

    \b
    omoide memories search try-catch
    """
    with _open_list(target) as repo_list:
        found = repo_list.search(" ".join(words))
    _print(repo_list, found, full=full, as_json=as_json)
    if not found and not as_json:
        click.echo(f"no entry of {escape_control(str(repo_list.file))} contains these words", err=True)


@memories_command.command("list")
@_full_option
@target_options
@json_option
def list_command(full: bool, target: Target, as_json: bool) -> None:
    """List the entries in the order of the file.

    \b
    omoide memories list
    omoide memories list --full
    omoide memories list --json
    """
    with _open_list(target) as repo_list:
        found = repo_list.list()
        is_away = not found and repo_list.is_away
    _print(repo_list, found, full=full, as_json=as_json)
    if not found and not as_json:
        lack = "is not there: `omoide mirror status` shows what belongs in it" if is_away else "has no entries"
        click.echo(f"{escape_control(str(repo_list.file))} {lack}", err=True)


@memories_command.command("delete")
@click.argument("id")
@target_options
@json_option
def delete_command(id: str, target: Target, as_json: bool) -> None:
    """Delete an entry from the file, and archive its memory.

    `omoide restore` brings it back. ID is the id of the entry, the number of its memory (#12), or the line of its
    heading (12). If 12 is the line of one entry and the number of another, you are asked which one is meant.

    \b
    omoide memories delete '#12'
    omoide memories delete 7
    """
    is_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    with _open_list(target, writing=True) as repo_list:
        deleted = repo_list.delete(id, choose=_choose if is_terminal else None)
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
    with _open_list(target) as repo_list:
        text = repo_list.injection(manual=manual)
    if as_json:
        print_json({"inject": repo_list.inject, "text": text, "prompt": text + following})
    else:
        click.echo((text + (following and following + "\n")).encode(), nl=False)


@contextmanager
def _open_list(target: Target, *, writing: bool = False) -> "Iterator[RepoList]":
    from omoide import app  # lazy: the store loads when it is opened

    here = working_directory()
    with open_memory(target, writing=writing) as (memory, scope):
        yield app.open_list(memory, here, scope=scope)


def _choose(items: "Sequence[ListItem]") -> "ListItem":
    """Ask a person which of two entries is meant."""
    click.echo(f"{len(items)} entries match:", err=True)
    for number, item in enumerate(items, 1):
        click.echo(f"  {number}  {_describe(item)}", err=True)
    answer: int = click.prompt("Which one", type=click.IntRange(1, len(items)), err=True)
    return items[answer - 1]


def _describe(item: "ListItem") -> str:
    parts = [_line(item), f"#{item.number}" if item.number else "", escape_control(item.title)]
    return "  ".join(part for part in parts if part)


def _line(item: "ListItem") -> str:
    """The line of an entry; empty if the file cannot be read now."""
    return f"line {item.line}" if item.line else ""


def _print(repo_list: "RepoList", items: "Sequence[ListItem]", *, full: bool, as_json: bool) -> None:
    if as_json:
        records: list[dict[str, Any]] = [
            {
                "id": item.id,
                "number": item.number,
                "line": item.line,
                "title": item.title,
                "type": item.type,
                "tags": item.tags,
                "date": item.date or None,
                "content": item.content,
            }
            for item in items
        ]
        print_json({"file": str(repo_list.file), "memories": records, "total_count": len(records)})
    elif full and items:
        click.echo("\n\n".join(map(_format_full, items)))
    elif items:
        _print_items(items)


def _print_items(items: "Sequence[ListItem]") -> None:
    """Print a line for each entry. A title that is the beginning of the content is not repeated."""
    columns = {
        "line": [str(item.line or "") for item in items],
        "#": [f"#{item.number}" if item.number else "" for item in items],
        "title": [item.title if item.title_given else "" for item in items],
        "content": [item.content for item in items],
        "tags": [", ".join(item.tags) for item in items],
        "date": [item.date for item in items],
    }
    shown = [title for title, cells in columns.items() if any(cells)]
    place = {title: index for index, title in enumerate(shown)}
    print_table(
        shown,
        list(zip(*(columns[title] for title in shown), strict=True)),
        flexible=[place[title] for title in ("content", "title", "tags") if title in place],
        optional=[place[title] for title in ("date", "tags", "title") if title in place],
    )


def _format_full(item: "ListItem") -> str:
    tags = [click.style(escape_control(tag), dim=True) for tag in item.tags]
    names = [_line(item), f"#{item.number}" if item.number else ""]
    title = click.style(escape_control(item.title), bold=True) if item.title_given else ""
    head = [*names, title, *tags, item.date]
    text = indent(escape_control(item.content), "    ")
    return "  ".join(part for part in head if part) + "\n" + text
