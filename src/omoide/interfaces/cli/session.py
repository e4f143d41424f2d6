"""session start, append, list and show."""

import click

from omoide.errors import InvalidInput
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import (
    Target,
    json_option,
    open_memory,
    project_options,
    read_stdin,
    tags_of,
    type_option,
)
from omoide.interfaces.cli.output import day, escape_control, headline, print_json, print_table
from omoide.model import Layer, Remembered, Scope


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
@click.option("--source", help="Where it was started from, such as slack or a URL.")
@project_options
@json_option
def start_command(name: str | None, source: str | None, target: Target, as_json: bool) -> None:
    """Start a session; without a name it is named by the time.

    Its file, MEMORY_<session>.md in the tree of the project, is made at once; its path is printed. The first memory of a
    session (`omoide remember --session`) starts it as well, and makes no file in a project without a tree.

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
        title = click.style(escape_control(started.scope.name), bold=True)
        click.echo(f"started  {title}  of {escape_control(str(project))}")
        if started.file is not None:
            click.echo(f"  {escape_control(started.file)}")


@session_command.command("append")
@click.argument("name")
@click.argument("content")
@type_option("The kind of memory, such as learning or decision.")
@click.option("--tag", multiple=True, help="A tag; may be given more than once.")
@click.option("--tags", help="Tags, separated by commas.")
@click.option("--source", help="Where it comes from, such as a URL.")
@project_options
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
    """Add an entry to a session: a text, or - for standard input.

    The same text again is another entry.

    \b
    omoide session append monday "Moved the tests to pytest" --type learning
    git log -1 --format=%B | omoide session append monday - --source git
    """
    text = read_stdin() if content == "-" else content
    with open_memory(target) as (memory, scope):
        session = memory.session(scope=_session(scope, name))
        added = memory.append_activity(text, scope=session.scope, type=type_, tags=tags_of(tag, tags), source=source)
    if as_json:
        print_json(serialize.remember_result(Remembered(added, "created")))
    else:
        click.echo(f"created  {headline(added)}")


@session_command.command("list")
@project_options
@json_option
def list_command(target: Target, as_json: bool) -> None:
    """List the sessions of a project, last changed first.

    \b
    omoide session list
    omoide session list --project shop --json
    """
    with open_memory(target) as (memory, scope):
        sessions = memory.sessions(scope=_require_project(scope))
    if as_json:
        print_json({"sessions": [serialize.session(each) for each in sessions]})
    elif sessions:
        rows = [
            (each.scope.name, each.source, f"{each.memories:,}", day(each.created_at), day(each.updated_at))
            for each in sessions
        ]
        print_table(["name", "source", "memories", "started", "updated"], rows, flexible=(0, 1), optional=(3, 1))
    else:
        click.echo(f"{scope} has no sessions: omoide session start creates one", err=True)


@session_command.command("show")
@click.argument("name")
@click.option(
    "--limit",
    type=click.IntRange(1, 1_000_000),
    default=100,
    show_default=True,
    help="How many of the last entries to show.",
)
@project_options
@json_option
def show_command(name: str, limit: int, target: Target, as_json: bool) -> None:
    """Show the entries of a session with time and source.

    \b
    omoide session show monday
    omoide session show monday --limit 5 --json
    """
    with open_memory(target) as (memory, scope):
        session = memory.session(scope=_session(scope, name))
        page = memory.list(scope=session.scope, layers=[Layer.SESSION], limit=limit)
    entries = sorted(page.memories, key=lambda each: (each.created_at, each.number))
    if as_json:
        records = [serialize.memory(each) for each in entries]
        print_json({**serialize.session(session), "memories": records, "total_count": page.total})
        return
    source = f" from {escape_control(session.source)}" if session.source else ""
    click.echo(f"{click.style(escape_control(session.scope.name), bold=True)}  started {day(session.created_at)}{source}")
    for entry in entries:
        click.echo(f"\n{day(entry.created_at)}  {headline(entry)}  {click.style(escape_control(entry.source), dim=True)}")
        for line in escape_control(entry.content.strip("\n")).splitlines():
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
