"""Sessions from the command line: session start, append, list, show."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from omoide.errors import InvalidInput
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import Target, json_option, open_memory, read_stdin, tags_of, type_option
from omoide.interfaces.cli.output import day, escape_control, headline, print_json, print_table
from omoide.model import Layer, Scope

T = TypeVar("T")


def _project_options(command: Callable[..., T]) -> Callable[..., T]:
    """The flags of commands that work in a project, whatever session it is."""

    @click.option("--store", metavar="FILE", help="The database file to work on.")
    @click.option("--project", metavar="PATH", help="The project to work in, instead of the one of this directory.")
    @wraps(command)
    def run(store: str | None, project: str | None, **options: Any) -> T:
        return command(target=Target(store, project), **options)

    return run


@click.group("session")
def session_command() -> None:
    """Start, extend, list and show the sessions of a project.

    \b
    omoide session start monday --source slack
    omoide session append monday "Moved the tests to pytest"
    omoide session show monday
    """


@session_command.command("start")
@click.argument("name", required=False)
@click.option("--source", help="Where it is started from, such as slack or a URL.")
@_project_options
@json_option
def start_command(name: str | None, source: str | None, target: Target, as_json: bool) -> None:
    """Start a session; without a name it is named by the time.

    The first memory of a session (`omoide remember --session`) starts it as well.

    \b
    omoide session start
    omoide session start C042-1738 --source slack --json
    """
    with open_memory(target, writing=True) as (memory, scope):
        project = _require_project(scope)
        named = Scope.session(project.path, name) if name else project
        started = memory.start_session(scope=named, source=source)
    if as_json:
        print_json(serialize.session(started))
    else:
        name = click.style(escape_control(started.scope.name), bold=True)
        click.echo(f"started  {name}  of {escape_control(str(Scope(scope.path)))}")


@session_command.command("append")
@click.argument("name")
@click.argument("content")
@type_option("What kind of memory it is, such as learning or decision.")
@click.option("--tag", multiple=True, help="A tag; may be given more than once.")
@click.option("--tags", help="Tags separated by commas.")
@click.option("--source", help="Where it comes from, such as a URL.")
@_project_options
@json_option
def append_command(
    name: str,
    content: str,
    type_: str | None,
    tag: tuple[str, ...],
    tags: str | None,
    source: str | None,
    target: Target,
    as_json: bool,
) -> None:
    """Keep an entry in a session that was started: a text, or - for standard input.

    \b
    omoide session append monday "Moved the tests to pytest" --type learning
    git log -1 --format=%B | omoide session append monday - --source git
    """
    text = read_stdin() if content == "-" else content
    with open_memory(target) as (memory, scope):
        session = memory.session(scope=_session(scope, name))
        done = memory.remember(text, scope=session.scope, type=type_, tags=tags_of(tag, tags), source=source)
    if as_json:
        print_json(serialize.remembered(done))
    else:
        click.echo(f"{done.action}  {headline(done.memory)}")


@session_command.command("list")
@_project_options
@json_option
def list_command(target: Target, as_json: bool) -> None:
    """List the sessions of a project, last changed first.

    \b
    omoide session list
    omoide session list --project shop --json
    """
    with open_memory(target) as (memory, scope):
        found = memory.sessions(scope=_require_project(scope))
    if as_json:
        print_json({"sessions": [serialize.session(one) for one in found]})
    elif found:
        rows = [(one.scope.name, one.source, f"{one.memories:,}", day(one.created_at), day(one.updated_at)) for one in found]
        print_table(["name", "source", "memories", "started", "updated"], rows, flexible=(0, 1), optional=(3, 1))
    else:
        click.echo(f"{scope} has no sessions: omoide session start makes one", err=True)


@session_command.command("show")
@click.argument("name")
@click.option("--limit", type=click.IntRange(1, 1_000_000), default=100, show_default=True, help="How many of the last.")
@_project_options
@json_option
def show_command(name: str, limit: int, target: Target, as_json: bool) -> None:
    """Read a session from its start: every entry with its time and source.

    \b
    omoide session show monday
    omoide session show monday --limit 5 --json
    """
    with open_memory(target) as (memory, scope):
        session = memory.session(scope=_session(scope, name))
        page = memory.list(scope=session.scope, layers=[Layer.SESSION], limit=limit)
    entries = sorted(page.memories, key=lambda one: (one.created_at, one.number))
    if as_json:
        shapes = [serialize.memory(one) for one in entries]
        print_json({**serialize.session(session), "memories": shapes, "total_count": page.total})
        return
    source = f" from {escape_control(session.source)}" if session.source else ""
    click.echo(f"{click.style(escape_control(session.scope.name), bold=True)}  started {day(session.created_at)}{source}")
    for one in entries:
        click.echo(f"\n{day(one.created_at)}  {headline(one)}  {click.style(escape_control(one.source), dim=True)}")
        for line in escape_control(one.content.strip("\n")).splitlines():
            click.echo(f"    {line}")
    if page.total > len(entries):
        click.echo(f"the last {len(entries)} of {page.total}: --limit shows more", err=True)


def _require_project(scope: Scope) -> Scope:
    """The project of the scope."""
    if not scope.path:
        raise InvalidInput("sessions need a project: work in a git repository, or add --project")
    return Scope(scope.path)


def _session(scope: Scope, name: str) -> Scope:
    return Scope.session(_require_project(scope).path, name)
